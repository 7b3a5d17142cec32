"""Assembly, rank, redundancy and the equations of motion of arbitrary mechanisms, against dense linear algebra."""

import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import models
import runtime
from generated import dispatch
from runtime import GROUND, AssemblyError, Builder, ModelError

MODULES = {module.NAME: module for module in dispatch.MODULES if not module.SIGNALS}
GRAVITY = np.array([0.3, -0.2, -9.81])


# --- dense linear algebra, put together here from the generated kernels --------------------------------------------


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
        out = np.zeros(3 * len(carried) + self.module.HELD + self.module.SIDES)
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


# --- arbitrary mechanisms ------------------------------------------------------------------------------------------


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
        a_i = a_j = random_unit(rng)
        P_i = P_j = rng.uniform(-0.5, 0.5, 3)
        if kind in ("cylindrical", "translational", "point_on_line"):
            P_j = P_i + rng.uniform(-0.3, 0.3) * a_i
        elif kind == "point_on_plane":
            P_j = P_i + np.cross(a_i, rng.uniform(-0.3, 0.3, 3))
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
            s_i=A_i.T @ (P_i - r_i), s_j=A_j.T @ (P_j - r_j), a_i=A_i.T @ a_i, a_j=A_j.T @ a_j,
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
            b.body(name, **self.bodies[name], free=True)
        for name in order or self.joints:
            (kind, i, j), values = self.joints[name]
            b.joint(name, kind, i, j, **values)
        return b.build(project_velocities=True, **options)


KINDS = list(MODULES)


def random_edges(seed, bodies, extra):
    """A tree of joints of every kind with the ground as root, and extra joints of few rows that close loops."""
    rng = np.random.default_rng(1000 + seed)
    names = [f"b{k}" for k in range(bodies)]
    kinds = [*rng.permutation(KINDS)] * 3
    edges = []
    for k, name in enumerate(names):
        before = GROUND if k == 0 else names[rng.integers(k)]
        ends = (before, name) if rng.random() < 0.5 else (name, before)
        edges.append((str(kinds[k]), *ends))
    light = [kind for kind in KINDS if len(MODULES[kind].ROWS) <= 4]
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


def test_the_random_mechanisms_hold_every_kind_of_joint():
    assert {kind for case in CASES for kind, _, _ in case.values[1]} == set(KINDS)


@pytest.mark.parametrize("seed, edges", CASES)
def test_accelerations_and_reactions_by_dense_algebra(seed, edges):
    system = RandomMechanism(seed, edges).build()
    names = system.body_names
    dense = Dense(system, system.state)
    assert np.abs(dense.Phi).max() < 1e-12
    assert np.abs(dense.D @ dense.u).max() < 1e-11
    run = runtime.simulate(system, 1e-3, t_eval=[0.0])
    expected, wrenches = dense.accelerations(5.0, 5.0)
    got = stacked(run.v_dot, run.omega_dot, names)
    assert np.abs(got - expected).max() < 1e-9 * np.abs(expected).max()
    # The rows hold for the accelerations: D v' = gamma.
    scale = np.abs(dense.D) @ np.abs(got) + np.abs(dense.gamma)
    assert (np.abs(dense.D @ got - dense.gamma) < 1e-12 * scale + 1e-12).all()

    largest = max(np.abs(wrench).max() for wrench in wrenches.values())
    for joint in system.joints:
        for body in {joint.body_i, joint.body_j} - {GROUND}:
            reaction = run.reaction(joint.name, on=body, at="centre")
            o = 6 * names.index(body)
            on_body = wrenches[joint.name][o : o + 6]
            assert np.abs(np.concatenate([reaction.force[0], reaction.moment[0]]) - on_body).max() < 1e-9 * largest


@pytest.mark.parametrize("seed, edges", CASES)
def test_rank_and_degrees_of_freedom(seed, edges):
    system = RandomMechanism(seed, edges).build()
    dense = Dense(system, system.state)
    assert system.redundant == ()
    assert system.rank == dense.rank() == len(dense.Phi)
    assert system.degrees_of_freedom == dense.n - system.rank


@pytest.mark.parametrize("seed, edges", CASES)
def test_velocities_are_projected_by_the_least_kinetic_energy(seed, edges):
    mechanism = RandomMechanism(seed, edges)
    system = mechanism.build()
    given = system.state.replace(
        v={name: body["v"] for name, body in mechanism.bodies.items()},
        omega={name: body["omega"] for name, body in mechanism.bodies.items()},
    )
    dense = Dense(system, given)
    expected = dense.u - dense.least_change(dense.D @ dense.u)
    got = Dense(system, system.state).u
    assert np.abs(dense.D @ got).max() < 1e-12 * max(1.0, np.abs(dense.D).max() * np.abs(got).max())
    assert np.abs(got - expected).max() < 1e-9 * np.abs(expected).max()
    again = system.assemble(system.state)
    assert np.abs(again.y - system.state.y).max() < 1e-11


@pytest.mark.parametrize("seed, edges", CASES)
def test_baumgarte_terms_by_dense_algebra(seed, edges):
    # Off by no more than a given state may be, with coefficients that make this count.
    system = RandomMechanism(seed, edges).build()
    names, rng = system.body_names, np.random.default_rng(seed)
    shaken = system.state.replace(
        r={name: system.state.r[name] + 1e-8 * rng.standard_normal(3) for name in names},
        v={name: 1e-10 * rng.standard_normal(3) for name in names},
        omega={name: 1e-10 * rng.standard_normal(3) for name in names},
    )
    dense = Dense(system, shaken, system.state)
    without, _ = dense.accelerations(0.0, 0.0)
    for alpha, beta in ((2e9, 0.0), (0.0, 3e4), (2e9, 3e4)):
        run = runtime.simulate(system, 1e-12, t_eval=[0.0], initial=shaken, alpha=alpha, beta=beta)
        expected, _ = dense.accelerations(alpha, beta)
        assert np.abs(expected - without).max() > 1e-2
        got = stacked(run.v_dot, run.omega_dot, names)
        assert np.abs(got - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("name", ["ladder", "star of loops", "two joints", "random"])
def test_order_of_bodies_and_joints_does_not_matter(name):
    edges = SHAPES.get(name) or random_edges(4, 8, 6)
    mechanism = RandomMechanism(3, edges)
    system = mechanism.build()
    t = np.linspace(0.0, 0.1, 5)
    settings = dict(t_eval=t, rtol=1e-12, atol=1e-12)
    first = runtime.simulate(system, t[-1], **settings)
    rng = np.random.default_rng(0)
    for _ in range(2):
        order, bodies = list(rng.permutation(list(mechanism.joints))), list(rng.permutation(list(mechanism.bodies)))
        other = runtime.simulate(mechanism.build(order=order, bodies=bodies), t[-1], **settings)
        for body in system.body_names:
            assert np.abs(first.r[body] - other.r[body]).max() < 1e-10
            assert np.abs(first.p[body] - other.p[body]).max() < 1e-10
            scale = np.abs(first.v_dot[body][0]).max() + np.abs(first.omega_dot[body][0]).max()
            assert np.abs(first.v_dot[body][0] - other.v_dot[body][0]).max() < 1e-10 * scale
    assert first.violation.max() < 1e-9
    assert np.ptp(first.energy) < 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_masses_of_different_size(seed):
    system = RandomMechanism(seed, random_edges(seed, 8, 5), masses=(1e-2, 1e2)).build()
    run = runtime.simulate(system, 1e-3, t_eval=[0.0])
    expected, _ = Dense(system, system.state).accelerations(5.0, 5.0)
    assert np.abs(stacked(run.v_dot, run.omega_dot, system.body_names) - expected).max() < 1e-8 * np.abs(expected).max()


# --- the published models ------------------------------------------------------------------------------------------

MODELS = {
    "modified foot": (models.foot.build, {}, 2),
    "classical foot": (models.foot.build, {"ankle": "classical"}, 2),
    "hinged pendulum": (models.pendulum.build, {}, 1),
    "ball pendulum": (models.pendulum.build, {"kind": "spherical"}, 3),
    "double pendulum": (models.double_pendulum.build, {}, 6),
    "free body": (models.free_body.build, {}, 6),
    "four-bar": (models.four_bar.build, {}, 1),
    "four hinges": (models.four_bar.build, {"joints": "revolute"}, 1),
    "Hooke joint": (models.hooke_shaft.build, {}, 1),
    "chain of balls": (models.chain.build, {"links": 10}, 30),
    "chain of hinges": (models.chain.build, {"links": 10, "joint": "revolute"}, 10),
}


@pytest.mark.parametrize("build, options, freedom", MODELS.values(), ids=MODELS)
def test_rank_and_accelerations_of_the_models(build, options, freedom):
    system = build(**options)
    dense = Dense(system, system.state)
    assert system.degrees_of_freedom == freedom
    assert system.rank == 6 * len(system.bodies) - freedom
    if len(dense.Phi):
        assert np.abs(dense.Phi).max() < 1e-12
        assert dense.rank() == system.rank
        assert len(dense.Phi) - len(system.redundant) == system.rank
    if not system.redundant:
        run = runtime.simulate(system, 1e-3, t_eval=[0.0])
        expected, _ = dense.accelerations(5.0, 5.0)
        got = stacked(run.v_dot, run.omega_dot, system.body_names)
        assert np.abs(got - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())


def test_redundant_rows_are_named_and_can_be_removed():
    system = models.four_bar.build("revolute")
    dense = Dense(system, system.state)
    assert dense.rank() == len(dense.Phi) - 3
    kept = np.ones(len(dense.Phi), bool)
    for row in system.redundant:
        joint, _, name = row.partition(".")
        kept[dense.rows[joint].start + system.joint(joint).rows.index(name)] = False
    # In the builder's rows; those chosen here span the same for a whole joint, so only the count is compared.
    assert kept.sum() == dense.rank()

    b = Builder("two hinges on one axis")
    b.body("door", mass=1.0, inertia=(0.1, 0.1, 0.1))
    for name, height in (("upper", 1.0), ("lower", -1.0)):
        b.joint(name, "revolute", GROUND, "door", s_i=(0, 0, height), a_i=(0, 0, 1), s_j=(0, 0, height), a_j=(0, 0, 1))
    with pytest.raises(ModelError, match="over-constrained") as refused:
        b.build()
    door = b.build(redundant="remove")
    assert len(door.redundant) == 5
    assert door.degrees_of_freedom == 1
    for row in door.redundant:
        assert row in str(refused.value)
    assert 'redundant="remove"' in str(refused.value)


def test_motion_does_not_depend_on_which_rows_are_removed():
    def door(joints, redundant="remove"):
        b = Builder("door", gravity=(1.0, -2.0, -9.81))
        b.body("door", mass=1.0, inertia=(0.1, 0.2, 0.15), r=(0.4, 0.0, 0.0), omega=(0, 0, 2.0), v=(0, 0.8, 0))
        for name, height in joints:
            b.joint(
                name, "revolute", GROUND, "door",
                s_i=(0, 0, height), a_i=(0, 0, 1), s_j=(-0.4, 0, height), a_j=(0, 0, 1),
            )  # fmt: skip
        return b.build(redundant=redundant)

    t = np.linspace(0, 1, 11)
    one, two, reverse = (
        runtime.simulate(door(joints), 1.0, t_eval=t, rtol=1e-12, atol=1e-12)
        for joints in ([("a", 0.5)], [("a", 0.5), ("b", -0.5)], [("b", -0.5), ("a", 0.5)])
    )
    for other in (two, reverse):
        assert np.abs(other.r["door"] - one.r["door"]).max() < 1e-11
        assert np.abs(other.p["door"] - one.p["door"]).max() < 1e-11
        assert other.violation.max() < 1e-11
        total = sum(other.reaction(joint, on="door", at="centre").force for joint in "ab")
        assert np.abs(total - one.reaction("a", on="door", at="centre").force).max() < 1e-8


OVERCONSTRAINED = {
    "loop": [
        ("point_on_line", GROUND, "b0"), ("modified_universal", "b0", "b1"), ("spherical", "b1", "b2"),
        ("translational", "b1", "b2"), ("spherical", GROUND, "b2"), ("revolute", "b2", "b0"),
    ],
    "held thrice": [
        ("universal", GROUND, "b0"), ("universal", GROUND, "b0"), ("spherical", "b0", GROUND), ("point_on_plane", GROUND, "b0"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("seed, name", [(1077, "loop"), (1064, "held thrice"), (1, "loop"), (2, "held thrice")])
def test_velocities_of_overconstrained_systems_are_projected(seed, name):
    mechanism = RandomMechanism(seed, OVERCONSTRAINED[name])
    system = mechanism.build(redundant="remove")
    dense = Dense(system, system.state)
    assert system.rank == dense.rank() < len(dense.Phi)
    assert np.abs(dense.D @ dense.u).max() < 1e-10


# --- assembly ------------------------------------------------------------------------------------------------------


def turned(p, w):
    """Euler parameters after a further turn by the rotation vector w, global axes."""
    angle = np.linalg.norm(w)
    a = np.cos(angle / 2)
    b = np.sin(angle / 2) * w / angle if angle > 0 else np.zeros(3)
    return np.array([a * p[0] - b @ p[1:], *(a * p[1:] + p[0] * b + np.cross(b, p[1:]))])


def turn_between(p, q):
    """The small rotation vector that turns p into q."""
    e0, e = p[0], p[1:]
    return 2 * (e0 * q[1:] - q[0] * e - np.cross(q[1:], e)) * np.sign(p @ q)


def displaced(system, size, seed):
    rng = np.random.default_rng(seed)
    r = {name: system.state.r[name] + size * rng.standard_normal(3) for name in system.body_names}
    p = {name: turned(system.state.p[name], 3 * size * rng.standard_normal(3)) for name in system.body_names}
    return system.state.replace(r=r, p=p)


ASSEMBLED = {
    "modified foot": models.foot.build,
    "double pendulum": models.double_pendulum.build,
    "four-bar": models.four_bar.build,
    "four hinges": lambda: models.four_bar.build("revolute"),
    "Hooke joint": models.hooke_shaft.build,
    "ladder": lambda: RandomMechanism(7, LADDER).build(),
    "random": lambda: RandomMechanism(5, random_edges(5, 10, 8)).build(),
}


@pytest.mark.parametrize("build", ASSEMBLED.values(), ids=ASSEMBLED)
def test_displaced_bodies_are_moved_by_the_least_change(build):
    system = build()
    misses = []
    for size in (1e-3, 1e-4):
        given = displaced(system, size, 1)
        done = system.assemble(given)
        dense = Dense(system, given, system.state)
        assert np.abs(dense.Phi).max() > 0.1 * size
        assert np.abs(Dense(system, done, system.state).Phi).max() < 1e-11
        moved = np.concatenate(
            [
                np.concatenate([done.r[b] - given.r[b], turn_between(given.p[b], done.p[b])])
                for b in system.body_names
            ]
        )  # fmt: skip
        near = Dense(system, system.state)
        least = near.least_change(-dense.Phi)
        misses.append(np.sqrt((moved - least) @ near.M @ (moved - least) / (least @ near.M @ least)))
    # To first order: what is missed falls in proportion to the displacement.
    assert misses[0] < 0.2
    assert misses[1] < 0.2 * misses[0]


FAR = {
    "loop of four": (243, [("revolute", "b0", GROUND), ("translational", "b1", "b0"), ("modified_universal", "b0", "b2"),
                           ("spherical", "b1", "b2")], 0.03),
    "plane and link": (1079, random_edges(1079, 3, 2), 0.05),
    "fixed and hinged": (2066, random_edges(2066, 3, 2), 0.05),
}  # fmt: skip


@pytest.mark.parametrize("seed, edges, size", FAR.values(), ids=FAR)
def test_bodies_are_assembled_from_where_newton_reaches(seed, edges, size):
    system = RandomMechanism(seed, edges).build()
    given = displaced(system, size, seed)
    state, names = given, system.body_names
    for _ in range(20):  # Newton's method as it stands in the books, with full steps halved while they do not help
        dense = Dense(system, state, system.state)
        u = dense.least_change(-dense.Phi)
        for k in range(12):
            part = 0.5**k * u
            trial = state.replace(
                r={name: state.r[name] + part[6 * n : 6 * n + 3] for n, name in enumerate(names)},
                p={name: turned(state.p[name], part[6 * n + 3 : 6 * n + 6]) for n, name in enumerate(names)},
            )
            if np.abs(Dense(system, trial, system.state).Phi).max() < np.abs(dense.Phi).max():
                break
        state = trial
    assert np.abs(Dense(system, state, system.state).Phi).max() < 1e-14
    try:
        done = system.assemble(given)
    except AssemblyError as error:  # bodies this far away may lead to a joint's mirror image, which is refused by name
        assert "mirror image" in str(error) and any(j.module.SIDES for j in system.joints)
    else:
        assert np.abs(Dense(system, done, system.state).Phi).max() < 1e-11


def test_assembled_bodies_stay_where_they_are():
    for build in ASSEMBLED.values():
        system = build()
        done = system.assemble(system.state)
        for name in system.body_names:
            assert np.abs(done.r[name] - system.state.r[name]).max() < 1e-13
            assert np.abs(done.p[name] - system.state.p[name]).max() < 1e-13
    foot = models.foot.build()
    assert np.array_equal(foot.assemble(foot.state).y, foot.state.y)


def test_builder_assembles_and_tells_what_it_took():
    def build(off):
        b = Builder("hanging rods")
        b.body("upper", mass=1.0, inertia=(0.01, 0.01, 0.001), r=(0, 0, -0.5))
        b.body("lower", mass=1.0, inertia=(0.01, 0.01, 0.001), r=(off, 0, -1.5))
        b.joint("top", "spherical", GROUND, "upper", s_i=(0, 0, 0), s_j=(0, 0, 0.5))
        b.joint("middle", "spherical", "upper", "lower", s_i=(0, 0, -0.5), s_j=(0, 0, 0.5))
        return b.build()

    exact, off = build(0.0), build(0.1)
    assert exact.assembly.iterations == 0
    assert exact.assembly.largest_move == exact.assembly.largest_turn == 0.0
    moves = {name: np.linalg.norm(off.state.r[name] - exact.state.r[name]) for name in off.body_names}
    moves["lower"] = np.linalg.norm(off.state.r["lower"] - [0.1, 0, -1.5])
    assert off.assembly.iterations > 0
    assert off.assembly.residual < 1e-12
    assert off.assembly.moved_body == max(moves, key=moves.get)
    assert off.assembly.largest_move == pytest.approx(max(moves.values()), rel=1e-12)
    turns = {name: 2 * np.arccos(abs(off.state.p[name][0])) for name in off.body_names}
    assert off.assembly.turned_body == max(turns, key=turns.get)
    assert off.assembly.largest_turn == pytest.approx(max(turns.values()), rel=1e-9)


def test_heavy_bodies_move_least():
    def lower_end(mass):
        b = Builder("two points")
        b.body("a", mass=mass, inertia=(1e3, 1e3, 1e3), free=True)
        b.body("b", mass=1.0, inertia=(1e3, 1e3, 1e3), r=(0.3, 0, 0), free=True)
        b.joint("meet", "spherical", "a", "b", s_i=(0, 0, 0), s_j=(0, 0, 0))
        return b.build().state.r["a"][0]

    assert lower_end(1.0) == pytest.approx(0.15, abs=1e-12)
    assert lower_end(2.0) == pytest.approx(0.1, abs=1e-12)
    assert lower_end(1e6) == pytest.approx(0.3e-6, rel=1e-5)


def bars(crank, coupler, rocker, ground):
    """A four-bar of given lengths: crank and rocker upright, the coupler level between them, joined as it may be."""
    b = Builder("bars")
    y = (0, 1, 0)
    centres = {"crank": (0, crank / 2), "coupler": (ground / 2, (crank + rocker) / 2), "rocker": (ground, rocker / 2)}
    lengths = {"crank": crank, "coupler": coupler, "rocker": rocker}
    for name, (x, z) in centres.items():
        inertia = lengths[name] ** 2 / 12 * np.array([1, 1, 0.1] if name != "coupler" else [0.1, 1, 1])
        b.body(name, mass=1.0, inertia=inertia, r=(x, 0.0, z))
    up = {name: np.array([0, 0, length / 2]) for name, length in lengths.items()}
    along = np.array([coupler / 2, 0, 0])
    b.joint("A", "revolute", GROUND, "crank", s_i=(0, 0, 0), a_i=y, s_j=-up["crank"], a_j=y)
    b.joint("B", "spherical", "crank", "coupler", s_i=up["crank"], s_j=-along)
    b.joint("C", "universal", "coupler", "rocker", s_i=along, a_i=(0, 0, 1), s_j=up["rocker"], a_j=y)
    b.joint("D", "revolute", GROUND, "rocker", s_i=(ground, 0, 0), a_i=y, s_j=-up["rocker"], a_j=y)
    return b


def test_a_mechanism_that_can_just_close_does():
    system = bars(0.2, 0.205, 0.1, 0.5).build()  # 5 mm of play
    assert system.assembly.iterations > 0
    run = runtime.simulate(system, 1e-3, t_eval=[0.0])
    assert run.violation[0] < 1e-11


@pytest.mark.parametrize("coupler, rocker, gap", [(0.2, 0.05, 0.05), (0.25, 0.02, 0.03), (1.0, 0.1, 0.2)])
def test_a_mechanism_that_cannot_close(coupler, rocker, gap):
    # The longest bar is longer than the other three together, by the gap: some joint of four must show its share.
    builder = bars(0.2, coupler, rocker, 0.5)
    with pytest.raises(AssemblyError, match=r"could not assemble: \|Phi\| = .* worst row .*; start nearer") as refused:
        builder.build()
    joint, row = re.search(r"worst row (\w+)\.(\w+);", str(refused.value)).groups()
    assert joint in "ABCD"
    assert row in {row for kind in ("revolute", "spherical", "universal") for row in MODULES[kind].ROWS}
    residual = float(re.search(r"= (\S+) m after", str(refused.value))[1])
    assert gap / 8 < residual <= 2 * gap


def test_velocities_that_violate_a_row_are_refused_by_name():
    b = Builder("pendulum")
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1), v=(0.0, 0.3, 0.0), omega=(0, 0, 1.0))
    b.joint("pivot", "revolute", GROUND, "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 1), a_j=(0, 1, 0))
    with pytest.raises(AssemblyError, match=r"inconsistent initial velocities: \|Phi'\| = .* in row pivot\.tilt_"):
        b.build()
    system = b.build(project_velocities=True)
    assert np.abs(system.state.y[7:]).max() < 1e-15

    wrong = system.state.replace(v={"rod": (0, 0.3, 0)})
    with pytest.raises(AssemblyError, match=r"pivot\.point_y"):
        system.assemble(wrong, project_velocities=False)
    with pytest.raises(AssemblyError, match=r"pivot\.point_y"):
        runtime.simulate(system, 1.0, initial=wrong)
    moved = system.state.replace(r={"rod": (0, 0, -1.1)})
    with pytest.raises(AssemblyError, match=r"pivot\.point_z"):
        runtime.simulate(system, 1.0, initial=moved)


# --- singular configurations ---------------------------------------------------------------------------------------


def single(kind, *, r=(0.0, 0.0, 0.0), **values):
    b = Builder("one joint")
    b.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), r=r)
    b.joint("ankle", kind, GROUND, "body", **values)
    return b


POINTS = dict(s_i=(0, 0, 0), s_j=(0, 0, 0))
SINGULAR = {
    "universal, parallel axes": single("universal", **POINTS, a_i=(0, 0, 1), a_j=(0, 0, 1)),
    "universal, opposite axes": single("universal", **POINTS, a_i=(0, 0, 1), a_j=(0, 0, -1)),
    "constant angle, parallel": single("constant_angle", a_i=(1, 0, 0), a_j=(1, 0, 0)),
    "constant distance, none": single("constant_distance", **POINTS, l=0.0),
    "modified universal, coplanar": single(
        "modified_universal", r=(0, 0, -0.5), **POINTS, a_i=(1, 0, 0), a_j=(0.6, 0, 0.8), l=0.5
    ),
    "modified universal, parallel axes": single(
        "modified_universal", r=(0, 0, -0.5), **POINTS, a_i=(1, 0, 0), a_j=(1, 0, 0), l=0.5
    ),
    "modified universal, no length": single("modified_universal", **POINTS, a_i=(1, 0, 0), a_j=(0, 1, 0), l=0.0),
}


@pytest.mark.parametrize("builder", SINGULAR.values(), ids=SINGULAR)
def test_a_singular_joint_is_refused_by_name(builder):
    with pytest.raises(ModelError, match=r"joint 'ankle' \(\w+\): .*singular when") as refused:
        builder.build()
    kind = re.search(r"\((\w+)\)", str(refused.value))[1]
    assert any(row in str(refused.value) for row in MODULES[kind].ROWS)


@pytest.mark.parametrize("angle", [1e-2, 1e-3])
def test_a_joint_near_its_singular_configuration_still_works(angle):
    axis = (np.sin(angle), 0.0, np.cos(angle))
    system = single("universal", **POINTS, a_i=(0, 0, 1), a_j=axis).build()
    assert system.degrees_of_freedom == 2
    dense = Dense(system, system.state)
    expected, _ = dense.accelerations(5.0, 5.0)
    run = runtime.simulate(system, 1e-3, t_eval=[0.0])
    assert np.abs(stacked(run.v_dot, run.omega_dot, ["body"]) - expected).max() < 1e-9


def test_a_singular_pose_of_a_loop_is_told_from_redundancy():
    with pytest.raises(ModelError, match="the initial configuration is singular, .* not nearby"):
        models.four_bar.build(crank=0.3, coupler=0.5, rocker=0.3, ground=0.5, crank_angle=0.0)


def test_every_kind_of_joint_takes_away_its_rows():
    for kind in KINDS:
        mechanism = RandomMechanism(11, [(kind, GROUND, "body")])
        system = mechanism.build()
        rows = len(MODULES[kind].ROWS)
        assert system.degrees_of_freedom == 6 - rows, kind
        # Each combination with a second joint of another kind that is not over-constrained.
    for first, second in pairwise([*KINDS, KINDS[0]]):
        if len(MODULES[first].ROWS) + len(MODULES[second].ROWS) > 6:
            continue
        system = RandomMechanism(12, [(first, GROUND, "a"), (second, "a", "b"), (second, GROUND, "b")]).build()
        assert system.rank == Dense(system, system.state).rank()
