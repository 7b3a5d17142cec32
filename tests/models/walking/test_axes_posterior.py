"""The posterior of both axes: recovery, the prior of a foot at rest, and derivatives and approximations by other routes."""

from dataclasses import replace
from functools import cache

import mpmath
import numpy as np
import pytest

from models.walking import Anatomy, Filters, analyse, axes_posterior, population_prior, synthetic
from models.walking.axes_density import AxesDensity
from models.walking.axes_posterior import EXPECTED_RANGE, NEIGHBOURS, AxesPrior, SkinParts
from models.walking.gait_plots import axes_on_the_foot
from models.walking.two_hinges import (
    SHARED,
    UNKNOWNS,
    HingeProblem,
    directions,
    foot_motion,
    points,
    rule_of,
    with_axes,
)
from tests.models.walking.test_anatomy import scaled
from tests.models.walking.test_functional_axes import TRUE, circles
from tests.support.refusals import assert_refused


@cache
def found():
    return axes_posterior(scaled(), [circles(0.4, 0.3, 1e-3)])


def test_circles_recover_both_axes():
    true, one = rule_of(scaled(TRUE)), found()
    assert ((one.interval[:, 0] < true) & (true < one.interval[:, 1])).sum() >= SHARED - 1
    angles = [name.endswith(("inclination", "deviation")) for name in UNKNOWNS]
    assert np.degrees(np.abs(one.mean - true)[angles]).max() < 5.0
    assert one.ratio.max() < 1.0 and one.ratio[4] < 0.3 and one.bits > 10.0
    assert one.noise == pytest.approx(1e-3, rel=0.15) and max(one.skin.values()) < 2.5e-3


def test_draws_are_those_of_the_intervals():
    one = found()
    assert one.effective > 100.0
    assert one.draws.mean(axis=0) == pytest.approx(one.mean, abs=0.3 * one.sd.max())
    assert one.draws.std(axis=0) == pytest.approx(one.sd, rel=0.3)
    assert np.corrcoef(one.draws.T) == pytest.approx(one.correlation, abs=0.25)


def test_a_foot_at_rest_adds_little_to_the_prior():
    one = axes_posterior(scaled(), [circles(0.0, 0.0, 1e-3)])
    assert (np.abs(one.mean - one.prior.mean) < 0.7 * one.prior.sd).all() and not one.conflicts
    assert one.bits < 0.5 < found().bits - 8.0 and one.ratio.min() > 0.9


def test_axes_that_no_foot_has_are_a_conflict_with_the_prior():
    one = found()
    assert not one.conflicts
    prior = AxesPrior(one.mean + 0.3 * np.eye(SHARED)[5], one.prior.sd / 2.0, np.eye(SHARED))
    far = replace(one, prior=prior)
    assert far.conflicts == ("talocalcaneal_deviation",)
    assert "talocalcaneal deviation: more than 2.5 standard deviations of the prior away" in " ".join(far.sentences())


def test_a_sharp_prior_remains():
    mean = population_prior(scaled()).mean
    prior = AxesPrior(mean, np.full(SHARED, 1e-5), np.eye(SHARED))
    one = axes_posterior(scaled(), [circles(0.4, 0.3, 1e-3)], prior=prior)
    assert one.mean == pytest.approx(mean, abs=2e-5) and one.ratio == pytest.approx(1.0, abs=0.01)


def test_prior_is_that_of_the_published_samples():
    prior = population_prior(scaled())
    angles = np.degrees(np.column_stack([prior.mean, prior.sd])[[0, 1, 4, 5]])
    assert angles[:, 0] == pytest.approx([90 - 80, 90 - 84, 41, 23])
    assert angles[:, 1] == pytest.approx(np.array([88 - 68, 99 - 69, 68.5 - 20.5, 47 - 4]) / EXPECTED_RANGE)
    rng = np.random.default_rng(0)
    assert np.ptp(rng.normal(size=(20_000, 46)), axis=1).mean() == pytest.approx(EXPECTED_RANGE, abs=0.02)


def test_slopes_are_those_of_differences_in_many_digits():
    motion, rng = foot_motion(scaled(), circles(0.4, 0.3, 1e-3)).part(np.array([3])), np.random.default_rng(1)
    shared, angles = rule_of(scaled()) + 0.02 * rng.normal(size=SHARED), rng.normal(size=(1, 2)) * 0.3
    problem = HingeProblem.between(motion, shared - 1.0, shared + 1.0)
    J, x = problem.slopes(shared, angles), np.r_[shared, angles.ravel()]
    many = motion.slopes_of_angles(np.stack([shared] * 2), np.stack([angles] * 2))
    assert many[1] == pytest.approx(motion.slopes_of_angles(shared, angles), abs=1e-15)

    def turned(axis, angle, v):
        length = mpmath.sqrt(sum(a * a for a in axis))
        a = [c / length for c in axis]
        s, c, along = mpmath.sin(angle), mpmath.cos(angle), sum(p * q for p, q in zip(a, v, strict=True))
        crossed = [a[k - 2] * v[k - 1] - a[k - 1] * v[k - 2] for k in range(3)]
        return [c * v[k] + s * crossed[k] + (1 - c) * along * a[k] for k in range(3)]

    def residual(row, *unknowns):
        i_1, d_1, x, z, i_2, d_2, y, length, q_1, q_2 = unknowns
        away = []
        for local, place in zip(motion.foot.local, motion.places[0], strict=True):
            p_1, p_2 = [x, 0, z], [x, y, z - length]
            v = turned([1, mpmath.tan(d_2), mpmath.tan(i_2)], q_2, [a - b for a, b in zip(local, p_2, strict=True)])
            v = turned(
                [mpmath.tan(d_1), 1, mpmath.tan(i_1)], q_1, [a + b - c for a, b, c in zip(v, p_2, p_1, strict=True)]
            )
            away += [a + b - float(c) for a, b, c in zip(v, p_1, place, strict=True)]
        return sum(w * a for w, a in zip(motion.weights[0, row], away, strict=True))

    with mpmath.workdps(40):
        for row in range(6):
            for k in range(len(x)):

                def along(value, row=row, k=k):
                    return residual(row, *[*x[:k].tolist(), value, *x[k + 1 :].tolist()])

                assert J[row, k] == pytest.approx(float(mpmath.diff(along, x[k])), abs=1e-13)


def small_density(noise=1e-3):
    """Few frames of circles, noise alone."""
    motion = foot_motion(scaled(), circles(0.4, 0.3, noise), frames=24).part(np.arange(0, 24, 4))
    prior = population_prior(scaled())
    return AxesDensity.of(motion, noise**2 * np.eye(6 * len(motion.t)), prior.mean, prior.covariance)


def test_slopes_of_the_density_are_those_of_differences():
    density, rng = small_density(), np.random.default_rng(4)
    x = density.mean + 0.3 * rng.normal(size=len(density.mean)) / np.sqrt(np.diag(density.weight))
    angles = np.zeros((len(density.motion.t), 2))
    for _ in range(3):
        angles = density.angles(x, angles)
    _, gradient, _ = density._expanded(x, angles)
    assert np.abs(gradient).max() < 1e-2

    def cost(y):
        return density.cost(y, density.angles(y, angles))

    steps = 1e-4 / np.sqrt(np.diag(density.weight))
    by_differences = [(cost(x + h * e) - cost(x - h * e)) / (2 * h) for h, e in zip(steps, np.eye(len(x)), strict=True)]
    assert density.slopes(x, angles) * steps == pytest.approx(by_differences * steps, rel=0.02, abs=2e-5)


def test_angles_are_integrated_out():
    """One frame, in which the integral over both angles is a sum over a grid: the density differs by a constant."""
    motion = foot_motion(scaled(), circles(0.4, 0.3, 1e-3), frames=24).part(np.array([5]))
    prior = population_prior(scaled())
    density = AxesDensity.of(motion, 1e-4 * np.eye(6), prior.mean, prior.covariance)
    rng, away, volumes = np.random.default_rng(5), [], []
    for _ in range(6):
        x = density.mean + rng.normal(size=len(density.mean)) / np.sqrt(np.diag(density.weight))
        best = density.angles(x, np.zeros((1, 2)))
        _, _, H = density._expanded(x, best)
        root = np.linalg.cholesky(np.linalg.inv(H))
        grid = np.array([(a, b) for a in np.linspace(-6, 6, 61) for b in np.linspace(-6, 6, 61)]) @ root.T
        half, _, _ = density._expanded(np.broadcast_to(x, (len(grid), len(x))), best + grid[:, None])
        off = x - density.mean
        normal = x[SHARED:].sum() + off @ density.weight @ off / 2.0
        summed = -np.log(np.exp(half.min() - half).sum() * np.linalg.det(root)) + half.min() + normal
        away.append(density.cost(x, best) - summed)
        volumes.append(np.linalg.slogdet(H)[1] / 2.0)
    assert np.ptp(away) < 0.1 < 0.5 < np.ptp(volumes)


def test_laplace_agrees_with_the_sample():
    density = small_density()
    best = density.best()
    draws, effective = density.sample(best, 400)
    sd = np.sqrt(np.diag(best.covariance))
    assert best.converged and effective > 150.0
    assert np.abs(draws.mean(axis=0) - best.x)[:SHARED].max() < 0.3 * sd[:SHARED].max()
    assert (draws.std(axis=0) / sd)[:SHARED] == pytest.approx(1.0, abs=0.3)


def test_residuals_have_the_stated_covariance():
    """Markers of leg and foot, moved by noise and skin as stated: whitened residuals at the true axes have unit variance."""
    person, true = scaled(TRUE), rule_of(scaled(TRUE))
    exact = foot_motion(scaled(), circles(0.4, 0.3, 0.0), frames=24)
    rng, squares = np.random.default_rng(2), []
    angles = HingeProblem.between(exact, true, true).fit(true).angles
    amplitudes = {"noise": np.full(24, 1e-3), "leg": np.full(24, 2.0), "of_parts": np.full((3, 24), 1e-3)}
    skin = replace(SkinParts.of(exact), **amplitudes)
    white = np.linalg.inv(np.linalg.cholesky(skin.covariance(exact)))
    in_time = np.linalg.cholesky(skin.of_foot + 1e-15 * np.eye(24))
    for _ in range(60):
        moved = []
        for cluster, factor in ((exact.leg, 2.0), (exact.foot, 1.0)):
            apart = np.linalg.norm(cluster.local[:, None] - cluster.local, axis=-1)
            alike = np.linalg.cholesky(np.exp(-apart / NEIGHBOURS))
            own = np.einsum("nb,mk,bki->nmi", in_time, alike, rng.normal(size=cluster.seen.shape))
            moved.append(factor * own + 1e-3 * rng.normal(size=own.shape))
        # A displaced leg: the small motion of its markers, taken back from the places of the foot.
        small = np.linalg.lstsq(
            exact.leg.rigid(exact.leg.local).reshape(-1, 6), moved[0].reshape(24, -1).T, rcond=None
        )[0]
        seems = (exact.foot.rigid(exact.places) @ small.T[:, None, :, None])[..., 0]
        places = exact.places + np.einsum("nab,nmb->nma", exact.turn, moved[1]) - seems
        residuals = white @ replace(exact, places=places).residuals(true, angles).ravel()
        squares.append(residuals**2)
    assert np.mean(squares) == pytest.approx(1.0, abs=0.06)
    assert person.link_length == pytest.approx(true[7])


def test_another_trial_leaves_the_model_of_the_first():
    """Covariances of residuals and of angles of a trial are the same with and without a second one, which repeats a part."""
    first, second = circles(0.4, 0.3, 1e-3), circles(0.2, 0.1, 2e-3)
    motions = [foot_motion(scaled(), *trials, frames=24) for trials in ([first], [first, second])]
    covariances = [SkinParts.of(motion).covariance(motion) for motion in motions]
    prior = population_prior(scaled())
    densities = [AxesDensity.of(*of, prior.mean, prior.covariance) for of in zip(motions, covariances, strict=True)]
    of_angles = [np.linalg.inv(density.alike) for density in densities]
    for size, (one, both) in ((144, covariances), (24, of_angles)):
        assert both[:size, :size] == pytest.approx(one, rel=1e-9, abs=1e-15)
        assert np.abs(both[:size, size:]).max() > 0.1 * np.abs(one).max()
        assert np.linalg.eigvalsh(both)[0] > 0.0


def test_a_second_trial_narrows_the_intervals():
    prior, narrow = population_prior(scaled()), []
    trials = [circles(0.2, 0.08, 1e-3), circles(0.22, 0.06, 1.2e-3)]
    for those in ([trials[0]], [trials[1]], trials):
        motion = foot_motion(scaled(), *those, frames=24)
        density = AxesDensity.of(motion, SkinParts.of(motion).covariance(motion), prior.mean, prior.covariance)
        narrow.append(np.sqrt(np.diag(density.best().covariance)[:SHARED]))
    ratio = narrow[2] / np.minimum(*narrow[:2])
    assert ratio.max() < 1.05 and ratio.min() < 0.97


def test_subject_has_the_axes_of_the_unknowns():
    """Written into a subject and read back, the unknowns remain; so do directions and places in the standing foot."""
    person, one = scaled(), found()
    mean = one.mean
    moved = one.subject(person)
    again = rule_of(moved)
    assert again[[0, 1, 4, 5]] == pytest.approx(mean[[0, 1, 4, 5]], abs=1e-12)
    foot, leg = moved.bodies["main_foot"], moved.bodies["leg"]
    ends = leg.r + leg.A @ moved.talocrural.points["leg"], foot.r + foot.A @ moved.talocalcaneal.points["main_foot"]
    link = (ends[1] - ends[0]) @ foot.A
    assert link == pytest.approx([0.0, mean[6], -mean[7]], abs=1e-12)
    assert moved.link_length == pytest.approx(np.hypot(mean[6], mean[7]))
    assert one.subject(person, draw=3).link_length != moved.link_length
    start = leg.r + leg.A @ person.talocrural.points["leg"]
    assert (ends[0] - start) @ foot.A == pytest.approx([mean[2], 0.0, mean[3]], abs=1e-12)
    assert directions(mean)[1] == pytest.approx(moved.talocalcaneal.axes["main_foot"])
    assert points(mean)[0] == pytest.approx([mean[2], 0.0, mean[3]])
    same = with_axes(person, rule_of(person), "itself")
    assert same.talocalcaneal.points["main_foot"] == pytest.approx(person.talocalcaneal.points["main_foot"], abs=1e-12)


def test_figure_shows_the_axes_on_the_foot():
    """Lines are those of the mean axes; cones are narrower than those of the prior; markers are where they stand."""
    one, person = found(), scaled()
    fig = axes_on_the_foot({"right": (person, one), "left": (one.subject(person), one)})
    rows = np.array(fig.axes).reshape(2, 3)
    above = rows[0, 1]
    axis, point = directions(one.mean)[1], points(one.mean)[1]
    x, y = next(line for line in above.lines if line.get_color() == "tab:red").get_data()
    assert y == pytest.approx(1e3 * (point[1] + axis[1] / axis[0] * (x / 1e3 - point[0])), abs=2.5)
    grey, red = (band.get_paths()[0].get_extents().height for band in above.collections[2:4])
    assert red < 0.9 * grey
    markers = [[ax.lines[0].get_xydata() for ax in row] for row in rows]
    for by_rule, by_posterior in zip(*markers, strict=True):
        assert by_posterior == pytest.approx(by_rule, abs=1e-9)


def test_analysis_uses_the_posterior():
    """Of a walk about the rule's axes; angles that are given beside it are refused."""
    options = dict(markers=synthetic.MARKERS, filters=Filters.off(), axes="posterior")
    one = analyse(synthetic.static(), synthetic.trial(), **options)
    assert one.subject.sources["talocrural axis"] == "posterior of the axes"
    assert rule_of(one.subject)[5] == pytest.approx(one.functional_axes.mean[5])
    again = analyse(synthetic.static(), synthetic.trial(), functional=one.functional_axes, **options)
    assert np.array_equal(again.moments["talocrural"], one.moments["talocrural"])
    for given, words in (
        (Anatomy(subtalar_deviation_deg=20.0), "subtalar axis"),
        (Anatomy(link_length=0.04), "link_length"),
    ):
        assert_refused(
            f"axes='posterior' and the {words} of the anatomy are both given", analyse, synthetic.static(), synthetic.trial(),
            anatomy=given, **options,
        )  # fmt: skip


def test_a_lack_of_trials_or_markers_is_refused():
    assert_refused("no trial to find the axes from; give one or more", axes_posterior, scaled(), [])
    blind = replace(scaled(), shows_inversion=False)
    assert_refused("do not show inversion of the foot", axes_posterior, blind, [synthetic.trial()])
