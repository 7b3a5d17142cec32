"""The kernels of spans of paths: shortest lines found by minimisation, differences, and action that equals reaction."""

import inspect
import re

import numpy as np
import pytest
from scipy.optimize import minimize

import codegen
from codegen import DefinitionError
from tests.support.kernel_text import functions_of, lint, lint_tangent
from tests.support.marks import over
from tests.support.motions import distance
from tests.support.refusals import refused_with
from tests.support.spans import CENTRE, RADIUS, SECOND, SPANS, TOUCHING, TURN, Span

SEEDS = range(3)
CYLINDERS = ("cylinder", "cylinder_side")
OPERATIONS = {"straight": 93, "cylinder": 1100, "cylinder_side": 1024, "two_cylinders": 7285}
# Ends that the line joins without touching: past the cylinder, beyond both of its ends, from within its radius.
PAST = ((0.7, -0.3, -0.4), (0.5, 0.4, 0.5))
BEYOND = ((0.7, -1.3, 1.1), (0.5, 1.1, 1.4))
WITHIN = ((0.25, -1.3, -0.4), (0.5, 1.1, 0.5))
LONG = ((0.7, -2.3, -0.4), (0.5, 2.5, 0.5))  # more than half a turn about the axis, on the side of n_k
all_spans = pytest.mark.parametrize("name", list(SPANS))
all_cylinders = pytest.mark.parametrize("name", CYLINDERS)
seeds = over("seed", SEEDS)


def shortest(p, q, start):
    """Length of the shortest line from p over two places of the cylinder to q, by minimisation over their angles and heights.

    The pieces to the ends must lie outside of the cylinder, which is convex.
    """

    def place(angle, z):
        return np.array([RADIUS * np.cos(angle), RADIUS * np.sin(angle), z])

    def length(u):
        one, two = place(u[0], u[1]), place(u[2], u[3])
        return np.linalg.norm(one - p) + np.hypot(RADIUS * (u[2] - u[0]), u[3] - u[1]) + np.linalg.norm(q - two)

    def clear(u):
        return [(end - place(*of))[:2] @ place(*of)[:2] for end, of in ((p, u[:2]), (q, u[2:]))]

    outside = {"type": "ineq", "fun": clear}
    found = minimize(length, start, method="SLSQP", constraints=outside, options={"ftol": 1e-15, "maxiter": 200})
    assert found.success
    return found.fun


@all_cylinders
@seeds
def test_the_length_is_that_of_the_shortest_line_around_the_cylinder(name, seed):
    c = Span(name, seed)
    found = shortest(*c.ends, [-0.5, -0.2, 0.4, 0.2])
    assert c.run()[0] == pytest.approx(found, abs=1e-9)
    assert found > np.linalg.norm(c.ends[1] - c.ends[0]) + 1e-3


def test_a_line_leads_more_than_half_around_on_its_side_only():
    c = Span("cylinder_side", 0, LONG)
    assert c.run()[0] == pytest.approx(shortest(*c.ends, [-1.2, -0.2, 1.5, 0.2]), abs=1e-9)
    other = Span("cylinder", 0, LONG)
    assert other.run()[0] < c.run()[0] - 0.1


def shortest_over_both(p, q, start):
    """As ``shortest``, over two places of each cylinder."""

    def place(angle, z, second):
        radius = SECOND if second else RADIUS
        normal = np.array([np.cos(angle), np.sin(angle), 0.0])
        at = radius * normal + [0.0, 0.0, z]
        return (CENTRE + TURN @ at, TURN @ normal) if second else (at, normal)

    def pieces(u):
        return [place(*of, second) for of, second in zip(u.reshape(4, 2), (0, 0, 1, 1), strict=True)]

    def length(u):
        (a, _), (b, _), (c, _), (d, _) = pieces(u)
        arcs = np.hypot(RADIUS * (u[2] - u[0]), u[3] - u[1]) + np.hypot(SECOND * (u[6] - u[4]), u[7] - u[5])
        return np.linalg.norm(a - p) + np.linalg.norm(c - b) + np.linalg.norm(q - d) + arcs

    def clear(u):
        (a, m), (b, n), (c, o), (d, r) = pieces(u)
        return [(p - a) @ m, (c - b) @ n, (b - c) @ o, (q - d) @ r]

    outside = {"type": "ineq", "fun": clear}
    found = minimize(length, start, method="SLSQP", constraints=outside, options={"ftol": 1e-15, "maxiter": 500})
    assert found.success
    return found.fun


# Sides of both cylinders, and where the line touches them: angles from n and heights.
SIDES = {
    (0.0, 0.0): [-0.4, -0.1, 0.2, 0.1, 3.3, 0.0, 2.9, 0.2],
    (1.0, 1.0): [-0.4, -0.1, 0.2, 0.1, 0.0, 0.0, 0.6, 0.2],
}


@pytest.mark.parametrize("sides", SIDES)
@seeds
def test_the_line_over_two_cylinders_is_the_shortest(sides, seed):
    c = Span("two_cylinders", seed, first_sided=sides[0], second_sided=sides[1])
    found = shortest_over_both(*c.ends, SIDES[sides])
    assert c.run()[0] == pytest.approx(found, abs=1e-9)
    assert found > np.linalg.norm(c.ends[1] - c.ends[0]) + 1e-2


@pytest.mark.parametrize("sided", [0.0, 1.0])
def test_two_cylinders_of_which_one_is_not_touched_are_one(sided):
    one = Span(("cylinder", "cylinder_side")[int(sided)], 0)
    c = Span("two_cylinders", 0, TOUCHING, first_sided=sided, second_radius=1e-3)
    assert c.run()[0] == pytest.approx(one.run()[0], rel=1e-14)
    c = Span("two_cylinders", 0, TOUCHING, first_radius=1e-3, second_radius=1e-3)
    assert c.run()[0] == pytest.approx(np.linalg.norm(c.ends[1] - c.ends[0]), rel=1e-14)


@all_cylinders
@pytest.mark.parametrize("ends", [PAST, BEYOND, WITHIN, WITHIN[::-1]])
def test_the_line_is_straight_where_it_does_not_touch(name, ends):
    c = Span(name, 1, ends)
    straight = Span("straight", 1, ends)
    expected = straight.run()
    found = c.run()
    assert found[0] == pytest.approx(np.linalg.norm(c.ends[1] - c.ends[0]), rel=1e-14)
    assert found[0] == pytest.approx(expected[0], rel=1e-14)
    assert not found[14:].any(), "no force on the cylinder"


def test_a_straight_line_has_the_distance_of_its_points():
    c = Span("straight", 0)
    assert c.run()[0] == pytest.approx(np.linalg.norm(c.ends[1] - c.ends[0]), rel=1e-15)


@all_spans
@seeds
def test_forces_and_rate_are_those_of_the_length(name, seed):
    c = Span(name, seed)
    found, slopes = c.run(), c.slopes(slice(0, 1))[0].reshape(c.count, 12)
    assert distance(found[2:], -slopes[:, :6].ravel()) < 1e-9
    assert found[1] == pytest.approx(-found[2:] @ c.twist, rel=1e-12)
    assert not slopes[:, 6:].any()


@all_spans
@seeds
def test_the_tangent_is_the_derivative(name, seed):
    c = Span(name, seed)
    assert distance(c.tangent(), c.slopes()) < 1e-8


@all_spans
@seeds
def test_action_equals_reaction(name, seed):
    c = Span(name, seed)
    forces = c.run()[2:].reshape(-1, 2, 3)
    moments = forces[:, 1] + np.cross(c.states[:, :3], forces[:, 0])
    assert np.abs(forces[:, 0].sum(axis=0)).max() < 1e-12
    assert np.abs(moments.sum(axis=0)).max() < 1e-12
    assert np.linalg.norm(forces[:2, 0], axis=1) == pytest.approx([1.0, 1.0], rel=1e-11), "the tension is 1"


@all_cylinders
def test_length_and_force_go_on_where_the_line_touches(name):
    """The first kink is the arc: it changes its sign there, where the length has the slope of the straight line."""
    touch = np.arccos(RADIUS / 0.7) + np.arccos(RADIUS / 0.5)
    near = [Span(name, 0, ((0.7, 0.0, -0.4), (0.5, touch + by, 0.5))) for by in (-1e-6, 1e-6)]
    arcs = [c.run(kernel="kinks") for c in near]
    changed = [k for k, (a, b) in enumerate(zip(*arcs, strict=True)) if a * b < 0.0]
    assert len(changed) == 1
    assert [c[changed[0]] for c in arcs] == pytest.approx([-1e-6, 1e-6], rel=1e-6)
    before, after = (c.run() for c in near)
    assert after[0] == pytest.approx(before[0], abs=1e-6)
    assert np.abs(after[2:8] - before[2:8]).max() < 1e-5


@all_spans
def test_kernels_are_straight_line_code_of_no_more_operations(name):
    module = SPANS[name]
    functions = functions_of(inspect.getsource(module))
    inputs = [a.arg for a in functions["span"].args.args[:-1]]
    count = 2 + 6 * (len(inputs) - 1)
    assert lint(functions["span"], [(count,)], inputs) == []
    assert lint_tangent(functions["span_tangent"], count, inputs) == []
    assert module.KINKS == {"straight": 0, "two_cylinders": 10}.get(name, 5)
    assert lint(functions["kinks"], [(module.KINKS,)], inputs) == [] if module.KINKS else "kinks" not in functions
    assert int(re.search(r"(\d+) operations", module.span.py_func.__doc__)[1]) <= OPERATIONS[name]
    assert set(OPERATIONS) == set(SPANS)


DOC = "A span.\n\nl : [m]"


def span(function):
    function.__doc__, function.__name__ = DOC, "own"
    return function


def test_a_span_of_a_study():
    def chord(r_i, s_i, r_j, s_j, l):
        return ((r_j + s_j - r_i - s_i).dot(r_j + s_j - r_i - s_i) + l**2) ** 0.5

    module = codegen.compile_path(span(chord))
    assert module.SORT == "path" and module.PARAMETERS == (("l", "m"),)
    states, out = np.zeros((2, 13)), np.full(14, np.nan)
    states[:, 3], states[1, 0] = 1.0, 3.0
    module.span(*states, np.r_[np.zeros(6), 4.0], out)
    assert out[0] == pytest.approx(5.0) and out[2:5] == pytest.approx([0.6, 0.0, 0.0])


@pytest.mark.parametrize(
    ("definition", "says"),
    [
        (lambda r_i, s_i, r_j, s_j: r_j + s_j - r_i - s_i, "a span returns its length, one scalar"),
        (lambda r_i, s_i, r_j, s_j, l: {"l": l}, "a span returns its length, one scalar"),
        (lambda r_i, s_i, l: (r_i + s_i).norm() + l, "does not depend on body j"),
        (lambda r_j, s_j, r_k, s_k, l: (r_j + s_j - r_k - s_k).norm() + l, "does not depend on body i"),
        (lambda r_i, s_i, r_j, s_j, l: (r_j + s_j).norm() + (r_i + s_i).norm() + l, "action and reaction differ"),
        (lambda r_i, s_i, r_j, l, rate: rate((r_i + s_i - r_j).norm()) + l, "argument 'rate' is for joints and forces"),
        (lambda r_i, s_i, r_j, l, held: held((r_i + s_i - r_j).norm()) + l, "argument 'held' is for joints and forces"),
        (lambda r_i, s_i, r_j, l_t: (r_i + s_i - r_j).norm() + l_t, "argument 'l_t' is for joints and forces"),
        (lambda r_i, s_i, r_j, omega_j: (r_i + s_i - r_j).norm() + omega_j.x, "argument 'omega_j' is for joints"),
        (lambda r_i, s_i, r_j, s_m: (r_i + s_i - r_j).norm() + s_m.x, "argument 's_m' has the unknown suffix '_m'"),
        (lambda r_i, s_i, r_j, l, stationary: (r_i + s_i - r_j).norm() + l, "argument 'stationary' is not used"),
        (lambda r_i, s_i, r_j, l: (r_i + s_i - r_j).norm(), "argument 'l' is not used"),
    ],
)
def test_refused_spans(definition, says):
    refused_with(DefinitionError, says, codegen.compile_path, span(definition))
