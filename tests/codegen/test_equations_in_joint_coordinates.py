"""Equations of systems as expressions: textbook forms, and the compiled equations at random states."""

import numpy as np
import pytest
import sympy as sp

import codegen
import models
import runtime
from codegen import DefinitionError
from runtime.dynamics.equations import derivative_once
from runtime.dynamics.layout import OK
from runtime.integrate.tree_method import workspace_of_tree
from runtime.system.trees import trees_of
from tests.support.joint_trees import random_tree
from tests.support.marks import over
from tests.support.refusals import refused_with

TEXTBOOK = {"shoulder.angle": "theta_1", "elbow.angle": "theta_2"} | {
    f"{letter}_{body}{ending}": f"{new}_{n}"
    for n, body in ((1, "upper"), (2, "lower"))
    for letter, ending, new in (("m", "", "m"), ("c", "", "a"), ("J", "_yy", "J"))
} | {"l_elbow": "l_1"}  # fmt: skip


def arm(**parts):
    """Two rods on hinges about y, which hang in the reference configuration; ``parts`` are called with the builder."""
    b = runtime.Builder("double pendulum", axes="global")
    b.body("upper", mass=2.0, inertia=(0.1, 0.12, 0.03), r=(0, 0, -0.4))
    b.body("lower", mass=1.5, inertia=(0.05, 0.06, 0.02), r=(0, 0, -1.3))
    b.joint("shoulder", "revolute", "ground", "upper", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("elbow", "revolute", "upper", "lower", point=(0, 0, -1.0), axis=(0, 1, 0))
    for add, (given, named) in parts.items():
        getattr(b, add)(*given, **named)
    return b.build()


def values_of(equations):
    """The matrices of equations as functions of a point: coordinates and rates by name."""
    symbols = [*equations.coordinates.values(), *equations.rates.values(), *equations.parameters]
    names = ("M", "bias", "gravity", "forces", "Phi", "D", "gamma")
    parts = [*equations.where.items()]  # computed one after another
    function = sp.lambdify(symbols, [getattr(equations, name) for name in names], cse=lambda e: (parts, e))
    return lambda *point: dict(zip(names, function(*point, *equations.parameters.values()), strict=True))


def compiled(system):
    """Rates of coordinates and of rates (n,) of the tree at a point of the user's coordinates, by the runtime."""
    work, tree = workspace_of_tree(system, system.data), trees_of(system).tree
    signs = [c.sign for c, kind in zip(tree.coordinates, tree.kinds, strict=True) if kind in ("turn", "slide")]
    size = len(tree.at_reference)
    sign = np.array(signs * 2) if len(signs) * 2 == size else np.ones(size)

    def at(point):
        z_dot = np.empty(size)
        assert derivative_once(system.time, sign * point, system.data, work, z_dot) == OK
        return sign * z_dot

    return at


def check(system, seed=1, *, parameters="symbols", tolerance=1e-10, **names):
    """M u' + bias + gravity + D^T lam = forces and D u' = gamma hold for the compiled u' at random points."""
    equations = codegen.equations(system, parameters=parameters)
    values, at, random = values_of(equations), compiled(system), np.random.default_rng(seed)
    n, nq = len(equations.rates), len(equations.coordinates)
    for _ in range(3):
        point = random.standard_normal(nq + n)
        units = [
            k for k, name in enumerate(equations.coordinates) if name.rpartition(".")[2] in ("e0", "e1", "e2", "e3")
        ]
        for first in units[::4]:
            point[first : first + 4] /= np.linalg.norm(point[first : first + 4])
        of = values(*point)
        u_dot = at(point)[nq:]
        left = of["M"] @ u_dot + (of["bias"] + of["gravity"] - of["forces"]).ravel()
        size = np.abs(of["M"]).max() * np.abs(u_dot).max()
        if equations.rows:
            D = of["D"]
            left -= D.T @ np.linalg.lstsq(D.T, left, rcond=None)[0]
            assert np.abs(D @ u_dot - of["gamma"].ravel()).max() < tolerance * max(
                1.0, np.abs(D).max() * np.abs(u_dot).max()
            )
        assert np.abs(left).max() < tolerance * max(1.0, size)
    return equations


def test_the_textbook_form_of_a_double_pendulum():
    """Relative angles, centres of mass at a_1 and a_2 below the hinges."""
    found = codegen.equations(arm(), names=TEXTBOOK)
    m_1, m_2, a_1, a_2, l_1, J_1, J_2, g = sp.symbols("m_1 m_2 a_1 a_2 l_1 J_1 J_2 g", positive=True)
    q_1, q_2, u_1, u_2 = sp.symbols("theta_1 theta_2 thetadot_1 thetadot_2", real=True)
    assert [*found.coordinates.values(), *found.rates.values()] == [q_1, q_2, u_1, u_2]
    coupled = J_2 + m_2 * (a_2**2 + l_1 * a_2 * sp.cos(q_2))
    M = [
        [J_1 + m_1 * a_1**2 + J_2 + m_2 * (l_1**2 + a_2**2 + 2 * l_1 * a_2 * sp.cos(q_2)), coupled],
        [coupled, J_2 + m_2 * a_2**2],
    ]
    whirl = m_2 * l_1 * a_2 * sp.sin(q_2)
    bias = [-whirl * (2 * u_1 * u_2 + u_2**2), whirl * u_1**2]
    both = m_2 * g * a_2 * sp.sin(q_1 + q_2)
    gravity = [(m_1 * a_1 + m_2 * l_1) * g * sp.sin(q_1) + both, both]
    for own, wanted in ((found.M, sp.Matrix(M)), (found.bias, sp.Matrix(bias)), (found.gravity, sp.Matrix(gravity))):
        assert (own - wanted).expand().is_zero_matrix
    values = {m_1: 2.0, m_2: 1.5, a_1: 0.4, a_2: 0.3, l_1: 1.0, J_1: 0.12, J_2: 0.06, g: 9.81}
    assert found.parameters == pytest.approx(values)
    assert found.forces.is_zero_matrix and found.rows == () and found.left_out == ()


def test_the_textbook_form_in_latex():
    found = codegen.equations(arm(), names=TEXTBOOK)
    lines = found.latex().splitlines()
    assert lines[0] == "\\begin{aligned}" and lines[1] == "M \\dot{u} + c + g &= Q \\\\"
    assert lines[2] == r"u &= \left[\begin{matrix}\dot{\theta}_{1}\\\dot{\theta}_{2}\end{matrix}\right] \\"
    cosine, sine = r"\cos{\left(\theta_{2} \right)}", r"\sin{\left(\theta_{2} \right)}"
    corner = rf"J_{{2}} + a_{{2}} m_{{2}} \left(a_{{2}} + l_{{1}} {cosine}\right)"
    reach = rf"\left(a_{{2}}^{{2}} + 2 a_{{2}} l_{{1}} {cosine} + l_{{1}}^{{2}}\right)"
    first = rf"J_{{1}} + J_{{2}} + a_{{1}}^{{2}} m_{{1}} + m_{{2}} {reach}"
    last = r"J_{2} + a_{2}^{2} m_{2}"
    assert lines[3] == rf"M &= \left[\begin{{matrix}}{first} & {corner}\\{corner} & {last}\end{{matrix}}\right] \\"
    rates = r"\dot{\theta}_{2} \left(2 \dot{\theta}_{1} + \dot{\theta}_{2}\right)"
    whirl = r"a_{2} l_{1} m_{2}"
    assert lines[4] == (
        rf"c &= \left[\begin{{matrix}}- {whirl} {rates} {sine}\\{whirl} \dot{{\theta}}_{{1}}^{{2}} {sine}\end{{matrix}}\right] \\"
    )
    assert found._repr_latex_() == f"$$\n{found.latex()}\n$$"


def test_numbers_are_decimal_fractions():
    found = codegen.equations(arm(), parameters="numbers")
    assert found.parameters == {} and found.M[1, 1] == sp.Rational(39, 200) and found.M.atoms(sp.Float) == set()


def test_a_free_body_has_the_equations_of_euler():
    found = codegen.equations(models.free_body.build())
    J = sp.symbols("J_body_xx J_body_yy J_body_zz", positive=True)
    wx, wy, wz = list(found.rates.values())[3:]
    m = sp.Symbol("m_body", positive=True)
    assert found.M == sp.diag(m, m, m, *J)
    gyroscopic = [(J[2] - J[1]) * wy * wz, (J[0] - J[2]) * wx * wz, (J[1] - J[0]) * wx * wy]
    assert (found.bias - sp.Matrix([0, 0, 0, *gyroscopic])).expand().is_zero_matrix


@over("seed", range(3))
def test_random_trees(seed):
    """Turns and slides in any order, oblique axes, joints walked from body j, bodies that are locked to each other."""
    check(random_tree(seed, 2)[0], seed, parameters="numbers")


@pytest.mark.slow
@over("seed", range(3))
def test_random_trees_with_symbols(seed):
    """Five bodies on turns and slides."""
    check(random_tree(seed, 4)[0], seed, tolerance=1e-9)


@pytest.mark.parametrize("ankle", ["classical", "modified"])
def test_the_ankle(ankle):
    """Two oblique axes: entries in cosines and sines of one angle, whose factors are parts that data determine."""
    system = models.foot.build(ankle)
    short = check(system, parameters="numbers", tolerance=1e-9)
    assert short.where == {} and short.operations < 150
    found = check(system, tolerance=1e-9)
    entries, data = [*found.M, *found.bias, *found.gravity], {*found.parameters, *found.where}
    assert sum(map(sp.count_ops, entries)) < 250 and found.operations < 1000 and len(found.where) < 150
    assert found.M.free_symbols - data == {found.coordinates["ankle.theta_i"]}
    assert all(value.free_symbols <= data for value in found.where.values())
    assert f"{found.operations} operations" in repr(found)


def test_two_hinges_with_oblique_axes_in_full():
    """Parts put back give the equations of the same system with numbers."""
    b = runtime.Builder("oblique", axes="global")
    b.body("upper", mass=2.0, inertia=(0.1, 0.12, 0.03), r=(0, 0, -0.4))
    b.body("lower", mass=1.5, inertia=(0.05, 0.06, 0.02), r=(0, 0.1, -1.3))
    b.joint("shoulder", "revolute", "ground", "upper", point=(0, 0, 0), axis=(0.2, 0.9, 0.3))
    b.joint("elbow", "revolute", "upper", "lower", point=(0, 0.1, -1), axis=(0.8, 0.1, 0.5))
    system = b.build()
    found, numbers = check(system), codegen.equations(system, parameters="numbers")
    full = found.written_out()
    point = dict(zip([*found.coordinates.values(), *found.rates.values()], (0.3, -0.7, 1.1, 0.4), strict=True))
    assert found.where and full.where == {} and full.operations > 4 * found.operations
    for name in ("M", "bias", "gravity"):
        values = [np.array(e.subs(x), float) for e, x in (
            (getattr(full, name), found.parameters | point), (getattr(numbers, name), point),
        )]  # fmt: skip
        assert values[0] == pytest.approx(values[1], rel=1e-11)


def test_long_equations_name_their_parts():
    """Two bodies on balls: no part and no entry is longer than a line or two, in LaTeX behind the equations that need it."""
    found = check(models.double_pendulum.build(), tolerance=1e-9)
    assert found.operations < 3000 and max(map(sp.count_ops, [*found.M, *found.bias, *found.gravity])) <= 100
    lines = found.latex().splitlines()
    assert [line.split(" &= ")[0] for line in lines[-1 - len(found.where) : -1]] == [sp.latex(s) for s in found.where]
    known = {*found.parameters, *found.coordinates.values(), *found.rates.values()}
    for symbol, value in found.where.items():
        assert value.free_symbols <= known
        known.add(symbol)


@pytest.mark.slow
def test_the_ankle_with_toes():
    """Three hinges, two of them oblique."""
    found = check(models.foot.build("modified", toes="sprung"), tolerance=1e-9)
    assert len(found.rates) == 3 and found.operations < 10_000


def test_a_ball_and_a_free_body_with_a_hinge():
    b = runtime.Builder("pendulum on a ball", axes="global")
    b.body("rod", mass=2.0, inertia=(0.1, 0.12, 0.03), r=(0, 0, -0.4))
    b.joint("ball", "spherical", "ground", "rod", point=(0, 0, 0))
    check(b.build())


def test_loops():
    """A four-bar linkage of hinges, whose rows across its plane are left out."""
    found = check(models.four_bar.build("revolute"), parameters="numbers", tolerance=1e-9)
    assert found.rows == ("C.point_x", "C.point_z") and found.D.shape == (2, 3)


def test_rotors_and_couplings():
    found = check(
        arm(
            armature=(("shoulder.angle", 0.3), {}),
            coupling=(("gear", "elbow.angle", "shoulder.angle", [0.0, 0.5, 0.2]), {}),
        )
    )
    q, rotor = found.coordinates["shoulder.angle"], sp.Symbol("I_shoulder", positive=True)
    p_1, p_2 = sp.symbols("p1_gear p2_gear", positive=True)
    assert found.M[0, 0].coeff(rotor) == 1 and found.rows == ("coupling 'gear'",)
    assert found.Phi[0] == found.coordinates["elbow.angle"] - p_1 * q - p_2 * q**2
    assert sp.expand(found.gamma[0] - 2 * p_2 * found.rates["shoulder.angle"] ** 2) == 0


def test_forces_with_formulas():
    """A spring and damper between points, a spring in a hinge, a motor with a spring, and loads in both axes."""
    ends = dict(s_i=(0.1, 0, -0.2), s_j=(0, 0, 0.1))
    b = runtime.Builder("arm with forces", axes="global")
    b.body("upper", mass=2.0, inertia=(0.1, 0.12, 0.03), r=(0, 0, -0.4))
    b.body("lower", mass=1.5, inertia=(0.05, 0.06, 0.02), r=(0, 0, -1.3))
    b.joint("shoulder", "revolute", "ground", "upper", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("elbow", "revolute", "upper", "lower", point=(0, 0, -1.0), axis=(0, 1, 0))
    b.force(
        "spring", "spring_damper", "ground", "lower", axes="body", **ends, stiffness=50.0, damping=2.0, free_length=0.3
    )
    b.load("wind", "lower", force=(3.0, 0.0, 1.0), moment=(0.0, 0.4, 0.0), point=(0.1, 0.0, -1.2))
    b.load("jet", "upper", force=(0.0, 0.0, 2.0), point=(0.1, 0.0, 0.1), axes="body")
    found = check(b.build(), tolerance=1e-9)
    assert found.left_out == () and sp.Symbol("F_x_wind", positive=True) in found.parameters


def test_a_spring_in_a_hinge_and_a_motor_act_on_the_angle_itself():
    axes = dict(a_i=(0, 1, 0), a_j=(0, 1, 0))
    b = runtime.Builder("pendulum")
    b.body("rod", mass=2.0, inertia=(0.1, 0.12, 0.03), r=(0, 0, -0.4))
    b.joint("hinge", "revolute", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.4), **axes)
    b.motor(
        "motor",
        "guided_angle",
        "ground",
        "rod",
        a_i=(1, 0, 0),
        h_i=(0, 1, 0),
        b_j=(1, 0, 0),
        theta_t=0.5,
        effort=2.0,
        stiffness=3.0,
        damping=0.7,
    )
    found = check(b.build())
    tau, k, c, target = sp.symbols("tau_motor stiffness_motor damping_motor theta_t_motor", positive=True)
    q, u = found.coordinates["hinge.angle"], found.rates["hinge.angle"]
    assert sp.expand(found.forces[0] - (tau - k * (q - target) - c * u)) == 0


def test_what_has_no_formula_is_named():
    found = codegen.equations(models.foot.build("modified", limits="elastic"), parameters="numbers")
    assert len(found.left_out) > 0 and {str(s) for s in found.forces.free_symbols} == {
        "Q_ankle_theta_i",
        "Q_ankle_theta_j",
    }


def test_refusals():
    refused_with(DefinitionError, ("equations(3): give a runtime.System",), codegen.equations, 3)
    refused_with(
        DefinitionError, ("coordinates = 'polar'; give 'joint' or 'absolute'",), codegen.equations, arm(), "polar"
    )
    refused_with(DefinitionError, ("parameters = 'text'",), codegen.equations, arm(), parameters="text")
    refused_with(DefinitionError, ("names = [1]",), codegen.equations, arm(), names=[1])
    refused_with(
        DefinitionError, ("'double pendulum'", "names = 'm_1' is neither a coordinate nor a symbol", "m_upper"),
        codegen.equations, arm(), names={"m_1": "m"},
    )  # fmt: skip
