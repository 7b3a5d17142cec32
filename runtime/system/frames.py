"""Frames fixed in bodies: a point and axes with a name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import OMEGA, P, R, V
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats, read_only
from runtime.support.checks import finite
from runtime.support.errors import ModelError
from runtime.system.connection import refuse_unknown_body
from runtime.system.global_axes import local_point
from runtime.system.orientation import euler_parameters
from runtime.system.parts import GROUND
from runtime.system.reference import rotation_matrices, rotation_matrix


@checked_class
@dataclass(frozen=True, eq=False)
class Frame:
    """A frame fixed in a body, or in the ground.

    ``s`` (3,) [m]: its origin, from the centre of mass in axes of the body, or global coordinates of the ground; ``A`` (3, 3):
    from axes of the frame to those of the body.
    """

    name: str
    body: str
    s: Floats
    A: Floats

    def __post_init__(self) -> None:
        """Refuse other shapes, and what is no rotation."""
        what = f"frame '{self.name}'"
        euler_parameters(self.A, f"{what}: A")
        for name, value in (("s", finite(self.s, (3,), f"{what}: s")), ("A", finite(self.A, (3, 3), f"{what}: A"))):
            object.__setattr__(self, name, read_only(value))


def build_frame(
    name: str, body: str, s: ArrayLike, p: Any, bodies: Collection[str], states: Mapping[str, Floats] | None
) -> Frame:
    """Return a checked frame; see ``Builder.frame``.

    bodies : names of bodies; states : by body (13,), where data are in global axes

    Raises
    ------
    ModelError
    """
    what = f"frame '{name}'"
    refuse_unknown_body(body, bodies, what)
    if name in bodies or name == GROUND:
        raise ModelError(
            f"{what}: a body has this name, and a frame at its centre of mass; give the frame another name"
        )
    A = rotation_matrix(euler_parameters(p, f"{what}: p"))
    if states is None:
        return Frame(name, body, finite(s, (3,), f"{what}: s"), A)
    return Frame(name, body, local_point(states[body], s, f"{what}: s"), rotation_matrix(states[body][P:V]).T @ A)


def frame_of_body(body: str) -> Frame:
    """The frame of a body: its centre of mass and its axes."""
    return Frame(body, body, np.zeros(3), np.eye(3))


def in_reference(frame: Frame, pose: Floats, arm: Floats) -> tuple[Floats, Floats]:
    """Origin (3,) and axes (3, 3) of a frame in the reference configuration, from the pose (7,) of its body there.

    ``arm`` (3,) [m]: the centre of mass, from the point to which the origin is given.
    """
    A = rotation_matrix(pose[P:V])
    return arm + A @ frame.s, A @ frame.A


def frame_motion(frame: Frame, body: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Origin (n, 3), axes (n, 3, 3), velocity and angular velocity (n, 3) of a frame, from states (n, 13) of its body."""
    A, omega = rotation_matrices(body[:, P:V]), body[:, OMEGA:]
    arm = A @ frame.s
    return body[:, R:P] + arm, A @ frame.A, body[:, V:OMEGA] + np.cross(omega, arm), omega
