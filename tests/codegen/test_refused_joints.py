"""Joints that break a rule of the calculus are refused by name, and their nearest right definitions compile."""

import re

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


def repeated(a_i, a_j):
    """The same row twice."""
    return {"once": a_i.dot(a_j), "again": 2 * a_i.dot(a_j)}


def held_constant(a_i, a_j, l, held):
    """Nothing is held."""
    return {"row": a_i.dot(a_j) + held(l)}


def seven(a_i, a_j, c):
    """More than two bodies can take."""
    return {f"row_{k}": a_i.dot(a_j) - k * c for k in range(7)}


def impossible(a_i, a_j):
    """A cosine of two."""
    return {"row": a_i.dot(a_j) - 2}


def branch(r_i, r_j, l):
    """A condition."""
    d = r_j - r_i
    return {"row": d.dot(d) - l**2 if d.x > 0 else d.x}


def product(r_i, r_j, l):
    """An ambiguous product."""
    return {"row": (r_j - r_i) * (r_j - r_i) - l**2}


def misspelt(r_i, r_j, l):
    """No such operation."""
    return {"row": (r_j - r_i).dott(r_j) - l**2}


@pytest.mark.parametrize(
    ("definition", "says"),
    [
        (repeated, "its rows once, again depend on each other"),
        (held_constant, "held(l) keeps a constant"),
        (seven, "has 7 rows, limit 6"),
        (impossible, "seem to have no common solution"),
        (branch, "equations are smooth, without branches"),
        (product, "vector * vector has two meanings; write a.dot(b) or a.cross(b)"),
        (misspelt, "vectors know +, -, dot, cross, norm"),
    ],
)
def test_an_unsound_definition_is_refused_by_name(definition, says):
    with pytest.raises(DefinitionError, match=re.escape(says)) as caught:
        compile_joint(definition)
    assert str(caught.value).startswith(f"definition '{definition.__name__}': ")
    with pytest.raises(DefinitionError, match="give the function"):
        compile_joint("spherical")


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
    for given, named in (((), {}), ((repeated, None, 2), {}), ((), {"joint": repeated})):
        with pytest.raises(DefinitionError, match="compile_joint: .*; it takes definition"):
            compile_joint(*given, **named)


def raising(a_i, a_j):
    """A function that fails."""
    raise KeyError("two\nlines")


def test_the_error_of_a_definition_is_one_line():
    with pytest.raises(DefinitionError, match="definition 'raising': cannot be derived: ") as caught:
        compile_joint(raising)
    assert str(caught.value).isprintable()


def unknown_suffix(r_i, s_k, r_j):
    """A body k."""
    return {"row": (r_j - r_i).dot(s_k)}


def unused_argument(a_i, a_j, l):
    """No l."""
    return {"row": a_i.dot(a_j)}


def unused_vector(a_i, a_j, b_j):
    """No b_j."""
    return {"row": a_i.dot(a_j)}


def unused_held(a_i, a_j, held):
    """No held."""
    return {"row": a_i.dot(a_j)}


def unused_across(a_i, a_j, across):
    """No across."""
    return {"row": a_i.dot(a_j)}


def unused_carried(a_i, a_j, carried):
    """No carried."""
    return {"row": a_i.dot(a_j)}


def global_component(a_i, a_j):
    """A component of the global frame between two bodies."""
    return {"fine": a_i.dot(a_j), "row": a_i.x - a_j.x}


def double_distance(r_i, s_i, r_j, l):
    """One centre counts twice."""
    d = r_i + s_i - 2 * r_j
    return {"row": d.dot(d) - l**2}


def undocumented(a_i, a_j):
    return {"row": a_i.dot(a_j)}


def constant_row(a_i, a_j, c):
    """A row of constants."""
    return {"fine": a_i.dot(a_j), "row": c - 1}


def constants_only(c, held):
    """No body."""
    return {"row": held(c)}


def reserved_name(a_i, a_j, gamma):
    """A name of the kernels."""
    return {"row": a_i.dot(a_j) - gamma}


def velocity(v_i, a_j):
    """A velocity, which is no vector of a body."""
    return {"row": v_i.dot(a_j)}


def mixed_units(r_i, s_i, a_i, r_j, s_j, a_j):
    """An area and a cosine."""
    d = r_j + s_j - r_i - s_i
    return {"fine": a_i.dot(d), "row": d.dot(d) - a_i.dot(a_j)}


def length_and_area(r_i, s_i, a_i, r_j, s_j, l):
    """A constant cannot be a length and an area."""
    d = r_j + s_j - r_i - s_i
    return {"fine": d.dot(d) - l**2, "row": a_i.dot(d) - l**2 / 9}


def empty(a_i, a_j):
    """No rows."""
    return {}


def nothing(a_i, a_j):
    """A forgotten return."""
    a_i.dot(a_j)


def rows_without_names(a_i, a_j):
    """A list."""
    return [a_i.dot(a_j)]


def across_a_point(r_i, s_i, r_j, s_j, across):
    """Tangents of a point."""
    b, _ = across(s_i)
    return {"row": b.dot(r_j + s_j - r_i)}


def across_a_sum(a_i, b_i, a_j, across):
    """Tangents of a sum."""
    b, _ = across(a_i + b_i)
    return {"row": b.dot(a_j)}


def carried_by_both(a_i, a_j, carried):
    """A vector that belongs to both bodies."""
    return {"row": a_i.dot(carried(a_i + a_j))}


def never_satisfied(a_i, a_j):
    """A sum of a square and one."""
    return {"row": a_i.dot(a_j) ** 2 + 1}


def parameter_like_a_held_constant(a_i, a_j, held_0, held):
    """A parameter with the name that the first held constant gets."""
    return {"row": held(a_i.dot(a_j)) + 2 * held_0}


def two_rows_of_one_name(a_i, a_j):
    """The rows a_x, a_y, a_z and again a_x."""
    return {"a": a_i.cross(a_j), "a_x": a_i.dot(a_j)}


def any_number_of_arguments(a_i, a_j, *l):
    """No fixed inputs."""
    return {"row": a_i.dot(a_j)}


def absolute_value(a_i, a_j, c):
    """A row with a kink, whose derivatives no kernel can print."""
    return {"row": abs(a_i.dot(a_j)) - c}


def euler_component(p_i, p_i_0):
    """A parameter with the name of an Euler parameter."""
    return {"row": p_i[0] - p_i_0}


def default_argument(a_i, a_j, c=0):
    """An argument with a default."""
    return {"row": a_i.dot(a_j) - c}


def row_with_a_space(a_i, a_j):
    """A row whose name is no name."""
    return {"a b": a_i.dot(a_j)}


def square_of_a_distance(r_i, s_i, r_j, s_j):
    """Three rows in one, without a gradient where it holds."""
    d = r_j + s_j - r_i - s_i
    return {"row": d.dot(d)}


def the_larger(a_i, a_j, c):
    """A row that branches."""
    return {"row": sp.Max(a_i.x * a_j.x, c)}


REFUSED = [
    (unknown_suffix, "argument 's_k' has the unknown suffix '_k'"),
    (unused_argument, "argument 'l' is not used"),
    (unused_vector, "argument 'b_j' is not used"),
    (unused_held, "argument 'held' is not used"),
    (unused_across, "argument 'across' is not used"),
    (unused_carried, "argument 'carried' is not used"),
    (global_component, "row 'row' changes when both bodies move together"),
    (double_distance, "row 'row' changes when both bodies move together"),
    (undocumented, "needs a docstring"),
    (constant_row, "row 'row' contains no vector of a body"),
    (constants_only, "row 'row' contains no vector of a body"),
    (reserved_name, "argument 'gamma' has a name that the kernels use themselves"),
    (velocity, "argument 'v_i' has a name that the kernels use themselves"),
    (empty, "must return its rows by name"),
    (nothing, "must return its rows by name"),
    (rows_without_names, "must return its rows by name"),
    (across_a_point, "across(a) needs one direction of the signature"),
    (across_a_sum, "across(a) needs one direction of the signature"),
    (carried_by_both, "carried(x) needs a vector made of one body's vectors"),
    (never_satisfied, "seem to have no common solution"),
    (parameter_like_a_held_constant, "argument 'held_0' has a name that the kernels use themselves"),
    (euler_component, "argument 'p_i_0' has a name that the kernels use themselves"),
    (two_rows_of_one_name, "row name 'a_x' is not an identifier, or occurs twice"),
    (row_with_a_space, "row name 'a b' is not an identifier, or occurs twice"),
    (any_number_of_arguments, "argument '*l': name every argument, without defaults"),
    (default_argument, "argument 'c=0': name every argument, without defaults"),
    (absolute_value, "uses the function 'Abs', which is not smooth"),
    (the_larger, "uses the function 'Max', which is not smooth"),
    (square_of_a_distance, "row 'row' has no gradient where it holds"),
]


@pytest.mark.parametrize(("definition", "says"), REFUSED, ids=[f.__name__ for f, _ in REFUSED])
def test_a_wrong_definition_is_refused_by_name(definition, says):
    with pytest.raises(DefinitionError, match=re.escape(says)) as caught:
        compile_joint(definition)
    assert str(caught.value).startswith(f"definition '{definition.__name__}': ")


@pytest.mark.parametrize("definition", [mixed_units, length_and_area])
def test_what_looks_like_another_unit_is_a_warning_each_time(definition):
    for _ in range(2):
        with pytest.warns(
            DefinitionWarning, match=f"definition '{definition.__name__}': row 'row' seems to add quantities"
        ):
            assert compile_joint(definition).ROWS == ("fine", "row")


def test_a_definition_that_is_refused_later_gives_its_warning_too():
    def undocumented(r_i, s_i, a_i, r_j, s_j, a_j):
        return {"row": a_i.dot(r_j + s_j - r_i - s_i) + a_i.dot(a_j)}

    with pytest.warns(DefinitionWarning, match="different units"), pytest.raises(DefinitionError, match="docstring"):
        compile_joint(undocumented)


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

    def from_the_ground(a_i, c):
        """A global component of one body's direction is a joint with the ground."""
        return {"row": a_i.x - c}

    def right_distance(r_i, s_i, r_j, s_j, S):
        """An area."""
        d = r_j + s_j - r_i - s_i
        return {"row": d.dot(d) - S}

    def whole_vector(r_i, s_i, X, Y, Z):
        """Three rows from one vector."""
        return {"point": r_i + s_i - Vector(X, Y, Z)}

    assert compile_joint(from_the_ground).ROWS == ("row",)
    assert compile_joint(right_distance).PARAMETERS == (("S", 2),)
    assert compile_joint(whole_vector).ROWS == ("point_x", "point_y", "point_z")


def rate_in_a_joint(a_i, a_j, rate):
    """A joint is no force element."""
    return {"row": rate(a_i.dot(a_j))}


def angular_velocity_in_a_joint(a_i, a_j, omega_i):
    """A joint is no force element."""
    return {"row": a_i.dot(a_j) - omega_i.dot(a_j)}


@pytest.mark.parametrize("definition", [rate_in_a_joint, angular_velocity_in_a_joint])
def test_a_joint_may_not_use_velocities(definition):
    with pytest.raises(DefinitionError, match=f"definition '{definition.__name__}': "):
        compile_joint(definition)


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
    TEXTS[name].__doc__ = "A text."
    compiled = compile_force if list(TEXTS).index(name) >= list(TEXTS).index("potential") else compile_joint
    with pytest.raises(DefinitionError, match="expression"):
        compiled(TEXTS[name])
    assert not (tmp_path / "run").exists()


def test_the_public_names_are_listed():
    assert {"compile_joint", "ramp", "DefinitionWarning"} <= set(dir(codegen)) == set(codegen.__all__)
