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
    PLANTARFLEXION_LONGITUDE_DEG,
    Costs,
    Motions,
)
from runtime import Run
from runtime.report import cone_plots, plots
from runtime.report.figure_files import Drawing

COMPARISON, LIMITS = "Rodrigues da Silva et al. (2024a)", "Rodrigues da Silva et al. (2024c)"
SNAPSHOTS = 6

Figures = dict[str, Drawing]


def free(runs: Mapping[str, Run]) -> Figures:
    """Figures of the runs without limits, by file name; ``runs`` by the label of the joint."""
    return {
        "trajectories_free": Drawing(
            partial(plots.trajectories, runs, BODY),
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
            partial(plots.draw, _draw_foot, len(LINK_LENGTHS)),
            "Segments and axes of the foot in the neutral pose, from the side, for each length of the link.",
            f"{COMPARISON}, Fig. 19",
        ),
    }


def by_length(runs: Mapping[str, Run]) -> Figures:
    """Figures of the runs without limits by the length of the link."""
    return {
        "trajectories_by_link_length": Drawing(
            partial(plots.trajectories, runs, BODY, ("transverse", "frontal")),
            "Path of the main foot's centre of mass without limits for each length of the link, from above and from the front.",
            f"{COMPARISON}, Fig. 20",
        )
    }


def cost(costs: Mapping[str, Costs]) -> Figures:
    """Figures of the evaluations of each preset."""
    return {
        f"{preset}/evaluations": Drawing(
            partial(_cost, runs),
            f"Function evaluations of the first second by joint, case and method, {preset} limits.",
            f"{COMPARISON}, Fig. 18; {LIMITS}, Fig. 16",
        )
        for preset, runs in costs.items()
    }


def limited(found: Motions) -> Figures:
    """Figures of one preset of limits, by file name; those of the cases side by side show the modified joint."""
    modified = found.runs["modified"]
    cones = {limit.name: limit.cone for limit in modified["elastic"].system.limits}
    zooms = {
        "talocrural": (PLANTARFLEXION_LONGITUDE_DEG, foot.PLANTARFLEXION_DEG, 5.0),
        "talocalcaneal": (90.0, float(np.rad2deg(cones["talocalcaneal"].latitudes[1])), 5.0),
    }
    figures: Figures = {}
    of = f"{found.preset} limits"
    for number, case in enumerate(LIMITED, start=15):
        by_joint = {ANKLES[name]: by_case[case] for name, by_case in found.runs.items()}
        figures[f"trajectories_{case}"] = Drawing(
            partial(plots.trajectories, by_joint, BODY),
            f"Path of the main foot's centre of mass with either joint and {case} {of}, in the three planes.",
            f"{COMPARISON}, Fig. 14",
        )
        figures[f"snapshots_{case}"] = Drawing(
            partial(_snapshots, by_joint),
            f"Poses of the foot during the first second with either joint and {case} {of}.",
            f"{COMPARISON}, Fig. {number}",
        )
    figures |= {
        "energy": Drawing(
            partial(plots.mechanical_energies, {ANKLES[name]: by_case for name, by_case in found.runs.items()}),
            f"Mechanical energy of each case with either joint, without and with the energy stored in the limits; {of}.",
            f"{COMPARISON}, Fig. 17",
        ),
        "trajectories_modified": Drawing(
            partial(plots.trajectories, modified, BODY),
            f"Path of the main foot's centre of mass with the modified joint in each case, in the three planes; {of}.",
            f"{LIMITS}, Fig. 12",
        ),
        "snapshots_modified": Drawing(
            partial(_snapshots, modified),
            f"Poses of the foot during the first second with the modified joint in each case; {of}.",
            f"{LIMITS}, Fig. 13",
        ),
        "top_view": Drawing(
            partial(cone_plots.top_view, found.hinges["modified"], cones, zooms=zooms),
            f"Direction of each hinge in its cone, seen from above, with the modified joint in each case; {of}.",
            f"{LIMITS}, Fig. 14",
        ),
        "moments": Drawing(
            partial(cone_plots.moments, {case: modified[case] for case in LIMITED}, HINGES),
            f"Dissipative and restricting moment of each hinge over time, with the modified joint; {of}.",
            f"{LIMITS}, Fig. 15",
        ),
    }
    return {f"{found.preset}/{name}": drawing for name, drawing in figures.items()}


def _cost(costs: Costs) -> Any:
    """Evaluations by case and method, the joints side by side; also Fig. 16 of Rodrigues da Silva et al. (2024c)."""
    groups = [f"{case}\n{method}" for method in COST_METHODS for case in CASES]
    values = {
        label: [costs[name, case][method].stats.evaluations for method in COST_METHODS for case in CASES]
        for name, label in ANKLES.items()
    }
    return plots.bars(groups, values, "function evaluations [-]")


def _pose(run: Run, n: int) -> dict[str, np.ndarray]:
    """Polylines of leg, talus, main foot with a bar across its ball, and toes at output n."""
    point = partial(measures.point, run, n)
    ends = run.system.joint("ankle").values
    calcaneal, crural = point(BODY, ends["s_i"]), point("leg", ends["s_j"])
    ball, half = np.array(foot.METATARSOPHALANGEAL[BODY]), np.array([0.0, 0.04, 0.0])
    return {
        "leg": np.array([run.r["leg"][n], crural]),
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
    for points, colour in (
        ((centre["leg"], crural), "#0072B2"),
        ((calcaneal, centre["main_foot"], phalangeal), "#D55E00"),
        ((phalangeal, centre["toes"]), "#CC79A7"),
    ):
        ax.plot(*np.array(points).T, color=colour, linewidth=2, marker="o", markersize=3)
    if length > 0.0:
        link = np.array([calcaneal, crural]).T
        ax.plot(*link, color="0.45", linewidth=5, solid_capstyle="round", label="talus (massless link)")
    for point, axis, name, colour in (
        (calcaneal, foot.talocalcaneal_axis(), "talocalcaneal axis", "#009E73"),
        (crural, foot.talocrural_axis(), "talocrural axis", "#E69F00"),
    ):
        reach = 0.07 * axis[[0, 2]]
        ax.plot(*np.array([point - reach, point + reach]).T, color=colour, linewidth=1.2, linestyle="--", label=name)
    ax.set(title=f"l = {1000 * length:.1f} mm", xlim=(-0.02, 0.26), ylim=(-0.02, 0.38))
    ax.legend(fontsize=7, loc="upper right", frameon=False)
