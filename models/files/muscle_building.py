"""Muscles of a description in a builder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from models.files.description import ConditionalPoint, Floats, MovingPoint, Muscle, PathPoint, Point
from models.files.merging import Pose
from models.files.muscle_spans import span_over
from runtime import Builder, ModelError

COMPLIANCE = "tendon compliance"  # of what a file switches off
RIGID = ("millard_as_opensim", "de_groote_as_opensim")  # laws whose rigid tendon is that of OpenSim
CUBIC = 4  # coefficients of the pieces of a table, at most


@dataclass(frozen=True)
class Angle:
    """A coordinate as an angle of the kinds of points of ``codegen.points``: sign times its distance from the reference pose.

    ``bodies``: j and k; ``directions``: a_j, b_j and c_k in axes of these.
    """

    bodies: tuple[str, str]
    directions: Mapping[str, Floats]
    sign: float
    reference: float  # of the coordinate [rad]

    def of(self, value: Any) -> Any:
        """The angle at values of the coordinate."""
        return self.sign * (value - self.reference)

    def range(self, point: ConditionalPoint | MovingPoint) -> dict[str, float]:
        """The range of a point."""
        return dict(zip(("lower", "upper"), sorted((self.of(point.lower), self.of(point.upper))), strict=True))


Driver = Callable[[str], Angle | float]  # of a coordinate of the file; its value where it does not move


def add_muscle(builder: Builder, muscle: Muscle, place: Callable[[str], tuple[str, Pose]], driver: Driver) -> None:
    """Add a muscle; ``place``: body of a link, and the pose of the link's axes from its centre of mass.

    Raises
    ------
    ModelError
        For a muscle that no builder states; the builder stays as it was.
    """
    if off := [what for what in muscle.ignored if what != COMPLIANCE]:
        raise ModelError(f"switches off {' and '.join(off)}, which its law has; switch it on")
    if muscle.ignored and muscle.law not in RIGID:
        raise ModelError(f"has a rigid tendon, which OpenSim has for no {muscle.kind}; give the tendon its compliance")
    if len(bodies := {place(part.link)[0] for part in (*muscle.points, *muscle.wraps)}) < 2:
        raise ModelError(f"acts on one body alone, '{bodies.pop()}', which it does not move")
    located = {n: found for n, point in enumerate(muscle.points) if (found := _located(point, place, driver))}
    first, *_ = located
    path: list[Any] = [located[first]]
    for n, m in pairwise(located):
        if wraps := muscle.over(n, m):
            kind, vectors, parameters = span_over(
                wraps, lambda link, v: place(link)[1].point(v), lambda link, v: place(link)[1].rotation @ v
            )
            path.append((kind, tuple(place(wrap.link)[0] for wrap in wraps), vectors | parameters))
        path.append(located[m])
    builder.muscle(
        muscle.name, muscle.law, path, excitation=muscle.excitation, axes="body",
        tendon="rigid" if muscle.ignored else "elastic", **{**muscle.constants, **muscle.controlled},
    )  # fmt: skip


def _located(point: Point, place: Callable[[str], tuple[str, Pose]], driver: Driver) -> tuple[Any, ...] | None:
    """The element of a path that a point is; None for one that never belongs to it."""
    body, pose = place(point.link)
    if isinstance(point, PathPoint):
        return body, pose.point(point.location)
    angle = driver(point.coordinate)
    if not isinstance(angle, Angle):  # it never moves
        if isinstance(point, MovingPoint):
            return body, pose.point(point.at(np.array([angle]))[0][0])
        return (body, pose.point(point.location)) if point.active(np.array(angle)) else None
    own = {**angle.directions, **angle.range(point)}
    if isinstance(point, ConditionalPoint):
        return "conditional", (body, *angle.bodies), own | {"s_i": pose.point(point.location)}
    tables = zip(
        ("xi_table", "eta_table", "zeta_table"), _tables(point, angle, pose.rotation @ point.axes), strict=True
    )
    return "moving", (body, *angle.bodies), own | {"s_i": pose.point(point.origin), **dict(tables)}


def _tables(point: MovingPoint, angle: Angle, axes: Floats) -> list[Floats]:
    """The way of a moving point along the axes of its body over the angle, with slopes: three tables (n, 3)."""
    knots = [point.lower, point.upper]
    for f in point.functions:
        if f.knots is None or f.coefficients[:, CUBIC:].any():  # type: ignore[attr-defined]
            raise ModelError(
                f"has a point that moves with '{point.coordinate}' by a function that is no cubic spline, no line and no "
                "polynomial of degree 3 or less, which no builder has"
            )
        knots += f.knots[1:-1].tolist()  # type: ignore[attr-defined]
    at = np.unique(np.clip(knots, point.lower, point.upper))
    way, slope = (
        np.stack([np.broadcast_to(f.value(at, order), at.shape) for f in point.functions]) for order in (0, 1)
    )
    order = np.argsort(angle.of(at))
    rows = zip(axes @ way, angle.sign * (axes @ slope), strict=True)
    return [np.column_stack([angle.of(at), along, rate])[order] for along, rate in rows]
