"""Random mechanisms of every kind of joint, and their equations of motion by dense linear algebra."""

from functools import cache
from types import SimpleNamespace

import numpy as np

from runtime import GROUND, Builder
from tests.support.kernels import Setting, call
from tests.support.modules import JOINT_MODULES
from tests.support.motions import rotation_matrix

MODULES = {module.NAME: module for module in JOINT_MODULES if not module.SIGNALS}
GRAVITY = np.array([0.3, -0.2, -9.81])


def kernel_state(state, body):
    if body == GROUND:
        return np.array([0.0] * 3 + [1.0] + [0.0] * 9)
    return np.concatenate([state.r[body], state.p[body], state.v[body], state.omega[body]])


class Rows:
    """The rows of one joint; what is held or carried is taken from a reference state."""

    def __init__(self, joint, reference):
        self.joint, self.module = joint, MODULES.get(joint.kind, joint.module)
        # Any two directions across an axis do; those of a setting differ from the builder's.
        self.setting = Setting(self.module, np.random.default_rng(0), joint.values)
        self.setting.parameters = np.array([joint.values[name] for name, _ in self.module.PARAMETERS])
        self.setting.hold(*self.states(reference))

    def states(self, state):
        return [kernel_state(state, body) for body in (self.joint.body_i, self.joint.body_j)]

    def evaluate(self, state):
        """Phi (rows,), D (rows, 12), gamma (rows,)."""
        n, bodies = len(self.module.ROWS), self.states(state)
        kernels = (self.module.phi, n), (self.module.jacobian, (n, 12)), (self.module.gamma, n)
        return [call(kernel, *bodies, self.setting.x(*bodies), size) for kernel, size in kernels]


class Dense:
    """Mass matrix and constraints of a whole system in one state."""

    def __init__(self, system, state, reference=None):
        names = system.body_names
        self.system, self.state, self.n = system, state, 6 * len(names)
        self.u = np.concatenate([np.concatenate([state.v[name], state.omega[name]]) for name in names])
        self.M, self.g = np.zeros((self.n, self.n)), np.zeros(self.n)
        for k, body in enumerate(system.bodies):
            A, omega = rotation_matrix(state.p[body.name]), state.omega[body.name]
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
        return self.bodies[body]["r"], rotation_matrix(self.bodies[body]["p"])

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
STAR = [("spherical", GROUND, "hub"), *(("revolute", "hub", f"b{k}") for k in range(7))]
SHAPES = {
    "chain": [("revolute", GROUND, "b0"), *(("universal", f"b{k}", f"b{k + 1}") for k in range(6))],
    "star": STAR,
    "star of loops": [*STAR, *(("constant_distance", f"b{k}", f"b{k + 1}") for k in range(6))],
    "ring": [("spherical", f"b{k}", f"b{(k + 1) % 7}") for k in range(7)] + [("spherical", GROUND, "b0")],
    "ladder": [
        ("spherical", GROUND, "l0"), ("spherical", GROUND, "r0"),
        *(("spherical", f"{s}{k}", f"{s}{k + 1}") for s in "lr" for k in range(4)),
        *(("constant_distance", f"l{k}", f"r{k}") for k in range(5)),
    ],
    "two joints": [
        ("spherical", GROUND, "b0"), ("constant_distance", GROUND, "b0"), ("universal", "b0", "b1"),
        ("constant_angle", "b1", "b0"), ("point_on_plane", "b2", "b1"), ("point_on_line", "b1", "b2"),
    ],
    "ground only": [(kind, GROUND, "b0") for kind in ("constant_distance", "point_on_plane", "constant_angle")],
    "floating": [("modified_universal", "b0", "b1"), ("cylindrical", "b2", "b1"), ("translational", "b3", "b2")],
    "complete": [("constant_distance", f"b{i}", f"b{j}") for i in range(6) for j in range(i)],
}  # fmt: skip
SIZES = [
    (2, 1),
    (3, 2),
    (4, 3),
    (6, 4),
    (8, 6),
    (10, 8),
    (12, 0),
    (12, 12),
    (16, 12),
]  # bodies, and joints that close loops
CASES = [*SHAPES, *(f"random {seed}" for seed in range(len(SIZES)))]


@cache
def mechanism_of(case):
    """The mechanism of a case, and the system that is built of it."""
    seed = list(SHAPES).index(case) if case in SHAPES else int(case.split()[1])
    mechanism = RandomMechanism(seed, SHAPES[case] if case in SHAPES else random_edges(seed, *SIZES[seed]))
    return mechanism, mechanism.build()


def single(kind, *, r=(0.0, 0.0, 0.0), **values):
    b = Builder("one joint")
    b.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), r=r)
    b.joint("ankle", kind, GROUND, "body", **values)
    return b


POINTS = dict(s_i=(0, 0, 0), s_j=(0, 0, 0))
