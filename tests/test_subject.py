"""The subject of a gait trial: landmarks, frames, axes, masses, motion of segments; and the normative curves."""

import csv
import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import runtime
from models import foot, normative
from models.marker_sets import LANDMARKS, MARKER_SETS, SIDES, recognise
from models.normative import CENTRE_OF_PRESSURE, MOTION, NORMS, STANCE, STRIDE, Series, band
from models.subject import (
    DE_LEVA,
    SAME_SUBJECT,
    SEED_FOOT_LENGTH,
    check_same_subject,
    leg_foot,
    rebuild,
    segment_pose,
    tracked,
)
from runtime import ModelError
from runtime.capture import Capture, GroundForce, Subject, read_capture

GAIT = Path(__file__).resolve().parent.parent.parent / "shared" / "gait"
EXACT = 1e-12
# A standing right foot: x anterior, y medial, z up, heel at the origin.
STANDING = {
    "lateral_epicondyle": (0.06, -0.05, 0.47),
    "medial_epicondyle": (0.06, 0.05, 0.47),
    "fibula_head": (0.04, -0.06, 0.42),
    "tibial_tuberosity": (0.12, 0.01, 0.40),
    "lateral_malleolus": (0.05, -0.04, 0.075),
    "medial_malleolus": (0.07, 0.04, 0.085),
    "heel": (0.0, 0.0, 0.03),
    "metatarsal_1": (0.19, 0.035, 0.03),
    "metatarsal_2": (0.2, 0.0, 0.045),
    "metatarsal_5": (0.15, -0.055, 0.02),
    "toe_tip": (0.26, 0.005, 0.03),
}
SUBJECT = Subject(mass=70.0, height=1.75, sex="female")
ASIS = np.eye(3)
ALL_SETS = pytest.mark.parametrize("marker_set", MARKER_SETS, ids=lambda s: s.name)


def labelled(positions, side="right", marker_set=MARKER_SETS[0], choice=0):
    """Labels of a set; landmarks that it does not have keep a name of their own."""
    label = {name: known[min(choice, len(known) - 1)] for name, known in marker_set.labels.items()}
    return {SIDES[side] + marker_set.separator + label.get(name, "_" + name): p for name, p in positions.items()}


MAPPING = {"toe_tip": "R__toe_tip"}  # the first set has no toes


def standing(positions=STANDING, *, side="right", subject=SUBJECT, A=ASIS, r=(0, 0, 0), frames=3, forces=(), **more):
    """A static trial; ``A`` and ``r`` move everything."""
    markers = labelled({name: np.asarray(p, float) @ A.T + r for name, p in positions.items()}, side, **more)
    markers = {label: np.tile(p, (frames, 1)) for label, p in markers.items()}
    return Capture("static", np.arange(frames) / 100.0, markers, subject=subject, forces=forces)


def without(*names):
    return {name: p for name, p in STANDING.items() if name not in names}


@cache
def known():
    return leg_foot(standing(), markers=MAPPING)


def lab(subject, body, local):
    return subject.bodies[body].r + subject.bodies[body].A @ local


def walking(subject, rng, *, n=7, toes=0.0, drop=()):
    """Rigid motion of each body of a subject: a trial, and the A (n, 3, 3), r (n, 3) that it was made with."""
    truth, markers = {}, {}
    for body in ("leg", "main_foot"):
        truth[body] = (Rotation.random(n, rng=rng).as_matrix(), rng.normal(size=(n, 3)))
    hinge, (A, r) = subject.metatarsophalangeal, truth["main_foot"]
    turned = A @ Rotation.from_rotvec(np.outer(np.full(n, toes), hinge.axes["main_foot"])).as_matrix()
    truth["toes"] = (turned, r + A @ hinge.points["main_foot"] - turned @ hinge.points["toes"])
    for body, (A, r) in truth.items():
        for label, p in subject.bodies[body].markers.items():
            if label not in drop:
                markers[label] = r + A @ p
    return Capture("walk", np.arange(n) / 100.0, markers), truth


# Geometry


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
    # Seed 000, Eq. (5): the real inclination is that of the projection times the cosine of the deviation.
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


def test_the_axes_are_those_of_the_published_foot_in_sense():
    s = known()
    assert (s.bodies["leg"].A @ s.talocrural.axes["leg"]) @ foot.talocrural_axis() > 0.95
    assert s.talocalcaneal.axes["main_foot"] @ foot.talocalcaneal_axis() > 0.95


def same(a, b, turn=ASIS, r=(0, 0, 0)):
    """b is a, moved."""
    for body, one in a.bodies.items():
        two = b.bodies[body]
        np.testing.assert_allclose(two.A, turn @ one.A, atol=1e-9)
        np.testing.assert_allclose(two.r, turn @ one.r + r, atol=1e-9)
        np.testing.assert_allclose(two.inertia, one.inertia, atol=1e-12)
        np.testing.assert_allclose(list(two.markers.values()), list(one.markers.values()), atol=1e-9)
        assert two.mass == pytest.approx(one.mass)
    for hinge in ("talocrural", "talocalcaneal", "metatarsophalangeal"):
        one, two = getattr(a, hinge), getattr(b, hinge)
        for body in one.points:
            np.testing.assert_allclose(two.points[body], one.points[body], atol=1e-9)
            np.testing.assert_allclose(two.axes[body], one.axes[body], atol=1e-9)
    assert (b.link_length, b.foot_length, b.leg_length) == pytest.approx((a.link_length, a.foot_length, a.leg_length))


def test_it_does_not_matter_where_the_subject_stands_and_faces():
    turn = Rotation.from_euler("z", 2.5).as_matrix()
    same(known(), leg_foot(standing(A=turn, r=(3, -2, 0.1)), markers=MAPPING), turn, (3, -2, 0.1))


def test_a_left_foot_is_a_mirrored_right_one():
    left = standing(side="left", A=np.diag([1.0, -1.0, 1.0]))
    same(known(), leg_foot(left.mirrored(), "left", markers={"toe_tip": "L__toe_tip"}))
    with pytest.raises(ModelError, match=r"medial malleolus of the left leg lies 80 mm .* Capture.mirrored"):
        leg_foot(left, "left")
    swapped = STANDING | {"lateral_malleolus": STANDING["medial_malleolus"]}
    swapped["medial_malleolus"] = STANDING["lateral_malleolus"]
    with pytest.raises(ModelError, match="labels exchanged"):
        leg_foot(standing(swapped))


def test_where_the_long_axis_of_the_foot_and_its_length_come_from():
    one = leg_foot(standing())  # its toe tip is not known to the set
    assert one.foot_length == pytest.approx(0.17 * 0.27 / 0.1903) and "proportion" in one.sources["foot length"]
    no_second = leg_foot(standing(without("metatarsal_2")), markers=MAPPING)
    np.testing.assert_allclose(
        no_second.bodies["main_foot"].A[:, 0], np.array([0.26, 0.005, 0]) / np.hypot(0.26, 0.005)
    )
    neither = leg_foot(standing(without("metatarsal_2")))
    np.testing.assert_allclose(neither.bodies["main_foot"].A[:, 0], np.array([0.17, -0.01, 0]) / np.hypot(0.17, 0.01))


def test_the_knee_without_its_markers():
    no_medial = leg_foot(standing(without("medial_epicondyle")), markers=MAPPING)
    np.testing.assert_allclose(lab(no_medial, "leg", no_medial.knee), (0.07, -0.01, 0.475), atol=EXACT)
    no_knee = without("medial_epicondyle", "lateral_epicondyle")
    up = {
        "head of the fibula": (no_knee, np.array([-0.01, -0.02, 0.345])),
        "vertical": ({k: v for k, v in no_knee.items() if k != "fibula_head"}, np.array([0.0, 0.0, 1.0])),
    }
    for how, (positions, direction) in up.items():
        s = leg_foot(standing(positions), markers=MAPPING)
        length = 0.4323 / 1.735 * 1.75
        place = np.array([0.06, 0.0, 0.08]) + length * direction / np.linalg.norm(direction)
        np.testing.assert_allclose(lab(s, "leg", s.knee), place, atol=EXACT)
        assert how in s.sources["knee"]
    with pytest.raises(ModelError, match=r"without markers on the epicondyles .* give height= in metres"):
        leg_foot(standing(no_knee, subject=Subject(mass=70.0)))
    leg_foot(standing(subject=Subject(mass=70.0)))  # and nowhere else


# Masses


@pytest.mark.parametrize("sex", ["female", "male", None])
def test_masses_are_de_levas(sex):
    s = leg_foot(standing(subject=Subject(mass=80.0, sex=sex)), markers=MAPPING)
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
    # Printed to per cent: shank 4.33 / 4.81, foot 1.37 / 1.29 of the mass; a flat or needle-like body would break these.
    for sex in DE_LEVA:
        for mass, centre, radii, height in DE_LEVA[sex].values():
            moments = np.sort(np.square(radii))
            assert (
                moments[2] <= moments[0] + moments[1]
                and 0.0 < mass < 0.06
                and 0.3 < centre < 0.5
                and 0.1 < height < 0.3
            )
    assert [DE_LEVA[s]["leg"][0] + DE_LEVA[s]["foot"][0] for s in ("male", "female")] == pytest.approx([0.057, 0.061])


@pytest.mark.parametrize("scale", [0.7, 1.0, 1.2])
@pytest.mark.parametrize("sex", ["female", "male"])
def test_a_system_can_be_built_from_it(sex, scale):
    positions = {name: np.array(p) * scale for name, p in STANDING.items()}
    s = leg_foot(standing(positions, A=Rotation.from_euler("z", 1.0).as_matrix()), sex=sex, markers=MAPPING)
    b = runtime.Builder("subject")
    for name, body in s.bodies.items():  # refuses what breaks the triangle inequality
        p = np.roll(Rotation.from_matrix(body.A).as_quat(), 1)
        b.body(name, mass=body.mass, inertia=body.inertia, r=body.r, p=p, free=name == "leg")
    h = s.metatarsophalangeal
    b.joint(
        "metatarsophalangeal", "revolute", "toes", "main_foot",
        s_i=h.points["toes"], a_i=h.axes["toes"], s_j=h.points["main_foot"], a_j=h.axes["main_foot"],
    )  # fmt: skip
    b.joint(
        "ankle", "modified_universal", "main_foot", "leg", l=s.link_length,
        s_i=s.talocalcaneal.points["main_foot"], a_i=s.talocalcaneal.axes["main_foot"],
        s_j=s.talocrural.points["leg"], a_j=s.talocrural.axes["leg"],
    )  # fmt: skip
    assert b.build().degrees_of_freedom == 9


def plate(x, y, weight):
    t = np.arange(4) / 1000.0
    force = np.tile((0.0, 0.0, weight), (4, 1))
    return GroundForce("p", t, force, np.tile((x, y, 0.0), (4, 1)), np.zeros(4))


def test_where_the_mass_comes_from():
    assert leg_foot(standing(), mass=80.0).mass == 80.0
    assert leg_foot(standing()).mass == 70.0
    unknown = Subject()
    both = dict(standing().markers) | {
        "L_" + k[2:]: p * (1, -1, 1) + (0, 0.2, 0) for k, p in standing().markers.items()
    }

    def on(*plates):
        return leg_foot(Capture("static", standing().t, both, forces=plates, subject=unknown))

    s = on(plate(0.1, 0.0, 300.0), plate(0.1, 0.2, 388.0))
    assert s.mass == pytest.approx(688.0 / 9.81) and "force plates" in s.sources["mass"]
    assert on(plate(0.1, 0.1, 688.0)).mass == pytest.approx(688.0 / 9.81)
    with pytest.raises(ModelError, match="only one foot stands on force plates; give mass="):
        on(plate(0.1, 0.0, 344.0), plate(0.3, 0.2, 0.5))
    with pytest.raises(ModelError, match="no force plate is loaded; give mass= in kilograms"):
        on()


# Landmarks


@ALL_SETS
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("choice", [0, -1])
def test_marker_sets(marker_set, side, choice):
    here = {name: p for name, p in STANDING.items() if name in marker_set.labels}
    found = recognise(labelled(here, side, marker_set, choice), side)
    assert found.marker_set == marker_set.name and set(found.labels) == set(here)
    assert found.labels == dict(zip(here, labelled(here, side, marker_set, choice), strict=True))


def test_one_leg_whatever_its_labels():
    here = without("toe_tip", "metatarsal_2", "fibula_head", "tibial_tuberosity")  # what all sets have
    legs = [leg_foot(standing(here, marker_set=s)) for s in MARKER_SETS]
    for other in legs[1:]:
        same(legs[0], other)
    named = {name: f"M{n}" for n, name in enumerate(here)}
    own = Capture("s", np.zeros(1), {named[k]: np.array([p]) for k, p in here.items()}, subject=SUBJECT)
    same(legs[0], leg_foot(own, markers=named))
    assert leg_foot(own, markers=named).landmarks.marker_set == "the user's"


def test_labels_are_told_without_case_separators_and_the_subjects_name():
    labels = ["Ann:r_knee_lat", "Ann:R KNEE MED", "Ann:R-Ankle-Lat", "ann:rheel"]
    assert set(recognise(labels, "right").labels.values()) == set(labels)
    twice = recognise([*labels, "Bob:R_Knee_Lat"], "right").labels
    assert twice["lateral_epicondyle"] == "Ann:r_knee_lat"  # the first of two


def test_a_given_marker_comes_before_the_set():
    labels = [*labelled(STANDING), "X"]
    found = recognise(labels, "right", markers={"heel": "X"})
    assert found.labels["heel"] == "X" and "R_FCC" not in found.labels.values()
    found = recognise(labels, "right", markers={"heel": "R_FM2"})
    assert found.labels["heel"] == "R_FM2" and "metatarsal_2" not in found


@pytest.mark.parametrize("landmark", ["lateral_malleolus", "medial_malleolus", "heel", "metatarsal_1", "metatarsal_5"])
def test_a_missing_marker_is_named(landmark):
    label = labelled({landmark: 0}).popitem()[0]
    words = rf"^static: no marker on the .* of the right side \({label} in the set Schreiber-Moissenet\), which .* needs; if"
    with pytest.raises(ModelError, match=words):
        leg_foot(standing(without(landmark)))
    unseen = STANDING | {landmark: (np.nan,) * 3}
    with pytest.raises(ModelError, match=words):
        leg_foot(standing(unseen))


def test_all_landmarks_have_a_body():
    assert {body for body, _ in LANDMARKS.values()} == {"thigh", "leg", "main_foot", "toes"}
    assert {name for s in MARKER_SETS for name in s.labels} <= set(LANDMARKS)


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
def test_bad_static_trials(trial, options, words):
    with pytest.raises(ModelError, match=words):
        leg_foot(trial(), **options)


def test_a_swaying_subject_stands_still():
    trial = standing(frames=200)
    sway = 0.05 * np.sin(np.linspace(0.0, 20.0, 200))[:, None] * (0.1, 0.0, 0.0)
    markers = {label: p + sway for label, p in trial.markers.items()}
    markers["R_FM1"][50] = 9.0  # a flicker
    markers["R_FM2"][60] = np.nan
    leg_foot(Capture("static", trial.t, markers, subject=SUBJECT))


# Motion


def test_segments_are_where_they_were_put():
    s = known()
    trial, truth = walking(s, np.random.default_rng(1), toes=-0.6)
    for body, pose in segment_pose(s, trial).items():
        np.testing.assert_allclose(pose.A, truth[body][0], atol=1e-10)
        np.testing.assert_allclose(pose.r, truth[body][1], atol=1e-10)
        assert pose.residual.max() < 1e-10


def test_static_markers_are_rebuilt_where_they_were():
    s = known()
    drop = ("R_FCC", "R_FLE", "R_FME", "R__toe_tip")
    whole, _ = walking(s, np.random.default_rng(2))
    trial, _ = walking(s, np.random.default_rng(2), drop=drop)
    rebuilt = rebuild(s, trial)
    bodies = {"R_FCC": "main_foot", "R_FLE": "leg", "R_FME": "leg", "R__toe_tip": "toes"}
    assert dict(rebuilt.static_only) == bodies and set(rebuilt.markers) == set(whole.markers)
    for label in whole.markers:
        np.testing.assert_allclose(rebuilt.markers[label], whole.markers[label], atol=1e-10)
    assert all(residual.shape == (7,) and residual.max() < 1e-10 for residual in rebuilt.residual.values())


def test_the_residual_is_the_distance_from_the_standing_places():
    s = known()
    trial, truth = walking(s, np.random.default_rng(3))
    markers = dict(trial.markers)
    A = truth["leg"][0]
    # Two markers, the fit's mean and turn left alone: apart along the line between them.
    a, b = "R_FAX", "R_TAM"
    along = s.bodies["leg"].markers[a] - s.bodies["leg"].markers[b]
    step = A @ (0.004 * along / np.linalg.norm(along))
    markers[a], markers[b] = markers[a] + step, markers[b] - step
    pose = segment_pose(s, Capture("walk", trial.t, markers))["leg"]
    count = len(tracked(s, trial, "leg"))
    assert "R_FLE" not in tracked(s, trial, "leg") and count == 4
    np.testing.assert_allclose(pose.residual, np.sqrt(2 * 0.004**2 / count), rtol=0.05)


def test_gaps():
    s = known()
    trial, truth = walking(s, np.random.default_rng(4))
    markers = {label: np.array(p) for label, p in trial.markers.items()}
    markers["R_FAX"][1] = np.nan  # three are left
    markers["R_FAX"][2, 0] = np.nan  # two are left
    markers["R_TTC"][2] = np.nan
    markers["R__toe_tip"][3] = np.nan
    poses = segment_pose(s, Capture("walk", trial.t, markers))
    there = np.arange(7) != 2
    np.testing.assert_allclose(poses["leg"].A[there], truth["leg"][0][there], atol=1e-10)
    assert (
        np.isnan(poses["leg"].A[2]).all() and np.isnan(poses["leg"].r[2]).all() and np.isnan(poses["leg"].residual[2])
    )
    assert np.isnan(poses["toes"].A[3]).all() and np.isfinite(poses["toes"].A[[0, 1, 2, 4, 5, 6]]).all()


def test_too_few_markers_to_tell_a_motion():
    s = known()
    for drop in (("R_FAX", "R_TTC"), ("R_FCC", "R_FM1", "R_FM2", "R_FM5")):
        trial, _ = walking(s, np.random.default_rng(5), drop=drop)
        with pytest.raises(
            ModelError, match=r"in common with the static trial static; it takes three that are not in a line"
        ):
            rebuild(s, trial)
    in_line = STANDING | {
        "tibial_tuberosity": (0.045, -0.05, 0.2475)
    }  # between the fibula's head and the lateral malleolus
    s = leg_foot(standing(in_line), markers=MAPPING)
    trial, _ = walking(s, np.random.default_rng(5), drop=("R_TAM",))
    with pytest.raises(ModelError, match="not in a line"):
        segment_pose(s, trial)


@pytest.mark.parametrize("size", [0.92, 1.08])
def test_a_static_trial_of_another_subject_is_refused(size):
    trial, _ = walking(known(), np.random.default_rng(6))
    check_same_subject(known(), trial)
    other = leg_foot(standing(A=size * np.eye(3)), markers=MAPPING)
    with pytest.raises(
        ModelError, match=r"^walk: the markers are not placed as .* static \(R_\w+ to R_\w+: \d+ mm, standing"
    ):
        rebuild(other, trial)


def test_a_forefoot_that_spreads_is_that_of_the_same_subject():
    trial, truth = walking(known(), np.random.default_rng(8))
    A, broader = truth["main_foot"][0], np.array([0.0, 0.009, 0.0])  # 18 mm between the heads, far less to the heel
    spread = {"R_FM1": trial.markers["R_FM1"] + A @ broader, "R_FM5": trial.markers["R_FM5"] - A @ broader}
    check_same_subject(known(), Capture("walk", trial.t, dict(trial.markers) | spread))


def test_trials_with_nothing_in_common():
    trial = Capture("walk", np.zeros(1), {"R.Heel": np.zeros((1, 3))})
    with pytest.raises(ModelError, match=r"^walk: it has none of the markers of the static trial static \(R_FAX"):
        rebuild(known(), trial)


def test_the_subject_is_immutable_and_travels():
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


# The measured trials


def measured(name):
    file = GAIT / name
    if not file.is_file():
        pytest.skip(f"the gait data are not here: no {name} in ../shared/gait beside the repository")
    return file


def rows_of(name):
    with measured(name).open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def columns(name, *names):
    rows = rows_of(name)
    return [np.array([float(row[column]) for row in rows]) for column in names]


def to_talus(p):
    return np.stack([p[..., 0], -p[..., 2], p[..., 1]], axis=-1)


@cache
def adult(side="right"):
    rows = rows_of("dev/schreiber_moissenet/csv/2014001_static_markers.csv")
    markers = {row["marker"]: to_talus(np.array([[float(row[k]) for k in "xyz"]])) for row in rows}
    static = Capture("ST", np.zeros(1), markers, subject=Subject(mass=67.0, height=1.655, sex="male"))
    return leg_foot(static if side == "right" else static.mirrored(), side)


@cache
def adult_walks(trial, side="right"):
    walk = read_capture(measured(f"dev/schreiber_moissenet/csv/2014001_{trial}_markers.csv"))
    return walk if side == "right" else walk.mirrored()


@cache
def shod(side="right"):
    static = read_capture(measured("dev/opensim_subject01/subject01_static.trc"))
    return leg_foot(static if side == "right" else static.mirrored(), side, mass=72.6, height=1.803)


@cache
def shod_walks(side="right"):
    walk = read_capture(measured("dev/opensim_subject01/subject01_walk1.trc"))
    return walk if side == "right" else walk.mirrored()


def ankle(subject, trial):
    """Middle of the talocrural axis (n, 3), half way between where leg and foot carry it; dorsiflexion axis (n, 3)."""
    poses, foot_ = segment_pose(subject, trial), subject.bodies["main_foot"]
    local = subject.talocrural.points["leg"]
    by_leg = poses["leg"].r + poses["leg"].A @ local
    by_foot = poses["main_foot"].r + poses["main_foot"].A @ foot_.local(lab(subject, "leg", local))
    return (by_leg + by_foot) / 2, -(poses["leg"].A @ subject.talocrural.axes["leg"])


def quasi_static(subject, trial, ground):
    """Moment [N m/kg] of the ground about the talocrural axis; what plantarflexors hold but for inertia."""
    point, axis = ankle(subject, trial)
    on = np.isfinite(ground.cop).all(axis=1)
    at = np.column_stack([np.interp(trial.t, ground.t[on], ground.cop[on, k]) for k in range(3)])
    force = np.column_stack([np.interp(trial.t, ground.t, ground.force[:, k]) for k in range(3)])
    moment = np.cross(at - point, force)
    moment[:, 2] += np.interp(trial.t, ground.t, ground.free_moment)
    return np.einsum("ni,ni->n", moment, axis) / subject.mass


def two_angles(subject, trial):
    """Angles (n,) [deg] about the dorsiflexion and inversion axes that turn the foot best, by Gauss-Newton."""
    poses, leg, main = segment_pose(subject, trial), subject.bodies["leg"], subject.bodies["main_foot"]
    at_rest = leg.A.T @ main.A
    relative = np.swapaxes(poses["leg"].A, 1, 2) @ poses["main_foot"].A @ at_rest.T
    first, second = -subject.talocrural.axes["leg"], at_rest @ subject.talocalcaneal.axes["main_foot"]
    x = np.zeros((len(trial.t), 2))
    for _ in range(20):
        one, two = (Rotation.from_rotvec(np.outer(a, n)) for a, n in zip(x.T, (first, second), strict=True))
        error = (Rotation.from_matrix(relative) * (one * two).inv()).as_rotvec()
        J = np.stack([np.broadcast_to(first, error.shape), one.apply(second)], axis=-1)
        x += np.linalg.solve(np.swapaxes(J, 1, 2) @ J, np.swapaxes(J, 1, 2) @ error[..., None])[..., 0]
    return np.degrees(x.T)


REFERENCE = "reference/leg3_2014001_C4_05.csv"


def test_moment_and_angles_of_the_worked_trial():
    t, tau, crural, subtalar = columns(
        REFERENCE, "time_s", "tau_talocrural_angle", "talocrural_angle", "subtalar_angle"
    )
    trial, subject = adult_walks("C4_05"), adult()
    moment = quasi_static(subject, trial, next(g for g in trial.forces if g.foot == "right"))
    here = (t >= 0.05) & (t <= 0.66)
    mine, theirs = np.interp(t[here], trial.t, moment), -tau[here] / 67.0
    assert np.sqrt(np.mean((mine - theirs) ** 2)) < 0.06
    assert mine.max() == pytest.approx(theirs.max(), rel=0.08)
    here = (t >= 0.05) & (t <= 1.01)
    for mine, theirs, limit in zip(two_angles(subject, trial), (crural, subtalar), (3.5, 5.0), strict=True):
        off = np.interp(t[here], trial.t, mine) - np.degrees(theirs[here])
        assert off.std() < limit


def test_axes_of_the_worked_trial():
    """The reference has the generic axes of OpenSim, scaled; both are within what Isman and Inman found among people."""
    s = adult()
    crural, subtalar = np.array([0.268, 0.956, 0.119]), np.array([0.868, 0.016, 0.497])  # standing, in Talus' axes
    off = [
        np.degrees(np.arccos(a @ b / np.linalg.norm(b)))
        for a, b in (
            (s.bodies["leg"].A @ s.talocrural.axes["leg"], crural),
            (s.bodies["main_foot"].A @ s.talocalcaneal.axes["main_foot"], subtalar),
        )
    ]
    assert max(off) < 12.0


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("trial", ["C3_01", "C3_02", "C3_03", "C3_05", "C4_05"])
def test_trials_of_the_adult(trial, side):
    subject, walk = adult(side), adult_walks(trial, side)
    assert not rebuild(subject, walk).static_only
    assert max(np.nanmax(pose.residual) for pose in segment_pose(subject, walk).values()) < 0.012
    for ground in walk.forces:
        if ground.foot == side:
            assert 1.1 < quasi_static(subject, walk, ground).max() < 1.7
    crural, subtalar = two_angles(subject, walk)
    assert -25 < crural.min() < -10 < 5 < crural.max() < 15 and -15 < subtalar.min() < subtalar.max() < 15


@pytest.mark.parametrize("side", SIDES)
def test_trial_of_the_shod_adult(side):
    subject, walk = shod(side), shod_walks(side)
    rebuilt = rebuild(subject, walk)
    letter = SIDES[side]
    assert set(rebuilt.static_only) == {
        f"{letter}.{name}" for name in ("Knee.Lat", "Knee.Med", "Ankle.Lat", "Ankle.Med")
    }
    assert np.nanmax(rebuilt.residual["leg"]) < 0.004
    # The toes bend at push-off, by tens of degrees, about their hinge.
    poses = segment_pose(subject, walk)
    forward = np.einsum("nij,nik->njk", poses["main_foot"].A, poses["toes"].A)
    bent = np.degrees(np.arctan2(forward[:, 2, 0], forward[:, 0, 0]))
    assert 15 < np.nanmax(bent) < 60
    assert np.nanmax(poses["toes"].residual) < 0.02


def test_the_real_trials_tell_subjects_apart():
    for size in (0.92, 1.08):
        s = adult()
        markers = {
            label: size * lab(s, body, p)[None] for body in s.bodies for label, p in s.bodies[body].markers.items()
        }
        other = leg_foot(Capture("other", np.zeros(1), markers, subject=SUBJECT))
        with pytest.raises(ModelError, match="not placed as in the static trial other"):
            rebuild(other, adult_walks("C4_05"))
    with pytest.raises(ModelError, match="none of the markers"):
        rebuild(adult(), shod_walks())
    assert SAME_SUBJECT == 0.008 and SEED_FOOT_LENGTH == 0.27


# Series and norms


def test_series_and_their_derivatives():
    s = Series(offset=2.0, slope=-1.5, cosine=(0.3, -0.2), sine=(0.1, 0.4, 0.05), period=0.8)
    x, w = np.linspace(-1.0, 1.0, 11), 2 * np.pi / 0.8
    value = 2 - 1.5 * x + 0.3 * np.cos(w * x) - 0.2 * np.cos(2 * w * x)
    value += 0.1 * np.sin(w * x) + 0.4 * np.sin(2 * w * x) + 0.05 * np.sin(3 * w * x)
    np.testing.assert_allclose(s(x), value, rtol=1e-14)
    h = 1e-5
    for order in range(4):
        slope = (s(x + h, order) - s(x - h, order)) / (2 * h)
        np.testing.assert_allclose(s(x, order + 1), slope, atol=1e-7 * w ** (order + 1) * 30)
    assert s(0.3).shape == () and s(np.zeros((2, 3))).shape == (2, 3)
    assert Series(offset=1.0, slope=2.0)([1.0, 2.0], 1).tolist() == [2.0, 2.0]
    with pytest.raises(ModelError, match="derivative = -1"):
        s(0.0, -1)


def test_a_support_is_exact():
    s = Series(sine=(1.0, 0.5), period=2.0, support=(0.0, 1.0))
    for order in range(3):
        assert not s([-0.5, 0.0, 1.0, 1.3], order).any() and s(0.4, order) != 0.0


@pytest.mark.parametrize("name", NORMS)
def test_bands(name):
    percent, mean, sd = band(name)
    assert percent.tolist() == list(range(101)) and mean.shape == sd.shape == (101,)
    assert sd.min() >= 0.0 and sd.max() > 0.0 and NORMS[name].source
    if NORMS[name].over == "cycle":
        assert mean[0] == pytest.approx(mean[-1], abs=1e-12)
    else:
        swing = percent >= 100 * STANCE
        assert not mean[swing].any() and not sd[swing].any() and mean[0] == 0.0 and mean[~swing].any()


def test_no_other_band():
    with pytest.raises(ModelError, match="no normative curve 'knee'; there are dorsiflexion"):
        band("knee")


SOURCES = {
    "dorsiflexion": ("ankle_DF_deg", np.pi / 180),
    "inversion": ("foot_inversion_deg", np.pi / 180),
    "plantarflexor_moment": ("ankle_PF_moment_Nm_kg", 1.0),
    "inversion_moment": ("subtalar_inv_moment_Nm_kg", 1.0),
    "ankle_power": ("ankle_power_W_kg", 1.0),
    "vertical_force": ("Fy_BW", 1.0),
    "anterior_force": ("Fx_BW", 1.0),
    "medial_force": ("Fz_right_BW", -1.0),
    "free_moment": ("free_moment_Nm_kg", 1.0),
}


@pytest.mark.parametrize("name", SOURCES)
def test_bands_are_those_of_the_data(name):
    column, factor = SOURCES[name]
    file = "reference/normative_schreiber_moissenet_C4.csv"
    mean, sd = columns(file, f"{column}_mean", f"{column}_sd")
    _, m, s = band(name)
    np.testing.assert_allclose(m, factor * mean, atol=0.25 * abs(factor) * sd.max())
    np.testing.assert_allclose(m, factor * mean, atol=0.05 * abs(factor) * np.ptp(mean))
    np.testing.assert_allclose(s, abs(factor) * sd, atol=0.31 * abs(factor) * sd.max())


@pytest.mark.parametrize(
    ("name", "column"), [("toe_extension", "hallux_DF"), ("hindfoot_inversion", "hindfoot_tibia_inversion")]
)
def test_bands_of_the_oxford_foot_model(name, column):
    file = "reference/normative_oxford_foot_model.csv"
    low, mean, high = columns(file, *(f"{column}_{part}" for part in ("lo", "mean", "hi")))
    _, m, s = band(name)
    np.testing.assert_allclose(np.degrees(m[::2]), mean, atol=0.05 * np.ptp(mean))
    np.testing.assert_allclose(np.degrees(s[::2]), (high - low) / 2, atol=0.15 * (high - low).max() / 2)


def test_the_walker_takes_a_stride_and_comes_back():
    for name, series in MOTION.items():
        step = series(1.0) - series(0.0)
        assert step == pytest.approx(STRIDE if name == "ankle_x" else 0.0, abs=1e-12)
    assert 0.1 < MOTION["ankle_z"](np.linspace(0, 1, 101)).max() < 0.2
    assert normative.CYCLE > 0.5 and 0.55 < normative.CYCLE_STANCE < 0.7


def test_the_walker_is_that_of_the_worked_trial():
    t, *tau = columns(REFERENCE, "time_s", "talocrural_angle", "subtalar_angle")
    cycle = (t >= 0.05) & (t <= 1.01)
    phase = (t[cycle] - 0.05) / 0.96
    for name, theirs in zip(("dorsiflexion", "inversion"), tau, strict=True):
        off = np.degrees(MOTION[name](phase) - theirs[cycle])
        assert off.std() < 1.5
    # In mid-stance the ankle is over the standing foot: hardly moving, near the height at which it stands.
    middle = np.linspace(0.15, 0.3, 16)
    assert np.abs(MOTION["ankle_z"](middle)).max() < 0.02
    assert np.abs(MOTION["ankle_x"](middle, 1) / normative.CYCLE).max() < 0.4


def test_the_centre_of_pressure_goes_from_the_heel_to_the_toes():
    x, y, z = (CENTRE_OF_PRESSURE[k](np.linspace(0.0, 1.0, 21)) for k in "xyz")
    assert 0.0 < x[0] < 0.15 and 0.85 < x[-1] < 1.05 and (np.diff(x) > -0.02).all()
    assert np.abs(y).max() < 0.2 and (z < 0.0).all() and (z > -0.2).all()
