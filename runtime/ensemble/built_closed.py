"""Cases of a function whose systems have closed loops or drivers, and differ in signals, loads, forces, contacts and limits.

Bodies, joints, given poses and the places where drivers begin are those of the first system, which is built: so are its pose and
all that was checked of this.  Velocities, which rates of signals decide, are found and checked for each case.  Cases that differ
in more are built one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import STATE, V
from runtime.dynamics.signals import SignalData
from runtime.ensemble.given import Given
from runtime.ensemble.joint_batch import given_limits
from runtime.integrate.batches.parameters import COMPLIANCE, DAMPING, MAX_MOMENT
from runtime.integrate.creeps import resolved_creeps
from runtime.integrate.settings import Settings
from runtime.integrate.tree_method import acts_in_lanes, tree_of_lanes
from runtime.integrate.written.force_parameters import OwnForces
from runtime.integrate.written.signal_sets import signal_sets
from runtime.support.arrays import Bools, Floats, frozen
from runtime.system.assemble import VELOCITY_TOLERANCE
from runtime.system.built_contacts import usual_contacts_at
from runtime.system.built_forces import ForceCases, force_cases, signals_of_parts
from runtime.system.data_building import signals_of_drivers
from runtime.system.deferred import Recipe
from runtime.system.joint_cases import states_of_cases
from runtime.system.signal import Signal, jumps, signal_data
from runtime.system.system import System

OF_LAW = {"max_moment": MAX_MOMENT, "compliance": COMPLIANCE, "damping": DAMPING}


def built_closed(system: System, recipes: Sequence[Recipe], how: Settings) -> tuple[Given, Floats] | None:
    """The cases of recipes of one layout with the same ``shared_parts``, and their states (cases, 13 bodies) at the start.

    ``system`` is that of one of them; None where it was remarked on, or its drivers leave or change given velocities.
    """
    count, first = len(recipes), recipes[0]
    given_velocities = first.y.reshape(-1, STATE)[:, V:].any() or first.project_velocities is False
    if system.assembly.remarks or len(system.data.thin_body) or (system.drivers and given_velocities):
        return None
    drives = _Drives(how)
    good = np.array([drives.known(recipe) for recipe in recipes])
    limits = given_limits([(system, np.arange(count))], count)
    for part, column in OF_LAW.items():
        limits[:, :, column] = [[getattr(limit, part) for limit in recipe.parts.limits] for recipe in recipes]
    masses, inertias = np.tile(system.data.mass[1:], (count, 1)), system.data.inertia[1:]
    given = Given(system, tree_of_lanes(system), masses, inertias, system.gravity, limits, good)
    states = np.tile(system.state.y, (count, 1))
    if not (system.drivers or acts_in_lanes(system)):
        return given, states
    forces, references = force_cases(system, recipes), np.tile(system.reference_configuration.y, (count, 1))
    _give_forces(given, forces, references, how)
    if system.drivers:
        states = _starts(system, recipes, given.good)
    given.good &= forces.are_allowed(references, units=first.check_units)
    if first.check_units:
        given.good &= usual_contacts_at(system, forces.of_contacts, count)
    given.good &= resolved_creeps(system, forces.values, states_of_cases(states), how.rtol, how.atol)
    return given, states


def shared_parts(recipe: Recipe) -> Hashable | None:
    """What cases of one layout have in common to be run here; None of a case whose drivers are not defined at its start.

    Bodies, gravity, poses, joints, where drivers begin, cones of limits, points of forces and centres of spheres.
    """
    of = recipe.parts
    values: list[Mapping[str, Any]] = [one.values for one in of.joints]
    values += [{key: value for key, value in one.values.items() if key not in OF_LAW} for one in of.limits]
    values += [{key: value for key, value in one.values.items() if key.startswith("s_")} for one in of.forces]
    values += [{"s_i": one.values["s_i"]} for one in of.contacts]
    arrays = [
        recipe.y,
        recipe.gravity,
        *(body.inertia for body in of.bodies),
        *(v for own in values for v in own.values()),
    ]
    signals = signals_of_drivers(of.joints)
    if not all(begin <= recipe.time <= end for begin, end in (signal.span for signal in signals)):
        return None
    begins = [float(signal(recipe.time)).hex() for signal in signals]
    masses, cones = [float(body.mass).hex() for body in of.bodies], [limit.cone for limit in of.limits]
    return (*begins, *masses, *cones, *map(tuple, values), *(np.asarray(a, float).tobytes() for a in arrays))


class _Drives:
    """Which drivers are defined in a run, and have no jumps."""

    def __init__(self, how: Settings) -> None:
        self._how, self._known = how, dict[int, bool]()  # by the identity of a signal

    def known(self, recipe: Recipe) -> bool:
        """Whether all drivers of a recipe are such."""
        signals = signals_of_drivers(recipe.parts.joints)
        for signal in signals:
            if id(signal) not in self._known:
                self._known[id(signal)] = self._is_known(signal)
        return all(self._known[id(signal)] for signal in signals)

    def _is_known(self, signal: Signal) -> bool:
        (begin, end), how = signal.span, self._how
        return begin <= how.t_start and how.t_end <= end and not list(jumps(signal, how.t_start, how.t_end))


def _give_forces(given: Given, forces: ForceCases, references: Floats, how: Settings) -> None:
    """Give cases their signals, loads, motors and forces; those whose signals end within a run are not good."""
    given.forces = {whose: dict(own) for whose, own in forces.values.items()}
    given.built = OwnForces({}, forces.constants, forces.tables, states_of_cases(references))
    given.sets, which = signal_sets(forces.signals)
    given.set_of = np.array(which, np.int64)
    given.good &= (forces.spans[:, 0] <= how.t_start) & (how.t_end <= forces.spans[:, 1])


def _starts(system: System, recipes: Sequence[Recipe], good: Bools) -> Floats:
    """States (cases, 13 bodies) at the start of good cases; those that no velocities of the rows satisfy are not good then."""
    states, known = np.tile(system.state.y, (len(recipes), 1)), dict[tuple[int, ...], tuple[Floats, bool]]()
    for k in np.flatnonzero(good).tolist():
        signals = signals_of_drivers(recipes[k].parts.joints)
        key = tuple(map(id, signals))
        if key not in known:
            known[key] = _start(system, signal_data(signals_of_parts(recipes[k].parts)))
        states[k], good[k] = known[key]
    return states


def _start(system: System, signals: SignalData) -> tuple[Floats, bool]:
    """The start of a case with drivers, from the pose at rest, and whether its velocities satisfy the rows."""
    data, work, still = (
        system.data._replace(signals=frozen(signals)),
        shared_workspace_for(system.data),
        system.state.y.copy(),
    )
    still.reshape(-1, STATE)[:, V:] = 0.0
    start = projection.project_velocities(system.time, still, data, work)
    worst = projection.worst_row(system.time, start, data, work, True)
    return start, worst <= VELOCITY_TOLERANCE * max(1.0, float(np.abs(start.reshape(-1, STATE)[:, V:]).max()))
