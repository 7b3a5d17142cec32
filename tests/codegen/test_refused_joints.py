"""Joints that break a rule of the calculus are refused by name, and their nearest right definitions compile."""

import numpy as np
import pytest
import sympy as sp

import codegen
from codegen import (
    DefinitionError,
    DefinitionWarning,
    Vector,
    compile_event,
    compile_force,
    compile_joint,
    compile_model,
    ramp,
)
from codegen.basics import between
from tests.support.definitions import module_of, named
from tests.support.refusals import refused_with

# Name -> a definition, and what it is told.
REFUSED = {
    "repeated": (
        lambda a_i, a_j: {"once": a_i.dot(a_j), "again": 2 * a_i.dot(a_j)}, "its rows once, again depend on each other",
    ),
    "held_constant": (lambda a_i, a_j, l, held: {"row": a_i.dot(a_j) + held(l)}, "held(l) keeps a constant"),
    "seven": (lambda a_i, a_j, c: {f"row_{k}": a_i.dot(a_j) - k * c for k in range(7)}, "has 7 rows, limit 6"),
    "impossible": (lambda a_i, a_j: {"row": a_i.dot(a_j) - 2}, "seem to have no common solution"),
    "branch": (
        lambda r_i, r_j, l: {"row": square(r_j - r_i) - l**2 if (r_j - r_i).x > 0 else r_j.x},
        "equations are smooth, without branches",
    ),
    "product": (
        lambda r_i, r_j, l: {"row": (r_j - r_i) * (r_j - r_i) - l**2},
        "vector * vector has two meanings; write a.dot(b) or a.cross(b)",
    ),
    "misspelt": (lambda r_i, r_j, l: {"row": (r_j - r_i).dott(r_j) - l**2}, "vectors know +, -, dot, cross, norm"),
    "unknown_suffix": (lambda a_i, a_j, l_q: {"row": a_i.dot(a_j) - l_q}, "argument 'l_q' has the unknown suffix '_q'"),
    "unused_argument": (lambda a_i, a_j, l: {"row": a_i.dot(a_j)}, "argument 'l' is not used"),
    "unused_vector": (lambda a_i, a_j, b_j: {"row": a_i.dot(a_j)}, "argument 'b_j' is not used"),
    "unused_held": (lambda a_i, a_j, held: {"row": a_i.dot(a_j)}, "argument 'held' is not used"),
    "unused_across": (lambda a_i, a_j, across: {"row": a_i.dot(a_j)}, "argument 'across' is not used"),
    "unused_carried": (lambda a_i, a_j, carried: {"row": a_i.dot(a_j)}, "argument 'carried' is not used"),
    "global_component": (
        lambda a_i, a_j: {"fine": a_i.dot(a_j), "row": a_i.x - a_j.x}, "row 'row' changes when both bodies move together",
    ),
    "one_centre_twice": (
        lambda r_i, s_i, r_j, l: {"row": square(r_i + s_i - 2 * r_j) - l**2}, "row 'row' changes when both bodies move together",
    ),
    "constant_row": (lambda a_i, a_j, c: {"fine": a_i.dot(a_j), "row": c - 1}, "row 'row' contains no vector of a body"),
    "constants_only": (lambda c, held: {"row": held(c)}, "row 'row' contains no vector of a body"),
    "reserved_name": (
        lambda a_i, a_j, gamma: {"row": a_i.dot(a_j) - gamma}, "argument 'gamma' has a name that the kernels use themselves",
    ),
    "velocity": (lambda v_i, a_j: {"row": v_i.dot(a_j)}, "argument 'v_i' has a name that the kernels use themselves"),
    "empty": (lambda a_i, a_j: {}, "must return its rows by name"),
    "nothing": (lambda a_i, a_j: None, "must return its rows by name"),
    "rows_without_names": (lambda a_i, a_j: [a_i.dot(a_j)], "must return its rows by name"),
    "across_a_point": (
        lambda r_i, s_i, r_j, s_j, across: {"row": across(s_i)[0].dot(r_j + s_j - r_i)},
        "across(a) needs one direction of the signature",
    ),
    "across_a_sum": (
        lambda a_i, b_i, a_j, across: {"row": across(a_i + b_i)[0].dot(a_j)}, "across(a) needs one direction of the signature",
    ),
    "carried_by_both": (
        lambda a_i, a_j, carried: {"row": a_i.dot(carried(a_i + a_j))}, "carried(x) needs a vector made of one body's vectors",
    ),
    "never_satisfied": (lambda a_i, a_j: {"row": a_i.dot(a_j) ** 2 + 1}, "seem to have no common solution"),
    "parameter_like_a_held_constant": (
        lambda a_i, a_j, held_0, held: {"row": held(a_i.dot(a_j)) + 2 * held_0},
        "argument 'held_0' has a name that the kernels use themselves",
    ),
    "parameter_like_an_euler_parameter": (
        lambda p_i, p_i_0: {"row": p_i[0] - p_i_0}, "argument 'p_i_0' has a name that the kernels use themselves",
    ),
    "two_rows_of_one_name": (
        lambda a_i, a_j: {"a": a_i.cross(a_j), "a_x": a_i.dot(a_j)}, "row name 'a_x' is not an identifier, or occurs twice",
    ),
    "row_with_a_space": (lambda a_i, a_j: {"a b": a_i.dot(a_j)}, "row name 'a b' is not an identifier, or occurs twice"),
    "any_number_of_arguments": (
        lambda a_i, a_j, *l: {"row": a_i.dot(a_j)}, "argument '*l': name every argument, without defaults",
    ),
    "default_argument": (
        lambda a_i, a_j, c=0: {"row": a_i.dot(a_j) - c}, "argument 'c=0': name every argument, without defaults",
    ),
    "absolute_value": (lambda a_i, a_j, c: {"row": abs(a_i.dot(a_j)) - c}, "uses the function 'Abs', which is not smooth"),
    "the_larger": (
        lambda a_i, a_j, c: {"row": sp.Max(a_i.x * a_j.x, c)}, "uses the function 'Max', which is not smooth",
    ),
    "square_of_a_distance": (
        lambda r_i, s_i, r_j, s_j: {"row": square(between(r_i, s_i, r_j, s_j))}, "row 'row' has no gradient where it holds",
    ),
    "rate_in_a_joint": (lambda a_i, a_j, rate: {"row": rate(a_i.dot(a_j))}, "'rate' is a velocity; only force"),
    "angular_velocity_in_a_joint": (lambda a_i, a_j, omega_i: {"row": a_i.dot(a_j) - omega_i.dot(a_j)}, "is a velocity"),
    # Of branch signs
    "unused_side": (
        lambda r_i, s_i, r_j, s_j, l, keeps_sign: {"distance": square(between(r_i, s_i, r_j, s_j)) - l**2},
        "argument 'keeps_sign' is not used; use it or remove it",
    ),
    "sign_of_a_vector": (
        lambda r_i, r_j, l, keeps_sign: keeps_sign(r_j - r_i) or {"distance": square(r_j - r_i) - l**2}, "cannot be derived",
    ),
    "sign_of_a_magnitude": (
        lambda r_i, a_i, r_j, l, keeps_sign: keeps_sign(sp.Abs(a_i.dot(r_j - r_i))) or {"distance": square(r_j - r_i) - l**2},
        "uses the function 'Abs', which is not smooth",
    ),
    "sign_of_a_constant": (
        lambda r_i, r_j, l, keeps_sign: keeps_sign(l) or {"distance": square(r_j - r_i) - l**2}, "keeps the sign of a constant",
    ),
    "sign_as_a_row": (
        lambda r_i, a_i, r_j, l, keeps_sign: {"distance": square(r_j - r_i) - l**2, "side": keeps_sign(a_i.dot(r_j - r_i))},
        "row 'side' is None; a row is an expression that vanishes",
    ),
}  # fmt: skip


def square(d):
    return d.dot(d)


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_definition_is_refused_by_name(name):
    definition, says = REFUSED[name]
    assert refused_with(DefinitionError, says, compile_joint, named(name, definition)).startswith(
        f"definition '{name}': "
    )


def undocumented(r_i, s_i, a_i, r_j, s_j, a_j):
    return {"row": a_i.dot(r_j + s_j - r_i - s_i) + a_i.dot(a_j)}


def test_a_definition_that_is_refused_gives_its_warning_too():
    with pytest.warns(DefinitionWarning, match="different units"), pytest.raises(DefinitionError, match="docstring"):
        compile_joint(undocumented)


class Silent:
    """An object that cannot be shown, of no class."""

    def __repr__(self):
        raise RuntimeError

    @property
    def __class__(self):
        raise RuntimeError


@pytest.mark.parametrize("function", [compile_joint, compile_force, compile_event, compile_model])
@pytest.mark.parametrize(
    "make", [Silent, lambda: "a\nb", lambda: [[[[[[[]]]]]]], lambda: 10**5000, lambda: np.eye(9), lambda: print]
)
def test_what_is_no_definition_is_refused_in_one_line(function, make):
    with pytest.raises(DefinitionError) as caught:
        function(make())
    assert str(caught.value).startswith(f"{function.__name__}(") and str(caught.value).isprintable()


def test_calls_of_other_arguments_are_refused():
    for given, named_too in (((), {}), ((raising, None, 2), {}), ((), {"joint": raising})):
        refused_with(DefinitionError, ("compile_joint: ", "; it takes definition"), compile_joint, *given, **named_too)
    refused_with(DefinitionError, "give the function", compile_joint, "spherical")


def raising(a_i, a_j):
    """A function that fails."""
    raise KeyError("two\nlines")


def test_the_error_of_a_definition_is_one_line():
    with pytest.raises(DefinitionError, match="definition 'raising': cannot be derived: ") as caught:
        compile_joint(raising)
    assert str(caught.value).isprintable()


def mixed_units(r_i, s_i, a_i, r_j, s_j, a_j):
    """An area and a cosine."""
    d = r_j + s_j - r_i - s_i
    return {"fine": a_i.dot(d), "row": d.dot(d) - a_i.dot(a_j)}


def length_and_area(r_i, s_i, a_i, r_j, s_j, l):
    """A constant cannot be a length and an area."""
    d = r_j + s_j - r_i - s_i
    return {"fine": d.dot(d) - l**2, "row": a_i.dot(d) - l**2 / 9}


@pytest.mark.parametrize("definition", [mixed_units, length_and_area])
def test_what_looks_like_another_unit_is_a_warning_each_time(definition):
    for _ in range(2):
        with pytest.warns(
            DefinitionWarning, match=f"definition '{definition.__name__}': row 'row' seems to add quantities"
        ):
            assert compile_joint(definition).ROWS == ("fine", "row")


def string_on_a_cylinder(r_i, s_i, a_i, b_i, r_j, s_j, radius, length):
    """String from a cylinder, of which a part is wound: roots that are real outside of the cylinder only."""
    d = r_j + s_j - r_i - s_i
    x, y = d.dot(b_i), d.dot(a_i.cross(b_i))
    free = sp.sqrt(x**2 + y**2 - radius**2)
    return {"string": radius * (sp.atan2(y, x) - sp.atan2(free, radius)) + free - length}


def screw(r_i, s_i, a_i, b_i, r_j, s_j, c_j, pitch):
    """A length from an angle."""
    d = r_j + s_j - r_i - s_i
    turn = sp.atan2(a_i.cross(b_i).dot(c_j), b_i.dot(c_j))
    return {"screw": a_i.dot(d) - pitch / (2 * sp.pi) * turn}


def bump(r_i, s_i, a_i, b_i, r_j, s_j, height, width):
    """A plane with a bump, over a ratio of lengths."""
    d = r_j + s_j - r_i - s_i
    return {"surface": a_i.dot(d) - height * sp.exp(-((b_i.dot(d) / width) ** 2))}


def logarithm(r_i, s_i, r_j, s_j, least):
    """A logarithm of a ratio."""
    d = r_j + s_j - r_i - s_i
    return {"row": sp.log(d.dot(d) / least**2) - 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("definition", "units", "parameters"),
    [
        (string_on_a_cylinder, (1,), (("radius", 1), ("length", 1))),
        (screw, (1,), (("pitch", 1),)),
        (bump, (1,), (("height", 1), ("width", 1))),
        (logarithm, (0,), (("least", 1),)),
    ],
)
def test_units_are_found_by_dimensions_wherever_functions_are_real(definition, units, parameters):
    module = compile_joint(definition)
    assert (module.UNITS, module.PARAMETERS) == (units, parameters)


def test_the_nearest_right_definitions_compile():
    """Each rule is about one thing: the nearest right definitions compile."""

    from_the_ground = named("from_the_ground", lambda a_i, c: {"row": a_i.x - c})
    area = named("area", lambda r_i, s_i, r_j, s_j, S: {"row": square(between(r_i, s_i, r_j, s_j)) - S})
    assert compile_joint(from_the_ground).ROWS == ("row",) and compile_joint(area).PARAMETERS == (("S", 2),)
    assert module_of("ground_point").ROWS == ("point_x", "point_y", "point_z")


RUN = "__import__('pathlib').Path('run').touch()"  # a program that SymPy would run
TEXTS = {
    "row": lambda r_i, r_j, held: {"row": RUN},
    "set": lambda r_i, r_j, held: {"row": {RUN}},
    "array": lambda r_i, r_j, held: {"row": np.array([RUN])},
    "vector": lambda r_i, r_j, held: {"row": Vector(RUN, RUN, RUN)},
    "sign": lambda r_i, r_j, keeps_sign: {"row": keeps_sign(RUN)},
    "carried": lambda r_i, r_j, carried: {"row": carried(Vector(RUN, RUN, RUN)).dot(r_i)},
    "potential": lambda r_i, r_j: {"potential": RUN},
    "rate": lambda r_i, r_j, rate: {"dissipation": rate(RUN)},
    "coordinate": lambda r_i, r_j, coordinate: {"forces": {coordinate(RUN): 1}},
    "table": lambda r_i, r_j, a_table: {"potential": a_table(RUN)},
    "ramp": lambda r_i, r_j: {"potential": ramp(RUN)},
    "report": lambda r_i, r_j: {"potential": r_i.dot(r_j), "report": (RUN,)},
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_no_expression_and_is_not_run(monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    compiled = compile_force if list(TEXTS).index(name) >= list(TEXTS).index("potential") else compile_joint
    refused_with(DefinitionError, "expression", compiled, named(name, TEXTS[name]))
    assert not (tmp_path / "run").exists()


def test_the_public_names_are_listed():
    assert {"compile_joint", "ramp", "DefinitionWarning"} <= set(dir(codegen)) == set(codegen.__all__)
