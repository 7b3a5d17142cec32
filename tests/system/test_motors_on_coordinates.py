"""Motors on coordinates of joints by their names."""

import numpy as np
import pytest

import runtime

COORDINATES = {  # name -> the driver that the motor has
    "hinge.angle": "guided_angle", "universal.theta_i": "guided_angle", "universal.theta_j": "guided_angle",
    "link.theta_i": "guided_angle", "link.theta_j": "guided_angle", "sleeve.angle": "guided_angle",
    "sleeve.distance": "guided_slide", "planar.distance": "guided_slide", "planar.distance_1": "guided_slide",
    "planar.angle": "guided_angle", "wire.distance": "guided_slide", "oblique.distance_b": "guided_slide",
}  # fmt: skip
REFUSED = {
    "bal.angle": "unknown joint 'bal'",
    "hinge.angel": "'hinge.angel' is no turn or slide of joint 'hinge'",
    "ball.orientation_x": "is no turn or slide of joint 'ball'",
    "oblique.distance_a": "no driver guides 'oblique.distance_a' alone, without oblique.distance_b, oblique.distance_c",
}


def chain():
    """Bodies in a row, each on another kind of joint; all coordinates start off 0, in motion."""
    b = runtime.Builder("chain", axes="global")
    before, last = "ground", 0

    def joint(name, kind, **values):
        nonlocal before, last
        last += 1
        b.body(f"body_{last}", mass=1.0, inertia=(0.1, 0.12, 0.13), r=(last, 0.1, 0.0))
        b.joint(name, kind, before, f"body_{last}", **values)
        before = f"body_{last}"

    joint("hinge", "revolute", point=(0.5, 0, 0), axis=(0, 1, 0.3))
    joint("universal", "universal", point=(1.5, 0, 0), a_i=(0, 1, 0.1), a_j=(0.2, -0.1, 1))
    joint("link", "modified_universal", s_i=(2.5, 0, 0), s_j=(2.5, 0.3, 0.4), a_i=(1, 0, 0), a_j=(0, 1, 0.2), l=0.5)
    joint("sleeve", "cylindrical", point=(4.5, 0.3, 0), axis=(1, 2, 0.3))
    joint("planar", "parallel_axes", axis=(1, 2, 0.3))
    joint("ball", "spherical", point=(6.5, 0, 0))
    joint("wire", "point_on_line", point=(7.5, 0, 0), axis=(1, 0.5, 0))
    joint("oblique", "oblique_translation", a_i=(1, 0, 0), b_i=(0, 1, 0), c_i=(0.6, 0, 0.8))
    return b


@pytest.fixture(scope="module")
def run():
    b = chain()
    for n, name in enumerate(COORDINATES):
        b.motor(name.replace(".", "_"), coordinate=name, effort=3.0 + n)
        joint, _, column = name.partition(".")
        b.initial_coordinates(joint, **{column: 0.3 - 0.05 * n})
    b.motor("spring", coordinate="hinge.angle", stiffness=2.0, target=0.5)
    return runtime.simulate(b.build(), 0.4, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", COORDINATES)
def test_work_is_effort_times_way(run, name):
    """The effort does work on its own coordinate alone, while all coordinates move."""
    motor = run.system.motors[list(COORDINATES).index(name)]
    assert run.success and motor.joint.kind == COORDINATES[name] and motor.coordinate == name
    joint, _, column = name.partition(".")
    q = getattr(run.angles[joint], column)
    effort = motor.effort(0.0)
    assert abs(q[-1] - q[0]) > 1e-3
    assert run.energy_balance.work[motor.name] == pytest.approx(effort * (q - q[0]), abs=1e-8)


def test_spring_pulls_to_its_target(run):
    q = run.angles["hinge"].angle
    assert run.elastic_energy == pytest.approx((q - 0.5) ** 2, abs=1e-9)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_coordinates(name):
    with pytest.raises(runtime.ModelError, match=REFUSED[name]):
        chain().motor("motor", coordinate=name)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give coordinate, or kind, body and the vectors of a driver"),
        (
            {"kind": "guided_angle", "body": "body_1", "coordinate": "hinge.angle"},
            "coordinate = 'hinge.angle' and kind, body",
        ),
        ({"kind": "guided_angle", "body": "body_1", "target": 1.0}, "target is for coordinate"),
    ],
)
def test_contradictions(given, message):
    with pytest.raises(runtime.ModelError, match=message):
        chain().motor("motor", **given)


def slider_crank(*, angle):
    """A rod on a crank, whose end slides along x; it is given at another angle than that of the assembled pose."""
    b = runtime.Builder("slider crank")
    c, s = np.cos(angle), np.sin(angle)
    b.body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0.25))
    b.body(
        "rod",
        mass=1.0,
        inertia=(0.1, 0.1, 0.1),
        r=(0.5 * c, 0, 0.5 - 0.5 * s),
        p=[[c, 0, s], [0, 1, 0], [-s, 0, c]],
        guess=True,
    )
    b.body("slider", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(np.sqrt(0.75), 0, 0), guess=True)
    across = {"a_i": (0, 1, 0), "a_j": (0, 1, 0)}
    b.joint("base", "revolute", "ground", "crank", s_i=(0, 0, 0), s_j=(0, 0, -0.25), **across)
    b.joint("knee", "revolute", "crank", "rod", s_i=(0, 0, 0.25), s_j=(-0.5, 0, 0), **across)
    b.joint("pin", "revolute", "rod", "slider", s_i=(0.5, 0, 0), s_j=(0, 0, 0), **across)
    b.joint("guide", "translational", "ground", "slider", s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=(1, 0, 0), a_j=(1, 0, 0))
    b.motor("motor", coordinate="knee.angle", stiffness=1.0)
    b.motor("drive", coordinate="base.angle", effort=5.0)
    return b


@pytest.mark.filterwarnings("ignore::runtime.support.errors.AssemblyWarning")
def test_zero_is_the_assembled_pose():
    run = runtime.simulate(slider_crank(angle=0.4).build(), 0.1)
    assert run.elastic_energy[0] < 1e-20 and run.elastic_energy[-1] > 1e-8


def test_vectors_follow_the_joint():
    """As of a system that is built with the changed axis."""

    def built(axis):
        b = runtime.Builder()
        b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1.0))
        b.joint("hinge", "revolute", "ground", "arm", s_i=(0, 0, 0), s_j=(0, 0, 1.0), a_i=axis, a_j=axis)
        b.motor("motor", coordinate="hinge.angle", effort=1.0, stiffness=2.0)
        return b.build()

    found = runtime.with_parameters(
        built((0, 1, 0)), {"a_i.hinge": (1, 0, 0), "a_j.hinge": (1, 0, 0), "effort.motor": 3.0, "stiffness.motor": 4.0}
    )
    loads, expected = found.data.loads, built((1, 0, 0)).data.loads
    assert np.array_equal(loads.x, expected.x) and np.array_equal(loads.vector_local, expected.vector_local)
    assert runtime.parameters(found)["effort.motor"] == 3.0 and loads.stiffness == 4.0
    run = runtime.simulate(found, 0.1)
    assert run.energy_balance.work["motor"][-1] != 0.0


def test_effort_is_a_parameter():
    """Its derivative is that of a hinge: the angle grows with t^2 / 2 of the effort over the inertia."""
    b = runtime.Builder(gravity=(0, 0, 0))
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1.0))
    b.joint("hinge", "revolute", "ground", "arm", s_i=(0, 0, 0), s_j=(0, 0, 1.0), a_i=(0, 1, 0), a_j=(0, 1, 0))
    b.motor("motor", coordinate="hinge.angle", effort=1.0)
    system = b.build()
    many = runtime.simulate_many(system, {"effort.motor": [0.0, 1.0, 2.2]}, 1.0, rtol=1e-10)
    assert many.omega["arm"][:, -1, 1] == pytest.approx(np.array([0.0, 1.0, 2.2]) / 1.1, abs=1e-9)
    slope = runtime.sensitivities(system, {"effort.motor": 1.0}, 1.0)
    assert slope.omega["arm"][-1, 1, 0] == pytest.approx(1.0 / 1.1, abs=1e-7)


@pytest.mark.filterwarnings("ignore::runtime.support.errors.AssemblyWarning")
def test_files_keep_the_coordinate(tmp_path):
    b = slider_crank(angle=0.4)
    read = runtime.Builder.from_file(b.to_file(tmp_path / "model.json")).build()
    assert read.motors[0].coordinate == "knee.angle"
    assert np.array_equal(read.data.loads.x, b.build().data.loads.x)
