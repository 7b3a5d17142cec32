"""Coordinates of models whose files name joints alone: one of each turn and slide, six of a free joint, three of a ball."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from models.files.description import Description, FileCoordinate, Floats, Follower, Law, Link, Step
from models.files.naming import unique
from models.files.osim_functions import straight


def with_coordinates(source: Description) -> Description:
    """The description with a law and a coordinate for each step, by its name.

    A free joint NAME becomes slides NAME_tx, NAME_ty, NAME_tz along global axes and body-fixed turns NAME_rx, NAME_ry, NAME_rz, a
    ball three turns.  Coordinates with ranges are held to them; those that follow others have couplers.
    """
    names: list[str] = []
    links = []
    for link in source.links:
        steps = [part for step in link.steps for part in _parts(link, step)]
        own = unique([*names, *(step.name for step in steps)])[len(names) :]
        names += own
        links.append(replace(link, steps=tuple(replace(s, name=name) for s, name in zip(steps, own, strict=True))))
    every = {step.name: step for link in links for step in link.steps}
    following = {one.step: one for one in source.followers}
    coordinates = {
        name: FileCoordinate(
            step.reference, False, *_coupler(following.get(name), every), step.reference + step.lower,
            step.reference + step.upper,
        )
        for name, step in every.items()
    }  # fmt: skip
    laws = tuple(Law(name, (name,), straight(1.0, 0.0), True, step.reference) for name, step in every.items())
    return source.changed(links=tuple(links), laws=laws, coordinates=coordinates)


def _parts(link: Link, step: Step) -> list[Step]:
    """Turns and slides that make a step."""
    if step.kind in ("turn", "slide"):
        return [step]
    turns = [Step(f"{step.name}_r{a}", "turn", axis, step.point) for a, axis in zip("xyz", np.eye(3), strict=True)]
    if step.kind == "ball":
        return turns
    return [Step(f"{step.name}_t{a}", "slide", row) for a, row in zip("xyz", link.rotation, strict=True)] + turns


def _coupler(
    one: Follower | None, steps: dict[str, Step]
) -> tuple[str, Callable[[Floats, int], Floats] | None]:  # fmt: skip
    """Leader of a coordinate and function of it, in values of the file."""
    if one is None:
        return "", None
    leader, reference, follower = one.leaders[0], steps[one.leaders[0]].reference, steps[one.step].reference

    def value(x: Floats, order: int) -> Floats:
        found = np.reshape(one.derivatives({leader: np.asarray(x) - reference})[order], np.shape(x))
        return found + follower if order == 0 else found

    return " ".join(one.leaders), value if len(one.leaders) == 1 else None
