"""Bodies, joints, loads, motors, limits, contacts and forces: the parts of a system, immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from generated import contact_sphere_plane, dispatch, law_cubic
from generated import forces as force_definitions
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.cone import Cone
from runtime.system.definitions import is_own
from runtime.system.muscle_modules import ForceDefinitions, law_of, module_named
from runtime.system.signal import Signal

GROUND = "ground"  # name of the fixed body
AXIS_TOLERANCE = 1e-9  # [1] how far a unit vector's length may be from 1, and the product of perpendicular ones from 0
LIMIT_KINDS: dict[str, ModuleType] = {module.NAME: module for module in dispatch.LIMITS}
Bounds = tuple[float | None, bool, float | None, str]  # lower, whether it is excluded, upper (None: not bounded), unit
# Of the parameters of a limit's law.
LIMIT_BOUNDS: dict[str, Bounds] = {
    "max_moment": (0.0, True, None, "N m"), "compliance": (0.0, True, None, "rad"), "damping": (0.0, False, None, "N m s"),
}  # fmt: skip
LIMIT_LAWS: dict[str, ModuleType] = {module.NAME: module for module in dispatch.LAWS}
NORMAL_LAWS: dict[str, ModuleType] = {module.NAME: module for module in dispatch.NORMAL_LAWS}
FORCE_KINDS = ForceDefinitions(force_definitions.MODULES)
FRICTIONS: dict[str, ModuleType] = {module.NAME: module for module in dispatch.FRICTIONS}


class Pickled:
    """A part whose mappings are read-only, and whose definitions are pickled by their names."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse a user's own definition, which another process cannot import."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        sort = type(self).__name__.lower()
        for name, module in parts.items():
            if not isinstance(module, ModuleType):
                continue
            if is_own(module):
                made = "muscle" if law_of(module.NAME) else sort
                raise ModelError(
                    f"{made} '{parts['name']}' ({module.NAME}): a {made} of codegen.compile_{made} cannot be pickled; build "
                    "the system in each process"
                )
            parts[name] = _Module(module.__name__)
        mappings = {name: dict(value) for name, value in parts.items() if isinstance(value, Mapping)}
        return _unpickled, (type(self), parts | mappings)


class _Module(NamedTuple):
    """A shipped module in a pickle."""

    name: str


def _unpickled(kind: type, parts: dict[str, Any]) -> Any:
    """A part from its pickled fields: arrays of mappings are read-only again."""
    for name, value in parts.items():
        if isinstance(value, _Module):
            parts[name] = module_named(value.name)
        if isinstance(value, dict):
            for array in value.values():
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False
            parts[name] = MappingProxyType(value)
    return kind(**parts)


def unit_with_metres(unit: str, power: int) -> str:
    """A unit times a power of metres, such as "N m", "N", "N/m", "m^2"; "1" for a pure number."""
    if power == 0:
        return unit or "1"
    if power == -1 and unit:
        return f"{unit}/m"
    return f"{unit} m".lstrip() + (f"^{power}" if power != 1 else "")


@checked_class
@dataclass(frozen=True)
class Body:
    """A rigid body.  mass [kg]; inertia about the centre of mass in axes of the body (3, 3) [kg m^2]."""

    name: str
    mass: float
    inertia: Floats
    free: bool = False  # need not be connected to the ground
    guess: bool = False  # its pose and velocities are a first guess, which assembly may change


@checked_class
@dataclass(frozen=True)
class Joint(Pickled):
    """A joint between two bodies, or a driver.  ``values`` are the keywords of its definition, as the user gave them.

    A driver is a joint whose rows contain prescribed ``signals`` of time, by name.
    """

    name: str
    kind: str
    body_i: str
    body_j: str
    values: Mapping[str, Any]
    module: ModuleType = field(repr=False)
    signals: Mapping[str, Signal] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows of its Phi."""
        return self.module.ROWS

    @property
    def holds_points(self) -> bool:
        """Its rows constrain points or centres of mass, not the rotation alone: they contain lengths."""
        return any(power != 0 for power in self.module.UNITS)

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each row."""
        return tuple(unit_with_metres("", power) for power in self.module.UNITS)

    @property
    def multiplier_units(self) -> tuple[str, ...]:
        """Unit of each row's multiplier: lam times its row is an energy."""
        return tuple(unit_with_metres("N", 1 - power) for power in self.module.UNITS)


@checked_class
@dataclass(frozen=True)
class Load:
    """A prescribed force [N] and moment [N m] on a body, three signals each.

    ``axes``: "global", or "body" for force, moment and point in axes of the body.  ``point``: global coordinates or, in axes
    of the body, from the centre of mass [m]; None for the centre of mass.  ``attached``: the point is in axes of the body, force
    and moment in global axes.
    """

    name: str
    body: str
    force: tuple[Signal, Signal, Signal]
    moment: tuple[Signal, Signal, Signal]
    point: tuple[Signal, Signal, Signal] | None
    axes: str
    attached: bool = False

    @property
    def point_of_body(self) -> bool:
        """The point of action is given in axes of the body, from the centre of mass."""
        return self.attached or self.axes == "body"


@checked_class
@dataclass(frozen=True)
class Motor:
    """A moment [N m] on the coordinate that a driver guides: its effort, and a spring and a damper towards its target."""

    joint: Joint = field(repr=False)  # kind, bodies, vectors and target, those of a driver of this kind
    effort: Signal
    stiffness: float  # [N m/rad]
    damping: float  # [N m s/rad]
    coordinate: str = ""  # of a joint, such as "knee.angle", from whose motion its vectors follow

    @property
    def name(self) -> str:
        """Its name."""
        return self.joint.name

    @property
    def winds(self) -> bool:
        """Whether its spring acts on an angle, whose revolutions are counted."""
        return self.stiffness > 0.0 and self.joint.module.UNITS[0] == 0

    @property
    def effort_unit(self) -> str:
        """Unit of its effort; its coordinate is an angle or a power of metres."""
        return self.joint.multiplier_units[0]


@checked_class
@dataclass(frozen=True)
class Force(Pickled):
    """A force of a definition between two bodies, or four.  ``values`` are the keywords of its definition."""

    name: str
    kind: str
    bodies: tuple[str, ...]
    values: Mapping[str, Any]  # tables: (n, 2)
    module: ModuleType = field(repr=False)
    signals: Mapping[str, Signal] = field(default_factory=lambda: MappingProxyType({}))
    joint: str = ""  # name of the joint on whose reaction it depends
    borrowed: tuple[str, ...] = ()  # names of the vectors that are those of this joint
    settled: tuple[str, ...] = ()  # states of a muscle that begin in equilibrium

    @property
    def ends(self) -> tuple[str, str, str, str]:
        """Bodies i, j, k and l; the ground for those that it does not have."""
        first, second, third, fourth = (*self.bodies, GROUND, GROUND)[:4]
        return first, second, third, fourth

    @property
    def outputs(self) -> Mapping[str, str]:
        """Its reported quantities by name, with their units."""
        return MappingProxyType(dict(self.module.OUTPUTS))


@checked_class
@dataclass(frozen=True)
class Limit(Pickled):
    """A limit of a joint: the reference body carries the cone, a direction of the moving body stays in the cone.

    ``kind`` is the name of its definition in ``codegen/limits.py``.  max_moment [N m], 1 with a law of the excess, which gives
    the moment itself; compliance [rad]; damping [N m s].
    """

    name: str
    kind: str
    joint: str
    reference: str
    moving: str
    cone: Cone
    max_moment: float
    compliance: float
    damping: float
    law: str
    values: Mapping[str, Any] = field(repr=False)  # the keywords of its definition
    law_module: ModuleType = field(default_factory=lambda: law_cubic, repr=False)
    parameters: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))  # of its law, by name

    @property
    def module(self) -> ModuleType:
        """Its generated module."""
        return LIMIT_KINDS[self.kind]

    @property
    def numbers(self) -> Mapping[str, float]:
        """Its parameters by the keywords of ``Builder.limit``; a law of the excess has no largest moment."""
        own = {"max_moment": self.max_moment} if self.law_module.RELATIVE else {}
        return own | {"compliance": self.compliance, "damping": self.damping, **self.parameters}

    @property
    def ahead(self) -> tuple[float, float]:
        """Direction in the plane of xi and eta towards which a hinge's angle is positive; 0 without a hinge."""
        return self.values.get("to_xi", 0.0), self.values.get("to_eta", 0.0)

    @cached_property
    def vertices(self) -> tuple[tuple[float, Floats], tuple[float, Floats]]:
        """Of a hinge, ahead and behind: the cone's point in the plane of the hinge, and the excess up to which it is the nearest.

        Zero for a limit without a hinge.
        """
        sides = (np.array(self.ahead), -np.array(self.ahead))
        return tuple(self.cone.vertex(side) if side.any() else (0.0, np.zeros(3)) for side in sides)  # type: ignore[return-value]


@checked_class
@dataclass(frozen=True)
class Contact(Pickled):
    """A sphere of one body against a plane of another, or of the ground.

    ``law`` and ``friction`` (None: frictionless) are names of definitions, ``parameters`` those of both.
    """

    name: str
    body: str
    plane: str
    law: str
    friction: str | None
    parameters: Mapping[str, float]
    min_impact_speed: float  # [m/s]
    belt_speed: Signal  # [m/s]
    values: Mapping[str, Any] = field(repr=False)  # the keywords of the geometry's definition
    law_module: ModuleType = field(repr=False)
    friction_module: ModuleType | None = field(repr=False)

    @property
    def module(self) -> ModuleType:
        """The generated module of its geometry."""
        return contact_sphere_plane

    @property
    def needs_impact(self) -> bool:
        """The damping of the normal law depends on the impact speed."""
        return "impact" in self.law_module.PARAMETERS


class Adjustment(NamedTuple):
    """A point, direction or length of a joint that gave way for closed loops to close (``build(adjust=...)``).

    ``name``: as in ``runtime.parameters``; ``given`` and ``used``: its value before and after; ``change``: length of the
    difference [m], or angle between the directions [rad], by ``unit``.
    """

    name: str
    given: Any
    used: Any
    change: float
    unit: str


@dataclass(frozen=True)
class Assembly:
    """Iterations, residual and largest changes of pose of the assembly of a reference configuration."""

    iterations: int
    residual: float  # largest |Phi| left
    largest_move: float  # [m]
    moved_body: str
    largest_turn: float  # [rad]
    turned_body: str
    remarks: tuple[str, ...] = ()  # sentences; given as warnings, but for starts outside of cones
    adjustments: tuple[Adjustment, ...] = ()  # data that gave way
