"""Rules for drivers alone: an angle over the full circle, an orientation of any kind; on kernels alone."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.support.definitions import module_of
from tests.support.kernels import Setting, call
from tests.support.marks import over
from tests.support.motions import Motion, distance, rotation_matrix, turned, unit
from tests.support.vectors import about, cardan

EXACT = 1e-13
ANGLES = [-180, -179, -135, -90, -30, 0, 1, 45, 90, 120, 180]
SINGULAR = (-180, 0, 180)
SEEDS = range(3)
angles = over("degrees", ANGLES)
seeds = over("seed", SEEDS)


class Driver:
    """A kernel module with a setting and two bodies, whose outputs are attributes."""

    def __init__(self, name, seed):
        self.rng = np.random.default_rng([seed, *name.encode()])
        self.module = module_of(name)
        self.setting = Setting(self.module, self.rng)
        self.motion = Motion(self.rng)
        self.body_i, self.body_j = self.motion.states()

    def set(self, *signal):
        """Signals, each a value with any of its rates; what is not given is 0."""
        for k, values in enumerate(signal):
            values = np.atleast_1d(values)
            self.setting.signals[k] = 0.0
            self.setting.signals[k, : len(values)] = values / [1.0, 1.0, 2.0][: len(values)]

    def of(self, kernel, x=None):
        rows = len(self.module.ROWS)
        size = {"phi": rows, "jacobian": (rows, 12), "nu": rows, "gamma": rows}[kernel]
        x = self.setting.x(self.body_i, self.body_j) if x is None else x
        return call(getattr(self.module, kernel), self.body_i, self.body_j, x, size)

    Phi = property(lambda self: self.of("phi"))
    D = property(lambda self: self.of("jacobian"))
    nu = property(lambda self: self.of("nu"))
    gamma = property(lambda self: self.of("gamma"))

    def slopes(self):
        """Rates of Phi by each signal's value."""
        x, h = self.setting.x(self.body_i, self.body_j), 1e-30
        places = range(self.module.SIZE - 3 * len(self.setting.signals), self.module.SIZE, 3)
        return np.array([self.of("phi", x + 1j * h * np.eye(len(x))[k]).imag / h for k in places]).T


def wrapped(angle):
    """The same angle between -180 and 180 degrees."""
    return math.remainder(angle, 2 * np.pi)


def same_angle(a, b):
    """Both are the same, where -180 and 180 degrees are one."""
    return abs(wrapped(a - b)) < EXACT and abs(a) <= np.pi + EXACT


def hinge(name, seed, angle, *, tilt=0.0):
    """A driver of an angle about the axis h_i, at that angle; ``tilt`` [rad] raises its directions from the normal plane."""
    it = Driver(name, seed)
    h, lift = unit(it.rng.normal(size=3)), np.cos(tilt)
    across = unit(np.cross(h, it.rng.normal(size=3)))
    to = about(h, angle) @ across
    it.across, it.h, it.lift = across, h, lift
    A_i, A_j = (rotation_matrix(body[3:7]) for body in (it.body_i, it.body_j))
    local = it.setting.local
    local["a_i"] = A_i.T @ (lift * across + np.sin(tilt) * h)
    if "h_i" in local:
        local["h_i"] = A_i.T @ h
    if "b_j" in local:
        local["b_j"] = A_j.T @ (np.cos(2 * tilt) * to - np.sin(2 * tilt) * h)
    else:  # the link, which leans along the axis
        it.d = 1.7 * to + (0.6 if tilt else 0.0) * h
        it.end = it.body_i[:3] + A_i @ local["s_i"]
        it.body_j[:3] = it.end + it.d - A_j @ local["s_j"]
    return it


def about_the_axis(it):
    """Velocities of body j that turns about the axis (through the first end of the link) with 1 rad/s."""
    through = it.end if hasattr(it, "end") else it.body_j[:3]
    return np.r_[np.zeros(6), np.cross(it.h, it.body_j[:3] - through), it.h]


guided = over("name", ["guided_angle", "guided_link"])
tilts = over("tilt", [0.0, 0.5])


@guided
@tilts
@seeds
@angles
def test_phi_is_the_angle_less_the_signal(name, tilt, seed, degrees):
    angle = np.deg2rad(degrees)
    it = hinge(name, seed, angle, tilt=tilt)
    for theta in (0.0, 0.3, np.pi / 2, np.pi, -np.pi, -2.0, 3 * np.pi / 2, 7.0, -20.0, angle, angle + 1e-9):
        it.set(theta)
        (Phi,) = it.Phi
        assert same_angle(Phi, angle - theta)
        if abs(abs(wrapped(angle - theta)) - np.pi) > 1e-6:
            assert Phi == pytest.approx(wrapped(angle - theta), abs=EXACT)


@guided
@tilts
@seeds
@angles
def test_the_gradient_of_an_angle(name, tilt, seed, degrees):
    """It is 1 about the axis and for the signal, everywhere, and does not depend on the signal."""
    it = hinge(name, seed, np.deg2rad(degrees), tilt=tilt)
    it.set(0.0)
    D, gamma = it.D, it.gamma
    assert D @ about_the_axis(it) == pytest.approx([1.0], abs=EXACT)
    assert np.linalg.norm(D) > 0.5
    both = about_the_axis(it)
    both[:3], both[3:6] = np.cross(it.h, it.body_i[:3] - getattr(it, "end", it.body_i[:3])), it.h
    assert D @ both == pytest.approx([0.0], abs=EXACT)
    if (
        name == "guided_angle"
    ):  # also b_j's lean from the normal plane, at right angles to the axis: nothing moves it in a hinge
        assert distance(D[0], np.r_[np.zeros(3), -D[0, 9:], np.zeros(3), D[0, 9:]]) < EXACT
        assert np.linalg.norm(D[0, 9:] - it.h) == pytest.approx(np.tan(2 * tilt), abs=EXACT)
    for theta in (1.0, np.pi / 2, np.pi, -3.0, 11.0):
        it.set((theta, 0.7, -1.3))
        assert distance(it.D, D) < EXACT
        assert it.slopes() == pytest.approx(-1.0, abs=EXACT)
        assert it.nu == pytest.approx([0.7], abs=EXACT)
        assert distance(it.gamma, gamma - 1.3) < 1e-12


@pytest.mark.parametrize(("cosine", "angle"), [("cosine_of_angle", "guided_angle"), ("cosine_of_link", "guided_link")])
@seeds
@angles
def test_a_cosine_loses_its_row_where_an_angle_does_not(cosine, angle, seed, degrees):
    """About the axis, the gradient of the cosine is - sin(angle), that of the angle 1; at 0 and 180 degrees no other is left."""
    radians = np.deg2rad(degrees)
    lost, kept = (hinge(name, seed, radians) for name in (cosine, angle))
    for it in (lost, kept):
        it.set(radians)
        assert np.abs(it.Phi).max() < 1e-12
    assert lost.D @ about_the_axis(lost) == pytest.approx([-np.sin(radians)], abs=EXACT)
    assert kept.D @ about_the_axis(kept) == pytest.approx([1.0], abs=EXACT)
    if degrees in SINGULAR:
        assert np.linalg.norm(lost.D) < 1e-13
    else:
        assert np.linalg.norm(lost.D) > 0.5 * abs(np.sin(radians))
    assert np.linalg.norm(kept.D) > 0.5
    lost.set(-radians)  # it has lost the sign
    assert np.abs(lost.Phi).max() < 1e-12


def orientations(rng):
    """Euler parameters of which each in turn is 0, 1 or -1, and some of no kind."""
    yield from np.vstack([np.eye(4), -np.eye(4)])
    for k in range(4):
        p = rng.normal(size=4)
        p[k] = 0.0
        yield unit(p)
    for _ in range(4):
        yield unit(rng.normal(size=4))


@seeds
def test_an_orientation_has_full_rank_everywhere(seed):
    """Where the body is as it shall be, D is the length of p* times +-1 for omega, whatever the orientation."""
    it = Driver("guided_orientation", seed)
    for p in orientations(it.rng):
        it.body_i[3:7] = p
        for scale in (1.0, -1.0, 3.7, -0.02):
            it.set(*(scale * p))
            assert np.abs(it.Phi).max() < EXACT
            assert distance(it.D[:, 3:6], scale * np.eye(3)) < EXACT
            assert not it.D[:, :3].any() and not it.D[:, 6:].any()


@seeds
def test_an_orientation_is_singular_half_a_turn_away_only(seed):
    """Its determinant is cos(turn / 2)."""
    it = Driver("guided_orientation", seed)
    for degrees in (0.0, 60.0, 120.0, 179.0, 180.0):
        p, axis = unit(it.rng.normal(size=4)), unit(it.rng.normal(size=3))
        q = Rotation.from_rotvec(np.deg2rad(degrees) * axis) * Rotation.from_quat(np.roll(p, -1))
        it.body_i[3:7] = np.roll(q.as_quat(), 1)
        it.set(*p)
        assert abs(np.linalg.det(it.D[:, 3:6])) == pytest.approx(np.cos(np.deg2rad(degrees) / 2), abs=1e-12)
        assert np.linalg.norm(it.Phi) == pytest.approx(2 * np.sin(np.deg2rad(degrees) / 2), abs=1e-12)


@seeds
def test_euler_parameters_lose_their_rows(seed):
    """Three of them where the fourth is 0; a single one where it is 1 or -1; there guided_orientation does not."""
    it = Driver("euler_parameter", seed)

    def row(p, k):
        it.body_i[3:7], it.setting.parameters = p, np.eye(4)[k]
        it.set(p[k])
        assert np.abs(it.Phi).max() < 1e-15
        return it.D[0, 3:6]

    for left_out in range(4):
        p = it.rng.normal(size=4)
        for value in (0.0, 0.5):
            p[left_out] = value
            p = unit(p)
            three = np.array([row(p, k) for k in range(4) if k != left_out])
            assert np.linalg.det(three) == pytest.approx((-1) ** left_out * p[left_out] / 8, abs=1e-15)
    for k in range(4):
        for sign in (1.0, -1.0):
            assert np.abs(row(sign * np.eye(4)[k], k)).max() == 0.0
        p = unit(it.rng.normal(size=4))
        assert np.linalg.norm(row(p, k)) == pytest.approx(np.sqrt(1 - p[k] ** 2) / 2)


CARDAN = [
    (0.3, -0.8, 2.0),
    (0.0, 0.0, 0.0),
    (1.0, np.pi / 2, 0.4),
    (-2.5, -np.pi / 2, 1.1),
    (np.pi, 0.2, -np.pi),
    (5.0, 9.0, -7),
]


@over("angles_", CARDAN)
@seeds
def test_cardan_angles_are_turns_about_the_axes_of_the_body(angles_, seed):
    """By SciPy's word and by elementary rotations; full rank at 90 degrees too."""
    it = Driver("guided_cardan", seed)
    R = Rotation.from_euler("XYZ", angles_)
    product = cardan(angles_)
    assert distance(R.as_matrix(), product) < EXACT
    it.set(*angles_)
    for sign in (1.0, -1.0):
        it.body_i[3:7] = sign * np.roll(R.as_quat(), 1)
        assert np.abs(it.Phi).max() < 1e-14
        assert distance(it.D[:, 3:6], np.sign(it.D[0, 3]) * np.eye(3)) < EXACT
    it.body_i[3:7] = turned(it.body_i[3:7], [0.1, 0.0, 0.0])
    assert np.abs(it.Phi).max() > 0.09
