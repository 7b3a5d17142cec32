"""Many cases of a system with a force that has states; motions: ``maxwell`` of test_conformance."""

import numpy as np
import pytest

import runtime
from tests.support.maxwell import relaxing, slider

TIMES = np.linspace(0.0, 1.0, 6)


def test_cases_begin_by_a_rule_of_their_own():
    """The flow begins with the elongation of each case, without force, and ends of slack are found in lanes as in single runs."""
    law = dict(stiffness=400.0, viscosity=60.0, free_length=1.0)
    system, lengths = slider(relaxing, v=1.5, **law), np.linspace(0.8, 1.2, 17)
    how = dict(t_eval=TIMES, rtol=1e-10, atol=1e-10)
    many = runtime.simulate_many(system, {"free_length.f": lengths}, 1.0, outputs=["force_flow.f"], **how)
    assert many.success and many.vectorised.all()
    assert many["force_flow.f"][:, 0] == pytest.approx(1.3 - lengths)
    for k in (0, 16):
        run = runtime.simulate(runtime.with_parameters(system, {"free_length.f": lengths[k]}), 1.0, **how)
        assert np.abs(many["force_flow.f"][k] - run.forces["f"].flow).max() < 1e-8
