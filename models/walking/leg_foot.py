"""The leg and foot of Rodrigues da Silva et al. (n.d.), built for a subject and driven by signals; the talus is a massless link.

Nine degrees of freedom are driven (section 6 there): place and orientation of the leg, the talocrural and the talocalcaneal
angle, and the extension of the toes.  All angles are zero while the subject stands; dorsiflexion, inversion and extension
are positive.  x anterior, y medial of a right foot, z up; a left foot is mirrored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from models.foot_anatomy import FOOT_LENGTH, Size
from models.foot_orthosis import add_orthosis, springs_values
from models.walking.filters import without_flips
from models.walking.geometry import UP, across, euler_parameters, unit
from models.walking.subject import BODIES, LegFoot, Segment
from runtime import Builder, Run, Signal, System
from runtime.analysis import coordinate
from runtime.support import GRAVITY, checked, checked_class
from runtime.support.arrays import Floats

# Degree of freedom of the system that each joint angle describes.
DEGREES_OF_FREEDOM = {
    "talocrural": "ankle.a_j",
    "talocalcaneal": "ankle.a_i",
    "metatarsophalangeal": "metatarsophalangeal.a_i",
}
JOINTS = tuple(DEGREES_OF_FREEDOM)
# Of the bones that are drawn, as fractions of the foot's length: radius and distance to the side; and how far the heel is behind
# the ankle, as a fraction of the distance from the ankle to the ball.
THICK, WIDE, HEEL = 0.04, 0.1, 0.35
ANTERIOR = np.array([1.0, 0.0, 0.0])
ANTERIOR.flags.writeable = False


@checked_class
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
        """Time from which all of them are defined [s]; 0 where they are constant."""
        signals = (*self.leg, *self.turn, *(self.angle(joint) for joint in JOINTS))
        start = max(s.span[0] for s in signals)
        return start if np.isfinite(start) else 0.0


@checked_class
@dataclass(frozen=True, eq=False)
class BodyPath:
    """How a body moves, as signals: ``place``, its centre of mass [m]; ``turn``, its Euler parameters, scalar first."""

    place: tuple[Signal, Signal, Signal]
    turn: tuple[Signal, Signal, Signal, Signal]


@checked_class
@dataclass(frozen=True, eq=False)
class GroundLoad:
    """The ground's force on ``body`` as signals: force (3) [N] at a point (3) [m], free moment about the vertical [N m]."""

    force: tuple[Signal, Signal, Signal]
    point: tuple[Signal, Signal, Signal]
    free_moment: Signal
    body: str = "main_foot"


@checked
def build(
    subject: LegFoot, coordinates: Coordinates, ground: Sequence[GroundLoad] = (), *, time: float | None = None,
    orthosis: str | Mapping[str, Any] | None = None, thigh: tuple[Segment, BodyPath] | None = None,
) -> System:  # fmt: skip
    """The driven leg and foot.

    Parameters
    ----------
    subject : LegFoot
    coordinates : Coordinates
        Values of the nine drivers over time.
    ground : sequence of GroundLoad
        Measured forces of the ground on the bodies.
    time : float [s], optional
        Time of the initial configuration.  Default: the begin of the coordinates.
    orthosis : str or mapping, optional
        Between leg and main foot, as of ``models.foot.build``; its angles are zero while the subject stands.
    thigh : (Segment, BodyPath), optional
        A thigh that moves by itself beside the leg, without a joint at the knee.

    Returns
    -------
    System
        Bodies ``leg``, ``main_foot``, ``toes``; joints ``ankle``, ``metatarsophalangeal``; drivers ``leg``, ``leg_turn``,
        ``talocrural``, ``talocalcaneal``, ``toe_extension``; loads ``ground_main_foot``, ``ground_toes``.  With a thigh: the body
        ``thigh`` and the drivers ``thigh``, ``thigh_turn``.
    """
    b = driven(subject, coordinates, "gait")
    if thigh is not None:
        segment, path = thigh
        _add_body(b, "thigh", segment, free=True)
        drive_body(b, "thigh", path)
    add_ground_loads(b, ground)
    if orthosis is not None:
        long = subject.foot_length / FOOT_LENGTH
        add_orthosis(
            b, Size(leg=long, foot=long), "right", **springs_values(orthosis), check_units=False
        )  # left feet are mirrored
    return b.build(time=coordinates.begin if time is None else time)


@checked
def driven(subject: LegFoot, coordinates: Coordinates, name: str) -> Builder:
    """Bodies, joints and drivers of a subject, to which the ground's force is still to be added."""
    b = skeleton(subject, name)
    drive_body(b, "leg", BodyPath(coordinates.leg, coordinates.turn))
    for joint, angle in driven_angles(subject).items():
        body, other = angle.bodies
        b.driver(angle.driver, angle.kind, body, other, **angle.inputs(coordinates.angle(joint)))
    return b


@checked
def skeleton(subject: LegFoot, name: str) -> Builder:
    """Bodies and joints of a subject in the standing pose; the leg may float."""
    b = Builder(f"{name}, {subject.name}", gravity=(0.0, 0.0, -GRAVITY))
    for body in BODIES:
        _add_body(b, body, subject.bodies[body], free=body == "leg")
    crural, calcaneal, ball = subject.talocrural, subject.talocalcaneal, subject.metatarsophalangeal
    link = _ankle_point(subject, "leg") - _ankle_point(subject, "main_foot")
    b.joint(
        "ankle", "modified_universal", "main_foot", "leg", l=float(np.linalg.norm(link)),
        s_i=calcaneal.points["main_foot"], a_i=calcaneal.axes["main_foot"],
        s_j=crural.points["leg"], a_j=-crural.axes["leg"],
    )  # fmt: skip
    b.joint(
        "metatarsophalangeal", "revolute", "main_foot", "toes",
        s_i=ball.points["main_foot"], a_i=-ball.axes["main_foot"], s_j=ball.points["toes"], a_j=-ball.axes["toes"],
    )  # fmt: skip
    _add_bones(b, subject)
    return b


def _add_body(b: Builder, name: str, s: Segment, *, free: bool) -> None:
    """Add a segment where it is while standing."""
    b.body(name, mass=s.mass, inertia=s.inertia, r=s.r, p=euler_parameters(s.A[None])[0], free=free)


def _add_bones(b: Builder, subject: LegFoot) -> None:
    """Bones that are drawn: from the knee to the ankle, and rays of the foot to the toes, as wide as the foot is long."""
    thick, wide = THICK * subject.foot_length, WIDE * subject.foot_length
    crural, calcaneal, ball = subject.talocrural, subject.talocalcaneal, subject.metatarsophalangeal
    b.shape("leg", "bone", start=crural.points["leg"], end=subject.knee, radius=2 * thick)
    for side in (-wide, 0.0, wide):
        start, end = calcaneal.points["main_foot"], ball.points["main_foot"] + side * ball.axes["main_foot"]
        b.shape("main_foot", "bone", start=start + 0.3 * (end - ball.points["main_foot"]), end=end, radius=thick)
        start = ball.points["toes"] + side * ball.axes["toes"]
        # As far before the centre of mass as the joint is behind it, and at the height of the joint.
        tip = start - 2.0 * ball.points["toes"] * [1.0, 1.0, 0.0]
        b.shape("toes", "bone", start=start, end=tip, radius=0.8 * thick)
    heel = calcaneal.points["main_foot"] - HEEL * (ball.points["main_foot"] - calcaneal.points["main_foot"])
    b.shape("main_foot", "bone", start=calcaneal.points["main_foot"], end=heel, radius=2 * thick)


@checked
def drive_body(b: Builder, body: str, path: BodyPath) -> None:
    """Add the drivers of a body's place, by its name, and of its orientation, ``<body>_turn``."""
    x, y, z = path.place
    b.driver(body, "guided_point", body, s_i=(0, 0, 0), x_t=x, y_t=y, z_t=z)
    parameters: dict[str, Any] = {f"e{k}_t": signal for k, signal in enumerate(path.turn)}
    b.driver(f"{body}_turn", "guided_orientation", body, **parameters)


@checked
def add_ground_loads(b: Builder, ground: Sequence[GroundLoad]) -> None:
    """Add the ground's forces as loads ``ground_<body>``."""
    for load in ground:
        b.load(
            f"ground_{load.body}", load.body, force=load.force, point=load.point, moment=(0.0, 0.0, load.free_moment)
        )


class DrivenAngle(NamedTuple):
    """How a joint angle is measured and driven: name and kind of the driver, its bodies, its signal, and its vectors."""

    driver: str
    kind: str
    bodies: tuple[str, str]
    signal: str
    vectors: dict[str, Floats]

    def inputs(self, angle: Signal) -> dict[str, Any]:
        """Keywords of ``Builder.driver`` and ``Builder.motor``: the angle as the driver's signal, and its vectors."""
        return {self.signal: angle, **self.vectors}


@checked
def driven_angles(subject: LegFoot) -> dict[str, DrivenAngle]:
    """How each of the three joint angles is measured and driven, by joint."""
    crural, calcaneal, ball = subject.talocrural, subject.talocalcaneal, subject.metatarsophalangeal
    leg, main_foot = subject.bodies["leg"], subject.bodies["main_foot"]
    link = _ankle_point(subject, "main_foot") - _ankle_point(subject, "leg")  # standing, from the talocrural axis down
    down, up = link @ leg.A, -link @ main_foot.A
    ends = {"leg": crural.points["leg"], "main_foot": calcaneal.points["main_foot"]}
    dorsiflexion, inversion, extension = -crural.axes["leg"], calcaneal.axes["main_foot"], -ball.axes["main_foot"]
    forward = across(ANTERIOR, extension)
    # Seen from the foot, the link turns about the talocalcaneal axis by the negative of the angle of the foot.
    return {
        "talocrural": DrivenAngle(
            "talocrural", "guided_link", ("leg", "main_foot"), "beta_t",
            dict(s_i=ends["leg"], s_j=ends["main_foot"], h_i=dorsiflexion, a_i=across(down, dorsiflexion)),
        ),
        "talocalcaneal": DrivenAngle(
            "talocalcaneal", "guided_link", ("main_foot", "leg"), "beta_t",
            dict(s_i=ends["main_foot"], s_j=ends["leg"], h_i=-inversion, a_i=across(up, inversion)),
        ),
        "metatarsophalangeal": DrivenAngle(
            "toe_extension", "guided_angle", ("main_foot", "toes"), "theta_t",
            dict(h_i=extension, a_i=forward, b_j=_in_toes(subject, forward)),
        ),
    }  # fmt: skip


@checked
def angles(motion: Run, subject: LegFoot, *, rates: bool = False) -> dict[str, Floats]:
    """The three joint angles of a motion, (n,) [rad], without jumps; or their rates [rad/s]."""
    found = {}
    for joint, angle in driven_angles(subject).items():
        body, other = angle.bodies
        vectors: dict[str, Any] = dict(angle.vectors)
        found[joint] = coordinate(motion, angle.kind, body, other, rate=rates, **vectors)
    return found


@checked
def coordinates_of(motion: Run, subject: LegFoot, *, locked: bool = False) -> Coordinates:
    """Splines of degree 5 through the coordinates of a motion.

    ``locked``: the toes stay at zero, for trials without markers that show their angle.  The talocalcaneal angle stays at zero
    where the subject's markers do not show it.
    """
    t = motion.t
    found = angles(motion, subject)
    leg = path_through(t, motion.r["leg"], motion.p["leg"])
    inversion = Signal.spline(t, found["talocalcaneal"]) if subject.shows_inversion else Signal.constant(0.0)
    extension = Signal.constant(0.0) if locked else Signal.spline(t, found["metatarsophalangeal"])
    return Coordinates(
        leg=leg.place,
        turn=leg.turn,
        talocrural=Signal.spline(t, found["talocrural"]),
        talocalcaneal=inversion,
        metatarsophalangeal=extension,
    )


@checked
def path_through(t: Floats, r: Floats, p: Floats) -> BodyPath:
    """Splines of degree 5 through places (n, 3) [m] and Euler parameters (n, 4) at times (n,) [s]."""
    x, y, z = (Signal.spline(t, column) for column in r.T)
    e0, e1, e2, e3 = (Signal.spline(t, column) for column in without_flips(p).T)
    return BodyPath((x, y, z), (e0, e1, e2, e3))


@checked
def marker_driven(subject: LegFoot, t: Floats, markers: Mapping[str, tuple[str, Floats]], *, locked: bool) -> System:
    """The leg and foot with a driven point for each marker; more rows than degrees of freedom, met by least squares.

    Parameters
    ----------
    subject : LegFoot
    t : (n,) [s]
    markers : mapping
        Label -> body, positions (n, 3) [m].
    locked : bool
        The toes stay as they are in standing.
    """
    b = skeleton(subject, "markers")
    if locked:
        b.joint(
            "metatarsophalangeal_lock", "constant_angle", "main_foot", "toes", a_i=ANTERIOR, a_j=_in_toes(subject, UP)
        )
    if not subject.shows_inversion:
        # A direction of the foot whose angle to the talocrural axis changes fastest with inversion.
        across_both = np.cross(
            subject.talocalcaneal.axes["main_foot"], _in_foot(subject, subject.talocrural.axes["leg"])
        )
        b.joint(
            "talocalcaneal_lock", "constant_angle", "main_foot", "leg",
            a_i=unit(across_both), a_j=subject.talocrural.axes["leg"],
        )  # fmt: skip
    for label, (body, positions) in markers.items():
        x, y, z = (Signal.spline(t, positions[:, k]) for k in range(3))
        name = "marker_" + "".join(c if c.isalnum() else "_" for c in label)
        b.driver(name, "guided_point", body, s_i=subject.bodies[body].markers[label], x_t=x, y_t=y, z_t=z)
    return b.build_overdetermined(time=float(t[0]))


def _in_toes(subject: LegFoot, v: Floats) -> Floats:
    """A direction (3,) of the main foot in the axes of the toes, while standing."""
    return np.asarray(v @ subject.bodies["main_foot"].A.T @ subject.bodies["toes"].A)


def _in_foot(subject: LegFoot, v: Floats) -> Floats:
    """A direction (3,) of the leg in the axes of the main foot, while standing."""
    return np.asarray(subject.bodies["leg"].A @ v @ subject.bodies["main_foot"].A)


def _ankle_point(subject: LegFoot, body: str) -> Floats:
    """The end (3,) [m] of the link on a body while standing, in lab axes."""
    hinge = subject.talocrural if body == "leg" else subject.talocalcaneal
    segment = subject.bodies[body]
    return np.asarray(segment.r + segment.A @ hinge.points[body])
