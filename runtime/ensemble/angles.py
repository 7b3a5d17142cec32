"""Coordinates of joints of all cases of an ensemble: from its states, or as far as they are among its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from runtime.ensemble.events import kept_of_cases
from runtime.results.joint_angles import JointAngles, by_name, coordinates_and_rates
from runtime.results.whole_turns import before_start, set_whole_turns
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError
from runtime.support.names import named
from runtime.system.joint_motion import JointMotion
from runtime.system.quantity import COORDINATES, Role
from runtime.system.system import System
from runtime.system.trees import trees_of

Turns = list[tuple[Ints, Ints]]


def angles_of_cases(ensemble: Any) -> Mapping[str, JointAngles]:
    """Coordinates and rates by joint, (cases, times) each, NaN where a case did not arrive.

    Raises
    ------
    ModelError
        Where the ensemble does not know its system, or the joints differ between cases.
    """
    if ensemble.outputs:
        return _of_outputs(ensemble)
    task, remedy = ensemble._task, "give outputs=, such as ['angle.JOINT.COORDINATE'], or read many[i].angles"
    if task is None:
        raise ModelError(
            "angles: this ensemble holds no system, from which coordinates count, since it was read from a folder, or pickled "
            "with a function or with definitions of a study; call simulate_many again with its arguments"
        )
    differ = [name for name, q in ensemble.quantities.items() if q.role is Role.PARAMETER and q.owner_sort == "joint"]
    if not isinstance(task.system, System) or differ:
        whose = f"'{differ[0]}'" if differ else "arguments of a function"
        raise ModelError(f"angles: the joints differ between cases of {whose}; {remedy}")
    states, turns = ensemble.states(), kept_of_cases(ensemble._states, "turns")
    begun = kept_of_cases(ensemble._states, "starts")
    starts = {int(case): y for cases, own in begun for case, y in zip(cases, own, strict=True)}
    motions = task.system.joint_motions.items()
    found = {name: _of_joint(task.system, motion, states, turns, starts) for name, motion in motions}
    return named("joint with coordinates", found, "joints with coordinates")


def _of_joint(
    system: System, motion: JointMotion, states: Floats, turns: Turns, starts: Mapping[int, Floats]
) -> JointAngles:
    """Coordinates of a joint in states (cases, times, bodies, 13), with the whole turns of some cases and the starts of some."""
    cases, times = states.shape[:2]
    known = np.asarray(np.isfinite(states.reshape(cases, times, -1)).all(axis=2))
    values, rates = (np.full((cases, times, len(motion.units)), np.nan) for _ in range(2))
    if any(step.kind == "ball" for step in motion.steps):  # whose vector is followed from time to time
        for case, at in enumerate(known):
            if at.any():
                values[case, at], rates[case, at] = coordinates_and_rates(
                    system, motion, states[case, at], starts.get(case)
                )
    elif known.any():
        values[known], rates[known] = coordinates_and_rates(
            system, motion, states[known].reshape(-1, *states.shape[2:])
        )
        for k, unit in enumerate(motion.units.values()):
            if unit == "rad":
                values[..., k] = np.unwrap(values[..., k] - before_start(values[:, :1, k]), axis=1)
        for case, start in starts.items():
            values[case, known[case]] = coordinates_and_rates(system, motion, states[case, known[case]], start)[0]
    for numbers, quarters in turns:
        own = values[numbers]
        set_whole_turns(trees_of(system).of_joints, motion, own, quarters)
        values[numbers] = own
    return by_name(motion, values, rates)


def _of_outputs(ensemble: Any) -> Mapping[str, JointAngles]:
    kept: dict[str, dict[str, dict[str, Floats]]] = {}
    units: dict[str, dict[str, str]] = {}
    for name, output in ensemble.outputs.items():
        if output.quantity.part in COORDINATES and not output.reduction and not output.function:
            joint, _, column = output.quantity.owner.rpartition(".")
            kept.setdefault(joint, {part: {} for part in COORDINATES})[output.quantity.part][column] = ensemble.values(
                [name]
            )[name]
            units.setdefault(joint, {})[column] = output.unit.removesuffix("/s")
    if not kept:
        raise ModelError(
            f"this ensemble holds no coordinates of joints: it kept the outputs {', '.join(ensemble.outputs)} in place of "
            "states; call simulate_many without outputs, or with 'angle.JOINT.COORDINATE' among them"
        )

    def of(joint: str) -> JointAngles:
        values, rates = (named("kept coordinate", kept[joint][part]) for part in COORDINATES)
        return JointAngles(joint, "as kept", values, rates, units[joint])

    return named("joint with kept coordinates", {joint: of(joint) for joint in kept}, "joints with kept coordinates")
