"""Mechanisms from the literature: their references are met, and every kind of part and column is understood."""

import copy
import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import codegen
from benchmarks import measure
from benchmarks.mechanisms import geometry, model, outputs, peers, problem, question
from runtime.integrate.choices import RTOL
from runtime.system.reference import rotation_matrix
from tests.support.paths import ROOT
from tests.support.refusals import refused_with

FULL_SERIES = ROOT.parent / "shared" / "mechanisms"
HALF_TURN = [np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0]  # a quarter turn about y


def solved(one, tolerance=1e-11):
    run = question.simulate(one, model.build(one), tolerance)
    assert run.success, run.message
    return run


def judged(one):
    """Largest error of the key columns and of reactions in units of their limits."""
    run = solved(one)
    error, reactions = question.measured(one, run)
    return error / one.good, reactions or 0.0


@pytest.mark.parametrize("name", problem.NAMES)
def test_reference_is_met(name):
    assert max(judged(problem.shipped(name))) < 1.0


@pytest.mark.parametrize("name", ["slider_crank_iftomm", "bricard_brick", "nfourbar_2", "andrews_iftomm"])
def test_reference_of_loops_is_met_in_joint_coordinates_by_kernel(name):
    one = problem.shipped(name)
    system = model.build(one)
    codegen.compile_model(system)
    run = question.simulate(one, system, 1e-11, "joint")
    error, reactions = question.measured(one, run)
    assert run.success and run.stats.kernel == "joint coordinates"
    assert error < 1e-2 * one.good and (reactions or 0.0) < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", problem.NAMES)
def test_full_reference_is_met(name):
    file = FULL_SERIES / f"{name}.json"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    one = problem.read(file)
    assert len(one.t) > len(problem.shipped(name).t)
    assert max(judged(one)) < 1.0


@pytest.mark.parametrize("name", ["slider_crank_iftomm", "bricard_brick", "adams_spherical", "heavy_top"])
def test_every_column_is_met(name):
    one = problem.shipped(name)
    run = solved(one, 1e-12)
    found = problem.errors(one, outputs.columns(one, run))
    assert set(found) == {c["name"] for c in one.columns}
    for column, error in found.items():
        assert error < 2e-8 * max(1.0, np.abs(one.reference[column]).max()), column


def made(t, columns, bodies, joints=(), forces=(), drivers=(), gravity=(0.0, 0.0, -10.0)):
    """A problem with the given columns, name: (kind, entries, values), and bodies of 2 kg with the given entries."""
    body = {"mass": 2.0, "inertia": np.diag([0.3, 0.2, 0.1]).tolist(), "r0": [0, 0, 0], "p0": [1, 0, 0, 0], "v0": [0, 0, 0],
            "w0": [0, 0, 0]}  # fmt: skip
    listed = [{"name": "t", "kind": "time"}, *({"name": n, "kind": k, **e} for n, (k, e, _) in columns.items())]
    data = {
        "name": "made", "gravity": list(gravity), "t_end": float(t[-1]), "bodies": {n: body | b for n, b in bodies.items()},
        "joints": list(joints), "forces": list(forces), "drivers": list(drivers), "outputs": {"columns": listed},
        "acceptance": {"key": [], "good": 1e-6},
    }  # fmt: skip
    return problem.Problem(data, t, {n: np.broadcast_to(v, t.shape) for n, (_, _, v) in columns.items()})


def assert_met(one, tolerance=1e-9):
    found = problem.errors(one, outputs.columns(one, solved(one)))
    assert set(found) == set(one.reference)
    assert max(found.values()) < tolerance, found


def test_driven_hinge():
    """A body on a hinge along y, 0.5 m from its centre, turned by a driver at 40 rad/s: many turns between two times."""
    t, rate = np.linspace(0.0, 2.0, 9), 40.0
    angle, arm = rate * t, 0.5
    x, z = arm * np.cos(angle), -arm * np.sin(angle)
    weight, pull = 2.0 * 10.0, 2.0 * arm * rate**2
    hinge = {"name": "hinge", "type": "revolute", "i": "ground", "j": "rod", "point": [0, 0, 0], "axis": [0, 3, 0]}
    columns = {
        "x": ("pos", {"body": "rod", "comp": 0}, x),
        "tip": ("pos", {"body": "rod", "local": [0.5, 0, 0], "comp": 2}, 2 * z),
        "v": ("vel", {"body": "rod", "local": [-1.0, 0, 0], "comp": 0}, -rate * z),
        "a": ("acc", {"body": "rod", "local": [0.5, 0, 0], "comp": 0}, -(rate**2) * 2 * x),
        "turned": ("angle", {"body": "rod", "axis": [0, 2, 0], "ref": [1, 0, 0]}, angle),
        "e0": ("quat", {"body": "rod", "comp": 0}, -np.cos(angle / 2)),
        "e2": ("quat", {"body": "rod", "comp": 2}, -np.sin(angle / 2)),
        "w": ("omega", {"body": "rod", "comp": 1}, rate),
        "al": ("alpha", {"body": "rod", "comp": 1}, 0.0),
        "w_y": ("omega_body", {"body": "rod", "comp": 1}, rate),
        "F_z": ("reac_force", {"joint": "hinge", "comp": 2}, weight - pull * z / arm),
        "F": ("reac_force_norm", {"joint": "hinge"}, np.hypot(pull * x / arm, weight - pull * z / arm)),
        "T_x": ("reac_torque", {"joint": "hinge", "comp": 0}, 0.0),
        "M": ("driver", {"driver": "motor"}, -weight * x),
        "T": ("kinetic", {}, 0.5 * (2.0 * arm**2 + 0.2) * rate**2),
        "E": ("energy", {}, 0.5 * (2.0 * arm**2 + 0.2) * rate**2 + weight * z),
    }
    driver = {"name": "motor", "i": "ground", "j": "rod", "axis": [0, 1, 0], "rate": rate}
    rod = {"r0": [0.5, 0, 0], "w0": [0, rate, 0], "v0": [0, 0, -rate * 0.5]}
    assert_met(made(t, columns, {"rod": rod}, [hinge], drivers=[driver]), 1e-6)


def test_driver_on_a_turned_body():
    """The torque counts on body j, about the axis that is fixed in body i."""
    t = np.linspace(0.0, 1.0, 5)
    driver = {"name": "motor", "i": "rod", "j": "ground", "axis": [0, 1, 0], "rate": -2.0}
    hinge = {"name": "hinge", "type": "revolute", "i": "rod", "j": "ground", "point": [0, 0, 0], "axis": [0, 1, 0]}
    columns = {"M": ("driver", {"driver": "motor"}, 20.0 * 0.5 * np.cos(2.0 * t))}
    rod = {"r0": [0.5, 0, 0], "p0": HALF_TURN, "w0": [0, 2.0, 0], "v0": [0, 0, -1.0]}
    assert_met(made(t, columns, {"rod": rod}, [hinge], drivers=[driver]))


BALL = {"name": "ball", "type": "spherical", "i": "ground", "j": "top", "point": [0, 0, 0]}
CROSS = {"name": "cross", "type": "universal", "i": "ground", "j": "top", "point": [0, 0, 0], "axis_i": [0, 0, 2],
         "axis_j": [1, 1, 0]}  # fmt: skip


def driven_top(joints, axis=(0, 0, 1)):
    drive = {"name": "drive", "i": "ground", "j": "top", "axis": list(axis), "rate": 3.0}
    bodies = {"top": {"r0": [0.3, 0, -0.4], "v0": [-0.2, 1.1, -0.15], "w0": [0.5, 0.5, 3.0]}}
    one = made(
        np.linspace(0.0, 1.0, 11), {"x": ("pos", {"body": "top", "comp": 0}, 0.0)}, bodies, joints, drivers=[drive]
    )
    one.data["acceptance"]["key"].append("x")
    return one


@pytest.mark.parametrize(("joints", "axis"), [([BALL], (0, 0, 1)), ([CROSS], (1, 1, 0)), ([CROSS], (0, 0.6, 0.8))])
def test_a_driver_about_no_axis_of_its_joint_is_refused(joints, axis):
    """There n . (w_j - w_i) is the rate of no angle."""
    (found,) = question.solutions(driven_top(joints, axis), question.QUICK)
    assert (
        found.status == "not built"
        and "driver 'drive': its axis " in found.remark
        and "is no axis of the" in found.remark
    )


def test_a_driver_on_a_universal_joint():
    one = driven_top([CROSS])
    run = solved(one)
    assert run.success and np.abs(run.omega["top"][:, 2] - 3.0).max() < 1e-8
    model.driven_rates(one, run)


def test_a_driver_against_which_its_body_tilts_is_a_failure():
    found = question.solutions(driven_top([]), question.QUICK)
    assert all("departs from 3 rad/s by" in solution.remark for solution in found)


@pytest.mark.parametrize("lost", ["axis", "point"])
def test_entries_that_lack_are_named(lost):
    """A point never stands for a direction."""
    hinge = {"name": "hinge", "type": "revolute", "i": "ground", "j": "top", "point": [0, 0, 1], "axis": [0, 0, 1]}
    del hinge[lost]
    (found,) = question.solutions(driven_top([hinge]), question.QUICK)
    assert found.status == "not built" and found.remark.startswith(f"'hinge': lacks '{lost}'")


@pytest.mark.parametrize("kind", ["cylindrical", "prismatic", "inline"])
def test_slides(kind):
    """A body slides down a line of 30 degrees; the joint's point on body j moves along, and the moment is about that point."""
    t, along = np.linspace(0.0, 1.0, 5), np.array([np.sqrt(3.0), 0.0, -1.0]) / 2.0
    way = 0.5 * 5.0 * t**2
    points = {"point_i": [0, 0, 0], "point_j": [0, 0, 0]} if kind == "inline" else {"point": [0, 0, 0]}
    joint = {"name": "slide", "type": kind, "i": "ground", "j": "block", "axis": list(along), **points}
    columns = {
        "x": ("pos", {"body": "block", "comp": 0}, way * along[0]),
        "a_z": ("acc", {"body": "block", "comp": 2}, 5.0 * along[2]),
        "F_x": ("reac_force", {"joint": "slide", "comp": 0}, 20.0 * np.cos(np.pi / 6) * 0.5),
        "F_z": ("reac_force", {"joint": "slide", "comp": 2}, 20.0 * np.cos(np.pi / 6) ** 2),
    }
    centre = [0, 0, 0]
    if kind == "prismatic":  # the centre moves 0.4 m beside the line: the moment balances that of the force
        centre = [0, -0.4, 0]
        columns["T_x"] = ("reac_torque", {"joint": "slide", "comp": 0}, -0.4 * 15.0)
        columns["T_z"] = ("reac_torque", {"joint": "slide", "comp": 2}, 0.4 * 20.0 * np.cos(np.pi / 6) * 0.5)
    assert_met(made(t, columns, {"block": {"r0": centre, "p0": HALF_TURN}}, [joint]))


def test_distance_and_universal():
    """A weight on a rod at rest, and a cross whose reaction is a force alone."""
    t = np.linspace(0.0, 0.5, 3)
    rod = {"name": "rod", "type": "distance", "i": "ground", "j": "bob", "point_i": [0, 0, 2], "point_j": [0, 0, 0.5]}
    cross = {"name": "cross", "type": "universal", "i": "ground", "j": "arm", "point": [0, 5, 0], "axis_i": [1, 0, 0],
             "axis_j": [0, 2, 0]}  # fmt: skip
    columns = {
        "F": ("reac_force", {"joint": "rod", "comp": 2}, 20.0),
        "G": ("reac_force_norm", {"joint": "cross"}, 20.0),
        "z": ("pos", {"body": "arm", "comp": 2}, -0.3),
    }
    bodies = {"bob": {}, "arm": {"r0": [0, 5, -0.3]}}
    assert_met(made(t, columns, bodies, [rod | {"length": 1.5}, cross]))


def test_spring_and_torque():
    """A mass on a spring and a damper, beside a free body under a torque."""
    t, k, c = np.linspace(0.0, 2.0, 9), 200.0, 4.0
    decay, frequency = c / 4.0, np.sqrt(k / 2.0 - (c / 4.0) ** 2)
    s = 0.1 * np.exp(-decay * t) * (np.cos(frequency * t) + decay / frequency * np.sin(frequency * t))
    rate = -0.1 * np.exp(-decay * t) * np.sin(frequency * t) * (decay**2 + frequency**2) / frequency
    spring = {"name": "spring", "type": "spring_damper", "i": "ground", "j": "mass", "point_i": [0, 0, 0],
              "point_j": [1.1, 0, 0], "k": k, "c": c, "l0": 1.0}  # fmt: skip
    torque = {"name": "torque", "type": "body_torque", "body": "top", "torque": [0, 0, 0.2]}
    columns = {
        "x": ("pos", {"body": "mass", "comp": 0}, 1.5 + s),
        "F": ("spring_force", {"force": "spring"}, k * s + c * rate),
        "w": ("omega", {"body": "top", "comp": 2}, 2.0 * t),
        "E": ("energy", {}, rate**2 + 0.5 * k * s**2 + 0.05 * (2.0 * t) ** 2),
    }
    bodies = {"mass": {"r0": [1.6, 0, 0]}, "top": {"r0": [0, 3, 0]}}
    assert_met(made(t, columns, bodies, forces=[spring, torque], gravity=(0, 0, 0)), 1e-8)


def test_bounce():
    """A ball that falls on a plane, beside the same law in one coordinate."""
    k, n, chi, radius, t = 1e5, 1.5, 0.4, 0.1, np.linspace(0.0, 1.0, 21)

    def law(_, y):
        d = radius - y[0]
        force = max(0.0, k * d**n * (1.0 - chi * y[1])) if d > 0.0 else 0.0
        return [y[1], force / 2.0 - 10.0]

    height = solve_ivp(law, (0.0, 1.0), [0.5, 0.0], "DOP853", t, rtol=1e-12, atol=1e-12, max_step=1e-3).y[0]
    ball = {"name": "ball", "type": "hunt_crossley_plane", "body": "ball", "point": [1, 2, 0], "normal": [0, 0, 2],
            "radius": radius, "k": k, "n": n, "chi": chi}  # fmt: skip
    columns = {"z": ("pos", {"body": "ball", "comp": 2}, height)}
    assert_met(made(t, columns, {"ball": {"r0": [0, 0, 0.5]}}, forces=[ball]), 1e-7)


@pytest.mark.parametrize("given", ["N", "normal", "weight"])
@pytest.mark.parametrize("mu", [0.8, 0.3])
def test_friction_on_an_incline(mu, given):
    """A block thrown up a slope of 30 degrees stops; it stays if mu is above the slope's 0.577, else it slides back."""
    t, along, N = np.linspace(0.0, 1.0, 21), np.array([np.sqrt(3.0), 0.0, 1.0]) / 2.0, 20.0 * np.sqrt(3.0) / 2.0
    brake, speed = 5.0 + mu * N / 2.0, 3.0
    stop = speed / brake
    back = max(0.0, 5.0 - mu * N / 2.0)
    way = np.where(
        t < stop, speed * t - brake * t**2 / 2, speed * stop / 2 - back * np.clip(t - stop, 0, None) ** 2 / 2
    )
    slope = {"name": "slope", "type": "coulomb_incline", "body": "block", "mu": mu, "direction": list(3 * along)}
    slope |= {"N": {"N": N}, "normal": {"normal": [-1.0, 0.0, np.sqrt(3.0)]}, "weight": {}}[given]
    rail = {"name": "rail", "type": "prismatic", "i": "ground", "j": "block", "point": [0, 0, 0], "axis": list(along)}
    columns = {"x": ("pos", {"body": "block", "comp": 0}, way * along[0])}
    one = made(t, columns, {"block": {"v0": list(speed * along)}}, [rail], [slope])
    run = solved(one, 1e-11)
    assert np.abs(outputs.columns(one, run)["x"] - one.reference["x"]).max() < 1e-7


def test_a_wrong_motion_is_a_failure():
    one = problem.shipped("simple_pendulum")
    wrong = copy.deepcopy(dict(one.data))
    wrong["bodies"]["bob"]["v0"] = [0.0, 1e-3, 0.0]
    moved = problem.Problem(wrong, one.t, one.reference)
    found = question.solutions(moved, question.QUICK)
    assert [solution.status for solution in found] == ["reached_end"] * 2
    assert "limit 1e-06 m" in question.failure([moved], found[-1]) and not question.failure([moved], found[0])


def test_a_problem_that_is_not_built_is_a_failure():
    one = problem.shipped("simple_pendulum")
    data = copy.deepcopy(dict(one.data))
    data["joints"][0]["type"] = "screw"
    unknown = problem.Problem(data, one.t, one.reference)
    (found,) = question.solutions(unknown, question.QUICK)
    assert found.error is None and "unknown type 'screw'" in question.failure([unknown], found)


@pytest.mark.slow
def test_answer(answer, monkeypatch):
    """Talus at its tolerances, and each other program: solutions, or why there are none."""
    monkeypatch.setattr(problem, "NAMES", ("simple_pendulum", "adams_spherical"))
    monkeypatch.setattr(peers, "PROGRAMS", ("exudyn", "mujoco"))
    tables, notes = answer("mechanisms")
    talus = [row for row in tables["mechanisms"] if row["program"] == "Talus"]
    joint = [row for row in tables["mechanisms"] if row["program"] == "Talus, joint coordinates"]
    assert [row["setting"] for row in talus] == [row["setting"] for row in joint] == [*question.QUICK.tolerances] * 2
    talus += joint
    assert all(row["status"] == "reached_end" and row["error [m]"] < 1e-3 for row in talus)
    assert all(row["error [m]"] < 1e-8 for row in talus if row["setting"] == RTOL)
    assert "adams_spherical 1e-05 m" in notes["mechanisms"]
    others = {(row["problem"], row["program"].split()[0].lower()) for row in tables["mechanisms"]}
    left_out = {(row["problem"], row["program"].split()[0].lower()) for row in tables.get("left out", [])}
    missing = {program for one, program in left_out if one == "all"}
    assert not others & left_out
    assert others | left_out >= {(n, p) for n in problem.NAMES for p in peers.PROGRAMS if p not in missing}


# Errors [m] of the other programs at their finest settings: a wrong model of a problem has larger ones.
ERRORS = {
    ("exudyn", "heavy_top"): 1e-4, ("exudyn", "slider_crank_iftomm"): 2e-5, ("exudyn", "andrews_iftomm"): 1e-6,
    ("exudyn", "simple_pendulum"): 2e-5, ("opensim", "heavy_top"): 1e-5, ("opensim", "slider_crank_iftomm"): 1e-6,
    ("opensim", "bricard_brick"): 1e-6, ("opensim", "andrews_iftomm"): 1e-7, ("opensim", "flyball_stiff"): 1e-6,
    ("mujoco", "heavy_top"): 1e-7, ("mujoco", "adams_spherical"): 1e-11, ("drake", "flyball_stiff"): 1e-5,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("program", "name"), ERRORS)
def test_other_programs(program, name):
    answer = question.by_program(problem.shipped(name), program, question.FULL)
    if answer.missing:
        pytest.skip(answer.reason)
    assert answer.solutions, answer.reason
    assert answer.solutions[-1].error < ERRORS[program, name]


@pytest.mark.slow
def test_programs_that_are_not_installed_are_named(monkeypatch):
    """The process says so, the program is asked for once, and the table has its name."""
    monkeypatch.setattr(
        peers, "solve", lambda program, *_: {"name": program, "method": "", "rows": [], "missing": "no drake"}
    )
    monkeypatch.setattr(peers, "PROGRAMS", ("drake",))
    monkeypatch.setattr(problem, "NAMES", ("heavy_top", "adams_spherical"))
    tables = {table.title: table for table in question.ask(quick=True, say=lambda line: None).report.tables}
    assert tables["left out"].rows == [["all", "drake", "no drake"]]
    with pytest.raises(StopIteration):
        request = {"data": {}, "times": [0.0], "key": [], "count": 1}
        answers = peers.answers("nothing_of_this_name", request | {"data": {"outputs": {"columns": []}}})
        assert "nothing_of_this_name" in next(answers)["missing"]
        next(answers)


def test_a_process_that_takes_too_long_is_ended():
    one = problem.shipped("heavy_top")
    found = peers.solve("exudyn", dict(one.data), one.t.tolist(), ["r_x"], 3, 0.01)
    assert found["rows"] == [] and found["error"] == "longer than 0.01 s"


def test_rotations_of_other_programs():
    p = np.array([0.5, -0.1, 0.7, 0.3])
    expected = rotation_matrix(p / np.linalg.norm(p))
    assert np.abs(geometry.rotation(p) - expected).max() < 1e-15


def test_trees_of_joints():
    """Bricard's loop is cut at one hinge, the slider-crank at its ball."""
    branches, closing = geometry.tree(problem.shipped("bricard_brick").data)
    assert len(branches) == 5 and len(closing) == 1
    reached = {"ground"}
    for branch in branches:
        assert branch.parent in reached and branch.child not in reached
        reached.add(branch.child)
        assert {branch.parent, branch.child} == {branch.joint["i"], branch.joint["j"]}
        assert branch.sides == ("ij" if branch.parent == branch.joint["i"] else "ji")
    _, closing = geometry.tree(problem.shipped("slider_crank_iftomm").data)
    assert [joint["name"] for joint in closing] == ["B_sph"]


@pytest.mark.parametrize(
    ("text", "said"), [("{", "no problem file"), ('{"name": "a"}', "KeyError 'reference'"), (None, "No such file")]
)
def test_refuses_files(text, said, tmp_path):
    file = tmp_path / "some.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(measure.BenchmarkError, match=said):
        problem.read(file)


def test_reads_a_series_beside_the_file(tmp_path):
    one = problem.shipped("heavy_top")
    data = copy.deepcopy(dict(one.data))
    columns = data["reference"].pop("columns")
    data["reference"]["file"] = "series.csv"
    rows = np.array(list(columns.values())).T
    lines = ["# a comment", ",".join(columns), *(",".join(repr(float(v)) for v in row) for row in rows)]
    (tmp_path / "series.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "top.json").write_text(json.dumps(data))
    again = problem.read(tmp_path / "top.json")
    assert np.array_equal(again.t, one.t)
    assert all(np.array_equal(again.reference[name], one.reference[name]) for name in one.reference)
    del data["outputs"]["columns"][0]
    (tmp_path / "top.json").write_text(json.dumps(data))
    refused_with(measure.BenchmarkError, "no problem file", problem.read, tmp_path / "top.json")
