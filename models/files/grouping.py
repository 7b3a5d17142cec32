"""Steps of a link in groups, each of which is one joint of Talus; small bodies between the groups.

Two turns whose axes meet are a universal joint.  Two turns whose axes do not, at the beginning of the steps, are a modified
universal joint: the part between them has no mass, as its link (Rodrigues da Silva et al. 2024a).

Between two groups there is a body.  A distribution of mass on what both of its neighbours share, the axis of the next turn or the
centre of the next ball, belongs to either of them, so it is taken from the outer body and given to the inner one: the motion is
unchanged.  Such a body is a rod on the axis, or a point, without a moment of inertia about it (``runtime.system.thin_bodies``).
Where the axes of the link's turns depend on each other in the reference pose, nothing else resists that rotation: there the body
gets a moment, SPIN of its largest, and so at most about SPIN times SHARE of the outer body's, 3e-10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from models.files.description import Floats, Link, Step, no_vector
from runtime import ModelError

SLIDES = ("xi", "eta", "zeta")
OBLIQUE = ("distance_a", "distance_b", "distance_c")
SAME_AXIS = 1e-14  # [1] of one less the cosine of the angle between axes that are the same
MEETING = 1e-9  # [m] distance of axes below which they meet
PARALLEL = 1e-6  # [1] sine of the angle between axes below which they are parallel
SKEW = 1e-2  # [1] sine of the angle between the axes of a modified universal joint, at least
APART = 1e-5  # [m] distance between the axes of a modified universal joint, at least
ACROSS = 2e-2  # [1] part of a link that is across both axes, at least; else it is laid along the common perpendicular
SHARES = (2.5e-4, 1e-4, 1e-5, 1e-6)  # of the mass of the outer body; the first with which an outer body is left
SPIN = 1.01e-6  # [1] moment about the axis, as a fraction of the largest, where the axes of turns depend on each other
LOCKED = 1e-3  # [1] smallest singular value of the axes of turns that depend on each other
ENOUGH = 1e-3  # of the least second moment of mass must be left
ROUNDING = 1e-12  # [1] of a least second moment of 0, that of a rod, as a fraction of the largest

Kind = Literal[
    "free", "spherical", "revolute", "translational", "cylindrical", "universal", "modified_universal", "plane_translation",
    "translation", "oblique_translation",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Group:
    """Steps that one joint of Talus makes; ``coordinates``: names of Talus for the coordinate of each step."""

    kind: Kind
    steps: tuple[Step, ...]
    coordinates: tuple[str, ...]
    point: Floats  # (3,) [m] of the joint, in axes of the link
    end: Floats = field(default_factory=no_vector)  # (3,) [m] outer end of the link of a modified universal joint

    @property
    def name(self) -> str:
        """Name of the joint."""
        return "_and_".join(step.name for step in self.steps)


@dataclass(frozen=True, eq=False)
class Mass:
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2] in axes of a link."""

    mass: float
    centre: Floats
    inertia: Floats

    def less(self, other: Mass) -> Mass:
        """What is left without another distribution of mass."""
        mass = self.mass - other.mass
        centre = (self.mass * self.centre - other.mass * other.centre) / mass
        parts = [_about(m, centre) for m in (self, other)]
        return Mass(mass, centre, parts[0] - parts[1])

    @property
    def moments(self) -> Floats:
        """Principal moments of inertia (3,) [kg m^2], in ascending order."""
        values: Floats = np.linalg.eigvalsh(self.inertia).astype(np.float64)
        return values

    @property
    def second_moments(self) -> Floats:
        """Eigenvalues (3,) [kg m^2] of the integral of x x^T dm, none below 0."""
        values: Floats = np.linalg.eigvalsh(np.trace(self.inertia) / 2.0 * np.eye(3) - self.inertia)
        return values


def _about(m: Mass, point: Floats) -> Floats:
    d = m.centre - point
    found: Floats = m.inertia + m.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return found


def groups_of(link: Link) -> tuple[Group, ...]:
    """The joints that the steps of a link make, from its parent to the link.

    Raises
    ------
    ModelError
        For a slide behind a turn that is not along its axis, and what else no joint of Talus makes.
    """
    left = list(link.steps)
    found: list[Group] = []
    while left:
        group = _first_group(left, link.rotation, alone=not found)
        found.append(group)
        del left[: len(group.steps)]
    if found[0].kind == "free" and len(found) > 1 or any(g.kind == "free" for g in found[1:]):
        raise ModelError(f"link '{link.name}': has a free joint and others; keep the free joint alone")
    for group in found[1:]:
        if group.kind not in ("revolute", "universal", "spherical"):
            raise ModelError(
                f"link '{link.name}': the slide '{group.steps[0].name}' comes after another joint of the same link, which only "
                "slides along a turn's axis and slides before turns may; lay a link with mass between them"
            )
    return tuple(found)


def _first_group(steps: Sequence[Step], rotation: Floats, *, alone: bool) -> Group:
    """The longest group at the beginning of steps.

    ``rotation``: from their axes to those of the parent; ``alone``: no group lies before it, to which mass must be given.
    """
    kinds = [step.kind for step in steps]
    one, point = steps[0], steps[0].point
    slides = next((n for n, kind in enumerate(kinds) if kind != "slide"), len(kinds))
    if slides >= 3 and _independent(steps[:3]):
        along = np.array([rotation @ step.axis for step in steps[:3]])
        names = tuple(SLIDES[int(row.argmax())] for row in along)
        if len(set(names)) < 3 or not (along.max(axis=1) >= 1.0 - SAME_AXIS).all():
            return Group("oblique_translation", tuple(steps[:3]), OBLIQUE, point)
        return Group("translation", tuple(steps[:3]), names, point)
    if slides == 2 and _sine(one, steps[1]) > PARALLEL:
        return Group("plane_translation", tuple(steps[:2]), ("distance_a", "distance_b"), point)
    if sorted(kinds[:2]) == ["slide", "turn"] and _sine(one, steps[1]) <= PARALLEL:
        names = tuple("angle" if kind == "turn" else "distance" for kind in kinds[:2])
        at = steps[kinds.index("turn")].point
        if one.axis @ steps[1].axis > 0.0:
            return Group("cylindrical", tuple(steps[:2]), names, at)
    if kinds[:2] == ["turn", "turn"] and (meeting := _meeting(one, steps[1])) is not None:
        return Group("universal", tuple(steps[:2]), ("theta_i", "theta_j"), meeting)
    if alone and kinds[:2] == ["turn", "turn"] and (ends := _link_ends(one, steps[1])) is not None:
        return Group("modified_universal", tuple(steps[:2]), ("theta_i", "theta_j"), *ends)
    single: dict[str, tuple[Kind, str]] = {
        "free": ("free", ""), "ball": ("spherical", ""), "turn": ("revolute", "angle"), "slide": ("translational", "distance"),
    }  # fmt: skip
    kind, coordinate = single[one.kind]
    return Group(kind, (one,), (coordinate,), point)


def _sine(a: Step, b: Step) -> float:
    return float(np.linalg.norm(np.cross(a.axis, b.axis)))


def _independent(steps: Sequence[Step]) -> bool:
    return abs(float(np.linalg.det([step.axis for step in steps]))) > PARALLEL


def _meeting(a: Step, b: Step) -> Floats | None:
    """The point where the axes of two turns meet, if they do."""
    normal = np.cross(a.axis, b.axis)
    square = float(normal @ normal)
    if square <= PARALLEL**2:
        return None
    d = b.point - a.point
    if abs(d @ normal) > MEETING * np.sqrt(square):
        return None
    return closest_points(a, b)[0]


def _link_ends(a: Step, b: Step) -> tuple[Floats, Floats] | None:
    """The ends of a massless link between two turns: their points, or the closest points of their axes.

    The rows of the joint depend on each other where the link lies in a plane with both axes, which links along the common
    perpendicular never do.
    """
    normal, d = np.cross(a.axis, b.axis), b.point - a.point
    sine = float(np.linalg.norm(normal))
    if sine < SKEW:
        return None
    apart = abs(float(d @ normal)) / sine
    if apart < APART:
        return None
    return (a.point, b.point) if apart >= ACROSS * float(np.linalg.norm(d)) else closest_points(a, b)


def closest_points(a: Step, b: Step) -> tuple[Floats, Floats]:
    """The points of the axes of two turns that are nearest to each other."""
    normal, d = np.cross(a.axis, b.axis), b.point - a.point
    square = float(normal @ normal)
    one: Floats = a.point + a.axis * float(np.cross(d, b.axis) @ normal) / square
    two: Floats = b.point + b.axis * float(np.cross(d, a.axis) @ normal) / square
    return one, two


def masses_of(link: Link, groups: Sequence[Group]) -> list[Mass]:
    """The mass behind each group: small ones between the groups, and the link's own less these.

    Raises
    ------
    ModelError
        For a link that has too little extent to give mass to a body before it.
    """
    found = [Mass(link.mass, link.centre, link.inertia)]
    for k in range(len(groups) - 1, 0, -1):
        near = groups[k - 1].point if groups[k - 1].kind in ("revolute", "universal", "spherical") else None
        own, rest = _shared(link, found[0], groups[k], near, thin=not _locked(groups, k))
        found[:1] = [own, rest]
    return found


def _locked(groups: Sequence[Group], k: int) -> bool:
    """Whether the body before group k can turn against both of its neighbours, which rest, in the reference pose."""
    before, behind = (
        [axis for group in some for step in group.steps for axis in _turning(step)] for some in (groups[:k], groups[k:])
    )
    axes = np.array([*before, *behind])
    return bool(before) and (len(axes) > 3 or float(np.linalg.svd(axes, compute_uv=False)[-1]) < LOCKED)


def _turning(step: Step) -> list[Floats]:
    """The axes about which a step turns."""
    return [step.axis] if step.kind == "turn" else list(np.eye(3)) if step.kind in ("ball", "free") else []


def _shared(link: Link, outer: Mass, group: Group, near: Floats | None, *, thin: bool) -> tuple[Mass, Mass]:
    """Mass of an inner body on what it shares with the outer one by a group, and what is left of the outer one.

    ``near``: point of the joint before, where a body before the inner one can take mass in turn; ``thin``: the inner one may have
    no moment about what it shares.
    """
    axis = group.steps[0].axis if group.kind == "revolute" else np.zeros(3)
    to = outer.centre if near is None else near
    at = group.point + axis * float(axis @ (to - group.point))
    extent = float(np.sqrt(max(outer.second_moments[0], 0.0) / outer.mass))
    # Of a lamina, or of moments that no distribution of mass has, what is left needs moments of inertia alone.
    for measured, shares in (("second_moments", SHARES), ("moments", SHARES[::-1])):
        least, largest = getattr(outer, measured)[[0, 2]]
        for share in shares:
            for half in (extent, 0.0) if axis.any() else (0.0,):
                mass = share * outer.mass
                rod = mass * half**2 * (np.eye(3) - np.outer(axis, axis))
                inner = Mass(mass, at, rod)
                rest = outer.less(inner)
                if getattr(rest, measured)[0] >= ENOUGH * least - ROUNDING * largest:
                    return (inner if thin else replace(inner, inertia=_filled(rod, outer, share))), rest
    raise ModelError(
        f"link '{link.name}': its joints {', '.join(repr(s.name) for s in link.steps)} need bodies between them, and the link is "
        "too thin to give them mass; give it an inertia of a body with extent in two directions"
    )


def _filled(rod: Floats, outer: Mass, share: float) -> Floats:
    """The inertia of a rod with a small moment about its axis, or a small one in all directions in place of none."""
    largest = float(np.linalg.eigvalsh(rod)[-1])
    if largest <= 0.0:
        largest = float(np.linalg.eigvalsh(outer.inertia)[-1])
        return np.eye(3) * SPIN * share * largest
    values, vectors = np.linalg.eigh(rod)
    found: Floats = (vectors * np.maximum(values, SPIN * largest)) @ vectors.T
    return (found + found.T) / 2.0
