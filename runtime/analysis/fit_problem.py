"""The data of a fit, measured and predicted, and the effects of what is fitted on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from runtime.analysis.fit_data import Measured, ask_about_scales, checked_data, prepared
from runtime.analysis.question import Question
from runtime.analysis.sensitivities import solve
from runtime.analysis.sensitivity_result import Sensitivities
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.progress import Progress

# Limit of the steps of a candidate's run: this many times the steps of the first run, and at least this many.
MAX_STEPS_RATIO, MIN_STEPS_LIMIT = 100, 1000
NO_EFFECT = 1e-9  # a quantity has no effect if a change by its own size changes all data by less than this fraction
# Quantities whose effects on the data cancel to this fraction, or to this multiple of the tolerances of the runs, cannot be
# distinguished; the derivatives are accurate to about 1e-9 or, with wide tolerances, to some multiple of them.
INDISTINGUISHABLE, TOLERANCES = 1e-7, 10.0


class Effects(NamedTuple):
    """Effects of the K components on the data.

    The columns of the Jacobian are scaled to unit length, which removes the units, and are 0 for components without effect.
    Directions whose singular values are within the errors of the Jacobian count as without effect.
    """

    scale: Floats  # (K,) lengths of the columns; 1 for components without effect
    values: Floats  # (rank,) singular values
    directions: Floats  # (rank, K) directions with effect
    free: Floats  # (K, K - rank) directions without effect
    jacobian: Floats  # (rows, K) along the directions with effect


class Problem:
    """Measured and predicted data of a fit, weighted by the standard deviations, and their derivatives.

    Raises
    ------
    ModelError
        For data that break a rule, and for a start that cannot be simulated.
    """

    def __init__(
        self, question: Question, times: Floats, data: dict[str, Floats], sigma: dict[str, float], rtol: float,
        atol: float, check_units: bool, bar: Progress,
    ) -> None:  # fmt: skip
        self.bar, self.runs = bar, 0
        self.question, self.times, self.sigma, self.rtol, self.atol = question, times, sigma, rtol, atol
        self.max_steps: int | None = None
        self._last: tuple[bytes, Sensitivities] | None = None
        _check_span(question, times)
        start = self.solved(question.row)
        known = checked_data(start, data, sigma, len(times))
        if check_units:
            ask_about_scales(start, known)
        self.data = [prepared(one, start) for one in known]
        self.max_steps = max(MAX_STEPS_RATIO * start.steps, MIN_STEPS_LIMIT)
        self.target = self._rows(lambda one: one.values)
        self.size = float(np.linalg.norm(self.predicted(question.row)))

    def solved(self, row: Floats) -> Sensitivities:
        """The run and its derivatives; the last ones are kept, because the search asks for both in turn."""
        key = row.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = None
            end = float(self.times[-1])
            found = solve(
                self.question, row, end, self.times, self.rtol, self.atol, max_steps=self.max_steps,
                progress=lambda t, t_end: self.bar.update(self.runs + t / t_end),
            )  # fmt: skip
            self.runs += 1
            self.bar.update(self.runs)
            self._last = key, found
        return self._last[1]

    def predicted(self, row: Floats) -> Floats:
        """Values of the model where there are data."""
        found = self.solved(row)
        return self._rows(lambda one: one.of_run(found))

    def effects(self, row: Floats) -> Effects:
        """Derivatives of the predicted values."""
        found = self.solved(row)
        jacobian = self._rows(lambda one: one.slopes(found))
        threshold = max(INDISTINGUISHABLE, TOLERANCES * self.rtol, TOLERANCES * self.atol)
        scale = np.linalg.norm(jacobian, axis=0)
        idle = scale * self.question.sizes(row) <= NO_EFFECT * self.size
        scale = np.where(idle, 1.0, scale)
        scaled = np.where(idle, 0.0, jacobian / scale)
        square = np.vstack(
            [scaled, np.zeros((len(scale), len(scale)))]
        )  # K directions, also where there are fewer rows
        _, values, directions = np.linalg.svd(square, full_matrices=False)
        kept = values > threshold
        along = directions[kept]
        return Effects(scale, values[kept], along, directions[~kept].T, scaled @ along.T @ along * scale)

    def _rows(self, values: Callable[[Measured], Floats]) -> Floats:
        """Values of all quantities where there are data, weighted, in a row."""
        return np.concatenate(
            [values(one)[np.isfinite(one.values)] / self.sigma.get(one.name, 1.0) for one in self.data]
        )


def _check_span(question: Question, times: Floats) -> None:
    """Refuse times of data ahead of the start of the runs, or none behind it."""
    start = question.system(question.row)[0].time
    if times[0] < start or times[-1] <= start:
        wrong = f"begins at {times[0]:g} s" if times[0] < start else f"ends at {times[-1]:g} s"
        raise ModelError(
            f"t {wrong}, and the runs start at {start:g} s; give times from the start on, one at least behind it"
        )
