"""The numbers of seed 004: which can be right, in which unit, and what they make of a subject who stands on the nine spheres.

Independent numbers: Winter, Biomechanics and Motor Control of Human Movement, 1990, which the paper names as its source:
parts of the body's mass and height, radii of gyration.  Heel pads in vivo: 20 +- 2 mm thick without load, 0.62 +- 0.09 of that
under the body's weight (42 patients, PubMed 16513397); metatarsal pads: 15.2 mm, less 45.7 per cent at most in walking
(Cavanagh, J Biomech 32, 1999, 623).  The foot of seed 001: ``models.foot``.
"""

from itertools import pairwise

import numpy as np
import pytest
from registry_contact import (
    COMPUTED_WITH,
    DAMPER,
    DAMPING,
    DATA,
    FORWARD,
    READINGS,
    SEED_004,
    SPRING,
    SUBJECT,
    TABLE_1,
    TABLE_2,
    TISSUE,
    VISCOUS,
    spheres,
)
from scipy.optimize import brentq
from test_registry import seed_text

from generated import normal_hertz
from models import foot
from runtime import Builder, hertz_stiffness, simulate

MASS, HEIGHT = SUBJECT
WEIGHT = MASS * 9.81
LEG_LENGTH, FOOT_LENGTH, FOOT_BREADTH = (part * HEIGHT for part in (0.285 - 0.039, 0.152, 0.055))  # Winter, figure 4.1
LEG_MASS, FOOT_MASS = 0.0465 * MASS, 0.0145 * MASS  # Winter, table 4.1
LEG_GYRATION = 0.302  # of its length, about its centre of mass
DENSE = 1200.0  # [kg/m^3] no limb is denser: Winter has 1090 for the leg and 1100 for the foot
PAD, PAD_SPREAD, PAD_LEFT, PAD_LEFT_SPREAD = 0.020, 0.002, 0.62, 0.09
BALL_PAD = 0.457 * 0.0152
SEED_FOOT_LENGTH, SEED_MAIN_FOOT_LENGTH = 0.27, 0.1903  # [m] seed 001

TABLE = np.array(TABLE_2) / 1e3
XI, ZETA, RADIUS = TABLE[:, 0], TABLE[:, 2], TABLE[:, 3]
MAIN, TOES = slice(0, 6), slice(6, 9)


def number(sphere):
    """Place in the arrays of a sphere as the paper counts."""
    return sphere - 1


# The tables stand in the paper


def test_tables_are_those_of_the_paper():
    lines = [line.split("\t") for line in seed_text(SEED_004).splitlines()]
    for name, (mass, inertia) in TABLE_1.items():
        (cells,) = [line for line in lines if len(line) == 6 and line[1] == name]
        assert [float(c) for c in cells[2:]] == [mass, *inertia]
    for k, row in enumerate(TABLE_2, start=1):
        (cells,) = [line for line in lines if len(line) == 5 and line[0] == str(k)]
        assert [float(c) for c in cells[1:]] == list(row)
    text = " ".join(seed_text(SEED_004).split())
    assert "values are, respectively, 40 kN/m, 300 Ns/m, 1.5 and 3.0 Ns/m" in text
    assert "torsional spring stiffness is equal to 12 N/m, while the damping coefficient is equal to 0.5 Ns/m" in text
    assert "male of 1.70 m and 70 kg" in text and "based on the data published by Winter (1990)" in text
    assert "numbe" in text and "from 1 to 9 starting from the most left sphere" in text
    assert "the spheres 1 to 3 contact with ground" in text and "spheres 1 to 8 contact the ground" in text
    for datum in DATA:
        for row in datum.text.split(" | "):
            assert row in text.replace("\t", " "), datum.name


def test_every_datum_has_its_proof():
    for datum in DATA:
        assert datum.proofs and all(callable(globals().get(name)) for name in datum.proofs)
        assert datum.note and datum.reading
        assert not (datum.inferred and datum.verdict == "holds")
    assert {d.name for d in DATA if d.verdict == "misprint"} == {
        "moments of inertia", "spheres 1 and 2", "stiffness", "torsional spring", "torsional damper",
    }  # fmt: skip


# Table 1


def test_masses_are_not_those_of_winter():
    """They are 6.8, 1.9 and 0.5 per cent of 70 kg; Winter's are less, and no other body weight makes leg and foot right."""
    leg, main_foot, toes = (mass for mass, _ in TABLE_1.values())
    assert np.array([leg, main_foot, toes]) / MASS == pytest.approx([0.068, 0.019, 0.005], abs=1e-12)
    assert leg / LEG_MASS == pytest.approx(1.462, abs=1e-3)
    assert (main_foot + toes) / FOOT_MASS == pytest.approx(1.655, abs=1e-3)
    subject = [leg / 0.0465, (main_foot + toes) / 0.0145]  # [kg]
    assert subject == pytest.approx([102.4, 115.9], abs=0.1)
    # The foot of seed 001, of 71 kg, is between the two.
    ours = foot.BODIES["main_foot"]["mass"] + foot.BODIES["toes"]["mass"]
    assert FOOT_MASS * 71 / 70 < ours < main_foot + toes


def ball(mass):
    """The least moment of inertia that three equal ones can be [kg m^2]: that of a ball as dense as flesh and bone may be."""
    radius = (3 * mass / (4 * np.pi * DENSE)) ** (1 / 3)
    return 2 / 5 * mass * radius**2


def reach(name):
    """The farthest that a point of the body can be from its centre of mass [m]; of the feet, by Table 2 itself."""
    if name == "Shank":
        return LEG_LENGTH  # more than can be: the centre of mass would be at one end
    part = MAIN if name == "Main foot part" else TOES
    along = np.abs(XI[part]) + RADIUS[part]
    below = RADIUS[part] - ZETA[part]
    return float(np.sqrt(along.max() ** 2 + below.max() ** 2 + (FOOT_BREADTH / 2) ** 2))


def possible(name, power):
    """Whether the printed moments times 10^power can be those of a limb: 3 I = 2 sum m r^2."""
    mass, (inertia, *_) = TABLE_1[name]
    inertia *= 10.0**power
    furthest = np.sqrt(1.5 * inertia / mass)  # root mean square distance of its mass
    return ball(mass) <= inertia and furthest <= reach(name)


def test_no_one_power_of_ten_serves_all_inertias():
    powers = {name: {p for p in range(-6, 4) if possible(name, p)} for name in TABLE_1}
    assert powers == {"Shank": {-2}, "Main foot part": {-3}, "Toes": {-3}}
    assert not set.intersection(*powers.values())


def test_inertias_by_radii_of_gyration():
    """With 1e-2, 1e-3, 1e-3 the radii are Winter's for the leg, and within a half of those of seed 001 for the feet."""
    gyration = {name: np.sqrt(inertia[0] / mass) for name, (mass, inertia) in TABLE_1.items()}
    assert gyration["Shank"] == pytest.approx(1.315, abs=1e-3) and gyration["Shank"] > HEIGHT / 2  # as printed
    assert gyration["Shank"] / 10 / LEG_LENGTH == pytest.approx(0.314, abs=1e-3)
    assert gyration["Shank"] / 10 / LEG_LENGTH == pytest.approx(LEG_GYRATION, rel=0.05)
    for name, body, shown in (("Main foot part", "main_foot", 0.0411), ("Toes", "toes", 0.0367)):
        read = gyration[name] / np.sqrt(1000)
        ours = np.sqrt(np.mean(foot.BODIES[body]["inertia"]) / foot.BODIES[body]["mass"])
        assert read == pytest.approx(shown, abs=1e-4) and 2 / 3 < read / ours < 3 / 2


def test_a_shank_is_no_ball():
    """About its own axis a cylinder of the leg's mass, length and density has a tenth of what is printed."""
    mass, inertia = TABLE_1["Shank"]
    assert inertia[0] == inertia[1] == inertia[2]
    own = mass / 2 * mass / (1090.0 * np.pi * LEG_LENGTH)
    assert own / (inertia[2] / 100) == pytest.approx(0.096, abs=1e-3)
    xi, _, zeta = foot.BODIES["leg"]["inertia"]
    assert zeta / xi == pytest.approx(0.1, abs=2e-3)


# Table 2


def direction(pitch):
    """Heights of the spheres' lowest points in body axes [m], for a ground that is pitched against them: heel down above 0."""
    return np.sin(pitch) * XI + np.cos(pitch) * ZETA - RADIUS


def test_sphere_1_is_inside_sphere_2():
    """Whatever the ground's direction, it meets sphere 2 at least 8.17 mm before sphere 1; other spheres are in order."""
    assert XI[0] == XI[1]
    assert all(a < b for part in (XI[1:6], XI[TOES]) for a, b in pairwise(part))
    apart = np.hypot(XI[0] - XI[1], ZETA[0] - ZETA[1])
    clearance = RADIUS[1] - RADIUS[0] - apart
    assert 1e3 * clearance == pytest.approx(8.17, abs=1e-9)
    for pitch in np.linspace(-np.pi, np.pi, 73):
        first, second = direction(pitch)[:2]
        assert first - second > clearance - 1e-12
    assert 1e3 * np.diff(direction(0.0)[[1, 0]]) == pytest.approx([9.27], abs=1e-9)


def test_no_place_of_sphere_2_lets_sphere_1_strike_first():
    """At heel strike, up to 25 degrees, wherever it is between spheres 1 and 3; sphere 1 would have to be 22 mm to its left."""
    needed = (RADIUS[1] - RADIUS[0] + (ZETA[0] - ZETA[1]) * np.cos(np.deg2rad(25))) / np.sin(np.deg2rad(25))
    assert needed == pytest.approx(0.0218, abs=1e-4) and needed > XI[2] - XI[0]
    # One other digit in zeta would do.
    lowered = -0.02534 - RADIUS[0]
    assert 1e3 * (lowered - direction(0.0)[1]) == pytest.approx(-0.73, abs=1e-9)
    assert 1e3 * (lowered - direction(0.0)[2]) == pytest.approx(-2.16, abs=1e-9)


def test_length_of_the_main_foot():
    """From the heel's edge to the centre of the sphere under the ball: the main foot of seed 001.  So xi_2 is right."""
    edge = XI[1] - RADIUS[1]
    assert XI[number(6)] - edge == pytest.approx(SEED_MAIN_FOOT_LENGTH, abs=5e-5)
    assert 1e3 * edge == pytest.approx(-134.23)
    # The parts one after another are a foot's length too: Winter's is 258 mm.
    whole = (XI[5] + RADIUS[5] - edge) + (XI[8] + RADIUS[8] - XI[6] + RADIUS[6])
    assert whole == pytest.approx(FOOT_LENGTH, rel=0.06)


def test_frames_of_table_2_are_not_those_of_seed_001():
    """Both ends of the main foot say by how much the frame stands elsewhere; of the toes, the tip does."""
    centre, ball_joint = foot.BODIES["main_foot"]["r"][0], foot.METATARSOPHALANGEAL["main_foot"][0]
    behind = -(XI[1] - RADIUS[1]) - centre  # the heel's edge would be that far behind the heel, x = 0
    before = ball_joint - XI[number(6)]
    assert 1e3 * behind == pytest.approx(43.53, abs=5e-3) and abs(behind - before) < 5e-5
    assert FORWARD["main_foot"] == pytest.approx(1e3 * behind, abs=5e-3)
    tip = foot.BODIES["toes"]["r"][0] + XI[8] + RADIUS[8]
    assert FORWARD["toes"] == pytest.approx(1e3 * (SEED_FOOT_LENGTH - tip), abs=5e-3)
    # Then the centres from the ball to the tip follow each other as those of the main foot do.
    moved = spheres()
    x = np.r_[
        foot.BODIES["main_foot"]["r"][0] + moved["main_foot"][2:, 0], foot.BODIES["toes"]["r"][0] + moved["toes"][:, 0]
    ]
    assert 1e3 * np.diff(x)[1:] == pytest.approx([26.97, 29.12, 24.6, 22.7, 21.6], abs=0.05)


def test_the_drawing_behind_table_2():
    """Spheres 4 to 9 lie on a grid of 2.157 mm, those of the heel do not; so 10.78 and 10.79 mm are one number."""
    grid = 2.1573e-3
    places = np.c_[ZETA, RADIUS] / grid
    off = np.abs(places - places.round())
    assert off[3:].max() < 0.005 < off[:3].max()
    assert places[7:, 1].round().tolist() == [5.0, 5.0]


def stance(forward=True):
    """Standing: distances x along the ground from the heel's edge, and heights above it [m], before it gives way.

    Main foot on spheres 2 and 6, toes level, joined as in seed 001.
    """
    pitch = brentq(lambda a: direction(a)[1] - direction(a)[5], -0.2, 0.2)
    c, s = np.cos(pitch), np.sin(pitch)
    moved = spheres(forward)
    main, toes = moved["main_foot"], moved["toes"]

    def turned(xi, zeta):
        return c * xi - s * zeta, s * xi + c * zeta

    x, z = turned(main[:, 0], main[:, 2])
    joint = turned(*np.array(foot.METATARSOPHALANGEAL["main_foot"])[[0, 2]])
    arm = np.array(foot.METATARSOPHALANGEAL["toes"])[[0, 2]]
    x = np.r_[x, joint[0] - arm[0] + toes[:, 0]]
    low = np.r_[z, joint[1] - arm[1] + toes[:, 2]] - RADIUS
    return pitch, x - (x[1] - RADIUS[1]), low - low[1]


def test_the_sole_stands_on_one_plane():
    """Spheres 2, 3, 6, 7, 8 within 2.1 mm; an arch over 4 and 5; the tip and sphere 1 above."""
    pitch, _, height = stance()
    assert np.rad2deg(pitch) == pytest.approx(-2.21, abs=5e-3)  # heel up, against the main foot's axes
    assert 1e3 * height == pytest.approx([9.27, 0.0, 0.68, 10.79, 5.44, 0.0, 2.08, 2.08, 6.39], abs=6e-3)
    assert 1e3 * stance(forward=False)[2][6] == pytest.approx(0.41, abs=6e-3)  # in the frames as printed
    # With the axes level, as the neutral pose of seed 001 has them: the heel 0.8 mm above the ground, the ball 6.6, the toes 8.7.
    level = direction(0.0) + np.r_[[foot.BODIES["main_foot"]["r"][2]] * 6, [foot.BODIES["toes"]["r"][2]] * 3]
    assert 1e3 * level[[1, 5, 6, 7]] == pytest.approx([0.78, 6.58, 8.66, 8.66], abs=6e-3)


# The material


def forces(reading, height, sink):
    """Of all spheres [N], and their slopes [N/m]."""
    K, exponent = READINGS[reading]
    depth = np.clip(sink - height, 0.0, None)
    with np.errstate(divide="ignore"):
        slope = np.where(depth > 0.0, exponent * K * depth ** (exponent - 1.0), 0.0)
    return K * depth**exponent, slope


def at_rest(reading, height, load):
    """Sink [m], and numbers of the spheres that touch, where the spheres at these heights bear the load [N]."""
    sink = brentq(lambda z: forces(reading, height, z)[0].sum() - load, 0.0, 10.0, xtol=1e-15)
    return sink, np.flatnonzero(forces(reading, height, sink)[0] > 0.0) + 1


def heel_strike(reading, load, pitch_deg=20.0):
    low = direction(np.deg2rad(pitch_deg))[MAIN]
    return at_rest(reading, low - low.min(), load)


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
        assert 0.3 < pressed @ x / pressed.sum() / SEED_FOOT_LENGTH < 0.6  # where a subject's centre of pressure is
    # All nine at one height.
    K, exponent = READINGS[reading]
    assert at_rest(reading, np.zeros(9), WEIGHT)[0] == pytest.approx((WEIGHT / 9 / K) ** (1 / exponent), rel=1e-12)


def test_what_touches_tells_the_stiffness_of_the_paper():
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


def test_a_heel_pad_tells_the_stiffness_of_a_foot():
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
    length = SEED_FOOT_LENGTH - SEED_MAIN_FOOT_LENGTH
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
def test_the_runtime_stands_as_computed(reading):
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
