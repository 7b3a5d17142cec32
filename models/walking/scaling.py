"""A subject's leg, main foot and toes from a trial in which the subject stands still.

Sources.  Frames: ISB recommendation (Wu et al., J Biomech 35, 2002, 543-548) in Talus' axes.  Talocrural axis: Inman, The
Joints of the Ankle, 1976.  Talocalcaneal axis: Isman and Inman, Bull Prosthet Res 10-11, 1969.  Height of the talus and
proportions of the foot: Rodrigues da Silva et al. (2024a, 2024c).  Masses and inertia: ``models.walking.anthropometry``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models import foot
from models.foot_anatomy import FOOT_LENGTHS, HEIGHTS, SUBTALAR_DEVIATION_DEG, SUBTALAR_INCLINATION_DEG
from models.rotations import about
from models.walking.anatomy import Anatomy
from models.walking.anthropometry import (
    PUBLISHED_FOOT_LENGTH,
    TABLES,
    FootPlace,
    Inertial,
    choose_mass,
    choose_sex,
    de_leva,
    foot_inertial,
    long_segment_inertial,
    split_foot,
    within,
)
from models.walking.capture import Capture
from models.walking.geometry import UP, frame, mean_of_seen, unit
from models.walking.marker_sets import Landmarks, recognise
from models.walking.subject import Hinge, LegFoot, Segment
from runtime import ModelError
from runtime.support import checked
from runtime.support.arrays import Floats

# Inman (1976): the axis passes below the tips of the malleoli, in the mean by
BELOW_LATERAL_MALLEOLUS, BELOW_MEDIAL_MALLEOLUS = 0.003, 0.005  # [m]
PUBLISHED_MAIN_FOOT_LENGTH = 0.1903  # [m] heel to metatarsal heads.  Rodrigues da Silva et al. (2024c), section 3

NEEDED = {
    "lateral_malleolus": "the talocrural axis",
    "medial_malleolus": "the talocrural axis",
    "heel": "the frame of the foot",
    "metatarsal_1": "the metatarsophalangeal axis",
    "metatarsal_5": "the metatarsophalangeal axis",
}
# What Plug-in Gait has of a foot without medial markers.
PLUG_IN_FOOT = ("lateral_malleolus", "heel", "metatarsal_2")
MARKER_DIAMETER = 0.014  # [m] usual; by so much more than the width of the ankle are markers on both malleoli apart
LEG_LENGTHS = (0.2, 0.6)  # [m] of people
MAX_SWAY = 0.02  # [m] range within which a standing foot's markers stay
MAX_LEAN_DEG = 30.0  # between a standing leg and the vertical
# Of the markers of a flat foot: 18 feet of nine adults within 2 deg (pitch) and 5 deg (roll), a shod one 7 and 6 deg.
NOT_FLAT_DEG, NOT_LEVEL_DEG = 10.0, 15.0
FLAT_FOOT = "flat on the floor"  # source of a standing foot of which the markers show nothing else


@dataclass(frozen=True, eq=False)
class _Standing:
    """The standing pose in lab axes: landmarks ``at`` (3,) [m], points, frames (axes as columns) and lengths [m]."""

    trial: Capture
    known: Landmarks
    at: Mapping[str, Floats]
    ankle: Floats  # middle of the malleoli
    ball: Floats  # middle of the first and fifth metatarsal heads
    knee: Floats
    A_leg: Floats
    A_foot: Floats
    leg_length: float
    foot_length: float

    @property
    def scale(self) -> float:
        """Length of the foot over that of the published foot."""
        return self.foot_length / PUBLISHED_FOOT_LENGTH


@dataclass(frozen=True, eq=False)
class _Axes:
    """Point (3,) [m] and direction (3,) of each axis of rotation in lab axes, standing; length of the link [m]."""

    talocrural: tuple[Floats, Floats]
    talocalcaneal: tuple[Floats, Floats]
    metatarsophalangeal: tuple[Floats, Floats]
    link_length: float


# Above 60 lines: the docstring states every rule of the scaling in one place; the statements only follow it.
@checked
def scale_to_subject(
    static: Capture,
    side: str = "right",
    *,
    mass: float | None = None,
    height: float | None = None,
    sex: str | None = None,
    markers: Mapping[str, str] | None = None,
    anatomy: Anatomy | None = None,
    foot_flat: bool = True,
) -> LegFoot:
    """The leg and foot of a subject who stands still, facing any way; joint angles are zero in the standing pose.

    Main foot: x is horizontal, from the heel to the second metatarsal head (else to the toe tip, else to the middle of the
    first and fifth head), and z is vertical.  The sole is on the ground, so this is the frame of the sole; heights of
    markers, which differ between flat and hollow feet and with the hand that placed them, are not used.  Toes: parallel to
    the main foot.  Leg: z from the middle of the malleoli to the centre of the knee, y as near as possible to the line from
    the lateral to the medial malleolus.

    Talocrural axis: through the malleoli, moved down the leg by the distances that Inman measured.  His 8 mm forwards of the
    lateral malleolus are left out: he measured from the tip, behind the prominence that carries the marker.  Talocalcaneal
    axis: angles of Isman and Inman from the long axis of the foot and the sole, read as Rodrigues da Silva et al. (2024a),
    Eqs. (5), (7), read such angles; one height of the talus (2024a, scaled with the length of the foot) straight below the
    middle of the talocrural axis.  Metatarsophalangeal axis: horizontal, through the first and fifth metatarsal heads at
    their mean height.

    The leg's centre of mass lies between the centre of the knee and the middle of the malleoli, that of the whole foot on its
    long axis, half way up from the metatarsal heads to the talocrural axis.  Toes and main foot have the masses of Rodrigues
    da Silva et al. (2024c) in proportion, the toes the inertia and centre of mass given there, scaled; the main foot has the
    rest, so that both together are the foot of de Leva.

    Parameters
    ----------
    static : Capture
        The trial.  Markers are averaged over its frames.
    side : "left" or "right"
        Whose labels to use.  The trial of a left leg must have been mirrored.
    mass : float [kg], optional
        Default: that of the trial, else by its force plates.
    height : float [m], optional
        Needed only where there are no markers on the knee.
    sex : "female" or "male", optional
        Default: that of the trial; where it is not known either, the mean of both.
    markers : mapping, optional
        Landmark -> label, for labels of no known set.
    anatomy : Anatomy, optional
        Axes, height of the talus and table of inertia that replace the rules above.
    foot_flat : bool
        Whether the sole is flat on the floor, as the option of Plug-in Gait.  False, for a subject who cannot put the heel down:
        angles are zero where the foot is turned in its sagittal plane until the marker of the heel and the middle of the first
        and fifth metatarsal heads are equally high.  ``sources["standing foot"]`` has the angle.

    Returns
    -------
    LegFoot

    Raises
    ------
    ModelError
    """
    height = static.subject.height if height is None else height
    anatomy = anatomy or Anatomy()
    known, at, placed = _landmarks(static, side, markers, anatomy)
    at, standing = _standing_foot(known, at, foot_flat)
    sources = {"marker set": known.marker_set, "standing foot": standing, **placed}
    if height is not None:
        within(height, HEIGHTS, f"{static.name}: height", "m", "give height= in metres")
    sex, sources["sex"] = choose_sex(static, sex)
    pose = _standing(static, known, at, sex, height, sources)
    axes = _axes(pose, anatomy, sources)
    mass, sources["mass"] = choose_mass(static, known, mass)
    bodies = _bodies(pose, sex, mass, axes, anatomy, sources)

    def hinge(axis: tuple[Floats, Floats], *names: str) -> Hinge:
        point, direction = axis
        return Hinge({n: bodies[n].local(point) for n in names}, {n: direction @ bodies[n].A for n in names})

    return LegFoot(
        name=static.name, landmarks=known, mass=mass, height=height, sex=sex, bodies=bodies,
        talocrural=hinge(axes.talocrural, "leg"),
        talocalcaneal=hinge(axes.talocalcaneal, "main_foot"),
        metatarsophalangeal=hinge(axes.metatarsophalangeal, "main_foot", "toes"),
        link_length=axes.link_length, knee=bodies["leg"].local(pose.knee),
        leg_length=pose.leg_length, foot_length=pose.foot_length, sources=sources,
        shows_inversion=len(known.of("main_foot")) > 2,
    )  # fmt: skip


def _landmarks(
    static: Capture, side: str, markers: Mapping[str, str] | None, anatomy: Anatomy
) -> tuple[Landmarks, dict[str, Floats], dict[str, str]]:
    """The landmarks that are seen, and mean places (3,) [m], with those that have no marker and how they are placed."""
    seen = [label for label, p in static.markers.items() if np.isfinite(p).all(axis=-1).any()]
    known = recognise(seen, side, markers=markers, file=static.name)
    at = {landmark: mean_of_seen(static.markers[label], axis=0) for landmark, label in known.labels.items()}
    placed: dict[str, str] = {}
    width, heads = anatomy.ankle_width, "metatarsal_1" in at or "metatarsal_5" in at
    if "medial_malleolus" not in at and all(name in at for name in PLUG_IN_FOOT) and not (heads and width is None):
        if width is None:
            raise ModelError(
                f"{static.name}: no marker on the medial malleolus of the {side} side, which the talocrural axis needs; give "
                "ankle_width= in metres (Anatomy), or the label of a marker, markers={'medial_malleolus': LABEL}"
            )
        A_foot = frame(UP, at["metatarsal_2"] - at["heel"], "x")
        rise, ahead = np.tan(np.deg2rad([foot.TALOCRURAL_FRONTAL_DEG, foot.TALOCRURAL_TRANSVERSE_DEG]))
        medial = A_foot @ unit(np.array([ahead, 1.0, rise]))
        at["medial_malleolus"] = at["lateral_malleolus"] + (width + MARKER_DIAMETER) * medial
        placed["medial malleolus"] = f"ankle width, {width:g} m, along the axis of Rodrigues da Silva et al. (2024a)"
        if not heads:
            for name, aside in (("metatarsal_1", 1.0), ("metatarsal_5", -1.0)):
                at[name] = at["metatarsal_2"] + aside * width / 2.0 * A_foot[:, 1]
            placed["metatarsal heads"] = "across the foot on both sides of the marker on the second one"
    for landmark, purpose in NEEDED.items():
        if landmark not in at:
            known.need(landmark, purpose)
    return known, at, placed


def _standing_foot(known: Landmarks, at: dict[str, Floats], flat: bool) -> tuple[dict[str, Floats], str]:
    """The landmarks with a flat foot, and how the foot stands, in words.

    Pitch: by which the heel's marker is higher than the middle of the metatarsal heads.  Roll: by which the first of them is
    higher than the fifth.
    """
    heel, first, fifth = at["heel"], at["metatarsal_1"], at["metatarsal_5"]
    along, across = (first + fifth) / 2 - heel, first - fifth
    pitch, roll = (np.arctan2(v[2], np.linalg.norm(v[:2])) for v in (-along, across))
    side, turned = "higher" if pitch > 0.0 else "lower", f"{np.degrees(pitch):.1f} deg"
    where = f"its heel marker is {1e3 * abs(along[2]):.0f} mm {side} than the metatarsal heads, {turned}"
    if not flat:
        turn = about(unit(np.cross(UP, along)), -pitch[None])[0]
        ankle = (at["lateral_malleolus"] + at["medial_malleolus"]) / 2
        foot = (*known.of("main_foot"), *known.of("toes"))
        at = at | {name: ankle + turn @ (at[name] - ankle) for name in foot}
        return at, f"not flat, as given (foot_flat=False): {where}; angles are zero where both are equally high"
    pitch, roll = np.degrees([pitch, roll])
    words = [where] if abs(pitch) > NOT_FLAT_DEG else []
    if abs(roll) > NOT_LEVEL_DEG:
        words.append(f"its first metatarsal head is {1e3 * across[2]:.0f} mm higher than the fifth, {roll:.1f} deg")
    if not words:
        return at, FLAT_FOOT
    remedy = "; if its sole is not flat on the floor, give foot_flat=False" if abs(pitch) > NOT_FLAT_DEG else ""
    return at, f"treated as flat on the floor, though {' and '.join(words)}: angles are zero in this pose{remedy}"


def _standing(
    static: Capture,
    known: Landmarks,
    at: Mapping[str, Floats],
    sex: str | None,
    height: float | None,
    sources: dict[str, str],
) -> _Standing:
    """Points, frames and lengths of the standing pose; adds to the sources."""
    heel, lateral, medial = at["heel"], at["lateral_malleolus"], at["medial_malleolus"]
    ankle = np.mean([lateral, medial], axis=0)
    ball = np.mean([at["metatarsal_1"], at["metatarsal_5"]], axis=0)
    knee, sources["knee"] = _knee(static, known, at, ankle, sex, height)
    leg_length = float(np.linalg.norm(knee - ankle))
    within(leg_length, LEG_LENGTHS, f"{static.name}: length of the leg", "m", "are the units of the markers metres?")

    front = at.get("metatarsal_2", at.get("toe_tip", ball))
    A_foot = frame(UP, front - heel, "x")
    A_leg = frame(knee - ankle, medial - lateral, "y")
    _check_stance(static, known, A_leg, across=float((medial - lateral) @ A_foot[:, 1]))

    if "toe_tip" in known:
        foot_length = float((at["toe_tip"] - heel) @ A_foot[:, 0])
        sources["foot length"] = "heel to toe tip, markers"
    else:
        along = (ball - heel) @ A_foot[:, 0]
        foot_length = float(along * PUBLISHED_FOOT_LENGTH / PUBLISHED_MAIN_FOOT_LENGTH)
        sources["foot length"] = (
            "heel to metatarsal heads, markers, in the proportion of Rodrigues da Silva et al. (2024c)"
        )
    within(foot_length, FOOT_LENGTHS, f"{static.name}: length of the foot", "m", "are the labels right?")
    return _Standing(static, known, at, ankle, ball, knee, A_leg, A_foot, leg_length, foot_length)


def _axes(pose: _Standing, anatomy: Anatomy, sources: dict[str, str]) -> _Axes:
    """The axes of rotation; adds to the sources."""
    at, A_leg = pose.at, pose.A_leg
    below = np.array([BELOW_LATERAL_MALLEOLUS, BELOW_MEDIAL_MALLEOLUS])
    lateral, medial = [at["lateral_malleolus"], at["medial_malleolus"]] - below[:, None] * A_leg[:, 2]
    crural_point = (lateral + medial) / 2
    link_length = foot.LINK_LENGTH * pose.scale
    sources |= {
        "talocrural axis": "malleoli, 3 mm (lateral) and 5 mm (medial) down: Inman (1976)",
        "talocalcaneal axis": f"{SUBTALAR_INCLINATION_DEG:g} deg up, {SUBTALAR_DEVIATION_DEG:g} deg medially from "
        "the long axis of the foot: Isman and Inman (1969)",
        "link length": f"{foot.LINK_LENGTH:g} m, Rodrigues da Silva et al. (2024a), times foot length over "
        f"{PUBLISHED_FOOT_LENGTH:g} m, (2024c)",
        "metatarsophalangeal axis": "first and fifth metatarsal heads, markers",
    }
    if stated := anatomy.stated("talocrural"):
        rest = "" if " deg, " in stated else ", the other angle by the malleoli"
        sources["talocrural axis"] = f"{stated}, given{rest}; through the middle of the malleoli, moved down"
    if stated := anatomy.stated("subtalar"):
        sources["talocalcaneal axis"] = f"{stated}, given" + (
            "" if " deg, " in stated else ", the other: Isman and Inman (1969)"
        )
    if anatomy.link_length is not None:
        link_length, sources["link length"] = anatomy.link_length, "given"
    calcaneal = anatomy.talocalcaneal(SUBTALAR_INCLINATION_DEG, SUBTALAR_DEVIATION_DEG)
    crural = unit(medial - lateral)
    if anatomy.stated("talocrural"):
        crural = pose.A_foot @ anatomy.talocrural((medial - lateral) @ pose.A_foot)
    return _Axes(
        talocrural=(crural_point, crural),
        talocalcaneal=(crural_point - link_length * UP, pose.A_foot @ calcaneal),
        metatarsophalangeal=(pose.ball, unit((at["metatarsal_1"] - at["metatarsal_5"]) * (1.0, 1.0, 0.0))),
        link_length=link_length,
    )


def _bodies(
    pose: _Standing, sex: str | None, mass: float, axes: _Axes, anatomy: Anatomy, sources: dict[str, str]
) -> dict[str, Segment]:
    """Inertia and markers of each body; adds to the sources."""
    known, table = pose.known, anatomy.inertia
    by_sex = f", {sex or 'mean of female and male, as the sex is not known'}" if table == "de_leva" else ""
    source = f"{TABLES[table]}{by_sex}" if isinstance(table, str) else "own values"
    sources["inertia"] = f"{source}; toes and main foot in the proportion of Rodrigues da Silva et al. (2024c)"
    middle_height = (pose.ball[2] + axes.talocrural[0][2]) / 2
    at, front = pose.at, pose.at.get("metatarsal_2", pose.ball)
    place = FootPlace(at["heel"], at["lateral_malleolus"], front, pose.A_foot, pose.foot_length, middle_height)
    whole = foot_inertial(sex, mass, place, table)
    toes, main_foot = split_foot(pose.trial.name, whole, pose.ball, pose.A_foot, pose.scale)
    leg = long_segment_inertial("leg", sex, mass, pose.knee, pose.ankle, table)

    def segment(body: str, A: Floats, of: Inertial) -> Segment:
        own, of_thigh = known.of(body), known.of("knee") if body == "leg" else ()
        if len(own) < 3:  # as in Plug-in Gait, the lateral epicondyle is a marker of the leg
            own, of_thigh = (*own, *of_thigh), ()
        markers = {known.labels[name]: (pose.at[name] - of.r) @ A for name in own + of_thigh}
        return Segment(A, of.r, of.mass, of.inertia, markers, frozenset(known.labels[name] for name in of_thigh))

    return {
        "leg": segment("leg", pose.A_leg, leg),
        "main_foot": segment("main_foot", pose.A_foot, main_foot),
        "toes": segment("toes", pose.A_foot, toes),
    }


def _knee(
    static: Capture, known: Landmarks, at: Mapping[str, Floats], ankle: Floats, sex: str | None, height: float | None
) -> tuple[Floats, str]:
    """Centre of the knee (3,) [m] while standing, and its source."""
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
    return ankle + de_leva(sex, "leg").length * height * unit(up), f"{how}; length from the height, de Leva (1996)"


def _check_stance(static: Capture, known: Landmarks, A_leg: Floats, across: float) -> None:
    """Refuse a subject who moves, leans, or stands on a left foot; the medial malleolus is ``across`` [m] medial of the other."""
    lean = float(np.degrees(np.arccos(A_leg[2, 2])))
    if lean > MAX_LEAN_DEG:
        raise ModelError(
            f"{static.name}: the leg leans {lean:.0f} degrees from the vertical z, the limit is {MAX_LEAN_DEG:g}; the subject "
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
        if moved > MAX_SWAY:
            raise ModelError(
                f"{static.name}: marker {known.labels[landmark]} on the foot moves by {1e3 * moved:.0f} mm, the limit is "
                f"{1e3 * MAX_SWAY:.0f} mm; the subject must stand still: give the static trial, or crop it"
            )
