"""What the studies measure on runs with limits of motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime import LimitMotion, Run, System, simulate

PER_SECOND = 1000  # output times: a contact lasts tens of milliseconds
WRITTEN_PER_SECOND = 200  # of those, what goes into files
PARTS = 8  # of a step of the integration, to see forces within it
SETTLED = 0.95  # of the energy that will be dissipated


def times(t_end: float, per_second: int = PER_SECOND) -> np.ndarray:
    """Output times of a run, evenly spaced, (n,) [s]."""
    return np.linspace(0.0, t_end, max(int(round(t_end * per_second)), 1) + 1)


def thinned(run: Run, every: int = PER_SECOND // WRITTEN_PER_SECOND) -> Run:
    """The same run with fewer output times, for files."""
    return replace(run, t=run.t[::every].copy(), states=run.states[::every].copy())


def resolved(systems: Mapping[str, System], t_end: float, **settings: Any) -> dict[str, Run]:
    """Runs of systems at the steps of all and at ``times``, each step in ``PARTS``: for forces that jump or have short peaks.

    ``settings`` of ``simulate``.
    """
    own = [simulate(system, t_end, **settings).t for system in systems.values()]
    steps = np.unique(np.concatenate([*own, times(t_end)]))
    within = np.interp(np.arange(PARTS * (len(steps) - 1) + 1) / PARTS, np.arange(len(steps)), steps)
    outputs = np.unique(within[within <= min(t[-1] for t in own)])
    return {label: simulate(system, t_end, t_eval=outputs, **settings) for label, system in systems.items()}


def point(run: Run, n: int, body: str, s: ArrayLike) -> np.ndarray:
    """A point of a body, local components from its centre of mass, in global coordinates at output n, (3,) [m]."""
    p, s = run.p[body][n], np.asarray(s, dtype=float)
    return np.asarray(run.r[body][n] + s + 2.0 * np.cross(p[1:], np.cross(p[1:], s) + p[0] * s))


def poses(
    runs: Mapping[str, Run], pose: Callable[[Run, int], dict[str, np.ndarray]], count: int, until: float
) -> dict[str, dict[float, dict[str, np.ndarray]]]:
    """Poses at so many times from the start to ``until`` [s], by label and time, for ``plots.snapshots``."""
    found = {}
    for label, run in runs.items():
        at = np.linspace(0.0, min(until, run.t[-1]), count)
        found[label] = {float(run.t[n]): pose(run, int(n)) for n in np.searchsorted(run.t, at - 1e-9)}
    return found


def seen_by(run: Run, system: System) -> Run:
    """The same motion, measured by the limits of another system of the same bodies and joints.

    Its ``limits`` tell what those limits would see and do; its accelerations and reactions mean nothing.
    """
    if run.system.body_names != system.body_names:
        raise ValueError(f"'{run.system.name}' and '{system.name}' have different bodies")
    return replace(run, system=system, tables=system.tables)


def contacts(run: Run, limit: str) -> list[tuple[float, float]]:
    """Begin and end of each stay outside the cone [s], found between output times on the line through both."""
    motion, t = run.limits[limit], run.t
    gap = motion.latitude - motion.maximum_latitude
    outside = (motion.excess > 0.0).astype(int)
    marks = [0.0] if outside[0] else []
    for n in np.flatnonzero(np.diff(outside)):
        step = gap[n + 1] - gap[n]
        share = np.clip(-gap[n] / step, 0.0, 1.0) if step else 0.5
        marks.append(float(t[n] + share * (t[n + 1] - t[n])))
    if outside[-1]:
        marks.append(float(t[-1]))
    return list(zip(marks[::2], marks[1::2], strict=True))


def first_contact(run: Run, limit: str, longitude_deg: float | None = None) -> float | None:
    """When the direction first leaves the cone [s]; with a longitude, within 45 degrees of it; None if never."""
    for begin, end in contacts(run, limit):
        there = (run.t >= begin) & (run.t <= end)
        if longitude_deg is None or (there.any() and near(run.limits[limit], longitude_deg)[there].any()):
            return begin
    return None


def near(motion: LimitMotion, longitude_deg: float) -> np.ndarray:
    """Where the longitude is within 45 degrees of one."""
    off = np.mod(motion.longitude - np.deg2rad(longitude_deg) + np.pi, 2 * np.pi) - np.pi
    return np.abs(off) < np.pi / 4


def peak(run: Run, limit: str, contact: tuple[float, float] | None = None) -> tuple[float, float]:
    """Largest restricting moment [N m] and when [s]; of one contact or of the run."""
    begin, end = contact or (run.t[0], run.t[-1])
    inside = (run.t >= begin) & (run.t <= end)
    moment = np.where(inside, run.limits[limit].restricting_moment, -1.0)
    n = int(np.argmax(moment))
    return float(moment[n]), float(run.t[n])


def settled(run: Run, share: float = SETTLED) -> float:
    """When this share of the energy that the run loses is gone [s]."""
    left = run.energy - run.energy[-1]
    return float(run.t[int(np.argmax(left <= (1.0 - share) * left[0]))])


def mechanical(run: Run) -> np.ndarray:
    """Kinetic and gravity's energy, without what the limits store: what the papers plot, (n,) [J]."""
    return run.kinetic_energy + run.potential_energy


def extent(run: Run, body: str, axis: int) -> tuple[float, float]:
    """Smallest and largest coordinate of a body's centre of mass [m]."""
    r = run.r[body][:, axis]
    return float(r.min()), float(r.max())
