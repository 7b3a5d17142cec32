"""Contact parameters of Moreira et al. (2011): which can be right, and how a subject stands on the nine spheres with them.

Independent numbers: Winter, Biomechanics and Motor Control of Human Movement, 1990, which the paper names as its source:
parts of the body's mass and height, radii of gyration.  Heel pads in vivo: 20 +- 2 mm thick without load, 0.62 +- 0.09 of that
under the body's weight (42 patients, PubMed 16513397); metatarsal pads: 15.2 mm, less 45.7 per cent at most in walking
(Cavanagh, J Biomech 32, 1999, 623).  The model, ``models.foot``: the foot of Rodrigues da Silva et al. (2024c).
"""

import numpy as np
import pytest

from generated import normal_hertz
from models import foot
from runtime import Builder, simulate
from runtime.system import hertz_stiffness
from tests.papers.moreira_2011_data import COMPUTED_WITH, DAMPER, DAMPING, READINGS, SPRING, TISSUE, VISCOUS
from tests.papers.subject import (
    BALL_PAD,
    MASS,
    MODEL_FOOT_LENGTH,
    MODEL_MAIN_FOOT_LENGTH,
    PAD,
    PAD_LEFT,
    PAD_LEFT_SPREAD,
    PAD_SPREAD,
    RADIUS,
    WEIGHT,
    at_rest,
    direction,
    forces,
    heel_strike,
    stance,
)


@pytest.mark.parametrize(
    ("reading", "one_foot", "both_feet"),
    [("N/m^1.5", 1542.1, 973.0), ("kN/m", 4.40, 2.69), ("kN/m^1.5", 19.21, 13.36), ("N/mm^1.5", 3.14, 2.21)],
)
def test_sink_of_a_standing_subject(reading, one_foot, both_feet):
    """In millimetres; and where the sink is more than a radius, the sphere's centre is below the ground."""
    _, x, height = stance()
    for load, expected in ((WEIGHT, one_foot), (WEIGHT / 2, both_feet)):
        sink, touching = at_rest(reading, height, load)
        assert 1e3 * sink == pytest.approx(expected, rel=3e-3)
        below = set(np.flatnonzero(sink - height > RADIUS) + 1)
        if reading == "N/m^1.5":
            assert below == set(range(1, 10))
        elif reading == "kN/m^1.5":
            assert set(touching) == set(range(1, 10))
            assert below == ({5, 6, 7, 8, 9} if load == WEIGHT else {8})
        else:
            assert set(touching) == {2, 3, 6, 7, 8} and not below
        pressed = forces(reading, height, sink)[0]
        assert 0.3 < pressed @ x / pressed.sum() / MODEL_FOOT_LENGTH < 0.6  # where a subject's centre of pressure is
    # All nine at one height.
    K, exponent = READINGS[reading]
    assert at_rest(reading, np.zeros(9), WEIGHT)[0] == pytest.approx((WEIGHT / 9 / K) ** (1 / exponent), rel=1e-12)


def test_touching_spheres_reveal_the_stiffness_of_the_paper():
    """Heel contact on spheres 1 to 3 and mid stance on 1 to 8, with half of the weight or all: only 40 kN/m^1.5."""
    _, _, height = stance()

    def as_the_text_has_it(reading):
        answers = []
        for share in (0.5, 1.0):
            heel, on_heel = heel_strike(reading, share * WEIGHT)
            _, on_sole = at_rest(reading, height, share * WEIGHT)
            answers.append(
                heel < -direction(0.0).min() and {1, 2, 3} <= set(on_heel) and {*range(1, 9)} <= set(on_sole)
            )
        return answers

    assert {reading for reading in READINGS if all(as_the_text_has_it(reading))} == {COMPUTED_WITH}
    assert {reading for reading in READINGS if any(as_the_text_has_it(reading))} == {COMPUTED_WITH}


def test_heel_pads_bound_the_stiffness_of_a_foot():
    """A pad gives way by 7.6 mm (5 to 10) under the weight; with the printed exponent, only 40 N/mm^1.5 is near it."""
    least = (PAD - PAD_SPREAD) * (1.0 - PAD_LEFT - PAD_LEFT_SPREAD)
    most = (PAD + PAD_SPREAD) * (1.0 - PAD_LEFT + PAD_LEFT_SPREAD)
    assert 1e3 * np.array([least, PAD * (1.0 - PAD_LEFT), most]) == pytest.approx([5.22, 7.6, 10.34])
    sinks = {reading: heel_strike(reading, WEIGHT)[0] for reading in READINGS}
    half = {reading: heel_strike(reading, WEIGHT / 2)[0] for reading in READINGS}
    assert {r for r, sink in sinks.items() if least < sink < most} == {TISSUE}
    assert 1e3 * np.array([sinks[TISSUE], half[TISSUE]]) == pytest.approx([6.65, 4.19], abs=6e-3)
    # The linear spring is not far off; 40 kN/m^1.5 sinks through the whole pad, at half of the weight too.
    assert 1e3 * np.array([sinks["kN/m"], half["kN/m"]]) == pytest.approx([11.64, 8.55], abs=6e-3)
    assert 1e3 * np.array([sinks[COMPUTED_WITH], half[COMPUTED_WITH]]) == pytest.approx([37.8, 25.9], abs=0.05)
    assert half[COMPUTED_WITH] > PAD + PAD_SPREAD
    # Under the ball, on spheres 6 to 8: less than the pad gives way.
    _, _, height = stance()
    for reading, fits in ((TISSUE, True), (COMPUTED_WITH, False)):
        assert (at_rest(reading, height[5:8], WEIGHT)[0] < BALL_PAD) == fits


def test_exponent_of_hertz():
    """Of elastic spheres; Eq. (12) has it.  A soft half space of 0.11 MPa in place of the pad would give 40 kN/m^1.5."""
    out = np.empty(6)
    normal_hertz.law.py_func(0.002, 0.0, np.array([40e3]), out)
    assert out[1] == pytest.approx(40e3 * 0.002**1.5, rel=1e-14)
    assert hertz_stiffness(RADIUS[1], 0.1132e6, 0.5) == pytest.approx(40e3, rel=1e-3)
    assert hertz_stiffness(RADIUS[1], 3.58e6, 0.5) == pytest.approx(READINGS[TISSUE][0], rel=1e-3)


@pytest.mark.parametrize(
    ("reading", "one_foot", "both_feet"),
    [("kN/m", 0.200, 0.283), ("kN/m^1.5", 0.629, 1.015), ("N/mm^1.5", 0.137, 0.233)],
)
def test_damping_ratio(reading, one_foot, both_feet):
    """Of the subject on its feet, with c = 300 N s/m on each sphere that touches."""
    _, _, height = stance()
    for mass, expected in ((MASS, one_foot), (MASS / 2, both_feet)):
        sink, touching = at_rest(reading, height, mass * 9.81)
        slope = forces(reading, height, sink)[1].sum()
        assert DAMPING * len(touching) / (2 * np.sqrt(slope * mass)) == pytest.approx(expected, abs=1e-3)
    # The loss of Hunt and Crossley's law that damps as much at rest, by a law whose force begins at zero.
    _, touching = at_rest(reading, height, WEIGHT)
    loss = 2 / 3 * DAMPING * len(touching) / WEIGHT
    assert loss == pytest.approx(2.62 if len(touching) == 9 else 1.46, abs=5e-3)


def test_the_unit_of_the_damping_is_that_of_a_constant():
    """As chi in SI units, 300 does nothing with either stiffness; restitution is 1 - loss v."""
    _, _, height = stance()
    for reading in (COMPUTED_WITH, TISSUE):
        K, _ = READINGS[reading]
        sink, touching = at_rest(reading, height, WEIGHT)
        depth = np.clip(sink - height, 0.0, None)
        assert (300.0 * depth**1.5).sum() / (DAMPING * len(touching)) < 2e-3
        assert 2 / 3 * 300.0 / K < 0.006  # [s/m]
    # In millimetres, chi = 300 N s/(m mm^1.5), it is a loss of 5 s/m beside K = 40 N/mm^1.5, above any restitution at 0.2 m/s.
    assert 2 / 3 * 300.0 / 40.0 == 5.0


def test_viscous_friction_is_small():
    """All nine spheres at 1 m/s against the weight, and against Coulomb's friction with the coefficients of the text."""
    drag = 9 * VISCOUS * 1.0
    assert drag / WEIGHT == pytest.approx(0.039, abs=5e-4)
    assert [mu * WEIGHT / drag for mu in (0.5, 1.0)] == pytest.approx([12.7, 25.4], abs=0.05)
    assert MASS / (9 * VISCOUS) > 2.5  # [s] in which it slows a sliding subject to a third


def test_torsional_spring():
    """Per radian, the toes hold their weight and a push-off has some newton metres; per degree or as a straight spring, not."""
    toes = foot.BODIES["toes"]
    arm = -np.array(foot.METATARSOPHALANGEAL["toes"])
    about_joint = toes["inertia"][1] + toes["mass"] * (arm @ arm)
    weight = toes["mass"] * 9.81 * arm[0]
    length = MODEL_FOOT_LENGTH - MODEL_MAIN_FOOT_LENGTH
    extension = np.deg2rad(30.0)
    assert np.rad2deg(weight / SPRING) < 0.3
    assert SPRING * extension == pytest.approx(6.3, abs=0.05)
    straight = SPRING * length**2  # [N m/rad] of a spring of 12 N/m at the tip of the toes, the longest arm there is
    assert np.rad2deg(weight / straight) > 40.0 and straight * extension < 0.05
    per_degree = SPRING * 30.0
    assert (
        per_degree == 360.0 and per_degree > 6.0 * WEIGHT * length
    )  # more than the whole weight at the tip of the toes
    assert DAMPER / (2 * np.sqrt(SPRING * about_joint)) == pytest.approx(4.0, abs=0.05)


@pytest.mark.parametrize("reading", [COMPUTED_WITH, TISSUE])
def test_the_runtime_stands_on_the_computed_sink(reading):
    """70 kg guided up and down on the sole come to rest where these numbers say, on the spheres that they say."""
    _, x, height = stance()
    K, exponent = READINGS[reading]
    b = Builder("stance")
    b.body("subject", mass=MASS, inertia=(1, 1, 1), r=(0, 0, 1.0), free=True)
    b.joint("guide", "translational", "ground", "subject", s_i=(0, 0, 0), a_i=(0, 0, 1), s_j=(0, 0, 0), a_j=(0, 0, 1))
    for k in range(9):
        b.contact(
            f"sphere_{k + 1}", "subject", centre=(x[k], 0, height[k] + RADIUS[k] - 1.0), radius=RADIUS[k], law="kelvin_voigt",
            stiffness=K, exponent=exponent, damping=DAMPING,
        )  # fmt: skip
    run = simulate(b.build(), 3.0, t_eval=[3.0], rtol=1e-9, atol=1e-10)
    sink, touching = at_rest(reading, height, WEIGHT)
    assert run.success and abs(run.v["subject"][-1, 2]) < 1e-6
    assert 1.0 - run.r["subject"][-1, 2] == pytest.approx(sink, abs=1e-7)
    forced = [name for name, motion in run.contacts.items() if motion.normal_force[-1] > 0.0]
    assert forced == [f"sphere_{k}" for k in touching]
    assert run.ground_reaction().force[-1, 2] == pytest.approx(WEIGHT, abs=1e-2)
    pressed = forces(reading, height, sink)[0]
    assert run.ground_reaction().centre_of_pressure[-1, 0] == pytest.approx(pressed @ x / WEIGHT, abs=1e-5)
