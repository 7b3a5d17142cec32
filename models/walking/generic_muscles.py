"""The muscles of a generic leg, placed on the bones of a subject who stands: pelvis, thigh, and what ``generic_bones`` places.

Of the pelvis the distance of the hip centre from the middle of the anterior superior iliac spines decides the size, of the femur
that from hip to knee.  The posture is that of the static trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from models.files.description import ConditionalPoint, Floats, MovingPoint, Muscle, PathPoint, Point
from models.files.osim_functions import Function, spline
from models.files.osim_paths import CONDITION
from models.generic_bones import (
    LAW,
    TO_OURS,
    Bone,
    belongs,
    bones_below_knee,
    generic_centre,
    generic_leg,
    length_through,
    of_generic_size,
    scaled_constants,
)
from models.walking.geometry import frame, unit
from models.walking.subject import LegFoot, Segment, UpperLeg

MEDIAL = np.array([0.0, 1.0, 0.0])
MEDIAL.flags.writeable = False
KNEE, HIP = "knee_angle", "hip_flexion"
KIND = "Thelen2003Muscle"


@dataclass(frozen=True, eq=False)
class PlacedLeg:
    """A generic leg on a subject who stands: ``bones`` on the subject, ``generic`` ones in this posture, and the pelvis.

    ``standing``: knee angle and hip flexion of the generic leg in this posture [rad].
    """

    bones: Mapping[str, Bone]
    generic: Mapping[str, Bone]
    pelvis: Segment
    standing: Mapping[str, float]

    def knee_slides(self) -> tuple[tuple[Floats, Function], ...]:
        """Directions (3,) in lab axes in which the tibia slides in the femur, with functions [m] of the knee's turn [rad]."""
        femur, found = self.bones["femur"], []
        for axis, points in zip(np.eye(3), generic_leg()["knee"].values(), strict=False):
            angles, values = np.array(points)
            standing = spline(angles, values).value(self.standing[KNEE], 0)
            law = spline(angles - self.standing[KNEE], femur.factor * (values - standing))
            found.append((femur.axes @ TO_OURS @ axis, law))
        return tuple(found)

    def muscles(
        self, origins: Mapping[str, Floats], axes: Mapping[str, Floats], letter: str, strength: float
    ) -> tuple[Muscle, ...]:
        """The muscles on links whose origins (3,) [m] and axes (3, 3) in lab axes are given by generic body.

        ``letter``: of the side; ``strength``: factor of the maximum isometric forces.
        """
        found = []
        for name, own in generic_leg()["muscles"].items():
            points = tuple(self._point(one, origins, axes, letter) for one in own["points"])
            ratio = self._length(own, self.bones) / self._length(own, self.generic)
            constants = scaled_constants(own, ratio, strength)
            found.append(Muscle(f"{name}_{letter}", KIND, LAW, points, constants=constants))
        return tuple(found)

    def _length(self, own: Mapping[str, Any], bones: Mapping[str, Bone]) -> float:
        """Length of a path while standing [m], by the points that belong to it then."""
        there = [one for one in own["points"] if belongs(one, self.standing)]
        return length_through([bones[one["body"]].at(TO_OURS @ self._at(one)) for one in there])

    def _at(self, one: Mapping[str, Any]) -> Floats:
        """Place of a point while standing, in its generic body and axes of OpenSim (3,) [m]."""
        if "at" in one:
            return np.array(one["at"], float)
        angles, rows = _moving(one["moves"])
        return np.array([spline(angles, row).value(self.standing[KNEE], 0) for row in rows])

    def _point(
        self, one: Mapping[str, Any], origins: Mapping[str, Floats], axes: Mapping[str, Floats], letter: str
    ) -> Point:
        body = one["body"]
        bone, link, A = self.bones[body], body if body == "pelvis" else f"{body}_{letter}", axes[body]
        if "moves" in one:
            angles, rows = _moving(one["moves"])
            places = np.array([A.T @ (bone.at(TO_OURS @ row) - origins[body]) for row in rows.T])
            along = tuple(spline(angles - self.standing[KNEE], column) for column in places.T)
            return MovingPoint(link, f"{KNEE}_{letter}", along, np.zeros(3), np.eye(3))  # type: ignore[arg-type]
        location = A.T @ (bone.at(TO_OURS @ self._at(one)) - origins[body])
        for angle, (lower, upper) in one.get("while", {}).items():
            own = self.standing[angle]
            return ConditionalPoint(
                link, location, f"{angle}_{letter}", lower - CONDITION - own, upper + CONDITION - own
            )
        return PathPoint(link, location)


def _moving(name: str) -> tuple[Floats, Floats]:
    """Knee angles (n,) [rad] and places (3, n) [m] of a point that moves in the tibia."""
    own = generic_leg()["moving"][name]
    angles = np.array(own["angles"], float)
    return angles, np.array([own["x"], own["y"], np.full(len(angles), own["z"])], float)


def place_generic_leg(subject: LegFoot, upper: UpperLeg) -> PlacedLeg:
    """The generic leg on the bones of a subject who stands."""
    data = generic_leg()
    hip, knee = generic_centre("hip"), generic_centre("knee")
    leg, foot, toes, thigh = (*(subject.bodies[name] for name in ("leg", "main_foot", "toes")), upper.thigh)
    hip_at, knee_at = (thigh.r + thigh.A @ point for point in (upper.hip, upper.knee))
    ankle_at = leg.r + leg.A @ subject.talocrural.points["leg"]
    ball_at = foot.r + foot.A @ subject.metatarsophalangeal.points["main_foot"]

    forward = unit(TO_OURS @ np.array(data["directions"]["pelvis"], float))
    pelvis = Bone(
        hip, hip_at, upper.pelvis_axes @ frame(np.cross(forward, MEDIAL), MEDIAL, "y").T,
        float(np.linalg.norm(upper.hip_in_pelvis) / np.linalg.norm(hip)),
    )  # fmt: skip
    femur = Bone(
        np.zeros(3), hip_at, thigh.A @ frame(-knee, MEDIAL, "y").T,
        float(np.linalg.norm(knee_at - hip_at) / np.linalg.norm(knee)),
    )  # fmt: skip
    axes = {"tibia": leg.A @ upper.knee_axes, "calcn": foot.A, "toes": toes.A}
    below = bones_below_knee(knee_at, ankle_at, ball_at, axes, upper.knee_axes.T @ subject.talocrural.axes["leg"])

    standing = {KNEE: _flexion(femur, below["tibia"]), HIP: _flexion(pelvis, femur)}
    chain = {"pelvis": pelvis, "femur": femur, **below}
    unscaled = {name: replace(chain[name], factor=1.0, place=hip_at) for name in ("pelvis", "femur")}
    unscaled |= of_generic_size(below, hip_at + femur.axes @ _knee(standing[KNEE]))
    return PlacedLeg(chain, unscaled, _pelvis(subject, upper, pelvis, hip_at), standing)


def _knee(angle: float) -> Floats:
    """Place of the tibia in the generic femur (3,) [m]."""
    x, y = (spline(*np.array(points)).value(angle, 0) for points in generic_leg()["knee"].values())
    return TO_OURS @ np.array([x, y, 0.0])


def _flexion(outer: Bone, inner: Bone) -> float:
    """Angle [rad] about the lateral axis of a bone by which the lower end of the next one is in front of it."""
    x, _, z = outer.axes.T @ inner.axes[:, 2]
    return float(np.arctan2(-x, z))


def _pelvis(subject: LegFoot, upper: UpperLeg, bone: Bone, hip_at: Floats) -> Segment:
    """The pelvis with the inertia of the generic one, by the mass of the person and the size of the bone."""
    own, A = generic_leg()["pelvis"], upper.pelvis_axes
    share = subject.mass / generic_leg()["mass"]
    r = bone.at(TO_OURS @ np.array(own["centre"], float))
    turn = A.T @ bone.axes @ TO_OURS
    front = hip_at - A @ upper.hip_in_pelvis
    markers = {label: p + (front - r) @ A for label, p in upper.pelvis.items()}
    return Segment(A, r, share * own["mass"], share * bone.factor**2 * turn @ np.diag(own["inertia"]) @ turn.T, markers)
