"""The passive moment of two exponentials against closed forms: equilibrium, period, and the angles of the foot."""

import numpy as np
import pytest
from scipy.special import ellipk

import models
import runtime
from runtime import Builder
from tests.support.refusals import assert_refused

RATE, ANGLE, MOMENT = 6.0, 0.5, 20.0  # of both exponentials: k2 = k4 [1/rad], angle1 = -angle2 [rad], k1 = k3 [N m]
A = 2.0 * MOMENT * np.exp(-RATE * ANGLE)  # [N m] the moment is -A sinh(RATE angle)
INERTIA = 0.35  # [kg m^2]
SYMMETRIC = dict(
    upper_moment=MOMENT, upper_rate=RATE, upper_angle=ANGLE, lower_moment=MOMENT, lower_rate=RATE, lower_angle=-ANGLE
)
ACROSS = dict(a_i=(0, 1, 0), b_i=(0, 0, -1), c_j=(0, 0, -1))


def rod(speed=0.0, load=0.0, damping=0.0, **law):
    """A rod on a hinge with the passive moment alone, and a constant moment."""
    b = Builder("rod", gravity=(0, 0, 0))
    turning = dict(omega=(0, speed, 0), v=(-0.5 * speed, 0, 0))
    b.body("rod", mass=1.0, inertia=(0.1, INERTIA - 0.25, 0.1), r=(0, 0, -0.5), **turning)
    b.joint("pivot", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.5), a_j=(0, 1, 0))
    b.force("passive", "hinge_exponential", "ground", "rod", **ACROSS, damping=damping, **SYMMETRIC | law)
    if load:
        b.load("load", "rod", moment=(0, load, 0))
    return b.build()


@pytest.mark.parametrize("load", [-30.0, 0.5, 5.0])
def test_the_equilibrium_under_a_moment(load):
    found = runtime.equilibrium(rod(load=load, damping=0.1))
    r = found.r["rod"]
    assert np.arctan2(-r[0], -r[2]) == pytest.approx(np.arcsinh(load / A) / RATE, abs=1e-8)


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("speed", [0.01, 1.0, 5.0])
def test_the_period_for_any_amplitude(speed, coordinates):
    """J angle'' = -A sinh(r angle): a complete elliptic integral, 2 pi / omega for small amplitudes."""
    omega = np.sqrt(A * RATE / INERTIA)
    farthest = RATE * INERTIA * speed**2 / (4.0 * A)  # sinh^2(r angle / 2) at the turn
    period = 4.0 / omega * ellipk(-farthest)
    times = period * np.array([0.25, 0.5, 1.0])
    run = runtime.simulate(rod(speed), times[-1], t_eval=times, coordinates=coordinates, rtol=1e-11, atol=1e-11)
    most = 2.0 / RATE * np.arcsinh(np.sqrt(farthest))
    assert np.abs(run.forces["passive"].angle - [most, 0.0, 0.0]).max() < 1e-8
    assert np.abs(run.omega["rod"][:, 1] - [0.0, -speed, speed]).max() < 1e-7
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8
    assert period == pytest.approx(2.0 * np.pi / omega, rel=1e-3) or speed > 0.1


def test_each_exponential_and_the_damper_have_their_own_numbers():
    law = dict(
        upper_moment=2.03, upper_rate=38.11, upper_angle=0.52, lower_moment=0.18, lower_rate=12.12, lower_angle=-0.74
    )
    for speed in (9.0, -6.0):
        run = runtime.simulate(rod(speed, damping=0.1, **law), 0.1, t_eval=np.linspace(0, 0.1, 6))
        angle, rate = run.forces["passive"].angle, run.omega["rod"][:, 1]
        moment = 0.18 * np.exp(-12.12 * (angle + 0.74)) - 2.03 * np.exp(38.11 * (angle - 0.52)) - 0.1 * rate
        assert abs(angle[-1]) > 0.4
        assert np.abs(run.forces["passive"].moment - moment).max() < 1e-9 * np.abs(moment).max()


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("ankle", ["classical", "modified"])
def test_the_foot_with_passive_moments(ankle, side):
    """Angles of both hinges and their moments, which are positive towards dorsiflexion and inversion, on either foot."""
    start = (18.0, -30.0)
    system = models.foot.build(ankle, side=side, limits="dissipative", law="exponential", ankle_deg=start)
    assert system.limit_names == () and system.force_names == ("talocrural", "talocalcaneal")
    run = runtime.simulate(system, 0.5, t_eval=np.linspace(0, 0.5, 6), rtol=1e-10, atol=1e-10)
    crural, calcaneal = run.forces["talocrural"], run.forces["talocalcaneal"]
    assert (crural.angle[0], calcaneal.angle[0]) == pytest.approx(np.deg2rad(start), abs=1e-12)
    assert np.abs(crural.angle - run.angles["ankle"].theta_j).max() < 1e-8
    assert np.abs(calcaneal.angle + run.angles["ankle"].theta_i).max() < 1e-8
    rates = run.angles["ankle"].rates
    for force, rate in ((crural, rates["theta_j"]), (calcaneal, -rates["theta_i"])):
        k = models.foot.PASSIVE[force.name]
        moment = k["lower_moment"] * np.exp(-k["lower_rate"] * (force.angle - k["lower_angle"]))
        moment -= k["upper_moment"] * np.exp(k["upper_rate"] * (force.angle - k["upper_angle"])) + 0.568 * rate
        assert np.abs(force.moment - moment).max() < 1e-9
    assert calcaneal.moment[0] > 1.0, "a moment against the eversion of the start"


def test_the_numbers_of_a_hinge_of_the_foot_may_be_given():
    given = {"talocrural": {"upper_angle": 0.3, "damping": 0.1}}
    system = models.foot.build(limits="elastic", law="exponential", law_parameters=given)
    assert (
        system.force("talocrural").values["upper_angle"] == 0.3 and system.force("talocrural").values["damping"] == 0.1
    )
    assert system.force("talocalcaneal").values["upper_angle"] == 0.65
    assert runtime.parameters(system)["upper_moment.talocalcaneal"] == 60.21


def test_bad_numbers_of_a_hinge_of_the_foot():
    exponential = dict(limits="elastic", law="exponential")
    for own, words in (
        (3, "law_parameters: talocrural = 3; give a mapping from names to values"),
        (
            {"foo": 1.0},
            "law_parameters: talocrural: unknown 'foo'; the law takes upper_moment, upper_rate, upper_angle",
        ),
        ({"a_i": (1, 0, 0)}, "law_parameters: talocrural: unknown 'a_i'"),
    ):
        assert_refused(words, models.foot.build, **exponential, law_parameters={"talocrural": own})
    with pytest.warns(runtime.UnitWarning, match="'talocrural': upper_angle = 30 rad.*30 degrees are 0.5236 rad"):
        models.foot.build(**exponential, law_parameters={"talocrural": {"upper_angle": 30.0}})
