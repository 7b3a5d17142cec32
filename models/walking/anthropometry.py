"""Body segment parameters: masses, centres of mass and inertia of the leg, the main foot and the toes, and the subject's mass.

Sources: de Leva, J Biomech 29, 1996, 1223-1230, Table 4; toes and main foot in the proportion of Rodrigues da Silva et al.
(2024c), section 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models import foot
from models.foot_anatomy import FOOT_LENGTH, MASSES
from models.walking.capture import Capture
from models.walking.geometry import mean_of_seen
from models.walking.marker_sets import Landmarks, recognise
from models.walking.subject import GRAVITY
from runtime import ModelError
from runtime.support import checked
from runtime.support.arrays import Floats

PUBLISHED_FOOT_LENGTH = FOOT_LENGTH  # [m] of the foot to which the link and the toes belong

# De Leva (1996), Table 4: part of the body's mass; centre of mass from the proximal end (knee; heel) and radii of gyration
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
    """Parameters of the "leg" or the "foot"; the mean of female and male where the sex is None."""
    rows = [np.hstack(DE_LEVA[one][segment]) for one in ([sex] if sex else DE_LEVA)]
    mass, centre, *radii, length = np.mean(rows, axis=0)
    return SegmentParameters(float(mass), float(centre), np.array(radii), float(length))


@checked
def leg_inertial(sex: str | None, body_mass: float, knee: Floats, ankle: Floats) -> Inertial:
    """The leg, whose centre of mass lies between the centre of the knee (3,) and the middle of the malleoli (3,) [m]."""
    row = de_leva(sex, "leg")
    length = float(np.linalg.norm(knee - ankle))
    mass = row.mass * body_mass
    return Inertial(mass, knee + row.centre * (ankle - knee), mass * np.diag((row.radii * length) ** 2))


def foot_inertial(
    sex: str | None, body_mass: float, heel: Floats, A: Floats, length: float, middle_height: float
) -> Inertial:
    """The whole foot, whose centre of mass lies on its long axis at a height of ``middle_height`` [m].

    De Leva's sagittal axis of the foot is the vertical axis here: his subjects lay with stretched feet.

    Parameters
    ----------
    sex : "female", "male" or None
    body_mass : float [kg]
    heel : (3,) [m]
        Marker on the heel, in lab axes.
    A : (3, 3)
        Axes of the main foot as columns, in lab axes.
    length : float [m]
        Heel to toe tip.
    middle_height : float [m]
    """
    row = de_leva(sex, "foot")
    r = heel + A @ (row.centre * length, 0.0, middle_height - heel[2])
    sagittal, transverse, longitudinal = (row.radii * length) ** 2
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
            "right?"
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
