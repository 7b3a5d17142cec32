"""Random mechanisms: a closed form against the second method, and verdicts that can fail."""

import numpy as np
import pytest

from benchmarks.random import change_points, compare, planar, question, trees
from benchmarks.random.second import Second
from runtime import Status
from tests.support.random_systems import SINGULAR


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


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_question(answer, monkeypatch):
    """At singular poses; the other classes are examined in modules of their own."""
    monkeypatch.setattr(question, "CLASSES", {name: question.CLASSES[name] for name in ("tree", *SINGULAR)})
    tables, notes = answer("random")
    rows = {row["class"]: row for row in tables["classes"]}
    assert set(rows) == set(question.CLASSES)
    for row in rows.values():
        assert sum(row[kind] for kind in question.KINDS) == row["mechanisms"] > 0
        assert not row["wrong"] and not row["raised"]
    assert "0 of them wrong" in notes["classes"]
