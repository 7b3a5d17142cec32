"""Forward simulation of the leg and foot by the moments of inverse dynamics, which must return the motion they came from."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from models.walking.leg_foot import (
    JOINTS,
    BodyPath,
    Coordinates,
    GroundLoad,
    add_ground_loads,
    angles,
    build,
    drive_body,
    driven_angles,
    skeleton,
)
from models.walking.subject import LegFoot
from runtime import Run, Signal, State, System, inverse_dynamics, simulate
from runtime.analysis import Motion
from runtime.support import checked
from runtime.support.arrays import Floats

# Of the motors: an ankle's stiffness in walking is 100-300 N m/rad.
STIFFNESS = {"talocrural": 200.0, "talocalcaneal": 200.0, "metatarsophalangeal": 5.0}  # [N m/rad]
DAMPING = {"talocrural": 3.0, "talocalcaneal": 2.0, "metatarsophalangeal": 0.05}  # [N m s/rad]
SAME_KNOT = 1e-5  # [s] knots of different signals that are nearer than this are one


@checked
def replay(
    subject: LegFoot, coordinates: Coordinates, ground: Sequence[GroundLoad], t: Floats, *, tolerance: float = 1e-12
) -> tuple[Run, Motion, float]:
    """Simulate the leg and foot forwards, ankle and toes driven by the moments of inverse dynamics.

    The leg is driven, the three angles are free: motors at their axes have the computed moments as splines, which are made
    between the knots of all signals, where the moments are smooth.  A foot under the ground's force is unstable: an error
    grows by a factor of 1e13 in a stance, which no integration survives.  The motors therefore have a small stiffness towards
    the driven angles, as muscles have; the largest moment that it adds to the computed ones is the third result.

    Parameters
    ----------
    subject, coordinates, ground
        As for ``leg_foot.build``.
    t : (n,) [s]
        Times of the result; the simulation goes from the first to the last.
    tolerance : float
        Of the integration.

    Returns
    -------
    run, motion
        The simulated and the driven motion at ``t``.
    feedback : float [N m]
        The largest moment that the stiffness and the damping add: how far the moments are from those computed.
    """
    reference = build(subject, coordinates, ground, time=float(t[0]))
    efforts = _efforts(subject, reference, float(t[0]), float(t[-1]))
    system = _muscle_driven(subject, coordinates, ground, efforts, time=float(t[0]))
    motion = inverse_dynamics(reference, t)
    begin = State(system.body_names, motion.states[0])
    run = simulate(system, float(t[-1]), t_eval=t, initial=begin, rtol=tolerance, atol=tolerance)
    off, off_rate = (
        {joint: back - there[joint][: len(run.t)] for joint, back in angles(run, subject, rates=rates).items()}
        for rates, there in ((rates, angles(motion, subject, rates=rates)) for rates in (False, True))
    )
    moments = [STIFFNESS[joint] * off[joint] + DAMPING[joint] * off_rate[joint] for joint in JOINTS]
    return run, motion, float(np.abs(moments).max())


def _efforts(subject: LegFoot, reference: System, t0: float, t1: float) -> dict[str, Signal]:
    """Moment of each joint as splines between the knots of the driven system's signals."""
    pieces = _between_knots(reference.signals.values(), t0, t1)
    starts = np.cumsum([0] + [len(piece) - 1 for piece in pieces])
    source = inverse_dynamics(reference, np.concatenate([piece[:-1] for piece in pieces] + [pieces[-1][-1:]]))

    def spline(values: Floats) -> Signal:
        parts = zip(pieces, starts, strict=False)
        return Signal.joined([Signal.spline(piece, values[first : first + len(piece)]) for piece, first in parts])

    return {
        joint: spline(source.driven[angle.driver].effort[angle.signal])
        for joint, angle in driven_angles(subject).items()
    }


def _muscle_driven(
    subject: LegFoot,
    coordinates: Coordinates,
    ground: Sequence[GroundLoad],
    efforts: dict[str, Signal],
    *,
    time: float,
) -> System:
    """The leg and foot with motors at the joints, whose stiffness and damping pull towards the driven angles."""
    b = skeleton(subject, "replay")
    drive_body(b, "leg", BodyPath(coordinates.leg, coordinates.turn))
    for joint, angle in driven_angles(subject).items():
        body, other = angle.bodies
        b.motor(
            angle.driver, angle.kind, body, other, effort=efforts[joint], stiffness=STIFFNESS[joint], damping=DAMPING[joint],
            **angle.inputs(coordinates.angle(joint)),
        )  # fmt: skip
    add_ground_loads(b, ground)
    return b.build(time=time)


def _between_knots(signals: Iterable[Signal], t0: float, t1: float) -> list[Floats]:
    """Seven times in each interval between the knots of all signals, both ends included."""
    knots = np.unique(np.concatenate([[t0, t1], *(s.knots[(s.knots > t0) & (s.knots < t1)] for s in signals)]))
    kept = [knots[0]]
    for knot in knots[1:]:
        if knot - kept[-1] > SAME_KNOT:
            kept.append(knot)
    kept[-1] = t1
    return [np.linspace(a, b, 7) for a, b in itertools.pairwise(kept)]
