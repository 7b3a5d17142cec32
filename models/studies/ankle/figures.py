"""Figures of the study of the ankle."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from models import foot
from models.studies import measures
from models.studies.ankle.runs import (
    ANKLES,
    BODY,
    CASES,
    COST_METHODS,
    HINGES,
    LIMITED,
    LINK_LENGTHS,
    Costs,
    Motions,
)
from runtime import Run
from runtime.report import cone_plots, plots
from runtime.report.figure_files import Drawing

COMPARISON, LIMITS = "Rodrigues da Silva et al. (2024a)", "Rodrigues da Silva et al. (2024c)"
SNAPSHOTS = 6
LEG_SHOWN = 0.45  # of the length from the ankle to the centre of the leg
ANTERIOR, UP = (-0.01, 0.25), (-0.02, 0.2)  # ranges of the drawings of the foot [m]

Figures = dict[str, Drawing]


def free(runs: Mapping[str, Run]) -> Figures:
    """Figures of the runs without limits, by file name; ``runs`` by the label of the joint."""
    return {
        "trajectories_free": Drawing(
            partial(plots.trajectories, {"": runs}, BODY),
            "Path of the main foot's centre of mass without limits, with either joint, in the three planes.",
            f"{COMPARISON}, Fig. 10",
        ),
        "snapshots_free": Drawing(
            partial(_snapshots, runs),
            "Poses of the foot during the first second without limits, with either joint, from the side and from the front.",
            f"{COMPARISON}, Fig. 11",
        ),
        "velocities_and_accelerations_free": Drawing(
            partial(plots.velocities_and_accelerations, runs, BODY),
            "Velocity and acceleration of the main foot's centre of mass over time without limits, with either joint.",
            f"{COMPARISON}, Fig. 12",
        ),
        "phase_portraits_free": Drawing(
            partial(plots.phase_portraits, runs, BODY),
            "Velocity over position and acceleration over velocity of the main foot's centre of mass, without limits.",
            f"{COMPARISON}, Fig. 13",
        ),
        "energy_free": Drawing(
            partial(plots.energies, runs),
            "Kinetic, potential and total energy without limits, and the drift of the total, with either joint.",
            f"{COMPARISON}, Fig. 17",
        ),
        "feet_by_link_length": Drawing(
            partial(plots.draw, _draw_foot, len(LINK_LENGTHS), ANTERIOR, UP),
            "Segments and axes of the foot in the neutral pose, from the side, for each length of the link.",
            f"{COMPARISON}, Fig. 19",
        ),
    }


def by_length(runs: Mapping[str, Run]) -> Figures:
    """Figures of the runs without limits by the length of the link."""
    return {
        "trajectories_by_link_length": Drawing(
            partial(plots.trajectories, {"": runs}, BODY, ("frontal", "transverse")),
            "Path of the main foot's centre of mass without limits for each length of the link, from the front and from above.",
            f"{COMPARISON}, Fig. 20",
        )
    }


def cost(costs: Mapping[str, Costs]) -> Figures:
    """Figure of the evaluations, with a panel for each preset and method."""
    panels = {
        f"{preset} limits, {method}": {
            label: [runs[name, case][method].stats.evaluations for case in CASES] for name, label in ANKLES.items()
        }
        for preset, runs in costs.items()
        for method in COST_METHODS
    }
    return {
        "evaluations": Drawing(
            partial(plots.bars, CASES, panels, "function evaluations"),
            "Function evaluations of the first second by joint, case, preset of limits and method.",
            f"{COMPARISON}, Fig. 18; {LIMITS}, Fig. 16",
        )
    }


def limited(found: Motions) -> Figures:
    """Figures of one preset of limits, by file name."""
    limits = f"{found.preset} limits"
    by_joint = {label: found.runs[name] for name, label in ANKLES.items()}
    by_case = {case: {label: runs[case] for label, runs in by_joint.items()} for case in LIMITED}
    inversion, eversion = found.range_of_motion
    bounds = (
        {"dorsiflexion": foot.DORSIFLEXION_DEG, "plantarflexion": -foot.PLANTARFLEXION_DEG},
        {"inversion": inversion, "eversion": -eversion},
    )
    return {
        f"{found.preset}/trajectories": Drawing(
            partial(plots.trajectories, by_case, BODY),
            f"Path of the main foot's centre of mass with either joint, elastic and dissipative {limits}, in the three planes.",
            f"{COMPARISON}, Fig. 14; {LIMITS}, Fig. 12",
        ),
        f"{found.preset}/snapshots": Drawing(
            partial(_snapshots, {f"{case}, {name}": found.runs[name][case] for case in LIMITED for name in ANKLES}),
            f"Poses of the foot during the first second with either joint, elastic and dissipative {limits}.",
            f"{COMPARISON}, Figs. 15 and 16; {LIMITS}, Fig. 13",
        ),
        f"{found.preset}/angles": Drawing(
            partial(
                cone_plots.angles,
                {label: found.hinges[name] for name, label in ANKLES.items()},
                dict(zip(HINGES, bounds, strict=True)),
            ),
            f"Angle of each hinge over time and its joint limits, with either joint in each case; {limits}.",
            f"{LIMITS}, Fig. 14",
        ),
        f"{found.preset}/moments": Drawing(
            partial(cone_plots.moments, {case: found.runs["modified"][case] for case in LIMITED}, HINGES),
            f"Dissipative and restricting moment of each hinge over time, with the modified joint; {limits}.",
            f"{LIMITS}, Fig. 15",
        ),
        f"{found.preset}/energy": Drawing(
            partial(plots.mechanical_energies, by_joint),
            f"Mechanical energy of each case with either joint, without and with the energy stored in the limits; {limits}.",
            f"{COMPARISON}, Fig. 17",
        ),
    }


def _pose(run: Run, n: int) -> dict[str, np.ndarray]:
    """Polylines of leg, talus, main foot with a bar across its ball, and toes at output n."""
    point = partial(measures.point, run, n)
    ends = run.system.joint("ankle").values
    calcaneal, crural = point(BODY, ends["s_i"]), point("leg", ends["s_j"])
    ball, half = np.array(foot.METATARSOPHALANGEAL[BODY]), np.array([0.0, 0.04, 0.0])
    return {
        "leg": np.array([crural + LEG_SHOWN * (run.r["leg"][n] - crural), crural]),
        "talus": np.array([crural, calcaneal]),
        "main foot": np.array([calcaneal, run.r[BODY][n], point(BODY, ball)]),
        "ball": np.array([point(BODY, ball - half), point(BODY, ball + half)]),
        "toes": np.array([point(BODY, ball), run.r["toes"][n]]),
    }


def _snapshots(runs: Mapping[str, Run]) -> Any:
    """Poses over the first second."""
    return plots.snapshots(measures.poses(runs, _pose, SNAPSHOTS, 1.0))


def _draw_foot(ax: Any, number: int) -> None:
    """Segments, joints and axes in the sagittal plane in the neutral pose, for one of ``LINK_LENGTHS``."""
    length = LINK_LENGTHS[number]
    centre = {name: np.array(data["r"])[[0, 2]] for name, data in foot.BODIES.items()}  # type: ignore[call-overload]
    crural = centre["leg"] + np.array(foot.TALOCRURAL["leg"])[[0, 2]]
    calcaneal = crural - (0.0, length)
    phalangeal = centre["main_foot"] + np.array(foot.METATARSOPHALANGEAL["main_foot"])[[0, 2]]
    leg, talus, main_foot, _, toes = plots.BONES
    if length > 0.0:
        link = np.array([calcaneal, crural]).T
        ax.plot(*link, color=talus, linewidth=6, solid_capstyle="round", label="talus (massless link)")
    for points, colour, name in (
        ((centre["leg"], crural), leg, "leg"),
        ((calcaneal, centre["main_foot"], phalangeal), main_foot, "main foot"),
        ((phalangeal, centre["toes"]), toes, "toes"),
    ):
        ax.plot(*np.array(points).T, color=colour, linewidth=2.4, marker="o", markersize=3, label=name)
    reach = 0.07 * foot.talocalcaneal_axis()[[0, 2]]
    axis = np.array([calcaneal - reach, calcaneal + reach]).T
    ax.plot(*axis, color="black", linewidth=1.0, linestyle=(0, (8, 2, 1, 2)), label="talocalcaneal axis")
    ax.plot(
        *crural, "o", color="white", markeredgecolor="black", markersize=6, zorder=4, label="talocrural axis, end on"
    )
    ax.set(title=f"link of {1000 * length:.1f} mm")
