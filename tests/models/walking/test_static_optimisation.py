"""Static optimisation: closed forms, the optimum by another solver, and the walk of OpenSim with a spring at the ankle."""

import numpy as np
import pytest
from scipy.optimize import Bounds, minimize

import models
from models.files import read_storage
from models.files.virtual_power import ways_at
from models.walking import inverse_dynamics_of_trial, joint_contacts, static_optimisation
from models.walking.activation_problem import Problem
from tests.support import muscle_arm as arm
from tests.support.paths import shared_file
from tests.support.refusals import assert_refused

WIDE = (0.0, 1.0)


@pytest.fixture
def read(tmp_path):
    def of(*forces, **more):
        file = tmp_path / "arm.osim"
        file.write_text(arm.text(*forces, **more))
        return models.read(file)

    return of


def problem(seed=0, frames=2, moments=4, muscles=9, upper=1.0):
    rng = np.random.default_rng(seed)
    G = rng.normal(0.0, 100.0, (frames, moments, muscles)) * (rng.random((frames, moments, muscles)) < 0.5)
    b = np.einsum("nkm,nm->nk", G, rng.random((frames, muscles)))
    w, c = rng.uniform(0.5, 1.5, (frames, muscles)), rng.uniform(0.0, 0.1, (frames, muscles))
    return Problem(G, b, w, c, np.full(muscles, 0.01), np.full(muscles, upper))


def cost(one, n, p):
    """The cost of frame n with its gradient, and its Hessian."""

    def parts(a):
        return one.w[n] * a + one.c[n], one.b[n] - one.G[n] @ a

    def value(a):
        x, r = parts(a)
        slopes = [p * np.abs(of) ** (p - 1.0) * np.sign(of) for of in (x, r)]
        total = float(np.sum(np.abs(x) ** p) + np.sum(np.abs(r) ** p))
        return total, one.w[n] * slopes[0] - one.G[n].T @ slopes[1]

    def curved(a):
        bends = [p * (p - 1.0) * np.maximum(np.abs(of), 1e-9) ** (p - 2.0) for of in parts(a)]
        return np.diag(one.w[n] ** 2 * bends[0]) + one.G[n].T @ (bends[1][:, None] * one.G[n])

    return value, curved


def test_two_muscles_in_closed_form(read):
    """Without bounds  a = M g / (s^2 + g . g)  for torques g at full activation, optimal force s of the reserve."""
    reading = read(arm.muscle("near", 0.04, 800.0), arm.muscle("far", 0.07, 500.0))
    g = np.array([800.0 * arm.arm(0.04), 500.0 * arm.arm(0.07)])
    found = static_optimisation(reading, arm.trial(reading), reserve=2.0, bounds=WIDE)
    a = arm.MOMENT * g / (4.0 + g @ g)
    assert [found.activations[name][1] for name in ("near", "far")] == pytest.approx(a, rel=1e-9)
    assert found.reserves["elbow"] == pytest.approx([arm.MOMENT - g @ a] * 2, rel=1e-9)
    assert found.forces["near"][0] == pytest.approx(800.0 * a[0], rel=1e-9)
    assert found.fiber_lengths["far"][0] == pytest.approx(1.0) and not found.failed.size and not found.saturated


@pytest.mark.parametrize("p", [3.0, 4.0])
def test_powers_of_activations_in_closed_form(read, p):
    """With a reserve that costs everything,  a_i ~ g_i^(1 / (p - 1))."""
    reading = read(arm.muscle("near", 0.04, 800.0), arm.muscle("far", 0.07, 500.0))
    g = np.array([800.0 * arm.arm(0.04), 500.0 * arm.arm(0.07)])
    found = static_optimisation(reading, arm.trial(reading), reserve=1e-3, bounds=WIDE, exponent=p)
    share = g ** (1.0 / (p - 1.0))
    wanted = arm.MOMENT * share / (g @ share)
    assert [found.activations[name][0] for name in ("near", "far")] == pytest.approx(wanted, rel=1e-4)


def test_stresses_cubed_in_closed_form(read):
    """Crowninshield and Brand (1981): F_i / PCSA_i ~ sqrt(r_i PCSA_i), PCSA by the maximum isometric force."""
    reading = read(arm.muscle("near", 0.04, 800.0, stretch=1.2), arm.muscle("far", 0.07, 500.0, stretch=0.9))
    r, area = np.array([arm.arm(0.04), arm.arm(0.07)]), np.array([800.0, 500.0])
    found = static_optimisation(
        reading, arm.trial(reading), cost="stress", exponent=3.0, reserve=1e-3, bounds=(0.0, 5.0), passive=True
    )
    force = area * np.sqrt(r * area)
    force *= arm.MOMENT / (r @ force)
    assert [found.forces[name][0] for name in ("near", "far")] == pytest.approx(force, rel=1e-4)


def test_a_linear_cost_takes_the_muscle_of_the_largest_torque(read):
    reading = read(arm.muscle("near", 0.04, 800.0), arm.muscle("far", 0.07, 500.0))
    found = static_optimisation(reading, arm.trial(reading), exponent=1.0, bounds=WIDE)
    assert found.activations["near"] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert found.forces["far"] == pytest.approx([arm.MOMENT / arm.arm(0.07)] * 2, rel=1e-9)


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("upper", [1.0, 0.4])
def test_the_optimum_is_that_of_another_solver(p, upper):
    """No neighbour costs less, and the trust-region method of SciPy finds no lower cost."""
    one = problem(upper=upper)
    a, off = one.solved(p)
    assert off.max() < 1e-4
    for n in range(len(a)):
        value, curved = cost(one, n, p)
        other = minimize(
            value, np.full(9, 0.2), jac=True, hess=curved, method="trust-constr", bounds=Bounds(0.01, upper),
            options={"maxiter": 1000, "gtol": 1e-9, "xtol": 1e-12, "barrier_tol": 1e-10},
        )  # fmt: skip
        assert value(a[n])[0] <= other.fun * (1.0 + 1e-7)
        assert p < 2.0 or other.success and np.abs(a[n] - other.x).max() < 2e-3  # reserves near 0 stop it for p < 2
        for step in 1e-3 * np.vstack([np.eye(9), -np.eye(9)]):
            assert value(a[n])[0] <= value(np.clip(a[n] + step, 0.01, upper))[0] * (1.0 + 1e-9)


def test_a_bound_that_holds_is_said_and_the_reserve_makes_up(read):
    reading = read(arm.muscle("weak", 0.04, 80.0))
    found = static_optimisation(reading, arm.trial(reading))
    assert found.saturated == {"weak": 2} and found.activations["weak"] == pytest.approx([1.0, 1.0], abs=1e-12)
    assert found.reserves["elbow"] == pytest.approx([arm.MOMENT - 80.0 * arm.arm(0.04)] * 2)
    assert found.reserve_share("elbow") == pytest.approx(1.0 - 80.0 * arm.arm(0.04) / arm.MOMENT)


def test_a_frame_that_is_not_solved_is_named(monkeypatch, read):
    monkeypatch.setattr("models.walking.activation_problem.MOST_STEPS", 1)
    reading = read(arm.muscle("near", 0.04, 800.0), arm.muscle("far", 0.07, 500.0))
    found = static_optimisation(reading, arm.trial(reading), exponent=3.0)
    assert found.failed.tolist() == [0.0, 1.0] and "2 without success" in repr(found)


def test_the_pull_of_a_pennate_fibre_and_that_of_opensim(read):
    """The cosine of the pennation angle, which OpenSim 4.6 leaves out for two of its three muscles."""
    for kind, left_out in (
        ("Thelen2003Muscle", False), ("Millard2012EquilibriumMuscle", True), ("DeGrooteFregly2016Muscle", True),
    ):  # fmt: skip
        reading = read(arm.muscle("m", 0.04, 1000.0, 0.5, kind))
        for as_opensim in (False, True):
            found = static_optimisation(reading, arm.trial(reading), bounds=WIDE, as_opensim=as_opensim)
            strength = found.forces["m"][0] / found.activations["m"][0]
            wanted = 1000.0 if as_opensim and left_out else 1000.0 * np.cos(0.5)
            assert strength == pytest.approx(wanted, rel=2e-3), (kind, as_opensim)  # 0.9989 in the law of De Groote


def test_passive_forces_and_the_velocity_of_the_fibre(read):
    """Thelen (2003): exponential passive force, and the hyperbola of shortening fibres."""
    reading = read(arm.muscle("m", 0.04, 1000.0, stretch=1.3))
    still = arm.trial(reading)
    off, on = (static_optimisation(reading, still, passive=passive, bounds=WIDE) for passive in (False, True))
    passive = 1000.0 * (np.exp(5.0 * 0.3 / 0.6) - 1.0) / (np.exp(5.0) - 1.0)
    active = 1000.0 * np.exp(-(0.3**2) / 0.45)
    assert on.forces["m"] - on.activations["m"] * active == pytest.approx([passive] * 2, rel=1e-9)
    assert off.forces["m"] == pytest.approx(off.activations["m"] * active, rel=1e-9)
    off_in_file = "<ignore_passive_fiber_force>true</ignore_passive_fiber_force>"
    without = read(arm.muscle("m", 0.04, 1000.0, stretch=1.3, more=off_in_file))
    found = static_optimisation(without, still, passive=True, bounds=WIDE)
    assert found.forces["m"] == pytest.approx(off.forces["m"])
    rate = 5.0
    moving = static_optimisation(reading, arm.trial(reading, u={"elbow": [rate, rate]}), bounds=WIDE)
    v = -arm.arm(0.04) * rate / (0.1 * 10.0)
    assert moving.forces["m"] / moving.activations["m"] == pytest.approx(active * (1.0 + v) / (1.0 - v / 0.25))
    without = static_optimisation(reading, still, force_length_velocity=False, bounds=WIDE)
    assert without.forces["m"] / without.activations["m"] == pytest.approx(1000.0)


def test_another_law_for_all_muscles(read):
    reading = read(arm.muscle("m", 0.04, stretch=1.3))
    found = static_optimisation(reading, arm.trial(reading), law="de_groote_as_published", bounds=WIDE)
    own = static_optimisation(reading, arm.trial(reading), bounds=WIDE)
    strength = [one.forces["m"][0] / one.activations["m"][0] for one in (found, own)]
    bells = ((0.814, 1.06, 0.162, 0.0633), (0.433, 0.717, -0.0299, 0.2), (0.1, 1.0, 0.354, 0.0))
    curve = sum(h * np.exp(-0.5 * ((1.3 - at) / (w + d * 1.3)) ** 2) for h, at, w, d in bells)
    at_rest = -0.318 * np.log(-0.374 + np.sqrt(0.374**2 + 1.0)) + 0.886
    assert strength[0] == pytest.approx(1000.0 * curve * at_rest, rel=1e-9) and strength[1] != pytest.approx(
        strength[0], rel=0.01
    )


def test_springs_and_limits_of_coordinates_act_before_muscles(read):
    """CoordinateLimitForce beyond its transition: stiffness times the angle beyond the limit, here with a damper."""
    spring = (
        "<SpringGeneralizedForce name='s'><coordinate>elbow</coordinate><stiffness>3</stiffness><rest_length>0.1</rest_length>"
        "<viscosity>0.5</viscosity></SpringGeneralizedForce>"
    )
    limit = (
        "<CoordinateLimitForce name='l'><coordinate>elbow</coordinate><upper_limit>10</upper_limit><lower_limit>-90</lower_limit>"
        "<upper_stiffness>2</upper_stiffness><lower_stiffness>1</lower_stiffness><damping>0.01</damping>"
        "<transition>2</transition></CoordinateLimitForce>"
    )
    m = arm.muscle("m", 0.04)
    angles, rate = np.deg2rad([0.0, 15.0]), 0.3
    moments = []
    for forces in ((m,), (m, spring, limit)):
        reading = read(*forces)
        trial = arm.trial(reading, {"elbow": angles}, {"elbow": [rate, rate]})
        moments.append(static_optimisation(reading, trial).moments["elbow"])
    added = -3.0 * (angles - 0.1) - 0.5 * rate - np.array([0.0, 2.0 * 5.0 + 0.01 * np.rad2deg(rate)])
    assert moments[0] - moments[1] == pytest.approx(added, rel=1e-9)


BUSHING = """<BushingForce name="{name}"><socket_frame1>{one}</socket_frame1><socket_frame2>{two}</socket_frame2><frames>
 <PhysicalOffsetFrame name="at_one"><socket_parent>{body_1}</socket_parent><translation>{x} 0 0</translation>
 <orientation>0 0 0</orientation></PhysicalOffsetFrame>
 <PhysicalOffsetFrame name="at_two"><socket_parent>{body_2}</socket_parent><translation>{x} 0 0</translation>
 <orientation>0 0 0</orientation></PhysicalOffsetFrame></frames>
 <rotational_stiffness>0 0 {turning}</rotational_stiffness><translational_stiffness>{along} {along} 0</translational_stiffness>
 <rotational_damping>0 0 {damping}</rotational_damping><translational_damping>0 0 0</translational_damping></BushingForce>"""


@pytest.mark.parametrize("swapped", [False, True])
def test_bushings_act_before_muscles_and_pass_no_hinge(read, swapped):
    """In closed form: a spring and a damper about the hinge, and springs between points at the distance x from it."""
    k, c, along, x, rate = 7.0, 0.3, 500.0, 0.2, 0.4
    ends = dict(body_1="/ground", body_2="/bodyset/arm")
    if swapped:
        ends = dict(body_1="/bodyset/arm", body_2="/ground")
    brace = BUSHING.format(name="brace", one="at_one", two="at_two", x=x, turning=k, damping=c, along=along, **ends)
    reading, bare = read(arm.muscle("m", 0.04), brace), read(arm.muscle("m", 0.04))
    assert [one.name for one in reading.source.bushings] == ["brace"]
    angles = np.array([0.0, 0.35, -0.2])
    trial = arm.trial(reading, {"elbow": angles}, {"elbow": [rate] * 3})
    found, without = static_optimisation(reading, trial), static_optimisation(bare, trial)
    added = -k * angles - c * rate - along * x**2 * np.sin(angles)
    assert without.moments["elbow"] - found.moments["elbow"] == pytest.approx(added, rel=1e-9)
    assert not found.notes
    contact = joint_contacts(reading, trial, found, ["elbow"])["elbow"]
    on_arm = -along * x * np.stack([np.cos(angles) - 1.0, np.sin(angles), 0.0 * angles], axis=1)
    path = found.paths["m"].wrenches["arm"][0] * found.forces["m"][:, None]
    links = {link.name: link for link in reading.source.links}
    ways = ways_at(reading.source, ["elbow"], np.array([[angles], [[rate] * 3], [[0.0] * 3]]))[0]
    needed = links["arm"].mass * (ways["arm"][-1].at(links["arm"].centre)[2] - reading.source.gravity)
    assert contact.force == pytest.approx(needed - on_arm - path, abs=1e-9)
    assert contact.moment[:, 2] == pytest.approx(found.reserves["elbow"], abs=1e-9)


def test_a_coupled_coordinate_counts_with_its_leader(read):
    """The moment of a second arm that a coupler turns half as far, and no coordinate of its own."""
    hand = '<Body name="hand"><mass>1</mass><mass_center>0.2 0 0</mass_center><inertia>0.01 0.01 0.01 0 0 0</inertia></Body>'
    wrist = (
        '<PinJoint name="wrist"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/hand'
        '</socket_child_frame><coordinates><Coordinate name="wrist"/></coordinates></PinJoint>'
    )
    coupler = (
        '<CoordinateCouplerConstraint name="gear"><coupled_coordinates_function><LinearFunction><coefficients>0.5 0'
        "</coefficients></LinearFunction></coupled_coordinates_function><independent_coordinate_names>elbow"
        "</independent_coordinate_names><dependent_coordinate_name>wrist</dependent_coordinate_name>"
        "</CoordinateCouplerConstraint>"
    )
    on_hand = arm.muscle("hand", 0.05).replace("/bodyset/arm", "/bodyset/hand")
    reading = read(arm.muscle("m", 0.04), on_hand, bodies=hand, joints=wrist, constraints=coupler)
    found = static_optimisation(reading, arm.trial(reading), bounds=WIDE)
    assert list(found.moments) == ["elbow"]
    assert found.moments["elbow"] == pytest.approx(arm.MOMENT + 0.5 * 1.0 * 10.0 * 0.2)
    made = arm.arm(0.04) * found.forces["m"] + 0.5 * arm.arm(0.05) * found.forces["hand"]
    assert made + found.reserves["elbow"] == pytest.approx(found.moments["elbow"])
    assert_refused("a coupler drives it", static_optimisation, reading, arm.trial(reading), coordinates=["wrist"])


def test_the_contact_force_balances_weight_and_muscle(read):
    reading = read(arm.muscle("m", 0.04))
    trial = arm.trial(reading, {"elbow": np.array([0.0, 0.4])})
    muscles = static_optimisation(reading, trial)
    found = joint_contacts(reading, trial, muscles, ["elbow"])["elbow"]
    for n, q in enumerate((0.0, 0.4)):
        turn = np.array([[np.cos(q), -np.sin(q), 0.0], [np.sin(q), np.cos(q), 0.0], [0.0, 0.0, 1.0]])
        along = np.array([0.0, arm.HEIGHT, 0.0]) - turn @ [0.04, 0.0, 0.0]
        pull = muscles.forces["m"][n] * along / np.linalg.norm(along)
        weight = np.array([0.0, -arm.MASS * arm.GRAVITY, 0.0])
        assert found.force[n] == pytest.approx(-weight - pull, rel=1e-9)
        assert found.in_inner[n] == pytest.approx(found.force[n]) and found.net[n] == pytest.approx(-weight)
        assert found.in_outer[n] == pytest.approx(turn.T @ found.force[n])
        assert found.size[n] == pytest.approx(np.linalg.norm(weight + pull))
        assert found.moment[n] == pytest.approx([0.0, 0.0, muscles.reserves["elbow"][n]], abs=1e-12)
    assert (found.inner, found.outer) == ("ground", "arm") and "of ground on arm, 2 frames" in repr(found)
    assert_refused("joints: 'knee' moves no body", joint_contacts, reading, trial, muscles, ["knee"])
    other = arm.trial(reading, {"elbow": np.zeros(3)})
    assert_refused("give those of this trial", joint_contacts, reading, other, muscles, ["elbow"])


def test_what_is_refused(read):
    reading = read(arm.muscle("m", 0.04))
    trial = arm.trial(reading)
    cases = {
        "muscles: 'x' is unknown": {"muscles": ["x"]},
        "coordinates: 'x' is unknown": {"coordinates": ["x"]},
        "exponent = 0.5": {"exponent": 0.5},
        "activation from 1 to 0.5": {"bounds": (1.0, 0.5)},
        "give optimal forces above 0 N m": {"reserve": {"elbow": 0.0}},
        "law of muscles": {"law": "hill"},
    }
    for sentence, options in cases.items():
        assert_refused(sentence, static_optimisation, reading, trial, **options)
    none = read()
    assert_refused("has no muscles that act", static_optimisation, none, arm.trial(none))


def test_files_are_those_of_the_program(read, tmp_path):
    reading = read(arm.muscle("m", 0.04))
    found = static_optimisation(reading, arm.trial(reading))
    activation, force = (read_storage(file) for file in found.to_sto(tmp_path, "walk"))
    assert activation.columns["m"] == pytest.approx(found.activations["m"], abs=1e-8)
    assert list(force.columns) == ["m", "elbow_reserve"]


def test_the_walk_with_a_spring_at_the_ankle():
    """The activations that OpenSim finds, to 0.004; with the cosine of the pennation angle to 0.02."""
    files = {
        name: shared_file("opensim", f"muscles/{name}")
        for name in (
            "subject01_adjusted_spring.osim", "walk_subject01_Kinematics_q.sto", "externalForces.xml",
            "std_walk_subject01_ankle_spring_StaticOptimization_activation.sto",
            "std_walk_subject01_ankle_spring_StaticOptimization_force.sto",
        )
    }  # fmt: skip
    model, motion, loads, *known = files.values()
    reading, (activation, force) = models.read(model), map(read_storage, known)
    trial = inverse_dynamics_of_trial(reading, motion, loads, cutoff=None, t_eval=activation.t)
    found, own = (static_optimisation(reading, trial, as_opensim=as_opensim) for as_opensim in (True, False))
    assert len(found.activations) == 18 and not found.failed.size
    for name, a in found.activations.items():
        assert np.sqrt(np.mean((a - activation.columns[name]) ** 2)) < 4e-3, name
        assert np.sqrt(np.mean((own.activations[name] - activation.columns[name]) ** 2)) < 0.02, name
        assert np.sqrt(np.mean((found.forces[name] - force.columns[name]) ** 2)) < 8.0, name
        lower = next(m.min_control for m in reading.source.muscles if m.name == name)
        assert lower == 1e-4 and a.min() >= lower
    for name, reserve in found.reserves.items():
        assert np.abs(reserve - activation.columns[f"{name}_reserve"]).max() < 5e-4, name
        assert found.reserve_share(name) < 1e-3
    spring = (trial.forces["ankle_angle_r"] - found.moments["ankle_angle_r"]).min()
    stretched = np.rad2deg(trial.q["ankle_angle_r"].max()) - 5.0
    assert spring == pytest.approx(-30.0 * stretched, rel=0.01)  # AnkleLimitSpringDamper of the file
