"""Leg, main foot and toes of the right foot, with the ankle as a classical or a modified universal joint.

Data: seed 001 Tables 1-4 (71 kg, 1.77 m, male); axes: seed 000 Eqs. (5)-(8) with the angles of Anderson and Pandy.
x anterior, y medial, z up.  The seeds do not print the acceleration of free fall; 9.81 m/s^2 is used.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from runtime import GROUND, Builder, ModelError, System

LINK_LENGTH = 0.0417  # [m] height of the talus, seed 000 section 6

# Seed 001, Tables 1 and 2: centre of mass [m], mass [kg], principal moments of inertia [kg m^2].
BODIES = {
    "toes": dict(r=(0.2177, 0.0, 0.0367), mass=0.2051, inertia=(0.0001003, 0.0001003, 0.0002006)),
    "main_foot": dict(r=(0.0907, 0.0, 0.0562), mass=1.2000, inertia=(0.0013818, 0.0038337, 0.0037110)),
    "leg": dict(r=(0.0544, 0.0, 0.3513), mass=3.5100, inertia=(0.0477209, 0.0483791, 0.0048000)),
}
# Seed 001, Table 3, local coordinates [m].
METATARSOPHALANGEAL = {"toes": (-0.0274, 0.0, -0.0185), "main_foot": (0.0996, 0.0, -0.0380)}
TALOCRURAL = {"leg": (0.0, 0.0, -0.2438)}

# Angles of the axes projected on the cardinal planes [deg].  Seed 000 section 3.1, Anderson and Pandy.
TALOCALCANEAL_TRANSVERSE_DEG, TALOCALCANEAL_SAGITTAL_DEG = 19.8, 35.3  # rho, theta
TALOCRURAL_TRANSVERSE_DEG, TALOCRURAL_FRONTAL_DEG = 6.0, 8.0  # epsilon, tau


def talocalcaneal_axis() -> np.ndarray:
    """Unit vector of the talocalcaneal axis at the neutral pose, (3,).  Seed 000, Eqs. (5), (7)."""
    rho, theta = np.deg2rad([TALOCALCANEAL_TRANSVERSE_DEG, TALOCALCANEAL_SAGITTAL_DEG])
    real = np.arctan(np.tan(theta) * np.cos(rho))
    return np.array([np.cos(rho) * np.cos(real), np.sin(rho) * np.cos(real), np.sin(real)])


def talocrural_axis() -> np.ndarray:
    """Unit vector of the talocrural axis at the neutral pose, (3,).  Seed 000, Eqs. (6), (8)."""
    epsilon, tau = np.deg2rad([TALOCRURAL_TRANSVERSE_DEG, TALOCRURAL_FRONTAL_DEG])
    real = np.arctan(np.tan(tau) * np.cos(epsilon))
    return np.array([np.sin(epsilon) * np.cos(real), np.cos(epsilon) * np.cos(real), np.sin(real)])


def build(
    ankle: Literal["classical", "modified"] = "modified",
    *,
    link_length: float = LINK_LENGTH,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> System:
    """The foot of seeds 000 and 001: two degrees of freedom, leg fixed, metatarsophalangeal joint locked.

    Parameters
    ----------
    ankle : "classical" or "modified"
        Universal joint with its centre at the talocrural joint, or massless link from the talocalcaneal to the
        talocrural joint.
    link_length : float [m]
        Of the modified joint.  It moves the talocalcaneal joint and leaves the talocrural joint where it is (seed 000,
        third analysis); 0 is the classical joint, which has no link.
    gravity : (3,) [m/s^2]

    Returns
    -------
    System
        Bodies ``toes``, ``main_foot``, ``leg``; joints ``metatarsophalangeal``, ``metatarsophalangeal_lock``, ``ankle``,
        ``ground``.

    Raises
    ------
    ModelError
    """
    if ankle not in ("classical", "modified"):
        raise ModelError(f"ankle = {ankle!r}; use 'classical' or 'modified'")
    if ankle == "classical" and link_length not in (LINK_LENGTH, 0.0):
        raise ModelError(
            f"link_length = {link_length!r} m has no meaning for the classical ankle; use ankle='modified'"
        )
    if not 0.0 <= link_length < np.inf:
        raise ModelError(f"link_length = {link_length:g} m must be a finite length, not below 0 m")
    length = link_length if ankle == "modified" else 0.0

    b = Builder(f"foot, {ankle} ankle", gravity=gravity)
    for name, data in BODIES.items():
        b.body(name, **data)  # type: ignore[arg-type]
    b.joint(
        "metatarsophalangeal", "revolute", "toes", "main_foot",
        s_i=METATARSOPHALANGEAL["toes"], a_i=(0, 1, 0), s_j=METATARSOPHALANGEAL["main_foot"], a_j=(0, 1, 0),
    )  # fmt: skip
    # Seed 001, Eq. (6), with directions at a right angle, where the row is at its strongest.
    b.joint("metatarsophalangeal_lock", "constant_angle", "toes", "main_foot", a_i=(1, 0, 0), a_j=(0, 0, 1))

    talocrural = np.array(BODIES["leg"]["r"]) + TALOCRURAL["leg"]  # at the neutral pose all frames are parallel
    talocalcaneal = talocrural - (0.0, 0.0, length) - BODIES["main_foot"]["r"]
    ends = dict(s_i=talocalcaneal, a_i=talocalcaneal_axis(), s_j=TALOCRURAL["leg"], a_j=talocrural_axis())
    if length > 0.0:
        b.joint("ankle", "modified_universal", "main_foot", "leg", l=length, **ends)
    else:
        b.joint("ankle", "universal", "main_foot", "leg", **ends)
    b.joint("ground", "fixed", GROUND, "leg")
    return b.build()
