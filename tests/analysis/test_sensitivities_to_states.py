"""Derivatives of runs with a force that has states, against differences of the closed form."""

import numpy as np
import pytest

from runtime import sensitivities
from tests.support.maxwell import VALUES, closed_form, slider

TIMES = np.linspace(0.2, 1.0, 5)
NAMES = "stiffness", "viscosity", "free_length", "flow_0"


@pytest.mark.parametrize("coordinates", ["auto", "absolute", "joint"])
def test_derivatives_of_a_motion_on_a_maxwell_element(coordinates):
    given = {f"{name}.f": VALUES[name] for name in NAMES}
    found = sensitivities(slider(), given, 1.0, t_eval=TIMES, rtol=1e-10, atol=1e-10, coordinates=coordinates)
    for k, name in enumerate(NAMES):
        h = 1e-4 * VALUES[name]
        at = [closed_form(TIMES, **VALUES | {name: VALUES[name] + d}) for d in (-2 * h, -h, h, 2 * h)]
        slope = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)
        assert np.abs(found.r["block"][:, 0, k] - slope[:, 0]).max() < 1e-7 * max(1.0, np.abs(slope[:, 0]).max())
        assert np.abs(found.v["block"][:, 0, k] - slope[:, 1]).max() < 1e-7 * max(1.0, np.abs(slope[:, 1]).max())
