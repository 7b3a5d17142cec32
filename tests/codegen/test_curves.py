"""Curves through points in definitions: against SciPy's natural spline, and in laws that are refused or kept."""

import math

import numpy as np
import pytest
import sympy as sp
from scipy.interpolate import CubicSpline

import codegen
from codegen import DefinitionError, compile_contact, compile_force, compile_joint, compile_limit, compile_muscle
from codegen.compiler import kept
from codegen.compiler.straight import function, indexed
from tests.support.definitions import named
from tests.support.refusals import refused_with

X = sp.Symbol("x", real=True)
MEASURED = np.array([(0.0, 0.0), (0.02, 0.3), (0.05, 1.2), (0.09, 4.0), (0.12, 9.0)])


def emitted(expressions):
    """Values of expressions of X at numbers, by the text of a kernel."""
    names = {"math": math}
    exec("\n".join(function("kernel", ("x", "out"), {}, indexed("out", expressions), "Values")[1:]), names)

    def values(places):
        found = np.full((len(places), len(expressions)), np.nan)
        for place, out in zip(places, found, strict=True):
            names["kernel"](place, out)
        return found.T

    return values


def of_a_curve(points):
    """Its integral, its value and two derivatives."""
    found = [codegen.Curve(points).integral(X)]
    for _ in range(3):
        found.append(sp.diff(found[-1], X))
    return found


def random_points(n, seed=1):
    random = np.random.default_rng(seed)
    return np.column_stack([np.sort(random.uniform(-1.0, 2.0, n)), random.normal(size=n)])


@pytest.mark.parametrize("n", [3, 4, 7, 50])
def test_a_curve_is_the_natural_spline_of_scipy(n):
    points = random_points(n)
    spline = CubicSpline(*points.T, bc_type="natural")
    places = np.concatenate([points[:, 0], np.random.default_rng(2).uniform(points[0, 0], points[-1, 0], 300)])
    expected = np.array([[spline.integrate(points[0, 0], x) for x in places], *(spline(places, k) for k in range(3))])
    expressions = of_a_curve(points)
    by_kernel = emitted(expressions)(places)
    by_numpy = np.array(sp.lambdify([X], expressions, modules="numpy")(places))
    by_number = np.array([[float(e.subs(X, x)) for x in places] for e in expressions])
    largest = np.abs(expected).max(axis=1, keepdims=True)
    for found in (by_kernel, by_numpy, by_number):
        assert (np.abs(found - expected) / largest).max() < 1e-12


@pytest.mark.parametrize("n", [2, 50])
def test_a_curve_goes_on_as_its_tangents(n):
    points = random_points(n)
    (x0, y0), (x1, y1) = points[0], points[-1]
    spline = CubicSpline(*points.T, bc_type="natural") if n > 2 else np.poly1d(np.polyfit(*points.T, 1))
    ends = spline([x0, x1], 1) if n > 2 else [(y1 - y0) / (x1 - x0)] * 2
    area = spline.integrate(x0, x1) if n > 2 else (y0 + y1) / 2 * (x1 - x0)
    for far in (1e-3, 1.0, 1e4):
        left, right = emitted(of_a_curve(points))([x0 - far, x1 + far]).T
        assert left == pytest.approx([-far * y0 + far**2 / 2 * ends[0], y0 - far * ends[0], ends[0], 0.0], rel=1e-11)
        assert right == pytest.approx(
            [area + far * y1 + far**2 / 2 * ends[1], y1 + far * ends[1], ends[1], 0.0], rel=1e-11
        )


def test_values_are_not_finite_where_the_argument_is_not():
    assert np.isnan(emitted(of_a_curve(MEASURED)[:2])([np.nan])).all()


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([(0.0, 0.0)], "Curve: points = [(0.0, 0.0)]; give two or more points (n, 2), argument and value each"),
        ([(0.0, 0.0, 1.0), (1.0, 0.0, 2.0)], "give two or more points (n, 2)"),
        ([(0.0, "a"), (1.0, 0.0)], "give two or more points (n, 2)"),
        ([(0.0,), (1.0, 0.0)], "give two or more points (n, 2)"),
        ([(0.0, 0.0), (1.0, math.nan)], "Curve: points[1] = [1.0, nan] is not finite; leave it out"),
        (
            [(0.0, 0.0), (0.2, 1.0), (0.1, 2.0)],
            "Curve: points[2, 0] = 0.1 is not above the one before; sort the points",
        ),
        (
            [(0.0, 0.0), (0.2, 1.0), (0.2, 2.0)],
            "Curve: points[2, 0] = 0.2 is not above the one before; sort the points",
        ),
    ],
)
def test_points_that_make_no_curve_are_refused(points, says):
    refused_with(DefinitionError, says, codegen.Curve, points)


def about_measured(change):
    """A law of a limit from changed points."""
    return named("law", lambda excess: codegen.Curve(change(MEASURED)).integral(excess), "A law.")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda p: p + [0.0, 0.1], "is not zero at its edge: work 0 and moment 0.1 at x = 0"),
        (lambda p: p * [1.0, -1.0], "pulls: its moment is -"),
        (lambda p: np.vstack([p, [0.3, -5.0]]), "pulls: its moment is -"),
    ],
)  # fmt: skip
def test_a_limit_by_points_restrains(change, says):
    compile_limit(about_measured(lambda p: p))
    refused_with(DefinitionError, says, compile_limit, about_measured(change))


def test_a_curve_whose_second_derivative_decides_a_force_is_refused():
    def law(delta, delta_dot):
        """A force by the slope of a curve."""
        return {
            "potential": codegen.Curve(MEASURED).integral(delta).diff(delta).diff(delta) * delta**2,
            "dissipation": 0,
        }

    refused_with(
        DefinitionError, "a curve through points whose second derivative decides a force", compile_contact, law
    )


def test_joints_take_no_curve():
    def cam(r_i, s_i, r_j, s_j):
        """A distance by a curve."""
        d = r_j + s_j - r_i - s_i
        return {"distance": codegen.Curve(MEASURED)(d.norm()) - 1}

    refused_with(DefinitionError, "uses the function 'curve", compile_joint, cam)


def test_knots_are_kinks_of_forces_and_muscles():
    def band(length, length_dot, excitation, max_force):
        """A passive band.

        max_force : [N], 0 < max_force
        tension : [N]
        energy : [J]
        """
        curve = codegen.Curve(MEASURED)
        return {"tension": max_force * curve(length), "energy": max_force * curve.integral(length), "rates": {}}

    def spring(r_i, s_i, r_j, s_j, coordinate):
        """A spring by points."""
        return {"potential": codegen.Curve(MEASURED).integral(coordinate((r_j + s_j - r_i - s_i).norm()))}

    assert compile_muscle(band).KINKS == {"law": len(MEASURED)}
    assert compile_force(spring).KINKS == len(MEASURED)


def test_laws_by_curves_are_kept_by_their_points():
    def digest(curve):
        def law(excess):
            """A law."""
            return curve.integral(excess)

        return kept.digest_of(law)

    first = digest(codegen.Curve(MEASURED))
    assert first is not None and digest(codegen.Curve(MEASURED.tolist())) == first
    assert digest(codegen.Curve(MEASURED * [1.0, 1.0 + 2.0**-52])) != first
