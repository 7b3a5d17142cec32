"""Velocities of many cases are held to the rows of joints."""

import numpy as np
import pytest

import models
from runtime import simulate_many
from runtime.dynamics.layout import LANES, OMEGA, STATE, V


@pytest.mark.parametrize("off, good", [(0.0, True), (5e-10, True), (2e-9, False)])
def test_velocities_off_the_rows_are_refused(off, good):
    """As those of a state: beside 1 m/s a row may be violated by 1e-9 m/s."""
    foot, count = models.foot.build(), LANES + 2
    rates = dict(zip(("theta_i", "theta_j"), np.random.default_rng(1).normal(scale=0.1, size=(2, count)), strict=True))
    start = simulate_many(foot, {f"rate.ankle.{k}": v for k, v in rates.items()}, 1e-6, t_eval=[0.0]).states()[:, 0]
    cases = {}
    for body, state in zip(foot.body_names, np.moveaxis(start, 1, 0), strict=True):
        cases |= {f"v.{body}": state[:, V:OMEGA].copy(), f"omega.{body}": state[:, OMEGA:STATE].copy()}
    cases["v.toes"][7, 2] += off
    found = simulate_many(foot, cases, 0.1, workers=1)
    refused = np.flatnonzero(~found.vectorised).tolist()
    assert refused == ([] if good else [7]) and list(found.messages) == refused
