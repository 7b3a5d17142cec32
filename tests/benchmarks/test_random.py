"""Random mechanisms: the second method against finite differences and closed forms, and verdicts that can fail."""

import numpy as np
import pytest

from benchmarks.random import change_points, compare, planar, question, spatial, trees
from benchmarks.random.closed_form import ChangePoint
from benchmarks.random.mechanism import GROUND, Mechanism
from benchmarks.random.second import Second, displaced
from runtime import Status


def _state(second, random):
    """A state with any velocities, off the constraints."""
    y = second.start().reshape(-1, 13)
    y[:, 7:] = random.standard_normal((second.n, 6))
    return y.ravel()


def _rows(second, t, y):
    """Phi, D, Phi' and gamma of a state, unscaled."""
    s = np.concatenate([np.zeros((1, 13)), y.reshape(-1, 13)])
    s[0, 3] = 1.0
    A = np.concatenate([np.eye(3)[None], second.geometry(t, y)[0]])
    return second.rows.evaluate(t, s[:, :3], A, s[:, 7:10], s[:, 10:])


def _along(y, h, acceleration):
    """The state on a motion with constant (v', w') of all bodies, up to third order in h."""
    s = y.reshape(-1, 13)
    a = acceleration.reshape(-1, 6)
    v, w = s[:, 7:10] + 0.5 * h * a[:, :3], s[:, 10:] + 0.5 * h * a[:, 3:]
    moved = displaced(y, h * v, h * w).reshape(-1, 13)
    moved[:, 7:10] += h * a[:, :3]
    moved[:, 10:] += h * a[:, 3:]
    return moved.ravel()


MAKERS = (
    *[planar.slider_crank, spatial.modified_loop, spatial.driven_loop, spatial.bennett],
    *[trees.tree] * 4,
)


@pytest.mark.parametrize("seed", range(len(MAKERS)))
def test_rows_of_the_second_method_follow_from_phi(seed):
    random = np.random.default_rng(seed)
    second = Second(MAKERS[seed](random))
    y, t, h = _state(second, random), 0.3, 1e-5
    acceleration = random.standard_normal(6 * second.n)
    _, D, rate, gamma = _rows(second, t, y)
    before, after = (_rows(second, t + x, _along(y, x, acceleration)) for x in (-h, h))
    assert np.abs((after[0] - before[0]) / (2 * h) - rate).max() < 1e-7
    change = D[:, 1:].reshape(len(rate), -1) @ acceleration - gamma
    assert np.abs((after[2] - before[2]) / (2 * h) - change).max() < 1e-6


def test_second_method_on_a_physical_pendulum():
    m = Mechanism()
    m.body("bob", 2.0, (0.1, 0.2, 0.1), (0.5, 0.0, 0.0))
    m.joint("pivot", "revolute", GROUND, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    second = Second(m)
    assert second.freedoms() == 1
    states = second.motion(np.array([0.0, 0.4]), 1e-12, np.ones(13)).reshape(2, 13)
    from scipy.integrate import solve_ivp

    # m g d cos q = (J + m d^2) q'' for the angle below the horizontal.
    slope = 2.0 * 9.81 * 0.5 / (0.2 + 2.0 * 0.25)
    q = solve_ivp(lambda t, y: [y[1], slope * np.cos(y[0])], (0, 0.4), [0.0, 0.0], rtol=1e-12, atol=1e-14).y[0, -1]
    assert states[1, :3] == pytest.approx([0.5 * np.cos(q), 0.0, -0.5 * np.sin(q)], abs=1e-10)


def test_closed_form_of_a_change_point_is_smooth_and_closes():
    linkage = ChangePoint(np.array([0.4, 0.7, 0.4, 0.7]), 1)
    at = np.linspace(-4.0, 4.0, 41)
    for q in (*at, 0.0, np.pi):
        B, C = linkage.points(q)
        assert np.hypot(C[0].f - B[0].f, C[1].f - B[1].f) == pytest.approx(0.7, abs=1e-14)
        assert np.hypot(C[0].f - 0.7, C[1].f) == pytest.approx(0.4, abs=1e-14)
        ahead, behind = (linkage.points(q + h)[1] for h in (1e-5, -1e-5))
        for k in range(2):
            assert (ahead[k].f - behind[k].f) / 2e-5 == pytest.approx(C[k].f1, abs=1e-8)
            assert (ahead[k].f1 - behind[k].f1) / 2e-5 == pytest.approx(C[k].f2, abs=1e-8)


def test_change_point_agrees_with_the_second_method_ahead_of_the_pose():
    random = np.random.default_rng(3)
    m = change_points.change_point(random)
    second = Second(m)
    second.freedoms()
    v, w = m.exact.velocities(0.7)
    for k, b in enumerate(m.bodies.values()):
        b.v, b.w = v[k], w[k]
    times = np.array([0.0, 0.01])
    r, A, _ = m.exact.poses(times, 0.7)
    found = compare.poses(second.motion(times, 1e-12, np.ones(13 * second.n)))
    assert compare.errors(m, r, A, *found).max() < 1e-10


@pytest.mark.slow
def test_verdicts():
    right = compare.examine("four_bar", 1, planar.four_bar)
    assert right.kind == "right" and right.error < compare.RIGHT and right.compared > 2

    def heavier_for_talus(random):
        m = planar.four_bar(random)
        m.springs = []
        return m

    original = compare.system_of
    try:
        compare.system_of = lambda m, name: _with_other_gravity(original, m, name)
        wrong = compare.examine("four_bar", 3, heavier_for_talus)
    finally:
        compare.system_of = original
    assert wrong.kind == "wrong" and "reached" in wrong.text
    ended = compare.examine("four_bar", 1, planar.four_bar, options={"max_step": 1e-4, "max_steps": 3})
    assert ended.kind == "ended" and ended.status == Status.STEPS_USED_UP


@pytest.mark.slow
def test_an_amplified_error_follows_the_tolerance():
    amplified = compare.examine("tree", 1535, trees.tree)
    assert amplified.kind == "amplified" and compare.ROWS < amplified.facts["violation"] < 2e-9
    at_that_tolerance_alone = compare.examine("tree", 1535, trees.tree, rtol=amplified.facts["m"].rtol)
    assert at_that_tolerance_alone.kind == "drift"


def test_energy_of_a_locked_tree_is_not_judged():
    locked = compare.examine("tree", 673, trees.tree)
    assert locked.facts["dof"] == 0 and locked.kind == "right"


def _with_other_gravity(build, m, name):
    kept = m.gravity
    m.gravity = kept + [0.1, 0.2, 0.3]
    try:
        return build(m, name)
    finally:
        m.gravity = kept


@pytest.mark.slow
def test_question(answer):
    tables, notes = answer("random")
    rows = {row["class"]: row for row in tables["classes"]}
    assert set(rows) == set(question.CLASSES)
    for row in rows.values():
        assert sum(row[kind] for kind in question.KINDS) == row["mechanisms"] > 0
        assert not row["wrong"] and not row["raised"]
    assert "0 of them wrong" in notes["classes"]
