"""What the message of a run says beside how the run ended: lost accuracy, stability, turns between methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from runtime.integrate import stepping
from runtime.support.arrays import Ints
from runtime.system.system import System

# A run of at least so many steps, this fraction of them bounded by stability, reports it: an implicit method takes longer steps.
MANY_STEPS, MOSTLY = 2000, 0.8
TURNS = 4  # in a message
TURNED = "; turned to "  # begins the last part of a message


def lost_digits_at(smallest_pivot: float, rtol: float, atol: float) -> float:
    """Digits of the tolerance that are lost at a pivot ratio."""
    return float(stepping.lost_digits.py_func(smallest_pivot, rtol + atol))


def closeness(digits: float, t: float) -> str:
    """That digits were lost close to a singular configuration, first at a time [s], inf for the start; "" for none."""
    if not digits > 0.0:
        return ""
    lost, when = math.ceil(digits), f"first at t = {t:.6g} s" if math.isfinite(t) else "from the start on"
    return (
        f"; close to a singular configuration, {when}, {'1 digit' if lost == 1 else f'{lost} digits'} of the "
        f"tolerance {'was' if lost == 1 else 'were'} lost: avoid it, or state a tolerance that is larger by so much"
    )


def stiffness_is_said(steps: Any, bounded: Any) -> Any:
    """Whether so many steps, and those of them that stability bounded, are worth a remark; numbers or arrays."""
    return (steps >= MANY_STEPS) & (bounded >= MOSTLY * steps)


def stiffness(system: System, steps: int, bounded: int) -> str:
    """That stability bounded most steps; "" where it did not."""
    if not stiffness_is_said(steps, bounded):
        return ""
    remedy = (
        "softer springs or a larger transition velocity take"
        if system.joint_coordinates_only
        else "method='radau' takes"
    )
    return f"; {bounded} of {steps} steps were bounded by stability, not by accuracy: {remedy} fewer"


def with_stability(system: System, remarks: Mapping[int, str], steps: Ints, bounded: Ints) -> dict[int, str]:
    """Remarks on cases of a system by place, followed by those on the stability of their steps (cases,)."""
    found = dict(remarks)
    for k in np.flatnonzero(stiffness_is_said(steps, bounded)).tolist():
        found[k] = found.get(k, "") + stiffness(system, int(steps[k]), int(bounded[k]))
    return found


def turns_of(parts: Sequence[tuple[str, float]], count: int) -> str:
    """The methods after the first, with their times [s]: at least the first ``TURNS`` of ``count``."""
    turns = [f"{method} from t = {t:.6g} s" for method, t in parts[:TURNS]]
    if count > TURNS:
        turns.append(f"and {count - TURNS} more turns (stats.parts)")
    return f"{TURNED}{', '.join(turns)}" if turns else ""
