"""What follows coordinates in files: couplers and functions of OpenSim, mimic joints of URDF, joint equalities of MJCF."""

import numpy as np
import pytest

import models
from runtime import ModelError, simulate
from tests.support import opensim_models
from tests.support.file_states import worst
from tests.support.marks import quick_for
from tests.support.paths import shared_file
from tests.support.reduced_links import by_links
from tests.support.refusals import assert_refused

COUPLER = """<CoordinateCouplerConstraint name="gear"><coupled_coordinates_function>{}</coupled_coordinates_function>
 <independent_coordinate_names>{}</independent_coordinate_names>
 <dependent_coordinate_name>{}</dependent_coordinate_name></CoordinateCouplerConstraint>"""
POLYNOMIAL = "<PolynomialFunction><coefficients>0.1 -0.2 0.5 0.1</coefficients></PolynomialFunction>"
SPLINE = opensim_models.spline()
COUPLERS = {
    "line": (opensim_models.line(-0.5, 0.2), "knee_angle", "ankle"), "polynomial": (POLYNOMIAL, "knee_angle", "ankle"),
    "spline": (SPLINE, "knee_angle", "flexion"), "across the body": (opensim_models.line(2, 0), "up", "ankle"),
    # The slides of the knee follow its angle, which follows the ankle.
    "chain": (opensim_models.line(0.7, -0.1), "ankle", "knee_angle"),
}  # fmt: skip
FILES = ("gait10dof18musc.osim", "subject01.osim", "Rajagopal_2015.osim")


@pytest.mark.slow
@pytest.mark.parametrize("version", [3, 4])
def test_slides_along_splines_of_an_angle(read, version):
    reading = read(opensim_models.leg(version))
    assert len(reading.description.followers) == 2 and not reading.ignored
    assert reading.build().degrees_of_freedom == 11
    assert worst(reading, by_links(reading)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", COUPLERS)
def test_couplers_against_the_links(read, kind):
    reading = read(opensim_models.leg(constraints=COUPLER.format(*COUPLERS[kind])))
    system = reading.build()
    assert system.degrees_of_freedom == 10 and len(system.couplings) == 3
    assert worst(reading, by_links(reading)) < 1e-9
    assert simulate(system, 0.05).success


@pytest.mark.slow
@pytest.mark.parametrize("kind", COUPLERS)
def test_couplers_against_the_program(read, in_program, kind):
    reading = read(opensim_models.leg(constraints=COUPLER.format(*COUPLERS[kind])))
    assert worst(reading, in_program(reading)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_for(FILES, FILES[:2], pytest.mark.nightly))
def test_published_models_against_the_links(name):
    reading = models.read(shared_file("opensim", name))
    assert worst(reading, by_links(reading), 5) < 3e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_published_models_against_the_program(in_program, name):
    """Where several turns of one joint follow one angle, OpenSim's accelerations are not the changes of its velocities."""
    reading = models.read(shared_file("opensim", name))
    assert worst(reading, in_program(reading), 100, speed=0.0) < 1e-11
    if name != "Rajagopal_2015.osim":
        assert worst(reading, in_program(reading), 100) < 3e-9


def test_couplers_that_are_ignored_hold_the_default_pose(read):
    reading = read(opensim_models.leg(), ignore="couplers")
    assert [one.sort for one in reading.ignored] == ["couplers"] and not reading.build().couplings


REFUSED = {
    "couplers (ankle of knee_angle": COUPLER.format("<SignalFunction/>", "knee_angle", "ankle"),
    "coordinate 'kne' does not exist": COUPLER.format(SPLINE, "kne", "ankle"),
    "name at least one, each once": COUPLER.format(SPLINE, "up up", "ankle"),
    "has another coupler": 2 * COUPLER.format(SPLINE, "up", "ankle"),
    "couplers (ankle of up knee_angle": COUPLER.format(SPLINE, "up knee_angle", "ankle"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", REFUSED)
def test_couplers_that_are_refused(read, sentence):
    assert_refused(sentence, read, opensim_models.leg(constraints=REFUSED[sentence]))


LINK = """<link name="{}"><inertial><origin xyz="0.1 0.2 -0.1"/><mass value="{}"/>
 <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="-0.02"/></inertial></link>"""
JOINT = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="0.3 0 0.1" rpy="0.1 0.2 0.3"/>
 <axis xyz="{}"/>{}</joint>"""


def gripper(mimic):
    return (
        '<robot name="gripper">' + LINK.format("palm", 1) + LINK.format("left", 0.5) + LINK.format("right", 0.4)
        + '<link name="base"/>' + JOINT.format("wrist", "continuous", "base", "palm", "0 1 0", "")
        + JOINT.format("one", "prismatic", "palm", "left", "1 0 0", '<limit effort="1" velocity="1" lower="-9" upper="9"/>')
        + JOINT.format("two", "continuous", "palm", "right", "0 0.6 0.8", mimic) + "</robot>"
    )  # fmt: skip


def test_mimic_joints(read):
    reading = read(gripper('<mimic joint="one" multiplier="-2" offset="0.3"/>'), "gripper.urdf")
    system = reading.build()
    assert system.degrees_of_freedom == 2
    run = simulate(system, 0.3)
    q = [run.angles[name].values[part] for name, part in (("one", "distance"), ("two", "angle"))]
    assert run.success and np.abs(q[1] - (0.3 - 2.0 * q[0])).max() < 1e-12
    assert worst(reading, by_links(reading)) < 1e-11
    alone = read(gripper('<mimic joint="one"/>'), "gripper.urdf", ignore="mimic")
    assert alone.build().degrees_of_freedom == 3 and alone.ignored[0].sort == "mimic"


@pytest.mark.parametrize(
    "mimic, sentence",
    [
        ('<mimic joint="on"/>', "mimics 'on', which is no other joint"), ('<mimic joint="two"/>', "no other joint"),
        ('<mimic joint="one" multiplier="x"/>', "multiplier"), ('<mimic joint="one" offset="nan"/>', "offset"),
    ],
)  # fmt: skip
def test_mimic_joints_that_are_refused(read, mimic, sentence):
    assert_refused(sentence, read, gripper(mimic), "gripper.urdf")


MJCF = """<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>
 <body name="arm"><joint name="a" axis="0 1 0" ref="0.2"/><geom type="capsule" fromto="0 0 0 0.5 0.1 0" size="0.05"/>
 <body pos="0.5 0 0"><joint name="b" axis="0 1 0.5"/><geom type="box" size="0.1 0.2 0.3" pos="0.2 0 0"/></body></body>
 <body name="block"><joint name="c" type="slide" axis="1 0 1" pos="0 0 0"/><geom type="sphere" size="0.2"/></body>
 </worldbody><equality>{}</equality></mujoco>"""


def test_joint_equalities(read):
    text = MJCF.format('<joint joint1="c" joint2="b" polycoef="0.1 0.5 -0.2 0.1 0.05"/><joint joint1="b" joint2="a"/>')
    reading = read(text, "arm.xml")
    system = reading.build()
    assert system.degrees_of_freedom == 1 and not reading.ignored
    assert worst(reading, by_links(reading)) < 1e-10
    free = read(text, "arm.xml", ignore="equalities")
    assert free.build().degrees_of_freedom == 3 and free.ignored[0].sort == "equalities"


def test_a_joint_alone_is_held_at_its_place(read):
    reading = read(MJCF.format('<joint joint1="c" polycoef="0.1 0 0 0 0"/>'), "arm.xml")
    run = simulate(reading.build(), 0.2)
    assert run.success and np.ptp(run.angles["c"].values["distance"]) < 1e-12
    assert worst(reading, by_links(reading)) < 1e-10
    with pytest.raises(ModelError, match="equalities"):  # no other joint can lead
        alone = "".join(f'<joint joint1="{name}"/>' for name in "abc")
        read(MJCF.format(alone), "arm.xml")


def test_circles_are_refused(read):
    text = MJCF.format('<joint joint1="a" joint2="b"/><joint joint1="b" joint2="a"/>')
    assert_refused("form a circle", lambda: read(text, "arm.xml").build())
