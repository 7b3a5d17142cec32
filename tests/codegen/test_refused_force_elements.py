"""Forces that break a rule are refused by name, and their nearest right definitions compile."""

import inspect
import re

import pytest
import sympy as sp

from codegen import DefinitionError, compile_force, ramp


def right(r_i, s_i, r_j, s_j, stiffness, coordinate, rate, along):
    """A spring.

    stiffness : [N/m], 0 <= stiffness
    tension : [N]
    """
    length = coordinate((r_j + s_j - r_i - s_i).norm())
    return {"potential": stiffness / 2 * length**2, "dissipation": rate(length) ** 2, "tension": -along(length)}


def anchored(r_i, r_j, stiffness):
    """A spring between the origin and body j whose reaction is missing.

    stiffness : [N/m]
    """
    return {"potential": stiffness * (r_i.dot(r_i) + r_j.dot(r_j))}


def off_centre(r_i, s_i, r_j, stiffness, coordinate):
    """A force along a component in global axes.

    stiffness : [N/m]
    """
    x = coordinate((r_j - r_i - s_i).x)
    return {"forces": {x: -stiffness * x}}


def by_absolute_speed(r_i, r_j, damping, coordinate, rate):
    """A force between the bodies that depends on how fast one moves.

    damping : [N s/m]
    """
    length = coordinate((r_j - r_i).norm())
    return {"forces": {length: -damping * rate(r_j.x)}}


def as_a_vector(r_i, r_j, stiffness):
    """The wrong shape.

    stiffness : [N/m]
    """
    return {"potential": stiffness * (r_j - r_i)}


def force_as_a_vector(r_i, r_j, stiffness, coordinate):
    """The wrong shape.

    stiffness : [N/m]
    """
    return {"forces": {coordinate((r_j - r_i).norm()): stiffness * (r_j - r_i)}}


def as_a_list(r_i, r_j, stiffness):
    """No names.

    stiffness : [N/m]
    """
    return [stiffness * (r_j - r_i).norm()]


def as_a_text(r_i, r_j, stiffness):
    """A text.

    stiffness : [N/m]
    """
    return {"potential": "stiffness"}


def as_a_matrix(r_i, r_j, stiffness):
    """A matrix.

    stiffness : [N/m]
    """
    return {"potential": sp.Matrix([stiffness, stiffness])}


def not_a_number(r_i, r_j, stiffness):
    """Not a number.

    stiffness : [N/m]
    """
    return {"potential": float("nan") * stiffness * (r_j - r_i).norm()}


def by_zero(r_i, r_j, stiffness):
    """A quotient of numbers.

    stiffness : [N/m]
    """
    return {"potential": stiffness * (r_j - r_i).norm(), "share": 1 / 0}


def without_effect(r_i, r_j, stiffness):
    """Nothing that acts.

    stiffness : [N/m]
    length : [m]
    """
    return {"potential": stiffness**2, "length": (r_j - r_i).norm()}


def infinite(r_i, r_j, stiffness):
    """The root of a negative number.

    stiffness : [N/m]
    """
    return {"potential": stiffness * sp.sqrt(-1 - (r_j - r_i).dot(r_j - r_i))}


def moving_potential(r_i, r_j, stiffness, rate):
    """A potential of a velocity.

    stiffness : [N s/m]
    """
    return {"potential": stiffness * rate((r_j - r_i).norm())}


def without_unit(r_i, r_j, stiffness):
    """A stiffness without its unit."""
    return {"potential": stiffness * (r_j - r_i).norm()}


def with_a_taken_name(r_i, r_j, stiffness):
    """A reported quantity with a name that all forces have.

    stiffness : [N/m]
    power : [W]
    """
    length = (r_j - r_i).norm()
    return {"potential": stiffness * length, "power": length}


def along_nothing(r_i, r_j, stiffness, along):
    """No coordinate.

    stiffness : [N/m]
    tension : [N]
    """
    length = (r_j - r_i).norm()
    return {"potential": stiffness * length, "tension": along(length)}


def idle(r_i, s_i, r_j, stiffness, coordinate):
    """A vector that does nothing.

    stiffness : [N/m]
    """
    return {"potential": stiffness * coordinate((r_j - r_i).norm())}


def branching(r_i, r_j, stiffness):
    """A corner by a function that is not known.

    stiffness : [N/m]
    """
    return {"potential": stiffness * sp.Max(0, (r_j - r_i).norm() - 1) ** 2}


def with_a_table_in_a_table(r_i, r_j, tension_table):
    """A curve of a curve.

    tension_table : [N]
    """
    return {"potential": tension_table(tension_table((r_j - r_i).norm()))}


CASES = [
    (anchored, "action and reaction differ by"),
    (off_centre, "action and reaction differ by"),
    (by_absolute_speed, "when the bodies move together as one rigid body"),
    (as_a_vector, "'potential' has the wrong shape"),
    (force_as_a_vector, "a coordinate that is a vector needs a force that is a vector, and a scalar a scalar"),
    (as_a_list, "must return potential, dissipation, forces by name"),
    (as_a_text, "'potential' has the wrong shape: 'stiffness'; it must be one number"),
    (as_a_matrix, "'potential' has the wrong shape: Matrix"),
    (not_a_number, "'potential' is not finite: nan; check its denominators"),
    (by_zero, "cannot be derived: division by zero"),
    (without_effect, "has no effect: its force is zero"),
    (infinite, "is not finite at random values of its arguments"),
    (moving_potential, "the potential depends on a velocity"),
    (without_unit, "its docstring has no unit of stiffness"),
    (with_a_taken_name, "reported quantity 'power': choose an identifier"),
    (along_nothing, "needs what coordinate(x) returned"),
    (idle, "argument 's_i' is not used"),
    (branching, "uses the function 'Max', which is not smooth; use only sqrt, sin"),
    (with_a_table_in_a_table, "looks up what another table gave"),
]


@pytest.mark.parametrize(("definition", "says"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_an_unsound_force_is_refused_by_name(definition, says):
    with pytest.raises(DefinitionError, match=re.escape(says)) as caught:
        compile_force(definition)
    assert f"definition '{definition.__name__}'" in str(caught.value)


def test_the_nearest_right_definition_compiles():
    module = compile_force(right)
    assert module.OUTPUTS == (("tension", "N"),) and module.BOUNDS["stiffness"] == (0.0, False, None, "N/m")
    assert compile_force(right).__file__ == module.__file__
    with pytest.raises(DefinitionError, match="give the function that returns the force's potential"):
        compile_force("spring_damper")


def test_one_body_is_against_the_ground():
    def wind(r_i, drag, rate):
        """Drag in still air.

        drag : [N s/m]
        """
        v = rate(r_i)
        return {"dissipation": drag / 2 * v.dot(v)}

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
        compile_force(infinite)
