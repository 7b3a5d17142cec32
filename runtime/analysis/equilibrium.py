"""Static equilibrium of a system: Newton's method on the accelerations, with their exact Jacobian."""

from __future__ import annotations

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.contacts import NORMAL_FORCE
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.jacobian import jacobian_once
from runtime.dynamics.layout import OK, OMEGA, STATE, V
from runtime.support.checks import finite
from runtime.support.errors import ModelError
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.workspaces import workspace_of_jacobian

STEPS, HALVINGS = 200, 10
FARTHEST = 2e-3  # [m], [rad] of one step: contacts and limits change sides on the way
SAME = (
    1e-12  # relative singular value of a displacement that changes no force: the foot may stand anywhere on its plane
)
REST = 1e-11  # [m/s^2], [rad/s^2] times the largest acceleration that a force alone would make


def equilibrium(system: System, state: State | None = None, *, time: float | None = None) -> State:
    """The configuration near a state in which the system stays at rest: joints, limits, motors, loads and contacts in balance.

    Of displacements that change no force none is made.  The equilibrium may be unstable: ``linearisation`` tells.

    Parameters
    ----------
    system : System
    state : State, optional
        Where to start; its velocities do not matter.  Default: ``system.state``.
    time : float [s], optional
        At which loads and drivers have their values.  Default: ``system.time``.

    Raises
    ------
    ModelError
        If none is found: with the body that is still accelerated most.
    """
    state = system.state if state is None else state
    time = system.time if time is None else float(finite(time, (), "equilibrium: time"))
    system.check_bodies(state)
    y = np.array(state.y)
    y.reshape(-1, STATE)[:, V : OMEGA + 3] = 0.0
    work, memory, moved = workspace_for(system.data), workspace_of_jacobian(system), np.empty_like(y)
    n = len(system.bodies)
    u, y_dot = np.zeros((n + 1, 6)), np.empty_like(y)
    why = f"after {STEPS} steps of Newton's method"
    for _ in range(STEPS):
        if jacobian_once(time, y, system.data, work, memory) != OK:
            raise ModelError(f"system '{system.name}': its configuration became singular on the way to an equilibrium")
        a = work.v_dot[1:].ravel().copy()
        if np.abs(a).max() <= REST * max(1.0, float(np.abs(work.free[1:]).max())):
            return State(state.names, y)
        step = np.linalg.lstsq(memory.J[:, : 6 * n], -a, rcond=SAME)[0]
        largest = float(np.abs(step).max())
        if largest == 0.0:
            why = "near this state, where no displacement changes what accelerates the bodies"
            break
        u[1:] = step.reshape(n, 6)
        # Shorter steps where the whole one makes it worse: contacts begin and end on the way.
        for halving in range(HALVINGS):
            share = min(1.0, FARTHEST / largest) / 2.0**halving
            projection.move(y, u, share, moved)
            if derivative_once(time, moved, system.data, work, y_dot) == OK:
                rates = y_dot.reshape(-1, STATE)[:, V:]
                if np.linalg.norm(rates) < np.linalg.norm(a):
                    break
        else:
            why = "near this state: no step of Newton's method brings the bodies nearer to rest"
            break
        y = moved.copy()
    derivative_once(time, y, system.data, work, y_dot)
    rubs = [
        c.name
        for c, outputs in zip(system.contacts, work.contacts.outputs, strict=True)
        if c.friction and outputs[NORMAL_FORCE]
    ]
    slips = f"; friction begins with slip, so that of contact '{rubs[0]}' holds nothing at rest" if rubs else ""
    worst = int(np.abs(a.reshape(n, 6)).max(axis=1).argmax())
    raise ModelError(
        f"system '{system.name}': no equilibrium {why}; body '{system.body_names[worst]}' is still accelerated by "
        f"{np.abs(a).max():.1e} m/s^2 or rad/s^2{slips}; start nearer, or simulate until runtime.rest()"
    )
