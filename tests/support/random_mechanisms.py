"""Random mechanisms of every kind of joint, and their equations of motion by dense linear algebra."""

from types import SimpleNamespace

import numpy as np
import pytest

from runtime import GROUND, Builder
from tests.support.modules import JOINT_MODULES

MODULES = {module.NAME: module for module in JOINT_MODULES if not module.SIGNALS}
GRAVITY = np.array([0.3, -0.2, -9.81])


def rotation(p):
    e0, e = p[0], np.asarray(p[1:])
    cross = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    return (e0**2 - e @ e) * np.eye(3) + 2 * np.outer(e, e) + 2 * e0 * cross


def kernel_state(state, body):
    if body == GROUND:
        return np.array([0.0] * 3 + [1.0] + [0.0] * 9)
    return np.concatenate([state.r[body], state.p[body], state.v[body], state.omega[body]])


class Rows:
    """The rows of one joint; what is held or carried is taken from a reference state."""

    def __init__(self, joint, reference):
        self.joint, self.module = joint, MODULES.get(joint.kind, joint.module)
        body_i, body_j = (kernel_state(reference, body) for body in (joint.body_i, joint.body_j))
        A = {"i": rotation(body_i[3:7]), "j": rotation(body_j[3:7])}
        self.local = {}
        vectors = self.module.VECTORS
        for name, kind, _ in vectors:
            if kind == "frame":
                self.local[name] = np.eye(3)["xi eta zeta".split().index(name.split("_")[0])]
            elif kind.startswith("across"):
                # Any two directions across the axis do; these differ from the builder's.
                axis = self.local[kind.split(":")[1]]
                first = np.cross(axis, np.array([0.3, -0.5, 0.8]))
                first /= np.linalg.norm(first)
                self.local[name] = first if kind[6] == "1" else np.cross(axis, first)
            else:
                self.local[name] = np.asarray(joint.values.get(name, np.zeros(3)))
        x = self._x(body_i, body_j, np.zeros(self.module.HELD))
        carried = [(name, body) for name, kind, body in vectors if kind.startswith("carried")]
        out = np.zeros(3 * len(carried) + self.module.HELD + self.module.BRANCH_SIGNS)
        self.module.reference.py_func(body_i, body_j, x, out)
        for k, (name, body) in enumerate(carried):
            self.local[name] = A[body].T @ out[3 * k : 3 * k + 3]
        # A held constant is what its row is without it.
        self.held = np.zeros(self.module.HELD)
        bare = self._phi(body_i, body_j, self.held)
        for k in range(self.module.HELD):
            unit = self._phi(body_i, body_j, np.eye(self.module.HELD)[k])
            self.held[k] = bare[np.argmax(np.abs(unit - bare))]

    def _x(self, body_i, body_j, held):
        A = {"i": rotation(body_i[3:7]), "j": rotation(body_j[3:7])}
        vectors = [A[body] @ self.local[name] for name, _, body in self.module.VECTORS]
        constants = [self.joint.values[name] for name, _ in self.module.PARAMETERS]
        return np.concatenate([*vectors, constants, held])

    def _phi(self, body_i, body_j, held):
        Phi = np.full(len(self.module.ROWS), np.nan)
        self.module.phi.py_func(body_i, body_j, self._x(body_i, body_j, held), Phi)
        return Phi

    def evaluate(self, state):
        """Phi (rows,), D (rows, 12), gamma (rows,)."""
        body_i, body_j = (kernel_state(state, body) for body in (self.joint.body_i, self.joint.body_j))
        n = len(self.module.ROWS)
        Phi, D, gamma = np.full(n, np.nan), np.full((n, 12), np.nan), np.full(n, np.nan)
        x = self._x(body_i, body_j, self.held)
        self.module.phi.py_func(body_i, body_j, x, Phi)
        self.module.jacobian.py_func(body_i, body_j, x, D)
        self.module.gamma.py_func(body_i, body_j, x, gamma)
        return Phi, D, gamma


class Dense:
    """Mass matrix and constraints of a whole system in one state."""

    def __init__(self, system, state, reference=None):
        names = system.body_names
        self.system, self.state, self.n = system, state, 6 * len(names)
        self.u = np.concatenate([np.concatenate([state.v[name], state.omega[name]]) for name in names])
        self.M, self.g = np.zeros((self.n, self.n)), np.zeros(self.n)
        for k, body in enumerate(system.bodies):
            A, omega = rotation(state.p[body.name]), state.omega[body.name]
            J = A @ body.inertia @ A.T
            self.M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
            self.M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = J
            self.g[6 * k : 6 * k + 3] = body.mass * system.gravity
            self.g[6 * k + 3 : 6 * k + 6] = -np.cross(omega, J @ omega)
        Phi, D, gamma = [], [], []
        self.rows = {}
        for joint in system.joints:
            phi, d, c = Rows(joint, reference or state).evaluate(state)
            wide = np.zeros((len(phi), self.n))
            for side, body in enumerate((joint.body_i, joint.body_j)):
                if body != GROUND:
                    o = 6 * names.index(body)
                    wide[:, o : o + 6] += d[:, 6 * side : 6 * side + 6]
            start = sum(map(len, Phi))
            self.rows[joint.name] = slice(start, start + len(phi))
            Phi.append(phi)
            D.append(wide)
            gamma.append(c)
        self.Phi = np.concatenate(Phi) if Phi else np.zeros(0)
        self.D = np.vstack(D) if D else np.zeros((0, self.n))
        self.gamma = np.concatenate(gamma) if gamma else np.zeros(0)

    def rank(self):
        """With every row of unit length, and turns measured by a metre."""
        return int(np.linalg.matrix_rank(self.D / np.linalg.norm(self.D, axis=1)[:, None], tol=1e-7))

    def least_change(self, target):
        """The u of least kinetic energy with D u = target."""
        MD = np.linalg.solve(self.M, self.D.T)
        return MD @ np.linalg.lstsq(self.D @ MD, target, rcond=1e-12)[0]

    def accelerations(self, alpha, beta):
        """v' and the wrenches -D^T lam of the joints, {joint: (6 bodies,)}."""
        m = len(self.Phi)
        target = self.gamma - 2 * alpha * (self.D @ self.u) - beta**2 * self.Phi
        KKT = np.block([[self.M, self.D.T], [self.D, np.zeros((m, m))]])
        solution = np.linalg.solve(KKT, np.concatenate([self.g, target]))
        lam = solution[self.n :]
        return solution[: self.n], {name: -self.D[rows].T @ lam[rows] for name, rows in self.rows.items()}


def stacked(linear, angular, names, k=0):
    return np.concatenate([np.concatenate([linear[name][k], angular[name][k]]) for name in names])


def random_unit(rng, size=3):
    x = rng.standard_normal(size)
    return x / np.linalg.norm(x)


class RandomMechanism:
    """Bodies anywhere and joints of given kinds between them, which hold where the bodies are."""

    def __init__(self, seed, edges, *, masses=(0.2, 3.0)):
        self.rng = rng = np.random.default_rng(seed)
        self.edges = edges
        self.bodies = {}
        for name in sorted({body for edge in edges for body in edge[1:]} - {GROUND}):
            cloud = rng.standard_normal((8, 3)) * rng.uniform(0.05, 0.3)
            cloud -= cloud.mean(axis=0)
            mass = np.exp(rng.uniform(*np.log(masses)))
            inertia = mass / 8 * sum(x @ x * np.eye(3) - np.outer(x, x) for x in cloud)
            self.bodies[name] = dict(
                mass=mass, inertia=inertia, r=rng.uniform(-0.5, 0.5, 3), p=random_unit(rng, 4),
                v=rng.standard_normal(3), omega=2 * rng.standard_normal(3),
            )  # fmt: skip
        self.joints = {f"joint_{k}": (edge, self._values(*edge)) for k, edge in enumerate(edges)}

    def _pose(self, body):
        if body == GROUND:
            return np.zeros(3), np.eye(3)
        return self.bodies[body]["r"], rotation(self.bodies[body]["p"])

    def _values(self, kind, i, j):
        rng = self.rng
        a_i = a_j = b_i = c_i = random_unit(rng)
        P_i = P_j = rng.uniform(-0.5, 0.5, 3)
        if kind in ("cylindrical", "translational", "point_on_line"):
            P_j = P_i + rng.uniform(-0.3, 0.3) * a_i
        elif kind == "point_on_plane":
            P_j = P_i + np.cross(a_i, rng.uniform(-0.3, 0.3, 3))
        elif kind == "plane_translation":
            b_i = np.cross(a_i, random_unit(rng)) + rng.uniform(-0.5, 0.5) * a_i
            b_i /= np.linalg.norm(b_i)
            P_j = P_i + rng.uniform(-0.3, 0.3) * a_i + rng.uniform(-0.3, 0.3) * b_i
        elif kind == "oblique_translation":
            b_i, c_i = a_i + 0.8 * np.linalg.svd(a_i[None])[2][1:]
            b_i, c_i = (v / np.linalg.norm(v) for v in (b_i, c_i))
        elif kind == "constant_distance":
            P_j = P_i + rng.uniform(0.1, 0.4) * random_unit(rng)
        elif kind in ("universal", "constant_angle", "modified_universal"):
            # Well away from the singular configurations: axes and link span the space.
            b, c = np.linalg.svd(a_i[None])[2][1:]
            a_j = b + rng.uniform(-0.7, 0.7) * a_i
            a_j /= np.linalg.norm(a_j)
            if kind == "modified_universal":
                link = c + rng.uniform(-0.5, 0.5) * a_i + rng.uniform(-0.5, 0.5) * b
                P_j = P_i + rng.uniform(0.1, 0.4) * link / np.linalg.norm(link)
        (r_i, A_i), (r_j, A_j) = self._pose(i), self._pose(j)
        values = dict(
            s_i=A_i.T @ (P_i - r_i), s_j=A_j.T @ (P_j - r_j), a_i=A_i.T @ a_i, a_j=A_j.T @ a_j, b_i=A_i.T @ b_i, c_i=A_i.T @ c_i,
            l=np.linalg.norm(P_j - P_i),
        )  # fmt: skip
        return {key: values[key] for key in MODULES[kind].KEYWORDS}

    def dense(self):
        """Mass matrix and constraints where the bodies are, without the builder."""
        bodies = [
            SimpleNamespace(name=name, **{k: body[k] for k in ("mass", "inertia")})
            for name, body in self.bodies.items()
        ]
        joints = [
            SimpleNamespace(name=name, kind=kind, body_i=i, body_j=j, values=values, module=MODULES[kind])
            for name, ((kind, i, j), values) in self.joints.items()
        ]
        state = SimpleNamespace(
            **{part: {n: b[part] for n, b in self.bodies.items()} for part in ("r", "p", "v", "omega")}
        )
        system = SimpleNamespace(body_names=tuple(self.bodies), bodies=bodies, joints=joints, gravity=GRAVITY)
        return Dense(system, state)

    def build(self, *, order=None, bodies=None, **options):
        b = Builder("random mechanism", gravity=GRAVITY)
        for name in bodies or self.bodies:
            b.body(name, **self.bodies[name], free=True, guess=True)
        for name in order or self.joints:
            (kind, i, j), values = self.joints[name]
            b.joint(name, kind, i, j, **values)
        return b.build(project_velocities=True, **options)


KINDS = list(MODULES)


def random_edges(seed, bodies, extra, from_kinds=KINDS):
    """A tree of joints of every kind with the ground as root, and extra joints of few rows that close loops."""
    rng = np.random.default_rng(1000 + seed)
    names = [f"b{k}" for k in range(bodies)]
    kinds = [*rng.permutation(from_kinds)] * 3
    edges = []
    for k, name in enumerate(names):
        before = GROUND if k == 0 else names[rng.integers(k)]
        ends = (before, name) if rng.random() < 0.5 else (name, before)
        edges.append((str(kinds[k]), *ends))
    light = [kind for kind in from_kinds if len(MODULES[kind].ROWS) <= 4]
    for _ in range(extra):
        i, j = rng.choice([GROUND, *names], 2, replace=False)
        more = [*edges, (str(rng.choice(light)), str(i), str(j))]
        dense = RandomMechanism(seed, more).dense()
        if dense.rank() == len(dense.Phi) < dense.n:
            edges = more
    return edges


# Shapes that a sparse elimination may get wrong.
CHAIN = [("revolute", GROUND, "b0"), *(("universal", f"b{k}", f"b{k + 1}") for k in range(6))]
STAR = [("spherical", GROUND, "hub"), *(("revolute", "hub", f"b{k}") for k in range(7))]
STAR_OF_LOOPS = [*STAR, *(("constant_distance", f"b{k}", f"b{k + 1}") for k in range(6))]
RING = [("spherical", f"b{k}", f"b{(k + 1) % 7}") for k in range(7)] + [("spherical", GROUND, "b0")]
LADDER = [
    ("spherical", GROUND, "l0"), ("spherical", GROUND, "r0"),
    *(("spherical", f"{s}{k}", f"{s}{k + 1}") for s in "lr" for k in range(4)),
    *(("constant_distance", f"l{k}", f"r{k}") for k in range(5)),
]  # fmt: skip
TWICE = [
    ("spherical", GROUND, "b0"), ("constant_distance", GROUND, "b0"),
    ("universal", "b0", "b1"), ("constant_angle", "b1", "b0"), ("point_on_plane", "b2", "b1"), ("point_on_line", "b1", "b2"),
]  # fmt: skip
TO_GROUND_THREE_TIMES = [(kind, GROUND, "b0") for kind in ("constant_distance", "point_on_plane", "constant_angle")]
FLOATING = [("modified_universal", "b0", "b1"), ("cylindrical", "b2", "b1"), ("translational", "b3", "b2")]
COMPLETE = [("constant_distance", f"b{i}", f"b{j}") for i in range(6) for j in range(i)]
SHAPES = {
    "chain": CHAIN, "star": STAR, "star of loops": STAR_OF_LOOPS, "ring": RING, "ladder": LADDER, "two joints": TWICE,
    "ground only": TO_GROUND_THREE_TIMES, "floating": FLOATING, "complete": COMPLETE,
}  # fmt: skip
CASES = [pytest.param(k, edges, id=name) for k, (name, edges) in enumerate(SHAPES.items())]
CASES += [
    pytest.param(seed, random_edges(seed, bodies, extra), id=f"random {seed}")
    for seed, (bodies, extra) in enumerate(
        [(2, 1), (3, 2), (4, 3), (6, 4), (8, 6), (10, 8), (12, 0), (12, 12), (16, 12)]
    )
]


def single(kind, *, r=(0.0, 0.0, 0.0), **values):
    b = Builder("one joint")
    b.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), r=r)
    b.joint("ankle", kind, GROUND, "body", **values)
    return b


POINTS = dict(s_i=(0, 0, 0), s_j=(0, 0, 0))
