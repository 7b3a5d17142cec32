"""The step of a tree that a coordinate of a joint is, for what acts along coordinates: couplings and armature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.support.errors import ModelError
from runtime.system.joint_motion import JointMotion, Step
from runtime.system.spanning_tree import RATES, SpanningTree, TreeSteps


def step_of(what: str, name: str, motions: Mapping[str, Any], tree: SpanningTree) -> int:
    """The step of a coordinate such as "knee.angle"; ``what``: what acts along it, for messages.

    Raises
    ------
    ModelError
        For a coordinate that is no turn or slide, and one of a joint that closes a loop.
    """
    turn_or_slide(what, name, motions)
    if (found := step_along(name, motions, tree)) is None:
        joint = name.rpartition(".")[0]
        raise ModelError(
            f"{what}: joint '{joint}' closes a loop, and only coordinates of the spanning tree can be named here; name one of "
            "another joint of the loop"
        )
    return found[0]


def turn_or_slide(what: str, name: str, motions: Mapping[str, JointMotion]) -> Step:
    """The step of a joint whose coordinate has a name such as "knee.angle"; ``what``: what acts along it, for messages.

    Raises
    ------
    ModelError
        For a coordinate that is no turn or slide.
    """
    joint, _, column = name.rpartition(".")
    steps = {one.name: one for one in motions[joint].steps if one.kind != "ball"} if joint in motions else {}
    if column not in steps:
        known = ", ".join(f"{joint}.{one}" for one in steps) or "none"
        raise ModelError(
            f"{what}: '{name}' is no turn or slide of joint '{joint}', along which alone it can act; those of this joint: {known}"
        )
    return steps[column]


def step_along(name: str, motions: Mapping[str, Any], tree: TreeSteps) -> tuple[int, int] | None:
    """The step of a tree that moves along a coordinate such as "knee.angle", and its component there; None of a closing joint."""
    joint, _, column = name.rpartition(".")
    place = list(motions[joint].units).index(column)
    steps = [(k, place - one.place) for k, one in enumerate(tree.coordinates) if one.joint == joint]
    return next(((k, part) for k, part in steps if 0 <= part < RATES[tree.kinds[k]]), None)
