"""Parallelograms through their singular poses with pendulums, springs and drivers, against the equivalent without the rocker."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from benchmarks.random.closed_form import ChangePoint
from benchmarks.random.mechanism import GROUND, Body, Floats, Mechanism
from benchmarks.random.planar import Plane, Random, close, log_uniform
from benchmarks.random.second import Second, rotations


def swinging(random: Random) -> Mechanism:
    """A parallelogram with one or two pendulums on its coupler or crank, and perhaps springs and dampers."""
    width, height, q = *random.uniform(0.3, 1.0, 2), random.uniform(0.3, 2.8) * random.choice([-1, 1])
    plane = Plane(random, wild=10.0 if random.random() < 0.3 else 1.0)
    linkage = ChangePoint(np.array([height, width, height, width]), 1)
    B, C = (np.array([p[0].f, p[1].f]) for p in linkage.points(q))
    if np.linalg.norm(C - B - [width, 0.0]) > 1e-9:  # the other branch at this angle
        B, C = (np.array([p[0].f, p[1].f]) for p in ChangePoint(linkage_lengths(linkage), -1).points(q))
    D = np.array([width, 0.0])
    close(plane, (np.zeros(2), B, C, D), str(random.choice(["hinges", "hinges", "balls", "mixed"])))
    m = plane.m
    for k in range(int(random.integers(1, 3))):
        on = str(random.choice(["coupler", "crank"]))
        at = (B + random.uniform(0, 1) * (C - B)) if on == "coupler" else B * random.uniform(0.5, 1.5)
        far = at + random.uniform(0.2, 0.8) * np.array([np.cos(a := random.uniform(0, 6.3)), np.sin(a)])
        plane.bar(f"bob_{k}", at, far)
        plane.hinge(f"pivot_{k}", on, f"bob_{k}", at)
    total = sum(b.mass for b in m.bodies.values())
    if random.random() < 0.5:
        k = total * log_uniform(random, 0.5, 20.0)
        torsion = k * height**2
        m.angle_spring(
            "torsion", m.joints[4].i, "bob_0", plane.normal, torsion, random.choice([0.0, 0.03]) * torsion, 0.3
        )
        m.spring(
            "spring",
            GROUND,
            "crank",
            plane.at(np.array([0.3, 2.0])),
            plane.at(B),
            k,
            random.choice([0.0, 0.02]) * k,
            0.5,
        )
    m.exact = Equivalent(plane, D)
    m.note = f"height {height}, width {width}, q {q}"
    return m


def driven_parallelogram(random: Random) -> Mechanism:
    """The crank of a parallelogram, with or without pendulums, driven by a polynomial of time through the singular poses."""
    m = swinging(random)
    m.springs = []
    normal = m.exact.plane.normal
    if random.random() < 0.4:
        kept = ("crank", "coupler", "rocker")
        m.bodies = {name: b for name, b in m.bodies.items() if name in kept}
        m.joints = [j for j in m.joints if j.i in (*kept, GROUND) and j.j in kept]
    rate = random.uniform(0.5, 3.0) * random.choice([-1, 1])
    m.drive_angle("drive", GROUND, "crank", normal, [0.0, rate, 0.1 * rate * random.standard_normal()])
    m.exact = Equivalent(m.exact.plane, m.exact.D)
    return m


def linkage_lengths(linkage: ChangePoint) -> Floats:
    """Crank, coupler, rocker, base."""
    return np.array([linkage.a, linkage.b, linkage.c, linkage.d])


class Equivalent:
    """A parallelogram by the second method on a tree: the rocker belongs to the crank, and the coupler keeps its direction."""

    def __init__(self, plane: Plane, D: Floats) -> None:
        self.plane, self.D = plane, D
        m = plane.m
        self.m = m
        self.tree = deepcopy(replace_exact(m))
        bodies = self.tree.bodies
        crank, rocker = bodies["crank"], bodies.pop("rocker")
        bodies["crank"] = together(crank, rocker, rocker.r - (plane.at(D) - plane.at(np.zeros(2))))
        self.tree.joints = [j for j in m.joints if "rocker" not in (j.i, j.j) and j.name != "B"]
        # Points of the crank are from its new centre of mass and in its new axes.
        old, new = m.bodies["crank"], bodies["crank"]
        for n, j in enumerate(self.tree.joints):
            self.tree.joints[n] = replace(j, values=moved(j.values, j.i, j.j, old, new))
        for n, s in enumerate(self.tree.springs):
            self.tree.springs[n] = replace(s, values=moved(s.values, s.i, s.j, old, new))
        B = next(j for j in m.joints if j.name == "B")
        at = m.bodies["crank"].r + m.bodies["crank"].A @ B.values["s_i"]
        self.tree.joint("B", "revolute", "crank", "coupler", at=at, axis=plane.normal)
        self.tree.joint("level", "constant_angle", GROUND, "coupler", axis=plane.A[:, 0], axis_j=plane.A[:, 1])

    start_rate = None

    def velocities(self, rate: float) -> tuple[Floats, Floats]:
        """Random velocities v and w of all bodies in the plane, (n, 3)."""
        second = Second(self.m)
        second.freedoms()
        random = np.random.default_rng(int(abs(rate) * 1e6))
        return tuple(rate * x for x in second.admissible(second.start(), random.standard_normal(6 * second.n)))  # type: ignore[return-value]

    def poses(self, times: Floats, rate: float) -> tuple[Floats, Floats, Floats]:
        """Positions (t, n, 3) and rotation matrices (t, n, 3, 3) of all bodies."""
        m = self.m
        crank, new = m.bodies["crank"], self.tree.bodies["crank"]
        for name, b in self.tree.bodies.items():
            b.v, b.w = m.bodies[name].v.copy(), m.bodies[name].w.copy()
        new.v = crank.v + np.cross(crank.w, new.r - crank.r)
        second = Second(self.tree)
        speed = 10.0 / times[-1]
        scale = np.tile([m.size] * 3 + [1.0] * 4 + [speed * m.size] * 3 + [speed] * 3, second.n)
        tight, loose = (second.motion(times, tolerance, scale) for tolerance in (1e-12, 1e-10))
        n = min(len(tight), len(loose))
        s = tight[:n].reshape(n, -1, 13)
        apart = np.abs(s - loose[:n].reshape(s.shape))[:, :, :7].max(axis=(1, 2))
        self.apart = np.maximum.accumulate(apart)
        at = {name: k for k, name in enumerate(self.tree.bodies)}
        A = {name: rotations(s[:, k, 3:7]) for name, k in at.items()}
        r = {name: s[:, k, :3] for name, k in at.items()}
        turn = A["crank"] @ new.A.T
        origin = self.plane.at(np.zeros(2))
        for name, pivot in (("crank", origin), ("rocker", self.plane.at(self.D))):
            b = m.bodies[name]
            r[name], A[name] = pivot + turn @ (b.r - pivot), turn @ b.A
        return np.array([r[n] for n in m.bodies]).swapaxes(0, 1), np.array([A[n] for n in m.bodies]).swapaxes(0, 1), s


def replace_exact(m: Mechanism) -> Mechanism:
    """A copy without the exact motion."""
    found = Mechanism(m.gravity)
    found.bodies, found.joints, found.springs, found.size = dict(m.bodies), list(m.joints), list(m.springs), m.size
    return found


def together(a: Body, b: Body, centre: Floats) -> Body:
    """Body a with the mass of b, whose centre of mass is moved to a place; axes are the global ones."""
    mass = a.mass + b.mass
    r = (a.mass * a.r + b.mass * centre) / mass
    J = np.zeros((3, 3))
    for body, place in ((a, a.r), (b, centre)):
        d = place - r
        J += body.A @ body.J @ body.A.T + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Body(a.name, mass, J, r, np.eye(3))


def moved(values: dict, i: str, j: str, old: Body, new: Body) -> dict:  # type: ignore[type-arg]
    """Vectors of a joint or spring whose body "crank" has other axes and another centre of mass."""
    found = dict(values)
    for side, name in (("i", i), ("j", j)):
        if name != "crank":
            continue
        for key, vector in values.items():
            if key.endswith(f"_{side}"):
                turned = old.A @ vector
                found[key] = new.A.T @ (turned + old.r - new.r if key.startswith("s_") else turned)
    return found
