"""The equations of motion together with their variational equations, in compiled code.

    y' = f(y, theta),     z' = df/dy z + df/dtheta

for the state y of an integration, of bodies or of the coordinates and rates of a tree, and of forces behind them, and its
derivatives z with respect to K parameters theta.  Both terms are one difference of evaluations: of systems with a nearby
parameter at states along z, or two where such states would be too far.  It is of order two where its error of 1e-10 suits the
tolerances, else of order six.  Limits and contacts keep their modes meanwhile, so that
no difference reaches across a change of mode.

States of closed loops are projected onto their rows, as in ``simulate``, and their derivatives with them, as differences of
projections.  Close to a singular pose the branches of the motion may part with the parameters; such evaluations are refused.

No difference reaches across a kink of a force either (``kinks``); where rates jump at one, the derivatives jump after the step
that ends there.

Contacts: their measures are differences along the same points, and the evaluations there get the force of the system itself with
its change by the slopes of the laws (``contacts``); the derivatives jump as there (``jumps``).  State and derivatives form one
long state for the integration loop, which evaluates it through ``Workspace.address``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numba
import numpy as np

from runtime.dynamics.angles import share_angles
from runtime.dynamics.equations import place_of_part, workspace_for
from runtime.dynamics.force_elements import follow_states, put_rates
from runtime.dynamics.layout import DERIVATIVE as VALUE
from runtime.dynamics.layout import DERIVATIVE_ANEW as ANEW
from runtime.dynamics.layout import NOT_FINITE, OK, SINGULAR, STATE, P, V
from runtime.dynamics.lift import lift_all, places_of_turns
from runtime.dynamics.model_data import ModelData, Workspace, stabilised
from runtime.dynamics.places import ADDRESSES, AFTERWARDS, CONTACTS, EVALUATION, PROJECTION
from runtime.dynamics.projection import TO_ZERO
from runtime.integrate import dop853, stepping
from runtime.integrate.automatic import Automatic
from runtime.integrate.balance import no_balance
from runtime.integrate.tree_method import OFF_THE_ROWS, memory_of_tree, module_of_tree, off_the_rows, tree_of
from runtime.integrate.tree_scales import scales_of, with_states
from runtime.integrate.variational.contacts import (
    ContactDirections,
    contact_directions,
    given_forces_part,
    set_forces,
    some_touch,
)
from runtime.integrate.variational.differences import BOTH_SIDES, weights
from runtime.integrate.variational.jumps import change_forces, follow_modes, know_types, measure_points
from runtime.integrate.variational.kinks import (
    AHEAD,
    BEHIND,
    JUMP,
    ON_NONE,
    SOON,
    KinkDirections,
    keep_sides,
    kink_directions,
    kink_in_time,
    kink_over,
    note_sides,
    note_sides_differ,
    put_moved,
    settle,
    step_beside,
    use_side,
)
from runtime.integrate.variational.points import NEARBY, OF_BODIES, OF_FORCES, place_points, shift
from runtime.jit.compilation import inlined
from runtime.jit.pointers import array_at, at_address, call_at
from runtime.jit.references import Reference
from runtime.results.whole_turns import WholeTurns, whole_turns
from runtime.support.arrays import Floats, Ints
from runtime.support.latest import Latest
from runtime.system.force_states import states_of_forces
from runtime.system.spanning_tree import SpanningTree
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.trees import trees_of
from runtime.system.whole_model import whole_of

ITSELF, DIRECTIONS, OF_MOTION = range(ADDRESSES, ADDRESSES + 3)  # places in ``Workspace.address``
TURN = 2.0 * np.pi
OF_DERIVATIVES = 0.1  # by which errors of derivatives count beside those of the motion


class Directions(NamedTuple):
    """Parameters of the derivatives, as nearby systems, and memory."""

    points: Ints  # (K,) nearby systems of a difference: 2, 4 on one side, 6 of a function, 0 for a parameter of the initial state
    data: Ints  # (K, 6) addresses of their data, and of that of more systems, which serve beside kinks
    works: Ints  # (K, 6) addresses of their memory
    offsets: Floats  # (K, 6) how much larger the parameter is in them
    factors: Floats  # (K, 6)
    itself: Ints  # (2,) addresses of the data of the system itself and of memory for it
    places: Floats  # (2 or 6,) of points of a difference along a direction
    weights: Floats  # (2 or 6,)
    used: Ints  # (1,) number of points of a difference
    at: Ints  # (12, 2) their addresses of data and memory
    along: Floats  # (12, 2) so many times z, and the weight
    scale: Floats  # (n,) of the components of a state
    shifted: Floats  # (n,) memory
    rates: Floats  # (n,)
    base: Floats  # (n,)
    left: Floats  # (2,)
    times: Floats  # (K,) derivatives of the time at which a contact changes its mode
    contacts: ContactDirections
    kinks: KinkDirections


@dataclass(frozen=True)
class Nearby:
    """A system with a nearby parameter, and its initial state."""

    system: System
    y: Floats


class Varied:
    """States of a system with their derivatives with respect to K parameters, and memory for their evaluation.

    ``tree``: of the coordinates that are integrated, or None for the states of bodies.  ``nearby``: for each parameter nearby
    systems, how much larger it is in them, and the weights with which their changes add up to the derivative.  ``state_alone``:
    whether a parameter changes the initial state alone.  ``places``: of differences along derivatives of states.  ``alike`` is
    False where the nearby systems or the initial state have no such coordinates.
    """

    def __init__(
        self, system: System, data: ModelData, tree: SpanningTree | None, y: Floats,
        nearby: Sequence[tuple[Sequence[Nearby], Floats, Floats]], state_alone: Sequence[bool], places: Floats,
    ) -> None:  # fmt: skip
        self.system, self.tree, self.nearby, self.n, count = system, tree, nearby, 0, len(nearby)
        others = [one.system for near, _, _ in nearby for one in near]
        trees = [] if tree is None else [trees_of(other).tree for other in others]
        self.alike = all(one is not None and tree is not None and _shape(one) == _shape(tree) for one in trees)
        if not self.alike:
            return
        # Often those of one state, also of systems that differ in forces alone.
        names = system.body_names
        self._of_joints = Latest(lambda steps, motions, of: joint_coordinates(steps, names, motions, of[None])[0], 2)
        z = self._coordinates(system, y)
        self.n = n = len(z)
        # Kernels that differ in the components that they have as numbers may differ in the rows that they leave out.
        kernels = {one.model.key if tree is None else module_of_tree(one) for one in (system, *others)}
        self.by_kernel = len(kernels) == 1
        self.work = self._workspace(system, data)
        self.alike = self._fits(self.work, z, y)
        self._kept: list[Reference] = []
        self._works: list[list[Workspace]] = []
        points = np.array(
            [0 if alone else np.count_nonzero(of) for (_, _, of), alone in zip(nearby, state_alone, strict=True)]
        )
        systems, works = np.zeros((count, 6), np.int64), np.zeros((count, 6), np.int64)
        offsets, factors = np.zeros((count, 6)), np.zeros((count, 6))
        slopes = np.zeros((count, n))
        for k, (near, apart, of) in enumerate(nearby):
            self._works.append([])
            initial = [self._coordinates(one.system, one.y) for one in near]
            slopes[k] = of @ [self._near(own, z) - z for own in initial]
            offsets[k, : len(near)], factors[k, : len(near)] = apart, of
            for q, (one, own) in enumerate(zip(near, initial, strict=True)):
                memory = self.work
                if not state_alone[k]:
                    other = stabilised(one.system.data, data.alpha, data.beta)
                    memory = self._memory(one.system, other)
                    self._works[k].append(memory)
                    systems[k, q], works[k, q] = self._keep(other), self._keep(memory)
                self.alike = self.alike and self._fits(memory, own, one.y)
        # The last evaluation in the memory of the motion is to be that of the state itself.
        itself = self._memory(system, data) if system.contacts or len(data.forces.state_place) else self.work
        self.contacts = contact_directions(data, offsets, BOTH_SIDES, weights(BOTH_SIDES), n)
        self.kinks, scale = kink_directions(data, self.work), np.full(n, OF_BODIES)
        scale[n - len(data.forces.state_place) :] = OF_FORCES
        directions = Directions(
            points=points, data=systems, works=works, offsets=offsets, factors=factors,
            itself=np.array([self._keep(data), self._keep(itself)]), places=places, weights=weights(places),
            used=np.zeros(1, np.int64), at=np.zeros((12, 2), np.int64), along=np.zeros((12, 2)), scale=scale,
            shifted=np.zeros(n), rates=np.zeros(n), base=np.zeros(n), left=np.zeros(2), times=np.zeros(count),
            contacts=self.contacts, kinks=self.kinks,
        )  # fmt: skip
        know_types(data, self.work)
        if not _TYPES:
            globals()["_TYPES"] = (numba.typeof(data), numba.typeof(self.work), numba.typeof(directions))
        address = np.zeros(ADDRESSES + 3, np.int64)
        address[: len(self.work.address)] = self.work.address
        address[EVALUATION], address[ITSELF] = place_of_part(_entry), self.work.address[EVALUATION]
        address[PROJECTION], address[OF_MOTION] = place_of_part(_projection), self.work.address[PROJECTION]
        address[DIRECTIONS] = self._keep(directions)
        address[AFTERWARDS] = place_of_part(_after_step) if len(self.kinks.own) else 0
        self.work = self.work._replace(address=address)
        self.start = np.concatenate([z, slopes.ravel()])

    def _coordinates(self, system: System, y: Floats) -> Floats:
        own = y if self.tree is None else self._of_joints(trees_of(system).steps, system.joint_motions, y)
        return np.append(own, states_of_forces(system, system.state))

    def _near(self, z: Floats, to: Floats) -> Floats:
        """Coordinates of the same pose nearest to others: without whole turns, and with Euler parameters of their sign."""
        z, place = z.copy(), 0
        for kind in () if self.tree is None else self.tree.kinds:
            if kind == "turn":
                z[place] -= TURN * np.round((z[place] - to[place]) / TURN)
            if kind in ("ball", "free"):
                at = slice(place + (3 if kind == "free" else 0), place + (7 if kind == "free" else 4))
                z[at] *= -1.0 if z[at] @ to[at] < 0.0 else 1.0
            place += {"turn": 1, "slide": 1, "ball": 4, "free": 7}[kind]
        return z

    def _memory(self, system: System, data: ModelData) -> Workspace:
        """Memory for a nearby system, with the modes of the system itself; its contacts have forces that are given."""
        memory = self._workspace(system, data)
        if system.contacts:
            memory.address[CONTACTS] = place_of_part(given_forces_part)
        return memory._replace(
            limits=memory.limits._replace(mode=self.work.limits.mode),
            contacts=memory.contacts._replace(mode=self.work.contacts.mode),
        )

    def _workspace(self, system: System, data: ModelData) -> Workspace:
        if self.tree is None:
            work = workspace_for(data, whole_of(system, data) if self.by_kernel else None)
        else:
            work = workspace_for(data, tree=memory_of_tree(system, data, tree_of(system), by_kernel=self.by_kernel))
        follow_states(data.forces, work.forces)
        return work

    def _keep(self, value: Any) -> int:
        self._kept.append(Reference(value))
        return self._kept[-1].address

    def _lifted(self, work: Workspace, z: Floats) -> Floats:
        """States of the bodies (m, 13 bodies) of those that are integrated."""
        if self.tree is None:
            return z[:, : len(work.motion)].copy()
        out = np.empty((len(z), len(work.motion)))
        lift_all(work.tree.data, work.tree.lifting, np.ascontiguousarray(z), out)
        return out

    def _fits(self, work: Workspace, z: Floats, y: Floats) -> bool:
        """Whether coordinates z lead to a state y of the bodies."""
        return bool(off_the_rows(_signed(self._lifted(work, z[None]), y[None])[0], y) <= OFF_THE_ROWS)

    def turns(self, y: Floats) -> WholeTurns | None:
        """Whole turns of rows y of the integration, where coordinates count them."""
        if self.tree is None:
            return None
        places = places_of_turns(self.work.tree.data)
        return whole_turns(self.start[places], y[:, places])

    def of_forces(self, y: Floats, count: int) -> tuple[Floats, Floats]:
        """So many states of forces (m, count), and their derivatives (m, count, K), of rows y of the integration."""
        slopes = y[:, self.n :].reshape(len(y), len(self.nearby), self.n)
        return y[:, self.n - count : self.n], np.moveaxis(slopes[:, :, self.n - count :], 1, 2)

    def of_bodies(self, y: Floats) -> tuple[Floats, Floats]:
        """States of the bodies (m, 13 bodies), and their derivatives (m, 13 bodies, K), of rows y of the integration."""
        n, count = self.n, len(self.nearby)
        z, slopes = np.ascontiguousarray(y[:, :n]), y[:, n:].reshape(len(y), count, n)
        own = self._lifted(self.work, z)
        if self.tree is None:
            return own, np.moveaxis(slopes[:, :, : own.shape[1]], 1, 2)
        found = np.zeros((*own.shape, count))
        for k, (_, _, factors) in enumerate(self.nearby):
            reach = (np.abs(slopes[:, k]) / np.maximum(np.abs(z), 1.0)).max(axis=1, keepdims=True)
            h = NEARBY / np.where(reach > 0.0, reach, 1.0)
            for place, weight in zip(BOTH_SIDES, weights(BOTH_SIDES), strict=True):
                found[:, :, k] += weight / h * _signed(self._lifted(self.work, z + place * h * slopes[:, k]), own)
            for factor, memory in zip(factors, self._works[k], strict=False):
                found[:, :, k] += factor * (_signed(self._lifted(memory, z), own) - own)
        return own, found


class AlongDirections(Automatic):
    """The states of a motion and their derivatives, under one control of errors; dop853 alone in joint coordinates."""

    def __init__(
        self,
        varied: Varied,
        data: ModelData,
        t_start: float,
        t_end: float,
        rtol: float,
        atol: float,
        *,
        projected: bool,
    ) -> None:
        self.varied = varied
        span = t_start, t_end, rtol, atol, np.inf, 0.0
        super().__init__("auto", varied.system, data, varied.start, *span, work=varied.work)
        if projected or varied.tree is not None:
            self.lane.needed = 0
        if projected:
            self.project_derivatives()

    def _stepper_for(self, method: str, work: Workspace, y: Any) -> stepping.Stepper:
        tree, n, scales = self.varied.tree, self.varied.n, np.outer([np.inf, 1.0, 0.0, 0.0], np.ones(len(y)))
        if tree is not None:
            scales[:, :n] = with_states(scales_of(tree), len(self.data.forces.state_place))
        scales[stepping.WEIGHT, :n] *= np.sqrt(len(y) / n)
        scales[stepping.WEIGHT, n:] = OF_DERIVATIVES * np.sqrt(len(y) / (len(y) - n))
        bodies = len(self.data.mass) - 1 if tree is None else 0
        return stepping.stepper(y, 0.0, dop853.memory(len(y)), self.data, 0.0, no_balance(), scales, bodies)


def _shape(tree: SpanningTree) -> tuple[Any, ...]:
    """What trees have in common whose coordinates are the same."""
    return tree.kinds, tree.coordinates, tree.closing


def _signed(y: Floats, to: Floats) -> Floats:
    """States with Euler parameters of the signs of others, in place."""
    of, wanted = (states.reshape(len(y), -1, STATE)[..., P:V] for states in (y, to))
    of[(of * wanted).sum(axis=2) < 0.0] *= -1.0
    return y


_TYPES: tuple[Any, ...] = ()  # of data, memory and directions, identical for all systems


@inlined
def same_rows(t, w, memory):  # type: ignore[no-untyped-def]
    """Have a nearby system use the rows that the system itself has chosen."""
    c, to = w.tree.closing, memory.tree.closing
    for j in range(len(t.address) if t.redundant > 0 else 0):
        for r in range(t.rows[j]):
            memory.kept[j, r] = w.kept[j, r]
    for r in range(len(c.order)):
        to.order[r] = c.order[r]
    to.chosen[0], memory.chosen[0] = c.chosen[0], w.chosen[0]


@inlined
def rates_at(time, other, memory, offset, t, w, d):  # type: ignore[no-untyped-def]
    """Put the rates in the state ``shifted`` into ``rates``; a code.

    The forces of contacts are those of the state itself with their changes ``contacts.force`` times the offset.
    """
    same_rows(t, w, memory)
    share_angles(other, w, memory)
    if len(w.contacts.mode) > 0:
        set_forces(offset, memory, w, d.contacts)
    code = call_at(w.address[ITSELF], time, d.shifted, other, memory, VALUE, d.rates)
    put_rates(other, memory, d.rates)
    return code


@inlined
def look_ahead(time, states, slopes, t, w, d):  # type: ignore[no-untyped-def]
    """Take note of the sides to which the motion goes from kinks on which it begins: by a step of Heun's method; a code."""
    other, memory = at_address(d.itself[0], _TYPES[0]), at_address(d.itself[1], _TYPES[1])
    shift(states, SOON, slopes, d)
    code = rates_at(time + SOON, other, memory, 0.0, t, w, d)
    for i in range(len(slopes)):
        d.shifted[i] = states[i] + 0.5 * SOON * (slopes[i] + d.rates[i])
    note_sides(time + SOON, d.shifted, other, memory, d.kinks)
    return code


@inlined
def add_slopes(time, states, k, z, slopes, to, t, w, d):  # type: ignore[no-untyped-def]
    """Put the derivatives of the rates ``slopes`` over parameter k into ``to``, after ``place_points``; a code.

    The forces of contacts change by ``contacts.force``.
    """
    code = OK
    for i in range(len(to)):
        to[i] = 0.0
    for p in range(d.used[0]):
        other, memory = at_address(d.at[p, 0], _TYPES[0]), at_address(d.at[p, 1], _TYPES[1])
        shift(states, d.along[p, 0], z, d)
        code |= rates_at(time, other, memory, d.along[p, 0], t, w, d)
        for i in range(len(to)):
            to[i] += d.along[p, 1] * (d.rates[i] - slopes[i])  # exactly 0 where the parameter has no effect
    return code


@inlined
def add_one_sided(time, states, k, z, slopes, to, t, w, d):  # type: ignore[no-untyped-def]
    """``add_slopes`` on a kink: the mean of both sides, or the one on which there are systems nearby; a code.

    It is NOT_FINITE where both sides differ.
    """
    code, behind = OK, use_side(k, AHEAD, d)
    if behind:
        code |= add_slopes(time, states, k, z, slopes, d.base, t, w, d)
    ahead = use_side(k, BEHIND, d)
    if ahead:
        code |= add_slopes(time, states, k, z, slopes, to, t, w, d)
    if ahead and behind and note_sides_differ(k, to, d.base, d.kinks):
        return NOT_FINITE
    for i in range(len(to) if behind else 0):
        to[i] = 0.5 * (to[i] + d.base[i]) if ahead else d.base[i]
    return code


def _entry(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """Derivatives of the coordinates and of their derivatives with respect to the parameters; a code."""
    d = at_address(w.address[DIRECTIONS], _TYPES[2])
    count, n = len(d.factors), len(d.rates)
    states, slopes = array_at(y, (1 + count) * n), array_at(y_dot, (1 + count) * n)
    if purpose != VALUE and purpose != ANEW:
        return call_at(w.address[ITSELF], time, y, t, w, purpose, y_dot)
    if w.near_singular[0] == 1:
        return SINGULAR  # close to a singular pose
    if len(w.contacts.mode) > 0:
        code = follow_modes(time, states, t, w, d)
        if code != OK:
            return code
    code = call_at(w.address[ITSELF], time, states, t, w, purpose, slopes)
    put_rates(t, w, slopes)
    smallest = w.smallest_pivot[0]
    if len(d.kinks.own) > 0 and d.kinks.begun[0] == 0:
        code |= look_ahead(time, states, slopes[:n], t, w, d)
        d.kinks.begun[0] = 1
        settle(time, states, slopes[:n], w, d)
    note_sides(time, states, t, w, d.kinks)
    for k in range(count if code == OK else 0):
        z, to = states[(1 + k) * n : (2 + k) * n], slopes[(1 + k) * n : (2 + k) * n]
        place_points(k, states, z, d)
        if len(d.kinks.own) > 0:
            keep_sides(time, k, states, z, w, d)
        if some_touch(d.contacts):
            measure_points(time, states, k, z, w, d)
            change_forces(k, t, w, d)
        if d.kinks.on[0] != ON_NONE:
            code |= add_one_sided(time, states, k, z, slopes, to, t, w, d)
        else:
            code |= add_slopes(time, states, k, z, slopes, to, t, w, d)
    w.smallest_pivot[0] = smallest
    return code


@inlined
def pass_kink(time, i, states, slopes, t, w, d):  # type: ignore[no-untyped-def]
    """Jumps of the derivatives where the motion has passed a kink, just behind which it goes on; a code."""
    other, memory = at_address(d.itself[0], _TYPES[0]), at_address(d.itself[1], _TYPES[1])
    kinks, n = d.kinks, len(d.rates)
    step_beside(time, i, -1.0, states, slopes, w, d)
    code = rates_at(time, other, memory, 0.0, t, w, d)
    for r in range(n):
        d.base[r] = d.rates[r]
    step_beside(time, i, 1.0, states, slopes, w, d)
    code |= rates_at(time, other, memory, 0.0, t, w, d)
    jump = size = 0.0
    for r in range(n):
        states[r] = d.shifted[r]
        jump, size = max(jump, abs(d.base[r] - d.rates[r])), max(size, abs(d.base[r]), abs(d.rates[r]))
    if not jump > JUMP * size:
        return code
    for r in range(n):
        d.base[r] -= d.rates[r]
    put_moved(time, other, memory, w, d)
    kinks.own[i] = kinks.moved[i]
    in_time = kink_in_time(time, i, states, slopes, w, d)
    for k in range(len(d.factors)):
        z = states[(1 + k) * n : (2 + k) * n]
        of_time = -kink_over(time, i, k, states, z, w, d) / in_time
        for r in range(n):
            z[r] += d.base[r] * of_time
    return code


def _after_step(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """Jumps of the derivatives after an accepted step that has passed a kink, and the derivatives behind it; a code."""
    d = at_address(w.address[DIRECTIONS], _TYPES[2])
    size = (1 + len(d.factors)) * len(d.rates)
    states, slopes = array_at(y, size), array_at(y_dot, size)
    own = slopes[: len(d.rates)]
    passed = settle(time, states, own, w, d)
    if passed == ON_NONE:
        return OK
    code = pass_kink(time, passed, states, own, t, w, d)
    return code | call_at(w.address[EVALUATION], time, states, t, w, purpose, slopes)


def _projection(time, y, t, w, manner, left):  # type: ignore[no-untyped-def]
    """Project coordinates and rates, and their derivatives with respect to the parameters, onto the rows; a code."""
    d = at_address(w.address[DIRECTIONS], _TYPES[2])
    count, n = len(d.factors), len(d.rates)
    states = array_at(y, (1 + count) * n)
    call_at(w.address[OF_MOTION], time, states, t, w, manner, left)
    for k in range(count):
        z = states[(1 + k) * n : (2 + k) * n]
        place_points(k, states, z, d)
        for i in range(n):
            d.base[i] = 0.0
        for p in range(d.used[0]):
            other, memory = at_address(d.at[p, 0], _TYPES[0]), at_address(d.at[p, 1], _TYPES[1])
            shift(states, d.along[p, 0], z, d)
            call_at(w.address[OF_MOTION], time, d.shifted, other, memory, TO_ZERO, d.left)
            for i in range(n):
                d.base[i] += d.along[p, 1] * (d.shifted[i] - states[i])
        for i in range(n):
            z[i] = d.base[i]
    return OK
