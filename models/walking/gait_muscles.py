"""Muscles of a subject's own walk: static optimisation with a generic leg that is scaled to the subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from models.generic_bones import SOURCE, generic_leg
from models.walking.capture import Capture
from models.walking.gait_result import PERCENT, Gait
from models.walking.generic_leg import HIP_TURNS, KNEE_TURNS, write_placed
from models.walking.generic_muscles import PlacedLeg, place_generic_leg
from models.walking.swapped_ankle import MODIFIED, UNIVERSAL, AnkleComparison, compare_ankles
from runtime import ModelError
from runtime.support import GRAVITY, checked

# Whose moments muscles make; ligaments and contact bear adduction and rotation of the knee.
COORDINATES = (*HIP_TURNS, KNEE_TURNS[0], "ankle_angle", "subtalar_angle")
ABOVE = 0.01  # weight of markers of pelvis and thigh: joints that hold together leave leg and foot as in the analysis


@checked
def muscles_of_walk(
    gait: Gait,
    file: str | Path,
    *,
    sorts: Sequence[str] = (UNIVERSAL, MODIFIED),
    muscles: Mapping[str, Any] | None = None,
    strength: float = 1.0,
    orthosis: str | Mapping[str, Any] | None = None,
    overwrite: bool = False,
    say: Callable[[str], None] | None = None,
) -> AnkleComparison:
    """Activations and forces of the muscles of a leg over a gait cycle, and contact forces of its ankle.

    The leg is that of the analysed subject with the muscles of a generic one, ``write_leg``.  It follows the filtered markers of
    the analysis by inverse kinematics, and the ground force of the analysis loads its foot.

    Parameters
    ----------
    gait : Gait
        From ``analyse``, with knee and hip.
    file : str or Path
        .osim that is written: the leg with its muscles.
    sorts : sequence of str
        Joints of the ankle that are compared: "universal", "modified universal", "as in the file", which are hinges with a talus
        without mass.
    muscles : mapping, optional
        Options of ``static_optimisation``.  Default of ``coordinates``: hip, flexion of the knee, ankle and subtalar joint.
    strength : float
        Factor on the maximum isometric forces of the generic leg.
    orthosis : str or mapping, optional
        As of ``compare_ankles``: it exerts its moments in the measured motion, and muscles make the rest.
    overwrite : bool
        Replace an existing file.
    say : callable(str), optional
        Receives a line for each stage.

    Returns
    -------
    AnkleComparison
        Times are those of the trial; names of muscles and coordinates end with ``_r`` or ``_l``.

    Raises
    ------
    ModelError
        Where the trial has no knee and hip, or its markers do not show inversion.
    """
    if gait.upper_leg is None:
        why = next((note for note in gait.notes if note.startswith("knee and hip")), "knee and hip are not analysed")
        raise ModelError(f"{gait.name}: muscles need the pelvis and the thigh; {why}")
    letter = gait.side[0]
    bones = place_generic_leg(gait.subject, gait.upper_leg)
    reading = write_placed(gait.subject, gait.upper_leg, bones, file, strength=strength, overwrite=overwrite)
    markers = {label: one.measured for label, one in gait.markers.items()}
    weights = {label: ABOVE for label, one in gait.markers.items() if one.body in ("pelvis", "thigh")}
    trial = Capture(gait.name, gait.t, markers, (gait.ground,))
    found = compare_ankles(
        reading, trial.mirrored() if gait.side == "left" else trial, ankles=[(f"ankle_{letter}", f"subtalar_{letter}")],
        sorts=sorts, feet=[f"calcn_{letter}"], mass=gait.subject.mass, cutoff=None, say=say,
        muscles={"coordinates": [f"{name}_{letter}" for name in COORDINATES], **(muscles or {})},
        start=gait.cycle.strike, end=gait.cycle.next_strike, weights=weights, orthosis=orthosis,
    )  # fmt: skip
    return replace(found, notes=(*_notes(gait, bones, strength), *found.notes))


@checked
def muscle_values(gait: Gait, **options: Any) -> dict[str, Any]:
    """Muscles of a walk with modified universal joints as curves (101,) over the gait cycle and largest values.

    By name, such as "soleus force [N]" and "soleus force, largest [N]": activations and forces of the muscles that cross the
    ankle, and contact forces of both hinges.  ``options``: of ``muscles_of_walk``.
    """
    with TemporaryDirectory() as folder:
        compared = muscles_of_walk(gait, Path(folder) / "leg.osim", **{**options, "sorts": [MODIFIED]})
    one, weight = compared.trials[MODIFIED], GRAVITY * compared.mass
    assert one.muscles is not None  # they are asked for
    percent, found = np.interp(one.trial.t, gait.t, gait.percent), dict[str, Any]()
    for name in (name for ankle in compared.ankles for name in compared.muscles_of(ankle)):
        found[f"{name[:-2]} activation [1]"] = one.muscles.activations[name]
        found[f"{name[:-2]} force [N]"] = one.muscles.forces[name]
    found |= {f"{joint[:-2]} contact force [BW]": of.size / weight for joint, of in one.contacts.items()}
    largest = {name.replace(" [", ", largest ["): float(values.max()) for name, values in found.items()}
    return {name: np.interp(PERCENT, percent, values) for name, values in found.items()} | largest


def _notes(gait: Gait, leg: PlacedLeg, strength: float) -> list[str]:
    """How the generic leg was scaled, and what muscles do not bear."""
    factors = ", ".join(f"{name} {bone.factor:.3f}" for name, bone in leg.bones.items())
    forces = "as published" if strength == 1.0 else f"times {strength:g}"
    return [
        f"{gait.side} leg: {SOURCE}; factors: {factors}; maximum isometric forces {forces}, of a model of "
        f"{generic_leg()['mass']:.1f} kg, while this subject has {gait.subject.mass:.1f} kg",
        "adduction and rotation of the knee and the toes move freely, and their moments are no task of muscles",
    ]
