"""Force elements whose law has a kink within a step, or that are touched between two stages."""

import numpy as np
import pytest

import runtime
from tests.support.touches import END, TOP, hurled, pushed, random_touches, thrown

CASES = random_touches(16)
ENDS = dict(t_eval=[END])


def case(k):
    return {name: float(values[k]) for name, values in CASES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("made", [thrown, hurled])
def test_no_touch_is_passed(made):
    """All of these were passed at 1e-6, with errors up to 0.7 m/s; without an end at their kinks "radau" is off by 0.1."""
    many = {tolerance: runtime.simulate_many(made, CASES, END, **at(tolerance)) for tolerance in (1e-6, 1e-8)}
    assert all(run.success and run.vectorised.all() for run in many.values())
    for k in range(16):
        system = made(**case(k))
        exact = runtime.simulate(system, END, rtol=1e-12, atol=1e-12, max_step=5e-4, **ENDS)
        for tolerance, runs in many.items():
            found = [runs[k]]
            for method, coordinates in (("dop853", "absolute"), ("dop853", "joint"), ("radau", "absolute")):
                found.append(runtime.simulate(system, END, method=method, coordinates=coordinates, **at(tolerance)))
            errors = [np.abs(run.v["body"] - exact.v["body"]).max() for run in found]
            assert max(errors[:3]) < 5 * tolerance and errors[3] < 150 * tolerance


@pytest.mark.parametrize("width", [1e-4, 1e-2])
def test_no_ridge_is_passed(width):
    """The force is 0 at all stages; the square of the speed changes by the work of a triangle, 2 height width / mass."""
    height, speed = -30.0, 4.0
    system, exact = pushed(height, 1.3, width, speed), np.sqrt(speed**2 + 2.0 * height * width)
    found = [runtime.simulate_many(system, {"height.ridge": np.full(2, height)}, END, **at(1e-8))[1]]
    for method, coordinates in (("dop853", "absolute"), ("dop853", "joint"), ("radau", "absolute")):
        found.append(runtime.simulate(system, END, method=method, coordinates=coordinates, **at(1e-8)))
    assert [run.v["body"][-1, 0] for run in found] == pytest.approx([exact] * 4, abs=1e-8)


def test_a_method_of_scipy_says_that_it_may_pass_a_touch():
    system = thrown(5e-3, 0.0, 1e4, 0.0)
    assert "RK45 locates no kinks of forces and may pass" in runtime.simulate(system, END, method="RK45").message
    assert "kinks" not in runtime.simulate(system, END, method="RK45", max_step=1e-2).message


def at(tolerance):
    return dict(rtol=tolerance, atol=tolerance, **ENDS)


@pytest.mark.parametrize("depth", [2e-4, 5e-3])
def test_an_elastic_touch_is_that_of_the_closed_form(depth):
    """Free flight, half a period of the spring and gravity, and free flight again."""
    stiffness, gravity = 1e4, 9.81
    run = runtime.simulate(thrown(depth, 0.0, stiffness, 0.0), END, method="dop853", **at(1e-8))
    rate, met = np.sqrt(stiffness), np.sqrt(2.0 * gravity * depth)  # speed at the stop
    # Depth x'' = -g - k x from x = 0 at this speed: back after the angle 2 atan(v k / (g w)) of the oscillation.
    lasting = 2.0 * np.arctan(met * rate / gravity) / rate
    down = END - (np.sqrt(2.0 * gravity * TOP) - met) / gravity - lasting
    assert run.v["body"][-1, 2] == pytest.approx(-met - gravity * down, abs=1e-6)


def test_steps_beside_a_stop_are_as_long_as_without_one():
    free = runtime.simulate(thrown(-1e-4, 0.0, 1e4, 0.0), END, method="dop853", **at(1e-8))
    assert free.stats.steps < 8
