"""Configurations of a system whose frames and coordinates are nearest to wanted ones, as a problem of least squares.

Coordinates x and rates are those of the tree.  The rows of closed loops, couplings and drivers hold in every pose that is tried:
a step lies in their null space, and Newton steps of least norm then move the pose back onto them.  A coordinate that meets its
bound on the way becomes a row itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from runtime.analysis.least_squares import PoseProblem, held_at_bounds
from runtime.dynamics import mechanics as compiled
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import STATE
from runtime.dynamics.lift import lift_all
from runtime.support.arrays import Floats, Ints
from runtime.system.assemble import mirrored
from runtime.system.coordinate_names import coordinates_of_tree
from runtime.system.coupled_coordinates import tree_with_rows
from runtime.system.frames import Frame, in_reference
from runtime.system.independent import DEPENDENT, OFF, onto_rows, rows_of_tree
from runtime.system.joint_motion import FULL_TURN
from runtime.system.spanning_tree import SLOPES, SpanningTree, TreeSteps
from runtime.system.system import System
from runtime.system.tree_coordinates import moved_coordinates, way_between
from runtime.system.trees import trees_of

AT_BOUND = 1e-10  # [rad], [m]
ROUNDS = 5  # in which coordinates beyond their bounds become rows
LONGEST = 0.5  # [rad], [m] of one step onto the rows
HALF_TURN = 1e-6  # [rad] from half a turn, within which the direction of a rotation vector is no slope
LARGEST_TURN = 1.0  # [rad] of one step: longer ones would add revolutions


def scalars_of(tree: TreeSteps) -> tuple[Ints, Ints]:
    """Places of the coordinates whose derivatives are rates, and of these rates: turns, slides, and displacements."""
    places, first = tree.places, tree.places[0][-1]
    found = [
        (q + k, u - first + k) for kind, q, u in zip(tree.kinds, *places, strict=False) for k in range(SLOPES[kind])
    ]
    columns, rates = np.array(found, np.int64).reshape(-1, 2).T
    return columns, rates


class FramesOfTree:
    """Frames of bodies of a system, moved by the coordinates of its tree, and the rows that restrain these."""

    def __init__(self, system: System, frames: Sequence[Frame]) -> None:
        tree = trees_of(system).of_joints
        assert tree is not None
        self.system, self.tree = system, tree
        self.memory = tree_with_rows(system)
        data, bodies = self.memory.data, [system.body_index(frame.body) for frame in frames]
        self._step = data.step[bodies]
        of = [in_reference(frame, tree.pose[b], data.arm[b]) for b, frame in zip(bodies, frames, strict=True)]
        self._arm, self._axes = (
            np.array([a for a, _ in of]).reshape(-1, 3),
            np.array([A for _, A in of]).reshape(-1, 3, 3),
        )
        self._work = workspace_for(system.data, tree=self.memory)
        self._signed = {k for k in tree.closing if system.joints[k].module.BRANCH_SIGNS}
        self.rates = len(self.memory.Q)
        self.first = int(data.u[0])
        self._moved = np.zeros((6, self.rates))
        self.scalars = scalars_of(tree)
        names, rates = coordinates_of_tree(system, tree)
        self.turning = np.array([unit == "rad/s" for _, unit in rates])
        self.names = [names[k][0].removeprefix("-") for k in self.scalars[0]]

    @property
    def has_rows(self) -> bool:
        """Whether rows restrain the coordinates."""
        return len(self.memory.closing.joint) > 0

    def states(self, x: Floats) -> Floats:
        """Coordinates and rates (poses, n) at rest."""
        return np.concatenate([x, np.zeros((len(x), self.rates))], axis=1)

    def places(self, x: Floats) -> tuple[Floats, Floats]:
        """Origins (poses, frames, 3) and axes (poses, frames, 3, 3)."""
        r, A = np.empty((len(x), len(self._step), 3)), np.empty((len(x), len(self._step), 3, 3))
        compiled.place_frames(self.memory, self._step, self._arm, self._axes, self.states(x), r, A)
        return r, A

    def normal_equations(self, x: Floats, off: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Half of gradient and curvature of weighted squares of how far the frames are off."""
        g, H = np.empty((len(x), self.rates)), np.empty((len(x), self.rates, self.rates))
        z = self.states(x)
        compiled.normal_equations_of_frames(self.memory, self._step, self._arm, z, off, weights, self._moved, g, H)
        return g, H

    def rows(self, t: Floats, x: Floats) -> tuple[Floats, Floats]:
        """Values (poses, rows) and derivatives (poses, rows, rates) of the rows."""
        Phi, G, _ = rows_of_tree(self.system, self._work, t, self.states(x))
        return Phi, G

    def mirrored(self, t: Floats, x: Floats) -> NDArray[np.bool_]:
        """Poses (poses,) in which a joint that closes a loop is assembled as its mirror image."""
        found = np.zeros(len(x), bool)
        if self._signed:
            y = np.empty((len(x), STATE * len(self.system.bodies)))
            lift_all(self.memory.data, self.memory.lifting, self.states(x), y)
            names = {self.system.joints[k].name for k in self._signed}
            found[:] = [bool(names & set(mirrored(self.system, *one))) for one in zip(t.tolist(), y, strict=True)]
        return found


@dataclass(frozen=True, eq=False)
class FrameProblem(PoseProblem):
    """Wanted frames and coordinates of poses.

    ``t`` (poses,) [s]; ``r`` (poses, frames, 3) [m]; ``A`` (poses, frames, 3, 3); ``weights`` (poses, frames, 2) of both, 0 where
    nothing is wanted; ``wanted`` and ``pulls`` (poses, scalars): values of coordinates and their weights; ``lower`` and ``upper``
    (scalars,).  All numbers are finite, but for the bounds.
    """

    frames: FramesOfTree
    t: Floats
    r: Floats
    A: Floats
    weights: Floats
    wanted: Floats
    pulls: Floats
    lower: Floats
    upper: Floats
    start: Floats | None = None  # (poses, coordinates) to which poses are drawn
    stay: Floats | None = None  # (poses,) weight of this

    def of(self, poses: Ints) -> FrameProblem:
        """The problem of some poses."""
        parts = {name: getattr(self, name)[poses] for name in ("t", "r", "A", "weights", "wanted", "pulls")}
        if self.start is not None and self.stay is not None:
            parts |= {"start": self.start[poses], "stay": self.stay[poses]}
        return replace(self, **parts)

    @property
    def tree(self) -> SpanningTree:
        """Of the system."""
        return self.frames.tree

    def off(self, x: Floats) -> Floats:
        """How far frames are off (poses, frames, 6): displacement [m] and rotation vector [rad], from what is wanted."""
        from scipy.spatial.transform import Rotation

        r, A = self.frames.places(x)
        found = np.zeros((*r.shape[:2], 6))
        found[..., :3] = np.where(self.weights[..., :1] > 0.0, r - self.r, 0.0)
        poses, frames = np.nonzero(self.weights[..., 1])
        if poses.size:
            turned = A[poses, frames] @ np.swapaxes(self.A[poses, frames], 1, 2)
            found[poses, frames, 3:] = Rotation.from_matrix(turned).as_rotvec()
        return found

    def half_turns(self, x: Floats) -> NDArray[np.bool_]:
        """Whether a frame is turned by half a turn from what is wanted, (poses,)."""
        turned = np.linalg.norm(self.off(x)[..., 3:], axis=2)
        return np.asarray((turned > 0.5 * FULL_TURN - HALF_TURN).any(axis=1))

    def largest_error(self, x: Floats) -> Floats:
        """Largest distance or angle [m], [rad] of what has a weight, (poses,); infinite where nothing has."""
        off = np.linalg.norm(self.off(x).reshape(*self.weights.shape, 3), axis=3)
        away = np.where(self.pulls > 0.0, np.abs(x[:, self.frames.scalars[0]] - self.wanted), 0.0)
        wanted = (self.weights > 0.0).any(axis=(1, 2)) | (self.pulls > 0.0).any(axis=1)
        largest = np.maximum(off.max(axis=(1, 2), initial=0.0), away.max(axis=1, initial=0.0))
        return np.where(wanted, largest, np.inf)

    def normal_equations(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Half of gradient (poses, rates) and curvature (poses, rates, rates), and the sums (poses,); NaN for poses of NaN."""
        none = np.asarray(np.isnan(x).any(axis=1))
        if none.any():
            x = np.where(none[:, None], self.tree.at_reference[: self.frames.first], x)
        off = self.off(x)
        g, H = self.frames.normal_equations(x, off, self.weights)
        columns, rates = self.frames.scalars
        away = x[:, columns] - self.wanted
        g[:, rates] += self.pulls * away
        H[:, rates, rates] += self.pulls
        cost = (np.repeat(self.weights, 3, axis=2) * off**2).sum(axis=(1, 2)) + (self.pulls * away**2).sum(axis=1)
        if self.start is not None and self.stay is not None:
            way, n = way_between(self.tree, self.start, x), np.arange(g.shape[1])
            g += self.stay[:, None] * way
            H[:, n, n] += self.stay[:, None]
            cost += self.stay * (way**2).sum(axis=1)
        return g, H, np.where(none, np.nan, cost)

    def way(self, x: Floats, to: Floats) -> Floats:
        """The way (poses, rates) between coordinates; 0 to NaN."""
        return way_between(self.tree, x, np.where(np.isnan(to), x, to))

    def moved(self, x: Floats, way: Floats) -> Floats:
        """Coordinates after a way, within the bounds and on the rows; NaN where they cannot be moved there."""
        _, rates = self.frames.scalars
        largest = np.abs(way[:, self.frames.turning]).max(axis=1, initial=LARGEST_TURN, keepdims=True)
        new = self.within(moved_coordinates(self.tree, x, way * (LARGEST_TURN / largest)))
        return self.closed(new, self._at_bound(x) & (np.abs(way[:, rates]) < AT_BOUND))

    def within(self, x: Floats) -> Floats:
        """Coordinates within the bounds."""
        found, columns = x.copy(), self.frames.scalars[0]
        found[:, columns] = np.clip(x[:, columns], self.lower, self.upper)
        return found

    def drawn(self, start: Floats, weight: float) -> FrameProblem:
        """The problem with a weight of staying at the start, of the largest curvature there."""
        largest = np.einsum("nii->ni", self.normal_equations(start)[1]).max(axis=1)
        return replace(self, start=start, stay=weight * np.maximum(largest, 1e-30))

    def wound(self, x: Floats) -> Floats:
        """Coordinates x with wanted angles less than half a turn from what is wanted, where nothing but poses depends on them."""
        return self._turned(x, self.wanted, self.pulls > 0.0)

    def unwound(self, x: Floats, start: Floats) -> Floats:
        """Coordinates x with all other angles less than half a turn from those of the start."""
        return self._turned(x, start[:, self.frames.scalars[0]], self.pulls == 0.0)

    def _turned(self, x: Floats, to: Floats, which: NDArray[np.bool_]) -> Floats:
        """Coordinates x with full turns towards scalars ``to`` (poses, scalars), where the bounds admit them."""
        system, found = self.frames.system, x.copy()
        columns = self.frames.scalars[0]
        if system.couplings or system.drivers:
            return found
        turning = self.frames.turning[self.frames.scalars[1]]
        turns = np.where(turning & which, np.round((x[:, columns] - to) / FULL_TURN), 0.0)
        near = x[:, columns] - FULL_TURN * turns
        found[:, columns] = np.where((near >= self.lower) & (near <= self.upper), near, x[:, columns])
        return found

    def admitted(self, x: Floats) -> Floats:
        """Coordinates near to x, within the bounds and on the rows; NaN where there are none."""
        return self.closed(self.within(x), np.zeros((len(x), len(self.lower)), bool))

    def why_open(self, x: Floats, k: int) -> str:
        """Why pose k has no start: the row that is violated most near x."""
        one = self.of(np.array([k]))
        found, _ = one._on_rows(one.within(x[[k]]), np.zeros((1, len(self.lower)), bool))
        off = np.abs(one.frames.rows(one.t, found)[0][0])
        at = found[0, self.frames.scalars[0]]
        if off.max(initial=0.0) <= OFF:
            beyond = np.flatnonzero((at <= self.lower) | (at >= self.upper))
            names = ", ".join(self.frames.names[k] for k in beyond) or "none"
            return f"no configuration nearby satisfies the rows within the bounds (at their bounds: {names})"
        row, closing = int(off.argmax()), self.frames.memory.closing
        name = self.frames.system.row_name(int(closing.joint[row]), int(closing.row[row]))
        return f"no configuration nearby satisfies {name}, left {off.max():.1e} off"

    def closed(self, x: Floats, held: NDArray[np.bool_]) -> Floats:
        """Coordinates moved onto the rows by least steps; those ``held`` (poses, scalars) stay; NaN where there are none."""
        columns, _ = self.frames.scalars
        if not self.frames.has_rows:
            return x
        for _ in range(ROUNDS):
            found, off = self._on_rows(x, held)
            at = found[:, columns]
            beyond = ((at < self.lower) | (at > self.upper)) & ~held
            if not (open_ := beyond.any(axis=1) & (off <= OFF)).any():
                break
            held = held | (beyond & open_[:, None])
            x = found
            x[:, columns] = np.clip(at, self.lower, self.upper)
        found[:, columns] = np.where(held, np.clip(at, self.lower, self.upper), at)  # of rounding
        bad = ~(off <= OFF) | (beyond & ~held).any(axis=1)
        bad |= self.frames.mirrored(self.t, found)
        found[bad] = np.nan
        return found

    def _on_rows(self, x: Floats, held: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Coordinates that satisfy the rows best, those held unchanged, and their largest violation (poses,)."""
        columns, own = self.frames.scalars[0], held.any(axis=0)
        fixed = x[:, columns]

        def rows(x: Floats) -> tuple[Floats, Floats]:
            Phi, G = self._with_held(x, held)
            if own.any():
                Phi[:, -int(own.sum()) :] = np.where(held, x[:, columns] - fixed, 0.0)[:, own]
            return Phi, G

        def step(x: Floats, Phi: Floats, G: Floats) -> Floats:
            way = -(np.linalg.pinv(G, rcond=DEPENDENT) @ Phi[..., None])[..., 0]
            size = np.abs(way).max(axis=1, initial=0.0, keepdims=True)
            return moved_coordinates(self.tree, x, way * np.minimum(1.0, LONGEST / np.maximum(size, LONGEST)))

        return onto_rows(x, rows, step)

    def _with_held(self, x: Floats, held: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Rows of the system, and then one of each coordinate that is held in any pose, which is 0 in the others."""
        _, rates = self.frames.scalars
        Phi, G = self.frames.rows(self.t, x)
        if not (any_ := held.any(axis=0)).any():
            return Phi, G
        own = np.zeros((len(x), int(any_.sum()), self.frames.rates))
        own[:, np.arange(own.shape[1]), rates[any_]] = held[:, any_]
        return np.concatenate([Phi, np.zeros(own.shape[:2])], axis=1), np.concatenate([G, own], axis=1)

    def _at_bound(self, x: Floats) -> NDArray[np.bool_]:
        at = x[:, self.frames.scalars[0]]
        return (at <= self.lower + AT_BOUND) | (at >= self.upper - AT_BOUND)

    def restrained(self, x: Floats, g: Floats, H: Floats) -> tuple[Floats, Floats]:
        """Gradient and curvature without what leads off the rows or beyond the bounds."""
        if not self.frames.has_rows:
            columns, rates = self.frames.scalars
            at, lower, upper = np.zeros_like(g), np.full(g.shape[1], -np.inf), np.full(g.shape[1], np.inf)
            at[:, rates], lower[rates], upper[rates] = x[:, columns], self.lower, self.upper
            return held_at_bounds(at, g, H, lower, upper)
        free, size = self.free(x, g), np.einsum("nii->ni", H).max(axis=1)[:, None, None]
        return np.asarray((free @ g[..., None])[..., 0]), free @ H @ free + size * (np.eye(g.shape[1]) - free)

    def slope(self, x: Floats, g: Floats) -> Floats:
        """Gradient (poses, rates) without what leads off the rows or beyond the bounds."""
        return np.asarray((self.free(x, g) @ g[..., None])[..., 0])

    def free(self, x: Floats, g: Floats) -> Floats:
        """Projection (poses, rates, rates) onto the ways that keep the rows, and the bounds beyond which the sum falls."""
        columns, rates = self.frames.scalars
        fixed = np.broadcast_to(self.lower == self.upper, (len(x), len(columns)))
        found = self._projection(x, fixed)
        at = self._at_bound(x) & ~fixed
        poses = np.flatnonzero(at.any(axis=1) & g.any(axis=1))
        if not poses.size:
            return found
        stays, inward = fixed.copy(), np.where(x[:, columns] <= self.lower + AT_BOUND, 1.0, -1.0)
        for k in poses.tolist():
            held = np.flatnonzero(at[k])
            push, _ = nnls(found[k][:, rates[held]] * inward[k, held], found[k] @ g[k])
            stays[k, held] = push > 0.0
        found[poses] = self.of(poses)._projection(x[poses], stays[poses])
        return found

    def _projection(self, x: Floats, held: NDArray[np.bool_]) -> Floats:
        """Onto the null space of the rows and of the coordinates held."""
        _, G = self._with_held(x, held)
        found: Floats = np.eye(self.frames.rates) - np.linalg.pinv(G, rcond=DEPENDENT) @ G
        return found
