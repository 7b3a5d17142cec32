"""Random systems by Talus against the second method, brief comparisons of many."""

from collections import Counter

import numpy as np

import runtime
from benchmarks.random import compare, question
from benchmarks.random.model import system_of
from benchmarks.random.second import Second

FULL, NIGHT = "full", "night"
# Mechanisms of each class in the full set, 72 in all, and those that each night adds.
TREES = {"tree": (30, 1420)}
ACTING = {"acting_tree": (12, 808), "acting_loop": (8, 502)}
# Singular poses are examined by ``python -m benchmarks random`` and, one each, in ``tests/benchmarks/test_random.py``.
SINGULAR = (
    "change_point",
    "near_change_point",
    "turning_near_pose",
    "start_at_pose",
    "pair",
    "swinging",
    "driven_parallelogram",
)
LOOPS = {name: (2, 74) for name in question.CLASSES if name not in (*TREES, *ACTING, *SINGULAR)}


OF_BRANCHES = "another assembly mode"  # of the remark on a step and of ``Status.BRANCH_LEFT``


def examined(name, first, count):
    """Kinds of verdicts of a class, counted; fails for any that is wrong, and where a run doubts its branch."""
    kinds, bad = Counter(), []
    for seed in range(first, first + count):
        verdict = compare.examine(name, seed, question.CLASSES[name], brief=True)
        kinds[verdict.kind] += 1
        if verdict.kind in question.BAD or OF_BRANCHES in verdict.text:
            bad.append(f"{name} {seed}: {verdict.kind}, {verdict.error:.1e}, {verdict.facts}: {verdict.text}")
    assert not bad, "\n".join(bad)
    assert kinds["right"] >= 0.9 * count - 1, kinds
    return kinds


def doubted(name, seed, tolerance):
    """What a run at a coarse tolerance says of its branch; "" where it says nothing."""
    random = np.random.default_rng([seed, *name.encode()])
    mechanism = question.CLASSES[name](random)
    second = Second(mechanism)
    second.freedoms()
    compare.set_going(mechanism, random, second)
    system = system_of(mechanism, name)
    run = runtime.simulate(system, mechanism.t_end, rtol=tolerance, atol=tolerance, max_steps=2000, progress=False)
    return run.message if OF_BRANCHES in run.message else ""
