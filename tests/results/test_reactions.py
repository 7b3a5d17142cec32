"""Components of reactions that rigid bodies determine, in any axes, and what shares the others."""

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import models
import runtime
from runtime import GROUND, Builder
from runtime.report.run_tables import run_tables
from runtime.results import read_netcdf
from tests.support import loops
from tests.support.loops import rounded
from tests.support.random_mechanisms import Dense
from tests.support.refusals import assert_refused
from tests.support.vectors import X, Y, Z

G, HEIGHT, WIDTH, MASS = 9.81, 0.8, 0.5, 10.0
TILT = 0.4  # [rad] of a frame about the y axis


def door(kind):
    """A door on two hinges or balls one above the other, with a tilted frame and a handle."""
    b = Builder("door", gravity=(0, 0, -G), axes="global")
    b.body("door", mass=MASS, inertia=(1, 1, 1), r=(WIDTH, 0, 0))
    b.body("handle", mass=0.0001, inertia=(1e-5, 1e-5, 1e-5), r=(2 * WIDTH, 0, 0))
    for name, height in (("upper", HEIGHT), ("lower", -HEIGHT)):
        b.joint(name, kind, GROUND, "door", point=(0, 0, height), **({"axis": Z} if kind == "revolute" else {}))
    b.joint("lever", "revolute", "door", "handle", point=(2 * WIDTH, 0, 0), axis=Y)
    b.frame("tilted", "door", p=Rotation.from_rotvec(TILT * Y))
    return runtime.simulate(b.build(), 0.2, t_eval=[0.0, 0.2])


def test_a_door_on_two_balls_shares_its_weight_alone():
    run = door("spherical")
    upper, lower = (run.reaction(name, on="door") for name in ("upper", "lower"))
    assert upper.force_determined.tolist() == [True, True, False] and upper.moment_determined.all()
    assert upper.force_directions == pytest.approx(np.array([X, Y]), abs=1e-12)
    assert np.array_equal(upper.moment_directions, np.eye(3))
    assert dict(upper.shared_with) == {"force.z": ("lower",)} and dict(lower.shared_with) == {"force.z": ("upper",)}
    assert upper.reason == (
        "joint 'upper' shares force z with joint 'lower' (global axes), in parts that rigid bodies leave open; the values are "
        "those of least norm"
    )
    # The pair of forces that holds the weight is unique; of the vertical forces the sum is.
    assert upper.force[0] == pytest.approx([-MASS * G * WIDTH / (2 * HEIGHT), 0.0, MASS * G / 2], rel=1e-3, abs=1e-8)
    assert (upper.force + lower.force)[0] == pytest.approx([0.0, 0.0, MASS * G], rel=1e-3, abs=1e-8)
    load = run.joint_load("upper", on="door")  # of both joints between the two bodies
    assert load.determined and load.reason == "" and np.abs(load.force - upper.force - lower.force).max() < 1e-12
    assert run.reaction("lever", on="handle").determined


def test_components_depend_on_the_axes():
    run = door("spherical")
    tilted = run.reaction("upper", on="door", axes="tilted")
    assert tilted.force_determined.tolist() == [False, True, False]
    assert tilted.force_directions == pytest.approx(np.array([Y, [np.cos(TILT), 0, np.sin(TILT)]]), abs=1e-12)
    globally, A = run.reaction("upper", on="door"), run.rotations("tilted")
    assert np.abs(np.einsum("nab,na->nb", A, globally.force) - tilted.force).max() < 1e-12
    assert "shares force x, z with joint 'lower' (axes of 'tilted')" in tilted.reason
    hinges = door("revolute")
    own = hinges.reaction("upper", on="door", axes="joint")  # x along the hinge
    assert own.moment_determined.tolist() == [True, False, False] and not own.force_determined.any()
    assert own.force.shape == (2, 3) and np.abs(own.force[:, 0] - MASS * G / 2).max() < 1e-2
    assert "axes of the joint" in own.reason and own.moment_directions == pytest.approx(X[None], abs=1e-12)
    assert len(own.force_directions) == 0
    assert_refused("'tilted'", run.reaction, "upper", on="door", axes="tilt")


def test_axes_of_a_joint_are_those_of_the_body_that_carries_its_directions():
    b = Builder("ring", gravity=(0, 0, -G), axes="global")
    wire = np.array([1.0, 2.0, -2.0]) / 3.0
    b.body("ring", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.0, 0.1, 0.0), omega=(1.0, 2.0, 0.0), guess=True)
    b.joint("wire", "point_on_line", GROUND, "ring", point=(0, 0, 0), axis=wire)
    run = runtime.simulate(b.build(project_velocities=True), 0.5)
    found, force = run.reaction("wire", on="ring", axes="joint"), run.reaction("wire", on="ring").force
    assert (
        np.abs(force).max() > 1.0 and np.abs(found.force[:, 0]).max() < 1e-9
    )  # x along the wire, which the ground carries
    assert np.abs(np.linalg.norm(found.force, axis=1) - np.linalg.norm(force, axis=1)).max() < 1e-9
    foot = runtime.simulate(models.foot.build("modified"), 0.2)
    for on in ("main_foot", "leg"):  # the axis of the ankle in this body
        moment = foot.reaction("ankle", on=on, axes="joint").moment
        assert np.abs(moment[:, 0]).max() < 1e-12 and np.abs(moment).max() > 0.01
    balls = door("spherical")  # without directions: axes of the body
    own, of_body = (balls.reaction("upper", on="door", axes=axes) for axes in ("joint", "door"))
    assert np.array_equal(own.force, of_body.force)


def test_the_cranks_of_a_parallelogram_share_the_forces_along_them():
    """Each crank's moment gives the force across it in the plane; along three parallel cranks two equations remain."""
    b = Builder("three cranks", gravity=(0, 0, -G), axes="global")
    b.body("bar", mass=3.0, inertia=(0.1, 0.5, 0.5), r=(1.0, 0, 1.0), v=(1.0, 0, 0))
    for k in range(3):
        b.body(f"crank_{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(k, 0, 0.5), v=(0.5, 0, 0), omega=(0, 1.0, 0))
        b.joint(f"foot_{k}", "revolute", GROUND, f"crank_{k}", point=(k, 0, 0), axis=Y)
        b.joint(f"pin_{k}", "revolute", f"crank_{k}", "bar", point=(k, 0, 1), axis=Y)
    run = runtime.simulate(b.build(), 1.0, t_eval=np.linspace(0.0, 1.0, 5))
    assert run.success and np.ptp(run.omega["crank_0"][:, 1]) > 0.1
    for k in range(3):
        name, crank = f"pin_{k}", f"crank_{k}"
        along = run.reaction(name, on=crank, axes=crank)  # x across, z along the crank
        assert along.force_determined.tolist() == [True, False, False]
        assert along.force_directions == pytest.approx(X[None], abs=1e-9)
        assert {f"pin_{n}" for n in range(3) if n != k} <= {*along.shared_with["force.z"]}
        assert run.reaction(name, on=crank).force_determined.tolist() == [
            False,
            False,
            False,
        ]  # in axes that do not turn
        # About its foot: moment of inertia 0.35, weight, and the force across at a distance of 1 m.
        angle = np.arctan2(*(run.r[crank][:, [0, 2]] - [k, 0]).T)
        across = 0.35 * run.omega_dot[crank][:, 1] - 0.5 * G * np.sin(angle)
        assert np.abs(along.force[:, 0] - across).max() < 1e-8


LOOPS = {
    "bennett": lambda: rounded(loops.bennett, 15).build(),
    "bricard": lambda: rounded(loops.bricard, 15).build(),
    "four-bar": lambda: models.four_bar.build("revolute"),
    "door": lambda: door("revolute").system,
}


@pytest.mark.parametrize("name", LOOPS)
def test_determined_components_are_the_same_in_all_solutions(name):
    """Any multipliers that cause the motion differ by the null space of D^T, here of kernels that the runtime does not call."""
    system = LOOPS[name]()
    run, rng = runtime.simulate(system, 0.1, t_eval=[0.1]), np.random.default_rng(3)
    dense = Dense(system, run.final, system.reference_configuration)
    other = null_space(dense.D.T, rcond=1e-8)
    assert other.shape[1] == len(system.redundant)
    change = other @ rng.standard_normal(other.shape[1])
    flags = []
    for joint in system.joints:
        for on in {joint.body_i, joint.body_j} - {GROUND}:
            o = 6 * system.body_index(on)
            rows, axes = dense.rows[joint.name], str(rng.choice(system.body_names))
            force, moment = (-dense.D[rows, o : o + 6].T @ change[rows]).reshape(2, 3)
            for at in ("joint", "centre"):
                found = run.reaction(joint.name, on=on, at=at, axes=axes)
                s = joint.values["s_i" if on == joint.body_i else "s_j"] if at == "joint" else np.zeros(3)
                arm = run.rotations(on)[0] @ s
                moved = np.concatenate([force, moment - np.cross(arm, force)]).reshape(2, 3) @ run.rotations(axes)[0]
                determined = np.concatenate([found.force_determined, found.moment_determined])
                size = max(np.abs(dense.D[every].T @ change[every]).max() for every in dense.rows.values())
                assert np.array_equal(np.abs(moved).ravel() < 1e-6 * size, determined), (joint.name, on, at, moved)
                for directions, vector in zip((found.force_directions, found.moment_directions), moved, strict=True):
                    assert np.abs(directions @ vector).max(initial=0.0) < 1e-6 * size
                    assert np.abs(directions @ directions.T - np.eye(len(directions))).max(initial=0.0) < 1e-12
                flags += determined.tolist()
    assert not all(flags)


def test_loops_apart_share_nothing():
    b = Builder("two doors", gravity=(0, 0, -G), axes="global")
    for name, x in (("left", 0.0), ("right", 5.0)):
        b.body(name, mass=MASS, inertia=(1, 1, 1), r=(x + WIDTH, 0, 0))
        for k, height in enumerate((HEIGHT, -HEIGHT)):
            b.joint(f"{name}_{k}", "revolute", GROUND, name, point=(x, 0, height), axis=Z)
    run = runtime.simulate(b.build(), 0.1, t_eval=[0.1])
    for name in ("left", "right"):
        assert {*run.reaction(f"{name}_0", on=name).shared_with.values()} == {(f"{name}_1",)}


def test_tables_and_files_say_which_components_are_shared(tmp_path):
    run = door("spherical")
    table = next(table for table in run_tables(run) if table.title == "reactions")
    rows = {row[0]: row for row in table.rows}
    assert rows["upper"][6:] == ["force.z", "lower"] and rows["lever"][6:] == ["", ""] and "least norm" in table.note
    assert rows["upper"][4] == pytest.approx(MASS * G, rel=1e-3)
    data = run.to_xarray()
    flags = data["reaction_force_determined"].sel(joint="upper")
    assert flags.values.tolist() == [1, 1, 0] and data["reaction_moment_determined"].values.all()
    assert str(data["reaction_reason"].sel(joint="upper").values) == run.reaction("upper", on="door").reason
    assert str(data["reaction_reason"].sel(joint="lever").values) == ""
    read_netcdf(run.to_netcdf(tmp_path / "door.nc"))
    free = models.pendulum.build()
    assert "reaction_reason" not in runtime.simulate(free, 0.1).to_xarray()
