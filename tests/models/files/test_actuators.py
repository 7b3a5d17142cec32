"""Actuators of files as motors on coordinates."""

import pytest

import runtime
from benchmarks.files.owners import MuJoCo
from tests.support import model_files, opensim_models
from tests.support.file_states import worst

JOINTS = {
    "hinges": '<joint name="a" axis="1 0 0" ref="10"/><joint name="b" axis="0.3 1 0"/>',
    "slide": '<joint name="a" type="slide" axis="1 0 0.2" ref="0.1"/><joint name="b" axis="0.3 1 0"/>',
}
SERVOS = """<actuator>
  <position name="hold" joint="a" kp="3" kv="0.5" gear="2"/><velocity name="brake" joint="b" kv="0.7" gear="-1.5"/>
  <motor name="turn" joint="b" gear="5" ctrlrange="0.3 1" ctrllimited="true"/><motor name="idle" joint="a" gear="4"/>
  <general name="own" joint="b" gainprm="2" biastype="affine" biasprm="0.4 -0.6 -0.2"/></actuator>"""


@pytest.mark.parametrize("joints", JOINTS)
def test_servos_against_mujoco(read, joints):
    reading = read(model_files.mjcf(JOINTS[joints], extra=SERVOS), "model.xml")
    assert worst(reading, MuJoCo(reading).accelerations) < 1e-9
    assert reading.build().motor_names == ("hold", "brake", "turn", "own")
    listed = {one.sort: one.names for one in reading.left_out}
    assert listed["actuators without control"] == ("idle",) and listed["ranges of actuators"] == ("turn",)


def test_servos_that_are_ignored(read):
    reading = read(model_files.mjcf(JOINTS["hinges"], extra=SERVOS), "model.xml", ignore="actuators")
    assert not reading.build().motors and worst(reading, MuJoCo(reading).accelerations) < 1e-9
    assert {one.sort: one.names for one in reading.ignored}["actuators"] == ("hold", "brake", "turn", "own")


def test_idle_actuators_on_request(read):
    reading = read(model_files.mjcf(JOINTS["hinges"], extra=SERVOS), "model.xml", actuators=True)
    assert "idle" in reading.build().motor_names and "effort.idle" in runtime.parameters(reading.build())
    assert "actuators without control" not in [one.sort for one in reading.left_out]


OTHERS = {
    "a range of forces": '<position name="hold" joint="a" kp="3" forcerange="-1 1"/>',
    "a filter": '<position name="hold" joint="a" kp="3" timeconst="0.1"/>',
    "a spring that pushes": '<general name="hold" joint="a" biastype="affine" biasprm="0 3 0"/>',
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_is_no_motor_is_refused(read, what):
    with pytest.raises(runtime.ModelError, match="actuators .hold: they act without a control"):
        read(model_files.mjcf(JOINTS["hinges"], extra=f"<actuator>{OTHERS[what]}</actuator>"), "model.xml")


def test_coordinate_actuators_of_opensim(read):
    text = opensim_models.leg(
        forces='<CoordinateActuator name="a motor"><coordinate>ankle</coordinate></CoordinateActuator>'
    )
    reading = read(text, ignore="couplers")
    assert not reading.build().motors
    assert {one.sort: one.names for one in reading.left_out}["actuators without control"] == ("a_motor",)
    system = read(text, ignore="couplers", actuators=True).build()
    (motor,) = system.motors
    joint, coordinate = reading.coordinates["ankle"]
    assert motor.name == "a_motor" and motor.coordinate == f"{joint}.{coordinate}"
