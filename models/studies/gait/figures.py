"""Figures of the study of a walk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from models.studies.gait.curves import curve, numbered
from models.walking import gait_plots, norms
from models.walking.gait_result import Gait
from models.walking.subject import GRAVITY
from runtime.report.figure_files import Drawing
from runtime.support.arrays import Floats

PAPER = "Rodrigues da Silva et al. (n.d.)"
POSITIVE = {"talocrural": "dorsiflexion", "talocalcaneal": "inversion", "metatarsophalangeal": "extension"}


def figures(found: Sequence[Gait]) -> dict[str, Drawing]:
    """The figures by file name, to be drawn when called."""
    toe_off = float(np.mean([one.toe_off for one in found]))
    return {
        "angles_and_moments": Drawing(
            partial(gait_plots.gait_cycles, _angles_and_moments(found, toe_off)),
            "Angle and moment of each joint over the gait cycle, with norms.",
            f"{PAPER}, Fig. 5",
        ),
        "centre_of_pressure": Drawing(
            partial(
                gait_plots.under_the_foot,
                dict(zip(numbered([one.name for one in found]), (one.cop_in_foot() for one in found), strict=True)),
                _landmarks(found[0]),
            ),
            "Path of the centre of pressure under the foot from heel strike to toe off.",
            f"{PAPER}, Fig. 6",
        ),
        "powers": Drawing(
            partial(gait_plots.gait_cycles, _powers(found, toe_off)),
            "Power of each joint over the gait cycle, with norms.",
            f"{PAPER}, Fig. 7",
        ),
        "ground_forces": Drawing(
            partial(gait_plots.gait_cycles, _forces(found, toe_off), columns=3),
            "Force of the ground on the foot over the gait cycle, with norms.",
        ),
    }


def _panel(
    found: Sequence[Gait],
    toe_off: float,
    quantity: str,
    joint: str,
    unit: str,
    norm: str | None = None,
    sign: float = 1.0,
) -> gait_plots.Panel:
    """A quantity of a joint in all trials, with the normative band ``norm`` times ``sign``."""
    curves = np.array([curve(one, quantity, joint) for one in found])
    band = None
    if norm is not None:
        _, mean, sd = norms.band(norm)
        scale = np.rad2deg(1.0) if quantity == "angle" else 1.0
        band = (sign * scale * mean, scale * sd)
    positive = "generated" if quantity == "power" else POSITIVE[joint]
    return gait_plots.Panel(f"{joint} {quantity}", f"{positive} {quantity} [{unit}]", curves, toe_off, band)


def _angles_and_moments(found: Sequence[Gait], toe_off: float) -> list[gait_plots.Panel]:
    panel = partial(_panel, found, toe_off)
    panels = [
        panel("angle", "talocrural", "deg", "dorsiflexion"),
        panel("angle", "talocalcaneal", "deg", "hindfoot_inversion"),
        panel("moment", "talocrural", "N m/kg", "plantarflexor_moment", -1.0),
        panel("moment", "talocalcaneal", "N m/kg", "inversion_moment"),
    ]
    if all(one.toes_guided for one in found):
        panels += [
            panel("angle", "metatarsophalangeal", "deg", "toe_extension"),
            panel("moment", "metatarsophalangeal", "N m/kg"),
        ]
    return panels


def _powers(found: Sequence[Gait], toe_off: float) -> list[gait_plots.Panel]:
    panel = partial(_panel, found, toe_off)
    panels = [panel("power", "talocrural", "W/kg", "ankle_power"), panel("power", "talocalcaneal", "W/kg")]
    if all(one.toes_guided for one in found):
        panels.append(panel("power", "metatarsophalangeal", "W/kg"))
    return panels


def _forces(found: Sequence[Gait], toe_off: float) -> list[gait_plots.Panel]:
    return [
        gait_plots.Panel(
            f"{name} force", f"{name} force [body weights]",
            np.array([one.ground_over_cycle()[0][:, k] / (one.subject.mass * GRAVITY) for one in found]), toe_off,
            norms.band(f"{name}_force")[1:],
        )
        for k, name in enumerate(("anterior", "medial", "vertical"))
    ]  # fmt: skip


def _landmarks(one: Gait) -> dict[str, Floats]:
    """Markers of the main foot by landmark, anterior and medial of the heel's marker, (2,) each [m]."""
    markers, labels = one.subject.bodies["main_foot"].markers, one.subject.landmarks.labels
    heel = markers[labels["heel"]][:2]
    return {name.replace("_", " "): markers[label][:2] - heel for name, label in labels.items() if label in markers}
