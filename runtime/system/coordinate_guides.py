"""The driver that guides a coordinate of a joint: kind, bodies and vectors, by which a motor acts on the coordinate alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import P, R, V
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, unknown_name
from runtime.system.connection import KINDS, connection
from runtime.system.coordinate_steps import turn_or_slide
from runtime.system.joint_motion import JointMotion, Step, joint_motion, moved_pose
from runtime.system.orientation import euler_parameters
from runtime.system.parts import Joint
from runtime.system.reference import ground_state, reference, tangents

POSES, WIDE = 3, 0.4  # in which the row of a driver is compared with the coordinate, and how far [rad], [m] these are
EXACT = 1e-9  # [rad], or of the size of the vectors [m]


class Guide(NamedTuple):
    """A driver whose row, without its signal, is a coordinate: arguments of ``Builder.driver``, in axes of the bodies."""

    kind: str
    body: str
    other: str
    values: dict[str, Floats]


def guide_of(what: str, coordinate: str, joints: Mapping[str, Joint], states: Mapping[str, Floats]) -> Guide:
    """The driver that guides a coordinate such as "knee.angle", which is 0 in states (13,) of the bodies by name.

    Raises
    ------
    ModelError
        For what is no turn or slide of a joint, and a coordinate that no driver guides alone.
    """
    name = str(coordinate).rpartition(".")[0]
    if name not in joints:
        raise unknown_name(name, joints, "joint", whose=f"{what}: ")
    joint = joints[name]
    motion = joint_motion(joint, states[joint.body_i], states[joint.body_j])
    step = turn_or_slide(what, coordinate, {} if motion is None else {name: motion})
    assert motion is not None
    for guide in _slides(motion, step) if step.kind == "slide" else _turns(motion, step):
        if _is_coordinate(guide, motion, step):
            return guide
    others = ", ".join(f"{name}.{column}" for column in motion.units if column != step.name)
    raise ModelError(
        f"{what}: no driver guides '{coordinate}' alone, without {others} of joint '{name}' ({joint.kind}); give the kind of a "
        "driver, its bodies and its vectors"
    )


def _slides(motion: JointMotion, step: Step) -> Iterator[Guide]:
    """Drivers along a slide, at the points of the joint."""
    (A, r), joint = motion.reference, motion.joint
    for point in (*(one.point for one in motion.steps if one.kind != "slide"), r):
        values = {"s_i": point, "a_i": step.axis, "s_j": A.T @ (point - r)}
        yield Guide("guided_slide", joint.body_i, joint.body_j, values)


def _turns(motion: JointMotion, step: Step) -> Iterator[Guide]:
    """Drivers about the axis of a turn, seen from either body, to directions that other turns leave alone."""
    A, joint, axis = motion.reference.A, motion.joint, step.axis
    ends, back = (joint.body_i, joint.body_j), (joint.body_j, joint.body_i)
    for way in (tangents(axis)[0], *(one.axis for one in motion.steps if one.kind == "turn" and one is not step)):
        yield Guide("guided_angle", *ends, {"h_i": axis, "a_i": way, "b_j": A.T @ way})
        yield Guide("guided_angle", *back, {"h_i": -A.T @ axis, "a_i": A.T @ way, "b_j": way})


def _is_coordinate(guide: Guide, motion: JointMotion, step: Step) -> bool:
    """Whether the row of a driver has the value of a coordinate in poses in which all coordinates of the joint differ from 0."""
    ends, module = (guide.body, guide.other), KINDS[guide.kind]
    driver = connection("motor", step.name, module, *ends, {**guide.values, module.SIGNALS[0]: 0.0}, ends)
    columns, size = list(motion.units), max(1.0, *(float(np.abs(value).max()) for value in guide.values.values()))
    for n in range(POSES):
        values = WIDE * np.cos(np.arange(len(columns)) + n + 1.0)
        pose = moved_pose(motion, values)
        states = {guide.body: ground_state(), guide.other: ground_state()}
        moved = states[motion.joint.body_j]
        moved[R:P], moved[P:V] = pose.r, euler_parameters(pose.A, step.name)
        x, Phi = np.zeros(module.SIZE), np.zeros(1)
        reference(driver, states[guide.body], states[guide.other], x)
        python_code(module.phi)(states[guide.body], states[guide.other], x, Phi)
        if not abs(Phi[0] - values[columns.index(step.name)]) <= EXACT * size:
            return False
    return True
