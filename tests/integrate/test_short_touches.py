"""A limit or wall that is touched shortly within one step: the touch is found wherever limits and contacts are checked."""

import numpy as np
import pytest

from runtime import Builder, Cone, State, simulate, simulate_many

SWING = 0.8  # [rad] largest angle without the touch


def pendulum(depth, wall):
    """A pendulum whose swing passes the edge of its limit by an angle, or a wall by a length."""
    b = Builder("pendulum", gravity=(0, 0, -9.81))
    b.body("bob", mass=1.0, inertia=(0.02, 0.02, 0.02), r=(0, 0, -0.5))
    b.joint("hip", "revolute", "ground", "bob", axes="global", point=(0, 0, 0), axis=(0, 1, 0))
    if wall:
        reach = 0.5 * np.sin(SWING) + 0.05 - depth
        law = dict(law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=0.1)
        b.contact("wall", "bob", centre=(0, 0, 0), radius=0.05, normal=(-1, 0, 0), point=(reach, 0, 0), **law)
    else:
        cone = Cone.from_degrees([0, 90, 180, 270, 360], [np.degrees(SWING - depth)] * 5)
        law = dict(max_moment=200.0, compliance=0.05, damping=0.0)
        b.limit("end", "hip", reference="ground", xi=(1, 0, 0), eta=(0, -1, 0), cone=cone, **law)
    return b.build()


START = {"rate.hip.angle": [np.sqrt(9.81 * (1.0 - np.cos(SWING)) / 0.27)]}


def off(system, how, tolerance):
    """Largest error of a motion in two seconds, in units of the tolerance."""
    times = np.linspace(0.0, 2.0, 9)
    tight = dict(rtol=1e-12, atol=1e-12, coordinates="absolute", t_eval=times)
    exact = simulate_many(system, START, 2.0, **tight).states().reshape(9, -1)
    given = dict(rtol=tolerance, atol=tolerance, t_eval=times)
    if how == "side by side":
        found = simulate_many(system, START, 2.0, coordinates="joint", **given).states().reshape(9, -1)
    else:
        initial = State(system.body_names, exact[0])
        found = simulate(system, 2.0, initial=initial, coordinates=how, **given).states
    return np.abs(found - exact).max() / tolerance


@pytest.mark.parametrize("how", ["side by side", "joint", "absolute"])
@pytest.mark.parametrize(("wall", "tolerance", "depth"), [(True, 1e-8, 1e-5), (False, 1e-8, 6e-5), (False, 1e-4, 9e-4)])
def test_errors_of_short_touches(wall, tolerance, depth, how):
    """Without these touches they are 900, 1000 and 80 times the tolerance."""
    assert off(pendulum(depth, wall), how, tolerance) < 20.0
