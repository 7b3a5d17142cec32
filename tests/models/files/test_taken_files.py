"""Files that their owners take: read as they are, or refused in words of the file."""

import mujoco
import numpy as np
import pytest

import models
import runtime
from tests.support.osim_files import osim
from tests.support.refusals import assert_refused

PLATE = """<mujoco model="plate"><worldbody><body name="plate"><joint name="a" axis="1 0 0"/><joint name="b" axis="0 1 0"/>
<joint name="c" axis="0 0 1"/><inertial pos="0.02 0.01 -0.1" mass="1" diaginertia="{inertia}"/></body></worldbody></mujoco>"""
GEAR = """<mujoco model="gripper"><worldbody>
<body name="left" pos="-0.1 0 0"><joint name="L" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.01" contype="0"/>
 <body name="bar" pos="0 0 0.2"><joint name="B" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.01" contype="0"/></body></body>
<body name="right" pos="0.1 0 0"><joint name="R" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.01" contype="0"/></body>
</worldbody><option><flag contact="disable"/></option><equality><connect name="tip" body1="right" body2="bar" anchor="0 0 0.2"/>
<joint joint1="R" joint2="L"/></equality></mujoco>"""  # noqa: E501
LINK = """<link name="{name}"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
{more}</link>"""
AXLE = """<joint name="axle" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="1 0 0"/></joint>"""
POINT = """<visual><geometry><sphere radius="0"/></geometry></visual>"""
LIMIT = """<CoordinateLimitForce name="{name}"><coordinate>bend</coordinate><upper_stiffness>2</upper_stiffness>
<upper_limit>{upper}</upper_limit><lower_stiffness>2</lower_stiffness><lower_limit>-90</lower_limit><damping>0</damping>
<transition>1</transition></CoordinateLimitForce>"""
ROD = """<?xml version="1.0"?><OpenSimDocument Version="40000"><Model name="rod"><gravity>0 0 0</gravity><BodySet name="b">
<objects><Body name="rod"><mass>1</mass><mass_center>0 0 0</mass_center><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="j"><objects><PinJoint name="elbow"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/rod</socket_child_frame><coordinates><Coordinate name="bend"/></coordinates>
</PinJoint></objects></JointSet>
<ForceSet name="f"><objects>{limits}</objects></ForceSet></Model></OpenSimDocument>"""


@pytest.mark.parametrize("inertia", ["0.01 0.02 0.03", "0.01 0.02 0.0299999"])
def test_a_lamina_on_three_hinges_moves_as_in_mujoco(inertia, read):
    reading, q, h = read(PLATE.format(inertia=inertia), "plate.xml"), (0.2, 0.3, -0.4), 1e-3
    model = mujoco.MjModel.from_xml_path(str(reading.file))
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    builder, places = reading.builder(), [reading.coordinates[name] for name in "abc"]
    for (joint, coordinate), value in zip(places, q, strict=True):
        builder.initial_coordinates(joint, **{coordinate: value})
    run = runtime.simulate(builder.build(), h, rtol=1e-11, atol=1e-14, progress=False)
    changes = [np.ptp(run.angles[joint].values[coordinate][[0, -1]]) for joint, coordinate in places]
    np.testing.assert_allclose(2.0 * np.array(changes) / h**2, np.abs(data.qacc), rtol=1e-4)


def test_limits_of_one_coordinate_add(read):
    limits = "".join(LIMIT.format(name=f"l{upper}", upper=upper) for upper in (20, 40))
    builder = read(ROD.format(limits=limits), "rod.osim").builder()
    builder.initial_coordinates("bend", angle=np.radians(60.0))
    run = runtime.simulate(builder.build(), 1e-3, progress=False)
    moments = [run.forces[name].moment[0] for name in ("bend_limit", "bend_limit2")]
    assert moments == pytest.approx([-80.0, -40.0], rel=1e-6)  # 2 N m/degree, as in OpenSim


def test_shapes_without_size_are_listed(read):
    robot = LINK.format(name="base", more=POINT) + LINK.format(name="arm", more="") + AXLE
    reading = read(f'<robot name="r">{robot}</robot>', "r.urdf")
    (shapes,) = [one for one in reading.left_out if one.sort == "shapes"]
    assert shapes.names == ("base",) and reading.build().degrees_of_freedom == 1


def test_a_welded_subtalar_joint_is_called_welded(read):
    reading = read(osim(4), "small.osim")
    assert_refused(
        "joint 'toes_joint': the file welds it, and both hinges of the ankle move; add an axis by subtalar_axis='isman_inman'",
        models.swap,
        reading,
        "talus_joint",
        "toes_joint",
    )


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("cube.urdf", f'<robot name="c">{LINK.format(name="block", more="")}</robot>', "pass floating=True"),
        ("gear.xml", GEAR, "joint 'R': follows 'L' and belongs to the loop that 'tip' closes"),
    ],
)
def test_refusals_name_parts_of_the_file(name, text, message, read):
    assert_refused(message, lambda: read(text, name).build())
