"""Figures of the contact."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from models.studies.gait.contact import ARCHES, FITTED, MARKERS, OTHERS, SCALED, SHAPE, TrialSoles, over_stance
from models.studies.gait.contact_tables import PUBLISHED_TOUCHING
from models.walking import gait_plots
from models.walking.gait_result import Gait
from runtime.report import plots
from runtime.report.figure_files import Drawing
from runtime.support import GRAVITY
from runtime.support.arrays import Floats

PAPER = "Moreira et al. (2011)"
SHOWN = 6  # trials in a figure
STANCE = "stance [%]"
AXES = ("anterior", "medial", "vertical")


def figures(trial_soles: Sequence[TrialSoles]) -> dict[str, Drawing]:
    """The figures by file name, to be drawn when called."""
    shown, first = trial_soles[:SHOWN], trial_soles[0]
    compared = [name for name in (SHAPE, FITTED, OTHERS, SCALED) if name in first.soles]
    return {
        "contact_vertical_force": Drawing(
            partial(plots.charts, [_force(each, 2, compared) for each in shown], STANCE),
            "Vertical force over stance, measured, of the mean curve of nine adults, and of each sole.", f"{PAPER}, Fig. 8",
        ),
        "contact_horizontal_force": Drawing(
            partial(plots.charts, [_force(each, axis, (SHAPE, FITTED)) for each in shown for axis in (0, 1)], STANCE),
            "Anterior and medial force over stance, measured and predicted by each sole.", f"{PAPER}, Fig. 8",
        ),
        "contact_centre_of_pressure": Drawing(
            partial(plots.charts, [_pressure(each, axis) for each in shown for axis in (0, 1)], STANCE),
            "Centre of pressure over stance, measured and predicted by each sole.", f"{PAPER}, Fig. 8",
        ),
        "contact_spheres": Drawing(
            partial(
                gait_plots.pressed, _sphere_forces(first), tuple(PUBLISHED_TOUCHING),
                "instants for which the paper lists the spheres in contact", STANCE, "normal force [body weights]",
            ),
            "Normal force of each sphere over stance.", f"{PAPER}, Fig. 9",
        ),
        "contact_cavus_and_flat_foot": Drawing(
            partial(plots.charts, [_arches(first)], STANCE),
            "Vertical force over stance predicted for a normal, a cavus and a flat foot.", f"{PAPER}, Fig. 10",
        ),
    }  # fmt: skip


def _force(each: TrialSoles, axis: int, soles: Sequence[str]) -> plots.Chart:
    """Measured and predicted force along an axis over stance."""
    force = {"measured": each.trial.ground_at(each.trial.t)[0]}
    if axis == 2:
        force |= {name: curve for name, (curve, _) in each.curves.items()}
    elif each.markers is not None:
        force[MARKERS] = each.markers.force
    force |= {sole: each.soles[sole].force for sole in soles}
    weight = each.trial.subject.mass * GRAVITY
    quantity = f"{AXES[axis]} force"
    return plots.Chart(
        f"{each.trial.name}: {quantity}", f"{quantity} [body weights]",
        {label: over_stance(each.trial, values[:, axis] / weight) for label, values in force.items()},
    )  # fmt: skip


def _pressure(each: TrialSoles, axis: int) -> plots.Chart:
    """Measured and predicted centre of pressure along an axis over stance."""
    paths = {"measured": each.trial.ground_at(each.trial.t)[1]}
    paths |= {name: path for name, (_, path) in each.curves.items()}
    paths |= {sole: each.soles[sole].cop for sole in (SHAPE, FITTED)}
    return plots.Chart(
        f"{each.trial.name}: centre of pressure", f"{AXES[axis]} of the heel [mm]",
        {label: over_stance(each.trial, 1e3 * _in_foot(each.trial, path)[:, axis]) for label, path in paths.items()},
    )  # fmt: skip


def _arches(each: TrialSoles) -> plots.Chart:
    """Vertical force of the three arches over stance."""
    weight = each.trial.subject.mass * GRAVITY
    return plots.Chart(
        f"{each.trial.name}: vertical force", "vertical force [body weights]",
        {label: over_stance(each.trial, each.soles[sole].force[:, 2] / weight) for label, sole in ARCHES.items()},
    )  # fmt: skip


def _sphere_forces(each: TrialSoles) -> dict[str, tuple[Floats, dict[str, Floats]]]:
    """Percent of stance and normal force of each sphere [body weights], by title."""
    weight = each.trial.subject.mass * GRAVITY
    percent, _ = over_stance(each.trial, each.trial.t)
    return {
        f"{each.trial.name}: {sole}": (
            percent,
            {k: over_stance(each.trial, force / weight)[1] for k, force in each.soles[sole].pressed.items()},
        )
        for sole in (SHAPE, FITTED)
    }


def _in_foot(one: Gait, cop: Floats) -> Floats:
    """A path (n, 3) [m] in the axes of the main foot relative to the heel's marker, (n, 3) [m]."""
    main_foot = one.subject.bodies["main_foot"]
    heel = main_foot.markers[one.subject.landmarks.labels["heel"]]
    path: Floats = np.einsum("nab,na->nb", one.motion.rotations("main_foot"), cop - one.motion.r["main_foot"]) - heel
    return path
