"""What follows coordinates of an OpenSim model: steps with functions, and coordinates with couplers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from models.files.description import Follower, Law
from models.files.osim_functions import Derivative, Function, function_within, numbers
from models.files.osim_xml import active, text_of
from models.files.xml_reading import Element

COUPLER = "CoordinateCouplerConstraint"


@dataclass(frozen=True, eq=False)
class Coupler:
    """A coordinate that follows another one; ``leader``: several, with spaces between, where it is not read."""

    follower: str
    leader: str
    function: Function | None

    @property
    def leading(self) -> tuple[str, Derivative] | tuple[()]:
        """The leader and the function of it, if it is read."""
        return () if self.function is None else (self.leader, self.function.value)


def couplers(elements: Iterable[Element], defaults: Mapping[str, float], locked: Collection[str]) -> dict[str, Coupler]:
    """The couplers that act on coordinates which are not locked, by these.

    Raises
    ------
    ModelError
        With file and line.
    """
    found = [_coupler(e, defaults) for e in filter(active, elements)]
    return {one.follower: one for one in found if one.follower not in locked}


def _coupler(e: Element, defaults: Mapping[str, float]) -> Coupler:
    """A coupler of an existing coordinate."""
    follower, leaders = text_of(e, "dependent_coordinate_name"), text_of(e, "independent_coordinate_names").split()
    if unknown := [name for name in (follower, *leaders) if name not in defaults]:
        raise e.error(f"<{COUPLER}>: coordinate '{unknown[0]}' does not exist; correct it")
    function = function_within(e, holder="coupled_coordinates_function")
    if len(leaders) != 1 or function is None or function.knots is None:
        return Coupler(follower, " ".join(leaders), None)
    return Coupler(follower, leaders[0], function.times(float(numbers(e, "scale_factor", 1, (1.0,))[0])))


def followers(
    laws: Iterable[Law], functions: Mapping[str, Function], locked: Collection[str], defaults: Mapping[str, float],
    used: Mapping[str, str], driven: Mapping[str, Coupler],
) -> tuple[tuple[Follower, ...], list[tuple[str, str]]]:  # fmt: skip
    """Steps that follow others, and those that follow in a way that is not read, with their coordinates.

    Parameters
    ----------
    laws : of all steps; ``functions``: those of each
    locked : coordinates
    defaults : values of coordinates in the reference pose
    used : names of steps by the coordinates that they are
    driven : couplers by their followers
    """
    found: list[Follower] = []
    laws, left = list(laws), []
    own = {law.coordinate for law in laws if law.own}
    for one in driven.values():
        if one.follower not in own:
            continue  # its steps follow the leader
        if one.function is None or one.leader not in own:
            left.append((one.follower, one.leader))
            continue
        at, value = defaults[one.leader], defaults[one.follower]
        found.append(_following(used[one.follower], used[one.leader], one.function, at, value))
    for law in laws:
        if law.own or law.coordinate in locked:
            continue
        function, leader = functions[law.step], law.coordinate
        if leader not in own and leader in driven:
            inner = driven[leader].function
            function, leader = function.of(inner) if inner is not None else function, driven[leader].leader
        if leader in own and function.knots is not None:
            found.append(_following(law.step, used[leader], function, defaults[leader], law.reference))
        else:
            left.append((law.step, law.coordinate))
    return tuple(found), left


def _following(step: str, leader: str, function: Function, at: float, reference: float) -> Follower:
    """A step by a function of a coordinate, about the values of both in the reference pose."""
    assert function.knots is not None
    coefficients = function.coefficients.copy()
    coefficients[:, 0] -= reference
    return Follower(step, leader, np.asarray(function.knots) - at, coefficients)
