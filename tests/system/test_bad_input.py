"""Bad input gets one clear sentence that names the object, the rule and the remedy, and changes nothing."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import models
import runtime
from runtime import AssemblyWarning, Builder
from tests.support.refusals import assert_refused
from tests.support.small_builder import UNIT, builder

ANKLE = dict(s_i=(0.1, 0, 0), a_i=(1, 0, 0), s_j=(-0.1, 0, 0), a_j=(0, 1, 0))
BODY_ERRORS = {
    "zero mass": (dict(mass=0.0), "body 'toes': mass = 0 is not positive; give a mass above 0 kg"),
    "negative mass": (dict(mass=-2.0), "body 'toes': mass = -2 is not positive; give a mass above 0 kg"),
    "mass not finite": (dict(mass=np.inf), "body 'toes': mass = inf is not finite"),
    "mass NaN": (dict(mass=np.nan), "body 'toes': mass = nan is not finite"),
    "mass no number": (dict(mass="heavy"), "body 'toes': mass = 'heavy': give one number"),
    "negative inertia": (dict(inertia=(-1.0, 1.0, 1.0)), "none must be below 0"),
    "asymmetric": (dict(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "inertia is not symmetric"),
    "inertia shape": (dict(inertia=(1.0, 1.0)), "body 'toes': inertia has the shape (2,); give 3 numbers"),
    "r not finite": (dict(r=(0, 0, np.nan)), "body 'toes': r = [0.0, 0.0, nan] is not finite"),
    "p not unit": (dict(p=(1.0, 0.1, 0.0, 0.0)), "body 'toes': p has the length 1.00498756, limit 1 within 1e-06"),
    "p zero": (dict(p=(0, 0, 0, 0)), "body 'toes': p is the zero vector"),
    "omega shape": (dict(omega=3.0), "body 'toes': omega has the shape (); give 3 numbers"),
    "duplicate": (dict(name="leg"), "body 'leg' exists already"),
    "ground": (dict(name="ground"), "'ground': this name is reserved for the fixed body"),
    "empty name": (dict(name=""), "body name '': use letters, digits and '_'"),
    "dotted name": (dict(name="a.b"), "body name 'a.b': use letters"),
}


@pytest.mark.parametrize("case", BODY_ERRORS)
def test_bodies(case):
    values, message = BODY_ERRORS[case]
    assert_refused(message, builder().body, **({"name": "toes", "mass": 1.0, "inertia": UNIT} | values))


def test_an_inertia_of_no_distribution_of_mass_is_used_with_a_warning():
    """As by Euler's equations in axes of the body; that of a flat body gives no warning."""
    builder().body("toes", mass=0.2, inertia=(0.0001003, 0.0001003, 0.0002006))
    b, moments, start = Builder("top", gravity=(0.0, 0.0, 0.0)), np.array([1.0, 1.5, 3.1]), [0.3, 0.2, 1.0]
    b.body("toes", mass=0.2, inertia=moments, omega=start, free=True)
    with pytest.warns(AssemblyWarning, match=r"body 'toes' \(3.1 > 2.5\); they are used as they are"):
        system = b.build()
    run = runtime.simulate(system, 2.0, rtol=1e-10, atol=1e-10, progress=False)
    euler = solve_ivp(lambda t, w: np.cross(moments * w, w) / moments, (0.0, 2.0), start, rtol=1e-11, atol=1e-11)
    assert np.linalg.norm(run.omega["toes"][-1]) == pytest.approx(np.linalg.norm(euler.y[:, -1]), abs=1e-8)


JOINT_ERRORS = {
    "unknown body": (dict(body_j="shin"), "joint 'ankle' (universal): unknown body 'shin'; the bodies are leg, foot, ground"),
    "itself": (dict(body_j="foot"), "joint 'ankle' (universal): joins body 'foot' to itself"),
    "missing": (dict(a_j=None), "joint 'ankle' (universal): missing a_j; needs s_i, a_i, s_j, a_j"),
    "unused": (dict(l=0.1), "joint 'ankle' (universal): unused l; needs s_i, a_i, s_j, a_j"),
    "unknown kind": (dict(kind="hook"), "joint 'ankle': unknown kind 'hook'; the kinds are spherical, revolute"),
    "no kind": (dict(kind=np), "is no kind of joint"),
    "non-unit axis": (dict(a_i=(1, 1, 0)), "a_i has the length 1.41421356, limit 1 within 1e-09; give (0.707106781187"),
    "zero axis": (dict(a_i=(0, 0, 0)), "a_i is the zero vector"),
    "axis not finite": (dict(a_i=(np.inf, 0, 0)), "a_i = [inf, 0.0, 0.0] is not finite"),
    "point shape": (dict(s_i=(0, 0)), "s_i has the shape (2,); give 3 numbers"),
    "duplicate": (dict(name="taken"), "joint 'taken' exists already"),
}  # fmt: skip


@pytest.mark.parametrize("case", JOINT_ERRORS)
def test_joints(case):
    values, message = JOINT_ERRORS[case]
    b = builder()
    b.joint("taken", "spherical", "ground", "leg", s_i=(0, 0, 0), s_j=(0, 0, 0))
    arguments = {"name": "ankle", "kind": "universal", "body_i": "foot", "body_j": "leg", **ANKLE} | values
    assert_refused(message, b.joint, **{key: value for key, value in arguments.items() if value is not None})


def fixed_leg():
    b = builder()
    b.joint("ground", "fixed", "ground", "leg")
    return b


def foot_of(**arguments):
    return lambda: models.foot.build(**arguments)


STOP = dict(s_i=(0, 0, 0), a_i=(0, 0, 1), s_j=(0, 0, 0), stiffness=1.0, loss=0.0, clearance=0.0)
CALLS = {
    "negative length": (
        lambda: builder().joint("link", "constant_distance", "leg", "foot", s_i=(0, 0, 0), s_j=(0, 0, 0), l=-0.1),
        "l = -0.1 m, must not be below 0 m; give its magnitude",
    ),
    "above its range": (
        lambda: builder().force("stop", "stop", "leg", "foot", exponent=11.0, **STOP),
        "exponent = 11, must not be above 10; give a value in this range",
    ),
    "disconnected": (
        lambda: fixed_leg().build(),
        "no chain of joints leads from 'foot' to the ground; add a joint, or pass free=True",
    ),
    "no body": (Builder("nothing").build, "has no body"),
    "ankle": (foot_of(ankle="ball"), "use 'classical' or 'modified'"),
    "negative link": (foot_of(link_length=-0.01), "link_length = -0.01 m must be a finite length"),
    "link NaN": (foot_of(link_length=np.nan), "link_length = nan m must be a finite length"),
    "link of none": (foot_of(ankle="classical", link_length=0.04), "has no meaning for the classical ankle"),
    "gravity of two": (foot_of(gravity=(0, 0)), "gravity has the shape"),
}


@pytest.mark.parametrize("case", CALLS)
def test_calls(case):
    call, message = CALLS[case]
    assert_refused(message, call)


def test_gravity_that_is_set_after_the_builder_was_made():
    b = Builder("stone")
    b.body("stone", mass=1.0, inertia=UNIT, free=True)
    b.gravity = (0, 0, -9)
    assert list(b.build().gravity) == [0.0, 0.0, -9.0]
    assert_refused("gravity has the shape (2,); give 3 numbers", lambda: setattr(b, "gravity", (0, -9)))
    assert list(b.build().gravity) == [0.0, 0.0, -9.0]


HERE = dict(s_i=(-0.5, 0, 0), s_j=(0, 0, 0))  # the two points coincide
SINGULAR = {
    "parallel universal axes": ("universal", HERE | dict(a_i=(1, 0, 0), a_j=(1, 0, 0)), "row axes_angle vanishes"),
    "opposite universal axes": ("universal", HERE | dict(a_i=(1, 0, 0), a_j=(-1, 0, 0)), "row axes_angle vanishes"),
    "parallel axes beside a link": (
        "modified_universal",
        dict(s_i=(-0.5, 0, -0.1), a_i=(1, 0, 0), s_j=(0, 0, 0), a_j=(1, 0, 0), l=0.1),
        "row axes_angle vanishes",
    ),
    "parallel directions": ("constant_angle", dict(a_i=(1, 0, 0), a_j=(-1, 0, 0)), "row angle vanishes"),
    "coplanar link and axes": (
        "modified_universal",
        dict(s_i=(-0.5, 0, -0.1), a_i=(0, 0, 1), s_j=(0, 0, 0), a_j=(0, 0.6, 0.8), l=0.1),
        "dependent in this configuration (rank 3 of 4); it is singular when the link is coplanar",
    ),
    "no link": ("modified_universal", HERE | dict(a_i=(1, 0, 0), a_j=(0, 1, 0), l=0.0), "row link_length vanishes"),
    "no distance": ("constant_distance", HERE | dict(l=0.0), "row distance vanishes"),
}


@pytest.mark.parametrize("case", SINGULAR)
def test_singular_joints(case):
    kind, values, message = SINGULAR[case]
    b = fixed_leg()
    b.joint("ankle", kind, "foot", "leg", **values)
    said = assert_refused(message, b.build)
    assert f"joint 'ankle' ({kind})" in said and said.endswith(
        "; start from another configuration, or use another joint"
    )


def test_a_system_and_its_state_cannot_be_changed(foot):
    with pytest.raises(AttributeError):
        foot.name = "other"
    with pytest.raises(TypeError):
        foot.joint("ankle").values["l"] = 1.0
    for array in (foot.state.y, foot.state.r["leg"], foot.joint("ankle").values["a_i"], foot.body("leg").inertia):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    for table in foot.data:
        if isinstance(table, np.ndarray):
            assert not table.flags.writeable


def test_an_array_that_changes_after_the_call_changes_no_part():
    point, lengths = np.array([0.0, 0.0, 0.5]), []
    for length in (0.5, 0.7):
        b = Builder()
        b.body("bob", mass=1.0, inertia=(1.0, 1.0, 1.0), r=(0.0, 0.0, -0.5), guess=True)
        point[2] = length
        b.joint("hinge", "revolute", "ground", "bob", s_i=(0, 0, 0), a_i=(0, 0, 1), s_j=point, a_j=(0, 0, 1))
        point[2] = 9.0
        lengths.append(b.build().joint("hinge").values["s_j"][2])
    assert lengths == [0.5, 0.7]
