"""Linearisation of a system: the Jacobian of the accelerations, by the names of its bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runtime.dynamics.equations import workspace_for
from runtime.dynamics.jacobian import jacobian_once
from runtime.dynamics.layout import OK
from runtime.support.arrays import Floats
from runtime.support.checks import finite
from runtime.support.errors import ModelError
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.workspaces import workspace_of_jacobian


@dataclass(frozen=True)
class Linearisation:
    """How the accelerations of a system answer small changes of a state.

    Rows and columns by body: three of translation, three of turn (global axes), in the order of ``bodies``.
    ``displacement`` (6 n, 6 n): of v', omega' by displacements, with v and omega standing still; ``velocity`` (6 n, 6 n): by
    changes of v, omega.  Changes that violate the constraints are taken with the Baumgarte terms that the run would have.
    """

    bodies: tuple[str, ...]
    displacement: Floats
    velocity: Floats


def linearisation(
    system: System, state: State | None = None, *, time: float | None = None, alpha: float = 5.0, beta: float = 5.0
) -> Linearisation:
    """The exact Jacobian of the equations of motion: of joints, drivers, limits, loads, motors and contacts.

    A state does not tell how fast its contacts touched down: the laws that damp by that speed take ``least_impact``.

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
        For a singular configuration, and for numbers that break a rule.
    """
    state = system.state if state is None else state
    time = system.time if time is None else float(finite(time, (), "linearisation: time"))
    alpha, beta = (
        float(finite(value, (), f"linearisation: {name}")) for name, value in dict(alpha=alpha, beta=beta).items()
    )
    if min(alpha, beta) < 0.0:
        raise ModelError(f"linearisation: alpha = {alpha:g} and beta = {beta:g} 1/s must not be below 0 1/s")
    system.check_bodies(state)
    data, work, memory = (
        system.data._replace(alpha=alpha, beta=beta),
        workspace_for(system.data),
        workspace_of_jacobian(system),
    )
    if jacobian_once(time, np.array(state.y), data, work, memory) != OK:
        raise ModelError(
            f"system '{system.name}' has no single accelerations at t = {time:g} s: its configuration is singular"
        )
    half = 6 * len(system.bodies)
    return Linearisation(system.body_names, memory.J[:, :half].copy(), memory.J[:, half:].copy())
