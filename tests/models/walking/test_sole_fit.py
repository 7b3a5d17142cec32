"""Fit of a sole: known parameters are found again, the Jacobian is exact, the prior pulls, bad arguments are refused."""

import re
from dataclasses import replace

import numpy as np
import pytest

from models.walking import Floor, fit_sole, predict_ground_force, scale_sole
from models.walking.contact_residuals import GROUPS, changed_sole, compare, target_of
from tests.support.refusals import assert_refused
from tests.support.soles import ALIKE, scaled_and_known_sole, with_force_of


@pytest.mark.slow
def test_a_known_sole_is_found_again(synthetic_walk):
    start, truth = scaled_and_known_sole()
    one = with_force_of(synthetic_walk, truth)
    found = fit_sole(one, start, prior=0.0)  # one start of three ends where a sphere left the floor
    assert found.converged and not found.idle and not found.at_bounds
    for name, sphere in found.sole.spheres.items():
        exact = truth.spheres[name]
        assert sphere.stiffness == pytest.approx(exact.stiffness, rel=1e-6), name
        assert sphere.loss == pytest.approx(exact.loss, rel=1e-6)
        assert sphere.centre == pytest.approx(exact.centre, abs=1e-8)
    errors = predict_ground_force(one, found.sole, Floor()).errors()
    assert max(vars(errors).values()) < 1e-6


@pytest.mark.slow
def test_two_trials_count_alike_and_a_fit_is_deterministic(synthetic_walk):
    start, truth = scaled_and_known_sole()
    one = with_force_of(synthetic_walk, truth)
    alone = fit_sole(one, start, shared=ALIKE, starts=(1.0,), prior=0.0)
    twice = fit_sole([one, one], start, shared=ALIKE, starts=(1.0,), prior=0.0)
    again = fit_sole(one, start, shared=ALIKE, starts=(1.0,), prior=0.0)
    assert twice.cost == pytest.approx(2.0 * alone.cost, rel=1e-6)
    for name in start.spheres:
        assert twice.sole.spheres[name].stiffness == pytest.approx(alone.sole.spheres[name].stiffness, rel=1e-4)
        assert again.sole.spheres[name].stiffness == alone.sole.spheres[name].stiffness


def test_the_jacobian_of_a_fit_is_exact(synthetic_walk):
    one = synthetic_walk
    start = scale_sole(one.subject)
    target = [target_of(one, start)]
    groups = [GROUPS[name] for name in ("stiffness", "loss", "height", "medial")]
    entries = [(group, (name,)) for group in groups for name in ("sphere_2", "sphere_8")]

    def residuals(x):
        return compare(target, changed_sole(start, entries, x), entries)

    jacobian = residuals(np.zeros(8))[1]
    for k, (group, _) in enumerate(entries):
        h = (1e-5 if group.factor else 1e-7) * np.eye(8)[k]
        difference = (residuals(h)[0] - residuals(-h)[0]) / (2 * h.max())
        assert jacobian[:, k] == pytest.approx(difference, abs=2e-6 * np.abs(jacobian[:, k]).max())


@pytest.mark.slow
def test_the_prior_holds_a_sole_near_its_start(synthetic_walk):
    one = synthetic_walk
    start = scale_sole(one.subject)

    def off(sole):
        """Distance of each parameter of a sole from the start, in widths."""
        names = {"stiffness": np.log(10.0), "loss": np.log(3.0)}
        of_law = [
            np.log(getattr(sphere, key) / getattr(start.spheres[name], key)) / width
            for key, width in names.items()
            for name, sphere in sole.spheres.items()
            if key == "stiffness" or name == "sphere_1"  # the loss is one for all
        ]
        heights = [(sphere.centre - start.spheres[name].centre)[2] / 2e-4 for name, sphere in sole.spheres.items()]
        return np.array(of_law + heights)

    loose, usual, tight = (fit_sole(one, start, starts=(1.0,), prior=prior) for prior in (0.0, 0.01, 1.0))
    assert np.abs(off(loose.sole)).max() > 20.0 * np.abs(off(usual.sole)).max() > 20.0 * np.abs(off(tight.sole)).max()
    errors = [predict_ground_force(one, each.sole).errors().vertical for each in (loose, usual, tight)]
    assert errors == sorted(errors) and usual.converged
    # The cost is the data's and the prior's, and its slope is zero where the search ends.
    target = [target_of(one, start)]
    entries = [(GROUPS["height"], (name,)) for name in start.spheres]
    residuals, slopes = compare(target, usual.sole, entries)
    pull = 0.01 * off(usual.sole)
    assert usual.cost == pytest.approx(0.5 * (residuals @ residuals + pull @ pull), rel=1e-9)
    of_data, of_prior = slopes.T @ residuals, pull[-9:] * 0.01 / 2e-4
    assert np.abs(of_data + of_prior).max() < 0.02 * np.abs(of_data).max()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (dict(free=()), "fit_sole: free is empty; use stiffness, loss, height, medial"),
        (dict(free=("radius",)), "fit_sole: free = 'radius'; use stiffness, loss, height, medial"),
        (dict(shared=("friction",)), "fit_sole: shared = 'friction'; use stiffness"),
        (dict(starts=()), "fit_sole: starts is empty"),
        (dict(starts=(1e3,)), r"fit_sole: starts = 1000\.0, must be between 0\.01 and 100"),
        (dict(prior=-1.0), r"fit_sole: prior = -1\.0 body weights, must be a finite number, not below 0"),
        (dict(prior=np.nan), "fit_sole: prior = nan body weights"),
    ],
)
def test_fit_refuses_options(synthetic_walk, options, sentence):
    assert_refused(re.compile(sentence), fit_sole, synthetic_walk, **options)


def test_fit_refuses_trials(synthetic_walk):
    one = synthetic_walk
    sunk = replace(one, ground=replace(one.ground, surface=-0.3))
    for trials, sentence in (
        ([], "fit_sole: trials must be results of"),
        ([one, one.motion], "fit_sole: trials = .* has item 1 = "),
        ([one, replace(one, side="left")], "show different feet; fit each by itself"),
        (sunk, "no sphere of the sole touches the floor of synthetic trial at z = -300 mm"),
    ):
        assert_refused(re.compile(sentence), fit_sole, trials)
