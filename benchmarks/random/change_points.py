"""Random four-bars that pass singular poses, with their exact motion."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from benchmarks.random import planar, spatial, trees
from benchmarks.random.closed_form import ChangePoint, Motion
from benchmarks.random.mechanism import GROUND, Floats, Mechanism
from benchmarks.random.planar import Plane, Random, close, log_uniform, unit
from benchmarks.random.second import Second, rotations


def _lengths(random: Random) -> Floats:
    """Crank, coupler, rocker, base with a change point and a crank that turns fully."""
    sort = int(random.integers(5))
    x, y = np.sort(random.uniform(0.2, 1.0, 2))
    if sort == 0:
        return np.array([x, y, x, y]) if random.random() < 0.5 else np.array([y, x, y, x])  # parallelogram
    if sort == 1:
        return np.array([x, y, y, x])  # kite: B passes D
    if sort == 2:
        return np.array([x, x, y, y]) if random.random() < 0.5 else np.array([x, y, y, x])
    if sort == 3:
        return np.full(4, x)  # rhomb
    a, b, c, d = random.uniform(0.2, 1.0, 4)
    return np.array([a, b, c, b + c - a]) if random.random() < 0.5 else np.array([a, b, a + d - b, d])


def change_point(random: Random) -> Mechanism:
    """A change-point four-bar in rotation or oscillation; its joints are hinges, balls, or mixed."""
    while True:
        lengths, sign = _lengths(random), int(random.choice([-1, 1]))
        if lengths.min() < 0.1:
            continue
        try:
            linkage = ChangePoint(lengths, sign)
        except ValueError:
            continue
        q = random.uniform(0.1, 6.2)
        if (linkage.first or linkage.second) and min(abs(q - np.pi), q, 2 * np.pi - q) > 0.05:
            break
    scale = log_uniform(random, 1e-2, 1e2) if random.random() < 0.2 else 1.0
    return _mechanism(random, lengths * scale, sign, q, scale)


def turning_near_pose(random: Random) -> Mechanism:
    """A change-point four-bar that turns back 1e-8..0.3 rad ahead of a singular pose, or behind it."""
    while True:
        m = change_point(random)
        e = m.exact
        m.gravity = 9.81 * (e.plane.A[:, :2] @ unit(random.standard_normal(2)))
        e.motion.gravity = e.plane.A[:, :2].T @ m.gravity
        away = log_uniform(random, 1e-8, 0.3) * float(random.choice([-1, 1]))
        pose = np.pi * round(e.q / np.pi)
        ahead = np.sign(pose - e.q)
        barrier = [e.motion.potential(q) for q in np.linspace(e.q, pose + away * ahead, 200)]
        beyond = e.motion.potential(pose + away * ahead + 1e-3 * ahead)
        if abs(pose - e.q) > abs(away) and barrier[-1] == max(barrier) > barrier[0] and beyond > barrier[-1]:
            break
    inertia = e.motion.inertia(e.q)
    e.start_rate = float(ahead * np.sqrt(2 * (barrier[-1] - barrier[0]) / inertia))
    m.note += f", turns at {away:.1e} behind the pose"
    return m


def start_at_pose(random: Random) -> Mechanism:
    """A change-point four-bar that starts in a singular pose, or 1e-12..1e-2 rad away from it, moving on its smooth branch."""
    while True:
        lengths, sign = _lengths(random), int(random.choice([-1, 1]))
        away = 0.0 if random.random() < 0.3 else log_uniform(random, 1e-12, 1e-2) * random.choice([-1, 1])
        if lengths.min() < 0.1:
            continue
        try:
            linkage = ChangePoint(lengths, sign)
            q = away + (np.pi if linkage.second and random.random() < 0.5 else 0.0 if linkage.first else np.pi)
            if linkage.second and abs(q - np.pi) < 0.1 or linkage.first and abs(q) < 0.1:
                return _mechanism(random, lengths, sign, q, 1.0)
        except ValueError:
            continue


def _mechanism(random: Random, lengths: Floats, sign: int, q: float, scale: float) -> Mechanism:
    linkage = ChangePoint(lengths, sign)
    plane = Plane(random, scale=scale, wild=30.0 if random.random() < 0.2 else 1.0)
    B, C = (np.array([p[0].f, p[1].f]) for p in linkage.points(q))
    close(
        plane,
        (np.zeros(2), B, C, np.array([linkage.d, 0.0])),
        str(random.choice(["hinges", "hinges", "balls", "mixed"])),
    )
    m = plane.m
    m.note = f"lengths {lengths.tolist()}, sign {sign}, q {q}, misses {linkage.misses}"
    m.exact = Exact(plane, linkage, q)
    return m


class Exact:
    """The exact motion of a change-point four-bar in its plane."""

    def __init__(self, plane: Plane, linkage: ChangePoint, q: float) -> None:
        self.plane, self.linkage, self.q = plane, linkage, q
        bodies = list(plane.m.bodies.values())
        self.start_rate: float | None = None
        self.A0 = np.array([b.A for b in bodies])
        centres = []
        for (start, u), b in zip(linkage.bars(q), bodies, strict=True):
            d = plane.A[:, :2].T @ (b.r - plane.origin) - np.array([start[0].f, start[1].f])
            n = np.array([u[0].f, u[1].f])
            centres.append([n @ d, n[0] * d[1] - n[1] * d[0]])
        self.centres = np.array(centres)
        self.motion = Motion(
            linkage, np.array([b.mass for b in bodies]), np.array([b.J[2, 2] for b in bodies]), self.centres,
            plane.A[:, :2].T @ plane.m.gravity,
        )  # fmt: skip

    def velocities(self, rate: float) -> tuple[Floats, Floats]:
        """Velocities v and w of the bodies (n, 3) at the start, for the crank's rate."""
        plane = self.plane
        v, w = [], []
        for bar, place in zip(self.linkage.bars(self.q), self.centres, strict=True):
            x = self.motion.centre(bar, place)
            u, n = bar[1]
            v.append(rate * plane.A[:, :2] @ np.array([x[0].f1, x[1].f1]))
            w.append(rate * plane.normal * (u.f * n.f1 - n.f * u.f1))
        return np.array(v), np.array(w)

    def special_times(self, m: Mechanism, times: Floats) -> Floats:
        """Times at which the crank is in a singular pose, or close to it."""
        rate = float(next(iter(m.bodies.values())).w @ self.plane.normal)
        fine = np.linspace(0.0, times[-1], 400)
        q = self.motion.solve(self.q, rate, fine)[:, 0]
        found = []
        for k in range(len(fine) - 1):
            for pose in np.pi * np.arange(np.floor(q.min() / np.pi), np.ceil(q.max() / np.pi) + 1):
                if (q[k] - pose) * (q[k + 1] - pose) < 0.0:
                    found.append(fine[k] + (fine[k + 1] - fine[k]) * (pose - q[k]) / (q[k + 1] - q[k]))
        at = np.array(found[:6])
        span = times[-1]
        return np.clip(np.concatenate([at, at + 1e-7 * span, at - 1e-4 * span]), 0.0, span)

    def poses(self, times: Floats, rate: float) -> tuple[Floats, Floats, Floats]:
        """Centres of mass (t, n, 3), rotation matrices (t, n, 3, 3), and the angle of the crank and its rate (t, 2)."""
        states = self.motion.solve(self.q, rate, times)
        begin = self.linkage.bars(self.q)
        r, A = [], []
        for q, _ in states:
            r.append([]), A.append([])
            for bar, place, first, A0 in zip(self.linkage.bars(q), self.centres, begin, self.A0, strict=True):
                x = self.motion.centre(bar, place)
                r[-1].append(self.plane.at(np.array([x[0].f, x[1].f])))
                (u, n), (u0, n0) = bar[1], first[1]
                c, s = u.f * u0.f + n.f * n0.f, n.f * u0.f - u.f * n0.f
                turn = self.plane.A @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ self.plane.A.T
                A[-1].append(turn @ A0)
        return np.array(r), np.array(A), states


TOLERANCES = 1e-13, 1e-11  # of the second method for the mechanism beside


class Both:
    """The motion of two mechanisms side by side: the first exact, the second by the second method at two tolerances.

    ``apart`` (n,) : largest difference of the latter until each time, as a fraction of the size
    """

    def __init__(self, first: Mechanism, second: Mechanism, size: float) -> None:
        self.first, self.second, self.size = first, second, size
        self.plane = first.exact.plane
        self.start_rate = first.exact.start_rate

    def velocities(self, rate: float) -> tuple[Floats, Floats]:
        """Velocities v and w of all bodies (n, 3) at the start."""
        v, w = self.first.exact.velocities(rate)
        both = [np.array([[*b.v, *b.w] for b in self.second.bodies.values()])]
        return np.concatenate([v, both[0][:, :3]]), np.concatenate([w, both[0][:, 3:]])

    def poses(self, times: Floats, rate: float) -> tuple[Floats, Floats, Floats]:
        """Positions, rotation matrices, and the angle of the crank of the first and its rate."""
        r, A, states = self.first.exact.poses(times, rate)
        method = Second(self.second)
        scale = np.tile(
            [self.second.size] * 3 + [1.0] * 4 + [10 * self.second.size / times[-1]] * 3 + [10 / times[-1]] * 3,
            method.n,
        )
        found = [method.motion(times, tolerance, scale) for tolerance in TOLERANCES]
        n = min(map(len, found))
        (r_2, A_2), (r_3, A_3) = (_poses(one[:n]) for one in found)
        apart = np.maximum(np.abs(r_2 - r_3).max(axis=(1, 2)) / self.size, np.abs(A_2 - A_3).max(axis=(1, 2, 3)))
        self.apart = np.maximum.accumulate(apart)
        return np.concatenate([r[:n], r_2], axis=1), np.concatenate([A[:n], A_2], axis=1), states[:n]


def _poses(states: Floats) -> tuple[Floats, Floats]:
    s = states.reshape(len(states), -1, 13)
    return s[:, :, :3], np.array([rotations(one[:, 3:7]) for one in s])


def pair(random: Random) -> Mechanism:
    """A change-point four-bar beside another mechanism of other masses and size, which it does not touch."""
    m = change_point(random)
    other = [planar.four_bar, planar.polygon, spatial.spatial_loop, spatial.bennett, trees.tree][
        int(random.integers(5))
    ](random)
    method = Second(other)
    method.freedoms()
    v, w = method.admissible(method.start(), random.standard_normal(6 * method.n))
    factor = log_uniform(random, 0.1, 5.0) / max(np.abs(v).max() / other.size, np.abs(w).max(), 1e-9)
    other.gravity = m.gravity.copy()
    heavier = log_uniform(random, 1e-4, 1e4)
    for k, b in enumerate(other.bodies.values()):
        b.v, b.w, b.mass, b.J = v[k] * factor, w[k] * factor, b.mass * heavier, b.J * heavier
    m.exact = Both(_copy(m), other, max(m.size, other.size))
    names = {name: f"other_{name}" for name in other.bodies} | {GROUND: GROUND}
    for name, b in other.bodies.items():
        m.bodies[names[name]] = replace(b, name=names[name])
    for j in other.joints:
        m.joints.append(replace(j, name=f"other_{j.name}", i=names[j.i], j=names[j.j]))
    if random.random() < 0.5:
        m.joints = m.joints[4:] + m.joints[:4]
    m.size = max(m.size, other.size)
    m.note += f"; beside {other.note} of {len(other.bodies)} bodies, masses by {heavier:.1e}"
    return m


def _copy(m: Mechanism) -> Mechanism:
    found = copy(m)
    found.bodies, found.joints = dict(m.bodies), list(m.joints)
    return found
