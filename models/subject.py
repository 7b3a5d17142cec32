"""A subject's leg, main foot and toes from a trial in which the subject stands still.

Axes as everywhere: x anterior, y medial of a right foot, z up.  A left foot comes mirrored (``Capture.mirrored``) and is then
a right one whose labels begin with L.  The standing pose is neutral: all joint angles are zero there.

Sources.  Frames: ISB recommendation (Wu et al., J Biomech 35, 2002, 543-548) in Talus' axes.  Talocrural axis: Inman, The
Joints of the Ankle, 1976.  Talocalcaneal axis: Isman and Inman, Bull Prosthet Res 10-11, 1969.  Height of the talus and
proportions of the foot: seeds 000 and 001.  Masses and inertia: de Leva, J Biomech 29, 1996, 1223-1230, Table 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from models import foot
from models.marker_sets import FOREFOOT, Landmarks, recognise
from runtime import ModelError

if TYPE_CHECKING:
    from runtime import Capture

Floats = NDArray[np.float64]
BODIES = ("leg", "main_foot", "toes")
UP = np.array([0.0, 0.0, 1.0])

# Inman 1976: the axis passes below the tips of the malleoli, in the mean by
BELOW_LATERAL_MALLEOLUS, BELOW_MEDIAL_MALLEOLUS = 0.003, 0.005  # [m]
# Isman and Inman 1969: above the sole, projected on the sagittal plane, and medial of the foot's long axis [deg].
TALOCALCANEAL_INCLINATION_DEG, TALOCALCANEAL_DEVIATION_DEG = 41.0, 23.0
# Seed 001 section 3, of the foot that has its link: length, length of the main foot [m].
SEED_FOOT_LENGTH, SEED_MAIN_FOOT_LENGTH = 0.27, 0.1903

# De Leva 1996, Table 4: part of the body's mass; centre of mass from the proximal end (knee; heel) and radii of gyration
# about the sagittal, transverse and longitudinal axis as parts of the segment's length (knee centre to lateral malleolus;
# heel to toe tip); length of the segment as part of the body's height.
DE_LEVA = {
    "male": {
        "leg": (0.0433, 0.4459, (0.255, 0.249, 0.103), 0.4340 / 1.741),
        "foot": (0.0137, 0.4415, (0.257, 0.245, 0.124), 0.2581 / 1.741),
    },
    "female": {
        "leg": (0.0481, 0.4416, (0.271, 0.267, 0.093), 0.4323 / 1.735),
        "foot": (0.0129, 0.4014, (0.299, 0.279, 0.139), 0.2283 / 1.735),
    },
}

NEEDED = {
    "lateral_malleolus": "the talocrural axis",
    "medial_malleolus": "the talocrural axis",
    "heel": "the frame of the foot",
    "metatarsal_1": "the metatarsophalangeal axis",
    "metatarsal_5": "the metatarsophalangeal axis",
}
LEG_LENGTHS = (0.2, 0.6)  # [m] of people
FOOT_LENGTHS = (0.1, 0.4)  # [m]
MASSES, HEIGHTS = (5.0, 300.0), (0.5, 2.5)  # [kg], [m]
GRAVITY = 9.81  # [m/s^2]
STILL = 0.02  # [m] a standing foot's markers stay within this
LEANING_DEG = 30.0  # a standing leg is nearer to the vertical than this
# Skin moves: in the data at hand the distance between two markers of a body changes by 3 mm in the median of the body's pairs
# and by 10 mm at most while the foot is flat (12 mm over a trial); 5 per cent of size change every pair of the leg by 16 mm.
SAME_SUBJECT, SAME_PAIR = 0.008, 0.022  # [m] median of the pairs of a body, and any pair
SPREAD = 0.008  # [m] markers that lie closer to a line, root mean square, do not tell an orientation
LOADED = 20.0  # [N]


class _Frozen:
    """Arrays are read-only copies and mappings are closed, also after pickling."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, _frozen(value))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in vars(self).values())


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return MappingProxyType({key: _frozen(v) for key, v in value.items()})
    if isinstance(value, np.ndarray):
        value = np.array(value)
        value.flags.writeable = False
    return value


@dataclass(frozen=True, eq=False)
class Segment(_Frozen):
    """A rigid body.  All locations in body axes are from its centre of mass.

    Attributes
    ----------
    A : (3, 3)
        Body to lab axes in the standing pose.
    r : (3,) [m]
        Centre of mass there, in lab axes.
    mass : float [kg]
    inertia : (3, 3) [kg m^2]
        About the centre of mass, in body axes.
    markers : mapping of label to (3,) [m]
        In body axes.
    calibration : frozenset of labels
        Those of ``markers`` that must not be tracked in motion: epicondyles belong to the thigh.
    """

    A: Floats
    r: Floats
    mass: float
    inertia: Floats
    markers: Mapping[str, Floats]
    calibration: frozenset[str] = frozenset()

    def local(self, point: Floats) -> Floats:
        """A point (..., 3) [m] in lab axes of the standing pose, in body axes from the centre of mass."""
        return np.asarray((point - self.r) @ self.A)


@dataclass(frozen=True, eq=False)
class Hinge(_Frozen):
    """An axis of rotation: a point (3,) [m] of it and its unit direction (3,), in the axes of each body that it is fixed in."""

    points: Mapping[str, Floats]
    axes: Mapping[str, Floats]


@dataclass(frozen=True, eq=False)
class LegFoot(_Frozen):
    """Everything that the model of a leg needs to know of its subject.

    Attributes
    ----------
    name : str
        Of the static trial.
    landmarks : Landmarks
        Landmark -> label, and the marker set.
    mass : float [kg]
        Of the whole subject.
    height : float [m] or None
    sex : "female", "male" or None
    bodies : mapping
        ``leg``, ``main_foot``, ``toes`` -> Segment.
    talocrural, talocalcaneal : Hinge
        Fixed in ``leg`` and in ``main_foot``.  Their axes point medially and anteriorly: dorsiflexion turns the foot about
        the negative talocrural axis, inversion about the positive talocalcaneal axis.
    metatarsophalangeal : Hinge
        Fixed in ``main_foot`` and ``toes``; its axis points medially, extension turns the toes about the negative axis.
    link_length : float [m]
        Of the massless link between the point of the talocrural and that of the talocalcaneal axis.
    knee : (3,) [m]
        Its centre, in the axes of the leg.
    leg_length, foot_length : float [m]
        Centre of the knee to the middle of the malleoli; heel to toe tip.
    sources : mapping of str to str
        What was chosen for this subject, and where it comes from.
    """

    name: str
    landmarks: Landmarks
    mass: float
    height: float | None
    sex: str | None
    bodies: Mapping[str, Segment]
    talocrural: Hinge
    talocalcaneal: Hinge
    metatarsophalangeal: Hinge
    link_length: float
    knee: Floats
    leg_length: float
    foot_length: float
    sources: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Pose(_Frozen):
    """Where a body is in each frame: A (n, 3, 3) body to lab axes, r (n, 3) [m] centre of mass, residual (n,) [m].

    The residual is the root mean square distance of the body's markers from where they were while standing.  NaN in frames
    without enough markers.
    """

    A: Floats
    r: Floats
    residual: Floats


@dataclass(frozen=True, eq=False)
class Rebuilt(_Frozen):
    """The markers of a trial, with those that only the static trial has.

    Attributes
    ----------
    markers : mapping of label to (n, 3) [m]
        Of all bodies, in lab axes; the trial's own as they are, gaps included.
    static_only : mapping of label to body
        Those that were rebuilt from the other markers of the body.
    residual : mapping of body to (n,) [m]
        Root mean square error of the fits that they come from, as in ``Pose``.
    """

    markers: Mapping[str, Floats]
    static_only: Mapping[str, str]
    residual: Mapping[str, Floats]


def leg_foot(
    static: Capture,
    side: str = "right",
    *,
    mass: float | None = None,
    height: float | None = None,
    sex: str | None = None,
    markers: Mapping[str, str] | None = None,
) -> LegFoot:
    """The leg and foot of a subject who stands still with flat feet, facing any way.

    Main foot: x is horizontal, from the heel to the second metatarsal head (else to the toe tip, else to the middle of the
    first and fifth head), and z is vertical.  The sole is on the ground, so this is the frame of the sole; heights of
    markers, which differ between flat and hollow feet and with the hand that placed them, do not enter.  Toes: parallel to
    the main foot.  Leg: z from the middle of the malleoli to the centre of the knee, y as near as possible to the line from
    the lateral to the medial malleolus.

    Talocrural axis: through the malleoli, moved down the leg by what Inman measured.  His 8 mm forwards of the lateral
    malleolus are left out: he measured from the tip, behind the prominence that carries the marker.  Talocalcaneal axis:
    angles of Isman and Inman from the long axis of the foot and the sole, read as seed 000, Eqs. (5), (7) reads such angles;
    one height of the talus (seed 000, scaled with the length of the foot) straight below the middle of the talocrural axis.
    Metatarsophalangeal axis: horizontal, through the first and fifth metatarsal heads at their mean height.

    The leg's centre of mass lies between the centre of the knee and the middle of the malleoli, that of the whole foot on its
    long axis, half way up from the metatarsal heads to the talocrural axis.  Toes and main foot have the masses of seed 001
    in proportion, the toes its inertia and centre of mass, scaled; the main foot has the rest, so that both together are
    the foot of de Leva.  His sagittal axis of the foot is taken as the vertical: he follows subjects who lay with feet
    stretched.

    Parameters
    ----------
    static : Capture
        The trial.  Markers are averaged over its frames.
    side : "left" or "right"
        Whose labels to use.  The trial of a left leg must have been mirrored.
    mass : float [kg], optional
        Else what the trial says, else its force plates.
    height : float [m], optional
        Needed only where there are no markers on the knee.
    sex : "female" or "male", optional
        Else what the trial says; where that is not known either, the mean of both.
    markers : mapping, optional
        Landmark -> label, where the labels are of no known set.

    Returns
    -------
    LegFoot

    Raises
    ------
    ModelError
    """
    seen = [label for label, p in static.markers.items() if np.isfinite(p).all(axis=-1).any()]
    known = recognise(seen, side, markers=markers, file=static.name)
    sources = {"marker set": known.marker_set}
    at = {landmark: _mean(static.markers[label], axis=0) for landmark, label in known.labels.items()}
    for landmark, purpose in NEEDED.items():
        known.need(landmark, purpose)
    heel, malleoli = at["heel"], [at["lateral_malleolus"], at["medial_malleolus"]]
    heads = [at["metatarsal_1"], at["metatarsal_5"]]
    ankle, ball = np.mean(malleoli, axis=0), np.mean(heads, axis=0)

    height = static.subject.height if height is None else height
    if height is not None:
        _within(height, HEIGHTS, f"{static.name}: height", "m", "give height= in metres")
    sex = _sex(static, sex, sources)
    knee, sources["knee"] = _knee(static, known, at, ankle, sex, height)
    leg_length = float(np.linalg.norm(knee - ankle))
    _within(leg_length, LEG_LENGTHS, f"{static.name}: length of the leg", "m", "are the units of the markers metres?")

    front = at.get("metatarsal_2", at.get("toe_tip", ball))
    A_foot = _frame(UP, front - heel, "x")
    A_leg = _frame(knee - ankle, malleoli[1] - malleoli[0], "y")
    _check_stance(static, known, A_leg, across=float((malleoli[1] - malleoli[0]) @ A_foot[:, 1]))

    # Axes of rotation, in lab axes of the standing pose.
    below = np.array([BELOW_LATERAL_MALLEOLUS, BELOW_MEDIAL_MALLEOLUS])
    lateral, medial = malleoli - below[:, None] * A_leg[:, 2]
    crural_point, crural_axis = (lateral + medial) / 2, _unit(medial - lateral)
    along = (ball - heel) @ A_foot[:, 0]
    if "toe_tip" in known:
        foot_length = float((at["toe_tip"] - heel) @ A_foot[:, 0])
        sources["foot length"] = "heel to toe tip, markers"
    else:
        foot_length = float(along * SEED_FOOT_LENGTH / SEED_MAIN_FOOT_LENGTH)
        sources["foot length"] = "heel to metatarsal heads, markers, in the proportion of seed 001"
    _within(foot_length, FOOT_LENGTHS, f"{static.name}: length of the foot", "m", "are the labels right?")
    scale = foot_length / SEED_FOOT_LENGTH
    link_length = foot.LINK_LENGTH * scale
    calcaneal_point, calcaneal_axis = crural_point - link_length * UP, A_foot @ _talocalcaneal()
    ball_axis = _unit((heads[0] - heads[1]) * (1.0, 1.0, 0.0))
    sources |= {
        "talocrural axis": "malleoli, 3 mm (lateral) and 5 mm (medial) down: Inman 1976",
        "talocalcaneal axis": f"{TALOCALCANEAL_INCLINATION_DEG:g} deg up, {TALOCALCANEAL_DEVIATION_DEG:g} deg medially from "
        "the long axis of the foot: Isman and Inman 1969",
        "link length": f"{foot.LINK_LENGTH:g} m (seed 000) times foot length over {SEED_FOOT_LENGTH:g} m (seed 001)",
        "metatarsophalangeal axis": "first and fifth metatarsal heads, markers",
    }

    # Masses.
    mass = _mass(static, known, mass, sources)
    sources["inertia"] = (
        f"de Leva 1996, Table 4, {sex or 'mean of female and male, as the sex is not known'}; toes and main foot in the "
        "proportion of seed 001"
    )
    part, centre, radii, _ = _de_leva(sex, "leg")
    leg_mass = part * mass
    leg_inertia = leg_mass * np.diag((radii * leg_length) ** 2)
    part, heel_to_centre, radii, _ = _de_leva(sex, "foot")
    middle = heel + A_foot @ (heel_to_centre * foot_length, 0.0, (ball[2] + crural_point[2]) / 2 - heel[2])
    sagittal, transverse, longitudinal = (radii * foot_length) ** 2
    whole = (part * mass, middle, part * mass * np.diag((longitudinal, transverse, sagittal)))
    toes, main_foot = _split(static, whole, ball, A_foot, scale)

    def segment(body: str, A: Floats, mass: float, r: Floats, inertia: Floats) -> Segment:
        own, borrowed = known.of(body), known.of("thigh") if body == "leg" else ()
        locations = {known.labels[name]: (at[name] - r) @ A for name in own + borrowed}
        return Segment(A, r, mass, inertia, locations, frozenset(known.labels[name] for name in borrowed))

    bodies = {
        "leg": segment("leg", A_leg, leg_mass, knee + centre * (ankle - knee), leg_inertia),
        "main_foot": segment("main_foot", A_foot, *main_foot),
        "toes": segment("toes", A_foot, *toes),
    }

    def hinge(point: Floats, axis: Floats, *names: str) -> Hinge:
        return Hinge({n: bodies[n].local(point) for n in names}, {n: axis @ bodies[n].A for n in names})

    return LegFoot(
        name=static.name, landmarks=known, mass=mass, height=height, sex=sex, bodies=bodies,
        talocrural=hinge(crural_point, crural_axis, "leg"),
        talocalcaneal=hinge(calcaneal_point, calcaneal_axis, "main_foot"),
        metatarsophalangeal=hinge(ball, ball_axis, "main_foot", "toes"),
        link_length=link_length, knee=bodies["leg"].local(knee),
        leg_length=leg_length, foot_length=foot_length, sources=sources,
    )  # fmt: skip


# Motion


def tracked(subject: LegFoot, trial: Capture, body: str) -> tuple[str, ...]:
    """Labels of a body that tell how it moves: in the static trial and seen in this one."""
    segment = subject.bodies[body]
    return tuple(
        label
        for label in segment.markers
        if label not in segment.calibration
        and label in trial.markers
        and np.isfinite(trial.markers[label]).all(axis=-1).any()
    )


def check_same_subject(subject: LegFoot, trial: Capture) -> None:
    """Refuse a trial whose markers are not those of the static trial.

    Distances between markers of the leg and of the main foot are compared, as medians over the trial.  Distances between
    metatarsal heads are not: the forefoot is broader under load, by up to 14 mm in the data at hand.

    Raises
    ------
    ModelError
        With the largest difference and its limit, or where the trials have no markers in common.
    """
    worst, typical, words = 0.0, 0.0, ""
    forefoot = {subject.landmarks.labels[name] for name in FOREFOOT if name in subject.landmarks}
    labels = {body: tracked(subject, trial, body) for body in BODIES}
    if not any(labels.values()):
        sought = ", ".join(label for segment in subject.bodies.values() for label in segment.markers)
        raise ModelError(
            f"{trial.name}: it has none of the markers of the static trial {subject.name} ({sought}); give the static trial "
            "of the same subject with the same labels"
        )
    for body in ("leg", "main_foot"):
        off = []
        for a, b in combinations(labels[body], 2):
            if {a, b} <= forefoot:
                continue
            local = subject.bodies[body].markers
            stood = float(np.linalg.norm(local[a] - local[b]))
            apart = np.linalg.norm(trial.markers[a] - trial.markers[b], axis=-1)
            if np.isfinite(apart).any():
                moved = float(np.nanmedian(apart))
                off.append(abs(moved - stood))
                if abs(moved - stood) > worst:
                    worst = abs(moved - stood)
                    words = f"{a} to {b}: {1e3 * moved:.0f} mm, standing {1e3 * stood:.0f} mm"
        if off:
            typical = max(typical, float(np.median(off)))
    for value, limit, what in (
        (worst, SAME_PAIR, "apart"),
        (typical, SAME_SUBJECT, "apart in the median of a body's pairs"),
    ):
        if value > limit:
            raise ModelError(
                f"{trial.name}: the markers are not placed as in the static trial {subject.name} ({words}): {1e3 * value:.0f} mm "
                f"{what}, the limit is {1e3 * limit:.0f} mm; give the static trial of the same subject and day"
            )


def segment_pose(subject: LegFoot, trial: Capture) -> Mapping[str, Pose]:
    """How each body moves in a trial by its own markers, without the joints; the toes turn about their hinge.

    Leg and main foot: least squares fit of a rigid body (singular value decomposition) in every frame that has three
    markers not in a line.  Toes: best angle about the metatarsophalangeal axis; parallel to the main foot where the trial
    has no markers of theirs.

    Returns
    -------
    mapping of body to Pose

    Raises
    ------
    ModelError
        Where a body has not enough markers.
    """
    poses = {}
    for body in ("leg", "main_foot"):
        segment, labels = subject.bodies[body], tracked(subject, trial, body)
        local = np.array([segment.markers[label] for label in labels]).reshape(-1, 3)
        if not _spread(local):
            raise ModelError(
                f"{trial.name}: the {body.replace('_', ' ')} has the markers {', '.join(labels) or '(none)'} in common with "
                f"the static trial {subject.name}; it takes three that are not in a line to tell how it moves"
            )
        poses[body] = _fit(local, np.stack([trial.markers[label] for label in labels], axis=1))
    poses["toes"] = _turn_toes(subject, trial, poses["main_foot"])
    return MappingProxyType(poses)


def rebuild(subject: LegFoot, trial: Capture) -> Rebuilt:
    """Put the markers that only the static trial has where they would be in a trial, by the others of the same body.

    Raises
    ------
    ModelError
        Where the trial is of another subject, or a body has not three markers that are not in a line.
    """
    check_same_subject(subject, trial)
    poses = segment_pose(subject, trial)
    markers, static_only = {}, {}
    for body, segment in subject.bodies.items():
        for label, local in segment.markers.items():
            # A marker whose label is in the trial without a sight of it is no better than one that is not there.
            if label in trial.markers and np.isfinite(trial.markers[label]).any():
                markers[label] = trial.markers[label]
            else:
                markers[label] = poses[body].r + poses[body].A @ local
                static_only[label] = body
    return Rebuilt(markers, static_only, {body: pose.residual for body, pose in poses.items()})


def _fit(local: Floats, seen: Floats) -> Pose:
    """The rigid motion of points local (m, 3) to seen (n, m, 3) in each frame; NaN points are left out."""
    n = len(seen)
    A, r, residual = np.full((n, 3, 3), np.nan), np.full((n, 3), np.nan), np.full(n, np.nan)
    there = np.isfinite(seen).all(axis=-1)
    for which in np.unique(there, axis=0):  # frames with the same markers are one array
        if not _spread(local[which]):
            continue
        rows = np.flatnonzero((there == which).all(axis=1))
        a, b = local[which], seen[np.ix_(rows, np.flatnonzero(which))]
        a0, b0 = a.mean(axis=0), b.mean(axis=1)
        U, _, Vt = np.linalg.svd(np.swapaxes(b - b0[:, None], 1, 2) @ (a - a0))
        U[..., 2] *= np.sign(np.linalg.det(U @ Vt))[:, None]  # a turn, not a reflection
        A[rows] = U @ Vt
        r[rows] = b0 - A[rows] @ a0
        off = b - (r[rows][:, None] + a @ np.swapaxes(A[rows], 1, 2))
        residual[rows] = np.sqrt((off**2).sum(axis=-1).mean(axis=-1))
    return Pose(A, r, residual)


def _turn_toes(subject: LegFoot, trial: Capture, main_foot: Pose) -> Pose:
    """The toes, turned about their hinge on the main foot to fit their markers best; NaN where these are not seen."""
    hinge, toes = subject.metatarsophalangeal, subject.bodies["toes"]
    n, a, labels = len(main_foot.r), hinge.axes["main_foot"], tracked(subject, trial, "toes")
    centre = main_foot.r + main_foot.A @ hinge.points["main_foot"]
    turn, off = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 0, 3))
    if labels:
        p = np.array([toes.markers[label] for label in labels]) - hinge.points["toes"]
        q = (np.stack([trial.markers[label] for label in labels], axis=1) - centre[:, None]) @ main_foot.A
        there = np.isfinite(q).all(axis=-1)
        q0 = np.where(there[..., None], q, 0.0)
        # Both axes are parallel while standing: the sine and the cosine of the angle that brings p nearest to q.
        sine = np.cross(p, q0).sum(axis=1) @ a
        cosine = ((q0 * p).sum(axis=-1) - (q0 @ a) * (p @ a)).sum(axis=-1)
        angle = np.where(there.any(axis=1), np.arctan2(sine, cosine), np.nan)
        turn = _about(a, angle)
        off = np.where(there[..., None], q - p @ np.swapaxes(turn, 1, 2), np.nan)
    A = main_foot.A @ turn
    residual = np.zeros(n) if not labels else np.sqrt(_mean((off**2).sum(axis=-1), axis=1))
    return Pose(A, centre - A @ hinge.points["toes"], residual)


# Geometry


def _unit(v: Floats) -> Floats:
    return np.asarray(v / np.linalg.norm(v))


def _about(axis: Floats, angle: Floats) -> Floats:
    """Rotations (n, 3, 3) by angles (n,) [rad] about a unit axis (3,)."""
    K = np.cross(np.eye(3), axis)
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.asarray(np.eye(3) + s * K + (1.0 - c) * (K @ K))


def _frame(up: Floats, towards: Floats, name: str) -> Floats:
    """Axes x, y, z as columns (3, 3): z along ``up``, the axis ``name`` as near as possible to ``towards``."""
    z = _unit(up)
    other = _unit(towards - (towards @ z) * z)
    x, y = (other, np.cross(z, other)) if name == "x" else (np.cross(other, z), other)
    return np.column_stack([x, y, z])


def _spread(points: Floats) -> bool:
    """Whether points (m, 3) tell an orientation: three at least, and not in a line."""
    if len(points) < 3:
        return False
    return bool(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[1] > SPREAD * np.sqrt(len(points)))


def _talocalcaneal() -> Floats:
    """Unit vector (3,) of the talocalcaneal axis in the foot.  Seed 000, Eqs. (5), (7)."""
    about, projected = np.deg2rad([TALOCALCANEAL_DEVIATION_DEG, TALOCALCANEAL_INCLINATION_DEG])
    return _unit(np.array([np.cos(about), np.sin(about), np.tan(projected) * np.cos(about)]))


# What the static trial tells


def _mean(values: Floats, axis: int) -> Floats:
    """Mean without NaN; NaN, and no warning, where there is nothing else."""
    there = np.isfinite(values)
    count = there.sum(axis=axis)
    return np.asarray(np.where(there, values, 0.0).sum(axis=axis) / np.where(count, count, np.nan))


def _check_stance(static: Capture, known: Landmarks, A_leg: Floats, across: float) -> None:
    """The subject stands still and upright on what is a right foot; ``across`` [m] is how far the medial malleolus is medial."""
    lean = float(np.degrees(np.arccos(A_leg[2, 2])))
    if lean > LEANING_DEG:
        raise ModelError(
            f"{static.name}: the leg leans {lean:.0f} degrees from the vertical z, the limit is {LEANING_DEG:g}; the subject "
            "must stand upright and z must be up (read_capture takes up=)"
        )
    if across <= 0.0:
        remedy = "give Capture.mirrored() of it" if known.side == "left" else "are the labels exchanged?"
        raise ModelError(
            f"{static.name}: the medial malleolus of the {known.side} leg lies {-1e3 * across:.0f} mm to the lateral side of a "
            f"right foot, and a left foot must be mirrored first; {remedy}"
        )
    for landmark in known.of("main_foot"):
        p = static.markers[known.labels[landmark]]
        moved = float(np.ptp(np.nanquantile(p, [0.05, 0.95], axis=0), axis=0).max())
        if moved > STILL:
            raise ModelError(
                f"{static.name}: marker {known.labels[landmark]} on the foot moves by {1e3 * moved:.0f} mm, the limit is "
                f"{1e3 * STILL:.0f} mm; the subject must stand still: give the static trial, or crop it"
            )


def _knee(
    static: Capture, known: Landmarks, at: Mapping[str, Floats], ankle: Floats, sex: str | None, height: float | None
) -> tuple[Floats, str]:
    """Centre of the knee (3,) [m] while standing, and where it comes from."""
    if "lateral_epicondyle" in at and "medial_epicondyle" in at:
        return (at["lateral_epicondyle"] + at["medial_epicondyle"]) / 2, "middle of the epicondyles, markers"
    if "lateral_epicondyle" in at:
        up = at["lateral_epicondyle"] - at["lateral_malleolus"]
        return ankle + up, "above the ankle as the lateral epicondyle is above the lateral malleolus, markers"
    cluster = [at[name] for name in known.of("leg") if not name.endswith("malleolus")]
    if "fibula_head" in at:
        up, how = at["fibula_head"] - at["lateral_malleolus"], "from the lateral malleolus to the head of the fibula"
    elif len(cluster) >= 3:
        up, how = np.mean(cluster, axis=0) - ankle, "from the ankle to the middle of the leg's tracking markers"
    else:
        up, how = UP, "vertical"
    if height is None:
        raise ModelError(
            f"{static.name}: without markers on the epicondyles the length of the leg comes from the subject's height; "
            "give height= in metres"
        )
    return ankle + _de_leva(sex, "leg")[3] * height * _unit(up), f"{how}; length from the height, de Leva 1996"


def _sex(static: Capture, sex: str | None, sources: dict[str, str]) -> str | None:
    if sex is not None and sex not in DE_LEVA:
        raise ModelError(f"sex = {sex!r}; use 'female', 'male' or None, which takes the mean of both")
    sources["sex"] = "given" if sex else "static trial" if static.subject.sex in DE_LEVA else "not known"
    return sex or (static.subject.sex if static.subject.sex in DE_LEVA else None)


def _mass(static: Capture, known: Landmarks, mass: float | None, sources: dict[str, str]) -> float:
    """The subject's mass [kg]."""
    if mass is not None:
        sources["mass"] = "given"
    elif static.subject.mass is not None:
        mass, sources["mass"] = static.subject.mass, "static trial"
    else:
        mass, sources["mass"] = _weigh(static, known), "force plates of the static trial"
    return _within(mass, MASSES, f"{static.name}: mass of the subject", "kg", "give mass= in kilograms")


def _weigh(static: Capture, known: Landmarks) -> float:
    """The mass [kg] that stands on the force plates; refused where the other foot does not stand on them."""
    remedy = "give mass= in kilograms"
    weights = [(float(np.mean(plate.force[:, 2])), _mean(plate.cop, axis=0)) for plate in static.forces]
    loaded = [(weight, cop) for weight, cop in weights if weight > LOADED and np.isfinite(cop).all()]
    if not loaded:
        raise ModelError(
            f"{static.name}: the mass of the subject is not known: the file does not tell, and no force plate is loaded; {remedy}"
        )
    total = sum(weight for weight, _ in loaded)
    pressed = sum(weight * cop for weight, cop in loaded) / total
    other = "left" if known.side == "right" else "right"
    try:
        heels = [
            static.markers[recognise(static.markers, s, file=static.name).labels["heel"]] for s in (known.side, other)
        ]
    except (ModelError, KeyError):
        return total / GRAVITY  # one foot's markers cannot tell
    a, b = (_mean(p, axis=0)[:2] for p in heels)
    share = float((pressed[:2] - a) @ (b - a) / ((b - a) @ (b - a)))
    if not 0.2 < share < 0.8:
        raise ModelError(
            f"{static.name}: the mass of the subject is not known: the file does not tell, and only one foot stands on force "
            f"plates; {remedy}"
        )
    return total / GRAVITY


def _within(value: float, limits: tuple[float, float], what: str, unit: str, remedy: str) -> float:
    low, high = limits
    if not (np.isscalar(value) and low <= value <= high):
        raise ModelError(f"{what} = {value:.4g} {unit}, must be between {low:g} and {high:g} {unit}; {remedy}")
    return float(value)


# Masses


def _de_leva(sex: str | None, segment: str) -> tuple[float, float, Floats, float]:
    """Part of the mass, of the length to the centre of mass, radii (3,), part of the height; the mean where sex is None."""
    rows = [np.hstack(DE_LEVA[one][segment]) for one in ([sex] if sex else DE_LEVA)]
    mass, centre, *radii, height = np.mean(rows, axis=0)
    return float(mass), float(centre), np.array(radii), float(height)


def _split(
    static: Capture, whole: tuple[float, Floats, Floats], ball: Floats, A: Floats, scale: float
) -> tuple[tuple[float, Floats, Floats], tuple[float, Floats, Floats]]:
    """Mass [kg], centre of mass in lab axes (3,) [m] and inertia in body axes (3, 3) [kg m^2] of toes and main foot."""
    mass, middle, inertia = whole
    seed, main = foot.BODIES["toes"], foot.BODIES["main_foot"]
    toes_mass = mass * seed["mass"] / (seed["mass"] + main["mass"])
    toes_inertia = np.diag(seed["inertia"]) * toes_mass / seed["mass"] * scale**2
    toes_r = ball - A @ np.array(foot.METATARSOPHALANGEAL["toes"]) * scale
    main_mass = mass - toes_mass
    main_r = (mass * middle - toes_mass * toes_r) / main_mass
    d = (toes_r - main_r) @ A
    main_inertia = inertia - toes_inertia - toes_mass * main_mass / mass * (d @ d * np.eye(3) - np.outer(d, d))
    moments = np.linalg.eigvalsh(main_inertia)
    if not (moments[0] > 0.0 and moments[2] <= moments[0] + moments[1]):
        raise ModelError(
            f"{static.name}: no main foot is left when toes with their centre {1e3 * d[0]:.0f} mm before its own are taken from "
            f"a foot {1e3 * scale * SEED_FOOT_LENGTH:.0f} mm long; are the labels of heel, metatarsals and toe tip right?"
        )
    return (toes_mass, toes_r, toes_inertia), (main_mass, main_r, main_inertia)
