"""Inverse kinematics: coordinates of a model from a file for which its markers are nearest to those of a trial.

Weighted least squares over all coordinates that are free (Lu and O'Connor 1999), with the objective of OpenSim's tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.files.description import Description, Floats
from models.files.marker_tasks import MarkerTasks, read_marker_tasks
from models.files.points import PointKinematics
from models.files.reading import Reading
from models.files.scalar_coordinates import with_coordinates
from models.walking.capture import Capture
from models.walking.capture.read import read_markers
from models.walking.capture.vertical import ROTATIONS
from models.walking.fitted_motion import FittedMotion
from models.walking.marker_problem import MarkerProblem
from models.walking.opensim_trial import kinds_of
from models.walking.samples import all_finite, sampling_rate
from runtime import ModelError
from runtime.support import checked

ROUGH = 1e-3  # [rad], [m] of the last step in frames from which others start
FIRST_STEPS = 12  # from each of several first poses; the best is continued
NEAR = 0.9  # cosine of the largest angle between gravity and the vertical axis
KEY = 0.1  # [s] between frames that are solved one after the other; the others start from these
TURNS = (0.0, np.pi / 2, -np.pi / 2, np.pi)  # first values of the angles of the link that the ground carries
FEWEST = 3  # markers in common
AGAIN = 1.5  # times the median distance from which a frame is solved again from its neighbours
STRONG = 1e-9  # weight of interpolated coordinates, of the largest curvature, where markers do not show them
LISTED = 8  # names in a note


# Above 60 lines: nine options, each documented.
@checked
def inverse_kinematics(
    reading: Reading,
    markers: str | Path | Capture,
    *,
    tasks: str | Path | None = None,
    weights: Mapping[str, float] | None = None,
    coordinates: Mapping[str, tuple[float, float]] | None = None,
    labels: Mapping[str, str] | None = None,
    start: float | None = None,
    end: float | None = None,
    up: str | None = None,
    units: str | None = None,
) -> FittedMotion:
    """The coordinates of a model that bring its markers nearest to those of a trial, in every frame.

    The sum over the seen markers of weight times squared distance [m], divided by the sum of their weights, plus the sum over
    ``coordinates`` of weight times squared difference [rad], [m], is least: the objective of OpenSim's tool.

    Parameters
    ----------
    reading : Reading
        A model with markers, from ``models.read`` or ``models.swap``: of OpenSim, or of MJCF with sites.  Coordinates of MJCF are
        its hinges and slides, six of a free joint (NAME_tx .. NAME_rz) and three of a ball (NAME_rx ..).
    markers : str, Path or Capture
        A trial: .trc, .c3d or .csv.
    tasks : str or Path, optional
        .xml file of OpenSim with an ``IKTaskSet``: only the markers that it names count.
    weights : mapping of str to float, optional
        Of markers of the model, beside or in place of those of ``tasks``; default 1, or 0 with ``tasks``.
    coordinates : mapping of str to (value, weight), optional
        Values [rad], [m] to which coordinates are drawn, in place of those of ``tasks``.
    labels : mapping of str to str, optional
        Labels of the trial by markers of the model, where names differ.
    start, end : float [s], optional
        Part of the trial.
    up, units : str, optional
        As of ``read_capture``: the vertical axis and the unit of the file.

    Returns
    -------
    FittedMotion
        Locked coordinates are at their defaults, clamped ones within their ranges, coupled ones follow their leaders.

    Raises
    ------
    ModelError
        For models without markers, fewer than 3 in common, unknown names, frames without a marker, and frames that do not
        converge.

    Notes
    -----
    A frame starts from the solution of another one at most 0.1 s away.  Markers that were not seen do not count in their frames;
    coordinates that the others leave open are interpolated, as of ``FittedMotion.undetermined``, which lists them.
    """
    if not reading.source.laws:
        reading = replace(reading, source=with_coordinates(reading.source))
    source = reading.source
    if source.closures:
        names = ", ".join(one.name for one in source.closures)
        raise ModelError(
            f"{reading.file.name}: constraints {names} close loops, which markers are not fitted with; remove them"
        )
    capture = markers if isinstance(markers, Capture) else read_markers(markers, up=up, units=units)
    first, last = (capture.t[k] if t is None else float(t) for k, t in ((0, start), (-1, end)))
    capture = capture.crop(first, last)
    wanted = read_marker_tasks(tasks) if tasks is not None else None
    seen = _Markers.of(reading, capture, wanted, weights or {}, labels or {})
    unknowns = _Unknowns.of(reading, wanted, coordinates or {})
    points = {frame.name: (frame.link, frame.position) for frame in source.frames}
    kinematics = PointKinematics(source, unknowns.names, unknowns.fixed, [points[name] for name in seen.names])
    problem = MarkerProblem(
        kinematics, seen.observed, seen.weights, unknowns.wanted, unknowns.pulls, unknowns.lower, unknowns.upper
    )
    t, notes = _even(capture)
    turning = _root_angles(source, unknowns.names)
    x, open_, steps = _solved(problem, t, unknowns, turning, _whole_turns(source, unknowns.names), capture.name)
    at_bounds = ((x <= unknowns.lower) | (x >= unknowns.upper)).sum(axis=0)
    kinds = kinds_of(source)
    return FittedMotion(
        capture.name,
        t,
        {name: np.array(kinematics.values(x, name)[0]) for name in kinds},
        kinds,
        dict(zip(seen.names, problem.distances(x).T, strict=True)),
        dict(zip(seen.names, seen.weights.tolist(), strict=True)),
        unknowns.held,
        {name: int(n) for name, n in zip(unknowns.names, at_bounds, strict=True) if n},
        {name: int(n) for name, n in zip(unknowns.names, open_.sum(axis=0), strict=True) if n},
        seen.gaps,
        (*capture.notes, *seen.notes, *notes),
        steps,
    )


def axes_of_model(source: Description) -> Floats:
    """Turn (3, 3) from the axes of captures, z up, to those of a model: its vertical is the axis nearest to its gravity.

    Raises
    ------
    ModelError
        For gravity that is near to no axis.
    """
    axis = int(np.abs(source.gravity).argmax())
    if not np.abs(source.gravity[axis]) > NEAR * np.linalg.norm(source.gravity):
        raise ModelError(
            f"model '{source.name}': gravity {source.gravity.tolist()} m/s^2 is along no axis within "
            f"{np.rad2deg(np.arccos(NEAR)):.0f} degrees and shows no vertical; give it one"
        )
    turn: Floats = ROTATIONS[("" if source.gravity[axis] < 0.0 else "-") + "xyz"[axis]][0].T
    return turn


@dataclass(frozen=True, eq=False)
class _Markers:
    """The markers that model and trial have in common."""

    names: Sequence[str]
    observed: Floats
    weights: Floats
    gaps: Mapping[str, int]
    notes: Sequence[str]

    @classmethod
    def of(
        cls, reading: Reading, capture: Capture, tasks: MarkerTasks | None, weights: Mapping[str, float],
        labels: Mapping[str, str],
    ) -> _Markers:  # fmt: skip
        known = [frame.name for frame in reading.source.frames if frame.kind in ("marker", "site")]
        if not known:
            raise ModelError(f"{reading.file.name}: has no markers; give it a MarkerSet, or sites")
        for name in (*weights, *labels):
            if name not in known:
                raise ModelError(f"marker '{name}': the model has none of this name; it has {', '.join(known)}")
        for name, weight in weights.items():
            if not 0.0 <= weight < np.inf:
                raise ModelError(f"weight of marker '{name}' = {weight:g}; give a finite weight of 0 or more")
        given = {**(tasks.markers if tasks is not None else dict.fromkeys(known, 1.0)), **weights}
        both = {name: labels.get(name, name) for name in known if labels.get(name, name) in capture.markers}
        ever = {name: label for name, label in both.items() if all_finite(capture.markers[label]).any()}
        names = [name for name in ever if given.get(name, 0.0) > 0.0]
        if len(names) < FEWEST:
            raise ModelError(
                f"{capture.name}: {len(names)} markers with a weight in common with {reading.file.name}, limit {FEWEST}; the "
                f"trial has {_listed(list(capture.markers))}, the model {_listed(known)}; give labels="
            )
        observed = np.stack([capture.markers[ever[name]] for name in names], axis=1) @ axes_of_model(reading.source).T
        lost = ~all_finite(observed)
        if (empty := np.flatnonzero(lost.all(axis=1))).size:
            raise ModelError(
                f"{capture.name}: no marker of the model is seen at {capture.t[empty[0]]:g} s ({empty.size} frames); give a part "
                "of the trial by start= and end="
            )
        gaps = {name: int(n) for name, n in zip(names, lost.sum(axis=0), strict=True) if n}
        used = set(both.values())
        extra = [label for label in capture.markers if label not in used]
        missing = [name for name in known if name not in ever]
        notes = [f"markers that the model lacks: {_listed(extra)}"] if extra else []
        notes += [f"markers of the model that the trial lacks: {_listed(missing)}"] if missing else []
        if tasks is not None and (unknown := [name for name in tasks.markers if name not in known]):
            notes.append(f"tasks of markers that the model lacks: {_listed(unknown)}")
        if idle := [name for name in ever if name not in names]:
            notes.append(f"markers without a weight: {_listed(idle)}")
        return cls(names, observed, np.array([given[name] for name in names]), gaps, notes)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


@dataclass(frozen=True, eq=False)
class _Unknowns:
    """Coordinates that vary, with first values, bounds and pulls; the others with their values, and why they do not vary."""

    names: list[str]
    first: Floats
    lower: Floats
    upper: Floats
    wanted: Floats
    pulls: Floats
    fixed: dict[str, float]
    held: dict[str, str]

    @classmethod
    def of(
        cls, reading: Reading, tasks: MarkerTasks | None, coordinates: Mapping[str, tuple[float, float]]
    ) -> _Unknowns:
        known = reading.source.coordinates
        pulled = {**(tasks.coordinates if tasks is not None else {}), **coordinates}
        for name, (value, weight) in pulled.items():
            if name not in known:
                raise ModelError(f"coordinate '{name}': the model has none of this name; it has {', '.join(known)}")
            if not (0.0 <= weight < np.inf and (value is None or np.isfinite(value))):
                raise ModelError(
                    f"coordinate '{name}': value {value}, weight {weight:g}; give finite numbers, weight 0 or more"
                )
        names, fixed, held = [], {}, {}
        for name in kinds_of(reading.source):
            one = known[name]
            if one.locked or one.lower == one.upper:
                fixed[name] = one.default if one.locked else one.lower
                held[name] = "locked" if one.locked else "its range is one value"
            elif one.leader and one.value is None:
                raise ModelError(
                    f"{reading.file.name}: coordinate '{name}' follows {one.leader} by a function of several coordinates or one "
                    "that is not read, limit 1 for inverse kinematics; give it a coupler of one coordinate"
                )
            elif one.value is not None:
                held[name] = f"coupler of {one.leader}"
            else:
                names.append(name)
        lower, upper = (np.array([getattr(known[name], end) for name in names]) for end in ("lower", "upper"))
        default = np.array([known[name].default for name in names])
        at = [pulled.get(name, (None, 0.0)) for name in names]
        wanted = np.array([d if value is None else value for d, (value, _) in zip(default, at, strict=True)])
        return cls(
            names, np.clip(default, lower, upper), lower, upper, wanted, np.array([w for _, w in at]), fixed, held
        )


def _root_angles(source: Description, names: Sequence[str]) -> list[int]:
    """Numbers of the unknown angles of links that the ground carries."""
    steps = {
        step.name for link in source.links if link.parent == "ground" for step in link.steps if step.kind == "turn"
    }
    turning = {law.coordinate for law in source.laws if law.step in steps and law.own}
    return [k for k, name in enumerate(names) if name in turning]


def _whole_turns(source: Description, names: Sequence[str]) -> NDArray[np.bool_]:
    """Whether an unknown (unknowns,) is an angle that nothing else follows, so that a whole turn changes no pose."""
    kinds = {step.name: step.kind for _, step in source.steps}
    leaders = {one.leader for one in source.coordinates.values()}
    follow = {name for law in source.laws if not law.own or kinds[law.step] != "turn" for name in law.coordinates}
    return np.array([name not in follow and name not in leaders for name in names])


def _unwound(x: Floats, unknowns: _Unknowns, whole: NDArray[np.bool_]) -> Floats:
    """Coordinates (poses, unknowns) with angles less than half a turn from their first values, where their ranges admit it."""
    turns = np.where(whole, np.round((x - unknowns.first) / (2.0 * np.pi)), 0.0)
    near = x - 2.0 * np.pi * turns
    found: Floats = np.where((near >= unknowns.lower) & (near <= unknowns.upper), near, x)
    return found


def _even(capture: Capture) -> tuple[Floats, list[str]]:
    """Times of the frames; evenly spaced ones that a file rounded are even again."""
    t = np.array(capture.t)
    if len(t) < 3:
        return t, []
    step = 1.0 / sampling_rate(t, capture.name)
    even = t[0] + step * np.arange(len(t))
    off = float(np.abs(even - t).max())
    note = f"{capture.name}: times are rounded, by at most {1e3 * off:.2g} ms; even ones are used"
    return even, [note] if off > 1e-6 * step else []


def _solved(
    problem: MarkerProblem, t: Floats, unknowns: _Unknowns, turning: Sequence[int], whole: NDArray[np.bool_], name: str
) -> tuple[Floats, NDArray[np.bool_], int]:
    """Coordinates (frames, unknowns), those that the markers leave open, and the steps of the slowest frame."""
    weight = problem.seen_weights()
    seed = int((weight > 0.0).sum(axis=1).argmax())
    starts = [unknowns.first]
    for k in turning:
        for angle in TURNS:
            starts.append(np.where(np.arange(len(unknowns.first)) == k, angle, unknowns.first))
    admitted = np.clip(starts, unknowns.lower, unknowns.upper)
    found = problem.of(np.full(len(starts), seed)).solve(admitted, tolerance=ROUGH, most=FIRST_STEPS)
    best = int(
        np.flatnonzero(found.cost <= found.cost.min() * (1.0 + ROUGH) + ROUGH**2)[0]
    )  # the default pose comes first
    x = problem.of(np.array([seed])).solve(_unwound(found.x[[best]], unknowns, whole), tolerance=ROUGH).x[0]
    at = {seed: x}
    stride = max(int(KEY * (len(t) - 1) / max(t[-1] - t[0], 1e-9)), 1)
    backward, forward = list(range(seed - stride, -1, -stride)), list(range(seed + stride, len(t), stride))
    before = [seed, seed]
    for k in range(max(len(backward), len(forward))):  # both ways at once
        pair = [(n, side[k]) for n, side in enumerate((backward, forward)) if k < len(side)]
        one = problem.of(np.array([key for _, key in pair])).solve(
            np.array([at[before[n]] for n, _ in pair]), tolerance=ROUGH
        )
        for (n, key), x in zip(pair, one.x, strict=True):
            at[key], before[n] = x, key
    keys = np.array(sorted(at))
    near = keys[np.abs(np.arange(len(t))[:, None] - keys).argmin(axis=1)]
    first = problem.solve(np.array([at[key] for key in near]))
    x, steps = first.x, first.steps
    x, converged = _improved(problem, x, first.cost, first.converged)
    open_ = problem.undetermined(x)
    if (rows := np.flatnonzero(open_.any(axis=1))).size:
        guess = x.copy()
        for k in np.flatnonzero(open_.any(axis=0)).tolist():
            shown = ~open_[:, k]
            guess[rows, k] = np.interp(t[rows], t[shown], x[shown, k]) if shown.any() else unknowns.first[k]
        again = problem.of(rows).solve(np.where(open_[rows], guess[rows], x[rows]), prior=STRONG)
        x[rows], converged[rows] = again.x, again.converged
    if not converged.all():
        bad = np.flatnonzero(~converged)
        raise ModelError(
            f"{name}: {bad.size} of {len(t)} frames did not converge, the first at {t[bad[0]]:g} s; "
            "check the labels and the unit of the markers there"
        )
    return x, open_, steps


def _improved(
    problem: MarkerProblem, x: Floats, cost: Floats, converged: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Frames that are farther off than most are solved again from their neighbours; the better solution counts."""
    x, cost, converged = x.copy(), cost.copy(), converged.copy()
    bad = np.flatnonzero((cost > AGAIN**2 * np.median(cost)) | ~converged)
    for side in (-1, 1) if bad.size else ():
        rows = bad[(bad + side >= 0) & (bad + side < len(x))]
        if not rows.size:
            continue
        again = problem.of(rows).solve(x[rows + side])
        better = again.converged & ((again.cost < cost[rows] * (1.0 - 1e-9)) | ~converged[rows])
        take = rows[better]
        x[take], cost[take], converged[take] = again.x[better], again.cost[better], True
    return x, converged
