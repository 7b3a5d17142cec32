"""Cases of trees with balls, free steps or no kernel side by side by the recursion: as runs in absolute coordinates."""

import dataclasses
import functools

import numpy as np
import pytest

import runtime
from benchmarks.ensemble_systems import floating
from runtime import Builder, Status
from runtime.ensemble import chunk
from tests.integrate.test_dense_output import rods_on_balls, rolling
from tests.support.joint_trees import random_tree

TIMES = np.linspace(0.0, 0.5, 4)
SETTINGS = dict(t_eval=TIMES, rtol=1e-10, atol=1e-10)
EXACT = dict(rtol=1e-12, atol=1e-12, coordinates="absolute")
JOINT = dict(coordinates="joint")
SHARE = np.linspace(0.9, 1.1, 20)


@functools.cache
def hanging(speed=0.5, length=1.0, damping=None):
    """A ball joint that carries a hinge that carries a ball joint, with a spring, a motor and a load."""
    b = Builder("hanging")
    b.body("upper", mass=1.0, inertia=(0.1, 0.12, 0.1), r=(0.0, 0.0, -0.5 * length), omega=(0.0, 0.2, 1.0), guess=True)
    b.body("middle", mass=0.5, inertia=(0.05, 0.06, 0.07), r=(0.0, 0.1, -1.5 * length))
    b.body(
        "lower", mass=0.3, inertia=(0.02, 0.03, 0.01), r=(0.1, 0.0, -2.2 * length), omega=(speed, 0.0, 2.0), guess=True
    )
    b.joint("hip", "spherical", "ground", "upper", axes="global", point=(0, 0, 0))
    b.joint("knee", "revolute", "middle", "upper", axes="global", point=(0, 0, -length), axis=(0, 1, 0))
    b.joint("ankle", "spherical", "middle", "lower", axes="global", point=(0, 0, -2 * length))
    at = dict(s_i=(1.0, 0.0, -1.0), s_j=(0.0, 0.0, 0.2))
    b.force("spring", "spring_damper", "ground", "lower", **at, stiffness=30.0, damping=0.5, free_length=0.7)
    if damping is not None:
        cone = runtime.Cone.from_degrees([0, 90, 180, 270, 360], [15, 60, 25, 60, 15])
        law = dict(cone=cone, max_moment=20.0, compliance=0.2, damping=damping)
        b.limit("end", "knee", reference="upper", xi=(1, 0, 0), eta=(0, -1, 0), **law)
    b.load("push", "upper", force=(runtime.Signal.function(lambda t: np.sin(5 * t), 0.0, 2.0), 0.0, 0.0))
    return b.build(project_velocities=True)


@pytest.fixture(autouse=True)
def in_lanes(monkeypatch):
    """All cases run in lanes, but those in absolute coordinates."""
    run_each = chunk._run_each

    def never(cases, built, task, of):
        assert not len(cases) or task.how.coordinates == "absolute", "cases ran one by one"
        run_each(cases, built, task, of)

    monkeypatch.setattr(chunk, "_run_each", never)


def of_parameter(name, system):
    own = np.asarray(runtime.parameters(system)[name])
    return {name: own * SHARE.reshape(-1, *[1] * own.ndim)}


NAMES = ["inertia.middle", "stiffness.spring", "s_j.spring", "s_j.knee", "s_i.ankle"]
WAYS = {name: (hanging, lambda name=name: of_parameter(name, hanging()), dict(assemble=True)) for name in NAMES} | {
    "velocities": (hanging, lambda: {"omega.middle": np.outer(SHARE, [0.1, 0.3, -2.0])}, dict(assemble=True)),
    "angle of a turn": (hanging, lambda: {"angle.knee.angle": SHARE, "rate.knee.angle": -2.0 * SHARE}, {}),
    "angle of a ball": (hanging, lambda: {"angle.ankle.orientation_y": SHARE, "rate.ankle.orientation_z": SHARE}, {}),
    "floating": (floating, lambda: of_parameter("mass.left", floating()), {}),
    "floating, thrown": (floating, lambda: {"omega.hub": np.outer(SHARE, [0.3, 1.0, 0.2])}, dict(assemble=True)),
    "built by a function": (hanging, lambda: {"speed": SHARE, "length": SHARE}, {}),
}


BETWEEN = "s_j.knee", "s_i.ankle", "built by a function"  # joints differ, so that no angles are known of all cases


@pytest.mark.parametrize("way", WAYS)
def test_cases_as_in_absolute_coordinates(way):
    build, cases, more = WAYS[way]
    system, cases = build if way.startswith("built") else build(), cases()
    many = runtime.simulate_many(system, cases, 0.5, **SETTINGS | more)
    few = {name: values[[0, 19]] for name, values in cases.items()}
    exact = runtime.simulate_many(system, few, 0.5, t_eval=TIMES, **EXACT | more)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    assert np.abs(many.states()[[0, 19]] - exact.states()).max() < 3e-9  # signs of Euler parameters, too
    assert np.ptp(many.states()[:, -1], axis=0).max() > 1e-3
    run = many[0]
    for joint, angles in run.angles.items() if way not in BETWEEN else ():
        for name, values in angles.values.items():
            assert many.angles[joint].values[name][0] == pytest.approx(values, abs=1e-8)


@pytest.mark.parametrize(("seed", "floating"), [(4, 0.0), (5, 0.0), (8, 0.4), (10, 0.3), (12, 0.3), (14, 0.3)])
def test_starts_are_those_of_displaced(seed, floating):
    """From a state that is not the reference configuration, of coordinates beyond half a turn and balls in either direction."""
    system, state = random_tree(
        seed, coordinates=8, kinds=("spherical", "revolute", "point_on_line"), floating=floating
    )
    system = dataclasses.replace(system, state=state, reference=system.state)
    random = np.random.default_rng(seed)
    names = [f"{part}.{name}" for part in ("angle", "rate") for name in runtime.system.joint_coordinates(system)[0]]
    names = random.permutation(names)[:6].tolist()
    cases = {name: random.uniform(-3.0, 3.0, 5) for name in names}
    many = runtime.simulate_many(system, cases, 0.001, t_eval=[0.0], check_units=False, **JOINT)
    assert many.success
    for case in range(5):
        angles, rates = (
            {name.partition(".")[2]: values[case] for name, values in cases.items() if name.startswith(part)}
            for part in ("angle", "rate")
        )
        start = runtime.system.displaced(system, angles, rates, check_units=False)
        assert many.states()[case, 0].ravel() == pytest.approx(start.y, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("damping", [0.0, 0.05])
def test_limits_of_turns_between_balls(damping):
    system = hanging(damping=damping)
    cases = {"max_moment.end": 20.0 * SHARE, "rate.knee.angle": 4.0 * SHARE, "mass.lower": SHARE}
    names = ["r.lower", "energy", "elastic_energy", "max(limit_excess.end)", "angle.knee.angle", "limit_angle.end"]
    settings = dict(t_eval=np.linspace(0.0, 1.0, 21), outputs=names)
    many = runtime.simulate_many(system, cases, 1.0, rtol=1e-10, atol=1e-10, **settings)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    few = {name: values[::9] for name, values in cases.items()}
    exact = runtime.simulate_many(system, few, 1.0, **EXACT, **settings)
    assert exact["max(limit_excess.end)"].min() > 0.01
    for name in names:
        assert np.abs(many[name][::9] - exact[name]).max() < 1e-7 * max(1.0, np.abs(exact[name]).max())


def test_whole_turns_of_a_rotor_on_a_floating_body():
    b = Builder("rotor")
    b.body("base", mass=1.0, inertia=(1.0, 1.0, 1.2), omega=(0.1, 0.2, 0.0), free=True, guess=True)
    b.body("rotor", mass=0.2, inertia=(0.1, 0.1, 0.1), r=(0.0, 0.0, 0.3))
    b.joint("axle", "revolute", "base", "rotor", axes="global", point=(0, 0, 0.3), axis=(0, 0, 1))
    b.initial_coordinates("axle", rates={"angle": 20.0})
    cases, name, t = {"mass.base": [1.0, 1.1]}, "angle.axle.angle", [0.5, 1.0]
    many = runtime.simulate_many(b.build(), cases, 1.0, t_eval=t)
    kept = runtime.simulate_many(b.build(), cases, 1.0, t_eval=t, outputs=[name])[name]
    assert many.angles["axle"].angle == pytest.approx(np.array([[10.0, 20.0]] * 2), abs=1e-6)
    assert kept == pytest.approx(many.angles["axle"].angle, abs=1e-9)


def test_results_and_euler_parameters_are_those_of_the_tolerance():
    """Over a long run the Euler parameters of balls keep unit length at every output."""
    t = np.linspace(0.0, 20.0, 41)
    many = runtime.simulate_many(floating(), {"mass.left": [1.9, 2.0]}, 20.0, t_eval=t, rtol=1e-6, atol=1e-6)
    lengths = np.linalg.norm(np.stack(list(many.p.values())), axis=-1)
    energies = runtime.simulate_many(floating(), {"mass.left": [2.0]}, 20.0, outputs=["energy"], t_eval=t)["energy"]
    assert np.abs(lengths - 1.0).max() < 1e-14
    assert np.ptp(energies) < 1e-7 * np.abs(energies).max()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "mass", "bound"), [(rolling, "mass.ball", 3e-4), (rods_on_balls, "mass.lower", 4e-6)]
)
def test_rates_within_stiff_steps(build, mass, bound):
    """By the polynomial of order 7 they are 20 times less accurate; single runs find them by the same rule."""
    system, times = build(), np.linspace(0.0, 0.1, 401)[101:]
    how = dict(t_eval=times, rtol=1e-6, atol=1e-6, method="dop853", **JOINT)
    many = runtime.simulate_many(system, {mass: [1.0, 0.95]}, 0.1, workers=1, **how)
    single, exact = runtime.simulate(system, 0.1, **how), runtime.simulate(system, 0.1, t_eval=times, **EXACT)
    assert many.vectorised.all()
    for name in system.body_names:
        assert np.abs(many.omega[name][0] - single.omega[name]).max() < 0.1 * bound
        assert np.abs(many.omega[name][0] - exact.omega[name]).max() < bound
        assert np.abs(many.v[name][0] - exact.v[name]).max() < bound
