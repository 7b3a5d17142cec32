"""More drivers than degrees of freedom: least squares, against reduced coordinates."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import least_squares

import runtime
from runtime import ModelError
from tests.support.refusals import assert_refused
from tests.support.trees import Tree, signal_values, signals_of, smooth, wandering
from tests.support.two_bodies import two_guided
from tests.support.vectors import largest, matrix


class Marked:
    """A tree with markers: points of its bodies whose places are measured."""

    def __init__(self, noise=0.0, seed=0):
        self.tree = Tree(["free", "modified_universal", "revolute"], [None, 0, 1], 17)
        rng = np.random.default_rng([seed, 3])
        self.markers = [(k, rng.uniform(-0.3, 0.3, 3)) for k in (0, 0, 0, 1, 1, 2, 2)]
        self.q = wandering(self.tree, 17, size=0.4)
        self.t = np.linspace(0.0, 1.0, 6)
        self.noise = noise * rng.standard_normal((7, 3))

    def places(self, q):
        bodies = self.tree.motion(q, np.zeros(9), np.zeros(9))
        return np.array([self.tree.point(bodies[k], s)[0] for k, s in self.markers])

    def measured(self, time):
        return self.places(signal_values(self.q, [time])[0, 0]) + self.noise

    def system(self, only=range(7)):
        b = self.tree.builder("marked")
        states = [self.tree.motion(*values) for values in signal_values(self.q, self.t).swapaxes(0, 1)]
        for n, (k, s) in enumerate(self.markers):
            if n in only:
                x, v, a = (
                    np.array(part) for part in zip(*(self.tree.point(bodies[k], s) for bodies in states), strict=True)
                )
                path = smooth(self.t, x + self.noise[n], v, a)
                b.driver(
                    f"marker_{n}", "guided_point", self.tree.names[k], s_i=s, **signals_of(("x_t", "y_t", "z_t"), path)
                )
        return b.build_overdetermined()


@cache
def marked(noise, seed=0):
    given = Marked(noise, seed)
    return given, given.system()


def test_an_exact_fit_is_the_motion():
    given, system = marked(0.0)
    assert system.overdetermined and system.degrees_of_freedom == 9 and not system.redundant
    m = runtime.kinematics(system, given.t)
    values = signal_values(given.q, given.t)
    states = [given.tree.motion(*values[:, n]) for n in range(len(given.t))]
    for k, name in enumerate(given.tree.names):
        assert largest(m.r[name] - np.array([s[k].r for s in states])) < 1e-9
        assert largest(matrix(m.p[name]) - np.array([s[k].A for s in states])) < 1e-9
        for part in ("v", "omega", "v_dot", "omega_dot"):
            assert largest(getattr(m, part)[name] - np.array([getattr(s[k], part) for s in states])) < 1e-8
    assert m.residual.max() < 1e-9
    for name, freedom in m.degrees_of_freedom.items():
        assert np.isnan(freedom.effort).all() and np.isfinite(freedom.rate).all(), name
    for name, n in (("joint_1.a_i", 6), ("joint_1.a_j", 7), ("joint_2.a_i", 8)):
        assert largest(m.degrees_of_freedom[name].rate - values[1][:, n]) < 1e-9


def nearest(given, time, weights, guess):
    """The least squares of the markers' distances in reduced coordinates, at a time."""
    there = given.measured(time)

    def gap(q):
        return ((given.places(q) - there) * np.sqrt(weights)[:, None]).ravel()

    return least_squares(gap, guess, xtol=1e-15, ftol=1e-15, gtol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, {"marker_1": 9.0, "marker_5": 0.0, "marker_6": 0.04}])
def test_a_noisy_fit_is_the_least_squares_in_reduced_coordinates(weights):
    given, system = marked(0.01)
    m = runtime.kinematics(system, given.t, weights=weights)
    each = np.array([(weights or {}).get(f"marker_{n}", 1.0) for n in range(7)])
    guess = given.tree.q0
    for n, time in enumerate(given.t):
        found = nearest(given, time, each, guess)
        guess = found.x
        bodies = given.tree.motion(guess, np.zeros(9), np.zeros(9))
        for k, name in enumerate(given.tree.names):
            assert largest(m.r[name][n] - bodies[k].r, matrix(m.p[name][n]) - bodies[k].A) < 1e-7
        rows = np.array([m.Phi[f"marker_{i}"][n] for i in range(7)])
        assert (each[:, None] * rows**2).sum() <= 2 * found.cost * (1 + 1e-9)
        assert m.residual[n] == pytest.approx(np.sqrt(np.mean(rows**2)), rel=1e-9)
        assert largest(m.Phi["joint_1"][n], m.Phi["joint_2"][n]) < 1e-11  # the joints are met exactly
    assert 1e-3 < m.residual.max() < 0.05


def test_weights_matter():
    given, system = marked(0.01)
    same = runtime.kinematics(system, [0.0], weights={f"marker_{n}": 3.0 for n in range(7)})
    plain = runtime.kinematics(system, [0.0])
    assert largest(same.states - plain.states) < 1e-10
    heavy = runtime.kinematics(system, [0.0], weights={"marker_4": 1e6})
    assert largest(heavy.Phi["marker_4"]) < 1e-6 < 1e-3 < largest(plain.Phi["marker_4"])


def test_velocities_of_a_noisy_fit_are_least_squares_too():
    given, system = marked(0.01)
    m = runtime.kinematics(system, given.t)
    zero = np.zeros(9)
    for n, time in enumerate(given.t[:3]):
        guess = nearest(given, time, np.ones(7), signal_values(given.q, [time])[0, 0]).x

        def velocities(u, q=guess):
            bodies = given.tree.motion(q, u, zero)
            return np.concatenate([given.tree.point(bodies[k], s)[1] for k, s in given.markers])

        D = np.array([velocities(one) for one in np.eye(9)]).T
        wanted = np.concatenate([[float(s(time, 1)) for s in joint.signals.values()] for joint in system.drivers])
        u = np.linalg.lstsq(D, wanted, rcond=None)[0]
        bodies = given.tree.motion(guess, u, zero)
        for k, name in enumerate(given.tree.names):
            assert largest(m.v[name][n] - bodies[k].v, m.omega[name][n] - bodies[k].omega) < 1e-6


@pytest.mark.parametrize(
    "only, names",
    [
        ((0, 1, 2, 3, 4), r"joint_2\.a_i"),
        ((0, 1, 2, 5, 6), None),  # both markers of the last body hold the ankle too
        ((0, 1, 3, 4, 5, 6), None),
        ((0, 1, 2, 3, 5), None),
        ((0, 1, 2), r"joint_1\.a_i, joint_1\.a_j, joint_2\.a_i"),
        ((0, 1), r"body_0\.turn_[xyz], joint_1\.a_i, joint_1\.a_j, joint_2\.a_i"),
        ((3, 4, 5, 6), r"joint_1|body_0"),
    ],
    ids=str,
)
def test_a_fit_that_leaves_something_open_names_it(only, names):
    given = Marked()
    system = given.system(only)
    if names is None:
        assert runtime.kinematics(system, [0.0, 0.2]).success
        return
    with pytest.raises(ModelError, match=f"system 'marked': undriven at t = 0 s: .*({names}).*; add a driver for it"):
        runtime.kinematics(system, [0.0, 0.2])


def test_a_fit_has_no_forces():
    given, system = marked(0.01)
    m = runtime.kinematics(system, given.t)
    message = "meets its drivers by least squares, which leaves their forces undetermined"
    for said, asked in (
        (message, lambda: m.lam),
        (message, lambda: m.driven),
        (message, lambda: m.joint_load("joint_1", on="body_1")),
        ("least squares", lambda: m.reaction("joint_1", on="body_1")),
        (message, lambda: runtime.inverse_dynamics(system, given.t)),
        ("meets its drivers by least squares and cannot be simulated", lambda: runtime.simulate(system, 1.0)),
    ):
        assert_refused(said, asked)


WEIGHTS_REFUSED = {
    "unknown": ({"knee": 1.0}, "weights: unknown driver 'knee'; the drivers are place, turn, angle"),
    "a joint": ({"ankle": 1.0}, "weights: unknown driver 'ankle'"),
    "NaN": ({"angle": np.nan}, "weights: angle = nan is not finite; give finite numbers"),
    "negative": ({"angle": -1.0}, "weights: angle = -1 is negative; give 0 or more"),
    "text": ({"angle": "1"}, "has 'angle' = '1'; give a mapping from names to numbers"),
    "nothing": ({"angle": None}, "has 'angle' = None; give a mapping from names to numbers"),
    "a list": ([1.0], "weights = [1.0]: give a mapping from names to numbers"),
    "zero": ({"angle": 0.0}, "undriven at t = 0 s: ankle.a_i; add a driver for it"),
}


@pytest.mark.parametrize("case", WEIGHTS_REFUSED)
def test_bad_weights(case):
    weights, message = WEIGHTS_REFUSED[case]
    assert_refused(message, runtime.kinematics, two_guided(overdetermined=True), [0.0], weights=weights)


def test_weights_without_a_fit():
    assert_refused(
        "weights belong to a least-squares fit; use Builder.build_overdetermined",
        runtime.kinematics,
        two_guided(),
        [0.0],
        weights={"angle": 1.0},
    )


def test_a_fit_is_written_to_files():
    """Its positions, velocities and accelerations are what a fit is made for."""
    m = runtime.kinematics(two_guided(overdetermined=True), [0.0, 0.1])
    assert largest(m.to_xarray()["r"].values - np.stack([m.r["leg"], m.r["foot"]], axis=1)) == 0.0


def test_a_small_weight_still_guides():
    system = two_guided(overdetermined=True)
    m = runtime.kinematics(system, [0.5], weights={"angle": 1e-16})
    assert largest(m.degrees_of_freedom["ankle.a_i"].rate - np.cos(0.5)) < 1e-3
