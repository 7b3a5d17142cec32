"""Systems at nearby values of a parameter or argument, for derivatives by differences of order six, and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from runtime.analysis.question import Question
from runtime.dynamics.equations import derivatives, shared_workspace_for
from runtime.dynamics.layout import STATE, V
from runtime.integrate.variational.differences import BESIDE_KINKS, BOTH_SIDES, ahead_of, smoothness, weights_of_systems
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.latest import Latest
from runtime.system.parameters import replace_parameters
from runtime.system.quantity import Role
from runtime.system.state import PARTS
from runtime.system.system import System
from runtime.system.variants import structure_of

STEP = 1e-3  # of the differences of systems, as a fraction of a parameter's size
FINE_STEP = 1e-5  # of those of order two
CLOSER, TRIES = 0.03, 3  # factor of the step, and tries, where a function is not smooth within it
# Where a step of a fraction of a component changes accelerations by less than this part of the fraction, rounding shortens
# steps of the integration.  Effects that much smaller still are those of components close to 0, not of a motion that
# begins where a component hardly matters.  Slopes with a step that is larger by a factor differ by less than a fraction, and
# rounding, where they are linear.
LEAST_EFFECT, SMALLER, LARGER, LINEAR, ROUNDING_OF_EFFECT = 1e-3, 0.1, 10.0, 1e-9, 1e-13
LEAST = float(np.finfo(float).tiny)  # [N m/rad] a stiffness above 0
SMOOTH = 1e-7  # relative error of derivatives of data with which a step is good enough


class NearbySystems(NamedTuple):
    """Systems at nearby values of one component, for derivatives with respect to this component."""

    systems: list[tuple[System, Floats]]  # with their initial states
    offsets: Floats  # (2,), (4,) or (6,) how much larger the component is in them
    weights: Floats  # of the differences between these systems and the system itself; their sum is the derivative
    error: float  # relative, of derivatives of data and initial state

    def slope(self, values: Sequence[Floats], own: Floats) -> Floats:
        """Derivative of a quantity by its values for the nearby systems and for the system itself; exactly 0 if all agree."""
        return self.weights @ (np.array(values) - own)


def smooth_nearby(
    question: Question, system: System, y: Floats, row: Floats, k: int, size: float, places: Floats
) -> NearbySystems:
    """Nearby systems within which a function of the user's is smooth, if there are such: tables have kinks.

    ``places``: of the parameters of a System, in which its data are smooth.
    """
    if len(places) == 2:
        places = (BESIDE_KINKS if system.data.forces.kink[-1] else places) * (FINE_STEP / STEP)
    if not isinstance(question.build, System):
        places = BOTH_SIDES
    found: list[NearbySystems] = []
    while len(found) < TRIES and not (found and found[-1].error <= SMOOTH):
        six = _nearby(question, system, row, k, STEP * size * CLOSER ** len(found), places)
        if not isinstance(question.build, System):
            own = _numbers(counting_as(system, [other for other, _ in six.systems]), y)
            others = [_numbers(*other) for other in six.systems]
            arrays = [(one, [other[n] for other in others]) for n, one in enumerate(own)]
            errors = [
                smoothness(six.offsets, values, one)
                for one, values in arrays
                if all(value.size == one.size for value in values)
            ]
            six = six._replace(error=max(errors))
        found.append(six)
    if len(found) == 1 and not found[0].error:
        return _with_effect(question, system, y, row, k, found[0], size, places)
    return min(found, key=lambda six: six.error)


def counting_as(system: System, others: Sequence[System]) -> System:
    """The system whose motors count revolutions where those of others do: by a stiffness next to 0 where it is 0."""
    wound = {motor.name for other in others for motor in other.motors if motor.winds}
    slack = [motor.name for motor in system.motors if motor.name in wound and not motor.winds]
    return replace_parameters(system, {f"stiffness.{name}": LEAST for name in slack}) if slack else system


def _with_effect(
    question: Question, system: System, y: Floats, row: Floats, k: int, six: NearbySystems, size: float, places: Floats
) -> NearbySystems:
    """Systems with larger steps, where a component is so close to 0 that steps in proportion to it drown in rounding.

    The accelerations must depend linearly on the component: their slopes with both steps agree.
    """
    if not isinstance(question.build, System) or question.components[k][1].role is not Role.PARAMETER:
        return six
    own = _accelerations(system, y)
    size_of_own, change = np.abs(own).max(), _effect(six, own, y)
    least = LEAST_EFFECT * STEP * np.abs(places).max() * size_of_own
    small = 0.0 < change < SMALLER * least
    while change < least and size < 1.0 and small:
        size = min(1.0, LARGER * size)
        try:
            other = _nearby(question, system, row, k, STEP * size, places)
        except ModelError:
            break
        slope, wider = (_slope_of_accelerations(one, own, y) for one in (six, other))
        noise = ROUNDING_OF_EFFECT * size_of_own / np.abs(six.offsets).min()
        if not np.abs(wider - slope).max() <= LINEAR * np.abs(slope).max() + noise:
            break
        six, change = other, _effect(other, own, y)
    return six


def _accelerations_of(system: System, y: Floats) -> Floats:
    """Accelerations in a state of all bodies with its own and with other velocities, (3, bodies, 6)."""
    states = np.tile(y, (3, 1))
    velocities = states.reshape(3, -1, STATE)[:, :, V:]
    velocities[1:] += np.random.default_rng(0).normal(size=velocities[1:].shape)
    out = np.zeros_like(states)
    derivatives(np.full(len(states), system.time), states, system.data, shared_workspace_for(system.data), out)
    return out.reshape(len(states), -1, STATE)[:, :, V:].copy()


_accelerations = Latest(_accelerations_of, 3)  # a system's own are asked for with each of its parameters


def _effect(six: NearbySystems, own: Floats, y: Floats) -> float:
    """The largest change of accelerations, in the system that is farthest away."""
    farthest = six.systems[int(np.argmax(np.abs(six.offsets)))][0]
    return float(np.abs(_accelerations(farthest, y) - own).max())


def _slope_of_accelerations(six: NearbySystems, own: Floats, y: Floats) -> Floats:
    changes = np.array([_accelerations(other, y) for other, _ in six.systems]) - own
    return np.asarray(np.tensordot(six.weights, changes, 1))


def _numbers(system: System, y: Floats) -> list[Floats]:
    """What may vary with an argument: the data of a system by array, its initial state by part.

    Signals are left out: their polynomials are fits with as many pieces as each needs; also ``flat`` of limits, up to which a
    formula holds: the smallest of several values.
    """
    parts = y.reshape(-1, STATE)
    found = [np.ravel(parts[:, place]) for place in PARTS.values()]

    def collect(value: Any) -> None:
        for name in getattr(value, "_fields", ()):
            if name not in ("flat", "signals"):
                collect(getattr(value, name))
        if isinstance(value, np.ndarray) and value.dtype == float and value.size:
            found.append(np.ravel(value))

    collect(system.data)
    return found


def _nearby(question: Question, system: System, row: Floats, k: int, step: float, both_sides: Floats) -> NearbySystems:
    """Systems on both sides of the value of component k, or on one side where those of the other are refused."""
    needs = f"the derivative by {question.names[k]} at {row[k]:g} needs systems nearby"
    refused: list[ModelError] = []
    for places in (both_sides, ahead_of(both_sides), -ahead_of(both_sides)):
        found = []
        try:
            for place in places:
                at = row.copy()
                at[k] += place * step
                found.append(question.system(at))
        except ModelError as error:
            refused.append(error)
            continue
        for place, (other, _) in zip(places, found, strict=True):
            if structure_of(other) != structure_of(system):
                raise ModelError(
                    f"{needs}, but at {row[k] + place * step:g} the system has other bodies, joints, forces or degrees of "
                    "freedom; choose another value, or take differences of runs"
                )
        return NearbySystems(found, places * step, weights_of_systems(places) / step, 0.0)
    raise ModelError(f"{needs}, on one side at least: {'; '.join(dict.fromkeys(map(str, refused)))}")
