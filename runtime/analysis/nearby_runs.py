"""Derivatives of results of a run: outputs by name, and functions of the run.

Two differences of order six add up: of runs with states along the derivatives of the states, and of runs with these states in
systems nearby.  The times at which contacts begin and end, and the speeds of touch-downs, vary along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.model_data import stabilised
from runtime.integrate.variational.contacts import ContactDirections
from runtime.integrate.variational.differences import BOTH_SIDES, smoothness, weights
from runtime.results.outputs import parsed_outputs, value_of
from runtime.results.run import Run
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, said_by
from runtime.support.numbers import floats
from runtime.system.system import System

# Reach of the differences, as a fraction of the larger of 1 and a component: kinks of a result within it are not seen.
REACH = 1e-4
ROUGH = 1e-3  # relative error of the derivative of a number from which on it has none
TURN = 2.0 * np.pi
Result = str | Callable[[Run], Any]  # of a run: an output by its name, or a function


class Slopes(NamedTuple):
    """Derivatives of a run with respect to K quantities."""

    states: Floats  # (m, 13 bodies, K)
    of_forces: Floats  # (m, states of forces, K)
    events: Floats | None  # (changes, 2, K) of time and speed; None where they are not known


def name_of(of: Result) -> str:
    """The name of a result: that of an output, or of a function."""
    return of if isinstance(of, str) else getattr(of, "__name__", "function")


def _value_of_function(name: str, function: Callable[[Run], Any], run: Run) -> Floats:
    """What a function of the user's returns for a run."""
    try:
        found = function(run)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"result '{name}': its function failed: {said_by(error)}") from error
    return floats(found, f"result '{name}'", "a number or an array of numbers")


@dataclass(frozen=True)
class NearbyRuns:
    """A run and its neighbours, from which derivatives follow."""

    run: Run
    systems: Sequence[Sequence[System]]  # nearby, of each quantity
    weights: Sequence[Floats]  # with which changes of these add up to the derivative
    slopes: Slopes = field(repr=False)

    def slope(self, of: Result) -> tuple[Floats, Floats]:
        """A result, and its derivatives with respect to K quantities (..., K).

        Raises
        ------
        ModelError
            For an unknown output, for a function without numbers, and where derivatives are not known.
        """
        name, turns = name_of(of), False
        value: Callable[[Run], Floats]
        if not isinstance(of, str):
            value = partial(_value_of_function, name, of)
        else:
            output = parsed_outputs([of], self.run.system, len(self.run.t), named_by="result")[of]
            if output.reduction.startswith("time_of"):
                raise ModelError(
                    f"derivative: '{of}' is one of the times of the run, which do not vary; choose a value"
                )
            value, turns = partial(value_of, output), output.unit == "rad"
        own = value(self.run)
        slopes, rough = np.zeros((*own.shape, len(self.systems))), 0.0
        for k in range(len(self.systems)):
            changes = [value(run) - own for run, _ in self._around[k]]
            if turns:  # angles from the start are known up to revolutions
                changes = [change - TURN * np.round(change / TURN) for change in changes]
            for change, (_, weight) in zip(changes, self._around[k], strict=True):
                slopes[..., k] += weight * change
            along = changes[: len(BOTH_SIDES)]
            if not own.ndim and len(self._around[k]) > len(self.systems[k]):
                rough = max(rough, smoothness(BOTH_SIDES, [own + change for change in along], own))
        if not np.isfinite(slopes).all():
            raise ModelError(f"derivative: '{name}' has no finite derivative with respect to all quantities")
        if rough > ROUGH:
            raise ModelError(
                f"derivative: '{name}' has a kink or a jump, where the slopes of both sides differ by {rough:.1g} of them, as a "
                "largest value that two times share; choose another result, or other values"
            )
        if self.slopes.events is None and np.any(value(self._at_other_events()) != own):
            raise ModelError(
                f"derivative: '{name}' depends on the speeds or times of touch-downs, whose derivatives are not known in this "
                "run; end the run earlier, or choose a result of positions and velocities"
            )
        return own, slopes

    @cached_property
    def _around(self) -> list[list[tuple[Run, float]]]:
        """Runs around the run along each quantity, and the weights of the changes there."""
        return [list(self._along(k)) for k in range(len(self.systems))]

    def _along(self, k: int) -> Iterator[tuple[Run, float]]:
        run, own = self.run, self._rows
        along = np.hstack([self.slopes.states[:, :, k], self.slopes.of_forces[:, :, k]])
        if reach := float((np.abs(along) / np.maximum(np.abs(own), 1.0)).max(initial=0.0)):
            h = REACH / reach
            for place, weight in zip(BOTH_SIDES, weights(BOTH_SIDES), strict=True):
                yield self._moved(run.system, own + place * h * along, self._events(k, place * h)), weight / h
        for system, weight in zip(self.systems[k], self.weights[k], strict=True):
            yield self._moved(system, own, run.contact_events), weight

    @property
    def _rows(self) -> Floats:
        """States of the bodies and of forces, (m, n)."""
        return self.run.states if self.run._z is None else np.hstack([self.run.states, self.run._z])

    def _moved(self, system: System, rows: Floats, contact_events: Floats) -> Run:
        """The run with other states, of the bodies and of forces, in a system."""
        run, n = self.run, self.run.states.shape[1]
        return replace(
            run, system=system, data=stabilised(system.data, run.data.alpha, run.data.beta), contact_events=contact_events,
            states=np.ascontiguousarray(rows[:, :n]), _z=None if run._z is None else np.ascontiguousarray(rows[:, n:]),
        )  # fmt: skip

    def _events(self, k: int, h: float) -> Floats:
        events = self.run.contact_events.copy()
        if len(events) and self.slopes.events is not None:
            events[:, [0, 3]] += h * self.slopes.events[:, :, k]
        return events

    def _at_other_events(self) -> Run:
        events = self.run.contact_events.copy()
        events[:, [0, 3]] *= 1.0 + np.array([1e-12, REACH])
        return self._moved(self.run.system, self._rows, events)


def slopes_of_events(run: Run, contacts: ContactDirections | None) -> Floats | None:
    """Derivatives of the times and speeds of a run's contact events, (changes, 2, K), where all of them are known."""
    events = run.contact_events
    if contacts is None or len(events) == 0:
        return None if len(events) else np.zeros((0, 2, 0))
    count = int(contacts.changed[0])
    if count != len(events) or count > len(contacts.changes):
        return None
    rows = contacts.changes[:count]
    if not np.array_equal(rows[:, 0], events[:, 1]):
        return None
    return rows[:, 1:].reshape(count, 2, -1)
