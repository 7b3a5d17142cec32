"""Reflexes with a delay, by the method of steps: the past of a run is signals of its muscles.

The excitation of a muscle follows from its length and its lengthening speed a delay before.  Within a *window*, which is no
longer than the shortest delay, both are known functions of time, as any signal: polynomials through the dense output of the
steps before.  A run pauses at the end of a window, and the signals are those of the next one.  Before the start of a run a muscle
was at rest with its initial length, so that the speed jumps at the start; a window ends a delay later, between two steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from runtime.dynamics.layout import STATE
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.signals import DEGREE, SignalData
from runtime.integrate import stepping
from runtime.integrate.joints_first import JointsFirst
from runtime.integrate.methods import Compiled
from runtime.integrate.settings import Settings
from runtime.integrate.step_control import MOST_STEPS, NO_LIMIT
from runtime.integrate.stepwise import SLOWER
from runtime.support.arrays import Floats, frozen
from runtime.support.errors import ModelError, warn
from runtime.system.delays import delayed
from runtime.system.muscle_modules import DELAYED
from runtime.system.muscle_paths import path_motion
from runtime.system.parts import Force
from runtime.system.reference import states_by_name
from runtime.system.signal import TINY, Signal
from runtime.system.system import System, with_fields

PIECES = 4  # of each step of the past: their error is below that of the step
ROOM = 512  # pieces of a window at most; it ends sooner where the past has more
NODES = (1.0 - np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)) / 2.0  # of a piece, of Chebyshev and Lobatto
TO_POWERS = np.linalg.inv(np.vander(NODES, increasing=True))
OF_STEP = np.append((np.arange(PIECES)[:, None] + NODES[:-1]).ravel() / PIECES, 1.0)  # places in a step
OF_PIECE = DEGREE * np.arange(PIECES)[:, None] + np.arange(DEGREE + 1)  # (pieces, nodes) among these places
LENGTH_AND_SPEED = len(DELAYED)
CHANGE = 0.01  # of the largest speed: an end of a step of the past counts as a knot if the speed has changed by so much
# Step that is kept, by time and delay: the knots of a shorter one may be equal, so that the piece before goes on.
SHORTEST = 2.0**-45
ROUNDING = 1e-12  # of a time: pauses so near each other are at one time
MANY_DELAYS, MOST_DELAYS = (
    1e6,
    MOST_STEPS / SLOWER,
)  # in a run: minutes of computing; days, where ``Lookout`` ends a run
Pieces = tuple[Floats, Floats, Floats]  # knots [s], coefficients (pieces, 6), weights, as of ``SignalData``


class Delays:
    """The past of a run, and the signals that follow from it; ``data``: those of the system, with room for the signals."""

    def __init__(self, system: System, data: ModelData) -> None:
        self.system, self.muscles = system, late(system)
        self.delays = np.array([force.values["delay"] for force in self.muscles], float)
        forces, self.numbers = data.forces, list[list[int]]()
        for force in self.muscles:
            own = forces.signal[forces.signal_force == system.force_names.index(force.name)].tolist()
            self.numbers.append([own[list(force.signals).index(name)] for name in DELAYED])
        room = np.full(ROOM, np.inf), np.zeros((ROOM, DEGREE + 1)), np.zeros(ROOM)
        self.data = data._replace(
            signals=with_pieces(data.signals, {number: room for numbers in self.numbers for number in numbers})
        )
        self._steps: list[tuple[Floats, Floats]] = []  # since the last window: times (places,) and states (places, n)

    def begin(self, m: Compiled | JointsFirst) -> None:
        """Keep the start, and the rest before it."""
        self.start = m.t
        coefficient = np.zeros((len(self.muscles), LENGTH_AND_SPEED, 1, DEGREE + 1))
        coefficient[:, 0, 0, 0] = [values[0, 0] for values in self._measured(m.y[None])]
        self.knot, self.coefficient = np.array([m.t - self.delays.max()]), coefficient
        self.weight, self.largest = np.zeros((len(self.muscles), 1)), np.zeros((len(self.muscles), 1))
        self._past = [(self.knot, coefficient)]

    def keep(self, m: Compiled | JointsFirst) -> None:
        """Keep the last step."""
        begin, end = m.t_old, m.t
        if end - begin > SHORTEST * (abs(end) + self.delays.max()):
            times = begin + OF_STEP * (end - begin)
            times[-1] = end
            self._steps.append((times, m.within(times)))

    def refill(self, t: float, due: float, to: SignalData) -> float:
        """Put the next window from a time on into signals, which may be written; its end [s], ``due`` at most."""
        self._add_steps(t)
        acting = self.knot + self.delays[:, None]  # (muscles, pieces) from when on
        ends = self.start + self.delays  # where the speed of the start jumps
        due = min([due, t + self.delays.min(), *ends[ends > at_once(t)].tolist()])
        first = [max(int(np.searchsorted(own, t, side="right")) - 1, 0) for own in acting]
        due = min([due, *(own[k + ROOM] for own, k in zip(acting, first, strict=True) if len(own) > k + ROOM)])
        for n, (own, k) in enumerate(zip(acting, first, strict=True)):
            pieces = slice(k, max(int(np.searchsorted(own, due)), k + 1))
            for part, number in enumerate(self.numbers[n]):
                at = int(to.start[number])
                count = at + pieces.stop - k
                to.knot[at:count], to.knot[count : at + ROOM] = own[pieces], np.inf
                to.coefficient[at:count] = self.coefficient[n, part, pieces]
                to.weight[at:count] = self.weight[n, pieces]
        return due

    def _add_steps(self, t: float) -> None:
        """Make pieces of the steps since the last window, and forget those that no window from a time on needs."""
        used = max(int(np.searchsorted(self.knot, t - self.delays.max(), side="right")) - 2, 0)
        new: list[Pieces] = []
        if self._steps:
            times, states = (np.array(part) for part in zip(*self._steps, strict=True))
            self._steps = []
            measured = self._measured(states.reshape(-1, states.shape[-1]))
            values = np.array(measured).reshape(len(self.muscles), LENGTH_AND_SPEED, *times.shape)[..., OF_PIECE]
            knots = times[:, ::DEGREE]
            coefficient = values @ TO_POWERS.T / np.diff(knots)[..., None] ** np.arange(DEGREE + 1)
            coefficient = coefficient.reshape(*coefficient.shape[:2], -1, DEGREE + 1)
            new = [(knots[:, :-1].ravel(), coefficient, self._weights(coefficient[:, 1, :, 0]))]
            self._past.append(new[0][:2])
        parts = zip((self.knot[used:], self.coefficient[:, :, used:], self.weight[:, used:]), *new, strict=True)
        self.knot, self.coefficient, self.weight = (
            np.concatenate(part, axis=axis) for part, axis in zip(parts, (0, 2, 1), strict=True)
        )

    def _weights(self, speed: Floats) -> Floats:
        """Weights (muscles, pieces) of knots by the speeds there: 1 at ends of steps, one of which a step may pass, else 0.

        So a step sees a short pulse, to which the steps of the past were fitted.
        """
        weights, ends = np.zeros_like(speed), speed[:, ::PIECES]
        self.largest = np.maximum(self.largest, np.abs(speed).max(axis=1, keepdims=True))
        change = np.cumsum(np.abs(np.diff(ends, axis=1, prepend=ends[:, :1])), axis=1)
        level = np.floor(change / np.maximum(CHANGE * self.largest, TINY))
        weights[:, ::PIECES] = np.diff(level, axis=1, prepend=0.0) > 0.0
        return weights

    def _measured(self, states: Floats) -> list[Floats]:
        """Length and lengthening speed (2, n) of each muscle in states (n, 13 bodies + states of forces)."""
        bodies = states[:, : STATE * len(self.system.bodies)].copy()
        stepping.normalise_all(bodies)
        by_name = states_by_name(bodies, self.system.body_names)
        return [path_motion(force, by_name)[:LENGTH_AND_SPEED] for force in self.muscles]

    def cause(self, steps: int, t: float) -> str:
        """As of ``Sampling``; "" where most steps are shorter than the shortest delay."""
        shortest = int(np.argmin(self.delays))
        return said_of(self.muscles[shortest]) if t - self.start > 0.5 * steps * self.delays[shortest] else ""

    def recorded(self, system: System) -> System:
        """A system with the whole past as signals of its muscles."""
        self._add_steps(self.start)
        knot = np.concatenate([knot for knot, _ in self._past])
        coefficient = np.concatenate([of for _, of in self._past], axis=2)
        forces, pieces = {force.name: force for force in system.forces}, dict[int, Pieces]()
        for n, (muscle, delay, numbers) in enumerate(zip(self.muscles, self.delays, self.numbers, strict=True)):
            knots = np.append(self.start, knot[1:] + delay)
            signals = dict(forces[muscle.name].signals)
            for name, number, own in zip(DELAYED, numbers, coefficient[n], strict=True):
                pieces[number] = knots, own, np.zeros(len(knots))
                signals[name] = Signal(np.append(knots, knots[-1] + delay), own)
            forces[muscle.name] = replace(forces[muscle.name], signals=MappingProxyType(signals))
        data = system.data._replace(signals=with_pieces(system.data.signals, pieces))
        return with_fields(system, forces=tuple(forces.values()), data=data, _made_of=())


def late(system: System) -> tuple[Force, ...]:
    """The muscles of a system whose delays are not 0."""
    return tuple(force for force in delayed(system) if force.values["delay"] > 0.0)


def refuse_short_delays(system: System, how: Settings) -> None:
    """Refuse delays of which a run is so many that its steps, which end at each, count as without end; warn of many.

    Raises
    ------
    ModelError
        Naming the muscle with the shortest delay.
    """
    shortest = min(late(system), key=lambda force: float(force.values["delay"]), default=None)
    if shortest is None:
        return
    count = (how.t_end - how.t_start) / float(shortest.values["delay"])
    text = said_of(shortest, f", which makes {count:.1g} steps to t = {how.t_end:g} s, limit {MOST_DELAYS:.0e}")
    if count > MOST_DELAYS and how.max_steps == NO_LIMIT:
        raise ModelError(text)
    if count > MANY_DELAYS:
        warn(text)


def said_of(force: Force, count: str = "") -> str:
    """What a delay does to the steps of a run, and the remedy."""
    return (
        f"muscle '{force.name}': no step is longer than its delay of {force.values['delay']:g} s{count}; give a longer one, or "
        "delay=0, with which its reflex is a law of the present state"
    )


def at_once(t: float) -> float:
    """The last of the times that are at one time with t."""
    return t + ROUNDING * max(1.0, abs(t))


def with_pieces(t: SignalData, new: Mapping[int, Pieces]) -> SignalData:
    """Signals some of which, by their numbers, have other pieces."""
    every = [
        new.get(k, (t.knot[a:b], t.coefficient[a:b], t.weight[a:b]))
        for k, (a, b) in enumerate(pairwise(t.start.tolist()))
    ]
    knot, coefficient, weight = map(np.concatenate, zip(*every, strict=True))
    start = np.cumsum([0, *(len(knots) for knots, *_ in every)]).astype(np.int64)
    return frozen(t._replace(start=start, knot=knot, coefficient=coefficient, weight=weight))
