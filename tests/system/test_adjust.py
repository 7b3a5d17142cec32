"""Data that give way: closed loops of rounded data close in all poses of their motion, by a small change that is reported."""

import json
import pickle
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import codegen
import runtime
from runtime import GROUND, AssemblyError, Builder
from runtime.cli import app
from runtime.system import adjusting
from runtime.system.loop_rows import LoopRows
from runtime.system.parameters import replace_parameters
from runtime.system.reference import states_with_ground
from tests.support.loops import bennett, bricard, four_bar_of_tilted_hinges, rounded
from tests.support.random_mechanisms import RandomMechanism, random_edges
from tests.support.refusals import assert_refused, refused_with

DIGITS = {
    "bennett": (bennett, 4, 1e-10), "bricard": (bricard, 4, 1e-10), "bennett of 3": (bennett, 3, 1e-10),
    "bricard of 6": (bricard, 6, 1e-10), "bricard of 3": (bricard, 3, 1e-9),
}  # fmt: skip


@pytest.mark.parametrize("linkage, digits, bound", DIGITS.values(), ids=DIGITS)
def test_rounded_loops_move_and_stay_right_for_ten_seconds(linkage, digits, bound):
    with pytest.raises(AssemblyError):
        rounded(linkage, digits).build()
    system = rounded(linkage, digits).build(adjust=True)
    assert system.degrees_of_freedom == 1 and system.assembly.remarks == ()
    assert 0.1 * 10.0**-digits < max(change.change for change in system.assembly.adjustments) < 3 * 10.0**-digits
    assert system.assembly.largest_move < 1e-2 * 10.0**-digits  # the data give way, the bodies stay
    run = runtime.simulate(system, 10.0, t_eval=np.linspace(0, 10, 101))
    assert run.success, run.message
    assert run.violation.max() < bound
    assert np.ptp(run.energy) < 1e-7 * np.ptp(run.kinetic_energy)
    assert max(np.ptp(run.r[body], axis=0).max() for body in system.body_names) > 0.1  # it did move


def test_the_motion_is_near_that_of_exact_data():
    t = np.linspace(0.0, 2.0, 21)
    runs = [
        runtime.simulate(builder.build(adjust=adjust), 2.0, t_eval=t)
        for builder, adjust in ((rounded(bennett, 15), None), (rounded(bennett, 5), True))
    ]
    for body in runs[0].system.body_names:
        assert 1e-8 < np.abs(runs[0].r[body] - runs[1].r[body]).max() < 1e-3


def test_tilted_hinges_turn_back():
    tilt = 1e-5
    system = four_bar_of_tilted_hinges(tilt).build(adjust=True)
    assert system.degrees_of_freedom == 1
    assert runtime.simulate(system, 2.0).success
    for change in system.assembly.adjustments:
        assert (change.change < 5 * tilt) if change.name.startswith("a_") else (change.change < 1e-3 * tilt)
        assert change.unit == ("rad" if change.name.startswith("a_") else "m")


def slider_crank(rod=0.5, **options):
    """A crank of 0.2 m, a rod and a slider; the bodies are where a rod of 0.5 m has them."""
    b = Builder("slider-crank")
    end = np.sqrt(0.5**2 - 0.2**2)
    b.body("crank", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, 0.1))
    b.body("slider", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(end, 0, 0))
    b.joint("A", "revolute", GROUND, "crank", s_i=(0, 0, 0), s_j=(0, 0, -0.1), a_i=(0, 1, 0), a_j=(0, 1, 0))
    b.joint("rod", "constant_distance", "crank", "slider", s_i=(0, 0, 0.1), s_j=(0, 0, 0), l=rod)
    b.joint("D", "translational", GROUND, "slider", s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=(1, 0, 0), a_j=(1, 0, 0))
    return b.build(**options)


@pytest.mark.parametrize("adjust", [["l.rod"], {"l.rod": 1e-3}])
def test_a_length_gives_way_and_the_bodies_stay(adjust):
    system = slider_crank(0.5004, adjust=adjust)
    (change,) = system.assembly.adjustments
    assert change.name == "l.rod" and change.given == 0.5004 and change.used == pytest.approx(0.5, abs=1e-9)
    assert change.change == pytest.approx(4e-4, abs=1e-9) and change.unit == "m"
    assert system.joint("rod").values["l"] == change.used
    assert system.assembly.largest_move < 1e-9
    assert slider_crank(0.5004).assembly.largest_move > 1e-4


def test_accuracies_weigh_the_changes():
    def shares(first, second):
        found = slider_crank(0.5004, adjust={"l.rod": first, "s_j.rod": second}).assembly.adjustments
        return {change.name: change.change for change in found}

    even, uneven = shares(1e-3, 1e-3), shares(1e-4, 1e-2)
    assert 0.5 < even["l.rod"] / even["s_j.rod"] < 2.0
    assert uneven["l.rod"] < 1e-3 * uneven["s_j.rod"]


def test_only_chosen_data_change():
    names = [f"hinge_{k}" for k in range(3)]
    system = rounded(bennett, 4).build(adjust=names)
    changed = {change.name.partition(".")[2] for change in system.assembly.adjustments if change.change > 0}
    assert changed == set(names)
    given = rounded(bennett, 4)._of["joints"]["hinge_3"].values
    assert all(np.array_equal(system.joint("hinge_3").values[key], given[key]) for key in given)


def test_data_that_cannot_close_the_loop_are_refused():
    said = "no small change of s_j.hinge_0 closes the loops in all poses ", "adjust=True"
    refused_with(AssemblyError, said, rounded(bennett, 4).build, adjust=["s_j.hinge_0"])


@pytest.mark.parametrize(
    "adjust, message",
    [
        ("hinge_0", r"adjust = 'hinge_0'.* give True"),
        (3.0, r"adjust = 3\.0.* give True"),
        (
            ["hinge_9"],
            r"'hinge_9' is no joint and no point, direction or length of one; these are hinge_., .*a_j\.hinge_3",
        ),
        ([4], r"adjust.* 4[ ;].* give"),
        ({"hinge_0": 0.0}, r"accuracy of 'hinge_0' = 0 is not positive"),
    ],
)
def test_bad_choices_are_refused(adjust, message):
    assert_refused(re.compile(message), rounded(bennett, 4).build, adjust=adjust)


def test_exact_data_stay():
    changes = rounded(bennett, 15).build(adjust=True).assembly.adjustments
    assert len(changes) == 16 and max(change.change for change in changes) < 1e-13


def test_changes_are_told_in_talus_info_and_travel():
    system = rounded(bennett, 4).build(adjust=True)
    assert pickle.loads(pickle.dumps(system)).assembly == system.assembly
    done = CliRunner().invoke(app, ["info", "tests.system.test_adjust:linkage_for_info", "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["data that gave way"]
    assert [row["name"] for row in rows] == [change.name for change in system.assembly.adjustments]
    assert rows[0]["change"] == f"{system.assembly.adjustments[0].change:.2g} {system.assembly.adjustments[0].unit}"


def linkage_for_info():
    return rounded(bennett, 4).build(adjust=True)


# --- derivatives over the data --------------------------------------------------------------------------------------------------


def differences(system, y, k, part, step=1e-6):
    """Rows of joint k over one of its data in axes of its body, by central differences of systems (rows, columns)."""
    value, kind = (
        system.joints[k].values[part],
        {name: kind for name, kind, _ in system.joints[k].module.VECTORS}.get(part),
    )
    columns = []
    for direction in np.eye(3) if kind else [1.0]:
        sides = []
        for sign in (1, -1):
            if kind == "direction":
                moved = value + np.cross(sign * step * direction, value)
                moved = moved / np.linalg.norm(moved)
            else:
                moved = value + sign * step * direction
            other = replace_parameters(system, {f"{part}.{system.joints[k].name}": moved})
            rows = LoopRows(other, 1.0).at(y)
            sides.append(rows.work.Phi[k, : len(system.joints[k].rows)].copy())
        columns.append((sides[0] - sides[1]) / (2 * step))
    return np.array(columns).T


def held_in_a_root(r_i, s_i, a_i, h_i, r_j, s_j, xi_j, held, carried, l):
    """A point on a line of body j, a distance that is kept and scaled, and an angle of a direction that body j carries."""
    d = r_j + s_j - r_i - s_i
    return {"kept": held(d.norm()) * l, "line": held(xi_j.dot(d)), "turn": h_i.dot(carried(a_i))}


KINDS = [
    "spherical", "revolute", "cylindrical", "translational", "universal", "modified_universal", "fixed", "constant_angle",
    "constant_distance", "point_on_line", "point_on_plane",
]  # fmt: skip


def users_joint():
    b = Builder("own")
    b.body("a", mass=1.0, inertia=(1, 1, 1), r=(0.3, 0.2, 0.1), free=True)
    b.body("b", mass=1.0, inertia=(1, 1, 1), r=(-0.5, 0.4, 0.8), free=True)
    b.joint(
        "own",
        codegen.compile_joint(held_in_a_root),
        "a",
        "b",
        s_i=(0.1, 0.2, -0.3),
        s_j=(0.2, 0, 0.1),
        a_i=(1, 0, 0),
        h_i=(0, 1, 0),
        l=1.3,
    )
    return b.build()


@pytest.mark.slow
@pytest.mark.parametrize(
    "build", [lambda: RandomMechanism(5, random_edges(5, 14, 14, KINDS)).build(), users_joint], ids=["shipped", "own"]
)
def test_derivatives_over_the_data_away_from_the_reference_pose(build):
    system, rng, seen = build(), np.random.default_rng(2), set()
    bodies = system.state.y.reshape(-1, 13).copy()
    bodies[:, :3] += 0.1 * rng.standard_normal(bodies[:, :3].shape)
    bodies[:, 3:7] += 0.1 * rng.standard_normal(bodies[:, 3:7].shape)
    bodies[:, 3:7] /= np.linalg.norm(bodies[:, 3:7], axis=1, keepdims=True)
    y = bodies.ravel()
    rows = LoopRows(system, 1.0).at(y)
    for k, joint in enumerate(system.joints):
        x = rows.work.x[k].copy()
        slopes = adjusting._slopes(system, k, states_with_ground(y), x, states_with_ground(system.state.y))
        exact = np.hstack(
            [np.zeros((len(joint.rows), 0)), *(differences(system, y, k, part) for part in joint.module.KEYWORDS)]
        )
        rows = LoopRows(system, 1.0).at(y)
        # The triad of a changed direction is chosen anew; its spin about the direction mixes rows that are not zero here.
        apart = (
            np.abs(slopes - exact) if not any(kind.startswith("across") for _, kind, _ in joint.module.VECTORS) else 0.0
        )
        assert np.max(apart, initial=0.0) < 1e-7, joint.kind
        seen.add(joint.kind)
    assert len(seen) > 5 or "held_in_a_root" in seen
