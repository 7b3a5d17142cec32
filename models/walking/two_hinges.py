"""Two hinges between leg and foot: where they put the markers of the foot, and the axes and angles that fit those of a trial.

The talocrural axis is fixed in the leg, the talocalcaneal axis in the foot.  Everything is in the axes of the standing foot, from
the point of the talocrural axis by rule; at zero angles the foot is where it stands.  Eight unknowns describe both axes as lines:
``UNKNOWNS``.

Derivatives are exact: those of analytic functions along an imaginary step of 1e-30 (Squire and Trapp, Using complex variables to
estimate derivatives of real functions, SIAM Rev 40, 1998, 110-112), in which no difference is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from models.walking.capture import Capture
from models.walking.samples import all_finite
from models.walking.segment_motion import segment_pose, tracked
from models.walking.subject import Hinge, LegFoot
from runtime import ModelError
from runtime.analysis import PoseProblem
from runtime.support.arrays import Floats, Ints

MAX_FRAMES = 120  # of a trial, evenly spaced; neighbours of a filtered trial add nothing
MIN_FRAMES = 24
IMAGINARY = 1e-30  # step, below the rounding of any real part
TOLERANCE = 1e-9  # [rad], [m] of the last step

# Angles [rad] as those of ``Anatomy``; places [m] from the rule: of the talocrural axis, then of the talocalcaneal axis from it.
UNKNOWNS = (
    "talocrural_inclination", "talocrural_deviation", "talocrural_anterior", "talocrural_up",
    "talocalcaneal_inclination", "talocalcaneal_deviation", "talocalcaneal_medial", "link_length",
)  # fmt: skip
SHARED = len(UNKNOWNS)
MILLIMETRES = np.tile([False, False, True, True], 2)  # which unknowns are places, shown in mm
MILLIMETRES.flags.writeable = False


def slopes(function: Callable[[Any], Any], x: Floats) -> Floats:
    """Derivatives (..., n) at x (n,) of an analytic function that takes many (..., n)."""
    return np.moveaxis(function(x + 1j * IMAGINARY * np.eye(len(x))).imag / IMAGINARY, 0, -1)


def directions(shared: Any) -> tuple[Any, Any]:
    """Unit vectors (..., 3) of both axes, from unknowns (..., 8): medial and anterior but for their angles."""
    i_1, d_1, _, _, i_2, d_2, _, _ = np.moveaxis(np.asarray(shared), -1, 0)
    one = np.ones_like(i_1)
    found = (np.stack([np.tan(d_1), one, np.tan(i_1)], -1), np.stack([one, np.tan(d_2), np.tan(i_2)], -1))
    first, second = (v / np.sqrt((v * v).sum(axis=-1, keepdims=True)) for v in found)
    return first, second


def points(shared: Any) -> tuple[Any, Any]:
    """A point (..., 3) [m] of each axis: the ends of the link, which hangs straight down but for its medial offset."""
    _, _, x, z, _, _, y, length = np.moveaxis(np.asarray(shared), -1, 0)
    return np.stack([x, 0.0 * x, z], axis=-1), np.stack([x, y, z - length], axis=-1)


def _turned(axis: Any, angle: Any, v: Any) -> Any:
    """Vectors (..., n or 1, m, 3) turned about unit axes (..., 3) by angles (..., n)."""
    crossing = np.swapaxes(np.cross(np.eye(3), axis[..., None, :]), -1, -2)  # v @ it is the product of the axis and v
    s, c = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    flat = v.reshape(*v.shape[:-3], -1, 3)
    once, twice = (w.reshape(v.shape) for w in (flat @ crossing, flat @ (crossing @ crossing)))
    return v + s * once + (1.0 - c) * twice


@dataclass(frozen=True, eq=False)
class Cluster:
    """Markers of a segment: where they are while standing (m, 3), and as seen in its axes, turned with it, (n, m, 3) [m]."""

    local: Floats
    seen: Floats

    def rigid(self, places: Floats) -> Floats:
        """Displacements (..., m, 3, 6) of markers at places (..., m, 3) by unit translations and small unit turns."""
        moves = [np.broadcast_to(e, places.shape) for e in np.eye(3)]
        turns = [np.cross(e, places) for e in np.eye(3)]
        return np.stack([*moves, *turns], axis=-1)

    @cached_property
    def moves(self) -> tuple[Floats, Floats]:
        """Orthonormal displacements (3 m, 3 m), the first six as one rigid body, and the factor (6, 6) from small motions."""
        Q, N = np.linalg.qr(self.rigid(self.local).reshape(-1, 6), mode="complete")
        return Q, N[:6]

    @property
    def deformation(self) -> Floats:
        """Displacements (n, 3 m - 6) of the markers against each other, orthonormal to those of a rigid body."""
        return (self.seen - self.local).reshape(len(self.seen), -1) @ self.moves[0][:, 6:]

    def alike(self, within: float) -> Floats:
        """Covariance (3 m, 3 m) of these displacements, if markers move alike within a distance [m], each with unit variance."""
        apart = np.linalg.norm(self.local[:, None] - self.local, axis=-1)
        return self.moves[0].T @ np.kron(np.exp(-apart / within), np.eye(3)) @ self.moves[0]


@dataclass(frozen=True, eq=False)
class HingedMotion:
    """Markers of the leg and the foot in n frames.

    ``places`` (n, m, 3) [m]: of the foot, as seen from the leg; ``turn`` (n, 3, 3): the foot in these axes; ``trial`` (n,): the
    number of the trial; ``t`` (n,) [s].
    """

    leg: Cluster
    foot: Cluster
    places: Floats
    turn: Floats
    trial: Ints
    t: Floats

    def part(self, frames: Ints) -> HingedMotion:
        """The motion in some of the frames."""
        leg, foot = (replace(one, seen=one.seen[frames]) for one in (self.leg, self.foot))
        return HingedMotion(leg, foot, self.places[frames], self.turn[frames], self.trial[frames], self.t[frames])

    @property
    def turned(self) -> Floats:
        """How far the foot is turned, (n, 3) [rad]: its pose."""
        return np.asarray(Rotation.from_matrix(self.turn).as_rotvec())

    @cached_property
    def weights(self) -> Floats:
        """The part (n, 6, 3 m) of displacements as seen from the leg that moves the foot as one rigid body."""
        Q = self.foot.moves[0][:, :6].T.reshape(6, -1, 3)
        return np.einsum("kmi,nji->nkmj", Q, self.turn).reshape(len(self.turn), 6, -1)

    def markers(self, shared: Any, angles: Any) -> Any:
        """Places (..., n, m, 3) [m] by the hinges, for unknowns (..., 8) and both angles of each frame (..., n, 2) [rad]."""
        (a_1, a_2), (p_1, p_2) = directions(shared), (p[..., None, None, :] for p in points(shared))
        in_foot = p_2 + _turned(a_2, angles[..., 1], self.foot.local - p_2)
        return p_1 + _turned(a_1, angles[..., 0], in_foot - p_1)

    def residuals(self, shared: Any, angles: Any) -> Any:
        """Displacements (..., n, 6) [m] of the foot by the hinges from where it was seen, as one rigid body."""
        away = self.markers(shared, angles) - self.places
        return (self.weights @ away.reshape(*away.shape[:-2], -1, 1))[..., 0]

    def slopes_of_angles(self, shared: Any, angles: Any) -> Any:
        """Derivatives (..., n, 6, 2) of the residuals by the angles of their frame, at which the foot turns about each axis."""
        (a_1, a_2), (p_1, p_2) = directions(shared), (p[..., None, None, :] for p in points(shared))
        arm = _turned(a_2, angles[..., 1], self.foot.local - p_2)
        crossed = [np.cross(a[..., None, None, :], v) for a, v in ((a_1, arm + (p_2 - p_1)), (a_2, arm))]
        moved = np.stack([_turned(a_1, angles[..., 0], v) for v in crossed], axis=-1)
        return self.weights @ moved.reshape(*moved.shape[:-3], -1, 2)


@dataclass(frozen=True, eq=False)
class HingeProblem(PoseProblem):
    """Unknowns of both axes and both angles of every frame, by least squares; all are the coordinates of one pose."""

    motion: HingedMotion
    lower: Floats
    upper: Floats

    @classmethod
    def between(cls, motion: HingedMotion, lower: Floats, upper: Floats) -> HingeProblem:
        """The problem with bounds (8,) of the unknowns."""
        free = np.full(2 * len(motion.t), np.inf)
        return cls(motion, np.r_[lower, -free], np.r_[upper, free])

    def of(self, poses: Ints) -> HingeProblem:
        """The same problem, of which there is one."""
        return self

    def slopes(self, shared: Floats, angles: Floats) -> Floats:
        """Derivatives (6 n, 8 + 2 n) of the residuals by all unknowns."""
        n = len(angles)
        J, frames = np.zeros((n, 6, SHARED + 2 * n)), np.arange(n)
        J[:, :, :SHARED] = slopes(lambda x: self.motion.residuals(x, angles), shared)
        own = self.motion.slopes_of_angles(shared, angles)
        for k in (0, 1):
            J[frames, :, SHARED + 2 * frames + k] = own[:, :, k]
        return J.reshape(6 * n, -1)

    def normal_equations(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Half of gradient and curvature of the one pose, and its sum of squares."""
        shared, angles = x[0, :SHARED], x[0, SHARED:].reshape(-1, 2)
        r, J = self.motion.residuals(shared, angles).ravel(), self.slopes(shared, angles)
        return (J.T @ r)[None], (J.T @ J)[None], np.array([r @ r])

    def fit(self, shared: Floats, angles: Floats | None = None, tolerance: float = TOLERANCE) -> HingeFit:
        """The least sum of squares from a start, to a last step [rad], [m]; without angles, they start at zero."""
        start = np.r_[shared, np.zeros(2 * len(self.motion.t)) if angles is None else angles.ravel()]
        done = self.solve(np.clip(start, self.lower, self.upper)[None], tolerance=tolerance)
        _, H, _ = self.normal_equations(done.x)
        return HingeFit(done.x[0, :SHARED], done.x[0, SHARED:].reshape(-1, 2), H[0], bool(done.converged[0]))


@dataclass(frozen=True, eq=False)
class HingeFit:
    """A solution: unknowns (8,), angles (n, 2) [rad], half of the curvature, and whether the search converged."""

    shared: Floats
    angles: Floats
    curvature: Floats
    converged: bool

    @property
    def follow(self) -> Floats:
        """How the angles (2 n, 8) follow the unknowns where the sum of squares stays least."""
        H = self.curvature
        return np.asarray(-np.linalg.solve(H[SHARED:, SHARED:], H[SHARED:, :SHARED]), float)

    @property
    def precision(self) -> Floats:
        """Half of the curvature (8, 8) along the unknowns while the angles follow."""
        H = self.curvature
        S = H[:SHARED, :SHARED] + H[:SHARED, SHARED:] @ self.follow
        return np.asarray((S + S.T) / 2.0, float)


def foot_motion(subject: LegFoot, *trials: Capture, frames: int = MAX_FRAMES) -> HingedMotion:
    """The markers of trials in at most so many frames of each, in which all those of leg and foot are seen.

    Raises
    ------
    ModelError
        Where there are too few markers or frames.
    """
    if not trials:
        raise ModelError(f"subject {subject.name}: no trial to find the axes from; give one or more")
    if not subject.shows_inversion:
        on_foot = " and ".join(subject.bodies["main_foot"].markers)
        raise ModelError(
            f"subject {subject.name}: the markers {on_foot} do not show inversion of the foot, which both axes need; put a third "
            "marker on the main foot"
        )
    labels = {
        body: [label for label in segment.markers if all(label in tracked(subject, trial, body) for trial in trials)]
        for body, segment in subject.bodies.items()
    }
    parts = [_motion_of(subject, trial, number, labels, frames) for number, trial in enumerate(trials)]
    return parts[0] if len(parts) == 1 else _joined(parts)


def _motion_of(
    subject: LegFoot, trial: Capture, number: int, labels: Mapping[str, Sequence[str]], frames: int
) -> HingedMotion:  # fmt: skip
    """The markers of one trial."""
    leg, foot = subject.bodies["leg"], subject.bodies["main_foot"]
    pose = segment_pose(subject, trial)
    places = {body: np.stack([trial.markers[label] for label in labels[body]], axis=1) for body in ("leg", "main_foot")}
    there = np.flatnonzero(np.logical_and.reduce([all_finite(p).all(axis=1) for p in places.values()]))
    if len(there) < MIN_FRAMES:
        raise ModelError(
            f"{trial.name}: leg and foot are seen together in {len(there)} frames, functional axes need {MIN_FRAMES}; give a "
            "longer trial, or one without gaps"
        )
    there = there[np.linspace(0, len(there) - 1, min(len(there), frames)).round().astype(int)]
    centre = subject.talocrural.points["leg"]
    standing = leg.A.T @ foot.A  # the axes of the standing foot, carried by the leg
    A_leg, A_foot = pose["leg"].A[there] @ standing, pose["main_foot"].A[there]
    origin = pose["leg"].r[there] + pose["leg"].A[there] @ centre
    in_leg, in_foot = (
        np.array([one.markers[label] for label in labels[body]]) - base
        for one, body, base in ((leg, "leg", centre), (foot, "main_foot", foot.local(leg.r + leg.A @ centre)))
    )
    of_leg, of_foot = (places[body][there] - origin[:, None] for body in ("leg", "main_foot"))
    turned = (of_foot - of_foot.mean(axis=1, keepdims=True)) @ A_foot + in_foot.mean(axis=0)
    return HingedMotion(
        leg=Cluster(in_leg @ standing, of_leg @ A_leg), foot=Cluster(in_foot, turned), places=of_foot @ A_leg,
        turn=np.swapaxes(A_leg, 1, 2) @ A_foot, trial=np.full(len(there), number), t=np.array(trial.t[there]),
    )  # fmt: skip


def _joined(parts: list[HingedMotion]) -> HingedMotion:
    """The frames of several trials, which have the same markers."""
    first = parts[0]
    leg, foot = (
        replace(getattr(first, name), seen=np.concatenate([getattr(one, name).seen for one in parts]))
        for name in ("leg", "foot")
    )
    frames = {name: np.concatenate([getattr(one, name) for one in parts]) for name in ("places", "turn", "trial", "t")}
    return HingedMotion(leg, foot, **frames)


def rule_of(subject: LegFoot) -> Floats:
    """The unknowns (8,) of a subject's own axes."""
    leg, foot = subject.bodies["leg"], subject.bodies["main_foot"]
    first, second = foot.A.T @ leg.A @ subject.talocrural.axes["leg"], subject.talocalcaneal.axes["main_foot"]
    angles = np.arctan2([first[2], first[0], second[2], second[1]], [first[1], first[1], second[0], second[0]])
    return np.array([*angles[:2], 0.0, 0.0, *angles[2:], 0.0, subject.link_length])


def with_axes(subject: LegFoot, shared: Floats, source: str) -> LegFoot:
    """The subject with the axes of unknowns (8,) in place of its own, by whose talocrural point the unknowns count."""
    leg, foot = subject.bodies["leg"], subject.bodies["main_foot"]
    (a_1, a_2), (p_1, p_2) = directions(shared), points(shared)
    centre = leg.r + leg.A @ subject.talocrural.points["leg"]
    crural, calcaneal = centre + foot.A @ p_1, centre + foot.A @ p_2
    where = ("talocrural axis", "talocalcaneal axis", "link length")
    return replace(
        subject,
        talocrural=Hinge({"leg": leg.local(crural)}, {"leg": foot.A @ a_1 @ leg.A}),
        talocalcaneal=Hinge({"main_foot": foot.local(calcaneal)}, {"main_foot": a_2}),
        link_length=float(np.linalg.norm(calcaneal - crural)),
        sources={**subject.sources, **dict.fromkeys(where, source)},
    )
