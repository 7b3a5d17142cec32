"""Right leg, main foot and toes; the ankle is a classical or a modified universal joint.

Bodies, joints and limits: Rodrigues da Silva et al. (2024c), Tables 1-4 (male, 71 kg, 1.77 m).  Axes of the ankle: Rodrigues
da Silva et al. (2024a), Eqs. (5)-(8), with the angles of Anderson and Pandy.  Below they are cited as (2024c) and (2024a).
x anterior, y medial, z up.  Dorsiflexion and inversion are positive; both hinge angles are zero in the neutral pose.  The papers
do not print the gravitational acceleration; 9.81 m/s^2 is used.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from runtime import GROUND, Builder, Cone, ModelError, System
from runtime.support import Usual, checked, usual
from runtime.support.arrays import Floats

LIMITS, PRESETS = (None, "elastic", "dissipative"), ("anatomical", "published")
LINK_LENGTH = 0.0417  # [m] height of the talus, (2024a) Section 6


class BodyValues(TypedDict):
    """Keywords of ``Builder.body``."""

    r: tuple[float, float, float]
    mass: float
    inertia: tuple[float, float, float]


# (2024c), Tables 1 and 2: centre of mass [m], mass [kg], principal moments of inertia [kg m^2].
BODIES: dict[str, BodyValues] = {
    "toes": dict(r=(0.2177, 0.0, 0.0367), mass=0.2051, inertia=(0.0001003, 0.0001003, 0.0002006)),
    "main_foot": dict(r=(0.0907, 0.0, 0.0562), mass=1.2000, inertia=(0.0013818, 0.0038337, 0.0037110)),
    "leg": dict(r=(0.0544, 0.0, 0.3513), mass=3.5100, inertia=(0.0477209, 0.0483791, 0.0048000)),
}
# (2024c), Table 3: local coordinates [m].
METATARSOPHALANGEAL = {"toes": (-0.0274, 0.0, -0.0185), "main_foot": (0.0996, 0.0, -0.0380)}
TALOCRURAL = {"leg": (0.0, 0.0, -0.2438)}
# Bones that are drawn, between landmarks of this foot: body, ends in axes of the body and radius [m].
KNEE, HEEL, TIP = (0.0, 0.0, 0.19), (-0.0907, 0.0, -0.036), (0.031, 0.0, -0.027)
RAY = 0.025  # [m] of the first and fifth ray, to the side of the middle
BONES: tuple[tuple[str, tuple[float, float, float], tuple[float, float, float], float], ...] = (
    ("leg", TALOCRURAL["leg"], KNEE, 0.02),
    ("main_foot", HEEL, (-0.0363, 0.0, 0.0), 0.02),
    *(("main_foot", (-0.0363, 0.3 * y, 0.0), (0.0996, y, -0.038), 0.011) for y in (RAY, 0.0, -RAY)),
    *(("toes", (-0.0274, y, -0.0185), (TIP[0] - abs(y) / 3, y, TIP[2]), 0.009) for y in (RAY, 0.0, -RAY)),
)

# Angles of the axes, projected on the cardinal planes [deg]: (2024a) Section 3.1, after Anderson and Pandy.
TALOCALCANEAL_TRANSVERSE_DEG, TALOCALCANEAL_SAGITTAL_DEG = 19.8, 35.3  # rho, theta
TALOCRURAL_TRANSVERSE_DEG, TALOCRURAL_FRONTAL_DEG = 6.0, 8.0  # epsilon, tau

# Limits of motion, (2024c) Section 4: a cone about each hinge, given by its maximum latitudes at the longitudes 0, 90, 180 and
# 270 degrees; 1 degree where the hinge cannot reach.
UNREACHED_DEG = 1.0
DORSIFLEXION_DEG, PLANTARFLEXION_DEG = 20.0, 35.0
INVERSION_DEG, EVERSION_DEG = 35.0, 25.0
MAX_MOMENT = 226.0  # [N m]
COMPLIANCE = float(np.deg2rad(11.5))  # [rad]
DAMPING = 0.568  # [N m s] 0.008 N m s/kg times 71 kg, (2024c) Section 4


def _turn(transverse_deg: float, projected_deg: float) -> tuple[float, float, float, float]:
    """Cosine and sine of an axis's angle in the transverse plane and of its true angle to that plane; (2024a), Eqs. (5), (6)."""
    about, projected = np.deg2rad([transverse_deg, projected_deg])
    real = np.arctan(np.tan(projected) * np.cos(about))
    return float(np.cos(about)), float(np.sin(about)), float(np.cos(real)), float(np.sin(real))


def talocalcaneal_frame() -> Floats:
    """Unit vectors of the talocalcaneal limit in ``main_foot``: rows xi (the axis), eta (medial), zeta (up), (3, 3).

    Rodrigues da Silva et al. (2024c), Section 4.
    """
    c, s, c_re, s_re = _turn(TALOCALCANEAL_TRANSVERSE_DEG, TALOCALCANEAL_SAGITTAL_DEG)
    return np.array([(c * c_re, s * c_re, s_re), (-s, c, 0.0), (-c * s_re, -s * s_re, c_re)])


def talocrural_frame() -> Floats:
    """Unit vectors of the talocrural limit in ``leg``: rows xi (anterior), eta (the axis, lateral), zeta (down), (3, 3).

    Rodrigues da Silva et al. (2024c), Section 4.
    """
    c, s, c_re, s_re = _turn(TALOCRURAL_TRANSVERSE_DEG, TALOCRURAL_FRONTAL_DEG)
    return np.array([(c, -s, 0.0), (-s * c_re, -c * c_re, -s_re), (s * s_re, c * s_re, -c_re)])


def talocalcaneal_axis() -> Floats:
    """Unit vector of the talocalcaneal axis in the neutral pose, (3,).  Rodrigues da Silva et al. (2024a), Eqs. (5), (7)."""
    axis: Floats = talocalcaneal_frame()[0]
    return axis


def talocrural_axis() -> Floats:
    """Unit vector of the talocrural axis in the neutral pose, (3,).  Rodrigues da Silva et al. (2024a), Eqs. (6), (8)."""
    axis: Floats = -talocrural_frame()[1]
    return axis


@checked
@usual(link_length=Usual(0.0, 0.2, "m", "the height of a talus"), gravity=Usual(1e-3, 300.0, "m/s^2", "gravity"))
def build(
    ankle: Literal["classical", "modified"] = "modified",
    *,
    link_length: float = LINK_LENGTH,
    limits: Literal["elastic", "dissipative"] | None = None,
    preset: Literal["anatomical", "published"] = "anatomical",
    law: Literal["conservative", "printed"] = "conservative",
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    check_units: bool = True,
) -> System:
    """Build the foot of Rodrigues da Silva et al. (2024a, 2024c): two degrees of freedom, fixed leg, locked toes.

    Parameters
    ----------
    ankle : "classical" or "modified"
        Universal joint centred at the talocrural joint, or massless link from the talocalcaneal to the talocrural joint.
    link_length : float [m]
        Of the modified joint.  A change moves the talocalcaneal joint and leaves the talocrural joint in place (2024a, third
        analysis); 0 gives the classical joint.
    limits : None, "elastic" or "dissipative"
        Limits of motion of both hinges, ``talocrural`` and ``talocalcaneal``, without or with damping.
    preset : "anatomical" or "published"
        Without limits both give the same foot.  Anatomical: inversion up to 35 and eversion up to 25 degrees, as the text of
        (2024c) states, and the same damping, 0.568 N m s, on each hinge of either joint.  Published: the values behind the
        papers' results, which are the vector printed in (2024c), where inversion and eversion are exchanged; 0.284 N m s on
        each hinge of the modified joint; and for the classical joint one cone, ``talocrural``, about the downward direction
        of the foot, with 0.568 N m s on the relative angular velocity.  That cone is inferred: the papers print none, this
        one reproduces their text.
    law : "conservative" or "printed"
        Of the restricting moment, see ``Builder.limit``.
    gravity : (3,) [m/s^2]
    check_units : bool
        Ask about values that this model cannot have, which were probably given in another unit.  False accepts them.

    Returns
    -------
    System
        Bodies ``toes``, ``main_foot``, ``leg``; joints ``metatarsophalangeal``, ``metatarsophalangeal_lock``, ``ankle``,
        ``ground``; limits ``talocrural`` and ``talocalcaneal``, or ``talocrural`` alone for the published classical joint.

    Raises
    ------
    ModelError
        For an unknown option, or options that contradict each other.
    """
    _check_options(ankle, link_length, limits, preset, law)
    length = link_length if ankle == "modified" else 0.0

    b = Builder(f"foot, {ankle} ankle", gravity=gravity)
    for name, data in BODIES.items():
        b.body(name, **data)  # type: ignore[arg-type]
    _add_joints(b, length)
    if limits is not None:
        _add_limits(b, length > 0.0, limits == "dissipative", preset == "published", law)
    add_bones(b)
    return b.build(check_units=check_units)


def _check_options(ankle: str, link_length: float, limits: str | None, preset: str, law: str) -> None:
    """Refuse unknown options and options that contradict each other."""
    if ankle not in ("classical", "modified"):
        raise ModelError(f"ankle = {ankle!r}; use 'classical' or 'modified'")
    if ankle == "classical" and link_length not in (LINK_LENGTH, 0.0):
        raise ModelError(
            f"link_length = {link_length!r} m has no meaning for the classical ankle; use ankle='modified'"
        )
    for key, value, known in (("limits", limits, LIMITS), ("preset", preset, PRESETS)):
        if not (value is None or isinstance(value, str)) or value not in known:
            raise ModelError(f"{key} = {value!r}; use {', '.join(map(repr, known))}")
    if limits is None and law != "conservative":
        raise ModelError(f"law = {law!r} applies to limits only; give limits='elastic' or 'dissipative' too")
    if not 0.0 <= link_length < np.inf:
        raise ModelError(f"link_length = {link_length:g} m must be a finite length, not below 0 m")


def _add_joints(b: Builder, length: float) -> None:
    """Add the joints; an ankle whose link has the length 0 is the classical one."""
    b.joint(
        "metatarsophalangeal", "revolute", "toes", "main_foot",
        s_i=METATARSOPHALANGEAL["toes"], a_i=(0, 1, 0), s_j=METATARSOPHALANGEAL["main_foot"], a_j=(0, 1, 0),
    )  # fmt: skip
    # (2024c), Eq. (6), with perpendicular directions, for which the gradient of the row is largest.
    b.joint("metatarsophalangeal_lock", "constant_angle", "toes", "main_foot", a_i=(1, 0, 0), a_j=(0, 0, 1))

    talocrural = np.array(BODIES["leg"]["r"]) + TALOCRURAL["leg"]  # in the neutral pose all frames are parallel
    talocalcaneal = talocrural - (0.0, 0.0, length) - BODIES["main_foot"]["r"]
    ends: dict[str, Any] = dict(
        s_i=talocalcaneal, a_i=talocalcaneal_axis(), s_j=TALOCRURAL["leg"], a_j=talocrural_axis()
    )
    if length > 0.0:
        b.joint("ankle", "modified_universal", "main_foot", "leg", l=length, **ends)
    else:
        b.joint("ankle", "universal", "main_foot", "leg", **ends)
    b.joint("ground", "fixed", GROUND, "leg")


def _add_limits(
    b: Builder, linked: bool, damped: bool, published: bool, law: Literal["conservative", "printed"]
) -> None:
    """Add the limits of the ankle's motion."""
    crural, calcaneal, unreached = talocrural_frame(), talocalcaneal_frame(), UNREACHED_DEG
    inversion, eversion = (EVERSION_DEG, INVERSION_DEG) if published else (INVERSION_DEG, EVERSION_DEG)
    common: dict[str, Any] = dict(max_moment=MAX_MOMENT, compliance=COMPLIANCE, law=law)
    if published and not linked:
        # In the talocrural frame; longitude 90 degrees is eversion.  The link of the modified joint points in this direction.
        cone = _cone(DORSIFLEXION_DEG, eversion, PLANTARFLEXION_DEG, inversion)
        b.limit(
            "talocrural", "ankle", reference="leg", xi=crural[0], eta=crural[1], direction=(0, 0, -1), cone=cone,
            damping=DAMPING if damped else 0.0, **common,
        )  # fmt: skip
        return
    damping = (DAMPING / 2 if published else DAMPING) if damped else 0.0
    for name, reference, (xi, eta, _), cone in (
        ("talocrural", "leg", crural, _cone(DORSIFLEXION_DEG, unreached, PLANTARFLEXION_DEG, unreached)),
        ("talocalcaneal", "main_foot", calcaneal, _cone(unreached, inversion, unreached, eversion)),
    ):
        b.limit(name, "ankle", reference=reference, xi=xi, eta=eta, cone=cone, damping=damping, **common)


def add_bones(b: Builder) -> None:
    """Give ``leg``, ``main_foot`` and ``toes`` the bones that are drawn."""
    for body, start, end, radius in BONES:
        b.shape(body, "bone", start=start, end=end, radius=radius)


def _cone(*latitudes_deg: float) -> Cone:
    """Elliptical cone with four maximum latitudes, at the longitudes 0, 90, 180 and 270 degrees."""
    return Cone.from_degrees((0, 90, 180, 270, 360), (*latitudes_deg, latitudes_deg[0]))
