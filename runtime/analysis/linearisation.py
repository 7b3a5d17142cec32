"""Linearisation of a system: the Jacobian of its accelerations, ordered by body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runtime.dynamics.equations import workspace_for
from runtime.dynamics.jacobian import jacobian_once
from runtime.dynamics.layout import OK
from runtime.dynamics.model_data import stabilised
from runtime.support.arrays import Floats
from runtime.support.checks import finite_number, not_negative
from runtime.support.errors import ModelError
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.workspaces import workspace_of_jacobian


@dataclass(frozen=True)
class Linearisation:
    """Jacobian of the accelerations of a system with respect to a state.

    Rows and columns by body, in the order of ``bodies``: three of translation, three of rotation, in global axes.
    ``displacement`` (6 n, 6 n): derivatives of v', omega' with respect to displacements and small rotations, at constant v and
    omega; ``velocity`` (6 n, 6 n): with respect to v, omega.  The derivatives in directions that violate the constraints include
    the Baumgarte terms of the equations of motion.
    """

    bodies: tuple[str, ...]
    displacement: Floats
    velocity: Floats


def linearisation(
    system: System, state: State | None = None, *, time: float | None = None, alpha: float = 5.0, beta: float = 5.0
) -> Linearisation:
    """The exact Jacobian of the equations of motion: of joints, drivers, limits, loads, motors and contacts.

    A state does not contain the speeds at which its contacts touched down; laws that depend on this speed use ``least_impact``.

    Parameters
    ----------
    system : System
    state : State, optional
        Default: ``system.state``.
    time : float [s], optional
        Default: ``system.time``.
    alpha, beta : float [1/s]
        Baumgarte's coefficients, as of ``simulate``.

    Returns
    -------
    Linearisation

    Raises
    ------
    ModelError
        For a singular configuration, a time or coefficients that are not finite, and coefficients below 0.
    """
    state = system.state if state is None else state
    time = system.time if time is None else finite_number(time, "linearisation: time")
    alpha, beta = not_negative(alpha, "linearisation: alpha"), not_negative(beta, "linearisation: beta")
    system.check_bodies(state)
    data, work, memory = (
        stabilised(system.data, alpha, beta),
        workspace_for(system.data),
        workspace_of_jacobian(system),
    )
    if jacobian_once(time, np.array(state.y), data, work, memory) != OK:
        raise ModelError(
            f"system '{system.name}' has no single accelerations at t = {time:g} s: its configuration is singular; "
            "linearise about another state"
        )
    half = 6 * len(system.bodies)
    return Linearisation(system.body_names, memory.J[:, :half].copy(), memory.J[:, half:].copy())
