"""The subject from a standing trial: frames, axes and masses of a foot with known points; bad standing trials."""

import pickle
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from models.walking import leg_foot, scale_to_subject
from models.walking.anthropometry import DE_LEVA
from models.walking.capture import Capture, GroundForce, Subject
from models.walking.scaling import FLAT_FOOT
from tests.support.refusals import assert_refused
from tests.support.standing_subject import (
    EXACT,
    MAPPING,
    STANDING,
    SUBJECT,
    known,
    lab,
    same,
    standing,
    without,
)


def on_toes(degrees):
    """The standing subject with the foot turned about the metatarsal heads, heel up, and the leg lifted with the ankle."""
    foot = {"heel", "metatarsal_1", "metatarsal_2", "metatarsal_5", "toe_tip"}
    turn = Rotation.from_euler("y", degrees, degrees=True).as_matrix()
    ball = np.array([0.17, -0.01, 0.025])
    lift = (turn - np.eye(3)) @ (np.array([0.06, 0.0, 0.08]) - ball)
    return {name: ball + turn @ (p - ball) if name in foot else p + lift for name, p in STANDING.items()}


@pytest.mark.parametrize("degrees", [-20, -12, 12, 20, 30])
def test_a_foot_that_does_not_stand_flat_is_said_and_turned_as_asked(degrees):
    static = standing(on_toes(degrees))
    level = np.degrees(np.arctan2(0.005, 0.17))  # heel and heads of the known foot
    side = "higher" if degrees > 0 else "lower"
    words = f"its heel marker is [0-9]+ mm {side} than the metatarsal heads, ([-0-9.]+) deg"
    own = scale_to_subject(static, markers=MAPPING, foot_flat=False)
    said = re.search(words, own.sources["standing foot"])
    assert said is not None and float(said[1]) == pytest.approx(degrees + level, abs=0.15)
    s = known()
    for body in ("leg", "main_foot"):  # as of the flat foot, but for the heights of its markers
        np.testing.assert_allclose(own.bodies[body].A, s.bodies[body].A, atol=0.01)
    for label, place in s.bodies["main_foot"].markers.items():
        np.testing.assert_allclose(own.bodies["main_foot"].markers[label], place, atol=0.006)
    assert "foot_flat" in scale_to_subject(standing(on_toes(12)), markers=MAPPING).sources["standing foot"]
    assert (
        s.sources["standing foot"]
        == FLAT_FOOT
        == scale_to_subject(standing(on_toes(5)), markers=MAPPING).sources["standing foot"]
    )


def test_frames_and_axes_of_a_known_foot():
    s = known()
    np.testing.assert_allclose(s.bodies["main_foot"].A, np.eye(3), atol=EXACT)
    np.testing.assert_allclose(s.bodies["toes"].A, np.eye(3), atol=EXACT)
    np.testing.assert_allclose(lab(s, "leg", s.knee), (0.06, 0.0, 0.47), atol=EXACT)
    z = np.array([0.0, 0.0, 0.39]) / 0.39  # middle of the malleoli (0.06, 0, 0.08) to the knee
    np.testing.assert_allclose(s.bodies["leg"].A[:, 2], z, atol=EXACT)
    y = np.array([0.02, 0.08, 0.0])
    np.testing.assert_allclose(s.bodies["leg"].A[:, 1], y / np.linalg.norm(y), atol=EXACT)
    assert np.linalg.det(s.bodies["leg"].A) == pytest.approx(1.0)

    # The lateral end 3 mm and the medial end 5 mm down: their middle 4 mm.
    crural = lab(s, "leg", s.talocrural.points["leg"])
    np.testing.assert_allclose(crural, (0.06, 0.0, 0.076), atol=EXACT)
    axis = np.array([0.02, 0.08, 0.01 - 0.002])
    np.testing.assert_allclose(s.bodies["leg"].A @ s.talocrural.axes["leg"], axis / np.linalg.norm(axis), atol=EXACT)
    link = 0.0417 * 0.26 / 0.27
    assert s.link_length == pytest.approx(link, abs=EXACT)
    calcaneal = lab(s, "main_foot", s.talocalcaneal.points["main_foot"])
    np.testing.assert_allclose(calcaneal, crural - (0.0, 0.0, link), atol=EXACT)
    x, y, z = s.talocalcaneal.axes["main_foot"]
    assert np.degrees(np.arctan2(y, x)) == pytest.approx(23.0)
    # Rodrigues da Silva et al. (2024a), Eq. (5): the inclination is the projected one times cos(deviation).
    assert z / np.hypot(x, y) == pytest.approx(np.tan(np.deg2rad(41.0)) * np.cos(np.deg2rad(23.0)))
    ball = (0.17, -0.01, 0.025)
    for body in ("main_foot", "toes"):
        np.testing.assert_allclose(lab(s, body, s.metatarsophalangeal.points[body]), ball, atol=EXACT)
        axis = np.array([0.04, 0.09, 0.0]) / np.hypot(0.04, 0.09)
        np.testing.assert_allclose(s.metatarsophalangeal.axes[body], axis, atol=EXACT)
    assert (s.leg_length, s.foot_length) == pytest.approx((0.39, 0.26), abs=EXACT)
    for body in s.bodies:
        for landmark in s.landmarks.of(body):
            place = lab(s, body, s.bodies[body].markers[s.landmarks.labels[landmark]])
            np.testing.assert_allclose(place, STANDING[landmark], atol=EXACT)


def test_place_and_direction_of_standing_have_no_effect():
    turn = Rotation.from_euler("z", 2.5).as_matrix()
    same(known(), scale_to_subject(standing(A=turn, r=(3, -2, 0.1)), markers=MAPPING), turn, (3, -2, 0.1))


def test_a_left_foot_is_a_mirrored_right_one():
    left = standing(side="left", A=np.diag([1.0, -1.0, 1.0]))
    same(known(), scale_to_subject(left.mirrored(), "left", markers={"toe_tip": "L__toe_tip"}))
    assert_refused(
        ("medial malleolus of the left leg lies 80 mm ", " Capture.mirrored"), scale_to_subject, left, "left"
    )
    swapped = STANDING | {"lateral_malleolus": STANDING["medial_malleolus"]}
    swapped["medial_malleolus"] = STANDING["lateral_malleolus"]
    assert_refused("labels exchanged", scale_to_subject, standing(swapped))


def test_where_the_long_axis_of_the_foot_and_its_length_come_from():
    one = scale_to_subject(standing())  # its toe tip is not known to the set
    assert one.foot_length == pytest.approx(0.17 * 0.27 / 0.1903) and "proportion" in one.sources["foot length"]
    no_second = scale_to_subject(standing(without("metatarsal_2")), markers=MAPPING)
    np.testing.assert_allclose(
        no_second.bodies["main_foot"].A[:, 0], np.array([0.26, 0.005, 0]) / np.hypot(0.26, 0.005)
    )
    neither = scale_to_subject(standing(without("metatarsal_2")))
    np.testing.assert_allclose(neither.bodies["main_foot"].A[:, 0], np.array([0.17, -0.01, 0]) / np.hypot(0.17, 0.01))


def test_the_knee_without_its_markers():
    no_medial = scale_to_subject(standing(without("medial_epicondyle")), markers=MAPPING)
    np.testing.assert_allclose(lab(no_medial, "leg", no_medial.knee), (0.07, -0.01, 0.475), atol=EXACT)
    no_knee = without("medial_epicondyle", "lateral_epicondyle")
    up = {
        "head of the fibula": (no_knee, np.array([-0.01, -0.02, 0.345])),
        "vertical": ({k: v for k, v in no_knee.items() if k != "fibula_head"}, np.array([0.0, 0.0, 1.0])),
    }
    for how, (positions, direction) in up.items():
        s = scale_to_subject(standing(positions), markers=MAPPING)
        length = 0.4323 / 1.735 * 1.75
        place = np.array([0.06, 0.0, 0.08]) + length * direction / np.linalg.norm(direction)
        np.testing.assert_allclose(lab(s, "leg", s.knee), place, atol=EXACT)
        assert how in s.sources["knee"]
    assert_refused(
        ("without markers on the epicondyles ", " give height= in metres"),
        scale_to_subject,
        standing(no_knee, subject=Subject(mass=70.0)),
    )
    scale_to_subject(standing(subject=Subject(mass=70.0)))  # and nowhere else


@pytest.mark.parametrize("sex", ["female", "male", None])
def test_masses_are_de_levas(sex):
    s = scale_to_subject(standing(subject=Subject(mass=80.0, sex=sex)), markers=MAPPING)
    rows = [DE_LEVA[one] for one in ([sex] if sex else ("female", "male"))]
    part, centre = np.mean([row["leg"][:2] for row in rows], axis=0)
    radii = np.mean([row["leg"][2] for row in rows], axis=0)
    leg = s.bodies["leg"]
    assert leg.mass == pytest.approx(80.0 * part)
    np.testing.assert_allclose(leg.r, (0.06, 0.0, 0.47 - 0.39 * centre), atol=EXACT)
    np.testing.assert_allclose(leg.inertia, leg.mass * np.diag((radii * 0.39) ** 2), rtol=1e-12)

    part, centre = np.mean([row["foot"][:2] for row in rows], axis=0)
    radii = np.mean([row["foot"][2] for row in rows], axis=0)
    toes, main = s.bodies["toes"], s.bodies["main_foot"]
    mass = toes.mass + main.mass
    r = (toes.mass * toes.r + main.mass * main.r) / mass
    assert mass == pytest.approx(80.0 * part) and toes.mass / main.mass == pytest.approx(0.2051 / 1.2)
    along = s.bodies["main_foot"].A[:, 0] * centre * 0.26
    assert r == pytest.approx((*along[:2], (0.025 + 0.076) / 2), abs=EXACT)  # half way from the heads to the axis
    inertia = np.zeros((3, 3))
    for body in (toes, main):
        d = body.r - r
        inertia += body.inertia + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    np.testing.assert_allclose(inertia, mass * np.diag((radii[[2, 1, 0]] * 0.26) ** 2), atol=1e-15)
    assert s.sex == sex and (sex or "mean of female and male") in s.sources["inertia"]


def test_the_table_is_that_of_de_leva():
    # Printed to per cent: shank 4.33 / 4.81, foot 1.37 / 1.29 of the mass.
    assert [DE_LEVA[s]["leg"][0] + DE_LEVA[s]["foot"][0] for s in ("male", "female")] == pytest.approx([0.057, 0.061])


@pytest.mark.parametrize("scale", [0.7, 1.0, 1.2])
@pytest.mark.parametrize("sex", ["female", "male"])
def test_a_system_can_be_built_from_it(sex, scale):
    positions = {name: np.array(p) * scale for name, p in STANDING.items()}
    s = scale_to_subject(standing(positions, A=Rotation.from_euler("z", 1.0).as_matrix()), sex=sex, markers=MAPPING)
    # Refuses what breaks the triangle inequality.
    assert leg_foot.skeleton(s, "subject").build().degrees_of_freedom == 9


def plate(x, y, weight):
    t = np.arange(4) / 1000.0
    force = np.tile((0.0, 0.0, weight), (4, 1))
    return GroundForce("p", t, force, np.tile((x, y, 0.0), (4, 1)), np.zeros(4))


def test_where_the_mass_comes_from():
    assert scale_to_subject(standing(), mass=80.0).mass == 80.0
    assert scale_to_subject(standing()).mass == 70.0
    unknown = Subject()
    both = dict(standing().markers) | {
        "L_" + k[2:]: p * (1, -1, 1) + (0, 0.2, 0) for k, p in standing().markers.items()
    }

    def on(*plates):
        return scale_to_subject(Capture("static", standing().t, both, forces=plates, subject=unknown))

    s = on(plate(0.1, 0.0, 300.0), plate(0.1, 0.2, 388.0))
    assert s.mass == pytest.approx(688.0 / 9.81) and "force plates" in s.sources["mass"]
    assert on(plate(0.1, 0.1, 688.0)).mass == pytest.approx(688.0 / 9.81)
    assert_refused("only one foot stands on force plates; give mass=", on, plate(0.1, 0.0, 344.0), plate(0.3, 0.2, 0.5))
    assert_refused("no force plate is loaded; give mass= in kilograms", on)


def moving(trial, label, by):
    p = np.array(trial.markers[label])
    p[:, 0] += np.linspace(0.0, by, len(p))
    return Capture(trial.name, trial.t, dict(trial.markers) | {label: p}, subject=trial.subject)


@pytest.mark.parametrize(
    ("trial", "options", "words"),
    [
        (lambda: standing(A=1e3 * np.eye(3)), {}, r"length of the leg = 390 m, .* 0.6 m; are the units .* metres"),
        (lambda: standing(A=Rotation.from_euler("x", 90, degrees=True).as_matrix()), {}, "leans 90 degrees"),
        (
            lambda: moving(standing(frames=50), "R_FM1", 0.5),
            {},
            r"R_FM1 on the foot moves by 450 mm, the limit is 20 mm",
        ),
        (standing, {"side": "R"}, "side = 'R'; use 'left' or 'right'"),
        (
            standing,
            {"side": "left"},
            r"no known marker set .* for the left leg among its labels R_FLE, .* give markers=",
        ),
        (standing, {"markers": {"knee": "R_FLE"}}, "no landmark 'knee'; there are lateral_epicondyle"),
        (standing, {"markers": {"heel": "R_HEEL"}}, "static has no marker 'R_HEEL' for heel; it has R_FLE"),
        (standing, {"mass": 67000.0}, "mass of the subject = 6.7e[+]04 kg, must be between 5 and 300 kg"),
        (standing, {"mass": np.nan}, "mass of the subject = nan kg"),
        (standing, {"height": 175.0}, "height = 175 m, must be between 0.5 and 2.5 m; give height= in metres"),
        (standing, {"sex": "woman"}, "sex = 'woman'; use 'female', 'male' or None"),
        (lambda: standing(STANDING | {"toe_tip": (0.17, 0, 0.03)}), {"markers": MAPPING}, "no main foot is left"),
        (lambda: standing(STANDING | {"toe_tip": (0.6, 0, 0.03)}), {"markers": MAPPING}, "length of the foot = 0.6 m"),
    ],
)
def test_bad_static_trials_are_refused(trial, options, words):
    assert_refused(re.compile(words), scale_to_subject, trial(), **options)


def test_a_subject_who_sways_a_little_counts_as_still():
    trial = standing(frames=200)
    sway = 0.05 * np.sin(np.linspace(0.0, 20.0, 200))[:, None] * (0.1, 0.0, 0.0)
    markers = {label: p + sway for label, p in trial.markers.items()}
    markers["R_FM1"][50] = 9.0  # a flicker
    markers["R_FM2"][60] = np.nan
    scale_to_subject(Capture("static", trial.t, markers, subject=SUBJECT))


def test_the_subject_is_immutable_and_can_be_pickled():
    s = known()
    copy = pickle.loads(pickle.dumps(s))
    same(s, copy)
    for one in (s, copy):
        with pytest.raises(ValueError, match="read-only"):
            one.bodies["leg"].A[0, 0] = 2.0
        with pytest.raises(TypeError):
            one.bodies["leg"] = None
        with pytest.raises(AttributeError):
            one.mass = 1.0
