"""Where the numbers of a tree with rows are in the arrays of a batch; ``closed_stages`` has the functions."""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

from runtime.dynamics.limits_along import constants_of_each
from runtime.support.latest import Latest
from runtime.system.spanning_tree import COORDINATES, RATES, places_of
from runtime.system.system import System
from runtime.system.trees import trees_of


class ClosedRows(NamedTuple):
    """What decides the functions of a tree with rows beside its kernel, and where its numbers are in the arrays of a batch.

    A state has coordinates and rates, the work of drivers, a mark for each row where some depend on others (1: it is
    chosen as independent), and the inverse square of the smallest pivot ratio at the begin of the step.  The constants are those
    of the kernel, forces along the coordinates, signals with two derivatives each, what rows that are not chosen lack, and
    so many of each limit along a coordinate (``limits_along.constants_of_each``).
    """

    kinds: tuple[str, ...]  # of the steps
    rows: int
    constants: int  # of the kernel
    independent: int
    signals: int
    driven: tuple[int, ...]  # rows of drivers
    loaded: bool  # loads, motors, forces or contacts act
    limited: tuple[tuple[int, int], ...]  # rows of the coordinates that limits restrain, and of their rates
    of_limit: int  # constants of each
    angles: int  # of forces, whose revolutions are counted; they follow the work

    @property
    def coordinates(self) -> int:
        """Number of the coordinates, whose rates follow them."""
        return places_of(self.kinds)[0][-1]

    @property
    def rates(self) -> int:
        """Their number."""
        return self.work - self.coordinates

    @property
    def turned(self) -> list[int]:
        """Rows of the first of four Euler parameters each."""
        ends = zip(self.kinds, places_of(self.kinds)[0][1:], strict=True)
        return [end - COORDINATES["ball"] for kind, end in ends if kind in ("ball", "free")]

    @property
    def work(self) -> int:
        """Row of a state."""
        return places_of(self.kinds)[1][-1]

    @property
    def marks(self) -> int:
        """Number of the marks."""
        return self.rows if self.independent < self.rows else 0

    @property
    def first_mark(self) -> int:
        """Row of a state."""
        return self.work + 1 + self.angles

    @property
    def pivot(self) -> int:
        """Row of a state."""
        return self.first_mark + self.marks

    @property
    def size(self) -> int:
        """Rows of a state."""
        return self.pivot + 1

    @property
    def forces(self) -> int:
        """Row of the constants: of the first force along the coordinates."""
        return self.constants

    @property
    def first_signal(self) -> int:
        """Row of the constants."""
        return self.forces + self.rates

    @property
    def lacking(self) -> int:
        """Row of the constants."""
        return self.first_signal + 3 * self.signals

    @property
    def first_limit(self) -> int:
        """Row of the constants: the first one of the first limit."""
        return self.lacking + 1

    @property
    def of_case(self) -> int:
        """Rows of the constants."""
        return self.first_limit + self.of_limit * len(self.limited)


def laws_of_limits(system: System) -> tuple[ModuleType, ...]:
    """The laws of limits along coordinates of the tree of lanes."""
    tree = trees_of(system).in_lanes
    return () if tree is None else tuple(limit.law for limit in tree.limits)


def _rows_of(system: System, module: ModuleType) -> ClosedRows:
    closed, tree = trees_of(system).closed, trees_of(system).in_lanes
    assert closed is not None and tree is not None
    driven = tuple(r for r, (joint, _) in enumerate(module.ROWS) if closed.joints[joint].signals)
    independent = sum(RATES[kind] for kind in tree.kinds) - system.degrees_of_freedom
    signals = len(system.data.signals.start) - 1
    loaded = any((system.forces, system.loads, system.motors, system.contacts))
    limited = tuple(zip(*tree.limited_places, strict=True))
    return ClosedRows(
        tree.kinds,
        len(module.ROWS),
        module.CONSTANTS,
        independent,
        signals,
        driven,
        loaded,
        limited,
        constants_of_each(tree.limits),
        system.data.counted,
    )


closed_rows = Latest(_rows_of, 8)  # of a system and the module of its kernel
