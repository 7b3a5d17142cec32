"""Singular poses at the start of a motion: whether its velocities choose one of the branches that cross there.

In a singular pose rows depend on others that are independent nearby, and D v = nu admits more velocities than the mechanism has
degrees of freedom.  The velocity v of a smooth motion also makes D v' = gamma(v) solvable: with the left null vectors n of D,

    Q(v) = n^T gamma(v) = 0,

quadratic equations whose solutions are the tangents of the branches.  Where the derivative of Q at v has the rank that the rows
lose, one smooth branch has this velocity.  gamma is quadratic in v, so that half of gamma(v + w) - gamma(v - w) is the exact
derivative along w.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import OMEGA, STATE, V
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.degrees_of_freedom import dense_rows, stacked
from runtime.system.rank import lever_arm
from runtime.system.system import System

DEPENDENT = 1e-4  # singular values of rows without units below which rows count as dependent in the pose
SOLVED = 1e-3  # what the velocities of a branch leave of gamma, as a fraction of its size for velocities of this size
APART = 1e-3  # as such a fraction: smallest change of gamma that parts the branches
AT_REST = 1e-12  # [m/s, rad/s]


def refuse_undecided_start(system: System, time: float, y: Floats, rows: tuple[str, ...]) -> None:
    """Refuse the state y in a singular pose, where these rows are dependent, unless its velocities choose one branch."""
    if not rows or not (reason := undecided(system, time, y)):
        return
    joints = list(dict.fromkeys(row.split(".")[0] for row in rows))
    of = f"joint{'s' if len(joints) > 1 else ''} {', '.join(repr(joint) for joint in joints)}"
    raise ModelError(
        f"system '{system.name}': the initial configuration is singular, {', '.join(rows)} of {of} depend on other rows here "
        f"but not nearby, and {reason}; start beside this pose, or with velocities of one branch of the motion"
    )


def undecided(system: System, time: float, y: Floats) -> str:
    """Why the velocities of a state in a singular pose choose no branch of the motion; empty where they do."""
    velocities = y.reshape(-1, STATE)[:, V:]
    if not np.abs(velocities).max() > AT_REST:
        return "without a velocity no branch of the motion is chosen"
    length = max(lever_arm(joint) for joint in system.joints)
    to_velocity = np.tile([length] * 3 + [1.0] * 3, len(system.bodies))
    D, _ = _rows(system, time, y, velocities.ravel())
    sizes = np.maximum(np.linalg.norm(D * to_velocity, axis=1), 1e-300)
    left, values, right = np.linalg.svd(D * to_velocity / sizes[:, None])
    rank = int((values > DEPENDENT).sum())
    null, free = left[:, rank:], right[rank:]
    lost = int(system.data.rows.sum()) - system.data.redundant - rank
    if lost <= 0:
        return ""
    v = velocities.ravel() / to_velocity
    speed = float(np.linalg.norm(v))

    def Q(u: Floats) -> Floats:
        return np.asarray(null.T @ (_rows(system, time, y, u * to_velocity)[1] / sizes), float)

    if np.abs(Q(v)).max() > SOLVED * speed**2:
        return "no smooth motion has its velocities"
    slopes = np.array([(Q(v + speed * w) - Q(v - speed * w)) / 2.0 for w in free]) / speed**2
    if np.linalg.svd(slopes, compute_uv=False)[:lost].min(initial=np.inf) > APART and min(slopes.shape) >= lost:
        return ""
    return "several branches of the motion share its velocities"


def _rows(system: System, time: float, y: Floats, velocities: Floats) -> tuple[Floats, Floats]:
    """D (m, 6 bodies) and gamma (m,) of a pose with other velocities (6 bodies,)."""
    state, work = y.copy(), shared_workspace_for(system.data)
    state.reshape(-1, STATE)[:, V : OMEGA + 3] = velocities.reshape(-1, 6)
    projection.worst_row(time, state, system.data, work, True)
    return dense_rows(system, work.D), stacked(system, work.gamma)
