"""What contact adds to the study of a walk: soles fitted to each trial, their forces, a cavus and a flat foot.  Seed 004."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models import gait_contact
from models.gait_analysis import PERCENT, Gait
from models.gait_contact import Fit, Prediction, in_stance, predict
from models.subject import GRAVITY
from runtime import Table, plots

Floats = NDArray[np.float64]

# The soles by name, in the order of tables and files.
SCALED, SHAPE, FITTED, OTHERS, CAVUS, FLAT = (
    "as scaled", "seed's shape", "fitted", "from other trials", "cavus", "flat foot",
)  # fmt: skip
MEANING = {
    SCALED: "seed 004, scaled to the foot, nothing fitted",
    SHAPE: "three numbers fitted: a stiffness, a loss and a height that all spheres have in common",
    FITTED: "a stiffness and a height of every sphere and a common loss fitted, held near the scaled sole by a prior",
    OTHERS: "the same, fitted to all other trials",
    CAVUS: "seed's shape, middle spheres higher",
    FLAT: "seed's shape, middle spheres lower",
}
ARCHES = {"normal": SHAPE, CAVUS: CAVUS, FLAT: FLAT}
ALIKE = ("stiffness", "loss", "height")
LIMIT = 0.15  # [body weights] that the vertical force may be off, root mean square over stance
# Seed 004 on its Fig. 9: which spheres touch at which part of stance [%].
SEED_TOUCHING = {10: "1-3", 49: "1-8", 68: "7-9"}
MADE = 0.01  # [mm] markers that are nearer to the model were made by it
MANY = 6  # trials that a figure shows
STANCE = "stance [%]"


@dataclass(frozen=True, eq=False)
class Contact:
    """The contact of one trial: what each sole does, by its name, and the fits of those that are fitted.

    ``elsewhere``: of soles fitted to this trial, the error of the vertical force [body weights] on each other trial.
    """

    trial: Gait
    note: str
    soles: Mapping[str, Prediction]
    fits: Mapping[str, Fit]
    elsewhere: Mapping[str, Sequence[float]]


def analyse(found: Sequence[Gait], say: Callable[[str], None]) -> list[Contact]:
    """Fit a sole to each trial, predict each by a sole that was fitted to the others, and vary the arch."""
    contacts = []
    start = gait_contact.sole(found[0].subject)
    for one in found:
        say(f"fitting a sole to {one.name}")
        others = [other for other in found if other is not one]
        fits = {SHAPE: gait_contact.fit(one, start, shared=ALIKE, prior=0.0), FITTED: gait_contact.fit(one, start)}
        elsewhere = {
            name: [predict(other, fit.sole).errors().vertical for other in others] for name, fit in fits.items()
        }
        if others:
            fits[OTHERS] = gait_contact.fit(others, start)
        soles = {SCALED: start} | {name: fit.sole for name, fit in fits.items()}
        soles |= {CAVUS: fits[SHAPE].sole.cavus, FLAT: fits[SHAPE].sole.flat}
        floor, note = gait_contact.floor_of(one)
        predictions = {name: predict(one, sole, floor) for name, sole in soles.items()}
        contacts.append(Contact(one, note, predictions, fits, elsewhere))
    return contacts


# Tables


def tables(contacts: Sequence[Contact]) -> list[Table]:
    """Errors of all soles, the fitted sole of the first trial, which spheres touch, and what the arch does."""
    return [_errors_table(contacts), _sole_table(contacts[0]), _touching_table(contacts), _arch_table(contacts)]


def _errors_table(contacts: Sequence[Contact]) -> Table:
    rows: list[list[Any]] = []
    for c in contacts:
        for name, prediction in c.soles.items():
            if name in (CAVUS, FLAT):
                continue
            e = prediction.errors()
            fit = c.fits.get(name)
            others = c.elsewhere.get(name)
            rows.append([
                c.trial.name, name, e.vertical, float(np.mean(others)) if others else None, e.anterior, e.medial,
                1e3 * e.cop_anterior, 1e3 * e.cop_medial, fit.per_mm if fit else None,
            ])  # fmt: skip
    columns = [
        "trial", "sole", "vertical [BW]", "other trials [BW]", "anterior [BW]", "medial [BW]", "CoP anterior [mm]",
        "CoP medial [mm]", "1 mm of height [BW]",
    ]  # fmt: skip
    off = [1e3 * float(np.sqrt(np.mean(c.trial.residual**2))) for c in contacts]
    reached = [c.soles[FITTED].errors().vertical <= LIMIT for c in contacts]
    own = np.mean([_horizontal(c.trial) for c in contacts], axis=0)
    reason = f"the markers are {np.mean(off):.1f} mm off the model"
    if np.mean(off) < MADE:
        reason = "the synthetic force is a normative curve, which no sole has made"
    across = "".join(
        f"  {name}: {np.mean([c.soles[name].errors().vertical for c in contacts]):.3f} off its own trial on average, "
        f"{np.mean([c.elsewhere[name] for c in contacts]):.3f} off others, at most "
        f"{np.max([c.elsewhere[name] for c in contacts]):.3f}."
        for name in (SHAPE, FITTED)
        if len(contacts) > 1
    )
    stopped = [f"{name} of {c.trial.name}" for c in contacts for name, fit in c.fits.items() if not fit.converged]
    unfinished = (
        f"  The search did not converge in {gait_contact.MOST_STEPS} steps, so that a better sole may exist: "
        f"{'; '.join(stopped)}."
        if stopped
        else ""
    )
    note = (
        "Root mean square over stance, against the measured force; other trials: the vertical force there, by the sole of this "
        "one; CoP: centre of pressure, above a tenth of the weight.  "
        f"{' '.join(f'{name}: {MEANING[name]}.' for name in contacts[0].soles if name not in (CAVUS, FLAT))}  "
        f"Fitted: {sum(reached)} of {len(reached)} trials within {LIMIT:g} body weights.  1 mm of height: by how much the "
        f"vertical force changes when the whole sole is a millimetre lower; {reason}.{across}{unfinished}  "
        f"The measured horizontal force itself is {own[0]:.3f} (anterior) and {own[1]:.3f} (medial), so friction tells little of "
        "it: it follows the slip of a foot that hardly slips, and markers do not show that slip.  All spheres lie on one line "
        "through the heel, along the foot, so the predicted centre of pressure is about 0 medial of it by construction, whatever "
        "is fitted."
    )
    return Table("errors of the contact", columns, rows, note)


def _horizontal(one: Gait) -> Floats:
    """Root mean square of the measured anterior and medial force over stance, (2,) [body weights]."""
    force = one.ground_at(one.t)[0][in_stance(one), :2]
    rms: Floats = np.sqrt(np.mean(force**2, axis=0)) / (one.subject.mass * GRAVITY)
    return rms


def _sole_table(c: Contact) -> Table:
    fit = c.fits[FITTED]
    rows: list[list[Any]] = []
    for name, sphere in fit.sole.spheres.items():
        moved = 1e3 * float(sphere.centre[2] - fit.start.spheres[name].centre[2])
        greatest = float(c.soles[FITTED].pressed[name].max()) / (c.trial.subject.mass * GRAVITY)
        rows.append([name, sphere.body, 1e3 * sphere.radius, moved, sphere.stiffness, sphere.loss, greatest])
    bounds = f"On a bound of the search: {', '.join(fit.at_bounds)}.  " if fit.at_bounds else ""
    idle = f"Never touching, so that their numbers mean nothing: {', '.join(fit.idle)}.  " if fit.idle else ""
    end = "converged" if fit.converged else "did not converge, and was stopped"
    prior = ", ".join(
        f"{name} a factor of {group.width:g}" if group.factor else f"{name} {1e3 * group.width:g} mm"
        for name, group in gait_contact.GROUPS.items()
        if name in gait_contact.FREE
    )
    note = (
        f"{bounds}{idle}Height: change from the scaled sole.  The search {end} after {fit.steps} steps.  The prior: "
        f"off the scaled sole by {prior} each count as much as {gait_contact.PRIOR:g} body weights, root mean square over stance."
    )
    columns = [
        "sphere", "body", "radius [mm]", "height [mm]", "stiffness [N/m^1.5]", "loss [s/m]", "greatest force [BW]",
    ]  # fmt: skip
    return Table(f"fitted sole: {c.trial.name}", columns, rows, note)


def _touching_table(contacts: Sequence[Contact]) -> Table:
    rows = [
        [c.trial.name, at, seed, *(_short(c.soles[name].touching(at / 100.0)) for name in (SHAPE, FITTED))]
        for c in contacts
        for at, seed in SEED_TOUCHING.items()
    ]
    note = "By number, heel to toe tip; the seed's of its Fig. 9."
    return Table("spheres that touch", ["trial", "stance [%]", "seed 004", SHAPE, FITTED], rows, note)


def _arch_table(contacts: Sequence[Contact]) -> Table:
    rows: list[list[Any]] = []
    for c in contacts:
        weight = c.trial.subject.mass * GRAVITY
        for label, name in ARCHES.items():
            first, middle, last = np.array_split(c.soles[name].force[in_stance(c.trial), 2] / weight, 3)
            rows.append([c.trial.name, label, float(first.max()), float(middle.mean()), float(last.max())])
    note = (
        f"Seed's shape with the spheres {_short(gait_contact.ARCH)} {1e3 * gait_contact.ARCH_CHANGE:g} mm higher (cavus) or "
        "lower (flat foot), along the same motion.  So the cavus foot has nowhere more force than the normal one, as nothing of "
        "it is lower; the seed prints more under its heel and toes."
    )
    columns = [
        "trial", "foot", "first third, greatest [BW]", "middle third, mean [BW]", "last third, greatest [BW]",
    ]  # fmt: skip
    return Table("cavus and flat foot", columns, rows, note)


def _short(names: Sequence[str]) -> str:
    """Numbers of spheres, those in a row as a range."""
    numbers = [int(name.rpartition("_")[2]) for name in names]
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs) or "none"


# Figures


def figures(contacts: Sequence[Contact]) -> dict[str, Callable[[], Any]]:
    """The figures by name, to be drawn when they are called."""
    shown = contacts[:MANY]
    compared = [name for name in (SHAPE, FITTED, OTHERS, SCALED) if name in contacts[0].soles]

    def chart(c: Contact, axis: int, soles: Sequence[str]) -> plots.Chart:
        force = {"measured": c.trial.ground_at(c.trial.t)[0]} | {sole: c.soles[sole].force for sole in soles}
        weight = c.trial.subject.mass * GRAVITY
        quantity = f"{('anterior', 'medial', 'vertical')[axis]} force"
        return plots.Chart(
            f"{c.trial.name}: {quantity}", f"{quantity} [body weights]",
            {label: _over_stance(c.trial, values[:, axis] / weight) for label, values in force.items()},
        )  # fmt: skip

    def pressure(c: Contact, axis: int) -> plots.Chart:
        paths = {"measured": c.trial.ground_at(c.trial.t)[1]} | {sole: c.soles[sole].cop for sole in (SHAPE, FITTED)}
        return plots.Chart(
            f"{c.trial.name}: centre of pressure", f"{('anterior', 'medial')[axis]} of the heel [mm]",
            {label: _over_stance(c.trial, 1e3 * _in_foot(c.trial, path)[:, axis]) for label, path in paths.items()},
        )  # fmt: skip

    first = contacts[0]
    name = first.trial.name
    weight = first.trial.subject.mass * GRAVITY
    fig10 = plots.Chart(
        f"{name}: vertical force", "vertical force [body weights]",
        {label: _over_stance(first.trial, first.soles[sole].force[:, 2] / weight) for label, sole in ARCHES.items()},
    )  # fmt: skip
    percent, _ = _over_stance(first.trial, first.trial.t)
    maps = {
        f"{name}: {sole}": (
            percent,
            {k: _over_stance(first.trial, force / weight)[1] for k, force in first.soles[sole].pressed.items()},
        )
        for sole in (SHAPE, FITTED)
    }
    return {
        "seed004_fig8_vertical_force": partial(plots.charts, [chart(c, 2, compared) for c in shown], STANCE),
        "seed004_fig8_horizontal_force": partial(
            plots.charts, [chart(c, axis, (SHAPE, FITTED)) for c in shown for axis in (0, 1)], STANCE
        ),
        "seed004_fig8_centre_of_pressure": partial(
            plots.charts, [pressure(c, axis) for c in shown for axis in (0, 1)], STANCE
        ),
        "seed004_fig9_spheres_that_touch": partial(
            plots.pressed,
            maps,
            tuple(SEED_TOUCHING),
            "where the seed tells which spheres touch",
            STANCE,
            "normal force [body weights]",
        ),
        "seed004_fig10_cavus_and_flat_foot": partial(plots.charts, [fig10], STANCE),
    }


def _over_stance(one: Gait, values: Floats) -> tuple[Floats, Floats]:
    """Percent of stance and values (n,) at the frames of stance."""
    frames, cycle = in_stance(one), one.cycle
    percent = 100.0 * (one.t - cycle.strike) / (cycle.off - cycle.strike)
    return percent[frames], values[frames]


def _in_foot(one: Gait, cop: Floats) -> Floats:
    """A path (n, 3) [m] in the axes of the main foot from the heel's marker, (n, 3) [m], whether or not the floor moves."""
    main_foot = one.subject.bodies["main_foot"]
    heel = main_foot.markers[one.subject.landmarks.labels["heel"]]
    path: Floats = np.einsum("nab,na->nb", one.motion.rotations("main_foot"), cop - one.motion.r["main_foot"]) - heel
    return path


# Data


def add_to(data: Any, contacts: Sequence[Contact]) -> Any:
    """An xarray Dataset of the study with what the soles did: dimensions sole and sphere are added."""
    soles, spheres = list(contacts[0].soles), list(contacts[0].soles[SCALED].pressed)
    all_of = [[c.soles[sole] for sole in soles] for c in contacts]
    force, cop = ([[_over_cycle(p.trial, getattr(p, key)) for p in row] for row in all_of] for key in ("force", "cop"))
    pressed = [[[_over_cycle(p.trial, p.pressed[s]) for s in spheres] for p in row] for row in all_of]
    own = [[[p.sole.spheres[s] for s in spheres] for p in row] for row in all_of]
    variables: dict[str, Any] = {
        "contact_force": (("trial", "sole", "percent", "axis"), force, "N", "of all spheres on the foot"),
        "contact_centre_of_pressure": (("trial", "sole", "percent", "axis"), cop, "m", "NaN without a force"),
        "sphere_force": (("trial", "sole", "sphere", "percent"), pressed, "N", "normal force of each sphere"),
        "sphere_stiffness": (("trial", "sole", "sphere"), _each(own, "stiffness"), "N/m^1.5", "of the normal law"),
        "sphere_loss": (("trial", "sole", "sphere"), _each(own, "loss"), "s/m", "of the normal law"),
        "sphere_centre": (
            ("trial", "sole", "sphere", "axis"), _each(own, "centre"), "m", "from the body's centre of mass in its axes",
        ),
        "sphere_radius": (("trial", "sole", "sphere"), _each(own, "radius"), "m", ""),
    }  # fmt: skip
    return data.assign_coords(sole=soles, sphere=spheres).assign(
        {
            name: (dimensions, np.array(values), {"units": unit, "long_name": meaning})
            for name, (dimensions, values, unit, meaning) in variables.items()
        }
    )


def _each(own: Sequence[Sequence[Sequence[Any]]], key: str) -> Floats:
    return np.array([[[getattr(sphere, key) for sphere in row] for row in rows] for rows in own])


def _over_cycle(one: Gait, values: Floats) -> Floats:
    """Values (n, ...) at 0, 1, ..., 100 % of the cycle, by straight lines: a contact has corners."""
    columns = values.reshape(len(values), -1).T
    found: Floats = np.array([np.interp(PERCENT, one.percent, column) for column in columns]).T
    return found.reshape(len(PERCENT), *values.shape[1:])


def write_csv(contacts: Sequence[Contact], file: Path) -> Path:
    """One line for each trial, sole and percent of the cycle; the measured force is the sole "measured"."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([
            "trial", "sole", "percent", "anterior force [N]", "medial force [N]", "vertical force [N]",
            "anterior CoP [m]", "medial CoP [m]",
        ])  # fmt: skip
        for c in contacts:
            force, cop, _ = c.trial.ground_at(c.trial.t)
            curves = {"measured": (force, cop)} | {name: (p.force, p.cop) for name, p in c.soles.items()}
            for name, (of_force, of_cop) in curves.items():
                values = np.column_stack([_over_cycle(c.trial, of_force), _over_cycle(c.trial, of_cop)[:, :2]])
                for percent, row in zip(PERCENT, values, strict=True):
                    writer.writerow([
                        c.trial.name, name, f"{percent:g}",
                        *(f"{value:.10g}" if np.isfinite(value) else "" for value in row),
                    ])  # fmt: skip
    return file
