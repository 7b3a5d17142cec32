"""The neutral description of a model: readers of all formats fill it, and ``models.files.building`` makes a builder of it.

The reference pose is the pose of the file in which all coordinates have their ``reference`` value.  Vectors and poses are those
of this pose.  Angles are in radians, all else in SI units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal, Protocol

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from runtime import ModelError, Signal, SumOfProducts
from runtime.system import Coupling

Floats = NDArray[np.float64]
WORLD = "ground"  # the parent of links that the ground carries; the name that Talus gives the fixed body

MOST = 6  # coefficients of a piece of a function that a step follows

StepKind = Literal["turn", "slide", "ball", "free"]


def no_vector() -> Floats:
    """The zero vector (3,)."""
    return np.zeros(3)


@dataclass(frozen=True)
class LimitForce:
    """Spring and damper beyond either end of a range, which is from the reference pose, by the law of ``hinge_limit``."""

    lower: float  # [rad], [m]
    upper: float
    lower_stiffness: float  # [N m/rad], [N/m]
    upper_stiffness: float
    damping: float  # [N m s/rad], [N s/m]
    transition: float  # [rad], [m]


@dataclass(frozen=True, eq=False)
class Step:
    """A turn, a slide, a ball or a free motion of a link; a link may have several, the first nearest to its parent.

    ``axis`` (3,) and ``point`` (3,) [m] are in axes of the link, from its origin.  ``free``, ``lower`` and ``upper`` are
    differences from the reference pose.
    """

    name: str
    kind: StepKind
    axis: Floats = field(default_factory=no_vector)
    point: Floats = field(default_factory=no_vector)
    reference: float = 0.0  # coordinate of the file in the reference pose [rad], [m]
    stiffness: float = 0.0  # [N m/rad], [N/m]
    free: float = 0.0  # where the spring has no force [rad], [m]
    damping: float = 0.0  # [N m s/rad], [N s/m]
    armature: float = 0.0  # inertia of a rotor along the coordinate [kg m^2], [kg]
    friction: float = 0.0  # dry [N m], [N]
    lower: float = -inf  # [rad], [m]
    upper: float = inf
    limits: tuple[LimitForce, ...] = ()  # which add
    stop_time: float = 0.02  # [s] time constant of the stops: stiffness = inertia of the coordinate / time^2

    @property
    def limited(self) -> bool:
        """Whether its coordinate has a range."""
        return self.lower > -inf or self.upper < inf


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid part: its pose in axes of its parent in the reference pose, its mass, and the steps by which it moves.

    A link without steps is fixed to its parent.
    """

    name: str
    parent: str
    position: Floats = field(default_factory=no_vector)  # (3,) [m] of its origin, in axes of the parent
    rotation: Floats = field(default_factory=lambda: np.eye(3))  # (3, 3) from its axes to those of the parent
    mass: float = 0.0  # [kg]
    centre: Floats = field(default_factory=no_vector)  # (3,) [m] centre of mass
    inertia: Floats = field(default_factory=lambda: np.zeros((3, 3)))  # (3, 3) [kg m^2] about the centre of mass
    steps: tuple[Step, ...] = ()
    joint: str = ""  # name of the joint of the file, where joints and coordinates have names of their own


@dataclass(frozen=True, eq=False)
class Frame:
    """A named point and axes of a link: a site, a marker, or a link that was merged into another."""

    name: str
    link: str
    position: Floats
    rotation: Floats = field(default_factory=lambda: np.eye(3))
    kind: str = "site"  # or "link"
    steps: int | None = None  # of the link, the first ones, that move it; None: all


@dataclass(frozen=True, eq=False)
class Outline:
    """A shape of a link, drawn alone.  ``sizes`` as those of ``runtime.system.Shape``; meshes have vertices and faces."""

    link: str
    kind: Literal["sphere", "capsule", "ellipsoid", "box", "mesh"]
    position: Floats
    rotation: Floats
    sizes: tuple[float, ...] = ()
    vertices: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    faces: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    colour: str | None = None


@dataclass(frozen=True, eq=False)
class Closure:
    """A constraint between two links that are joined in other ways too: a common point, or a weld."""

    name: str
    kind: Literal["point", "weld"]
    link_1: str
    link_2: str
    point_1: Floats = field(default_factory=no_vector)  # (3,) [m] in axes of link 1
    point_2: Floats = field(default_factory=no_vector)


@dataclass(frozen=True)
class Actuator:
    """A motor on a step: effort - stiffness x - damping x', for the distance x from the reference pose."""

    name: str
    step: str
    effort: float = 0.0  # [N m], [N]
    stiffness: float = 0.0  # [N m/rad], [N/m]
    damping: float = 0.0  # [N m s/rad], [N s/m]

    @property
    def acts(self) -> bool:
        """Whether it moves anything without a control."""
        return any((self.effort, self.stiffness, self.damping))


@dataclass(frozen=True)
class Omitted:
    """Parts of a file of one sort that are not in the description.

    ``moves``: whether the motion would be another with them; such parts are refused unless their sort is named in ``ignore=``.
    """

    sort: str  # such as "actuators"
    names: tuple[str, ...]
    reason: str
    moves: bool = False


class LawFunction(Protocol):
    """A function of coordinates of a file, with two derivatives."""

    def value(self, x: Any, order: int) -> Any:
        """Of one coordinate, a number or an array: the derivative of an order from 0 to 2."""

    def derivatives(self, *x: Any) -> tuple[Floats, Floats, Floats]:
        """Value (...), slopes (..., coordinates) and curvatures (..., coordinates, coordinates) at coordinates (...) each."""


@dataclass(frozen=True, eq=False)
class Law:
    """How a step follows from coordinates of a file.

    ``own``: the step is the coordinate itself, apart from its reference; otherwise it is held in the reference pose by a model.
    """

    step: str
    coordinates: tuple[str, ...]
    function: LawFunction
    own: bool = True
    reference: float = 0.0  # value of the function in the reference pose [rad], [m]

    @property
    def coordinate(self) -> str:
        """The first of its coordinates, most often the only one."""
        return self.coordinates[0]

    def value(self, x: Any, order: int) -> Any:
        """Of one coordinate: the derivative of an order from 0 to 2."""
        return self.function.value(x, order)


def one_piece(powers: Sequence[float]) -> tuple[Floats, Floats]:
    """Knots (2,) and coefficients (1, MOST) of powers of x - knot for a polynomial, lowest first, at most MOST of them."""
    moved = np.atleast_1d(Polynomial(powers)(Polynomial([-1.0, 1.0])).coef)
    row = np.zeros((1, MOST))
    row[0, : len(moved)] = moved
    return np.array([-1.0, 1.0]), row


@dataclass(frozen=True, eq=False)
class Follower:
    """A step that follows others, all differences from the reference pose.

    ``law``: piecewise polynomials of one leader, of which the first and the last hold beyond their ends, or a sum of products.
    """

    step: str
    leaders: tuple[str, ...]
    law: Signal | SumOfProducts
    sort: str = "couplers"  # by which it is ignored

    @classmethod
    def by_powers(cls, step: str, leader: str, powers: Sequence[float], sort: str) -> Follower:
        """A follower by one polynomial, coefficients of powers of the leader from 0 to at most 5."""
        return cls(step, (leader,), Signal(*one_piece(powers)), sort)

    def derivatives(self, q: Mapping[str, Any]) -> tuple[Floats, Floats, Floats]:
        """Value (...), slopes (..., leaders) and curvatures (..., leaders, leaders) at values (...) of steps by name."""
        return Coupling(self.step, self.step, self.leaders, self.law).derivatives(q)

    def moved(self, q: Mapping[str, float], u: Mapping[str, float]) -> tuple[float, float]:
        """The follower and its rate at values and rates of steps by name."""
        value, slopes, _ = self.derivatives(q)
        return float(value), float(slopes @ [u[leader] for leader in self.leaders])

    def rate_change(self, q: Mapping[str, float], u: Mapping[str, float], u_dot: Mapping[str, float]) -> float:
        """The derivative of its rate, for those of the leaders."""
        _, slopes, curvatures = self.derivatives(q)
        rates, changes = (np.array([of[leader] for leader in self.leaders]) for of in (u, u_dot))
        return float(slopes @ changes + rates @ curvatures @ rates)


@dataclass(frozen=True, eq=False)
class Bushing:
    """Springs and dampers between frames of two links, by the law of ``frame_bushing``: x, y, z, then three angles."""

    name: str
    link_1: str
    link_2: str
    frames: tuple[tuple[Floats, Floats], tuple[Floats, Floats]]  # place (3,) [m] and axes (3, 3) in axes of each link
    stiffness: tuple[Floats, Floats]  # (3,) [N/m] and (3,) [N m/rad]
    damping: tuple[Floats, Floats]  # (3,) [N s/m] and (3,) [N m s/rad]


@dataclass(frozen=True, eq=False)
class Contact:
    """A sphere of a link against a plane of another: a contact of Talus, or the force ``smooth_contact``."""

    name: str
    link_1: str  # of the sphere
    link_2: str
    centre: Floats  # (3,) [m] in axes of link 1
    point: Floats  # (3,) [m] of the plane, in axes of link 2
    normal: Floats  # (3,) towards the sphere, in axes of link 2
    radius: float  # [m]
    values: Mapping[str, Any]  # further keywords of ``Builder.contact``, or of the force
    smooth: bool = False


@dataclass(frozen=True, eq=False)
class FileCoordinate:
    """A coordinate of a file: its default value [rad], [m], and the coupler that drives it, in values of the file, if any.

    ``leader``: several with blanks between, without ``value``, where the coupler is a function of several or is not read.
    ``slopes``: derivatives (..., leaders) of the coupler, if it is read, at values (...) of each leader.
    ``lower`` and ``upper``: the range of a coordinate that is clamped, to which inverse kinematics holds it.
    """

    default: float
    locked: bool = False
    leader: str = ""
    value: Callable[[Floats, int], Floats] | None = None
    lower: float = -inf
    upper: float = inf
    slopes: Callable[..., Floats] | None = None


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A point of a path on a link."""

    link: str
    location: Floats  # (3,) [m] from the origin of the link, in its axes


@dataclass(frozen=True, eq=False)
class ConditionalPoint:
    """A point that belongs to the path while a coordinate of the file is in a range, which includes its ends."""

    link: str
    location: Floats  # (3,) [m]
    coordinate: str
    lower: float  # [rad], [m]
    upper: float

    def active(self, value: Floats) -> Any:
        """Whether the point belongs to the path at values of the coordinate."""
        return (value >= self.lower) & (value <= self.upper)


@dataclass(frozen=True, eq=False)
class MovingPoint:
    """A point that moves in its link by functions of one coordinate of the file, and stays beyond the range of the coordinate."""

    link: str
    coordinate: str
    functions: tuple[LawFunction, LawFunction, LawFunction]  # along the axes of a frame [m]
    origin: Floats  # (3,) [m] of the frame, in axes of the link
    axes: Floats  # (3, 3) of the frame, as columns
    lower: float = -inf  # [rad], [m]
    upper: float = inf

    def at(self, value: Floats) -> tuple[Floats, Floats]:
        """Places (times, 3) [m] and slopes (times, 3) at values (times,) of the coordinate, in axes of the link."""
        inside = np.clip(value, self.lower, self.upper)
        place, slope = (
            np.stack([np.broadcast_to(f.value(inside, order), value.shape) for f in self.functions], axis=-1)
            for order in (0, 1)
        )
        moves = (inside == value)[:, None]
        return self.origin + place @ self.axes.T, np.where(moves, slope @ self.axes.T, 0.0)


Point = PathPoint | ConditionalPoint | MovingPoint


@dataclass(frozen=True, eq=False)
class CylinderWrap:
    """A cylinder that straight pieces of a path lead around, on one side of it or on the nearer one."""

    name: str
    link: str
    centre: Floats  # (3,) [m] in axes of the link
    axis: Floats  # (3,) unit vector
    side: Floats  # (3,) unit vector across the axis
    sided: bool  # the path passes on this side, else on the nearer one
    radius: float  # [m]
    length: float  # [m]
    first: int  # number of the first point, from 0, of the pieces that may touch it
    last: int


@dataclass(frozen=True, eq=False)
class Muscle:
    """A muscle of a file: its path from origin to insertion, and what its law is given.

    A piece between two points may touch up to two cylinders, in the order of ``wraps``.

    ``law``: the definition in ``codegen.muscles``; ``constants``: those that the file states, by the names of this definition.
    ``ignored``: what of the law the file switches off: "tendon compliance", "activation dynamics", "passive fiber force".
    """

    name: str
    kind: str  # such as "Thelen2003Muscle"
    law: str
    points: tuple[Point, ...]
    wraps: tuple[CylinderWrap, ...] = ()
    constants: Mapping[str, float] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    min_control: float = 0.01  # [1]
    max_control: float = 1.0
    excitation: Signal | float = 0.05  # [1] in a builder; of a file by its controllers, else the default activation
    controlled: Mapping[str, Any] = field(
        default_factory=dict
    )  # by controllers: further arguments of ``Builder.muscle``
    built: bool = False  # whether a builder has it

    def over(self, first: int, last: int) -> tuple[CylinderWrap, ...]:
        """The cylinders that the piece between two of its points may touch."""
        return tuple(wrap for wrap in self.wraps if wrap.first <= first and last <= wrap.last)


@dataclass(frozen=True, eq=False)
class FileController:
    """A controller of a file, and what it adds to the excitations of muscles, by their names.

    ``signals``: over time; ``gains``: of its reflex; ``others``: actuators that are no muscles; ``unread``:
    why it is not read.
    """

    name: str
    enabled: bool
    signals: Mapping[str, Signal] = field(default_factory=dict)
    gains: Mapping[str, float] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    unread: str = ""


@dataclass(frozen=True, eq=False)
class Description:
    """A model as a file states it, whatever the format."""

    name: str
    format: str
    gravity: Floats
    links: tuple[Link, ...]  # parents before children
    frames: tuple[Frame, ...] = ()
    outlines: tuple[Outline, ...] = ()
    closures: tuple[Closure, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    laws: tuple[Law, ...] = ()  # of files whose joints have functions
    followers: tuple[Follower, ...] = ()
    coordinates: Mapping[str, FileCoordinate] = field(default_factory=dict)  # of such files
    bodies: Mapping[str, str] = field(default_factory=dict)  # names of links by those of the file
    bushings: tuple[Bushing, ...] = ()
    contacts: tuple[Contact, ...] = ()
    actuators: tuple[Actuator, ...] = ()  # those that are motors
    muscles: tuple[Muscle, ...] = ()
    unread_muscles: tuple[Omitted, ...] = ()  # by reason
    controllers: tuple[FileController, ...] = ()

    @property
    def steps(self) -> Iterator[tuple[Link, Step]]:
        """All steps with their links, in order."""
        return ((link, step) for link in self.links for step in link.steps)

    @property
    def followers_in_order(self) -> list[Follower]:
        """The followers, leaders before those that follow them."""
        found: list[Follower] = []
        left = list(self.followers)
        while left:
            waiting = {one.step for one in left}
            ready = [one for one in left if not waiting.intersection(one.leaders)]
            if not ready:
                raise ModelError(f"model '{self.name}': {', '.join(sorted(waiting))} follow each other; leave one out")
            found += ready
            left = [one for one in left if waiting.intersection(one.leaders)]
        return found

    def held(self, *, couplers: bool) -> Description:
        """The description without the steps that are locked: they stay in the reference pose, and those of couplers if asked."""
        leading = {one.step for one in self.followers}
        still = {law.step for law in self.laws if not law.own and law.step not in leading}
        still |= {one.step for one in self.followers if one.sort == "couplers"} if couplers else set()
        links = (replace(one, steps=tuple(s for s in one.steps if s.name not in still)) for one in self.links)
        return self.changed(links=tuple(links), followers=tuple(one for one in self.followers if one.step not in still))

    def changed(self, **parts: object) -> Description:
        """The description with other parts."""
        return replace(self, **parts)  # type: ignore[arg-type]
