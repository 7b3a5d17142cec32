"""Coordinates of the joints of a system in a state, and their rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.support.arrays import Floats
from runtime.system.joint_motion import coordinates, rates, relative_poses
from runtime.system.reference import body_places, states_with_ground

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.system.joint_motion import JointMotion

Values = dict[str, float]  # by the names of coordinates, such as "ankle.theta_i"


def values_of(motions: Mapping[str, JointMotion], names: tuple[str, ...], y: Floats) -> tuple[Values, Values]:
    """Coordinates and rates of joints in a state y (13 bodies,) of the bodies of these names."""
    places, states = body_places(names), states_with_ground(y)
    found: tuple[Values, Values] = {}, {}
    for name, motion in motions.items():
        of_i, of_j = (states[places[body] :][:1] for body in (motion.joint.body_i, motion.joint.body_j))
        poses = relative_poses(of_i, of_j)
        both: Any = coordinates(motion, poses)[0], rates(motion, poses, of_i, of_j)[0]
        for into, values in zip(found, both, strict=True):
            into.update({f"{name}.{c}": float(x) for c, x in zip(motion.units, values, strict=True)})
    return found
