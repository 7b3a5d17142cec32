"""How a subject's bodies move by their own markers, without the joints: poses, rebuilt markers, and whether the subject fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np

from models.rotations import about
from models.walking.capture import Capture
from models.walking.geometry import fixes_orientation, mean_of_seen
from models.walking.marker_sets import FOREFOOT
from models.walking.samples import all_finite
from models.walking.subject import BODIES, Frozen, LegFoot
from runtime import ModelError
from runtime.support import checked
from runtime.support.arrays import Floats

# Skin moves: in the data at hand the distance between two markers of a body changes by 3 mm in the median of the body's pairs
# and by 10 mm at most while the foot is flat (12 mm over a trial); 5 per cent of size change every pair of the leg by 16 mm.
MAX_MEDIAN_CHANGE, MAX_PAIR_CHANGE = 0.008, 0.022  # [m] median of the pairs of a body, and any pair
# Change of a marker's distances from the other markers of its body, as their median: in the data at hand 0.4 m/s at most.
MAX_CHANGE_RATE, MIN_JUMP = 0.45, 0.006  # [m/s]; [m] between two frames, below which noise of fast cameras is


@dataclass(frozen=True, eq=False)
class Pose(Frozen):
    """Where a body is in each frame: A (n, 3, 3) body to lab axes, r (n, 3) [m] centre of mass, residual (n,) [m].

    The residual is the root mean square distance of the body's markers from where they were while standing.  NaN in frames
    without enough markers.
    """

    A: Floats
    r: Floats
    residual: Floats


@dataclass(frozen=True, eq=False)
class Rebuilt(Frozen):
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


def tracked(subject: LegFoot, trial: Capture, body: str) -> tuple[str, ...]:
    """Labels of the markers by which a body is tracked: in the static trial, and seen in this one."""
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
    labels = {body: tracked(subject, trial, body) for body in BODIES}
    if not any(labels.values()):
        sought = ", ".join(label for segment in subject.bodies.values() for label in segment.markers)
        raise ModelError(
            f"{trial.name}: it has none of the markers of the static trial {subject.name} ({sought}); give the static trial "
            "of the same subject with the same labels"
        )
    worst, typical, words = 0.0, 0.0, ""
    for body in ("leg", "main_foot"):
        changes = _distance_changes(subject, trial, body, labels[body])
        if not changes:
            continue
        typical = max(typical, float(np.median([change for change, _ in changes])))
        change, pair = max(changes, key=lambda one: one[0])
        if change > worst:
            worst, words = change, pair
    for value, limit, what in (
        (worst, MAX_PAIR_CHANGE, "apart"),
        (typical, MAX_MEDIAN_CHANGE, "apart in the median of a body's pairs"),
    ):
        if value > limit:
            raise ModelError(
                f"{trial.name}: the markers are not placed as in the static trial {subject.name} ({words}): {1e3 * value:.0f} mm "
                f"{what}, the limit is {1e3 * limit:.0f} mm; give the static trial of the same subject and day"
            )


def _distance_changes(subject: LegFoot, trial: Capture, body: str, labels: tuple[str, ...]) -> list[tuple[float, str]]:
    """By how much [m] the distance of each pair of markers differs from standing, and the pair in words."""
    forefoot = {subject.landmarks.labels[name] for name in FOREFOOT if name in subject.landmarks}
    local = subject.bodies[body].markers
    changes = []
    for a, b in combinations(labels, 2):
        apart = np.linalg.norm(trial.markers[a] - trial.markers[b], axis=-1)
        if {a, b} <= forefoot or not np.isfinite(apart).any():
            continue
        standing, moving = float(np.linalg.norm(local[a] - local[b])), float(np.nanmedian(apart))
        words = f"{a} to {b}: {1e3 * moving:.0f} mm, standing {1e3 * standing:.0f} mm"
        changes.append((abs(moving - standing), words))
    return changes


def jumps(trial: Capture, labels: Mapping[str, str], begin: float, end: float) -> list[str]:
    """A sentence for each marker that jumps against the other markers of its body between two times [s].

    ``labels``: body by label.  Bodies with less than three markers do not show which one jumps.
    """
    limit = max(MIN_JUMP, MAX_CHANGE_RATE / trial.rate)
    within = (trial.t >= begin) & (trial.t <= end)
    t, found = trial.t[within], []
    for label, body in labels.items():
        others = [other for other, its_body in labels.items() if its_body == body and other != label]
        if len(others) < 2:
            continue
        apart = [np.linalg.norm(trial.markers[label] - trial.markers[other], axis=1)[within] for other in others]
        change = np.nan_to_num(np.median(np.abs(np.diff(apart)), axis=0))
        worst = int(change.argmax()) if len(change) else 0
        if len(change) and change[worst] > limit:
            found.append(
                f"{trial.name}: marker '{label}' jumps at t = {t[worst]:.3f} s: by {1e3 * change[worst]:.1f} mm in one frame "
                f"against the other markers of the {body.replace('_', ' ')}, limit {1e3 * limit:.1f} mm; look at it in the "
                "capture software"
            )
    return found


@checked
def segment_pose(subject: LegFoot, trial: Capture) -> Mapping[str, Pose]:
    """How each body moves in a trial by its own markers, without the joints; the toes turn about their hinge.

    Leg and main foot: least squares fit of a rigid body (singular value decomposition) in every frame that has three
    markers not in a line.  Toes: best angle about the metatarsophalangeal axis; parallel to the main foot where the trial
    has no markers on the toes.  A main foot whose markers do not show its inversion stays as in standing against the leg.

    Returns
    -------
    mapping of body to Pose

    Raises
    ------
    ModelError
        Where a body has not enough markers.
    """
    poses: dict[str, Pose] = {}
    for body in ("leg", "main_foot"):
        segment, labels = subject.bodies[body], tracked(subject, trial, body)
        if body == "main_foot" and not subject.shows_inversion:
            poses[body] = _with_leg(subject, poses["leg"])
            continue
        local = np.array([segment.markers[label] for label in labels]).reshape(-1, 3)
        if not fixes_orientation(local):
            raise ModelError(
                f"{trial.name}: the {body.replace('_', ' ')} has the markers {', '.join(labels) or '(none)'} in common with "
                f"the static trial {subject.name}; three that are not in a line are needed to find its motion"
            )
        poses[body] = fit_rigid(local, np.stack([trial.markers[label] for label in labels], axis=1))
    poses["toes"] = _turn_toes(subject, trial, poses["main_foot"])
    return MappingProxyType(poses)


@checked
def rebuild(subject: LegFoot, trial: Capture) -> Rebuilt:
    """Place the markers that only the static trial has in a trial, by the other markers of the same body.

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
            # A label without a single position counts as absent.
            if label in trial.markers and np.isfinite(trial.markers[label]).any():
                markers[label] = trial.markers[label]
            else:
                markers[label] = poses[body].r + poses[body].A @ local
                static_only[label] = body
    return Rebuilt(markers, static_only, {body: pose.residual for body, pose in poses.items()})


def fit_rigid(local: Floats, seen: Floats) -> Pose:
    """The rigid motion that brings points local (m, 3) nearest to seen (n, m, 3) in each frame; NaN points are left out."""
    n = len(seen)
    A, r, residual = np.full((n, 3, 3), np.nan), np.full((n, 3), np.nan), np.full(n, np.nan)
    there = np.isfinite(seen).all(axis=-1)
    for which in np.unique(there, axis=0):  # frames with the same markers are one array
        if not fixes_orientation(local[which]):
            continue
        rows = np.flatnonzero((there == which).all(axis=1))
        a, b = local[which], seen[np.ix_(rows, np.flatnonzero(which))]
        a0, b0 = a.mean(axis=0), b.mean(axis=1)
        U, _, Vt = np.linalg.svd(np.swapaxes(b - b0[:, None], 1, 2) @ (a - a0))
        U[..., 2] *= np.sign(np.linalg.det(U @ Vt))[:, None]  # a rotation, not a reflection
        A[rows] = U @ Vt
        r[rows] = b0 - A[rows] @ a0
        off = b - (r[rows][:, None] + a @ np.swapaxes(A[rows], 1, 2))
        residual[rows] = np.sqrt((off**2).sum(axis=-1).mean(axis=-1))
    return Pose(A, r, residual)


def _with_leg(subject: LegFoot, leg: Pose) -> Pose:
    """The main foot as it stands against the leg."""
    standing, foot = subject.bodies["leg"], subject.bodies["main_foot"]
    arm = standing.local(foot.r)
    return Pose(leg.A @ (standing.A.T @ foot.A), leg.r + leg.A @ arm, leg.residual)


def _turn_toes(subject: LegFoot, trial: Capture, main_foot: Pose) -> Pose:
    """The toes, turned about their hinge on the main foot to fit their markers best; NaN where none of them is seen."""
    hinge, toes = subject.metatarsophalangeal, subject.bodies["toes"]
    n, a, labels = len(main_foot.r), hinge.axes["main_foot"], tracked(subject, trial, "toes")
    centre = main_foot.r + main_foot.A @ hinge.points["main_foot"]
    turn, off = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 0, 3))
    if labels:
        p = np.array([toes.markers[label] for label in labels]) - hinge.points["toes"]
        q = (np.stack([trial.markers[label] for label in labels], axis=1) - centre[:, None]) @ main_foot.A
        there = all_finite(q)
        q0 = np.where(there[..., None], q, 0.0)
        # Both axes are parallel while standing: the sine and the cosine of the angle that brings p nearest to q.
        sine = np.cross(p, q0).sum(axis=1) @ a
        cosine = ((q0 * p).sum(axis=-1) - (q0 @ a) * (p @ a)).sum(axis=-1)
        angle = np.where(there.any(axis=1), np.arctan2(sine, cosine), np.nan)
        turn = about(a, angle)
        off = np.where(there[..., None], q - p @ np.swapaxes(turn, 1, 2), np.nan)
    A = main_foot.A @ turn
    residual = np.zeros(n) if not labels else np.sqrt(mean_of_seen((off**2).sum(axis=-1), axis=1))
    return Pose(A, centre - A @ hinge.points["toes"], residual)
