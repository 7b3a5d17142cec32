"""An angle that acts and reaches half a turn, where its value jumps, ends the run there with a sentence."""

import numpy as np
import pytest
from sympy import atan2

import codegen
import runtime
from runtime import Status
from runtime.analysis.sensitivities import sensitivities
from tests.support.refusals import assert_refused

REACHED = np.arcsin(np.pi / 6.0)  # [s] of half a turn of the wheel: q = 6 sin(t)


def wheel(kind="hinge_spring", *, rate=6.0, **values):
    """A wheel of 0.5 kg m^2 on a hinge about z, with a force element of 0.5 N m/rad between it and the ground."""
    b = runtime.Builder("wheel", gravity=(0.0, 0.0, 0.0), axes="global")
    b.body("rim", mass=1.0, inertia=(0.5, 0.5, 0.5), omega=(0.0, 0.0, rate))
    b.joint("axle", "revolute", "ground", "rim", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    of_spring = dict(b_i=(1, 0, 0), c_j=(1, 0, 0), stiffness=0.5, damping=0.0, free_angle=0.0)
    own = {"hinge_spring": of_spring, "torsional_spring": dict(stiffness=0.5, damping=0.0, free_angle=0.0)}
    b.force(
        "element", kind, "ground", "rim", a_i=(0, 0, 1), **(own.get(kind, dict(b_i=(1, 0, 0), c_j=(1, 0, 0))) | values)
    )
    return b.build()


@pytest.mark.parametrize("kind", ["hinge_spring", "torsional_spring"])
@pytest.mark.parametrize(
    "how", [{}, {"coordinates": "absolute", "alpha": 5.0, "beta": 5.0}, {"method": "radau"}, {"method": "RK45"}],
    ids=["joint", "absolute", "radau", "scipy"],
)  # fmt: skip
def test_a_spring_ends_the_run_at_half_a_turn(kind, how):
    run = runtime.simulate(wheel(kind), 3.0, rtol=1e-9, atol=1e-9, progress=False, **how)
    assert run.status == Status.HALF_TURN and not run.success
    assert run.t[-1] == pytest.approx(REACHED, abs=1e-6) and run.forces["element"].angle[-1] == pytest.approx(
        np.pi, abs=1e-5
    )
    assert f"half a turn, where its value jumps at t = 0.55107 s: the angle of force 'element' ({kind})" in run.message


def test_cases_of_an_ensemble_end_at_half_a_turn_of_their_own():
    rates = np.linspace(1.0, 6.0, 20)
    many = runtime.simulate_many(
        wheel(),
        {"rate.axle.angle": rates},
        2.0,
        t_eval=[0.0, 2.0],
        workers=1,
        progress=False,
        outputs=["rate.axle.angle"],
    )
    wound = rates > np.pi
    assert (many.status[wound] == Status.HALF_TURN).all() and (many.status[~wound] == Status.REACHED_END).all()
    np.testing.assert_allclose(np.asarray(many["rate.axle.angle"])[~wound, -1], rates[~wound] * np.cos(2.0), rtol=1e-5)


def test_what_does_not_jump_runs_on():
    """A damper alone; a law that is periodic in the angle, of a pendulum that goes over the top; a spring within half a turn."""
    assert runtime.simulate(wheel(stiffness=0.0, damping=0.01), 3.0, progress=False).success
    swing = runtime.simulate(wheel(rate=3.0), 6.0, progress=False)
    assert swing.success and swing.omega["rim"][-1, 2] == pytest.approx(3.0 * np.cos(6.0), abs=1e-6)


def test_a_stop_near_half_a_turn_is_not_passed():
    stop = dict(stiffness=1250.0, loss=0.0, middle=0.0, half_range=3.1)
    for rate, status in ((1.0, Status.REACHED_END), (5.0, Status.HALF_TURN)):
        run = runtime.simulate(wheel("hinge_stop", rate=rate, **stop), 3.5, progress=False)
        assert run.status == status and run.angles["axle"].angle.max() < np.pi + 1e-9


@pytest.mark.slow
def test_a_row_of_an_own_joint_that_jumps_ends_the_run():
    """A nut on a screw: its advance is 0.02 m/rad times an angle of atan2.  A damper stops it at 4.5 rad.

    At 40 s the row holds again, off by a turn's advance: results at few times show nothing.
    """

    def nut(r_i, s_i, a_i, b_i, r_j, s_j, a_j, b_j, lead, across, held):
        """Nut on a screw."""
        d = r_j + s_j - r_i - s_i
        e, f = across(a_i)
        turn = atan2(b_j.dot(a_i.cross(b_i)), b_j.dot(b_i))
        return {
            "o": e.dot(d),
            "p": f.dot(d),
            "t": e.dot(a_j),
            "u": f.dot(a_j),
            "advance": held(a_i.dot(d) - lead * turn),
        }

    b = runtime.Builder("nut", gravity=(0.0, 0.0, 0.0))
    b.body("nut", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), v=(0.0, 0.0, 0.1), omega=(0.0, 0.0, 5.0))
    b.force("drag", "rotational_damper", "ground", "nut", damping=5.0 * 1.4e-3 / 4.5)
    of_both = {
        f"{name}_{end}": value for name, value in (("s", (0, 0, 0)), ("a", (0, 0, 1)), ("b", (1, 0, 0))) for end in "ij"
    }
    b.joint("screw", codegen.compile_joint(nut), "ground", "nut", lead=0.02, **of_both)
    system, passed = b.build(), -0.9 * np.log(1.0 - np.pi / 4.5)  # [s]
    assert runtime.simulate(system, 1.0, progress=False).r["nut"][-1, 2] == pytest.approx(
        0.09 * (1.0 - np.exp(-1.0 / 0.9)), abs=1e-6
    )
    for how in ({}, {"t_eval": [0.0, 40.0]}, {"t_eval": [0.0, 40.0], "method": "RK45"}):
        run = runtime.simulate(system, 40.0, progress=False, **how)
        assert run.status == Status.HALF_TURN and "row screw.advance" in run.message and not run.events
        assert f"at t = {passed:.6g} s" in run.message
    many = runtime.simulate_many(
        system, {"omega.nut": [(0.0, 0.0, 1.0), (0.0, 0.0, 5.0)], "v.nut": [(0.0, 0.0, 0.02), (0.0, 0.0, 0.1)]}, 40.0,
        t_eval=[0.0, 40.0], progress=False,
    )  # fmt: skip
    assert many.status.tolist() == [Status.REACHED_END, Status.HALF_TURN]
    assert_refused(
        "the motion itself: an angle reached half a turn",
        sensitivities,
        system,
        {"damping.drag": 5.0 * 1.4e-3 / 4.5},
        40.0,
    )
