"""OpenSim files as the program itself writes and completes them: objects without names or functions, parts outside of sets."""

import numpy as np
import pytest

from runtime import ModelError
from tests.support.file_states import worst
from tests.support.osim_files import AXES, LINEAR, osim
from tests.support.reduced_links import by_links
from tests.support.refusals import assert_refused


@pytest.mark.parametrize("version", [3, 4])
def test_joints_and_constraints_without_a_name_get_one(read, version):
    """Names of OpenSim: the kind in lower case."""
    text = osim(version).replace(' name="talus_joint"', "").replace(' name="toes_joint"', ' name=""')
    assert {link.joint for link in read(text).source.links} >= {"pinjoint", "weldjoint", "tibia_joint"}


def test_axes_without_a_function_are_completed(read):
    """The coordinate itself, or 0 without a coordinate, as ``SpatialTransform::connectToJoint``."""
    stated = {**AXES, "rotation3": ("", "1 0 0", "<Constant{}><value>0</value></Constant>")}
    left = {**stated, "rotation1": ("knee", "0 0.1 2", ""), "rotation3": ("", "1 0 0", "")}
    wanted, found = (read(osim(4, axes=axes)).source for axes in (stated, left))
    laws = [[(law.step, law.value(0.3, 0), law.value(0.3, 1)) for law in source.laws] for source in (wanted, found)]
    axes = [[tuple(step.axis) for link in source.links for step in link.steps] for source in (wanted, found)]
    assert laws[0] == laws[1] and axes[0] == axes[1]
    for one, other in zip(wanted.links, found.links, strict=True):
        assert np.array_equal(one.rotation, other.rotation) and np.array_equal(one.position, other.position)


def test_an_unknown_function_is_not_completed(read):
    axes = {**AXES, "rotation1": ("knee", "0 0.1 2", LINEAR.replace("LinearFunction", "GCVSpline").replace("{}", ""))}
    assert_refused("GCVSpline> is not read", read, osim(4, axes=axes))


COMPONENTS = (
    '<components><Thelen2003Muscle name="soleus"/><CoordinateActuator name="motor"/><IMU name="imu"/><ContactSphere name="heel"/>'
    '<Brick name="box"/>{}</components>'
)
LISTED = {
    "muscles": ("soleus",),
    "actuators": ("motor",),
    "sensors": ("imu",),
    "contact geometry": ("heel",),
    "shapes": ("box",),
}


def test_parts_outside_of_sets_are_sorted_by_their_kind(read):
    reading = read(osim(4, extra=COMPONENTS.format("")), ignore="couplers")
    listed = {one.sort: one.names for one in reading.left_out}
    assert {sort: listed[sort] for sort in LISTED} == LISTED
    assert worst(reading, by_links(reading), 2) < 1e-9


@pytest.mark.parametrize(
    ("part", "sort"),
    [('<SmoothSphereHalfSpaceForce name="sole"/>', "other contacts"), ('<BushingForce name="pad"/>', "components")],
)
def test_forces_outside_of_sets_are_refused(read, part, sort):
    with pytest.raises(ModelError, match=f"ignore='{sort}'"):
        read(osim(4, extra=COMPONENTS.format(part)))


def test_wrapping_is_listed_by_its_objects(read):
    held = '<WrapObjectSet name="wrapobjectset"><objects>{}</objects></WrapObjectSet>'
    for inside, names in (("", None), ('<WrapCylinder name="knob"/>', ("knob",))):
        text = osim(4).replace('<Body name="femur">', f'<Body name="femur">{held.format(inside)}')
        assert {one.sort: one.names for one in read(text).left_out}.get("wrapping") == names


def test_versions_between_3_and_4_are_refused(read):
    text = osim(4).replace("socket_parent_frame", "connectors", 2)
    assert_refused("with OpenSim 4", read, text)


def test_masses_by_which_nothing_can_be_divided_are_none(read):
    links = {link.name: link for link in read(osim(4).replace("<mass>9.0", "<mass>1e-320")).source.links}
    assert links["femur"].mass == 0.0


def test_an_error_of_building_names_the_file_once(read):
    reading = read(osim(4).replace("0.0001 0.0002 0.00015", "0.0001 -0.2 0.00015"))
    assert assert_refused("correct the inertia", reading.build).count("limb.osim") == 1
