"""Runs of published mechanisms that several tests share."""

import numpy as np
import pytest

from models import foot_ground
from runtime import simulate


@pytest.fixture(scope="session")
def fall():
    """The foot falls on the ground, 0.3 s with 61 outputs, by the implicit method."""
    times = np.linspace(0, 0.3, 61)
    return simulate(foot_ground.build(mu_d=3.0), 0.3, t_eval=times, method="radau", rtol=1e-10, atol=1e-10)
