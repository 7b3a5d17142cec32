"""What ``models.swap`` asks of a model and of its options."""

from __future__ import annotations

import difflib
import math
from dataclasses import replace

from models.files.description import Description, Link
from models.files.naming import identifiers
from models.files.reading import Reading
from runtime import ModelError

CHOICES = {
    "with_": ("modified_universal", "universal"), "talus": ("foot", "shank", "drop", "keep"),
    "along": ("centres", "perpendicular"),
}  # fmt: skip


def check_choice(with_: str, talus: str, along: str, length: float | None) -> float | None:
    """The length of the link [m], None for that of the file; refuses options that contradict each other."""
    for name, value in (("with_", with_), ("talus", talus), ("along", along)):
        if value not in CHOICES[name]:
            raise ModelError(f"{name} = {value!r}; use one of {', '.join(map(repr, CHOICES[name]))}")
    if length is not None and not 0.0 <= length < math.inf:
        raise ModelError(f"talus_length = {length:g} m must be a finite length of 0 m or more")
    if with_ == "universal":
        if length:
            raise ModelError(
                f"talus_length = {length:g} m: the axes of a universal joint meet, limit 0 m; use with_='modified_universal'"
            )
        return 0.0
    return length


def hinges_of(reading: Reading, ankle: str, subtalar: str, *, unlock: bool) -> tuple[Description, tuple[str, str]]:
    """The whole model, its locked hinges free if asked, and the links behind both hinges.

    Raises
    ------
    ModelError
        For joints that are unknown, no hinges, welded, locked or not consecutive.
    """
    source = reading.source
    found = []
    for name in (ankle, subtalar):
        link = _link_behind(source, name, takes_axis=name == subtalar and source.format == "OpenSim")
        source = _free(source, link, name, unlock=unlock)
        found.append(link.name)
    one, two = (next(link for link in source.links if link.name == name) for name in found)
    if two.parent != one.name:
        order = f"; exchange them, '{subtalar}' lies before '{ankle}'" if one.parent == two.name else ""
        raise ModelError(
            f"joints '{ankle}' and '{subtalar}': are not consecutive, '{ankle}' leads to '{one.name}' and '{subtalar}' starts at "
            f"'{two.parent}'{order or '; name two hinges with one body between them'}"
        )
    return source, (one.name, two.name)


def _link_behind(source: Description, name: str, *, takes_axis: bool) -> Link:
    """The link that a hinge moves, by the name of the joint or of its coordinate.

    ``takes_axis``: ``models.swap`` can add an axis where the joint is welded.
    """
    named = [one for one in source.links if one.joint == name]
    steps = {law.step for law in source.laws if law.coordinate == name} | {name}
    found = named or [one for one in source.links if any(step.name in steps for step in one.steps)]
    if len(found) != 1:
        known = [one.joint or step.name for one in source.links for step in one.steps[:1] if len(one.steps) == 1]
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"did you mean '{near[0]}'?" if near else f"the hinges are {', '.join(known)}"
        raise ModelError(f"joint '{name}': {'is ambiguous' if found else 'no such joint in the model'}; {meant}")
    link = found[0]
    if not link.steps:
        remedy = "add an axis by subtalar_axis='isman_inman'" if takes_axis else "give it a hinge in the file"
        raise ModelError(f"joint '{name}': the file welds it, and both hinges of the ankle move; {remedy}")
    if len(link.steps) != 1 or link.steps[0].kind != "turn":
        kinds = f"{len(link.steps)} motions ({', '.join(step.kind for step in link.steps)})"
        raise ModelError(f"joint '{name}': is no hinge, it has {kinds}, limit 1 turn; name a joint with one angle")
    return link


def _free(source: Description, link: Link, name: str, *, unlock: bool) -> Description:
    """The description in which a hinge moves by its coordinate."""
    step = link.steps[0]
    law = next((one for one in source.laws if one.step == step.name), None)
    if law is None or law.own:
        return source
    coordinate = source.coordinates[law.coordinate]
    if len(law.coordinates) > 1 or not coordinate.locked or law.value(1.0, 1) != 1.0 or law.value(0.0, 2) != 0.0:
        raise ModelError(
            f"joint '{name}': its angle follows the coordinate '{law.coordinate}' by a function, and a hinge turns by its "
            "coordinate alone; give it a coordinate of its own"
        )
    if not unlock:
        raise ModelError(
            f"joint '{name}': the file locks its coordinate '{law.coordinate}' at {coordinate.default:.6g} rad, and both hinges "
            "of the ankle move; use unlock=True"
        )
    new = identifiers([*source.coordinates])[law.coordinate]
    links = {one.name: one for one in source.links}
    links[link.name] = replace(link, steps=(replace(step, name=new, reference=coordinate.default),))
    laws = tuple(replace(one, step=new, own=True) if one is law else one for one in source.laws)
    coordinates = {**source.coordinates, law.coordinate: replace(coordinate, locked=False)}
    return source.changed(links=tuple(links.values()), laws=laws, coordinates=coordinates)


def check_carried(source: Description, talus: Link, foot: Link) -> None:
    """Refuse a talus that carries other bodies than the foot, or constraints.

    Raises
    ------
    ModelError
    """
    if others := [link.name for link in source.links if link.parent == talus.name and link.name != foot.name]:
        raise ModelError(
            f"body '{talus.name}': carries {', '.join(map(repr, others))} beside '{foot.name}', and a massless link carries one "
            "body; use talus='keep'"
        )
    if held := [one.name for one in source.closures if talus.name in (one.link_1, one.link_2)]:
        raise ModelError(
            f"body '{talus.name}': constraint '{held[0]}' holds it, and a link has no mass; use talus='keep'"
        )
    if foot.mass <= 0.0 and not talus.mass > 0.0:
        raise ModelError(f"body '{foot.name}': has no mass; give it a mass above 0 kg")
