"""The exact Jacobian of SciPy's implicit methods, against differences of the evaluations."""

import numpy as np
import pytest
from scipy.sparse import issparse

import models
import runtime
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import OK
from runtime.dynamics.state_jacobian import state_jacobian
from runtime.integrate.scipy_jacobian import Jacobian
from runtime.system.workspaces import workspace_of_jacobian
from tests.support.stiff import reduced_two_bodies, two_bodies
from tests.support.systems import powered, slider


def differences(system, t, y, work, h=1e-4):
    """Central differences of order 6 of y' over every component of the state, Euler parameters of any length included."""

    def rates(y):
        y_dot = np.empty_like(y)
        assert derivative_once(t, y, system.data, work, y_dot) == OK
        return y_dot

    columns = []
    for step in h * np.eye(len(y)):
        f = {k: rates(y + k * step) for k in (-3, -2, -1, 1, 2, 3)}
        columns.append((45 * (f[1] - f[-1]) - 9 * (f[2] - f[-2]) + (f[3] - f[-3])) / (60 * h))
    return np.array(columns).T


SYSTEMS = {
    "foot": models.foot.build,
    "foot with limits": lambda: models.foot.build(limits="dissipative"),
    "four_bar": models.four_bar.build,
    "chain": lambda: models.chain.build(3),
    "motor and loads": lambda: powered("body", (0.1, 0.0, 0.2)),
    "contacts": lambda: slider("hunt_crossley", "coulomb", stiffness=1e6, exponent=1.5, loss=0.2),
    "stiff damper": two_bodies,
}


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_the_jacobian_is_exact_on_and_off_the_constraints(name):
    system = SYSTEMS[name]()
    work, memory = workspace_for(system.data), workspace_of_jacobian(system)
    rng = np.random.default_rng(3)
    y = system.state.y + 1e-3 * rng.normal(size=len(system.state.y))
    code, exact = state_jacobian(0.3, y, system.data, work, memory)
    found = differences(system, 0.3, y, work)
    assert code == OK and np.abs(exact - found).max() < 1e-7 * np.abs(found).max()
    assert np.abs(exact).max() > 1.0


def many(count):
    """Pendulums beside each other: each acceleration depends on its own pendulum alone."""
    b = runtime.Builder("many")
    for k in range(count):
        b.body(f"body_{k}", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(k, 0, 0), omega=(0, 0.1 * k, 0), guess=True)
        b.joint(f"joint_{k}", "spherical", "ground", f"body_{k}", s_i=(k, 0, 0.5), s_j=(0, 0, 0.5))
    return b.build(project_velocities=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "build, method, sparse",
    [
        (lambda: models.chain.build(3), "BDF", False),
        (lambda: many(25), "BDF", True),
        (lambda: many(25), "LSODA", False),
        (lambda: models.chain.build(24), "Radau", False),
    ],
)
def test_the_jacobian_is_sparse_where_this_is_faster(build, method, sparse):
    system = build()
    jacobian = Jacobian(method, system, system.data, workspace_for(system.data))
    found = jacobian(0.0, system.state.y)
    assert issparse(found) == sparse
    dense = state_jacobian(0.0, system.state.y, system.data, jacobian.work, jacobian.memory)[1]
    assert np.array_equal(found.toarray() if sparse else found, dense)


@pytest.mark.slow
@pytest.mark.parametrize("method, error", [("BDF", 3e-4), ("Radau", 1e-6), ("LSODA", 3e-4)])
def test_runs_with_the_exact_jacobian(method, error):
    system, t = two_bodies(), np.linspace(0.0, 0.5, 6)
    run = runtime.simulate(system, 0.5, t_eval=t, method=method, rtol=1e-7, atol=1e-7)
    found = np.concatenate([run.r["a"][:, :2], run.r["b"][:, :2]], axis=1)
    assert run.success and np.abs(found - reduced_two_bodies(t)).max() < error


def test_sparse_runs_agree_with_the_compiled_method():
    system = many(25)
    a, b = (runtime.simulate(system, 0.5, method=method, rtol=1e-9, atol=1e-9) for method in ("Radau", "dop853"))
    assert a.success and np.abs(a.final.y - b.final.y).max() < 1e-7


def test_a_jacobian_costs_one_evaluation():
    # Differences would take 26 evaluations for each.
    run = runtime.simulate(two_bodies(), 0.5, method="BDF", rtol=1e-6, atol=1e-6)
    assert run.stats.evaluations < 8 * run.stats.steps
