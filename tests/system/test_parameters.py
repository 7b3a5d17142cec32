"""A system with other parameters equals the one that ``Builder`` makes of them, alone and in ensembles."""

import pickle

import numpy as np
import pytest

import models
import runtime
from runtime import AssemblyError, Builder, ModelError, sensitivities, simulate, simulate_many
from runtime.dynamics.layout import STATE
from runtime.system.trees import trees_of
from tests.support.refusals import assert_refused, refused_with
from tests.support.sensitivities import difference, pushed, stopped

TIGHT = dict(rtol=1e-12, atol=1e-12)


def rebuilt(system, values):
    """The system with other numbers by a Builder, bodies placed as they are."""
    b = Builder("rebuilt", gravity=values.get("gravity", system.gravity))
    for body in system.bodies:
        b.body(
            body.name, mass=values.get(f"mass.{body.name}", body.mass),
            inertia=values.get(f"inertia.{body.name}", body.inertia), r=system.state.r[body.name],
            p=system.state.p[body.name], v=system.state.v[body.name], omega=system.state.omega[body.name], free=True,
            guess=True,
        )  # fmt: skip
    for joint in system.joints:
        given = {key: values.get(f"{key}.{joint.name}", value) for key, value in joint.values.items()}
        b.joint(joint.name, joint.kind, joint.body_i, joint.body_j, **given)
    return b.build(project_velocities=True)


TURN = np.array([[np.cos(0.1), -np.sin(0.1), 0.0], [np.sin(0.1), np.cos(0.1), 0.0], [0.0, 0.0, 1.0]])
FOOT = models.foot.build()
CHANGES = {
    "mass": {"mass.toes": 0.4, "mass.main_foot": 0.9},
    "inertia": {"inertia.main_foot": 1.3 * runtime.parameters(FOOT)["inertia.main_foot"]},
    "principal moments": {"inertia.toes": (2e-4, 3e-4, 4e-4)},
    "gravity": {"gravity": (0.5, -0.3, -9.0)},
    "link": {"l.ankle": 0.043},
    "point": {"s_i.ankle": runtime.parameters(FOOT)["s_i.ankle"] + (0.002, -0.001, 0.001)},
    "axis": {"a_j.ankle": TURN @ runtime.parameters(FOOT)["a_j.ankle"]},
    "several": {"l.ankle": 0.043, "mass.toes": 0.4, "gravity": (0.0, 0.0, -1.62)},
}


@pytest.mark.parametrize("name", CHANGES)
def test_as_built_anew(name):
    system, other = runtime.with_parameters(FOOT, CHANGES[name]), rebuilt(FOOT, CHANGES[name])
    for key, value in CHANGES[name].items():
        expected = np.diag(value) if key == "inertia.toes" else value
        assert np.array_equal(runtime.parameters(system)[key], expected) and not np.array_equal(
            runtime.parameters(FOOT)[key], expected
        )
    assert np.abs(system.state.y - other.state.y).max() < 1e-12
    a, b = (simulate(one, 0.5, t_eval=[0.2, 0.5], **TIGHT) for one in (system, other))
    assert np.abs(a.states - b.states).max() < 1e-9
    assert np.abs(a.states - simulate(FOOT, 0.5, t_eval=[0.2, 0.5], **TIGHT).states).max() > 1e-5
    assert a.violation.max() < 1e-9


def slim_arm():
    """A floating body with two rods that have no inertia about their own axes."""
    b = Builder("slim arm")
    b.body("trunk", mass=2.0, inertia=(0.1, 0.2, 0.3), r=(0.0, 0.0, 0.0), free=True)
    for k, (before, end) in enumerate((("trunk", (0.1, 0.0, 0.0)), ("rod_0", (0.25, 0.0, 0.0)))):
        b.body(f"rod_{k}", mass=0.3, inertia=(0.0, 1e-3, 1e-3), r=(0.35 + 0.5 * k, 0.0, 0.0))
        axes = dict(a_i=(0, 0, 1), a_j=(0, 0, 1)) if k else dict(a_i=(0, 1, 0), a_j=(0, 1, 0))
        b.joint(f"joint_{k}", "revolute", before, f"rod_{k}", s_i=end, s_j=(-0.25, 0.0, 0.0), **axes)
    return b.build()


def parts_of(system):
    """All that follows from parameters: state, data, and the tree with its motions."""
    tree, motions = trees_of(system).tree, system.joint_motions
    arrays = [system.state.y, *system.data[:6], *tree.geometry, *tree.carried]
    arrays += [getattr(step, part) for m in motions.values() for step in m.steps for part in ("axis", "point")]
    return [np.asarray(array).tobytes() for array in arrays], tree.skeleton, tree.closing, tree.limits, list(motions)


@pytest.mark.parametrize("build", [models.foot.build, models.four_bar.build, slim_arm, stopped])
def test_what_other_masses_keep_is_as_made_anew(build):
    system = build()
    masses = {name: 1.3 * value for name, value in runtime.parameters(system).items() if name.startswith("mass.")}
    anew = pickle.loads(pickle.dumps(system))  # without its tree
    assert trees_of(system).tree is not None
    kept = runtime.with_parameters(system, masses)
    assert trees_of(kept).steps is trees_of(system).steps and parts_of(kept) == parts_of(
        runtime.with_parameters(anew, masses)
    )
    joints = {name: 1.001 * np.asarray(v) for name, v in runtime.parameters(system).items() if name.startswith("s_j.")}
    moved = runtime.with_parameters(kept, joints)
    assert parts_of(moved) == parts_of(runtime.with_parameters(pickle.loads(pickle.dumps(kept)), joints))
    assert parts_of(moved)[0] != parts_of(kept)[0]


def test_parts_whose_values_stay_are_kept():
    own = {name: runtime.parameters(FOOT)[name] for name in ("l.ankle", "a_j.ankle", "inertia.toes", "gravity")}
    system = runtime.with_parameters(FOOT, own | {"mass.leg": 4.0})
    assert all(a is b for a, b in zip(system.joints, FOOT.joints, strict=True)) and system.bodies[0] is FOOT.bodies[0]
    assert np.array_equal(system.state.y, FOOT.state.y) and system.bodies[2].mass == 4.0


def test_an_axis_turned_in_place_is_that_of_the_tree():
    system, axis = slim_arm(), (0.0, 0.6, 0.8)
    assert np.abs(trees_of(system).tree.geometry.axis[0] - axis).max(axis=1).min() > 0.1
    other = runtime.with_parameters(system, {"a_i.joint_1": axis, "a_j.joint_1": axis})
    assert np.array_equal(other.state.y, system.state.y) and np.allclose(
        trees_of(other).tree.geometry.axis[0, -1], axis
    )


LIMITED = dict(max_moment=23.0, compliance=0.15, damping=0.05)
DRIVEN = dict(stiffness=30.0, damping=1.0)
SPIN = {"inertia.body": np.diag([1.0, 1.2, 1.5])}
ANEW = {
    "limits": (
        stopped, {f"{key}.stop": value for key, value in LIMITED.items()} | {"latitudes.stop": np.deg2rad([33.0] * 5)},
        lambda system, values: stopped(**LIMITED, latitude=33.0),
    ),
    "motors": (
        pushed, {f"{key}.muscle": value for key, value in DRIVEN.items()} | {"mass.foot": 1.4},
        lambda system, values: pushed(**DRIVEN, mass=1.4),
    ),
    # Its mass is 1, and the kernel of the shipped model knows: the general evaluation serves for another one.
    "folded": (models.free_body.build, SPIN, rebuilt),
}  # fmt: skip


@pytest.mark.parametrize("name", ANEW)
def test_parts_as_built_anew(name):
    build, values, anew = ANEW[name]
    system, t = build(), np.linspace(0.1, 0.8, 15)
    changed = runtime.with_parameters(system, values), anew(system, values)
    a, b = (simulate(one, 0.8, t_eval=t, **TIGHT) for one in changed)
    assert np.abs(a.states - b.states).max() < 1e-10 < np.abs(a.states - simulate(system, 0.8, t_eval=t).states).max()
    assert all(limit.excess.max() > 0.01 for limit in a.limits.values())


def test_names_and_shapes():
    system = models.foot.build(limits="elastic")
    numbers = runtime.parameters(system)
    assert numbers["l.ankle"] == 0.0417 and numbers["mass.leg"] == system.body("leg").mass
    assert numbers["latitudes.talocrural"].shape == (5,) and np.array_equal(numbers["gravity"], system.gravity)
    assert "s_i.ankle" in numbers and not any(key.endswith(".ground") for key in numbers)


BAD = {
    "unknown": (
        {"mass.hand": 1.0},
        "has no parameter 'mass.hand'; did you mean 'mass.main_foot'? it has gravity, mass.toes",
    ),
    "mass": ({"mass.toes": -1.0}, "body 'toes': mass = -1 is not positive; give a mass above 0 kg"),
    "inertia": (
        {"inertia.toes": (-1.0, 1.0, 3.0)},
        "body 'toes': principal moments of inertia -1, 1, 3 kg m^2, none must",
    ),
    "not finite": ({"gravity": (0.0, np.nan, 0.0)}, "gravity = [0.0, nan, 0.0] is not finite"),
    "axis": (
        {"a_i.metatarsophalangeal": (0.0, 2.0, 0.0)},
        "joint 'metatarsophalangeal' (revolute): a_i has the length 2",
    ),
    "length": ({"l.ankle": -0.1}, "joint 'ankle' (modified_universal): l = -0.1 m, must not be below 0 m"),
    "limited": ({"a_i.ankle": (0.0, 1.0, 0.0)}, "limit 'talocrural' depends on its a_i; give a function that builds"),
    "law": ({"compliance.talocrural": 0.0}, "compliance = 0 rad, must be above 0 rad"),
    "cone": ({"latitudes.talocrural": (0.1, 0.2)}, "latitudes has the shape (2,); give 5 numbers"),
    "cone open": ({"latitudes.talocrural": (0.1, 0.2, 0.2, 0.2, 0.2)}, "latitude"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters(name):
    values, message = BAD[name]
    assert_refused(message, runtime.with_parameters, models.foot.build(limits="elastic"), values)


def test_inertias_that_no_mass_has_are_used_with_a_warning():
    system, values = models.foot.build(limits="elastic"), {"inertia.toes": (1e-4, 1e-4, 3e-4)}
    with pytest.warns(
        runtime.AssemblyWarning, match=r"triangle inequality.*body 'toes' \(0.0003 > 0.0002\); they are used"
    ):
        changed = runtime.with_parameters(system, values)
    assert np.array_equal(changed.body("toes").inertia, np.diag([1e-4, 1e-4, 3e-4]))
    assert any("triangle" in remark for remark in changed.assembly.remarks)
    runtime.with_parameters(changed, {"mass.toes": 0.3})  # said where they are given


def test_parameters_that_cannot_be_assembled_are_refused():
    system = models.four_bar.build()
    name = next(key for key in runtime.parameters(system) if key.startswith("s_j."))
    refused_with(AssemblyError, "could not assemble", runtime.with_parameters, system, {name: (9.0, 0.0, 0.0)})


def test_redundant_rows_are_found_again_for_other_joints():
    system = models.four_bar.build(joints="revolute")
    assert len(system.redundant) == 3
    longer = {"s_j.A": system.joint("A").values["s_j"] * 1.1}
    other = runtime.with_parameters(system, longer)
    assert len(other.redundant) == 3 and other.rank == system.rank
    run = simulate(other, 0.5, t_eval=[0.5])
    assert run.success and run.violation.max() < 1e-12
    found = simulate_many(system, {"s_j.A": [longer["s_j.A"]]}, 0.5, t_eval=[0.5], assemble=True)
    assert found.status.tolist() == [0]
    assert np.abs(found.states()[0, -1] - run.states.reshape(-1, STATE)).max() < 1e-9
    name = next(key for key in runtime.parameters(system) if key.startswith("a_i."))
    with pytest.raises(AssemblyError, match="could not assemble"):  # one hinge askew
        runtime.with_parameters(system, {name: (0.0, 0.6, 0.8)})
    body = system.body_names[0]
    assert runtime.with_parameters(system, {f"mass.{body}": 3.0}).body(body).mass == 3.0


def test_an_axis_turned_round_is_the_same_joint():
    values = {"a_i.ankle": -runtime.parameters(FOOT)["a_i.ankle"]}
    a, b = runtime.with_parameters(FOOT, values), rebuilt(FOOT, values)
    assert a.branch_signs == b.branch_signs != FOOT.branch_signs
    runs = [simulate(one, 0.3, t_eval=[0.3], **TIGHT).states for one in (a, b, FOOT)]
    assert np.abs(runs[0] - runs[1]).max() < 1e-10 and np.abs(runs[0] - runs[2]).max() < 1e-8


def test_a_limit_follows_its_joint_only_in_borrowed_vectors():
    system = stopped()
    lower = runtime.with_parameters(system, {"s_i.hinge": (0.0, 0.0, 0.02)})
    assert lower.state.r["bob"][2] == pytest.approx(-0.28)
    assert_refused("limit 'stop' depends on its a_i", runtime.with_parameters, system, {"a_i.hinge": (1.0, 0.0, 0.0)})


def test_a_changed_system_keeps_its_kernel():
    changed = runtime.with_parameters(FOOT, {"mass.toes": 1.0})
    assert simulate(changed, 0.1, coordinates="absolute").stats.kernel == "whole model"
    assert simulate(changed, 0.1).stats.kernel == "joint coordinates"
    assert simulate_many(
        runtime.with_parameters(FOOT, {"mass.toes": 1.0}), {"gravity": [(0, 0, -9.0)]}, 0.1
    ).vectorised.all()


def test_labelled_with_units(tmp_path):
    found = simulate_many(
        FOOT, {"mass.toes": [0.2, 0.3], "s_i.ankle": [runtime.parameters(FOOT)["s_i.ankle"]] * 2}, 0.05
    )
    data = found.to_xarray()
    assert data["case_mass.toes"].attrs["units"] == "kg" and data["case_s_i.ankle"].attrs["units"] == "m"
    data.to_netcdf(tmp_path / "many.nc")
    assert "max_steps" not in data.attrs and found.settings["max_steps"] is None
    assert simulate_many(FOOT, {"mass.toes": [0.2]}, 0.05, max_steps=10**20).success


def test_parameters_beyond_all_bounds_stop_no_other_case():
    cases = {"inertia.toes": [(1e-3, 1e-3, 1e-3), (1e-320, 1e-320, 1e-320), (1e308, 1e308, 1e308)]}
    found = simulate_many(FOOT, cases, 0.05, coordinates="absolute")
    assert found.status[0] == 0 and found.status[1] < 0 and 1 in found.messages
    in_joints = simulate_many(FOOT, cases, 0.05)  # there the toes are one body with the foot, whose inertia is above 0
    assert (in_joints.status[:2] == 0).all() and in_joints.r["leg"][1, -1] == pytest.approx(
        in_joints.r["leg"][0, -1], abs=1e-3
    )
    assert all(np.isfinite(in_joints.r["leg"][k]).all() for k in range(3) if in_joints.status[k] == 0)


@pytest.mark.slow
def test_sensitivities_along_a_direction():
    system = pushed()
    name, axis = "a_i.ankle", np.array([0.0, 1.0, 0.0])
    found = sensitivities(system, {name: axis, "a_j.ankle": axis}, 0.3, wrt=name, rtol=1e-11, atol=1e-11)

    def states(h):
        turned = (np.array([np.sin(h), np.cos(h), 0.0])).tolist()
        return simulate(
            runtime.with_parameters(system, {name: turned}), 0.3, t_eval=[0.3], rtol=1e-13, atol=1e-13
        ).states

    expected = difference(states, 4e-3)
    assert np.abs(found.slopes[:, :, 0] - expected).max() < 1e-7 * max(1.0, np.abs(expected).max())
    assert np.abs(found.slopes[:, :, 1]).max() < 1e-7  # along itself a direction does nothing
    for name, remedy in (("inertia.leg", "principal moments"), ("latitudes.stop", "a function of the latitudes")):
        one = stopped() if name.startswith("latitudes") else system
        with pytest.raises(ModelError, match=remedy):
            sensitivities(one, {name: runtime.parameters(one)[name]}, 0.1)
