"""Every emitted derivative in many directions, against complex steps through the values themselves.

A direction displaces the bodies: a translation, a turn in global axes (p' = 1/2 G^T turn), changes of v and omega.  The states
take an imaginary step along it, and the vectors in x follow from the Euler parameters, so the truth is exact to rounding and
independent of the rule by which codegen moves vectors.
"""

import ast
import copy
import inspect
import math
from functools import cache, cached_property, partial
from types import FunctionType

import numba
import numpy as np
import pytest

from generated import bodies, contact_sphere_plane, dispatch, position, separation, top_view
from runtime.jit import addresses
from tests.support.contact_kernels import Contact, values
from tests.support.definitions import DEFINITIONS, GENERATED, module_of
from tests.support.kernel_text import broken, computes, functions_of, lint_tangent
from tests.support.kernels import case
from tests.support.limit_kernels import FRICTIONS, LIMITS, NORMAL_LAWS
from tests.support.limit_kernels import case as limit_case
from tests.support.marks import NIGHTLY_ALL, over, quick_for
from tests.support.motions import G, Motion, distance, rotation_matrix

TOLERANCE = 1e-11  # relative to the largest of 1 and the quantity
SEEDS = range(3)
H = 1e-30  # of the complex step
OF_BODIES = 24  # components of a direction


def slopes(f, count):
    """Derivatives of f over each of the components of a step from where it is taken."""
    return np.array([f(step).imag / H for step in 1j * H * np.eye(count)]).T


def displaced(states, step):
    """States of the bodies after a step along a direction."""
    return [
        np.r_[s[:3] + shift, s[3:7] + G(s[3:7]).T @ turn / 2, s[7:] + change]
        for s, (shift, turn, change) in zip(states, (np.split(d, (3, 6)) for d in step.reshape(-1, 12)), strict=True)
    ]


class Tangent:
    """A tangent at one place: its inputs, and the values that it differentiates after a step along a direction (rows,)."""

    def __init__(self, module, name, inputs, after, rows=OF_BODIES):
        self.module, self.name, self.inputs, self.rows = module, name, inputs, rows
        self.kernel, self.truth = getattr(module, name), slopes(after, rows)

    @cached_property
    def function(self):
        """Its text, as a tree."""
        return functions_of(inspect.getsource(self.module))[self.name]


def joint(name, seed):
    """D^T lam, D u - gamma, Phi' = D v - nu and Phi of a joint or a driver."""
    c, m = case(name, seed), len(module_of(name).ROWS)
    about = np.random.default_rng([seed, 1, *name.encode()]).normal(size=12 + m)

    def after(step):
        states = displaced((c.body_i, c.body_j), step)
        inputs = (*states, c.setting.x(*states))
        D = values(c.module.jacobian, (m, 12), *inputs)
        Phi, nu, gamma = (values(getattr(c.module, kernel), m, *inputs) for kernel in ("phi", "nu", "gamma"))
        v = np.r_[states[0][7:], states[1][7:]]
        return np.r_[D.T @ about[12:], D @ about[:12] - gamma, D @ v - nu, Phi]

    return Tangent(c.module, "tangent", (c.body_i, c.body_j, c.x, about), after)


def limit(name, kernel, seed):
    c, more = limit_case(name, seed), 3 * (kernel == "wrench")

    def after(step):
        states = displaced(c.states, step[:OF_BODIES])
        slope = (c.slope + step[OF_BODIES:],) if more else ()
        return values(getattr(c.module, kernel), 12 if more else 3, *states, c.setting.x(*states), *slope)

    inputs = (*c.states, c.x, *((c.slope,) if more else ()))
    return Tangent(c.module, f"{kernel}_tangent", inputs, after, OF_BODIES + more)


def contact(name, seed):
    """``measure_parameter_tangent`` changes the numbers in x too, but for the belt's: four vectors, the radius and the share."""
    c, kernel = Contact(seed), "wrench" if name == "wrench_tangent" else "measure"
    own, force = (14 * (name == "measure_parameter_tangent"), 4 * (kernel == "wrench"))

    def after(step):
        states, more = displaced(c.states, step[:OF_BODIES]), step[OF_BODIES:]
        x = c.setting.x(*states) + (np.r_[more, np.zeros(3)] if own else 0.0)
        f = (c.f + more,) if force else ()
        return values(getattr(contact_sphere_plane, kernel), 12 if force else 5, *states, x, *f)

    inputs = (*c.states, c.x, *((c.f,) if force else ()))
    return Tangent(contact_sphere_plane, name, inputs, after, OF_BODIES + own + force)


def measure(module, size, seed):
    name, count = module.NAME, 1 if module is position else 2
    vectors = np.random.default_rng([seed, *name.encode()]).normal(size=(count, 3))

    def after(step):
        return values(getattr(module, name), size, *(vectors + step.reshape(count, 3)))

    return Tangent(module, f"{name}_tangent", tuple(vectors), after, 3 * count)


def body(name, seed):
    """What a body puts into the equations, by the textbook, with everything that is fixed in it turned by A."""
    rng = np.random.default_rng([seed, *name.encode()])
    state, half = Motion(rng).state("i"), rng.normal(size=(3, 3))
    J_local, (omega_dot, force, moment, point) = half @ half.T, rng.normal(size=(4, 3))
    local = {"torque": np.eye(3), "load_at_point": np.zeros((0, 3)), "load_in_body": np.array([force, moment])}[name]
    more = {"torque": (omega_dot, J_local), "load_at_point": (force, moment, point), "load_in_body": ()}[name]

    def after(step):
        ((r, p, omega),) = ((s[:3], s[3:7], s[10:]) for s in displaced([state], step))
        A = rotation_matrix(p)
        if name == "torque":
            J = A @ J_local @ A.T
            return J @ omega_dot + np.cross(omega, J @ omega)
        return moment + np.cross(point - r, force) if name == "load_at_point" else np.r_[A @ force, A @ moment]

    x = (local @ rotation_matrix(state[3:7]).T).ravel()
    return Tangent(bodies, f"{name}_tangent", (state, x, *more), after, 12)


ALL = {name: partial(joint, name) for name in DEFINITIONS}
ALL |= {f"{name}.{kernel}": partial(limit, name, kernel) for name in LIMITS for kernel in ("direction", "wrench")}
ALL |= {name: partial(contact, name) for name in ("measure_tangent", "measure_parameter_tangent", "wrench_tangent")}
ALL |= {module.NAME: partial(measure, module, size) for module, size in ((position, 8), (separation, 4), (top_view, 8))}
ALL |= {name: partial(body, name) for name in ("torque", "load_at_point", "load_in_body")}
seeds = over("seed", SEEDS)


# Runs call those of joints and drivers through their addresses; numba compiles a few of them here, and the others each night.
COMPILED = [name for name in ALL if name in GENERATED or name not in DEFINITIONS]
OFTEN = "revolute", "cone.wrench", "wrench_tangent", "position", "torque"


@cache
def tangent(name, seed):
    return ALL[name](seed)


@pytest.mark.parametrize("name", list(ALL))
@seeds
def test_derivatives_in_every_direction(name, seed):
    t = tangent(name, seed)
    out = np.full(t.truth.shape, np.nan)
    t.kernel.py_func(*t.inputs, np.eye(t.rows), out)
    assert distance(out, t.truth) < TOLERANCE and np.abs(t.truth).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_for(COMPILED, OFTEN, pytest.mark.nightly))
def test_compiled_tangents_write_every_entry(name):
    """In as many columns as there are directions: none, one, several.  Limits through their switch too."""
    t = tangent(name, 0)
    of_limit, _, kernel = name.partition(".")
    switch = [partial(getattr(dispatch, t.name), list(LIMITS).index(of_limit))] if kernel else []
    for compiled in (t.kernel, *switch):
        for count in (0, 1, 7):
            directions = np.random.default_rng(count).normal(size=(t.rows, count))
            out = np.full((len(t.truth) + 1, count + 1), np.nan)
            compiled(*t.inputs, directions, out)
            assert distance(out[:-1, :-1], t.truth @ directions) < TOLERANCE
            out[:-1, :-1] = np.nan
            assert np.isnan(out).all(), "written beyond its targets"


@pytest.mark.parametrize("name", [name for name in ALL if name not in DEFINITIONS])
def test_tangents_are_straight_line_code(name):
    """Those of joints and drivers are covered in test_kernel_text.py."""
    t = tangent(name, 0)
    assert lint_tangent(t.function, len(t.truth), [a.arg for a in t.function.args.args[:-2]]) == []


@pytest.mark.parametrize("name", list(DEFINITIONS))
def test_entry_with_pointers_knows_the_shapes(name):
    """``carray`` gives an array of a shape at an address; here it is asked for the shape of the array itself."""
    t = tangent(name, 0)
    body_i, body_j, x, about = t.inputs
    x, about = x if len(x) else np.zeros(1), np.r_[about, np.zeros(18 - len(about))]

    def carray(array, shape):
        assert array.shape == shape
        return array

    entry, out = module_of(name).tangent_entry, np.full(t.truth.shape, np.nan)
    calling = FunctionType(entry.__code__, {"carray": carray, "tangent": t.kernel.py_func})
    calling(body_i, body_j, x, about, np.eye(OF_BODIES), out)
    assert distance(out, t.truth) < TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATED)
def test_tangents_through_their_addresses(name):
    t = tangent(name, 0)
    body_i, body_j, x, about = t.inputs
    inputs = body_i, body_j, np.r_[x, 0.0], np.r_[about, np.zeros(18 - len(about))], np.eye(OF_BODIES)
    out = np.full((len(t.truth) + 1, OF_BODIES), np.nan)
    (address,) = addresses.addresses_of([t.module], "tangent_entry")
    call_tangent(address, *inputs, out)
    assert distance(out[:-1], t.truth) < TOLERANCE and np.isnan(out[-1]).all()


@numba.njit
def call_tangent(address, body_i, body_j, x, about, seeds, out):
    addresses.call(
        address, body_i.ctypes.data, body_j.ctypes.data, x.ctypes.data, about.ctypes.data, seeds.ctypes.data, out.ctypes.data
    )  # fmt: skip


# Derivatives of laws


def compiled(kernel, size, *inputs):
    """Outputs of compiled code; it leaves what lies behind them alone."""
    out = np.full(size + 1, np.nan)
    kernel(*inputs, out)
    assert np.isnan(out[-1])
    return out[:-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(NORMAL_LAWS))
@seeds
def test_slopes_of_a_normal_law(name, seed):
    module, rng = NORMAL_LAWS[name], np.random.default_rng([seed, *name.encode()])
    count = len(module.PARAMETERS)
    delta, rate, c = rng.uniform(0.1, 2.0), rng.normal(), rng.uniform(0.3, 1.5, count)
    outputs = compiled(module.law, 6, delta, rate, c)
    work, elastic, damping, *_ = slopes(
        lambda step: values(module.law, 6, delta + step[0], rate + step[1], c + step[2:]), 2 + count
    )
    force = elastic + damping
    assert distance(outputs[[1, 3, 4, 5]], [work[0], force[0], force[1], elastic[0]]) < TOLERANCE
    assert distance(compiled(module.law_parameters, count, delta, rate, c), force[2:]) < TOLERANCE
    assert work[1] == elastic[1] == 0.0, "what is stored does not know the rate"


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FRICTIONS))
@pytest.mark.parametrize("piece", ["below", "above"])
@seeds
def test_slopes_of_friction(name, piece, seed):
    module, rng = FRICTIONS[name], np.random.default_rng([seed, *name.encode()])
    slip, f_n, c = rng.normal(size=3), rng.uniform(0.3, 1.5), rng.uniform(0.3, 1.5, len(module.PARAMETERS))
    outputs = compiled(getattr(module, piece), 15, slip, f_n, c)
    force = slopes(lambda step: values(getattr(module, piece), 15, slip + step[:3], f_n + step[3], c), 4)[:3]
    assert distance(outputs[3:], np.r_[force[:, :3].ravel(), force[:, 3]]) < TOLERANCE


# Tangents broken on purpose


# What computes numbers that drop out may be broken without a change: the gradient of an angle depends on neither its signal
# nor the length of the projections, and the moment of a contact on body j depends on where the sphere is alone.
WITH_IDLE_STATEMENTS = ("guided_angle", "guided_link", "cosine_of_link", "wrench_tangent")


def as_code(statement):
    return compile(ast.Module([ast.fix_missing_locations(statement)], []), "<statement>", "exec")


def worst(statements, name):
    """How far the statements of a tangent, with one pass of its loop, are from the truth in a direction at several places."""
    apart = []
    for seed in SEEDS:
        t, direction = tangent(name, seed), np.random.default_rng(seed).normal(size=tangent(name, 0).rows)
        known = dict(zip((a.arg for a in t.function.args.args), (*t.inputs, direction[:, None]), strict=False))
        known |= {"math": math, "n": 0, "out": np.full((len(t.truth), 1), np.nan)}
        try:
            with np.errstate(all="ignore"):
                for statement in statements:
                    exec(statement, known)
        except (ValueError, ZeroDivisionError):  # such as the root of a negative number
            return np.inf
        apart.append(distance(known["out"][:, 0], t.truth @ direction))
    return max(apart)


@pytest.mark.slow
@pytest.mark.parametrize("every", NIGHTLY_ALL)
@pytest.mark.parametrize("name", list(ALL))
def test_a_broken_tangent_is_found(name, every):
    """Whatever statement is changed, the comparison with complex steps says so: it does not pass by being blind."""
    *before, loop = tangent(name, 0).function.body[1:]
    whole = [*before, *loop.body]
    codes = [as_code(statement) for statement in whole]
    assert worst(codes, name) < TOLERANCE
    missed, idle = [], 0
    for k, statement in [(k, one) for k, one in enumerate(whole) if computes(one)][::every]:
        other = copy.deepcopy(statement)
        other.value = broken(other.value)
        found = worst([*codes[:k], as_code(other), *codes[k + 1 :]], name)
        if name in WITH_IDLE_STATEMENTS and found < 1e-13:
            idle += 1
        elif not found > 1e3 * TOLERANCE:
            missed.append(f"{ast.unparse(statement)}  ->  {ast.unparse(other)}")
    assert missed == [] and idle < len(whole) / 10
