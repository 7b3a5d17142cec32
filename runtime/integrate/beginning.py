"""The beginning of a motion that starts in a singular pose of closed loops, by collocation on its smooth branch.

In the pose itself the rows determine no accelerations.  The motion until a short time later is a polynomial y(t) with y(t0) = y0
whose rates agree with the equations of motion at places away from the pose, where they are evaluated on the constraints:

    y(t) = y0 + integral of p,    p = the polynomial nearest to the derivatives at y(t_1), ..., y(t_n)

with small weights close to the pose, as in ``runtime.results.passages``.  The fixed point is found by iteration from the straight
motion with the velocities of the start, which lead to one branch where they belong to one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import chebyshev

from runtime.dynamics.energy import powers
from runtime.dynamics.equations import derivative
from runtime.dynamics.layout import OK, OMEGA, STATE, P, R, V
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.sources import count_of_sources
from runtime.integrate.closed_loops import NEAR
from runtime.jit.compilation import compiled, inlined
from runtime.results.passages import DEGREE, NODES, Passage, places
from runtime.support.arrays import Floats
from runtime.system.rank import lever_arm
from runtime.system.system import System

SMALL_PIVOT = 1e-5  # pivot ratio at the start below which it may be close to a singular pose
FIRST_TURN = 0.3  # [rad], or part of the longest lever arm: length of the first attempt
ATTEMPTS, ITERATIONS = 14, 40
CONVERGED = 1e-14  # change of an iteration, of states of size 1
WORSE = 10.0  # of the best error, at which shorter attempts end: rounding grows as the pose comes closer
LARGEST_ERROR = 1e-7  # of states of size 1


@dataclass(frozen=True)
class Beginning:
    """The motion from a singular pose on."""

    t: Floats  # (NODES,) [s]
    integral: Floats = field(
        repr=False
    )  # (DEGREE + 2, 13 bodies + sources) Chebyshev coefficients of y - y0, and of the work
    y0: Floats = field(repr=False)
    end: Floats = field(repr=False)  # state at its end, on the constraints
    error: float
    largest_pivot: float
    evaluations: int

    def _value(self, t: float) -> Floats:
        x = 2.0 * (t - self.t[0]) / (self.t[-1] - self.t[0]) - 1.0
        change: Floats = chebyshev.chebval(x, self.integral) - chebyshev.chebval(-1.0, self.integral)
        return change

    def state(self, t: float) -> Floats:
        """State at a time [s]."""
        return self.end.copy() if t == self.t[-1] else _normalised(self.y0 + self._value(t)[: len(self.y0)])

    def work(self, t: float) -> Floats:
        """Work of each source of energy until a time [s]."""
        return self._value(t)[len(self.y0) :]

    @property
    def passage(self) -> Passage:
        """For the accelerations at times within it."""
        return Passage(self.t, self.largest_pivot, self.state)


@compiled
def evaluate_on_rows(time, y, t, w, y_dot, power):  # type: ignore[no-untyped-def]
    """``evaluate_and_forget``, called from Python."""
    return evaluate_and_forget(time, y, t, w, y_dot, power)


@inlined
def evaluate_and_forget(time, y, t, w, y_dot, power):  # type: ignore[no-untyped-def]
    """Derivative and powers of the state nearest to y that satisfies the rows, which is then in ``w.projected``; a code."""
    w.near_singular[0] = 1
    code = derivative(time, y, t, w, y_dot)
    if len(power) > 0:
        powers(w.projected, y_dot, t, w, power)
    w.near_singular[0], w.chosen[0] = 0, 0
    return code


def pivot_at(time: float, y: Floats, t: ModelData, w: Workspace) -> float:
    """The smallest pivot ratio of a state, 0 where rows are dependent."""
    code = evaluate_on_rows(time, y, t, w, np.empty_like(y), np.zeros(0))
    return float(w.smallest_pivot[0]) if code == OK else 0.0


def beginning(system: System, t: ModelData, w: Workspace, time: float, y: Floats, t_end: float) -> Beginning | None:
    """The motion from a singular pose on, or from close to one.

    None where the state is not close to such a pose, and where no iteration converges on a smooth branch with its velocities.
    """
    pivot = pivot_at(time, y, t, w)
    if not pivot < SMALL_PIVOT:
        return None
    state = y.reshape(-1, STATE)
    length = max(lever_arm(joint) for joint in system.joints)
    rate = max(float(np.abs(state[:, V:OMEGA]).max()) / length, float(np.abs(state[:, OMEGA:]).max()))
    if not rate > 0.0 or len(t.contacts.law):
        return None
    longest = t_end - time if len(t.signal_joint) or system.loads else np.inf
    span, best = min(FIRST_TURN / rate, longest), None
    for _ in range(ATTEMPTS):
        found = _attempt(t, w, time, y, span, length, rate)
        if found is not None and (best is None or found.error < best.error):
            best = found
        elif best is not None and (found is None or found.error > WORSE * best.error):
            break
        span *= 0.5
    close = best is not None and best.error < LARGEST_ERROR and pivot < NEAR * best.largest_pivot
    return best if close else None


def _attempt(
    t: ModelData, w: Workspace, time: float, y: Floats, span: float, length: float, rate: float
) -> Beginning | None:
    """The motion over a time span [s]; errors are measured by a length [m] and a rate [1/s]."""
    times, sources = places(time, time + span), count_of_sources(t)
    x = 2.0 * (times - time) / span - 1.0
    basis = chebyshev.chebvander(x, DEGREE)
    size = np.tile([length] * 3 + [1.0] * 4 + [length * rate] * 3 + [rate] * 3, len(y) // STATE)
    states = _normalised(y + (times - time)[:, None] * _rates_of_positions(y))
    rates, projected = np.zeros((NODES, len(y) + sources)), states.copy()
    pivots, y_dot, power, last = np.zeros(NODES), np.zeros(len(y)), np.zeros(sources), np.inf
    for iteration in range(ITERATIONS):
        for n in range(1, NODES):
            code = evaluate_on_rows(times[n], states[n], t, w, y_dot, power)
            rates[n, : len(y)], rates[n, len(y) :] = y_dot, power
            pivots[n] = w.smallest_pivot[0] if code == OK and np.isfinite(rates[n]).all() else 0.0
            projected[n] = w.projected
        if not pivots[-1] > 0.0:
            return None
        weights = np.clip(pivots / pivots.max(), 0.0, 1.0)[:, None]
        weighted = weights * np.where(weights > 0.0, rates, 0.0)
        coefficients = np.linalg.lstsq(weights * basis, weighted, rcond=None)[0]
        integral = np.asarray(0.5 * span * chebyshev.chebint(coefficients, axis=0), float)
        moved = chebyshev.chebval(x, integral).T - chebyshev.chebval(-1.0, integral)
        before, states = states, _normalised(y + moved[:, : len(y)])
        change = float((np.abs(states - before) / size).max())
        if not change < 1.0:
            return None
        if change < CONVERGED or (iteration > ITERATIONS // 4 and change > 0.5 * last):
            break
        last = change
    left = np.abs(weighted - weights * (basis @ coefficients))[:, : len(y)].max(axis=0) * span
    high = np.abs(coefficients[-2:, : len(y)]).max(axis=0) * span
    off = (weights * np.abs(projected - states)).max(axis=0)
    error = float(max(change, *((part / size).max() for part in (left, high, off))))
    return Beginning(times, integral, y.copy(), projected[-1], error, float(pivots.max()), NODES * (iteration + 1))


def _rates_of_positions(y: Floats) -> Floats:
    """Rates of a state without accelerations."""
    rates = np.zeros_like(y)
    s, to = y.reshape(-1, STATE), rates.reshape(-1, STATE)
    to[:, R:P] = s[:, V:OMEGA]
    e0, e, w = s[:, P : P + 1], s[:, P + 1 : V], s[:, OMEGA:]
    to[:, P] = -0.5 * np.einsum("na,na->n", e, w)
    to[:, P + 1 : V] = 0.5 * (e0 * w + np.cross(w, e))
    return rates


def _normalised(states: Floats) -> Floats:
    """States with Euler parameters of unit length."""
    states = np.ascontiguousarray(states)
    p = states.reshape(*states.shape[:-1], -1, STATE)[..., P:V]
    p /= np.linalg.norm(p, axis=-1, keepdims=True)
    return states
