"""Trees and loops with limits, contacts and forces against the second method: none is wrong with success."""

import pytest

from tests.support.random_systems import ACTING, examined


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ACTING)
def test_some(name):
    examined(name, 0, ACTING[name][0])


@pytest.mark.nightly
@pytest.mark.parametrize("name", ACTING)
def test_many(name):
    examined(name, ACTING[name][0], ACTING[name][1])
