"""Many cases of a system with a force that has states: outputs and initial values by name, against the closed form."""

import numpy as np
import pytest

import runtime
from tests.support.maxwell import closed_form, relaxing, slider

TIMES = np.linspace(0.0, 1.0, 6)
OUTPUTS = ["force_flow.f", "force_tension.f", "r.block.x", "max(force_flow.f)", "energy"]


@pytest.mark.parametrize(("coordinates", "vectorised"), [("auto", True), ("absolute", False)])
def test_cases_of_a_maxwell_element(coordinates, vectorised):
    viscosity, flow = np.linspace(10.0, 90.0, 17), np.linspace(-0.1, 0.2, 17)
    cases = {"viscosity.f": viscosity, "flow_0.f": flow}
    how = dict(t_eval=TIMES, rtol=1e-9, atol=1e-9, coordinates=coordinates)
    many = runtime.simulate_many(slider(), cases, 1.0, outputs=OUTPUTS, **how)
    assert many.success and not many.messages and (many.vectorised == vectorised).all()
    for k in range(17):
        x, v, z = closed_form(TIMES, viscosity=viscosity[k], flow_0=flow[k]).T
        tension = 80.0 * (x - 1.0 - z)
        expected = [z, tension, x, z.max(), v**2 + tension**2 / 160.0]
        for name, values in zip(OUTPUTS, expected, strict=True):
            assert np.abs(many[name][k] - values).max() < 1e-6, name
    run = many[3]
    assert run.final.z["f.flow"] == pytest.approx(many["force_flow.f"][3, -1], abs=1e-7)


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
