"""The bones of a generic leg on those of a subject, and its muscles scaled with them.

Data and their source: ``generic_leg.toml``.  Delp et al. (1990), IEEE Transactions on Biomedical Engineering 37, 757-767, doi
10.1109/10.102791, as in the model gait2392 of OpenSim (CC BY 3.0).

Each generic body is scaled in all directions by one length of the subject and put with a joint centre on that of the subject.
Tibia: knee to ankle; foot and toes: ankle to the metatarsophalangeal axis along the foot.  The tibia is twisted evenly about its
long axis, so that it has the direction of the epicondyles at the knee and that of the subject's talocrural axis at the ankle.

As in OpenSim's scaling, optimal fibre and tendon slack lengths are in proportion to the length of the path, here that of the
generic leg in the posture of the subject.  Maximum isometric forces are those of the generic leg, times a factor.

Vectors are in axes of a right leg: x anterior, y medial, z up; a left one is mirrored.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from models.rotations import about
from runtime.support.arrays import Floats, read_only

TO_OURS = read_only(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]))  # from axes of OpenSim
LONG = read_only(np.array([0.0, 0.0, 1.0]))
LAW = "thelen_as_opensim"
SOURCE = (
    "muscles of gait2392 of OpenSim, after Delp et al. (1990): points scaled with each bone, fibres and tendons with the length "
    "of the path"
)


@cache
def generic_leg() -> Mapping[str, Any]:
    """The data of the generic leg."""
    return tomllib.loads(resources.files("models").joinpath("generic_leg.toml").read_text("utf-8"))


def generic_centre(name: str) -> Floats:
    """A joint centre of the generic leg (3,) [m]."""
    found: Floats = TO_OURS @ np.array(generic_leg()["centres"][name], float)
    return found


@dataclass(frozen=True, eq=False)
class Bone:
    """Where a generic body is: its ``centre`` (3,) [m] at ``place`` (3,) [m] in lab axes.

    ``axes`` (3, 3): from its axes to those of the lab; ``factor``: of its size; ``twist`` [rad]: about z at its lower end, which
    is ``length`` [m] below the origin.
    """

    centre: Floats
    place: Floats
    axes: Floats
    factor: float
    twist: float = 0.0
    length: float = 1.0

    def at(self, point: Floats) -> Floats:
        """Points (..., 3) [m] of the generic body, in lab axes."""
        if self.twist:
            turns = about(LONG, self.twist * np.clip(-point[..., 2] / self.length, 0.0, 1.0))
            point = (turns @ point[..., None])[..., 0]
        return self.place + self.factor * ((point - self.centre) @ self.axes.T)


def bones_below_knee(
    knee: Floats, ankle: Floats, ball: Floats, axes: Mapping[str, Floats], talocrural: Floats
) -> dict[str, Bone]:
    """The tibia, foot (calcn) and toes of the generic leg on a subject.

    Parameters
    ----------
    knee, ankle, ball : (3,) [m]
        Centres of the knee and the talocrural joint, and a point of the metatarsophalangeal axis, in lab axes.
    axes : mapping to (3, 3)
        Of tibia, calcn and toes, from their axes to those of the lab; y of the tibia is medial along the epicondyles.
    talocrural : (3,)
        The subject's talocrural axis in axes of the tibia, about which plantarflexion is positive.
    """
    ankle_of, subtalar, mtp = (generic_centre(name) for name in ("ankle", "subtalar", "mtp"))
    generic = -TO_OURS @ np.array(generic_leg()["directions"]["talocrural"], float)
    twist = np.subtract(*(np.arctan2(v[1], v[0]) for v in (talocrural, generic)))
    height = float(-ankle_of[2])
    tibia = Bone(np.zeros(3), knee, axes["tibia"], float(np.linalg.norm(ankle - knee) / height), float(twist), height)
    along = float((ball - ankle) @ axes["calcn"][:, 0] / (mtp + subtalar)[0])
    return {
        "tibia": tibia,
        "calcn": Bone(-subtalar, ankle, axes["calcn"], along),
        "toes": Bone(np.zeros(3), ball, axes["toes"], along),
    }


def of_generic_size(below: Mapping[str, Bone], knee: Floats) -> dict[str, Bone]:
    """The bones of ``bones_below_knee`` in the same directions, as large as the generic ones, the tibia at a place (3,) [m]."""
    ankle = knee + below["tibia"].axes @ generic_centre("ankle")
    ball = ankle + below["calcn"].axes @ (generic_centre("mtp") + generic_centre("subtalar"))
    places = {"tibia": knee, "calcn": ankle, "toes": ball}
    return {name: replace(bone, factor=1.0, place=places[name]) for name, bone in below.items()}


def belongs(point: Mapping[str, Any], angles: Mapping[str, float]) -> bool:
    """Whether a point of a path belongs to it at angles [rad] of the generic leg by name, 0 for others."""
    ranges = point.get("while", {}).items()
    return all(lower <= angles.get(angle, 0.0) <= upper for angle, (lower, upper) in ranges)


@cache
def points_in_neutral_pose(names: tuple[str, ...]) -> tuple[dict[str, slice], list[str], Floats]:
    """Points of the paths of muscles in the neutral pose: which are those of each, their bodies, and places (n, 3) in these."""
    muscles, points = dict[str, slice](), list[Any]()
    for name in names:
        first = len(points)
        points += [one for one in generic_leg()["muscles"][name]["points"] if belongs(one, {})]
        muscles[name] = slice(first, len(points))
    return (
        muscles,
        [one["body"] for one in points],
        read_only(np.array([one["at"] for one in points], float) @ TO_OURS.T),
    )


def length_through(points: Sequence[Floats] | Floats) -> float:
    """Length [m] of a path through points (3,)."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def scaled_constants(own: Mapping[str, Any], ratio: float, strength: float) -> dict[str, float]:
    """Constants of a generic muscle whose path is ``ratio`` times as long, with ``strength`` times its force."""
    factors = {"max_isometric_force": strength, "optimal_fiber_length": ratio, "tendon_slack_length": ratio}
    scaled = {key: factors.get(key, 1.0) * value for key, value in own.items() if key != "points"}
    return {**generic_leg()["law"], **scaled}
