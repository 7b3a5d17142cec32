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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics import mechanics as compiled
from runtime.dynamics.layout import OK, STATE, P, R
from runtime.integrate.handed_state import RunState
from runtime.integrate.tree_method import dependent_coordinates
from runtime.integrate.variational.differences import BOTH_SIDES, weights
from runtime.lanes.effort_slopes import slopes_of_efforts
from runtime.report.moment_arms import Arms, moment_arms
from runtime.results.run import Run
from runtime.support.arguments import checked, checked_class
from runtime.support.arrays import Floats
from runtime.support.checks import finite, finite_number
from runtime.support.errors import ModelError, unknown_name
from runtime.support.numbers import floats
from runtime.system.coordinate_mechanics import CoordinateMechanics, shaped
from runtime.system.coordinate_mechanics import FramePose as FramePose
from runtime.system.delays import refuse_delays
from runtime.system.installed_reader import read_by_installed
from runtime.system.momentum import centre_of_mass, momentum, moving_bodies
from runtime.system.muscle_paths import is_muscle
from runtime.system.signal import Signal
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.tree_coordinates import moved_coordinates, way_between
from runtime.system.trees import trees_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARMS, LEAST_ARM = 121, 1e-4  # values of a curve; [m], of slides [1], below which a muscle has none
REACH = 0.003  # [rad], [m] of differences of order six in closed loops, with errors of about 1e-12
SHORTEST = 1e-5  # [rad], [m] of these beside a knot of a coupling, with errors of about 1e-10


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


@checked_class
class Mechanics(CoordinateMechanics):
    """The mechanics of a system; made by ``runtime.mechanics``.  ``runtime.analysis.mechanics`` defines all quantities.

    ``system``; ``coordinate_names``, ``coordinate_units`` of q; ``rate_names``, ``rate_units``, ``effort_units`` of u and tau;
    ``q0``, ``u0``: the initial state.  Threads may share it.
    """

    # States

    def of(self, state: State | Run) -> tuple[Floats, Floats]:
        """Coordinates q and rates u of a state, (n,) each, or of all times of a run, (times, n) each.

        Angles of a state are within half a turn of the reference configuration; those of a run, and of the states that
        controllers, events and ``Stepping`` have, count revolutions.

        Raises
        ------
        ModelError
            For a state of other bodies.
        """
        q, u = self._of(state)
        u = self.own_rates(u)
        return (q[0], u[0]) if isinstance(state, State) else (q, u)

    def _of(self, state: State | Run) -> tuple[Floats, Floats]:
        """Coordinates and all rates (times, n)."""
        system = self.system
        if isinstance(state, Run):
            if state.system.body_names != system.body_names:
                raise ModelError(f"mechanics: the run is of system '{state.system.name}', not '{system.name}'")
            return self.of_states(state.states[:, : STATE * len(system.bodies)], state._counted())
        if not isinstance(state, RunState):
            return super()._of(state)
        system.check_bodies(state)
        if state.system is system and not system.couplings:
            return state.q[None], state.u[None]
        named = [f"{joint}.{column}" for joint, motion in system.joint_motions.items() for column in motion.units]
        known = [name for name in named if name in self.coordinate_names]
        return self.of_states(state.y[None], {name: np.array([state.coordinate(name)]) for name in known})

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

    def integrate(self, q: ArrayLike, u: ArrayLike, dt: float = 1.0) -> Floats:
        """Coordinates reached from q by constant rates u in a time dt [s]; balls turn by the rotation vector u dt.

        In closed loops the independent coordinates move so, and the others follow.
        """
        (at, rates), single = self._admitted(q=q, u=u)
        way = finite_number(dt, "integrate: dt") * rates
        if self._loops is not None:
            way = self._sign_u * (self._loops.maps(at, None)[0] @ way[..., None])[..., 0]
        found = moved_coordinates(self._tree, at, way)
        return shaped(found if self._loops is None else self._loops.closed(found), single)

    def difference(self, q_0: ArrayLike, q_1: ArrayLike) -> Floats:
        """Rates that lead from q_0 to q_1 in 1 s: ``integrate(q_0, rates)`` is q_1, up to the sign of Euler parameters."""
        (a, b), single = self._admitted(q_0=q_0, q_1=q_1)
        found = way_between(self._tree, a, b)
        return shaped(found if self._loops is None else found[:, self._loops.places], single)

    # Equations of motion

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
            return shaped(np.asarray(np.linalg.solve(M, (at.given - bias)[..., None])[..., 0]), at.single)
        found, work = np.empty_like(at.z), np.zeros(1)
        done, code = compiled.derivatives_under(self._memory, at.z, at.given * self._sign_u, found, work)
        if code != OK or not np.isfinite(found).all():
            k = done if code != OK else int(np.argmin(np.isfinite(found).all(axis=1)))
            raise ModelError(
                f"forward_dynamics: state {k}: {dependent_coordinates(self.system)}; give other coordinates"
            )
        return shaped(found[:, self._first :] * self._sign_u, at.single)

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
        if self._steps.kinds and trees_of(self.system).tree is None:
            raise ModelError(
                f"applied_forces: {trees_of(self.system).reason}, which efforts along coordinates cannot state"
            )
        at, t = self._at(q, u), self.system.time if time is None else finite_number(time, "applied_forces: time")
        self.system.check_span(t, t, "applied_forces")
        refuse_delays(self.system, "efforts in a state")
        found = np.zeros((len(at.z), len(self._all_rates)))
        if self.system.loaded and self._steps.kinds:
            compiled.forces_of_elements(
                t, at.z, self.system.data, self._workspaces.work, np.empty(at.z.shape[1]), found
            )
        return shaped(self._of_rates(at, found), at.single)

    # Muscles

    def moment_arm_figure(
        self, coordinates: Mapping[str, tuple[float, float]], muscles: Sequence[str] | None = None
    ) -> Figure:
        """Moment arms of muscles about coordinates, each over a range with all others as in ``q0``; see ``moment_arms``.

        Parameters
        ----------
        coordinates : mapping of str to (low, high) [rad], [m]
            A panel for each, such as ``{"ankle.theta_i": (-0.5, 0.5), "ankle.theta_j": (-0.3, 0.3)}``.
        muscles : sequence of str, optional
            Default: all whose moment arm reaches 0.1 mm in a panel, of slides 1e-4.

        Raises
        ------
        ModelError
            For unknown names, and where no muscle has a moment arm.
        """
        known = [force.name for force in self.system.forces if is_muscle(force)] if muscles is None else muscles
        panels = []
        for name, ends in coordinates.items():
            low, high = finite(ends, (2,), f"moment_arm_figure: {name}")
            values = np.linspace(low, high, ARMS)
            q = self.configuration({name: values})
            if f"{name}_rate" not in self.rate_names:
                raise ModelError(
                    f"moment_arm_figure: {name} has no moment arms, as it is no angle and no slide; give one"
                )
            place, unit = (
                self.rate_names.index(f"{name}_rate"),
                self.coordinate_units[self.coordinate_names.index(name)],
            )
            arms = {muscle: self.moment_arms(muscle, q)[:, place] for muscle in known}
            panels.append(Arms(name, unit == "rad", values, arms))
        least = LEAST_ARM if muscles is None else 0.0
        drawn = [name for name in known if any(np.abs(panel.arms[name]).max() >= least for panel in panels)]
        if not drawn:
            if not coordinates:
                raise ModelError(
                    "moment_arm_figure: names no coordinate; give ranges, such as {'ankle.theta_i': (-0.5, 0.5)}"
                )
            about = ", ".join(coordinates)
            raise ModelError(f"moment_arm_figure: no muscle of system '{self.system.name}' moves {about}; give others")
        return moment_arms(panels, drawn)

    # Derivatives

    def inverse_dynamics_derivatives(self, q: ArrayLike, u: ArrayLike, a: ArrayLike) -> EffortDerivatives:
        """Derivatives of ``inverse_dynamics``, (n, n) each or (states, n, n): row of the effort, column of what varies.

        Those over q are along ``integrate``: at constant u and a, over rates times time.  They are exact but for rounding; with
        closed loops or couplings they are differences of order six, with errors of about 1e-12 of the largest entry.
        Near a knot of a coupling's spline, where the third derivative jumps, differences stay on one side of the knot.
        """
        at = self._at(q, u, a=a)
        if self._loops is None:
            of_q, of_u = np.zeros((2, len(at.z), *[len(self._all_rates)] * 2))
            slopes_of_efforts(*self._workspaces.slopes, at.z, at.given * self._sign_u, of_q, of_u)
            signs = self._sign_u[:, None] * self._sign_u
            of_q, of_u = signs * of_q, signs * of_u
        else:
            of_q, of_u = self._differences(*self._admitted(q=q, u=u, a=a)[0])
        return EffortDerivatives(*(shaped(part, at.single) for part in (of_q, of_u, self.mass_matrix(at.q))))

    def _differences(self, q: Floats, u: Floats, a: Floats) -> tuple[Floats, Floats]:
        """Derivatives (states, n, n) of efforts in closed loops, over coordinates and over rates."""
        units, reach = np.eye(u.shape[1]), self._reach(q)[:, None]
        of_q, of_u = np.zeros((2, len(u), *units.shape))
        for k, unit in enumerate(units):
            for place, factor in zip(BOTH_SIDES, weights(BOTH_SIDES), strict=True):
                moved = self.integrate(q, place * reach * unit)
                of_q[:, :, k] += factor / reach * self.inverse_dynamics(moved, u, a)
            of_u[:, :, k] = 0.5 * (self.inverse_dynamics(q, u + unit, a) - self.inverse_dynamics(q, u - unit, a))
        return of_q, of_u

    def forward_dynamics_derivatives(self, q: ArrayLike, u: ArrayLike, tau: ArrayLike) -> AccelerationDerivatives:
        """Derivatives of ``forward_dynamics`` at constant efforts, as of ``inverse_dynamics_derivatives``; over tau, M^-1."""
        slopes = self.inverse_dynamics_derivatives(q, u, self.forward_dynamics(q, u, tau))
        inverse = np.asarray(np.linalg.inv(slopes.a), float)
        return AccelerationDerivatives(-inverse @ slopes.q, -inverse @ slopes.u, inverse)

    # The whole system

    def centre_of_mass(self, q: ArrayLike) -> Floats:
        """Centre of mass of all bodies that can move, (3,) [m] in global coordinates."""
        at = self._at(q)
        return shaped(centre_of_mass(self._mass, self._bodies(at)[:, self._moving, R:P]), at.single)

    def centre_of_mass_jacobian(self, q: ArrayLike) -> Floats:
        """J with J u the velocity of ``centre_of_mass``, (3, n) in global axes; J^T F are the efforts of a force F there."""
        at = self._at(q)
        found = np.zeros((len(at.z), 3, len(self._all_rates)))
        for k, mass in zip(self._moving, self._mass, strict=True):
            J = np.zeros((len(at.z), 6, len(self._all_rates)))
            compiled.jacobians_of_point(self._memory, self._memory.data.step[k], self._memory.data.arm[k], at.z, J)
            found += mass / self._mass.sum() * J[:, :3]
        return shaped(found * self._sign_u if at.N is None else found @ at.N, at.single)

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
        return shaped(momentum(self._mass, self._inertia, self._bodies(at)[:, self._moving], point), at.single)

    def kinetic_energy(self, q: ArrayLike, u: ArrayLike) -> Floats:
        """Kinetic energy u . M u / 2, () or (states,) [J], rotors included."""
        at = self._at(q, u)
        rates, z = at.z[:, self._first :].copy(), at.z.copy()
        z[:, self._first :] = 0.0
        found = np.empty_like(rates)
        compiled.efforts(self._memory, z, rates, 0.0, found)
        return shaped(0.5 * (found * rates).sum(axis=1), at.single)

    def potential_energy(self, q: ArrayLike) -> Floats:
        """Potential energy of gravity, () or (states,) [J]; 0 with all bodies at the origin, as ``Run.potential_energy``."""
        at, masses = self._at(q), np.array([body.mass for body in self.system.bodies])
        return shaped(-np.einsum("b,nbx,x->n", masses, self._bodies(at)[..., R:P], self.system.gravity), at.single)

    def _reach(self, q: Floats) -> Floats:
        """Factors (states,) of the places of differences, which do not pass knots of couplings; 1 without loops."""
        if self._loops is None:
            return np.ones(len(q))
        found, N = np.full(len(q), REACH), self._loops.maps(q, None)[0]
        splines = ((c.leaders[0], c.law.knots) for c in self.system.couplings if isinstance(c.law, Signal))
        for leader, knots in splines:
            off = np.abs(q[:, [self.coordinate_names.index(leader)]] - knots).min(axis=1)
            speed = np.abs(N[:, self._all_rates.index(f"{leader}_rate")]).max(axis=1)
            found = np.minimum(found, off / np.maximum(speed, 1.0))
        return np.maximum(found, SHORTEST)

    @cached_property
    def _moving(self) -> Any:
        return moving_bodies(self.system)

    @cached_property
    def _mass(self) -> Floats:
        return np.array([self.system.bodies[k].mass for k in self._moving])

    @cached_property
    def _inertia(self) -> Floats:
        return np.array([self.system.bodies[k].inertia for k in self._moving])
