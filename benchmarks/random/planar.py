"""Random planar linkages in a plane of any direction: four-bars, change points, slider-cranks, ladders, five-bars."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.random.mechanism import GROUND, Floats, Mechanism

Random = np.random.Generator


def log_uniform(random: Random, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


class Plane:
    """A plane with its mechanism: bars between points of the plane, hinges across it."""

    def __init__(self, random: Random, *, scale: float = 1.0, wild: float = 1.0) -> None:
        self.random, self.scale, self.wild = random, scale, wild
        self.A: Floats = Rotation.random(random_state=int(random.integers(2**31))).as_matrix()
        if random.random() < 0.3:
            self.A = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # the plane x-z
        self.origin = scale * random.standard_normal(3) * float(random.integers(2))
        self.m = Mechanism(random.choice([0.0, 1.0, 9.81]) * unit(random.standard_normal(3)))
        self.m.size = scale
        self.mass = log_uniform(random, 1e-2, 1e2)
        self.points: dict[str, tuple[Floats, Floats]] = {}

    @property
    def normal(self) -> Floats:
        """Normal of the plane."""
        return self.A[:, 2]

    def at(self, point: Floats) -> Floats:
        """A point of the plane in global coordinates."""
        return self.origin + self.A[:, 0] * point[0] + self.A[:, 1] * point[1]

    def bar(self, name: str, start: Floats, end: Floats, offset: Floats | None = None) -> None:
        """A rigid bar from start to end in the plane, its centre of mass at their middle plus an offset."""
        angle = np.arctan2(*(end - start)[::-1])
        length = max(float(np.linalg.norm(end - start)), 1e-3 * self.scale)
        turn = self.A @ Rotation.from_rotvec([0, 0, angle]).as_matrix()
        mass = self.mass * (
            log_uniform(self.random, 1 / self.wild, self.wild) if self.wild > 1 else self.random.uniform(0.5, 2)
        )
        middle = (start + end) / 2 if offset is None else (start + end) / 2 + offset
        slim = self.random.uniform(0.02, 0.3)
        J = mass * length**2 / 12 * np.array([slim, 1.0, 1.0 + 0.9 * slim])
        self.m.body(name, mass, J, self.at(middle), turn)

    def hinge(self, name: str, i: str, j: str, point: Floats, kind: str = "revolute") -> None:
        """A joint at a point of the plane with its axis across the plane."""
        self.m.joint(name, kind, i, j, at=self.at(point), axis=self.normal)


def unit(v: Floats) -> Floats:
    """A vector of length 1."""
    return v / np.linalg.norm(v)


def four_bar_points(lengths: Floats, angle: float, branch: int) -> tuple[Floats, Floats, Floats, Floats]:
    """A, B, C, D of a four-bar with lengths crank, coupler, rocker, base; ValueError where it does not close."""
    a, b, c, d = lengths
    A, D = np.zeros(2), np.array([d, 0.0])
    B = a * np.array([np.cos(angle), np.sin(angle)])
    reach = np.linalg.norm(D - B)
    along = (b * b - c * c + reach * reach) / (2 * reach)
    height = b * b - along * along
    if not height > 0.0:
        raise ValueError("does not close")
    u = (D - B) / reach
    return A, B, B + along * u + branch * np.sqrt(height) * np.array([-u[1], u[0]]), D


HINGES = ("revolute", "spherical", "cylindrical", "universal")


def close(plane: Plane, points: tuple[Floats, ...], variant: str, prefix: str = "", ground: str = GROUND) -> None:
    """Bars and joints of a four-bar; variant: "hinges", 3 redundant rows; "balls", none; "mixed", some."""
    A, B, C, D = points
    x = prefix
    random = plane.random
    offset = [0.2 * plane.scale * random.standard_normal(2) * float(random.integers(2)) for _ in range(3)]
    for name, start, end, off in zip(("crank", "coupler", "rocker"), (A, B, D), (B, C, C), offset, strict=True):
        plane.bar(x + name, start, end, off)
    kinds = ["revolute"] * 4
    if variant == "balls":
        kinds = ["revolute", "spherical", "universal", "revolute"]
    elif variant == "mixed":
        kinds[int(random.integers(1, 3))] = str(random.choice(["cylindrical", "spherical"]))
    ends = ((ground, "crank", A), ("crank", "coupler", B), ("coupler", "rocker", C), (ground, "rocker", D))
    for k, (i, j, point) in enumerate(ends):
        i, j = (i if i == ground else x + i), x + j
        if kinds[k] == "universal":
            # One axis across the plane on the rocker, the other in the plane on the coupler, which cannot spin about its line.
            along = plane.at(C) - plane.at(B)
            plane.m.joint(
                f"{x}{'ABCD'[k]}",
                "universal",
                i,
                j,
                at=plane.at(point),
                axis=np.cross(plane.normal, along),
                axis_j=plane.normal,
            )
        else:
            plane.hinge(f"{x}{'ABCD'[k]}", i, j, point, kinds[k])


def four_bar(random: Random) -> Mechanism:
    """A planar four-bar of random lengths, Grashof or not, with hinges or other joints."""
    scale = log_uniform(random, 1e-3, 1e3) if random.random() < 0.3 else 1.0
    plane = Plane(random, scale=scale, wild=1e3 if random.random() < 0.3 else 1.0)
    while True:
        lengths = random.uniform(0.2, 1.0, 4) * scale
        try:
            points = four_bar_points(lengths, random.uniform(-np.pi, np.pi), int(random.choice([-1, 1])))
        except ValueError:
            continue
        break
    close(plane, points, str(random.choice(["hinges", "balls", "mixed"])))
    plane.m.note = f"lengths {lengths}"
    return plane.m


def near_change_point(random: Random) -> Mechanism:
    """A four-bar that misses its change point by a fraction 1e-10..1e-2 of its size."""
    plane = Plane(random)
    sort = int(random.integers(3))
    while True:
        a, b, c = random.uniform(0.2, 1.0, 3)
        lengths = np.array([a, b, c, (b + c - a, b + a - c, a + c - b)[sort]])
        if random.random() < 0.3:
            lengths = np.array([a, b, a, b])
        miss = log_uniform(random, 1e-10, 1e-2) * random.choice([-1, 1])
        lengths[int(random.integers(4))] += miss
        try:
            points = four_bar_points(lengths, random.uniform(-np.pi, np.pi), int(random.choice([-1, 1])))
        except ValueError:
            continue
        if lengths.min() > 0.1:
            break
    close(plane, points, str(random.choice(["hinges", "balls", "mixed"])))
    plane.m.note = f"lengths {lengths}, misses by {miss:.1e}"
    return plane.m


def slider_crank(random: Random) -> Mechanism:
    """A slider-crank with offset, all joints planar."""
    plane = Plane(random, wild=1e2 if random.random() < 0.3 else 1.0)
    a = random.uniform(0.2, 0.5)
    b = random.uniform(0.55, 1.2)
    offset = random.uniform(-0.3, 0.3) * float(random.integers(2))
    while True:
        q = random.uniform(-np.pi, np.pi)
        B = a * np.array([np.cos(q), np.sin(q)])
        if abs(B[1] - offset) < 0.95 * b:
            break
    C = np.array([B[0] + np.sqrt(b * b - (B[1] - offset) ** 2), offset])
    plane.bar("crank", np.zeros(2), B)
    plane.bar("rod", B, C)
    plane.bar("slider", C, C + np.array([0.2, 0.0]))
    plane.hinge("A", GROUND, "crank", np.zeros(2))
    plane.hinge("B", "crank", "rod", B, str(random.choice(["revolute", "spherical", "cylindrical"])))
    plane.hinge("C", "rod", "slider", C)
    plane.m.joint(
        "D",
        str(random.choice(["translational", "translational", "cylindrical"])),
        GROUND,
        "slider",
        at=plane.at(C),
        axis=plane.A[:, 0],
    )
    return plane.m


def polygon(random: Random) -> Mechanism:
    """A closed chain of 4 to 7 bars with parallel hinges: 1 to 4 degrees of freedom, 3 redundant rows."""
    plane = Plane(random, wild=1e2 if random.random() < 0.2 else 1.0)
    n = int(random.integers(4, 8))
    angles = np.sort(random.uniform(0, 2 * np.pi, n))
    points = np.array([np.cos(angles), np.sin(angles)]).T * random.uniform(0.4, 1.0, (n, 1))
    for k in range(1, n):
        plane.bar(f"bar_{k}", points[k - 1], points[k])
    names = [GROUND, *(f"bar_{k}" for k in range(1, n)), GROUND]
    order = random.permutation(n)
    for k in order:
        i, j = names[k], names[k + 1]
        if random.random() < 0.3:
            i, j = j, i
        plane.hinge(f"hinge_{k}", i, j, points[k])
    return plane.m


def ladder(random: Random) -> Mechanism:
    """A chain of 2 to 4 four-bars, each on the coupler or rocker of the one before: all hinges, many redundant rows."""
    plane = Plane(random)
    n = int(random.integers(2, 5))
    low, high = np.zeros(2), np.array([1.0, 0.0])
    base_i, base_j = GROUND, GROUND
    for k in range(n):
        up = low + np.array([random.uniform(-0.3, 0.3), random.uniform(0.4, 0.9)])
        up_2 = high + np.array([random.uniform(-0.3, 0.3), random.uniform(0.4, 0.9)])
        plane.bar(f"left_{k}", low, up)
        plane.bar(f"right_{k}", high, up_2)
        plane.bar(f"rung_{k}", up, up_2)
        plane.hinge(f"a_{k}", base_i, f"left_{k}", low)
        plane.hinge(f"b_{k}", f"left_{k}", f"rung_{k}", up)
        plane.hinge(f"c_{k}", f"rung_{k}", f"right_{k}", up_2)
        plane.hinge(f"d_{k}", base_j, f"right_{k}", high)
        low, high, base_i, base_j = up, up_2, f"rung_{k}", f"rung_{k}"
    return plane.m


def tilted(random: Random) -> Mechanism:
    """A four-bar of hinges whose axes are tilted by 1e-14..1e-3, as rounded data are: locked, or movable within rounding."""
    tilt = log_uniform(random, 1e-14, 1e-3)
    m = four_bar(random)
    while any(joint.kind != "revolute" for joint in m.joints):
        m = four_bar(random)
    axes = tilt * random.standard_normal((4, 3))
    for joint, more in zip(m.joints, axes, strict=True):
        for side, body in (("a_i", joint.i), ("a_j", joint.j)):
            A = np.eye(3) if body == GROUND else m.bodies[body].A
            n = A @ joint.values[side] + more
            joint.values[side] = A.T @ n / np.linalg.norm(n)
    m.note += f", axes tilted by {tilt:.1e}"
    return m
