"""The ankle of a model from a file as a modified universal joint: two hinges with a massless link in place of the talus.

Rodrigues da Silva et al. (2024a).  All bodies keep their poses in the reference pose of the file, so that markers, loads and
coordinates keep their meaning; axes, points and the talus's mass are what changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from models.files.added_axes import with_subtalar_axis
from models.files.description import WORLD, Description, Floats, Link, Omitted, Step
from models.files.grouping import APART, MEETING, SKEW, closest_points
from models.files.merging import Pose, joined, moved
from models.files.reading import Reading, reading_of
from models.files.swap_checks import check_carried, check_choice, hinges_of
from models.files.swapped_axes import given_axes
from models.foot_anatomy import Side
from runtime import ModelError
from runtime.support import Usual, checked, usual

SORT = "swapped ankles"
Joint = Literal["modified_universal", "universal"]
Talus = Literal["foot", "shank", "drop", "keep"]


# Above 60 lines: ten options, each documented.
@checked
@usual(refuse=True, talus_length=Usual(0.0, 0.2, "m", "the height of a talus"))
def swap(
    reading: Reading,
    ankle: str,
    subtalar: str | None,
    *,
    with_: Joint = "modified_universal",
    talus: Talus = "foot",
    talus_length: float | None = None,
    along: Literal["centres", "perpendicular"] = "centres",
    axes: tuple[ArrayLike | None, ArrayLike | None] | Mapping[str, float] | None = None,
    subtalar_axis: str | ArrayLike | None = None,
    subtalar_point: ArrayLike | None = None,
    side: Side | None = None,
    unlock: bool = False,
    check_units: bool = True,
) -> Reading:
    """Exchange two consecutive hinges and the body between them for a modified universal joint, or for a universal joint.

    In the reference pose of the file all bodies stay where they are: what moves are the axes in the bodies.  Coordinates, ranges,
    springs and followers keep their names and values.

    Parameters
    ----------
    reading : Reading
        From ``models.read`` or an earlier ``swap``, as for the other side, or for another length with the same ``talus``.
    ankle, subtalar : str
        The hinges, from shank to talus and from talus to foot: joints of the file, or their coordinates.  ``subtalar`` is None
        where the ankle carries the foot, and ``subtalar_axis`` makes a talus without mass between them.
    with_ : "modified_universal" or "universal"
        The massless link, or the classical joint: axes that meet, at the point of the ankle.
    talus : "foot", "shank", "drop" or "keep"
        Which body takes mass, centre of mass and inertia of the talus, in the reference pose, and its markers; the inertia by
        the parallel-axis theorem.  "drop": none takes the mass, and the foot the markers.  "keep": the talus remains a body
        between two hinges, as in the file.
    talus_length : float [m], optional
        Length of the link.  The ankle's axis stays, the subtalar one is shifted.  0: the axes meet, a universal joint.  Default:
        as in the file, or 0 for a universal joint.
    along : "centres" or "perpendicular"
        The link leads from the ankle's point to the subtalar one of the file, or along the common perpendicular of both axes,
        whose length is their distance.
    axes : tuple of two directions (3,), or mapping, optional
        The ankle's axis in axes of the shank, and the subtalar one in axes of the foot, of any length; None keeps one.  Or angles
        as of ``models.foot.build``: ``talocrural_inclination_deg`` with ``talocrural_deviation_deg``, and
        ``subtalar_inclination_deg`` with ``subtalar_deviation_deg``; bodies of OpenSim have x anterior, y up and z to the right.
        Directions turn about the hinges' points.  Of both senses the one nearer to the file's axis counts, so that coordinates
        keep their sign.
    subtalar_axis : "isman_inman", "opensim", (2,) [deg] or (3,), optional
        Adds a hinge to a subtalar joint that the file welds or lacks, in models of OpenSim: about the mean axis of Isman and
        Inman (1969), 41 degrees up and 23 medially; about the axis of OpenSim's gait models; by inclination and deviation; or
        along a direction in axes of a right foot (x anterior, y up, z to the right), mirrored for a left one.  Inversion is
        positive.
    subtalar_point : (3,) [m], optional
        Through which that axis goes, in axes of a right foot, from the origin of the foot's body; default: this origin, as in
        OpenSim's gait models, or, without a talus in the file, its published height below the ankle's axis.
    side : "right" or "left", optional
        For angles and ``subtalar_axis``; default: by the beginning or the end of the ankle's name, such as ``_r`` or ``left_``.
    unlock : bool
        Hinges that the file locks move.
    check_units : bool
        Ask about lengths and angles that no ankle has.

    Returns
    -------
    Reading
        As of ``models.read``; the swap is listed in ``left_out``, and so are the assumptions behind an axis that is added.

    Raises
    ------
    ModelError
        For joints that are unknown, no hinges, welded, locked or not consecutive, for a talus that carries other bodies or
        constraints, and for axes that are parallel or too close to each other.
    """
    length = check_choice(with_, talus, along, talus_length)
    if subtalar_axis is not None or subtalar_point is not None or subtalar is None:
        reading, subtalar = with_subtalar_axis(
            reading, ankle, subtalar, subtalar_axis, subtalar_point, axes=axes, side=side, check=check_units
        )
    source, pair = hinges_of(reading, ankle, subtalar, unlock=unlock)
    hinges = _Hinges.of(source, *pair)
    if axes is not None:
        hinges = hinges.turned(*given_axes(source, hinges.shank_axes, axes, side, ankle, check_units))
    if length is not None or along == "perpendicular":
        hinges = hinges.shifted(length, along)
    if talus != "keep":
        check_carried(source, hinges.talus, hinges.foot)
        _check_apart(hinges, ankle, subtalar)
    links = {link.name: link for link in source.links}
    links[hinges.talus.name], links[hinges.foot.name] = hinges.talus, hinges.foot
    description = source.changed(links=tuple(links.values()))
    if talus != "keep":
        description = _without_talus(description, hinges, talus)
    names = tuple(link.joint or link.steps[0].name for link in (hinges.talus, hinges.foot))
    omitted = [one for one in source.omitted if (one.sort, one.names) != (SORT, names)]
    before = [one.reason for one in source.omitted if (one.sort, one.names) == (SORT, names)]
    note = Omitted(SORT, names, f"{_joint_said(hinges, talus)}; {_mass_said(hinges, talus, source, before)}")
    return reading_of(
        reading.file, description.changed(omitted=(*omitted, note)), {one.sort for one in reading.ignored}
    )


@dataclass(frozen=True, eq=False)
class _Hinges:
    """The links behind both hinges; axes and points are read and changed in axes of the talus, in the reference pose."""

    talus: Link
    foot: Link

    @classmethod
    def of(cls, source: Description, talus: str, foot: str) -> _Hinges:
        links = {link.name: link for link in source.links}
        return cls(links[talus], links[foot])

    @property
    def steps(self) -> tuple[Step, Step]:
        """Both turns, in axes of the talus."""
        one, two, R = self.talus.steps[0], self.foot.steps[0], self.foot.rotation
        return one, replace(two, axis=R @ two.axis, point=self.foot.position + R @ two.point)

    @property
    def shank_axes(self) -> tuple[Floats, Floats]:
        """The axes: the first in axes of the shank, the second in those of the foot."""
        return self.talus.rotation @ self.talus.steps[0].axis, self.foot.steps[0].axis

    def turned(self, first: Floats, second: Floats) -> _Hinges:
        """With other axes, as ``shank_axes``."""
        one, two = self.talus.steps[0], self.foot.steps[0]
        return _Hinges(
            replace(self.talus, steps=(replace(one, axis=self.talus.rotation.T @ first),)),
            replace(self.foot, steps=(replace(two, axis=second),)),
        )

    def shifted(self, length: float | None, along: str) -> _Hinges:
        """With the second axis at a distance from the first one, along the link."""
        one, two = self.steps
        P, Q = one.point, two.point
        if along == "perpendicular":
            self.check_skew("along='perpendicular'")
            P, Q = closest_points(one, two)
        if length is not None:
            d = Q - P
            far = float(np.linalg.norm(d))
            if along == "perpendicular" and far <= MEETING:
                d, far = (n := np.cross(one.axis, two.axis)), float(np.linalg.norm(n))
            if length > 0.0 and far <= MEETING:
                raise ModelError(
                    f"talus_length = {length:g} m: the points of '{one.name}' and '{two.name}' are {far:.3g} m apart, limit "
                    f"{MEETING:g} m, and give the link no direction; use along='perpendicular'"
                )
            Q = P + d * (length / far) if length > 0.0 else P
        R = self.foot.rotation
        second = replace(self.foot.steps[0], point=R.T @ (Q - self.foot.position))
        return _Hinges(
            replace(self.talus, steps=(replace(one, point=P),)),
            replace(self.foot, steps=(second,)),
        )

    def check_skew(self, what: str) -> None:
        one, two = self.steps
        if (sine := float(np.linalg.norm(np.cross(one.axis, two.axis)))) < SKEW:
            angle = np.rad2deg(np.arcsin(sine))
            raise ModelError(
                f"{what}: the axes of '{one.name}' and '{two.name}' are parallel within {angle:.3g} degrees, limit "
                f"{np.rad2deg(SKEW):.3g} degrees; turn one of them by axes="
            )

    @property
    def apart(self) -> float:
        """Distance between the axes [m]."""
        one, two = closest_points(*self.steps)
        return float(np.linalg.norm(two - one))

    @property
    def length(self) -> float:
        """Distance between the points of both hinges [m]."""
        return float(np.linalg.norm(self.steps[1].point - self.steps[0].point))


def _check_apart(hinges: _Hinges, ankle: str, subtalar: str) -> None:
    hinges.check_skew(f"joints '{ankle}' and '{subtalar}'")
    if MEETING < (apart := hinges.apart) < APART:
        raise ModelError(
            f"joints '{ankle}' and '{subtalar}': a link of {hinges.length:.3g} m leaves {apart:.3g} m between their axes, limit "
            f"{APART:g} m for a modified universal joint; give a longer talus_length, or 0 for a universal joint"
        )


def _without_talus(description: Description, hinges: _Hinges, talus: Talus) -> Description:
    """The description with a massless talus; its mass and all that is drawn or marked on it belong to another body."""
    bone, foot = hinges.talus, hinges.foot
    links = {link.name: link for link in description.links}
    in_foot = Pose(-foot.rotation.T @ foot.position, foot.rotation.T)
    carrier, pose = (bone.parent, Pose(bone.position, bone.rotation)) if talus == "shank" else (foot.name, in_foot)
    if talus == "shank" and carrier == WORLD:
        raise ModelError(
            f"talus='shank': '{bone.name}' is carried by the ground, which takes no mass; use talus='foot'"
        )
    if talus != "drop" and bone.mass > 0.0:
        links[carrier] = joined(links[carrier], bone, pose)
    links[bone.name] = replace(links[bone.name], mass=0.0, centre=np.zeros(3), inertia=np.zeros((3, 3)))
    return moved(description.changed(links=tuple(links.values())), {bone.name: (carrier, pose)})


def _joint_said(hinges: _Hinges, talus: Talus) -> str:
    """The joint, for the table of a reading."""
    if talus == "keep":
        return f"two hinges, '{hinges.talus.name}' between them"
    if hinges.apart <= MEETING:
        return "universal joint"
    return f"modified universal joint, link of {hinges.length:.6g} m, axes {hinges.apart:.6g} m apart"


def _mass_said(hinges: _Hinges, talus: Talus, source: Description, before: Sequence[str]) -> str:
    """Where the talus's mass is; ``before``: notes of an earlier swap of this ankle.

    Raises
    ------
    ModelError
        Where an earlier swap gave the mass to another body.
    """
    bone, mass = hinges.talus.name, next(link.mass for link in source.links if link.name == hinges.talus.name)
    carrier = hinges.talus.parent if talus == "shank" else hinges.foot.name
    where = {"keep": "remains", "drop": "is dropped"}.get(talus, f"belongs to '{carrier}'")
    earlier = next((note.rpartition("; ")[2] for note in before if mass == 0.0), "")
    if earlier and not earlier.endswith(where):
        raise ModelError(
            f"talus={talus!r}: an earlier swap decided on the talus, {earlier}; swap the ankles of the reading of the file"
        )
    if not mass and not earlier:
        return f"'{bone}' has no mass"
    return earlier or f"mass of '{bone}', {mass:.6g} kg, {where}"
