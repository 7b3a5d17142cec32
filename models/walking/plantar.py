"""A sole of twelve spheres in two rows, medial and lateral, and under the toes, whose parameters are common to all feet.

Lengths are scaled by the length of the foot and forces by the weight of the body, so that a sole that was fitted to some adults
applies to others.  Each sphere follows Hertz's law, force = stiffness times penetration to the power 3/2.

The markers show the foot as a rigid body, while a loaded foot changes its shape and its skin slides by millimetres; a
millimetre changes the force by about a tenth of a body weight.  So a *lift* of the foot and a *tilt*, small and smooth in time,
are added to the heights of the spheres (``models.walking.plantar_load``); that part of the error which every foot shows when the
heel is up is the ``rocker`` of the sole.  Toes without markers stay flat on the floor while the heel is up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.rotations import about
from models.walking.gait_result import FLAT, Gait
from models.walking.sole import floor_of
from models.walking.subject import Frozen
from runtime import ModelError
from runtime.support import GRAVITY, checked_class
from runtime.support.arrays import Floats

EXPONENT = 1.5
# Group and radius [foot lengths] of each sphere; 0.06 foot lengths are 15 mm.
SPHERES = {
    "heel_back_medial": ("heel", 0.08),
    "heel_back_lateral": ("heel", 0.08),
    "heel_front_medial": ("heel", 0.10),
    "heel_front_lateral": ("heel", 0.10),
    "midfoot_lateral": ("midfoot", 0.07),
    "metatarsal_1": ("metatarsals", 0.06),
    "metatarsal_2": ("metatarsals", 0.06),
    "metatarsal_4": ("metatarsals", 0.06),
    "metatarsal_5": ("metatarsals", 0.06),
    "hallux": ("toes", 0.045),
    "toe_2": ("toes", 0.04),
    "toe_4": ("toes", 0.04),
}
NAMES = tuple(SPHERES)
GROUPS = ("heel", "midfoot", "metatarsals", "toes")
OF_GROUP = np.array([GROUPS.index(group) for group, _ in SPHERES.values()])
RADII = np.array([radius for _, radius in SPHERES.values()])
ON_TOES: NDArray[np.bool_] = OF_GROUP == GROUPS.index("toes")
NEEDED = ("heel", "metatarsal_1", "metatarsal_5")
MAX_SHIFT = 0.06  # [m] between which the lift that gives a force is sought
SMALL = 1e-9  # [body weights]


@checked_class
@dataclass(frozen=True, eq=False)
class PlantarSole(Frozen):
    """Parameters of the sole, for all feet.

    Attributes
    ----------
    stiffness : (4,) [body weights per foot length^1.5]
        Of the spheres of heel, midfoot, metatarsals and toes.
    heights : (12,) [foot lengths]
        Lowest point of each sphere above the floor while standing; negative below it.
    forward : (4,) [foot lengths]
        How far the spheres of each group lie in front of their anatomical places.
    rocker : (3,) [foot lengths]
        Lift of the whole sole: times s, times s^2 where the heel is up, and times s where the forefoot is up; s is the sine of
        the slope of the sole.
    """

    stiffness: Floats
    heights: Floats
    forward: Floats
    rocker: Floats


@dataclass(frozen=True, eq=False)
class FootMotion(Frozen):
    """The motion of a foot as its sole needs it, at times t (n,) [s].

    A, toes_A (n, 3, 3): main foot and toes to laboratory axes.  r, hinge (n, 3) [m]: centre of mass of the main foot and middle
    of the metatarsophalangeal axis.  places (12, 2) [m]: anatomical places of the spheres, in axes of the main foot;
    hinge_place (3,) [m].  base [m]: floor while standing, along the vertical axis of the main foot.  floor, length [m],
    weight [N].  heel, ahead (2,): horizontal place of the heel's marker and direction of the foot while it is flat, at the time
    flat [s].  belt [m/s]: speed of the floor along x, with which the flat foot moves.
    """

    t: Floats
    A: Floats
    toes_A: Floats
    r: Floats
    hinge: Floats
    places: Floats
    hinge_place: Floats
    base: float
    floor: float
    length: float
    weight: float
    heel: Floats
    ahead: Floats
    flat: float
    belt: float

    def in_foot(self, t: Floats, points: Floats) -> Floats:
        """Horizontal points (n, ..., 2) [m] of the laboratory at times t (n,) [s], from the heel along and across the flat foot.

        In foot lengths; on a belt the flat foot moves with it.
        """
        return np.asarray((points - self._origin(t, points)) @ self._axes.T / self.length)

    def in_laboratory(self, t: Floats, points: Floats) -> Floats:
        """Inverse of ``in_foot``."""
        return np.asarray(points @ self._axes * self.length + self._origin(t, points))

    def _origin(self, t: Floats, points: Floats) -> Floats:
        """The heel of the flat foot (n, ..., 2) [m]."""
        moved = self.heel + np.outer(t - self.flat, (self.belt, 0.0))
        return moved.reshape(len(t), *(1,) * (np.ndim(points) - 2), 2)

    @property
    def _axes(self) -> Floats:
        x, y = self.ahead
        return np.array([[x, y], [-y, x]])

    def take(self, frames: NDArray[np.bool_]) -> FootMotion:
        """The motion at some of its frames (n,)."""
        over_time = ("t", "A", "toes_A", "r", "hinge")
        return FootMotion(**{k: v[frames] if k in over_time else v for k, v in vars(self).items()})


@dataclass(frozen=True, eq=False)
class Spheres:
    """The spheres of a foot over its motion: gap (n, 12) [m] to the floor, places (n, 12, 2) [m], stiffness (12,), length [m]."""

    gap: Floats
    at: Floats
    stiffness: Floats
    length: float

    def forces(self, lift: Floats) -> Floats:
        """Normal forces (n, 12) [body weights] with a lift (n, 1) or (n, 12) [m] of each sphere."""
        depth = np.clip(-(self.gap + lift), 0.0, None) / self.length
        return np.asarray(self.stiffness * depth**EXPONENT)

    def lift_of(self, total: Floats) -> Floats:
        """The lift (n,) [m] of the whole foot at which the spheres carry a total (n,) [body weights]; by bisection."""
        low, high = np.full(len(total), -MAX_SHIFT), np.full(len(total), MAX_SHIFT)
        for _ in range(26):  # to a nanometre
            middle = 0.5 * (low + high)
            above = self.forces(middle[:, None]).sum(axis=1) > total
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.asarray(0.5 * (low + high))

    def centre(self, forces: Floats) -> Floats:
        """Centre of pressure (n, 2) [m] of forces (n, 12); NaN where there is none."""
        total = forces.sum(axis=1)
        loaded = np.where(total > SMALL, total, np.nan)
        return np.asarray(np.einsum("nk,nkb->nb", forces, self.at) / loaded[:, None])


def foot_motion(one: Gait) -> FootMotion:
    """The motion of the foot of a trial.

    Raises
    ------
    ModelError
        Where the trial lacks a marker of the heel or of the metatarsal heads.
    """
    subject, motion = one.subject, one.motion
    labels, segment = subject.landmarks.labels, subject.bodies["main_foot"]
    for name in NEEDED:
        if name not in labels or labels[name] not in segment.markers:
            raise ModelError(
                f"{one.name}: the sole in two rows needs a marker of the main foot at '{name}'; the landmarks are "
                f"{', '.join(labels)}"
            )
    A, r = motion.rotations("main_foot"), motion.r["main_foot"]
    hinge = subject.metatarsophalangeal
    toes_A = motion.rotations("toes") if one.toes_guided else _flat_toes(A, hinge.axes["main_foot"])
    floor = floor_of(one)[0]
    heel = segment.markers[labels["heel"]]
    part = (one.t - one.cycle.strike) / (one.cycle.off - one.cycle.strike)
    flat = int(np.argmin(np.abs(part - np.mean(FLAT))))
    ahead = A[flat, :2, 0]
    return FootMotion(
        t=one.t, A=A, toes_A=toes_A, r=r, hinge=r + A @ hinge.points["main_foot"], places=_places(one),
        hinge_place=hinge.points["main_foot"], base=floor.height - float(segment.r[2]), floor=floor.height,
        length=subject.foot_length, weight=subject.mass * GRAVITY, heel=(r[flat] + A[flat] @ heel)[:2],
        ahead=ahead / np.linalg.norm(ahead), flat=float(one.t[flat]), belt=floor.belt,
    )  # fmt: skip


def _flat_toes(A: Floats, axis: Floats) -> Floats:
    """Axes (n, 3, 3) of toes that are extended as far as the main foot slopes down, while the heel is up."""
    slope = np.clip(-np.arcsin(np.clip(A[:, 2, 0], -1.0, 1.0)), 0.0, None)
    return np.asarray(A @ about(-axis, slope))


def _places(one: Gait) -> Floats:
    """Anatomical places of the spheres (12, 2) [m], anterior and medial in the axes of the main foot, from its markers."""
    segment, labels, L = one.subject.bodies["main_foot"], one.subject.landmarks.labels, one.subject.foot_length
    heel, first, fifth = (segment.markers[labels[name]][:2] for name in NEEDED)
    # The markers of the first and of the fifth metatarsal head are on the sides of the foot.
    medial, lateral = first - (0.0, 0.05 * L), fifth + (0.0, 0.05 * L)

    def head(part: float) -> Floats:
        """On the line of the heads, from the first to the fifth, which bulges forwards to the second."""
        return np.asarray(medial + part * (lateral - medial) + (0.1 * L * part * (1.0 - part), 0.0))

    return np.array([
        heel + (0.06 * L, 0.05 * L), heel + (0.06 * L, -0.05 * L), heel + (0.16 * L, 0.06 * L), heel + (0.16 * L, -0.06 * L),
        heel + (0.55, 0.8) * (fifth - heel),
        medial, head(0.38), head(0.72), lateral,
        # Under the pulps of the toes, which end some 0.2 foot lengths in front of the heads.
        medial + (0.14 * L, -0.01 * L), head(0.38) + (0.12 * L, 0.0), head(0.75) + (0.13 * L, 0.0),
    ])  # fmt: skip


def spheres_of(foot: FootMotion, sole: PlantarSole) -> Spheres:
    """The spheres of a sole over the motion of a foot."""
    L = foot.length
    radii = RADII * L
    local = np.column_stack([foot.places, foot.base + radii + sole.heights * L])
    local[:, 0] += L * sole.forward[OF_GROUP]
    centres = np.where(
        ON_TOES[:, None],
        foot.hinge[:, None] + np.einsum("nab,kb->nka", foot.toes_A, local - foot.hinge_place),
        foot.r[:, None] + np.einsum("nab,kb->nka", foot.A, local),
    )
    heel_up, forefoot_up = np.clip(-foot.A[:, 2, 0], 0.0, None), np.clip(foot.A[:, 2, 0], 0.0, None)
    lift = L * np.column_stack([heel_up, heel_up**2, forefoot_up]) @ sole.rocker
    gap = centres[:, :, 2] - radii - foot.floor + lift[:, None]
    return Spheres(gap, centres[:, :, :2], sole.stiffness[OF_GROUP], L)
