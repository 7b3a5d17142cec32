"""Named tuples that compiled functions take by reference: values, types, memory, threads."""

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
from runtime.jit.references import MAX_REFERENCES, reference
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


def example(seed=0, n=3, m=2):
    rng = np.random.default_rng(seed)
    return Outer(n, rng.normal(size=n), Inner(rng.normal(size=(n, m)), rng.normal()), complex(*rng.normal(size=2)))


def test_compiled_code_reads_every_field():
    for seed in range(3):
        t = example(seed)
        assert summed(t) == pytest.approx(total(t), rel=1e-14)


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


def test_threads():
    tuples = [example(seed) for seed in range(40)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(summed, tuples * 20))
    assert found == pytest.approx([total(t) for t in tuples] * 20, rel=1e-14)


@pytest.mark.parametrize("name", ["foot", "foot_ground", "four_bar", "hooke_shaft"])
def test_every_tuple_of_a_run_has_a_reference(name):
    system = getattr(models, name).build()
    work = workspace(system)
    memories = dop853.memory(len(system.state.y)), memory_of_radau(system)
    steppers = [stepping.stepper(system.state.y, 0.0, own, system.data) for own in memories]
    for value in (system.data, work, workspace_of_jacobian(system), derived_memory(2, system.data), *steppers):
        assert references.Reference(value).value is value


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
