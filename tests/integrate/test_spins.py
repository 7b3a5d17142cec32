"""Free bodies that spin about their intermediate axis, whose flips multiply each error of the small rates by thousands."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import runtime

I, START, END = np.array([1.0, 2.0, 3.0]), np.array([1e-3, 1.0, 1e-3]), 150.0


def spinning(carried=False):
    """Free, or held at its centre by a ball joint on a body that does not move."""
    b = runtime.Builder("T", gravity=(0, 0, 0), axes="global")
    b.body("m", mass=1.0, inertia=I, omega=START, free=not carried)
    if carried:
        b.joint("socket", "spherical", "ground", "m", point=(0, 0, 0))
    return b.build(check_units=False)


def euler(_, w):
    return [(I[1] - I[2]) / I[0] * w[1] * w[2], (I[2] - I[0]) / I[1] * w[2] * w[0], (I[0] - I[1]) / I[2] * w[0] * w[1]]


@pytest.mark.parametrize("carried", [False, True])
def test_they_flip_in_time_at_a_coarse_tolerance(carried):
    """Five times in 150 s."""
    t = np.linspace(0.0, END, 301)
    exact = solve_ivp(euler, (0.0, END), START, "DOP853", t, rtol=1e-13, atol=1e-14).y.T
    system, settings = spinning(carried), dict(t_eval=t, rtol=1e-6, atol=1e-6, coordinates="joint")
    many = runtime.simulate_many(system, {"mass.m": [1.0, 2.0]}, END, outputs=["p.m", "omega.m"], **settings)
    run = runtime.simulate(system, END, **settings)
    for p, omega in ((run.p["m"], run.omega["m"]), (many["p.m"][1], many["omega.m"][1])):
        local = Rotation.from_quat(p[:, [1, 2, 3, 0]]).inv().apply(omega.copy())
        assert np.abs(local - exact).max() < 2e-3
    assert (np.diff(np.sign(exact[:, 1])) != 0.0).sum() == 5
