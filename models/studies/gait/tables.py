"""Tables of the study of a walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from models.studies.gait.curves import by_foot, joints, upper
from models.studies.gait.figures import FORCES, NORM, mean_pace
from models.studies.gait.recovery import recovered, replayed
from models.walking import norms
from models.walking.axes_posterior import AxesPosterior
from models.walking.cycle_curves import knee_and_hip_peaks_of, peaks_of, speed_of, steps_of
from models.walking.gait_result import Gait
from models.walking.hinge_fit import AXES, FunctionalAxes, FunctionalAxis
from models.walking.preparation import Filters
from models.walking.subject import LegFoot
from models.walking.two_hinges import MILLIMETRES, UNKNOWNS
from models.walking.upper_leg import JOINT_ANGLES
from runtime.report import Table
from runtime.support.arrays import Floats

# Mean and SD of 14 adults walking barefoot at self-selected speed (Schreiber and Moissenet 2019).
LITERATURE = {
    "dorsiflexion, largest [deg]": "9.2 ± 3.1",
    "dorsiflexion, smallest [deg]": "-18.3 ± 4.0",
    "plantarflexor moment, largest [N m/kg]": "1.33 ± 0.13",
    "invertor moment, largest [N m/kg]": "0.36 ± 0.07",
    "talocrural power, largest [W/kg]": "3.25 ± 0.87",
    "talocrural power, smallest [W/kg]": "-0.69 ± 0.24",
    "vertical force, second peak [BW]": "1.14 ± 0.08",
}
SIGNS = (
    "Dorsiflexion and inversion are positive, and so are the moments of the muscles that cause them: a plantarflexor moment is "
    "negative.  Power is positive where muscles generate it."
)


def subjects(found: Sequence[Gait]) -> list[Table]:
    """The subject's data and the source of each, for each foot."""
    feet = by_foot(found)
    return [_subject(one[0], f"{side} foot: " if len(feet) > 1 else "") for side, one in feet.items()]


def _subject(one: Gait, foot: str) -> Table:
    person = one.subject
    rows: list[list[Any]] = [
        ["mass", f"{person.mass:.1f} kg", person.sources["mass"]],
        ["foot", one.side, "the left foot is mirrored, so that y is medial" if one.side == "left" else ""],
        ["marker set", person.landmarks.marker_set, ", ".join(person.landmarks.labels.values())],
        ["leg, knee to ankle", f"{1e3 * person.leg_length:.0f} mm", person.sources["knee"]],
        ["foot, heel to toe", f"{1e3 * person.foot_length:.0f} mm", person.sources["foot length"]],
        ["standing foot", "", person.sources.get("standing foot", "")],
        ["massless link (talus)", f"{1e3 * person.link_length:.1f} mm", person.sources["link length"]],
        ["talocrural axis", _talocrural(person), person.sources["talocrural axis"]],
        [
            "talocalcaneal axis",
            _talocalcaneal(person),
            person.sources["talocalcaneal axis"],
        ],
        [
            "segments",
            ", ".join(f"{b.replace('_', ' ')} {s.mass:.2f} kg" for b, s in person.bodies.items()),
            person.sources["inertia"],
        ],
    ]
    if one.upper_leg is not None:
        anterior, medial, up = 1e3 * one.upper_leg.hip_in_pelvis
        place = f"{-anterior:.0f} mm behind, {-medial:.0f} mm lateral of and {-up:.0f} mm below the middle of the anterior spines"
        rows.append(["hip centre", place, one.upper_leg.sources["hip centre"]])
        rows.append(["thigh", f"{one.upper_leg.thigh.mass:.2f} kg", one.upper_leg.sources["thigh"]])
    return Table(f"subject, {foot}{person.name}" if foot else f"subject: {person.name}", ["", "value", "from"], rows)


def functional(found: Sequence[Gait]) -> list[Table]:
    """Axes found from the subject's own markers, a row for each axis of each foot."""
    rows: list[list[Any]] = []
    for side, trials in by_foot(found).items():
        axes = trials[0].functional_axes
        for name in AXES if isinstance(axes, FunctionalAxes) else ():
            one: FunctionalAxis = getattr(axes, name)
            angles = [one.inclination_deg, one.deviation_deg, one.sd_deg, one.from_rule_deg, one.range_deg]
            rows.append([side, name, *(round(value, 1) for value in angles), one.reason or "identified"])
    columns = [
        "foot", "axis", "inclination [deg]", "deviation [deg]", "SD [deg]", "from the rule [deg]", "range [deg]", "result",
    ]  # fmt: skip
    note = (
        "By the two hinges that bring the markers of the foot nearest to where they were seen from the leg.  SD: of the "
        "direction; skin that moves with the joints biases an axis beyond it.  Range: of the joint angle.  The rule remains "
        "where an axis is not identified, and angles that are given as options remain."
    )
    return [Table("functional axes", columns, rows, note, brief=["foot", "axis", "SD [deg]", "result"])] if rows else []


def posterior(found: Sequence[Gait]) -> list[Table]:
    """Both axes with their prior and their posterior, and the correlations of the posterior, for each foot."""
    rows: list[list[Any]] = []
    correlations: list[list[Any]] = []
    for side, trials in by_foot(found).items():
        axes = trials[0].functional_axes
        if not isinstance(axes, AxesPosterior):
            continue
        unit = np.where(MILLIMETRES, 1e3, np.degrees(1.0))
        columns = (axes.prior.mean, axes.prior.sd, axes.mean, axes.sd, *axes.interval.T)
        values = np.column_stack([*(of * unit for of in columns), axes.ratio])
        for k, name in enumerate(UNKNOWNS):
            words = f"{name.replace('_', ' ')} [{'mm' if MILLIMETRES[k] else 'deg'}]"
            rows.append([side, words, *values[k, :-1].round(1).tolist(), round(float(values[k, -1]), 2)])
            correlations.append([side, words, *axes.correlation[k].round(2).tolist()])
    note = (
        "Angles as those of the options; places of the talocrural axis from its rule, of the talocalcaneal axis from the "
        "middle of the talocrural one.  The prior is that of published samples.  95 %: ends of the credible interval.  Ratio: of "
        "the deviation to that of the prior; 1 where the movement adds nothing."
    )
    head = ["foot", "what", "prior", "prior SD", "mean", "SD", "95 % from", "to", "ratio"]
    shown = Table("axes with their prior", head, rows, note, brief=["foot", "what", "mean", "95 % from", "to", "ratio"])
    return [shown, Table("correlations of the axes", ["foot", "what", *UNKNOWNS], correlations)] if rows else []


def _talocrural(person: LegFoot) -> str:
    """Components in the leg, and the angles in the foot while standing."""
    axis = person.talocrural.axes["leg"]
    x, y, z = axis @ person.bodies["leg"].A.T @ person.bodies["main_foot"].A
    return f"{_direction(axis)}; {_angles(z, x, y)}"


def _talocalcaneal(person: LegFoot) -> str:
    """Components in the main foot, and the angles."""
    axis = person.talocalcaneal.axes["main_foot"]
    x, y, z = axis
    return f"{_direction(axis)}; {_angles(z, y, x)}"


def _angles(up: float, aside: float, along: float) -> str:
    """Inclination and deviation of an axis in words."""
    inclination, deviation = np.degrees(np.arctan2([up, aside], along))
    return f"inclination {inclination:.1f} deg, deviation {deviation:.1f} deg"


def _direction(axis: Floats) -> str:
    return ", ".join(f"{c:.3f}" for c in axis)


def _speed(one: Gait) -> float | None:
    """Mean speed [m/s]; None where the walker stays in place."""
    return speed if np.isfinite(speed := speed_of(one)) else None


def trials(found: Sequence[Gait], filters: Filters) -> Table:
    """Gait cycle, speed and marker residual of each trial."""
    rows = [
        [
            one.name, one.cycle.strike, one.cycle.next_strike - one.cycle.strike, one.toe_off, _speed(one),
            1e3 * float(np.sqrt(np.mean(one.residual**2))), 1e3 * float(one.residual.max()), one.cycle.source,
        ]
        for one in found
    ]  # fmt: skip
    columns = [
        "trial", "foot strike [s]", "cycle [s]", "toe off [%]", "speed [m/s]", "marker residual, rms [mm]", "largest [mm]",
        "events from",
    ]  # fmt: skip
    note = (
        "A dash: the walker stays in place, as on a treadmill.  Marker residual: distance of the markers from the model, root "
        f"mean square of a frame.  Filters: {filters.text()}."
    )
    return Table("trials", columns, rows, note)


def peaks(found: Sequence[Gait]) -> Table:
    """Values that the literature quotes: mean and SD over the trials of each foot, and those of 14 adults."""
    note = (
        f"{SIGNS}  The largest plantarflexor moment is given as a positive value.  Literature: mean ± SD of 14 adults walking "
        "barefoot at 1.11 ± 0.18 m/s, the speed that they chose (Schreiber and Moissenet 2019)."
    )
    return _means("peaks", found, peaks_of, note, LITERATURE)


def knee_and_hip(found: Sequence[Gait]) -> list[Table]:
    """Peaks of knee and hip: mean and SD over the trials of each foot that show them; none without markers of the pelvis."""
    shown = [one for one in found if one.upper_leg is not None]
    note = (
        "Moments are those of muscles and ligaments on the distal body about the axes of the joint coordinate systems; the power "
        "of a joint is the sum over its axes.  Angles are zero where the anatomical axes of both bodies are parallel."
    )
    return [_means("knee and hip", shown, knee_and_hip_peaks_of, note)] if shown else []


def drawn_norms(found: Sequence[Gait]) -> Table:
    """The norm of each quantity that the figure shows, with its walking speed."""
    pace = mean_pace(found)
    there = (*joints(found), *upper(found), *(JOINT_ANGLES if upper(found) else ()))
    shown = [
        (f"{joint.replace('_', ' ')} {quantity}", NORM[quantity, joint][0])
        for quantity, joint in NORM
        if joint in there
    ]
    shown += [(f"{name} ground force", f"{name}_force") for name in FORCES]
    rows = [[title, (one := norms.norm(name, pace)).source, one.speed] for title, name in shown]
    known = "not known, as the walker stays in place" if np.isnan(pace) else f"v/√(g·leg) = {pace:.2f}"
    note = (
        f"Speed of these trials: {known}, with legs of 0.53 of the height (Winter 2009).  Where a quantity has norms at several "
        "speeds, the nearest one is drawn."
    )
    return Table("norms", ["", "source", "walking speed"], rows, note)


def steps(found: Sequence[Gait]) -> Table:
    """Spatiotemporal parameters: mean and SD over the trials of each foot."""
    note = (
        "From foot strike to the next strike of the same foot.  Double support: both feet on the ground.  Step: from the other "
        "heel at its strike to this heel at the next one.  A dash: the other foot's event or a heel is not seen, or the walker "
        "stays in place."
    )
    return _means("spatiotemporal parameters", found, steps_of, note)


def steps_of_trials(found: Sequence[Gait]) -> list[Table]:
    """Spatiotemporal parameters of each trial, where there are several."""
    if len(found) == 1:
        return []
    values = [steps_of(one) for one in found]
    rows = [
        [one.name, *(value if np.isfinite(value) else None for value in own.values())]
        for one, own in zip(found, values, strict=True)
    ]
    columns = ["trial", *values[0]]
    note = "As in the table of their means.  A dash: not seen, or the walker stays in place."
    return [Table("spatiotemporal parameters of each trial", columns, rows, note, brief=columns[:5])]


def _means(
    title: str,
    found: Sequence[Gait],
    values: Callable[[Gait], dict[str, float]],
    note: str,
    literature: Mapping[str, str] | None = None,
) -> Table:
    """Mean and SD of values over the trials of each foot where they are known, beside those of the literature."""
    feet = {side: [values(one) for one in trials] for side, trials in by_foot(found).items()}
    columns, rows = [""], [[name] for name in next(iter(feet.values()))[0]]
    for side, trials in feet.items():
        columns += ["mean", "SD"] if len(feet) == 1 else [f"{side} foot", f"SD, {side}"]
        for row in rows:
            known = np.array([one[row[0]] for one in trials if np.isfinite(one[row[0]])])
            row.append(float(known.mean()) if len(known) else None)
            row.append(float(known.std(ddof=1)) if len(known) > 1 else None)
    if literature:
        columns.append("literature")
        rows = [[*row, literature.get(row[0], "")] for row in rows]
    return Table(title, columns, rows, note)


def answer(found: Sequence[Gait]) -> str:
    """The main results, a sentence for each foot and one on the force."""
    sentences, forces = [], []
    for side, trials in by_foot(found).items():
        mean = {name: float(np.mean([peaks_of(one)[name] for one in trials])) for name in peaks_of(trials[0])}
        count = "1 trial" if len(trials) == 1 else f"mean of {len(trials)} trials"
        sentences.append(
            f"{side.capitalize()} foot, {count}: dorsiflexion from {mean['dorsiflexion, smallest [deg]']:.1f} to "
            f"{mean['dorsiflexion, largest [deg]']:.1f} deg, plantarflexor moment up to "
            f"{mean['plantarflexor moment, largest [N m/kg]']:.2f} N m/kg, power up to "
            f"{mean['talocrural power, largest [W/kg]']:.2f} W/kg."
        )
        forces.append(
            f"{side} "
            + " and ".join(f"{mean[f'vertical force, {which} peak [BW]']:.2f}" for which in ("first", "second"))
        )
    return "  ".join([*sentences, f"Peaks of the vertical force, {'; '.join(forces)} times body weight."])


def recovery(one: Gait) -> Table:
    """Errors of the analysis of the synthetic trial and of its forward simulation, beside their limit."""
    limits = {joint: 5e-6 for joint in JOINT_ANGLES}  # the thigh is heavy: errors of accelerations count more
    rows: list[list[Any]] = [[name, error, limits.get(name.split()[0], 1e-6)] for name, error in recovered(one).items()]
    back, feedback = replayed()
    rows.append(["forward simulation against the motion [rad]", back, 1e-6])
    note = (
        "Errors relative to the largest value of the motion and forces that made the trial.  Forward simulation: ankle and toes "
        f"driven by the computed moments through stance; the stabilising stiffness added {feedback:.1e} N m at most."
    )
    return Table("synthetic trial: recovered", ["", "error", "limit"], rows, note)
