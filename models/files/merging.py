"""Links that are fixed to others, and links without mass, are merged into their neighbours; their names remain as frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from models.files.description import WORLD, Bushing, Closure, Description, Floats, Frame, Link, Outline
from runtime import ModelError


class Pose(NamedTuple):
    """A place (3,) [m] and axes (3, 3) in those of another link."""

    position: Floats
    rotation: Floats

    def point(self, value: Floats) -> Floats:
        """A point of the inner axes in the outer ones."""
        found: Floats = self.position + self.rotation @ value
        return found

    @property
    def back(self) -> Pose:
        """The pose of the outer axes in the inner ones."""
        turn = self.rotation.T
        return Pose(-(turn @ self.position), turn)

    def then(self, inner: Pose) -> Pose:
        """The pose of what has a pose in these axes."""
        return Pose(self.point(inner.position), self.rotation @ inner.rotation)


def unmoved() -> Pose:
    """The pose of a link in its own axes."""
    return Pose(np.zeros(3), np.eye(3))


def merged(description: Description) -> Description:
    """The description in which every link moves against its parent and has mass.

    Raises
    ------
    ModelError
        For a link that moves and has no mass, nor a single link behind it.
    """
    return _with_masses(_without_welds(description))


def _without_welds(description: Description) -> Description:
    """Merge links without steps into their parents."""
    into: dict[str, tuple[str, Pose]] = {WORLD: (WORLD, unmoved())}
    links: dict[str, Link] = {}
    frames = []
    for link in description.links:
        owner, pose = into[link.parent]
        here = pose.then(Pose(link.position, link.rotation))
        if link.steps:
            links[link.name] = replace(link, parent=owner, position=here.position, rotation=here.rotation)
            into[link.name] = link.name, unmoved()
            continue
        into[link.name] = owner, here
        frames.append(Frame(link.name, owner, here.position, here.rotation, "link"))
        if owner != WORLD and (link.mass > 0.0 or link.inertia.any()):  # some files give what has no mass an inertia
            links[owner] = joined(links[owner], link, here)
    return moved(description, into).changed(
        links=tuple(links.values()), frames=(*moved(description, into).frames, *frames)
    )


def joined(link: Link, other: Link, pose: Pose) -> Link:
    """The link with the mass of another, which has a pose in its axes."""
    mass = link.mass + other.mass
    centre = pose.point(other.centre)
    inertia = pose.rotation @ other.inertia @ pose.rotation.T
    if link.mass == 0.0:
        return replace(link, mass=mass, centre=centre, inertia=inertia)
    d = centre - link.centre
    between = link.mass * other.mass / mass * (d @ d * np.eye(3) - np.outer(d, d))
    return replace(
        link, mass=mass, centre=link.centre + other.mass / mass * d, inertia=link.inertia + inertia + between
    )


def moved(description: Description, into: Mapping[str, tuple[str, Pose]]) -> Description:
    """Frames, shapes, closures, bushings on other links, by the pose of the link that they were on; those of others stay."""

    def place(link: str) -> tuple[str, Pose]:
        return into.get(link, (link, unmoved()))

    def frame(f: Frame) -> Frame:
        owner, pose = place(f.link)
        here = pose.then(Pose(f.position, f.rotation))
        return replace(f, link=owner, position=here.position, rotation=here.rotation)

    def outline(o: Outline) -> Outline:
        owner, pose = place(o.link)
        here = pose.then(Pose(o.position, o.rotation))
        return replace(o, link=owner, position=here.position, rotation=here.rotation)

    def closure(c: Closure) -> Closure:
        (one, at_one), (two, at_two) = place(c.link_1), place(c.link_2)
        return replace(c, link_1=one, link_2=two, point_1=at_one.point(c.point_1), point_2=at_two.point(c.point_2))

    def bushing(b: Bushing) -> Bushing:
        ends = [place(link) for link in (b.link_1, b.link_2)]
        (one, at_one), (two, at_two) = ends
        frames = at_one.then(Pose(*b.frames[0])), at_two.then(Pose(*b.frames[1]))
        return replace(b, link_1=one, link_2=two, frames=frames)

    return description.changed(
        frames=tuple(map(frame, description.frames)), outlines=tuple(map(outline, description.outlines)),
        closures=tuple(map(closure, description.closures)), bushings=tuple(map(bushing, description.bushings)),
    )  # fmt: skip


def _with_masses(description: Description) -> Description:
    """Give the steps of links without mass to the one link behind them."""
    links = list(description.links)
    if len(links) > 1 and not any(link.mass > 0.0 for link in links):
        raise ModelError(
            f"none of its {len(links)} moving links has a mass above 0 kg, so that forces determine no motion; give them masses"
        )
    into: dict[str, tuple[str, Pose]] = {}
    frames = list(description.frames)
    for link in description.links:
        if link.mass > 0.0:
            continue
        k = next(n for n, one in enumerate(links) if one.name == link.name)
        behind = [n for n, one in enumerate(links) if one.parent == link.name]
        link = links[k]
        if len(behind) != 1 or any(step.kind == "free" for step in link.steps):
            _refuse(link, [links[n].name for n in behind])
        child = links[behind[0]]
        back = child.rotation.T
        steps = [
            replace(step, axis=back @ step.axis, point=back @ (step.point - child.position)) for step in link.steps
        ]
        here = Pose(link.position, link.rotation).then(Pose(child.position, child.rotation))
        links[behind[0]] = replace(
            child, parent=link.parent, position=here.position, rotation=here.rotation, steps=(*steps, *child.steps)
        )
        # It moves between the steps of the other link, so nothing of it can be drawn on that one.
        into[link.name] = child.name, Pose(-back @ child.position, back)
        own = Frame(link.name, link.name, np.zeros(3), kind="link without mass")
        frames = [_behind(f, link, *into[link.name]) if f.link == link.name else f for f in (*frames, own)]
        del links[k]
    if not into:
        return description
    shapes = [o for o in description.outlines if o.link not in into]
    for c in description.closures:
        if {c.link_1, c.link_2} & set(into):
            raise ModelError(f"constraint '{c.name}': joins a link without mass; give the link a mass above 0 kg")
    for b in description.bushings:
        if {b.link_1, b.link_2} & set(into):
            raise ModelError(f"force '{b.name}': acts on a link without mass; give the link a mass above 0 kg")
    return description.changed(links=_ordered(links), frames=tuple(frames), outlines=tuple(shapes))


def _behind(frame: Frame, link: Link, child: str, pose: Pose) -> Frame:
    """A frame of a link without mass, which the first steps of its child move."""
    here = pose.then(Pose(frame.position, frame.rotation))
    steps = len(link.steps) if frame.steps is None else frame.steps
    return replace(frame, link=child, position=here.position, rotation=here.rotation, steps=steps)


def _refuse(link: Link, behind: Sequence[str]) -> None:
    names = ", ".join(f"'{step.name}'" for step in link.steps)
    many = f"carries {len(behind)} moving links, {', '.join(behind)}" if behind else "carries no other link"
    why = f"moves by {names} without mass and {many}" if len(behind) != 1 else f"moves freely by {names} without mass"
    raise ModelError(f"link '{link.name}': {why}; give it a mass above 0 kg, or fix its joint")


def _ordered(links: Sequence[Link]) -> tuple[Link, ...]:
    """Parents before children."""
    found: dict[str, Link] = {}
    left = list(links)
    while left:
        ready = [link for link in left if link.parent == WORLD or link.parent in found]
        found |= {link.name: link for link in ready}
        left = [link for link in left if link.name not in found]
    return tuple(found.values())
