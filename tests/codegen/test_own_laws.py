"""Laws of limits and contacts that break a rule are refused by name, and their nearest right definitions compile."""

import inspect
import re

import numpy as np
import pytest
import sympy as sp

from codegen import DefinitionError, compile_contact, compile_limit, ramp
from tests.support.definitions import named
from tests.support.own_laws import hardening, linear, lubricated, power
from tests.support.refusals import refused_with

DOC = "A law.\n\nk : [1], 0 < k\n"


def normal(V, R=lambda delta, rate, k: 0):
    return lambda delta, delta_dot, k: {"potential": V(delta, k), "dissipation": R(delta, delta_dot, k)}


def friction(below, above=None):
    above = above or below
    return lambda slip, normal_force, k: {"below": below(slip, normal_force, k), "above": above(slip, normal_force, k)}


LIMITS = {
    "pulls": (lambda excess, k: k * (excess**4 - excess**2 / 5), "pulls: its moment is -"),
    "preloaded": (lambda excess, k: k * excess, "is not zero at its edge: work 0 and moment"),
    "stored": (lambda excess, k: k * (excess**2 + 1), "is not zero at its edge: work"),
    "another_end": (lambda x, k: k * x**2, "at x = 1 with k = "),
    "steep_at_the_edge": (
        lambda excess, k: k * excess ** sp.Rational(3, 2), "its work, moment or slope is not finite at x = 0 with k = ",
    ),
    "without_effect": (lambda excess, k: 0 * excess + 0 * k, re.compile("argument 'excess' is not used; use it$")),
    "unused": (lambda x, k: x**2 / 2, "argument 'k' is not used; use it or remove it"),
    "another_argument": (lambda angle, k: k * angle**2, "its first argument is angle; a law of restriction takes 'x'"),
    "with_a_kink": (lambda excess, k: k * ramp(excess - 0.1) ** 2, "uses the function 'ramp', which is not smooth"),
    "by_a_foreign_symbol": (lambda excess, k: k * excess**2 * sp.Symbol("q") ** 2, "uses q, which is no argument"),
    "complex": (lambda excess, k: sp.I * k * excess**2, "is complex: I*excess**2*k; give real expressions"),
    "by_numpy": (lambda excess, k: k * (np.cosh(excess) - 1), "functions are those of SymPy, such as sympy.exp in place of"),
    "by_keyword": (lambda excess, *, k: k * excess**2, "argument 'k': name every argument, without defaults, * and /"),
    "by_place": (lambda excess, k, /: k * excess**2, "argument 'excess': name every argument, without defaults, * and /"),
    "a_mapping": (lambda excess, k: {"work": k * excess**2}, "'work' has the wrong shape"),
    "with_a_default": (lambda excess, k=1: k * excess**2, "name every argument, without defaults"),
}  # fmt: skip
CONTACTS = {
    "adhesion": (normal(lambda d, k: k * (d**4 - d**2 / 5)), "has adhesion: its elastic force is -"),
    "preloaded": (normal(lambda d, k: k * d), "is not zero at its edge: potential 0, elastic force"),
    "stored": (normal(lambda d, k: k + k * d**2), "is not zero at its edge: potential"),
    "feeding": (normal(lambda d, k: k * d**2, lambda d, v, k: -d * v**2), "feeds power in: its damping force is "),
    "steep_at_the_edge": (normal(lambda d, k: k * d ** sp.Rational(3, 2)), "is not finite at delta = 0 with k = "),
    "unused": (normal(lambda d, k: d**2), "argument 'k' is not used"),
    "a_damper_alone": (
        lambda delta, delta_dot, k: {"potential": 0, "dissipation": k * delta_dot**2}, "argument 'delta' is not used; use it",
    ),
    "without_its_parts": (lambda delta, delta_dot, k: {"force": k * delta}, "must return potential and dissipation by name"),
    "driving": (friction(lambda s, f, k: -k * f * s.dot(s)), "drives: its force below is "),
    "anisotropic": (friction(lambda s, f, k: k * f * s.x**2), "is not along the slip"),
    "pushing_at_rest": (friction(lambda s, f, k: k * f * s.dot(s) ** sp.Rational(1, 2)), "is not finite without slip"),
    "jumping": (friction(lambda s, f, k: k * f * s.dot(s), lambda s, f, k: 2 * k * f * s.dot(s)), "jumps by "),
    "touching": (
        lambda slip, normal_force, impact: {p: impact * normal_force * slip.dot(slip) for p in ("below", "above")},
        "argument 'impact': the speed of the touch-down is given to normal laws alone",
    ),
    "without_the_load": (
        friction(lambda s, f, k: k * s.dot(s)), "does not depend on normal_force: it would act in full from the touch-down on",
    ),
    "driving_unloaded": (
        friction(lambda s, f, k: k * (f - 1e-3) * s.dot(s)), "along a slip of 0.3 m/s with normal_force = 0, k = ",
    ),
    "driving_under_load": (friction(lambda s, f, k: k * f * (50 - f) * s.dot(s)), "m/s with normal_force = 1e+03, k = "),
    "steep_without_load": (
        friction(lambda s, f, k: k * f ** sp.Rational(2, 3) * s.dot(s)), "is not finite without slip with normal_force = 0, k = ",
    ),
    "by_a_root_of_the_load": (
        friction(lambda s, f, k: k * f ** sp.Rational(3, 2) * s.dot(s)),
        "is not finite beyond a lift-off, at normal_force = -1; take the power of a positive number",
    ),
    "meeting_elsewhere": (
        friction(lambda s, f, k: k * f * s.dot(s) / 2, lambda s, f, k: k * f * (s.norm() - sp.Rational(1, 2))),
        "at a transition velocity of 0.001 m/s with normal_force = 1, k = ",
    ),
    "one_piece": (
        lambda slip, normal_force, k: {"below": k * normal_force * slip.dot(slip)}, "must return the dissipation below",
    ),
    "no_law": (lambda depth, k: k * depth, "its first arguments are no law of contact; a normal law takes delta, delta_dot"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("compiler", "name"), [*((compile_limit, n) for n in LIMITS), *((compile_contact, n) for n in CONTACTS)]
)
def test_an_unsound_law_is_refused_by_name(compiler, name):
    law, says = (LIMITS if compiler is compile_limit else CONTACTS)[name]
    assert refused_with(DefinitionError, says, compiler, named(name, law, DOC)).startswith(f"definition '{name}': ")


@pytest.mark.parametrize(
    ("line", "says"),
    [("k : a number", "its docstring has no unit of k; add the line 'k : meaning [unit]'"),
     ("k : [1], k > 0", "bounds of 'k', k > 0: cannot be read"),
     ("k : [1], 5 <= k <= 2", "bounds of 'k', 5 <= k <= 2: no range lies within; exchange them"),
     ("k : [N m/deg], 0 < k", "'k' has the unit [N m/deg], but angles are in radians; state the unit with rad")],
)  # fmt: skip
@pytest.mark.parametrize("compiler", [compile_limit, compile_contact])
def test_a_law_states_the_units_of_its_parameters(compiler, line, says):
    law = (lambda excess, k: k * excess**2) if compiler is compile_limit else normal(lambda d, k: k * d**2)
    refused_with(DefinitionError, says, compiler, named("law", law, f"A law.\n\n{line}\n"))


@pytest.mark.parametrize("name", ["compliance", "max_moment", "cone", "law", "self", "out", "c"])
def test_parameters_of_a_limit_have_names_of_their_own(name):
    law = eval(f"lambda excess, {name}: {name} * excess**2")
    says = ("is a keyword of every limit", "has a name that the kernels use themselves")[name in ("out", "c")]
    refused_with(
        DefinitionError, f"argument '{name}' {says}", compile_limit, named("law", law, f"A law.\n\n{name} : [1]\n")
    )


def test_right_laws_compile_under_their_names():
    for compiler, laws in ((compile_limit, (power, linear)), (compile_contact, (hardening, lubricated))):
        for law in laws:
            module = compiler(law)
            assert (module.NAME, module.__doc__.strip()) == (law.__name__, inspect.getdoc(law))
            assert (
                module.PARAMETERS == tuple(inspect.signature(law).parameters)[1 if compiler is compile_limit else 2 :]
            )
            assert inspect.getsource(compiler(law)) == inspect.getsource(module)
    assert compile_limit(power).BOUNDS == {"exponent": (1.0, False, 8.0, "")}
    refused_with(
        DefinitionError,
        "compile_limit('cubic'): give the function that returns the limit's work",
        compile_limit,
        "cubic",
    )
    refused_with(DefinitionError, "give the function that returns the contact's potential", compile_contact, 3)
    refused_with(DefinitionError, "compile_limit(module numpy): give the function", compile_limit, np)
    refused_with(
        DefinitionError, "definition '<lambda>': needs a docstring, for which a lambda is written with def",
        compile_limit, lambda x: x**2 / 2,
    )  # fmt: skip


def test_friction_may_have_a_viscous_part_and_a_smooth_power_of_the_load():
    law = friction(lambda s, f, k: s.dot(s) * (k * ((f**2 + 1e-6) ** sp.Rational(1, 3) - 1e-2) + 1) / 2)
    assert compile_contact(named("soft", law, DOC)).SORT == "friction"
