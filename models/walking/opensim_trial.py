"""Inverse dynamics of a model of OpenSim along a measured motion: files in, forces of all coordinates out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline

from models.files.description import Description, Floats
from models.files.motion import Moving
from models.files.opensim_loads import ExternalForce, read_external_loads
from models.files.reading import Reading
from models.files.storage import Storage, read_storage
from models.files.virtual_power import Load, inverse_dynamics, ways_at
from models.walking.filters import lowpass
from models.walking.fitted_motion import FittedMotion
from models.walking.samples import even_times, sampling_rate
from runtime import ModelError
from runtime.results import write_storage
from runtime.support import checked, floats

UNITS = {"turn": "N m", "slide": "N"}  # of forces
MOST_ANGLE = 4.0 * np.pi  # [rad] of angles whose unit a file does not state
MOST_APART = 1e-2  # [rad], [m] between a column and what the coordinate's coupler gives


@dataclass(frozen=True, eq=False)
class Trial:
    """Coordinates of a motion with rates and accelerations, and generalised forces, (n,) each by the file's names.

    Angles in rad, forces of turns in N m and of slides in N.  ``unused``: columns of the motion that are no coordinates;
    ``taken``: coordinates that the motion lacks, and where their values are from; ``loads``: those on bodies, at these times.
    """

    t: Floats
    q: Mapping[str, Floats]
    u: Mapping[str, Floats]
    u_dot: Mapping[str, Floats]
    forces: Mapping[str, Floats]
    units: Mapping[str, str]  # of the forces
    unused: tuple[str, ...]
    taken: Mapping[str, str]
    loads: tuple[Load, ...] = ()

    def __repr__(self) -> str:
        return f"Trial of {len(self.t)} times from {self.t[0]:g} to {self.t[-1]:g} s, {len(self.forces)} generalised forces"

    def to_sto(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the forces as a table of OpenSim, with its names of columns; returns the file."""
        ends = {"N m": "moment", "N": "force"}
        names = ["time", *(f"{name}_{ends[self.units[name]]}" for name in self.forces)]
        table = np.column_stack([self.t, *self.forces.values()])
        return write_storage(file, "Inverse Dynamics Generalized Forces", names, table, overwrite=overwrite)


# Above 60 lines: eight options, each documented.
@checked
def inverse_dynamics_of_trial(
    reading: Reading,
    motion: str | Path | FittedMotion,
    loads: str | Path | Sequence[ExternalForce] | None = None,
    *,
    cutoff: float | None = 6.0,
    order: int = 3,
    t_eval: ArrayLike | None = None,
    start: float | None = None,
    end: float | None = None,
) -> Trial:
    """Generalised forces of all coordinates along a motion.

    Parameters
    ----------
    reading : Reading
        A model of OpenSim, from ``models.read``.
    motion : str, Path or FittedMotion
        .mot or .sto file of its coordinates, evenly sampled, or what ``inverse_kinematics`` returned.
    loads : str, Path or sequence of ExternalForce, optional
        .xml file of external loads, or what ``loads_of_plates`` returned; linear between samples, and not filtered.
    cutoff : float [Hz], optional
        Of one pass of a Butterworth filter on the coordinates, forwards and backwards, as OpenSim counts it: both together damp
        by 6 dB there.  None: the coordinates are smooth already.
    order : int
        Of one pass of the filter.
    t_eval : (n,) [s], optional
        Times within motion and loads.  Default: those of the motion that lie within the loads, from ``start`` to ``end``.
    start, end : float [s], optional
        Part of the motion that is evaluated; the filter sees all of it.

    Raises
    ------
    ModelError
        For files that are malformed, coordinates that are missing, and times beyond the files.

    Notes
    -----
    Rates and accelerations are derivatives of the quintic splines through the filtered samples.  A coordinate that the motion
    lacks has the value of its coupler, or the default value if it is locked.  A warning says where a column contradicts the
    coupler of its coordinate, how angles are read whose unit the motion does not state, and that times are rounded: evenly spaced
    times then replace them.
    """
    source = reading.source
    if not source.laws:
        raise ModelError(f"{reading.file.name}: has no coordinates with laws; read it from an .osim file")
    table = _evenly(_table(motion) if isinstance(motion, FittedMotion) else read_storage(motion))
    external: Sequence[ExternalForce]
    if loads is None or not isinstance(loads, str | Path):
        external = loads or []
    else:
        asked = np.zeros(0) if t_eval is None else np.ravel(floats(t_eval, "t_eval", "times [s]"))
        asked = asked if asked.size and np.isfinite(asked).all() else table.t
        external = read_external_loads(loads, span=(float(asked.min()), float(asked.max())))
    t = _times(table, external, t_eval, start, end)
    kinds = kinds_of(source)
    values, taken = _values(reading, table, kinds)
    spline, names = _smooth(table, np.stack(list(values.values()), axis=1), cutoff, order), list(values)
    state = np.stack([spline(t, nu=k).T for k in range(3)])
    q, u, u_dot = (dict(zip(names, of, strict=True)) for of in state)

    @cache
    def ways() -> dict[str, list[Moving]]:
        return ways_at(source, names, state)[0]

    given = [one.load(t, lambda link: ways()[link][-1], source.bodies) for one in external]
    forces = inverse_dynamics(source, q, u, u_dot, given)
    unused = tuple(name for name in table.columns if name not in kinds)
    units = {name: UNITS[kinds[name]] for name in forces}
    return Trial(t, q, u, u_dot, forces, units, unused, taken, tuple(given))


def with_loads(reading: Reading, trial: Trial, loads: Sequence[Load]) -> Trial:
    """A trial with further loads on its bodies: its forces are those that are left, and motion and other loads are the same."""
    every = (*trial.loads, *loads)
    forces = inverse_dynamics(reading.source, trial.q, trial.u, trial.u_dot, every) if loads else trial.forces
    return replace(trial, forces=forces, loads=every)


def _times(
    table: Storage, external: Sequence[ExternalForce], t_eval: ArrayLike | None, start: float | None, end: float | None
) -> Floats:
    """Times within motion and loads: those that are asked for, or those of the motion in a part of it."""
    spans = [(table.file.name, table.t[0], table.t[-1])]
    spans += [(one.table.file.name, one.table.t[0], one.table.t[-1]) for one in external]
    first, last = max(span[1] for span in spans), min(span[2] for span in spans)
    if first > last:
        listed = dict.fromkeys(f"{name} has times {one:g} to {two:g} s" for name, one, two in spans)
        raise ModelError(f"{', '.join(listed)}: no time is in all of them; give files of one trial")
    if t_eval is None:
        tiny = 1e-9 * max(1.0, abs(table.t[-1]))
        ends = first if start is None else max(first, start - tiny), last if end is None else min(last, end + tiny)
        t: Floats = table.t[(table.t >= ends[0]) & (table.t <= ends[1])]
        if not len(t):
            raise ModelError(
                f"{table.file.name}: no sample lies between start and end; motion and loads have times {first:g} to {last:g} s: "
                "give start= and end= within"
            )
        return t
    t = floats(t_eval, "t_eval", "times [s]")
    if t.ndim != 1 or not len(t) or not (first <= t.min() and t.max() <= last):
        raise ModelError(f"t_eval: the files have times {first:g} to {last:g} s; give times within")
    return t


def _table(motion: FittedMotion) -> Storage:
    """A motion as the table of a file."""
    return Storage(Path(motion.name), motion.t, dict(motion.q), in_degrees=False)


def _evenly(table: Storage) -> Storage:
    """A table without the rounding of its times; a warning says so."""
    notes: list[str] = []
    t = even_times(table.t, table.file.name, notes)
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=4)
    return replace(table, t=t)


def kinds_of(source: Description) -> dict[str, str]:
    """The kind of each coordinate: that of its own step, or of one that follows it."""
    kinds = {step.name: step.kind for _, step in source.steps}
    found = {name: "slide" for law in source.laws for name in law.coordinates}
    for law in sorted(source.laws, key=lambda law: law.own):  # own steps decide
        for name in law.coordinates if law.own or kinds[law.step] == "turn" else ():
            found[name] = kinds[law.step]
    return found


def _values(reading: Reading, table: Storage, kinds: Mapping[str, str]) -> tuple[dict[str, Floats], dict[str, str]]:
    """Samples of all coordinates [rad], [m], and where those are from that the motion lacks."""
    found: dict[str, Floats] = {}
    taken: dict[str, str] = {}
    for name, kind in kinds.items():
        if name in table.columns:
            degrees = kind == "turn" and table.in_degrees
            found[name] = np.deg2rad(table.columns[name]) if degrees else table.columns[name]
    turns = {name: values for name, values in found.items() if kinds[name] == "turn"}
    if turns and not table.states_unit:
        _warn_of_unit(table, turns)
    for name in kinds:
        coordinate = reading.source.coordinates[name]
        coupled = coordinate.value is not None and coordinate.leader in found
        if name in found:
            if coordinate.value is not None and coupled:
                _warn_of_coupler(
                    table, name, found[name], coordinate.value(found[coordinate.leader], 0), coordinate.leader
                )
            continue
        if coordinate.value is not None and coupled:
            found[name], taken[name] = coordinate.value(found[coordinate.leader], 0), f"coupler of {coordinate.leader}"
        elif coordinate.locked:
            found[name] = np.full(len(table.t), coordinate.default)
            taken[name] = "locked at its default value"
        else:
            raise ModelError(
                f"{table.file.name}: has no column '{name}', a coordinate of {reading.file.name}; give one"
            )
    return {name: found[name] for name in kinds}, taken


def _warn_of_unit(table: Storage, turns: Mapping[str, Floats]) -> None:
    """Say how angles [rad] were read of a table that does not state their unit, and where they can hardly be radians."""
    name, most = max(((name, float(np.abs(values).max())) for name, values in turns.items()), key=lambda one: one[1])
    if table.in_degrees:
        words = "degrees, as OpenSim reads .mot files without version="
    elif most > MOST_ANGLE:
        words = f"radians, of which '{name}' reaches {most:.4g}, {most / (2.0 * np.pi):.2g} revolutions"
    else:
        return
    warnings.warn(
        f"{table.file.name}: the header does not state the unit of the angles; they are read in {words}; write inDegrees=yes or "
        "inDegrees=no before endheader",
        UserWarning,
        stacklevel=4,
    )


def _warn_of_coupler(table: Storage, name: str, own: Floats, coupled: Floats, leader: str) -> None:
    """Say where a column contradicts the coupler of its coordinate, with both values; the column is used."""
    n = int(np.abs(own - coupled).argmax())
    if abs(own[n] - coupled[n]) > MOST_APART:
        warnings.warn(
            f"{table.file.name}: column '{name}' is {own[n]:.4g} at {table.t[n]:g} s, where the coupler of {leader} gives "
            f"{coupled[n]:.4g} (rad or m); the column is used: correct it, or remove it to use the coupler",
            UserWarning,
            stacklevel=4,
        )


def _smooth(table: Storage, values: Floats, cutoff: float | None, order: int) -> BSpline:
    """The splines through the filtered samples of coordinates (n, coordinates)."""
    t = table.t
    if len(t) < 6:
        raise ModelError(f"{table.file.name}: {len(t)} rows; splines of degree 5 need 6 or more")
    if cutoff is not None:
        rate = sampling_rate(t, table.file.name)
        values = lowpass(values, rate, both_passes(cutoff, rate, order), order=order, name=table.file.name)
    return make_interp_spline(t, values, k=5)


def both_passes(cutoff: float, rate: float, order: int) -> float:
    """The frequency [Hz] at which both passes of a filter damp by 3 dB, each of which does so at ``cutoff`` [Hz]."""
    if not 0.0 < cutoff < rate / 2.0:
        raise ModelError(f"cutoff = {cutoff:g} Hz; it must lie between 0 and {rate / 2.0:g} Hz, half the sampling rate")
    factor = (math.sqrt(2.0) - 1.0) ** (1.0 / (2.0 * order))
    return rate / math.pi * math.atan(factor * math.tan(math.pi * cutoff / rate))
