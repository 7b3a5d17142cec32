"""Rows of joints and terms of bodies as expressions: the compiled ones at random states, and the papers' form of the ankle."""

import numpy as np
import pytest
import sympy as sp

import codegen
import models
import runtime
from codegen import DefinitionError
from codegen.compiler.calculus import vector
from runtime.dynamics import projection
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import STATE
from tests.support.marks import over
from tests.support.refusals import refused_with

BUILDS = {
    "foot": models.foot.build,
    "four-bar linkage": models.four_bar.build,
    "shaft": models.hooke_shaft.build,
    "driven": lambda: driven(),
}


def driven():
    """A slider that a driver moves, and a rod on a line."""
    b = runtime.Builder("driven", axes="global")
    b.body("slider", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.1, 0, 0))
    b.body("rod", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.1, 0, 0.5))
    b.joint("rail", "translational", "ground", "slider", point=(0, 0, 0), axis=(1, 0, 0))
    b.joint("line", "point_on_line", "slider", "rod", point=(0.1, 0, 0.2), axis=(0, 0, 1))
    motion = runtime.Signal.function(lambda t: 1.1 + 0.1 * np.cos(3.0 * t), 0.0, 2.0)
    ends = dict(s_i=(-1.0, 0, 0), s_j=(0, 0, 0))
    b.driver("motion", "guided_distance", "ground", "slider", axes="body", **ends, l_t=motion)
    return b.build(time=0.4)


def numbers_of(system, y):
    """Values of the symbols of bodies' states."""
    found = {}
    for name, own in zip(system.body_names, y.reshape(-1, STATE), strict=True):
        for stem, first in (("r", 0), ("v", 7), ("omega", 10)):
            found |= dict(zip(vector(f"{stem}_{name}"), own[first : first + 3], strict=True))
        found |= {sp.Symbol(f"e{k}_{name}", real=True): own[3 + k] for k in range(4)}
    return found


def random_state(system, seed):
    """A state off the constraints, with Euler parameters of unit length."""
    y = np.random.default_rng(seed).standard_normal((len(system.bodies), STATE))
    y[:, 3:7] /= np.linalg.norm(y[:, 3:7], axis=1)[:, None]
    return y.ravel()


def value(matrix, numbers):
    """A matrix of expressions as an array."""
    return np.array(sp.lambdify([*numbers], matrix)(*numbers.values()), float)


@over("name", BUILDS)
def test_rows_of_joints(name):
    """Phi, D, nu and gamma as the compiled kernels have them."""
    system = BUILDS[name]()
    found, y, work = codegen.equations(system, "absolute"), random_state(system, 3), workspace_for(system.data)
    projection.worst_row(system.time, y, system.data, work, True)
    numbers = numbers_of(system, y)
    for k, joint in enumerate(system.joints):
        rows, own = found.joints[joint.name], found.joints[joint.name].of_bodies()
        assert rows.rows == joint.rows and rows.Phi.shape == (len(joint.rows), 1)
        for n, signal in enumerate(joint.signals.values()):
            stem = [*joint.signals][n]
            numbers |= {
                sp.Symbol(stem + tag, real=True): float(signal(system.time, c))
                for c, tag in enumerate(("", "_dot", "_ddot"))
            }
        places = slice(0, len(joint.rows))
        D, v = value(own.D, numbers), np.concatenate([y.reshape(-1, STATE), np.zeros((1, STATE))])[:, 7:]
        ends = [system.body_index(b) if b != "ground" else -1 for b in (joint.body_i, joint.body_j)]
        pairs = [
            (value(own.Phi, numbers).ravel(), work.Phi[k, places]), (D, work.D[k, places]),
            (value(own.gamma, numbers).ravel(), work.gamma[k, places]),
            (D @ v[ends].ravel() - value(own.nu, numbers).ravel(), work.Phi_dot[k, places]),
        ]  # fmt: skip
        for ours, kernel in pairs:
            assert np.abs(ours - kernel).max() < 1e-11 * max(1.0, np.abs(kernel).max())


def test_terms_of_bodies():
    """M v' + bias + gravity = 0 for the accelerations of bodies without joints."""
    system = models.foot.build()
    found, y, work = codegen.equations(system, "absolute"), random_state(system, 5), workspace_for(system.data)
    derivative_once(0.0, y, system.data, work, np.empty_like(y))
    for b, (name, terms) in enumerate(found.bodies.items(), 1):
        axes = {s: work.A[b, r, c] for (r, c), s in np.ndenumerate(np.array(terms.axes))}
        numbers = numbers_of(system, y) | terms.parameters | axes
        left = value(terms.M, numbers) @ work.free[b] + value(terms.bias + terms.gravity, numbers).ravel()
        assert name == system.body_names[b - 1] and np.abs(left).max() < 1e-12


def test_the_ankle_is_written_as_in_its_paper():
    """Rodrigues da Silva et al. (2024a), Eqs. (25) and (27): products of vectors in place of components."""
    ankle = codegen.equations(models.foot.build(), "absolute").joints["ankle"]
    lines = ankle.latex().splitlines()
    a_i, a_j, d, s_i, s_j = (rf"\mathbf{{{n}}}" for n in ("a}_{i", "a}_{j", "d", "s}_{i", "s}_{j"))
    a_i, a_j, s_i, s_j = (name[:-1] + "}" if not name.endswith("}") else name for name in (a_i, a_j, s_i, s_j))
    held = [rf"\mathrm{{held}}_{{{k}}}" for k in range(3)]
    Phi = [
        rf"{d} \cdot {d} - l^{{2}}",
        *(f"{a} \\cdot {b} - {c}" for a, b, c in zip((a_i, a_i, a_j), (a_j, d, d), held, strict=True)),
    ]
    assert lines[1] == r"\Phi &= \left[\begin{matrix}" + r" \\ ".join(Phi) + r"\end{matrix}\right] \\"
    D = [
        [rf"-2 {d}^{{T}}", rf"2 ({d} \times {s_i})^{{T}}", rf"2 {d}^{{T}}", rf"-2 ({d} \times {s_j})^{{T}}"],
        ["0", rf"({a_i} \times {a_j})^{{T}}", "0", rf"-({a_i} \times {a_j})^{{T}}"],
    ]  # fmt: skip
    assert lines[2].startswith(r"D &= \left[\begin{matrix}" + r" \\ ".join(" & ".join(row) for row in D))
    dots = [
        [name.replace("\\mathbf", f"\\{dot}{{\\mathbf", 1).replace("}_", "}}_", 1) for name in (a_i, a_j, d)]
        for dot in ("dot", "ddot")
    ]
    (a_i_1, a_j_1, d_1), (a_i_2, a_j_2, d_2) = [
        [*two, last if last.endswith("}}") else last + "}"] for *two, last in dots
    ]
    gamma = [rf"- 2 {d_1} \cdot {d_1} - 2 {d} \cdot {d_2}"]
    gamma += [rf"- {a_2} \cdot {b} - 2 {a_1} \cdot {b_1} - {a} \cdot {b_2}" for a, a_1, a_2, b, b_1, b_2 in (
        (a_i, a_i_1, a_i_2, a_j, a_j_1, a_j_2), (a_i, a_i_1, a_i_2, d, d_1, d_2), (a_j, a_j_1, a_j_2, d, d_1, d_2)
    )]  # fmt: skip
    assert lines[4] == r"\gamma &= \left[\begin{matrix}" + r" \\ ".join(gamma) + r"\end{matrix}\right] \\"
    omega = r"\boldsymbol{\omega}_{i}"
    for line in (
        rf"{d} &= - \mathbf{{r}}_{{i}} + \mathbf{{r}}_{{j}} - {s_i} + {s_j}", rf"{a_i_1} &= {omega} \times {a_i}",
        rf"{a_i_2} &= {omega} \times {a_i_1}",
    ):  # fmt: skip
        assert line in [one.removesuffix(r" \\") for one in lines]
    assert ankle.values[sp.Symbol("l", real=True)] == 0.0417 and ankle.vectors["s_j"] == (0.0, 0.0, -0.2438)


def test_numbers_in_rows():
    ankle = codegen.equations(models.foot.build(), "absolute", parameters="numbers").joints["ankle"]
    assert ankle.values == {} and sp.Rational(-173889, 100000000) in ankle.Phi[0].args


def test_a_users_own_joint():
    """Its rows follow from the function that the study wrote."""

    def at_distance(r_i, s_i, a_i, r_j, s_j, h):
        """Point P_j is at the distance h from the plane through P_i with the normal a_i.

        h : distance [m]
        """
        return {"height": a_i.dot(r_j + s_j - r_i - s_i) - h}

    module = codegen.compile_joint(at_distance)
    b = runtime.Builder("own")
    b.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0.3))
    b.joint("height", module, "ground", "ball", s_i=(0, 0, 0), a_i=(0, 0, 1), s_j=(0, 0, 0.1), h=0.4)
    rows = codegen.equations(b.build(), "absolute").joints["height"]
    r_i, s_i, a_i, r_j, s_j = (vector(name) for name in ("r_i", "s_i", "a_i", "r_j", "s_j"))
    height = a_i.dot(r_j + s_j - r_i - s_i) - sp.Symbol("h", real=True)
    assert sp.expand(rows.written_out().Phi[0] - height) == 0 and rows.definition == "at_distance"


def test_names_are_for_joint_coordinates():
    refused_with(
        DefinitionError,
        ("names are for joint coordinates",),
        codegen.equations,
        models.foot.build(),
        "absolute",
        names={"m": "n"},
    )
    with pytest.raises(DefinitionError, match="give a runtime.System"):
        codegen.equations("foot", "absolute")
