"""The step of a tree that a coordinate of a joint is, for what acts along coordinates: couplings and armature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.support.errors import ModelError
from runtime.system.spanning_tree import SpanningTree


def step_of(what: str, name: str, motions: Mapping[str, Any], tree: SpanningTree) -> int:
    """The step of a coordinate such as "knee.angle"; ``what``: what acts along it, for messages.

    Raises
    ------
    ModelError
        For a coordinate that is no turn or slide, and one of a joint that closes a loop.
    """
    joint, _, column = name.rpartition(".")
    columns = list(motions[joint].units) if joint in motions else []
    kinds = {c: step.kind for step in motions[joint].steps for c in step.columns} if columns else {}
    if column not in columns or kinds[column] not in ("turn", "slide"):
        known = ", ".join(f"{joint}.{c}" for c in columns if kinds[c] in ("turn", "slide")) or "none"
        raise ModelError(
            f"{what}: '{name}' is no turn or slide of joint '{joint}', along which alone it can act; those of this joint: {known}"
        )
    place = columns.index(column)
    for k, coordinate in enumerate(tree.coordinates):
        if coordinate.joint == joint and coordinate.place == place:
            return k
    raise ModelError(
        f"{what}: joint '{joint}' closes a loop, and only coordinates of the spanning tree can be named here; name one of "
        "another joint of the loop"
    )
