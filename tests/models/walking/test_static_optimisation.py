"""Static optimisation: closed forms, the optimum by another solver, and the walk of OpenSim with a spring at the ankle."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import Bounds, minimize

import models
from models.files import read_storage
from models.files.virtual_power import Load, ways_at
from models.walking import inverse_dynamics_of_trial, joint_contacts, static_optimisation
from models.walking.activation_problem import Problem
from tests.support import muscle_arm as arm
from tests.support.paths import shared_file
from tests.support.refusals import assert_refused

WIDE = (0.0, 1.0)


@pytest.fixture
def read(tmp_path):
    def of(*forces, ignore="", locked=False, **more):
        file, elbow = tmp_path / "arm.osim", '<Coordinate name="elbow"'
        text = arm.text(*forces, **more)
        file.write_text(text.replace(f"{elbow}/>", f"{elbow}><locked>true</locked></Coordinate>") if locked else text)
        return models.read(file, ignore=ignore)

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


@pytest.mark.parametrize("p", [1.01, 1.2, 1.5, 3.0, 5.0, 10.0, 20.0])
@pytest.mark.parametrize(("reserve", "share"), [(1.0, 1.0), (1.0, 0.1), (1e-9, 1.0)])
def test_powers_of_activations_in_closed_form(read, p, reserve, share):
    """a_i ~ g_i^(1 / (p - 1)) for torques g by the optimal force of the reserve, whose control is 1 in proportion to them."""
    reading = read(arm.muscle("near", 0.04, 800.0), arm.muscle("far", 0.07, 500.0))
    g = np.array([800.0 * arm.arm(0.04), 500.0 * arm.arm(0.07)]) / reserve
    still = arm.trial(reading)
    trial = replace(still, forces={"elbow": share * still.forces["elbow"]})
    found = static_optimisation(reading, trial, reserve=reserve, bounds=(0.0, 10.0), exponent=p)
    log = np.append(np.log(g), 0.0) / (p - 1.0)
    controls = np.exp(log - log.max())
    controls *= share * arm.MOMENT / reserve / (controls @ np.append(g, 1.0))
    assert [found.activations[name][1] for name in ("near", "far")] == pytest.approx(controls[:2], rel=1e-9)
    assert found.reserves["elbow"] == pytest.approx(2 * [reserve * controls[2]], rel=1e-9, abs=1e-13)
    assert not found.failed.size


@pytest.mark.parametrize("p", [1.0, 1.2, 2.0, 3.0, 8.0])
def test_moments_far_apart_in_size_do_not_change_each_other(p):
    """Two limbs without a common muscle, one with a tenth of the moments of the other: a tenth of the activations."""
    one = problem(5, 2, 4, 9, upper=1e3)
    G, zero = np.zeros((2, 8, 18)), np.zeros((2, 18))
    G[:, :4, :9] = G[:, 4:, 9:] = one.G
    b = np.concatenate([one.b, 0.1 * one.b], axis=1)
    a, off = Problem(G, b, zero + 1.0, zero, zero[0], zero[0] + 1e3).solved(p)
    assert off.max() < 1e-9 and a[:, 9:] == pytest.approx(0.1 * a[:, :9], rel=1e-6, abs=1e-9)


def test_muscles_without_a_task_and_without_strength_rest():
    one = problem()
    idle = Problem(one.G, 0.0 * one.b, one.w, 0.0 * one.c, 0.0 * one.lower, one.upper)
    for p in (1.0, 2.0, 3.0):
        a, off = idle.solved(p)
        assert off.max() < 1e-4 and a.max() < 1e-6
    weak = Problem(one.G * (np.arange(9) > 0), one.b, one.w * (np.arange(9) > 0), one.c, one.lower, one.upper)
    a, off = weak.solved(3.0)
    assert off.max() < 1e-9 and a[:, 0] == pytest.approx([0.01, 0.01], abs=1e-12)


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


def segment(name, parent, at=0.0):
    """A body on a hinge at a distance from that of its parent."""
    body = f'<Body name="{name}"><mass>1</mass><mass_center>0.2 0 0</mass_center><inertia>0.01 0.01 0.01 0 0 0</inertia></Body>'
    joint = (
        f'<PinJoint name="{name}"><socket_parent_frame>on_{parent}</socket_parent_frame><socket_child_frame>/bodyset/{name}'
        f'</socket_child_frame><coordinates><Coordinate name="{name}"/></coordinates><frames><PhysicalOffsetFrame '
        f'name="on_{parent}"><socket_parent>/{parent}</socket_parent><translation>{at} 0 0</translation></PhysicalOffsetFrame>'
        "</frames></PinJoint>"
    )
    return body, joint


def gear(follower, leaders, function="<LinearFunction><coefficients>0.5 0</coefficients></LinearFunction>"):
    return (
        f'<CoordinateCouplerConstraint name="{follower}_gear"><coupled_coordinates_function>{function}'
        f"</coupled_coordinates_function><independent_coordinate_names>{leaders}</independent_coordinate_names>"
        f"<dependent_coordinate_name>{follower}</dependent_coordinate_name></CoordinateCouplerConstraint>"
    )


def test_a_coupled_coordinate_counts_with_its_leader(read):
    """The moment of a second arm that a coupler turns half as far, and no coordinate of its own."""
    hand, wrist = segment("wrist", "ground")
    on_hand = arm.muscle("hand", 0.05).replace("/bodyset/arm", "/bodyset/wrist")
    reading = read(arm.muscle("m", 0.04), on_hand, bodies=hand, joints=wrist, constraints=gear("wrist", "elbow"))
    found = static_optimisation(reading, arm.trial(reading), bounds=WIDE)
    assert list(found.moments) == ["elbow"]
    assert found.moments["elbow"] == pytest.approx(arm.MOMENT + 0.5 * 1.0 * 10.0 * 0.2)
    made = arm.arm(0.04) * found.forces["m"] + 0.5 * arm.arm(0.05) * found.forces["hand"]
    assert made + found.reserves["elbow"] == pytest.approx(found.moments["elbow"])
    assert_refused("a coupler drives it", static_optimisation, reading, arm.trial(reading), coordinates=["wrist"])


BOTH = (  # 0.5 elbow + 0.25 of the other: powers of the last one first
    "<MultivariatePolynomialFunction><coefficients>0 0.25 0.5</coefficients><dimension>2</dimension><order>1</order>"
    "</MultivariatePolynomialFunction>"
)


@pytest.mark.parametrize("names", ["wrist thumb", "thumb wrist"])
@pytest.mark.parametrize("several", [False, True])
def test_couplers_of_couplers_and_of_several_coordinates(read, names, several):
    """The power of all moments by the rate of the leader: each follower counts with all slopes on the way to it."""
    first, second = names.split()
    parts = segment(first, "bodyset/arm", 0.3), segment(second, f"bodyset/{first}", 0.2)
    law = gear(second, f"elbow {first}", BOTH) if several else gear(first, "elbow") + gear(second, first)
    bodies, joints = ("".join(of) for of in zip(*parts, strict=True))
    reading = read(arm.muscle("m", 0.04), bodies=bodies, joints=joints, constraints=law)
    trial = arm.trial(reading)
    found = static_optimisation(reading, trial)
    elbow, one, two = (trial.forces[name][0] for name in ("elbow", first, second))
    wanted = elbow + (0.5 * two if several else 0.5 * (one + 0.5 * two))
    assert found.moments["elbow"] == pytest.approx([wanted] * 2, rel=1e-12) and two > 1.0
    if several:
        on_first = static_optimisation(reading, trial, coordinates=["elbow", first]).moments[first]
        assert on_first == pytest.approx([one + 0.25 * two] * 2, rel=1e-12)


@pytest.mark.parametrize(
    "law",
    ["thelen_as_opensim", "thelen_as_published", "millard_as_opensim", "millard_as_published", "de_groote_as_opensim",
     "de_groote_as_published"],
)  # fmt: skip
def test_a_slack_muscle_exerts_nothing_and_is_named(read, law):
    """Its tendon is 0.1 m longer than its path, as if the fibre were turned round at its optimal length."""
    text = arm.muscle("loose", 0.04)
    taut, loose = (f"{arm.length(0.04) + by!r}<" for by in (-0.1, 0.1))
    reading = read(text.replace(taut, loose), arm.muscle("m", 0.07))
    trial = arm.trial(reading)
    for passive in (False, True):
        found = static_optimisation(reading, trial, law=law, passive=passive)
        assert found.forces["loose"] == pytest.approx([0.0, 0.0], abs=1e-9) and found.forces["m"][0] > 10.0
        assert found.activations["loose"] == pytest.approx([0.01, 0.01])
        assert "loose (2 of 2 frames)" in found.notes[-1] and "m (" not in found.notes[-1]
    whole = static_optimisation(reading, trial, force_length_velocity=False)
    assert whole.forces["loose"] == pytest.approx(1000.0 * whole.activations["loose"]) and not whole.notes


def test_constants_beyond_the_bounds_of_a_builder_are_refused(read):
    """A pennation angle in degrees, and a force and a length below 0, by the muscle's name."""
    for old, new, sentence in (
        (
            "_optimal>0.0<",
            "_optimal>20<",
            "muscle 'n' (thelen_as_opensim): pennation_angle_at_optimal = 20 rad, must not be above",
        ),
        (
            "force>1000.0<",
            "force>-1000<",
            "muscle 'n' (thelen_as_opensim): max_isometric_force = -1000 N, must be above 0 N",
        ),
        ("length>0.1<", "length>-0.1<", "optimal_fiber_length = -0.1 m, must be above 0 m"),
    ):
        text = arm.muscle("n", 0.05)
        assert old in text
        reading = read(arm.muscle("m", 0.04), text.replace(old, new, 1))
        trial = arm.trial(reading)
        assert_refused(sentence, static_optimisation, reading, trial)
        assert static_optimisation(reading, trial, muscles=["m"]).forces["m"][0] > 0.0


def test_a_reserve_without_a_moment_has_an_infinite_share(read):
    reading = read(arm.muscle("m", 0.04))
    still = arm.trial(reading)
    found = static_optimisation(reading, replace(still, forces={"elbow": 0.0 * still.t}))
    assert found.reserves["elbow"][0] < -0.1 and found.reserve_share("elbow") == np.inf
    idle = static_optimisation(reading, replace(still, forces={"elbow": 0.0 * still.t}), bounds=WIDE)
    assert idle.reserve_share("elbow") == 0.0


def test_notes_name_what_does_not_act(read):
    """A ligament that is ignored, a muscle that the file disables, and a body that floats without loads."""
    off = arm.muscle("off", 0.05).replace('name="off">', 'name="off"><appliesForce>false</appliesForce>')
    rope = (
        '<Ligament name="rope"><GeometryPath><PathPointSet><objects/></PathPointSet></GeometryPath><resting_length>0.1'
        "</resting_length></Ligament>"
    )
    reading = read(arm.muscle("m", 0.04), off, rope, ignore="forces")
    notes = static_optimisation(reading, arm.trial(reading)).notes
    assert "muscles off do not act: disabled in the file; enable it there" in notes
    assert any("rope of the file do not act" in note for note in notes) and len(notes) == 2
    assert_refused("'off' does not act: disabled", static_optimisation, reading, arm.trial(reading), muscles=["off"])
    body, _ = segment("box", "ground")
    six = "".join(f'<Coordinate name="box_{name}"/>' for name in ("rx", "ry", "rz", "x", "y", "z"))
    free = (
        '<FreeJoint name="free"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/box'
        f"</socket_child_frame><coordinates>{six}</coordinates></FreeJoint>"
    )
    reading = read(arm.muscle("m", 0.04), bodies=body, joints=free)
    trial = arm.trial(reading)
    (note,) = static_optimisation(reading, trial).notes
    assert "no loads act on the bodies" in note
    push = Load("box", *(np.zeros((2, 3)) for _ in range(3)))
    assert not static_optimisation(reading, replace(trial, loads=(push,))).notes


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
    for what, other in (
        ("times", arm.trial(reading, {"elbow": np.zeros(3)})),
        ("motion", arm.trial(reading)),
        ("rates", arm.trial(reading, trial.q, {"elbow": [0.1, 0.1]})),
        ("forces", replace(trial, forces={"elbow": trial.forces["elbow"] + 1.0})),
    ):
        sentence = f"muscles: are of a trial with other {what}; give those of this trial"
        assert_refused(sentence, joint_contacts, reading, other, muscles, ["elbow"])
    again = joint_contacts(reading, arm.trial(reading, trial.q), muscles, ["elbow"])["elbow"]
    assert np.array_equal(again.force, found.force)


def test_what_is_refused(read):
    reading = read(arm.muscle("m", 0.04))
    trial = arm.trial(reading)
    cases = {
        "muscles: 'x' is unknown": {"muscles": ["x"]},
        "coordinates: 'x' is unknown": {"coordinates": ["x"]},
        "muscles = []: names none": {"muscles": []},
        "coordinates = []: names none": {"coordinates": []},
        "exponent = 0.5": {"exponent": 0.5},
        "activation from 1 to 0.5": {"bounds": (1.0, 0.5)},
        "give optimal forces above 0 N m": {"reserve": {"elbow": 0.0}},
        "the laws of muscles are": {"law": "hill"},
    }
    for sentence, options in cases.items():
        assert_refused(sentence, static_optimisation, reading, trial, **options)
    held = read(arm.muscle("m", 0.04), locked=True)
    assert_refused("all that a muscle moves are locked (elbow)", static_optimisation, held, arm.trial(held))
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
