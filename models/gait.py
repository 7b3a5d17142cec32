"""The leg and foot of seed 002, built for a subject and guided by signals: leg, main foot and toes, the talus a massless link.

Nine degrees of freedom are guided (seed 002, section 6): place and orientation of the leg, the talocrural and the
talocalcaneal angle, and the extension of the toes.  All angles are zero while the subject stands; dorsiflexion, inversion
and extension are positive.  x anterior, y medial of a right foot, z up; a left foot is mirrored.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.subject import BODIES, GRAVITY, LegFoot
from runtime import (
    Builder,
    ModelError,
    Motion,
    Run,
    Signal,
    State,
    System,
    coordinate,
    inverse_dynamics,
    simulate,
    smoothing,
)

Floats = NDArray[np.float64]

# Of ``replay``: an ankle's stiffness in walking is 100-300 N m/rad.
STIFFNESS = {"talocrural": 200.0, "talocalcaneal": 200.0, "metatarsophalangeal": 5.0}  # [N m/rad]
DAMPING = {"talocrural": 3.0, "talocalcaneal": 2.0, "metatarsophalangeal": 0.05}  # [N m s/rad]
SHORTEST = 1e-5  # [s] knots of different signals that are nearer than this are one
# Freedoms of the system by the names of the joints' angles.
AXES = {
    "talocrural": "ankle.a_j",
    "talocalcaneal": "ankle.a_i",
    "metatarsophalangeal": "metatarsophalangeal.a_i",
}


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The nine coordinates as signals of time.

    ``leg``: centre of mass of the leg, three signals [m]; ``turn``: its Euler parameters, four signals, scalar first;
    ``talocrural``, ``talocalcaneal``, ``metatarsophalangeal`` [rad]: dorsiflexion, inversion, extension.
    """

    leg: tuple[Signal, Signal, Signal]
    turn: tuple[Signal, Signal, Signal, Signal]
    talocrural: Signal
    talocalcaneal: Signal
    metatarsophalangeal: Signal

    def angle(self, joint: str) -> Signal:
        """One of the three angles by the joint's name."""
        signal: Signal = getattr(self, joint)
        return signal

    @property
    def begin(self) -> float:
        """When all of them are defined from [s]; 0 where they are constant."""
        signals = (*self.leg, *self.turn, self.talocrural, self.talocalcaneal, self.metatarsophalangeal)
        start = max(s.span[0] for s in signals)
        return start if np.isfinite(start) else 0.0


@dataclass(frozen=True, eq=False)
class Ground:
    """What the ground does to the foot, as signals: force (3) [N] at a point (3) [m], free moment about the vertical [N m].

    ``body`` is the one that it acts on.
    """

    force: tuple[Signal, Signal, Signal]
    point: tuple[Signal, Signal, Signal]
    free_moment: Signal
    body: str = "main_foot"


def build(
    subject: LegFoot | None = None,
    coordinates: Coordinates | None = None,
    ground: Sequence[Ground] = (),
    *,
    time: float | None = None,
) -> System:
    """The guided leg and foot.

    Parameters
    ----------
    subject : LegFoot, optional
        Default: the subject of the synthetic trial, ``models.synthetic_gait``.
    coordinates : Coordinates, optional
        What guides it.  Default: those of the synthetic trial, with its ground forces.
    ground : sequence of Ground
    time : float [s], optional
        Of the initial configuration.  Default: where the coordinates begin.

    Returns
    -------
    System
        Bodies ``leg``, ``main_foot``, ``toes``; joints ``ankle``, ``metatarsophalangeal``; drivers ``leg``, ``leg_turn``,
        ``talocrural``, ``talocalcaneal``, ``toe_extension``; loads ``ground_main_foot``, ``ground_toes``.
    """
    if (subject is None) != (coordinates is None):
        raise ModelError("gait: give a subject with its coordinates, or neither for the synthetic trial")
    if subject is None or coordinates is None:
        from models import synthetic_gait

        subject, coordinates, ground = synthetic_gait.subject(), synthetic_gait.coordinates(), synthetic_gait.ground()
    b = guided(subject, coordinates, "gait")
    _add_ground(b, ground)
    return b.build(time=coordinates.begin if time is None else time)


def guided(subject: LegFoot, coordinates: Coordinates, name: str) -> Builder:
    """Bodies, joints and drivers of a subject; what the ground does is still to be added."""
    b = skeleton(subject, name)
    _guide_leg(b, coordinates)
    for joint, (driver, kind, bodies, signal, vectors) in hinges(subject).items():
        b.driver(driver, kind, *bodies, **{signal: coordinates.angle(joint)}, **vectors)
    return b


def skeleton(subject: LegFoot, name: str) -> Builder:
    """Bodies and joints of a subject in the standing pose; the leg may float."""
    b = Builder(f"{name}, {subject.name}", gravity=(0.0, 0.0, -GRAVITY))
    for body in BODIES:
        s = subject.bodies[body]
        b.body(body, mass=s.mass, inertia=s.inertia, r=s.r, p=euler_parameters(s.A[None])[0], free=body == "leg")
    crural, calcaneal, ball = subject.talocrural, subject.talocalcaneal, subject.metatarsophalangeal
    b.joint(
        "ankle", "modified_universal", "main_foot", "leg", l=_distance(subject),
        s_i=calcaneal.points["main_foot"], a_i=calcaneal.axes["main_foot"],
        s_j=crural.points["leg"], a_j=-crural.axes["leg"],
    )  # fmt: skip
    b.joint(
        "metatarsophalangeal", "revolute", "main_foot", "toes",
        s_i=ball.points["main_foot"], a_i=-ball.axes["main_foot"], s_j=ball.points["toes"], a_j=-ball.axes["toes"],
    )  # fmt: skip
    return b


Hinge = tuple[str, str, tuple[str, str], str, dict[str, ArrayLike]]


def hinges(subject: LegFoot) -> dict[str, Hinge]:
    """How each angle is measured and guided: name of its driver, kind, bodies, signal and vectors."""
    crural, calcaneal, ball = subject.talocrural, subject.talocalcaneal, subject.metatarsophalangeal
    leg, main_foot = subject.bodies["leg"], subject.bodies["main_foot"]
    link = _point(subject, "main_foot") - _point(subject, "leg")  # while standing, from the talocrural axis down
    down, up = link @ leg.A, -link @ main_foot.A
    ends = {"leg": crural.points["leg"], "main_foot": calcaneal.points["main_foot"]}
    dorsiflexion, inversion, extension = -crural.axes["leg"], calcaneal.axes["main_foot"], -ball.axes["main_foot"]
    forward = across(np.array([1.0, 0.0, 0.0]), extension)
    # The foot turns about the talocalcaneal axis as the link turns against it, seen from the foot.
    return {
        "talocrural": (
            "talocrural", "guided_link", ("leg", "main_foot"), "beta_t",
            dict(s_i=ends["leg"], s_j=ends["main_foot"], h_i=dorsiflexion, a_i=across(down, dorsiflexion)),
        ),
        "talocalcaneal": (
            "talocalcaneal", "guided_link", ("main_foot", "leg"), "beta_t",
            dict(s_i=ends["main_foot"], s_j=ends["leg"], h_i=-inversion, a_i=across(up, inversion)),
        ),
        "metatarsophalangeal": (
            "toe_extension", "guided_angle", ("main_foot", "toes"), "theta_t",
            dict(h_i=extension, a_i=forward, b_j=main_foot_to_toes(subject, forward)),
        ),
    }  # fmt: skip


def main_foot_to_toes(subject: LegFoot, v: Floats) -> Floats:
    """A direction of the main foot in the axes of the toes, while standing."""
    return v @ subject.bodies["main_foot"].A.T @ subject.bodies["toes"].A


def across(v: Floats, axis: Floats) -> Floats:
    """The unit vector of the part of v at right angles to a unit axis."""
    part = v - (v @ axis) * axis
    return part / np.linalg.norm(part)


def angles(motion: Run, subject: LegFoot, *, rates: bool = False) -> dict[str, Floats]:
    """The three joint angles of a motion, (n,) [rad], without jumps; or their rates [rad/s]."""
    found = {}
    for joint, (_, kind, bodies, _, vectors) in hinges(subject).items():
        found[joint] = coordinate(motion, kind, *bodies, rate=rates, **vectors)
    return found


def coordinates_of(motion: Run, subject: LegFoot, *, locked: bool = False) -> Coordinates:
    """Splines of degree 5 through the coordinates of a motion; the toes ``locked`` at zero where nothing tells their angle."""
    t = motion.t
    found = angles(motion, subject)
    p = smoothing.without_flips(motion.p["leg"])
    extension = Signal.constant(0.0) if locked else Signal.spline(t, found["metatarsophalangeal"])
    return Coordinates(
        leg=tuple(Signal.spline(t, motion.r["leg"][:, k]) for k in range(3)),  # type: ignore[arg-type]
        turn=tuple(Signal.spline(t, p[:, k]) for k in range(4)),  # type: ignore[arg-type]
        talocrural=Signal.spline(t, found["talocrural"]),
        talocalcaneal=Signal.spline(t, found["talocalcaneal"]),
        metatarsophalangeal=extension,
    )


def replay(
    subject: LegFoot, coordinates: Coordinates, ground: Sequence[Ground], t: Floats, *, tolerance: float = 1e-12
) -> tuple[Run, Motion, float]:
    """Drive ankle and toes by the moments that inverse dynamics found, and see whether the motion comes back.

    The leg is guided, the three angles are free: motors at their axes have the computed moments as splines, which are made
    between the knots of all signals, where the moments are smooth.  A foot under the ground's force is unstable: an error
    grows by a factor of 1e13 in a stance, which no integration survives.  So the motors have a little of the stiffness that
    muscles have, towards the guided angles; what it adds to the computed moments is the third result.

    Parameters
    ----------
    subject, coordinates, ground
        As for ``build``.
    t : (n,) [s]
        Times of the result, from the first to the last of which is simulated.
    tolerance : float
        Of the integration.

    Returns
    -------
    run, motion
        The simulated and the guided motion at ``t``.
    feedback : float [N m]
        The largest moment that the stiffness and the damping add: how far the moments are from those computed.
    """
    guided = build(subject, coordinates, ground, time=float(t[0]))
    fine = _between_knots(guided.signals.values(), float(t[0]), float(t[-1]))
    source = inverse_dynamics(guided, np.concatenate([part[:-1] for part in fine] + [fine[-1][-1:]]))
    efforts = source.driven

    def between(values: Floats) -> Signal:
        """A spline between the knots."""
        starts = np.cumsum([0] + [len(part) - 1 for part in fine])
        parts = zip(fine, starts, strict=False)
        return Signal.joined([Signal.spline(part, values[first : first + len(part)]) for part, first in parts])

    b, c = skeleton(subject, "replay"), coordinates
    _guide_leg(b, c)
    for joint, (name, kind, bodies, signal, vectors) in hinges(subject).items():
        target = {signal: c.angle(joint)}
        effort = between(efforts[name].effort[signal])
        b.motor(
            name, kind, *bodies, effort=effort, stiffness=STIFFNESS[joint], damping=DAMPING[joint], **target, **vectors
        )
    _add_ground(b, ground)
    system = b.build(time=float(t[0]))
    motion = inverse_dynamics(guided, t)
    begin = State(system.body_names, motion.states[0])
    run = simulate(system, float(t[-1]), t_eval=t, initial=begin, rtol=tolerance, atol=tolerance)
    off, off_rate = (
        {joint: back - there[joint][: len(run.t)] for joint, back in angles(run, subject, rates=rates).items()}
        for rates, there in ((rates, angles(motion, subject, rates=rates)) for rates in (False, True))
    )
    moments = [STIFFNESS[joint] * off[joint] + DAMPING[joint] * off_rate[joint] for joint in AXES]
    feedback = float(np.abs(moments).max())
    return run, motion, feedback


def _between_knots(signals: Iterable[Signal], t0: float, t1: float) -> list[Floats]:
    """Times within each interval between the knots of all signals, six at least, both ends included."""
    knots = np.unique(np.concatenate([[t0, t1], *(s.knots[(s.knots > t0) & (s.knots < t1)] for s in signals)]))
    kept = [knots[0]]
    for knot in knots[1:]:
        if knot - kept[-1] > SHORTEST:
            kept.append(knot)
    kept[-1] = t1
    return [np.linspace(a, b, 7) for a, b in itertools.pairwise(kept)]


def _guide_leg(b: Builder, c: Coordinates) -> None:
    b.driver("leg", "guided_point", "leg", s_i=(0, 0, 0), x_t=c.leg[0], y_t=c.leg[1], z_t=c.leg[2])
    b.driver("leg_turn", "guided_orientation", "leg", **{f"e{k}_t": c.turn[k] for k in range(4)})


def _add_ground(b: Builder, ground: Sequence[Ground]) -> None:
    for load in ground:
        b.load(
            f"ground_{load.body}", load.body, force=load.force, point=load.point, moment=(0.0, 0.0, load.free_moment)
        )


def fitted(subject: LegFoot, t: Floats, markers: Mapping[str, tuple[str, Floats]], *, locked: bool) -> System:
    """The leg and foot with a guided point for every marker, to be met by least squares.

    Parameters
    ----------
    subject : LegFoot
    t : (n,) [s]
    markers : mapping
        Label -> body, positions (n, 3) [m].
    locked : bool
        The toes stay as they stand.
    """
    b = skeleton(subject, "markers")
    if locked:
        forward = np.array([1.0, 0.0, 0.0])
        b.joint(
            "metatarsophalangeal_lock", "constant_angle", "main_foot", "toes",
            a_i=forward, a_j=main_foot_to_toes(subject, np.array([0.0, 0.0, 1.0])),
        )  # fmt: skip
    for label, (body, positions) in markers.items():
        x, y, z = (Signal.spline(t, positions[:, k]) for k in range(3))
        b.driver(identifier(label), "guided_point", body, s_i=subject.bodies[body].markers[label], x_t=x, y_t=y, z_t=z)
    return b.build(redundant="fit", time=float(t[0]))


def identifier(label: str) -> str:
    """A marker's label as a name."""
    return "marker_" + "".join(c if c.isalnum() else "_" for c in label)


def euler_parameters(A: Floats) -> Floats:
    """Euler parameters (n, 4), scalar first, of rotation matrices (n, 3, 3)."""
    from scipy.spatial.transform import Rotation

    p: Floats = Rotation.from_matrix(A).as_quat(scalar_first=True)
    return p


def _point(subject: LegFoot, body: str) -> Floats:
    """The joint's point on a body while standing, in lab axes [m]."""
    hinge = subject.talocrural if body == "leg" else subject.talocalcaneal
    segment = subject.bodies[body]
    return segment.r + segment.A @ hinge.points[body]


def _distance(subject: LegFoot) -> float:
    return float(np.linalg.norm(_point(subject, "leg") - _point(subject, "main_foot")))
