"""OpenSim files: what the program computes, the same model in both versions, and the accelerations of the system."""

import numpy as np
import pytest

import models
import runtime
from benchmarks.files.owners import largest_error
from benchmarks.files.states import accelerations_of, random_sample, state_of, talus_accelerations
from models.files import Load, inverse_dynamics
from models.files.motion import Coordinates, motion_of
from models.files.osim_functions import spline
from runtime.system.trees import trees_of
from tests.support.file_states import worst
from tests.support.osim_files import LINEAR, SOLVED, SPLINE_POINTS, SPLINE_VALUES, osim
from tests.support.paths import shared_file
from tests.support.reduced_links import reduced_accelerations
from tests.support.refusals import assert_refused

FORCE = '<ForceSet><objects><{0} name="f">{1}</{0}></objects></ForceSet>'


def in_units(tag, name):
    return osim(4).replace("<gravity>", f"<{tag}>{name}</{tag}><gravity>")


REFUSED = {
    '<length_units> = "millimeters"; numbers of OpenSim models are read in meters': in_units(
        "length_units", "millimeters"
    ),
    '<force_units> = "kN"; numbers of OpenSim models are read in N': in_units("force_units", "kN"),
    "ignore='forces'": osim(4, extra=FORCE.format("FunctionBasedBushingForce", "")),
    "ignore='constraints'": osim(4, extra=FORCE.format("WeldConstraint", "").replace("ForceSet", "ConstraintSet")),
    "prescribed coordinates": osim(4).replace("<range>", "<prescribed>true</prescribed><range>", 1),
    "the joints are WeldJoint": osim(4).replace("PinJoint", "ScapulothoracicJoint"),
    "ignore='components'": osim(4).replace(
        '<Ground name="ground"/>', '<Ground name="ground"><components><Anchor name="a"/></components></Ground>'
    ),
    "needs 1; give as many": osim(3).replace("WeldJoint", "PinJoint"),
    "body 'femur' has no joint": osim(3).replace("<parent_body>pelvis", "<parent_body>hand"),
    "does not exist; name a body": osim(4).replace("/bodyset/talus<", "/bodyset/heel<"),
    "does not exist; name a body or ground": osim(3).replace("<parent_body>femur", "<parent_body>thigh"),
    "has a function and no coordinate": osim(4, axes={"rotation1": ("", "0 0 1", LINEAR)}),
    "at most 1e+60": osim(4).replace("<mass>9.0", "<mass>9e300"),
    "has no length": osim(4, axes={"rotation1": ("knee", "0 0 0", LINEAR)}),
    "no function that is read": osim(4, axes={"rotation1": ("knee", "0 0 1", "<SignalFunction{}/>")}),
    "with x that increase": osim(3).replace("-2 -1.2 -0.4", "-2 -2 -0.4"),
    "upper_limit must be above": osim(
        4, extra=FORCE.format("CoordinateLimitForce", "<coordinate>knee</coordinate><upper_limit>-9</upper_limit>")
    ),
    "coordinate 'hip' does not exist": osim(
        4, extra=FORCE.format("CoordinateLimitForce", "<coordinate>hip</coordinate>")
    ),
    "remove <!DOCTYPE": osim(4).replace("<OpenSimDocument", "<!DOCTYPE a><OpenSimDocument", 1),
    "with a <Model>": "<OpenSimDocument/>",
}


def columns(k):
    return {name: np.array([values[k]]) for name, values in SOLVED.items()}


@pytest.mark.parametrize("version", [3, 4])
def test_inverse_dynamics_of_the_program(version, read):
    source = read(osim(version), ignore="couplers").source
    found = inverse_dynamics(source, *(columns(k) for k in range(3)))
    wanted = columns(3)
    largest = max(abs(values[0]) for values in wanted.values())
    assert {name: values[0] for name, values in found.items()} == pytest.approx(
        {name: values[0] for name, values in wanted.items()}, rel=1e-9, abs=1e-9 * largest
    )


def test_other_default_values_change_the_reference_pose_alone(read):
    defaults = {"knee": -0.7, "hip_y": 0.4, "p_rx": 0.3, "p_ty": 0.9, "twist": 0.2, "reach": 0.1}
    states = [columns(k) for k in range(3)]
    one, two = (inverse_dynamics(read(osim(4, defaults=d), ignore="couplers").source, *states) for d in ({}, defaults))
    for name, values in one.items():
        np.testing.assert_allclose(two[name], values, rtol=1e-9, atol=1e-9)


def test_values_of_the_file_give_one_pose_whatever_the_default_values(read):
    values, poses = {"hip_y": [-0.3, 0.4], "knee": 0.1}, []
    for defaults in ({}, {"hip_y": 0.4}):
        reading = read(osim(4, defaults=defaults), ignore="couplers")
        m = runtime.mechanics(reading.build())
        q = m.configuration(reading.coordinate_values(values))
        poses.append(np.array([m.pose(body, q).r for body in m.system.body_names]))
    np.testing.assert_allclose(*poses, rtol=0, atol=1e-12)
    with pytest.raises(runtime.ModelError, match="unknown coordinate of limb.osim 'kne'; did you mean 'knee'"):
        reading.coordinate_values({"kne": 0.1})


@pytest.mark.slow
@pytest.mark.parametrize("version", [3, 4])
def test_accelerations_of_the_system(version, read):
    reading = read(osim(version, defaults={"hip_y": 0.3, "knee": -0.4}), ignore="couplers")
    system, random = reading.build(), np.random.default_rng(3)
    assert trees_of(system).tree is not None
    for _ in range(5):
        sample = random_sample(reading, random)
        wanted = accelerations_of(reading, system, sample, reduced_accelerations(reading.description, sample))
        assert largest_error(wanted, talus_accelerations(system, state_of(reading, system, sample))) < 1e-8


def test_properties_that_objects_lack_are_those_of_the_defaults(read):
    """OpenSim 4.6 takes them from <defaults> of the model too."""
    text = osim(4)
    masses = text.replace("<mass>0.2</mass>", "")
    assert masses != text
    defaults = '<defaults><Body name="default"><mass>0.2</mass><mass_center>9 9 9</mass_center></Body></defaults>'
    masses = masses.replace('<Model name="small">', f'<Model name="small">{defaults}')
    one, other = (read(t, ignore="couplers").source.links for t in (text, masses))
    for a, b in zip(one, other, strict=True):
        assert a.mass == b.mass and np.array_equal(a.centre, b.centre)


LIMITED = {"knee": (-30.0, 20.0, 2.0, 3.0, 0.05, 12.0), "arm_y": (-10.0, 8.0, 1.0, 0.5, 0.02, 5.0),
           "arm_x": (-5.0, 5.0, 0.4, 0.7, 0.01, 3.0), "s_x": (-0.1, 0.2, 40.0, 90.0, 3.0, 0.05)}  # fmt: skip
TAGS = ("lower_limit", "upper_limit", "lower_stiffness", "upper_stiffness", "damping", "transition")


def limited(version=4):
    """A model with limits of coordinates, of turns in degrees."""
    forces = "".join(
        f'<CoordinateLimitForce name="l_{name}"><coordinate>{name}</coordinate>'
        + "".join(f"<{tag}>{value}</{tag}>" for tag, value in zip(TAGS, values, strict=True))
        + "</CoordinateLimitForce>"
        for name, values in LIMITED.items()
    )
    return osim(
        version, extra=f"<ForceSet><objects>{forces}</objects></ForceSet>", defaults={"knee": -0.4, "arm_y": 0.1}
    )


def limit_force(name, q, u):
    """OpenSim's formula, in degrees for turns."""
    lower, upper, k_lower, k_upper, damping, transition = LIMITED[name]
    unit = 1.0 if name == "s_x" else 180.0 / np.pi
    q, u = unit * q, unit * u
    above, below = (max(min(x / transition, 1.0), 0.0) for x in (q - upper, lower - q))
    above, below = (x**3 * (10.0 - 15.0 * x + 6.0 * x**2) for x in (above, below))
    return -k_upper * above * (q - upper) + k_lower * below * (lower - q) - damping * (above + below) * u


@pytest.mark.slow
def test_limits_of_coordinates_act_as_in_the_program(read):
    reading = read(limited(), ignore="couplers")
    system, random = reading.build(), np.random.default_rng(5)
    steps, acting = {step.name: step for _, step in reading.description.steps}, 0
    for _ in range(12):
        sample = random_sample(reading, random)
        at = {name: sample.q[name] + steps[name].reference for name in LIMITED}
        pushes = {name: limit_force(name, at[name], sample.u[name]) for name in LIMITED}
        acting += sum(push != 0.0 for push in pushes.values())
        wanted = accelerations_of(reading, system, sample, reduced_accelerations(reading.description, sample, pushes))
        assert largest_error(wanted, talus_accelerations(system, state_of(reading, system, sample))) < 1e-9
    assert acting > 20 and not reading.left_out == ()
    free = read(limited(), ignore="couplers,limits")
    assert not free.build().forces and "limits" in {one.sort for one in free.ignored}


def test_limits_against_the_program(read, in_program):
    arm = shared_file("opensim", "arm26.osim").read_text()
    force = "".join(f"<{t}>{v}</{t}>" for t, v in zip(TAGS, (20.0, 60.0, 3.0, 5.0, 0.4, 15.0), strict=True))
    force = f'<CoordinateLimitForce name="l"><coordinate>r_elbow_flex</coordinate>{force}</CoordinateLimitForce>'
    i = arm.index("<objects>", arm.index("<ForceSet")) + len("<objects>")
    reading = read(arm[:i] + force + arm[i:])
    assert reading.build().force_names == ("r_elbow_flex_limit",)
    assert worst(reading, in_program(reading)) < 1e-9


def test_spline_of_the_program():
    function = spline(*map(np.array, SPLINE_POINTS))
    for x, *values in SPLINE_VALUES:
        assert [function.value(x, order) for order in range(3)] == pytest.approx(values, rel=1e-10, abs=1e-12)


def test_parts_of_the_file(read):
    reading = read(osim(4, extra=FORCE.format("Thelen2003Muscle", "")), ignore="couplers")
    assert {one.sort: one.names for one in reading.left_out}["muscles"] == ("f",)
    assert [one.names for one in reading.ignored] == [
        ("tibia_joint_translation1 of knee", "tibia_joint_translation2 of knee", "tibia_joint_translation3 of twist")
    ]
    assert reading.frames["shin"].link == "tibia" and reading.frames["toes"].link == "talus"
    assert set(reading.coordinates) == set(SOLVED)
    held = read(osim(4).replace("<range>", "<locked>true</locked><range>"), ignore="couplers")
    assert not list(held.description.steps) and not held.ignored


@pytest.mark.parametrize("part", REFUSED)
def test_refused_in_one_sentence(part, read):
    assert_refused((part, "limb.osim"), read, REFUSED[part])


@pytest.mark.parametrize(
    ("tag", "name"), [("length_units", "Meters"), ("length_units", "m"), ("force_units", "Newtons")]
)
def test_metres_and_newtons_are_read_by_any_name(tag, name, read):
    assert (
        read(in_units(tag, name), ignore="couplers").source.links[0].mass
        == read(osim(4), ignore="couplers").source.links[0].mass
    )


def test_loads_by_differences_of_places(read):
    """A force does the work F dp, a moment M dphi, with differences of the place and the axes of the body."""
    source = read(osim(4), ignore="couplers").source
    q, u, u_dot = (columns(k) for k in range(3))
    force, moment = np.array([[30.0, 700.0, -50.0]]), np.array([[2.0, -3.0, 9.0]])
    h, local = 1e-6, np.array([0.03, -0.02, 0.01])

    def pose(name, shift):
        at = {one: float(x[0]) + shift * (one == name) for one, x in q.items()}
        steps = {law.step: law.value(at[law.coordinate], 0) - law.reference for law in source.laws}
        moving = motion_of(source.links, Coordinates(steps, {}, {}))["talus"][-1]
        return moving.at(local)[0], moving.A

    load = Load("talus", force, pose("knee", 0.0)[0][None], moment)
    without, found = (inverse_dynamics(source, q, u, u_dot, loads) for loads in ((), (load,)))
    for name in q:
        (p, A), (p_before, A_before) = pose(name, h), pose(name, -h)
        turn = (A - A_before) @ pose(name, 0.0)[1].T / (2.0 * h)
        work = force[0] @ (p - p_before) / (2.0 * h) + moment[0] @ [turn[2, 1], turn[0, 2], turn[1, 0]]
        assert without[name][0] - found[name][0] == pytest.approx(work, rel=1e-6, abs=1e-6)


def test_inverse_dynamics_asks_for_all_coordinates(read):
    source = read(osim(4), ignore="couplers").source
    q, u, u_dot = (columns(k) for k in range(3))
    assert_refused(
        "has no coordinate 'ankle'",
        inverse_dynamics,
        source,
        {name: v for name, v in q.items() if name != "ankle"},
        u,
        u_dot,
    )
    load = Load("heel", *np.zeros((3, 1, 3)))
    assert_refused("no such body; the bodies are", inverse_dynamics, source, q, u, u_dot, [load])
    assert_refused("'knee' is not finite", inverse_dynamics, source, q, {**u, "knee": np.array([np.nan])}, u_dot)


@pytest.mark.parametrize(
    "name, coordinates", [("arm26", 2), ("gait10dof18musc", 10), ("subject01", 23), ("Rajagopal_2015", 39)]
)
def test_models_of_the_program_are_read(name, coordinates):
    reading = models.read(shared_file("opensim", f"{name}.osim"), ignore="couplers")
    assert len({law.coordinate for law in reading.source.laws}) == coordinates
    assert trees_of(reading.build()).tree is not None
