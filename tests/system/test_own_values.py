"""A parameter that is set to the value it has changes no datum of a system, whatever else the system has."""

import numpy as np
import pytest

import codegen
from runtime import Builder, Cone, Signal, parameters, simulate, with_parameters
from runtime.system.model_writing import leaves


def tug(r_i, s_i, r_j, s_j, gain, strength_t, coordinate):
    """Tension between two points by a signal.

    gain : [1], 0 <= gain
    """
    return {"forces": {coordinate((r_j + s_j - r_i - s_i).norm()): -gain * strength_t}}


@pytest.fixture(scope="module")
def system():
    """A driven leg with a foot on a hinge: load, motor, limit, spring, force by a signal, contact with a belt."""
    t = np.linspace(0.0, 1.0, 9)
    b = Builder("all kinds", axes="global")
    b.body("leg", mass=3.0, inertia=(0.1, 0.1, 0.01), r=(0.0, 0.0, 0.5))
    b.body("foot", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.1, 0.0, 0.1))
    b.joint("hip", "revolute", "ground", "leg", point=(0, 0, 0.9), axis=(0, 1, 0))
    b.joint("ankle", "revolute", "leg", "foot", point=(0, 0, 0.1), axis=(0, 1, 0))
    b.driver(
        "swing",
        "guided_angle",
        "leg",
        a_i=(0, 0, 1),
        h_i=(0, 1, 0),
        b_j=(0, 0, 1),
        theta_t=Signal.spline(t, 0.1 * t**2),
    )
    b.load("pull", "foot", force=(Signal.spline(t, np.sin(3 * t)), 1.0, 0.5))
    b.motor("gear", "guided_angle", "leg", "foot", a_i=(0, 0, 1), h_i=(0, 1, 0), b_j=(0, 0, 1), theta_t=0.0,
            effort=Signal.spline(t, t), stiffness=2.0, damping=0.1)  # fmt: skip
    b.force(
        "spring",
        "spring_damper",
        "leg",
        "foot",
        s_i=(0, 0, 0.6),
        s_j=(0.2, 0, 0.1),
        stiffness=20.0,
        damping=0.1,
        free_length=0.3,
    )
    b.force("muscle", codegen.compile_force(tug), "leg", "foot", s_i=(0, 0, 0.6), s_j=(0.1, 0, 0.1), gain=2.0,
            strength_t=Signal.spline(t, 1.0 + t))  # fmt: skip
    b.limit("range", "ankle", reference="leg", xi=(1, 0, 0), eta=(0, 1, 0), direction=(0, 0, 1),
            cone=Cone.from_degrees((0, 90, 180, 270, 360), (30, 60, 45, 20, 30)), max_moment=20.0, compliance=0.1)  # fmt: skip
    b.contact("sole", "foot", centre=(0.1, 0, 0.1), radius=0.05, point=(0, 0, 0.06), law="hunt_crossley", stiffness=1e4,
              exponent=1.5, loss=0.3, friction="smooth", mu_c=0.3, mu_d=0.0, belt=(1, 0, 0),
              belt_speed=Signal.spline(t, 0.2 + t))  # fmt: skip
    return b.build()


def test_a_parameter_set_to_its_own_value_changes_no_datum(system):
    before = dict(leaves(system.data))
    of_limit = {"a_i.ankle", "a_j.ankle", "s_i.ankle", "s_j.ankle"}  # that a function changes
    for name, value in parameters(system).items():
        if name in of_limit:
            continue
        after = dict(leaves(with_parameters(system, {name: value}).data))
        assert after.keys() == before.keys()
        assert all(np.allclose(after[key], before[key], rtol=1e-13, atol=1e-15) for key in before), name


def test_signals_of_a_changed_system_are_its_own(system):
    end = simulate(system, 0.2).states[-1]
    for name in ("stiffness.sole", "gain.muscle"):
        changed = with_parameters(system, {name: parameters(system)[name]})
        assert np.abs(simulate(changed, 0.2).states[-1] - end).max() < 1e-12
