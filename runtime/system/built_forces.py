"""Loads, motors, forces and contacts of many systems of one layout: values as arrays, and rules of ``build_system`` for these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.cases import gradients_of_motors, outputs_of_forces
from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.force_elements import REPORTS
from runtime.dynamics.signals import CONSTANT, VARYING, SignalData
from runtime.support.arrays import Bools, Floats, Ints
from runtime.system.built_contacts import columns, fading_as, values_of_contacts
from runtime.system.data_building import Parts, signals_of_drivers, signals_of_loads
from runtime.system.deferred import Recipe
from runtime.system.force_building import table_pieces
from runtime.system.joint_cases import constants_of_cases, states_of_cases
from runtime.system.parts import Force, Joint
from runtime.system.quantity import MOTOR_PARTS
from runtime.system.rank import LEAST_GRADIENT
from runtime.system.signal import ALWAYS, Signal, signal_data
from runtime.system.system import System
from runtime.system.unusual_values import usual_forces

# Sort ("force", "motor" or "contact") and name -> parameter or vector -> values, (cases,) or (cases, 3).
Values = Mapping[tuple[str, str], Mapping[str, Floats]]
# Force and place among its tables -> knots and coefficients (cases, 6 pieces).
Tables = Mapping[tuple[int, int], Floats]
MARGIN = 10.0  # from the limits of gradients, within which a case is built alone


@dataclass(frozen=True)
class ForceCases:
    """Values of loads, motors, forces and contacts of many cases; numbers of signals are those of the system."""

    system: System
    values: Values
    tables: Tables
    constants: Mapping[int, Floats]  # (cases,) of constant signals
    signals: Sequence[SignalData]  # of each case, those that vary
    spans: Floats  # (cases, 2) [s] in which all signals are defined

    @property
    def of_contacts(self) -> list[Mapping[str, Floats]]:
        """Values of all contacts."""
        return [self.values["contact", one.name] for one in self.system.contacts]

    def are_allowed(self, states: Floats, *, units: bool) -> Bools:
        """Which cases surely break no rule in their reference configurations (cases, 13 bodies); units: ``check_units``."""
        system, time = self.system, self.system.time
        good: Bools = (self.spans[:, 0] <= time) & (time <= self.spans[:, 1])
        if units:
            good &= usual_forces(system, self.values, len(good))
        good &= fading_as(system, self.of_contacts)
        states, work = np.ascontiguousarray(states), shared_workspace_for(system.data)
        references = states_of_cases(states)
        if system.motors:
            gradients = np.zeros((len(states), len(system.motors), 12))
            joints = [motor.joint for motor in system.motors]
            bodies = list(np.stack([system.data.loads.body_i, system.data.loads.body_j], axis=1))
            x = self._numbers("motor", joints, bodies, references, work.loads.x.shape[1])
            gradients_of_motors(states, x, system.data, work, gradients)
            size = np.abs(gradients).max(axis=2)
            good &= ((size > MARGIN * LEAST_GRADIENT) & (size * MARGIN * LEAST_GRADIENT < 1.0)).all(axis=1)
        if system.forces:
            outputs = np.zeros((len(states), *work.forces.out.shape))
            t = system.data.forces
            bodies = [own[:count] for own, count in zip(t.body, t.bodies, strict=True)]
            x = self._numbers("force", system.forces, bodies, references, work.forces.x.shape[1])
            outputs_of_forces(states, x, system.data, work, outputs)  # by tables of the system: all are finite
            for k, force in enumerate(system.forces):
                good &= np.isfinite(outputs[:, k, : REPORTS + len(force.outputs)]).all(axis=1)
        return good

    def _numbers(
        self, sort: str, owners: Sequence[Joint | Force], bodies: Sequence[Ints], references: Floats, size: int
    ) -> Floats:
        """Vectors and constants of motors or forces (cases, owners, X) with their bodies, vectors in global axes."""
        x = np.zeros((len(references), len(owners), size))
        for k, owner in enumerate(owners):
            ends = [references[:, body].T for body in bodies[k]]
            given = {key: v for key, v in self.values[sort, owner.name].items() if key in owner.values}
            x[:, k] = constants_of_cases(owner, given, ends, (size, len(references)))[0].T
        return x


def force_cases(system: System, recipes: Sequence[Recipe], other: Values | None = None) -> ForceCases:
    """The loads, motors, forces and contacts of recipes whose layout is that of ``system``; ``other``: values not of recipes."""
    parts = [recipe.parts for recipe in recipes]
    values: dict[tuple[str, str], dict[str, Floats]] = {}
    for k, force in enumerate(system.forces):
        keys = [key for key in force.values if key not in force.module.TABLE_UNITS]
        values["force", force.name] = columns(keys, [of.forces[k].values for of in parts])
    for k, motor in enumerate(system.motors):
        own = columns(motor.joint.values, [of.motors[k].joint.values for of in parts])
        gains = {key: np.array([getattr(of.motors[k], key) for of in parts]) for key in MOTOR_PARTS}
        values["motor", motor.name] = own | gains
    of_contacts = values_of_contacts([of.contacts for of in parts])
    values |= {("contact", one.name): own for one, own in zip(system.contacts, of_contacts, strict=True)}
    values |= {whose: values[whose] | dict(own) for whose, own in (other or {}).items()}
    signals = [signals_of_parts(of) for of in parts]
    sorts = [system.data.signals.sort(number) for number in range(len(signals[0]))]
    constants = {
        number: np.array([of[number].coefficients[0, 0] for of in signals])
        for number, sort in enumerate(sorts)
        if sort == CONSTANT
    }
    varying = [number for number, sort in enumerate(sorts) if sort == VARYING]
    sets: dict[tuple[int, ...], SignalData] = {}
    data = [_set_of(of, varying, system.data.signals.order, sets) for of in signals]
    spans = np.array([_span_of(of) for of in signals])
    return ForceCases(system, values, _tables(system, parts), constants, data, spans)


def signals_of_parts(of: Parts) -> list[Signal]:
    """Signals in the order of their numbers, of parts whose forces have none."""
    belts = [contact.belt_speed for contact in of.contacts]
    return signals_of_drivers(of.joints) + signals_of_loads(of.loads, of.motors) + belts


def _tables(system: System, parts: Sequence[Parts]) -> Tables:
    """Tables of forces that are not the same in all cases."""
    found: dict[tuple[int, int], Floats] = {}
    for k, force in enumerate(system.forces):
        for n, table in enumerate(force.module.TABLES):
            given = [of.forces[k].values[table] for of in parts]
            different = {points.tobytes(): points for points in given}
            if len(different) > 1:
                numbers = {key: np.column_stack(table_pieces(points)).ravel() for key, points in different.items()}
                found[k, n] = np.array([numbers[points.tobytes()] for points in given])
    return found


def _span_of(signals: Sequence[Signal]) -> tuple[float, float]:
    """The time in which all signals are defined [s]."""
    spans = [signal.span for signal in signals if signal.knots is not ALWAYS]
    return max([first for first, _ in spans], default=-np.inf), min([last for _, last in spans], default=np.inf)


def _set_of(
    signals: Sequence[Signal], varying: Sequence[int], order: Ints, sets: dict[tuple[int, ...], SignalData]
) -> SignalData:
    """Data of the signals of a case that vary, from those that are known by the identities of these signals."""
    key = tuple([id(signals[number]) for number in varying])
    if key not in sets:
        given = [signal if number in varying else None for number, signal in enumerate(signals)]
        sets[key] = signal_data(given, order)
    return sets[key]
