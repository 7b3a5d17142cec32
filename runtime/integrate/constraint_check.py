"""The check that a run satisfied its constraints, redundant rows included, before it is called a success."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.angles import take_angles
from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import STATE, P, R
from runtime.dynamics.model_data import Workspace
from runtime.dynamics.projection import worst_row
from runtime.integrate.method import Method
from runtime.integrate.settings import Settings
from runtime.support.arrays import Floats
from runtime.support.units import with_unit
from runtime.system.assemble import POSITION_TOLERANCE
from runtime.system.definitions import is_own
from runtime.system.system import System

# Bounds of |Phi| as fractions of the larger of 1 and the largest coordinate, of projected states and of others: the larger of a
# fixed fraction and a multiple of the tolerance.  Baumgarte's terms let errors of steps fade and do not remove them, and what a
# given start may violate.
PROJECTED_BOUND, BOUND = 1e-9, 1.1 * POSITION_TOLERANCE
PROJECTED_TOLERANCES, TOLERANCES = 10.0, 1e3
SAFE = 1e-9  # tolerance
NO_STATE, LAST_STATE, ALL_STATES = range(3)


def violated_row(
    system: System, method: Method, times: Floats, states: Floats, angles: Floats, how: Settings
) -> tuple[float, str] | None:
    """Time [s] and description of the worst row if it is violated by more than its bound; angles (n, ...) as of ``Method.turns``.

    It is looked for in any state of a loop, and of a system with drivers or own joints.
    Of other trees the last state is checked, unless the tolerance and Baumgarte's terms keep violations far below the bound;
    coordinates of a tree without rows have none.
    """
    tree = method.work.tree
    if len(tree.data.kind) and not len(tree.closing.joint):
        return None
    if system.couplings and len(times) and (found := _violated_coupling(system, method, how)) is not None:
        return float(times[-1]), found
    wanted = states_to_check(system, how)
    if wanted == NO_STATE or not len(times):
        return None
    work = shared_workspace_for(method.data)
    bound = max(1.0, float(np.abs(states[-1].reshape(-1, STATE)[:, R:P]).max())) * relative_bound(how)
    for n in range(0 if wanted == ALL_STATES else len(times) - 1, len(times)):
        take_angles(angles[n], method.data, work)
        worst = worst_row(times[n], np.ascontiguousarray(states[n]), method.data, work, False)
        if not worst <= bound:
            return float(times[n]), _described(system, work, worst, bound)
    return None


def _described(system: System, work: Workspace, worst: float, bound: float) -> str:
    """The row that ``worst_row`` found."""
    k, r = map(int, work.failed)
    return f"row {system.row_name(k, r)}: |Phi| = {with_unit(f'{worst:.1e}', system.joints[k].units[r])}, bound {bound:.0e}"


def states_to_check(system: System, how: Settings) -> int:
    """Whose rows are checked: NO_STATE, LAST_STATE or ALL_STATES."""
    own = any(is_own(joint.module) for joint in system.joints)
    if system.data.closed or system.drivers or own:  # signals jump between stages of steps, as branches of own rows may
        return ALL_STATES
    safe = how.rtol + how.atol <= SAFE and min(how.alpha, how.beta) >= 1.0
    return NO_STATE if safe or not system.joints else LAST_STATE


def relative_bound(how: Settings) -> float:
    """Bound of |Phi|, as a fraction of the larger of 1 and the largest coordinate."""
    fraction, tolerances = (PROJECTED_BOUND, PROJECTED_TOLERANCES) if how.projected else (BOUND, TOLERANCES)
    return max(fraction, tolerances * (how.rtol + how.atol))


def bound_of_couplings(how: Settings) -> float:
    """Bound of |Phi| of couplings [rad or m]."""
    return max(PROJECTED_BOUND, PROJECTED_TOLERANCES * (how.rtol + how.atol))


def _violated_coupling(system: System, method: Method, how: Settings) -> str | None:
    """The worst coupling at the last evaluation, if it is violated by more than the bound of projected rows."""
    off = np.abs(method.work.Phi[len(system.joints) :, 0])
    bound = bound_of_couplings(how)
    k = int(off.argmax())
    if off[k] <= bound:
        return None
    return f"coupling '{system.couplings[k].name}': |Phi| = {off[k]:.1e} rad or m, bound {bound:.0e}"
