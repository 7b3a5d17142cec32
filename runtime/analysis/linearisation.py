"""Linearisation of a system: the Jacobian of its accelerations, ordered by body, and its modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from runtime.analysis.modes import Modes, tangent
from runtime.analysis.slopes_in_coordinates import slopes_in_coordinates
from runtime.dynamics import projection
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.force_elements import follow_states
from runtime.dynamics.jacobian import JacobianWorkspace, jacobian_once
from runtime.dynamics.layout import OK, OMEGA, STATE, V
from runtime.dynamics.model_data import Workspace, stabilised
from runtime.support.arguments import checked, checked_class
from runtime.support.arrays import Floats, ReadOnlyArrays
from runtime.support.checks import finite_number, not_negative
from runtime.support.errors import ModelError
from runtime.system.delays import refuse_delays
from runtime.system.force_states import names_of_states, units_of_states, vector_of
from runtime.system.rank import refuse_infinite_forces
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.workspaces import workspace_of_jacobian

CONSISTENT = 1e-6  # [m], [rad], and per second: how far a state may be from the constraints
AT_REST = 1e-8  # [m/s^2], [rad/s^2], times the largest acceleration without the constraints


@checked_class
@dataclass(frozen=True)
class Linearisation(ReadOnlyArrays):
    """Jacobian of the accelerations of a system with respect to a state.

    Rows and columns by body, in the order of ``bodies``: three of translation, three of rotation, in global axes.
    ``displacement`` (6 n, 6 n): derivatives of v', omega' with respect to displacements and small rotations, at constant v and
    omega; ``velocity`` (6 n, 6 n): with respect to v, omega.  The derivatives in directions that violate the constraints include
    the Baumgarte terms of the equations of motion.  ``modes`` are the equations in independent coordinates, without them.

    Forces with ``states`` add a row for the rate of each, behind those of the bodies; ``state`` (6 n + states, states):
    derivatives with respect to these states.
    """

    bodies: tuple[str, ...]
    states: tuple[str, ...]
    displacement: Floats
    velocity: Floats
    state: Floats
    _system: System = field(repr=False)
    _time: float = field(repr=False)
    _y: Floats = field(repr=False)

    def modes(self, coordinates: Sequence[str] | None = None) -> Modes:
        """The linear equations in independent coordinates, two states for each degree of freedom, and their modes.

        States of forces are states of these equations, too.

        Parameters
        ----------
        coordinates : sequence of str, optional
            One for each degree of freedom: "body.x", "body.y", "body.z" [m], "body.turn_x" ... [rad], in global axes.  Default:
            those that determine the motion of all bodies best.

        Returns
        -------
        Modes

        Raises
        ------
        ModelError
            For a state that violates the constraints, a system without degrees of freedom, a configuration in which it has more
            than elsewhere, and coordinates that are unknown or do not determine the motion.
        """
        return _modes(self._system, self._time, self._y, coordinates)


@checked
def linearisation(
    system: System, state: State | None = None, *, time: float | None = None, alpha: float = 5.0, beta: float = 5.0
) -> Linearisation:
    """The exact Jacobian of the equations of motion: of joints, drivers, limits, loads, motors and contacts.

    Of systems with couplings or armature by differences of order eight of the equations in joint coordinates.

    A state does not contain the speeds at which its contacts touched down; laws that depend on this speed use
    ``min_impact_speed``.

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
    y = vector_of(system, state)
    if system.joint_coordinates_only:
        J = slopes_in_coordinates(system, time, y).slopes
    else:
        work, memory = workspaces(system)
        _evaluate(system, time, y, (alpha, beta), work, memory)
        J = memory.J
    displacement, velocity, of_states = (part.copy() for part in np.split(J, _ends(system), axis=1))
    return Linearisation(system.body_names, names_of_states(system), displacement, velocity, of_states, system, time, y)


def workspaces(system: System) -> tuple[Workspace, JacobianWorkspace]:
    """Memory for evaluations of states as of ``vector_of``, and for their Jacobian."""
    refuse_delays(system, "equilibria and linearisations")
    work = workspace_for(system.data)
    follow_states(system.data.forces, work.forces)
    return work, workspace_of_jacobian(system)


def _ends(system: System) -> list[int]:
    """Where displacements and velocities end among the columns of a Jacobian."""
    return [6 * len(system.bodies), 12 * len(system.bodies)]


def _evaluate(
    system: System,
    time: float,
    y: Floats,
    coefficients: tuple[float, float],
    work: Workspace,
    memory: JacobianWorkspace,
) -> None:
    """The Jacobian at a state, with Baumgarte's coefficients alpha, beta, into ``memory``."""
    data = stabilised(system.data, *coefficients)
    code = jacobian_once(time, np.array(y), data, work, memory)
    if code == OK and np.isfinite(memory.J).all():
        return
    refuse_infinite_forces(system, time, np.array(y))  # with the name of a force
    if code != OK:
        raise ModelError(
            f"system '{system.name}' has no single accelerations at t = {time:g} s: its configuration is singular; "
            "linearise about another state"
        )
    raise ModelError(
        f"system '{system.name}' has derivatives that are not finite at t = {time:g} s; linearise about another state"
    )


def _modes(system: System, time: float, y: Floats, coordinates: Sequence[str] | None) -> Modes:
    """The equations in independent coordinates at a state."""
    work, memory = workspaces(system)
    for velocities in (False, True):
        worst = projection.worst_row(time, np.array(y), system.data, work, velocities)
        if not worst <= CONSISTENT:
            k, r = map(int, work.failed)
            raise ModelError(
                f"modes: the state violates {system.row_name(k, r)} by {worst:.1e}{' per second' if velocities else ''}, above "
                f"{CONSISTENT:g}; pass a state of a run, of equilibrium() or of assemble()"
            )
    half, full = _ends(system)
    _evaluate(system, time, y, (0.5, 0.0), work, memory)
    with_rates = _rows(system, memory)  # of D v' - gamma + Phi'
    _evaluate(system, time, y, (0.0, 0.0), work, memory)
    rows, J, rates = with_rates - _rows(system, memory), memory.J, rates_of(system, work)
    if system.joint_coordinates_only:
        rates, violation, J, of_couplings = slopes_in_coordinates(system, time, y)
        _refuse_violated_couplings(system, violation)
        rows = np.concatenate([rows, of_couplings])
    space = tangent(system.body_names, rows[:, half:full], rows[:, :half], coordinates)
    Z, Y, places = space.displacement, space.velocity, list(space.places)
    f = Z.shape[1]
    if f != system.degrees_of_freedom:
        raise ModelError(
            f"modes: system '{system.name}' has {f} degrees of freedom in this configuration and {system.degrees_of_freedom} in "
            "its reference configuration: one of them is singular; linearise about another state"
        )
    if f == 0:
        raise ModelError(
            f"modes: system '{system.name}' has no degrees of freedom: its drivers and joints fix all bodies"
        )
    bodies, states = y[: STATE * len(system.bodies)].reshape(-1, STATE), names_of_states(system)
    turned = np.zeros((len(system.bodies), 6, f))  # of a small rotation with the body, omega x
    turned[:, 3:] = np.cross(bodies[:, OMEGA:, None], Z.reshape(-1, 6, f)[:, 3:], axis=1)
    taken = [*places, *range(half, len(J))]  # rows of the independent coordinates, and of the states of forces
    A = np.block([
        [turned.reshape(half, f)[places], np.eye(f), np.zeros((f, len(states)))],
        [(J[:, :half] @ Z + J[:, half:full] @ Y)[taken], (J[:, half:full] @ Z)[taken], J[taken, full:]],
    ])  # fmt: skip
    moving = np.abs(bodies[:, V:]).max() > 0.0
    forces = float(np.abs(work.free[1:]).max())
    at_rest = not moving and float(np.abs(rates).max()) <= AT_REST * max(1.0, forces)
    return Modes(system.name, system.body_names, time, at_rest, space, A, states, units_of_states(system))


def rates_of(system: System, work: Workspace) -> Floats:
    """Accelerations, and rates of the states of forces, (6 n + states,) of the last evaluation."""
    of = system.data.forces
    return np.concatenate([work.v_dot[1:].ravel(), work.forces.out[of.state_force, of.state_rate]])


def _refuse_violated_couplings(system: System, violation: Floats) -> None:
    """Refuse a state whose followers are not where their leaders put them; violation (2, couplings): and its rate."""
    for of_each, per in zip(np.abs(violation), ("", " per second"), strict=True):
        for one, off in zip(system.couplings, of_each, strict=True):
            if not off <= CONSISTENT:
                raise ModelError(
                    f"modes: the state violates coupling '{one.name}' by {off:.1e}{per}, above {CONSISTENT:g}; pass a state of a "
                    "run or of runtime.system.displaced, which moves followers"
                )


def _rows(system: System, memory: JacobianWorkspace) -> Floats:
    """Derivatives of the rows of the joints, (m, 12 bodies)."""
    return np.concatenate([
        np.zeros((0, memory.rows.shape[2])),
        *(memory.rows[k, :count] for k, count in enumerate(system.data.rows)),
    ])  # fmt: skip
