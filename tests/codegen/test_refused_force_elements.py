"""Forces that break a rule are refused by name, and their nearest right definitions compile."""

import inspect
import re

import pytest
import sympy as sp

from codegen import DefinitionError, compile_force, ramp
from tests.support.definitions import named
from tests.support.refusals import refused_with

DIFFER = "action and reaction differ by"


def right(r_i, s_i, r_j, s_j, stiffness, coordinate, rate, along):
    """A spring.

    stiffness : [N/m], 0 <= stiffness
    tension : [N]
    """
    length = coordinate((r_j + s_j - r_i - s_i).norm())
    return {"potential": stiffness / 2 * length**2, "dissipation": rate(length) ** 2, "tension": -along(length)}


# Name -> a force, what it is told, and what its docstring states beside a stiffness [N/m].
REFUSED = {
    "anchored": (lambda r_i, r_j, stiffness: {"potential": stiffness * (r_i.dot(r_i) + r_j.dot(r_j))}, DIFFER),
    "off_centre": (
        lambda r_i, s_i, r_j, stiffness, coordinate: {"forces": {(x := coordinate((r_j - r_i - s_i).x)): -stiffness * x}}, DIFFER,
    ),
    "by_absolute_speed": (
        lambda r_i, r_j, stiffness, coordinate, rate: {"forces": {coordinate((r_j - r_i).norm()): -stiffness * rate(r_j.x)}},
        "when the bodies move together as one rigid body",
    ),
    "a_place": (
        lambda r_i, r_j, stiffness: {"potential": stiffness * (r_j - r_i).norm(), "place": r_j},
        "when the bodies move together as one rigid body", "place : [m]",
    ),
    "a_component": (
        lambda r_i, r_j, stiffness: {"potential": stiffness * (r_j - r_i).norm(), "height": (r_j - r_i).z},
        "when the bodies move together as one rigid body", "height : [m]",
    ),
    "a_vector": (lambda r_i, r_j, stiffness: {"potential": stiffness * (r_j - r_i)}, "'potential' has the wrong shape"),
    "force_as_a_vector": (
        lambda r_i, r_j, stiffness, coordinate: {"forces": {coordinate((r_j - r_i).norm()): stiffness * (r_j - r_i)}},
        "a coordinate that is a vector needs a force that is a vector, and a scalar a scalar",
    ),
    "a_list": (
        lambda r_i, r_j, stiffness: [stiffness * (r_j - r_i).norm()], "must return potential, dissipation, forces by name",
    ),
    "a_text": (
        lambda r_i, r_j, stiffness: {"potential": "stiffness"},
        "'potential' has the wrong shape: 'stiffness'; it must be one number",
    ),
    "a_matrix": (
        lambda r_i, r_j, stiffness: {"potential": sp.Matrix([stiffness, stiffness])}, "'potential' has the wrong shape: Matrix",
    ),
    "not_a_number": (
        lambda r_i, r_j, stiffness: {"potential": float("nan") * stiffness * (r_j - r_i).norm()},
        "'potential' is not finite: nan; check its denominators",
    ),
    "by_zero": (
        lambda r_i, r_j, stiffness: {"potential": stiffness * (r_j - r_i).norm(), "share": 1 / 0},
        "cannot be derived: division by zero",
    ),
    "without_effect": (
        lambda r_i, r_j, stiffness: {"potential": stiffness**2, "length": (r_j - r_i).norm()},
        "has no effect: its force is zero", "length : [m]",
    ),
    "infinite": (
        lambda r_i, r_j, stiffness: {"potential": stiffness * sp.sqrt(-1 - (r_j - r_i).dot(r_j - r_i))},
        "is not finite at random values of its arguments",
    ),
    "moving_potential": (
        lambda r_i, r_j, stiffness, rate: {"potential": stiffness * rate((r_j - r_i).norm())},
        "the potential depends on a velocity",
    ),
    "along_the_square_of_a_speed": (
        lambda r_i, r_j, stiffness, rate: {"forces": {rate((r_j - r_i).norm()) ** 2: stiffness}},
        "which is not linear in the velocities",
    ),
    "without_unit": (
        lambda r_i, r_j, stiffness, slack: {"potential": stiffness * ((r_j - r_i).norm() - slack)},
        "its docstring has no unit of slack",
    ),
    "a_taken_name": (
        lambda r_i, r_j, stiffness: {"potential": stiffness * (r_j - r_i).norm(), "power": (r_j - r_i).norm()},
        "reported quantity 'power': choose an identifier", "power : [W]",
    ),
    "along_nothing": (
        lambda r_i, r_j, stiffness, along: {
            "potential": stiffness * (r_j - r_i).norm(), "tension": along((r_j - r_i).norm()),
        },
        "needs what coordinate(x) returned", "tension : [N]",
    ),
    "idle": (
        lambda r_i, s_i, r_j, stiffness, coordinate: {"potential": stiffness * coordinate((r_j - r_i).norm())},
        "argument 's_i' is not used",
    ),
    "branching": (
        lambda r_i, r_j, stiffness: {"potential": stiffness * sp.Max(0, (r_j - r_i).norm() - 1) ** 2},
        "uses the function 'Max', which is not smooth; use only sqrt, sin",
    ),
    "without_rates": (
        lambda r_i, r_j, stiffness, state: {"potential": stiffness * ((r_j - r_i).norm() - state("slip")) ** 2},
        "'rates' must be a mapping from each state to its rate: it has none, and the states are slip", "slip : [m]",
    ),
    "rate_of_no_state": (
        lambda r_i, r_j, stiffness: {"potential": stiffness * (r_j - r_i).norm(), "rates": {stiffness: 1}},
        "it has stiffness, and the states are none",
    ),
    "a_state_in_a_coordinate": (
        lambda r_i, r_j, stiffness, coordinate, state: {
            "forces": {coordinate((r_j - r_i).norm() - (z := state("slip"))): -stiffness}, "rates": {z: -z},
        },
        "coordinate(x) depends on a state", "slip : [m]",
    ),
    "a_moving_start": (
        lambda r_i, r_j, stiffness, rate, state: {
            "potential": stiffness * ((r_j - r_i).norm() - (z := state("slip", rate((r_j - r_i).norm())))) ** 2, "rates": {z: -z},
        },
        "an initial value depends on rate_0", "slip : [m]",
    ),
    "a_state_like_an_argument": (
        lambda r_i, r_j, stiffness, state: {
            "potential": (z := state("stiffness")) * (r_j - r_i).norm(), "rates": {z: stiffness},
        },
        "state 'stiffness' has the name of an argument or a reported quantity",
    ),
    "a_table_in_a_table": (
        lambda r_i, r_j, stiffness, tension_table: {
            "potential": stiffness * tension_table(tension_table((r_j - r_i).norm()))
        },
        "looks up what another table gave", "tension_table : [N]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_unsound_force_is_refused_by_name(name):
    definition, says, *more = REFUSED[name]
    with pytest.raises(DefinitionError, match=re.escape(says)) as caught:
        compile_force(named(name, definition, "\n".join(["A force.", "", "stiffness : [N/m]", *more])))
    assert f"definition '{name}'" in str(caught.value)


def test_the_nearest_right_definition_compiles():
    module = compile_force(right)
    assert module.OUTPUTS == (("tension", "N"),) and module.BOUNDS["stiffness"] == (0.0, False, None, "N/m")
    assert compile_force(right).__file__ == module.__file__
    refused_with(
        DefinitionError, "give the function that returns the force's potential", compile_force, "spring_damper"
    )


def test_a_vector_in_global_axes_may_be_reported():
    def reporting(r_i, r_j, stiffness):
        """A force.

        stiffness : [N], 0 <= stiffness
        span : [m]
        """
        return {"potential": stiffness * (r_j - r_i).norm(), "span": r_j - r_i}

    assert [name for name, _ in compile_force(reporting).OUTPUTS] == ["span_x", "span_y", "span_z"]


def test_one_body_is_against_the_ground():
    wind = named("wind", lambda r_i, rate: {"dissipation": rate(r_i).dot(rate(r_i))})
    assert compile_force(wind).BODIES == ("i",)


def test_powers_of_a_ramp_have_finite_derivatives():
    x, n = sp.symbols("x n", real=True)
    assert ramp(x) ** n == ramp(x, n) and sp.diff(ramp(x) ** n, x) == n * ramp(x, n - 1)
    assert ramp(sp.Float(-2)) == 0 and ramp(sp.Integer(3), 2) == 9 and sp.diff(ramp(x), x).subs(x, 2) == 1


def test_a_compiled_force_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TALUS_CACHE_DIR", str(tmp_path))
    text = inspect.getsource(compile_force(right))
    (file,) = (tmp_path / "talus" / "forces").iterdir()
    assert file.read_text(encoding="utf-8") == text
    monkeypatch.setattr("codegen.compiler.force_elements.derive_force", None)  # another derivation would fail
    assert inspect.getsource(compile_force(right)) == text
    with pytest.raises(TypeError):
        compile_force(named("infinite", REFUSED["infinite"][0]))
