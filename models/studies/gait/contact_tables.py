"""Tables of the contact: errors of the soles, the fitted sole, spheres in contact, and the effect of the arch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from models.studies.gait.contact import ARCHES, CAVUS, FITTED, FLAT, MARKERS, MEAN, OTHERS, SCALED, SHAPE, TrialSoles
from models.walking import contact_fit, contact_residuals, sole
from models.walking.contact import compared, in_stance
from models.walking.gait_result import Gait
from runtime.report import Table
from runtime.support import GRAVITY
from runtime.support.arrays import Floats

MEANING = {
    SCALED: "the spheres of Moreira et al. (2011), scaled to the foot, nothing fitted",
    SHAPE: "three parameters fitted: a stiffness, a loss and a height common to all spheres",
    FITTED: "a stiffness and a height of every sphere and a common loss fitted, kept near the scaled sole by a prior",
    OTHERS: "like fitted, but to all other trials",
    MEAN: "baseline: mean of nine adults of Schreiber and Moissenet (2019), stretched to the stance",
    MARKERS: "the body's acceleration and a sole in two rows that was fitted to these nine adults; no force of the subject is "
    "used, unless the subject is one of them",
}
LIMIT = 0.15  # [body weights] admissible error of the vertical force, root mean square over stance
# Moreira et al. (2011), Fig. 9: spheres in contact by percentage of stance.
PUBLISHED_TOUCHING = {10: "1-3", 49: "1-8", 68: "7-9"}
SYNTHETIC = 0.01  # [mm] marker residual below which the trial was computed from the model


def tables(trial_soles: Sequence[TrialSoles]) -> list[Table]:
    """Errors of all soles, the fitted sole of the first trial, spheres in contact, and the effect of the arch."""
    return [
        _errors_table(trial_soles),
        _sole_table(trial_soles[0]),
        _touching_table(trial_soles),
        _arch_table(trial_soles),
    ]


def _errors_table(trial_soles: Sequence[TrialSoles]) -> Table:
    """Errors of each sole on its own trial and on the other trials."""
    rows: list[list[Any]] = []
    for each in trial_soles:
        for name, curve in each.curves.items():
            e = compared(each.trial, *curve)
            cop = [1e3 * value for value in (e.cop_anterior, e.cop_medial)]
            horizontal = [None, None] if name == MEAN else [e.anterior, e.medial]
            rows.append([each.trial.name, name, e.vertical, None, *horizontal, *cop, None])
        for name, prediction in each.soles.items():
            if name in (CAVUS, FLAT):
                continue
            e = prediction.errors()
            fit = each.fits.get(name)
            others = each.elsewhere.get(name)
            rows.append([
                each.trial.name, name, e.vertical, float(np.mean(others)) if others else None, e.anterior, e.medial,
                1e3 * e.cop_anterior, 1e3 * e.cop_medial, fit.per_mm if fit else None,
            ])  # fmt: skip
    columns = [
        "trial", "sole", "vertical [BW]", "other trials [BW]", "anterior [BW]", "medial [BW]", "CoP anterior [mm]",
        "CoP medial [mm]", "1 mm of height [BW]",
    ]  # fmt: skip
    return Table("errors of the contact", columns, rows, _errors_note(trial_soles))


def _errors_note(trial_soles: Sequence[TrialSoles]) -> str:
    """Explain the columns, and state convergence and the limits of the comparison."""
    off = [1e3 * float(np.sqrt(np.mean(each.trial.residual**2))) for each in trial_soles]
    reached = [each.soles[FITTED].errors().vertical <= LIMIT for each in trial_soles]
    own = np.mean([_horizontal(each.trial) for each in trial_soles], axis=0)
    shown = [*trial_soles[0].curves, *(name for name in trial_soles[0].soles if name not in (CAVUS, FLAT))]
    reason = f"the markers are {np.mean(off):.1f} mm off the model"
    if np.mean(off) < SYNTHETIC:
        reason = "the force of the synthetic trial is a normative curve, not the force of a sole"
    across = "".join(
        f"  {name}: {np.mean([each.soles[name].errors().vertical for each in trial_soles]):.3f} off its own trial on average, "
        f"{np.mean([each.elsewhere[name] for each in trial_soles]):.3f} off others, at most "
        f"{np.max([each.elsewhere[name] for each in trial_soles]):.3f}."
        for name in (SHAPE, FITTED)
        if len(trial_soles) > 1
    )
    stopped = [
        f"{name} of {each.trial.name}" for each in trial_soles for name, fit in each.fits.items() if not fit.converged
    ]
    unfinished = (
        f"  The search did not converge in {contact_fit.MAX_STEPS} steps, so a better sole may exist: {'; '.join(stopped)}."
        if stopped
        else ""
    )
    return (
        "Root mean square over stance of the difference from the measured force.  Other trials: the vertical force there, with "
        "the sole of this trial.  CoP: centre of pressure, where the force is above a tenth of the weight.  "
        f"{' '.join(f'{name}: {MEANING[name]}.' for name in shown)}  "
        f"Fitted: {sum(reached)} of {len(reached)} trials within {LIMIT:g} body weights.  1 mm of height: change of the vertical "
        f"force when the whole sole is a millimetre lower; {reason}.{across}{unfinished}  The measured horizontal force itself "
        f"is {own[0]:.3f} (anterior) and {own[1]:.3f} (medial).  Friction predicts little of it, since it follows the slip of a "
        "foot that hardly slips, and markers do not resolve that slip.  All nine spheres lie on one line through the heel along "
        "the foot, so their centre of pressure is about 0 medial of it by construction, for any fit."
    )


def _horizontal(one: Gait) -> Floats:
    """Root mean square of the measured anterior and medial force over stance, (2,) [body weights]."""
    force = one.ground_at(one.t)[0][in_stance(one), :2]
    rms: Floats = np.sqrt(np.mean(force**2, axis=0)) / (one.subject.mass * GRAVITY)
    return rms


def _sole_table(each: TrialSoles) -> Table:
    """The fitted sole of one trial, sphere by sphere."""
    fit = each.fits[FITTED]
    rows: list[list[Any]] = []
    for name, sphere in fit.sole.spheres.items():
        moved = 1e3 * float(sphere.centre[2] - fit.start.spheres[name].centre[2])
        largest = float(each.soles[FITTED].pressed[name].max()) / (each.trial.subject.mass * GRAVITY)
        rows.append([name, sphere.body, 1e3 * sphere.radius, moved, sphere.stiffness, sphere.loss, largest])
    bounds = f"On a bound of the search: {', '.join(fit.at_bounds)}.  " if fit.at_bounds else ""
    idle = f"Never in contact, so that their parameters are undetermined: {', '.join(fit.idle)}.  " if fit.idle else ""
    end = "converged" if fit.converged else "did not converge and was stopped"
    prior = ", ".join(
        f"{name} a factor of {group.width:g}" if group.factor else f"{name} {1e3 * group.width:g} mm"
        for name, group in contact_residuals.GROUPS.items()
        if name in contact_fit.FREE
    )
    note = (
        f"{bounds}{idle}Height: change from the scaled sole.  The search {end} after {fit.steps} steps.  Prior: deviations from "
        f"the scaled sole by {prior} each count as {contact_fit.PRIOR:g} body weights, root mean square over stance."
    )
    columns = [
        "sphere", "body", "radius [mm]", "height [mm]", "stiffness [N/m^1.5]", "loss [s/m]", "largest force [BW]",
    ]  # fmt: skip
    return Table(f"fitted sole: {each.trial.name}", columns, rows, note)


def _touching_table(trial_soles: Sequence[TrialSoles]) -> Table:
    """Spheres in contact at the instants that the paper shows."""
    rows = [
        [each.trial.name, at, published, *(_short(each.soles[name].in_contact(at / 100.0)) for name in (SHAPE, FITTED))]
        for each in trial_soles
        for at, published in PUBLISHED_TOUCHING.items()
    ]
    note = "Spheres by number, from the heel to the tip of the toes; Moreira et al. (2011): Fig. 9."
    return Table("spheres in contact", ["trial", "stance [%]", "Moreira et al. (2011)", SHAPE, FITTED], rows, note)


def _arch_table(trial_soles: Sequence[TrialSoles]) -> Table:
    """Vertical force in the thirds of stance for the three arches."""
    rows: list[list[Any]] = []
    for each in trial_soles:
        weight = each.trial.subject.mass * GRAVITY
        for label, name in ARCHES.items():
            first, middle, last = np.array_split(each.soles[name].force[in_stance(each.trial), 2] / weight, 3)
            rows.append([each.trial.name, label, float(first.max()), float(middle.mean()), float(last.max())])
    note = (
        f"Published shape with the spheres {_short(sole.ARCH)} {1e3 * sole.ARCH_CHANGE:g} mm higher (cavus) or "
        "lower (flat foot), for the same motion.  Since no sphere of the cavus foot is lower, its force nowhere exceeds that of "
        "the normal foot; Moreira et al. (2011) print more force under its heel and toes."
    )
    columns = [
        "trial", "foot", "first third, largest [BW]", "middle third, mean [BW]", "last third, largest [BW]",
    ]  # fmt: skip
    return Table("cavus and flat foot", columns, rows, note)


def _short(names: Sequence[str]) -> str:
    """Numbers of spheres, consecutive ones as a range."""
    numbers = [int(name.rpartition("_")[2]) for name in names]
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs) or "none"
