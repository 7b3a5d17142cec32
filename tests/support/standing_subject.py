"""A subject who stands: a foot with known points, its labels in every marker set, and rigid motions of its bodies."""

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from models.walking import scale_to_subject
from models.walking.capture import Capture, Subject
from models.walking.marker_sets import MARKER_SETS, SIDES

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
    return scale_to_subject(standing(), markers=MAPPING)


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
