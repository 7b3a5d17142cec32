"""A definition's branch sign is kept in assembly, in kinematics of large steps, and in fits."""

import pickle
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import runtime
from codegen import compile_joint
from runtime import AssemblyError, Builder, Signal
from tests.support.definitions import module_of
from tests.support.refusals import assert_refused
from tests.support.trees import matches, signal_values, signals_of, single
from tests.support.vectors import X, Y, about, largest, matrix, parameters, unit

compiled = cache(compile_joint)


def rod_on_one_side(r_i, s_i, a_i, r_j, s_j, l, keeps_sign):
    """Points at the distance l, P_j ahead of P_i along a_i."""
    d = r_j + s_j - r_i - s_i
    keeps_sign(a_i.dot(d))
    return {"distance": d.dot(d) - l**2}


# --- the definition -------------------------------------------------------------------------------------------------


def test_a_branch_sign_adds_no_equation():
    one, other = compile_joint(rod_on_one_side), module_of("constant_distance")
    assert (one.BRANCH_SIGNS, other.BRANCH_SIGNS, module_of("modified_universal").BRANCH_SIGNS) == (1, 0, 1)
    assert one.ROWS == other.ROWS == ("distance",)


# --- an elbow of a user's own ---------------------------------------------------------------------------------------

UPPER, LOWER = 0.5, 0.4


def elbow(r_i, s_i, a_i, h_i, r_j, s_j, a_j, h_j, across, keeps_sign):
    """Hinge along h_i and h_j that keeps the side to which it is bent, from a_i to a_j."""
    b, c = across(h_i)
    keeps_sign(h_i.dot(a_i.cross(a_j)))
    return {"point": r_j + s_j - r_i - s_i, "tilt_1": b.dot(h_j), "tilt_2": c.dot(h_j)}


def guided_in_a_plane(r_i, s_i, x_t, z_t):
    """Drive two coordinates of a point."""
    point = r_i + s_i
    return {"x": point.x - x_t, "z": point.z - z_t}


def bent(hand, sign):
    """Turns about y of the upper and of the lower arm, by the law of cosines; (x, z) of a bar along x go to (cos, - sin)."""
    distance = np.hypot(*hand)
    bend = sign * np.arccos((distance**2 - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))
    first = np.arctan2(-hand[1], hand[0]) - np.arctan2(LOWER * np.sin(bend), UPPER + LOWER * np.cos(bend))
    return first, first + bend


def arm(hands, sign, *, kept=True):
    """Two bars in the plane of x and z whose hand rests at each of the places (n, 2) at the times 0, 1, ..."""
    b = Builder("arm")
    first, second = bent(hands[0], sign)
    A, B = about(Y, first), about(Y, second)
    joint = UPPER * A @ X
    b.body("upper", mass=1.0, inertia=(0.01, 0.01, 0.01), r=joint / 2, p=parameters(A))
    b.body("lower", mass=1.0, inertia=(0.01, 0.01, 0.01), r=joint + LOWER / 2 * B @ X, p=parameters(B))
    b.joint("shoulder", "revolute", "ground", "upper", s_i=(0, 0, 0), a_i=Y, s_j=-UPPER / 2 * X, a_j=Y)
    points = dict(s_i=UPPER / 2 * X, s_j=-LOWER / 2 * X)
    if kept:
        b.joint("elbow", compiled(elbow), "upper", "lower", a_i=X, h_i=Y, a_j=X, h_j=Y, **points)
    else:
        b.joint("elbow", "revolute", "upper", "lower", a_i=Y, a_j=Y, **points)
    t = np.arange(float(len(hands)))
    x, z = (Signal.samples(t, hands[:, c], 0 * t, 0 * t) for c in range(2))
    b.driver("hand", compiled(guided_in_a_plane), "lower", s_i=LOWER / 2 * X, x_t=x, z_t=z)
    return b.build(), t


def leaps(seed):
    """Places in a square that the arm reaches everywhere, of which some almost stretch it."""
    return np.random.default_rng(seed).uniform((0.15, -0.5), (0.73, 0.5), (40, 2))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(4))
def test_an_elbow_of_a_users_own_is_bent_to_its_side(seed, sign):
    hands = leaps(seed)
    system, t = arm(hands, sign)
    assert [list(s) for s in system.branch_signs] == [[], [sign], []]
    m = runtime.kinematics(system, t)
    turns = np.array([bent(hand, sign) for hand in hands])
    for name, angles in zip(("upper", "lower"), turns.T, strict=True):
        assert largest(matrix(m.p[name]) - np.array([about(Y, angle) for angle in angles])) < 1e-9


def test_an_elbow_without_a_side_is_bent_to_either():
    """The leaps of the test above are hard ones."""
    sides = set()
    for seed in range(4):
        system, t = arm(leaps(seed), 1, kept=False)
        m = runtime.kinematics(system, t)
        sides |= set(np.sign(np.cross(matrix(m.p["upper"])[:, :, 0], matrix(m.p["lower"])[:, :, 0]) @ Y))
    assert sides == {-1.0, 1.0}


# --- an ankle with a link -------------------------------------------------------------------------------------------


def ankle(seed, q):
    """An ankle on the ground whose axes are guided by q, as a builder."""
    tree = single("modified_universal", seed)
    b = tree.builder()
    tree.guide(b, q)
    return tree, b


def pose(tree, q):
    return tree.motion(np.asarray(q), np.zeros(2), np.zeros(2))[0]


def side(tree, body):
    """On which side of both axes the link is, by plain numpy."""
    A, first = body.A, tree.data[0].axes[0]
    second = A @ tree.ends(0)["a_j"]
    link = body.r + A @ tree.data[0].s_own - tree.data[0].s_parent
    return np.sign(np.cross(first, second) @ link)


def mirror_image(tree, state):
    """The body moved so that the link is on the other side of both axes; it meets the rows as well."""
    normal = unit(np.cross(*tree.data[0].axes))
    return state.replace(r={"body_0": state.r["body_0"] - 2 * normal * (normal @ tree.data[0].link)})


@pytest.mark.parametrize("seed", range(25))
def test_an_ankle_is_built_on_its_side_wherever_its_drivers_lead(seed):
    """Up to 160 degrees about each axis away from where the bodies are placed."""
    target = np.random.default_rng([seed, 1]).uniform(-2.8, 2.8, 2)
    tree, b = ankle(seed, [Signal.constant(value) for value in target])
    system, exact = b.build(), pose(single("modified_universal", seed), target)
    assert [list(s) for s in system.branch_signs] == [[side(tree, pose(tree, np.zeros(2)))], [], []]
    assert largest(system.state.r["body_0"] - exact.r, matrix(system.state.p["body_0"]) - exact.A) < 1e-9


def swinging():
    return [
        Signal.function(lambda t, w=w, a=a: a * np.sin(w * t), 0.0, 1.0) for w, a in ((5.0, 2.5), (7.0, 2.0))
    ]  # up to 14 rad/s


def by_kinematics(seed, steps):
    """The largest distance from the driven pose, or nan where a step is refused."""
    tree, b = ankle(seed, swinging())
    t = np.linspace(0.0, 1.0, steps)
    system, values = b.build(), signal_values(swinging(), t)
    try:
        m = runtime.kinematics(system, t)
    except AssemblyError as error:
        assert "joint 'joint_0' could only be assembled as the mirror image" in str(error)
        return np.nan
    matches(tree, m, [tree.motion(*values[:, n]) for n in range(steps)], 1e-8)
    return largest(m.r["body_0"] - np.array([pose(tree, q).r for q in values[0]]))


@pytest.mark.slow
def test_short_steps_follow_the_driver_or_are_refused_by_name():
    assert np.nanmax([by_kinematics(seed, 33) for seed in range(20)]) < 1e-9


@pytest.mark.parametrize("steps", [3, 5, 9])
def test_kinematics_stays_on_its_side(steps):
    """Steps of up to 7 rad."""
    assert np.max([by_kinematics(seed, steps) for seed in range(20)]) < 1e-9


def test_the_mirror_image_is_refused_by_name():
    """It meets every row, and is another ankle."""
    tree, b = ankle(1, [Signal.constant(0.0)] * 2)
    system = b.build()
    mirrored = mirror_image(tree, system.state)
    rows = runtime.kinematics(system, [0.0])
    assert largest(rows.Phi["joint_0"]) < 1e-12
    message = "joint 'joint_0' could only be assembled as the mirror image of the reference configuration; start nearer"
    free = tree.builder().build()
    with pytest.raises(AssemblyError, match=message):
        runtime.assemble(free, mirrored)
    again = pickle.loads(pickle.dumps(system))
    assert again.branch_signs == system.branch_signs
    assert all(isinstance(s, tuple) for s in (again.branch_signs, *again.branch_signs))
    for one in (system, again):
        with pytest.raises(AssemblyError, match="at t = 0 s: " + message):
            runtime.kinematics(one, [0.0], initial=mirrored)
    assert_refused("mirror image", runtime.simulate, free, 0.1, initial=mirrored)


def test_a_simulation_stays_on_its_side():
    tree = single("modified_universal", 2)
    b = tree.builder()
    b.motor("push", "guided_link", "ground", "body_0", **tree.guides(0)[0][4], effort=0.5)
    run = runtime.simulate(b.build(), 1.0, t_eval=np.linspace(0.0, 1.0, 41))
    states = [SimpleNamespace(r=r, A=A) for r, A in zip(run.r["body_0"], matrix(run.p["body_0"]), strict=True)]
    assert {side(tree, body) for body in states} == {side(tree, pose(tree, np.zeros(2)))}
    assert np.ptp(run.r["body_0"], axis=0).max() > 0.1


# --- fits -----------------------------------------------------------------------------------------------------------

MARKERS = np.array([[0.2, 0.1, -0.1], [-0.2, 0.15, 0.1], [0.05, -0.25, 0.2], [0.1, 0.2, 0.3]])


def fitted(tree, bodies):
    """An ankle whose body has markers, at the times 0, 1, ... where the bodies (one per time) have them."""
    b = tree.builder()
    t = np.arange(float(len(bodies)))
    for n, s in enumerate(MARKERS):
        places = np.array([body.r + body.A @ s for body in bodies])
        path = [Signal.spline(t, places[:, c], degree=1) for c in range(3)]
        b.driver(f"marker_{n}", "guided_point", "body_0", s_i=s, **signals_of(("x_t", "y_t", "z_t"), path))
    return b.build_overdetermined(), t


@pytest.mark.parametrize("seed", range(12))
def test_a_fit_stays_on_its_side(seed):
    """To markers of poses up to 0.8 rad apart, from one to the next: it ends in the pose, never in the mirror image."""
    tree = single("modified_universal", seed)
    q = np.random.default_rng([seed, 2]).uniform(-0.8, 0.8, (6, 2)).cumsum(axis=0)
    bodies = [pose(tree, values) for values in q]
    system, t = fitted(tree, bodies)
    state = system.state
    for time, body in zip(t, bodies, strict=True):
        m = runtime.kinematics(system, [time], initial=state)
        state = m.final
        assert largest(m.r["body_0"][0] - body.r, matrix(m.p["body_0"])[0] - body.A) < 1e-9
        assert m.residual[0] < 1e-10


def test_a_fit_to_markers_of_the_mirror_image_is_refused():
    """They are met exactly there, and nowhere else."""
    tree = single("modified_universal", 1)
    reference = pose(tree, np.zeros(2))
    normal = unit(np.cross(*tree.data[0].axes))
    there = SimpleNamespace(r=reference.r - 2 * normal * (normal @ tree.data[0].link), A=reference.A)
    system, _ = fitted(tree, [there] * 2)
    mirrored = mirror_image(tree, tree.builder().build().state)
    with pytest.raises(AssemblyError) as error:
        runtime.kinematics(system, [0.0], initial=mirrored)
    assert str(error.value) == (
        "joint 'joint_0' was fitted as the mirror image of its reference configuration at t = 0 s; start nearer (initial=...)"
    )
