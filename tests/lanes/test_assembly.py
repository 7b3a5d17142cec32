"""Assembly of cases side by side, against that of each case alone: the same bits."""

import numpy as np
import pytest

import runtime
from models import chain, double_pendulum, foot, four_bar
from runtime.dynamics import projection
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import STATE, P, V
from runtime.support.arrays import frozen
from runtime.system.joint_cases import joint_cases

COUNT = 37  # no whole number of lanes


def driven():
    """A rod on a ball joint, turned about an axis of the ground by a driver that has left its start."""
    b = runtime.Builder("driven")
    b.body("rod", mass=1.0, inertia=(0.02, 0.03, 0.01), r=(0, 0, -0.3))
    b.joint("ball", "spherical", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.3))
    values = dict(a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(0.6, 0, 0.8))
    b.driver("angle", "guided_angle", "ground", "rod", **values, theta_t=runtime.Signal.constant(0.7))
    return b.build()


SYSTEMS = {
    "classical foot": lambda: foot.build("classical"),
    "modified foot": foot.build,
    "four-bar with redundant rows": four_bar.build,
    "double pendulum": double_pendulum.build,
    "chain": lambda: chain.build(4),
    "driven rod": driven,
}


def varied(system, seed=0):
    """Cases with masses, and points of all joints, of their own."""
    random = np.random.default_rng(seed)
    values = {
        joint.name: {
            key: np.asarray(joint.values[key]) + 0.01 * random.standard_normal((COUNT, 3))
            for key, kind, _ in joint.module.VECTORS
            if kind == "point" and key in joint.values
        }
        for joint in system.joints
    }
    masses = system.data.mass[1:] * random.uniform(0.5, 2.0, (COUNT, len(system.bodies)))
    return joint_cases(system, values, masses, system.data.inertia[1:])


def alone(cases, n, y):
    """State with consistent velocities, iterations and |Phi| left of a case by itself."""
    t, of = cases.system.data, cases.of_cases
    data = frozen(
        t._replace(
            x=of.x[n], vector_local=of.local[n], mass=np.append(t.mass[0], of.masses[n]),
            inertia_inverse=np.concatenate([t.inertia_inverse[:1], of.inverses[0]]),
        )
    )  # fmt: skip
    time, work = cases.system.time, workspace_for(data)
    state, steps, left = projection.assemble_positions(time, y, data, work)
    return projection.project_velocities(time, state, data, work), steps, left


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("far", [0.0, 0.4])
def test_cases_side_by_side_have_the_bits_of_each_alone(name, far):
    """From far away steps are halved, lanes end after different numbers of iterations, and some cases cannot be assembled."""
    system = SYSTEMS[name]()
    cases, random = varied(system), np.random.default_rng(1)
    y = np.tile(system.state.y, (COUNT, 1)).reshape(COUNT, -1, STATE)
    y[..., P:V] += far * random.uniform(-1.0, 1.0, y[..., P:V].shape)
    y[::2, :, V:] = random.standard_normal(y[::2, :, V:].shape)
    y = y.reshape(COUNT, -1)
    states, good = cases.assembled(y)
    iterations = []
    for n in range(COUNT):
        expected, steps, left = alone(cases, n, y[n])
        assert np.array_equal(states[n], expected) and good[n] <= (left <= projection.ASSEMBLED)
        iterations.append(steps)
    assert np.ptp(iterations) > 0 and max(iterations) > 3
