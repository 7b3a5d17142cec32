"""The exact Jacobian of the equations of motion against differences of them."""

import numpy as np
import pytest

import models
import runtime
from models import foot, free_body, pendulum
from models.walking import synthetic
from runtime import Cone, linearisation, simulate
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import OK, STATE
from tests.support.pendulums import parallelogram
from tests.support.refusals import assert_refused
from tests.support.systems import BUILDS, LAWS, LIMITED, powered, slider, spun
from tests.support.vectors import turned


def differences(system, state, time, h):
    """Derivatives of the accelerations by displacements and changes of velocity, extrapolated to h = 0."""
    n, work = len(system.bodies), workspace_for(system.data)

    def accelerations(body, k, step):
        y = np.array(state.y).reshape(n, STATE)
        if k < 3:
            y[body, k] += step
        elif k < 6:
            y[body, 3:7] = turned(y[body, 3:7], step * np.eye(3)[k - 3])
        else:
            y[body, k + 1] += step
        out = np.empty(n * STATE)
        assert derivative_once(time, y.ravel(), system.data, work, out) == OK
        return out.reshape(n, STATE)[:, 7:].ravel()

    def slope(body, k):
        a, b, c = ((accelerations(body, k, s) - accelerations(body, k, -s)) / (2 * s) for s in (h, h / 2, h / 4))
        return (a - 20 * b + 64 * c) / 45

    columns = [(body, k) for part in (range(6), range(6, 12)) for body in range(n) for k in part]
    return np.column_stack([slope(body, k) for body, k in columns])


def error(system, state=None, time=None, h=1e-3):
    state, time = state or system.state, system.time if time is None else time
    found = linearisation(system, state, time=time)
    expected = differences(system, state, time, h)
    return np.abs(np.hstack([found.displacement, found.velocity]) - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("name", BUILDS)
def test_jacobian_of_models(name):
    system = BUILDS[name]()
    assert error(system, spun(system)) < 1e-9


@pytest.mark.parametrize("name", LIMITED)
def test_jacobian_of_limits(name):
    system = foot.build(**LIMITED[name])
    run = simulate(system, 5.0, t_eval=np.linspace(0.05, 5.0, 700))
    excess = sum(limit.excess for limit in run.limits.values())
    outside = np.argsort(excess)[::-1][[0, 3, 6]]
    assert excess[outside[-1]] > 0.003
    for n in outside:
        state = runtime.State(system.body_names, run.states[n])
        assert error(system, state, run.t[n], h=4e-5) < 1e-7


QUADRANTS = (0, 90, 180, 270, 360)
CONES = {
    "regular": Cone.from_degrees(QUADRANTS, (40, 40, 40, 40, 40)),
    "elliptical": Cone.from_degrees(QUADRANTS, (30, 60, 40, 50, 30)),
    "spline": None,
}


@pytest.mark.parametrize("law", ["conservative", "as_published"])
@pytest.mark.parametrize("cone", CONES)
def test_jacobian_at_cones_of_the_pendulum(cone, law):
    system = pendulum.build("spherical", limits="elastic", cone=CONES[cone], omega=(0.0, 3.0, 1.0), law=law)
    run = simulate(system, 2.0, t_eval=np.linspace(0.02, 2.0, 100))
    (limit,) = run.limits.values()
    for n in np.argsort(limit.excess)[::-1][[0, 3, 6]]:
        assert limit.excess[n] > 5e-4
        state = runtime.State(system.body_names, run.states[n])
        assert error(system, state, run.t[n], h=4e-5) < 1e-7


@pytest.mark.slow
def test_jacobian_of_drivers_and_loads():
    system = synthetic.build()
    for time in (0.2, 0.5, 0.8):
        motion = runtime.kinematics(system, [time])
        state = runtime.State(system.body_names, motion.states[0])
        assert error(system, state, time) < 1e-8


@pytest.mark.parametrize("axes", ["global", "body"])
@pytest.mark.parametrize("point", [None, (0.1, -0.02, 0.03)])
def test_jacobian_of_motors_and_loads(axes, point):
    system = powered(axes, point)
    assert error(system, spun(system), 0.7) < 1e-9


@pytest.mark.parametrize(
    "friction, transition_velocity", [(None, 1e-3), ("coulomb", 1e-3), ("coulomb", 2.0), ("smooth", 1e-1)]
)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("plane", ["ground", "plate"])
def test_jacobian_of_contacts(law, friction, transition_velocity, plane):
    system = slider(law, friction, plane=plane, transition_velocity=transition_velocity, **LAWS[law])
    run = simulate(system, 1e-6)
    assert all(contact.normal_force[0] > 1.0 for contact in run.contacts.values())
    assert error(system, h=2e-5) < 1e-7


def test_linearisation_names_its_rows_and_refuses_what_it_cannot():
    system = foot.build()
    found = linearisation(system)
    assert found.bodies == system.body_names and found.displacement.shape == found.velocity.shape == (18, 18)
    assert_refused("the state is of the bodies", linearisation, system, free_body.build().state)
    for wrong, sentence in (
        (dict(alpha=np.nan), "linearisation: alpha = nan is not finite"),
        (dict(alpha=-5.0), "linearisation: alpha = -5 is negative; give 0 or more"),
        (dict(beta="x"), "linearisation: beta = 'x': give one number"),
        (dict(time=np.inf), "linearisation: time = inf is not finite"),
    ):
        assert_refused(sentence, linearisation, system, **wrong)


def test_a_singular_configuration_is_refused_with_a_remedy():
    system = parallelogram(1.0)
    flat = system.state.replace(
        r={"crank": (0.15, 0, 0), "coupler": (0.55, 0, 0), "rocker": (0.65, 0, 0)},
        p={name: (1.0, 0, 0, 0) for name in system.body_names},
    )
    assert_refused("its configuration is singular; linearise about another state", linearisation, system, flat)
    assert_refused(
        "became singular on the way to an equilibrium; start from a state nearer to it",
        runtime.equilibrium,
        system,
        flat,
    )


def test_baumgarte_terms_are_in_the_jacobian():
    system = foot.build()
    weak, strong = (linearisation(system, alpha=a, beta=b).displacement for a, b in ((0.0, 0.0), (5.0, 5.0)))
    assert np.abs(strong - weak).max() > 1.0
    assert models.foot is foot
