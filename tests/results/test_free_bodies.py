"""What acts on each body: its sum is the change of momentum, by differences of states alone; loads of joints and bearings."""

import numpy as np
import pytest

import models
import runtime
from benchmarks.random import compare, question
from benchmarks.random.model import system_of
from benchmarks.random.second import Second
from runtime import GROUND, Builder
from tests.support.refusals import assert_refused
from tests.support.vectors import X, Y, Z

G = 9.81
H = 3e-4  # [s] of differences
DIFFERENCE = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * H)


def around(times):
    """Five times around each time."""
    return (np.asarray(times)[:, None] + H * np.arange(-2, 3)).ravel()


def momentum_rates(run, body):
    """Rates of the momentum of a body and of its angular momentum about its centre of mass, (n, 3) each, from its states."""
    one, A = run.system.body(body), run.rotations(body)
    spin = np.einsum("nab,nb->na", A @ one.inertia @ A.swapaxes(1, 2), run.omega[body])
    return [np.einsum("m,nma->na", DIFFERENCE, x.reshape(-1, 5, 3)) for x in (one.mass * run.v[body], spin)]


def assert_balanced(run, tolerance):
    """On every body, and on the ground what all others leave."""
    total, bodies = np.zeros((len(run.t), 3)), run.system.body_names
    for body in bodies:
        found = run.free_body(body)
        scale = max(np.abs(force).max() for force in found.forces.values())
        for sums, rates in zip((found.force, found.moment), momentum_rates(run, body), strict=True):
            assert np.abs(sums[2::5] - rates).max() < tolerance * scale, body
        total += found.force
    weight = sum(run.system.body(body).mass for body in bodies) * run.system.gravity
    loads = sum((run.free_body(load.body).forces[load.name] for load in run.system.loads), np.zeros(3))
    ground = run.free_body(GROUND)
    assert "gravity" not in ground.forces
    assert np.abs(total + ground.force - weight - loads).max() < 1e-9 * max(1.0, np.abs(total).max())


QUICK = [("door", 0), ("modified_loop", 0), ("acting_tree", 3), ("acting_loop", 3), ("sprung_loop", 2)]
SLOW = [
    (name, seed)
    for name in (
        "tree",
        "door",
        "four_bar",
        "spatial_loop",
        "modified_loop",
        "bennett",
        "bricard",
        "sarrus",
        "driven_loop",
        "sprung_loop",
        "acting_tree",
        "acting_loop",
    )  # fmt: skip
    for seed in range(5)
    if (name, seed) not in (*QUICK, ("sprung_loop", 1))  # which takes too many steps
]


@pytest.mark.parametrize(("name", "seed"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)])
def test_momentum_of_every_body_of_random_systems_changes_by_what_acts_on_it(name, seed):
    """With loops, redundant rows, drivers, motors, limits, contacts and forces of all kinds."""
    random = np.random.default_rng([seed, *name.encode()])
    mechanism = question.CLASSES[name](random)
    second = Second(mechanism)
    second.freedoms()
    compare.set_going(mechanism, random, second)
    system = system_of(mechanism, name)
    times = around(np.linspace(0.1, 0.9, 5) * mechanism.t_end)
    options = dict(rtol=1e-11, atol=1e-11, max_steps=3000, progress=False)
    run = runtime.simulate(system, mechanism.t_end, t_eval=times, **options)
    assert run.success
    assert_balanced(run, 1e-5)


def planet(**more):
    """Two gears on an arm, the sun with a rotor and a motor; a nut on a screw that the planet turns."""
    b = Builder("planet", gravity=(0, -G, 0), axes="global")
    b.body("arm", mass=2.0, inertia=(0.1, 0.2, 0.3), r=(0.4, 0, 0))
    b.body("sun", mass=1.0, inertia=(0.02, 0.02, 0.04), r=(0, 0.01, 0))
    b.body("planet", mass=0.5, inertia=(0.01, 0.01, 0.02), r=(0.8, 0, 0.05))
    b.body("nut", mass=0.3, inertia=(0.01, 0.02, 0.03), r=(0.8, 0.1, 0.2))
    b.joint("pivot", "revolute", GROUND, "arm", point=(0, 0, 0), axis=Z)
    b.joint("hub", "revolute", "arm", "sun", point=(0, 0, 0), axis=Z)
    b.joint("bearing", "revolute", "arm", "planet", point=(0.8, 0, 0), axis=Z)
    b.joint("thread", "cylindrical", "planet", "nut", point=(0.8, 0, 0.2), axis=Z)
    b.coupling("mesh", "bearing.angle", "hub.angle", -0.6)
    b.coupling("lead", "thread.distance", "thread.angle", 0.01)
    b.armature("hub.angle", 0.3)
    b.motor("drive", coordinate="hub.angle", effort=2.0)
    b.load("push", "planet", force=(0, 0, 3.0), moment=(0.1, 0, 0))
    b.initial_coordinates("pivot", angle=0.3, rates={"angle": 1.0})
    return b.build(**more)


def test_couplings_rotors_and_motors_act_on_the_bodies_of_their_joints():
    run = runtime.simulate(planet(), 0.5, t_eval=around([0.1, 0.25, 0.4]), rtol=1e-11, atol=1e-11)
    assert run.success
    assert_balanced(run, 1e-7)
    sun, arm = run.free_body("sun"), run.free_body("arm")
    assert {*sun.forces} == {"hub", "drive", "mesh", "hub.angle", "gravity"}
    assert {*arm.forces} == {"pivot", "hub", "bearing", "drive", "mesh", "hub.angle", "gravity"}
    # The mesh turns the planet by its force along the follower, and the sun by the ratio times it, the other way.
    force = run.coupling_forces["mesh"]
    assert np.abs(run.free_body("planet").moments["mesh"] - np.outer(force, Z)).max() < 1e-12
    assert np.abs(sun.moments["mesh"] - np.outer(0.6 * force, Z)).max() < 1e-12
    assert np.abs(arm.moments["mesh"] + np.outer(1.6 * force, Z)).max() < 1e-12 and np.abs(force).min() > 1e-3
    assert not any(np.abs(body.forces["mesh"]).max() for body in (sun, arm))


def test_the_bearings_of_a_pair_of_gears():
    """Free-body diagrams with a tooth force T: J1 a1 = 3 - r1 T under a moment of 3 N m, J2 a2 = -r2 T, and a2 = -a1 r1 / r2."""
    r, J, m = (0.1, 0.25), (0.02, 0.3), (1.0, 4.0)
    b = Builder("gears", gravity=(0, 0, -G), axes="global")
    for k, x in enumerate((0.0, r[0] + r[1])):
        b.body(f"gear_{k}", mass=m[k], inertia=(1.0, 1.0, J[k]), r=(x, 0, 0))
        b.joint(f"bearing_{k}", "revolute", GROUND, f"gear_{k}", point=(x, 0, 0), axis=Z)
    b.coupling("mesh", "bearing_1.angle", "bearing_0.angle", -r[0] / r[1])
    b.load("turn", "gear_0", moment=(0, 0, 3.0))
    run = runtime.simulate(b.build(), 0.1, t_eval=[0.0, 0.1])
    tooth = 3.0 / r[0] / (1.0 + J[0] / r[0] ** 2 * r[1] ** 2 / J[1])
    assert run.coupling_forces["mesh"] == pytest.approx(np.full(2, -r[1] * tooth), rel=1e-9)
    for k, moment in enumerate((-r[0] * tooth, -r[1] * tooth)):
        reaction, load = (f(f"bearing_{k}", on=f"gear_{k}") for f in (run.reaction, run.joint_load))
        # The model has a ratio and no teeth: the bearing carries the weight, and the mesh acts as a moment about the axis.
        assert np.abs(reaction.force - [0, 0, m[k] * G]).max() < 1e-9 and np.abs(reaction.moment[:, 2]).max() < 1e-12
        assert np.abs(load.force - reaction.force).max() < 1e-12
        assert load.moment[:, 2] == pytest.approx(np.full(2, moment), rel=1e-9)
    ground = run.free_body(GROUND).moments["mesh"][:, 2]
    assert ground == pytest.approx(
        np.full(2, (r[0] + r[1]) * tooth), rel=1e-9
    )  # of the pair of forces T on both bearings


@pytest.fixture(scope="module", params=["elastic", "dissipative"])
def foot(request):
    """The modified ankle at times at which its limits act."""
    times = [0.17, 0.25, 0.52, 0.715, 0.92] if request.param == "elastic" else [0.3, 0.91, 0.95]
    system = models.foot.build("modified", limits=request.param)
    run = runtime.simulate(system, 1.0, t_eval=around(times), rtol=1e-11, atol=1e-11)
    assert run.success and run.limits["talocrural"].restricting_moment.max() > 0.1
    return run


def test_the_massless_link_is_balanced_with_the_moments_of_the_limits(foot):
    """About each axis of the link the load of the ankle has the moment of the limit about this axis, and no other."""
    a = foot.system.joint("ankle").values
    for limit, on, axis in (("talocalcaneal", "main_foot", "a_i"), ("talocrural", "leg", "a_j")):
        motion, load = foot.limits[limit], foot.joint_load("ankle", on=on, axes=on)
        wanted = -np.sign(motion.angle) * motion.restricting_moment - foot.system.limit(limit).damping * motion.rate
        scale = np.abs(load.moment).max()
        assert np.abs(load.moment @ a[axis] - wanted).max() < 1e-10 * scale and np.abs(wanted).max() > 0.02
        # The rows alone leave the link free to turn.
        assert np.abs(foot.reaction("ankle", on=on, axes=on).moment @ a[axis]).max() < 1e-12 * scale
    here, there = foot.joint_load("ankle", on="main_foot"), foot.joint_load("ankle", on="leg")
    link = (
        foot.r["leg"] + foot.rotations("leg") @ a["s_j"] - foot.r["main_foot"] - foot.rotations("main_foot") @ a["s_i"]
    )
    assert np.abs(here.force + there.force).max() < 1e-10 * np.abs(here.force).max()
    assert np.abs(here.moment + there.moment + np.cross(link, there.force)).max() < 1e-10 * np.abs(here.moment).max()


def test_limits_of_a_link_push_its_ends(foot):
    """The load that the foot's motion needs is that of the ankle with its limits; its rows alone leave newtons out."""
    own, toes = momentum_rates(foot, "main_foot")[0], momentum_rates(foot, "toes")[0]
    mass = sum(foot.system.body(body).mass for body in ("main_foot", "toes"))
    needed = own + toes - mass * foot.system.gravity
    assert (
        np.abs(foot.joint_load("ankle", on="main_foot").force[2::5] - needed).max() < 1e-4 * np.abs(needed).max()
    )  # of differences
    assert np.abs(foot.reaction("ankle", on="main_foot").force[2::5] - needed).max() > 1.0
    assert_balanced(foot, 1e-4)


def test_contacts_beyond_a_joint_are_no_load_of_it():
    """A sphere that rests on the ground, on a slide below a body that stands on it."""
    b = Builder("stilt", gravity=(0, 0, -G), axes="global")
    b.body("top", mass=2.0, inertia=(1, 1, 1), r=(0, 0, 1.0))
    b.body("foot", mass=0.5, inertia=(1, 1, 1), r=(0, 0, 0.1))
    b.joint("rail", "translational", GROUND, "foot", point=(0, 0, 0), axis=Z)
    b.joint("stand", "revolute", "foot", "top", point=(0, 0, 0.2), axis=Z)
    b.contact(
        "sole", "foot", centre=(0, 0, 0.1), radius=0.1, law="kelvin_voigt", stiffness=1e5, exponent=1.0, damping=500.0
    )
    run = runtime.simulate(b.build(), 3.0, t_eval=[3.0])
    assert run.free_body("foot").forces["sole"][0] == pytest.approx([0, 0, 2.5 * G], rel=1e-4)
    assert run.joint_load("stand", on="top").force[0] == pytest.approx([0, 0, 2.0 * G], rel=1e-4)
    assert np.abs(run.joint_load("rail", on="foot").force).max() < 1e-9


def test_a_source_that_shares_its_name_has_its_kind():
    b = Builder("stop", axes="global")
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.5, 0, 0))
    b.joint("hip", "revolute", GROUND, "rod", point=(0, 0, 0), axis=Y)
    b.load("hip", "rod", force=X)
    run = runtime.simulate(b.build(), 0.01)
    assert {*run.free_body("rod").forces} == {"hip (joint)", "hip (load)", "gravity"}
    assert_refused("body", run.free_body, "arm")
