"""Anatomical angles of joints: the joint coordinate system of the ISB, and that of the ankle beside the angles of the two hinges.

Grood and Suntay, J Biomech Eng 105, 1983, 136-144; Wu et al., J Biomech 35, 2002, 543-548 (ankle joint complex); Cole et al.,
J Biomech Eng 115, 1993, 344-349 (the long axis of the foot as the last axis).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.foot_anatomy import Side, check_side
from runtime import ModelError, Run
from runtime.results import euler_angles
from runtime.support import checked, checked_class, finite, named
from runtime.support.arrays import Floats

InversionAxis = Literal["floating", "foot"]
# Intrinsic sequences about y (mediolateral), x (anterior) and z (up).
SEQUENCES = {"floating": "YXZ", "foot": "YZX"}
MIN_ANTERIOR = 0.2  # component of a talocalcaneal axis: below it the axis does not tell the side


@checked_class
@dataclass(frozen=True, eq=False)
class AnkleAngles:
    """Angles of the foot relative to the leg over time, (n,) [rad]; dorsiflexion, inversion, internal rotation positive.

    Left feet as right ones.  ``sequence``: intrinsic, in axes x anterior, y medial of a right foot, z up.  ``rates``: of the
    three angles by their names, (n,) [rad/s].

    ``angles.inversion``, ``angles["inversion"]``: an angle.
    """

    dorsiflexion: Floats
    inversion: Floats
    internal_rotation: Floats
    sequence: str
    rates: Mapping[str, Floats]

    def __getitem__(self, angle: str) -> Floats:
        return named("angle of the ankle", {name: getattr(self, name) for name in self.rates})[angle]


class JointCoordinates(NamedTuple):
    """Angles and rates (n, 3) [rad], [rad/s] of a joint in the order of a sequence, and their unit axes as columns (n, 3, 3)."""

    angles: Floats
    rates: Floats
    axes: Floats


def joint_coordinates(
    t: Floats, proximal: Floats, distal: Floats, omega: Floats, sequence: str, *, name: str
) -> JointCoordinates:
    """The joint coordinate system of Grood and Suntay (1983) for two bodies at times t (n,) [s], in any common axes.

    The first axis is fixed in the proximal body, the last one in the distal body, the second one floats, perpendicular to both.

    Parameters
    ----------
    t : (n,) [s]
    proximal, distal : (n, 3, 3)
        Axes of the bodies as columns.
    omega : (n, 3) [rad/s]
        Angular velocity of the distal relative to the proximal body.
    sequence : str
        Intrinsic, of three axes.
    name : str
        Of the joint, for messages.

    Raises
    ------
    ModelError
        In gimbal lock.
    """
    A = np.swapaxes(proximal, 1, 2) @ distal
    angles = euler_angles(t, A, sequence, name=name)
    axes = proximal @ _axes(A, angles[:, 0], sequence)
    return JointCoordinates(angles, np.asarray(np.linalg.solve(axes, omega[..., None])[..., 0], float), axes)


@checked
def ankle_angles(
    run: Run,
    *,
    inversion_about: InversionAxis = "floating",
    side: Side | None = None,
    leg: str = "leg",
    foot: str = "main_foot",
    neutral: ArrayLike | None = None,
) -> AnkleAngles:
    """Angles of the ankle joint complex of a run in the joint coordinate system of the ISB (Wu et al. 2002).

    Dorsiflexion is about the mediolateral axis of the tibia, in each convention.  Grood and Suntay (1983) showed that such angles
    do not depend on an order of rotations; they equal those of an intrinsic Cardan sequence.  Rates follow from the angular
    velocity.

    Parameters
    ----------
    run : Run
        With a leg and a foot, such as of ``models.foot``; body axes x anterior, y to the left, z up the leg.
    inversion_about : "floating" or "foot"
        "floating": the recommendation of the ISB, internal rotation about the vertical axis of the foot (calcaneus), inversion
        about the floating axis, which is perpendicular to this axis and to the mediolateral axis of the tibia.  "foot":
        inversion about the anterior axis of the foot, internal rotation about the floating axis (Cole et al. 1993), as many
        gait laboratories report them.
    side : "right" or "left", optional
        Default: by the talocalcaneal axis of the joint ``ankle``, about which inversion is positive.
    leg, foot : str
        Names of the bodies.
    neutral : (3, 3), optional
        Axes of the leg in the neutral pose as columns, in axes of the foot; these are the foot's anatomical axes, so that all
        angles are zero there (Wu et al. 2002).  Default: the axes of both bodies are parallel in the neutral pose.

    Raises
    ------
    ModelError
        For an unknown body, a side that does not follow from the system, a matrix that is no rotation, and gimbal lock.
    """
    own: Floats = np.eye(3) if neutral is None else finite(neutral, (3, 3), "ankle_angles: neutral")
    if not (np.allclose(own.T @ own, np.eye(3), atol=1e-6) and np.linalg.det(own) > 0.0):
        raise ModelError(
            f"ankle_angles: neutral = {own.tolist()} is no rotation; give three perpendicular unit vectors"
        )
    if side is None:
        side = _side(run, leg, foot)
    check_side("ankle_angles", side)
    sequence = SEQUENCES[inversion_about]
    omega = run.omega[foot] - run.omega[leg]
    name = f"'{foot}' relative to '{leg}'"
    found, turning, _ = joint_coordinates(
        run.t, run.rotations(leg), run.rotations(foot) @ own, omega, sequence, name=name
    )
    # A right foot dorsiflexes about -y, inverts about x and rotates internally about z; the mirror image reverses x and z.
    mirror = 1.0 if side == "right" else -1.0
    names = {"Y": ("dorsiflexion", -1.0), "X": ("inversion", mirror), "Z": ("internal_rotation", mirror)}
    angles, rates = (
        {names[axis][0]: names[axis][1] * own for axis, own in zip(sequence, of.T, strict=True)}
        for of in (found, turning)
    )
    return AnkleAngles(**angles, sequence=sequence, rates=rates)


def _axes(A: Floats, first: Floats, sequence: str) -> Floats:
    """Axes about which the angles of a sequence turn as columns (n, 3, 3), in axes of the proximal body; singular in gimbal lock.

    ``A``: axes of the distal in those of the proximal body (n, 3, 3); ``first``: the first angle (n,), which turns the floating
    axis.
    """
    one, two, three = (np.eye(3)["XYZ".index(axis)] for axis in sequence)
    floating = np.outer(np.cos(first), two) + np.outer(np.sin(first), np.cross(one, two))
    return np.stack([np.broadcast_to(one, floating.shape), floating, A @ three], axis=2)


def _side(run: Run, leg: str, foot: str) -> Side:
    """The side of the foot, from the axis of the joint ``ankle`` on the foot, which points anteriorly in a right foot."""
    joint = next((joint for joint in run.system.joints if joint.name == "ankle"), None)
    if joint is not None and (joint.body_i, joint.body_j) == (foot, leg) and "a_i" in joint.values:
        anterior = float(joint.values["a_i"][0])
        if abs(anterior) > MIN_ANTERIOR:
            return "right" if anterior > 0.0 else "left"
    raise ModelError(
        f"ankle_angles: system '{run.system.name}' does not show which foot it is, as it has no joint 'ankle' with a "
        f"talocalcaneal axis from '{foot}' to '{leg}'; give side='right' or side='left'"
    )
