"""The motion of a joint: reading it, the displacements of its steps, and the twists of its coordinates.

Vectors are in axes of body i, which rests.  Their components are elements of a ring of polynomials.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

from codegen.compiler.calculus import Definition, Moving, Scope, Vector
from codegen.compiler.errors import DefinitionError
from codegen.compiler.reading import argument_names, called

STEPS = ("turn", "slide", "ball")
TAKEN = ("name", "kind", "values", "rates", "units")  # attributes of run.angles[joint] that are no coordinates
CENTRE = "r_j"  # of mass of body j
WIDTH = {"turn": 1, "slide": 1, "ball": 3}  # coordinates of a step
Place = Mapping[str, Vector]  # vectors by their names


@dataclass(frozen=True)
class Step:
    """A turn about an axis through a point, or the centre of body j; a slide along an axis, or any turn about a point."""

    kind: str
    axis: Moving | None = None
    point: Moving | None = None

    @property
    def about_centre(self) -> bool:
        """Whether it is a turn through the centre of mass of body j."""
        return self.kind == "turn" and self.point is None


@dataclass(frozen=True)
class Motion:
    """The steps of a joint by the names of their coordinates, from body i to body j."""

    scope: Scope
    steps: Mapping[str, Step]

    @property
    def coordinates(self) -> int:
        """Number of coordinates."""
        return sum(WIDTH[step.kind] for step in self.steps.values())

    def data(self) -> tuple[tuple[str, str, str, str], ...]:
        """Name, kind of step, axis and point of each coordinate, as the runtime reads them."""
        return tuple(
            (name, step.kind, _listed(step.axis), CENTRE if step.about_centre else _listed(step.point))
            for name, step in self.steps.items()
        )


def _listed(m: Moving | None) -> str:
    return "" if m is None else m.kind if m.kind.startswith("across") else m.name


class MotionScope(Scope):
    """The vectors of a joint, and the steps that its motion is made of."""

    def __init__(self, joint: Scope) -> None:
        super().__init__(joint.definition)
        self.joint = joint

    def error(self, text: str) -> DefinitionError:
        """An error that names the joint."""
        return super().error(f"its motion: {text}")

    def argument(self, name: str) -> Any:
        """A step, ``across``, or a vector of the joint."""
        if name in STEPS:
            return getattr(self, "_" + name)
        vectors = [m.name for m in self.joint.moving.values() if m.kind in ("point", "direction", "frame")]
        if name != "across" and name not in vectors:
            raise self.error(
                f"argument '{name}' is no vector of the joint and no step; it may use {', '.join([*vectors, *STEPS, 'across'])}"
            )
        return super().argument(name)

    def _turn(self, axis: Vector, point: Vector | None = None) -> Step:
        about = self._axis("turn(axis, point)", axis)
        return Step("turn", about, None if point is None else self._point("turn(axis, point)", point))

    def _slide(self, axis: Vector) -> Step:
        return Step("slide", self._axis("slide(axis)", axis))

    def _ball(self, point: Vector) -> Step:
        return Step("ball", point=self._point("ball(point)", point))

    def _axis(self, step: str, value: Vector) -> Moving:
        return self._owner(step, value, ("direction", "frame", "across"), "a direction, such as a_i")

    def _point(self, step: str, value: Vector) -> Moving:
        return self._owner(step, value, ("point",), "a point, such as s_i")

    def _owner(self, step: str, value: Vector, kinds: tuple[str, ...], what: str) -> Moving:
        owner = next((m for m in self.moving.values() if m.value == value), None)
        if owner is None or not owner.kind.startswith(kinds):
            raise self.error(f"{step} needs {what}, of the signature")
        return owner


for _name in STEPS:  # messages of wrong calls have the names that users write
    getattr(MotionScope, f"_{_name}").__qualname__ = _name


def read_motion(joint: Scope, definition: Definition) -> Motion:
    """The motion of a joint that has been read.  Raises DefinitionError."""
    scope = MotionScope(joint)
    arguments = {name: scope.argument(name) for name in argument_names(scope, definition)}
    steps = called(scope, definition, arguments)
    if not isinstance(steps, dict) or not all(isinstance(step, Step) for step in steps.values()):
        raise scope.error("must return its steps by the names of their coordinates, such as {'angle': turn(a_i, s_i)}")
    _refuse_names(scope, steps)
    kinds = [step.kind for step in steps.values()]
    if "ball" in kinds and len(kinds) - kinds.count("slide") > 1:
        raise scope.error(
            "has a turn beside ball(point), and a pose does not tell them apart; use slides in its place, or give no motion"
        )
    if kinds.count("turn") > 2:
        raise scope.error("has more turns than two; use ball(point) in place of three")
    used = {m.name for step in steps.values() for m in (step.axis, step.point) if m}
    used |= {m.kind.partition(":")[2] for m in scope.moving.values() if m.name in used} | {
        s.kind for s in steps.values()
    }
    for name in arguments:
        if name not in used and not (name == "across" and any(n.startswith("across") for n in used)):
            raise scope.error(f"argument '{name}' is not used; use it or remove it")
    return Motion(scope, steps)


def _refuse_names(scope: Scope, steps: Mapping[str, Step]) -> None:
    """Refuse names of coordinates that results of runs cannot have."""
    seen: set[str] = set()
    for name, step in steps.items():
        if not (isinstance(name, str) and name.isidentifier()) or iskeyword(name) or name.startswith("_"):
            raise scope.error(f"{name!r} is no name of a coordinate; use an identifier that begins with a letter")
        if name in TAKEN:
            raise scope.error(
                f"coordinate '{name}': results have {', '.join(TAKEN)} of a joint beside its coordinates; use another name"
            )
        columns = [f"{name}_{axis}" for axis in "xyz"] if step.kind == "ball" else [name]
        if again := seen.intersection(columns):
            raise scope.error(
                f"two coordinates are named '{min(again)}'; a ball has the coordinates NAME_x, NAME_y, NAME_z"
            )
        seen.update(columns)


@dataclass(frozen=True)
class Displacement:
    """The rigid displacement of a step from the pose ``place``; ``symbols``: its coordinate, or functions of it.

    They are the distance of a slide; cosine and sine of a turn; Euler parameters of any turn.
    """

    step: Step
    place: Place
    symbols: tuple[Any, ...]

    @property
    def relation(self) -> Any:
        """Polynomial of the symbols that vanishes; None if there is none."""
        return None if self.step.kind == "slide" else sum(s * s for s in self.symbols) - 1

    def turned(self, v: Vector) -> Vector:
        """A direction after the displacement."""
        if self.step.kind == "slide":
            return v
        if self.step.kind == "turn":
            c, s = self.symbols
            a = axis_of(self.step, self.place)
            turned: Vector = v * c + a.cross(v) * s + a * (a.dot(v) * (1 - c))
            return turned
        e0, e = self.symbols[0], Vector(*self.symbols[1:])
        once = e.cross(v)
        by_parameters: Vector = v + once * (2 * e0) + e.cross(once) * 2
        return by_parameters

    def moved(self, x: Vector) -> Vector:
        """A point after the displacement."""
        if self.step.kind == "slide":
            slid: Vector = x + axis_of(self.step, self.place) * self.symbols[0]
            return slid
        centre = point_of(self.step, self.place)
        return centre + self.turned(x - centre)


def axis_of(step: Step, place: Place) -> Vector:
    """The axis of a turn or slide."""
    assert step.axis is not None
    return place[step.axis.name]


def point_of(step: Step, place: Place) -> Vector:
    """The point about which a step turns."""
    if step.about_centre:
        return place[CENTRE]
    assert step.point is not None
    return place[f"r_{step.point.body}"] + place[step.point.name]


def twists(step: Step, place: Place, about: Vector) -> list[list[Any]]:
    """Velocity of the point ``about`` of body j and angular velocity of the body (6,), for a unit rate of each coordinate."""
    zero = about.x * 0
    if step.kind == "slide":
        return [[*axis_of(step, place), zero, zero, zero]]
    unit = [Vector(*(zero + (k == c) for c in range(3))) for k in range(3)]
    axes = unit if step.axis is None else [axis_of(step, place)]
    arm = about - point_of(step, place)
    return [[*a.cross(arm), *a] for a in axes]
