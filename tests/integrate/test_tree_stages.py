"""Stages of a step that are translated together with the equations of a tree, against the loop over the stages."""

import numpy as np
import pytest

import models
from runtime.integrate.tree_method import InJointCoordinates


def step(system, *, written):
    m = InJointCoordinates(system, system.data, system.state, 0.0, 1.0, 1e-5, 1e-5, np.inf, 5e-3)
    addresses = m.s.own.written.copy()
    if not written:
        m.s.own.written[:] = 0
    m.advance(1, np.array([2e-3]), np.empty((1, len(m.row))), np.zeros(0), np.zeros((0, 0)))
    assert m.counts()[1:] == (1, 0)  # the length of a rejected step depends on the rounding of its error
    found = {"k": m.s.own.k.copy(), "errors": m.s.own.errors.copy(), "end": m.s.y.copy(), "dense": m.s.own.dense.copy()}
    m.s.own.written[:] = addresses  # the memory is used again
    m.give_back()
    return addresses, found


@pytest.mark.parametrize("limits", [None, "dissipative"])
def test_stages_errors_and_ends_are_those_of_the_loop(limits):
    system = models.foot.build("modified", limits=limits)
    addresses, own = step(system, written=True)
    _, expected = step(system, written=False)
    assert addresses.all()
    for name, values in expected.items():
        assert np.abs(values).max() > 0.0
        # Errors and polynomials are small differences of large stages.
        assert own[name] == pytest.approx(values, rel=1e-11, abs=1e-13 * np.abs(expected["k"]).max()), name
