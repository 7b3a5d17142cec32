"""Muscles of a description in a builder."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from models.files.description import Muscle
from models.files.merging import Pose
from models.files.muscle_spans import span_over
from runtime import Builder, ModelError

COMPLIANCE = "tendon compliance"  # of what a file switches off
RIGID = ("millard_as_opensim", "de_groote_as_opensim")  # laws whose rigid tendon is that of OpenSim


def add_muscle(builder: Builder, muscle: Muscle, place: Callable[[str], tuple[str, Pose]]) -> None:
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
    if kinds := {type(p).__name__ for p in muscle.points} - {"PathPoint"}:
        words = {"ConditionalPoint": "leave the path", "MovingPoint": "move in their body"}
        raise ModelError(f"has points that {' and '.join(words[kind] for kind in sorted(kinds))}, which no builder has")
    if len(bodies := {place(part.link)[0] for part in (*muscle.points, *muscle.wraps)}) < 2:
        raise ModelError(f"acts on one body alone, '{bodies.pop()}', which it does not move")

    def located(point: Any) -> tuple[str, Any]:
        body, pose = place(point.link)
        return body, pose.point(point.location)

    path: list[Any] = [located(muscle.points[0])]
    for n, (_, point) in enumerate(pairwise(muscle.points)):
        if wraps := muscle.over(n, n + 1):
            kind, vectors, parameters = span_over(
                wraps, lambda link, v: place(link)[1].point(v), lambda link, v: place(link)[1].rotation @ v
            )
            path.append((kind, tuple(place(wrap.link)[0] for wrap in wraps), vectors | parameters))
        path.append(located(point))
    builder.muscle(
        muscle.name, muscle.law, path, excitation=muscle.excitation, axes="body",
        tendon="rigid" if muscle.ignored else "elastic", **{**muscle.constants, **muscle.controlled},
    )  # fmt: skip
