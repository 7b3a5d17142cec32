"""Limits of motion in cases with closed loops and drivers side by side: as single runs and absolute coordinates."""

import functools

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import builder_of
from benchmarks.random import model, question
from runtime import Cone, Status
from runtime.dynamics import equations, projection
from tests.support.driven_legs import Y, driven_leg_of, made, once_with_kernel, one_by_one

TIMES = np.linspace(0.0, 1.0, 5)
SETTINGS = dict(t_eval=TIMES, rtol=1e-12, atol=1e-12)
SHARE = np.linspace(0.9, 1.1, 20)


@once_with_kernel
def leg(damping=0.02):
    """A leg that is driven at the hip and at the toes; its passive ankle meets both stops."""
    b, _ = driven_leg_of(
        "driven leg with stops at its ankle", lambda t: 0.6 * np.sin(5 * t), lambda t: 0.2 * np.sin(3 * t) ** 3
    )
    b.force("spring", "torsional_spring", "leg", "foot", a_i=Y, stiffness=1.0, damping=0.01, free_angle=0.0)
    stops = Cone.from_degrees((0, 90, 180, 270, 360), (5, 30, 6, 30, 5))
    law = dict(max_moment=9.0, compliance=0.2, damping=damping)
    b.limit("stop", "ankle", reference="leg", xi=(1, 0, 0), eta=Y, cone=stops, **law)
    return b.build(project_velocities=True)


def limited(system, joint, degrees):
    """A system with dissipative limits at a hinge, at these angles from the start."""
    b, one = builder_of(system), system.joint(joint)
    eta = one.values["a_i"] / np.linalg.norm(one.values["a_i"])
    xi = np.cross(eta, np.eye(3)[np.argmin(np.abs(eta))])
    cone = Cone.from_degrees((0, 90, 180, 270, 360), (degrees, 30, degrees, 30, degrees))
    law = dict(max_moment=3.0, compliance=1.0, damping=0.02)
    b.limit("stop", joint, reference=one.body_i, xi=xi / np.linalg.norm(xi), eta=eta, cone=cone, **law)
    return made(b.build())


@functools.cache
def four_bar():
    """A four-bar linkage whose rocker goes to and fro between stops."""
    return limited(models.four_bar.build("revolute", crank_speed=6.0), "D", 10.0)


@pytest.mark.parametrize("name", ["compliance.stop", "max_moment.stop", "damping.stop", "mass.foot"])
def test_stops_of_a_driven_leg_as_in_absolute_coordinates(name, closed_in_lanes):
    own = runtime.parameters(leg())[name]
    outputs = ["r.toes", "omega.foot", "energy", "limit_excess.stop", "limit_dissipated_power.stop"]
    many = runtime.simulate_many(leg(), {name: own * SHARE}, 1.0, outputs=outputs, **SETTINGS)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    closed_in_lanes.undo()
    few = {name: own * SHARE[::19]}
    absolute = runtime.simulate_many(leg(), few, 1.0, outputs=outputs, coordinates="absolute", **SETTINGS)
    for output, bound in zip(outputs, (1e-11, 5e-9, 1e-9, 5e-11, 1e-9), strict=True):
        assert np.abs(many[output][::19] - absolute[output]).max() < bound
    assert many["limit_excess.stop"].max() > 0.01 and np.ptp(many["r.toes"][:, -1], axis=0).max() > 1e-6


def test_rows_hold_between_steps_of_a_loop_with_stops(closed_in_lanes):
    """All rows of the loop, at a coarse tolerance; the work of its dampers balances the energy of each case."""
    cases = {"mass.coupler": 0.8 * SHARE, "damping.stop": 0.1 * SHARE}
    many = runtime.simulate_many(four_bar(), cases, 1.0, t_eval=TIMES, rtol=1e-6, atol=1e-6)
    assert not many.messages
    states = many.states().reshape(-1, len(four_bar().state.y))
    worst = np.zeros((len(states), 2))
    projection.worst_of_all(0.0, states, four_bar().data, equations.workspace_for(four_bar().data), worst)
    assert worst[:, 0].max() < 1e-13 and worst[:, 1].max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"), [("polygon", 0), ("spherical_four_bar", 1), ("driven_loop", 1), ("bricard", 0)]
)
def test_random_loops_with_stops_as_one_by_one(name, seed, closed_in_lanes):
    plain = model.system_of(question.CLASSES[name](np.random.default_rng(seed)), name)
    hinge = next(j.name for k, j in enumerate(plain.joints) if k not in plain.tree.closing and j.kind == "revolute")
    system = limited(plain, hinge, 1.0)
    cases = {f"mass.{system.body_names[0]}": system.data.mass[1] * SHARE[:3]}
    settings = SETTINGS | dict(t_eval=0.5 * TIMES, outputs=["r." + system.body_names[0], "limit_excess.stop"])
    many = runtime.simulate_many(system, cases, 0.5, **settings)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(system, cases, 0.5, **settings)
    assert not many.messages and not each.messages and many["limit_excess.stop"].max() > 1e-3
    for name in settings["outputs"]:
        assert np.abs(many[name] - each[name]).max() < 1e-11 * max(1.0, np.abs(each[name]).max())


def test_a_case_with_stops_depends_on_no_other(closed_in_lanes):
    cases = {"max_moment.stop": np.linspace(1.0, 9.0, 60)}
    settings = SETTINGS | dict(rtol=1e-7, atol=1e-7)
    many = runtime.simulate_many(leg(), cases, 1.0, workers=2, chunk=17, **settings)
    some = runtime.simulate_many(leg(), {k: v[40:2:-1] for k, v in cases.items()}, 1.0, workers=1, **settings)
    assert np.array_equal(many.states()[40:2:-1], some.states())
    assert np.ptp(many.steps) > 0


def test_folders_and_single_cases(closed_in_lanes, tmp_path):
    cases = {"max_moment.stop": [7.0, 8.0, 9.0]}
    settings = SETTINGS | dict(out=tmp_path / "sweep")
    many = runtime.simulate_many(leg(), cases, 1.0, **settings)
    again = runtime.simulate_many(leg(), cases, 1.0, **settings)
    assert np.array_equal(many.states(), again.states())
    run = many[1]
    assert np.abs(run.states.reshape(5, 3, 13) - many.states()[1]).max() < 5e-9
    assert np.abs(run.limits["stop"].excess).max() > 0.01


@pytest.mark.parametrize(("build", "name"), [(leg, "s_j.hip"), (leg, "s_j.ankle"), (four_bar, "s_j.A")])
def test_points_of_joints_beside_stops_as_in_absolute_coordinates(build, name, closed_in_lanes):
    """Angles of limits and joints count from the reference configuration of each case."""
    system, joint = build(), build().limit("stop").joint
    own = runtime.parameters(system)[name]
    cases = {name: own * (1.0 + 0.2 * (SHARE[::6, None] - 1.0)), "max_moment.stop": 3.0 * SHARE[::6]}
    outputs = [f"r.{system.body_names[-1]}", "energy", "limit_excess.stop", "limit_angle.stop", f"angle.{joint}.angle"]
    settings = SETTINGS | dict(outputs=outputs, assemble=True, rtol=1e-13, atol=1e-13)
    many = runtime.simulate_many(system, cases, 1.0, **settings)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    closed_in_lanes.undo()
    absolute = runtime.simulate_many(system, cases, 1.0, coordinates="absolute", **settings)
    for output, bound in zip(outputs, (1e-11, 1e-9, 5e-11, 5e-11, 5e-11), strict=True):
        assert np.abs(many[output] - absolute[output]).max() < bound, output
    assert many["limit_excess.stop"].max() > 0.01 and np.ptp(many[outputs[0]][:, -1], axis=0).max() > 1e-4
