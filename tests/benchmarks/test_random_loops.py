"""Planar and spatial loops away from singular poses against the second method: none is wrong, or doubts its branch."""

import pytest

from tests.support.random_systems import LOOPS, doubted, examined


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_some(name):
    examined(name, 0, LOOPS[name][0])


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_no_branch_is_doubted_at_coarse_tolerances(name):
    for seed in range(2):
        for tolerance in (1e-3, 1e-5):
            assert not doubted(name, seed, tolerance)


@pytest.mark.nightly
@pytest.mark.parametrize("name", LOOPS)
def test_many(name):
    examined(name, LOOPS[name][0], LOOPS[name][1])
