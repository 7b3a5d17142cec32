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
# The formula with the ends of the interval and two of the nodes, whose difference estimates the error.
OTHERS = np.array([-1.0, *NODES[1:3], 1.0])
OTHER_WEIGHTS = np.linalg.solve(OTHERS ** np.arange(4)[:, None], [2.0, 0.0, 2.0 / 3.0, 0.0])


@compiled
def measure_once(time, y, t, w, y_dot, power, stored, energy):  # type: ignore[no-untyped-def]
    """Powers of all sources [W], those of contacts with the part that their springs store, which goes to ``stored`` [J].

    energy (3,) : kinetic, of gravity, stored [J]
    """
    code = derivative(time, y, t, w, y_dot)
    powers(y, y_dot, t, w, power)
    energies_of(y, t, w, energy)
    first = first_contact(t)
    for k in range(len(stored)):
        outputs = w.contacts.outputs[k]
        stored[k] = outputs[STORED]
        if outputs[NORMAL_FORCE] != 0.0:
            power[first + k] -= w.contacts.law[k, 1] * outputs[PENETRATION_RATE]
    return code


class SteppedBalance:
    """Work and energies along steps.  What springs of contacts lose at an end of their force counts as work of the contacts."""

    def __init__(
        self, t: float, y: Floats, data: ModelData, work: Workspace, references: tuple[Reference, Reference]
    ) -> None:
        sources, contacts = len(work.power), len(data.contacts.law)
        first = len(data.loads.body) + len(data.loads.address) + len(data.limits.kind)
        self.references, self.of_contacts = references, slice(first, first + contacts)
        self.y_dot, self.power, self.stored, self.now = y.copy(), np.zeros(sources), np.zeros(contacts), np.zeros(3)
        self.work, self.energy = np.zeros(sources), np.zeros(ENERGIES)
        self._measure(t, y)
        self.begin = self.end = self.work, self.power.copy(), self.stored.copy()
        kinetic, potential = self._kinetic_and_potential()
        self.energy[[START, LOWEST, HIGHEST, KINETIC]] = kinetic + potential, potential, potential, kinetic

    def _measure(self, t: float, y: Floats) -> Floats:
        measure_once(t, np.ascontiguousarray(y), *self.references, self.y_dot, self.power, self.stored, self.now)
        return self.power.copy()

    def _kinetic_and_potential(self) -> tuple[float, float]:
        return float(self.now[0]), float(self.now[1] + self.now[2])

    def until(self, t_old: float, t: float, at: Callable[[float], Floats]) -> Floats:
        """Work from the start of the run until a time within the last step."""
        return self._integral(t_old, t, at)[0]

    def _integral(self, t_old: float, t: float, at: Callable[[float], Floats]) -> tuple[Floats, Floats]:
        """Work until a time within the last step, where the last measurement then was, and its estimated error."""
        work, power, stored = self.begin
        if not len(work):
            self._measure(t, at(t))
            return work, work
        half = 0.5 * (t - t_old)
        inner = [self._measure(place, at(place)) for place in t_old + half * (1.0 + NODES)]
        integral = half * (WEIGHTS @ inner)
        other = half * (OTHER_WEIGHTS @ [power, *inner[1:3], self._measure(t, at(t))])
        total = work + integral
        total[self.of_contacts] += self.stored - stored
        return total, np.abs(integral - other)

    def accept(self, t_old: float, t: float, at: Callable[[float], Floats]) -> None:
        """Add a step."""
        self.begin, before = self.end, self.work
        self.work, uncertain = self._integral(t_old, t, at)
        self.end = self.work, self.power.copy(), self.stored.copy()
        e, (kinetic, potential) = self.energy, self._kinetic_and_potential()
        e[ERROR] = kinetic + potential - e[START] - self.work.sum()
        e[EXCHANGED] += np.abs(self.work - before).sum()
        e[UNCERTAIN] += uncertain.sum()
        e[KINETIC], e[LOWEST], e[HIGHEST] = (
            max(e[KINETIC], kinetic),
            min(e[LOWEST], potential),
            max(e[HIGHEST], potential),
        )
        if not abs(e[ERROR]) <= abs(e[LARGEST_ERROR]):
            e[LARGEST_ERROR], e[AT] = e[ERROR], t
