"""Models of OpenSim: what is read, against d'Alembert's principle on the links and against the program, and what is refused."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import models
from models.files.building import REFERENCE
from models.files.motion import motion_of
from runtime import simulate
from tests.support import opensim_models
from tests.support.file_states import worst
from tests.support.paths import shared_file
from tests.support.reduced_links import by_links
from tests.support.refusals import assert_refused

WITHOUT = "couplers"
FILES = ("arm26.osim", "gait10dof18musc.osim", "subject01.osim", "Rajagopal_2015.osim")
SPRING = """<SpringGeneralizedForce name="spring"><coordinate>ankle</coordinate><stiffness>20</stiffness>
 <rest_length>0.3</rest_length><viscosity>0.4</viscosity></SpringGeneralizedForce>"""
MUSCLE = '<Thelen2003Muscle name="soleus"/><CoordinateActuator name="motor"/>'


@pytest.mark.slow
def test_accelerations_are_those_of_the_links(read):
    reading = read(opensim_models.leg(4, forces=SPRING), ignore=WITHOUT)
    assert worst(reading, by_links(reading)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("version", [3, 4])
def test_accelerations_are_those_of_the_program(read, in_program, version):
    reading = read(opensim_models.leg(version, forces=SPRING), ignore=WITHOUT)
    assert worst(reading, in_program(reading)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_published_models_against_the_program(in_program, name):
    reading = models.read(shared_file("opensim", name), ignore=WITHOUT)
    # Small bodies between three turns of one body change the motion by 1e-9 near gimbal lock (``models.files.grouping``).
    assert worst(reading, in_program(reading), 100) < 3e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES[:2])  # of the others with their couplers: ``test_followers``
def test_published_models_against_the_links(name):
    reading = models.read(shared_file("opensim", name), ignore=WITHOUT)
    assert worst(reading, by_links(reading), 5) < 1e-9


def test_springs_are_read_and_muscles_are_listed(read):
    reading = read(opensim_models.leg(forces=MUSCLE + SPRING), ignore=WITHOUT)
    listed = {one.sort: one.names for one in reading.left_out}
    assert listed["muscles"] == ("soleus",) and listed["actuators"] == ("motor",)
    assert [one.sort for one in reading.ignored] == ["couplers"]
    system = reading.build()
    assert system.degrees_of_freedom == 3 + 5 + 1 + 1 + 1
    assert [force.name for force in system.forces] == ["ankle_spring"]
    assert simulate(system, 0.05).success
    assert reading.frames["toe"].kind == "marker"


def test_the_start_is_the_default_pose(read):
    """The pelvis: 0.2 m forward, 0.9 m up, turned by 0.1 rad; its own axes are turned by 0.2 rad against those of the joint."""
    reading = read(opensim_models.leg(), ignore=WITHOUT)
    pelvis = reading.description.links[0]
    turn = Rotation.from_euler("z", 0.1) * Rotation.from_euler("y", -0.2)
    assert np.allclose(pelvis.rotation, turn.as_matrix(), atol=1e-15)
    assert np.allclose(pelvis.position, [0.2, 0.9, 0.0], atol=1e-15)


REFUSED = {
    "forces (ligament": opensim_models.leg(forces='<Ligament name="ligament"/>'),
    "other contacts (heel": opensim_models.leg(forces='<ElasticFoundationForce name="heel"/>'),
    "force 'stop': coordinate '' does not exist": opensim_models.leg(forces='<CoordinateLimitForce name="stop"/>'),
    "constraints (weld": opensim_models.leg(constraints='<WeldConstraint name="weld"/>'),
    "coordinate 'ancle' does not exist": opensim_models.leg(forces=SPRING.replace(">ankle<", ">ancle<")),
    "has another spring": opensim_models.leg(forces=SPRING + SPRING.replace('"spring"', '"other"')),
    "stiffness = -20": opensim_models.leg(forces=SPRING.replace(">20<", ">-20<")),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_refused(read, sentence):
    assert_refused(sentence, read, REFUSED[sentence])


def test_a_point_constraint_closes_a_loop(read):
    """A pelvis that hangs on a point of the ground."""
    constraint = (
        '<PointConstraint name="hook"><socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/foot</socket_body_2>'
        "<location_body_1>{}</location_body_1><location_body_2>0 0 0</location_body_2></PointConstraint>"
    )
    plain = read(opensim_models.leg(), ignore=WITHOUT)
    system, at = plain.build(), motion_of(plain.description.links, REFERENCE)["foot"][-1].r
    closed = read(
        opensim_models.leg(constraints=constraint.format(" ".join(map(repr, at.tolist())))), ignore=WITHOUT
    ).build()
    assert closed.degrees_of_freedom == system.degrees_of_freedom - 3
    assert simulate(closed, 0.02).success
