"""Questions about units: a length, mass, speed or stiffness that a model cannot have was probably given in another unit.

They are warnings, and the value is used; a model with a domain of its own, such as the foot, refuses what lies outside of it.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from runtime.support.arguments import name_at_border
from runtime.support.errors import ACCEPTED, USED, ModelError, UnitWarning, warn

F = TypeVar("F", bound=Callable[..., Any])
GRAVITY = 9.81  # [m/s^2] where none is given
DOWN = (0.0, 0.0, -GRAVITY)
# What a number in another unit is multiplied by, with the name of that unit.
OTHER_UNITS = {
    "m": ((1e-3, "mm"), (1e-2, "cm"), (0.0254, "inches")),
    "kg": ((1e-3, "g"), (0.4536, "pounds"), (1e3, "t")),
    "m/s": ((1e-3, "mm/s"), (1e-2, "cm/s"), (1 / 3.6, "km/h")),
    "m/s^2": ((1e-3, "mm/s^2"), (GRAVITY, "multiples of g")),
    "rad": ((math.pi / 180, "degrees"),),
    "rad/s": ((math.pi / 180, "degrees per second"), (math.pi / 30, "turns per minute")),
    "N/m": ((1e-3, "N/km"), (1e3, "N/mm")),
    "N/m^1.5": ((1e3**1.5, "N/mm^1.5"),),
    "kg m^2": ((1e-6, "kg mm^2"), (1e-4, "kg cm^2"), (1e-9, "g mm^2"), (1e-7, "g cm^2")),
    "s": ((1e-3, "ms"),),
    "N": ((1e3, "kN"), (1e-3, "mN"), (GRAVITY, "kilograms-force")),
    "N m": ((1e-3, "N mm"),),
    "N m/rad": ((180 / math.pi, "N m/deg"),),
}


def with_unit(text: str, unit: str) -> str:
    """A number with its unit for a sentence; a pure number, whose unit is "1", alone."""
    return text if unit in ("", "1") else f"{text} {unit}"


SIGNED = ("m/s", "rad", "rad/s", "degrees")  # units of numbers that may be negative


class Usual(NamedTuple):
    """The magnitudes that something can have: from ``least`` to ``most``, or 0."""

    least: float
    most: float
    unit: str
    of: str  # what has it, such as "the height of a talus"


def usual(*, refuse: bool = False, **ranges: Usual) -> Callable[[F], F]:
    """Ask about arguments of a function that are outside their usual ranges, unless it is called with ``check_units=False``.

    refuse : of a model whose domain the ranges are

    Raises
    ------
    ModelError
        With ``refuse``: the value, the range, the unit in which it would be within.
    """

    def decorate(function: F) -> F:
        order = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            arguments = {**dict(zip(order, given, strict=False)), **named}
            for name, of in ranges.items() if named.get("check_units", True) else ():
                sentence = (
                    question(f"{name_at_border(function)}: {name}", arguments[name], of) if name in arguments else ""
                )
                if sentence and refuse:
                    raise ModelError(sentence + ACCEPTED)
                ask_by(sentence)
            return function(*given, **named)

        return call  # type: ignore[return-value]

    return decorate


def ask_by(sentence: str) -> None:
    """Warn of a value by a sentence of ``question``, if there is one."""
    if sentence:
        warn(sentence + USED, UnitWarning)


def ask(what: str, value: Any, of: Usual) -> None:
    """Warn of a value that is outside its usual range."""
    ask_by(question(what, value, of))


def question(what: str, value: Any, of: Usual) -> str:
    """Sentence about a value that is outside its usual range; "" for others."""
    try:
        array = np.asarray(value, dtype=float)
        size = float(np.abs(array).max(initial=0.0))
    except Exception:  # whatever a foreign object raises
        return ""  # refused by the check of its kind
    if array.ndim == 0 and array < 0.0 and of.unit not in SIGNED:
        return ""  # refused where it is used
    if not math.isfinite(size) or size == 0.0 or of.least <= size <= of.most:
        return ""
    meant = [
        f"{size:g} {name} are {size * factor:.4g} {of.unit}"
        for factor, name in OTHER_UNITS.get(of.unit, ())
        if of.least <= size * factor <= of.most
    ]
    asked = f"is another unit meant? {meant[0]}" if meant else "is another unit meant?"
    if of.least > 0.0:
        span = (
            f"{of.least:g} to {of.most:g} {of.unit}" if math.isfinite(of.most) else f"at least {of.least:.3g} {of.unit}"
        )
    else:
        span = f"at most {with_unit(f'{of.most:g}', of.unit)}"
    return f"{what} = {with_unit(f'{size:g}', of.unit)}, but {of.of} is {span}; {asked}"


def ask_about_change(what: str, before: Any, after: Any, unit: str, factor: float, whose: str) -> None:
    """Warn of a value that is a factor away from the one before; zeros are not compared."""
    try:
        old, new = (float(np.abs(np.asarray(value, dtype=float)).max(initial=0.0)) for value in (before, after))
    except Exception:  # whatever a foreign object raises
        return
    if old > 0.0 and new > 0.0:
        ask(what, new, Usual(old / factor, old * factor, unit, f"with {old:g} {unit} in {whose} the usual range"))
