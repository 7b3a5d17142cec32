"""Steps and bodies of a tree in lanes, as far as the equations and the forces that act on them need them.

Each quantity is written when something asks for it first.  Vectors are in global axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import Any

from runtime.dynamics.kinematics import rotation
from runtime.dynamics.layout import GROUND_INDEX, OMEGA, STATE, P, R, V
from runtime.dynamics.lift import GROUND_STEP, product
from runtime.dynamics.small_matrices import cross, matrix_product, plus, plus_times, times, turn_about
from runtime.integrate.written.acting_contacts import NOTHING
from runtime.integrate.written.acting_forces import ActingForces, Rows
from runtime.jit.python_code import python_code
from runtime.jit.recorder import Number, Recorded
from runtime.lanes.vector_formulas import with_vectors
from runtime.system.spanning_tree import COORDINATES, OF_KIND, RATES, places_of

NONE = (0.0, 0.0, 0.0)
EYE = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
Three = Any  # a vector of three numbers
Place = tuple[str, int, int]  # of a parameter: of what, which of these, its place among its numbers

# Formulas of compiled code, which write the same operations for vectors.
cross, matrix_product, plus, plus_times, product, times, turn_about = map(
    with_vectors, (cross, matrix_product, plus, plus_times, product, times, turn_about)
)


def matrix_of(p: Sequence[Number]) -> tuple[Number, ...]:
    """Rotation matrix of Euler parameters of any length, row by row."""
    found: dict[tuple[int, int], Number] = {}
    python_code(rotation)(p, found)
    return tuple(found[r, c] for r in range(3) for c in range(3))


class Places:
    """Steps, bodies and arguments of a function for lanes.

    ``whole``: the function is that of the equations, which has all steps and what they carry; ``known``: parameters that are
    numbers of its text; ``code``: vector instructions, or the text of one lane.
    """

    def __init__(
        self, code: Any, acting: ActingForces, data: dict[str, Any], *, whole: bool = False,
        known: Mapping[Place, float] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.code, self.acting, self.data = code, acting, data
        self.rows, self.known = Rows(acting, whole=whole), known
        self.loaded: dict[tuple[str, int], Recorded] = {}
        self.q, self.u = places_of(acting.kinds)
        self.kinds = [OF_KIND[kind] for kind in acting.kinds]
        steps = range(len(acting.kinds)) if whole else acting.steps()
        self.steps = {k: Step(self, k) for k in (GROUND_STEP, *steps)}
        self.bodies = {b: Body(self, b) for b in (GROUND_INDEX, *acting.bodies())}

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Forget afterwards what is written in this context: instructions that are not always carried out."""
        written: list[dict[Any, Any]] = [self.loaded, *map(vars, (*self.steps.values(), *self.bodies.values()))]
        before = [dict(own) for own in written]
        yield
        for own, known in zip(written, before, strict=True):
            own.clear()
            own.update(known)

    def rows_of_steps(self) -> Any:
        """What the steps have as rows of arrays, as formulas of compiled code read them."""
        names = "A", "omega", "way", "axis", "rate", "force", "moment"
        return SimpleNamespace(**{name: _Rows(self.steps, name) for name in names})

    def load(self, name: str, row: int) -> Recorded:
        """A row of an argument."""
        if (name, row) not in self.loaded:
            self.loaded[name, row] = self.code.load(self.data[name], row)
        return self.loaded[name, row]

    def signal(self, number: int, derivative: int = 0) -> Number:
        """A signal or one of its derivatives."""
        if number in self.acting.constants:
            return 0.0 if derivative else self.parameter("signal", number, 0)
        return 0.0 if number == NOTHING else self.load("signals", 3 * number + derivative)

    def whole_state(self) -> list[Recorded]:
        """All coordinates and rates."""
        return [self.load("z", row) for row in range(self.u[-1])]

    def state(self, row: int, count: int) -> tuple[Recorded, ...]:
        """So many coordinates or rates from a row on."""
        return tuple(self.load("z", row + c) for c in range(count))

    def parameter(self, sort: str, k: int, place: int) -> Number:
        """A parameter of a step, body, motor or force."""
        if (sort, k, place) in self.known:
            return self.known[sort, k, place]
        return self.load("parameters", self.rows.of(sort, k) + place)

    def three(self, sort: str, k: int, place: int) -> Three:
        """Three parameters from a place on."""
        x, y, z = (self.parameter(sort, k, place + c) for c in range(3))
        return x, y, z


class _Rows:
    """What the steps have, by their numbers; the ground has the one behind the last.  0 of steps that are not placed."""

    def __init__(self, steps: Mapping[int, Step], name: str) -> None:
        self.steps, self.name = steps, name

    def __getitem__(self, k: int) -> Any:
        if k not in self.steps and k < len(self.steps[GROUND_STEP].of.kinds):
            return (0.0,) * 9
        return getattr(self.steps.get(k, self.steps[GROUND_STEP]), self.name)

    def __setitem__(self, k: int, value: Any) -> None:
        if k in self.steps:
            setattr(self.steps[k], self.name, value)


class Step:
    """What a step of a tree moves: its point, and the rotation since the reference configuration.  The ground has no number."""

    def __init__(self, of: Places, k: int = GROUND_STEP) -> None:
        self.of, self.k = of, k
        self.force: Three = NONE  # on what the step moves last, then on all beyond it
        self.moment: Three = NONE  # about its point

    @property
    def moves(self) -> bool:
        """Whether it is not the ground."""
        return self.k != GROUND_STEP

    @cached_property
    def before(self) -> Step:
        """The step that carries it."""
        return self.of.steps[self.of.acting.parents[self.k]]

    @property
    def kind(self) -> str:
        """Such as "turn"; "" of the ground."""
        return self.of.acting.kinds[self.k] if self.moves else ""

    @cached_property
    def _in_angles(self) -> bool:
        """Whether turns lead to it, which have no Euler parameters in the state."""
        return self.moves and (self.kind == "turn" or self.before._in_angles)

    @cached_property
    def coordinates(self) -> tuple[Recorded, ...]:
        """Of the step: an angle, a distance, Euler parameters, or a displacement and Euler parameters."""
        return self.of.state(self.of.q[self.k], COORDINATES[self.kind])

    @cached_property
    def rates(self) -> tuple[Recorded, ...]:
        """Of the step; angular velocities of a ball and a free step in axes of what it carries."""
        return self.of.state(self.of.u[self.k], RATES[self.kind])

    @cached_property
    def own_axis(self) -> Three:
        """In the reference configuration."""
        return self.of.three("step", self.k, 0)

    @cached_property
    def axis(self) -> Three:
        """Of a turn, or the direction of a slide."""
        return times(self.before.A, self.own_axis)

    @cached_property
    def A(self) -> tuple[Number, ...]:
        """Rotation matrix, row by row."""
        if not self.moves:
            return EYE
        if self.kind == "slide":
            return self.before.A
        if self.kind == "turn":
            sine, cosine = self.of.code.sine_and_cosine(self.coordinates[0])
            own = turn_about(self.own_axis, cosine, sine)
        elif not self.before._in_angles:
            return matrix_of(self.p)  # fewer operations than a product of matrices
        else:
            own = matrix_of(self.coordinates[-4:])
        return matrix_product(self.before.A, own)  # type: ignore[no-any-return]

    @cached_property
    def p(self) -> tuple[Number, ...]:
        """Euler parameters."""
        if not self.moves:
            return 1.0, 0.0, 0.0, 0.0
        if self.kind == "slide":
            return self.before.p
        own = self.coordinates[-4:]
        if self.kind == "turn":
            sine, cosine = self.of.code.sine_and_cosine(0.5 * self.coordinates[0])
            x, y, z = self.own_axis
            own = cosine, sine * x, sine * y, sine * z
        turned: tuple[Number, ...] = product(self.before.p, own)
        return turned

    @cached_property
    def rate(self) -> Three:
        """Relative angular velocity [rad/s], of a slide relative velocity of its point [m/s]."""
        if self.kind in ("turn", "slide"):
            return plus_times(NONE, self.rates[0], self.axis)
        return times(self.A, self.rates[-3:])

    @cached_property
    def way(self) -> Three:
        """From the point of the step before."""
        way = times(self.before.A, self.of.three("step", self.k, 3))
        if self.kind == "slide":
            return plus_times(way, self.coordinates[0], self.axis)
        return plus(way, self.coordinates[:3]) if self.kind == "free" else way

    @cached_property
    def r(self) -> Three:
        """Position of its point [m]."""
        return plus(self.before.r, self.way) if self.moves else NONE

    @cached_property
    def v(self) -> Three:
        """Velocity of its point [m/s]."""
        if not self.moves:
            return NONE
        if self.kind == "free":
            return self.rates[:3]
        v = plus(self.before.v, cross(self.before.omega, self.way))
        return plus(v, self.rate) if self.kind == "slide" else v

    @cached_property
    def omega(self) -> Three:
        """Angular velocity of what it moves [rad/s]."""
        if not self.moves:
            return NONE
        return self.before.omega if self.kind == "slide" else plus(self.before.omega, self.rate)


class Body:
    """A body; by index its state, as kernels read it."""

    def __init__(self, of: Places, body: int) -> None:
        self.of, self.body = of, body
        self.step = of.steps[of.acting.step_of(body)]
        self.force: Three = NONE
        self.moment: Three = NONE  # about its centre of mass

    def __getitem__(self, k: int) -> Number:
        for first, part in ((OMEGA, "omega"), (V, "v"), (P, "p"), (R, "r")):
            if k >= first:
                return getattr(self, part)[k - first]
        raise IndexError(k)

    def __len__(self) -> int:
        return STATE

    @property
    def fixed(self) -> bool:
        """Whether it is the ground, which has no parameters."""
        return self.body == GROUND_INDEX

    @cached_property
    def arm(self) -> Three:
        """From the point of its step."""
        return NONE if self.fixed else times(self.step.A, self.of.three("body", self.body, 0))

    @cached_property
    def r(self) -> Three:
        """Position of its centre of mass [m]."""
        return plus(self.step.r, self.arm)

    @cached_property
    def v(self) -> Three:
        """Velocity of its centre of mass [m/s]."""
        return plus(self.step.v, cross(self.step.omega, self.arm))

    @property
    def omega(self) -> Three:
        """Angular velocity [rad/s]."""
        return self.step.omega

    @cached_property
    def p(self) -> tuple[Number, ...]:
        """Euler parameters, of unit length."""
        if self.fixed:
            return 1.0, 0.0, 0.0, 0.0
        p = product(self.step.p, tuple(self.of.parameter("body", self.body, 3 + c) for c in range(4)))
        length = sum(e * e for e in p) ** 0.5
        return tuple(e / length for e in p)

    @cached_property
    def A(self) -> tuple[Number, ...]:
        """Rotation matrix from axes of the body, row by row."""
        own = matrix_of(tuple(self.of.parameter("body", self.body, 3 + c) for c in range(4)))
        return matrix_product(self.step.A, own)  # type: ignore[no-any-return]

    def place(self) -> None:
        """Write its place and velocities, if they are not written yet."""
        _ = self.r, self.v, self.omega, self.step.A

    def push(self, force: Three, moment: Three) -> None:
        """Add a force, and a moment about the centre of mass."""
        self.force, self.moment = plus(self.force, force), plus(self.moment, moment)
