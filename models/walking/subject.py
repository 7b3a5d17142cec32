"""A subject's leg, main foot and toes, thigh and pelvis as data: markers, joint axes, lengths, and where each value comes from.

Axes as everywhere: x anterior, y medial of a right foot, z up.  A left foot is mirrored (``Capture.mirrored``) and is then a
right one whose labels begin with L.  The standing pose is neutral: all joint angles are zero there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from models.walking.marker_sets import Landmarks
from runtime.support import checked_class
from runtime.support.arrays import Floats

BODIES = ("leg", "main_foot", "toes")


class Frozen:
    """Base of a dataclass whose arrays become read-only copies and whose mappings are closed, also after pickling."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, _frozen(value))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in vars(self).values())


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return MappingProxyType({key: _frozen(v) for key, v in value.items()})
    if isinstance(value, np.ndarray):
        value = np.array(value)
        value.flags.writeable = False
    return value


@checked_class
@dataclass(frozen=True, eq=False)
class Segment(Frozen):
    """A rigid body.  All points in body axes are measured from its centre of mass.

    Attributes
    ----------
    A : (3, 3)
        Body to lab axes in the standing pose.
    r : (3,) [m]
        Centre of mass in the standing pose, in lab axes.
    mass : float [kg]
    inertia : (3, 3) [kg m^2]
        About the centre of mass, in body axes.
    markers : mapping of label to (3,) [m]
        In body axes.
    calibration : frozenset of labels
        Those of ``markers`` that must not be tracked in motion: epicondyles belong to the thigh.
    """

    A: Floats
    r: Floats
    mass: float
    inertia: Floats
    markers: Mapping[str, Floats]
    calibration: frozenset[str] = frozenset()

    def local(self, point: Floats) -> Floats:
        """A point (..., 3) [m], given in lab axes of the standing pose, in body axes from the centre of mass."""
        return np.asarray((point - self.r) @ self.A)


@checked_class
@dataclass(frozen=True, eq=False)
class Hinge(Frozen):
    """An axis of rotation: one of its points (3,) [m] and its unit direction (3,), in the axes of each body that carries it."""

    points: Mapping[str, Floats]
    axes: Mapping[str, Floats]


@checked_class
@dataclass(frozen=True, eq=False)
class LegFoot(Frozen):
    """All data of a subject that the model of the leg and foot needs.

    Attributes
    ----------
    name : str
        Of the static trial.
    landmarks : Landmarks
        Landmark -> label, and the marker set.
    mass : float [kg]
        Of the whole subject.
    height : float [m] or None
    sex : "female", "male" or None
    bodies : mapping
        ``leg``, ``main_foot``, ``toes`` -> Segment.
    talocrural, talocalcaneal : Hinge
        Fixed in ``leg`` and in ``main_foot``.  Their axes point medially and anteriorly: dorsiflexion turns the foot about
        the negative talocrural axis, inversion about the positive talocalcaneal axis.
    metatarsophalangeal : Hinge
        Fixed in ``main_foot`` and ``toes``; its axis points medially, extension turns the toes about the negative axis.
    link_length : float [m]
        Of the massless link between the point of the talocrural and that of the talocalcaneal axis.
    knee : (3,) [m]
        Its centre, in the axes of the leg.
    leg_length, foot_length : float [m]
        Centre of the knee to the middle of the malleoli; heel to toe tip.
    sources : mapping of str to str
        Which rule or measurement each choice for this subject comes from.
    shows_inversion : bool
        Whether the main foot has three markers.  Two, such as those of Plug-in Gait on heel and toe, do not show its inversion:
        the talocalcaneal joint is locked.
    """

    name: str
    landmarks: Landmarks
    mass: float
    height: float | None
    sex: str | None
    bodies: Mapping[str, Segment]
    talocrural: Hinge
    talocalcaneal: Hinge
    metatarsophalangeal: Hinge
    link_length: float
    knee: Floats
    leg_length: float
    foot_length: float
    sources: Mapping[str, str]
    shows_inversion: bool = True


@checked_class
@dataclass(frozen=True, eq=False)
class UpperLeg(Frozen):
    """A subject's pelvis and thigh, in axes as everywhere; a left leg is mirrored.

    Attributes
    ----------
    pelvis : mapping of label to (3,) [m]
        Markers in axes of the pelvis, from the middle of the anterior superior iliac spines.
    hip_in_pelvis : (3,) [m]
        Hip centre, likewise.
    thigh : Segment
    hip, knee : (3,) [m]
        Centres of the joints in axes of the thigh, from its centre of mass.
    knee_axes : (3, 3)
        Axes of the leg from which angles of the knee count, as columns, in axes of the leg.
    pelvis_axes : (3, 3)
        Axes of the pelvis to lab axes in the standing pose.
    sources : mapping of str to str
    """

    pelvis: Mapping[str, Floats]
    hip_in_pelvis: Floats
    thigh: Segment
    hip: Floats
    knee: Floats
    knee_axes: Floats
    pelvis_axes: Floats
    sources: Mapping[str, str]
