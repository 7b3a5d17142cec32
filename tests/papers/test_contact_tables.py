"""Tables of Moreira et al. (2011): which numbers can be right, in which unit.  Masses, inertias and places of the spheres.

Independent numbers: Winter, Biomechanics and Motor Control of Human Movement, 1990, which the paper names as its source:
parts of the body's mass and height, radii of gyration.  Heel pads in vivo: 20 +- 2 mm thick without load, 0.62 +- 0.09 of that
under the body's weight (42 patients, PubMed 16513397); metatarsal pads: 15.2 mm, less 45.7 per cent at most in walking
(Cavanagh, J Biomech 32, 1999, 623).  The model, ``models.foot``: the foot of Rodrigues da Silva et al. (2024c).
"""

import ast
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from models import foot
from tests.papers.citations import MOREIRA_2011
from tests.papers.moreira_2011_data import DATA, FORWARD, TABLE_1, TABLE_2, spheres
from tests.papers.subject import (
    DENSE,
    FOOT_BREADTH,
    FOOT_LENGTH,
    FOOT_MASS,
    HEIGHT,
    LEG_GYRATION,
    LEG_LENGTH,
    LEG_MASS,
    MAIN,
    MASS,
    MODEL_FOOT_LENGTH,
    MODEL_MAIN_FOOT_LENGTH,
    RADIUS,
    TOES,
    XI,
    ZETA,
    direction,
    number,
    stance,
)
from tests.papers.transcripts import paper_text

# The tables stand in the paper


def test_the_tables_are_in_the_paper():
    lines = [line.split("\t") for line in paper_text(MOREIRA_2011).splitlines()]
    for name, (mass, inertia) in TABLE_1.items():
        (cells,) = [line for line in lines if len(line) == 6 and line[1] == name]
        assert [float(c) for c in cells[2:]] == [mass, *inertia]
    for k, row in enumerate(TABLE_2, start=1):
        (cells,) = [line for line in lines if len(line) == 5 and line[0] == str(k)]
        assert [float(c) for c in cells[1:]] == list(row)
    text = " ".join(paper_text(MOREIRA_2011).split())
    assert "values are, respectively, 40 kN/m, 300 Ns/m, 1.5 and 3.0 Ns/m" in text
    assert "torsional spring stiffness is equal to 12 N/m, while the damping coefficient is equal to 0.5 Ns/m" in text
    assert "male of 1.70 m and 70 kg" in text and "based on the data published by Winter (1990)" in text
    assert "numbe" in text and "from 1 to 9 starting from the most left sphere" in text
    assert "the spheres 1 to 3 contact with ground" in text and "spheres 1 to 8 contact the ground" in text
    for datum in DATA:
        for row in datum.text.split(" | "):
            assert row in text.replace("\t", " "), datum.name


def test_every_datum_has_its_proof():
    modules = [ast.parse(file.read_text(encoding="utf-8")) for file in Path(__file__).parent.glob("test_contact_*.py")]
    tests = {node.name for module in modules for node in module.body if isinstance(node, ast.FunctionDef)}
    for datum in DATA:
        assert datum.proofs and set(datum.proofs) <= tests
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
    # The foot of the model, of 71 kg, is between the two.
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
    """With 1e-2, 1e-3, 1e-3 the radii are Winter's for the leg, and within a half of those of the model for the feet."""
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
    """From the heel's edge to the centre of the sphere under the ball: the main foot of the model.  So xi_2 is right."""
    edge = XI[1] - RADIUS[1]
    assert XI[number(6)] - edge == pytest.approx(MODEL_MAIN_FOOT_LENGTH, abs=5e-5)
    assert 1e3 * edge == pytest.approx(-134.23)
    # The parts one after another are a foot's length too: Winter's is 258 mm.
    whole = (XI[5] + RADIUS[5] - edge) + (XI[8] + RADIUS[8] - XI[6] + RADIUS[6])
    assert whole == pytest.approx(FOOT_LENGTH, rel=0.06)


def test_frames_of_table_2_are_not_those_of_the_model():
    """Both ends of the main foot say by how much the frame stands elsewhere; of the toes, the tip does."""
    centre, ball_joint = foot.BODIES["main_foot"]["r"][0], foot.METATARSOPHALANGEAL["main_foot"][0]
    behind = -(XI[1] - RADIUS[1]) - centre  # the heel's edge would be that far behind the heel, x = 0
    before = ball_joint - XI[number(6)]
    assert 1e3 * behind == pytest.approx(43.53, abs=5e-3) and abs(behind - before) < 5e-5
    assert FORWARD["main_foot"] == pytest.approx(1e3 * behind, abs=5e-3)
    tip = foot.BODIES["toes"]["r"][0] + XI[8] + RADIUS[8]
    assert FORWARD["toes"] == pytest.approx(1e3 * (MODEL_FOOT_LENGTH - tip), abs=5e-3)
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


def test_the_sole_rests_on_one_plane():
    """Spheres 2, 3, 6, 7, 8 within 2.1 mm; an arch over 4 and 5; the tip and sphere 1 above."""
    pitch, _, height = stance()
    assert np.rad2deg(pitch) == pytest.approx(-2.21, abs=5e-3)  # heel up, against the main foot's axes
    assert 1e3 * height == pytest.approx([9.27, 0.0, 0.68, 10.79, 5.44, 0.0, 2.08, 2.08, 6.39], abs=6e-3)
    assert 1e3 * stance(forward=False)[2][6] == pytest.approx(0.41, abs=6e-3)  # in the frames as printed
    # With the axes level, as in the model's neutral pose: the heel 0.8 mm above the ground, the ball 6.6, the toes 8.7.
    level = direction(0.0) + np.r_[[foot.BODIES["main_foot"]["r"][2]] * 6, [foot.BODIES["toes"]["r"][2]] * 3]
    assert 1e3 * level[[1, 5, 6, 7]] == pytest.approx([0.78, 6.58, 8.66, 8.66], abs=6e-3)
