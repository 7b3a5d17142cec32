"""Equations of trees in the coordinates of their joints: polynomials, cosine and sine, the emitted functions."""

import math

import numpy as np
import pytest

import codegen
import models
import runtime
from codegen import DefinitionError
from codegen.compiler import sine, tree_equations
from codegen.compiler.errors import NoKernelError
from codegen.compiler.polynomials import Ring
from codegen.compiler.sine import cosine_and_sine
from codegen.compiler.study import module_from, refuse_wrong_tree
from codegen.compiler.trace import Record, Text
from codegen.compiler.tree import emit_tree
from generated.whole import tree_turn_turn
from runtime.system.trees import trees_of
from tests.support.joint_trees import random_tree
from tests.support.marks import over
from tests.support.refusals import refused_with

CHAIN = ("turn", "turn"), (-1, 0)


def values_of(text, targets, **inputs):
    exec("\n".join(text.write(targets)), inputs)
    return inputs


def test_cosine_and_sine():
    record = Record()
    c, s = cosine_and_sine(record.input("x"))
    text = Text(record, "t")
    lines = compile("\n".join(text.write([("c", c), ("s", s)])), "<sine>", "exec")
    assert text.operations == 40
    for largest, error in ((1e-3, 1.2e-16), (math.pi, 3e-15), (1e4, 3e-12)):
        for x in np.random.default_rng(1).uniform(-largest, largest, 2000).tolist() + [0.0, largest, -largest]:
            found = {"x": x}
            exec(lines, found)
            assert abs(found["c"] - math.cos(x)) < error and abs(found["s"] - math.sin(x)) < error


def test_the_sine_needs_its_degree(monkeypatch):
    sine._coefficients.cache_clear()
    monkeypatch.setattr(sine, "DEGREE", 4)
    record = Record()
    found = values_of(Text(record, "t"), [("c", cosine_and_sine(record.input("x"))[0])], x=3.0)
    sine._coefficients.cache_clear()
    assert 1e-11 < abs(found["c"] - math.cos(3.0)) < 1e-6


def test_polynomials():
    """Products, slopes and values of a polynomial in a turn and a slide, against numbers."""
    record = Record()
    ring = Ring(("turn", "slide"), record.constant(1.0))
    a, b = record.input("a"), record.input("b")
    c, s, q = ring.variable(0), ring.variable(0, 1), ring.variable(1)
    p = (c.times(a) + s * q) * (s.times(b) - q * q) + ring.constant(a)
    assert (s * s + c * c - ring.constant(record.constant(1.0))).terms == {}
    t, x = record.input("t"), record.input("x")
    variables = [(t.call("cos"), t.call("sin")), (x, x)]

    def at(t, x):
        targets = [
            ("p", p.value(variables)),
            ("p_t", p.slope(0).value(variables)),
            ("p_x", p.slope(1).value(variables)),
        ]
        return values_of(Text(record, "v"), targets, a=0.7, b=-1.3, t=t, x=x, math=math)

    def true(t, x):
        return (0.7 * np.cos(t) + np.sin(t) * x) * (-1.3 * np.sin(t) - x * x) + 0.7

    found, h = at(0.4, 1.7), 1e-30
    assert found["p"] == pytest.approx(true(0.4, 1.7), rel=1e-14)
    assert found["p_t"] == pytest.approx(true(0.4 + 1j * h, 1.7).imag / h, rel=1e-13)
    assert found["p_x"] == pytest.approx(true(0.4, 1.7 + 1j * h).imag / h, rel=1e-13)


def test_operations_of_the_foot():
    """150 are allowed: two equations that were derived by hand take 115, with cosines and sines of a library."""
    assert "150 operations." in (tree_turn_turn.derivative.py_func.__doc__ or "")


def test_trees_that_are_too_large_are_refused():
    with pytest.raises(NoKernelError, match="a tree of 4 steps takes 2[0-9]{3} operations .*, limit 600"):
        emit_tree(("turn",) * 4, (-1, 0, 1, 2), "")


@over("seed", range(12))
def test_against_the_equations_of_all_bodies(seed):
    """Trees of two or three coordinates: slides and turns in any order, branches, joints walked from body j, locked bodies."""
    system, _ = random_tree(seed, 2)
    tree = trees_of(system).tree
    module = module_from(emit_tree(tree.kinds, tree.parents, ""), f"<tree {seed}>", f"tree_{seed}")
    assert trees_of(system).error(module) < 1e-12


@pytest.mark.parametrize("broken", ["_turned", "_carry", "_place"])
def test_wrong_equations_are_refused(monkeypatch, broken):
    system = models.foot.build("modified")
    whole = getattr(tree_equations.TreeEquations, broken)

    def wrong(self, k, *more):
        found = whole(self, k, *more)
        return None if found is None else [*found[:2], -found[2]]

    def without_inertia(self, k):
        self.carried[k].inertia[0][0] = self.carried[k].inertia[0][0].times(1.001)
        whole(self, k)

    monkeypatch.setattr(tree_equations.TreeEquations, broken, without_inertia if broken == "_carry" else wrong)
    refused_with(
        DefinitionError,
        ("differ from those of all bodies by ", " limit 1e-09"),
        refuse_wrong_tree,
        system,
        emit_tree(*CHAIN, ""),
    )


def test_the_text_is_the_same_each_time():
    assert emit_tree(*CHAIN, "key") == emit_tree(*CHAIN, "key")


def test_a_users_system_gets_its_equations():
    system, state = random_tree(0)
    codegen.compile_model(system)
    run = runtime.simulate(system, 0.1, initial=state, coordinates="joint")
    assert run.success and run.stats.kernel == "joint coordinates"
