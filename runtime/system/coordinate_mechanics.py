"""The equations of motion and the frames of a system in the coordinates of its joints, for arrays of states.

``runtime.analysis.mechanics`` defines the quantities and their signs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics import mechanics as compiled
from runtime.dynamics.angles import COUNT, OF_FORCE, OWNER, SORT
from runtime.dynamics.layout import STATE
from runtime.dynamics.lift import GROUND_STEP, lift_all
from runtime.dynamics.revolutions import count_each
from runtime.dynamics.tree_workspace import TreeWorkspace
from runtime.support.arguments import checked_methods
from runtime.support.arrays import Floats, read_only
from runtime.support.checks import bounded
from runtime.support.errors import ModelError, unknown_name
from runtime.support.numbers import floats
from runtime.system.coordinate_names import coordinates_of_tree
from runtime.system.coupled_coordinates import coupled, with_turns
from runtime.system.frames import Frame, frame_motion, frame_of_body, in_reference
from runtime.system.independent import Independent, TreeWorkspaces
from runtime.system.muscle_modules import UNIT_WRENCH
from runtime.system.muscle_paths import path_motion
from runtime.system.parts import GROUND, Force
from runtime.system.reference import ground_state
from runtime.system.spanning_tree import spanning_tree
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.trees import trees_of

Axes = Literal["global", "frame"]
NONE = read_only(np.zeros((0, 0)))


class FramePose(NamedTuple):
    """Origin ``r`` (..., 3) [m] of a frame in global coordinates, and rotation ``A`` (..., 3, 3) from its axes to global ones."""

    r: Floats
    A: Floats


@checked_methods
class CoordinateMechanics:
    """Mass matrix, efforts and frames of a system; ``runtime.analysis.Mechanics`` adds what runs and integrators know.

    ``system``; ``coordinate_names``, ``coordinate_units`` of q; ``rate_names``, ``rate_units``, ``effort_units`` of u and tau;
    ``q0``, ``u0``: the initial state.  Threads may share it.
    """

    def __init__(self, system: System, independent: Sequence[str] | None) -> None:
        self._steps = trees_of(system).steps
        self.system, self._tree = system, trees_of(system).of_joints or spanning_tree(self._steps, system.bodies)
        tree = self._tree
        rows = [(k, r) for k in tree.closing if not system.joints[k].signals for r in range(len(system.joints[k].rows))]
        self._workspaces = TreeWorkspaces(system, rows)
        self._first = tree.places[0][-1]
        names, rates = coordinates_of_tree(system, tree)
        self._sign_q, self._sign_u = (_signs(of) for of in (names, rates))
        self.coordinate_names, self.coordinate_units = _without_signs(names)
        self._all_rates, units = _without_signs(rates)
        self._loops: Independent | None = None
        if rows or system.couplings:
            q, _ = self._of(system.state)
            self._loops = Independent(
                system, tree, self._workspaces, (self._sign_q, self._sign_u), self._all_rates, q[0], independent
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
        q, u = self._of(system.state)
        self.q0, self.u0 = read_only(q[0]), read_only(self.own_rates(u)[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.system, self.independent)

    def __repr__(self) -> str:
        sizes = f"{len(self.coordinate_names)} coordinates, {len(self.rate_names)} rates"
        return f"{type(self).__name__}('{self.system.name}', {sizes})"

    @property
    def independent(self) -> tuple[str, ...] | None:
        """Names of the independent coordinates of a system with closed loops or couplings; None without."""
        return None if self._loops is None else tuple(name.removesuffix("_rate") for name in self.rate_names)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames: bodies (centre of mass, axes of the body), the ground, frames of the system."""
        return (*self.system.body_names, GROUND, *(frame.name for frame in self.system.frames))

    # States

    def of_states(self, y: Floats, counted: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Coordinates and all rates (states, n) in states y (states, 13 bodies) of the system's bodies.

        ``counted`` (states,): coordinates of joints by name, with whole turns; others are within half a turn.
        """
        system = self.system
        z = joint_coordinates(self._steps, system.body_names, system.joint_motions, y)
        q, u = self._signed(z)
        places = {name: k for k, name in enumerate(self.coordinate_names) if name in counted}
        for name, k in places.items():
            q[:, k] = counted[name]
        for row in q if counted and system.couplings else ():  # followers of couplings may start beyond half a turn
            own = {name: float(row[k]) for name, k in places.items()}
            row[[*places.values()]] = [*with_turns(system.couplings, system.joint_motions, own).values()]
        return q, u

    def own_rates(self, u: Floats) -> Floats:
        """Rates of the independent coordinates (states, n) among all rates (states, all)."""
        return u if self._loops is None else u[:, self._loops.places]

    def _of(self, state: State) -> tuple[Floats, Floats]:
        """Coordinates and all rates (1, n)."""
        self.system.check_bodies(state)
        if not self.system.couplings:
            return self.of_states(state.y[None], {})
        z = joint_coordinates(self._steps, self.system.body_names, self.system.joint_motions, state.y[None])
        z = coupled(self.system, self._tree, state, z[0])[None]
        return self._signed(z)

    def _signed(self, z: Floats) -> tuple[Floats, Floats]:
        """Coordinates and all rates of the joints (states, n) in states z (states, n) of the tree."""
        return z[:, : self._first] * self._sign_q, z[:, self._first :] * self._sign_u

    def assemble(self, q: ArrayLike) -> Floats:
        """Coordinates q with the dependent ones moved until closed loops and couplings hold, and Euler parameters of length 1.

        Raises
        ------
        ModelError
            If no configuration nearby satisfies the loops and couplings.
        """
        (found,), single = self._admitted(q=q)
        found = found.copy()
        for k in self._lengths:
            found[:, k : k + 4] /= np.linalg.norm(found[:, k : k + 4], axis=1, keepdims=True)
        if self._loops is not None:
            found = self._loops.closed(found)
        return shaped(found, single)

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
        return shaped(found, at.single)

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

    # Frames

    def pose(self, frame: str | Frame, q: ArrayLike) -> FramePose:
        """Pose of a frame.

        Parameters
        ----------
        frame : str or Frame
            A name in ``frame_names``, or a ``Frame``.
        q : (n,) or (states, n)
        """
        at = self._at(q)
        r, A, _, _ = self._frame_state(self.frame(frame), at)
        return FramePose(shaped(r, at.single), shaped(A, at.single))

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
        return shaped(_in_axes(axes, A, np.hstack([v, omega])), at.single)

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
        return shaped(_in_axes(axes, self._frame_state(own, at)[1], found), at.single)

    def bias_acceleration(self, frame: str | Frame, q: ArrayLike, u: ArrayLike, *, axes: Axes = "global") -> Floats:
        """J' u, the acceleration of a frame with a = 0, (6,); with ``axes="frame"`` the components of the same vectors there."""
        at = self._at(q, u)
        return self._acceleration(frame, at, at.drift, axes)

    # Muscles

    def muscle_length(self, muscle: str, q: ArrayLike) -> Floats:
        """Length of the path of a muscle, () or (states,) [m]."""
        at = self._at(q)
        return shaped(self._path(muscle, at)[0], at.single)

    def moment_arms(self, muscle: str, q: ArrayLike) -> Floats:
        """Moment arms of a muscle about the coordinates of ``rate_names``, (n,) [m], of slides [1].

        Its efforts are these times its tension.  They are -dL/dq of its length L, so positive where it increases the coordinate.

        Parameters
        ----------
        muscle : str
        q : (n,) or (states, n)
        """
        at = self._at(q)
        bodies, wrenches = self.system.force(muscle).bodies, self._path(muscle, at)[UNIT_WRENCH:]
        found = np.zeros((len(at.z), 6, len(self._all_rates)))
        for k, body in enumerate(bodies):
            if body != GROUND:
                J = np.zeros_like(found)
                compiled.jacobians_of_point(self._memory, *self._place(frame_of_body(body)), at.z, J)
                found += J * wrenches[6 * k : 6 * k + 6].T[..., None]
        return shaped(self._of_rates(at, found.sum(axis=1)), at.single)

    def _path(self, muscle: str, at: _At) -> Floats:
        """``path_motion`` of a muscle."""
        force, states, names = self.system.force(muscle), self._bodies(at).swapaxes(0, 1), self.system.body_names
        ground = np.tile(ground_state(), (len(at.z), 1))
        return path_motion(force, {GROUND: ground, **dict(zip(names, states, strict=True))}, self._angles(force, at))

    def _angles(self, force: Force, at: _At) -> Floats | None:
        """The angles (states, angles) [rad] of a force whose revolutions are counted; None where it has none."""
        if not force.module.ANGLES:
            return None
        data, rows = self.system.data, self.system.data.angles.tolist()
        found = np.zeros((len(at.z), data.counted))
        count_each(at.z, data, self._workspaces.work, np.empty(at.z.shape[1]), found)
        own = (OF_FORCE, self.system.forces.index(force))
        first = sum(row[COUNT] for row in rows[: [(row[SORT], row[OWNER]) for row in rows].index(own)])
        return found[:, first : first + force.module.ANGLES]

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
            found.append(np.atleast_2d(bounded(array, f"mechanics: {what}")))
            for k in self._lengths if what.startswith("q") else ():
                if not (found[-1][:, k : k + 4] != 0.0).any(axis=1).all():
                    raise ModelError(
                        f"mechanics: {what}: the Euler parameters from '{self.coordinate_names[k]}' on are 0; give a direction"
                    )
        counts = {len(array) for array in found}
        if len(counts - {1}) > 1:
            sizes = ", ".join(str(len(array)) for array in found)
            raise ModelError(
                f"mechanics of system '{self.system.name}': {', '.join(given)} have {sizes} states; give each as many, or one"
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
        return shaped(self._of_rates(at, found), at.single)

    def _bodies(self, at: _At) -> Floats:
        """States (states, bodies, 13) of the bodies."""
        y = np.empty((len(at.z), STATE * len(self.system.bodies)))
        lift_all(self._memory.data, self._memory.lifting, at.z, y)
        return y.reshape(len(y), len(self.system.bodies), STATE)

    def frame(self, frame: str | Frame) -> Frame:
        """The frame of a name in ``frame_names``; a ``Frame`` is checked."""
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
        return shaped(_in_axes(axes, self._frame_state(own, at)[1], found), at.single)

    @property
    def _memory(self) -> TreeWorkspace:
        """Memory of this thread for compiled code."""
        return self._workspaces.tree

    @cached_property
    def _mirrored(self) -> bool:
        """Whether a joint was walked from body j, so that the tree has the negative of its coordinate."""
        return bool((self._sign_u < 0.0).any())

    @cached_property
    def _lengths(self) -> list[int]:
        """Where Euler parameters begin in q."""
        ends = self._tree.places[0][1:]
        return [end - 4 for kind, end in zip(self._tree.kinds, ends, strict=True) if kind in ("ball", "free")]


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


def shaped(found: Floats, single: bool) -> Floats:
    """What is found of states (states, ...), of one state without the first axis."""
    return np.asarray(found[0]) if single else found


def _in_axes(axes: Axes, A: Floats, found: Floats) -> Floats:
    """Vectors of motion (states, 6, ...) in axes of the frame."""
    if axes == "global":
        return found
    if axes != "frame":
        raise ModelError(f"mechanics: axes = {axes!r}; use 'global' or 'frame'")
    parts = np.split(found, 2, axis=1)
    return np.concatenate([np.einsum("nji,nj...->ni...", A, part) for part in parts], axis=1)
