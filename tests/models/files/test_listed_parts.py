"""Parts of files that are left out: each is listed, and those named in ``ignore`` are gone."""

import pytest

from tests.support.osim_files import osim
from tests.support.refusals import assert_refused

INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'
ROBOT = (
    '<robot name="r"><link name="base"/><link name="arm">{0}{1}</link><joint name="j" type="revolute"><parent link="base"/>'
    '<child link="arm"/>{2}</joint>{3}</robot>'
)
GEOM = '<geom size="0.1" contype="0" conaffinity="0"/>'
HELD = (
    f'<mujoco><worldbody><body name="a"><freejoint/>{GEOM}</body></worldbody><equality><connect name="hook" body1="a" '
    'anchor="0 0 0"/></equality></mujoco>'
)
POINT = (
    '<ConstraintSet><objects><PointConstraint name="hook"><socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/sled'
    "</socket_body_2></PointConstraint></objects></ConstraintSet>"
)


def listed(reading):
    return {one.sort: one.names for one in reading.left_out}


def test_what_is_no_part_of_urdf_is_listed(read):
    inside = '<origin xyz="0 0 1" quat="1 0 0 0"/><spring k="3"/><dynamics damping="0.1" stiffness="4"/>'
    reading = read(ROBOT.format(INERTIAL, "<gravity/>", inside, '<loop_joint name="c"/>'), "model.urdf")
    assert listed(reading)["unknown"] == (
        "<gravity>, link 'arm'", "quat of <origin>, joint 'j'", "<spring>, joint 'j'", "stiffness of <dynamics>, joint 'j'",
        "<loop_joint>",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("limit", "stops", "free"),
    [
        ("", 0, None),
        ('<limit effort="1" velocity="1"/>', 0, ("j",)),
        ('<limit lower="0" upper="0" effort="1" velocity="1"/>', 0, ("j",)),
        ('<limit lower="-1" upper="0" effort="1" velocity="1"/>', 1, None),
    ],
)
def test_joints_without_a_range_are_listed(read, limit, stops, free):
    reading = read(ROBOT.format(INERTIAL, "", limit, ""), "model.urdf")
    assert len(reading.build().forces) == stops and listed(reading).get("ranges") == free


def test_safety_controllers_are_listed(read):
    reading = read(ROBOT.format(INERTIAL, "", '<safety_controller k_velocity="1"/>', ""), "model.urdf")
    assert listed(reading)["safety controller"] == ("j",)


def test_a_free_link_without_mass_is_refused_by_its_name(read):
    assert_refused(
        "link 'base': moves freely by 'base_free' without mass",
        read,
        ROBOT.format(INERTIAL, "", "", ""),
        "model.urdf",
        floating=True,
    )


@pytest.mark.parametrize(
    ("text", "name", "sort"), [(HELD, "model.xml", "equalities"), (osim(4, extra=POINT), "model.osim", "constraints")]
)
def test_loops_that_are_ignored_are_open(read, text, name, sort):
    names = {"equalities": (), "constraints": ("couplers",)}[sort]
    closed, open_ = (read(text, name, ignore=[*names, *more]) for more in ((), (sort,)))
    assert closed.description.closures and not open_.description.closures
    assert (sort, ("hook",)) in [(one.sort, one.names) for one in open_.ignored]
    assert "hook" not in [joint.name for joint in open_.build().joints]


def test_bones_are_listed_by_their_bodies(read):
    for inside in (
        '<attached_geometry><Mesh name="m"/></attached_geometry>',
        "<VisibleObject><geometry_files>a.vtp</geometry_files></VisibleObject>",
    ):
        text = osim(4).replace('<Body name="femur">', f'<Body name="femur">{inside}')
        assert listed(read(text, "model.osim", ignore="couplers"))["shapes"] == ("femur",)
