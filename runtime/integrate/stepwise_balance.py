"""Energy balance of SciPy's methods: the work of each source, integrated over their dense output."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from runtime.dynamics.contacts import NORMAL_FORCE, PENETRATION_RATE
from runtime.dynamics.contacts import POTENTIAL as STORED
from runtime.dynamics.energy import energies_of, powers
from runtime.dynamics.equations import derivative
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.sources import first_contact
from runtime.integrate.balance import (
    AT,
    ENERGIES,
    ERROR,
    EVERY,
    EXCHANGED,
    HIGHEST,
    KINETIC,
    LARGEST_ERROR,
    LOWEST,
    START,
    UNCERTAIN,
)
from runtime.jit.compilation import compiled
from runtime.jit.references import Reference
from runtime.support.arrays import Floats

NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)
TIMES = 1.0 + np.append(NODES, 1.0)  # the nodes and the end of an interval, in halves of its length
# The formula with the ends of the interval and two of the nodes, whose difference estimates the error.
OTHERS = np.array([-1.0, *NODES[1:3], 1.0])
OTHER_WEIGHTS = np.linalg.solve(OTHERS ** np.arange(4)[:, None], [2.0, 0.0, 2.0 / 3.0, 0.0])


@compiled
def measure(times, states, t, w, y_dot, powers_at, stored, energy):  # type: ignore[no-untyped-def]
    """Powers of all sources [W] at times (m,); those of contacts with the part that their springs store, also in ``stored``.

    powers_at (m, sources) [W]; at the last time: stored (contacts,) [J], energy (3,) kinetic, of gravity, stored [J]
    """
    first = first_contact(t)
    for n in range(len(times)):
        derivative(times[n], states[n], t, w, y_dot)
        powers(states[n], y_dot, t, w, powers_at[n])
        for k in range(len(stored)):
            outputs = w.contacts.outputs[k]
            stored[k] = outputs[STORED]
            if outputs[NORMAL_FORCE] != 0.0:
                powers_at[n, first + k] -= w.contacts.law[k, 1] * outputs[PENETRATION_RATE]
    energies_of(states[len(times) - 1], t, w, energy)


@compiled
def integrate(half, power, powers_at, work, error):  # type: ignore[no-untyped-def]
    """Work (sources,) [J] in an interval of the length 2 ``half`` [s], and its estimated error, from powers (sources,) [W].

    power: at the begin of the interval; powers_at: at its ``NODES`` and at its end
    """
    for k in range(len(work)):
        work[k] = error[k] = 0.0
        for n in range(4):
            work[k] += half * WEIGHTS[n] * powers_at[n, k]
        other = OTHER_WEIGHTS[0] * power[k] + OTHER_WEIGHTS[3] * powers_at[4, k]
        for n in range(1, 3):
            other += OTHER_WEIGHTS[n] * powers_at[n, k]
        error[k] = abs(work[k] - half * other)


class SteppedBalance:
    """Work and energies along steps.  What springs of contacts lose at an end of their force counts as work of the contacts."""

    def __init__(
        self, t: float, y: Floats, data: ModelData, work: Workspace, references: tuple[Reference, Reference]
    ) -> None:
        sources, contacts = len(work.power), len(data.contacts.address)
        first = len(data.loads.body) + len(data.loads.address) + len(data.limits.kind)
        self.references, self.of_contacts = references, slice(first, first + contacts)
        self.steps, self.y_dot, self.stored, self.now = 0, y.copy(), np.zeros(contacts), np.zeros(3)
        self.work, self.energy = np.zeros(sources), np.zeros(ENERGIES)
        power = self._measure(np.array([t]), y[None])[0]
        self.begin = self.end = self.work, power, self.stored.copy()
        kinetic, potential = self._kinetic_and_potential()
        self.energy[[START, LOWEST, HIGHEST, KINETIC]] = kinetic + potential, potential, potential, kinetic

    def _measure(self, times: Floats, states: Floats) -> Floats:
        """Powers (m, sources) at the times of states (m, n); the energies are those of the last one."""
        power = np.zeros((len(times), len(self.work)))
        measure(times, np.ascontiguousarray(states), *self.references, self.y_dot, power, self.stored, self.now)
        return power

    def _kinetic_and_potential(self) -> tuple[float, float]:
        return float(self.now[0]), float(self.now[1] + self.now[2])

    def until(self, t_old: float, t: float, at: Callable[[Floats], Floats]) -> Floats:
        """Work from the start of the run until a time within the last step, whose states (m, n) at times (m,) ``at`` gives."""
        return self._integral(t_old, t, at)[0]

    def _integral(self, t_old: float, t: float, at: Callable[[Floats], Floats]) -> tuple[Floats, Floats, Floats]:
        """Work until a time within the last step, its estimated error, and the powers at that time, the last one measured."""
        work, power, stored = self.begin
        half = 0.5 * (t - t_old)
        times = t_old + half * TIMES
        times[-1] = t
        found = self._measure(times, at(times))
        total, error = np.empty_like(work), np.empty_like(work)
        integrate(half, power, found, total, error)
        total += work
        total[self.of_contacts] += self.stored - stored
        return total, error, found[-1]

    def accept(self, t_old: float, t: float, y: Floats, at: Callable[[Floats], Floats]) -> None:
        """Add a step that ends at a state y (n,); without sources only one in a number of steps is measured."""
        self.steps += 1
        e, exchanged, uncertain = self.energy, 0.0, 0.0
        if len(self.work):
            self.begin, before = self.end, self.work
            self.work, errors, power = self._integral(t_old, t, at)
            self.end = self.work, power, self.stored.copy()
            exchanged, uncertain = float(np.abs(self.work - before).sum()), float(errors.sum())
        elif self.steps % EVERY:
            return
        else:
            self._measure(np.array([t]), y[None])
        kinetic, potential = self._kinetic_and_potential()
        e[ERROR] = kinetic + potential - e[START] - self.work.sum()
        e[EXCHANGED] += exchanged
        e[UNCERTAIN] += uncertain
        e[KINETIC], e[LOWEST], e[HIGHEST] = (
            max(e[KINETIC], kinetic),
            min(e[LOWEST], potential),
            max(e[HIGHEST], potential),
        )
        if not abs(e[ERROR]) <= abs(e[LARGEST_ERROR]):
            e[LARGEST_ERROR], e[AT] = e[ERROR], t
