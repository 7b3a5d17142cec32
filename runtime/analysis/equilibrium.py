"""Static equilibrium of a system: Newton's method on the accelerations, with their exact Jacobian.

Far from rest, as above the ground, no step of Newton's method helps.  There the system sinks as in a very viscous fluid, in which
velocities are proportional to accelerations: implicit steps of that motion, whose length grows, turn into those of Newton's
method near rest (pseudo-transient continuation; Kelley and Keyes, 1998).
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.contacts import NORMAL_FORCE
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.jacobian import JacobianWorkspace, jacobian_once
from runtime.dynamics.layout import OK, OMEGA, STATE, V
from runtime.dynamics.model_data import Workspace
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.checks import finite_number
from runtime.support.errors import ModelError
from runtime.system.coupling import refuse_couplings
from runtime.system.force_states import refuse_states
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.workspaces import workspace_of_jacobian

MAX_STEPS, MAX_HALVINGS = 200, 10
MAX_SINKING = 2000  # steps in the viscous fluid
FIRST, SHORTER, LONGER = 1e-3, 0.7, 1.3  # [s^2] length of the first of them; factors of the next ones
MAX_MOVE = 0.1  # [m], [rad] of one step
MAX_MOVE_OF_CONTACTS = 2e-3  # where contacts, limits or forces open and close on the way
# Relative singular value below which a displacement changes no force, such as a displacement of the foot along its plane.
NEUTRAL = 1e-12
# [m/s^2], [rad/s^2], times the largest acceleration that the forces would cause without the constraints
AT_REST = 1e-11


@checked
def equilibrium(system: System, state: State | None = None, *, time: float | None = None) -> State:
    """The configuration near a state in which the system stays at rest: joints, limits, motors, loads and contacts in balance.

    Displacements that change no force are not made.  The equilibrium may be unstable; ``linearisation`` shows whether it is.
    Where there is none nearby, the one to which the system sinks from the state without inertia, such as a foot onto the ground.

    Parameters
    ----------
    system : System
    state : State, optional
        Where to start; its velocities are ignored.  Default: ``system.state``.
    time : float [s], optional
        Time of the loads and drivers.  Default: ``system.time``.

    Returns
    -------
    State
        With zero velocities.

    Raises
    ------
    ModelError
        If no equilibrium is found, with the body whose acceleration is largest.
    """
    refuse_couplings(system, "equilibrium", armature=False)
    refuse_states(system, "equilibrium")
    state = system.state if state is None else state
    time = system.time if time is None else finite_number(time, "equilibrium: time")
    system.check_bodies(state)
    y = np.array(state.y)
    y.reshape(-1, STATE)[:, V : OMEGA + 3] = 0.0
    work, memory = workspace_for(system.data), workspace_of_jacobian(system)
    n = len(system.bodies)
    why = f"after {MAX_STEPS} steps of Newton's method"
    for _ in range(MAX_STEPS):
        if jacobian_once(time, y, system.data, work, memory) != OK:
            raise ModelError(
                f"system '{system.name}': its configuration became singular on the way to an equilibrium; start from a state "
                "nearer to it"
            )
        a = work.v_dot[1:].ravel().copy()
        if _is_at_rest(work):
            return State(state.names, y)
        step = np.asarray(np.linalg.lstsq(memory.J[:, : 6 * n], -a, rcond=NEUTRAL)[0], dtype=np.float64)
        if not step.any():
            why = "near this state, where no displacement changes what accelerates the bodies"
            break
        moved = _nearer_to_rest(system, time, y, step, float(np.linalg.norm(a)), work)
        if moved is None:
            why = "near this state: no step of Newton's method brings the bodies nearer to rest"
            break
        y = moved
    if (sunk := _sunk(system, time, y, work, memory)) is not None:
        return State(state.names, sunk)
    raise _not_found(system, time, y, a, work, why)


def _is_at_rest(work: Workspace) -> bool:
    """Whether the accelerations that were evaluated last are rounding."""
    return bool(np.abs(work.v_dot[1:]).max() <= AT_REST * max(1.0, float(np.abs(work.free[1:]).max())))


def _sunk(system: System, time: float, y: Floats, work: Workspace, memory: JacobianWorkspace) -> Floats | None:
    """The state at rest to which the system sinks in a very viscous fluid; None if it does not come to rest."""
    n, length = len(system.bodies), FIRST
    u, most = np.zeros((n + 1, 6)), _most_move(system)
    for _ in range(MAX_SINKING):
        if jacobian_once(time, y, system.data, work, memory) != OK:
            return None
        if _is_at_rest(work):
            return y
        matrix = np.eye(6 * n) / length - memory.J[:, : 6 * n]
        step = np.linalg.lstsq(matrix, work.v_dot[1:].ravel(), rcond=NEUTRAL)[0]
        size = float(np.abs(step).max())
        u[1:] = step.reshape(-1, 6)
        moved = np.empty_like(y)
        projection.move(y, u, min(1.0, most / size), moved)
        y, length = moved, length * (LONGER if size < most else SHORTER)
    return None


def _most_move(system: System) -> float:
    """The longest displacement in a step."""
    return MAX_MOVE_OF_CONTACTS if system.contacts or system.limits or system.forces else MAX_MOVE


def _nearer_to_rest(
    system: System, time: float, y: Floats, step: Floats, size: float, work: Workspace
) -> Floats | None:
    """The state after a Newton step, shortened until the norm of the accelerations is below ``size``; None if none is."""
    u, moved, y_dot = np.zeros((len(system.bodies) + 1, 6)), np.empty_like(y), np.empty_like(y)
    u[1:] = step.reshape(-1, 6)
    most = _most_move(system)
    for halving in range(MAX_HALVINGS):
        share = min(1.0, most / float(np.abs(step).max())) / 2.0**halving
        projection.move(y, u, share, moved)
        if derivative_once(time, moved, system.data, work, y_dot) != OK:
            continue
        if np.linalg.norm(y_dot.reshape(-1, STATE)[:, V:]) < size:
            return moved
    return None


def _not_found(system: System, time: float, y: Floats, a: Floats, work: Workspace, why: str) -> ModelError:
    """The error that names the body with the largest of the accelerations ``a`` (6 bodies,), and a contact with friction."""
    derivative_once(time, y, system.data, work, np.empty_like(y))
    rubs = [
        c.name
        for c, outputs in zip(system.contacts, work.contacts.outputs, strict=True)
        if c.friction and outputs[NORMAL_FORCE]
    ]
    slips = (
        f"; friction is zero without slip, so contact '{rubs[0]}' carries no tangential force at rest" if rubs else ""
    )
    worst = int(np.abs(a.reshape(-1, 6)).max(axis=1).argmax())
    return ModelError(
        f"system '{system.name}': no equilibrium {why}; body '{system.body_names[worst]}' is still accelerated by "
        f"{np.abs(a).max():.1e} m/s^2 or rad/s^2{slips}; start nearer, or simulate until runtime.at_rest()"
    )
