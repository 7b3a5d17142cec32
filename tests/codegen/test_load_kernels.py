"""The kernels of friction by reactions against formulas and differences; definitions with normal loads that are refused."""

import inspect
import re

import numpy as np
import pytest

import codegen
from codegen import DefinitionError
from tests.codegen.test_force_kernels import tangent_error
from tests.support.force_kernels import REACTIVE, Case
from tests.support.kernel_text import functions_of, lint, lint_tangent, missed
from tests.support.marks import over
from tests.support.motions import distance
from tests.support.planar_friction import saturation
from tests.support.refusals import refused_with

OPERATIONS = {
    "journal_friction": {"evaluate": 123, "loads": 222, "load_wrenches": 122},
    "guide_friction": {"evaluate": 142, "loads": 206, "load_wrenches": 139},
    "sleeve_friction": {"evaluate": 259, "loads": 206, "load_wrenches": 258},
}
reactive = pytest.mark.parametrize("name", list(REACTIVE))
seeds = over("seed", range(3))


def vectors(c):
    """The axis, and the arm of the joint's point on body j, in global axes."""
    x, names = c.x(c.states), [name for name, *_ in c.module.VECTORS]
    return (x[3 * names.index(v) : 3 * names.index(v) + 3] for v in ("a_i", "s_j"))


def expected_loads(c, reaction=None):
    """The loads on two bearings beside the joint's point; of a journal also the thrust times its radius."""
    force, moment = np.split(c.reaction if reaction is None else reaction, 2)
    a, s = vectors(c)
    moment = moment - np.cross(s, force)
    half, couple = (force - a * (a @ force)) / 2.0, np.cross(a, moment) / c.values["spacing"]
    load = np.linalg.norm(half + couple) + np.linalg.norm(half - couple)
    return np.array([load, c.values["thrust_radius"] * abs(a @ force)] if c.module.LOADS == 2 else [load])


def expected_wrench(c, loads):
    """Moments of friction about the axis, and its force at P_j along the axis, on bodies i and j."""
    a, s = vectors(c)
    v, (i, j) = c.values, c.states[:2]
    turning = (j[10:] - i[10:]) @ a
    if c.module.NAME == "journal_friction":
        turn = (
            v["coefficient"] * (v["radius"] * loads[0] + loads[1]) * saturation(turning, v["transition_velocity"])
            + v["damping"] * turning
        )
        pull = 0.0
    else:
        d = j[:3] + s - i[:3]
        sliding = (j[7:10] + np.cross(j[10:], s) - i[7:10]) @ a - np.cross(i[10:], d) @ a
        if c.module.NAME == "guide_friction":
            turn, pull = (
                0.0,
                v["coefficient"] * loads[0] * saturation(sliding, v["transition_velocity"]) + v["damping"] * sliding,
            )
        else:
            slip = np.hypot(sliding, v["radius"] * turning)
            full = v["coefficient"] * loads[0] * saturation(slip, v["transition_velocity"]) / slip
            turn, pull = full * v["radius"] ** 2 * turning, full * sliding
    force, moment = -pull * a, -turn * a
    at_j, at_i = np.cross(s, force), np.cross(j[:3] + s - i[:3], force)
    return np.concatenate([-force, -moment - at_i, force, moment + at_j])


def loads_of(c, module=None, reaction=None):
    """What ``loads`` writes, (loads, 7)."""
    x, out = c.x(c.states), np.full(7 * c.module.LOADS, np.nan)
    if reaction is not None:
        x[-6:] = reaction
    kernel = (module or c.module).loads
    getattr(kernel, "py_func", kernel)(*c.states[:2], x, out)
    return out.reshape(-1, 7)


@reactive
@seeds
@pytest.mark.parametrize("transition_velocity", [0.05, 50.0])
def test_the_force_is_that_of_the_loads(name, seed, transition_velocity):
    c = Case(name, seed, transition_velocity=transition_velocity)
    assert distance(c.run()[:12], expected_wrench(c, c.loads)) < 1e-11
    assert c.run()[24] == 0.0
    out = np.full(12 * c.module.LOADS, np.nan)
    c.module.load_wrenches.py_func(*c.states[:2], c.x(c.states), out)
    still = expected_wrench(c, 0.0 * c.loads)
    for load, wrench in zip(np.eye(len(c.loads)), out.reshape(-1, 12), strict=True):
        assert distance(wrench, expected_wrench(c, load) - still) < 1e-11


@reactive
@seeds
def test_the_loads_are_the_sizes_of_the_reaction(name, seed):
    c = Case(name, seed)
    out = loads_of(c)
    assert out[:, 0] == pytest.approx(expected_loads(c), rel=1e-12)
    h = 1e-5
    slopes = [
        (expected_loads(c, c.reaction + h * e) - expected_loads(c, c.reaction - h * e)) / (2.0 * h) for e in np.eye(6)
    ]
    assert np.abs(out[:, 1:] - np.array(slopes).T).max() < 1e-8
    assert (
        np.isfinite(loads_of(c, reaction=np.zeros(6))).all()
        and np.abs(loads_of(c, reaction=np.zeros(6))[:, 0]).max() < 1e-11
    )


@reactive
@seeds
def test_tangents(name, seed):
    c = Case(name, seed)
    assert tangent_error(c) < 1e-8
    out = np.full((c.module.LOADS, 30), np.nan)
    c.module.loads_tangent.py_func(*c.states[:2], c.x(c.states), np.eye(30), out)
    assert np.abs(out[:, 24:] - loads_of(c)[:, 1:]).max() < 1e-13
    h = 1e-4
    for direction in range(24):
        moved = []
        for step in (h, -h):
            other = Case(name, seed)
            other.states = c.moved(direction, step)
            moved.append(expected_loads(other))
        assert np.abs(out[:, direction] - (moved[0] - moved[1]) / (2.0 * h)).max() < 1e-6


@reactive
def test_broken_kernels_are_found(name):
    c = Case(name, 0)
    right = loads_of(c)

    def check(module):
        try:
            out = loads_of(c, module)
        except (ValueError, ZeroDivisionError):
            return 1.0
        return np.inf if distance(out, right) < 1e-11 else distance(out[:, 0], expected_loads(c)) + distance(out, right)

    assert missed(c.module, "loads", check, 1e-8) == []


@reactive
def test_kernels_are_straight_line_code_of_no_more_operations(name):
    module = REACTIVE[name]
    functions = functions_of(inspect.getsource(module))
    shapes = {"evaluate": 26 + len(module.OUTPUTS), "loads": 7 * module.LOADS, "load_wrenches": 12 * module.LOADS}
    inputs = ["body_i", "body_j", "x"]
    for kernel, size in shapes.items():
        assert lint(functions[kernel], [(size,)], inputs) == []
        count = int(re.search(r"(\d+) operations", getattr(module, kernel).py_func.__doc__)[1])
        assert count <= OPERATIONS[name][kernel]
    assert lint_tangent(functions["loads_tangent"], module.LOADS, inputs) == []
    assert set(OPERATIONS) == set(REACTIVE)


def law(body, arguments="a_i, omega_i, omega_j, reaction_force, mu, normal_load"):
    """A definition with this body."""
    scope = {"codegen": codegen}
    text = (
        f'def rub({arguments}):\n    """Friction.\n\n    mu : [1]\n    """\n    slip = (omega_j - omega_i).dot(a_i)\n'
    )
    exec(text + "".join(f"    {line}\n" for line in body), scope)
    return scope["rub"]


SIZE = "N = normal_load(codegen.size(reaction_force))"
CASES = [
    (["return {'dissipation': mu * reaction_force.norm() * slip**2 + 0 * normal_load(codegen.size(reaction_force))}"],
     "a force depends on the reaction itself; give it the size of one"),
    ([SIZE, "return {'dissipation': mu * N**2 * slip**2}"], "a force is not linear in its normal loads"),
    ([SIZE, "return {'potential': mu * N, 'dissipation': slip**2}"], "the potential depends on a reaction"),
    (["N = normal_load(reaction_force.dot(a_i))", "return {'dissipation': mu * N * slip**2}"],
     "a normal load must be a size of the reaction"),
    (["N = normal_load(reaction_force.dot(reaction_force))", "return {'dissipation': mu * N * slip**2}"],
     r"h\(-3 R\) = 3 h\(R\)"),
    (["N = normal_load(codegen.size(reaction_force) * (1 + slip**2))", "return {'dissipation': mu * N * slip**2}"],
     "a normal load depends on omega_i_x"),
    (["return {'dissipation': mu * slip**2}"], "argument 'reaction_force' is not used|argument 'normal_load' is not used"),
    (["N = normal_load(reaction_force)", "return {'dissipation': mu * N * slip**2}"], "needs a scalar"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "says"), CASES)
def test_definitions_that_are_refused(body, says):
    with pytest.raises(DefinitionError, match=rf"definition 'rub': .*({says})"):
        codegen.compile_force(law(body))


def test_events_take_no_reaction():
    def pressed(reaction_force, r_i, normal_load):
        """Load.

        value : [N]
        """
        return normal_load(codegen.size(reaction_force)) - r_i.x

    refused_with(
        DefinitionError,
        "uses a table, a signal, a state or a reaction, which are for forces",
        codegen.compile_event,
        pressed,
    )
