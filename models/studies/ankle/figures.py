"""Figures of the study of the ankle, named by the paper and the figure that they reproduce."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

COMPARISON, LIMITS = "rodrigues_da_silva_2024a", "rodrigues_da_silva_2024c"
SNAPSHOTS = 6

Figures = dict[str, Callable[[], Any]]


def free(runs: Mapping[str, Run]) -> Figures:
    """Figures of the runs without limits, by file name; ``runs`` by the label of the joint."""
    return {
        f"{COMPARISON}_fig10_trajectories": partial(plots.trajectories, runs, BODY),
        f"{COMPARISON}_fig11_snapshots": partial(_snapshots, runs),
        f"{COMPARISON}_fig12_velocities_accelerations": partial(plots.velocities_and_accelerations, runs, BODY),
        f"{COMPARISON}_fig13_phase_portraits": partial(plots.phase_portraits, runs, BODY),
        f"{COMPARISON}_fig17_energy": partial(plots.energies, runs),
        f"{COMPARISON}_fig19_link_lengths": partial(plots.draw, _draw_foot, len(LINK_LENGTHS)),
    }


def by_length(runs: Mapping[str, Run]) -> Figures:
    """Figures of the runs without limits by the length of the link."""
    name = f"{COMPARISON}_fig20_link_length_trajectories"
    return {name: partial(plots.trajectories, runs, BODY, ("transverse", "frontal"))}


def cost(costs: Mapping[str, Costs]) -> Figures:
    """Figures of the evaluations of each preset; the first preset's also stands beside the figures of the free runs."""
    name = f"{COMPARISON}_fig18_cost"
    by_preset = {preset: partial(_cost, runs) for preset, runs in costs.items()}
    return {name: next(iter(by_preset.values()))} | {f"{preset}/{name}": draw for preset, draw in by_preset.items()}


def limited(found: Motions) -> Figures:
    """Figures of one preset of limits, by file name; those of Rodrigues da Silva et al. (2024c) show the modified joint."""
    modified = found.runs["modified"]
    cones = {limit.name: limit.cone for limit in modified["elastic"].system.limits}
    zooms = {
        "talocrural": (PLANTARFLEXION_LONGITUDE_DEG, foot.PLANTARFLEXION_DEG, 5.0),
        "talocalcaneal": (90.0, float(np.rad2deg(cones["talocalcaneal"].latitudes[1])), 5.0),
    }
    figures: Figures = {}
    for number, case in enumerate(LIMITED, start=15):
        by_joint = {ANKLES[name]: by_case[case] for name, by_case in found.runs.items()}
        figures[f"{COMPARISON}_fig14_trajectories_{case}"] = partial(plots.trajectories, by_joint, BODY)
        figures[f"{COMPARISON}_fig{number}_snapshots_{case}"] = partial(_snapshots, by_joint)
    figures |= {
        f"{COMPARISON}_fig17_energy": partial(
            plots.mechanical_energies, {ANKLES[name]: by_case for name, by_case in found.runs.items()}
        ),
        f"{LIMITS}_fig12_trajectories": partial(plots.trajectories, modified, BODY),
        f"{LIMITS}_fig13_snapshots": partial(_snapshots, modified),
        f"{LIMITS}_fig14_top_view": partial(cone_plots.top_view, found.hinges["modified"], cones, zooms=zooms),
        f"{LIMITS}_fig15_moments": partial(cone_plots.moments, {case: modified[case] for case in LIMITED}, HINGES),
    }
    return figures


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
