"""The mechanics of a system by name, in the coordinates of its joints: mass matrix, efforts, accelerations, frames.

    M(q) a + c(q, u) + g(q) = tau

    q    coordinates, ``coordinate_names``, since the reference configuration: turns [rad] and slides [m] with the signs of the
         joints; of a ball Euler parameters (scalar first) of its turn; of a body that floats the displacement of its centre of
         mass in global axes [m], and Euler parameters of its turn
    u    rates, ``rate_names``: q' of turns and slides; velocities of centres of mass in global axes; relative angular velocities
         of balls and floating bodies in axes that turn with the outer body and are global in the reference configuration
    a    u', accelerations of the coordinates
    M    mass matrix, inertia of rotors included: kinetic energy = u . M u / 2
    c    ``bias``: efforts of the rates alone, Coriolis, centrifugal and gyroscopic
    g    ``gravity_forces``: efforts that hold the system against gravity, dV/dq; gravity itself acts along q with -g
    tau  efforts on the coordinates, whatever their origin: motors, muscles, springs, contacts.  ``applied_forces`` gives those of
         the system's own limits, contacts, force elements, loads and motors

The power of efforts is tau . u.  With closed loops or couplings, q are all coordinates of the spanning tree, and u, a and tau
belong to the independent ones; the others follow from the rows.  Drivers do not act: their efforts are part of tau.  Each
method takes one state, (n,), or an array of states, (states, n), and returns arrays without or with the first axis.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime.analysis.independent import Independent, TreeMemory
from runtime.dynamics import mechanics as compiled
from runtime.dynamics.layout import OK, STATE, P, R
from runtime.dynamics.lift import GROUND_STEP, lift_all
from runtime.dynamics.tree_workspace import TreeWorkspace
from runtime.integrate.handed_state import RunState
from runtime.integrate.right_hand_side import coordinates_of_tree
from runtime.integrate.tree_method import coupled, dependent_coordinates
from runtime.integrate.variational.differences import BOTH_SIDES, weights
from runtime.results.run import Run
from runtime.support.arguments import checked, checked_methods
from runtime.support.arrays import Floats, read_only
from runtime.support.checks import bounded, finite, finite_number
from runtime.support.errors import ModelError, unknown_name
from runtime.support.numbers import floats
from runtime.system.coupled_coordinates import with_turns
from runtime.system.frames import Frame, frame_motion, frame_of_body, in_reference
from runtime.system.installed_reader import read_by_installed
from runtime.system.momentum import centre_of_mass, momentum, moving_bodies
from runtime.system.parts import GROUND
from runtime.system.signal import Signal
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates, moved_coordinates, way_between
from runtime.system.trees import trees_of

Axes = Literal["global", "frame"]
# Efforts of a tree are quadratic in each distance, and in the sine and cosine of each turn, as its mass matrix is: four values
# give their derivative exactly.
TURNS = np.pi / 4.0 * np.array([1.0, -1.0, 3.0, -3.0])
OF_TURNS = np.sqrt(1.0 / 8.0) * np.array([1.0, -1.0, 1.0, -1.0]) + np.array([0.5, -0.5, -0.5, 0.5])
SLIDES = 0.1 * np.array([1.0, -1.0, 2.0, -2.0])
NONE = read_only(np.zeros((0, 0)))
REACH = 0.003  # [rad], [m] of differences of order six in closed loops, with errors of about 1e-12
SHORTEST = 1e-5  # [rad], [m] of these beside a knot of a coupling, with errors of about 1e-10


class FramePose(NamedTuple):
    """Origin ``r`` (..., 3) [m] of a frame in global coordinates, and rotation ``A`` (..., 3, 3) from its axes to global ones."""

    r: Floats
    A: Floats


class EffortDerivatives(NamedTuple):
    """Derivatives of efforts over coordinates, rates and accelerations."""

    q: Floats
    u: Floats
    a: Floats


class AccelerationDerivatives(NamedTuple):
    """Derivatives of accelerations over coordinates, rates and efforts."""

    q: Floats
    u: Floats
    tau: Floats


@checked
def mechanics(
    system: System | str | Path, *, independent: Sequence[str] | None = None, ignore: str | Collection[str] = (),
    floating: bool = False,
) -> Mechanics:  # fmt: skip
    """Mass matrix, efforts, accelerations, Jacobians, momentum and energies of a system, by the names of its coordinates.

    Parameters
    ----------
    system : System, or str or Path
        With or without closed loops and couplings; or a file of a model in MJCF, URDF, OpenSim's format or Talus's own.
    independent : sequence of str, optional
        Of a system with closed loops or couplings: its independent coordinates, such as "crank.angle", one for each degree of
        freedom.  Default: those that determine the others best in the initial state; see ``Mechanics.rate_names``.
    ignore, floating
        Of a file: as of ``models.read``.

    Returns
    -------
    Mechanics

    Raises
    ------
    ModelError
        For a system whose joints make no tree; coordinates that are unknown, or do not determine the motion; and a file that
        cannot be read.
    """
    if not isinstance(system, System):
        return Mechanics(read_by_installed(str(system), {"ignore": ignore, "floating": floating}).build(), independent)
    if ignore or floating:
        raise ModelError("mechanics: ignore and floating belong to a file of a model; leave them out with a System")
    return Mechanics(system, independent)


@checked_methods
class Mechanics:
    """The mechanics of a system; made by ``runtime.mechanics``.  ``runtime.analysis.mechanics`` defines all quantities.

    ``system``; ``coordinate_names``, ``coordinate_units`` of q; ``rate_names``, ``rate_units``, ``effort_units`` of u and tau;
    ``q0``, ``u0``: the initial state.  Threads may share it.
    """

    def __init__(self, system: System, independent: Sequence[str] | None) -> None:
        tree, steps = trees_of(system).of_joints, trees_of(system).steps
        if tree is None:
            raise ModelError(f"mechanics: system '{system.name}' has no joint coordinates: {steps}")
        assert not isinstance(steps, str)
        self._steps = steps
        self.system, self._tree = system, tree
        rows = [(k, r) for k in tree.closing if not system.joints[k].signals for r in range(len(system.joints[k].rows))]
        self._memories = TreeMemory(system, rows)
        self._first = int(self._memory.data.u[0])
        names, rates = coordinates_of_tree(system, tree)
        self._sign_q, self._sign_u = (_signs(of) for of in (names, rates))
        self.coordinate_names, self.coordinate_units = _without_signs(names)
        self._all_rates, units = _without_signs(rates)
        self._loops: Independent | None = None
        if rows or system.couplings:
            q, _ = self._of(system.state)
            self._loops = Independent(
                system, tree, self._memories, (self._sign_q, self._sign_u), self._all_rates, q[0], independent
            )
        elif independent is not None:
            raise ModelError(
                f"mechanics: system '{system.name}' has no loops and no couplings: all its coordinates are independent; leave "
                "out independent"
            )
        places = range(len(units)) if self._loops is None else self._loops.places
        self.rate_names = tuple(self._all_rates[k] for k in places)
        self.rate_units = tuple(units[k] for k in places)
        self.effort_units = tuple("N m" if unit == "rad/s" else "N" for unit in self.rate_units)
        self.q0, self.u0 = map(read_only, self.of(system.state))

    def __reduce__(self) -> tuple[Any, ...]:
        return Mechanics, (self.system, self.independent)

    def __repr__(self) -> str:
        return (
            f"Mechanics('{self.system.name}', {len(self.coordinate_names)} coordinates, {len(self.rate_names)} rates)"
        )

    @property
    def independent(self) -> tuple[str, ...] | None:
        """Names of the independent coordinates of a system with closed loops or couplings; None without."""
        return None if self._loops is None else tuple(name.removesuffix("_rate") for name in self.rate_names)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Of all frames: bodies, at the centre of mass with the body's axes; the ground; the frames of the system."""
        return (*self.system.body_names, GROUND, *(frame.name for frame in self.system.frames))

    # States

    def of(self, state: State | Run) -> tuple[Floats, Floats]:
        """Coordinates q and rates u of a state, (n,) each, or of all times of a run, (times, n) each.

        Angles of a state are within half a turn of the reference configuration; those of a run, and of the states that
        controllers, events and ``Stepping`` have, count whole turns.

        Raises
        ------
        ModelError
            For a state of other bodies.
        """
        q, u = self._of(state)
        u = u if self._loops is None else u[:, self._loops.places]
        return (q[0], u[0]) if isinstance(state, State) else (q, u)

    def _of(self, state: State | Run) -> tuple[Floats, Floats]:
        """Coordinates and all rates (times, n)."""
        system = self.system
        if isinstance(state, State):
            system.check_bodies(state)
            y = state.y[None]
        elif state.system.body_names == system.body_names:
            y = state.states[:, : STATE * len(system.bodies)]
        else:
            raise ModelError(f"mechanics: the run is of system '{state.system.name}', not '{system.name}'")
        if isinstance(state, RunState) and state.system is system and not system.couplings:
            return state.q[None], state.u[None]
        z = joint_coordinates(self._steps, system.body_names, system.joint_motions, y)
        if isinstance(state, State) and system.couplings:
            z = coupled(system, self._tree, state, z[0])[None]
        q, u = z[:, : self._first] * self._sign_q, z[:, self._first :] * self._sign_u
        if isinstance(state, Run | RunState):
            named = {}
            for k, name in enumerate(self.coordinate_names):
                joint, _, column = name.rpartition(".")
                if column in getattr(system.joint_motions.get(joint), "units", ()):
                    q[:, k] = state.angles[joint][column] if isinstance(state, Run) else state.coordinate(name)
                    named[name] = k
            for row in q if system.couplings else ():  # of which a follower may start beyond half a turn
                counted = {name: float(row[k]) for name, k in named.items()}
                row[[*named.values()]] = [*with_turns(system.couplings, system.joint_motions, counted).values()]
        return q, u

    def state(self, q: ArrayLike, u: ArrayLike | None = None) -> State:
        """The state of all bodies at coordinates q (n,) and rates u (n,), by default at rest."""
        at = self._at(q, u)
        if not at.single:
            raise ModelError("mechanics: state() takes one state; give q (n,) and u (n,)")
        return State(self.system.body_names, self._bodies(at)[0].ravel())

    def configuration(self, values: Mapping[str, ArrayLike]) -> Floats:
        """Coordinates q (n,) with these values by name, such as ``{"knee.angle": 0.3}``, and all others as in ``q0``.

        Values that are arrays (states,), with or without single numbers beside them, give an array of coordinates (states, n).
        Closed loops are closed, and followers of couplings moved: then only independent coordinates can be given.
        """
        known = self.coordinate_names if self.independent is None else self.independent
        given = {}
        for name, value in values.items():
            if name not in known or name not in self.coordinate_names:
                raise unknown_name(name, known, "coordinate", whose=f"mechanics of system '{self.system.name}': ")
            array = floats(value, f"coordinate '{name}'", "a number or (states,) numbers")
            given[name] = finite(array, array.shape[:1], f"coordinate '{name}'")
        counts = {len(array) for array in given.values() if array.ndim}
        if len(counts) > 1:
            raise ModelError(
                f"configuration: arrays of {', '.join(map(str, sorted(counts)))} values; give as many of each, or one"
            )
        q = np.tile(self.q0, (*counts, 1))
        for name, array in given.items():
            q[..., self.coordinate_names.index(name)] = array
        return self.assemble(q)

    def assemble(self, q: ArrayLike) -> Floats:
        """Coordinates q with the dependent ones moved until closed loops and couplings hold, and Euler parameters of length 1.

        Raises
        ------
        ModelError
            Where no configuration nearby does.
        """
        (found,), single = self._admitted(q=q)
        found = found.copy()
        for k in self._lengths:
            found[:, k : k + 4] /= np.linalg.norm(found[:, k : k + 4], axis=1, keepdims=True)
        if self._loops is not None:
            found = self._loops.closed(found)
        return _shaped(found, single)

    def integrate(self, q: ArrayLike, u: ArrayLike, dt: float = 1.0) -> Floats:
        """Coordinates reached from q by constant rates u in a time dt [s]; balls turn by the rotation vector u dt.

        In closed loops the independent coordinates move so, and the others follow.
        """
        (at, rates), single = self._admitted(q=q, u=u)
        way = finite_number(dt, "integrate: dt") * rates
        if self._loops is not None:
            way = self._sign_u * (self._loops.maps(at, None)[0] @ way[..., None])[..., 0]
        found = moved_coordinates(self._tree, at, way)
        return _shaped(found if self._loops is None else self._loops.closed(found), single)

    def difference(self, q_0: ArrayLike, q_1: ArrayLike) -> Floats:
        """Rates that lead from q_0 to q_1 in 1 s: ``integrate(q_0, rates)`` is q_1, up to the sign of Euler parameters."""
        (a, b), single = self._admitted(q_0=q_0, q_1=q_1)
        found = way_between(self._tree, a, b)
        return _shaped(found if self._loops is None else found[:, self._loops.places], single)

    # Equations of motion

    def mass_matrix(self, q: ArrayLike) -> Floats:
        """M, (n, n) or (states, n, n) [kg m^2], [kg m], [kg]; symmetric and positive definite."""
        at = self._at(q)
        found = np.empty((len(at.z), *[len(self._all_rates)] * 2))
        compiled.mass_matrices(self._memory, at.z, found)
        if at.N is not None:
            found = np.swapaxes(at.N, 1, 2) @ found @ at.N
        elif self._mirrored:
            found *= self._sign_u[:, None] * self._sign_u
        return _shaped(found, at.single)

    def bias(self, q: ArrayLike, u: ArrayLike) -> Floats:
        """C, the efforts of the rates alone: Coriolis, centrifugal and gyroscopic terms; (n,) [N m], [N]."""
        at = self._at(q, u)
        return self._efforts(at, at.drift, 0.0)

    def gravity_forces(self, q: ArrayLike) -> Floats:
        """G = dV/dq, the efforts that hold the system at rest against gravity, (n,) [N m], [N]."""
        at = self._at(q)
        return self._efforts(at, np.zeros_like(at.drift), 1.0)

    def inverse_dynamics(self, q: ArrayLike, u: ArrayLike, a: ArrayLike) -> Floats:
        """Efforts tau = M a + c + g that give accelerations a of the coordinates, (n,) [N m], [N]."""
        at = self._at(q, u, a=a)
        return self._efforts(at, self._all(at, at.given) + at.drift, 1.0)

    def forward_dynamics(self, q: ArrayLike, u: ArrayLike, tau: ArrayLike) -> Floats:
        """Accelerations a of the coordinates under efforts tau, M a = tau - c - g; (n,) [rad/s^2], [m/s^2].

        Raises
        ------
        ModelError
            In a configuration in which the coordinates depend on each other, such as a gimbal lock.
        """
        at = self._at(q, u, tau=tau)
        if self._loops is not None:
            bias = np.atleast_2d(self._efforts(at, at.drift, 1.0))
            M = self.mass_matrix(at.q)
            return _shaped(np.asarray(np.linalg.solve(M, (at.given - bias)[..., None])[..., 0]), at.single)
        found, work = np.empty_like(at.z), np.zeros(1)
        done, code = compiled.derivatives_under(self._memory, at.z, at.given * self._sign_u, found, work)
        if code != OK or not np.isfinite(found).all():
            k = done if code != OK else int(np.argmin(np.isfinite(found).all(axis=1)))
            raise ModelError(
                f"forward_dynamics: state {k}: {dependent_coordinates(self.system)}; give other coordinates"
            )
        return _shaped(found[:, self._first :] * self._sign_u, at.single)

    def applied_forces(self, q: ArrayLike, u: ArrayLike, time: float | None = None) -> Floats:
        """Efforts tau of the system's limits, contacts, force elements, loads and motors, (n,) [N m], [N].

        ``forward_dynamics(q, u, applied_forces(q, u))`` gives the accelerations of ``simulate``, without drivers.  States of
        forces have their initial values.

        Parameters
        ----------
        q, u : (n,) or (states, n)
        time : float [s], optional
            At which signals are evaluated.  Default: ``system.time``.

        Raises
        ------
        ModelError
            For forces that depend on reactions of joints.
        """
        if trees_of(self.system).tree is None:
            raise ModelError(
                f"applied_forces: {trees_of(self.system).reason}, which efforts along coordinates cannot state"
            )
        at, t = self._at(q, u), self.system.time if time is None else finite_number(time, "applied_forces: time")
        self.system.check_span(t, t, "applied_forces")
        found = np.zeros((len(at.z), len(self._all_rates)))
        if self.system.loaded:
            compiled.forces_of_elements(t, at.z, self.system.data, self._memories.work, np.empty(at.z.shape[1]), found)
        return _shaped(self._of_rates(at, found), at.single)

    # Derivatives

    def inverse_dynamics_derivatives(self, q: ArrayLike, u: ArrayLike, a: ArrayLike) -> EffortDerivatives:
        """Derivatives of ``inverse_dynamics``, (n, n) each or (states, n, n): row of the effort, column of what varies.

        Those over q are along ``integrate``: at constant u and a, over rates times time.  They are exact but for rounding; with
        closed loops or couplings those over q are differences of order six, with errors of about 1e-12 of the largest entry.
        Near a knot of a coupling's spline, where the third derivative jumps, differences stay on one side of the knot.
        """
        (at, rates, changes), single = self._admitted(q=q, u=u, a=a)
        (count, n), reach = rates.shape, self._reach(at)

        def efforts(ways: Floats, turned: Floats) -> Floats:
            """Efforts (states, points, directions, n) where coordinates, or rates, are varied (points, directions, n)."""
            many = ways.shape[0] * n
            of_each = (np.repeat(array, many, axis=0) for array in (at, rates, changes))
            where, u_there, a_there = of_each
            moved = np.tile(ways.reshape(many, n), (count, 1)) * np.repeat(reach, many)[:, None]
            where = self.integrate(where, moved) if moved.any() else where
            found = self.inverse_dynamics(where, u_there + np.tile(turned.reshape(many, n), (count, 1)), a_there)
            return found.reshape(count, ways.shape[0], n, n)

        units, (places, factors) = np.eye(n), self._places
        ways, turned = places[..., None] * units, np.array([1.0, -1.0])[:, None, None] * units
        of_q = np.einsum("kj,skji,s->sij", factors, efforts(ways, 0.0 * ways), 1.0 / reach)
        of_u = np.einsum("k,skji->sij", np.array([0.5, -0.5]), efforts(0.0 * turned, turned))
        parts = of_q, of_u, self.mass_matrix(at)
        return EffortDerivatives(*(_shaped(part, single) for part in parts))

    def forward_dynamics_derivatives(self, q: ArrayLike, u: ArrayLike, tau: ArrayLike) -> AccelerationDerivatives:
        """Derivatives of ``forward_dynamics`` at constant efforts, as of ``inverse_dynamics_derivatives``; over tau, M^-1."""
        slopes = self.inverse_dynamics_derivatives(q, u, self.forward_dynamics(q, u, tau))
        inverse = np.asarray(np.linalg.inv(slopes.a), float)
        return AccelerationDerivatives(-inverse @ slopes.q, -inverse @ slopes.u, inverse)

    # Frames

    def pose(self, frame: str | Frame, q: ArrayLike) -> FramePose:
        """Where a frame is.

        Parameters
        ----------
        frame : str or Frame
            A name among ``frame_names``, or a frame of its own.
        q : (n,) or (states, n)
        """
        at = self._at(q)
        r, A, _, _ = self._frame_state(self.frame(frame), at)
        return FramePose(_shaped(r, at.single), _shaped(A, at.single))

    def velocity(self, frame: str | Frame, q: ArrayLike, u: ArrayLike, *, axes: Axes = "global") -> Floats:
        """Velocity of the origin of a frame [m/s] and angular velocity [rad/s], (6,), against the ground.

        Parameters
        ----------
        frame : str or Frame
            As of ``pose``.
        q, u : (n,) or (states, n)
        axes : "global" or "frame"
            Of the components.
        """
        at = self._at(q, u)
        _, A, v, omega = self._frame_state(self.frame(frame), at)
        return _shaped(_in_axes(axes, A, np.hstack([v, omega])), at.single)

    def acceleration(
        self, frame: str | Frame, q: ArrayLike, u: ArrayLike, a: ArrayLike, *, axes: Axes = "global"
    ) -> Floats:
        """Acceleration of the origin of a frame [m/s^2] and angular acceleration [rad/s^2], (6,), against the ground.

        It is ``jacobian @ a + bias_acceleration``, and does not contain gravity.

        Parameters
        ----------
        frame, axes
            As of ``velocity``.
        q, u, a : (n,) or (states, n)
        """
        at = self._at(q, u, a=a)
        return self._acceleration(frame, at, self._all(at, at.given) + at.drift, axes)

    def jacobian(self, frame: str | Frame, q: ArrayLike, *, axes: Axes = "global") -> Floats:
        """J with ``velocity = J u``, (6, n): rows x, y, z of the origin, then of the angular velocity; columns ``rate_names``.

        J^T times a force at the origin and a moment, (6,) in the same axes, are its efforts tau.

        Parameters
        ----------
        frame, axes
            As of ``velocity``.
        q : (n,) or (states, n)
        """
        at, own = self._at(q), self.frame(frame)
        step, arm = self._place(own)
        found = np.zeros((len(at.z), 6, len(self._all_rates)))
        compiled.jacobians_of_point(self._memory, step, arm, at.z, found)
        found = found * self._sign_u if at.N is None else found @ at.N
        return _shaped(_in_axes(axes, self._frame_state(own, at)[1], found), at.single)

    def bias_acceleration(self, frame: str | Frame, q: ArrayLike, u: ArrayLike, *, axes: Axes = "global") -> Floats:
        """J' u, the acceleration of a frame with a = 0, (6,); with ``axes="frame"`` the components of the same vectors there."""
        at = self._at(q, u)
        return self._acceleration(frame, at, at.drift, axes)

    # The whole system

    def centre_of_mass(self, q: ArrayLike) -> Floats:
        """Centre of mass of all bodies that can move, (3,) [m] in global coordinates."""
        at = self._at(q)
        return _shaped(centre_of_mass(self._mass, self._bodies(at)[:, self._moving, R:P]), at.single)

    def centre_of_mass_jacobian(self, q: ArrayLike) -> Floats:
        """J with J u the velocity of ``centre_of_mass``, (3, n) in global axes; J^T F are the efforts of a force F there."""
        at = self._at(q)
        found = np.zeros((len(at.z), 3, len(self._all_rates)))
        for k, mass in zip(self._moving, self._mass, strict=True):
            J = np.zeros((len(at.z), 6, len(self._all_rates)))
            compiled.jacobians_of_point(self._memory, self._memory.data.step[k], self._memory.data.arm[k], at.z, J)
            found += mass / self._mass.sum() * J[:, :3]
        return _shaped(found * self._sign_u if at.N is None else found @ at.N, at.single)

    def momentum(self, q: ArrayLike, u: ArrayLike, *, about: ArrayLike | None = None) -> Floats:
        """Linear momentum [kg m/s] and angular momentum [kg m^2/s] of all bodies, (6,), in global axes; without that of rotors.

        Parameters
        ----------
        q, u : (n,) or (states, n)
        about : (3,) [m], optional
            Point of the angular momentum, in global coordinates.  Default: the centre of mass.
        """
        at = self._at(q, u)
        point = None if about is None else finite(about, (3,), "momentum: about")
        return _shaped(momentum(self._mass, self._inertia, self._bodies(at)[:, self._moving], point), at.single)

    def kinetic_energy(self, q: ArrayLike, u: ArrayLike) -> Floats:
        """Kinetic energy u . M u / 2, () or (states,) [J], rotors included."""
        at = self._at(q, u)
        rates, z = at.z[:, self._first :].copy(), at.z.copy()
        z[:, self._first :] = 0.0
        found = np.empty_like(rates)
        compiled.efforts(self._memory, z, rates, 0.0, found)
        return _shaped(0.5 * (found * rates).sum(axis=1), at.single)

    def potential_energy(self, q: ArrayLike) -> Floats:
        """Potential energy of gravity, () or (states,) [J]; 0 with all bodies at the origin, as ``Run.potential_energy``."""
        at, masses = self._at(q), np.array([body.mass for body in self.system.bodies])
        return _shaped(-np.einsum("b,nbx,x->n", masses, self._bodies(at)[..., R:P], self.system.gravity), at.single)

    # Arrays of states

    def _admitted(self, **given: ArrayLike) -> tuple[list[Floats], bool]:
        """New arrays (states, n) of coordinates (names with q) and rates, and whether it is one state."""
        found, single = [], True
        for what, value in given.items():
            n = len(self.coordinate_names) if what.startswith("q") else len(self.rate_names)
            array = floats(value, f"mechanics: {what}", f"({n},) or (states, {n}) numbers")
            if array.ndim not in (1, 2) or array.shape[-1] != n:
                names = "coordinate_names" if what.startswith("q") else "rate_names"
                raise ModelError(
                    f"mechanics of system '{self.system.name}': {what} has the shape {array.shape}; give ({n},) or "
                    f"(states, {n}), as in {names}"
                )
            single = single and array.ndim == 1
            found.append(bounded(array, f"mechanics: {what}").reshape(-1, n))
            for k in self._lengths if what.startswith("q") else ():
                if not (found[-1][:, k : k + 4] != 0.0).any(axis=1).all():
                    raise ModelError(
                        f"mechanics: {what}: the Euler parameters from '{self.coordinate_names[k]}' on are 0; give a direction"
                    )
        counts = {len(array) for array in found}
        if len(counts - {1}) > 1:
            raise ModelError(
                f"mechanics: arrays of {', '.join(map(str, sorted(counts)))} states; give as many of each, or one"
            )
        most = next(iter(counts - {1}), 1)
        return [np.ascontiguousarray(np.broadcast_to(array, (most, array.shape[1]))) for array in found], single

    def _at(self, q: ArrayLike, u: ArrayLike | None = None, **given: ArrayLike) -> _At:
        """Coordinates and rates as compiled code has them; ``given``: accelerations or efforts of as many states, with rates."""
        (coordinates, *rates), single = self._admitted(q=q, **({} if u is None else {"u": u}), **given)
        z = np.zeros((len(coordinates), self._first + len(self._all_rates)))
        z[:, : self._first] = coordinates * self._sign_q
        at = _At(coordinates, z, None, np.zeros((len(z), len(self._all_rates))), single, rates[-1] if given else NONE)
        if self._loops is not None:
            N, z[:, self._first :], drift = self._loops.maps(coordinates, rates[0] if rates else None)
            return at._replace(N=N, drift=drift)
        if rates:
            z[:, self._first :] = rates[0] * self._sign_u
        return at

    def _all(self, at: _At, rates: Floats) -> Floats:
        """Rates of compiled code (states, all) for those of the independent coordinates."""
        return rates * self._sign_u if at.N is None else (at.N @ rates[..., None])[..., 0]

    def _of_rates(self, at: _At, forces: Floats) -> Floats:
        """Forces (states, independent) along the independent coordinates from those of compiled code (states, all)."""
        return forces * self._sign_u if at.N is None else np.einsum("nij,ni->nj", at.N, forces)

    def _efforts(self, at: _At, rates: Floats, free_fall: float) -> Floats:
        found = np.empty_like(rates)
        compiled.efforts(self._memory, at.z, rates, free_fall, found)
        return _shaped(self._of_rates(at, found), at.single)

    def _bodies(self, at: _At) -> Floats:
        """States (states, bodies, 13) of the bodies."""
        y = np.empty((len(at.z), STATE * len(self.system.bodies)))
        lift_all(self._memory.data, self._memory.lifting, at.z, y)
        return y.reshape(len(y), len(self.system.bodies), STATE)

    def frame(self, frame: str | Frame) -> Frame:
        """The frame of a name among ``frame_names``; a frame of its own is checked."""
        if isinstance(frame, Frame):
            if frame.body not in (*self.system.body_names, GROUND):
                raise unknown_name(frame.body, self.system.body_names, "body", "bodies", f"frame '{frame.name}': ")
            return frame
        if frame not in self.frame_names:
            raise unknown_name(frame, self.frame_names, "frame", whose=f"system '{self.system.name}': ")
        return next((one for one in self.system.frames if one.name == frame), frame_of_body(frame))

    def _place(self, frame: Frame) -> tuple[int, Floats]:
        """The step that moves a frame last, and the arm from its point, in axes of the reference configuration."""
        if frame.body == GROUND:
            return GROUND_STEP, np.array(frame.s)
        body, data = self.system.body_index(frame.body), self._memory.data
        return int(data.step[body]), in_reference(frame, self._tree.pose[body], data.arm[body])[0]

    def _frame_state(self, frame: Frame, at: _At) -> tuple[Floats, Floats, Floats, Floats]:
        """Origin, axes, velocity and angular velocity of a frame, (states, ...) each."""
        if frame.body == GROUND:
            none, n = np.zeros((len(at.z), 3)), len(at.z)
            return np.tile(frame.s, (n, 1)), np.tile(frame.A, (n, 1, 1)), none, none
        return frame_motion(frame, self._bodies(at)[:, self.system.body_index(frame.body)])

    def _acceleration(self, frame: str | Frame, at: _At, rates: Floats, axes: Axes) -> Floats:
        own = self.frame(frame)
        found = np.zeros((len(at.z), 6))
        compiled.accelerations_of_point(self._memory, *self._place(own), at.z, rates, found)
        return _shaped(_in_axes(axes, self._frame_state(own, at)[1], found), at.single)

    @property
    def _memory(self) -> TreeWorkspace:
        """Memory of this thread for compiled code."""
        return self._memories.tree

    @cached_property
    def _mirrored(self) -> bool:
        """Whether a joint was walked from body j, so that the tree has the negative of its coordinate."""
        return bool((self._sign_u < 0.0).any())

    @cached_property
    def _lengths(self) -> list[int]:
        """Where Euler parameters begin in q."""
        ends = self._tree.places[0][1:]
        return [end - 4 for kind, end in zip(self._tree.kinds, ends, strict=True) if kind in ("ball", "free")]

    def _reach(self, q: Floats) -> Floats:
        """Factors (states,) of the places of differences, which do not pass knots of couplings; 1 without loops."""
        if self._loops is None:
            return np.ones(len(q))
        found, N = np.full(len(q), REACH), self._at(q).N
        for one in (one for one in self.system.couplings if isinstance(one.law, Signal)):
            leader = one.leaders[0]
            off = np.abs(q[:, [self.coordinate_names.index(leader)]] - one.law.knots).min(axis=1)
            speed = np.abs(N[:, self._all_rates.index(f"{leader}_rate")]).max(axis=1)
            found = np.minimum(found, off / np.maximum(speed, 1.0))
        return np.maximum(found, SHORTEST)

    @cached_property
    def _places(self) -> tuple[Floats, Floats]:
        """Where along each direction efforts give their derivative, and with which factors, (values, rates) each."""
        if self._loops is not None:
            of_all = np.ones(len(self.rate_names))
            return BOTH_SIDES[:, None] * of_all, weights(BOTH_SIDES)[:, None] * of_all
        turns = np.array([unit == "rad/s" for unit in self.rate_units])
        places = np.where(turns, TURNS[:, None], SLIDES[:, None])
        return places, np.where(turns, OF_TURNS[:, None], weights(SLIDES)[:, None])

    @cached_property
    def _moving(self) -> Any:
        return moving_bodies(self.system)

    @cached_property
    def _mass(self) -> Floats:
        return np.array([self.system.bodies[k].mass for k in self._moving])

    @cached_property
    def _inertia(self) -> Floats:
        return np.array([self.system.bodies[k].inertia for k in self._moving])


class _At(NamedTuple):
    """States as compiled code has them."""

    q: Floats  # (states, coordinates) with the signs of the joints
    z: Floats  # (states, coordinates + all rates) of the tree
    N: Floats | None  # (states, all rates, independent rates); None: all are independent
    drift: Floats  # (states, all rates) accelerations where those of the independent coordinates are 0
    single: bool
    given: Floats  # (states, independent rates) accelerations or efforts


def _signs(names: Sequence[tuple[str, str]]) -> Floats:
    return np.array([-1.0 if name.startswith("-") else 1.0 for name, _ in names])


def _without_signs(names: Sequence[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units; of a coordinate whose negative the tree has, the name of the joint's."""
    return tuple(name.removeprefix("-") for name, _ in names), tuple(unit for _, unit in names)


def _shaped(found: Floats, single: bool) -> Floats:
    return np.asarray(found[0]) if single else found


def _in_axes(axes: Axes, A: Floats, found: Floats) -> Floats:
    """Vectors of motion (states, 6, ...) in axes of the frame."""
    if axes == "global":
        return found
    if axes != "frame":
        raise ModelError(f"mechanics: axes = {axes!r}; use 'global' or 'frame'")
    parts = np.split(found, 2, axis=1)
    return np.concatenate([np.einsum("nji,nj...->ni...", A, part) for part in parts], axis=1)
