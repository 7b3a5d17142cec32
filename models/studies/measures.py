"""Quantities that several studies take from runs, most of them about joint limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from runtime import ModelError, Run, System, simulate
from runtime.report import Report
from runtime.results import LimitMotion
from runtime.support import positive

Tolerance = Annotated[float, "as rtol, atol"]  # of a study; messages of runs name it so
PER_SECOND = 1000  # output times; a limit acts for tens of milliseconds
MOST_TIMES = 200_000  # of a run, with some 100 MB of states
WRITTEN_PER_SECOND = 200  # output times written to files
PARTS = 8  # parts of an integration step, to resolve the forces within it
EQUATIONS = "absolute"  # coordinates: the papers' equations, whose cost they compare
SETTLED = (
    0.01  # fraction of the dissipated energy by which the energy differs from its last value, at most, on its plateau
)


def times(t_end: float, per_second: int = PER_SECOND) -> np.ndarray:
    """Output times of a run, evenly spaced, (n,) [s].

    Raises
    ------
    ModelError
        For a time that is not above 0, and for more than ``MOST_TIMES``.
    """
    t_end = positive(t_end, "t_end")
    if t_end * per_second > MOST_TIMES:
        raise ModelError(
            f"t_end = {t_end:g} s: the study has {per_second} output times a second, limit {MOST_TIMES} in all; give at most "
            f"{MOST_TIMES / per_second:g} s"
        )
    return np.linspace(0.0, t_end, max(int(round(t_end * per_second)), 1) + 1)


def complete(report: Report, runs: Mapping[str, Run]) -> bool:
    """Whether all runs of a comparison, by label, reached their end; those that failed are named in the report.

    A comparison with a failed run is left out of tables, figures and answers.
    """
    failed = [f"{label}: {run.message}" for label, run in runs.items() if not run.success]
    report.failures += failed
    return not failed


def thinned(run: Run, every: int = PER_SECOND // WRITTEN_PER_SECOND) -> Run:
    """A run with every n-th of its output times, for files."""
    own = {} if run._z is None else {"_z": run._z[::every].copy()}  # states of forces
    return replace(run, t=run.t[::every].copy(), states=run.states[::every].copy(), **own)


def resolved(systems: Mapping[str, System], t_end: float, **settings: Any) -> dict[str, Run]:
    """Runs with output at ``times`` and within every step of every run, for forces that jump or have short peaks.

    Each step is divided into ``PARTS``; ``settings`` are those of ``simulate``.
    """
    own = [simulate(system, t_end, **settings).t for system in systems.values()]
    steps = np.unique(np.concatenate([*own, times(t_end)]))
    within = np.interp(np.arange(PARTS * (len(steps) - 1) + 1) / PARTS, np.arange(len(steps)), steps)
    outputs = np.unique(within[within <= min(t[-1] for t in own)])
    return {label: simulate(system, t_end, t_eval=outputs, **settings) for label, system in systems.items()}


def point(run: Run, n: int, body: str, s: ArrayLike) -> np.ndarray:
    """Global coordinates at output n of a point of a body, given by its local components s, (3,) [m]."""
    p, s = run.p[body][n], np.asarray(s, dtype=float)
    return np.asarray(run.r[body][n] + s + 2.0 * np.cross(p[1:], np.cross(p[1:], s) + p[0] * s))


def poses(
    runs: Mapping[str, Run], pose: Callable[[Run, int], dict[str, np.ndarray]], count: int, until: float
) -> dict[str, dict[float, dict[str, np.ndarray]]]:
    """Poses at ``count`` times from the start to ``until`` [s], by label and time, for ``plots.snapshots``."""
    found = {}
    for label, run in runs.items():
        at = np.linspace(0.0, min(until, run.t[-1]), count)
        found[label] = {float(run.t[n]): pose(run, int(n)) for n in np.searchsorted(run.t, at - 1e-9)}
    return found


def seen_by(run: Run, system: System) -> Run:
    """The motion of a run, measured by the limits of another system with the same bodies and joints.

    ``limits`` of the result are the angles and moments of those limits on this motion; its accelerations and reactions are
    meaningless.
    """
    if run.system.body_names != system.body_names:
        raise ValueError(f"'{run.system.name}' and '{system.name}' have different bodies")
    return replace(run, system=system, data=system.data)


def excursions(run: Run, limit: str) -> list[tuple[float, float]]:
    """Begin and end of each time span outside the cone [s], interpolated linearly between output times."""
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


def first_excursion(run: Run, limit: str, longitude_deg: float | None = None) -> float | None:
    """Time at which the direction first leaves the cone [s], if given within 45 degrees of a longitude; None if never."""
    for begin, end in excursions(run, limit):
        outside = (run.t >= begin) & (run.t <= end)
        if longitude_deg is None or (outside.any() and near(run.limits[limit], longitude_deg)[outside].any()):
            return begin
    return None


def near(motion: LimitMotion, longitude_deg: float) -> np.ndarray:
    """Mask of the outputs whose longitude is within 45 degrees of a given one, (n,)."""
    off = np.mod(motion.longitude - np.deg2rad(longitude_deg) + np.pi, 2 * np.pi) - np.pi
    return np.abs(off) < np.pi / 4


def peak(run: Run, limit: str, excursion: tuple[float, float] | None = None) -> tuple[float, float]:
    """Largest restricting moment [N m] and its time [s], during one excursion or during the run."""
    begin, end = excursion or (run.t[0], run.t[-1])
    inside = (run.t >= begin) & (run.t <= end)
    moment = np.where(inside, run.limits[limit].restricting_moment, -1.0)
    n = int(np.argmax(moment))
    return float(moment[n]), float(run.t[n])


def plateau(run: Run) -> float:
    """Time from which the mechanical energy, as the papers plot it, stays at its last value [s]; see ``SETTLED``."""
    remaining = np.abs(mechanical(run) - mechanical(run)[-1])
    above = np.flatnonzero(remaining > SETTLED * remaining[0])
    return float(run.t[above[-1] + 1]) if len(above) else 0.0


def mechanical(run: Run) -> np.ndarray:
    """Kinetic plus gravitational energy, without the energy stored in limits, as the papers plot it, (n,) [J]."""
    return run.kinetic_energy + run.potential_energy


def extent(run: Run, body: str, axis: int) -> tuple[float, float]:
    """Smallest and largest coordinate of a body's centre of mass along an axis (0, 1, 2) [m]."""
    r = run.r[body][:, axis]
    return float(r.min()), float(r.max())
