"""Trees of all kinds of joints against the second method: none is wrong with success."""

import pytest

from tests.support.random_systems import TREES, examined


@pytest.mark.slow
@pytest.mark.parametrize("name", TREES)
def test_some(name):
    examined(name, 0, TREES[name][0])


@pytest.mark.nightly
@pytest.mark.parametrize("name", TREES)
def test_many(name):
    examined(name, TREES[name][0], TREES[name][1])
