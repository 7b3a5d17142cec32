"""A foot falls on the ground: Coulomb friction without and with a viscous part, and soles of three shapes.

Moreira et al. (2011), Fig. 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import cumulative_trapezoid

from models import foot_ground, foot_sole
from models.foot import METATARSOPHALANGEAL, TALOCRURAL
from models.papers import cited
from models.studies import measures
from runtime import Run, equilibrium, simulate
from runtime.figures import PNG, FigureFormat
from runtime.report import Report, Table, plots, write_report
from runtime.report.figure_files import Drawing, FigureFiles

METHOD = "radau"
# Moreira et al. (2011), Figs. 7a-c and 7d-f: without and with the viscous part; and ten times that part, for a visible effect.
FRICTIONS = {
    "Coulomb": {"mu_d": 0.0},
    "Coulomb and viscous": {"mu_d": foot_ground.MU_D},
    "ten times as viscous": {"mu_d": 10.0 * foot_ground.MU_D},
}
FALL: dict[str, Any] = {"pitch_deg": 0.0, "speed": 1.0}  # horizontal, as in the paper, which does not print the speed
SNAPSHOTS = 4
IMPACT = (-0.002, 0.02)  # [s] about the first touch-down, shown in figures
BOUNCE = 0.15  # [s] after the first touch-down; by then the foot has landed again and stays down
LOADED = 0.1  # of the weight; below it the centre of pressure is not shown
SETTLING = 1.0  # [s] for a foot placed on the ground to come close enough to rest for ``equilibrium``


def drop(
    folder: Path,
    say: Callable[[str], None],
    *,
    t_end: float = 1.0,
    tolerance: measures.Tolerance = 1e-8,
    height: float = 0.05,
    figure_format: FigureFormat = PNG,
) -> Report:
    """Drop a foot with nine spheres on the ground.  Compares frictions and shapes of the sole (Moreira et al. 2011).

    Parameters
    ----------
    folder : Path
        Where tables, figures and data are written.
    say : callable(str)
        Receives a line for each stage of the work.
    t_end : float [s]
        Simulated time.
    tolerance : float
        Relative and absolute tolerance of the integration.
    height : float [m]
        Initial height of the lowest sphere above the ground.
    figure_format : FigureFormat
        Formats of the figures and dots per inch.
    """
    drawn = FigureFiles(folder, figure_format)
    report = Report("A foot falls on the ground: Moreira et al. (2011)")
    simulate(foot_ground.build(), 0.01, method=METHOD)  # compiles, so that the runs below are timed without compilation
    settings: dict[str, Any] = dict(method=METHOD, rtol=tolerance, atol=tolerance)
    times = measures.times(t_end)

    say(f"friction: {', '.join(FRICTIONS)}; {t_end:g} s at tolerance {tolerance:g}")
    systems = {label: foot_ground.build(height=height, **FALL, **friction) for label, friction in FRICTIONS.items()}
    falls = {label: simulate(system, t_end, t_eval=times, **settings) for label, system in systems.items()}
    resolved = measures.resolved(systems, t_end, **settings)
    say(f"soles: {', '.join(foot_sole.SHAPE_NAMES)}; dropped upright at rest, and standing")
    soles = {
        shape: simulate(foot_ground.build(shape, height=height, pitch_deg=0.0), t_end, t_eval=times, **settings)  # type: ignore[arg-type]
        for shape in foot_sole.SHAPE_NAMES
    }
    standing = {shape: _standing(shape, settings) for shape in foot_sole.SHAPE_NAMES}
    for label, run in {**falls, **soles}.items():
        report.files.append(measures.thinned(run).to_netcdf(folder / f"{label.replace(' ', '_')}.nc"))
    within = {f"{label}, with outputs within steps": run for label, run in resolved.items()}
    of_friction = measures.complete(report, falls | within)
    of_soles = measures.complete(report, soles | {f"standing, {shape}": run for shape, run in standing.items()})
    landed = of_friction and all(_touching(run).any() for run in resolved.values())
    if of_friction:
        report.tables.append(_fall_table(resolved))
    if of_soles:
        report.tables.append(_sole_table(standing, soles))
        first, *others = soles
        drawn.add_motion(soles[first], name=f"{first} sole", beside={f"{shape} sole": soles[shape] for shape in others})
    if landed:
        report.answer = _answer(resolved)
        report.tables.append(_touch_table(falls))
    elif of_friction:
        report.failures.append(_not_landed(resolved["Coulomb"], t_end, height))
    if landed and of_soles:
        say("figures")
        fine = measures.resolved({shape: run.system for shape, run in soles.items()}, t_end, **settings)
        if measures.complete(report, {f"{shape}, with outputs within steps": run for shape, run in fine.items()}):
            drawn.add(_figures(falls, resolved, fine))
    report.cite = cited("2011")
    write_report(report, folder, figures=drawn)
    return report


def _answer(runs: Mapping[str, Run]) -> str:
    peaks = [float(run.ground_reaction().force[:, 2].max()) for run in runs.values()]
    slips = [1000.0 * float(slip(run)[most_slipping(run)][-1]) for run in runs.values()]
    leans = [float(lean(run)[-1]) for run in runs.values()]
    return (
        f"The ground's force reaches {min(peaks):.0f} to {max(peaks):.0f} N with the frictions compared; no sphere slips farther "
        f"than {max(slips):.2g} mm.  The friction changes the slip by {np.ptp(slips):.1g} mm and the final lean of the leg by "
        f"{np.ptp(leans):.1g} deg."
    )


def _not_landed(run: Run, t_end: float, height: float) -> str:
    """Message with the time that the fall takes, which is exact for a free fall without rotation."""
    needed = float(np.sqrt(2.0 * height / np.linalg.norm(run.system.gravity)))
    return (
        f"the foot did not land within {t_end:g} s: it takes {needed:.3g} s to fall {height:g} m; give a longer --t-end or a "
        "smaller --height"
    )


def _standing(shape: str, settings: Mapping[str, Any]) -> Run:
    """Run of a foot at rest on the ground: placed there, settled, and brought to its equilibrium."""
    system = foot_ground.build(shape, height=0.0, pitch_deg=0.0)  # type: ignore[arg-type]
    rest = equilibrium(system, simulate(system, SETTLING, **settings).final)
    return simulate(system, SETTLING, initial=rest, **settings)


def _touching(run: Run) -> np.ndarray:
    """Mask of the outputs with any sphere in contact, (n,)."""
    return np.any([contact.normal_force > 0.0 for contact in run.contacts.values()], axis=0)


def lean(run: Run) -> np.ndarray:
    """Rotation of the leg about y, positive with its upper end forwards, (n,) [deg]."""
    angle: np.ndarray = np.rad2deg(np.unwrap(2.0 * np.arctan2(run.p["leg"][:, 2], run.p["leg"][:, 0])))
    return angle


def slip(run: Run) -> dict[str, np.ndarray]:
    """Path length of the slip of each sphere over the ground while in contact, (n,) [m]."""
    return {
        name: cumulative_trapezoid(
            np.where(contact.normal_force > 0.0, np.linalg.norm(contact.slip, axis=1), 0.0), run.t, initial=0.0
        )
        for name, contact in run.contacts.items()
    }


def most_slipping(run: Run) -> str:
    """Name of the sphere that slips farthest."""
    paths = slip(run)
    return max(paths, key=lambda name: float(paths[name][-1]))


def advance(run: Run) -> np.ndarray:
    """Forward motion of the main foot's centre of mass since the first touch-down, (n,) [m].

    It includes the motion that the rising heel causes.
    """
    landed = min(
        (contact.touch_down[0] for contact in run.contacts.values() if len(contact.touch_down)), default=run.t[-1]
    )
    path = run.r["main_foot"][:, 0]
    moved: np.ndarray = np.where(run.t >= landed, path - np.interp(landed, run.t, path), 0.0)
    return moved


def _viscous_share(run: Run) -> float:
    """Fraction of the work of friction that is done by its viscous part."""
    viscous = whole = 0.0
    for name, contact in run.contacts.items():
        touches = contact.normal_force > 0.0
        squared = np.einsum("na,na->n", contact.slip, contact.slip)
        viscous += run.system.contact(name).parameters["mu_d"] * np.trapezoid(np.where(touches, squared, 0.0), run.t)
        whole -= np.trapezoid(np.einsum("na,na->n", contact.friction, contact.slip), run.t)
    return viscous / whole


def _fall_table(runs: Mapping[str, Run]) -> Table:
    rows: list[list[Any]] = []
    for label, run in runs.items():
        most = most_slipping(run)
        force = run.ground_reaction().force
        of_contact: list[Any] = [
            1000.0 * float(slip(run)[most][-1]), most.removeprefix("sphere_"), 1000.0 * float(advance(run)[-1]),
            float(lean(run)[-1]), float(force[:, 2].max()), float(np.abs(force[:, 0]).max()),
        ] if _touching(run).any() else [None] * 6  # fmt: skip
        lost = float(run.energy[0] - run.energy[-1])
        rows.append([label, *of_contact, lost, run.stats.steps, 1000.0 * run.stats.wall_time])
    columns = [
        "", "slip [mm]", "sphere", "main foot [mm]", "leg leans [deg]", "vertical [N]", "horizontal [N]", "energy lost [J]",
        "steps", "time [ms]",
    ]  # fmt: skip
    note = (
        "Slip: longest path of a sphere over the ground while in contact, and the number of that sphere.  Main foot: forward "
        "motion of its centre after touch-down, most of it while the heel rises.  Leg leans: forwards.  Vertical, horizontal: "
        f"largest forces of the ground, also within the steps of the integration.  mu_c = {foot_ground.MU_C:g}."
    )
    if all(_touching(run).any() for run in runs.values()):
        first, second, tenfold = (runs[label] for label in FRICTIONS)
        slipped, leans = abs(rows[1][1] - rows[0][1]), abs(rows[1][4] - rows[0][4])
        note += (
            "  Moreira et al. (2011), Fig. 7, find that with Coulomb friction alone the foot slides too far and rotates beyond "
            f"the vertical, and that a viscous part of {foot_ground.MU_D:g} N s/m prevents it.  With the printed parameters no "
            f"sphere slips farther than {rows[0][1]:.2g} mm with Coulomb friction alone; the viscous part changes the slip by "
            f"{slipped:.1g} mm and the lean by {leans:.1g} deg, because it does {100.0 * _viscous_share(second):.1g} % of the "
            f"work of friction; a ten times larger one does {100.0 * _viscous_share(tenfold):.1g} %.  With each friction the leg "
            "falls over toes that stay in place."
        )
    return Table("friction", columns, rows, note)


def _sole_table(standing: Mapping[str, Run], dropped: Mapping[str, Run]) -> Table:
    system = next(iter(standing.values())).system
    names = system.contact_names
    rows = [
        [
            shape,
            *(float(run.contacts[name].normal_force[0]) for name in names),
            float(run.ground_reaction().force[0, 2]),
        ]
        for shape, run in standing.items()
    ]
    weight = -float(system.gravity[2]) * sum(body.mass for body in system.bodies)
    shaped = [f"sphere_{number}" for number in foot_sole.SHAPES_MM["cavus"]]
    note = (
        f"Normal force of each sphere [N] in equilibrium; the weight is {weight:.2f} N.  Spheres 1-6 are under the main foot, "
        "starting at the heel, 7-9 under the toes; sphere 1 lies inside sphere 2."
    )
    landed = _touching(dropped["normal"]).any()
    if not any(
        (run.contacts[name].normal_force > 0.0).any()
        for runs in (standing, dropped)
        for run in (runs["normal"], runs["cavus"])
        for name in shaped
    ):
        spheres = " and ".join(name.removeprefix("sphere_") for name in shaped)
        note += (
            f"  A cavus foot differs from the normal one in spheres {spheres} only, and these do not touch the ground in either "
            f"foot{', standing or dropped' if landed else ', standing'}: both give the same result."
        )
    return Table(
        "standing on soles of three shapes", ["sole", *(n.removeprefix("sphere_") for n in names), "sum"], rows, note
    )


def _touch_table(runs: Mapping[str, Run]) -> Table:
    label, run = next(iter(runs.items()))
    rows = [
        [run.system.contact_names[int(k)], "touch-down" if began else "lift-off", time, speed]
        for time, k, began, speed in run.contact_events
    ]
    return Table(f"touch-downs and lift-offs: {label}", ["sphere", "event", "time [s]", "speed [m/s]"], rows)


def _figures(falls: Mapping[str, Run], resolved: Mapping[str, Run], soles: Mapping[str, Run]) -> dict[str, Drawing]:
    landed, end = min(run.t[_touching(run)][0] for run in resolved.values()), min(run.t[-1] for run in soles.values())
    most = most_slipping(resolved["Coulomb"])
    return {
        "snapshots": Drawing(
            partial(snapshots, falls),
            "Poses of the falling foot from the side, with Coulomb friction without and with a viscous part.",
            "Moreira et al. (2011), Fig. 7",
        ),
        "slip_and_lean": Drawing(
            partial(
                plots.over_time, resolved,
                {
                    f"slip of\n{most.replace('_', ' ')} [mm]": lambda run: 1000.0 * slip(run)[most],
                    "forward lean\nof the leg [deg]": lean,
                },
                differences=True,
            ),
            "Slip of the sphere that slips farthest and lean of the leg over time, for each friction.",
        ),
        "reaction": Drawing(
            partial(
                plots.over_time, resolved,
                {
                    "upward force [N]": lambda run: run.ground_reaction().force[:, 2],
                    "forward force [N]": lambda run: run.ground_reaction().force[:, 0],
                },
                span=(landed + IMPACT[0], min(landed + IMPACT[1], end)),
            ),
            "Force of the ground on the foot over time and during the impact, for each friction.",
        ),
        "soles": Drawing(
            partial(
                plots.over_time, soles,
                {
                    "upward force [N]": lambda run: run.ground_reaction().force[:, 2],
                    "pressure forward\nof the heel [mm]": pressure_from_heel,
                },
                span=(landed + IMPACT[0], min(landed + BOUNCE, end)),
            ),
            "Force of the ground and centre of pressure over time and until the foot stays down, for each shape of the sole.",
        ),
    }  # fmt: skip


def pressure_from_heel(run: Run) -> np.ndarray:
    """Centre of pressure, forward of the centre of the heel's sphere, (n,) [mm]; NaN where the load is small."""
    reaction, weight = run.ground_reaction(), -run.system.gravity[2] * sum(body.mass for body in run.system.bodies)
    found = 1000.0 * (reaction.centre_of_pressure[:, 0] - run.contacts["sphere_2"].point[:, 0])
    return np.where(reaction.force[:, 2] > LOADED * weight, found, np.nan)


def _pose(run: Run, n: int) -> dict[str, np.ndarray]:
    """Polylines of leg, main foot, toes and the outlines of the spheres at output n."""
    point = partial(measures.point, run, n)
    knee = -np.array(TALOCRURAL["leg"])
    ankle, ball = point("leg", TALOCRURAL["leg"]), point("main_foot", METATARSOPHALANGEAL["main_foot"])
    parts = {
        "leg": np.array([point("leg", knee), ankle]),
        "main foot": np.array([ankle, run.r["main_foot"][n], ball]),
        "toes": np.array([ball, point("toes", run.system.contacts[-1].values["s_i"])]),
    }
    angles = np.linspace(0.0, 2.0 * np.pi, 33)
    circle = np.column_stack([np.cos(angles), np.zeros(33), np.sin(angles)])
    rings = [
        point(contact.body, contact.values["s_i"]) + contact.values["radius"] * circle
        for contact in run.system.contacts
    ]
    gap = np.full((1, 3), np.nan)
    parts["spheres"] = np.concatenate([part for ring in rings for part in (ring, gap)])
    return parts


def snapshots(runs: Mapping[str, Run]) -> Any:
    """Poses over the run, from the side; of the leg only the part near the foot."""
    shown = {label: runs[label] for label in ("Coulomb", "Coulomb and viscous")}  # as in the paper
    return plots.side_views(measures.poses(shown, _pose, SNAPSHOTS, np.inf), ("main foot", "toes", "spheres"))
