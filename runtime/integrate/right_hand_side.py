"""The right-hand side of the equations of motion for states as plain vectors, and its Jacobian, for integrators of any maker."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.angles import angles_along, take_angles
from runtime.dynamics.equations import derivatives
from runtime.dynamics.force_elements import follow_states
from runtime.dynamics.layout import NOT_FINITE, OK, STATE, P
from runtime.dynamics.lift import lift_all, places_of_turns
from runtime.dynamics.model_data import stabilised
from runtime.dynamics.projection import project_all
from runtime.dynamics.revolutions import count_each
from runtime.dynamics.state_jacobian import state_jacobians
from runtime.dynamics.status import RunFailure, Status
from runtime.integrate.choices import ABSOLUTE, AUTO, JOINT
from runtime.integrate.contact_events import find_contact_events
from runtime.integrate.failures import evaluation_failure
from runtime.integrate.settings import baumgarte, checked_coordinates, refuse_impacts, refuse_overdetermined
from runtime.integrate.tree_method import (
    OFF_THE_ROWS,
    dependent_coordinates,
    fit_signs,
    module_of_tree,
    start_of,
    tree_of,
    workspace_of_tree,
)
from runtime.integrate.variational.differences import BOTH_SIDES, weights
from runtime.jit.references import Reference
from runtime.results.run import Run
from runtime.results.stats import Stats
from runtime.results.whole_turns import whole_turns
from runtime.support.arguments import checked, checked_methods
from runtime.support.arrays import Floats, Ints, read_only
from runtime.support.checks import bounded, increasing_times
from runtime.support.errors import ModelError
from runtime.support.numbers import floats
from runtime.system.coordinate_names import components_of_parts, coordinates_of_tree
from runtime.system.coupling import refuse_couplings
from runtime.system.delays import refuse_delays
from runtime.system.force_states import names_of_states, state_of, states_of_forces, units_of_states, vector_of
from runtime.system.state import EULER, PARTS, State
from runtime.system.system import System
from runtime.system.workspaces import workspace, workspace_of_jacobian

REACH = 0.05  # [rad], [m] of differences of poses, which are smooth: their error is 1e-13 there, rounding included


@checked
def rhs(
    system: System, *, coordinates: str = AUTO, alpha: float | None = None, beta: float | None = None
) -> RightHandSide:
    """The right-hand side y' = f(t, y) of the equations of motion, and its Jacobian, for an integrator of your own.

    Parameters
    ----------
    system : System
        With limits, contacts, forces, motors, loads, drivers and closed loops.  Modes of limits, contacts and friction follow
        from t and y, on which alone f depends.  Angles of forces, motors and rows of your own count the revolutions of joint
        coordinates.  In absolute ones they are within half a turn of those in the reference configuration, where they jump;
        ``simulate`` counts them.
    coordinates : "auto", "absolute" or "joint"
        "absolute": 13 components for each body.  "joint": coordinates and rates of the joints, which are fewer and satisfy the
        rows of these joints; for systems that ``simulate`` integrates by them.  "auto": absolute, and joint for systems with
        couplings or armature, which these alone know.
    alpha, beta : float [1/s]
        Baumgarte's coefficients as of ``simulate``, default 5, also with closed loops.  Only in absolute coordinates.

    Returns
    -------
    RightHandSide
        ``solve_ivp(f, (0, 1), f.y0, method="BDF", jac=f.jacobian)`` integrates it.

    Raises
    ------
    ModelError
        For arguments that break a rule, contacts whose law depends on the speed of touch-down, which a state does not contain,
        and systems that meet their drivers by least squares.
    """
    coordinates = checked_coordinates(system, coordinates, "dop853", alpha, beta)
    refuse_overdetermined(system)
    refuse_impacts(system, "a state does not contain")
    coefficients = baumgarte("alpha", alpha), baumgarte("beta", beta)
    return RightHandSide(system, ABSOLUTE if coordinates == AUTO else coordinates, *coefficients)


@checked_methods
class RightHandSide:
    """The right-hand side y' = f(t, y) of a system; made by ``runtime.rhs``.

    ``system``; ``coordinates``: "absolute" or "joint"; ``alpha``, ``beta`` [1/s]; ``t0`` [s], ``y0`` (n,): initial time and state
    of the system; ``names``, ``units`` (n,) of the components of y.  Calls from several threads wait for each other; a copy, also
    by pickle, has memory of its own.
    """

    def __init__(self, system: System, coordinates: str, alpha: float, beta: float) -> None:
        refuse_delays(system, "right-hand sides")
        self.system, self.coordinates, self.alpha, self.beta = system, coordinates, alpha, beta
        self.data, self._lock = stabilised(system.data, alpha, beta), threading.RLock()
        if coordinates == JOINT:
            self.work, y0 = workspace_of_tree(system, self.data), start_of(system, system.state)
            fit_signs(system, self.work, module_of_tree(system), y0, system.state.y)
        else:
            self.work, y0 = workspace(system, self.data), system.state.y
        follow_states(self.data.forces, self.work.forces)
        self.t0, self.y0 = system.time, read_only(np.append(y0, states_of_forces(system, system.state)))
        self.references, self._signals = (Reference(self.data), Reference(self.work)), bool(system.signals)

    def __reduce__(self) -> tuple[Any, ...]:
        return RightHandSide, (self.system, self.coordinates, self.alpha, self.beta)

    def __repr__(self) -> str:
        return f"RightHandSide('{self.system.name}', {len(self.y0)} components, coordinates='{self.coordinates}')"

    def __call__(self, t: ArrayLike, y: ArrayLike) -> Floats:
        """The derivative y' of a state (n,), or of states (cases, n), in their shape.

        Parameters
        ----------
        t : float or (cases,) [s]
        y : (n,) or (cases, n)
            Euler parameters may have any length but 0; the motion is that of their direction.  Bodies that a joint fixes to the
            ground count as in ``y0``, whatever y has for them.

        Raises
        ------
        ModelError
            For another shape, numbers that are not finite, times at which a signal is not defined, singular configurations,
            friction without a unique value, and derivatives that are not finite; with the case, the cause and a remedy.
        """
        times, states = self._admitted(t, y)
        states[:, self._fixed] = self.y0[self._fixed]
        rates = np.empty_like(states)
        self._accept(times, states, *self.rates(times, states, rates), rates)
        return rates.reshape(np.shape(y))

    def jacobian(self, t: ArrayLike, y: ArrayLike) -> Floats:
        """The derivative of y' over y, (n, n) or (cases, n, n); at a kink, such as a limit's edge, that of the side of the state.

        It is exact.  In joint coordinates it is that of absolute ones with slopes of poses by differences of order six, to 1e-10.
        Along the length of Euler parameters the derivatives of accelerations are 0.

        Parameters
        ----------
        t : float or (cases,) [s]
        y : (n,) or (cases, n)

        Raises
        ------
        ModelError
            As a call; in joint coordinates also for couplings and armature.
        """
        times, states = self._admitted(t, y)
        found = np.zeros((*states.shape, states.shape[1]))
        if self.coordinates == JOINT:
            found[:] = self._slopes(times, states)
        else:
            states[:, self._fixed] = self.y0[self._fixed]
            self._accept(times, states, *self.jacobians(times, states, found), found)
            found[:, :, self._fixed] = 0.0
        return found.reshape(*np.shape(y), states.shape[1])

    def project(self, t: ArrayLike, y: ArrayLike) -> Floats:
        """States moved onto Phi = 0 and Phi' = 0 by the least change, measured by the kinetic energy, in their shape.

        For closed loops, drivers and long runs, after a step of an integrator that drifts.  Euler parameters get the length 1.

        Parameters
        ----------
        t : float or (cases,) [s]
        y : (n,) or (cases, n)

        Raises
        ------
        ModelError
            As a call, and where no state nearby satisfies the rows.
        """
        times, states = self._admitted(t, y)
        for k in self._lengths:
            states[:, k : k + 4] /= np.linalg.norm(states[:, k : k + 4], axis=1, keepdims=True)
        left = np.zeros(2)
        if self.coordinates == ABSOLUTE or len(self.work.tree.closing.joint):
            with self._lock:
                done = project_all(times, states, *self.references, OFF_THE_ROWS, left)
                if done < len(states):
                    row = self.system.row_name(*map(int, self.work.failed))
                    raise ModelError(
                        f"{self._of_case(done, len(states))}: no state nearby satisfies the rows; |Phi| = {left[0]:.1e} and "
                        f"|Phi'| = {left[1]:.1e} are left, limit {OFF_THE_ROWS:.0e}, the last in {row}; give a state nearby"
                    )
        return states.reshape(np.shape(y))

    def state(self, y: ArrayLike) -> State:
        """The positions and velocities of the bodies in a state (n,)."""
        _, states = self._admitted(self.t0, y)
        if len(states) != 1:
            raise ModelError(
                f"{self._subject}: y has {len(states)} cases; give one state ({len(self.y0)},), or use run()"
            )
        return state_of(self.system, self._in_absolute(states)[0])

    def vector(self, state: State) -> Floats:
        """The vector (n,) of a state of the bodies; angles of joints within half a turn.

        Raises
        ------
        ModelError
            For other bodies, and in joint coordinates for a state off the rows of the joints.
        """
        self.system.check_bodies(state)
        if self.coordinates == ABSOLUTE:
            return vector_of(self.system, state)
        z = start_of(self.system, state)
        fit_signs(self.system, self.work, module_of_tree(self.system), z, state.y)
        return np.append(z, states_of_forces(self.system, state))

    def run(self, t: ArrayLike, y: ArrayLike) -> Run:
        """The result of an integrator, as one of ``simulate``: bodies, reactions, energies and files by names.

        Parameters
        ----------
        t : (times,) [s]
            Increasing.
        y : (times, n)
            ``solution.y.T`` of SciPy.

        Returns
        -------
        Run
            Without events and energy balance; touch-downs and lift-offs are those that states at these times show.

        Raises
        ------
        ModelError
        """
        times, states = self._admitted(increasing_times(t, f"{self._subject}: t"), y)
        both, of_bodies = self._in_absolute(states), STATE * len(self.system.bodies)
        bodies, z = (np.ascontiguousarray(part) for part in np.split(both, [of_bodies], axis=1))
        turns = states[:, places_of_turns(self.work.tree.data) if self.coordinates == JOINT else []]
        counted = (
            self._angles(states) if self._counts else angles_along(bodies, self.data, workspace(self.system, self.data))
        )
        return Run(
            system=self.system, data=self.data, t=times, states=bodies, final=state_of(self.system, both[-1]),
            status=Status.REACHED_END, message=f"integrated outside of Talus until t = {times[-1]:g} s",
            stats=Stats("own", 0, 0, 0, 0.0, 0.0, 0.0, ""), events={}, event_states={},
            contact_events=find_contact_events(times, bodies, self.data, workspace(self.system, self.data)),
            _turns=whole_turns(turns[0], np.concatenate([counted, turns], axis=1), self.data.counted),
            _at_steps=True, _start=bodies[0], _z=z,
        )  # fmt: skip

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the components, such as "leg.omega_x"; in joint coordinates "ankle.theta_i", and later "ankle.theta_i_rate".

        A minus sign before the name: the coordinate is the negative of the joint's.  In joint coordinates the angular velocity of
        a free body or ball is that against what carries it, in its own axes.
        """
        return tuple(name for name, _ in self._components)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Of the components."""
        return tuple(unit for _, unit in self._components)

    @property
    def _components(self) -> list[tuple[str, str]]:
        z = [*zip(names_of_states(self.system), units_of_states(self.system), strict=True)]
        if self.coordinates == ABSOLUTE:
            return [*(one for body in self.system.body_names for one in components_of_parts(body, PARTS)), *z]
        q, u = coordinates_of_tree(self.system, tree_of(self.system))
        return q + u + z

    def rates(self, times: Floats, states: Floats, out: Floats) -> tuple[int, int]:
        """Put y' of states (m, n) at times (m,) into ``out``, without checks; how many, and the code of the next one, or OK."""
        with self._lock:
            if not self._counts:
                done: tuple[int, int] = derivatives(times, states, *self.references, out)
                return done
            for k, before in enumerate(self._angles(states)):
                take_angles(before, self.data, self.work)
                one = slice(k, k + 1)
                _, code = derivatives(times[one], states[one], *self.references, out[one])
                if code != OK:
                    return k, code
        return len(states), OK

    @property
    def _counts(self) -> bool:
        """Whether coordinates tell the revolutions of angles of definitions."""
        return self.coordinates == JOINT and self.data.counted > 0

    def _angles(self, states: Floats) -> Floats:
        """The angles before (m, angles) in states (m, n) of joint coordinates."""
        found = np.zeros((len(states), self.data.counted))
        with self._lock:
            count_each(states, *self.references, np.empty(states.shape[1]), found)
        return found

    def jacobians(self, times: Floats, states: Floats, out: Floats) -> tuple[int, int]:
        """Put Jacobians of absolute coordinates into ``out`` (m, n, n), which is 0; as ``rates``."""
        with self._lock:
            memory = self._memory, np.zeros((2, 4))
            done: tuple[int, int] = state_jacobians(times, states, *self.references, *memory, out)
        return done

    def failure(self, code: int, t: float) -> RunFailure:
        """The failure of the last evaluation, at a time [s], with this code, which is not OK."""
        found = evaluation_failure(code, t, self.system, self.work)
        if self.coordinates == JOINT and found.status == Status.SINGULAR_CONFIGURATION:
            if not len(self.work.tree.closing.joint):
                return RunFailure(found.status, t, dependent_coordinates(self.system))
        return found

    @cached_property
    def _memory(self) -> Any:
        return Reference(workspace_of_jacobian(self.system))

    @property
    def _subject(self) -> str:
        return f"rhs of system '{self.system.name}'"

    def _of_case(self, case: int, cases: int) -> str:
        return self._subject if cases == 1 else f"{self._subject}: case {case}"

    @cached_property
    def _fixed(self) -> Ints:
        """Components of bodies fixed to the ground, whose pose whole-model kernels have as constants."""
        fixed = self.system.model.fixed[1:] if self.coordinates == ABSOLUTE else ()
        return np.flatnonzero(np.repeat(fixed, STATE))

    @cached_property
    def _lengths(self) -> list[int]:
        """Where Euler parameters begin in y."""
        if self.coordinates == ABSOLUTE:
            return list(range(P, STATE * len(self.system.bodies), STATE))
        return [k for k, name in enumerate(self.names) if name.endswith(f".p_{EULER[0]}")]

    def _admitted(self, t: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Times (m,) and new states (m, n) of compiled code."""
        n, what = len(self.y0), self._subject
        states = floats(y, f"{what}: y", f"({n},) or (cases, {n}) numbers")
        if states.ndim not in (1, 2) or states.shape[-1] != n:
            hint = "; SciPy's columns, as with vectorized=True, are rows here" if states.shape[:1] == (n,) else ""
            raise ModelError(
                f"{what}: y has the shape {states.shape}; give ({n},) or (cases, {n}), as in f.names{hint}"
            )
        states = states.reshape(-1, n)
        times = floats(t, f"{what}: t", "a time [s]")
        if times.shape not in ((), (len(states),)):
            raise ModelError(
                f"{what}: t has the shape {times.shape}; give one time [s], or one for each of {len(states)} cases"
            )
        times = np.full(len(states), times)
        bounded(times, f"{what}: t")
        if self._signals and len(times):
            self.system.check_span(float(times.min()), float(times.max()), what)
        return times, bounded(states, f"{what}: y")

    def _accept(self, times: Floats, states: Floats, done: int, code: int, found: Floats) -> None:
        """Refuse what an evaluation found of states (m, n) at times (m,), unless all of it is finite."""
        if code == OK and not np.isfinite(found).all():
            done, code = int(np.argmin(np.isfinite(found.reshape(len(states), -1)).all(axis=1))), NOT_FINITE
        if code != OK:
            one = slice(done, done + 1)
            with self._lock:
                self.rates(times[one], states[one], np.empty_like(states[one]))  # leaves the cause in the workspace
                failure = self.failure(code, float(times[done]))
            raise ModelError(f"{self._of_case(done, len(states))}: {failure}")

    def _in_absolute(self, states: Floats) -> Floats:
        """States of the bodies, and of forces (m, 13 bodies + states)."""
        if self.coordinates == ABSOLUTE:
            return states
        out = np.empty((len(states), len(self.work.motion)))
        with self._lock:
            lift_all(self.work.tree.data, self.work.tree.lifting, states, out)
        return np.concatenate([out, states[:, self.work.tree.size[0] :]], axis=1)

    @cached_property
    def _absolute(self) -> RightHandSide:
        refuse_couplings(self.system, "rhs: jacobian")
        return RightHandSide(self.system, ABSOLUTE, 0.0, 0.0)

    def _slopes(self, times: Floats, z: Floats) -> Floats:
        """Jacobians in joint coordinates z (m, n), from those in absolute ones y(z).

        Neighbouring motions part by dy = Y dz, with Y = dy/dz, and dy' = A dy, so that Y dz' = (A Y - Y') dz.  The lengths of
        Euler parameters, which do not change, are added to y.
        """
        rates = np.empty_like(z)
        self._accept(times, z, *self.rates(times, z, rates), rates)
        m, n = z.shape
        A = self._jacobians_of_bodies(times, z)
        size = np.maximum(np.abs(rates).max(axis=1, initial=0.0), 1.0)[:, None]
        near = z[:, None] + REACH * BOTH_SIDES[:, None] * (rates / size)[:, None]  # along z', (m, 6, n)
        along = self._over(near.reshape(-1, n)).reshape(m, 6, -1, n)
        Y_dot = np.einsum("q,mqij->mij", weights(BOTH_SIDES) / REACH, along)  # the same digits for any number of cases
        Y = self._over(z)
        right = -size[..., None] * Y_dot
        right[:, : A.shape[1]] += A @ Y[:, : A.shape[1]]
        return np.asarray(np.linalg.pinv(Y) @ right)

    def _jacobians_of_bodies(self, times: Floats, z: Floats) -> Floats:
        """Jacobians in absolute coordinates, with the revolutions of joint ones z (m, n)."""
        bodies, other = self._in_absolute(z), self._absolute
        if not self._counts:
            return other.jacobian(times, bodies)
        found = []
        for time, y, before in zip(times, bodies, self._angles(z), strict=True):
            take_angles(before, other.data, other.work)
            found.append(other.jacobian(time, y))
        return np.array(found)

    def _over(self, z: Floats) -> Floats:
        """Derivatives (m, any, n) of y, with the lengths of Euler parameters, over z (m, n)."""
        m, n = z.shape
        near = (z[:, None, None] + REACH * BOTH_SIDES[:, None, None] * np.eye(n)).reshape(-1, n)
        lengths = [(near[:, k : k + 4] ** 2).sum(axis=1) for k in self._lengths]
        values = np.column_stack([self._in_absolute(near), *lengths]).reshape(m, 6, n, -1)
        return np.asarray(np.einsum("q,mqij->mji", weights(BOTH_SIDES) / REACH, values))
