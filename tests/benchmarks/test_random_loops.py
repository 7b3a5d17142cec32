"""Planar and spatial loops away from singular poses against the second method: none is wrong with success."""

import pytest

from tests.support.random_systems import LOOPS, examined


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_some(name):
    examined(name, 0, LOOPS[name][0])


@pytest.mark.nightly
@pytest.mark.parametrize("name", LOOPS)
def test_many(name):
    examined(name, LOOPS[name][0], LOOPS[name][1])
