"""Mass matrix, efforts, accelerations, frames and momentum by the names of coordinates, against closed forms and identities."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.interpolate import PPoly

import models
import runtime
from tests.support.loops import bennett, four_bar_of_tilted_hinges, rounded
from tests.support.trees import GRAVITY, Tree, random_tree
from tests.support.vectors import largest

EXACT = 1e-12  # of the largest entry: identities, and closed forms
STEP = 1e-3  # of central differences of order 8, whose error is that of rounding
DIFFERENCES = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
SLOPE = 1e-10


def alike(found, wanted, tolerance=EXACT):
    assert np.shape(found) == np.shape(wanted)
    assert largest(np.asarray(found) - wanted) <= tolerance * max(largest(wanted), 1e-3)


def slope(curve):
    return sum(c / STEP * (curve(k * STEP) - curve(-k * STEP)) for k, c in DIFFERENCES)


class Motion:
    """Coordinates and rates on a smooth motion through random states, with the given rates and accelerations at time 0."""

    def __init__(self, mechanics, count=5, seed=2, reach=1.0):
        self.m, random, n = mechanics, np.random.default_rng(seed), len(mechanics.rate_names)
        start = np.tile(mechanics.q0, (count, 1))
        self.q = mechanics.integrate(start, reach * random.standard_normal((count, n)))
        self.u, self.a, self.tau = random.standard_normal((3, count, n))

    def __call__(self, t):
        """Euler parameters of q at a time, to the second order in time exactly where it counts: at time 0."""
        return self.m.integrate(self.q, self.u + 0.5 * self.a * t, t), self.u + self.a * t


def trees():
    systems = {"tree": random_tree(3), "floating": random_tree(4, floating=True), "another": random_tree(6)}
    found = {name: tree.builder(name).build() for name, tree in systems.items()}
    b = systems["tree"].builder("rotors")
    b.armature("joint_0.angle", 0.3)
    turned = runtime.Builder("walked from body j", gravity=GRAVITY)
    turned.body("arm", mass=2.0, inertia=(0.01, 0.02, 0.03), r=(0.3, 0.1, 0.0), p=(0.8, 0.6, 0.0, 0.0))
    turned.body("tip", mass=1.0, inertia=(0.02, 0.02, 0.03), r=(0.5, 0.1, 0.2))
    turned.joint("hinge", "revolute", "arm", "ground", axes="global", point=(0, 0, 0), axis=(0.6, 0.8, 0))
    turned.joint("slot", "cylindrical", "tip", "arm", axes="global", point=(0.2, 0.3, 0.1), axis=(0, 0.6, 0.8))
    return found | {"rotors": b.build(), "walked from body j": turned.build()}


def loops():
    screw = runtime.Builder("screw", gravity=GRAVITY)
    screw.body("nut", mass=2.0, inertia=(0.01, 0.02, 0.03), r=(0.0, 0.0, 0.1))
    screw.body("arm", mass=2.0, inertia=(0.01, 0.02, 0.03), r=(0.3, 0.0, 0.1))
    screw.joint("thread", "cylindrical", "ground", "nut", axes="global", point=(0, 0, 0), axis=(0, 0, 1))
    screw.joint("hinge", "revolute", "nut", "arm", axes="global", point=(0, 0, 0), axis=(1, 0, 0))
    lead = runtime.Signal.spline([-6, -3, -1, 0, 2, 6], [-0.3, -0.1, -0.02, 0, 0.05, 0.3])
    screw.coupling("lead", "thread.distance", "thread.angle", lead, straight=False)
    screw.armature("thread.angle", 0.3)
    return {
        "four-bar": models.four_bar.build(), "redundant rows": four_bar_of_tilted_hinges(0.0).build(),
        "bennett": rounded(bennett, 15).build(), "screw": screw.build(),
    }  # fmt: skip


SYSTEMS = {**dict.fromkeys(("tree", "floating", "another", "rotors", "walked from body j"), trees)}
SYSTEMS |= dict.fromkeys(("four-bar", "redundant rows", "bennett", "screw"), loops)


@pytest.fixture(scope="module", params=SYSTEMS)
def motion(request):
    closed = SYSTEMS[request.param] is loops
    return Motion(runtime.mechanics(SYSTEMS[request.param]()[request.param]), reach=0.2 if closed else 1.0)


def test_a_double_pendulum_in_closed_form():
    """Angles of the second rod against the first; rods of length l with centres at l / 2, in the plane x, z."""
    m1, m2, J1, J2, l1, c1, c2, g = 2.0, 3.0, 0.11, 0.07, 0.8, 0.3, 0.4, 9.81
    b = runtime.Builder("double", gravity=(0, 0, -g), axes="global")
    b.body("upper", mass=m1, inertia=(1, J1, 1), r=(0, 0, -c1))
    b.body("lower", mass=m2, inertia=(1, J2, 1), r=(0, 0, -l1 - c2))
    b.joint("shoulder", "revolute", "ground", "upper", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("elbow", "revolute", "upper", "lower", point=(0, 0, -l1), axis=(0, 1, 0))
    m = runtime.mechanics(b.build())
    assert m.coordinate_names == ("shoulder.angle", "elbow.angle") and m.rate_units == ("rad/s", "rad/s")
    q, u = np.random.default_rng(1).standard_normal((2, 6, 2))
    s1, s12, s2, k2 = np.sin(q[:, 0]), np.sin(q.sum(axis=1)), np.sin(q[:, 1]), np.cos(q[:, 1])
    M22 = np.full(6, J2 + m2 * c2**2)
    M12 = M22 + m2 * l1 * c2 * k2
    M11 = J1 + m1 * c1**2 + J2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * k2)
    alike(m.mass_matrix(q), np.moveaxis([[M11, M12], [M12, M22]], 2, 0))
    h = m2 * l1 * c2 * s2
    alike(m.bias(q, u), np.stack([-h * (2 * u[:, 0] * u[:, 1] + u[:, 1] ** 2), h * u[:, 0] ** 2], axis=1))
    g2 = m2 * g * c2 * s12
    alike(m.gravity_forces(q), np.stack([(m1 * c1 + m2 * l1) * g * s1 + g2, g2], axis=1))
    alike(
        m.potential_energy(q),
        -g * (m1 * c1 * np.cos(q[:, 0]) + m2 * (l1 * np.cos(q[:, 0]) + c2 * np.cos(q.sum(axis=1)))),
    )


def test_a_spherical_pendulum_in_closed_form():
    """A gimbal of two hinges: theta about y, then phi about the turned x; a point mass at distance l."""
    mass, l, g = 1.7, 0.6, 9.81
    b = runtime.Builder("spherical", gravity=(0, 0, -g), axes="global")
    b.body("bob", mass=mass, inertia=(0, 0, 0), r=(0, 0, -l))
    b.joint("gimbal", "universal", "ground", "bob", point=(0, 0, 0), a_i=(0, 1, 0), a_j=(1, 0, 0))
    m = runtime.mechanics(b.build(check_units=False))
    (theta, phi), (w, p) = q, u = (
        np.array([[0.4, -0.7, 1.2], [0.3, 0.5, -1.1]]),
        np.array([[1.0, -2.0, 0.5], [2.0, 0.3, -1.0]]),
    )
    order = [m.coordinate_names.index(f"gimbal.{name}") for name in ("theta_i", "theta_j")]
    q, u = q[order].T, u[order].T
    one, none = np.ones(3), np.zeros(3)
    M = mass * l**2 * np.moveaxis([[np.cos(phi) ** 2, none], [none, one]], 2, 0)
    alike(m.mass_matrix(q), M[:, order][:, :, order])
    c = mass * l**2 * np.stack([-2 * np.cos(phi) * np.sin(phi) * w * p, np.cos(phi) * np.sin(phi) * w**2], axis=1)
    alike(m.bias(q, u), c[:, order])
    hold = mass * g * l * np.stack([np.sin(theta) * np.cos(phi), np.cos(theta) * np.sin(phi)], axis=1)
    alike(m.gravity_forces(q), hold[:, order])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_trees_of_hinges_and_ankles_against_kane(seed):
    random = np.random.default_rng([seed, 9])
    kinds = random.permutation(["revolute", "universal", "modified_universal", "revolute"]).tolist()
    tree = Tree(kinds, [None, *(int(random.integers(0, k)) for k in range(1, 4))], seed)
    m = runtime.mechanics(tree.builder().build())
    names = [
        f"joint_{k}.{name}"
        for k, kind in enumerate(kinds)
        for name in (["angle"] if kind == "revolute" else ["theta_i", "theta_j"])
    ]
    order = [names.index(name) for name in m.coordinate_names]
    q, u, a = random.standard_normal((3, tree.size))
    partials = tree.partials(q)
    alike(m.mass_matrix(q[order]), tree.mass_matrix(q, partials)[np.ix_(order, order)])
    alike(m.inverse_dynamics(q[order], u[order], a[order]), tree.kane(q, u, a)[order])
    alike(m.gravity_forces(q[order]), tree.kane(q, 0 * u, 0 * a)[order])
    for k, body in enumerate(tree.motion(q, u, a)):
        pose = m.pose(f"body_{k}", q[order])
        alike(pose.r, body.r)
        alike(pose.A, body.A)
        alike(m.velocity(f"body_{k}", q[order], u[order]), np.concatenate([body.v, body.omega]))
        alike(m.acceleration(f"body_{k}", q[order], u[order], a[order]), np.concatenate([body.v_dot, body.omega_dot]))


def test_the_equations_of_motion(motion):
    m, q, u, a = motion.m, motion.q, motion.u, motion.a
    M, tau = m.mass_matrix(q), m.inverse_dynamics(q, u, a)
    assert (M == np.swapaxes(M, 1, 2)).all() or largest(M - np.swapaxes(M, 1, 2)) < EXACT * largest(M)
    assert np.linalg.eigvalsh(M).min() > 0.0
    alike(np.einsum("nij,nj->ni", M, a) + m.bias(q, u) + m.gravity_forces(q), tau)
    back = m.forward_dynamics(q, u, tau)
    assert (np.abs(back - a).max(axis=1) <= 1e-12 * np.linalg.cond(M) * np.abs(a).max(axis=1)).all()
    alike(0.5 * np.einsum("ni,nij,nj->n", u, M, u), m.kinetic_energy(q, u))
    alike(m.bias(q, 2 * u), 4 * m.bias(q, u))


def test_the_power_of_efforts_changes_the_energy(motion):
    m, tau = motion.m, motion.m.inverse_dynamics(motion.q, motion.u, motion.a)
    energies = slope(lambda t: m.kinetic_energy(*motion(t)) + m.potential_energy(motion(t)[0]))
    alike(energies, (tau * motion.u).sum(axis=1), SLOPE)


def test_frames_move_as_their_poses_show(motion):
    m, q, u, a = motion.m, motion.q, motion.u, motion.a
    body = m.system.body_names[-1]
    frame = runtime.system.Frame(
        "tool", body, np.array([0.1, -0.2, 0.3]), np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])
    )
    pose, twist = m.pose(frame, q), m.velocity(frame, q, u)
    alike(slope(lambda t: m.pose(frame, motion(t)[0]).r), twist[:, :3], SLOPE)
    turning = slope(lambda t: m.pose(frame, motion(t)[0]).A) @ np.swapaxes(pose.A, 1, 2)
    alike(np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=1), twist[:, 3:], SLOPE)
    J, J_dot_u = m.jacobian(frame, q), m.bias_acceleration(frame, q, u)
    alike(np.einsum("nij,nj->ni", J, u), twist)
    found = m.acceleration(frame, q, u, a)
    alike(slope(lambda t: m.velocity(frame, *motion(t))), found, SLOPE)
    alike(np.einsum("nij,nj->ni", J, a) + J_dot_u, found)
    for name, given in (("velocity", (u,)), ("acceleration", (u, a)), ("bias_acceleration", (u,)), ("jacobian", ())):
        known, own = (getattr(m, name)(frame, q, *given, axes=axes) for axes in ("global", "frame"))
        for part in (slice(0, 3), slice(3, 6)):
            alike(np.einsum("nij,nj...->ni...", pose.A, own[:, part]), known[:, part])
    alike(m.jacobian("ground", q), np.zeros((len(q), 6, len(m.rate_names))))


def test_the_centre_of_mass_moves_as_its_jacobian_and_the_momentum_say(motion):
    m, q, u = motion.m, motion.q, motion.u
    J = m.centre_of_mass_jacobian(q)
    found, mass = np.einsum("nij,nj->ni", J, u), sum(m.system.body(name).mass for name in m.system.body_names)
    alike(found, slope(lambda t: m.centre_of_mass(motion(t)[0])), SLOPE)
    alike(mass * found, m.momentum(q, u)[:, :3])
    alike(-mass * m.system.gravity @ J, m.gravity_forces(q))


def test_configurations(motion):
    m, q = motion.m, motion.q
    way = 0.1 * motion.u
    to = m.integrate(q, way)
    alike(m.difference(q, to), way)
    alike(m.integrate(q, motion.u, 0.1), to)
    alike(m.assemble(to), to)
    state = m.state(q[0], motion.u[0])
    again, rates = m.of(state)
    alike(m.state(again, rates).y, state.y, 1e-11)
    alike(rates, motion.u[0], 1e-11)


def test_the_momentum_of_what_floats_changes_by_gravity():
    motion = Motion(runtime.mechanics(trees()["floating"]))
    m, q, u = motion.m, motion.q, motion.u
    motion.a = m.forward_dynamics(q, u, 0 * u)
    mass = sum(body.mass for body in m.system.bodies)
    alike(m.momentum(q, u)[:, :3], mass * slope(lambda t: m.centre_of_mass(motion(t)[0])), SLOPE)
    fixed = slope(lambda t: m.momentum(*motion(t), about=(0.3, 0.2, 0.1)))
    arms = m.centre_of_mass(q) - (0.3, 0.2, 0.1)
    alike(fixed, np.hstack([np.tile(mass * GRAVITY, (len(q), 1)), np.cross(arms, mass * GRAVITY)]), SLOPE)
    own = slope(lambda t: m.momentum(*motion(t))[:, 3:])
    assert largest(own) < SLOPE * largest(fixed)


def test_accelerations_are_those_of_simulate_with_the_forces_of_the_system():
    system = models.pendulum.build(limits="dissipative")
    m, f = runtime.mechanics(system), runtime.rhs(system, coordinates="joint")
    for angle in (0.2, 2.5):
        q = m.configuration({m.coordinate_names[0]: angle})
        u = np.full(len(m.rate_names), 0.7)
        rates = f(0.0, np.concatenate([q, u]))[len(q) :]
        alike(m.forward_dynamics(q, u, m.applied_forces(q, u)), rates)


def test_a_force_on_a_frame_is_held_by_its_jacobian():
    """Efforts that hold a load: those without it less J^T times the load."""
    arm = random_tree(3)
    b = arm.builder()
    load = np.array([3.0, -4.0, 5.0])
    b.load("load", "body_4", force=[runtime.Signal.constant(x) for x in load])
    m = runtime.mechanics(b.build())
    q = Motion(m).q
    applied = m.applied_forces(q, np.zeros((len(q), len(m.rate_names))))
    alike(applied, np.einsum("nij,i->nj", m.jacobian("body_4", q)[:, :3], load))


def test_coordinates_of_a_run():
    system = models.double_pendulum.build()
    m = runtime.mechanics(system)
    run = runtime.simulate(system, 1.0, t_eval=np.linspace(0, 1, 21))
    q, u = m.of(run)
    alike(m.kinetic_energy(q, u) + m.potential_energy(q), run.energy, 1e-10)
    alike(m.pose(system.body_names[-1], q).r, run.r[system.body_names[-1]], 1e-10)
    alike(pickle.loads(pickle.dumps(m)).mass_matrix(q), m.mass_matrix(q))


def test_states_for_controllers_count_whole_turns():
    """A target two turns away is reached, by a law of ``of``, and the coordinates agree with those by name."""
    b = runtime.Builder("wheel", gravity=(0, 0, 0), axes="global")
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.3, 0, 0))
    b.joint("hinge", "revolute", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    b.motor("drive", coordinate="hinge.angle")
    m = runtime.mechanics(b.build())
    seen = []

    def law(t, state):
        (q,), (u,) = m.of(state)
        seen.append(q - state.coordinate("hinge"))
        return 20.0 * (12.0 - q) - 5.0 * u

    run = runtime.simulate(m.system, 3.0, controllers=[runtime.Controller("pd", law, rate_hz=50.0, efforts=["drive"])])
    assert run.angles["hinge"].angle[-1] == pytest.approx(12.0, abs=0.01) and largest(np.array(seen)) == 0.0


def test_followers_that_start_beyond_half_a_turn():
    b = runtime.Builder("gear", axes="global")
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0.1, -0.1))
    b.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(1, 0, 0))
    b.joint("slow", "revolute", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("fast", "revolute", "ground", "wheel", point=(1, 0, 0), axis=(0, 1, 0))
    b.coupling("gear", "fast.angle", "slow.angle", 10.0)
    b.initial_coordinates("slow", angle=0.7)
    b.initial_coordinates("fast", angle=7.0)
    m = runtime.mechanics(b.build())
    stepping = runtime.Stepping(m.system)
    stepping.step(0.3)
    for state in (runtime.simulate(m.system, 1.0), stepping.state):
        q, u = m.of(state)
        slow, fast = (q[..., m.coordinate_names.index(f"{name}.angle")] for name in ("slow", "fast"))
        alike(fast, 10.0 * slow)
        assert np.isfinite(m.bias(q, u)).all()


def test_named_independent_coordinates():
    system = models.four_bar.build()
    assert runtime.mechanics(system).independent == ("A.angle",)
    m = runtime.mechanics(system, independent=["D.angle"])
    assert m.rate_names == ("D.angle_rate",) and m.mass_matrix(m.q0).shape == (1, 1)
    q = m.configuration({"D.angle": -0.1})
    alike(m.of(m.state(q))[0], q, 1e-10)


@pytest.mark.parametrize("build", [models.double_pendulum.build, models.four_bar.build])
def test_an_array_of_values_gives_the_configuration_of_each(build):
    m = runtime.mechanics(build())
    first, *others = m.independent or m.coordinate_names
    given = dict.fromkeys(others[:1], 0.2)
    values = [-0.2, 0.1, 0.3]
    alike(m.configuration({first: values, **given}), [m.configuration({first: x, **given}) for x in values])


def test_one_state_with_an_array_of_efforts_gives_an_array(motion):
    m, q, u = motion.m, motion.q[0], motion.u[0]
    alike(m.inverse_dynamics(q, u, motion.a), [m.inverse_dynamics(q, u, a) for a in motion.a])
    alike(m.forward_dynamics(q, u, motion.tau), [m.forward_dynamics(q, u, tau) for tau in motion.tau])
    body = m.system.body_names[-1]
    alike(m.acceleration(body, q, u, motion.a), [m.acceleration(body, q, u, a) for a in motion.a])


def test_nothing_moves():
    """Matrices are empty; frames have their places, and forces act on nothing."""
    b = runtime.Builder("still", axes="global")
    b.body("plate", mass=0.7, inertia=(0.1, 0.1, 0.1), r=(0, 1, 0))
    b.joint("weld", "fixed", "ground", "plate")
    b.frame("mark", "plate", s=(0.1, 0, 0))
    b.load("wind", "plate", force=(1.0, 0.0, 0.0))
    m = runtime.mechanics(b.build())
    assert (m.coordinate_names, m.rate_names) == ((), ()) and m.q0.shape == m.u0.shape == (0,)
    for states in ((), (4,)):
        none = np.zeros((*states, 0))
        assert m.mass_matrix(none).shape == (*states, 0, 0) and m.jacobian("mark", none).shape == (*states, 6, 0)
        efforts = m.bias(none, none), m.gravity_forces(none), m.inverse_dynamics(none, none, none)
        others = m.forward_dynamics(none, none, none), m.applied_forces(none, none), m.assemble(none)
        assert {found.shape for found in (*efforts, *others)} == {(*states, 0)}
        assert np.allclose(m.pose("mark", none).r, (0.1, 0.0, 0.0))
        assert not m.bias_acceleration("mark", none, none).any()
        assert m.inverse_dynamics_derivatives(none, none, none).q.shape == (*states, 0, 0)
    assert m.of(m.state([]))[0].shape == (0,)


def test_no_states_give_no_results(motion):
    m, q, u = motion.m, motion.q[:0], motion.u[:0]
    assert m.momentum(q, u).shape == (0, 6) and m.centre_of_mass(q).shape == (0, 3)
    assert m.pose(m.system.body_names[0], q).A.shape == (0, 3, 3)
    assert m.forward_dynamics(q, u, u).shape == m.integrate(q, u)[:, : len(m.rate_names)].shape == u.shape


@pytest.mark.parametrize(("build", "count"), [(models.free_body.build, 20_000), (models.four_bar.build, 300)])
def test_threads_share_mechanics(build, count):
    m = runtime.mechanics(build())
    ways = 0.1 * np.random.default_rng(0).standard_normal((4, count, len(m.rate_names)))
    states = [(m.integrate(np.tile(m.q0, (count, 1)), way), way) for way in ways]
    alone = [m.bias(*state) for state in states]
    with ThreadPoolExecutor(4) as threads:
        together = [*threads.map(lambda state: m.bias(*state), 5 * states)]
    assert all(np.array_equal(found, wanted) for found, wanted in zip(together, 5 * alone, strict=True))


def refusals():
    m, closed = runtime.mechanics(models.double_pendulum.build()), runtime.mechanics(models.four_bar.build())
    q = m.q0
    return {
        "shape": (lambda: m.bias(q, np.zeros(5)), "u has the shape"),
        "counts": (lambda: m.bias(np.tile(q, (2, 1)), np.zeros((3, 6))), "q, u have 2, 3 states"),
        "frame": (lambda: m.pose("lwer", q), "unknown frame 'lwer'"),
        "axes": (lambda: m.velocity(m.frame_names[0], q, 0 * q, axes="body"), "axes"),
        "coordinate": (lambda: m.configuration({"knee": 1.0}), "knee"),
        "values": (lambda: m.configuration({"shoulder.p_e1": [0.1, 0.2], "elbow.p_e1": [0.1] * 3}), "arrays of 2, 3 values"),
        "rows": (lambda: closed.mass_matrix(closed.q0 + 0.1), "pass them through assemble"),
        "count": (lambda: runtime.mechanics(closed.system, independent=["A.angle", "D.angle"]), "2 names, and the system 1"),
        "twice": (lambda: runtime.mechanics(closed.system, independent=["A.angle"] * 2), "'A.angle' is named twice"),
        "tree": (lambda: runtime.mechanics(m.system, independent=["shoulder.angle"]), "leave out independent"),
        "closing": (lambda: closed.configuration({"A.angle": 0.1, "D.angle": 0.1}), "D.angle"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "case", ["shape", "counts", "frame", "axes", "coordinate", "values", "rows", "count", "twice", "tree", "closing"]
)
def test_what_is_refused(case):
    call, sentence = refusals()[case]
    with pytest.raises(runtime.ModelError, match=sentence):
        call()


def test_frames_of_a_builder_and_of_its_file(tmp_path):
    b = random_tree(3).builder()
    b.frame("tool", "body_4", s=(0.1, 0.2, 0.3), p=(0.8, 0.6, 0.0, 0.0))
    b.frame("camera", "ground", s=(1.0, 2.0, 3.0))
    start = {body.name: b.build().state.r[body.name] for body in b.build().bodies}
    b.frame("centre", "body_2", s=start["body_2"], axes="global")
    system = b.build()
    m = runtime.mechanics(system)
    q = Motion(m).q
    assert m.frame_names == (*system.body_names, "ground", "tool", "camera", "centre")
    body, tool = m.pose("body_4", q), m.pose("tool", q)
    alike(tool.r, body.r + body.A @ (0.1, 0.2, 0.3))
    alike(np.swapaxes(body.A, 1, 2) @ tool.A, np.tile([[1, 0, 0], [0, 0.28, -0.96], [0, 0.96, 0.28]], (len(q), 1, 1)))
    alike(m.pose("camera", q).r, np.tile((1.0, 2.0, 3.0), (len(q), 1)))
    alike(m.pose("centre", m.q0).r, start["body_2"])
    again = runtime.System.from_file(system.to_file(tmp_path / "arm.json"))
    assert [(f.name, f.body, f.s.tolist(), f.A.tolist()) for f in again.frames] == [
        (f.name, f.body, f.s.tolist(), f.A.tolist()) for f in system.frames
    ]
    other = runtime.with_parameters(system, {"mass.body_4": 3.0})
    assert other.frames == system.frames
    for name, given in (("body_2", dict(body="body_2")), ("tool", dict(body="body_2")), ("grip", dict(body="hand"))):
        with pytest.raises(runtime.ModelError, match=name):
            b.frame(name, **given)


def test_derivatives_are_those_of_efforts_and_accelerations(motion):
    """Along a direction of all coordinates at once, at constant rates and accelerations, and by the identity of both."""
    m, q, u, a = motion.m, motion.q, motion.u, motion.a
    slopes, way = m.inverse_dynamics_derivatives(q, u, a), motion.tau
    alike(
        slope(lambda t: m.inverse_dynamics(m.integrate(q, way, t), u, a)), np.einsum("nij,nj->ni", slopes.q, way), SLOPE
    )
    alike(slope(lambda t: m.inverse_dynamics(q, u + t * way, a)), np.einsum("nij,nj->ni", slopes.u, way), SLOPE)
    alike(slopes.a, m.mass_matrix(q))
    tau = m.inverse_dynamics(q, u, a)
    back = m.forward_dynamics_derivatives(q, u, tau)
    alike(
        slope(lambda t: m.forward_dynamics(m.integrate(q, way, t), u, tau)), np.einsum("nij,nj->ni", back.q, way), 1e-9
    )
    alike(slope(lambda t: m.forward_dynamics(q, u + t * way, tau)), np.einsum("nij,nj->ni", back.u, way), 1e-9)
    alike(slope(lambda t: m.forward_dynamics(q, u, tau + t * way)), np.einsum("nij,nj->ni", back.tau, way), 1e-9)


def test_derivatives_beside_a_knot_of_a_coupling():
    """A slide x(q) along gravity follows a hinge: tau = (I + m x'^2) a + m x' (x'' u^2 + g)."""
    law = runtime.Signal.spline([-2, -1, 0, 1, 2], [0.3, -0.2, 0.1, 0.5, -0.4], degree=3)
    b = runtime.Builder("screw", gravity=(0, 0, -9.81))
    b.body("nut", mass=2.0, inertia=(0.1, 0.1, 0.03))
    b.joint("thread", "cylindrical", "ground", "nut", axes="global", point=(0, 0, 0), axis=(0, 0, 1))
    b.coupling("lead", "thread.distance", "thread.angle", law, straight=False)
    m = runtime.mechanics(b.build())
    angle, u, a = np.array([-2e-3, -3e-4, 1e-3, 1.0002, 0.4]), np.full((5, 1), 1.3), np.full((5, 1), -0.7)
    spline = PPoly(law.coefficients[:, ::-1].T, law.knots)
    slope_of, second, third = (spline(angle, n) for n in (1, 2, 3))
    wanted = 4.0 * slope_of * second * -0.7 + 2.0 * (second**2 + slope_of * third) * 1.3**2 + 2.0 * 9.81 * second
    found = m.inverse_dynamics_derivatives(m.configuration({"thread.angle": angle}), u, a)
    alike(found.q[:, 0, 0], wanted, SLOPE)
    alike(found.u[:, 0, 0], 4.0 * slope_of * second * 1.3)


def test_derivatives_are_the_jacobian_of_the_equations_of_motion():
    system = models.foot.build("modified")
    m, f = runtime.mechanics(system), runtime.rhs(system, coordinates="joint")
    y = np.array([0.2, -0.3, 0.9, -1.4])
    signs = np.array([-1.0 if name.startswith("-") else 1.0 for name in f.names])
    found = m.forward_dynamics_derivatives(*np.split(signs * y, 2), np.zeros(2))
    wanted = (signs[:, None] * f.jacobian(0.0, y) * signs)[2:]
    alike(np.hstack([found.q, found.u]), wanted, 1e-9)


def test_the_effort_of_a_driver_is_that_of_its_coordinate():
    """Drivers do not restrain the coordinates; what they supply is tau."""
    t = np.linspace(0.0, 1.0, 11)
    b = runtime.Builder("guided", axes="global")
    b.body("arm", mass=2.0, inertia=(0.02, 0.02, 0.002), r=(0, 0, -0.2))
    b.joint("shoulder", "revolute", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    theta = runtime.Signal.function(lambda t: 0.8 * np.sin(6 * t), 0.0, 1.0, step=0.01)
    b.driver(
        "swing",
        "guided_angle",
        "ground",
        "arm",
        axes="global",
        h_i=(0, 1, 0),
        a_i=(0, 0, -1),
        b_j=(0, 0, -1),
        theta_t=theta,
    )
    system = b.build()
    m = runtime.mechanics(system)
    assert m.rate_names == ("shoulder.angle_rate",) and m.independent is None
    motion = runtime.inverse_dynamics(system, t)
    q, u, a = (np.array([theta(x, order) for x in t])[:, None] for order in range(3))
    alike(m.inverse_dynamics(q, u, a)[:, 0], motion.driven["swing"].effort["theta_t"], 1e-9)
