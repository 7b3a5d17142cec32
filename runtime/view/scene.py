"""What is seen: solids, lines, arrows and texts that move, in groups of a legend, and charts beside them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from runtime.support.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Pose:
    """Poses at times (n,) [s]: position (n, 3) [m], Euler parameters (n, 4); one pose for what does not move."""

    t: Floats
    r: Floats
    p: Floats

    @property
    def moves(self) -> bool:
        """Whether it has more than one pose."""
        return len(self.t) > 1


STILL = Pose(np.zeros(1), np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]))


@dataclass(frozen=True, eq=False)
class Solid:
    """Triangles in axes of their pose, vertices (v, 3) or, where the shape changes, (n, v, 3) at the times of the pose.

    ``colours``: at each time, where the colour changes.
    """

    group: str
    name: str
    vertices: Floats
    faces: Ints
    colour: str
    pose: Pose = STILL
    opacity: float = 1.0
    colours: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Lines:
    """Straight lines (n, k, 2, 3) [m] in global axes, at times (n,); NaN where nothing is drawn."""

    group: str
    name: str
    t: Floats
    points: Floats
    colour: str
    width: float = 0.005  # of the size of the scene


@dataclass(frozen=True, eq=False)
class Arrows:
    """An arrow: start (n, 3) [m] and drawn vector (n, 3) [m] in global axes, at times (n,); NaN where nothing is drawn."""

    group: str
    name: str
    t: Floats
    start: Floats
    vector: Floats
    colour: str


@dataclass(frozen=True)
class Group:
    """An entry of the legend.

    ``choice``: one of several of which a slider shows one; ``scale``: evenly spaced colours of a bar in place of the colour.
    """

    key: str
    label: str
    colour: str
    shown: bool = True
    choice: bool = False
    scale: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Chart:
    """Curves y (n,) over times (n,) by label, with colours, drawn beside the scene."""

    title: str  # with unit
    curves: tuple[tuple[str, str, Floats, Floats], ...]  # label, colour, t, y


@dataclass(frozen=True, eq=False)
class Follow:
    """What a page follows, so that a motion that goes far is seen from near: displacements (n, 3) [m] at times (n,).

    ``low``, ``high``: corners of the box that holds all less its displacement.
    """

    t: Floats
    moved: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene over time [s]; lengths in metres, z up."""

    title: str
    t: Floats  # (n,)
    solids: tuple[Solid, ...]
    lines: tuple[Lines, ...]
    arrows: tuple[Arrows, ...]
    groups: tuple[Group, ...]
    low: Floats  # (3,) corners of the box that holds all
    high: Floats
    floor: float  # height of the grid
    charts: tuple[Chart, ...] = ()
    choice: str = ""  # the quantity of the slider
    notes: tuple[str, ...] = field(default=())
    follow: Follow | None = None

    @property
    def near(self) -> tuple[Floats, Floats]:
        """Corners of the box that holds all, as a page shows it."""
        return (self.low, self.high) if self.follow is None else (self.follow.low, self.follow.high)

    @property
    def size(self) -> float:
        """Diagonal of the box [m]."""
        return float(np.linalg.norm(self.high - self.low))
