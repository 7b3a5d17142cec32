"""States of dop853 between its steps where stability bounds the steps."""

import numpy as np
import pytest

import models
from runtime import Builder, Signal, simulate
from runtime.dynamics.layout import STATE, V
from tests.support.driven_legs import driven_leg_of, made

TIMES = np.linspace(0.0, 0.1, 401)[1:]


def damped(damping):
    """Two bodies on a spring and a stiff damper."""
    b = Builder("damped")
    b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, -1.0), v=(0.5, 0, 0), free=True)
    b.body("tip", mass=0.1, inertia=(0.001, 0.001, 0.001), r=(0, 0, -1.2), v=(0.5, 0, 0), free=True)
    points = dict(s_i=(0, 0, 0), s_j=(0, 0, 0.1))
    b.force("soft", "spring_damper", "ground", "bob", stiffness=50.0, damping=0.0, free_length=0.8, **points)
    points = dict(s_i=(0, 0, 0), s_j=(0, 0, 0.02))
    b.force("stiff", "spring_damper", "bob", "tip", stiffness=20.0, damping=damping, free_length=0.15, **points)
    return b.build()


def sliding():
    """A block whose friction is regularised at a small transition velocity."""
    b = Builder("sliding")
    b.body("block", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, 0.05 - 9.81e-5), v=(0.1, 0, 0), free=True)
    b.contact(
        "sole", "block", centre=(0, 0, 0), radius=0.05, law="kelvin_voigt", stiffness=1e5, damping=300.0, exponent=1.0,
        friction="coulomb", mu_c=0.3, mu_d=0.0, transition_velocity=1e-3,
    )  # fmt: skip
    return b.build()


def rods():
    """Two rods with a stiff damper in the hinge between them."""
    b = Builder("rods", axes="global")
    for name, x in (("upper", 0.25), ("lower", 0.75)):
        b.body(name, mass=1.0, inertia=(0.001, 0.02, 0.02), r=(x, 0, 0))
    b.joint("top", "revolute", "ground", "upper", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("middle", "revolute", "upper", "lower", point=(0.5, 0, 0), axis=(0, 1, 0))
    b.force("damper", "rotational_damper", "upper", "lower", damping=30.0)
    return b.build()


def rolling():
    """A ball that slides at first, and turns."""
    b = Builder("rolling")
    turn = dict(v=(0.5, 0.1, 0), omega=(-2.0, 5.0, 3.0))
    b.body("ball", mass=1.0, inertia=(4e-4, 4e-4, 4e-4), r=(0, 0, 0.05 - 9.81e-5), free=True, **turn)
    b.contact(
        "sole", "ball", centre=(0, 0, 0), radius=0.05, law="kelvin_voigt", stiffness=1e5, damping=300.0, exponent=1.0,
        friction="coulomb", mu_c=0.3, mu_d=0.0, transition_velocity=1e-2,
    )  # fmt: skip
    return b.build()


def rods_on_balls():
    """Two rods on balls, with a stiff damper between them."""
    b = Builder("rods on balls", axes="global")
    for name, x in (("upper", 0.25), ("lower", 0.75)):
        b.body(name, mass=1.0, inertia=(0.001, 0.02, 0.02), r=(x, 0, 0), omega=(0, 0, 1.0), v=(0, x, 0))
    b.joint("top", "spherical", "ground", "upper", point=(0, 0, 0))
    b.joint("middle", "spherical", "upper", "lower", point=(0.5, 0, 0))
    b.force("damper", "rotational_damper", "upper", "lower", damping=30.0)
    return b.build()


def errors_of_velocities(system, tolerance, t_eval, coordinates="absolute"):
    """Largest errors of the velocities at ``t_eval``, and at the ends of the steps, against radau; and the run."""
    options = dict(method="dop853", rtol=tolerance, atol=tolerance, coordinates=coordinates)
    between, steps = simulate(system, TIMES[-1], t_eval=t_eval, **options), simulate(system, TIMES[-1], **options)
    found = []
    for run in (between, steps):
        exact = simulate(system, TIMES[-1], method="radau", rtol=1e-13, atol=1e-13, t_eval=run.t)
        differences = np.abs(run.states - exact.states).reshape(len(run.t), -1, STATE)
        found.append(differences[:, :, V:].max())
    return (*found, between)


CASES = {
    "damper": lambda: damped(1e3),
    "hinges": rods,
    "friction": sliding,
    "rolling": rolling,
    "balls": rods_on_balls,
    "limit": lambda: models.pendulum.build(limits="dissipative"),
    "ground": models.foot_ground.build,
}


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10])
def test_velocities_between_steps_are_as_accurate_as_at_their_ends(case, tolerance, coordinates):
    """By the polynomial of order 7 they were up to 80 times less accurate in coordinates of balls and bodies that float."""
    between, ends, _ = errors_of_velocities(CASES[case](), tolerance, TIMES[100:], coordinates)
    assert between < 4.0 * ends + 3.0 * tolerance


@pytest.mark.parametrize("build", [models.foot.build, models.double_pendulum.build])
def test_smooth_motions_keep_the_polynomial_of_order_7(build):
    """Stiffness is not suspected, so nothing is compared; the error falls with the order of the method."""
    errors = [errors_of_velocities(build(), tolerance, TIMES)[0] for tolerance in (1e-6, 1e-10)]
    assert errors[0] < 1e-4 and errors[1] < 1e-8


def test_a_stiff_body_beside_one_that_spins():
    """The step is longer than stability allows, because most of the state is accurate; with order 7 the error was 5e-3."""
    system = damped(1e3)
    b = Builder("both")
    for body in system.bodies:
        b.body(body.name, mass=body.mass, inertia=body.inertia, r=system.state.r[body.name], v=(0.5, 0, 0), free=True)
    b.body("top", mass=1.0, inertia=(0.01, 0.02, 0.03), r=(3, 0, 0), omega=(9.0, 200.0, 9.0), free=True)
    points = dict(s_i=(0, 0, 0), s_j=(0, 0, 0.02))
    b.force("stiff", "spring_damper", "bob", "tip", stiffness=20.0, damping=1e3, free_length=0.15, **points)
    both = b.build()
    run = simulate(both, 0.05, method="dop853", rtol=1e-8, atol=1e-8, t_eval=TIMES[:200])
    exact = simulate(both, 0.05, method="dop853", rtol=1e-13, atol=1e-13, t_eval=TIMES[:200])
    for name in both.body_names:
        assert np.abs(run.v[name] - exact.v[name]).max() < 2e-5
        assert np.abs(run.omega[name] - exact.omega[name]).max() < 2e-5


def held_leg():
    """A leg whose hip and toes drivers hold, with a spring at its ankle, a load, and a kernel in joint coordinates."""
    b, _ = driven_leg_of("held leg", *[lambda t: 0.0 * t] * 2)
    b.load("push", "foot", force=(Signal.function(lambda t: np.cos(9.0 * t), 0.0, 2.0), 0.0, 1.0))
    b.force("spring", "torsional_spring", "leg", "foot", a_i=(0, 1, 0), stiffness=8.0, damping=0.1, free_angle=0.1)
    return made(b.build(project_velocities=True))


def test_coordinates_that_rest_show_no_error():
    """Rounding of their rates had those of all coordinates taken from quintic polynomials, with errors of 2e-6."""
    system, t = held_leg(), np.linspace(0.0, 0.1, 41)
    found = [
        simulate(system, 0.3, t_eval=t, rtol=tolerance, atol=tolerance, method="dop853", coordinates=coordinates)
        for tolerance, coordinates in ((1e-9, "joint"), (1e-12, "absolute"))
    ]
    assert np.abs(found[0].omega["foot"] - found[1].omega["foot"]).max() < 1e-7
