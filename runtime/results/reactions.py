"""Reactions of joints; of over-constrained mechanisms those of least norm among all that cause the same motion.

With redundant rows D^T has a null space, and any of its vectors may be added to the multipliers.  The reactions of the joints
that take part in it are undetermined for rigid bodies.  Reported are those with the smallest sum over the joints of
|F|^2 + |M|^2 / L^2, with the force F and the moment M about the joint's point, and the largest lever arm L of the joints: they
do not depend on the order of joints or rows.

A component of a reaction is a linear function of the multipliers, c^T lam, and unique where c^T N = 0 for a basis N of the null
space.  Shared with a joint is a component if that joint exerts anything by N N^T c, the change of the multipliers that
changes it most: N N^T has no entries between loops that do not share a redundant row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.derived import Derived
from runtime.dynamics.equations import shared_workspace_for
from runtime.results.ranges import RANGE, greatest, ranges
from runtime.support.arrays import Bools, Floats
from runtime.support.checks import finite
from runtime.support.errors import ModelError, shown
from runtime.support.html import html_table
from runtime.support.names import named
from runtime.system.degrees_of_freedom import dense_rows, row_places, rows_at
from runtime.system.parts import GROUND, Joint
from runtime.system.rank import lever_arm
from runtime.system.state import AXES
from runtime.system.system import System

TAKES_PART = 1e-6  # of the largest force or moment of a null vector of D^T: what changes by less is determined
ALONG = 1e-3  # sine of the angle between directions below which they make no axes
COMPONENTS = tuple(f"{part}.{axis}" for part in ("force", "moment") for axis in AXES)


@dataclass(frozen=True, repr=False)
class Reaction:
    """Reaction of a joint on one body: force (n, 3) [N] and moment about the point (n, 3) [N m].

    ``force_determined`` and ``moment_determined`` (3,) are False for the components, in ``axes``, that redundant rows leave
    undetermined at any of the times: these are of least norm, see the top of this module.  The other components are unique.
    ``force_directions`` and ``moment_directions`` (k, 3): orthonormal directions in ``axes`` along which they are unique at all
    times.  ``shared_with``: names of the joints that share each undetermined component, such as "force.z".
    """

    joint: str
    on: str  # the body
    at: str  # the point, in words
    axes: str  # "global", "joint", or the name of a body or frame
    force: Floats
    moment: Floats
    force_determined: Bools
    moment_determined: Bools
    force_directions: Floats
    moment_directions: Floats
    shared_with: Mapping[str, tuple[str, ...]]

    def __repr__(self) -> str:
        open_ = f", {len(self.shared_with)} components undetermined" if self.shared_with else ""
        return (
            f"Reaction('{self.joint}' on '{self.on}' at {self.at}, axes: {self.axes}, {len(self.force)} times, up to "
            f"{greatest(self.force)} N and {greatest(self.moment)} N m{open_})"
        )

    def _repr_html_(self) -> str:
        """Ranges of the components, for notebooks."""
        rows = ranges({"force": self.force, "moment": self.moment})
        shared = {part: ", ".join(joints) for part, joints in self.shared_with.items()}
        units = ("N",) * 3 + ("N m",) * 3
        table = [(name, unit, *ends, shared.get(name, "")) for (name, *ends), unit in zip(rows, units, strict=True)]
        return html_table(repr(self), ("component", "unit", *RANGE, "shared with"), table, self.reason)

    @property
    def determined(self) -> bool:
        """True if all components are determined."""
        return not self.shared_with

    @property
    def reason(self) -> str:
        """Which components are undetermined, and which joints share the load; empty where all are determined."""
        together: dict[tuple[str, ...], dict[str, list[str]]] = {}
        for component, joints in self.shared_with.items():
            part, _, axis = component.partition(".")
            together.setdefault(joints, {}).setdefault(part, []).append(axis)
        shares = []
        for joints, parts in together.items():
            components = " and ".join(f"{part} {', '.join(axes)}" for part, axes in parts.items())
            shares.append(f"{components} with joint{'s' * (len(joints) > 1)} {', '.join(map(repr, joints))}")
        if not shares:
            return ""
        of = "the joint" if self.axes == "joint" else f"'{self.axes}'"
        axes = "global axes" if self.axes == "global" else f"axes of {of}"
        return (
            f"joint '{self.joint}' shares {'; '.join(shares)} ({axes}), in parts that rigid bodies leave open; the values are "
            "those of least norm"
        )


class FreeWrenches(NamedTuple):
    """Wrenches on the bodies about their centres that have no effect on the motion, at n times."""

    wrench: Floats  # (n, joints, 2, 6, redundant rows)
    size: Floats  # (n, 6) the greatest force and, times the largest lever arm, the greatest moment


class Uniqueness(NamedTuple):
    """Which components and directions of a reaction are determined, and the joints that share the others."""

    determined: Bools  # (6,)
    directions: tuple[Floats, Floats]  # (k, 3) each
    shared_with: Mapping[str, tuple[str, ...]]


def null_vectors(system: System, time: float, y: Floats) -> Floats:
    """Orthonormal basis of the multipliers that exert no force on any body, (rows, redundant rows), by ``row_places``."""
    D = dense_rows(system, rows_at(system, time, np.ascontiguousarray(y)).D)
    size = np.linalg.norm(D, axis=1)
    left = np.linalg.svd(D / size[:, None])[0][:, len(D) - system.data.redundant :]
    return np.linalg.qr(left / size[:, None])[0]


def undetermined_reactions(system: System, times: Floats, states: Floats, pivots: Floats) -> tuple[str, ...]:
    """Names of the joints whose reactions rigid bodies do not determine, in that of many states with the largest pivot ratio.

    In a singular pose more rows are dependent.
    """
    if system.data.redundant == 0:
        return ()
    n = int(np.argmax(pivots)) if len(pivots) else -1
    time, y = (float(times[n]), states[n]) if n >= 0 else (system.time, system.state.y)
    shares = np.abs(null_vectors(system, time, y)).max(axis=1)
    found = {k for (k, _), share in zip(row_places(system), shares, strict=True) if share > TAKES_PART * shares.max()}
    return tuple(name for k, name in enumerate(system.joint_names) if k in found)


def least_norm(system: System, times: Floats, states: Floats, derived: Derived) -> tuple[Floats, Floats]:
    """Multipliers (n, joints, 6) and wrenches on the bodies (n, joints, 2, 6) of least norm, of states (n, 13 bodies)."""
    lam, wrench = derived.lam.copy(), derived.wrench.copy()
    places, work = row_places(system), shared_workspace_for(system.data)
    k, r = np.array(places).T
    length = max(lever_arm(joint) for joint in system.joints)
    for n, (time, y) in enumerate(zip(times, states, strict=True)):
        basis = null_vectors(system, float(time), y)
        about = _about_points(system, work.D, work.A, length)[k, r]  # (rows, 6) of the joint of each row
        of_joint = np.zeros((len(system.joints), 6, len(places)))
        of_joint[k, :, np.arange(len(places))] = about
        W = of_joint.reshape(-1, len(places))
        change = basis @ np.linalg.lstsq(W @ basis, -W @ lam[n, k, r], rcond=None)[0]
        lam[n, k, r] += change
        wrench[n] = -np.einsum("krc,kr->kc", work.D, lam[n]).reshape(-1, 2, 6)
    return lam, wrench


def free_wrenches(system: System, times: Floats, states: Floats) -> FreeWrenches:
    """The wrenches of the joints that redundant rows leave open, in states (n, 13 bodies)."""
    k, r = np.array(row_places(system)).T
    if not system.data.redundant:
        return FreeWrenches(np.zeros((len(times), len(system.joints), 2, 6, 0)), np.zeros((len(times), 6)))
    work, length = shared_workspace_for(system.data), max(lever_arm(joint) for joint in system.joints)
    found = np.zeros((len(times), len(system.joints), 12, system.data.redundant))
    for n, (time, y) in enumerate(zip(times, states, strict=True)):
        basis = null_vectors(system, float(time), y)
        np.add.at(found[n], k, -work.D[k, r][:, :, None] * basis[:, None, :])
    wrenches = found.reshape(len(times), len(system.joints), 2, 6, -1)
    scale = np.repeat([1.0, length], 3)
    sizes = scale * (np.abs(wrenches).max(axis=(1, 2, 4)) / scale).max(axis=1, keepdims=True)
    return FreeWrenches(wrenches, sizes)


def uniqueness(system: System, own: Collection[int], components: Floats, free: FreeWrenches) -> Uniqueness:
    """What is determined of the reaction of joints ``own``, whose components by null vector are (n, 6, redundant rows)."""
    if not components.size:
        return Uniqueness(np.ones(6, bool), (np.eye(3), np.eye(3)), named("component", {}))
    relative = components / free.size[:, :, None]
    largest = np.abs(relative).max(axis=2)  # (n, 6)
    shared = {}
    for c in np.flatnonzero(largest.max(axis=0) > TAKES_PART):
        n = int(largest[:, c].argmax())
        change = free.wrench[n] @ (relative[n, c] / np.linalg.norm(relative[n, c]))  # (joints, 2, 6)
        takes_part = (np.abs(change) > TAKES_PART * free.size[n]).any(axis=(1, 2))
        names = [name for k, name in enumerate(system.joint_names) if takes_part[k] and k not in own]
        shared[COMPONENTS[c]] = tuple(names)
    directions = (_unchanged(relative[:, :3]), _unchanged(relative[:, 3:]))
    return Uniqueness(largest.max(axis=0) <= TAKES_PART, directions, named("component", shared))


def _unchanged(relative: Floats) -> Floats:
    """Orthonormal directions (k, 3) along which vectors (n, 3, m) have no components, as near to the axes as they can be."""
    from scipy.linalg import qr

    vectors = np.concatenate([*relative], axis=1)
    along = np.linalg.svd(vectors)[0]
    without = along[:, (np.abs(along.T @ vectors) <= TAKES_PART).all(axis=1)]
    near = qr(without @ without.T, pivoting=True)[0][:, : without.shape[1]].T
    signs = np.sign(np.take_along_axis(near, np.abs(near).argmax(axis=1, keepdims=True), axis=1))
    return near * signs + 0.0  # type: ignore[no-any-return]  # no negative zeros


def axes_of_joint(joint: Joint, side: int) -> tuple[str, Floats]:
    """Axes of a joint as seen by its body i (0) or j (1): the body that carries them, and the rotation from them to its own.

    x is the first direction of the definition that this body carries, or else the other one; y its second one less the part
    along x, or without another one the axis of the body that is most nearly perpendicular to x; z completes them.  Those of
    the body where the definition has no direction.
    """
    bodies = joint.body_i, joint.body_j
    for end in (side, 1 - side):
        given = [
            np.asarray(joint.values[name], float)
            for name, kind, of in joint.module.VECTORS
            if kind == "direction" and of == "ij"[end] and name in joint.values
        ]
        if given:
            x = given[0] / np.linalg.norm(given[0])
            others = [*given[1:], np.eye(3)[np.abs(x).argmin()]]
            across = (y - (y @ x) * x for y in others)
            y = next(y for y in across if np.linalg.norm(y) > ALONG)
            y /= np.linalg.norm(y)
            return bodies[end], np.stack([x, y, np.cross(x, y)], axis=1)
    return bodies[side], np.eye(3)


def _about_points(system: System, D: Floats, A: Floats, length: float) -> Floats:
    """Force, and moment about the joint's point divided by a length [m], that each row exerts for lam = 1, (joints, 6, 6)."""
    wrench = np.zeros((len(system.joints), 6, 6))
    for k, joint in enumerate(system.joints):
        side = 0 if joint.body_j == GROUND else 1
        body, name = (system.data.body_i, system.data.body_j)[side][k], ("s_i", "s_j")[side]
        of_row = -D[k, :, 6 * side : 6 * side + 6]
        arm = A[body] @ np.asarray(joint.values.get(name, np.zeros(3)))
        wrench[k, :, :3] = of_row[:, :3]
        wrench[k, :, 3:] = (of_row[:, 3:] - np.cross(arm, of_row[:, :3])) / length
    return wrench


def named_point(joint: Joint, side: int, at: ArrayLike | str) -> tuple[Floats, str]:
    """A point of body i (0) or j (1) of a joint in its axes, by "joint", "centre" or components, and words for it.

    Raises
    ------
    ModelError
    """
    name = ("s_i", "s_j")[side]
    if isinstance(at, str):
        if at == "joint" and name in joint.values:
            return np.asarray(joint.values[name]), f"{name} of joint '{joint.name}'"
        if at in ("joint", "centre"):
            ground = (joint.body_i, joint.body_j)[side] == GROUND
            return np.zeros(3), "origin" if ground else "centre of mass"
        raise ModelError(f"at = {shown(at)}; use 'joint', 'centre' or three local components")
    point = finite(at, (3,), "at")
    return point, f"local point {point.tolist()}"
