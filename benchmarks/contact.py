"""The force of the ground from the motion, for adults whom no model has seen: soles, and the mean curve of other people.

Leave one subject out: for each adult, everything that is fitted or averaged comes from the other adults.  The data of Schreiber
and Moissenet (2019) are no part of the repository: C3D files named SUBJECT_ST (standing) and SUBJECT_Cn_TRIAL (walking) in
``../shared/gait/dev/schreiber_moissenet/c3d`` beside it, or in the folder that is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.measure import ROOT, Answer, Say
from models import walking
from models.walking.capture import Capture, read_capture
from models.walking.contact import Errors, compared, in_stance
from models.walking.plantar import foot_motion, spheres_of
from models.walking.plantar_fit import PlantarModel, PlantarSample, fit_plantar, sample_of
from models.walking.plantar_load import PlantarLoad, expected_force, expected_path, mean_curves, predict_from_markers
from models.walking.whole_body import PELVES, body_motion
from runtime import ModelError
from runtime.report import Report, Table, plots
from runtime.support import GRAVITY
from runtime.support.arrays import Floats
from runtime.support.machine import cores

DATA = ROOT.parent / "shared" / "gait" / "dev" / "schreiber_moissenet" / "c3d"
UNFILTERED = walking.Filters.off()  # the authors of the data have filtered them
MEAN, SHARED, PELVIS, RIGID, ROWS = (
    "mean curve of others", "body's acceleration, no spheres", "two rows, pelvis only", "two rows, markers as they are",
    "two rows",
)  # fmt: skip
OWN, OTHER = "nine spheres, fitted to this trial", "nine spheres, fitted to the subject's other trial"
MEANING = {
    MEAN: "baseline: mean over the other subjects of force and centre of pressure, stretched to the stance",
    SHARED: "force on both feet from the centre of mass, divided in double support by the mean share of others; path from "
    "the motion of foot and body",
    PELVIS: "as two rows, the centre of mass being the mean of the pelvis' markers",
    RIGID: "as two rows, without lift, tilt and roll, and therefore without the body's acceleration",
    ROWS: "predict_from_markers",
    OWN: "fit_sole; uses the measured force of this trial, so it is no prediction",
    OTHER: "fit_sole; uses the measured force of the subject's other trial at another speed",
}
SHOWN = 6  # trials in the figure


@dataclass(frozen=True, eq=False)
class Step:
    """A trial of a foot: its analysis, the recording, and the sample for fits."""

    subject: str
    one: walking.Gait
    trial: Capture
    sample: PlantarSample


def ask(*, quick: bool, say: Say, files: Sequence[str] = ()) -> Answer:
    """Compare the predictions of all trials in a folder."""
    folder = Path(files[0]) if files else DATA
    report = Report("The force of the ground from the motion, for adults whom no model has seen")
    steps, left_out = _steps(folder, 3 if quick else None, say)
    subjects = sorted({step.subject for step in steps})
    if len(subjects) < 2:
        reason = (
            f"not run: {len(subjects)} subjects with standing and walking trials in {folder}; two at least are needed"
        )
        report.tables.append(Table("data", ["reason"], [[reason]]))
        return Answer(report, {})
    say(f"fitting the sole to all but one of {len(subjects)} subjects")
    seen = [[step.sample for step in steps if step.subject != subject] for subject in subjects]
    with ProcessPoolExecutor(min(cores(), 4)) as pool:
        models = dict(zip(subjects, pool.map(fit_plantar, seen), strict=True))
    say(f"predicting {len(steps)} trials")
    loads = [
        predict_from_markers(step.one, step.trial, model=models[step.subject], filters=UNFILTERED) for step in steps
    ]
    errors = {name: [score(step, models[step.subject]) for step in steps] for name, score in SCORES.items()}
    errors[ROWS] = [load.errors() for load in loads]
    if not quick:
        errors |= _nine_spheres(steps, say)
    report.tables += [_methods(errors, loads), _trials(steps, errors), _spheres(loads)]
    if left_out:
        report.tables.append(Table("trials left out", ["reason"], [[reason] for reason in left_out]))
    return Answer(report, {"contact": _figure(steps, loads, models)})


def _steps(folder: Path, at_most: int | None, say: Say) -> tuple[list[Step], list[str]]:
    """All trials of all subjects in a folder, and why some are left out."""
    steps, left_out = [], []
    for file in sorted(folder.glob("*_ST.c3d"))[:at_most]:
        subject = file.name.removesuffix("_ST.c3d")
        say(f"analysing {subject}")
        static = read_capture(file)
        for walk in sorted(folder.glob(f"{subject}_C*.c3d")):
            trial = read_capture(walk)
            for side in ("right", "left"):
                try:
                    one = walking.analyse(static, trial, side=side, filters=UNFILTERED)
                    steps.append(Step(subject, one, trial, sample_of(one, body_motion(one, trial, UNFILTERED))))
                except ModelError as error:
                    left_out.append(f"{walk.stem}, {side} foot: {error}")
    return steps, left_out


def _on_floor(step: Step, cop: Floats) -> Floats:
    return np.column_stack([cop, np.full(len(cop), step.one.ground.surface)])


def _mean(step: Step, model: PlantarModel) -> Errors:
    return compared(step.one, *mean_curves(step.one, model))


def _shared(step: Step, model: PlantarModel) -> Errors:
    one, foot = step.one, foot_motion(step.one)
    body = body_motion(one, step.trial, UNFILTERED)
    both, share = expected_force(body, model, one.t)
    cop = _on_floor(step, expected_path(body, foot, model))
    return compared(one, foot.weight * both * share[:, None], cop)


def _rigid(step: Step, model: PlantarModel) -> Errors:
    foot = foot_motion(step.one)
    spheres = spheres_of(foot, model.sole)
    forces = spheres.forces(np.zeros((len(foot.t), 1)))
    force = np.zeros((len(foot.t), 3))
    force[:, 2] = foot.weight * forces.sum(axis=1)
    return compared(step.one, force, _on_floor(step, spheres.centre(forces)))


def _pelvis(step: Step, model: PlantarModel) -> Errors:
    body = dict.fromkeys(next(labels for labels in PELVES if set(labels) <= set(step.trial.markers)), 1.0)
    return predict_from_markers(step.one, step.trial, model=model, filters=UNFILTERED, body=body).errors()


SCORES: dict[str, Callable[[Step, PlantarModel], Errors]] = {
    MEAN: _mean,
    SHARED: _shared,
    PELVIS: _pelvis,
    RIGID: _rigid,
}


def _nine_spheres(steps: Sequence[Step], say: Say) -> dict[str, list[Errors]]:
    """Errors of the soles of ``fit_sole``: on their own trial, and on each other trial of the foot."""
    errors: dict[str, list[Errors]] = {OWN: [], OTHER: []}
    for step in steps:
        say(f"fitting nine spheres to {step.one.name}, {step.one.side} foot")
        sole = walking.fit_sole(step.one).sole
        for other in steps:
            if (other.subject, other.one.side) == (step.subject, step.one.side):
                kind = OWN if other is step else OTHER
                errors[kind].append(walking.predict_ground_force(other.one, sole).errors())
    return errors


def _methods(errors: dict[str, list[Errors]], loads: Sequence[PlantarLoad]) -> Table:
    rows = []
    for name, values in errors.items():
        vertical = np.array([e.vertical for e in values])
        centre = 1e3 * np.array([(e.cop, e.cop_anterior, e.cop_medial) for e in values])
        ends = zip(np.nanmean(centre, axis=0).tolist(), np.nanmax(centre, axis=0).tolist(), strict=True)
        rows.append([name, float(vertical.mean()), float(vertical.max()), *(one for pair in ends for one in pair)])
    better = sum(a.vertical < b.vertical for a, b in zip(errors[ROWS], errors[MEAN], strict=True))
    right = sum(_medial(load) > 0.0 for load in loads)
    sideways = np.mean([e.medial for e in errors[ROWS]])
    forwards = np.mean([e.anterior for e in errors[ROWS]])
    note = (
        "Mean and largest over trials of the root mean square over stance.  CoP: centre of pressure, in the plane of the "
        "floor and in both directions, where the force is above a tenth of the weight; soles as they are leave out frames "
        "without force.  "
        f"{' '.join(f'{name}: {MEANING[name]}.' for name in errors)}  Two rows: vertical force nearer than the mean curve in "
        f"{better} of {len(loads)} trials; the mean medial force points medially in {right}; error of the anterior force "
        f"{forwards:.3f} and of the medial force {sideways:.3f} body weights."
    )
    columns = [
        "method", "vertical [BW]", "largest [BW]", "CoP [mm]", "largest CoP [mm]", "CoP anterior [mm]",
        "largest anterior [mm]", "CoP medial [mm]", "largest medial [mm]",
    ]  # fmt: skip
    return Table("subjects left out", columns, rows, note, brief=columns[:4])


def _medial(load: PlantarLoad) -> float:
    """Mean medial force over stance [N]."""
    return float(np.mean(load.force[in_stance(load.trial), 1]))


def _trials(steps: Sequence[Step], errors: dict[str, list[Errors]]) -> Table:
    rows = [
        [
            step.one.name, step.one.side, step.one.speed, a.vertical, b.vertical, 1e3 * a.cop, 1e3 * b.cop,
            1e3 * a.cop_anterior, 1e3 * b.cop_anterior, 1e3 * a.cop_medial, 1e3 * b.cop_medial,
        ]
        for step, a, b in zip(steps, errors[ROWS], errors[MEAN], strict=True)
    ]  # fmt: skip
    columns = [
        "trial", "foot", "speed [m/s]", "vertical [BW]", "mean curve [BW]", "CoP [mm]", "mean path [mm]",
        "CoP anterior [mm]", "mean path, anterior [mm]", "CoP medial [mm]", "mean path, medial [mm]",
    ]  # fmt: skip
    note = "Two rows beside the mean curve of the other subjects."
    return Table("trials of subjects left out", columns, rows, note, brief=columns[:6])


def _spheres(loads: Sequence[PlantarLoad]) -> Table:
    """Largest force of each sphere."""
    rows = []
    for name in loads[0].pressed:
        largest = [float(load.pressed[name].max()) / (load.trial.subject.mass * GRAVITY) for load in loads]
        rows.append([name.replace("_", " "), float(np.mean(largest)), max(largest)])
    stance = [in_stance(load.trial) for load in loads]
    sizes = {
        name: 1e3
        * np.mean([np.sqrt(np.mean(getattr(load, name)[s] ** 2)) for load, s in zip(loads, stance, strict=True)])
        for name in ("lift", "tilt", "roll")
    }
    note = f"Root mean square over stance: {', '.join(f'{name} {size:.1f} mm' for name, size in sizes.items())}."
    return Table("spheres of the two rows", ["sphere", "largest force, mean [BW]", "largest [BW]"], rows, note)


def _figure(steps: Sequence[Step], loads: Sequence[PlantarLoad], models: dict[str, PlantarModel]):
    """Vertical force of some trials, one of each subject, measured, predicted and of the mean curve."""
    first = {step.subject: k for k, step in reversed(list(enumerate(steps)))}
    charts = []
    for k in sorted(first.values())[:SHOWN]:
        step, load = steps[k], loads[k]
        one, weight = step.one, step.one.subject.mass * GRAVITY
        frames = in_stance(one)
        percent = 100.0 * (one.t - one.cycle.strike)[frames] / (one.cycle.off - one.cycle.strike)
        forces = {
            "measured": one.ground_at(one.t)[0],
            "two rows": load.force,
            "mean curve of others": mean_curves(one, models[step.subject])[0],
        }
        series = {label: (percent, force[frames, 2] / weight) for label, force in forces.items()}
        charts.append(plots.Chart(f"{one.name}, {one.side} foot", "vertical force [BW]", series))
    return plots.charts(charts, "stance [%]", columns=2)
