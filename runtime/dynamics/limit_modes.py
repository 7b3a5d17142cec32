"""Modes of joint limits: the excesses at which each holds, and the one after a change.

The law of a limit has two kinks, at the cone and at the end of its compliance.  Between them it is ACTIVE, inside the cone
INACTIVE, beyond the end FULL: no step passes a kink, where neither the estimate of its error nor its order would hold.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.switches import ACTIVE, AUTO, FULL, INACTIVE
from runtime.jit.compilation import inlined

SHARP = 1e4  # beyond a ridge, where the moment jumps, angles count so much more than beyond other changes


@inlined
def acts(mode):  # type: ignore[no-untyped-def]
    """Whether a limit has a moment in a mode, on either side of its change."""
    return mode == ACTIVE or mode == FULL


@inlined
def excesses_of(mode, compliance):  # type: ignore[no-untyped-def]
    """Least and largest excess at which a mode holds [rad]; AUTO as INACTIVE."""
    if mode == ACTIVE:
        return 0.0, compliance
    return (compliance, np.inf) if mode == FULL else (-np.inf, 0.0)


@inlined
def beyond_sides(value, sides):  # type: ignore[no-untyped-def]
    """How far an excess, or a coordinate, is outside the two between which a mode holds; below 0 between them [rad]."""
    under, over = sides[0] - value, value - sides[1]
    return over if over > under else under


@inlined
def mode_of(excess, compliance):  # type: ignore[no-untyped-def]
    """Mode of a limit by its excess."""
    if excess < 0.0:
        return INACTIVE
    return ACTIVE if excess <= compliance else FULL


@inlined
def mode_after(mode, excess, compliance):  # type: ignore[no-untyped-def]
    """Mode of a limit after the change that was located."""
    if mode == AUTO:
        return mode_of(excess, compliance)
    if mode != ACTIVE:
        return ACTIVE
    return FULL if excess > 0.5 * compliance else INACTIVE
