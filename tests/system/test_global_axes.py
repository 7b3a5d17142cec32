"""Data in global axes at the reference pose: the same systems as from data in axes of the bodies, and refusals."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import codegen
import runtime
from tests.support.motions import unit
from tests.support.refusals import assert_refused

AT, TURN = np.array([0.3, -0.2, 0.5]), Rotation.from_rotvec([0.4, -1.1, 0.7])
OTHER_AT, OTHER_TURN = np.array([-0.1, 0.4, 0.2]), Rotation.from_rotvec([-0.8, 0.3, 1.9])
POINT, AXIS = np.array([0.15, 0.25, -0.35]), np.array([2.0, -1.0, 4.0])
PLACES = {"ground": (np.zeros(3), Rotation.identity()), "one": (AT, TURN), "two": (OTHER_AT, OTHER_TURN)}


def builder(axes="global"):
    b = runtime.Builder("pair", axes=axes)
    for name in ("one", "two"):
        r, turn = PLACES[name]
        b.body(name, mass=1.0, inertia=(0.01, 0.02, 0.025), r=r, p=turn, free=True)
    return b


def local_point(body, point=POINT):
    r, turn = PLACES[body]
    return turn.inv().apply(np.asarray(point) - r)


def local_axis(body, axis=AXIS):
    return PLACES[body][1].inv().apply(unit(np.array(axis, float)))


def same(values, expected):
    assert set(values) == set(expected)
    return all(np.abs(np.asarray(values[key]) - expected[key]).max() < 1e-15 for key in expected)


def joint_of(b, name="j"):
    return b.build(project_velocities=True).joint(name).values


@pytest.mark.parametrize("ends", [("ground", "one"), ("one", "ground"), ("one", "two")])
def test_point_and_axis_serve_both_bodies(ends):
    b = builder()
    b.joint("j", "revolute", *ends, point=POINT, axis=AXIS)
    i, j = ends
    expected = {"s_i": local_point(i), "s_j": local_point(j), "a_i": local_axis(i), "a_j": local_axis(j)}
    assert same(joint_of(b), expected)


def test_vectors_of_single_bodies():
    """A point or an axis of one body alone, beside constants; a definition with one axis takes it from ``axis``."""
    b = builder()
    b.joint("u", "universal", "one", "two", point=POINT, a_i=AXIS, a_j=(0, 3, 0))
    b.joint("d", "constant_distance", "one", "two", s_i=POINT, s_j=(1, 2, 3), l=2.5)
    b.joint("line", "point_on_line", "ground", "two", point=POINT, axis=AXIS)
    u = {
        "s_i": local_point("one"),
        "s_j": local_point("two"),
        "a_i": local_axis("one"),
        "a_j": local_axis("two", (0, 1, 0)),
    }
    assert same(b._of["joints"]["u"].values, u)
    assert same(
        b._of["joints"]["d"].values, {"s_i": local_point("one"), "s_j": local_point("two", (1, 2, 3)), "l": 2.5}
    )
    assert same(b._of["joints"]["line"].values, {"s_i": POINT, "a_i": unit(AXIS), "s_j": local_point("two")})


def test_each_call_may_choose():
    b = builder("body")
    b.joint("j", "spherical", "one", "two", axes="global", point=POINT)
    b.joint("k", "spherical", "ground", "one", s_i=(0, 0, 0), s_j=(1, 0, 0))
    assert same(b._of["joints"]["j"].values, {"s_i": local_point("one"), "s_j": local_point("two")})
    assert same(b._of["joints"]["k"].values, {"s_i": np.zeros(3), "s_j": np.eye(3)[0]})
    c = builder("global")
    c.joint("k", "spherical", "ground", "one", axes="body", s_i=(0, 0, 0), s_j=(1, 0, 0))
    assert same(c._of["joints"]["k"].values, b._of["joints"]["k"].values)


def slot(r_i, s1_i, s2_i, n_i, r_j, s_j, point):
    """A joint of the user with two points on a body and a constant of the name ``point``."""
    d = r_j + s_j - r_i
    return {"first": n_i.dot(d - s1_i) - point, "second": (s2_i - s1_i).dot(d - s1_i)}


def test_a_joint_of_the_user():
    b = builder()
    given = {"s1_i": POINT, "s2_i": (1, 0, 0), "n_i": AXIS, "s_j": (0, 1, 0), "point": 0.0}
    b.joint("j", codegen.compile_joint(slot), "one", "two", **given)
    expected = {
        "s1_i": local_point("one"), "s2_i": local_point("one", (1, 0, 0)), "n_i": local_axis("one"),
        "s_j": local_point("two", (0, 1, 0)), "point": 0.0,
    }  # fmt: skip
    assert same(b._of["joints"]["j"].values, expected)


def test_the_axis_of_a_driver_and_of_a_motor():
    across = (1.0, 2.0, 0.0)
    b = builder()
    b.driver("turn", "guided_angle", "one", "two", axis=AXIS, a_i=across, b_j=across, theta_t=0.0)
    b.motor("pull", "guided_distance", "ground", "one", s_i=(0, 0, 0), s_j=POINT, effort=1.0)
    expected = {"h_i": local_axis("one"), "a_i": local_axis("one", across), "b_j": local_axis("two", across)}
    assert same(b._of["joints"]["turn"].values, expected)
    assert same(b._of["motors"]["pull"].joint.values, {"s_i": np.zeros(3), "s_j": local_point("one")})


def test_limits_and_contacts():
    cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (30, 60, 45, 20, 30))
    laws = {"max_moment": 10.0, "compliance": 0.1, "cone": cone, "reference": "one"}
    sole = {"radius": 0.1, "law": "hertz", "stiffness": 1e5, "plane": "two"}
    b, c = builder(), builder("body")
    for one in (b, c):
        one.joint("j", "spherical", "one", "two", axes="global", point=POINT)
    b.limit("l", "j", xi=(0, 0, 3), eta=(2, 0, 0), direction=AXIS, **laws)
    c.limit(
        "l", "j", xi=local_axis("one", (0, 0, 1)), eta=local_axis("one", (1, 0, 0)), direction=local_axis("two"), **laws
    )
    assert same(b._of["limits"]["l"].values, c._of["limits"]["l"].values)
    b.contact("s", "one", centre=POINT, point=(1, 2, 3), normal=AXIS, belt=(1, 2, 0), belt_speed=1.0, **sole)
    c.contact("s", "one", centre=local_point("one"), point=local_point("two", (1, 2, 3)), normal=local_axis("two"),
              belt=local_axis("two", (1, 2, 0)), belt_speed=1.0, **sole)  # fmt: skip
    assert same(b._of["contacts"]["s"].values, c._of["contacts"]["s"].values)


def test_forces():
    b = builder()
    b.force(
        "spring",
        "spring_damper",
        "ground",
        "one",
        s_i=(1, 2, 3),
        s_j=POINT,
        stiffness=1.0,
        damping=0.0,
        free_length=1.0,
    )
    b.force("twist", "torsional_spring", "one", "two", axis=AXIS, stiffness=1.0, damping=0.0, free_angle=0.0)
    spring, twist = b._of["forces"]["spring"].values, b._of["forces"]["twist"].values
    assert same({k: spring[k] for k in ("s_i", "s_j")}, {"s_i": np.array([1.0, 2, 3]), "s_j": local_point("one")})
    assert same({"a_i": twist["a_i"]}, {"a_i": local_axis("one")})


def test_inertia_in_global_axes():
    J = np.array([[0.03, 0.002, -0.001], [0.002, 0.02, 0.003], [-0.001, 0.003, 0.025]])
    b = runtime.Builder()
    b.body("one", mass=1.0, inertia=J, inertia_axes="global", r=AT, p=TURN, free=True, omega=(1, 2, 3))
    system = b.build()
    A = TURN.as_matrix()
    assert np.abs(A @ system.bodies[0].inertia @ A.T - J).max() < 1e-16
    run = runtime.simulate(system, 0.1, t_eval=[0.0, 0.1])
    w = np.array([1.0, 2.0, 3.0])
    assert run.kinetic_energy[0] == pytest.approx(0.5 * w @ J @ w, rel=1e-14)


def test_an_attached_load_moves_with_its_body():
    """A weight on a point of a body: its moment about the centre of mass is that of the moved point."""
    runs = []
    for heavy in (True, False):
        b = builder()
        b.joint("j", "revolute", "ground", "one", point=POINT, axis=(0, 1, 0))
        if heavy:
            b.load("weight", "one", force=(0, 0, -3), point=POINT + (0.5, 0, 0), attached=True)
        else:  # the same weight in axes of the body, where it does not keep its direction: only at the start
            A = TURN.as_matrix()
            b.load("weight", "one", force=A.T @ (0, 0, -3), point=local_point("one", POINT + (0.5, 0, 0)), axes="body")
        runs.append(runtime.simulate(b.build(), 1.0, t_eval=[0.0, 1.0]))
    one, other = runs
    assert np.abs(one.v_dot["one"][0] - other.v_dot["one"][0]).max() < 1e-13
    assert np.abs(one.r["one"][1] - other.r["one"][1]).max() > 0.01
    moved = one.r["one"] + one.rotations("one") @ local_point("one", POINT + (0.5, 0, 0))
    work = one.energy - 3.0 * (moved[0, 2] - moved[:, 2])
    assert work[1] == pytest.approx(work[0], abs=1e-9)


def test_a_pickled_load_stays_attached():
    b = builder()
    b.load("weight", "one", force=(0, 0, -3), point=POINT, attached=True)
    system = pickle.loads(pickle.dumps(b.build()))
    assert system.loads[0].attached and [s(0.0) for s in system.loads[0].point] == pytest.approx(local_point("one"))


BAD = {
    "both": (lambda b: b.joint("j", "spherical", "one", "two", point=POINT, s_i=POINT), "s_i given twice, also by point"),
    "no axis": (lambda b: b.joint("j", "spherical", "one", "two", point=POINT, axis=AXIS), "has no a_i or a_j that axis"),
    "zero": (lambda b: b.joint("j", "revolute", "one", "two", point=POINT, axis=(0, 0, 0)), "a_i is the zero vector"),
    "shape": (lambda b: b.joint("j", "revolute", "one", "two", point=POINT, axis=(0, 0)), "a_i has the shape"),
    "missing": (lambda b: b.joint("j", "revolute", "one", "two", point=POINT), "missing a_i, a_j"),
    "axes": (lambda b: b.joint("j", "revolute", "one", "two", axes="world"), "axes = 'world'; use 'body' or 'global'"),
    "in body axes": (
        lambda b: b.joint("j", "spherical", "one", "two", axes="body", s_i=POINT, s_j=POINT, point=POINT),
        "point and axis are for axes='global'",
    ),
    "normal": (
        lambda b: b.contact("c", "one", centre=POINT, radius=0.1, normal=(0, 0, 0), law="hertz", stiffness=1e5),
        "normal is the zero vector",
    ),
    "attached": (lambda b: b.load("l", "one", attached=True), "attached=True, but it has no point"),
    "attached in body axes": (
        lambda b: b.load("l", "one", point=POINT, axes="body", attached=True), "is given in axes of the body",
    ),
    "builder": (lambda b: runtime.Builder("pair", axes="world"), "axes = 'world'"),
    "inertia": (lambda b: b.body("c", mass=1.0, inertia=(1, 1, 1), inertia_axes="world"), "inertia_axes = 'world'"),
    "attached path": (
        lambda b: b.load("l", "one", point=(runtime.Signal.constant(1.0), 0, 0), attached=True), "point",
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", BAD)
def test_refuses(call):
    bad, message = BAD[call]
    assert_refused(message, bad, builder())
