"""Data of the contact: variables of the study's dataset, and a CSV file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from models.studies.gait.contact import SCALED, TrialSoles
from models.walking.gait_result import PERCENT, Gait
from runtime.report import tables
from runtime.support.arrays import Floats


def add_to(data: Any, trial_soles: Sequence[TrialSoles]) -> Any:
    """The xarray Dataset of the study with the results of the soles; adds the dimensions sole and sphere."""
    soles, spheres = list(trial_soles[0].soles), list(trial_soles[0].soles[SCALED].pressed)
    all_of = [[each.soles[sole] for sole in soles] for each in trial_soles]
    force, cop = ([[_over_cycle(p.trial, getattr(p, key)) for p in row] for row in all_of] for key in ("force", "cop"))
    pressed = [[[_over_cycle(p.trial, p.pressed[s]) for s in spheres] for p in row] for row in all_of]
    own = [[[p.sole.spheres[s] for s in spheres] for p in row] for row in all_of]
    variables: dict[str, Any] = {
        "contact_force": (("trial", "sole", "percent", "axis"), force, "N", "of all spheres on the foot"),
        "contact_centre_of_pressure": (("trial", "sole", "percent", "axis"), cop, "m", "NaN without force"),
        "sphere_force": (("trial", "sole", "sphere", "percent"), pressed, "N", "normal force of each sphere"),
        "sphere_stiffness": (("trial", "sole", "sphere"), _each(own, "stiffness"), "N/m^1.5", "of the normal law"),
        "sphere_loss": (("trial", "sole", "sphere"), _each(own, "loss"), "s/m", "of the normal law"),
        "sphere_centre": (
            ("trial", "sole", "sphere", "axis"), _each(own, "centre"), "m", "relative to the body's centre of mass, in its axes",
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
    """Values (n, ...) at 0, 1, ..., 100 % of the cycle; interpolated linearly, as forces of contacts have corners."""
    columns = values.reshape(len(values), -1).T
    found: Floats = np.array([np.interp(PERCENT, one.percent, column) for column in columns]).T
    return found.reshape(len(PERCENT), *values.shape[1:])


def write_csv(trial_soles: Sequence[TrialSoles], file: Path) -> Path:
    """Write one line for each trial, sole and percent of the cycle; soles are also "measured" and the mean curve."""
    columns = [
        "trial", "sole", "percent", "anterior force [N]", "medial force [N]", "vertical force [N]",
        "anterior CoP [m]", "medial CoP [m]",
    ]  # fmt: skip
    rows: list[list[str]] = []
    for each in trial_soles:
        force, cop, _ = each.trial.ground_at(each.trial.t)
        curves = {"measured": (force, cop)} | each.curves | {name: (p.force, p.cop) for name, p in each.soles.items()}
        for name, (of_force, of_cop) in curves.items():
            values = np.column_stack([_over_cycle(each.trial, of_force), _over_cycle(each.trial, of_cop)[:, :2]])
            for percent, row in zip(PERCENT, values, strict=True):
                numbers = (f"{value:.10g}" if np.isfinite(value) else "" for value in row)
                rows.append([each.trial.name, name, f"{percent:g}", *numbers])
    return tables.write_csv(file, columns, rows)
