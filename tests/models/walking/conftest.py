"""Analyses of gait that several modules use, each made once in a session, and the command ``talus gait`` in this process."""

from functools import cache, partial

import pytest

from models.walking import Filters, analyse, fit_sole, synthetic
from models.walking.capture import read_capture
from tests.support.recorded_gait import OPENSIM, trial
from tests.support.soles import ALIKE

OFF = Filters.off()


@pytest.fixture(scope="session")
def synthetic_walk():
    """The analysis of the synthetic trial, unfiltered."""
    return analyse(synthetic.static(), synthetic.trial(), markers=synthetic.MARKERS, filters=OFF)


@pytest.fixture(scope="session")
def adult():
    """Analyses of the barefoot adult by name of the trial, side and filters."""
    analysed = cache(lambda name, side, filters: analyse(trial("ST"), trial(name), side=side, filters=filters))
    return lambda name, side="right", filters=OFF: analysed(name, side, filters)


@pytest.fixture(scope="session")
def shod():
    """Analyses of the shod adult on a treadmill by side and toes."""

    @cache
    def analysed(side="right", toes="auto"):
        static, walk = (read_capture(OPENSIM / f"subject01_{name}.trc") for name in ("static", "walk1"))
        return analyse(static, walk, side=side, toes=toes, mass=72.6, height=1.803)

    return analysed


@pytest.fixture(scope="session")
def fitted(adult):
    """Fits of a sole to trials of the barefoot adult; ``alike``: one stiffness, loss and height for all spheres."""

    @cache
    def fit(name, side, alike=False):
        one = adult(name, side)
        return fit_sole(one, shared=ALIKE, prior=0.0) if alike else fit_sole(one)

    return fit


@pytest.fixture
def talus(command):
    """Calls ``talus gait``."""
    return partial(command, "gait")
