"""A mechanism as data: bodies, joints, springs and drivers; made in global axes at the reference pose.  Without ``runtime``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
GROUND = "ground"

# Vectors that each kind of joint takes: points, and directions by side.
POINTS = {"constant_angle": "", "fixed": ""}  # others: "ij"
AXES = {
    "spherical": "", "revolute": "ij", "cylindrical": "ij", "translational": "ij", "universal": "ij", "fixed": "",
    "modified_universal": "ij", "constant_angle": "ij", "constant_distance": "", "point_on_line": "i", "point_on_plane": "i",
}  # fmt: skip
LENGTHS = ("modified_universal", "constant_distance")  # joints with a length l


@dataclass
class Body:
    """Mass [kg], inertia (3, 3) [kg m^2] in axes of the body, centre of mass r, rotation matrix A, velocities v and w."""

    name: str
    mass: float
    J: Floats
    r: Floats
    A: Floats
    v: Floats = field(default_factory=lambda: np.zeros(3))
    w: Floats = field(default_factory=lambda: np.zeros(3))


@dataclass
class Joint:
    """A joint or driver with its data in axes of its bodies; ``signal``: coefficients of a polynomial of time, lowest first."""

    name: str
    kind: str
    i: str
    j: str
    values: dict[str, Any]
    signal: Floats | None = None


@dataclass
class Spring:
    """A spring and damper on an angle ("guided_angle") or a distance ("guided_distance") towards a constant target."""

    name: str
    kind: str
    i: str
    j: str
    values: dict[str, Any]
    stiffness: float
    damping: float
    target: float


@dataclass
class Limit:
    """A limit of a joint by an elliptical cone; vectors in axes of the reference body, but ``direction``, ``axes[1]``.

    ``latitudes`` (4,) [rad] at the longitudes 0, 90, 180, 270 degrees; ``axes``: of the joint, on the reference and on the moving
    body; ``points``: of the joint there; ``held``: angle of a cross at the reference pose.
    """

    name: str
    kind: str
    joint: str
    reference: str
    moving: str
    xi: Floats
    eta: Floats
    latitudes: Floats
    max_moment: float
    compliance: float
    damping: float
    direction: Floats
    axes: tuple[Floats, Floats]
    points: tuple[Floats, Floats]
    held: float = 0.0

    @property
    def zeta(self) -> Floats:
        """Axis of the cone."""
        return np.cross(self.xi, self.eta)


@dataclass
class Contact:
    """A sphere of a body on a plane; vectors in axes of their bodies."""

    name: str
    body: str
    plane: str
    centre: Floats
    radius: float
    point: Floats
    normal: Floats
    law: str
    friction: str | None
    parameters: dict[str, float]


@dataclass
class Force:
    """A force of a definition of Talus; ``across``: directions by which the second method measures its angles."""

    name: str
    kind: str
    bodies: tuple[str, ...]
    values: dict[str, Any]
    across: Any = None


class Mechanism:
    """Bodies, joints and springs; points and axes are given in global axes at the reference pose.

    ``size`` [m] scales positions in comparisons, ``t_end`` [s], ``freedoms``: degrees of freedom if known beforehand.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        self.gravity: Floats = np.array(gravity, float)
        self.bodies: dict[str, Body] = {}
        self.joints: list[Joint] = []
        self.springs: list[Spring] = []
        self.limits: list[Limit] = []
        self.contacts: list[Contact] = []
        self.forces: list[Force] = []
        self.share, self.outputs = 1.0, 21  # of the duration that is drawn; times that are compared
        self.tolerances = 1e-12, 1e-10  # of the second method
        self.size = 1.0
        self.t_end = 1.0
        self.method, self.rtol = "dop853", 1e-11
        self.exact: Any = None  # closed form of the motion, of times (n,): positions and rotation matrices by body
        self.options: dict[str, Any] = {}  # of ``runtime.simulate``
        self.note = ""

    @property
    def keeps_energy(self) -> bool:
        """Whether the kinetic energy and that of gravity are constant."""
        driven = any(joint.signal is not None for joint in self.joints)
        return not (self.springs or self.limits or self.contacts or self.forces or driven)

    def body(self, name: str, mass: float, J: ArrayLike, r: ArrayLike, A: ArrayLike | None = None) -> None:
        """Add a body; J (3,) or (3, 3) in axes of the body."""
        J, A = np.array(J, float), np.eye(3) if A is None else np.array(A, float)
        self.bodies[name] = Body(name, float(mass), np.diag(J) if J.ndim == 1 else J, np.array(r, float), A)

    def point(self, body: str, at: ArrayLike) -> Floats:
        """A point in global coordinates, from the centre of mass in axes of the body."""
        if body == GROUND:
            return np.array(at, float)
        b = self.bodies[body]
        return b.A.T @ (np.array(at, float) - b.r)

    def direction(self, body: str, axis: ArrayLike) -> Floats:
        """A direction in global axes, as a unit vector in axes of the body."""
        n = np.array(axis, float)
        n = n / np.linalg.norm(n)
        local: Floats = n if body == GROUND else self.bodies[body].A.T @ n
        return local / np.linalg.norm(local)

    def joint(
        self, name: str, kind: str, i: str, j: str, *, at: ArrayLike | None = None, at_j: ArrayLike | None = None,
        axis: ArrayLike | None = None, axis_j: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Add a joint at a point (at two points) with an axis (two axes), in global axes."""
        values: dict[str, Any] = {}
        for side, body, place in zip("ij", (i, j), (at, at if at_j is None else at_j), strict=True):
            if side in POINTS.get(kind, "ij"):
                values[f"s_{side}"] = self.point(body, place)  # type: ignore[arg-type]
        for side, body, n in zip("ij", (i, j), (axis, axis if axis_j is None else axis_j), strict=True):
            if side in AXES[kind]:
                values[f"a_{side}"] = self.direction(body, n)  # type: ignore[arg-type]
        if kind in LENGTHS:
            values["l"] = float(np.linalg.norm(np.array(at_j, float) - np.array(at, float)))
        self.joints.append(Joint(name, kind, i, j, values))

    def _angle(self, i: str, j: str, axis: ArrayLike) -> dict[str, Any]:
        """Vectors of "guided_angle" about an axis, with the angle 0 at the reference pose."""
        n = np.array(axis, float) / np.linalg.norm(axis)
        across = np.cross(n, np.eye(3)[np.abs(n).argmin()])
        return {"a_i": self.direction(i, across), "h_i": self.direction(i, n), "b_j": self.direction(j, across)}

    def drive_angle(self, name: str, i: str, j: str, axis: ArrayLike, signal: ArrayLike) -> None:
        """Drive the angle about an axis, 0 at the reference pose, by a polynomial of time."""
        self.joints.append(Joint(name, "guided_angle", i, j, self._angle(i, j, axis), np.array(signal, float)))

    def angle_spring(self, name: str, i: str, j: str, axis: ArrayLike, k: float, c: float, target: float) -> None:
        """Add a torsional spring and damper; the angle is 0 at the reference pose."""
        self.springs.append(Spring(name, "guided_angle", i, j, self._angle(i, j, axis), k, c, target))

    def spring(
        self, name: str, i: str, j: str, at: ArrayLike, at_j: ArrayLike, k: float, c: float, target: float
    ) -> None:
        """Add a spring and damper between two points."""
        values = {"s_i": self.point(i, at), "s_j": self.point(j, at_j)}
        self.springs.append(Spring(name, "guided_distance", i, j, values, k, c, target))
