"""A coordinate of a joint that follows others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from runtime.dynamics.signals import DEGREE
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats
from runtime.support.checks import finite, finite_number
from runtime.support.errors import ModelError, shown, unknown_name
from runtime.system.connection import checked_name
from runtime.system.signal import Signal
from runtime.system.sum_of_products import SumOfProducts

BEYOND = 1.0  # [rad], [m] length of the straight pieces beyond the points of a law; compiled code goes on with them


@checked_class
@dataclass(frozen=True)
class Coupling:
    """A coordinate of a joint that follows others, follower = law(leaders).

    ``follower`` and ``leaders`` are names such as "knee.distance" [rad], [m]; ``law`` is a function of the leaders: a signal of
    one, whose first and last pieces hold beyond their ends too, or a sum of products.
    """

    name: str
    follower: str
    leaders: tuple[str, ...]
    law: Signal | SumOfProducts

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The follower and its leaders."""
        return (self.follower, *self.leaders)

    def value(self, x: Floats, order: int = 0) -> Floats:
        """The law of one leader, or its derivative of an order up to 2, at values of the leader, of any shape."""
        return np.reshape(self.derivatives({self.leaders[0]: x})[order], np.shape(x))

    def derivatives(self, q: Mapping[str, Any]) -> tuple[Floats, Floats, Floats]:
        """The law at coordinates by name, (...) each: value (...), slopes (..., leaders), curvatures (..., leaders, leaders)."""
        x = [np.asarray(q[name], dtype=float) for name in self.leaders]
        if isinstance(self.law, SumOfProducts):
            return self.law.derivatives(*x)
        from scipy.interpolate import PPoly

        law = PPoly(self.law.coefficients[:, ::-1].T, self.law.knots)
        return law(x[0]), law(x[0], 1)[..., None], law(x[0], 2)[..., None, None]


def build_coupling(
    name: str, follower: str, leaders: str | Sequence[str], law: Any, joints: Collection[str],
    before: Mapping[str, Coupling], *, straight: bool = True,
) -> Coupling:  # fmt: skip
    """A coupling beside those before it, of coordinates of joints; ``law``, ``straight``: as of ``law_of``.

    Raises
    ------
    ModelError
    """
    checked_name(name, "coupling", before)
    what = f"coupling '{name}'"
    leaders = (leaders,) if isinstance(leaders, str) else tuple(leaders)
    for one in (follower, *leaders):
        if not isinstance(one, str) or one.rpartition(".")[0] not in joints:
            raise unknown_name(str(one).rpartition(".")[0], joints, "joint", whose=f"{what}: ")
    others = {other.follower: other.name for other in before.values()}
    if follower in others:
        raise ModelError(
            f"{what}: '{follower}' follows already by coupling '{others[follower]}'; a coordinate has one law"
        )
    made = law_of(law, what, straight=straight)
    count = made.leaders if isinstance(made, SumOfProducts) else 1
    if len(leaders) != count or len(set(leaders)) < count:
        raise ModelError(
            f"{what}: {len(leaders)} leaders ({', '.join(leaders)}), and a law of {count}; give as many different coordinates"
        )
    coupling = Coupling(name, follower, leaders, made)
    in_order([*before.values(), coupling])
    return coupling


def law_of(law: Any, what: str, *, straight: bool = True) -> Signal | SumOfProducts:
    """The law of a coupling: a number, the ratio; coefficients of powers of the leader, lowest first; a spline; or products.

    Beyond its points a spline goes on straight, with the slope of its end, or with its first and last polynomial.

    Raises
    ------
    ModelError
    """
    if isinstance(law, SumOfProducts):
        return law
    if isinstance(law, Signal):
        finite_knots = bool(np.isfinite(law.knots).all())
        return law if finite_knots and not straight else _straight_beyond(law)
    if isinstance(law, Iterable) and not isinstance(law, str | bytes):
        given: Any = list(law)
        if not 1 <= len(given) <= DEGREE + 1:
            raise ModelError(
                f"{what}: a law of {len(given)} coefficients; give 1 to {DEGREE + 1}, of powers of the leader from 0 on, or "
                "Signal.spline(leader, follower), or runtime.SumOfProducts"
            )
        coefficients = finite(given, (len(given),), f"{what}: law")
    elif isinstance(law, int | float | np.number) and not isinstance(law, bool):
        coefficients = np.array([0.0, finite_number(law, f"{what}: law")])
    else:
        raise ModelError(
            f"{what}: the law {shown(law)}; give a ratio, coefficients, or a runtime.Signal or SumOfProducts"
        )
    from numpy.polynomial import Polynomial

    # About the first knot, as pieces of signals are.
    moved = Polynomial(coefficients)(Polynomial([-BEYOND, 1.0])).coef
    row = np.zeros((1, DEGREE + 1))
    row[0, : len(moved)] = moved
    return Signal(np.array([-BEYOND, BEYOND]), row)


def _straight_beyond(law: Signal) -> Signal | SumOfProducts:
    """A signal with straight pieces before and behind it."""
    knots, pieces = law.knots, law.coefficients
    if not np.isfinite(knots).all():
        return law_of([float(pieces[0, 0])], "")
    ends = np.zeros((2, DEGREE + 1))
    slope = float(law(knots[0], 1))
    ends[0, :2] = float(law(knots[0])) - BEYOND * slope, slope
    ends[1, :2] = float(law(knots[-1])), float(law(knots[-1], 1))
    return Signal(np.array([knots[0] - BEYOND, *knots, knots[-1] + BEYOND]), np.vstack([ends[:1], pieces, ends[1:]]))


def in_order(couplings: Sequence[Coupling]) -> list[Coupling]:
    """The couplings, those of leaders that follow others themselves behind those of these.

    Raises
    ------
    ModelError
        For couplings in a circle.
    """
    by_follower = {one.follower: one for one in couplings}
    try:
        order = TopologicalSorter({one.follower: one.leaders for one in couplings}).static_order()
        return [by_follower[name] for name in order if name in by_follower]
    except CycleError as error:
        names = ", ".join(f"'{by_follower[name].name}'" for name in sorted(set(error.args[1])))
        raise ModelError(
            f"couplings {names}: form a circle in which a coordinate follows itself; leave one of them out"
        ) from None


def whose_couplings(system: Any) -> str:
    """Words for a system with couplings, or with armature, for messages."""
    what, parts = ("couplings", system.couplings) if system.couplings else ("armature", system.armatures)
    names = ", ".join(f"'{one.name}'" for one in parts)
    return f"system '{system.name}' has {what} of coordinates ({names}), which only"


def refuse_couplings(system: Any, what: str, *, armature: bool = True) -> None:
    """Refuse a system with couplings, and with ``armature``, where the equations of all bodies are used, which do not know them.

    Raises
    ------
    ModelError
    """
    if system.couplings or (armature and system.armatures):
        raise ModelError(
            f"{what}: {whose_couplings(system)} the equations in joint coordinates know; use runtime.simulate, or a system "
            "without them"
        )
