"""Accelerations of systems with couplings or rotors, which the equations in joint coordinates alone know, and their Jacobian.

The displaced states of the bodies are those of the nearest coordinates.  Derivatives are differences of order eight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.derived import NO_ANGLES
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import STATE, V
from runtime.results.coupling_forces import forces_of_couplings
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.coupled_coordinates import tree_with_rows, violations
from runtime.system.system import System
from runtime.system.tree_check import DIFFERENCES, STEP
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.trees import trees_of

NO_EVENTS = np.zeros((0, 3))  # of contacts


class SlopesInCoordinates(NamedTuple):
    """At a state of n bodies."""

    accelerations: Floats  # (6 n,)
    violation: Floats  # (2, couplings) of the couplings, and its rate
    slopes: Floats  # (6 n, 12 n) of the accelerations, over displacements and then velocities
    rates: Floats  # (couplings, 12 n) of the rates of the violations


def slopes_in_coordinates(system: System, time: float, y: Floats) -> SlopesInCoordinates:
    """Accelerations and their Jacobian at a state.

    Raises
    ------
    ModelError
        For a singular state.
    """
    n = len(system.bodies)
    factors = [(sign * k * STEP, sign * factor / STEP) for k, factor in DIFFERENCES for sign in (1.0, -1.0)]
    states = np.tile(y, (1 + 12 * n * len(factors), 1))
    moved = states[1:].reshape(len(factors), 12 * n, -1)
    for (way, _), of_way in zip(factors, moved, strict=True):
        for direction, one in zip(np.eye(12 * n), of_way, strict=True):
            u = np.concatenate([np.zeros((1, 6)), direction[: 6 * n].reshape(n, 6)])
            projection.move(y, u, way, one)
            one.reshape(n, STATE)[:, V:] += way * direction[6 * n :].reshape(n, 6)
    found = forces_of_couplings(
        system, np.full(len(states), time), states, NO_ANGLES, NO_EVENTS, workspace_for(system.data)
    )
    if found.undetermined.any():
        raise ModelError(
            f"system '{system.name}' has no single accelerations at t = {time:g} s: its configuration is singular; "
            "linearise about another state"
        )
    Phi, Phi_dot = _violations(system, states)
    values = np.hstack([found.v_dot[:, 1:].reshape(len(states), 6 * n), Phi_dot])
    parts = values[1:].reshape(len(factors), 12 * n, -1)
    slopes = sum(weight * part for (_, weight), part in zip(factors, parts, strict=True)).T  # type: ignore[union-attr]
    return SlopesInCoordinates(values[0, : 6 * n], np.array([Phi[0], Phi_dot[0]]), slopes[: 6 * n], slopes[6 * n :])


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
