"""Couplings of coordinates as files of other programs state them: polynomials, and splines of OpenSim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial

from models.files.description import MOST, Omitted
from models.files.osim_functions import spline
from models.files.written_tree import Tree
from runtime import Signal

SAME = 1e-12  # of the largest coefficient, by which the pieces of a spline may differ


@dataclass(frozen=True)
class WrittenCoupling:
    """A coordinate that follows another one, by powers of it, lowest first, or by points of OpenSim's spline."""

    name: str
    follower: str
    leader: str
    powers: tuple[float, ...] = ()
    points: tuple[tuple[float, float], ...] = ()


def couplings_of(tree: Tree, degree: int, why: str, *, splines: bool = False) -> list[WrittenCoupling]:
    """The couplings that a format can state, polynomials up to a degree; the others are added to ``tree.ignored``."""
    found, left = [], []
    names = {step.name for _, step in tree.description.steps} - tree.locked
    for one in tree.system.couplings:
        follower, leader = (name.replace(".", "_") for name in one.coordinates[:2])
        signal = one.law if isinstance(one.law, Signal) else None
        powers, points = powers_of(signal), points_of(signal) if splines else ()
        known = follower in names and leader in names
        if known and powers and len(powers) <= degree + 1:
            found.append(WrittenCoupling(one.name, follower, leader, powers))
        elif known and points:
            found.append(WrittenCoupling(one.name, follower, leader, points=points))
        else:
            left.append(one.name)
    if left:
        tree.ignored.append(Omitted("couplings", tuple(left), why, True))
    return found


def powers_of(law: Signal | None) -> tuple[float, ...]:
    """Coefficients of powers of the leader, lowest first, without zeros at the end; none of several pieces or leaders."""
    if law is None or len(law.coefficients) > 1:
        return ()
    found = Polynomial(law.coefficients[0])(Polynomial([-float(law.knots[0]), 1.0])).coef
    size = np.abs(found).max()
    while len(found) > 1 and abs(found[-1]) <= SAME * size:
        found = found[:-1]
    return tuple(found.tolist())


def points_of(law: Signal | None) -> tuple[tuple[float, float], ...]:
    """The points of a law that is a spline of OpenSim, with the straight pieces beyond them; else none."""
    if law is None or len(law.coefficients) < 4:
        return ()
    rows, knots = law.coefficients, law.knots[1:-1]
    values = rows[1:, 0]
    made = spline(knots, values)
    if made.knots is None or made.coefficients.shape != rows.shape:
        return ()
    inside = np.abs(made.coefficients[1:-1] - rows[1:-1]).max() <= SAME * np.abs(rows[1:-1]).max()
    slopes = [abs(float(made.value(at, 1)) - rows[k, 1]) for k, at in ((0, knots[0]), (-1, knots[-1]))]
    straight = not rows[[0, -1], 2:MOST].any() and max(slopes) <= SAME * np.abs(rows[:, 1]).max()
    return tuple(zip(knots.tolist(), values.tolist(), strict=True)) if inside and straight else ()


def highest_first(powers: Sequence[float]) -> list[float]:
    """Coefficients in OpenSim's order."""
    return [float(value) for value in reversed(powers)]
