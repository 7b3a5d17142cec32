"""Static equilibrium of a system: Newton's method on the accelerations, with their exact Jacobian.

Far from rest, as above the ground, no step of Newton's method helps.  There the system sinks as in a very viscous fluid, in which
velocities are proportional to accelerations: implicit steps of that motion, whose length grows, turn into those of Newton's
method near rest (pseudo-transient continuation; Kelley and Keyes, 1998).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from runtime.analysis.linearisation import rates_of, workspaces
from runtime.analysis.slopes_in_coordinates import on_joints, rates_in_coordinates, slopes_in_coordinates
from runtime.dynamics import projection
from runtime.dynamics.contacts import NORMAL_FORCE
from runtime.dynamics.equations import derivative_once
from runtime.dynamics.jacobian import jacobian_once
from runtime.dynamics.layout import OK, OMEGA, STATE, V
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.checks import finite_number
from runtime.support.errors import ModelError
from runtime.system.degrees_of_freedom import dense_rows, stacked
from runtime.system.force_states import state_of, vector_of
from runtime.system.state import State
from runtime.system.system import System

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

    Couplings hold in it, and states of forces are at rest, too.

    Displacements that change no force are not made.  The equilibrium may be unstable; ``linearisation`` shows whether it is.
    Where there is none nearby, the one to which the system sinks from the state without inertia, such as a foot onto the ground.

    Parameters
    ----------
    system : System
    state : State, optional
        Where to start; its velocities are ignored.  Default: ``system.state``.
    time : float [s], optional
        Time of the loads and drivers, which are held at the values that they have then.  Default: ``system.time``.

    Returns
    -------
    State
        With zero velocities.

    Raises
    ------
    ModelError
        If no equilibrium is found, with the body whose acceleration is largest.
    """
    state = system.state if state is None else state
    time = system.time if time is None else finite_number(time, "equilibrium: time")
    system.check_bodies(state)
    y = vector_of(system, state)
    y[: STATE * len(system.bodies)].reshape(-1, STATE)[:, V : OMEGA + 3] = 0.0
    rest = _Rest(_held(system, time, y), time)
    if system.couplings:
        y = on_joints(system, y[None])[0]
    why = f"after {MAX_STEPS} steps of Newton's method"
    for _ in range(MAX_STEPS):
        found = rest.slopes(y)
        if found is None:
            raise ModelError(
                f"system '{system.name}': its configuration became singular on the way to an equilibrium; start from a state "
                "nearer to it"
            )
        off, J = found
        if rest.reached(off):
            return state_of(system, y)
        step = np.asarray(np.linalg.lstsq(J, -off, rcond=NEUTRAL)[0], dtype=np.float64)
        if not step.any():
            why = "near this state, where no displacement changes what accelerates the bodies"
            break
        moved = _nearer_to_rest(rest, y, step, float(np.linalg.norm(off)))
        if moved is None:
            why = "near this state: no step of Newton's method brings the bodies nearer to rest"
            break
        y = moved
    if (sunk := _sunk(rest, y)) is not None:
        return state_of(system, sunk)
    raise _not_found(rest, y, off, why)


def _held(system: System, time: float, y: Floats) -> System:
    """The system whose signals keep the values of a time: a driver that moves leaves no state at rest."""
    work, signals = workspaces(system)[0], system.data.signals
    derivative_once(time, y, system.data, work, np.empty_like(y))  # begins with the signals
    held = np.zeros_like(signals.coefficient)
    held[:, 0] = np.repeat(work.signals[:, 0], np.diff(signals.start))
    if np.array_equal(held, signals.coefficient):
        return system
    return replace(system, data=system.data._replace(signals=signals._replace(coefficient=held)))


class _Rest:
    """How far states without velocities are from rest: accelerations, rates of states of forces; rows, if there are couplings."""

    def __init__(self, system: System, time: float) -> None:
        self.system, self.time = system, time
        self.work, self.memory = workspaces(system)
        self.places = [*range(6 * len(system.bodies)), *range(12 * len(system.bodies), self.memory.J.shape[1])]
        contacts = system.contacts or system.limits or system.forces
        self.shortest = self.most_move = MAX_MOVE_OF_CONTACTS if contacts else MAX_MOVE  # of a step

    def slopes(self, y: Floats) -> tuple[Floats, Floats] | None:
        """How far a state is off, and derivatives over displacements and states of forces; None where it is singular."""
        if jacobian_once(self.time, y, self.system.data, self.work, self.memory) != OK:
            return None
        if not np.isfinite(self.memory.J).all():  # LAPACK would print of it
            return None
        if not self.system.couplings:
            return rates_of(self.system, self.work), self.memory.J[:, self.places]
        found, half = slopes_in_coordinates(self.system, self.time, y), 6 * len(self.system.bodies)
        D = [dense_rows(self.system, self.work.D), found.of_couplings[:, half : 2 * half]]
        rows = np.pad(np.vstack(D), ((0, 0), (0, len(self.places) - half)))
        return self._with_rows(found.rates, found.violation[0]), np.vstack([found.slopes[:, self.places], rows])

    def off(self, y: Floats) -> Floats | None:
        """The first of ``slopes``."""
        if derivative_once(self.time, y, self.system.data, self.work, np.empty_like(y)) != OK:
            return None
        if not self.system.couplings:
            return rates_of(self.system, self.work)
        found = rates_in_coordinates(self.system, self.time, y[None])
        return self._with_rows(found.rates[0], found.violation[0, 0])

    def _with_rows(self, rates: Floats, of_couplings: Floats) -> Floats:
        """Rates, and the rows of joints and couplings: equations in joint coordinates do not draw states back onto these."""
        return np.concatenate([rates, stacked(self.system, self.work.Phi), of_couplings])

    def reached(self, off: Floats) -> bool:
        """Whether what was evaluated last is rounding."""
        return bool(np.abs(off).max() <= AT_REST * max(1.0, float(np.abs(self.work.free[1:]).max())))

    def moved(self, y: Floats, step: Floats, share: float) -> Floats:
        """A state after a share of a step of displacements and of states of forces."""
        half, u = 6 * len(self.system.bodies), np.zeros((len(self.system.bodies) + 1, 6))
        u[1:] = step[:half].reshape(-1, 6)
        moved = np.append(y[: len(y) - len(step) + half], y[len(y) - len(step) + half :] + share * step[half:])
        projection.move(y, u, share, moved)
        return on_joints(self.system, moved[None])[0] if self.system.couplings else moved

    def share(self, step: Floats) -> float:
        """The part of a step that displaces bodies by no more than ``most_move``."""
        return min(1.0, self.most_move / max(float(np.abs(step[: 6 * len(self.system.bodies)]).max()), 1e-300))


def _sunk(rest: _Rest, y: Floats) -> Floats | None:
    """The state at rest to which the system sinks in a very viscous fluid; None if it does not come to rest."""
    length, rest.most_move = FIRST, rest.shortest
    for _ in range(MAX_SINKING):
        found = rest.slopes(y)
        if found is None:
            return None
        off, J = found
        if rest.reached(off):
            return y
        matrix = -J
        matrix[: J.shape[1]] += np.eye(J.shape[1]) / length
        step = np.asarray(np.linalg.lstsq(matrix, off, rcond=NEUTRAL)[0], dtype=np.float64)
        share = rest.share(step)
        y, length = rest.moved(y, step, share), length * (LONGER if share == 1.0 else SHORTER)
    return None


def _nearer_to_rest(rest: _Rest, y: Floats, step: Floats, size: float) -> Floats | None:
    """The state after a Newton step, shortened until it is nearer to rest than ``size``; None if none is.

    Where the step brings at least half of what the derivatives promise, the next one may be twice as long.
    """
    for halving in range(MAX_HALVINGS):
        share = rest.share(step) / 2.0**halving
        moved = rest.moved(y, step, share)
        off = rest.off(moved)
        if off is not None and (left := float(np.linalg.norm(off))) < size:
            if left <= (1.0 - 0.5 * share) * size:
                rest.most_move = min(2.0 * rest.most_move, MAX_MOVE)
            return moved
    return None


def _not_found(rest: _Rest, y: Floats, off: Floats, why: str) -> ModelError:
    """The error that names the body with the largest of the accelerations among ``off``, and a contact with friction."""
    system, work = rest.system, rest.work
    derivative_once(rest.time, y, system.data, work, np.empty_like(y))
    a = np.abs(off[: 6 * len(system.bodies)])
    rubs = [
        c.name
        for c, outputs in zip(system.contacts, work.contacts.outputs, strict=True)
        if c.friction and outputs[NORMAL_FORCE]
    ]
    slips = (
        f"; friction is zero without slip, so contact '{rubs[0]}' carries no tangential force at rest" if rubs else ""
    )
    worst = int(a.reshape(-1, 6).max(axis=1).argmax())
    return ModelError(
        f"system '{system.name}': no equilibrium {why}; body '{system.body_names[worst]}' is still accelerated by "
        f"{a.max():.1e} m/s^2 or rad/s^2{slips}; start nearer, or simulate until runtime.at_rest()"
    )
