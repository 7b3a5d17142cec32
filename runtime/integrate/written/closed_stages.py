"""Equations of a tree whose coordinates rows of joints restrain, for LANES cases side by side, as straight-line functions.

The kernel of the tree is run with vectors in place of numbers.  Behind it follow the factors of S = J M^-1 J^T and the
multipliers, in each lane of the rows that are marked as independent there, in the order in which the kernel has them.  S is
positive definite on these, so that an exchange of rows would not make the elimination more accurate.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics import closing_rows, recursion
from runtime.dynamics.elimination import DAMPING, PIVOT_TOLERANCE
from runtime.dynamics.limits_along import DAMPING as DAMPER
from runtime.integrate.written.acting_forces import ActingForces, acting_forces
from runtime.integrate.written.closed_rows import ClosedRows, closed_rows, laws_of_limits
from runtime.integrate.written.limit_moments import moments_of_limit
from runtime.integrate.written.tree_forces import AXES as AXES_OF_FORCES
from runtime.integrate.written.tree_forces import write_forces
from runtime.jit.python_code import python_code
from runtime.jit.recorder import Number, Recorded, choose, is_known
from runtime.lanes.vector_formulas import with_vectors
from runtime.lanes.vector_functions import Functions
from runtime.lanes.written_function import address_of_lanes, text_of_lane
from runtime.system.spanning_tree import OF_KIND, places_of
from runtime.system.system import System

rates_of_coordinates = with_vectors(recursion.rates_of_coordinates)
largest_residual, solve_rows, subtract_row = map(
    with_vectors, (closing_rows.largest_residual, closing_rows.solve_rows, closing_rows.subtract_row)
)
Numbers = list[Number]
WORDS = "closed loops in a batch"
# Of the arrays.
AXES = {
    "derivative": dict(y=1, constants=2, y_dot=1, worst=1), "correction": dict(y=1, constants=2, change=1, left=1),
    "forces": AXES_OF_FORCES,
}  # fmt: skip


class Addresses(NamedTuple):
    """Addresses in this process of the functions of a tree with rows; arrays have LANES as their last axis.

    derivative : of state, constants, its derivative and worst (1), the inverse square of the smallest pivot ratio
    correction : of state, constants, change and left (2): the least changes of coordinates that satisfy all rows, and of rates,
        with the marks of the rows that are chosen as independent behind them; largest |Phi| and |Phi'|
    forces : as of ``tree_forces``; also copies the signals to the constants
    """

    derivative: int
    correction: int
    forces: int


def addresses_of_closed(system: System, module: ModuleType) -> Addresses:
    """The functions of the module of a system's tree with rows."""
    tree = _tree_of(system, module)
    laws = [inspect.getsource(law) for law in tree.laws]
    decided = [repr(tree.rows), inspect.getsource(module), *laws, *([] if tree.acting is None else tree.acting.text())]
    found = {
        name: address_of_lanes(f"closed_{name}", AXES[name], partial(_write, tree, write), __name__, WORDS, *decided)
        for name, write in _writers().items()
    }
    return Addresses(**found)


def texts_of_closed(system: System, module: ModuleType) -> dict[str, str]:
    """By name functions of Python for one lane, as those of ``addresses_of_closed``, for the compilers of other machines."""
    tree = _tree_of(system, module)
    return {name: text_of_lane(name, AXES[name], partial(_write, tree, write)) for name, write in _writers().items()}


def _writers() -> dict[str, Callable[[_Writer], None]]:
    return {"derivative": _Writer.derivative, "correction": _Writer.correction, "forces": _Writer.forces}


def _tree_of(system: System, module: ModuleType) -> _Tree:
    rows = closed_rows(system, module)
    return _Tree(module, rows, laws_of_limits(system), acting_forces(system) if rows.loaded else None)


class _Tree(NamedTuple):
    """What the functions are written for."""

    module: ModuleType
    rows: ClosedRows
    laws: tuple[ModuleType, ...]  # of limits along coordinates
    acting: ActingForces | None


def _write(tree: _Tree, write: Callable[[_Writer], None], code: Any, data: dict[str, Any]) -> None:
    write(_Writer(code, tree, data))


class _Array:
    """An array of a batch whose rows are loaded once."""

    def __init__(self, code: Any, data: Any, first: int = 0, width: int = 1) -> None:
        self.code, self.data, self.first, self.width = code, data, first, width
        self.loaded: dict[int, Recorded] = {}

    def _row(self, at: Any) -> int:
        row, place = at if isinstance(at, tuple) else (0, at)
        return self.first + int(row) * self.width + int(place)

    def __getitem__(self, at: Any) -> Number:
        row = self._row(at)
        if row not in self.loaded:
            self.loaded[row] = self.code.load(self.data, row)
        return self.loaded[row]

    def __setitem__(self, at: Any, value: Number) -> None:
        self.code.store(value, self.data, self._row(at))


class _Found:
    """What the kernel found at a state."""

    def __init__(self, out: dict[int, Number], n: int, m: int) -> None:
        self.worst = out[0]
        at = 1
        self.free = [out[at + k] for k in range(n)]
        at += n
        self.Phi, self.Phi_dot, self.lacking, self.size = ([out[at + p * m + r] for r in range(m)] for p in range(4))
        at += 4 * m
        self.S: list[Numbers] = [[0.0] * m for _ in range(m)]
        for r in range(m):
            for q in range(r + 1):
                self.S[r][q] = self.S[q][r] = out[at]
                at += 1
        self.response = [[out[at + r * n + k] for k in range(n)] for r in range(m)]


class _Writer:
    """The code of a function for lanes."""

    def __init__(self, code: Any, tree: _Tree, data: dict[str, Any]) -> None:
        self.code, self.tree, self.rows, self.data = code, tree, tree.rows, data

    def array(self, k: int, first: int = 0, width: int = 1) -> _Array:
        """An argument from a row on, with so many numbers along its last axis."""
        return _Array(self.code, [*self.data.values()][k], first, width)

    def found(self, y: Any) -> dict[int, Number]:
        """Run the kernel; its outputs."""
        of, rows = python_code(self.tree.module.evaluate), self.rows
        out: dict[int, Number] = {}
        arrays = [self.array(1, first, width) for first, width in ((rows.first_signal, 3), (0, 1))]
        FunctionType(of.__code__, {"math": Functions()})(y, self.along(y), *arrays, out)
        return out

    def along(self, y: Any) -> list[Number]:
        """Forces along the coordinates with the moments of limits."""
        width = self.rows.of_limit
        loads, of_limits = self.array(1, self.rows.forces), self.array(1, self.rows.first_limit, width)
        forces = [loads[k] for k in range(self.rows.rates)]
        for limit, (q, u) in enumerate(self.rows.limited):
            constants = [of_limits[limit, c] for c in range(width)]
            moment, damped = moments_of_limit(self.tree.laws[limit], constants, y[q], y[u])
            k = u - self.rows.coordinates
            forces[k] = forces[k] - moment - damped
        return forces

    def largest_size(self, values: Numbers) -> Number:
        """The largest absolute value; infinite or not a number where one of them is."""
        found, total = 0.0, 0.0
        for value in map(abs, values):
            found, total = _larger(value, found), total + value
        return choose(total < math.inf, found, total)

    def factorise(self, S: list[Numbers], marks: Numbers | None) -> Any:
        """Factors of S of the marked rows, with the reciprocal pivots, or 0, as ``closing_rows`` has them."""
        m = len(S)
        c = SimpleNamespace(L=np.array(S, object).reshape(m, m), inverse=[0.0] * m, others=[0] * m)
        for p in range(m):
            one = _reciprocal(c.L[p, p])
            c.inverse[p] = one if marks is None else _where_marked(marks[p], one, 0.0)
            subtract_row(c, range(m), p, m)
        return c

    @staticmethod
    def solved(c: Any, right: Numbers) -> Numbers:
        """S^-1 times numbers, by its factors; 0 of rows that are not marked."""
        c.y = list(right)
        solve_rows(c, range(len(right)), [len(right)])
        return c.y  # type: ignore[no-any-return]

    @staticmethod
    def left_of(S: list[Numbers], right: Numbers, y: Numbers) -> Numbers:
        """Right - S y."""
        return [_less(b, row, y) for row, b in zip(S, right, strict=True)]

    def derivative(self) -> None:
        """The derivative of a state."""
        rows, y, to = self.rows, self.array(0), self.array(2)
        first, n, m = rows.coordinates, rows.rates, rows.rows
        f = _Found(self.found(y), n, m)
        marks: Numbers | None = [y[rows.first_mark + r] for r in range(m)] if rows.marks else None
        factors = self.factorise(f.S, marks)
        push = self.solved(factors, f.lacking)
        more = self.solved(factors, self.left_of(f.S, f.lacking, push))
        push = [a + b for a, b in zip(push, more, strict=True)]
        for k, rate in enumerate(self.rates_of_coordinates(y, [y[first + k] for k in range(n)])):
            to[k] = rate
        for k in range(n):
            to[first + k] = _plus(f.free[k], push, [response[k] for response in f.response])
        # The function of the forces has stored their power.
        to[rows.work] = (to[rows.work] if rows.loaded else 0.0) + self.power(y, f.Phi_dot, push) + self.damped(y)
        for row in range(rows.work + 1, rows.size):
            to[row] = 0.0
        self.array(3)[0] = self.worst_of(f, factors.inverse)
        self.array(1)[rows.lacking] = self.largest_lacking(f, push)

    def rates_of_coordinates(self, y: _Array, u: Numbers) -> Numbers:
        """Derivatives of the coordinates of a state for rates u."""
        places, rates = places_of(self.rows.kinds)
        data = SimpleNamespace(kind=[OF_KIND[kind] for kind in self.rows.kinds], q=places, u=rates)
        found = np.empty(places[-1], object)
        rates_of_coordinates(data, [*(y[k] for k in range(places[-1])), *u], found)
        return found.tolist()

    def worst_of(self, f: _Found, inverse: Numbers) -> Number:
        """Sum of the squares of the reciprocal pivot ratios of marked rows; infinite where a coordinate depends on others."""
        total: Number = 0.0
        for size, one in zip(f.size, inverse, strict=True):
            share = one if is_known(size, 0.0) else size * one  # 0 where the row is not marked
            total = total + choose(share < 0.0, math.inf, share * share)
        return choose(f.worst < 1.0 / PIVOT_TOLERANCE**2, total, math.inf)

    def largest_lacking(self, f: _Found, push: Numbers) -> Number:
        """``largest_residual`` of all rows: what accelerations lack to gamma, relative to gamma where that is above 1."""
        left = self.left_of(f.S, f.lacking, push)
        return largest_residual(SimpleNamespace(joint=left, size=f.size, lacking=f.lacking, y=left, address=[1]), None)

    def power(self, y: _Array, Phi_dot: Numbers, push: Numbers) -> Number:
        """Power of the drivers: multipliers times D v, which is Phi' less that of bodies at rest."""
        rows = self.rows
        if not rows.driven:
            return 0.0
        at_rest: dict[int, Number] = dict.fromkeys(range(rows.work), 0.0)
        at_rest |= {k: y[k] for k in range(rows.coordinates)}
        resting = _Found(self.found(at_rest), rows.rates, rows.rows).Phi_dot
        total: Number = 0.0
        for r in rows.driven:
            total = total + push[r] * (Phi_dot[r] - resting[r])
        return total

    def damped(self, y: _Array) -> Number:
        """Power of the dampers of limits."""
        of_limits, total = self.array(1, self.rows.first_limit, self.rows.of_limit), 0.0
        for limit, (_, u) in enumerate(self.rows.limited):
            rate = y[u]
            total = total - of_limits[limit, DAMPER] * rate * rate
        return total

    def correction(self) -> None:
        """The least changes that satisfy all rows, and which rows to choose."""
        rows, y, change, left = self.rows, self.array(0), self.array(2), self.array(3)
        n, m = rows.rates, rows.rows
        f = _Found(self.found(y), n, m)
        damped = [list(row) for row in f.S]
        for r in range(m):
            damped[r][r] = damped[r][r] + DAMPING * f.size[r]
        factors = self.factorise(damped, None)
        for side, violated in enumerate((f.Phi, f.Phi_dot)):
            push = self.solved(factors, [0.0 - value for value in violated])
            moved = [_plus(0.0, push, [response[k] for response in f.response]) for k in range(n)]
            if side == 0:
                moved = self.of_unit_length(y, self.rates_of_coordinates(y, moved))
            for k, value in enumerate(moved):
                change[side * rows.coordinates + k] = value
            left[side] = self.largest_size(violated)
        if rows.marks:
            for r, mark in enumerate(self.chosen(f)):
                change[rows.work + r] = mark

    def of_unit_length(self, y: _Array, change: Numbers) -> Numbers:
        """The changes of coordinates after which Euler parameters have unit length."""
        for q in self.rows.turned:
            p = [y[q + c] + change[q + c] for c in range(4)]
            length = self.code.function("sqrt", sum(e * e for e in p))
            change[q : q + 4] = [e / length - y[q + c] for c, e in enumerate(p)]
        return change

    def chosen(self, f: _Found) -> Numbers:
        """Marks of as many rows as are independent, each with the largest pivot ratio of those that are left."""
        m, L = self.rows.rows, [list(row) for row in f.S]
        marks: Numbers = [0.0] * m
        shares = [0.0 if is_known(size, 0.0) else 1.0 / size for size in f.size]
        for _ in range(self.rows.independent):
            best: Number = -1.0
            ratios = [_where_marked(marks[r], -1.0, L[r][r] * shares[r]) for r in range(m)]
            for ratio in ratios:
                best = _larger(ratio, best)
            free, here = 1.0, []
            for ratio in ratios:  # the first one of equal ones
                here.append(choose(ratio >= best, free, 0.0))
                free = free - here[-1]
            column: Numbers = [0.0] * m
            pivot: Number = 0.0
            for r in range(m):
                pivot = _where_marked(here[r], L[r][r], pivot)
                column = [_where_marked(here[r], L[max(r, i)][min(r, i)], column[i]) for i in range(m)]
            inverse = 1.0 / pivot
            for i in range(m):
                factor = column[i] * inverse
                for j in range(i + 1):
                    L[i][j] = L[i][j] - factor * column[j]
            marks = [a + b for a, b in zip(marks, here, strict=True)]
        return marks

    def forces(self) -> None:
        """Forces along the coordinates, their power and energy; signals go behind the forces."""
        signals, Q = self.array(1), self.array(3)
        if self.tree.acting is not None:
            write_forces(self.tree.acting, self.code, self.data)
        else:
            self.array(4)[0] = self.array(5)[0] = 0.0
        for k in range(3 * self.rows.signals):
            Q[self.rows.rates + k] = signals[k]


def _larger(a: Number, b: Number) -> Number:
    return choose(a >= b, a, b)


def _where_marked(mark: Number, then: Number, otherwise: Number) -> Number:
    """The first number in the lanes where a row is marked."""
    return choose(mark > 0.5, then, otherwise)


def _reciprocal(number: Number) -> Number:
    """Infinite of what is 0 in all states, as of a row that no coordinate changes."""
    return math.inf if is_known(number, 0.0) else 1.0 / number


def _less(b: Number, row: Numbers, y: Numbers) -> Number:
    for entry, value in zip(row, y, strict=True):
        b = b - entry * value
    return b


def _plus(a: Number, numbers: Numbers, factors: Numbers) -> Number:
    for number, factor in zip(numbers, factors, strict=True):
        a = a + number * factor
    return a
