"""Motions of the joints: rows and D by the kernels after a motion by SciPy's rotations; refusals of motions that are wrong."""

import inspect

import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation

from codegen import DefinitionError, compile_joint, joints, motions
from tests.support.kernels import assembled, call
from tests.support.marks import over
from tests.support.modules import JOINT_MODULES
from tests.support.motions import rotation_matrix, unit
from tests.support.refusals import refused_with

MODULES = {m.NAME: m for m in JOINT_MODULES if getattr(m, "MOTION", None) is not None}
all_motions = pytest.mark.parametrize("name", MODULES)


def steps_at(module, setting, body_i, body_j):
    """Kind, axis and point of each step in global axes."""
    states = {"i": body_i, "j": body_j}
    A = {body: rotation_matrix(state[3:7]) for body, state in states.items()}
    found = []
    for _, kind, axis, point in module.MOTION:
        if axis.startswith("across"):
            a = A["i"] @ setting.local[axis.partition(":")[2]]
            first = unit(np.cross(a, [0.3, -0.5, 0.8]))
            axis = first if axis.startswith("across1") else np.cross(a, first)
        elif axis:
            axis = A[axis[-1]] @ setting.local[axis]
        if point:
            body = point[-1]
            point = states[body][:3] + A[body] @ setting.local.get(point, np.zeros(3))  # "r_j": the centre of mass
        found.append((kind, axis, point))
    return found


def after_motion(steps, body_j, rng):
    """Body j moved by every step: the last first, since earlier ones move the axes of later ones."""
    r, A = body_j[:3], Rotation.from_quat(np.r_[body_j[4:7], body_j[3]])
    for kind, axis, point in reversed(steps):
        if kind == "slide":
            r = r + rng.normal() * axis
            continue
        turn = Rotation.from_rotvec(rng.uniform(-3, 3) * axis if kind == "turn" else rng.normal(size=3))
        r, A = point + turn.apply(r - point), turn * A
    x, y, z, w = A.as_quat()
    return np.r_[r, w, x, y, z, body_j[7:]]


def twists(steps, body_j):
    """Velocity and angular velocity of body j for a unit rate of each coordinate, (6, coordinates)."""
    columns = []
    for kind, axis, point in steps:
        if kind == "slide":
            columns.append([*axis, 0, 0, 0])
        for a in [axis] if kind == "turn" else np.eye(3) if kind == "ball" else []:
            columns.append([*np.cross(a, body_j[:3] - point), *a])
    return np.array(columns).reshape(-1, 6).T


@all_motions
@over("seed", range(5))
def test_rows_vanish_after_the_motion_and_D_allows_its_rates(name, seed):
    module, rng = MODULES[name], np.random.default_rng([seed, *name.encode()])
    setting, (body_i, body_j), _ = assembled(module, rng)
    steps, m = steps_at(module, setting, body_i, body_j), len(module.ROWS)
    body_j = after_motion(steps, body_j, rng)
    x = setting.x(body_i, body_j)
    assert np.abs(call(module.phi, body_i, body_j, x, m)).max() < 1e-12
    N = twists(steps_at(module, setting, body_i, body_j), body_j)
    D = call(module.jacobian, body_i, body_j, x, (m, 12))
    assert N.shape == (6, 6 - m) and np.abs(D[:, 6:] @ N).max(initial=0.0) < 1e-12
    assert np.linalg.matrix_rank(N, 1e-6) == 6 - m and np.linalg.matrix_rank(D, 1e-6) == m


def test_every_motion_is_that_of_a_joint_and_listed():
    assert set(MODULES) == {name for name in vars(motions) if inspect.isfunction(getattr(joints, name, None))} - {
        "between",
        "Across",
    }
    assert {m.NAME for m in JOINT_MODULES if getattr(m, "MOTION", 1) is None} == {
        "constant_angle",
        "constant_distance",
    }


def test_conditions_are_derived():
    where = {name: (m.DEPENDENT_COORDINATES, m.DEPENDENT_ROWS) for name, m in MODULES.items()}
    assert where.pop("universal") == ("a_i x a_j = 0", "")
    assert where.pop("modified_universal") == ("a_i x a_j = 0 and a_i x d = 0", "(a_i x a_j) . d = 0")
    assert where.pop("plane_translation") == ("a_i x b_i = 0", "")
    assert where.pop("oblique_translation") == (
        "the axes of its coordinates depend on each other",
        "the rows depend on each other",
    )
    assert set(where.values()) == {("", "")}


def test_rows_depend_where_the_derived_condition_holds():
    """A link in the plane of the axes: D loses a row there, and the twists of both coordinates stay independent."""
    module, rng = MODULES["modified_universal"], np.random.default_rng(3)
    setting, (body_i, body_j), _ = assembled(module, rng)
    body_i[3:7] = body_j[3:7] = [1, 0, 0, 0]
    a_i, a_j = setting.local["a_i"], setting.local["a_j"]
    d = 0.3 * a_i - 0.8 * a_j
    body_j[:3] = body_i[:3] + setting.local["s_i"] + d - setting.local["s_j"]
    D = call(module.jacobian, body_i, body_j, setting.x(body_i, body_j), (4, 12))
    assert np.linalg.matrix_rank(D[:, 6:], 1e-9) == 3
    assert np.linalg.matrix_rank(twists(steps_at(module, setting, body_i, body_j), body_j), 1e-9) == 2


def hinge(r_i, s_i, a_i, r_j, s_j, a_j, across):
    """A hinge.

    s_i, s_j : point [m]
    """
    b, c = across(a_i)
    return {"point": r_j + s_j - r_i - s_i, "tilt_1": b.dot(a_j), "tilt_2": c.dot(a_j)}


def gimbal(r_i, s_i, a_i, r_j, s_j, a_j, held):
    """Two crossing axes.

    s_i, s_j : point [m]
    """
    return {"point": r_j + s_j - r_i - s_i, "angle": held(a_i.dot(a_j))}


def gimbal_and_link(r_i, s_i, a_i, r_j, s_j, a_j, l, held):
    """A rod with a held angle at one end.

    l : length [m]
    """
    d = r_j + s_j - r_i - s_i
    return {"length": d.norm() - l, "angle": held(a_i.dot(a_j)), "tilt": held(a_i.dot(d))}


def euler(p_i, c):
    """A kept Euler parameter.

    c : value [1]
    """
    return {"e1": p_i[1] - c}


def about_j(s_i, a_j, turn):
    return {"angle": turn(a_j, s_i)}


def planar(r_i, s_i, a_i, r_j, s_j, a_j, across):
    """A plane that moves in a plane.

    s_i, s_j : point [m]
    """
    b, c = across(a_i)
    return {"height": a_i.dot(r_j + s_j - r_i - s_i), "tilt_1": b.dot(a_j), "tilt_2": c.dot(a_j)}


def above(r_i, s_i, a_i, r_j, s_j):
    """A point in a plane.

    s_i, s_j : point [m]
    """
    return {"height": a_i.dot(r_j + s_j - r_i - s_i)}


@pytest.mark.parametrize("motion", [about_j, motions.revolute])
def test_a_users_motion_is_proven(motion):
    module = compile_joint(hinge, motion)
    assert module.MOTION[0][:2] == ("angle", "turn") and module.DEPENDENT_COORDINATES == module.DEPENDENT_ROWS == ""
    assert compile_joint(hinge).MOTION is None


@pytest.mark.parametrize(
    ("joint", "motion", "says"),
    [
        (
            hinge, lambda s_i, a_i, turn, slide: {"angle": turn(a_i, s_i), "way": slide(a_i)},
            "it has 2 coordinates beside 5 rows; two bodies have 6 relative motions, so it needs 1",
        ),
        (
            hinge, lambda a_i, slide: {"way": slide(a_i)},
            "row 'point_z' does not keep its value; the steps lead to poses that the rows do not allow",
        ),
        (
            hinge, lambda s1_i, a_i, turn: {"angle": turn(a_i, s1_i)},
            "argument 's1_i' is no vector of the joint and no step; it may use s_i, a_i, s_j, a_j,",
        ),
        (
            hinge, lambda s_i, a_i, turn: {"angle": turn(s_i, a_i)},
            "turn(axis, point) needs a direction, such as a_i, of the signature",
        ),
        (
            hinge, lambda s_i, a_i, a_j, turn: {"angle": turn(a_i, s_i)}, "argument 'a_j' is not used; use it or remove it",
        ),
        (
            hinge, lambda s_i, a_i: {"angle": a_i.dot(s_i)},
            "must return its steps by the names of their coordinates, such as {'angle': turn(a_i, s_i)}",
        ),
        (
            hinge, lambda s_i, a_i, turn: {"no name": turn(a_i, s_i)},
            "'no name' is no name of a coordinate; use an identifier",
        ),
        (
            hinge, lambda s_i, a_i, turn: {"lambda": turn(a_i, s_i)},
            "'lambda' is no name of a coordinate; use an identifier that begins with a letter",
        ),
        (
            hinge, lambda s_i, a_i, turn: {"rates": turn(a_i, s_i)},
            "coordinate 'rates': results have name, kind, values, rates, units of a joint beside",
        ),
        (
            above,
            lambda a_i, s_j, across, slide, ball: {
                "turned_x": slide(across(a_i)[0]), "y": slide(across(a_i)[1]), "turned": ball(s_j),
            },
            "two coordinates are named 'turned_x'; a ball has the coordinates NAME_x, NAME_y, NAME_z",
        ),
        (
            gimbal, lambda s_i, a_i, s_j, a_j, turn: {"theta_j": turn(a_j, s_j), "theta_i": turn(a_i, s_i)},
            "row 'angle' does not keep its value",
        ),
        (
            gimbal, lambda s_i, a_i, s_j, turn: {"theta_i": turn(a_i, s_i), "again": turn(a_i, s_j)},
            "depend on each other in every pose; leave out those that repeat others",
        ),
        (
            gimbal, lambda s_i, a_i, a_j, turn: {"a": turn(a_i, s_i), "b": turn(a_j, s_i), "c": turn(a_i, s_i)},
            "has more turns than two; use ball(point) in place of three",
        ),
        (
            above,
            lambda a_i, s_i, s_j, slide, turn, ball: {"angle": turn(a_i, s_i), "way": slide(a_i), "turned": ball(s_j)},
            "has a turn beside ball(point), and a pose does not tell them apart",
        ),
        (
            gimbal_and_link,
            lambda a_i, s_i, s_j, a_j, turn, slide: {"a": turn(a_i, s_i), "b": turn(a_j, s_j), "c": slide(a_i)},
            "the rows are no polynomials of vectors; a proof needs sums and products of them",
        ),
        (euler, motions.fixed, "it has 0 coordinates beside 1 rows"),
        (
            planar,
            lambda s_i, a_i, across, turn, slide: {
                "angle": turn(a_i, s_i), "x": slide(across(a_i)[0]), "y": slide(across(a_i)[1]),
            },
            "'x' has an axis or a point of body i after steps that move it",
        ),
    ],
)  # fmt: skip
def test_a_motion_that_is_not_proven_is_refused_by_name(joint, motion, says):
    assert refused_with(DefinitionError, says, compile_joint, joint, motion).startswith(
        f"definition '{joint.__name__}': its motion: "
    )


def slides_first(s_j, a_j, a_i, across, turn, slide):
    b, c = across(a_i)
    return {"x": slide(b), "y": slide(c), "angle": turn(a_j, s_j)}


def test_axes_before_steps_that_turn_them_are_proven():
    module = compile_joint(planar, slides_first)
    assert [step[2] for step in module.MOTION] == ["across1:a_i", "across2:a_i", "a_j"]
    assert module.DEPENDENT_ROWS == module.DEPENDENT_COORDINATES == ""


def test_a_motion_is_part_of_what_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TALUS_CACHE_DIR", str(tmp_path))
    assert compile_joint(hinge).MOTION is None
    assert compile_joint(hinge, about_j).MOTION == (("angle", "turn", "a_j", "s_i"),)
    assert compile_joint(hinge, motions.revolute).MOTION == (("angle", "turn", "a_i", "s_i"),)
    assert len(list((tmp_path / "talus" / "joints").iterdir())) == 3


def at_an_angle(r_i, s_i, a_i, r_j, s_j, a_j, tilt):
    """Two crossing axes at an angle.

    s_i, s_j : point [m]
    tilt : angle [rad]
    """
    return {"point": r_j + s_j - r_i - s_i, "angle": a_i.dot(a_j) - sp.cos(tilt)}


def at_a_height(r_i, s_i, a_i, r_j, s_j, a_j, height, across):
    """A plane at a height above a plane.

    height : [m]
    """
    b, c = across(a_i)
    return {"height": a_i.dot(r_j + s_j - r_i - s_i) / height - 1, "tilt_1": b.dot(a_j), "tilt_2": c.dot(a_j)}


@pytest.mark.parametrize(("joint", "motion"), [(at_an_angle, motions.universal), (at_a_height, slides_first)])
def test_functions_of_parameters_are_constants_of_the_proof(joint, motion):
    module = compile_joint(joint, motion)
    assert len(module.MOTION) == len(module.ROWS) - 2 * (joint is at_an_angle)
    assert module.DEPENDENT_ROWS == ""  # 1/height, a factor of all minors, vanishes nowhere


def by_angles(r_i, s_i, a_i, r_j, s_j, a_j, b_j, held):
    """A hinge by two angles.

    s_i, s_j : point [m]
    """
    return {"point": r_j + s_j - r_i - s_i, "angle": held(a_i.dot(a_j)), "other": held(a_i.dot(b_j))}


def by_two_points(r_i, s_i, a_i, r_j, s1_j, s2_j, across):
    """Two points on a line.

    s_i, s1_j, s2_j : point [m]
    """
    b, c = across(a_i)
    offsets = [r_j + s - r_i - s_i for s in (s1_j, s2_j)]
    return {f"{n}{k}": e.dot(d) for k, d in enumerate(offsets) for n, e in (("b", b), ("c", c))}


def by_three_points(r_i, s_i, a_i, r_j, s1_j, s2_j, s3_j):
    """Three points in a plane.

    s_i, s1_j, s2_j, s3_j : point [m]
    """
    return {f"h{k}": a_i.dot(r_j + s - r_i - s_i) for k, s in enumerate((s1_j, s2_j, s3_j))}


def in_plane(a_i, s1_j, across, slide, turn):
    b, c = across(a_i)
    return {"x": slide(b), "y": slide(c), "angle": turn(a_i, s1_j)}


@pytest.mark.parametrize(
    ("joint", "motion", "where"),
    [
        (by_angles, motions.revolute, "(a_i x a_j) . b_j = 0"),
        (by_two_points, motions.cylindrical, "a_i . (s2_j - s1_j) = 0"),
        (by_three_points, in_plane, "(a_i x (s2_j - s1_j)) . (s3_j - s1_j) = 0"),
    ],
)
def test_conditions_are_in_terms_of_vectors_of_the_joint(joint, motion, where):
    assert compile_joint(joint, motion).DEPENDENT_ROWS == where
