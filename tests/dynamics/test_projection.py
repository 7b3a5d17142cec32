"""Assembly and consistent velocities end where only rounding is left, at rounding."""

import numpy as np
import pytest

from models import foot, four_bar
from runtime.dynamics import projection
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import STATE, P, V
from tests.system.test_assembly import bars

COUNT = 160


def disturbed(system, size):
    """States (COUNT, 13 bodies) off that of a system, with velocities of order 1."""
    random = np.random.default_rng(0)
    y = np.tile(system.state.y, (COUNT, 1)).reshape(COUNT, -1, STATE)
    y[..., :V] += size * random.standard_normal(y[..., :V].shape)
    y[..., V:] += random.standard_normal(y[..., V:].shape)
    return y.reshape(COUNT, -1)


SYSTEMS = {"modified foot": foot.build, "classical foot": lambda: foot.build("classical"), "four-bar": four_bar.build}


@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS)
def test_steps_end_at_rounding(build):
    system = build()
    work, taken = workspace_for(system.data), []
    for y in disturbed(system, 1e-3):
        y, steps, left = projection.assemble_positions(system.time, y, system.data, work)
        taken.append(steps)
        y = projection.project_velocities(system.time, y, system.data, work)
        assert left < 3e-16 and projection.worst_row(system.time, y, system.data, work, True) < 5e-15
        p = y.reshape(-1, STATE)[:, P:V]
        assert np.abs(np.linalg.norm(p, axis=1) - 1.0).max() < 1e-15
    assert (
        np.mean(taken) < 5 and max(taken) < 20
    )  # a violation of zero is approached by more steps than one of rounding


def test_slow_convergence_onto_a_singular_pose_goes_on():
    """Four bars that are just long enough: the residual falls by a constant fraction from step to step."""
    system = bars(0.2, 0.2, 0.1, 0.5).build()
    assert system.assembly.iterations > 20 and system.assembly.residual <= projection.ROUNDED
