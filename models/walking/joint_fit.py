"""Which joint the measured motion of two bones fits: one hinge, both universal joints, a spherical joint, or none of them.

The distal bone, as seen from the proximal one, is placed by a chain: a line of the proximal bone, a turn about it, a link along
the common perpendicular of both lines, a turn about a line of the distal bone.  The joints of ``codegen.joints`` are parts of it:

=========  ======================================  ========  ==========
joint      joint of ``codegen.joints``             freedoms  parameters
=========  ======================================  ========  ==========
hinge      ``revolute``                            1         9
classical  ``universal``: both lines meet          2         11
modified   ``modified_universal``: a link between  2         12
spherical  ``spherical``                           3         6
free       none                                    6         0
=========  ======================================  ========  ==========

The angles of each frame are those that bring the chain nearest to the measured pose, turns and shifts weighed by the noise; the
parameters are least squares of what is left (variable projection: Golub and Pereyra, The differentiation of pseudo-inverses and
nonlinear least squares problems whose variables separate, SIAM J Numer Anal 10, 1973, 413-432; the Jacobian after Kaufman, BIT
15, 1975, 49-57, with which the gradient is exact).  Derivatives are exact, as in ``models.walking.two_hinges``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq, least_squares
from scipy.spatial.transform import Rotation
from scipy.stats import t as student

from models.walking.bone_motion import BoneMotion
from models.walking.hinge_fit import MAX_CONDITION, MAX_SD_DEG, repetition
from models.walking.subject import Frozen
from models.walking.two_hinges import IMAGINARY, slopes
from runtime import ModelError
from runtime.analysis import PoseProblem
from runtime.support import checked, checked_class, positive
from runtime.support.arrays import Floats, Ints

NOISE_MM, NOISE_DEG = 0.3, 0.3  # of the pose of each bone, in each direction
MIN_FRAMES = 24  # of all movements
BLOCKS = 5  # consecutive parts of a movement
HOLDS = 2.0  # times the noise: a joint with a larger residual does not hold
MARGIN = 0.1  # of the least residual, by which a simpler joint may be worse
DEVIATIONS = 2.0  # standard deviations of the difference, likewise
LONGEST = 0.15  # [m] of a link, up to which its interval is sought
LEVEL = 0.95
EXACT = 1e-12  # squares of residuals of poses without noise, of which the ratio says nothing
# Least variance of the angles, in any combination of both, over that by noise: below it, one hinge would do.
SHOWN = 9.0
# Starts: directions in a plane, pairs of them, least squared sine of their angle.
DIRECTIONS, REFINED, MIN_APART = 12, 4, 0.1
MOST = 20  # evaluations of a fit: where nothing determines an unknown, the sum of squares hardly falls any more
# Of the sum of squares: with thousands of residuals of unit variance, far below what chance makes of it.
PRECISION = 1e-6
ANGLES_TO: dict[str, Any] = dict(tolerance=1e-6, most=20)  # [rad] of the last step; the next one is of its square


class Joint(NamedTuple):
    """A joint: its freedoms, and which of the ``UNKNOWNS`` are its parameters; the others are zero."""

    freedoms: int
    has: tuple[int, ...]


# Tilt of the proximal line and a point of it [m]; the same of the distal line; angle between both lines, length of the link [m].
UNKNOWNS = 12
ANGLE, LENGTH = 10, 11
JOINTS = {
    "hinge": Joint(1, (0, 1, 2, 3, 5, 6, 7, 8, 9)),  # a point of a line is the same wherever it slides along it
    "classical": Joint(2, tuple(range(11))),
    "modified": Joint(2, tuple(range(12))),
    "spherical": Joint(3, (2, 3, 4, 7, 8, 9)),
    "free": Joint(6, ()),
}  # in order of simplicity: fewer freedoms, then fewer parameters


def _turning(v: Any) -> Any:
    """Rotations (..., 3, 3) by vectors (..., 3) along their axes, as long as twice the tangent of half the angle (Cayley)."""
    g = np.asarray(v)[..., None, :] / 2.0
    K = np.swapaxes(np.cross(g, np.eye(3)), -1, -2)
    return np.eye(3) + 2.0 / (1.0 + (g * g).sum(axis=-1, keepdims=True)) * (K + K @ K)


def _tilted(v: Any) -> Any:
    """Rotations (..., 3, 3) by vectors (..., 2) across the third axis."""
    return _turning(np.concatenate([v, np.zeros_like(v[..., :1])], axis=-1))


def _line(base: Floats, v: Any) -> Any:
    """Directions (..., 3) of lines with tilts (..., 2)."""
    return _tilted(v)[..., 2] @ base.T


def _about(axis: int, angle: Any) -> Any:
    """Rotations (..., 3, 3) about a coordinate axis."""
    a = np.asarray(angle)[..., None, None]
    K = np.cross(np.eye(3)[axis], np.eye(3)).T
    return np.eye(3) + np.sin(a) * K + (1.0 - np.cos(a)) * (K @ K)


@dataclass(frozen=True, eq=False)
class Chain(PoseProblem):
    """Poses of the distal bone in the proximal one, and a joint that is to place them; a pose of the problem is a frame.

    ``A`` (n, 3, 3), ``r`` (n, 3) [m]: between the centres of both bones.  ``bases`` (2, 3, 3): axes of the bones, the third along
    a first guess of the lines.  ``sd`` (2,): of turns [rad] and shifts [m].  ``x`` (12,): the unknowns.
    """

    joint: Joint
    A: Floats
    r: Floats
    bases: Floats
    sd: Floats
    x: Floats

    @property
    def lower(self) -> Floats:  # type: ignore[override]
        """None."""
        return np.full(self.joint.freedoms, -np.inf)

    @property
    def upper(self) -> Floats:  # type: ignore[override]
        """None."""
        return -self.lower

    def of(self, poses: Ints) -> Self:
        """The frames of some poses."""
        return replace(self, A=self.A[poses], r=self.r[poses])

    def placed(self, x: Any, angles: Any) -> tuple[Any, Any]:
        """Orientation (..., n, 3, 3) and position (..., n, 3) of the distal bone, for unknowns (..., 12), angles (..., n, f)."""
        p_1, p_2 = (x[..., None, k : k + 3] @ base.T for base, k in zip(self.bases, (2, 7), strict=True))
        if self.joint.freedoms == 3:
            A = self.A @ _turning(angles)
            return A, p_1 - (A @ p_2[..., None])[..., 0]
        first, second = (base @ _tilted(x[..., k : k + 2]) for base, k in zip(self.bases, (0, 5), strict=True))
        link = first[..., None, :, :] @ _about(2, angles[..., 0])
        A = link @ _about(0, x[..., None, ANGLE])
        if self.joint.freedoms == 2:
            A = A @ _about(2, angles[..., 1])
        A = A @ np.swapaxes(second, -1, -2)[..., None, :, :]
        return A, p_1 + x[..., None, LENGTH, None] * link[..., 0] - (A @ p_2[..., None])[..., 0]

    def residuals(self, x: Any, angles: Any) -> Any:
        """Turns and shifts (..., n, 6) from the joint to the measured poses, in their standard deviations."""
        A, r = self.placed(x, angles)
        E = np.swapaxes(A, -1, -2) @ self.A
        twice = np.stack(
            [E[..., 2, 1] - E[..., 1, 2], E[..., 0, 2] - E[..., 2, 0], E[..., 1, 0] - E[..., 0, 1]], axis=-1
        )
        # Twice the sine of half the angle.
        turn = twice / np.sqrt(1.0 + 1e-12 + np.trace(E, axis1=-2, axis2=-1))[..., None]
        return np.concatenate(np.broadcast_arrays(turn / self.sd[0], (self.r - r) / self.sd[1]), axis=-1)

    def slopes_of_angles(self, angles: Floats) -> Floats:
        """Derivatives (n, 6, freedoms) of the residuals by the angles of their frame."""
        steps = IMAGINARY * np.eye(self.joint.freedoms)[:, None]
        return np.moveaxis(self.residuals(self.x, angles + 1j * steps).imag / IMAGINARY, 0, -1)

    def normal_equations(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """For angles x (n, freedoms)."""
        r, J = self.residuals(self.x, x), self.slopes_of_angles(x)
        turned = np.swapaxes(J, 1, 2)
        return (turned @ r[..., None])[..., 0], turned @ J, (r * r).sum(axis=1)

    def first_angles(self) -> Floats:
        """Angles (n, freedoms) from the orientations alone."""
        if self.joint.freedoms == 3:
            return np.zeros((len(self.A), 3))
        first, second = (base @ _tilted(self.x[k : k + 2]) for base, k in zip(self.bases, (0, 5), strict=True))
        M = first.T @ self.A @ second
        if self.joint.freedoms == 1:
            return np.arctan2(M[:, 1, 0] - M[:, 0, 1], M[:, 0, 0] + M[:, 1, 1])[:, None]
        sign = math.copysign(1.0, math.sin(self.x[ANGLE]))
        pairs = (M[:, 0, 2], -M[:, 1, 2]), (M[:, 2, 0], M[:, 2, 1])
        return np.stack([np.arctan2(sign * a, sign * b) for a, b in pairs], axis=-1)

    def followed(self, angles: Floats, has: Sequence[int]) -> tuple[Floats, Floats]:
        """Derivatives by some unknowns while the angles follow, of residuals (6 n, unknowns) and angles (n, freedoms, unknowns).

        Without the curvature of the residuals, which leaves the gradient of the sum of squares as it is.
        """
        moves, own = np.eye(UNKNOWNS)[list(has)], self.slopes_of_angles(angles)
        J = np.moveaxis(self.residuals(self.x + 1j * IMAGINARY * moves, angles).imag / IMAGINARY, 0, -1)
        turned = np.swapaxes(own, 1, 2)
        H = turned @ own
        H += (1e-12 * np.trace(H, axis1=1, axis2=2) + 1e-300)[:, None, None] * np.eye(H.shape[1])
        follow = -np.linalg.solve(H, turned @ J)
        return (J + own @ follow).reshape(-1, len(moves)), follow

    def fit(self, has: Sequence[int] | None = None, *, angles: Floats | None = None, most: int = MOST) -> Fitted:
        """Least squares of the unknowns ``has``, by default all of the joint, in at most so many evaluations."""
        has = list(self.joint.has if has is None else has)
        z, there = self.x[has], self.solve(self.first_angles() if angles is None else angles, **ANGLES_TO).x
        here, (J, follow) = self, self.followed(there, has)

        def at(new: Floats) -> None:
            nonlocal z, here, there
            if not np.array_equal(new, z):
                x = self.x.copy()
                x[has] = new
                here = replace(self, x=x)
                there = here.solve(there + follow @ (new - z), **ANGLES_TO).x
                z = new.copy()

        def residuals(new: Floats) -> Floats:
            at(new)
            return here.residuals(here.x, there).ravel()

        def jacobian(new: Floats) -> Floats:
            nonlocal J, follow
            at(new)
            J, follow = here.followed(there, has)
            return J

        found = least_squares(
            residuals, z, jacobian, x_scale="jac", max_nfev=most, xtol=1e-8, ftol=PRECISION, gtol=1e-12
        )
        at(found.x)
        return Fitted(here, there, 2.0 * float(found.cost))


class Fitted(NamedTuple):
    """A chain with unknowns of least squares, angles (n, freedoms) [rad], and the sum of squares."""

    chain: Chain
    angles: Floats
    cost: float

    @property
    def residuals(self) -> Floats:
        """As those of the chain."""
        return np.asarray(self.chain.residuals(self.chain.x, self.angles))

    @property
    def turns(self) -> bool:
        """Whether all angles vary by more than the noise as given makes them, in any combination."""
        own = self.chain.slopes_of_angles(self.angles)
        noise = np.linalg.pinv(np.swapaxes(own, 1, 2) @ own).mean(axis=0)
        return bool(eigh(np.atleast_2d(np.cov(self.angles.T)), noise, eigvals_only=True)[0] > SHOWN)


def _centres(A: Floats, r: Floats) -> tuple[Floats, Floats]:
    """The points of the proximal and of the distal bone that stay nearest to each other: where shifts are measured."""
    rows = np.concatenate([A, np.broadcast_to(-np.eye(3), A.shape)], axis=2).reshape(-1, 6)
    distal, proximal = np.split(np.linalg.lstsq(rows, -r.ravel(), rcond=None)[0], 2)
    return proximal, distal


def _along(axis: Floats) -> Floats:
    """A frame (3, 3) with its third axis along a unit vector."""
    across = np.linalg.svd(axis[None])[2][1:]
    return np.column_stack([across[0], np.cross(axis, across[0]), axis])


def _hinge_lines(A: Floats) -> Floats:
    """Directions (2, 3) of the line about which the bones turn most, in the proximal and in the distal bone."""
    turns = Rotation.from_matrix(np.array(A))
    middle = turns.mean()
    distal = np.linalg.svd((middle.inv() * turns).as_rotvec(), full_matrices=False)[2][0]
    return np.array([middle.apply(distal), distal])


def _pairs_of_lines(A: Floats) -> Floats:
    """Directions (REFINED, 2, 3) of two lines at an angle that changes little, one of each bone.

    Turns about both lines are near the plane that both directions span: pairs of directions in this plane are compared.
    """
    turns = Rotation.from_matrix(np.array(A))
    middle = turns.mean()
    plane = np.linalg.svd((turns * middle.inv()).as_rotvec(), full_matrices=False)[2][:2]
    around = np.pi / DIRECTIONS * np.arange(DIRECTIONS)
    lines = np.stack([np.cos(around), np.sin(around)], axis=-1) @ plane
    distal = middle.inv().apply(lines)
    cosine = np.einsum("sa,nab,tb->nst", lines, A, distal)
    apart = 1.0 - cosine.mean(axis=0) ** 2
    score = np.where(apart > MIN_APART, cosine.var(axis=0) / np.maximum(apart, MIN_APART), np.inf)  # of the angle
    kept: list[tuple[int, int]] = []
    for flat in np.argsort(score, axis=None):
        one = divmod(int(flat), DIRECTIONS)
        steps = [[abs(a - b) for a, b in zip(one, other, strict=True)] for other in kept]
        if all(max(min(step, DIRECTIONS - step) for step in pair) > 1 for pair in steps):
            kept.append(one)
        if len(kept) == REFINED:
            break
    return np.array([[lines[i], distal[j]] for i, j in kept])


def fit_of(name: str, A: Floats, r: Floats, sd: Floats) -> Fitted:
    """The best fit of a joint to poses between the centres of both bones, from several starts."""
    joint = JOINTS[name]
    if joint.freedoms == 2:
        starts = []
        for lines in _pairs_of_lines(A):
            x = np.zeros(UNKNOWNS)
            x[ANGLE] = np.arccos(np.clip(np.mean(lines[0] @ A @ lines[1]), -1.0, 1.0))
            chain = Chain(joint, A, r, np.array([_along(line) for line in lines]), sd, x)
            starts.append(chain.fit(most=6))
        best = min(starts, key=lambda one: one.cost)
        return best.chain.fit(angles=best.angles)
    bases = np.array([_along(line) for line in _hinge_lines(A)])
    return Chain(joint, A, r, bases, sd, np.zeros(UNKNOWNS)).fit()


@checked_class
@dataclass(frozen=True, eq=False)
class JointFit(Frozen):
    """How a joint fits.

    Attributes
    ----------
    joint : str
    freedoms, parameters : int
        Angles of a frame; numbers that are the same in all frames.
    residual_deg, residual_mm : float [deg], [mm]
        Root mean square over the frames of the turn and of the shift from the joint to the measured pose.
    left_out_deg, left_out_mm : float [deg], [mm]
        Likewise on parts of the motion that were left out of the fit, each in turn.
    relative : float
        Of the left-out parts: root mean square of turns and shifts over their noise, for each direction that the joint stops.
    times : float
        ``relative`` over the least one of all joints.
    margin : float
        Up to which ``times`` counts as no more than the least: a tenth, or two standard deviations over blocks of frames.
    by_part : mapping of str to float
        ``relative`` on each part.
    axes, points : mapping of bone to (3,) [1], [m]
        In axes of the bone: of joints with hinges the direction of its line and a point of it, the end of the link; of a
        spherical joint the centre alone.
    sd_deg : mapping of bone to float [deg]
        Standard deviation of the direction; infinite where the motion does not show it.
    angle_deg : float [deg]
        Between both lines; NaN without two of them.
    ranges_deg : (freedoms,) [deg]
        5th to 95th percentile of each angle of a hinge.
    link_length : float [m]
        Shortest distance between both lines; NaN but for the modified joint.
    interval : (2,) [m]
        95 % interval of the link's length, by the profile of the likelihood; infinite where the motion does not show it.
    link_lengths : mapping of str to float [m]
        Without each part.
    """

    joint: str
    freedoms: int
    parameters: int
    residual_deg: float
    residual_mm: float
    left_out_deg: float
    left_out_mm: float
    relative: float
    times: float
    margin: float
    by_part: Mapping[str, float]
    axes: Mapping[str, Floats]
    points: Mapping[str, Floats]
    sd_deg: Mapping[str, float]
    angle_deg: float
    ranges_deg: Floats
    link_length: float
    interval: Floats
    link_lengths: Mapping[str, float]


@checked_class
@dataclass(frozen=True, eq=False)
class JointComparison(Frozen):
    """Which joint fits a motion.

    Attributes
    ----------
    fits : mapping of str to JointFit
        By joint, the simplest first.
    chosen : str
        The simplest joint whose residual on left-out parts is within its margin of the least one; "free" where that is more than
        twice the noise.
    nearest : str
        The same without "free".
    noise_mm, noise_deg : float
        As given, of the pose of each bone.
    parts : str
        What was left out in turn: "movement" or "part".
    frames : int
    missing : int
        Frames that were left out because a bone was not seen.
    """

    fits: Mapping[str, JointFit]
    chosen: str
    nearest: str
    noise_mm: float
    noise_deg: float
    parts: str
    frames: int
    missing: int

    def sentences(self) -> list[str]:
        """Which joint is chosen and by how much; the length of its link; which axes the motion does not show."""
        one = self.fits[self.nearest]
        left = f"{one.left_out_deg:.2f} deg and {one.left_out_mm:.2f} mm, {one.relative:.2g} times the noise"
        if self.chosen == "free":
            said = [
                f"No joint fits within {HOLDS:g} times the noise of {self.noise_mm:g} mm and {self.noise_deg:g} deg; the "
                f"nearest, {self.nearest}, leaves {left} on a {self.parts} that was left out."
            ]
        else:
            said = [f"The {self.nearest} joint fits: on a {self.parts} that was left out it leaves {left}."]
        others = [
            f"{fit.joint} {fit.times / one.times:.3g}"
            for fit in self.fits.values()
            if fit.freedoms < 6 and fit is not one
        ]
        if others:
            said.append(f"Residuals of the others, over that of the {self.nearest} joint: {', '.join(others)}.")
        if np.isfinite(one.link_length):
            low, high = 1e3 * one.interval
            known = (
                f"95 % interval {low:.1f} to {high:.1f} mm" if np.isfinite(high) else "which the motion does not show"
            )
            said.append(f"The axes are {1e3 * one.link_length:.1f} mm apart, {known}.")
        unseen = [bone for bone, sd in one.sd_deg.items() if not sd <= MAX_SD_DEG]
        if unseen:
            said.append(
                f"The motion does not show the axis in the {' and '.join(unseen)} bone: the standard deviation of its direction "
                f"exceeds {MAX_SD_DEG:g} deg."
            )
        return said


@checked
def fit_joints(
    motions: Sequence[BoneMotion],
    *,
    joints: Sequence[str] = tuple(JOINTS),
    noise_mm: float = NOISE_MM,
    noise_deg: float = NOISE_DEG,
) -> JointComparison:
    """Fit joints to the measured motion of two bones, and choose the simplest one that predicts what it has not seen.

    Each movement is left out of the fit in turn; of a single movement, each fifth of its frames.

    Parameters
    ----------
    motions : sequence of BoneMotion
        Movements of the same bones, as ``read_bones`` gives them.
    joints : sequence of str
        Of hinge, classical, modified, spherical, free.
    noise_mm, noise_deg : float
        Standard deviation of the pose of each bone, in each direction: it weighs shifts against turns, and says when a joint
        holds.

    Raises
    ------
    ModelError
        For an unknown joint, too few frames, or bones that do not turn.
    """
    unknown = [name for name in joints if name not in JOINTS]
    names = [name for name in JOINTS if name in joints]
    if unknown or not set(names) - {"free"}:
        raise ModelError(
            f"joints = {', '.join(map(repr, joints))}: use one or more of {', '.join(JOINTS)}, not free alone"
        )
    sd = np.sqrt(2.0) * np.array([np.radians(positive(noise_deg, "noise_deg")), 1e-3 * positive(noise_mm, "noise_mm")])
    A, r = (np.concatenate([getattr(one, what) for one in motions]) if motions else np.zeros(0) for what in ("A", "r"))
    if len(A) < MIN_FRAMES:
        raise ModelError(f"{len(A)} frames show both bones, {MIN_FRAMES} are needed; give longer or more movements")
    turns = Rotation.from_matrix(np.array(A))
    turned = float(np.sqrt(((turns.mean().inv() * turns).magnitude() ** 2).mean()))
    if turned < 3.0 * sd[0]:
        raise ModelError(
            f"the bones turn by {np.degrees(turned):.2g} deg against each other (root mean square), "
            f"{np.degrees(3.0 * sd[0]):.2g} deg are needed beside the noise; give movements of the joint, or a smaller noise"
        )
    ends = np.cumsum([len(one.A) for one in motions])
    frames = [np.arange(end - len(one.A), end) for one, end in zip(motions, ends, strict=True)]
    blocks = [block for own in frames for block in np.array_split(own, min(BLOCKS, len(own)))]
    several = len(motions) > 1
    parts = {one.name: own for one, own in zip(motions, frames, strict=True)}
    if not several:
        parts = {f"part {k + 1}": block for k, block in enumerate(blocks)}
    proximal, distal = _centres(A, r)
    tried = {name: Trial.of(name, A, r + A @ distal - proximal, sd, parts) for name in names if name != "free"}
    candidates = [
        one for one in tried.values() if one.whole.chain.joint.freedoms != 2 or one.whole.turns
    ]  # two turns, not one
    best = min(candidates or tried.values(), key=lambda one: float(one.squares.sum()))
    fits = {name: one.result(best, blocks, (proximal, distal)) for name, one in tried.items()}
    nearest = next(one.name for one in candidates or tried.values() if fits[one.name].times <= fits[one.name].margin)
    if "free" in names:
        fits["free"] = _free(fits[best.name].relative, parts)
    chosen = "free" if "free" in names and fits[nearest].relative > HOLDS else nearest
    missing = sum(one.missing for one in motions)
    return JointComparison(
        fits, chosen, nearest, noise_mm, noise_deg, "movement" if several else "part", len(A), missing
    )


@dataclass(frozen=True, eq=False)
class Trial:
    """A joint, fitted to all frames and without each part.

    ``left_out`` (n, 6): residuals of frames by the fit without their part.  ``without``: the fits.
    """

    name: str
    whole: Fitted
    left_out: Floats
    parts: Mapping[str, Ints]
    without: Mapping[str, Fitted]

    @classmethod
    def of(cls, name: str, A: Floats, r: Floats, sd: Floats, parts: Mapping[str, Ints]) -> Trial:
        """Fit a joint to poses between the centres of both bones."""
        whole = fit_of(name, A, r, sd)
        left_out, without = np.zeros((len(A), 6)), {}
        for part, frames in parts.items():
            rest = np.setdiff1d(np.arange(len(A)), frames)
            without[part] = whole.chain.of(rest).fit(angles=whole.angles[rest])
            seen = replace(whole.chain.of(frames), x=without[part].chain.x)
            left_out[frames] = seen.residuals(seen.x, seen.solve(whole.angles[frames], **ANGLES_TO).x)
        return cls(name, whole, left_out, parts, without)

    @property
    def squares(self) -> Floats:
        """Of the left-out residuals of each frame (n,), for each direction that the joint stops."""
        return np.asarray((self.left_out**2).sum(axis=1) / (6 - self.whole.chain.joint.freedoms) + EXACT)

    def result(self, best: Trial, blocks: Sequence[Ints], centres: tuple[Floats, Floats]) -> JointFit:
        """Everything about the joint, beside the one with the least residual."""
        chain, (freedoms, has) = self.whole.chain, self.whole.chain.joint
        own, least = self.squares, best.squares
        without = np.array([np.delete(own, block).sum() / np.delete(least, block).sum() for block in blocks])
        away = np.log(without) / 2.0
        sd = float(np.sqrt((len(blocks) - 1.0) / len(blocks) * ((away - away.mean()) ** 2).sum()))
        residual, left_out = (_rms(one, chain.sd) for one in (self.whole.residuals, self.left_out))
        lines = _Lines.of(self.whole, centres)
        length, interval, lengths = math.nan, np.full(2, np.nan), {}
        if LENGTH in has:
            length, interval = abs(float(chain.x[LENGTH])), lines.interval()
            lengths = {part: abs(float(one.chain.x[LENGTH])) for part, one in self.without.items()}
        ranges = np.degrees(np.diff(np.percentile(self.whole.angles, [5, 95], axis=0), axis=0)[0])
        return JointFit(
            self.name, freedoms, len(has), *residual, *left_out, relative=float(np.sqrt(own.mean())),
            times=float(np.sqrt(own.sum() / least.sum())), margin=max(1.0 + MARGIN, math.exp(DEVIATIONS * sd)),
            by_part={part: float(np.sqrt(own[frames].mean())) for part, frames in self.parts.items()}, axes=lines.axes,
            points=lines.points, sd_deg=lines.sd_deg, angle_deg=lines.angle_deg,
            ranges_deg=ranges if freedoms < 3 else np.zeros(0), link_length=length, interval=interval, link_lengths=lengths,
        )  # fmt: skip


def _rms(residuals: Floats, sd: Floats) -> tuple[float, float]:
    """Root mean square turn [deg] and shift [mm] of residuals (n, 6)."""
    turn, shift = (np.sqrt((one**2).sum(axis=1).mean()) for one in np.split(residuals, 2, axis=1))
    return float(np.degrees(turn * sd[0])), float(1e3 * shift * sd[1])


def _free(least: float, parts: Mapping[str, Ints]) -> JointFit:
    """Six freedoms, which place every pose: what is left is the noise as given."""
    nothing: dict[str, Any] = {}
    return JointFit(
        "free", 6, 0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0 / least, math.inf, dict.fromkeys(parts, 1.0), nothing, nothing, nothing,
        math.nan, np.zeros(0), math.nan, np.full(2, np.nan), nothing,
    )  # fmt: skip


BONES = ("proximal", "distal")


@dataclass(frozen=True, eq=False)
class _Lines:
    """What the unknowns of a fit say of the lines in both bones, and how sure they are."""

    fitted: Fitted
    axes: Mapping[str, Floats]
    points: Mapping[str, Floats]
    sd_deg: Mapping[str, float]
    angle_deg: float
    variance: float
    seen: bool

    @classmethod
    def of(cls, fitted: Fitted, centres: tuple[Floats, Floats]) -> _Lines:
        chain, (freedoms, has) = fitted.chain, fitted.chain.joint
        of_bones = list(zip(BONES, chain.bases, centres, (0, 5), strict=True))
        points = {bone: centre + base @ chain.x[k + 2 : k + 5] for bone, base, centre, k in of_bones}
        residuals = fitted.residuals
        remaining = max((6 - freedoms) * len(residuals) - len(has), 1)
        variance = fitted.cost / remaining * repetition(residuals)  # of a residual, by the frames that repeat no other
        if freedoms == 3:
            return cls(fitted, {}, points, {}, math.nan, variance, True)
        J = chain.followed(fitted.angles, has)[0]
        scale = 1.0 / np.maximum(np.linalg.norm(J, axis=0), 1e-300)
        H = (J * scale).T @ (J * scale)
        seen = bool(fitted.turns and np.linalg.cond(H) < MAX_CONDITION)
        axes, sd = {}, {}
        for bone, base, _, k in of_bones:
            axes[bone] = _line(base, chain.x[k : k + 2])
            turn = slopes(partial(_line, base), chain.x[k : k + 2])
            rows = turn @ np.eye(UNKNOWNS)[k : k + 2][:, list(has)] * scale
            sd[bone] = (
                float(np.degrees(np.sqrt(variance * np.trace(rows @ np.linalg.inv(H) @ rows.T)))) if seen else math.inf
            )
        angle = float(np.degrees(np.arccos(math.cos(chain.x[ANGLE])))) if freedoms == 2 else math.nan
        return cls(fitted, axes, points, sd, angle, variance, seen)

    def interval(self) -> Floats:
        """Limits (2,) [m] of the length of the link, at which the least sum of squares exceeds its least value by chance."""
        if not self.seen:
            return np.array([0.0, math.inf])
        best = self.fitted
        has = [k for k in best.chain.joint.has if k != LENGTH]
        signed = float(best.chain.x[LENGTH])
        length, remaining = abs(signed), best.residuals.size - best.angles.size - len(has) - 1
        limit = best.cost + self.variance * float(student.ppf((1.0 + LEVEL) / 2.0, max(remaining, 1))) ** 2

        def excess(at: float) -> float:
            x = best.chain.x.copy()
            x[LENGTH] = math.copysign(at, signed)
            return replace(best.chain, x=x).fit(has, angles=best.angles).cost - limit

        def crossing(inside: float, outside: float) -> float:
            return float(brentq(excess, inside, outside, xtol=5e-5, rtol=1e-3))

        low = crossing(length, 0.0) if excess(0.0) > 0.0 else 0.0
        inside, step = length, 1e-3
        while (outside := inside + step) < LONGEST:
            if excess(outside) > 0.0:
                return np.array([low, crossing(inside, outside)])
            inside, step = outside, 2.0 * step
        return np.array([low, math.inf])
