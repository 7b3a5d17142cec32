"""Random systems by Talus against the second method, brief comparisons of many."""

from collections import Counter

from benchmarks.random import compare, question

FULL, NIGHT = "full", "night"
# Mechanisms of each class in the full set, 650 in all, and those that each night adds.
TREES = {"tree": (300, 1150)}
ACTING = {"acting_tree": (140, 680), "acting_loop": (70, 440)}
# Singular poses are examined by ``python -m benchmarks random``.
SINGULAR = (
    "change_point",
    "near_change_point",
    "turning_near_pose",
    "start_at_pose",
    "pair",
    "swinging",
    "driven_parallelogram",
)
LOOPS = {name: (10, 66) for name in question.CLASSES if name not in (*TREES, *ACTING, *SINGULAR)}


def examined(name, first, count):
    """Kinds of verdicts of a class, counted; fails for any that is wrong."""
    kinds, bad = Counter(), []
    for seed in range(first, first + count):
        verdict = compare.examine(name, seed, question.CLASSES[name], brief=True)
        kinds[verdict.kind] += 1
        if verdict.kind in question.BAD:
            bad.append(f"{name} {seed}: {verdict.kind}, {verdict.error:.1e}, {verdict.facts}: {verdict.text}")
    assert not bad, "\n".join(bad)
    assert kinds["right"] >= 0.9 * count - 1, kinds
    return kinds
