"""A foot falls on the ground: with Coulomb's friction alone and with a viscous part, and soles of three shapes.  Seed 004."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from models import foot_ground, measures
from models.foot import METATARSOPHALANGEAL, TALOCRURAL
from runtime import Report, Run, Table, plots, simulate

METHOD = "radau"
# Seed 004, Figs. 7a-c and 7d-f: without and with the viscous part; and ten times that part, to see what it does at all.
FRICTIONS = {
    "Coulomb": {"mu_d": 0.0},
    "Coulomb and viscous": {"mu_d": foot_ground.MU_D},
    "ten times as viscous": {"mu_d": 10.0 * foot_ground.MU_D},
}
FALL: dict[str, Any] = {"pitch_deg": 0.0, "speed": 1.0}  # horizontal, as the seed's; its speed is not printed
SNAPSHOTS = 6


def drop(
    folder: Path,
    say: Callable[[str], None],
    *,
    t_end: float = 1.0,
    tolerance: float = 1e-8,
    height: float = 0.05,
) -> Report:
    """Drop a foot of nine spheres on the ground: what friction does, and what the shape of the sole does (seed 004).

    Parameters
    ----------
    folder : Path
        Where tables, figures and data go.
    say : callable(str)
        Is told what is being done.
    t_end : float [s]
        Simulated time.
    tolerance : float
        Relative and absolute tolerance of the integration.
    height : float [m]
        Of the lowest sphere above the ground.
    """
    report = Report("A foot falls on the ground (seed 004)")
    say("compiling (the first time after installation or an edit of a definition this takes most of a minute)")
    simulate(foot_ground.build(), 0.01, method=METHOD)
    settings: dict[str, Any] = dict(t_eval=measures.times(t_end), method=METHOD, rtol=tolerance, atol=tolerance)

    say(f"friction: {', '.join(FRICTIONS)}; {t_end:g} s at tolerance {tolerance:g}")
    falls = {
        label: simulate(foot_ground.build(height=height, **FALL, **friction), t_end, **settings)
        for label, friction in FRICTIONS.items()
    }
    say(f"soles: {', '.join(foot_ground.SHAPE_NAMES)}; dropped upright at rest")
    soles = {
        shape: simulate(foot_ground.build(shape, height=height, pitch_deg=0.0), t_end, **settings)  # type: ignore[arg-type]
        for shape in foot_ground.SHAPE_NAMES
    }
    for label, run in {**falls, **soles}.items():
        if not run.success:
            report.failures.append(f"{label}: {run.message}")
        report.files.append(measures.thinned(run).to_netcdf(folder / f"{label.replace(' ', '_')}.nc"))
    report.tables += [_fall_table(falls), _sole_table(soles), _touch_table(falls)]

    say("figures")
    for name, figure in _figures(falls, soles).items():
        report.files += plots.save(figure(), folder, name)
    report.write(folder)
    return report


def pitch(run: Run, body: str) -> np.ndarray:
    """Turn of a body about -y, toes up, (n,) [rad]."""
    angle: np.ndarray = -np.unwrap(2.0 * np.arctan2(run.p[body][:, 2], run.p[body][:, 0]))
    return angle


def slide(run: Run) -> np.ndarray:
    """How far the main foot's centre of mass has moved forward since the first touch-down, (n,) [m]."""
    landed = min(
        (contact.touch_down[0] for contact in run.contacts.values() if len(contact.touch_down)), default=run.t[-1]
    )
    path = run.r["main_foot"][:, 0]
    moved: np.ndarray = np.where(run.t >= landed, path - np.interp(landed, run.t, path), 0.0)
    return moved


def _fall_table(runs: Mapping[str, Run]) -> Table:
    rows = []
    for label, run in runs.items():
        force = run.ground_reaction().force
        lost = float(run.energy[0] - run.energy[-1])
        rows.append(
            [
                label, 1000.0 * float(slide(run)[-1]), float(np.rad2deg(pitch(run, "leg")[-1])),
                float(force[:, 2].max()), float(np.abs(force[:, 0]).max()), lost, run.stats.steps, run.stats.rejections,
                1000.0 * run.stats.wall_time,
            ]
        )  # fmt: skip
    columns = [
        "", "slide [mm]", "leg leans [deg]", "up [N]", "along [N]", "lost [J]", "steps", "rejected", "ms",
    ]  # fmt: skip
    apart = abs(rows[1][1] - rows[0][1])
    note = (
        f"Slide and lean (backwards positive) at the end of the run; up, along: the ground's largest forces; lost: energy; "
        f"mu_c = {foot_ground.MU_C:g}.  Seed 004 finds that its viscous part of {foot_ground.MU_D:g} N s/m stops the foot: with "
        f"the numbers that it prints the slide changes by {apart:.1g} mm, for at 1 m/s a sphere has "
        f"{foot_ground.MU_D:g} N of it beside tens of newtons of Coulomb's friction."
    )
    return Table("friction (seed 004, Fig. 7)", columns, rows, note)


def _sole_table(runs: Mapping[str, Run]) -> Table:
    system = next(iter(runs.values())).system
    names = system.contact_names
    rows = [
        [
            shape,
            *(float(run.contacts[name].normal_force[-1]) for name in names),
            float(run.ground_reaction().force[-1, 2]),
        ]
        for shape, run in runs.items()
    ]
    weight = -float(system.gravity[2]) * sum(body.mass for body in system.bodies)
    note = (
        f"Normal force of each sphere [N] at the end of the run; the weight is {weight:.2f} N.  1-6 are under the main foot "
        "from the heel on, 7-9 under the toes; sphere 1 lies within sphere 2."
    )
    return Table(
        "standing on soles of three shapes", ["sole", *(n.removeprefix("sphere_") for n in names), "sum"], rows, note
    )


def _touch_table(runs: Mapping[str, Run]) -> Table:
    label, run = next(iter(runs.items()))
    rows = [
        [run.system.contact_names[int(k)], "touch-down" if began else "lift-off", time, speed]
        for time, k, began, speed in run.touches
    ]
    return Table(f"touch-downs and lift-offs, {label}", ["sphere", "", "time [s]", "speed [m/s]"], rows)


def _figures(falls: Mapping[str, Run], soles: Mapping[str, Run]) -> dict[str, Callable[[], Any]]:
    return {
        "fig07_snapshots": partial(_snapshots, falls),
        "slide_and_lean": partial(
            plots.over_time, falls,
            {"slide [m]": slide, "leg leans [deg]": lambda run: np.rad2deg(pitch(run, "leg"))},
        ),
        "reaction": partial(
            plots.over_time, falls,
            {
                "vertical force [N]": lambda run: run.ground_reaction().force[:, 2],
                "horizontal force [N]": lambda run: run.ground_reaction().force[:, 0],
            },
        ),
        "soles": partial(
            plots.over_time, soles,
            {
                "vertical force [N]": lambda run: run.ground_reaction().force[:, 2],
                "centre of pressure from the heel [m]": _pressure_from_heel,
            },
        ),
    }  # fmt: skip


def _pressure_from_heel(run: Run) -> np.ndarray:
    """Along the floor from the centre of the heel's sphere to the centre of pressure, (n,) [m]; NaN off the ground."""
    found: np.ndarray = run.ground_reaction().centre_of_pressure[:, 0] - run.contacts["sphere_2"].point[:, 0]
    return found


def _pose(run: Run, n: int) -> dict[str, np.ndarray]:
    """Leg, main foot, toes and the outlines of the spheres of one output."""
    point = partial(measures.point, run, n)
    knee = -np.array(TALOCRURAL["leg"])
    ankle, ball = point("leg", TALOCRURAL["leg"]), point("main_foot", METATARSOPHALANGEAL["main_foot"])
    parts = {
        "leg": np.array([point("leg", knee), ankle]),
        "main foot": np.array([ankle, run.r["main_foot"][n], ball]),
        "toes": np.array([ball, run.r["toes"][n]]),
    }
    angles = np.linspace(0.0, 2.0 * np.pi, 33)
    circle = np.column_stack([np.cos(angles), np.zeros(33), np.sin(angles)])
    rings = [
        point(contact.body, contact.values["s_i"]) + contact.values["radius"] * circle
        for contact in run.system.contacts
    ]
    gap = np.full((1, 3), np.nan)
    parts["spheres"] = np.concatenate([part for ring in rings for part in (ring, gap)])
    ends = [point("leg", knee)[0], ankle[0], run.r["toes"][n][0]]
    parts["ground"] = np.array([(min(ends) - 0.1, 0.0, 0.0), (max(ends) + 0.1, 0.0, 0.0)])
    return parts


def _snapshots(runs: Mapping[str, Run]) -> Any:
    """Poses over the run, from the side."""
    return plots.snapshots(measures.poses(runs, _pose, SNAPSHOTS, np.inf), planes=("sagittal",))
