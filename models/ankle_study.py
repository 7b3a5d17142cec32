"""The main job: the ankle as a classical and as a modified universal joint, free and with limits of motion.

Seed 000, section 6, and seed 001, section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from models import foot, measures
from runtime import Report, Run, System, Table, plots, rest, simulate

ANKLES = {"classical": "classical universal joint", "modified": "modified universal joint"}
PRESETS = {"anatomical": "anatomical limits, the same damping on both joints", "published": "as the papers computed"}
CASES = ("free", "elastic", "dissipative")
LIMITED = CASES[1:]
BODY = "main_foot"
HINGES = ("talocrural", "talocalcaneal")
LINK_LENGTHS = (0.0, 0.0360, 0.0417, 0.0474)  # [m] none, and mean and one SD of the height of the talus, seed 000
COST_METHODS = ("BDF", "dop853")  # the family of the papers' integrator, and ours
REPEATS = 5
COST_SECONDS = 1.0  # the papers count over the first second
SNAPSHOTS = 6
PLANTARFLEXION_LONGITUDE_DEG = 180.0
ALIKE = 0.05  # times that differ by less are called equal in words


@dataclass(frozen=True)
class Motions:
    """Runs of one preset: by ankle and case; ``hinges`` are the same motions measured by the limits of both hinges."""

    preset: str
    runs: Mapping[str, Mapping[str, Run]]
    hinges: Mapping[str, Mapping[str, Run]]

    @property
    def run_out(self) -> tuple[float, float]:
        """Where inversion and eversion end [deg]."""
        cone = self.runs["modified"]["elastic"].system.limits[1].cone
        return float(np.rad2deg(cone.latitudes[1])), float(np.rad2deg(cone.latitudes[3]))

    def plantarflexion(self, ankle: str, case: str) -> float | None:
        """When the limit of plantarflexion is first met [s]."""
        run = self.runs[ankle][case]
        limit = run.system.limits[0].name  # the talocrural hinge, or the one cone of the published classical joint
        return measures.first_contact(run, limit, PLANTARFLEXION_LONGITUDE_DEG)


def build(ankle: str, case: str, preset: str) -> System:
    """The foot of a case; without limits the presets are the same."""
    return foot.build(ankle) if case == "free" else foot.build(ankle, limits=case, preset=preset)  # type: ignore[arg-type]


def motions(preset: str, free: Mapping[str, Run], t_end: float, tolerance: float) -> Motions:
    """Elastic and dissipative runs of both ankles, beside the free ones."""
    settings: dict[str, Any] = dict(t_eval=measures.times(t_end), rtol=tolerance, atol=tolerance)
    runs: dict[str, dict[str, Run]] = {}
    for ankle in ANKLES:
        limited = {case: simulate(build(ankle, case, preset), t_end, **settings) for case in LIMITED}
        runs[ankle] = {"free": free[ankle], **limited}
    return Motions(preset, runs, {ankle: hinged(ankle, preset, by_case) for ankle, by_case in runs.items()})


def hinged(ankle: str, preset: str, runs: Mapping[str, Run]) -> dict[str, Run]:
    """Runs measured by limits on both hinges, which the free ones and the published classical joint do not have."""
    measure = build(ankle, "elastic", "anatomical" if ankle == "classical" else preset)
    return {
        case: run if HINGES[1] in {limit.name for limit in run.system.limits} else measures.seen_by(run, measure)
        for case, run in runs.items()
    }


def ankle(folder: Path, say: Callable[[str], None], *, t_end: float = 5.0, tolerance: float = 1e-10) -> Report:
    """Compare the classical with the modified ankle on the published foot: free, with limits, and by link length.

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
    """
    report = Report("Classical against modified universal joint, free and with limits of motion (seeds 000 and 001)")
    settings: dict[str, Any] = dict(
        t_eval=measures.times(t_end, measures.WRITTEN_PER_SECOND), rtol=tolerance, atol=tolerance
    )

    say("compiling (the first time after installation or an edit of a joint this takes most of a minute)")
    for method in COST_METHODS:
        simulate(foot.build(limits="elastic"), 0.01, method=method)

    runs: dict[str, Run] = {}
    for name, label in ANKLES.items():
        say(f"{label}: {t_end:g} s at tolerance {tolerance:g}")
        runs[label] = _run(report, label, folder / f"{name}.nc", foot.build(name), t_end, **settings)  # type: ignore[arg-type]
        report.files.append(runs[label].to_csv(folder / f"{name}.csv"))
    again = {label: [simulate(run.system, t_end, **settings) for _ in range(REPEATS)] for label, run in runs.items()}
    wall_times = {label: min(run.stats.wall_time for run in repeated) for label, repeated in again.items()}
    report.tables.append(_motion_table(runs, wall_times))

    free = dict(zip(ANKLES, runs.values(), strict=True))
    presets = {}
    for preset, words in PRESETS.items():
        say(f"with limits, {preset}: {words}")
        presets[preset] = motions(preset, free, t_end, tolerance)
        (folder / preset).mkdir()
        for name, by_case in presets[preset].runs.items():
            for case in LIMITED:
                if not by_case[case].success:
                    report.failures.append(f"{preset}, {ANKLES[name]}, {case}: {by_case[case].message}")
                report.files.append(measures.thinned(by_case[case]).to_netcdf(folder / preset / f"{name}_{case}.nc"))
    report.tables += [*(_limits_table(found) for found in presets.values()), _dissipation_table(presets)]

    say("cost: function evaluations over the first second, and after it")
    seconds = min(COST_SECONDS, t_end)
    costs = {preset: evaluations(preset, seconds, tolerance) for preset in PRESETS}
    report.tables += [_cost_table(costs, seconds, tolerance), _rest_table(costs, seconds, t_end, tolerance)]

    by_length: dict[str, Run] = {}
    for length in LINK_LENGTHS:
        label = f"{length * 1000:.1f} mm"
        say(f"link length {label}")
        file = folder / f"link_{length * 1000:.1f}_mm.nc"
        by_length[label] = _run(report, label, file, foot.build(link_length=length), t_end, **settings)
    report.tables.append(_length_table(by_length))

    say("figures")
    figures: dict[str, Callable[[], Any]] = {
        "fig10_trajectories": partial(plots.trajectories, runs, BODY),
        "fig11_snapshots": partial(_snapshots, {ANKLES[name]: run for name, run in free.items()}),
        "fig12_velocities_accelerations": partial(plots.velocities_and_accelerations, runs, BODY),
        "fig13_phase_portraits": partial(plots.phase_portraits, runs, BODY),
        "fig17_energy": partial(plots.energies, runs),
        "fig18_cost": partial(_cost_figure, costs["anatomical"]),
        "fig19_link_lengths": partial(plots.draw, _draw_foot, len(LINK_LENGTHS)),
        "fig20_link_length_trajectories": partial(plots.trajectories, by_length, BODY, ("transverse", "frontal")),
    }
    for preset, found in presets.items():
        figures |= {f"{preset}/{name}": figure for name, figure in _limit_figures(found, costs[preset]).items()}
    for name, draw in figures.items():
        report.files += plots.save(draw(), folder, name)
    report.write(folder)
    return report


def _run(report: Report, label: str, file: Path, system: Any, t_end: float, **settings: Any) -> Run:
    run = simulate(system, t_end, **settings)
    if not run.success:
        report.failures.append(f"{label}: {run.message}")
    report.files.append(run.to_netcdf(file))
    return run


def evaluations(preset: str, seconds: float, tolerance: float) -> dict[tuple[str, str], dict[str, Run]]:
    """Runs by ankle and case, and by method, without output between the steps, for their cost."""
    return {
        (name, case): {
            m: simulate(build(name, case, preset), seconds, method=m, rtol=tolerance, atol=tolerance) for m in COST_METHODS
        }
        for case in CASES
        for name in ANKLES
    }  # fmt: skip


def _motion_table(runs: dict[str, Run], wall_times: dict[str, float]) -> Table:
    facts: dict[str, list[Any]] = {}
    for label, run in runs.items():
        r, s = run.r[BODY], run.stats
        mean = 1000 * float(np.trapezoid(r[:, 1], run.t) / (run.t[-1] - run.t[0]))
        values = {
            "function evaluations": s.evaluations,
            "steps": s.steps,
            "rejected steps": s.rejections,
            f"wall time, best of {REPEATS} [ms]": 1000 * wall_times[label],
            "energy drift [J]": float(np.abs(run.energy - run.energy[0]).max()),
            "largest |Phi|": float(run.violation.max()),
            "x range [mm]": 1000 * float(np.ptp(r[:, 0])),
            "y range [mm]": 1000 * float(np.ptp(r[:, 1])),
            "z range [mm]": 1000 * float(np.ptp(r[:, 2])),
            "mean y [mm]": mean,
            "moves towards": "medial" if mean > 0 else "lateral",
        }
        for fact, value in values.items():
            facts.setdefault(fact, []).append(value)
    note = (
        f"Without limits.  Centre of mass of {BODY}; x anterior, y medial, z up.  Ranges are max - min.  Evaluations include "
        "those for output between the steps; the drift and |Phi| are those of the output, at the steps themselves they are "
        "smaller."
    )
    return Table("motion", ["", *runs], [[fact, *values] for fact, values in facts.items()], note)


def _limits_table(found: Motions) -> Table:
    """How far each run goes: angles of the hinges, and the foot's centre."""
    rows: list[dict[str, Any]] = []
    for name, by_case in found.hinges.items():
        for case, run in by_case.items():
            crural, calcaneal = (np.rad2deg(run.limits[hinge].angle) for hinge in HINGES)
            x, y = (1000 * run.r[BODY][:, axis] for axis in (0, 1))
            values = {
                "plantar flexion [deg]": -crural.min(), "inversion [deg]": calcaneal.max(), "eversion [deg]": -calcaneal.min(),
                "x range [mm]": np.ptp(x), "y min [mm]": y.min(), "y max [mm]": y.max(), "y end [mm]": y[-1],
            }  # fmt: skip
            rows.append({"joint": name, "case": case} | {key: round(float(v), 2) + 0.0 for key, v in values.items()})
    inversion, eversion = found.run_out
    note = (
        f"Largest angles of the hinges, and the centre of mass of {BODY}.  Limits: plantarflexion {foot.PLANTARFLEXION_DEG:g}, "
        f"inversion {inversion:g}, eversion {eversion:g} degrees."
    )
    if found.preset == "published":
        note += "  The text of seed 001 says the last two the other way round; its results follow the vector that it prints."
    return Table(f"{found.preset} limits", list(rows[0]), [list(row.values()) for row in rows], note)


def _dissipation_table(presets: Mapping[str, Motions]) -> Table:
    """What the papers' "dissipates energy faster" becomes with equal damping."""
    columns = [
        "preset", "joint", "damped", "damping [N m s]", "first contact [s]", "energy settled [s]", "energy lost [J]",
    ]  # fmt: skip
    rows: list[list[Any]] = []
    sentences = []
    ratios = {}
    for preset, found in presets.items():
        met: dict[str, float | None] = {}
        lost: dict[str, float] = {}
        for name, by_case in found.runs.items():
            run = by_case["dissipative"]
            damping = {limit.name: limit.damping for limit in run.system.limits}
            met[name], lost[name] = found.plantarflexion(name, "dissipative"), measures.settled(run)
            where = "each hinge" if len(damping) > 1 else "relative angular velocity"
            rows.append(
                [
                    preset,
                    name,
                    where,
                    max(damping.values()),
                    met[name],
                    lost[name],
                    float(run.energy[0] - run.energy[-1]),
                ]
            )
        if all(met.values()):
            ratios[preset] = met["classical"] / met["modified"]
        sentences.append(
            f"{preset.capitalize()} ({PRESETS[preset]}): plantarflexion is met {_faster(met)}, and "
            f"{100 * measures.SETTLED:.0f} % of the energy is gone {_faster(lost)}."
        )
    note = (
        "First contact: with the limit of plantarflexion.  Settled: "
        f"{100 * measures.SETTLED:.0f} % of the energy that the run loses is lost.  The papers conclude from the first contact "
        "(0.43 s modified, 0.73 s classical) that the modified joint dissipates energy faster.  " + "  ".join(sentences)
    )
    if len(ratios) == len(presets):
        note += (
            f"  The classical joint takes {ratios['published']:.2f} times as long to the first contact as the modified one with "
            f"the published, unequal damping, and {ratios['anatomical']:.2f} times as long with equal damping."
        )
    return Table("dissipation", columns, rows, note)


def _faster(values: Mapping[str, float | None]) -> str:
    """Which joint is earlier, in words."""
    classical, modified = values["classical"], values["modified"]
    if classical is None or modified is None:
        late = [name for name, value in values.items() if value is None]
        return f"not within the run by the {' and the '.join(late)} joint"
    ratio = modified / classical
    if abs(ratio - 1.0) < ALIKE:
        return f"at the same time by both joints ({modified:.3f} s modified, {classical:.3f} s classical)"
    first = "modified" if ratio < 1.0 else "classical"
    return f"first by the {first} joint ({modified:.3f} s modified, {classical:.3f} s classical)"


Costs = Mapping[str, Mapping[tuple[str, str], Mapping[str, Run]]]


def _cost_table(costs: Costs, seconds: float, tolerance: float) -> Table:
    rows: list[list[Any]] = []
    for preset, runs in costs.items():
        for (name, case), by_method in runs.items():
            if case == "free" and preset != next(iter(costs)):
                continue
            for method, run in by_method.items():
                s = run.stats
                which = "-" if case == "free" else preset
                rows.append([name, case, which, method, s.evaluations, s.steps, s.rejections, 1000 * s.wall_time])
    words = []
    for case in CASES:
        ratios = {}
        for method in COST_METHODS:
            a, b = (costs["anatomical"][name, case][method].stats.evaluations for name in ANKLES)
            ratios[method] = b / a
        words.append(f"{case} " + " and ".join(f"{ratio:.2f} ({method})" for method, ratio in ratios.items()))
    note = (
        f"Evaluations of the modified joint by those of the classical one, anatomical preset: {'; '.join(words)}.  Seed 000 "
        f"finds the modified joint slightly less efficient when free, clearly less with limits.  First {seconds:g} s at "
        f"tolerance {tolerance:g}.  BDF is SciPy's method of the papers' family; it does not tell rejected steps.  "
        "`python -m benchmarks cost` compares more methods and tolerances."
    )
    return Table(
        "cost", ["joint", "case", "preset", "method", "evaluations", "steps", "rejected", "time [ms]"], rows, note
    )


def _rest_table(costs: Costs, seconds: float, t_end: float, tolerance: float) -> Table:
    rows: list[list[Any]] = []
    calm = []
    for preset, runs in costs.items():
        for name in ANKLES:
            stopped = _rests(name, preset, t_end, tolerance)
            for method in COST_METHODS:
                begun = runs[name, "dissipative"][method].stats.evaluations
                system = build(name, "dissipative", preset)
                whole = simulate(system, t_end, method=method, rtol=tolerance, atol=tolerance)
                later = whole.stats.evaluations - begun
                turning = float(np.linalg.norm(whole.final.omega[BODY]))
                rows.append([preset, name, method, begun, later, stopped, turning])
                calm.append(later < begun)
    share = "every" if all(calm) else f"{sum(calm)} of {len(calm)}"
    note = (
        f"Dissipative runs.  After the first {seconds:g} s the papers' integrator stalls (seed 000 section 6); here the rest of "
        f"the {t_end:g} s costs less than the start in {share} run{'s' if share != 'every' else ''}.  At rest: by "
        "runtime.rest()."
        if t_end > seconds
        else "The run ends before the foot can rest; ask for more with --t-end."
    )
    columns = [
        "preset", "joint", "method", f"evaluations to {seconds:g} s", f"evaluations after {seconds:g} s", "at rest [s]",
        "|omega| at the end [rad/s]",
    ]  # fmt: skip
    return Table("rest", columns, rows, note)


def _rests(name: str, preset: str, t_end: float, tolerance: float) -> float | None:
    """When the dissipative foot comes to rest [s]."""
    system = build(name, "dissipative", preset)
    run = simulate(system, t_end, rtol=tolerance, atol=tolerance, events=[rest()])
    return float(run.events["rest"][0]) if len(run.events["rest"]) else None


def _length_table(runs: dict[str, Run]) -> Table:
    rows = []
    for label, run in runs.items():
        y = 1000 * run.r[BODY][:, 1]
        rows.append(
            [label, float(y.min()), float(y.max()), float(np.ptp(y)), float(np.trapezoid(y, run.t) / run.t[-1])]
        )
    columns = ["link length", "min y [mm]", "max y [mm]", "y range [mm]", "mean y [mm]"]
    return Table(
        "link length", columns, rows, "Mediolateral motion of the main foot, y medial; 0.0 mm is the classical joint."
    )


def _limit_figures(found: Motions, costs: Mapping[tuple[str, str], Mapping[str, Run]]) -> dict[str, Callable[[], Any]]:
    """Figures of one preset.  Those of seed 001 show the modified joint."""
    modified = found.runs["modified"]
    hinges = found.hinges["modified"]
    cones = {limit.name: limit.cone for limit in modified["elastic"].system.limits}
    zooms = {
        "talocrural": (PLANTARFLEXION_LONGITUDE_DEG, foot.PLANTARFLEXION_DEG, 5.0),
        "talocalcaneal": (90.0, float(np.rad2deg(cones["talocalcaneal"].latitudes[1])), 5.0),
    }
    figures: dict[str, Callable[[], Any]] = {}
    for case in LIMITED:
        by_joint = {ANKLES[name]: by_case[case] for name, by_case in found.runs.items()}
        number = 15 + LIMITED.index(case)
        figures[f"fig14_trajectories_{case}"] = partial(plots.trajectories, by_joint, BODY)
        figures[f"fig{number}_snapshots_{case}"] = partial(_snapshots, by_joint)
    figures |= {
        "fig17_energy": partial(
            plots.mechanical_energies, {ANKLES[name]: by_case for name, by_case in found.runs.items()}
        ),
        "seed001_fig12_trajectories": partial(plots.trajectories, modified, BODY),
        "seed001_fig13_snapshots": partial(_snapshots, modified),
        "seed001_fig14_top_view": partial(plots.top_view, hinges, cones, zooms=zooms),
        "seed001_fig15_moments": partial(plots.moments, {case: modified[case] for case in LIMITED}, HINGES),
        "fig18_cost": partial(_cost_figure, costs),
    }
    return figures


def _cost_figure(costs: Mapping[tuple[str, str], Mapping[str, Run]]) -> Any:
    """Evaluations by case and method, the joints side by side.  Seed 000, Fig. 18; seed 001, Fig. 16."""
    groups = [f"{case}\n{method}" for method in COST_METHODS for case in CASES]
    values = {
        label: [costs[name, case][method].stats.evaluations for method in COST_METHODS for case in CASES]
        for name, label in ANKLES.items()
    }
    return plots.bars(groups, values, "function evaluations [-]")


def _pose(run: Run, n: int) -> dict[str, np.ndarray]:
    """Polylines of leg, talus, main foot with a bar across its ball, and toes at one time."""
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
    """Segments, joints and axes in the sagittal plane at the neutral pose.  Seed 000, Fig. 19."""
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
        ax.plot(
            *np.array([calcaneal, crural]).T,
            color="0.45",
            linewidth=5,
            solid_capstyle="round",
            label="talus (massless link)",
        )
    for point, axis, name, colour in (
        (calcaneal, foot.talocalcaneal_axis(), "talocalcaneal axis", "#009E73"),
        (crural, foot.talocrural_axis(), "talocrural axis", "#E69F00"),
    ):
        reach = 0.07 * axis[[0, 2]]
        ax.plot(*np.array([point - reach, point + reach]).T, color=colour, linewidth=1.2, linestyle="--", label=name)
    ax.set(title=f"l = {1000 * length:.1f} mm", xlim=(-0.02, 0.26), ylim=(-0.02, 0.38))
    ax.legend(fontsize=7, loc="upper right", frameon=False)
