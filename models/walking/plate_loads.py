"""Forces of plates on the feet of a model: each contact acts on the foot that is nearest to its centre of pressure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.files.description import WORLD, Description, Floats
from models.files.opensim_loads import ExternalForce
from models.files.reading import Reading
from models.files.storage import Storage
from models.files.virtual_power import ways_at
from models.walking.capture import Capture
from models.walking.capture.plates import loaded_intervals
from models.walking.capture.trial import GroundForce
from models.walking.fitted_motion import FittedMotion
from models.walking.inverse_kinematics import axes_of_model
from runtime import ModelError
from runtime.support import checked

FAR = 0.35  # [m] horizontally between a centre of pressure and the origin of a foot: the length of a foot
CLEAR = 0.05  # [m] by which the second foot is farther, else both may be on the plate


@checked
def loads_of_plates(
    reading: Reading, motion: FittedMotion, trial: Capture, feet: Sequence[str]
) -> tuple[list[ExternalForce], list[str]]:
    """External forces of the plates of a trial, for ``inverse_dynamics_of_trial``, and a sentence on each that is in doubt.

    Parameters
    ----------
    reading : Reading
    motion : FittedMotion
        Of this model and trial.
    trial : Capture
        With ground forces.
    feet : sequence of str
        Bodies of the model on which the plates act, such as ``calcn_r`` and ``calcn_l``; their origins are compared with the
        centre of pressure.

    Raises
    ------
    ModelError
        For bodies that the model lacks, a trial without forces, and forces that act on no foot.
    """
    source = reading.source
    for foot in feet:
        if foot not in source.bodies:
            raise ModelError(f"feet: the model has no body '{foot}'; it has {', '.join(source.bodies)}")
    if not feet or not trial.forces:
        raise ModelError(
            f"{trial.name}: has no force plates, or no feet are named; give an .xml file of external loads"
        )
    turn = axes_of_model(source)
    at = _origins(source, motion, feet)
    up = turn[:, 2]
    found: list[ExternalForce] = []
    notes: list[str] = []
    for grf in trial.forces:
        parts: dict[str, NDArray[np.bool_]] = {}
        for start, stop in loaded_intervals(grf):
            foot, why = _foot_on(grf, slice(start, stop), motion.t, at, turn, up)
            if why:
                notes.append(
                    f"{trial.name}: force plate '{grf.plate}' from {grf.t[start]:.2f} to {grf.t[stop - 1]:.2f} s {why}"
                )
            if foot:
                parts.setdefault(foot, np.zeros(len(grf.t), bool))[start:stop] = True
        if not parts:
            notes.append(f"{trial.name}: force plate '{grf.plate}' acts on no foot")
        found += [_force(grf, foot, own, turn, up) for foot, own in parts.items()]
    if not found:
        raise ModelError(f"{'; '.join(notes)}; name other feet, or give an .xml file of external loads")
    return found, notes


def _origins(source: Description, motion: FittedMotion, feet: Sequence[str]) -> Mapping[str, Floats]:
    """Origins of the feet over the motion, (n, 3) each."""
    names = list(motion.q)
    values = np.stack(list(motion.q.values()))
    ways, _ = ways_at(source, names, np.stack([values, 0.0 * values, 0.0 * values]))
    return {foot: ways[source.bodies[foot]][-1].r for foot in feet}


def _foot_on(
    grf: GroundForce, part: slice, t: Floats, at: Mapping[str, Floats], turn: Floats, up: Floats
) -> tuple[str, str]:
    """The foot of a contact, empty for none, and why it is none or uncertain."""
    inside = (grf.t[part] >= t[0]) & (grf.t[part] <= t[-1]) & np.isfinite(grf.cop[part]).all(axis=1)
    if not inside.any():
        return "", ""
    times, cop = grf.t[part][inside], grf.cop[part][inside] @ turn.T
    far = {}
    for foot, r in at.items():
        d = cop - np.stack([np.interp(times, t, column) for column in r.T], axis=1)
        far[foot] = float(np.median(np.linalg.norm(d - np.outer(d @ up, up), axis=1)))
    nearest, *others = sorted(far, key=far.__getitem__)
    if far[nearest] > FAR:
        return "", f"acts on no foot: '{nearest}' is {far[nearest]:.2f} m from the centre of pressure, limit {FAR:g} m"
    if others and far[others[0]] < far[nearest] + CLEAR:
        return nearest, f"may be under both '{nearest}' and '{others[0]}'; all of it acts on '{nearest}'"
    return nearest, ""


def _force(grf: GroundForce, foot: str, own: NDArray[np.bool_], turn: Floats, up: Floats) -> ExternalForce:
    """The force of a plate in axes of the model, 0 outside of the contacts of a foot."""
    seen = own & np.isfinite(grf.cop).all(axis=1)
    force = np.where(seen[:, None], grf.force, 0.0) @ turn.T
    # The point of an unloaded sample is that of the nearest loaded one, so that interpolation does not draw it to the origin.
    cop = np.stack([np.interp(grf.t, grf.t[seen], column[seen]) for column in (grf.cop @ turn.T).T], axis=1)
    moment = np.outer(np.where(seen, grf.free_moment, 0.0), up)
    table = Storage(Path(grf.plate), np.array(grf.t), {}, in_degrees=False)
    return ExternalForce(f"{grf.plate} on {foot}", foot, table, force, cop, moment, WORLD, WORLD)
