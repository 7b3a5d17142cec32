"""Poses of bodies and trees of joints, for programs that take relative coordinates; without ``runtime``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]  # not that of runtime, which the processes of other programs do not import
Data = Mapping[str, Any]
Points = Sequence[tuple[str, Sequence[float]]]  # a body and local coordinates each

GROUND = "ground"


class RefusedError(Exception):
    """A program cannot take a problem."""


def rotation(p: Sequence[float]) -> Floats:
    """Rotation matrix of Euler parameters of any length, scalar first."""
    e0, *rest = np.array(p, float) / np.linalg.norm(p)
    e = np.array(rest)
    matrix: Floats = (e0 * e0 - e @ e) * np.eye(3) + 2 * np.outer(e, e) + 2 * e0 * np.cross(np.eye(3), e)
    return matrix


@dataclass(frozen=True)
class Pose:
    """A body at t = 0: centre of mass, rotation matrix, velocity and angular velocity in global axes."""

    r: Floats
    A: Floats
    v: Floats
    w: Floats

    def local(self, point: Any) -> Floats:
        """A point in global coordinates, from the centre of mass in axes of the body."""
        found: Floats = self.A.T @ (np.array(point, float) - self.r)
        return found

    def velocity(self, point: Any) -> Floats:
        """Velocity of the body's point at global coordinates."""
        found: Floats = self.v + np.cross(self.w, np.array(point, float) - self.r)
        return found


def poses(data: Data) -> dict[str, Pose]:
    """Poses of the ground and of the bodies by name."""
    found = {GROUND: Pose(np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))}
    for name, body in data["bodies"].items():
        r, v, w = (np.array(body[key], float) for key in ("r0", "v0", "w0"))
        found[name] = Pose(r, rotation(body["p0"]), v, w)
    return found


@dataclass(frozen=True)
class Branch:
    """A joint of a tree: the child hangs on the parent; ``sides``: "ij" or "ji", which of its bodies these are."""

    joint: Data
    parent: str
    child: str
    sides: str

    def axis(self) -> Floats:
        """Its axis, a unit vector in global axes."""
        axis = np.array(self.joint["axis"], float)
        unit: Floats = axis / np.linalg.norm(axis)
        return unit

    def turning(self, where: Mapping[str, Pose]) -> Floats:
        """Angular velocity of the child relative to the parent, in global axes."""
        found: Floats = where[self.child].w - where[self.parent].w
        return found

    def sliding(self, where: Mapping[str, Pose]) -> Floats:
        """Velocity of the child's point relative to the parent's point, in global axes."""
        point = self.joint["point"]
        found: Floats = where[self.child].velocity(point) - where[self.parent].velocity(point)
        return found


def tree(data: Data) -> tuple[list[Branch], list[Data]]:
    """The joints as a tree from the ground, parents first, and those that close loops: spherical ones if possible."""
    ranked = sorted(data["joints"], key=lambda joint: joint["type"] == "spherical")
    reached, branches = {GROUND}, []
    while True:
        ends = ((j, j["i"] in reached, j["j"] in reached) for j in ranked)
        found = next(((j, of_i) for j, of_i, of_j in ends if of_i != of_j), None)
        if found is None:
            break
        joint, forward = found
        parent, child = (joint["i"], joint["j"]) if forward else (joint["j"], joint["i"])
        branches.append(Branch(joint, parent, child, "ij" if forward else "ji"))
        reached.add(child)
    used = {branch.joint["name"] for branch in branches}
    return branches, [joint for joint in data["joints"] if joint["name"] not in used]


def refuse_unknown(data: Data, joints: Sequence[str], forces: Sequence[str], *, loops: str = "") -> None:
    """Refuse joints and forces of other types, drivers, bodies without joints, and loops for the given reason.

    Raises
    ------
    RefusedError
    """
    for kind, known in (("joints", joints), ("forces", forces)):
        other = sorted({item["type"] for item in data[kind]} - set(known))
        if other:
            raise RefusedError(f"takes no {', '.join(other)}")
    if data.get("drivers"):
        raise RefusedError("takes no drivers")
    if loops and tree(data)[1]:
        raise RefusedError(loops)
    if len(tree(data)[0]) < len(data["bodies"]):
        raise RefusedError("takes no bodies without joints")


def stepped(t_end: float) -> list[float]:
    """Three steps [s] of a method of constant step."""
    return [t_end / count for count in (1000, 5000, 25_000)]
