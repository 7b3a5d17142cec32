"""Muscles of OpenSim files: their points, cylinders and constants; what is not read refuses its muscle alone, with the reason."""

import numpy as np
import pytest

from models.files.description import ConditionalPoint, MovingPoint, PathPoint
from tests.support import osim_muscles as osim

BOTH = pytest.mark.parametrize("version", [3, 4])
TWO = osim.point("pelvis", "0 0 0") + osim.point("foot", "0.1 0 0")
WITHOUT = "couplers"


def described(read, muscles, wraps="", version=4):
    return read(osim.leg(muscles, wraps, version), ignore=WITHOUT).source


@BOTH
def test_points_of_both_versions(read, version):
    points = (
        osim.point("pelvis", "0.01 0.02 0.03", version)
        + osim.conditional("thigh", "0 -0.1 0.02", -1.5, 0.25, version)
        + osim.moving("shank", version)
        + osim.point("foot", "0.1 0 0", version)
    )
    (muscle,) = described(read, osim.muscle("soleus", points), version=version).muscles
    first, second, third, last = muscle.points
    assert [type(p) for p in muscle.points] == [PathPoint, ConditionalPoint, MovingPoint, PathPoint]
    assert [p.link for p in muscle.points] == ["pelvis", "thigh", "shank", "foot"]
    assert first.location == pytest.approx([0.01, 0.02, 0.03]) and last.location == pytest.approx([0.1, 0.0, 0.0])
    assert second.coordinate == third.coordinate == "knee_angle"
    knee = np.array([-1.51, -1.500009, 0.2, 0.250009, 0.26])
    assert second.active(knee).tolist() == [False, True, True, True, False], "as in OpenSim, 1e-5 beyond the range"
    at, slope = third.at(np.array([-1.0, 0.0]))
    assert at == pytest.approx(np.array([[0.03, -0.12, 0.01], [0.02, -0.1, 0.01]]))
    assert slope[:, 1:] == pytest.approx(np.array([[0.02, 0.0], [0.02, 0.0]]))


def test_a_moving_point_stays_beyond_the_range_of_its_coordinate(read):
    (muscle,) = described(read, osim.muscle("soleus", osim.point("pelvis", "0 0 0") + osim.moving("shank"))).muscles
    point = muscle.points[1]
    assert (point.lower, point.upper) == (-10.0, 10.0), "OpenSim's default"
    ends, slopes = point.at(np.array([10.0, 11.0]))
    assert ends[0] == pytest.approx(ends[1]) and not slopes[1].any() and slopes[0].any()


@BOTH
@pytest.mark.parametrize(("quadrant", "sign"), [("x", 1.0), ("-y", -1.0), ("+Y", 1.0), ("all", None)])
def test_cylinders(read, version, quadrant, sign):
    points = osim.point("pelvis", "0 0 0", version) + osim.point("foot", "0.1 0 0", version)
    text = osim.muscle("gastrocnemius", points, osim.wrap("condyles"))
    (muscle,) = described(read, text, osim.cylinder("condyles", 0.03, quadrant), version).muscles
    (wrap,) = muscle.wraps
    assert (wrap.link, wrap.radius, wrap.length, wrap.first, wrap.last) == ("thigh", 0.03, 0.5, 0, 1)
    assert wrap.centre == pytest.approx([0.01, -0.15, 0.01])
    # Body-fixed turns about x, y, z: the third axis is that of the first two.
    s, c = np.sin, np.cos
    assert wrap.axis == pytest.approx([s(0.2), -s(0.1) * c(0.2), c(0.1) * c(0.2)])
    assert wrap.sided == (sign is not None)
    assert abs(wrap.side @ wrap.axis) < 1e-15 and np.linalg.norm(wrap.side) == pytest.approx(1.0)
    if sign is not None:
        along_x = [c(0.2) * c(0.3), c(0.1) * s(0.3) + s(0.1) * s(0.2) * c(0.3)]
        if quadrant == "x":
            assert wrap.side[:2] == pytest.approx(along_x)
        else:
            assert wrap.side[0] == pytest.approx(-sign * c(0.2) * s(0.3))


def test_a_wrap_has_the_points_of_its_range_and_one_that_is_off_is_none(read):
    points = "".join(osim.point(body, "0 0 0") for body in ("pelvis", "thigh", "shank", "foot"))
    of = described(
        read, osim.muscle("a", points, osim.wrap("on", "2 3")) + osim.muscle("b", points, osim.wrap("off")),
        osim.cylinder("on", quadrant="x") + osim.cylinder("off", more="<active>false</active>"),
    ).muscles  # fmt: skip
    assert [(w.first, w.last) for w in of[0].wraps] == [(1, 2)] and not of[1].wraps


def test_two_cylinders_are_in_the_order_along_the_line(read):
    low = osim.cylinder("low").replace("0.01 -0.15 0.01", "0.01 -0.3 0.01")
    of = described(
        read, osim.muscle("a", TWO, osim.wrap("low") + osim.wrap("high")), low + osim.cylinder("high")
    ).muscles
    assert [w.name for w in of[0].wraps] == ["high", "low"]


def test_constants_have_the_names_of_the_laws(read):
    thelen = osim.muscle(
        "a", TWO,
        more="<max_isometric_force>1500</max_isometric_force><FmaxTendonStrain>0.033</FmaxTendonStrain><Flen>1.8</Flen>"
        "<ignore_tendon_compliance>true</ignore_tendon_compliance><min_control>0.05</min_control>",
    )  # fmt: skip
    millard = osim.muscle(
        "b", TWO, kind="Millard2012EquilibriumMuscle",
        more='<fiber_damping>0.01</fiber_damping><FiberForceLengthCurve name="p"><strain_at_one_norm_force>0.5'
        "</strain_at_one_norm_force><stiffness_at_one_norm_force>5</stiffness_at_one_norm_force></FiberForceLengthCurve>"
        '<TendonForceLengthCurve name="t"><stiffness_at_one_norm_force>30</stiffness_at_one_norm_force></TendonForceLengthCurve>',
    )  # fmt: skip
    de_groote = osim.muscle(
        "c", TWO, kind="DeGrooteFregly2016Muscle",
        more="<active_force_width_scale>1.2</active_force_width_scale><ignore_passive_fiber_force>true"
        "</ignore_passive_fiber_force>",
    )  # fmt: skip
    a, b, c = described(read, thelen + millard + de_groote).muscles
    assert [m.law for m in (a, b, c)] == ["thelen_as_opensim", "millard_as_opensim", "de_groote_as_opensim"]
    defaults = {"optimal_fiber_length": 0.1, "tendon_slack_length": 0.2, "pennation_angle_at_optimal": 0.0}
    assert a.constants == defaults | {"max_isometric_force": 1500.0, "fmax_tendon_strain": 0.033, "flen": 1.8}
    assert a.ignored == ("tendon compliance",) and (a.min_control, a.max_control) == (0.05, 1.0)
    assert b.constants["passive_fiber_stiffness_ratio"] == pytest.approx(5 * 0.5)
    assert b.constants["tendon_stiffness_ratio"] == pytest.approx(30 * 0.049)
    assert b.constants["fiber_damping"] == 0.01 and b.constants["minimum_value"] == 0.0 and b.ignored == ()
    assert c.constants["active_force_width_scale"] == 1.2 and c.ignored == ("passive fiber force",)


@pytest.mark.parametrize(
    ("damping", "ignored", "stated", "lowest"), [(0, "false", 0.02, 0.1), (0, "true", 0.02, 0), (0.1, "false", 0.2, 0)]
)
def test_the_least_active_force_of_millards_muscle_is_that_of_opensim(read, damping, ignored, stated, lowest):
    more = (
        f"<fiber_damping>{damping}</fiber_damping><ignore_tendon_compliance>{ignored}</ignore_tendon_compliance>"
        f'<ActiveForceLengthCurve name="a"><minimum_value>{stated}</minimum_value></ActiveForceLengthCurve>'
    )
    (muscle,) = described(read, osim.muscle("a", TWO, more=more, kind="Millard2012EquilibriumMuscle")).muscles
    assert muscle.constants["minimum_value"] == lowest


@pytest.mark.parametrize(("damping", "ignored", "stated", "slopes"), [
    (0, "false", "", (0.125, 0.075)), (0, "false", (0.11, 0.25, 0.11, 0.15), (0.125, 0.11)),
    (0.0009, "false", (0.0, 0.5, 0.0, 0.3), (0.25, 0.15)), (0, "true", (0.05, 0.25, 0.05, 0.15), (0, 0)),
    (0.1, "false", (0.05, 0.25, 0.05, 0.15), (0, 0)),
])  # fmt: skip
def test_slopes_at_the_maximum_velocities_are_those_of_opensim(read, damping, ignored, stated, slopes):
    """Digits of OpenSim 4.6 after it has finalised the muscle."""
    names = [f"{side}_slope_{at}_vmax" for side in ("concentric", "eccentric") for at in ("at", "near")]
    curve = "".join(f"<{name}>{value}</{name}>" for name, value in zip(names, stated, strict=False))
    more = (
        f"<fiber_damping>{damping}</fiber_damping><ignore_tendon_compliance>{ignored}</ignore_tendon_compliance>"
        f'<ForceVelocityCurve name="v">{curve}</ForceVelocityCurve>'
    )
    (muscle,) = described(read, osim.muscle("a", TWO, more=more, kind="Millard2012EquilibriumMuscle")).muscles
    assert tuple(muscle.constants[name] for name in names[::2]) == slopes


REFUSED = {
    "muscles of the kind RigidTendonMuscle are not read": osim.muscle("bad", TWO, kind="RigidTendonMuscle"),
    "its path has 1 points, and needs two": osim.muscle("bad", osim.point("pelvis", "0 0 0")),
    "has no <GeometryPath>": '<Thelen2003Muscle name="bad"/>',
    "wraps over 'ball', a WrapSphere": osim.muscle("bad", TWO, osim.wrap("ball")),
    "wraps over 'nothing', which does not exist": osim.muscle("bad", TWO, osim.wrap("nothing")),
    "with the quadrant '-z', which is not across its axis": osim.muscle("bad", TWO, osim.wrap("along")),
    "wraps over 'one', 'two', 'three' between the same points, limit two": osim.muscle(
        "bad", TWO, osim.wrap("one") + osim.wrap("two") + osim.wrap("three")
    ),
    "wraps over 'one', 'two' between the same points, limit two cylinders between two points": osim.muscle(
        "bad", TWO + osim.point("foot", "0.2 0 0"), osim.wrap("one") + osim.wrap("two")
    ),
    "wraps over one side of 'side' between more than two points": osim.muscle(
        "bad", TWO + osim.point("foot", "0.2 0 0"), osim.wrap("side")
    ),
    "wraps over 'one' from point 2 to 3 of 2": osim.muscle("bad", TWO, osim.wrap("one", "2 3")),
    "of radius 0 m": osim.muscle("bad", TWO, osim.wrap("thin")),
    "has a point of the kind StationPoint": osim.muscle("bad", TWO + TWO.replace("PathPoint", "StationPoint")),
    "has a point of the coordinate 'ancle', which does not exist": osim.muscle(
        "bad", TWO + osim.conditional("foot", "0 0 0", 0, 1).replace("knee_angle", "ancle")
    ),
    "frame '/bodyset/foto' does not exist": osim.muscle("bad", TWO.replace("/foot", "/foto")),
}  # fmt: skip
WRAPS = (
    osim.cylinder("ball", kind="WrapSphere") + osim.cylinder("along", quadrant="-z") + osim.cylinder("one")
    + osim.cylinder("two") + osim.cylinder("three") + osim.cylinder("side", quadrant="y") + osim.cylinder("thin", 0)
)  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_not_read_refuses_its_muscle_alone(read, reason):
    of = described(read, osim.muscle("good", TWO) + REFUSED[reason], WRAPS)
    assert [m.name for m in of.muscles] == ["good"]
    (refused,) = of.unread_muscles
    assert refused.sort == "muscles" and refused.names == ("bad",) and reason in refused.reason


def test_muscles_that_the_file_switches_off_are_listed(read):
    off = osim.muscle("off", TWO, more="<appliesForce>false</appliesForce>")
    reading = read(osim.leg(off + osim.muscle("on", TWO)), ignore=WITHOUT)
    assert [m.name for m in reading.source.muscles] == ["on"]
    assert {one.sort: one.names for one in reading.left_out}["disabled forces"] == ("off",)
