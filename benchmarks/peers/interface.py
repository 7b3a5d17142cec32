"""Data that the comparison and another program exchange: the mechanisms, what can be run, and the two kinds of failure."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]  # not that of runtime, which the processes of other programs do not import

# What the user gives to a program.
JOINTS, TREE, FRAMES = "bodies and joints", "a tree", "frames and points"
LAGRANGIAN, HAND = "the Lagrangian", "equations derived by hand"


class MissingError(Exception):
    """A program, or something that it needs, is not installed."""


class PeerError(Exception):
    """A program failed to answer a request."""


@dataclass(frozen=True)
class Body:
    """Mass [kg], moments of inertia about its centre of mass (3,) [kg m^2], its position in the neutral pose (3,) [m]."""

    mass: float
    inertia: list[float]
    r: list[float]


@dataclass(frozen=True)
class Stop:
    """An elastic limit of a hinge: its moment is 3 x^2 - 2 x^3 of the largest one, x its excess over the compliance."""

    hinge: int  # 0 talocrural, 1 talocalcaneal
    below: float  # [rad] the least angle without a moment
    above: float  # [rad] the largest
    max_moment: float  # [N m]
    compliance: float  # [rad]


@dataclass(frozen=True)
class Foot:
    """The foot with its leg fixed: main foot and welded toes on two hinges with a massless link between them.

    The link of the classical foot has no length: both hinges are at one point.
    All vectors are in the ground's axes, in the neutral pose, where all frames are parallel: [m], [m/s^2].
    """

    gravity: list[float]
    main_foot: Body
    toes: Body
    talocrural: list[float]
    talocrural_axis: list[float]
    talocalcaneal: list[float]
    talocalcaneal_axis: list[float]
    stops: list[Stop]  # only programs that take equations apply them

    def text(self) -> str:
        """The foot as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Foot:
        """The foot from JSON."""
        data = json.loads(text)
        parts = {part: Body(**data[part]) for part in ("main_foot", "toes")}
        return cls(**(data | parts | {"stops": [Stop(**stop) for stop in data["stops"]]}))

    def welded(self) -> tuple[float, Floats, Floats]:
        """Main foot and toes as one body: mass [kg], centre of mass (3,) [m], inertia about it (3, 3) [kg m^2]."""
        parts = (self.main_foot, self.toes)
        mass = sum(part.mass for part in parts)
        centre = sum((part.mass * np.array(part.r) for part in parts), np.zeros(3)) / mass
        inertia = np.zeros((3, 3))
        for part in parts:
            s = np.array(part.r) - centre
            inertia += np.diag(part.inertia) + part.mass * (s @ s * np.eye(3) - np.outer(s, s))
        return mass, centre, inertia


@dataclass(frozen=True)
class Chain:
    """N equal links on ball joints that hang from the ground, at rest along x: SI units; ``inertia`` about x, y, z."""

    links: int
    length: float
    mass: float
    inertia: list[float]
    gravity: list[float]


@dataclass(frozen=True)
class Prepared:
    """A run with one setting, ready to be timed."""

    run: Callable[[], object]  # the whole motion, warm and without outputs
    # Times (n,) [s] and positions of the main foot's centre of mass (n, 3) [m].
    motion: Callable[[], tuple[Floats, Floats]]
    evaluations: Callable[[], int | None]  # of the last run; None where the program does not count them


@dataclass(frozen=True)
class Repeated:
    """A job that repeats one evaluation, or one step, ``times`` times."""

    job: Callable[[], object]
    times: int


@dataclass(frozen=True)
class Chained:
    """One evaluation, or step, of a chain, repeated; the links' angular accelerations about y at t = 0, (N,) [rad/s^2]."""

    work: Repeated
    angular_accelerations: Floats
    what: str = "evaluation"


def version_of(distribution: str) -> str:
    """Version of an installed distribution.

    Raises
    ------
    MissingError
    """
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        raise MissingError(f"{distribution} is not installed") from None


def frame(axis: list[float]) -> Floats:
    """A rotation whose third column is the axis (3,), of length one; (3, 3)."""
    z = np.array(axis)
    x = np.cross(z, np.eye(3)[np.abs(z).argmin()])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def timed(job: Callable[[], object]) -> float:
    """Duration of a job [s]."""
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def least(job: Callable[[], object], spend: float = 5e-3) -> float:
    """Least duration of a job [s], repeated until ``spend`` seconds are used: a processor takes time to reach full speed."""
    best = spent = timed(job)
    while spent < spend:
        took = timed(job)
        best, spent = min(best, took), spent + took
    return best
