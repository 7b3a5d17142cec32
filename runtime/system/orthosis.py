"""An orthosis between leg and foot, of parts that a builder has: springs about three axes, a body with its mass, shapes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import OMEGA, P, R, V
from runtime.support.arrays import Floats, crossed
from runtime.support.checks import finite, not_negative, positive
from runtime.support.errors import ModelError, unknown_name
from runtime.system.connection import checked_name
from runtime.system.reference import rotation_matrix
from runtime.system.shapes import Shape, build_shape

MOTIONS = ("dorsiflexion", "inversion", "rotation")
# As fractions of the plate's length: its edges; rods of the cuff, and its radius.
EDGES, ROD, CUFF = np.array([1.0, 0.35, 0.02]), 0.025, 0.27
RODS, KEPT = 12, 64  # of the cuff; orthoses that were drawn last
COLOUR = "#56606b"
Place = tuple[float, ...]


class _Frame(NamedTuple):
    """Anterior, medial (of a right foot) and upward direction as columns (3, 3), in global axes, and states of leg and foot."""

    axes: Floats
    leg: Floats
    foot: Floats

    def local(self, state: Floats) -> Floats:
        """The directions in axes of a body."""
        return rotation_matrix(state[P:V]).T @ self.axes


def add_orthosis(
    builder: Any, name: str, leg: str, foot: str, states: Mapping[str, Floats], forces: Collection[str], *,
    springs: Mapping[str, ArrayLike], mass: float, plate: ArrayLike, cuff: ArrayLike, length: float, anterior: ArrayLike,
    up: ArrayLike, side: Literal["right", "left"], in_global_axes: bool,
) -> None:  # fmt: skip
    """Add an orthosis by calls of a builder, once all data are checked; see ``Builder.orthosis``.

    ``states``: of the ground and the bodies (13,) by name; ``forces``: names that are taken;
    ``springs``: "stiffness", "damping" and "neutral".

    Raises
    ------
    ModelError
    """
    what = f"orthosis '{name}'"
    for motion in MOTIONS:
        checked_name(f"{name}_{motion}", "force", forces)
    if leg == foot:
        raise ModelError(f"{what}: acts between body '{leg}' and itself; give the leg and the foot")
    for body in (leg, foot):
        if body not in states:
            raise unknown_name(body, states, "body", "bodies", f"{what}: ")
    turn = np.eye(3) if in_global_axes else rotation_matrix(states[leg][P:V])
    axes = _axes(what, turn @ finite(anterior, (3,), f"{what}: anterior"), turn @ finite(up, (3,), f"{what}: up"))
    frame = _Frame(axes, states[leg], states[foot])
    of_springs = _springs(what, axes, side, springs)
    plate, cuff = finite(plate, (3,), f"{what}: plate"), finite(cuff, (3,), f"{what}: cuff")
    edges = positive(length, f"{what}: length") * EDGES
    on, at, turn = foot, plate, frame.local(frame.foot)
    heavy = not_negative(mass, f"{what}: mass") > 0.0
    if heavy:
        on, at, turn = name, np.zeros(3), np.eye(3)
    high, low = (
        state[R:P] + rotation_matrix(state[P:V]) @ place for state, place in ((frame.leg, cuff), (frame.foot, plate))
    )
    drop = round(float((high - low) @ frame.axes[:, 2]), 12)
    placed = (cuff, frame.local(frame.leg), at, turn)
    shapes = _shapes(name, leg, on, float(edges[0]), drop, *(tuple(np.round(each, 12).flat) for each in placed))
    if heavy:
        builder.body(name, **_mass(mass, plate, edges, frame))
        builder.joint(f"{name}_plate", "fixed", foot, name)
    for motion, values in of_springs.items():
        builder.force(f"{name}_{motion}", "hinge_spring", leg, foot, **values, axes="global")
    builder.add_shapes(shapes)


def _axes(what: str, anterior: Floats, up: Floats) -> Floats:
    """``_Frame.axes`` from two of the directions, of any length."""
    medial = crossed(up, anterior)
    lengths = [float(np.linalg.norm(vector)) for vector in (up, anterior, medial)]
    if not lengths[2] > 1e-6 * lengths[0] * lengths[1]:
        raise ModelError(f"{what}: anterior and up must be directions of any length that are not parallel")
    up, medial = up / lengths[0], medial / lengths[2]
    return np.column_stack([crossed(medial, up), medial, up])


def _springs(what: str, axes: Floats, side: str, given: Mapping[str, ArrayLike]) -> dict[str, dict[str, Any]]:
    """Values of the force ``hinge_spring`` by motion: its axis on the leg, and a direction across it that both bodies share."""
    anterior, medial, up = axes.T
    sign = 1.0 if side == "right" else -1.0
    found: dict[str, dict[str, Any]] = {
        motion: dict(a_i=axis, b_i=across, c_j=across)
        for motion, axis, across in zip(
            MOTIONS, (-medial, sign * anterior, sign * up), (anterior, medial, anterior), strict=True
        )
    }
    for part, keyword in (("stiffness", "stiffness"), ("damping", "damping"), ("neutral", "free_angle")):
        values = finite(given[part], (3,), f"{what}: {part}").tolist()
        for motion, value in zip(MOTIONS, values, strict=True):
            about = f"{what}: {part} of {motion}"
            found[motion][keyword] = value if part == "neutral" else not_negative(value, about)
    return found


def _mass(mass: float, plate: Floats, edges: Floats, frame: _Frame) -> dict[str, Any]:
    """The body of a homogeneous plate about a point of the foot, with which it moves."""
    state = frame.foot
    arm, squares, omega = rotation_matrix(state[P:V]) @ plate, edges**2, state[OMEGA:]
    return dict(
        mass=mass, inertia=mass / 12.0 * (squares.sum() - squares), r=state[R:P] + arm, p=frame.axes,
        v=state[V:OMEGA] + crossed(omega, arm), omega=omega,
    )  # fmt: skip


@lru_cache(KEPT)
def _shapes(
    name: str, leg: str, on: str, length: float, drop: float, cuff: Place, axes: Place, plate: Place, turn: Place
) -> tuple[Shape, ...]:
    """A plate on the body ``on``; on the leg a ring, and a strut behind it, as long as the ring is higher than the plate.

    ``axes``, ``turn``: rotation matrices by their rows, of the directions in the leg and of the plate in its body.
    """
    edges, (anterior, medial, up), centre = length * EDGES, np.reshape(axes, (3, 3)).T, np.array(cuff)
    angles = np.linspace(0.0, 2.0 * np.pi, RODS + 1)
    ring = centre + CUFF * length * (np.outer(np.cos(angles), anterior) + np.outer(np.sin(angles), medial))
    back = centre - CUFF * length * anterior
    rods = [*zip(ring[:-1], ring[1:], strict=True), (back, back - drop * up)]
    kinds: list[tuple[str, str, dict[str, Any]]] = [
        (on, "box", dict(edges=edges, at=plate, p=np.reshape(turn, (3, 3)))),
        *((leg, "capsule", dict(start=start, end=end, radius=ROD * length)) for start, end in rods),
    ]
    return tuple([build_shape(body, kind, (leg, on), values, COLOUR, name, None) for body, kind, values in kinds])
