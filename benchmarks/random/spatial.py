"""Random spatial loops: RSSR, RSCR, universal joints, Bennett, Bricard, Sarrus, spherical four-bars, doors, springs, drivers."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.random.mechanism import GROUND, Floats, Mechanism
from benchmarks.random.planar import Plane, Random, close, four_bar, four_bar_points, log_uniform, unit


def start(random: Random, scale: float = 1.0) -> Mechanism:
    """An empty mechanism in random gravity."""
    m = Mechanism(random.choice([0.0, 1.0, 9.81]) * unit(random.standard_normal(3)))
    m.size = scale
    return m


def link(m: Mechanism, random: Random, name: str, points: list[Floats], wild: float = 1.0) -> None:
    """A body with its centre of mass near the middle of its points."""
    points_2 = np.array(points)
    extent = max(float(np.ptp(points_2, axis=0).max()), 0.05 * m.size)
    mass = log_uniform(random, 1 / wild, wild) if wild > 1 else random.uniform(0.5, 2.0)
    semi = extent * random.uniform(0.1, 0.4, 3)
    J = mass / 5 * (semi @ semi - semi**2)
    A = Rotation.random(random_state=int(random.integers(2**31))).as_matrix()
    m.body(name, mass, J, points_2.mean(axis=0) + 0.1 * extent * random.standard_normal(3), A)


def random_axis(random: Random) -> Floats:
    """A direction."""
    return unit(random.standard_normal(3))


def four_points(random: Random, scale: float) -> list[Floats]:
    """Corners of a spatial quadrilateral with sides that are not small."""
    while True:
        points = [scale * random.uniform(-1, 1, 3) for _ in range(4)]
        sides = [np.linalg.norm(points[k] - points[k - 1]) for k in range(4)]
        if min(sides) > 0.4 * scale:
            return points


LOOPS = {
    "RSSR": ("revolute", "spherical", "spherical", "revolute"),
    "RSCR": ("revolute", "spherical", "cylindrical", "revolute"),
    "RUSR": ("revolute", "universal", "spherical", "revolute"),
    "RUCC": ("revolute", "universal", "cylindrical", "cylindrical"),
    "RCCC": ("revolute", "cylindrical", "cylindrical", "cylindrical"),
    "RSPC": ("revolute", "spherical", "translational", "cylindrical"),
    "UUUU": ("universal",) * 4,
    "SSSS": ("spherical",) * 4,
    "CCCC": ("cylindrical",) * 4,
}


def spatial_loop(random: Random) -> Mechanism:
    """A single loop of three moving links with spatial joints, one or more degrees of freedom, no redundant row in general."""
    scale = log_uniform(random, 1e-3, 1e3) if random.random() < 0.25 else 1.0
    m = start(random, scale)
    name = str(random.choice(list(LOOPS)))
    A, B, C, D = four_points(random, scale)
    wild = 300.0 if random.random() < 0.25 else 1.0
    for body, ends in (("crank", [A, B]), ("coupler", [B, C]), ("rocker", [C, D])):
        link(m, random, body, ends, wild)
    for k, (i, j, at) in enumerate(
        ((GROUND, "crank", A), ("crank", "coupler", B), ("coupler", "rocker", C), ("rocker", GROUND, D))
    ):
        kind = LOOPS[name][k]
        axis = random_axis(random)
        axis_j = random_axis(random) if kind == "universal" else None
        if axis_j is not None:
            axis_j = unit(np.cross(axis, axis_j)) if random.random() < 0.5 else axis_j
        if random.random() < 0.5:
            i, j = j, i
        m.joint("ABCD"[k], kind, i, j, at=at, axis=axis, axis_j=axis_j)
    m.note = name
    return m


def modified_loop(random: Random) -> Mechanism:
    """A loop with a massless link, distances, points on lines or planes: rows of all kinds."""
    m = start(random)
    A, B, C, D = four_points(random, 1.0)
    for body, ends in (("one", [A, B]), ("two", [B, C])):
        link(m, random, body, ends)
    m.joint("A", "revolute", GROUND, "one", at=A, axis=random_axis(random))
    kind = str(random.choice(["spherical", "modified_universal", "universal"]))
    axis, axis_j = random_axis(random), random_axis(random)
    if kind == "modified_universal":
        m.joint("B", kind, "one", "two", at=B, at_j=B + 0.3 * random_axis(random), axis=axis, axis_j=axis_j)
    else:
        m.joint("B", kind, "one", "two", at=B, axis=axis, axis_j=axis_j)
    closing = str(random.choice(["constant_distance", "point_on_line", "point_on_plane", "constant_angle"]))
    m.joint(
        "C",
        closing,
        GROUND,
        "two",
        at=D if closing == "constant_distance" else C,
        at_j=C,
        axis=random_axis(random),
        axis_j=random_axis(random),
    )
    m.note = f"{kind}, {closing}"
    return m


def frames(distances: Floats, twists: Floats, angles: Floats, offsets: Floats) -> list[Floats]:
    """Frames (4, 4) of a loop by Denavit and Hartenberg: the axis z of each is that of a hinge; the last is the first again."""
    T = [np.eye(4)]
    for a, alpha, q, s in zip(distances, twists, angles, offsets, strict=True):
        Z, X = np.eye(4), np.eye(4)
        Z[:3, :3], Z[2, 3] = Rotation.from_rotvec([0, 0, q]).as_matrix(), s
        X[:3, :3], X[0, 3] = Rotation.from_rotvec([alpha, 0, 0]).as_matrix(), a
        T.append(T[-1] @ Z @ X)
    return T


def closed_angles(distances: Floats, twists: Floats, offsets: Floats, first: float, guess: Floats) -> Floats:
    """Joint angles that close a loop, for a given first angle; ValueError where none is found."""
    q = np.concatenate([[first], guess])

    def gap(q: Floats) -> Floats:
        T = frames(distances, twists, q, offsets)[-1]
        R = T[:3, :3]
        return np.concatenate([T[:3, 3], [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]], [3 - np.trace(R)]])

    for _ in range(60):
        g = gap(q)
        J = np.array([(gap(q + 1e-6 * e) - gap(q - 1e-6 * e)) / 2e-6 for e in np.eye(len(q))[1:]]).T
        U, S, V = np.linalg.svd(J, full_matrices=False)
        keep = S > 1e-6 * S[0]
        step = V[keep].T @ ((U.T @ g)[keep] / S[keep])
        q[1:] -= step * min(1.0, 0.5 / max(np.abs(step).max(), 1e-300))
    if not np.abs(gap(q)).max() < 1e-13:
        raise ValueError("does not close")
    return q


def hinge_loop(m: Mechanism, random: Random, T: list[Floats], wild: float = 1.0) -> None:
    """A closed chain of hinges along the axes z of frames; the first link is the ground."""
    turn = Rotation.random(random_state=int(random.integers(2**31))).as_matrix()
    n = len(T) - 1
    points = [turn @ t[:3, 3] for t in T[:n]]
    axes = [turn @ t[:3, 2] for t in T[:n]]
    # Link k is between the hinges k and k + 1; link n - 1 is the ground, which has the hinges n - 1 and 0.
    for k in range(n - 1):
        link(m, random, f"link_{k}", [points[k], points[k + 1]], wild)
    names = [f"link_{k}" for k in range(n - 1)] + [GROUND]
    for k in random.permutation(n):
        m.joint(
            f"hinge_{k}",
            "revolute",
            names[k - 1],
            names[k],
            at=points[k] + 0.2 * random.standard_normal() * axes[k],
            axis=axes[k],
        )


def bennett(random: Random) -> Mechanism:
    """Bennett's linkage: four hinges, three redundant rows, one degree of freedom."""
    while True:
        alpha, beta = random.uniform(0.3, 2.6, 2)
        a = random.uniform(0.3, 1.0)
        b = a * np.sin(beta) / np.sin(alpha)
        if not 0.2 < b < 2.0 or abs(alpha - beta) < 0.1:
            continue
        q1 = random.uniform(0.3, 2.8) * random.choice([-1, 1])
        # tan(q1 / 2) tan(q2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2), q3 = -q1, q4 = -q2.
        k = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
        for sign in (1, -1):
            q2 = 2 * np.arctan(sign * k / np.tan(q1 / 2))
            try:
                q = closed_angles(
                    np.array([a, b, a, b]),
                    np.array([alpha, beta, alpha, beta]),
                    np.zeros(4),
                    q1,
                    np.array([q2, -q1, -q2]),
                )
            except ValueError:
                continue
            m = start(random)
            hinge_loop(
                m,
                random,
                frames(np.array([a, b, a, b]), np.array([alpha, beta, alpha, beta]), q, np.zeros(4)),
                100.0 if random.random() < 0.2 else 1.0,
            )
            m.note = f"a {a}, b {b}, alpha {alpha}, beta {beta}, q {q}"
            return m


def bricard(random: Random) -> Mechanism:
    """Bricard's orthogonal linkage: six hinges, one redundant row, one degree of freedom."""
    while True:
        d = random.uniform(0.4, 1.0, 4)
        if random.random() < 0.3:
            d[:] = d[0]
        # a1^2 - a2^2 + a3^2 - a4^2 + a5^2 - a6^2 = 0, twists 90, 270, ... degrees, no offsets.
        last = d[0] ** 2 - d[1] ** 2 + d[2] ** 2 - d[3] ** 2
        a5 = random.uniform(0.4, 1.0) if not (d == d[0]).all() else d[0]
        if last + a5**2 < 0.1:
            continue
        a = np.array([*d, a5, np.sqrt(last + a5**2)])
        twists = np.array([1, -1, 1, -1, 1, -1]) * np.pi / 2
        for _ in range(10):
            try:
                q = closed_angles(a, twists, np.zeros(6), random.uniform(-3, 3), random.uniform(-3, 3, 5))
            except (ValueError, np.linalg.LinAlgError):
                continue
            m = start(random)
            hinge_loop(m, random, frames(a, twists, q, np.zeros(6)))
            m.note = f"a {a}, q {q}"
            return m


def spherical_four_bar(random: Random) -> Mechanism:
    """Four hinges whose axes meet in a point: three redundant rows."""
    m = start(random)
    centre = random.standard_normal(3)
    while True:
        axes = [random_axis(random) for _ in range(4)]
        if max(abs(axes[k] @ axes[k - 1]) for k in range(4)) < 0.9:
            break
    points = [centre + random.uniform(0.3, 1.0) * n for n in axes]
    for k, name in enumerate(("crank", "coupler", "rocker")):
        link(m, random, name, [points[k], points[k + 1]])
    for k, (i, j) in enumerate(((GROUND, "crank"), ("crank", "coupler"), ("coupler", "rocker"), ("rocker", GROUND))):
        m.joint("ABCD"[k], "revolute", i, j, at=points[k], axis=axes[k])
    return m


def sarrus(random: Random) -> Mechanism:
    """Sarrus' linkage: a platform on two or three legs of three parallel hinges each; it moves along a line."""
    m = start(random)
    legs = int(random.integers(2, 4))
    height = random.uniform(0.5, 1.2)
    link(m, random, "platform", [np.array([1.0, 0, height]), np.array([-0.5, 0.8, height])])
    spread = random.uniform(0.7, 1.4) if legs == 2 else 2 * np.pi / 3
    for k in range(legs):
        out = np.array([np.cos(spread * k), np.sin(spread * k), 0.0])
        across = np.cross([0.0, 0.0, 1.0], out)
        foot, head = random.uniform(0.4, 0.8) * out, random.uniform(0.4, 0.8) * out + [0, 0, height]
        knee = (foot + head) / 2 + random.uniform(0.3, 0.9) * out * random.choice([-1, 1])
        link(m, random, f"lower_{k}", [foot, knee])
        link(m, random, f"upper_{k}", [knee, head])
        m.joint(f"foot_{k}", "revolute", GROUND, f"lower_{k}", at=foot, axis=across)
        m.joint(f"knee_{k}", "revolute", f"lower_{k}", f"upper_{k}", at=knee, axis=across)
        m.joint(f"head_{k}", "revolute", f"upper_{k}", "platform", at=head, axis=across)
    return m


def door(random: Random) -> Mechanism:
    """A door on two or three coaxial hinges, and a pendulum on it."""
    m = start(random)
    axis = random_axis(random)
    side = unit(np.cross(axis, random.standard_normal(3)))
    link(m, random, "door", [np.zeros(3), axis, axis + side, side])
    for k in range(int(random.integers(2, 4))):
        m.joint(f"hinge_{k}", "revolute", GROUND, "door", at=0.4 * k * axis, axis=axis)
    if random.random() < 0.6:
        link(m, random, "bob", [side, side + 0.5 * random_axis(random)])
        kind, a = str(random.choice(["spherical", "revolute", "universal"])), random_axis(random)
        m.joint(
            "ball",
            kind,
            "door",
            "bob",
            at=side,
            axis=a,
            axis_j=unit(np.cross(a, side)) if kind == "universal" else None,
        )
    return m


def driven_loop(random: Random) -> Mechanism:
    """A four-bar or five-bar whose crank is driven by a polynomial of time; the rest moves freely."""
    plane = Plane(random)
    if random.random() < 0.5:
        while True:
            a, b, c, d = random.uniform(0.2, 1.0, 4)
            low, *mid, high = sorted((a, b, c, d))
            if a == low and low + high < sum(mid) - 0.03:
                break
        points = four_bar_points(np.array([a, b, c, d]), random.uniform(-3, 3), int(random.choice([-1, 1])))
        close(plane, points, str(random.choice(["hinges", "balls", "mixed"])))
        first = "crank"
    else:
        A, B, C, D, E = (np.array(p) for p in ((0, 0), (0.0, 0.3), (0.7, 1.0), (1.3, 0.6), (1.2, 0.0)))
        for name, s, e in (("bar_1", A, B), ("bar_2", B, C), ("bar_3", C, D), ("bar_4", D, E)):
            plane.bar(name, s, e)
        for k, (i, j, at) in enumerate(
            (
                (GROUND, "bar_1", A),
                ("bar_1", "bar_2", B),
                ("bar_2", "bar_3", C),
                ("bar_3", "bar_4", D),
                ("bar_4", GROUND, E),
            )
        ):
            plane.hinge(f"h_{k}", i, j, at)
        first = "bar_1"
    m = plane.m
    rate = random.uniform(0.3, 3.0) * random.choice([-1, 1])
    m.drive_angle(
        "drive",
        GROUND,
        first,
        plane.normal,
        [0.0, rate, 0.2 * rate * random.standard_normal(), 0.02 * random.standard_normal()],
    )
    return m


def sprung_loop(random: Random) -> Mechanism:
    """A four-bar, or a loop of spatial joints, with springs and dampers."""
    m = four_bar(random) if random.random() < 0.5 else spatial_loop(random)
    names = list(m.bodies)
    mass = sum(b.mass for b in m.bodies.values())
    k = mass * log_uniform(random, 1.0, 300.0)
    far = m.bodies[names[-1]].r + m.size * (1.5 + random.random()) * random_axis(random)
    at = m.bodies[names[0]].r
    m.spring("spring", GROUND, names[0], far, at, k, random.choice([0.0, 0.05]) * k, 0.5 * m.size)
    if m.joints[0].kind == "revolute":
        joint = m.joints[0]
        axis = joint.values["a_i"] if joint.i == GROUND else joint.values["a_j"]
        other = joint.j if joint.i == GROUND else joint.i
        kt = k * m.size**2 * 0.1
        m.angle_spring("torsion", GROUND, other, axis, kt, random.choice([0.0, 0.02]) * kt, random.uniform(-1, 1))
    return m


def n_four_bar(random: Random) -> Mechanism:
    """A row of 2 to 6 equal parallelograms with hinges, through its singular poses; the motion is that of one angle."""
    plane = Plane(random)
    n = int(random.integers(2, 7))
    q, width, height = random.uniform(0.3, 2.8), random.uniform(0.5, 1.5), random.uniform(0.5, 1.5)
    up = height * np.array([np.cos(q), np.sin(q)])
    x = np.array([width, 0.0])
    for k in range(n + 1):
        plane.bar(f"post_{k}", k * x, k * x + up)
    for k in range(n):
        plane.bar(f"rail_{k}", k * x + up, (k + 1) * x + up)
    for k in range(n + 1):
        plane.hinge(f"foot_{k}", GROUND, f"post_{k}", k * x)
    for k in range(n):
        plane.hinge(f"left_{k}", f"post_{k}", f"rail_{k}", k * x + up)
        plane.hinge(f"right_{k}", f"rail_{k}", f"post_{k + 1}", (k + 1) * x + up)
    plane.m.note = f"n {n}, q {q}, width {width}, height {height}"
    plane.m.exact = Row(plane, n, q, height)
    return plane.m


class Row:
    """The exact motion of a row of parallelograms: an angle q with constant moment of inertia, as a pendulum."""

    def __init__(self, plane: Plane, n: int, q: float, height: float) -> None:
        self.plane, self.n, self.q, self.height = plane, n, q, height
        m = plane.m
        posts = [b for name, b in m.bodies.items() if name.startswith("post")]
        rails = [b for name, b in m.bodies.items() if name.startswith("rail")]
        self.moment = sum(b.J[2, 2] + b.mass * (height / 2) ** 2 for b in posts) + sum(
            b.mass * height**2 for b in rails
        )
        self.first = (sum(b.mass for b in posts) / 2 + sum(b.mass for b in rails)) * height
        self.gravity = plane.A[:, :2].T @ m.gravity

    def velocities(self, rate: float) -> tuple[Floats, Floats]:
        """Velocities v and w of the bodies at the start."""
        across = rate * self.height * self.plane.A[:, :2] @ np.array([-np.sin(self.q), np.cos(self.q)])
        v = [0.5 * across] * (self.n + 1) + [across] * self.n
        w = [rate * self.plane.normal] * (self.n + 1) + [np.zeros(3)] * self.n
        return np.array(v), np.array(w)

    def poses(self, times: Floats, rate: float) -> tuple[Floats, Floats, Floats]:
        """Positions, rotation matrices, angle and rate."""
        from scipy.integrate import solve_ivp

        def slope(t: float, y: Floats) -> list[float]:
            return [y[1], self.first * (self.gravity @ [-np.sin(y[0]), np.cos(y[0])]) / self.moment]

        states = solve_ivp(slope, (0.0, times[-1]), [self.q, rate], "DOP853", times, rtol=3e-14, atol=1e-14).y.T
        bodies = list(self.plane.m.bodies.values())
        r, A = [], []
        for q, _ in states:
            moved = (
                self.height
                * self.plane.A[:, :2]
                @ (np.array([np.cos(q), np.sin(q)]) - [np.cos(self.q), np.sin(self.q)])
            )
            turn = Rotation.from_rotvec((q - self.q) * self.plane.normal).as_matrix()
            posts = self.n + 1
            r.append([b.r + (0.5 if k < posts else 1.0) * moved for k, b in enumerate(bodies)])
            A.append([turn @ b.A if k < posts else b.A for k, b in enumerate(bodies)])
        return np.array(r), np.array(A), states
