"""Named tuples that compiled functions take by reference: values, types, memory, threads."""

import uuid
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numba
import numpy as np
import pytest

import models
from runtime.dynamics.derived import derived_memory
from runtime.integrate import dop853, stepping
from runtime.integrate.methods import memory_of_radau
from runtime.jit import references
from runtime.jit.compilation import columns, compiled, expanded, inlined
from runtime.jit.pointers import Pointer
from runtime.jit.references import MAX_REFERENCES, Reference, reference
from runtime.system.workspaces import workspace, workspace_of_jacobian


class Inner(NamedTuple):
    matrix: np.ndarray
    factor: float


class Outer(NamedTuple):
    count: int
    values: np.ndarray
    inner: Inner
    root: complex


def total(t):
    found = t.inner.factor * t.root.real + t.root.imag
    for i in range(t.count):
        for k in range(t.inner.matrix.shape[1]):
            found += t.values[i] * t.inner.matrix[i, k]
    return found


summed = compiled(total)


class Alike(NamedTuple):
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray


class Around(NamedTuple):
    before: float
    alike: Alike
    after: float


def _of_alike(t):
    return t.before + 10.0 * t.alike.first[0] + 100.0 * t.alike.second[0] + 1000.0 * t.alike.third[0] + 1e4 * t.after


of_alike = compiled(_of_alike)


@pytest.fixture(autouse=True, params=["first", "later"])
def written(request, monkeypatch):
    """References are written from Python, later by compiled code."""
    monkeypatch.setattr(references, "_STORED", set())
    monkeypatch.setattr(references, "_MADE", {})
    monkeypatch.setattr(references, "FIRST", 1_000_000 if request.param == "first" else 0)
    monkeypatch.setattr(references, "MOST", 1_000_000 if request.param == "first" else 0)


def example(seed=0, n=3, m=2):
    rng = np.random.default_rng(seed)
    return Outer(n, rng.normal(size=n), Inner(rng.normal(size=(n, m)), rng.normal()), complex(*rng.normal(size=2)))


def test_fields_of_one_type_are_read_in_order():
    """LLVM has a tuple of equal types as an array."""
    t = Around(1.0, Alike(*(np.array([k]) for k in (2.0, 3.0, 4.0))), 5.0)
    assert of_alike(t) == _of_alike(t) == 54321.0


def test_pointers_to_other_types_have_other_short_names():
    kinds = [Pointer(numba.typeof(example()._replace(values=values))) for values in (np.zeros(3), np.zeros((3, 1)))]
    assert kinds[0] != kinds[1] and str(kinds[0]) != str(kinds[1])
    assert all(str(kind).startswith("Pointer(Outer ") and len(str(kind)) < 40 for kind in kinds)


def test_compiled_code_reads_every_field():
    for seed in range(3):
        t = example(seed)
        assert summed(t) == pytest.approx(total(t), rel=1e-14)


def test_arrays_are_not_copied():
    t = example()
    before = summed(t)
    t.values[:] *= 2.0
    assert summed(t) == pytest.approx(total(t), rel=1e-14) != before


@pytest.mark.parametrize("change", ["read-only", "strided", "transposed", "larger"])
def test_other_forms_of_arrays_have_types_of_their_own(change):
    t = example(n=4, m=4)
    if change == "read-only":
        t.values.flags.writeable = False
    elif change == "strided":
        t = t._replace(values=np.repeat(t.values, 3)[::3])
    elif change == "transposed":
        t = t._replace(inner=t.inner._replace(matrix=t.inner.matrix.T))
    else:
        t = example(n=40, m=9)
    assert summed(t) == pytest.approx(total(t), rel=1e-13)


def test_one_reference_serves_several_calls_and_few_are_kept():
    t = example()
    assert reference(t) is reference(t)
    others = [example(seed) for seed in range(2 * MAX_REFERENCES)]
    for other in others:
        reference(other)
    assert reference.values.cache_info().currsize <= MAX_REFERENCES
    assert reference(t).value is t and summed(t) == pytest.approx(total(t), rel=1e-14)


def test_a_tuple_at_the_place_of_another_has_its_own_reference():
    results = {summed(example(seed)) == pytest.approx(total(example(seed)), rel=1e-14) for seed in range(50)}
    assert results == {True}


def test_threads():
    tuples = [example(seed) for seed in range(40)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(summed, tuples * 20))
    assert found == pytest.approx([total(t) for t in tuples] * 20, rel=1e-14)


def test_the_address_is_that_of_the_values():
    held = Reference(Inner(np.ones((2, 3)), 7.5))
    words = np.frombuffer(held._memory.tobytes(), np.float64)
    assert words[-1] == 7.5


def test_both_ways_write_equal_memory():
    t = example()
    first, later = Reference(t), Reference(t)
    assert first._write(t)
    later._store(t)
    assert first._numba_type_ is later._numba_type_
    places = np.frombuffer(first._memory.tobytes(), np.int64), np.frombuffer(later._memory.tobytes(), np.int64)
    owners = [
        n for n in range(len(places[0])) if places[0][n] == 0 != places[1][n]
    ]  # of the memory, which no code reads
    assert len(owners) <= 4 and np.delete(places[0], owners).tolist() == np.delete(places[1], owners).tolist()


def test_a_field_of_another_type_is_left_to_compiled_code():
    class Flagged(NamedTuple):
        flag: bool
        values: np.ndarray

    held = Reference(Flagged(True, np.ones(2)))
    assert held._memory.size == 8 + 7 * 8 and not held._write(held.value)


def test_compiled_code_is_taken_once_the_cache_has_it(monkeypatch):
    Pair = namedtuple(f"Pair_{uuid.uuid4().hex}", "values factor")  # that no cache knows
    monkeypatch.setattr(references, "FIRST", 8)
    monkeypatch.setattr(references, "MOST", 10_000)
    pair = Pair(np.ones(3), 2.0)
    for _ in range(40):
        Reference(pair)
    assert Pair not in references._STORED
    references.compile_for(pair)
    for _ in range(24):
        Reference(pair)
    assert Pair in references._STORED


def test_compiled_code_is_made_at_once_where_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(references, "FIRST", 8)
    monkeypatch.setattr(references, "MOST", 32)
    Pair = namedtuple(f"Pair_{uuid.uuid4().hex}", "values factor")
    with references.compiled_at_once():
        Reference(Pair(np.ones(3), 2.0))
    assert Pair in references._STORED and (references.FIRST, references.MOST) == (8, 32)


@pytest.mark.parametrize("name", ["foot", "foot_ground", "four_bar", "hooke_shaft"])
def test_no_tuple_of_a_run_needs_compiled_code_to_be_written(name):
    """A field of a type that only compiled code can write costs each first start a second."""
    system = getattr(models, name).build()
    work = workspace(system)
    memories = dop853.memory(len(system.state.y)), memory_of_radau(system)
    steppers = [stepping.stepper(system.state.y, 0.0, own, system.data) for own in memories]
    for value in (system.data, work, workspace_of_jacobian(system), derived_memory(2, system.data), *steppers):
        assert references._packed(value, references._type_of(value).of) is not None


def test_closed_loops_have_data_of_the_same_type():
    """Compiled code reads the data of all systems alike."""
    systems = models.foot.build(), models.four_bar.build(), models.four_bar.build(joints="revolute")
    assert systems[2].redundant and len({numba.typeof(system.data) for system in systems}) == 1


@pytest.mark.parametrize("kind", [inlined, expanded, columns])
def test_functions_for_compiled_code_alone_refuse_calls_from_python(kind):
    """Without a wrapper, numba would call address 0."""

    @kind
    def twice(x):
        return 2.0 * x

    with pytest.raises(
        TypeError, match="twice is linked into compiled code and has no entry for Python; call twice.py_func"
    ):
        twice(1.0)
    assert twice.py_func(1.0) == 2.0
