"""Axes, height of the talus and tables of inertia that a user gives for a subject."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from models.walking import Anatomy, Filters, analyse, leg_foot, scale_to_subject, synthetic
from models.walking.anthropometry import DE_LEVA
from runtime import kinematics
from tests.support.refusals import assert_refused

AXES = dict(
    subtalar_inclination_deg=55.0, subtalar_deviation_deg=10.0, talocrural_inclination_deg=-3.0,
    talocrural_deviation_deg=15.0,
)  # fmt: skip


def scaled(anatomy=None, **more):
    return scale_to_subject(synthetic.static(), "right", markers=synthetic.MARKERS, anatomy=anatomy, **more)


def standing_axes(subject):
    """Both axes in the main foot while standing."""
    foot, leg = subject.bodies["main_foot"], subject.bodies["leg"]
    return foot.A.T @ leg.A @ subject.talocrural.axes["leg"], subject.talocalcaneal.axes["main_foot"]


def projected(vector, up, along):
    """Angle [deg] of a projected vector: component ``up`` over component ``along``."""
    return np.degrees(np.arctan2(vector[up], vector[along]))


def test_given_angles_are_projected_on_the_planes_of_the_standing_foot():
    crural, calcaneal = standing_axes(scaled(Anatomy(**AXES)))
    assert projected(calcaneal, 2, 0) == pytest.approx(55.0, abs=1e-10)
    assert projected(calcaneal, 1, 0) == pytest.approx(10.0, abs=1e-10)
    assert projected(crural, 2, 1) == pytest.approx(-3.0, abs=1e-10)
    assert projected(crural, 0, 1) == pytest.approx(15.0, abs=1e-10)
    assert np.linalg.norm(crural) == pytest.approx(1.0) and np.linalg.norm(calcaneal) == pytest.approx(1.0)


def test_an_angle_that_is_not_given_keeps_its_rule():
    rule, own = (
        standing_axes(scaled()),
        standing_axes(scaled(Anatomy(subtalar_deviation_deg=10.0, talocrural_inclination_deg=1.0))),
    )
    assert projected(own[0], 0, 1) == pytest.approx(projected(rule[0], 0, 1), abs=1e-10)
    assert projected(own[0], 2, 1) == pytest.approx(1.0, abs=1e-10)
    assert (projected(own[1], 2, 0), projected(own[1], 1, 0)) == pytest.approx((41.0, 10.0), abs=1e-10)
    sources = scaled(Anatomy(subtalar_deviation_deg=10.0)).sources
    assert sources["talocalcaneal axis"] == "deviation 10 deg, given, the other: Isman and Inman (1969)"
    assert sources["talocrural axis"] == scaled().sources["talocrural axis"]


def test_height_of_the_talus():
    short, rule = scaled(Anatomy(link_length=0.03)), scaled()
    point = {
        s.link_length: s.bodies["main_foot"].r + s.bodies["main_foot"].A @ s.talocalcaneal.points["main_foot"]
        for s in (short, rule)
    }
    assert point[0.03] - point[rule.link_length] == pytest.approx([0.0, 0.0, rule.link_length - 0.03], abs=1e-12)
    assert short.sources["link length"] == "given"
    assert leg_foot.skeleton(short, "a").build().joint("ankle").values["l"] == pytest.approx(0.03, abs=1e-12)


def test_table_of_winter():
    """Values of the table, typed again; the foot from the lateral malleolus to the second metatarsal head."""
    person = scaled(Anatomy(inertia="winter"))
    leg, toes, main = (person.bodies[name] for name in ("leg", "toes", "main_foot"))
    assert leg.mass == pytest.approx(0.0465 * 70.0, rel=1e-14)
    assert leg.inertia[0, 0] == pytest.approx(leg.mass * (0.302 * person.leg_length) ** 2, rel=1e-12)
    assert leg.inertia[2, 2] == pytest.approx(
        leg.mass * (0.098 * person.leg_length) ** 2, rel=1e-12
    )  # de Leva, mean of sexes
    assert toes.mass + main.mass == pytest.approx(0.0145 * 70.0, rel=1e-14)
    centre = (toes.mass * toes.r + main.mass * main.r) / (toes.mass + main.mass)
    x = main.A[:, 0]
    malleolus, head = np.array(synthetic.STANDING["R_FAL"]), np.array(synthetic.STANDING["R_FM2"])
    assert x @ centre == pytest.approx(x @ (malleolus + head) / 2, abs=1e-12)
    transverse = 0.0145 * 70.0 * (0.475 * np.linalg.norm(head - malleolus)) ** 2
    about_y = sum(
        b.inertia[1, 1] + b.mass * (((b.r - centre) @ main.A)[[0, 2]] ** 2).sum() for b in (toes, main)
    )  # fmt: skip
    assert about_y == pytest.approx(transverse, rel=1e-12)
    assert person.sources["inertia"].startswith("Winter (2009)")


def test_own_values_are_read_as_the_table_of_de_leva():
    own = scaled(Anatomy(inertia={name: row[:3] for name, row in DE_LEVA["male"].items()}))
    table = scaled(sex="male")
    for name in table.bodies:
        assert own.bodies[name].mass == table.bodies[name].mass
        assert np.array_equal(own.bodies[name].inertia, table.bodies[name].inertia)
        assert np.array_equal(own.bodies[name].r, table.bodies[name].r)
    assert own.sources["inertia"].startswith("own values")


def other_walk(person):
    """The synthetic walk of a subject with other axes: equal angles of the joints, other markers."""
    walk = synthetic.trial()
    motion = kinematics(leg_foot.build(person, synthetic.coordinates()), walk.t)
    markers = {
        label: motion.r[body] + np.einsum("nab,b->na", motion.rotations(body), local)
        for body, segment in person.bodies.items()
        for label, local in segment.markers.items()
        if label not in segment.calibration
    }
    return replace(walk, markers=markers)


@pytest.mark.slow
def test_analysis_with_the_axes_that_made_the_walk():
    anatomy = Anatomy(link_length=0.035, **AXES)
    person = scaled(anatomy)
    options = dict(markers=synthetic.MARKERS, filters=Filters.off())
    found = analyse(synthetic.static(), other_walk(person), anatomy=anatomy, **options)
    rule = analyse(synthetic.static(), other_walk(person), **options)
    for joint in ("talocrural", "talocalcaneal"):
        exact = synthetic.angle(joint, found.t)
        assert np.abs(found.angles[joint] - exact).max() < 1e-6
        assert np.abs(rule.angles[joint] - exact).max() > np.radians(1.0)
    again = analyse(synthetic.static(), other_walk(person), subject=person, **options)
    assert np.array_equal(again.moments["talocalcaneal"], found.moments["talocalcaneal"])


def test_given_defaults_are_the_rules():
    rule, own = scaled(), scaled(Anatomy(subtalar_inclination_deg=41.0, subtalar_deviation_deg=23.0))
    assert np.array_equal(rule.talocalcaneal.axes["main_foot"], own.talocalcaneal.axes["main_foot"])
    assert pickle.loads(pickle.dumps(Anatomy(**AXES))).subtalar_inclination_deg == 55.0


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(subtalar_inclination_deg=75.0), "subtalar_inclination_deg = 75 degrees is outside 20.5 to 68.5 degrees"),
        (dict(link_length=36.0), "link_length = 36 m must be between 0.015 and 0.08 m"),
        (dict(link_length=-1.0, check_units=False), "link_length = -1 m"),
        (dict(inertia="dempster"), "inertia = 'dempster'; use 'de_leva', 'winter'"),
        (dict(inertia={"leg": (0.04, 0.4, (0.3, 0.3, 0.1))}), "give leg and foot"),
        (dict(inertia=dict.fromkeys(("leg", "foot"), (0.04, 0.4, (0.3, 0.1, 0.1)))), "belong to no rigid body"),
        (dict(inertia=dict.fromkeys(("leg", "foot"), (4.0, 0.4, (0.3, 0.3, 0.1)))), "each between 0 and 1"),
    ],
)
def test_refused_anatomy(options, message):
    assert_refused(message, Anatomy, **options)


def test_anatomy_beside_a_subject_is_refused():
    call = dict(static=synthetic.static(), trial=synthetic.trial(), markers=synthetic.MARKERS, filters=Filters.off())
    assert_refused("anatomy= and subject= are both given", analyse, **call, subject=scaled(), anatomy=Anatomy())
    other = replace(scaled(), landmarks=replace(scaled().landmarks, side="left"))
    assert_refused("is a left foot, and the right one is analysed", analyse, **call, subject=other)
