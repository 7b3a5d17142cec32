"""The kernels of limits, and each check against a kernel broken on purpose.

The force of a limit must be minus the derivative of its potential, less the force of its damper.  Both follow here from the
values of ``direction`` and of the angle alone, by a complex step along each of the twelve velocities, which is independent of
the rules by which codegen differentiates.
"""

import numpy as np
import pytest

from tests.support.kernel_text import missed
from tests.support.limit_kernels import LIMITS, Case, case
from tests.support.marks import over
from tests.support.motions import derivatives, distance

TOLERANCE = 1e-12  # relative to the largest of 1 and the quantity
SEEDS = range(4)

all_limits = pytest.mark.parametrize("name", list(LIMITS))
seeds = over("seed", SEEDS)


def direction_is_the_definition(c, module):
    parts, _ = c.defined()
    u, angle = parts["direction"], float(parts["angle"]) - sum(c.setting.held)
    return distance(c.run("direction", module), np.array(list(u(angle) if callable(u) else u), float))


def measures(c, module):
    """The angle of the definition, its rate along the motion, and the moment of the potential about the hinge."""
    parts, numbers = c.defined()
    angle = float(parts["angle"]) - sum(c.setting.held)
    if c.module.NAME == "cone":
        rate = np.linalg.norm(c.states[1][10:] - c.states[0][10:])
        moment = np.linalg.norm(np.cross(c.slope, c.run("direction")))
    else:
        rate = c.slopes()[3] @ c.v
        along = [np.cos(angle) * numbers["to_xi"], np.cos(angle) * numbers["to_eta"], -np.sin(angle)]
        moment = c.slope @ along
    return distance(c.run("measure", module), [angle, rate, moment])


def wrench_is_minus_the_slope_of_the_potential(c, module):
    slopes = c.slopes()
    if c.module.NAME == "cone":
        relative = c.states[1][10:] - c.states[0][10:]
        drag = c.damping * np.r_[np.zeros(3), -relative, np.zeros(3), relative]
    else:
        drag = c.damping * (slopes[3] @ c.v) * slopes[3]
    return distance(c.run("wrench", module), -c.slope @ slopes[:3] - drag)


def reference_is_the_definition(c, module):
    held = [float(c.defined()[0]["angle"])] if c.module.HELD else []
    return distance(c.run("reference", module), held)


LIMIT_CHECKS = {
    "direction": direction_is_the_definition,
    "measure": measures,
    "wrench": wrench_is_minus_the_slope_of_the_potential,
    "reference": reference_is_the_definition,
}


@all_limits
@seeds
@over("kernel", LIMIT_CHECKS)
def test_every_kernel_of_a_limit_agrees_with_its_definition(name, seed, kernel):
    c = case(name, seed)
    assert LIMIT_CHECKS[kernel](c, c.module) < TOLERANCE


@all_limits
@seeds
def test_power_along_a_screw_motion(name, seed):
    """Q . (v, omega) = -slope . du/dt - damping rate^2, with time derivatives by Cauchy's integral along the motion."""
    c = case(name, seed)
    u_dot = derivatives(lambda t: c.at(c.motion.states(t)), 1)[1]
    _, rate, _ = c.run("measure")
    assert distance(c.run("wrench") @ c.v, -c.slope @ u_dot[:3] - c.damping * rate**2) < 1e-11
    if name != "cone":
        assert distance(rate, u_dot[3]) < 1e-11


@all_limits
@seeds
def test_action_and_reaction(name, seed):
    """Force, and moment about the origin, of both bodies together vanish: a common motion takes no power."""
    c = case(name, seed)
    Q = c.run("wrench").reshape(2, 2, 3)
    moments = [np.cross(state[:3], force) + moment for state, (force, moment) in zip(c.states, Q, strict=True)]
    assert distance(Q[:, 0].sum(axis=0), np.zeros(3)) < 1e-13
    assert distance(sum(moments), np.zeros(3)) < 1e-13
    assert np.abs(Q).max() > 1e-3


@all_limits
def test_the_damper_dissipates_and_the_potential_ignores_velocity(name):
    c = Case(name, 0)
    moving = c.run("wrench")
    c.states = [np.r_[state[:7], np.zeros(6)] for state in c.states]
    resting = c.run("wrench")
    assert (moving - resting) @ c.v < -1e-3
    c.slope = np.zeros(3)
    assert not c.run("wrench").any()


def test_cross_hinge_angle_is_zero_in_the_reference_configuration():
    c = Case("cross_hinge", 0)
    c.setting.held = c.run("reference")
    c.x = c.setting.x(*c.states)
    assert abs(c.run("measure")[0]) < 1e-15


@all_limits
@pytest.mark.parametrize("kernel", LIMIT_CHECKS)
def test_a_broken_limit_is_found(name, kernel):
    c = case(name, 0)
    assert missed(c.module, kernel, lambda other: LIMIT_CHECKS[kernel](c, other), 1e3 * TOLERANCE) == []
