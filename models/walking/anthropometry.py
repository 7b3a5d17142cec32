"""Body segment parameters: masses, centres of mass and inertia of the leg, the main foot and the toes, and the subject's mass.

Sources: de Leva, J Biomech 29, 1996, 1223-1230, Table 4; Winter, Biomechanics and Motor Control of Human Movement, 4th ed., 2009,
Table 4.1, after Dempster (1955); toes and main foot in the proportion of Rodrigues da Silva et al.
(2024c), section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from models import foot
from models.foot_anatomy import FOOT_LENGTH, MASSES
from models.walking.capture import Capture
from models.walking.geometry import mean_of_seen
from models.walking.marker_sets import Landmarks, recognise
from runtime import ModelError
from runtime.support import GRAVITY, checked
from runtime.support.arrays import Floats

# Winter (2009), Table 4.1: part of the body's mass; centre of mass from the proximal end and radius of gyration about it as parts
# of the segment's length (knee to ankle; lateral malleolus to the head of the second metatarsal).  The table has no radius about
# the long axis of a segment: that of de Leva is used.
WINTER = {"leg": (0.0465, 0.433, 0.302), "foot": (0.0145, 0.500, 0.475)}
TABLES = {"de_leva": "de Leva (1996), Table 4", "winter": "Winter (2009), Table 4.1, after Dempster (1955)"}
Inertia = str | Mapping[str, tuple[float, float, Sequence[float]]]  # a table's name, or own values
PUBLISHED_FOOT_LENGTH = FOOT_LENGTH  # [m] of the foot to which the link and the toes belong

# De Leva (1996), Table 4: part of the body's mass; centre of mass from the proximal end (knee; heel) and radii of gyration
# about the sagittal, transverse and longitudinal axis as parts of the segment's length (knee centre to lateral malleolus;
# heel to toe tip; hip centre to knee centre); length of the segment as part of the body's height.
DE_LEVA = {
    "male": {
        "leg": (0.0433, 0.4459, (0.255, 0.249, 0.103), 0.4340 / 1.741),
        "foot": (0.0137, 0.4415, (0.257, 0.245, 0.124), 0.2581 / 1.741),
        "thigh": (0.1416, 0.4095, (0.329, 0.329, 0.149), 0.4222 / 1.741),
    },
    "female": {
        "leg": (0.0481, 0.4416, (0.271, 0.267, 0.093), 0.4323 / 1.735),
        "foot": (0.0129, 0.4014, (0.299, 0.279, 0.139), 0.2283 / 1.735),
        "thigh": (0.1478, 0.3612, (0.369, 0.364, 0.162), 0.3685 / 1.735),
    },
}
MIN_LOAD = 20.0  # [N] mean vertical force from which a plate counts as loaded


class SegmentParameters(NamedTuple):
    """A row of de Leva's table: parts of the body's mass, of the segment's length, and of the body's height."""

    mass: float
    centre: float
    radii: Floats  # (3,) sagittal, transverse, longitudinal
    length: float


class Inertial(NamedTuple):
    """Mass [kg], centre of mass in lab axes (3,) [m], inertia about it in body axes (3, 3) [kg m^2]."""

    mass: float
    r: Floats
    inertia: Floats


@checked
def de_leva(sex: str | None, segment: str) -> SegmentParameters:
    """Parameters of the "leg", the "foot" or the "thigh"; the mean of female and male where the sex is None."""
    rows = [np.hstack(DE_LEVA[one][segment]) for one in ([sex] if sex else DE_LEVA)]
    mass, centre, *radii, length = np.mean(rows, axis=0)
    return SegmentParameters(float(mass), float(centre), np.array(radii), float(length))


def check_inertia(table: Inertia) -> None:
    """Refuse unknown tables, and own values that no segment has.

    Raises
    ------
    ModelError
    """
    if isinstance(table, str):
        if table not in TABLES:
            raise ModelError(
                f"inertia = {table!r}; use {', '.join(map(repr, TABLES))}, or own values of leg, foot and thigh"
            )
        return
    if not {"leg", "foot"} <= set(table) <= {"leg", "foot", "thigh"}:
        raise ModelError(f"inertia = {dict(table)!r}; give leg and foot, and thigh if it is not de Leva's")
    for segment, row in table.items():
        values = np.hstack([np.ravel(part) for part in row]).astype(float)
        if len(values) != 5 or not ((values > 0.0) & (values < 1.0)).all():
            raise ModelError(
                f"inertia: {segment} = {row!r}; give part of the mass, centre of mass and (three) radii of gyration, each "
                "between 0 and 1"
            )
        longest, others = max(values[2:]) ** 2, sum(values[2:] ** 2)
        if longest > others - longest:
            raise ModelError(
                f"inertia: {segment}: radii of gyration {', '.join(f'{k:g}' for k in values[2:])} belong to no rigid body; the "
                "square of each must not exceed the sum of the squares of the others"
            )


def _row(table: Inertia, sex: str | None, segment: str) -> SegmentParameters:
    """Parameters by a table; of Winter's without the radius about the long axis; de Leva's thigh, where own values have none."""
    known = de_leva(sex, segment)
    if segment not in (table if not isinstance(table, str) else WINTER if table == "winter" else ()):
        return known
    if isinstance(table, str):
        mass, centre, radius = WINTER[segment]
        return SegmentParameters(mass, centre, np.array([radius, radius, np.nan]), known.length)
    mass, centre, radii = table[segment]
    return SegmentParameters(float(mass), float(centre), np.array(radii, dtype=float), known.length)


def long_segment_inertial(
    segment: str, sex: str | None, body_mass: float, upper: Floats, lower: Floats, table: Inertia = "de_leva"
) -> Inertial:
    """The "leg" or the "thigh", whose centre of mass lies between its upper and its lower end (3,) [m].

    Ends of the leg: centre of the knee and middle of the malleoli; of the thigh: centres of the hip and the knee.
    """
    row = _row(table, sex, segment)
    length = float(np.linalg.norm(upper - lower))
    radii = np.where(np.isnan(row.radii), de_leva(sex, segment).radii, row.radii) * length
    mass = row.mass * body_mass
    return Inertial(mass, upper + row.centre * (lower - upper), mass * np.diag(radii**2))


class FootPlace(NamedTuple):
    """Where a foot is while standing: landmarks (3,) [m] and axes of the main foot as columns (3, 3), in lab axes; lengths [m].

    ``front``: head of the second metatarsal, or what else is there; ``middle_height``: of the centre of mass.
    """

    heel: Floats
    lateral_malleolus: Floats
    front: Floats
    A: Floats
    length: float
    middle_height: float


def foot_inertial(sex: str | None, body_mass: float, at: FootPlace, table: Inertia = "de_leva") -> Inertial:
    """The whole foot, whose centre of mass lies on its long axis.

    De Leva's sagittal axis of the foot is the vertical axis here: his subjects lay with stretched feet.  Winter's segment ends at
    the lateral malleolus and the second metatarsal head, both projected on the long axis for the centre of mass.
    """
    row = _row(table, sex, "foot")
    if table == "winter":
        back, front = (float((point - at.heel) @ at.A[:, 0]) for point in (at.lateral_malleolus, at.front))
        along, segment = back + row.centre * (front - back), float(np.linalg.norm(at.front - at.lateral_malleolus))
    else:
        along, segment = row.centre * at.length, at.length
    radii = np.where(np.isnan(row.radii), de_leva(sex, "foot").radii * at.length, row.radii * segment)
    r = at.heel + at.A @ (along, 0.0, at.middle_height - at.heel[2])
    sagittal, transverse, longitudinal = radii**2
    mass = row.mass * body_mass
    return Inertial(mass, r, mass * np.diag((longitudinal, transverse, sagittal)))


def split_foot(name: str, whole: Inertial, ball: Floats, A: Floats, scale: float) -> tuple[Inertial, Inertial]:
    """Toes and main foot, which together are the whole foot.

    Their masses are in the proportion of Rodrigues da Silva et al. (2024c); the toes have the inertia and the centre of mass
    of that model, scaled; the main foot has the rest.

    Parameters
    ----------
    name : str
        Of the static trial, for messages.
    whole : Inertial
    ball : (3,) [m]
        Point of the metatarsophalangeal axis, in lab axes.
    A : (3, 3)
        Axes of the main foot and the toes as columns, in lab axes.
    scale : float
        Length of the foot over that of the published foot.

    Raises
    ------
    ModelError
        Where the remaining inertia is not that of a rigid body.
    """
    published, main = foot.BODIES["toes"], foot.BODIES["main_foot"]
    toes_mass = whole.mass * published["mass"] / (published["mass"] + main["mass"])
    toes_inertia = np.diag(published["inertia"]) * toes_mass / published["mass"] * scale**2
    toes_r = ball - A @ np.array(foot.METATARSOPHALANGEAL["toes"]) * scale
    main_mass = whole.mass - toes_mass
    main_r = (whole.mass * whole.r - toes_mass * toes_r) / main_mass
    d = (toes_r - main_r) @ A
    steiner = toes_mass * main_mass / whole.mass * (d @ d * np.eye(3) - np.outer(d, d))
    main_inertia = whole.inertia - toes_inertia - steiner
    moments = np.linalg.eigvalsh(main_inertia)
    if not (moments[0] > 0.0 and moments[2] <= moments[0] + moments[1]):
        raise ModelError(
            f"{name}: no main foot is left when toes with their centre {1e3 * d[0]:.0f} mm in front of its own are subtracted "
            f"from a foot {1e3 * scale * PUBLISHED_FOOT_LENGTH:.0f} mm long; are the labels of heel, metatarsals and toe tip "
            "right, and does the foot stand flat (foot_flat)?"
        )
    return Inertial(toes_mass, toes_r, toes_inertia), Inertial(main_mass, main_r, main_inertia)


def choose_sex(static: Capture, sex: str | None) -> tuple[str | None, str]:
    """The subject's sex, None where it is not known, and its source.

    Raises
    ------
    ModelError
        For another word than "female" or "male".
    """
    if sex is not None and sex not in DE_LEVA:
        raise ModelError(f"sex = {sex!r}; use 'female', 'male' or None, which takes the mean of both")
    if sex:
        return sex, "given"
    return (static.subject.sex, "static trial") if static.subject.sex in DE_LEVA else (None, "not known")


@checked
def choose_mass(static: Capture, known: Landmarks, mass: float | None) -> tuple[float, str]:
    """The subject's mass [kg] and its source: the argument, else the static trial, else its force plates.

    Raises
    ------
    ModelError
        Where none of them contains it, or the value is outside ``MASSES``.
    """
    source = "given"
    if mass is None:
        mass, source = static.subject.mass, "static trial"
    if mass is None:
        mass, source = _weigh(static, known), "force plates of the static trial"
    return within(mass, MASSES, f"{static.name}: mass of the subject", "kg", "give mass= in kilograms"), source


def _weigh(static: Capture, known: Landmarks) -> float:
    """The mass [kg] on the force plates; refused where the other foot does not stand on them."""
    remedy = "give mass= in kilograms"
    weights = [(float(np.mean(plate.force[:, 2])), mean_of_seen(plate.cop, axis=0)) for plate in static.forces]
    loaded = [(weight, cop) for weight, cop in weights if weight > MIN_LOAD and np.isfinite(cop).all()]
    if not loaded:
        raise ModelError(
            f"{static.name}: the mass of the subject is not known: the file does not state it, and no force plate is loaded; "
            f"{remedy}"
        )
    total = sum(weight for weight, _ in loaded)
    pressed = sum((weight * cop for weight, cop in loaded), start=np.zeros(3)) / total
    other = "left" if known.side == "right" else "right"
    try:
        heels = [
            static.markers[recognise(static.markers, s, file=static.name).labels["heel"]] for s in (known.side, other)
        ]
    except (ModelError, KeyError):
        return total / GRAVITY  # without markers of the other foot nothing can be checked
    a, b = (mean_of_seen(p, axis=0)[:2] for p in heels)
    share = float((pressed[:2] - a) @ (b - a) / ((b - a) @ (b - a)))
    if not 0.2 < share < 0.8:
        raise ModelError(
            f"{static.name}: the mass of the subject is not known: the file does not state it, and only one foot stands on "
            f"force plates; {remedy}"
        )
    return total / GRAVITY


def within(value: float, limits: tuple[float, float], what: str, unit: str, remedy: str) -> float:
    """A number that lies between two limits.

    Raises
    ------
    ModelError
        With the name of the number, its value, the limits and the remedy.
    """
    low, high = limits
    if not (isinstance(value, int | float | np.number) and low <= value <= high):
        raise ModelError(f"{what} = {value:.4g} {unit}, must be between {low:g} and {high:g} {unit}; {remedy}")
    return float(value)
