"""Muscles of OpenSim files in the built system, against lengths along the file's coordinates, and against OpenSim."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import models
import runtime
from tests.support import osim_muscles as osim
from tests.support.landing_model import unlocked
from tests.support.paths import shared_file

FORWARD = json.loads(Path(osim.__file__).with_name("opensim_forward.json").read_text())
TWO = osim.point("pelvis", "0.02 0 0.02") + osim.point("foot", "0.1 0 0.02")
OVER = osim.point("thigh", "0.06 -0.03 0.01") + osim.point("talus", "0.02 0.1 0")
THROUGH = osim.point("pelvis", "0.1 0 0.02") + OVER + osim.point("foot", "0.1 0 0.02")
END = osim.point("foot", "0.1 0 0.02")
LEAVING = osim.point("pelvis", "0 0 0") + osim.conditional("thigh", "0.1 -0.1 0", -0.8, -0.6) + END
MOVING = osim.point("pelvis", "0 0 0") + osim.moving("shank")
SLACK = "<tendon_slack_length>0.5</tendon_slack_length><optimal_fiber_length>0.3</optimal_fiber_length>"
CYLINDERS = osim.cylinder("near", 0.06) + osim.cylinder("low", 0.03, "x").replace("0.01 -0.15 0.01", "0.04 -0.28 0.01")
PATHS = {
    "straight": osim.muscle("m", TWO),
    "of the ground": osim.muscle("m", osim.point("talus", "0 0.1 0.02") + TWO.replace("/bodyset/pelvis", "/ground")),
    "cylinder": osim.muscle("m", OVER, osim.wrap("near")),
    "side": osim.muscle("m", OVER, osim.wrap("low")),
    "two": osim.muscle("m", OVER, osim.wrap("near") + osim.wrap("low")),
    "range": osim.muscle("m", THROUGH, osim.wrap("near")),
}  # fmt: skip
HELD = ("knee_angle", "toe_out")  # by a coupler that is ignored, and by a lock


def reasons(reading):
    return {name: one.reason for one in reading.left_out if one.sort == "muscles" for name in one.names}


def poses(reading, count=4, held=HELD):
    """Coordinates of the file, random but for those that are held, and the same in the system."""
    rng, q, own = np.random.default_rng(1), {}, {}
    for name, one in reading.source.coordinates.items():
        moves = reading.coordinates.get(name, ("", ""))[0] and name not in held
        q[name] = one.default + (rng.uniform(-0.3, 0.3, count) if moves else np.zeros(count))
        own |= {name: q[name]} if moves else {}
    return q, reading.coordinate_values(own)


@pytest.mark.parametrize("locked", ["", "subtalar"])
@pytest.mark.parametrize("path", PATHS)
def test_lengths_and_moment_arms_of_the_system_are_those_along_the_coordinates_of_the_file(read, path, locked):
    """Where the subtalar joint is locked, the foot is merged into the talus."""
    text = osim.leg(PATHS[path], CYLINDERS)
    free = f'<Coordinate name="{locked}"><default_value>0.0</default_value>'
    reading = read(text.replace(free, f"{free}<locked>true</locked>"), ignore="couplers", muscles=True)
    assert not reasons(reading) and ("subtalar" in reading.coordinates) == (not locked)
    mechanics = runtime.mechanics(reading.build())
    q, own = poses(reading)
    expected = models.files.muscle_paths(reading.source, q)["m"]
    at = mechanics.configuration(own)
    assert mechanics.muscle_length("m", at) == pytest.approx(expected.length, abs=1e-13)
    found = dict(zip(mechanics.rate_names, mechanics.moment_arms("m", at).T, strict=True))
    for name in {"flexion", "ankle", "subtalar"} - {locked}:
        arm = found[f"{'.'.join(reading.coordinates[name])}_rate"]
        assert arm == pytest.approx(expected.moment_arms[name], abs=1e-13)
    assert np.abs(expected.moment_arms["ankle"]).min() > 1e-4


def along(coordinate, text, lower=-0.1, upper=0.15):
    """Points that follow a coordinate, in or out of the path in a range of it."""
    return text.replace("knee_angle", coordinate).replace("<range>-0.8 -0.6<", f"<range>{lower} {upper}<")


BEHIND = LEAVING.replace(END, "") + osim.moving("shank") + END
DRIVEN = {
    "conditional": (LEAVING, ""),
    "moving": (MOVING, ""),
    "both, and a cylinder behind": (BEHIND, osim.wrap("low", "3 4")),
    "a coordinate that turns backwards": (along("adduction", LEAVING, -0.2, 0.0), ""),
    "the first of three turns": (along("flexion", LEAVING, 0.0, 0.4), ""),
    "the second hinge of two": (along("subtalar", LEAVING), ""),
    "moving with a coordinate that turns backwards": (along("adduction", MOVING), ""),
    "a coordinate that is locked within the range": (along("toe_out", LEAVING), ""),
    "a coordinate that is locked beyond the range": (along("toe_out", LEAVING, 0.1, 0.2), ""),
    "moving with a coordinate that is locked": (along("toe_out", BEHIND), ""),
}  # fmt: skip


@pytest.mark.parametrize("path", DRIVEN)
def test_points_that_a_coordinate_moves_are_those_along_the_coordinates_of_the_file(read, path):
    """With the joint whose slides follow the angle of the knee by splines."""
    points, wraps = DRIVEN[path]
    reading = read(osim.leg(osim.muscle("m", points, wraps), CYLINDERS), muscles=True)
    assert not reasons(reading)
    mechanics = runtime.mechanics(reading.build())
    q, own = poses(reading, 16, ["toe_out"])
    expected = models.files.muscle_paths(reading.source, q)["m"]
    at = mechanics.configuration(own)
    assert mechanics.muscle_length("m", at) == pytest.approx(expected.length, abs=1e-13)
    found = dict(zip(mechanics.rate_names, mechanics.moment_arms("m", at).T, strict=True))
    for name in ("flexion", "adduction", "rotation", "knee_angle", "ankle", "subtalar"):
        arm = found[f"{'.'.join(reading.coordinates[name])}_rate"]
        assert arm == pytest.approx(expected.moment_arms[name], abs=1e-12), name
    conditional = next((p for p in reading.source.muscles[0].points if hasattr(p, "active")), None)
    if conditional and conditional.coordinate != "toe_out":
        assert 2 < conditional.active(q[conditional.coordinate]).sum() < 14


@pytest.mark.slow
def test_all_muscles_of_a_landing_are_in_the_system(tmp_path):
    """Of the 70, 14 have conditional points and four of these moving ones too; in poses in and out of all ranges."""
    file = tmp_path / "landing.osim"
    file.write_text(unlocked(shared_file("opensim", "landing", "ToyLandingModel.osim").read_text()))
    reading, rng, q = models.read(file, muscles=True), np.random.default_rng(5), {}
    assert not reasons(reading) and len(reading.source.muscles) == 70
    for name, one in reading.source.coordinates.items():
        lower, upper = (-2.0, 0.15) if name.startswith("knee") else (-1.6, 1.6) if "flexion" in name else (-0.9, 0.6)
        moves = reading.coordinates.get(name, ("", ""))[0]
        q[name] = rng.uniform(lower, upper, 40) if moves else np.full(40, one.default)
    own = reading.coordinate_values({name: q[name] for name in q if reading.coordinates.get(name, ("", ""))[0]})
    mechanics, expected = runtime.mechanics(reading.build()), models.files.muscle_paths(reading.source, q)
    at, rates = mechanics.configuration(own), list(mechanics.rate_names)
    columns = {name: f"{joint}.{coordinate}_rate" for name, (joint, coordinate) in reading.coordinates.items() if joint}
    for muscle in reading.source.muscles:
        path, arms = expected[muscle.name], mechanics.moment_arms(muscle.name, at)
        assert mechanics.muscle_length(muscle.name, at) == pytest.approx(path.length, abs=1e-14), muscle.name
        for name, column in columns.items():
            if column in rates:
                assert arms[:, rates.index(column)] == pytest.approx(path.moment_arms[name], abs=1e-12), (
                    muscle.name,
                    name,
                )
        for point in (point for point in muscle.points if hasattr(point, "active")):
            assert 0 < point.active(q[point.coordinate]).sum() < 40, muscle.name


@pytest.mark.parametrize("path", ["cylinder", "side", "two", "range"])
def test_the_paths_above_touch_their_cylinders(read, path):
    texts = PATHS[path], re.sub("<PathWrap .*</PathWrap>", "", PATHS[path])
    lengths = []
    for text in texts:
        reading = read(osim.leg(text, CYLINDERS), ignore="couplers")
        lengths.append(models.files.muscle_paths(reading.source, poses(reading)[0])["m"].length)
    assert (lengths[0] - lengths[1]).min() > 1e-4


@pytest.mark.parametrize("file", FORWARD)
def test_a_fall_with_muscles_is_that_of_opensim(file):
    """Of Millard et al. and of Thelen, at constant excitations; tests/support/opensim_forward.py made the digits."""
    expected = FORWARD[file]
    reading = models.read(shared_file("opensim", file), muscles=expected["excitations"])
    system = reading.build()
    assert set(expected["excitations"]) == {force.name for force in system.forces if "activation" in force.outputs}
    run = runtime.simulate(system, expected["t"], t_eval=[0.0, expected["t"]], rtol=1e-10, atol=1e-10)
    assert run.success, run.message
    for name in expected["excitations"]:
        ends = [expected["start"][name], expected["end"][name]]
        assert run.forces[name].tension == pytest.approx(ends, rel=1e-6), name
    reference = {step.name: step.reference for _, step in reading.description.steps}
    compared = {name for name, (joint, _) in reading.coordinates.items() if joint and name in expected["coordinates"]}
    assert len(compared) >= 10
    for name in compared:
        joint, coordinate = reading.coordinates[name]
        value = run.angles[joint].values[coordinate][-1] + reference[name]
        assert value == pytest.approx(expected["coordinates"][name], abs=1e-7), name


def test_muscles_are_in_the_system_where_they_are_asked_for(read):
    text = osim.leg(osim.muscle("soleus", TWO) + osim.muscle("biceps", OVER, osim.wrap("near")), CYLINDERS)
    without, every = (read(text, ignore="couplers", muscles=muscles) for muscles in (False, True))
    one = read(text, ignore="couplers", muscles="soleus")
    assert [len(reading.build().forces) for reading in (without, every, one)] == [0, 2, 1]
    assert set(reasons(without)) == {"soleus", "biceps"} and "muscles=True" in reasons(without)["soleus"]
    assert not reasons(every) and set(reasons(one)) == {"biceps"}
    wraps = [
        {n for part in reading.left_out if part.sort == "wrapping" for n in part.names} for reading in (every, one)
    ]
    assert wraps == [{"low"}, {"near", "low"}]


def test_excitations_are_the_default_activations_or_those_that_are_given(read):
    own = SLACK + "<default_activation>0.07</default_activation>"
    text = osim.leg("".join(osim.muscle(name, TWO, more=own) for name in "abc") + osim.muscle("d", TWO))
    signal = runtime.Signal.spline([0.0, 0.1, 0.2], [0.1, 0.5, 0.2], degree=1)
    system = read(text, ignore="couplers", muscles={"a": 0.3, "b": signal}).build()
    run = runtime.simulate(system, 0.1, t_eval=[0.0, 0.1])
    assert run.success, run.message
    assert run.forces["a"].excitation == pytest.approx([0.3, 0.3]) and run.forces["a"].activation[0] == 0.3
    assert run.forces["b"].excitation == pytest.approx([0.1, 0.5])
    every = runtime.parameters(read(text, ignore="couplers", muscles=True).build())
    assert every["excitation.c"] == 0.07 and every["excitation.d"] == 0.05, "OpenSim's default"


@pytest.mark.parametrize("kind", ["Millard2012EquilibriumMuscle", "DeGrooteFregly2016Muscle"])
def test_a_tendon_is_rigid_where_the_file_says_so(read, kind):
    rigid = "<ignore_tendon_compliance>true</ignore_tendon_compliance>"
    text = osim.leg(
        "".join(osim.muscle(name, TWO, more=SLACK + more, kind=kind) for name, more in (("a", rigid), ("b", "")))
    )
    forces = {force.name: force for force in read(text, ignore="couplers", muscles=True).build().forces}
    assert [len(forces[name].module.STATES) for name in "ab"] == [1, 2]
    assert (
        forces["a"].module.LAW
        == forces["b"].module.LAW
        == f"{kind[:7].lower().replace('degroot', 'de_groote')}_as_opensim"
    )


SINE = "<Sine><amplitude>0.01</amplitude></Sine>"
OFF = "<ignore_{}>true</ignore_{}>"
REFUSED = {
    "cylinder and conditional beside each other": osim.muscle("bad", LEAVING, osim.wrap("round")),
    "follow 'pelvis_y', which is no angle of a hinge": osim.muscle("bad", LEAVING.replace("knee_angle", "pelvis_y")),
    "a function that is no cubic spline": osim.muscle("bad", MOVING.replace(osim.SPLINE, SINE)),
    "on one body alone, 'thigh'": osim.muscle("bad", osim.point("thigh", "0 0 0") + osim.point("thigh", "0.1 0 0")),
    "WrapSphere": osim.muscle("bad", OVER, osim.wrap("ball")),
    "switches off activation dynamics": osim.muscle("bad", TWO, more=OFF.format(*2 * ["activation_dynamics"])),
    "no Thelen2003Muscle": osim.muscle("bad", TWO, more=OFF.format(*2 * ["tendon_compliance"])),
    "over 5 bodies": osim.muscle("bad", "".join(osim.point(b, "0 0 0.1") for b in ("pelvis", "thigh", "shank", "talus", "foot"))),
    "Flen|flen": osim.muscle("bad", TWO, more="<Flen>0.9</Flen>"),
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_what_no_builder_states_refuses_its_muscle_alone(read, reason):
    ball = osim.cylinder("ball", kind="WrapSphere") + osim.cylinder("round")
    text = osim.leg(REFUSED[reason] + osim.muscle("good", TWO), ball)
    reading = read(text, ignore="couplers", muscles=True)
    assert [force.name for force in reading.build().forces] == ["good"]
    assert set(reasons(reading)) == {"bad"} and any(word in reasons(reading)["bad"] for word in reason.split("|"))
    with pytest.raises(runtime.ModelError, match=f"^limb.osim: muscle 'bad': .*({reason})"):
        read(text, ignore="couplers", muscles=["good", "bad"])


def test_an_unknown_muscle_is_refused_with_the_nearest(read):
    with pytest.raises(runtime.ModelError, match="unknown muscle 'soleu'; did you mean 'soleus'"):
        read(osim.leg(osim.muscle("soleus", TWO)), ignore="couplers", muscles="soleu")


def test_muscles_pass_the_massless_link_of_a_swapped_ankle(read):
    """The length in the reference pose stays; a point on the link, with which no body moves, refuses its muscle."""
    on_talus = osim.point("shank", "0.02 0.1 0.02") + osim.point("talus", "0.05 0 0.01")
    text = osim.leg(osim.muscle("across", TWO) + osim.muscle("upon", on_talus))
    text = text.replace('<coordinate name="toe', "").replace("UniversalJoint", "PinJoint")
    head, _, tail = text.partition('<Coordinate name="toe_out">')
    text = head + tail.partition("</Coordinate>")[2]
    reading = read(text, ignore="couplers", muscles=True)
    swapped = models.swap(reading, "ankle", "subtalar", check_units=False)
    assert set(reasons(swapped)) == {"upon"} and "'talus', which moves without mass" in reasons(swapped)["upon"]
    assert [force.name for force in reading.build().forces] == ["across", "upon"]
    lengths = [
        runtime.simulate(one.build(), 0.01, t_eval=[0.0]).forces["across"].length[0] for one in (reading, swapped)
    ]
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-14)


def test_an_excitation_is_from_0_to_1(read):
    with pytest.raises(runtime.ModelError, match="muscle 'soleus': excitation = 1.5, must not be above 1; give"):
        read(osim.leg(osim.muscle("soleus", TWO)), ignore="couplers", muscles={"soleus": 1.5})
