"""Figures of the study of a walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from models.studies.gait.curves import by_foot, joints, upper
from models.studies.gait.moments import INTERNAL, Moments
from models.walking import gait_plots, norms
from models.walking.axes_posterior import AxesPosterior
from models.walking.cycle_curves import BOUND, curve, dimensionless_speed, ground_force
from models.walking.gait_result import Gait
from models.walking.laboratory_page import Band, Events, Panel, laboratory_page
from models.walking.upper_leg import JOINT_ANGLES
from runtime.report.figure_files import Drawing
from runtime.support.arrays import Floats

Feet = Mapping[str, Sequence[Gait]]  # trials of each foot
PAPER = "Rodrigues da Silva et al. (n.d.)"
DIRECTIONS = {  # positive and negative
    "talocrural": ("dorsiflexion", "plantarflexion"),
    "talocalcaneal": ("inversion", "eversion"),
    "metatarsophalangeal": ("extension", "flexion"),
    **{
        f"{joint}_{kind}": words
        for joint in JOINT_ANGLES
        for kind, words in (
            ("flexion", ("flexion", "extension")),
            ("adduction", ("adduction", "abduction")),
            ("rotation", ("internal rotation", "external rotation")),
        )
    },
}
POWER = ("generated", "absorbed")
FORCES = {"anterior": ("anterior", "posterior"), "medial": ("medial", "lateral"), "vertical": ("up", "down")}
# Norm of a quantity of a joint, and its sign.
NORM = {
    ("angle", "talocrural"): ("dorsiflexion", 1.0),
    ("angle", "talocalcaneal"): ("hindfoot_inversion", 1.0),
    ("angle", "metatarsophalangeal"): ("toe_extension", 1.0),
    ("moment", "talocrural"): ("plantarflexor_moment", -1.0),
    ("moment", "talocalcaneal"): ("inversion_moment", 1.0),
    ("power", "talocrural"): ("ankle_power", 1.0),
    ("angle", "knee_flexion"): ("knee_flexion", 1.0),
    ("moment", "knee_flexion"): ("knee_extensor_moment", -1.0),
    ("power", "knee"): ("knee_power", 1.0),
    ("moment", "knee_adduction"): ("knee_abductor_moment", -1.0),
    ("angle", "hip_flexion"): ("hip_flexion", 1.0),
    ("moment", "hip_flexion"): ("hip_extensor_moment", -1.0),
    ("power", "hip"): ("hip_power", 1.0),
    ("angle", "hip_adduction"): ("hip_adduction", 1.0),
    ("moment", "hip_adduction"): ("hip_abductor_moment", -1.0),
}
CITED = {  # in a figure, whose panels are narrow
    norms.SCHREIBER_MOISSENET: "14 adults (Schreiber and Moissenet 2019)",
    norms.SCHWARTZ: "children (Schwartz et al. 2008)",
    norms.OXFORD: "Oxford foot model",
}
CAVEATS = {("metatarsophalangeal", "moment"): BOUND, ("metatarsophalangeal", "power"): BOUND}
UNITS = {"angle": "deg", "moment": "N m/kg", "power": "W/kg"}


def figures(found: Sequence[Gait], heading: str, moments: Moments = INTERNAL) -> dict[str, Drawing]:
    """The figures by file name, to be drawn when called; ``heading``: the patient's line above each."""
    feet = by_foot(found)
    pace = mean_pace(found)
    rows = [[_panel(feet, quantity, joint, pace, moments) for quantity in UNITS] for joint in joints(found)]
    rows.append([_force(feet, axis, name, pace) for axis, name in enumerate(FORCES)])
    above: dict[str, Drawing] = {}
    at = {side: events(trials) for side, trials in feet.items()}
    for joint, names in JOINT_ANGLES.items() if upper(found) else ():
        of_joint = [[_panel(feet, quantity, name, pace, moments) for quantity in ("angle", "moment")] for name in names]
        of_joint[0].append(_panel(feet, "power", joint, pace, moments))
        above[joint] = Drawing(
            partial(laboratory_page, of_joint, at, heading),
            f"Angles and moments of the {joint} about the axes of its joint coordinate system, and its power.",
        )
    axes = {side: trials[0] for side, trials in feet.items() if isinstance(trials[0].functional_axes, AxesPosterior)}
    if axes:
        above["axes"] = Drawing(
            partial(
                gait_plots.axes_on_the_foot,
                {side: (one.subject, one.functional_axes) for side, one in axes.items()},
            ),
            "Both axes of the ankle with cones that hold them with a probability of 95 %, on the markers of the standing foot.",
        )
    paths = {side: ([one.cop_in_foot() for one in trials], _landmarks(trials[0])) for side, trials in feet.items()}
    return {
        "gait": Drawing(
            partial(laboratory_page, rows, at, heading),
            "Angles, moments and powers of the joints and the ground force over the gait cycle, with norms and gait events.",
            f"{PAPER}, Figs. 5 and 7",
        ),
        **above,
        "centre_of_pressure": Drawing(
            partial(gait_plots.under_the_foot, paths),
            "Path of the centre of pressure under each foot from heel strike to toe off.",
            f"{PAPER}, Fig. 6",
        ),
    }


def mean_pace(found: Sequence[Gait]) -> float:
    """Mean dimensionless speed of the trials; NaN where the walker stays in place in all of them."""
    known = [pace for one in found if np.isfinite(pace := dimensionless_speed(one))]
    return float(np.mean(known)) if known else float("nan")


def _panel(feet: Feet, quantity: str, joint: str, pace: float, moments: Moments) -> Panel:
    """A quantity of a joint of each foot."""
    curves = {side: np.array([curve(one, quantity, joint) for one in trials]) for side, trials in feet.items()}
    directions = POWER if quantity == "power" else DIRECTIONS[joint]
    norm = None
    if (quantity, joint) in NORM:
        name, sign = NORM[quantity, joint]
        norm = _norm(name, sign * np.rad2deg(1.0) if quantity == "angle" else sign, pace)
    caveat = CAVEATS.get((joint, quantity), "")
    if not any(np.isfinite(values).any() for values in curves.values()):
        norm, caveat = None, "blank: the markers of the foot do not show inversion"
    if (joint, quantity) == ("metatarsophalangeal", "angle"):
        caveat = "; ".join(
            dict.fromkeys(one.toe_caveat for trials in feet.values() for one in trials if one.toe_caveat)
        )
    panel = Panel(f"{joint.replace('_', ' ')} {quantity}", *directions, UNITS[quantity], curves, norm, caveat)
    return moments.of(panel, joint) if quantity == "moment" else panel


def _force(feet: Feet, axis: int, name: str, pace: float) -> Panel:
    """A component of the ground's force on each foot."""
    curves = {side: np.array([ground_force(one, axis) for one in trials]) for side, trials in feet.items()}
    return Panel(f"{name} ground force", *FORCES[name], "body weights", curves, _norm(f"{name}_force", 1.0, pace))


def _norm(name: str, scale: float, pace: float) -> Band:
    _, mean, sd = norms.band(name, pace)
    norm = norms.norm(name, pace)
    return Band(scale * mean, abs(scale) * sd, f"{CITED[norm.source]}, {norm.speed}")


def events(trials: Sequence[Gait]) -> Events:
    """Events of a foot: means over the trials that show the event."""
    steps = [one.spatiotemporal for one in trials]
    opposite = []
    for values in ([s.opposite_off for s in steps], [s.opposite_strike for s in steps]):
        known = [value for value in values if np.isfinite(value)]
        opposite.append(float(np.mean(known)) if known else float("nan"))
    return Events(float(np.mean([one.toe_off for one in trials])), *opposite)


def _landmarks(one: Gait) -> dict[str, Floats]:
    """Markers of the main foot by landmark, anterior and medial of the heel's marker, (2,) each [m]."""
    markers, labels = one.subject.bodies["main_foot"].markers, one.subject.landmarks.labels
    heel = markers[labels["heel"]][:2]
    return {name.replace("_", " "): markers[label][:2] - heel for name, label in labels.items() if label in markers}
