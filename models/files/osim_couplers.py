"""What follows coordinates of an OpenSim model: steps with functions, and coordinates with couplers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.files.description import Follower, Law
from models.files.osim_functions import Function, function_within, numbers
from models.files.osim_xml import active, text_of
from runtime import Signal
from runtime.support import Element

COUPLER = "CoordinateCouplerConstraint"


@dataclass(frozen=True, eq=False)
class Coupler:
    """A coordinate that follows others by a function; None where that is not read."""

    follower: str
    leaders: tuple[str, ...]
    function: Function | None

    @property
    def leading(self) -> dict[str, Any]:
        """As ``FileCoordinate`` has them: the leaders, with blanks between, and what is read of the function."""
        f = self.function
        if f is None:
            return {"leader": " ".join(self.leaders)}
        alone = {"value": f.value} if len(self.leaders) == 1 else {}
        return {"leader": " ".join(self.leaders), "slopes": lambda *x: f.derivatives(*x)[1], **alone}


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates of a file: their values in the reference pose, those that are locked, and names of steps."""

    defaults: Mapping[str, float]
    locked: Collection[str]
    used: Mapping[str, str]


def couplers(elements: Iterable[Element], defaults: Mapping[str, float], locked: Collection[str]) -> dict[str, Coupler]:
    """The couplers that act on coordinates which are not locked, by these.

    Raises
    ------
    ModelError
        With file and line.
    """
    found: dict[str, Coupler] = {}
    for e in filter(active, elements):
        one = _coupler(e, defaults)
        if one.follower in found:
            raise e.error(f"<{COUPLER}>: coordinate '{one.follower}' has another coupler; keep one")
        if one.follower not in locked:
            found[one.follower] = one
    return found


def _coupler(e: Element, defaults: Mapping[str, float]) -> Coupler:
    """A coupler of an existing coordinate."""
    follower = text_of(e, "dependent_coordinate_name")
    leaders = tuple(text_of(e, "independent_coordinate_names").split())
    if unknown := [name for name in (follower, *leaders) if name not in defaults]:
        raise e.error(f"<{COUPLER}>: coordinate '{unknown[0]}' does not exist; correct it")
    if not leaders or len(set(leaders)) < len(leaders):
        raise e.error(f"<{COUPLER}>: independent coordinates '{' '.join(leaders)}'; name at least one, each once")
    function = function_within(e, len(leaders), holder="coupled_coordinates_function")
    if function is not None:
        function = function.times(float(numbers(e, "scale_factor", 1, (1.0,))[0]))
    return Coupler(follower, leaders, function)


def followers(
    laws: Iterable[Law], functions: Mapping[str, Function], of: Coordinates, driven: Mapping[str, Coupler]
) -> tuple[tuple[Follower, ...], list[tuple[str, str]]]:
    """Steps that follow others, and those that follow in a way that is not read, with their coordinates.

    Parameters
    ----------
    laws : of all steps; ``functions``: those of each
    of : the coordinates of the file
    driven : couplers by their followers
    """
    found: list[Follower] = []
    laws, left = list(laws), []
    own = {law.coordinate for law in laws if law.own}
    for one in driven.values():
        if one.follower not in own:
            continue  # its steps follow the leaders
        made = _following(of.used[one.follower], one.leaders, one.function, of, own, of.defaults[one.follower])
        if made is None:
            left.append((one.follower, " ".join(one.leaders)))
        else:
            found.append(made)
    for law in laws:
        if law.own or set(law.coordinates) <= set(of.locked):
            continue
        function, leaders = functions[law.step], law.coordinates
        if leaders[0] not in own and leaders[0] in driven and len(leaders) == 1:
            inner = driven[leaders[0]]
            if inner.function is not None and len(inner.leaders) == 1:
                function, leaders = function.of(inner.function), inner.leaders
        made = _following(law.step, leaders, function, of, own, law.reference)
        if made is None:
            left.append((law.step, " ".join(law.coordinates)))
        else:
            found.append(made)
    return tuple(found), left


def _following(
    step: str, leaders: tuple[str, ...], function: Function | None, of: Coordinates, own: set[str], reference: float
) -> Follower | None:
    """A step by a function of coordinates, about the values of all in the reference pose; None if that cannot be said.

    Of several coordinates those that are locked have their values.
    """
    if function is None or any(name not in own and name not in of.locked for name in leaders) or not set(leaders) & own:
        return None
    if function.knots is not None:
        at = of.defaults[leaders[0]]
        coefficients = function.coefficients.copy()
        coefficients[:, 0] -= reference
        return Follower(step, (of.used[leaders[0]],), Signal(np.asarray(function.knots) - at, coefficients))
    if function.products is None:
        return None
    law = function.products
    for k in reversed(range(len(leaders))):
        if leaders[k] in of.locked:
            law = law.with_value(k, of.defaults[leaders[k]])
    leaders = tuple(name for name in leaders if name not in of.locked)
    law = law.about([of.defaults[name] for name in leaders], reference)
    return Follower(step, tuple(of.used[name] for name in leaders), law)
