"""What the questions measure with: runs in compiled code, counts of evaluations, heap allocations, ensembles."""

import numba
import numpy as np
import pytest

import models
import runtime
from benchmarks import ensembles, measure
from benchmarks.targets import joints
from benchmarks.targets.allocations import outside_calls
from tests.support.refusals import refused_with


def test_compiled_run_is_the_run_of_simulate():
    system = measure.foot("classical")
    run, evaluations = measure.compiled_run(system, 0.5, 1e-8)
    run()
    plain = runtime.simulate(system, 0.5, rtol=1e-8, atol=1e-8, coordinates="absolute")
    assert evaluations() == plain.stats.evaluations


def test_exponent():
    assert measure.exponent([1, 2, 4], [3, 24, 192]) == pytest.approx(3.0)


@pytest.mark.slow
def test_allocations_are_found():
    @numba.njit
    def allocates(n):
        return np.zeros(n).sum()

    @numba.njit(error_model="numpy", _nrt=False)
    def computes(a):
        a[0] = a[1] ** 1.5
        return a[0]

    allocates.compile((numba.int64,))
    computes.compile((numba.float64[::1],))
    assert any("NRT" in name for name in outside_calls(allocates.py_func, allocates.signatures[0], memory=True))
    assert outside_calls(computes.py_func, computes.signatures[0]) == set()


@pytest.mark.slow
def test_ensembles_are_measured():
    cases = ensembles.initial_velocities(120)
    assert {len(values) for values in cases.values()} == {120}
    assert len(np.unique(cases["omega.main_foot"], axis=0)) == 120
    tolerance, error = ensembles.coarsest_tolerance(120)
    assert ensembles.TOLERANCE < tolerance and 0.3 * ensembles.ERROR < error <= ensembles.ERROR
    for kind in ensembles.SWEEPS:
        memory, finished, size, took = ensembles.sweep(120, kind)
        assert finished == 120 and 50.0 < memory < 1024.0 and size > 0.0 < took


def test_the_tolerance_of_an_error_is_found():
    system = measure.foot("modified")
    tolerance, error = joints.tolerance_of(system, np.linspace(0.0, 0.5, 11))
    assert 1e-10 < tolerance < 1e-6 and 0.0 < error <= joints.ERROR
    assert joints.operations(system) == 150 and joints.operations(models.four_bar.build("revolute")) == 259
    refused_with(
        measure.BenchmarkError, "it has no kernel in joint coordinates", joints.operations, models.chain.build(20)
    )
