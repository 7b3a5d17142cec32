"""The measured force on one foot: plates without the swing phase, filtered, and as loads on the main foot and the toes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.walking.capture import Capture, GroundForce
from models.walking.capture.plates import baseline, combined, filtered, loaded_intervals
from models.walking.capture.trial import Side
from models.walking.gait_events import MATCH, GaitCycle
from models.walking.geometry import UP
from models.walking.leg_foot import GroundLoad
from models.walking.plate_assignment import Assignment
from models.walking.preparation import Filters
from models.walking.subject import LegFoot
from runtime import Signal
from runtime.analysis import Motion
from runtime.support import checked
from runtime.support.arrays import Floats


@checked
def force_on_foot(
    trial: Capture, side: Side, cycle: GaitCycle, assignment: Assignment, filters: Filters
) -> tuple[GroundForce, list[str]]:
    """The force on the foot, zero in swing, filtered unless that is off; and notes on plates that show a force while unloaded."""
    plates, notes = [], []
    for name in assignment.plates(side):
        plate = _without_swing(assignment.force(trial, name, side), cycle)
        if (said := baseline(trial.force(name))) and said not in trial.notes:  # a file's plates have been noted
            notes.append(said)
        if filters.forces is not None or filters.cop is not None:
            plate = filtered(plate, force_cutoff=filters.forces, cop_cutoff=filters.cop, order=filters.order)
        plates.append(plate)
    return combined(plates, name=f"{side} foot"), notes


def _without_swing(plate: GroundForce, cycle: GaitCycle) -> GroundForce:
    """The plate without the intervals loaded by other steps: kept are those that overlap the cycle's stance or end after it."""
    kept = np.zeros(len(plate.t), dtype=bool)
    for start, stop in loaded_intervals(plate):
        t0, t1 = plate.t[start], plate.t[stop - 1]
        if (t0 < cycle.off and t1 > cycle.strike) or t1 > cycle.next_strike:
            kept |= (plate.t >= t0 - MATCH) & (plate.t <= t1 + MATCH)
    force, cop, free = np.array(plate.force), np.array(plate.cop), np.array(plate.free_moment)
    force[~kept], cop[~kept], free[~kept] = 0.0, np.nan, 0.0
    return replace(plate, force=force, cop=cop, free_moment=free)


@checked
def load_on_foot(ground: GroundForce) -> tuple[GroundLoad]:
    """The whole force on the main foot."""
    return (_load(ground, "main_foot", np.ones(len(ground.t))),)


@checked
def loads_on_foot_and_toes(ground: GroundForce, subject: LegFoot, motion: Motion) -> tuple[GroundLoad, GroundLoad]:
    """The force on the main foot until the centre of pressure passes the metatarsophalangeal axis, then on the toes.

    The whole force goes over at once, which gives an upper bound of the moment of the toes.  The moments of the ankle do not
    depend on it.
    """
    hinge = subject.metatarsophalangeal
    A = motion.rotations("main_foot")
    centre = motion.r["main_foot"] + np.einsum("nab,b->na", A, hinge.points["main_foot"])
    axis = np.einsum("nab,b->na", A, -hinge.axes["main_foot"])
    forward = np.cross(UP, axis)
    forward *= np.sign(np.einsum("na,na->n", forward, A[:, :, 0]))[:, None]
    columns = np.column_stack([centre, forward])
    at = np.column_stack([np.interp(ground.t, motion.t, c) for c in columns.T])
    past = np.einsum("na,na->n", np.nan_to_num(ground.cop) - at[:, :3], at[:, 3:]) > 0.0
    share = (past & np.isfinite(ground.cop).all(axis=1)).astype(float)
    return _load(ground, "main_foot", 1.0 - share), _load(ground, "toes", share)


def _load(ground: GroundForce, body: str, share: Floats) -> GroundLoad:
    """A share (m,) of the ground's force on a body as signals."""
    loaded = np.isfinite(ground.cop).all(axis=1)
    cop = np.column_stack([np.interp(ground.t, ground.t[loaded], c) for c in ground.cop[loaded].T])

    def signals(columns: Floats) -> tuple[Signal, Signal, Signal]:
        x, y, z = (Signal.spline(ground.t, column, degree=1) for column in columns.T)
        return x, y, z

    force = signals(ground.force * share[:, None])
    free_moment = Signal.spline(ground.t, ground.free_moment * share, degree=1)
    return GroundLoad(force, signals(cop), free_moment, body)
