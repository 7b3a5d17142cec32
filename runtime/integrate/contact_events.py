"""Touch-downs and lift-offs of contacts from states at given times, for integrators that do not locate them.

Between two times the penetration is the cubic through its values and rates at both.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.contacts import PENETRATION, PENETRATION_RATE, measure, normal_force, place_contacts
from runtime.dynamics.kinematics import update_poses
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.jit.compilation import compiled
from runtime.support.arrays import Floats

PLACES = (0.25, 0.5, 0.75, 1.0)  # of samples between two times
PULL_TOLERANCE = 1e-6  # of the elastic force: a pull below this comes from rounding and the cubic


@compiled
def measure_all(states, t, w, depths, rates):  # type: ignore[no-untyped-def]
    """Penetration and its rate of all contacts (n, contacts) in all states."""
    for n in range(len(states)):
        update_poses(states[n], t, w)
        place_contacts(t, w)
        for k in range(depths.shape[1]):
            measure(k, t, w)
            depths[n, k] = w.contacts.outputs[k, PENETRATION]
            rates[n, k] = w.contacts.outputs[k, PENETRATION_RATE]


@compiled
def force_at(k, depth, rate, t, w):  # type: ignore[no-untyped-def]
    """Elastic and damping force of contact k at a penetration and its rate."""
    m = w.contacts
    m.outputs[k, PENETRATION], m.outputs[k, PENETRATION_RATE] = depth, rate
    normal_force(k, t.contacts, m)
    return m.law[k, 1], m.law[k, 2]


def find_contact_events(times: Floats, states: Floats, data: ModelData, work: Workspace) -> Floats:
    """Time, contact, 1 for touch-down or 0 for lift-off, and speed of touch-down, in order."""
    depths = np.zeros((len(times), len(data.contacts.address)))
    rates = np.zeros_like(depths)
    measure_all(np.ascontiguousarray(states), data, work, depths, rates)
    parameters = work.contacts.normal.copy()
    rows = [
        row
        for k in range(depths.shape[1])
        for row in _contact_events_of(k, times, depths[:, k], rates[:, k], data, work)
    ]
    work.contacts.normal[:] = parameters
    found = np.array(rows).reshape(-1, 4)
    return found[np.argsort(found[:, 0], kind="stable")]


def _contact_events_of(
    k: int, times: Floats, depths: Floats, rates: Floats, data: ModelData, work: Workspace
) -> list[list[float]]:
    """Rows of ``find_contact_events`` of contact k."""
    t, parameters = data.contacts, work.contacts.normal[k]
    impact, parameters[:] = t.impact[k], t.normal[k]
    least = t.min_impact_speed[k] if impact >= 0 else 0.0
    rows: list[list[float]] = []
    slack = 1.0 + PULL_TOLERANCE * t.fades[k]

    def force(depth: float, rate: float) -> float:
        """Normal force; 0 or below where there is none."""
        if depth <= 0.0:
            return depth
        elastic, damping = force_at(k, depth, rate, data, work)
        return float(slack * elastic + damping)

    def began(time: float, rate: float, outside: bool) -> None:
        speed = max(rate, least) if outside or not rows else rows[-2][3]
        if impact >= 0:
            parameters[impact] = speed
        rows.append([float(time), float(k), 1.0, float(speed)])

    closed = len(times) > 0 and force(depths[0], rates[0]) > 0.0
    if closed:
        began(times[0], rates[0], True)
    near = (depths[:-1] > 0.0) | (depths[1:] > 0.0) | ((rates[:-1] > 0.0) & (rates[1:] < 0.0))
    for n in np.flatnonzero(near):
        h = float(times[n + 1] - times[n])
        a, b, slope_a, slope_b = (float(v) for v in (depths[n], depths[n + 1], h * rates[n], h * rates[n + 1]))
        c, d = 3.0 * (b - a) - 2.0 * slope_a - slope_b, 2.0 * (a - b) + slope_a + slope_b

        def at(
            x: float, a: float = a, v: float = slope_a, c: float = c, d: float = d, h: float = h
        ) -> tuple[float, float]:
            """Penetration and its rate."""
            return a + x * (v + x * (c + x * d)), (v + x * (2.0 * c + x * 3.0 * d)) / h

        before = 0.0
        for place in PLACES:
            if (force(*at(place)) > 0.0) != closed:
                x = before
                if (force(*at(before)) > 0.0) == closed:
                    from scipy.optimize import brentq  # here because the import takes a fifth of a second

                    x = float(brentq(lambda x, at=at: force(*at(x)), before, place, xtol=1e-15, rtol=1e-14))
                time, rate = float(times[n]) + h * x, at(x)[1]
                closed = not closed
                if closed:
                    began(time, rate, at(before)[0] <= 0.0)
                else:
                    rows.append([time, float(k), 0.0, abs(rate)])
            before = place
    return rows
