"""Tables of the study of a walk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from models.studies.gait.curves import curve, force_peaks, vertical
from models.studies.gait.recovery import recovered, replayed
from models.walking.gait_result import Gait
from models.walking.leg_foot import JOINTS
from models.walking.preparation import Filters
from runtime.report import Table
from runtime.support.arrays import Floats

LITERATURE = {
    "largest dorsiflexion [deg]": "9.2 ± 3.1",
    "largest plantarflexion [deg]": "18.3 ± 4.0",
    "plantarflexor moment [N m/kg]": "1.33 ± 0.13",
    "inversion moment [N m/kg]": "0.36 ± 0.07",
    "talocrural power, generated [W/kg]": "3.25 ± 0.87",
    "talocrural power, absorbed [W/kg]": "-0.69 ± 0.24",
    "vertical force, second peak [BW]": "1.14 ± 0.08",
}


def subject(one: Gait) -> Table:
    """The subject's data and the source of each."""
    person = one.subject
    rows: list[list[Any]] = [
        ["mass", f"{person.mass:.1f} kg", person.sources["mass"]],
        ["foot", one.side, "the left foot is mirrored, so that y is medial" if one.side == "left" else ""],
        ["marker set", person.landmarks.marker_set, ", ".join(person.landmarks.labels.values())],
        ["leg, knee to ankle", f"{1e3 * person.leg_length:.0f} mm", person.sources["knee"]],
        ["foot, heel to toe", f"{1e3 * person.foot_length:.0f} mm", person.sources["foot length"]],
        ["massless link (talus)", f"{1e3 * person.link_length:.1f} mm", person.sources["link length"]],
        ["talocrural axis", _direction(person.talocrural.axes["leg"]), person.sources["talocrural axis"]],
        [
            "talocalcaneal axis",
            _direction(person.talocalcaneal.axes["main_foot"]),
            person.sources["talocalcaneal axis"],
        ],
        [
            "segments",
            ", ".join(f"{b.replace('_', ' ')} {s.mass:.2f} kg" for b, s in person.bodies.items()),
            person.sources["inertia"],
        ],
    ]
    return Table(f"subject: {person.name}", ["", "value", "from"], rows)


def _direction(axis: Floats) -> str:
    return ", ".join(f"{c:.3f}" for c in axis)


def trials(found: Sequence[Gait], filters: Filters) -> Table:
    """Gait cycle, speed and marker residual of each trial."""
    rows = [
        [
            one.name, one.cycle.strike, one.cycle.next_strike - one.cycle.strike, one.toe_off, one.speed,
            1e3 * float(np.sqrt(np.mean(one.residual**2))), 1e3 * float(one.residual.max()), one.cycle.source,
        ]
        for one in found
    ]  # fmt: skip
    columns = [
        "trial", "foot strike [s]", "cycle [s]", "toe off [%]", "speed [m/s]", "marker residual, rms [mm]", "largest [mm]",
        "events from",
    ]  # fmt: skip
    note = f"Marker residual: distance of the markers from the model, root mean square of a frame.  Filters: {filters.text()}."
    return Table("trials", columns, rows, note)


def peaks(found: Sequence[Gait]) -> Table:
    """Values that the literature quotes: mean and SD over the trials, and those of 14 adults."""
    per_trial: list[dict[str, float]] = []
    for one in found:
        talocrural, calcaneal = (one.over_cycle(one.angles[j]) for j in JOINTS[:2])
        force = force_peaks(vertical(one), one.toe_off)
        values = {
            "largest dorsiflexion [deg]": np.rad2deg(talocrural.max()),
            "largest plantarflexion [deg]": -np.rad2deg(talocrural.min()),
            "range of inversion [deg]": np.rad2deg(np.ptp(calcaneal)),
            "plantarflexor moment [N m/kg]": -curve(one, "moment", "talocrural").min(),
            "inversion moment [N m/kg]": curve(one, "moment", "talocalcaneal").max(),
            "talocrural power, generated [W/kg]": curve(one, "power", "talocrural").max(),
            "talocrural power, absorbed [W/kg]": curve(one, "power", "talocrural").min(),
            "vertical force, first peak [BW]": force[0],
            "vertical force, minimum between [BW]": force[1],
            "vertical force, second peak [BW]": force[2],
        }
        per_trial.append({name: float(value) for name, value in values.items()})
    rows = []
    for name in per_trial[0]:
        values_of = np.array([values[name] for values in per_trial])
        sd = float(values_of.std(ddof=1)) if len(values_of) > 1 else None
        rows.append([name, float(values_of.mean()), sd, LITERATURE.get(name, "")])
    note = "Literature: mean ± SD of 14 adults walking barefoot at self-selected speed (Schreiber and Moissenet 2019)."
    return Table("peaks", ["", "mean", "SD", "literature"], rows, note)


def answer(found: Sequence[Gait]) -> str:
    """The main results, in two sentences."""
    mean = {row[0]: float(row[1]) for row in peaks(found).rows}
    trials = "1 trial" if len(found) == 1 else f"mean of {len(found)} trials"
    dorsiflexion, plantarflexion = mean["largest dorsiflexion [deg]"], mean["largest plantarflexion [deg]"]
    moment, power = mean["plantarflexor moment [N m/kg]"], mean["talocrural power, generated [W/kg]"]
    first, second = (mean[f"vertical force, {which} peak [BW]"] for which in ("first", "second"))
    return (
        f"{found[0].side.capitalize()} foot, {trials}: dorsiflexion up to {dorsiflexion:.1f} deg, plantarflexion up to "
        f"{plantarflexion:.1f} deg, plantarflexor moment up to {moment:.2f} N m/kg, power up to {power:.2f} W/kg.  The vertical "
        f"force peaks at {first:.2f} and {second:.2f} times body weight."
    )


def recovery(one: Gait) -> Table:
    """Errors of the analysis of the synthetic trial and of its forward simulation, beside their limit."""
    rows: list[list[Any]] = [[name, error, 1e-6] for name, error in recovered(one).items()]
    back, feedback = replayed()
    rows.append(["forward simulation against the motion [rad]", back, 1e-6])
    note = (
        "Errors relative to the largest value of the motion and forces that made the trial.  Forward simulation: ankle and toes "
        f"driven by the computed moments through stance; the stabilising stiffness added {feedback:.1e} N m at most."
    )
    return Table("synthetic trial: recovered", ["", "error", "limit"], rows, note)
