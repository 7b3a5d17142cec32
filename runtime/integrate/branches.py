"""Whether a step of a closed loop has stayed on its branch of the motion, found after the run.

Beside a singular pose the rows of a linkage are nearly dependent, and its poses form two branches.  Where the branches meet, the
motion crosses the pose.  Where they miss each other, the motion turns within the distance of the branches, and a step that is
longer may end on the other branch, which satisfies all rows too.

D of unit rows = U S V^T at both ends of a step; the isometry U V^T changes little along a branch but for the direction of the
smallest singular value, the sine of the smallest angle between rows.  From one branch to the other this direction is reversed, as
it is across a pose where branches meet.  Only there is a pose between both ends whose rows are dependent: the way between the
ends is halved until it is found, or until two poses are left that are close to each other, on different branches, with nothing
between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import STATE, P, V
from runtime.dynamics.model_data import Workspace
from runtime.dynamics.projection import assemble_positions, worst_row
from runtime.integrate.stepping import Stepper
from runtime.integrate.unsure_steps import SATISFIED, SIDEWAYS
from runtime.support.arrays import Floats
from runtime.system.degrees_of_freedom import row_places
from runtime.system.system import System
from runtime.system.trees import trees_of

SAME, MET, OTHER, UNKNOWN = range(4)  # how the branches of both ends of a step belong together
COSINE = (
    0.3  # of the largest turn of a direction between two poses that belong to one branch without poses between them
)
REVERSED = -0.9  # cosine of the turn of a direction between two branches whose poses are close
# Sine of the smallest angle between rows below which they are dependent: rounding of the rows leaves its square.
DEPENDENT = 1e-6
# The same for motions with more than one degree of freedom, whose branches may meet beside the way between two poses.
ASIDE = 1e-4
# Cosine of the turn in a step below which a way along one branch is proof only where it leads forwards, in poses between which
# directions turn by less than that of ``NARROW``.
OPPOSITE, NARROW = -0.5, 0.8
TRIALS = 200  # poses between the ends of a step
LEAST, BESIDE, SHORTER = (
    0.02,
    0.25,
    0.9,
)  # parts of the way between two poses: the first tried, others, and the most left
SHARE = 0.1  # of a joint in the dependence of rows, above which it is named
MOST_NAMES = 6


class UnsureStep(NamedTuple):
    """A step that may have left its branch: times [s] and states (13 bodies,) at both ends."""

    begin: float
    end: float
    first: Floats
    last: Floats


def fetch_unsure(s: Stepper, kept: list[Floats]) -> None:
    """Move ``Stepper.unsure`` to those that are kept."""
    if count := int(s.unsure_count[0]):
        kept.extend(s.unsure[:count].copy())
        s.unsure_count[0] = 0


def unsure_steps(kept: Sequence[Floats], bodies_of: Callable[[Floats], Floats]) -> list[UnsureStep]:
    """The steps that were kept; ``bodies_of``: states of the bodies in those of the integration."""
    half = [(len(row) - 2) // 2 + 2 for row in kept]
    return [
        UnsureStep(float(row[0]), float(row[1]), bodies_of(row[2:n]), bodies_of(row[n:]))
        for row, n in zip(kept, half, strict=True)
    ]


class Found(NamedTuple):
    """How the branches of both ends of a step belong together, and where they are closest to each other."""

    relation: int
    time: float  # [s]
    sine: float
    joints: tuple[str, ...]

    @property
    def detail(self) -> str:
        """The joints of the loop, and the distance of the branches."""
        names = [f"'{name}'" for name in self.joints[:MOST_NAMES]]
        names += [f"{len(self.joints) - MOST_NAMES} more"] if len(self.joints) > MOST_NAMES else []
        return (
            f"the rows of joints {', '.join(names)} are nearly dependent, with a sine of {self.sine:.1e} where branches meet "
            f"only below {DEPENDENT:.0e}"
        )

    @property
    def remark(self) -> str:
        """That the branch is not known from here on."""
        return (
            f"; at t = {self.time:.6g} s a step may have led to another assembly mode: {self.detail}; lower rtol and atol, or "
            "give a shorter max_step, and compare"
        )


class Pose(NamedTuple):
    """Rows of a pose: D of unit rows has singular values down to ``sine``, left (m, r) and right (6 bodies, r) vectors.

    Where there is a tree, the rows are those that close its loops, along the velocities that its joints, always independent,
    admit: there are fewer.
    """

    time: float
    y: Floats
    sine: float
    left: Floats
    right: Floats
    free: int  # degrees of freedom


class Search:
    """The search for a pose between the ends of steps of a system."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.rows = tuple(np.array(row_places(system), np.int64).T)
        tree = trees_of(system).tree
        self.of_tree = np.zeros(len(self.rows[0]), bool) if tree is None else ~np.isin(self.rows[0], tree.closing)
        self.work: Workspace = shared_workspace_for(system.data)
        mass, inverse = system.data.mass[1:], system.data.inertia_inverse[1:]
        turning = np.sqrt(np.trace(inverse, axis1=1, axis2=2) / 3.0)
        self.scale = np.repeat(np.column_stack([mass**-0.5, turning]), 3, axis=1).ravel()

    def pose(self, time: float, y: Floats) -> Pose:
        """The rows of a state."""
        D = self._rows(time, y)
        count = int(self.of_tree.sum())
        admitted = np.linalg.qr(D[self.of_tree].T, mode="complete")[0][:, count:] if count else np.eye(D.shape[1])
        left, values, right = np.linalg.svd(D[~self.of_tree] @ admitted, full_matrices=False)
        rank = min(len(D) - count - self.system.data.redundant, len(values))
        sine, free = float(values[rank - 1] / values[0]), admitted.shape[1] - rank
        return Pose(time, y, sine, left[:, :rank], admitted @ right[:rank].T, free)

    def _rows(self, time: float, y: Floats) -> Floats:
        """D (m, 6 bodies) of a state, of rows of length 1."""
        worst_row(time, np.ascontiguousarray(y), self.system.data, self.work, False)
        rows, found = self.rows, np.zeros((len(self.rows[0]), len(self.system.bodies) + 1, 6))
        D, order = self.work.D[rows], np.arange(len(found))
        found[order, self.system.data.body_i[rows[0]]] += D[:, :6]
        found[order, self.system.data.body_j[rows[0]]] += D[:, 6:]
        scaled: Floats = found[:, 1:].reshape(len(found), -1) * self.scale
        scaled /= np.linalg.norm(scaled, axis=1)[:, None]
        return scaled

    def between(self, a: Pose, b: Pose, part: float) -> Pose | None:
        """The pose at a part of the way from one to another; None where the nearest one is beside the way."""
        y = a.y + part * (b.y - a.y)
        p = y.reshape(-1, STATE)[:, P:V]
        p /= np.linalg.norm(p, axis=1)[:, None]
        time = a.time + part * (b.time - a.time)
        found, _, left = assemble_positions(time, y, self.system.data, self.work)
        if not (left <= SATISFIED and length_of(found - y) <= SIDEWAYS * distance(a, b)):
            return None
        return self.pose(time, found)

    def names(self, pose: Pose) -> tuple[str, ...]:
        """The joints that take part in the dependence of the rows."""
        D, weights = self._rows(pose.time, pose.y), np.zeros(len(self.of_tree))
        weights[~self.of_tree] = pose.left[:, -1]
        weights[self.of_tree] = np.linalg.lstsq(D[self.of_tree].T, -weights @ D)[0]
        share = np.bincount(self.rows[0], weights**2, len(self.system.joints))
        return tuple(self.system.joints[k].name for k in np.flatnonzero(share > SHARE**2 * share.sum()))

    def relation(self, step: UnsureStep, cosine: float = COSINE) -> Found:
        """How the branches of both ends of a step belong together.

        ``ahead`` holds poses in order, the nearest one last.  The way may change to the other branch and back.
        """
        low, ahead = self.pose(step.begin, step.first), [self.pose(step.end, step.last)]
        relation, closest, changes, turned = SAME, low, 0, least_cosine(low, ahead[0])
        forwards, way = True, step.last - step.first
        for _ in range(TRIALS):
            if not ahead:
                break
            high = ahead[-1]
            if least_cosine(low, high) > cosine:
                forwards &= along(way, high.y - low.y) > 0.0
                low = ahead.pop()
                continue
            nearest = low if low.sine < high.sine else high
            middle = None if nearest.sine < DEPENDENT else self._between(low, high)
            if middle is not None and middle.sine >= DEPENDENT:
                ahead.append(middle)
                continue
            nearest = nearest if middle is None else middle
            if nearest.sine < DEPENDENT:
                relation = MET
            elif least_cosine(low, high) < REVERSED:
                changes += 1
            else:
                break
            closest, low = nearest, ahead.pop()
        if ahead:
            return Found(UNKNOWN, low.time, low.sine, self.names(low))
        if relation == SAME and changes:
            # With other degrees of freedom, poses that are tried move aside; two changes may hide a third one.
            several = closest.free > 1
            relation = OTHER if changes % 2 and not several else MET if several and closest.sine < ASIDE else UNKNOWN
        if relation == SAME and turned < OPPOSITE:
            if cosine < NARROW:
                return self.relation(step, NARROW)
            relation = SAME if forwards else UNKNOWN
        return Found(relation, closest.time, closest.sine, self.names(closest) if relation > MET else ())

    def _between(self, low: Pose, high: Pose) -> Pose | None:
        """A pose between two; None where there is none that is not close to one of them, nor nearer to the other branch."""
        way, reversed_ = distance(low, high), least_cosine(low, high) < REVERSED
        for part in (low.sine / (low.sine + high.sine), 0.5, BESIDE, 1.0 - BESIDE):
            middle = self.between(low, high, min(max(part, LEAST), 1.0 - LEAST))
            if middle is None:
                continue
            if middle.sine < DEPENDENT:
                return middle
            before, after = distance(low, middle), distance(middle, high)
            on_first = least_cosine(low, middle) > least_cosine(middle, high)
            left = (after if on_first else before) if reversed_ else max(before, after)
            if left < SHORTER * way:
                return middle
        return None


def distance(a: Pose, b: Pose) -> float:
    """Length of the way between two poses."""
    return length_of(b.y - a.y)


def length_of(change: Floats) -> float:
    """Length of a change of positions and Euler parameters in a change of states."""
    return float(np.sqrt(along(change, change)))


def along(way: Floats, change: Floats) -> float:
    """The product of changes of positions and Euler parameters in two changes of states."""
    return float((way.reshape(-1, STATE)[:, :V] * change.reshape(-1, STATE)[:, :V]).sum())


def least_cosine(a: Pose, b: Pose) -> float:
    """Cosine of the largest turn of a direction of the rows between two poses."""
    product = (a.right.T @ b.right) @ (b.left.T @ a.left)
    return float(np.linalg.eigvalsh(0.5 * (product + product.T))[0])


def left_branch(system: System, steps: Sequence[UnsureStep], end: float) -> Found | None:
    """The first step until a time [s] that left its branch, or whose branch is unknown; None where no step did."""
    if not steps:
        return None
    search, unknown = Search(system), None
    for step in steps:
        if step.begin >= end:
            continue
        found = search.relation(step)
        if found.relation == OTHER and found.time <= end:
            return found
        if found.relation == UNKNOWN and unknown is None and found.time <= end:
            unknown = found
    return unknown
