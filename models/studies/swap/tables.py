"""Tables of the swapped ankle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from models.files.added_axes import SORT as ADDED
from models.files.reading import Reading
from models.files.sides import side_of
from models.files.swapping import SORT
from models.studies.muscle_report import off
from models.studies.orthosis_shares import COLUMNS, NOTE, shares
from models.walking.swapped_ankle import FILE, AnkleComparison
from runtime.report import Table

LOADED = 20.0  # [N] on a foot in stance
SIGNS = (
    "Signs of the file: in the models of OpenSim dorsiflexion and inversion of the right foot are positive, and a plantarflexor "
    "moment is negative.  Differences: root mean square from the joint of the first rows, over the times of the trial."
)
HICKS = (
    "Residuals: forces that act on the coordinates of the pelvis and that nothing exerts on a person.  Thresholds of Hicks et "
    "al. (2015): 5 % of the largest net external force, and 1 % of it times the height of the centre of mass."
)


def ankles(found: AnkleComparison) -> Table:
    """A row for each coordinate of each ankle with each kind of joint."""
    rows: list[list[Any]] = []
    first = next(iter(found.trials))
    for ankle, pair in found.ankles.items():
        for coordinate in pair:
            base = found.angle(first, coordinate), found.moment(first, coordinate)
            for sort in found.trials:
                angle, moment = found.angle(sort, coordinate), found.moment(sort, coordinate)
                row = [ankle, coordinate, sort, angle.min(), angle.max(), moment.min(), moment.max()]
                rows.append([*(x if isinstance(x, str) else round(float(x), 3) for x in row)])
                rows[-1] += [round(off(angle, base[0]), 3), round(off(moment, base[1]), 4)]
    columns = [
        "ankle", "coordinate", "joint", "smallest angle [deg]", "largest angle [deg]", "smallest moment [N m/kg]",
        "largest moment [N m/kg]", "difference of angle [deg]", "difference of moment [N m/kg]",
    ]  # fmt: skip
    brief = [
        "coordinate",
        "joint",
        "smallest moment [N m/kg]",
        "difference of angle [deg]",
        "difference of moment [N m/kg]",
    ]
    return Table("ankles", columns, rows, SIGNS, brief)


def stance(found: AnkleComparison, sort: str, ankle: str) -> Any:
    """Mask of the times at which the ground or another load acts on the foot of an ankle; all times where none ever does."""
    one = found.trials[sort]
    loaded = np.zeros(len(one.trial.t), bool)
    for load in one.trial.loads:
        if side_of(load.body) == side_of(ankle):
            loaded |= np.linalg.norm(load.force, axis=1) > LOADED
    return loaded if loaded.any() else ~loaded


def orthosis(found: AnkleComparison) -> Table:
    """A row for each coordinate of each ankle with each kind of joint."""
    rows = []
    for ankle, pair in found.ankles.items():
        for coordinate, sort in product(pair, found.trials):
            of = found.moment(sort, coordinate), found.orthosis_moment(sort, coordinate)
            rows.append([coordinate, sort, *shares(*of, stance(found, sort, ankle))])
    note = (
        f"{NOTE}  Stance: where a load above {LOADED:g} N acts on the foot, or the whole trial.  The orthosis exerts no moment "
        "where all coordinates are zero, unless it has a neutral angle; axes of legs and feet: x anterior, y up.  Signs of the "
        "file."
    )
    return Table("orthosis", ["coordinate", "joint", *COLUMNS], rows, note, brief=["coordinate", "joint", *COLUMNS[:3]])


def residuals(found: AnkleComparison) -> Table:
    """A row for each coordinate of the pelvis with each kind of joint."""
    rows: list[list[Any]] = []
    for sort, one in found.trials.items():
        for residual in one.residuals.of:
            limited = np.isfinite(residual.limit)
            share = round(100.0 * residual.peak / residual.limit, 1) if limited else None
            rows.append(
                [
                    sort, residual.coordinate, residual.unit, round(residual.rms, 2), round(residual.peak, 2),
                    round(residual.limit, 2) if limited else None, share,
                    ("within" if residual.within else "above") if limited else "no external force",
                ]
            )  # fmt: skip
    columns = ["joint", "coordinate", "unit", "RMS", "peak", "threshold", "peak of the threshold [%]", "result"]
    return Table("residuals", columns, rows, HICKS, ["joint", "coordinate", "RMS", "peak", "result"])


def markers(found: AnkleComparison) -> Table:
    """Distances of the markers with each kind of joint."""
    rows = []
    for sort, one in found.trials.items():
        motion = one.motion
        name, far, time = motion.worst
        count = len(motion.errors)
        rows.append([sort, count, round(1e3 * motion.total_rms, 3), round(1e3 * far, 3), name, round(time, 3)])
    columns = ["joint", "markers", "RMS [mm]", "largest [mm]", "marker", "at [s]"]
    t = next(iter(found.trials.values())).motion.t
    note = (
        f"Distances between the markers of the model and of the trial from {t[0]:.3f} to {t[-1]:.3f} s; the filter needs "
        "coordinates before and after the times that are analysed."
    )
    return Table("markers", columns, rows, note)


def coordinates(found: AnkleComparison) -> Table:
    """Coordinates that were no free unknowns in every frame, and gaps of markers."""
    rows = []
    for sort, one in found.trials.items():
        motion, frames = one.motion, len(one.motion.t)
        rows += [[sort, name, why] for name, why in motion.held.items()]
        rows += [
            [sort, name, f"at an end of its range in {n} of {frames} frames"] for name, n in motion.at_bounds.items()
        ]
        rows += [
            [sort, name, f"not shown by the markers in {n} of {frames} frames; {_filled(n, frames)}"]
            for name, n in motion.undetermined.items()
        ]
        rows += [[sort, f"marker {name}", f"not seen in {n} of {frames} frames"] for name, n in motion.gaps.items()]
    return Table("coordinates", ["joint", "coordinate or marker", "state"], rows)


def _filled(lost: int, frames: int) -> str:
    return "at its default value" if lost == frames else "interpolated there"


def swapped_joints(readings: Mapping[str, Reading], pairs: Sequence[tuple[str, str]]) -> Table:
    """What was swapped in each model."""
    rows = [
        [sort, ", ".join(one.names), one.reason] for sort, model in readings.items() for one in _swaps(model, pairs)
    ]
    return Table("swapped joints", ["joint", "joints of the file", "ankle"], rows)


def _swaps(model: Reading, pairs: Sequence[tuple[str, str]]) -> list[Any]:
    return [one for one in model.left_out if one.sort == SORT]


def said(model: Reading, pairs: Sequence[tuple[str, str]]) -> str:
    """What was swapped, in a sentence for each ankle."""
    sentences = [f"{' and '.join(one.names)}: {one.reason}" for one in _swaps(model, pairs)]
    return ".  ".join(sentences) + "."


def left_out(model: Reading) -> Table:
    """What of the file is not in the system."""
    rows = [[sort, names, why] for sort, names, why in model.rows() if sort not in (SORT, ADDED)]
    return Table("not carried over", ["sort", "names", "reason"], rows)


def notes(sentences: Sequence[str]) -> Table:
    """A row for each assumption."""
    return Table("notes", ["assumption that was not read from a file"], [[one] for one in sentences])


def answer(found: AnkleComparison, *, whole: bool = True) -> str:
    """The largest ankle moment of each sort, the difference, and the residuals of a ``whole`` body."""
    ankle, (coordinate, other) = next(iter(found.ankles.items()))
    peaks = {sort: float(np.abs(found.moment(sort, coordinate)).max()) for sort in found.trials}
    text = f"Largest moment of {coordinate}: " + ", ".join(
        f"{peak:.3f} N m/kg ({sort})" for sort, peak in peaks.items()
    )
    first, last = list(found.trials)[0], list(found.trials)[-1]
    before = "hinges of the file" if first == FILE else f"{first} one"
    differ = (
        f".  With the {last} joint in place of the {before}, {coordinate} and {other} differ by "
        f"{off(found.angle(last, coordinate), found.angle(first, coordinate)):.2g} and "
        f"{off(found.angle(last, other), found.angle(first, other)):.2g} degrees and by "
        f"{off(found.moment(last, coordinate), found.moment(first, coordinate)):.2g} and "
        f"{off(found.moment(last, other), found.moment(first, other)):.2g} N m/kg (RMS)."
    )
    text += differ if first != last else "."
    motion = found.trials[last].motion
    if lost := [name for pair in found.ankles.values() for name in pair if name in motion.undetermined]:
        most = max(motion.undetermined[name] for name in lost)
        text += f"  The markers do not show {', '.join(lost)} in up to {most} of {len(motion.t)} frames; interpolated there."
    above = [one.coordinate for one in found.trials[last].residuals.of if not one.within and np.isfinite(one.limit)]
    if not np.isfinite(found.trials[last].residuals.of[0].limit):
        return text + "  No ground forces: moments are those of inertia and gravity alone."
    if not whole:
        return text
    return text + (
        f"  Residuals above the thresholds: {', '.join(above)}."
        if above
        else "  All residuals are within the thresholds."
    )
