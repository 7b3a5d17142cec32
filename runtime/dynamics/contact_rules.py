"""Rules of the modes of contacts, in numbers: integrations of one case and of many side by side share them.

Depth and rate are penetration [m] and its rate [m/s]; the force is negative where the law would pull.
"""

from __future__ import annotations

from runtime.dynamics.switches import ACTIVE, AUTO, INACTIVE, LEAVING, SLACK
from runtime.jit.compilation import inlined

ON_PLANE = 1e-12  # [m]
CHATTER = 1e-5  # [s] a change sooner than this after the one before is quick
MAX_QUICK = 2  # quick changes in a row, after which a contact would lose and regain its force without end


@inlined
def touches(mode):  # type: ignore[no-untyped-def]
    """Whether a contact has a force in a mode."""
    return mode == ACTIVE or mode == LEAVING


@inlined
def left_of_force(fades, slack, depth, rate, law, resolution):  # type: ignore[no-untyped-def]
    """Approximate distance to the end of the force, at which damping cancels the elastic part [m]; negative beyond.

    Damping that fades with the penetration cancels the force only of a sphere pulled out faster than the surface recovers;
    otherwise the two speeds become equal to rounding, and the force ends on the plane.
    ``law``: force, its elastic part, derivatives of the force by the rate and of the elastic part by the penetration.
    """
    force, elastic, over_rate, slope = law
    if fades == 0:
        return force / slope if slope > 0.0 else depth
    if elastic == 0.0:
        return depth
    if not slack:
        force += resolution * max(1.0, abs(rate)) * over_rate
    return force / elastic


@inlined
def beyond_mode(mode, fades, depth, rate, left):  # type: ignore[no-untyped-def]
    """Distance [m] of a contact beyond the side of its mode."""
    if mode == INACTIVE or mode == AUTO:
        return depth
    if mode == SLACK:
        return max(left, -depth)
    ends = -min(left, depth) if fades == 1 else -left
    return max(ends, rate) if mode == LEAVING else ends


@inlined
def mode_after(mode, depth, rate, left):  # type: ignore[no-untyped-def]
    """Mode of a contact after the change that was located."""
    if mode == INACTIVE:
        return ACTIVE
    if mode == SLACK:
        return ACTIVE if left > -depth else INACTIVE
    if mode == LEAVING and rate > -min(left, depth):
        return ACTIVE
    return SLACK if depth > left else INACTIVE


@inlined
def mode_at(depth, rate, left):  # type: ignore[no-untyped-def]
    """Mode of a contact by its penetration and force; on its plane it touches if it moves in."""
    if abs(depth) <= ON_PLANE:
        return ACTIVE if rate > 0.0 else INACTIVE
    if depth < 0.0:
        return INACTIVE
    return ACTIVE if left > 0.0 else SLACK


@inlined
def without_chatter(mode, now, rate, since, quick):  # type: ignore[no-untyped-def]
    """The mode that follows ``mode``, where ``now`` may lose its force at once; number of quick changes in a row.

    ``since`` [s] the change before, ``quick``: number of these so far.
    """
    quick = quick + 1 if since < CHATTER and now != INACTIVE and mode != INACTIVE else 0
    leaves = now == ACTIVE and mode == SLACK and rate < 0.0 and quick >= MAX_QUICK
    return (LEAVING if leaves else now), quick
