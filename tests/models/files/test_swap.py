"""The swapped ankle, against files that state it by a talus of almost no mass, and d'Alembert's principle on their links."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import models
from benchmarks.files.states import random_sample, state_of, talus_accelerations
from models.files import write_swapped
from models.files.scalar_coordinates import with_coordinates
from models.files.virtual_power import inverse_dynamics
from runtime import simulate
from runtime.system.trees import trees_of
from tests.support.file_states import coordinate_table
from tests.support.file_states import worst as worst_of
from tests.support.limb_models import TINY, Limb
from tests.support.reduced_links import by_links
from tests.support.refusals import assert_refused

LIMB = Limb()
RIGHT, LEFT = ("ankle_r", "subtalar_r"), ("ankle_l", "subtalar_l")
JOINT = "ankle_angle_{0}_and_subtalar_angle_{0}"
NORMAL = np.cross(LIMB.ankle_axis, LIMB.subtalar_axis)  # of both axes, towards the foot
NORMAL *= np.sign(NORMAL @ LIMB.foot) / np.linalg.norm(NORMAL)
LINE = LIMB.foot / np.linalg.norm(LIMB.foot)  # from the ankle towards the subtalar joint


@pytest.fixture
def read(read):
    """Reads a limb, or the text of a file."""
    return lambda limb, name="limb.osim": read(limb if isinstance(limb, str) else limb.text(), name)


def both(reading, **options):
    return models.swap(models.swap(reading, *RIGHT, **options), *LEFT, **options)


def worst(swapped, file):
    """Largest error of the accelerations of the bodies that are left, against the links of a file."""
    return worst_of(swapped, by_links(file))


@pytest.mark.slow
def test_a_talus_that_is_kept_changes_nothing(read):
    file = read(LIMB)
    kept = both(file, talus="keep")
    assert worst(kept, file) < 1e-9
    assert kept.build().body_names == file.build().body_names
    given = coordinate_table(file, 10, 0.6, seed=2)
    wanted, found = inverse_dynamics(file.source, *given), inverse_dynamics(kept.source, *given)
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.slow
@pytest.mark.parametrize("talus, carrier", [("foot", "calcn"), ("shank", "shank"), ("drop", "")])
def test_the_link_against_a_talus_of_almost_no_mass(read, talus, carrier):
    file = read(LIMB.moved_to(carrier) if carrier else replace(LIMB, talus=TINY), "tiny.osim")
    swapped = both(read(LIMB), talus=talus)
    system = swapped.build()
    assert [system.joint(JOINT.format(side)).kind for side in "rl"] == ["modified_universal"] * 2
    assert (
        set(system.body_names) >= {"pelvis", "shank_r", "calcn_r", "shank_l", "calcn_l"}
        and trees_of(system).tree is not None
    )
    assert not [name for name in system.body_names if "talus" in name or "behind_ankle" in name]
    assert worst(swapped, file) < 1e-9
    given = coordinate_table(file, 10, 0.6, seed=2)
    wanted, found = inverse_dynamics(file.source, *given), inverse_dynamics(swapped.source, *given)
    assert max(np.abs(found[name] - wanted[name]).max() for name in wanted) < 1e-9 * np.abs(wanted["pelvis_y"]).max()


LENGTHS = {
    "0.03 m": ({"talus_length": 0.03}, 0.03 * LINE, 0.03),
    "0.1 m": ({"talus_length": 0.1}, 0.1 * LINE, 0.1),
    # The axis is shifted in the direction in which it lies already.
    "perpendicular": (
        {"talus_length": 0.02, "along": "perpendicular"}, LIMB.foot + NORMAL * (0.02 - NORMAL @ LIMB.foot), 0.02
    ),
    "as the file has it": ({"along": "perpendicular"}, LIMB.foot, NORMAL @ LIMB.foot),
    "universal": ({"with_": "universal"}, 0.0 * LINE, None),
    "0 m": ({"talus_length": 0.0}, 0.0 * LINE, None),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("options, subtalar, length", LENGTHS.values(), ids=LENGTHS)
def test_another_length(read, options, subtalar, length):
    """Axes that meet are a universal joint."""
    file = read(replace(LIMB.moved_to("calcn"), subtalar=subtalar), "other.osim")
    swapped = both(read(LIMB), **options)
    joints = [swapped.build().joint(JOINT.format(side)) for side in "rl"]
    assert {joint.kind for joint in joints} == {"universal" if length is None else "modified_universal"}
    assert length is None or [joint.values["l"] for joint in joints] == pytest.approx([length] * 2, abs=1e-15)
    assert worst(swapped, file) < 1e-9


@pytest.mark.slow
def test_other_axes(read):
    ankle, subtalar = np.array([0.1, -0.05, 2.0]), np.array([1.6, 0.9, 0.3])
    limb = LIMB.moved_to("calcn")
    units = [axis / np.linalg.norm(axis) for axis in (ankle, subtalar)]
    file = read(replace(limb, ankle_axis=units[0], subtalar_axis=units[1]), "other.osim")
    swapped = models.swap(read(LIMB), *RIGHT, axes=(-ankle, subtalar))  # of both senses the one nearer to the file's
    mirror = np.array([-1.0, -1.0, 1.0])
    swapped = models.swap(swapped, *LEFT, axes=(mirror * ankle, mirror * subtalar))
    assert worst(swapped, file) < 1e-9


@pytest.mark.parametrize("side, towards_medial", [("r", -1.0), ("l", 1.0)])
def test_axes_by_angles_of_anatomy(read, side, towards_medial):
    """Projected on the planes of the body: x anterior, y up, z to the right."""
    angles = {
        "talocrural_inclination_deg": 12.0, "talocrural_deviation_deg": 4.0, "subtalar_inclination_deg": 40.0,
        "subtalar_deviation_deg": 25.0,
    }  # fmt: skip
    swapped = models.swap(read(LIMB), f"ankle_{side}", f"subtalar_{side}", axes=angles)
    steps = {step.name: link.rotation @ step.axis for link, step in swapped.source.steps}
    x, y, z = steps[f"subtalar_angle_{side}"]
    x, y, medial = np.sign(x) * np.array([x, y, z * towards_medial])
    assert np.rad2deg([np.arctan2(y, x), np.arctan2(medial, x)]) == pytest.approx([40.0, 25.0])
    x, y, z = steps[f"ankle_angle_{side}"]
    x, y, medial = np.sign(z * towards_medial) * np.array([x, y, z * towards_medial])
    assert np.rad2deg([np.arctan2(y, medial), np.arctan2(x, medial)]) == pytest.approx([12.0, 4.0])


def test_a_short_link_tends_to_the_universal_joint(read):
    """The difference of the accelerations, and of the forces, is proportional to the length."""
    file = read(LIMB)
    classical, given = both(file, with_="universal"), coordinate_table(file, 5, 0.6, seed=2)
    sample, forces = random_sample(classical, np.random.default_rng(4)), inverse_dynamics(classical.source, *given)

    def accelerations(reading):
        system = reading.build()
        found = talus_accelerations(system, state_of(reading, system, sample))
        return dict(zip(system.body_names, found, strict=True))["calcn_r"][3:]

    lengths, wanted, errors = np.array([4e-3, 2e-3, 1e-3]), accelerations(classical), []
    for length in lengths:
        short = both(file, talus_length=length)
        assert short.build().joint(JOINT.format("r")).kind == "modified_universal"
        found = inverse_dynamics(short.source, *given)
        errors.append(
            [
                np.abs(accelerations(short) - wanted).max(),
                max(np.abs(found[name] - forces[name]).max() for name in forces),
            ]
        )
    slopes = np.diff(np.log(errors), axis=0) / np.diff(np.log(lengths))[:, None]
    assert np.abs(slopes - 1.0).max() < 0.1


@pytest.mark.parametrize("talus", ["foot", "shank"])
def test_in_the_reference_pose_the_limb_keeps_its_inertia(read, talus):
    """Forces of the other coordinates, while both hinges rest in the default pose, depend on the sum of the bodies alone."""
    file = read(LIMB)
    q, u, u_dot = coordinate_table(file, 6, 0.6, seed=2)
    for of in (q, u, u_dot):
        for name in of:
            if "ankle" in name or "subtalar" in name:
                of[name] = np.zeros(6)
    wanted = inverse_dynamics(file.source, q, u, u_dot)
    found = inverse_dynamics(both(file, talus=talus).source, q, u, u_dot)
    dropped = inverse_dynamics(both(file, talus="drop").source, q, u, u_dot)
    for name in ("pelvis_turn", "pelvis_x", "pelvis_y", "knee_angle_r", "knee_angle_l"):
        assert found[name] == pytest.approx(wanted[name], rel=1e-10, abs=1e-10)
        assert np.abs(dropped[name] - wanted[name]).max() > 1e-2


@pytest.mark.parametrize(
    "talus, link", [("foot", "calcn_r"), ("drop", "calcn_r"), ("shank", "shank_r"), ("keep", "talus_r")]
)
def test_markers_of_the_talus_stay_in_the_reference_pose(read, talus, link):
    file = read(LIMB)
    marker = models.swap(file, *RIGHT, talus=talus).frames["dome"]
    places = {"calcn_r": LIMB.ankle + LIMB.foot, "shank_r": np.zeros(3), "talus_r": LIMB.ankle}
    assert marker.link == link
    assert places[link] + marker.position == pytest.approx(LIMB.ankle + [0.0, 0.01, 0.02], abs=1e-15)


def test_the_swapped_limb_moves(read):
    swapped = both(read(LIMB))
    run = simulate(swapped.build(), 0.2)
    assert run.success
    assert swapped.coordinates["ankle_angle_r"] == (JOINT.format("r"), "theta_i")
    assert swapped.coordinates["subtalar_angle_l"] == (JOINT.format("l"), "theta_j")
    (row,) = [row for row in swapped.rows() if row[1] == "ankle_r, subtalar_r"]
    assert "modified universal joint" in row[2] and "mass of 'talus_r', 0.1 kg, belongs to 'calcn_r'" in row[2]


@pytest.mark.slow
def test_a_locked_hinge_is_unlocked_if_asked(read):
    locked = read(replace(LIMB, locked=True))
    assert_refused(("locks its coordinate 'subtalar_angle_r' at 0 rad", "unlock=True"), models.swap, locked, *RIGHT)
    swapped = both(locked, unlock=True)
    assert swapped.build().joint(JOINT.format("l")).kind == "modified_universal"
    assert worst(swapped, read(LIMB.moved_to("calcn"), "tiny.osim")) < 1e-9


WELDED, AXIS = replace(LIMB, welded=True), tuple(LIMB.subtalar_axis)
ADDED = {
    "two hinges": {"talus": "keep"},
    "link": {},
    "0.03 m": {"talus_length": 0.03},
    "universal": {"with_": "universal"},
}


@pytest.mark.parametrize("options", ADDED.values(), ids=ADDED)
def test_an_added_axis_that_is_held_changes_no_moment(read, options):
    welded = read(WELDED, "welded.osim")
    swapped = both(welded, subtalar_axis=AXIS, **options)
    given = coordinate_table(welded, 10, 0.6, seed=2)
    wanted = inverse_dynamics(welded.source, *given)
    for of in given:
        of |= {f"subtalar_angle_{side}": np.zeros(10) for side in "rl"}
    found = inverse_dynamics(swapped.source, *given)
    assert set(found) - set(wanted) == {"subtalar_angle_r", "subtalar_angle_l"}
    assert max(np.abs(found[name] - wanted[name]).max() for name in wanted) < 1e-9 * np.abs(wanted["pelvis_y"]).max()


def test_an_added_axis_that_is_held_changes_no_motion(read, tmp_path):
    """The written file with its subtalar coordinates locked moves as the welded one."""
    welded = read(WELDED, "welded.osim")
    file = write_swapped(both(welded, subtalar_axis=AXIS, talus_length=0.03), tmp_path / "written.osim")
    tree = ElementTree.parse(file)
    for one in tree.iter("Coordinate"):
        if one.get("name").startswith("subtalar"):
            one.find("locked").text = "true"
    tree.write(file)
    runs = [simulate(one.build(), 0.3, rtol=1e-12, atol=1e-12) for one in (welded, models.read(file))]
    assert all(run.success for run in runs)
    apart = [np.abs(runs[0].r[name] - runs[1].r[name]).max() for name in ("pelvis", "shank_r", "talus_r", "talus_l")]
    assert max(apart) < 1e-9 and np.ptp(runs[0].r["talus_r"], axis=0).max() > 0.05


def off(found, wanted, seed=2):
    """Largest difference of the forces of two readings in random states, over the largest force."""
    given = coordinate_table(wanted, 10, 0.6, seed=seed)
    one, two = (inverse_dynamics(reading.source, *given) for reading in (wanted, found))
    return max(np.abs(one[name] - two[name]).max() for name in one) / np.abs(one["pelvis_y"]).max()


@pytest.mark.parametrize("options", ADDED.values(), ids=ADDED)
def test_an_added_axis_is_that_of_a_file(read, options):
    """Also through a given point, and with its assumptions among the notes of the reading."""
    hinged, welded = read(LIMB), read(WELDED, "welded.osim")
    assert off(both(welded, subtalar_axis=AXIS, **options), both(hinged, **options)) < 1e-9
    elsewhere = np.array([0.01, 0.02, -0.005])
    other = both(welded, subtalar_axis=AXIS, subtalar_point=elsewhere, **options)
    assert off(other, both(read(replace(LIMB, subtalar=LIMB.foot + elsewhere), "other.osim"), **options)) < 1e-9
    notes = [row for row in other.rows() if row[0] == "added axes"]
    assert [row[1] for row in notes] == ["subtalar_r"] * 3 + ["subtalar_l"] * 3
    assert (
        "37.53 degrees up and 8.735 degrees medially" in notes[0][2]
        and "(0.01, 0.02, 0.005) m of 'calcn_l'" in notes[4][2]
    )


@pytest.mark.parametrize(
    "axis, angles", [("isman_inman", (41.0, 23.0)), ("opensim", (37.5323, 8.7353)), ((30.0, 15.0), (30.0, 15.0))]
)
def test_an_added_axis_by_angles(read, axis, angles):
    """Inversion is positive on both sides: about a direction that is anterior on the right and posterior on the left."""
    swapped = both(read(WELDED), subtalar_axis=axis)
    steps = {step.name: link.rotation @ step.axis for link, step in swapped.source.steps}
    for side, sign in (("r", 1.0), ("l", -1.0)):
        x, y, z = sign * steps[f"subtalar_angle_{side}"]
        assert np.rad2deg(np.arctan2([y, -sign * z], x)) == pytest.approx(angles, abs=1e-3)


def test_a_foot_without_a_talus_gets_a_link(read, tmp_path):
    """The file that is written has both hinges; without a point the link is as long as the published talus is high."""
    one_foot = read(replace(LIMB.moved_to("calcn"), one_foot=True), "one.osim")
    swapped, hinged = one_foot, both(read(LIMB.moved_to("calcn"), "tiny.osim"))
    for side in "rl":
        swapped = models.swap(swapped, f"ankle_{side}", None, subtalar_axis=AXIS, subtalar_point=(0.0, 0.0, 0.0))
    assert swapped.build().joint(JOINT.format("l")).values["l"] == pytest.approx(np.linalg.norm(LIMB.foot))
    for found in (swapped, models.read(write_swapped(swapped, tmp_path / "written.osim"))):
        assert off(found, hinged) < 1e-9
    default = models.swap(one_foot, "ankle_r", None, subtalar_axis="isman_inman")
    assert default.build().joint(JOINT.format("r")).values["l"] == pytest.approx(0.0417)
    assert any("0.0417 m below that of the ankle's axis" in row[2] for row in default.rows())


def test_an_added_axis_is_noted_once_by_two_swaps(read):
    once = models.swap(read(WELDED), *RIGHT, subtalar_axis="opensim")
    twice = models.swap(once, *RIGHT, talus_length=0.03)
    assert len([row for row in twice.rows() if row[0] == "added axes"]) == 3
    assert off(twice, models.swap(read(WELDED), *RIGHT, subtalar_axis="opensim", talus_length=0.03)) < 1e-12


def test_a_joint_that_is_welded_to_the_ground_is_not_the_next_one(read):
    planar = r"<PlanarJoint(.*?)<coordinates>.*?</coordinates>(.*?)</PlanarJoint>"
    text = re.sub(planar, r"<WeldJoint\1\2</WeldJoint>", LIMB.text(), flags=re.DOTALL)
    limb = read(text, "hung.osim")
    assert_refused("are not consecutive", models.swap, limb, "ankle_r", "pelvis_joint", subtalar_axis=AXIS)


WELD_REFUSED = [
    (WELDED, RIGHT, {}, "the file welds it, and both hinges of the ankle move; add an axis by subtalar_axis='isman_inman'"),
    (WELDED, ("ankle_r", "subtaler_r"), {"subtalar_axis": AXIS}, "joint 'subtaler_r': no such joint in the model"),
    (WELDED, RIGHT, {"subtalar_axis": "isman"}, "subtalar_axis = 'isman'; use 'isman_inman', 'opensim', two angles"),
    (WELDED, RIGHT, {"subtalar_axis": 41.0}, "subtalar_axis"),
    (WELDED, RIGHT, {"subtalar_axis": (0.0, 1.0, 0.0)}, "perpendicular to the long axis of the foot"),
    (WELDED, RIGHT, {"subtalar_axis": (0.8, 0.6, 0.1)}, "subtalar_deviation_deg = -7.12502 degrees is outside 4 to 47"),
    (WELDED, RIGHT, {"subtalar_axis": AXIS, "subtalar_point": (0.0, np.nan, 0.0)}, "subtalar_point"),
    (WELDED, RIGHT, {"subtalar_point": (0.0, 0.0, 0.0)}, "subtalar_point= needs an axis"),
    (WELDED, RIGHT, {"subtalar_axis": AXIS, "axes": (None, AXIS)}, "axes= turns a subtalar axis of the file"),
    (
        WELDED, RIGHT, {"subtalar_axis": AXIS, "axes": {"subtalar_inclination_deg": 40.0}},
        "subtalar_inclination_deg= turns a subtalar axis",
    ),
    (LIMB, RIGHT, {"subtalar_axis": AXIS}, "joint 'subtalar_r': has an axis in the file"),
    (replace(LIMB, locked=True), RIGHT, {"subtalar_axis": AXIS}, "leave it out, and use unlock=True"),
    (WELDED, ("ankle_r", None), {"subtalar_axis": AXIS}, "joint 'ankle_r': the model has a joint 'subtalar_r' too; name both"),
    (replace(LIMB, one_foot=True), ("ankle_r", None), {}, "joint 'ankle_r': carries the foot without a subtalar joint; add one"),
]  # fmt: skip


@pytest.mark.parametrize(
    "limb, joints, options, sentence", WELD_REFUSED, ids=[str(n) for n in range(len(WELD_REFUSED))]
)
def test_what_is_refused_of_added_axes(read, limb, joints, options, sentence):
    assert_refused(sentence, models.swap, read(limb), *joints, **options)


def test_twice_is_once(read):
    once = models.swap(read(LIMB), *RIGHT, talus_length=0.03)
    twice = models.swap(models.swap(read(LIMB), *RIGHT), "ankle_angle_r", "subtalar_angle_r", talus_length=0.03)
    links = [{link.name: link for link in one.source.links} for one in (once, twice)]
    assert np.allclose(*(of["calcn_r"].steps[0].point for of in links), atol=1e-15)
    assert [of["calcn_r"].mass for of in links] == pytest.approx([1.3, 1.3], abs=1e-15)
    assert len([row for row in twice.rows() if row[0] == "swapped ankles"]) == 1


REFUSED = [
    (("ancle_r", "subtalar_r"), {}, "joint 'ancle_r': no such joint in the model; did you mean 'ankle_r'?"),
    (("pelvis_joint", "knee_r"), {}, "joint 'pelvis_joint': is no hinge, it has 3 motions (slide, slide, turn), limit 1 turn"),
    (("knee_r", "subtalar_r"), {}, "are not consecutive, 'knee_r' leads to 'shank_r' and 'subtalar_r' starts at 'talus_r'"),
    (("subtalar_r", "ankle_r"), {}, "exchange them, 'ankle_r' lies before 'subtalar_r'"),
    (RIGHT, {"talus_length": -0.01}, "talus_length = -0.01 m must be a finite length of 0 m or more"),
    (RIGHT, {"talus_length": 41.7}, "talus_length"),
    (RIGHT, {"talus_length": 1e-5}, "limit 1e-05 m for a modified universal joint; give a longer talus_length"),
    (RIGHT, {"with_": "universal", "talus_length": 0.03}, "limit 0 m; use with_='modified_universal'"),
    (RIGHT, {"talus": "melt"}, "talus"),
    (RIGHT, {"axes": ((0.0, 0.0, 1.0), (0.6, 0.5, -0.1), 3)}, "axes"),
    (RIGHT, {"axes": (None, (0.0, 0.0, 0.0))}, "axes: the subtalar direction has length 0"),
    (RIGHT, {"axes": (None, (0.0, np.nan, 1.0))}, "axes"),
    (RIGHT, {"axes": ((0.0, 0.0, 1.0), (1e-3, 0.0, -1.0))}, "are parallel within 0.0573 degrees, limit 0.573 degrees"),
    (RIGHT, {"axes": {"subtalar_inclination_deg": 40.0}}, "subtalar_deviation_deg: is missing"),
    (RIGHT, {"axes": {"subtalar_inclination": 40.0}}, "unknown angle 'subtalar_inclination'"),
    (RIGHT, {"axes": {"subtalar_inclination_deg": 80.0, "subtalar_deviation_deg": 20.0}}, "the range of Isman and Inman"),
    (RIGHT, {"axes": {"subtalar_inclination_deg": 40.0, "subtalar_deviation_deg": 20.0}, "side": "up"}, "side"),
]  # fmt: skip


@pytest.mark.parametrize("joints, options, sentence", REFUSED, ids=[str(n) for n in range(len(REFUSED))])
def test_what_is_refused(read, joints, options, sentence):
    assert_refused(sentence, models.swap, read(LIMB), *joints, **options)


def test_the_mass_of_an_earlier_swap(read):
    """The note keeps mass and body; a talus that should be elsewhere is refused, also one as in the file."""
    once = models.swap(read(LIMB), *RIGHT)
    said = [
        next(row[2] for row in one.rows() if row[0] == "swapped ankles")
        for one in (once, models.swap(once, *RIGHT, talus_length=0.01))
    ]
    assert "belongs to 'calcn_r'" in said[0] and said[0].split("; ")[1] == said[1].split("; ")[1]
    for talus in ("shank", "drop", "keep"):
        assert_refused(
            "an earlier swap decided on the talus, mass of 'talus_r'", models.swap, once, *RIGHT, talus=talus
        )


def test_a_reading_is_shown_in_a_line(read):
    shown = repr(models.swap(read(LIMB), *RIGHT))
    assert shown.startswith("Reading of limb.osim (OpenSim, ") and len(shown) < 300 and "swapped ankles (2)" in shown


@pytest.mark.slow
def test_hinges_of_mjcf_are_exchanged(tmp_path):
    """The link between the axes has the given length, and the markers find the exchanged model's motion."""
    from models.walking import inverse_kinematics
    from tests.support.marked_limbs import smooth, trial_of

    sites = "".join(
        f'<site name="{{0}}{k}" pos="{0.1 * (k == 1)} {0.1 * (k == 2)} {0.1 * (k == 3)}"/>' for k in range(4)
    )
    text = f"""<mujoco><compiler angle="radian"/><worldbody><body name="shank" pos="0 0 1"><freejoint name="root"/>
     <geom size="0.1" mass="3"/>{sites.format("a")}<body name="talus" pos="0 0 -0.4"><joint name="ankle" axis="0.1 1 0.1"/>
     <geom size="0.03" mass="0.2"/><body name="foot" pos="0.01 0 -0.04"><joint name="subtalar" axis="1 0.2 0.6"/>
     <geom type="box" size="0.1 0.04 0.02" mass="1"/>{sites.format("b")}</body></body></body></worldbody></mujoco>"""
    file = tmp_path / "leg.xml"
    file.write_text(text)
    swapped = models.swap(models.read(file, ignore="contacts"), "ankle", "subtalar", talus_length=0.03)
    system = swapped.build()
    assert system.joint("ankle_and_subtalar").values["l"] == pytest.approx(0.03) and system.degrees_of_freedom == 8
    whole = replace(swapped, source=with_coordinates(swapped.source))
    q = smooth(whole)
    motion = inverse_kinematics(swapped, trial_of(whole, q))
    assert max(np.abs(motion.q[name] - q[name]).max() for name in q) < 1e-8
