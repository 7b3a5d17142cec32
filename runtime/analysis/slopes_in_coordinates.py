"""Accelerations of systems with couplings or rotors, which the equations in joint coordinates alone know, and their Jacobian.

The displaced states of the bodies are those of the nearest coordinates.  Derivatives are differences of order eight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.derived import NO_ANGLES
from runtime.dynamics.equations import derivatives, workspace_for
from runtime.dynamics.force_elements import follow_states
from runtime.dynamics.layout import STATE, V
from runtime.dynamics.lift import lift_all
from runtime.results.coupling_forces import forces_of_couplings
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.coupled_coordinates import tree_with_rows, violations
from runtime.system.system import System
from runtime.system.tree_check import DIFFERENCES, STEP
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.trees import trees_of

SHORT_STEP = 1e-5  # [m], [rad], and per second: of differences where laws have kinks, such as the edge of a contact
NO_EVENTS = np.zeros((0, 3))  # of contacts


class RatesInCoordinates(NamedTuple):
    """At m states of n bodies and of s states of forces."""

    rates: Floats  # (m, 6 n + s) accelerations, and rates of the states of forces
    violation: Floats  # (2, m, couplings) of the couplings, and its rate


class SlopesInCoordinates(NamedTuple):
    """At a state of n bodies and of s states of forces."""

    rates: Floats  # (6 n + s,) accelerations, and rates of the states of forces
    violation: Floats  # (2, couplings) of the couplings, and its rate
    slopes: Floats  # (6 n + s, 12 n + s) of ``rates``, over displacements, velocities and states of forces
    of_couplings: Floats  # (couplings, 12 n + s) of the rates of the violations


def slopes_in_coordinates(system: System, time: float, y: Floats) -> SlopesInCoordinates:
    """Accelerations and their Jacobian at a state, as of ``vector_of``.

    Raises
    ------
    ModelError
        For a singular state.
    """
    n = len(system.bodies)
    size = 12 * n + len(y) - STATE * n
    step = SHORT_STEP if system.limits or system.contacts or system.forces else STEP
    factors = [(sign * k * step, sign * factor / step) for k, factor in DIFFERENCES for sign in (1.0, -1.0)]
    states = np.tile(y, (1 + size * len(factors), 1))
    moved = states[1:].reshape(len(factors), size, -1)
    for (way, _), of_way in zip(factors, moved, strict=True):
        for direction, one in zip(np.eye(size), of_way, strict=True):
            u = np.concatenate([np.zeros((1, 6)), direction[: 6 * n].reshape(n, 6)])
            projection.move(y, u, way, one)
            one[: STATE * n].reshape(n, STATE)[:, V:] += way * direction[6 * n : 12 * n].reshape(n, 6)
            one[STATE * n :] += way * direction[12 * n :]
    found = rates_in_coordinates(system, time, states)
    values = np.hstack([found.rates, found.violation[1]])
    parts = values[1:].reshape(len(factors), size, -1)
    slopes = sum(weight * part for (_, weight), part in zip(factors, parts, strict=True)).T  # type: ignore[union-attr]
    rows = found.rates.shape[1]
    return SlopesInCoordinates(found.rates[0], found.violation[:, 0], slopes[:rows], slopes[rows:])


def rates_in_coordinates(system: System, time: float, states: Floats) -> RatesInCoordinates:
    """Accelerations in states (m, 13 n + s) that follow each other.

    Raises
    ------
    ModelError
        For a singular state.
    """
    found = forces_of_couplings(
        system, np.full(len(states), time), states, NO_ANGLES, NO_EVENTS, workspace_for(system.data)
    )
    if found.undetermined.any():
        raise ModelError(
            f"system '{system.name}' has no single accelerations at t = {time:g} s: its configuration is singular; "
            "linearise about another state"
        )
    rates = np.hstack([found.v_dot[:, 1:].reshape(len(states), -1), _rates_of_forces(system, time, states)])
    return RatesInCoordinates(rates, np.array(_violations(system, states[:, : STATE * len(system.bodies)])))


def _rates_of_forces(system: System, time: float, states: Floats) -> Floats:
    """Rates (m, s) of the states of forces, which follow from the motion and them alone."""
    of_bodies = STATE * len(system.bodies)
    if states.shape[1] == of_bodies:
        return np.zeros((len(states), 0))
    work, on, rates = workspace_for(system.data), on_joints(system, states), np.zeros(states.shape)
    follow_states(system.data.forces, work.forces)
    derivatives(np.full(len(states), time), on, system.data, work, rates)
    return rates[:, of_bodies:]


def on_joints(system: System, states: Floats) -> Floats:
    """States (m, 13 n + s) with the bodies where the joints of the tree admit them, at the nearest coordinates."""
    tree, memory, of_bodies = trees_of(system).tree, tree_with_rows(system), STATE * len(system.bodies)
    assert tree is not None
    z, lifted = joint_coordinates(tree, system.body_names, system.joint_motions, states[:, :of_bodies]), states.copy()
    on = np.empty((len(states), of_bodies))
    lift_all(memory.data, memory.lifting, z, on)
    lifted[:, :of_bodies] = on
    return lifted


def _violations(system: System, states: Floats) -> tuple[Floats, Floats]:
    """Violations of the couplings and their rates in states of the bodies, (states, couplings) each."""
    if not system.couplings:
        return np.zeros((len(states), 0)), np.zeros((len(states), 0))
    coupled, tree = tree_with_rows(system).closing.coupled, trees_of(system).tree
    assert tree is not None
    z = joint_coordinates(tree, system.body_names, system.joint_motions, states)
    names = [name for one in system.couplings for name in one.coordinates]
    q, u = (
        {name: sign * z[:, place] for name, sign, place in zip(names, coupled.sign, places, strict=True)}
        for places in (coupled.q, coupled.u)
    )
    return violations(system.couplings, q, u)
