"""Equations of motion of a tree for LANES cases side by side: ``runtime.dynamics.recursion`` as one straight-line function.

The formulas are those of the recursion, run with vectors.  Kinds and parents of the steps are known when the function is written,
so it has no branches; steps between those of a joint, which carry no body themselves, take no operations for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

from runtime.dynamics import recursion
from runtime.dynamics.kinematics import euler_rates
from runtime.dynamics.lift import BALL, FREE, GROUND_STEP, SLIDE, TURN
from runtime.dynamics.limits_along import OF_LIMIT
from runtime.dynamics.small_matrices import dot
from runtime.integrate.written.acting_forces import OF_BODY, OF_CARRIED, OF_STEP, ActingForces, Rows, acting_forces
from runtime.integrate.written.equation_parameters import parameters_of_equations
from runtime.integrate.written.limit_moments import moments_of_limit
from runtime.integrate.written.placed_bodies import NONE, Place, Places, Step
from runtime.integrate.written.tree_forces import ForcesOnSteps
from runtime.integrate.written.tree_reactions import JointLoads
from runtime.jit.python_code import python_code
from runtime.jit.recorder import Number
from runtime.lanes.vector_formulas import with_vectors
from runtime.lanes.written_function import address_of_lanes, text_of_lane
from runtime.support.arrays import Floats
from runtime.support.latest import Latest
from runtime.system.spanning_tree import OF_KIND
from runtime.system.system import System

MOST_STEPS = 24  # of a tree: machine code is made in 3 s, and the time grows a little faster than the number
OF_ARMS = {5: (1, 2), 6: (1, 3), 8: (2, 3)}  # products of inertia have a part of these components of the moment
AXES = dict(z=1, signals=2, parameters=2, limits=2, z_dot=1, power=1, energy=1, worst=1)  # of the arrays
NAME = "equations"  # of the function of the text

carry_nothing, carried, accelerations_of_rates, eliminate_axis, add_to, eliminate_ball, add_ball, move_along, turn_freely = map(
    with_vectors,
    (
        recursion.carry_nothing, recursion.carried, recursion.accelerations_of_rates, recursion.eliminate_axis,
        recursion.add_to, recursion.eliminate_ball, recursion.add_ball, recursion.move_along, recursion.turn_freely,
    ),
)  # fmt: skip
inverse_of, times_symmetric, plus, plus_times, minus, cross = (
    with_vectors(getattr(recursion, name))
    for name in ("inverse_of", "times_symmetric", "plus", "plus_times", "minus", "cross")
)
dot = python_code(dot)


def _limited(system: System) -> tuple[int, ...]:
    return () if system.tree_in_lanes is None else system.tree_in_lanes.limited_steps


def _address(system: System, known: Mapping[Place, float]) -> int:
    acting, limited = acting_forces(system), _limited(system)
    return address_of_lanes(
        "equations_of_tree", AXES, partial(_write, acting, limited, known), __name__,
        "the equations of a tree in a batch", repr(limited), repr(sorted(known.items())), *acting.text(),
    )  # fmt: skip


def _address_as_it_is(system: System) -> int:
    try:
        return _address(system, _plain_numbers(system))
    except (ArithmeticError, ValueError):  # such as a kernel that divides by a number that is 0
        return _addresses(system)


_addresses, _addresses_as_it_is = Latest(lambda system: _address(system, {}), 8), Latest(_address_as_it_is, 8)


def _plain(system: System) -> dict[Place, float]:
    """Numbers that are 0, 1 or -1 in axes, ways, arms and poses, and 0 in moments and inertias, by their places.

    As numbers of the text they leave out most products, and all that motions in a plane do not have.
    """
    acting, tree = acting_forces(system), system.tree_of_joints
    assert tree is not None
    rows, own = Rows(acting, whole=True), parameters_of_equations(system).tolist()
    sizes = [("step", range(len(tree.kinds)), 0, OF_STEP), ("body", acting.bodies(), 0, OF_BODY)]
    alone = [k for k in acting.carrying() if acting.body_step.count(k) == 1]  # of several bodies numbers may cancel
    sizes.append(("carried", alone, 1, OF_CARRIED))  # but the mass
    found: dict[Place, float] = {}
    for sort, which, first, end in sizes:
        wanted = (0.0,) if sort == "carried" else (-1.0, 0.0, 1.0)
        for k in which:
            at = rows.of(sort, k)
            found |= {(sort, k, c): own[at + c] + 0.0 for c in range(first, end) if own[at + c] in wanted}
    for k in alone:
        for c, (a, b) in OF_ARMS.items():
            if ("carried", k, a) not in found and ("carried", k, b) not in found:
                found.pop(("carried", k, c), None)  # a sum, which is 0 for this mass alone
    return found


_plain_numbers = Latest(_plain, 8)


def has_plain_numbers(system: System, parameters: Floats) -> bool:
    """Whether parameters (cases, P) have the plain numbers of the system."""
    rows, known = Rows(acting_forces(system), whole=True), _plain_numbers(system)
    at = [rows.of(sort, k) + place for sort, k, place in known]
    return bool((parameters[:, at] == list(known.values())).all())


def address_of_recursion(system: System, *, general: bool = False) -> int:
    """Address in this process of the equations of the tree of a system with all that acts on it; see ``known_forces``.

    It takes the addresses of arrays of doubles whose last axis are the lanes: z (n), coordinates and rates of the tree; signals
    (S, 3), value and two derivatives of all signals of the system; parameters (P) as of ``parameters_of_equations``; four
    constants of each limit along a coordinate, as of ``limits_along``; and of its results: z_dot (n); power (1) [W] that is not
    stored, the sum over the sources but limits; energy (1) [J] in springs of motors, in forces and in contacts; worst (1),
    inverse square of the smallest pivot as a fraction of its row.

    Parameters
    ----------
    general : bool
        Of any parameters.  Otherwise those of the cases are 0, 1 or -1 where the system has such axes, ways, arms and poses, and
        0 where its moments and inertias are.
    """
    return _addresses(system) if general else _addresses_as_it_is(system)


def text_of_recursion(system: System, *, general: bool = False) -> str:
    """A function of Python for one lane, as the function of ``address_of_recursion``, for the compilers of other machines."""
    if not general:
        with suppress(ArithmeticError, ValueError):  # as of ``_address_as_it_is``
            return _text(system, _plain_numbers(system))
    return _text(system, {})


def _text(system: System, known: Mapping[Place, float]) -> str:
    return text_of_lane(NAME, AXES, partial(_write, acting_forces(system), _limited(system), known))


def _write(
    acting: ActingForces, limited: tuple[int, ...], known: Mapping[Place, float], code: Any, data: dict[str, Any]
) -> None:
    _Equations(Places(code, acting, data, whole=True, known=known), limited).write()


class _Rows:
    """What the steps have, as rows of an array; the ground has the number behind the last one."""

    def __init__(self, places: Places, name: str) -> None:
        self.places, self.name = places, name

    def __getitem__(self, k: int) -> Any:
        return getattr(self.places.steps[GROUND_STEP if k == len(self.places.acting.kinds) else k], self.name)


class _Equations:
    """The code of the equations for lanes; ``limited``: the steps that limits restrain."""

    def __init__(self, places: Places, limited: tuple[int, ...]) -> None:
        self.at, self.code, self.acting, self.limited = places, places.code, places.acting, limited
        self.count = len(self.acting.kinds)
        self.kinds = [OF_KIND[kind] for kind in self.acting.kinds]
        self.poses = SimpleNamespace(**{name: _Rows(places, name) for name in ("A", "omega", "way", "axis", "rate")})
        self.memory = SimpleNamespace(**{name: {} for name in recursion.RecursionWorkspace._fields})
        self.data = SimpleNamespace(kind=self.kinds, parent=self.acting.parents, u=places.u)
        mass: list[Number] = [0.0] * self.count
        moment, inertia = [NONE] * self.count, [(0.0,) * 9] * self.count
        for k in self.acting.carrying():
            x: list[Number] = [places.parameter("carried", k, c) for c in range(10)]
            xx, xy, xz, yy, yz, zz = x[4:]
            mass[k], moment[k], inertia[k] = x[0], tuple(x[1:4]), (xx, xy, xz, xy, yy, yz, xz, yz, zz)
        self.data.mass, self.data.moment, self.data.inertia = mass, moment, inertia
        self.gravity = places.three("gravity", 0, 0)
        self.carried: dict[int, Any] = {}  # by step, before its rates are eliminated
        self.worst: Number = 0.0
        self.fractions: Number = 0.0

    def write(self) -> None:
        """Write all instructions."""
        forces = ForcesOnSteps(self.at)
        forces.apply()
        for k in self.acting.steps():
            step = self.at.steps[k]
            forces.power = forces.power + dot(step.force, step.v) + dot(step.moment, step.omega)
        for limit, k in enumerate(self.limited):
            self._restrain(limit, self.at.steps[k])
        self._inwards()
        z_dot = self._outwards()
        if self.acting.reactive:
            good = JointLoads(forces, self, self.carried).add_to(z_dot)
            self.fractions = self.fractions + self.code.select(good, 0.0, float("nan"))
        for k in range(self.count):
            self._rates_of_coordinates(self.at.steps[k], z_dot)
        for row in range(self.at.u[-1]):
            self.code.store(z_dot[row], self.at.data["z_dot"], row)
        known = self.code.compare("==", self.fractions, self.fractions)
        results = {
            "power": forces.power, "energy": forces.energy,
            "worst": self.code.select(known, self.worst, float("nan")),
        }  # fmt: skip
        for name, value in results.items():
            self.code.store(value, self.at.data[name], 0)

    def _restrain(self, limit: int, step: Step) -> None:
        """Put the moment of a limit on a turn and on the step before; the batch has its power."""
        constants = [self.at.load("limits", OF_LIMIT * limit + c) for c in range(OF_LIMIT)]
        against, damped = moments_of_limit(constants, step.coordinates[0], step.rates[0])
        moment = plus_times(NONE, -against - damped, step.axis)
        step.moment = plus(step.moment, moment)
        if step.before.moves:
            step.before.moment = minus(step.before.moment, moment)

    def _keep(self, fraction: Number) -> None:
        """Take a pivot, as a fraction of its row, into the worst of all."""
        inverse = 1.0 / fraction
        square = inverse * inverse
        self.worst = self.code.select(self.code.compare(">", square, self.worst), square, self.worst)
        self.fractions = self.fractions + fraction

    def _inwards(self) -> None:
        """As ``recursion.inwards``."""
        t, s, w = self.data, self.poses, self.memory
        on = SimpleNamespace(force=_Rows(self.at, "force"), moment=_Rows(self.at, "moment"))
        for k in range(self.count):
            carry_nothing(w, k)
        for k in reversed(range(self.count)):
            kind, b = self.kinds[k], self.acting.parents[k]
            J, H, M, n, f = self.carried[k] = carried(t, s, w, on, k)
            turning, moving = accelerations_of_rates(t, s, k)
            way, w.turning[k], w.moving[k] = s.way[k], turning, moving
            if kind == FREE:
                M, f, _ = eliminate_ball(w, k, J, H, M, n, f)
                w.M[k], _ = inverse_of(M)
                w.moving[k] = times_symmetric(w.M[k], (-f[0], -f[1], -f[2]))
                continue
            if kind == BALL:
                M, f, fraction = eliminate_ball(w, k, J, H, M, n, f)
                if b != GROUND_STEP:
                    add_ball(w, b, way, moving, M, f)
            else:
                slides = kind == SLIDE
                rotor: Number = self.at.parameter("armature", k, 0) if k in self.acting.rotors else 0.0
                J, H, M, n, f, fraction = eliminate_axis(w, k, s.axis[k], slides, rotor, J, H, M, n, f)
                if b != GROUND_STEP:
                    add_to(w, b, way, turning, moving, J, H, M, n, f)
            self._keep(fraction)

    def _outwards(self) -> dict[int, Number]:
        """As ``recursion.outwards``: the derivatives of the rates by row."""
        t, s, w, g = self.data, self.poses, self.memory, self.gravity
        z_dot: dict[int, Number] = {}
        w.alpha[GROUND_STEP], w.a[GROUND_STEP] = NONE, (-g[0], -g[1], -g[2])
        for k in range(self.count):
            b, kind, u = self.acting.parents[k], self.kinds[k], self.at.u[k]
            before, a = w.alpha[b], w.moving[k]
            alpha = plus(before, w.turning[k])
            if kind != FREE:
                a = plus(plus(w.a[b], a), cross(before, s.way[k]))
            if kind in (TURN, SLIDE):
                z_dot[u], alpha, a = move_along(s, w, w.along, k, kind, alpha, a)
            else:
                alpha = turn_freely(t, s, w, w.moment, k, alpha, a, z_dot)
            w.alpha[k], w.a[k] = alpha, a
            if kind == FREE:
                for c in range(3):
                    z_dot[u + c] = a[c] + g[c]
        return z_dot

    def _rates_of_coordinates(self, step: Step, z_dot: dict[int, Number]) -> None:
        """As ``recursion.rates_of_coordinates``, of one step."""
        q = self.at.q[step.k]
        if step.kind in ("turn", "slide"):
            z_dot[q] = step.rates[0]
            return
        if step.kind == "free":
            z_dot.update(zip(range(q, q + 3), step.rates[:3], strict=True))
            q += 3
        of_p: dict[int, Number] = {}
        python_code(euler_rates)(step.coordinates[-4:], step.rates[-3:], of_p)
        z_dot.update({q + c: value for c, value in of_p.items()})
