"""Reactions of joints; of over-constrained mechanisms those of least norm among all that cause the same motion.

With redundant rows D^T has a null space, and any of its vectors may be added to the multipliers.  The reactions of the joints
that take part in it are undetermined for rigid bodies.  Reported are those with the smallest sum over the joints of
|F|^2 + |M|^2 / L^2, with the force F and the moment M about the joint's point, and the largest lever arm L of the joints: they
do not depend on the order of joints or rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.derived import Derived
from runtime.dynamics.equations import shared_workspace_for
from runtime.support.arrays import Bools, Floats
from runtime.support.checks import finite
from runtime.support.errors import ModelError, shown
from runtime.system.degrees_of_freedom import dense_rows, row_places, rows_at
from runtime.system.parts import GROUND, Joint
from runtime.system.rank import lever_arm
from runtime.system.system import System

TAKES_PART = 1e-6  # a joint whose rows hold this part of a null vector of D^T has an undetermined reaction


@dataclass(frozen=True)
class Reaction:
    """Reaction of a joint on one body: force (n, 3) [N] and moment about the point (n, 3) [N m].

    ``force_determined`` and ``moment_determined`` (3,) are False for the components, in ``axes``, that redundant rows leave
    undetermined at any of the times: these are of least norm, see the top of this module.  The other components are unique.
    """

    joint: str
    on: str  # the body
    at: str  # the point, in words
    axes: str  # "global" or a body's name
    force: Floats
    moment: Floats
    force_determined: Bools
    moment_determined: Bools

    @property
    def determined(self) -> bool:
        """True if all components are determined."""
        return bool(self.force_determined.all() and self.moment_determined.all())


def null_vectors(system: System, time: float, y: Floats) -> Floats:
    """Orthonormal basis of the multipliers that exert no force on any body, (rows, redundant rows), by ``row_places``."""
    D = dense_rows(system, rows_at(system, time, np.ascontiguousarray(y)).D)
    size = np.linalg.norm(D, axis=1)
    left = np.linalg.svd(D / size[:, None])[0][:, len(D) - system.data.redundant :]
    return np.linalg.qr(left / size[:, None])[0]


def undetermined_reactions(system: System, times: Floats, states: Floats, pivots: Floats) -> tuple[str, ...]:
    """Names of the joints whose reactions rigid bodies do not determine, in that of many states with the largest pivot ratio.

    In a singular pose more rows are dependent.
    """
    if system.data.redundant == 0:
        return ()
    n = int(np.argmax(pivots)) if len(pivots) else -1
    time, y = (float(times[n]), states[n]) if n >= 0 else (system.time, system.state.y)
    shares = np.abs(null_vectors(system, time, y)).max(axis=1)
    found = {k for (k, _), share in zip(row_places(system), shares, strict=True) if share > TAKES_PART * shares.max()}
    return tuple(name for k, name in enumerate(system.joint_names) if k in found)


def least_norm(system: System, times: Floats, states: Floats, derived: Derived) -> tuple[Floats, Floats]:
    """Multipliers (n, joints, 6) and wrenches on the bodies (n, joints, 2, 6) of least norm, of states (n, 13 bodies)."""
    lam, wrench = derived.lam.copy(), derived.wrench.copy()
    places, work = row_places(system), shared_workspace_for(system.data)
    k, r = np.array(places).T
    length = max(lever_arm(joint) for joint in system.joints)
    for n, (time, y) in enumerate(zip(times, states, strict=True)):
        basis = null_vectors(system, float(time), y)
        about = _about_points(system, work.D, work.A, length)[k, r]  # (rows, 6) of the joint of each row
        of_joint = np.zeros((len(system.joints), 6, len(places)))
        of_joint[k, :, np.arange(len(places))] = about
        W = of_joint.reshape(-1, len(places))
        change = basis @ np.linalg.lstsq(W @ basis, -W @ lam[n, k, r], rcond=None)[0]
        lam[n, k, r] += change
        wrench[n] = -np.einsum("krc,kr->kc", work.D, lam[n]).reshape(-1, 2, 6)
    return lam, wrench


def free_wrenches(system: System, times: Floats, states: Floats) -> tuple[Floats, Floats]:
    """Wrenches on the bodies about their centres, (n, joints, 2, 6, redundant rows), that have no effect on the motion.

    Also their largest size, (n, 6): the greatest force and, times the largest lever arm, the greatest moment.
    """
    k, r = np.array(row_places(system)).T
    if not system.data.redundant:
        return np.zeros((len(times), len(system.joints), 2, 6, 0)), np.zeros((len(times), 6))
    work, length = shared_workspace_for(system.data), max(lever_arm(joint) for joint in system.joints)
    found = np.zeros((len(times), len(system.joints), 12, system.data.redundant))
    for n, (time, y) in enumerate(zip(times, states, strict=True)):
        basis = null_vectors(system, float(time), y)
        np.add.at(found[n], k, -work.D[k, r][:, :, None] * basis[:, None, :])
    wrenches = found.reshape(len(times), len(system.joints), 2, 6, -1)
    scale = np.repeat([1.0, length], 3)
    return wrenches, scale * (np.abs(wrenches).max(axis=(1, 2, 4)) / scale).max(axis=1, keepdims=True)


def _about_points(system: System, D: Floats, A: Floats, length: float) -> Floats:
    """Force, and moment about the joint's point divided by a length [m], that each row exerts for lam = 1, (joints, 6, 6)."""
    wrench = np.zeros((len(system.joints), 6, 6))
    for k, joint in enumerate(system.joints):
        side = 0 if joint.body_j == GROUND else 1
        body, name = (system.data.body_i, system.data.body_j)[side][k], ("s_i", "s_j")[side]
        of_row = -D[k, :, 6 * side : 6 * side + 6]
        arm = A[body] @ np.asarray(joint.values.get(name, np.zeros(3)))
        wrench[k, :, :3] = of_row[:, :3]
        wrench[k, :, 3:] = (of_row[:, 3:] - np.cross(arm, of_row[:, :3])) / length
    return wrench


def named_point(joint: Joint, side: int, at: ArrayLike | str) -> tuple[Floats, str]:
    """A point of body i (0) or j (1) of a joint in its axes, by "joint", "centre" or components, and words for it.

    Raises
    ------
    ModelError
    """
    name = ("s_i", "s_j")[side]
    if isinstance(at, str):
        if at == "joint" and name in joint.values:
            return np.asarray(joint.values[name]), f"{name} of joint '{joint.name}'"
        if at in ("joint", "centre"):
            ground = (joint.body_i, joint.body_j)[side] == GROUND
            return np.zeros(3), "origin" if ground else "centre of mass"
        raise ModelError(f"at = {shown(at)}; use 'joint', 'centre' or three local components")
    point = finite(at, (3,), "at")
    return point, f"local point {point.tolist()}"
