"""The figure of an ensemble: median and percentiles over the cases."""

import numpy as np
import pytest

import models
import runtime
from runtime.ensemble.ensemble_plot import PERCENTILES
from tests.support.refusals import assert_refused

TIMES = np.linspace(0.0, 0.2, 11)


def many(masses=(1.0,) * 9, **options):
    cases = {"rate.pivot.angle": np.linspace(-1.0, 2.0, 9), "mass.rod": list(masses)}
    return runtime.simulate_many(models.pendulum.build(), cases, 0.2, t_eval=TIMES, **options)


@pytest.fixture(scope="module")
def states():
    return many()


@pytest.fixture(scope="module")
def kept():
    return many(outputs=["r.rod.x", "range(r.rod.x)", "last(r.rod)"])


def median_of(ax):
    (line,) = ax.lines
    assert line.get_label() == "median"
    return line.get_ydata()


def test_bands_are_percentiles_over_the_cases(kept):
    figure = kept.plot("r.rod.x")
    values = kept["r.rod.x"]
    assert np.array_equal(median_of(figure.axes[0]), np.median(values, axis=0))
    points = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    low, high = np.percentile(values, PERCENTILES[:2], axis=0)
    assert {*np.round(low, 12), *np.round(high, 12)} <= {*np.round(points, 12)}


def test_all_outputs_are_drawn_numbers_as_histograms(kept):
    labels = [ax.get_xlabel() if ax.get_ylabel() == "cases" else ax.get_ylabel() for ax in kept.plot().axes]
    assert labels == ["r.rod.x\n[m]", "range(r.rod.x) [m]", *(f"last(r.rod).{x} [m]" for x in "xyz")]
    (histogram,) = kept.plot("range(r.rod.x)").axes
    assert histogram.lines[0].get_xdata()[0] == np.median(kept["range(r.rod.x)"])


def test_states_are_drawn_by_joint_and_body(states):
    joint, angles = next(iter(states.angles.items()))
    (column, *_) = angles.values
    first = states.plot().axes[0]
    assert first.get_ylabel() == f"{joint}.{column}\n[deg]"
    assert np.allclose(median_of(first), np.rad2deg(np.median(angles.values[column], axis=0)))
    assert len(states.plot(joint).axes) == len(angles.values)
    assert [ax.get_ylabel() for ax in states.plot("v.rod").axes] == [f"v.rod.{x}\n[m/s]" for x in "xyz"]


def test_a_coordinate_has_its_name_with_and_without_the_quantity(states):
    outputs = many(outputs=["angle.pivot.angle"])
    expected = np.rad2deg(np.median(states.angles["pivot"].angle, axis=0))
    for each in (states, outputs):
        for name in ("pivot.angle", "angle.pivot.angle"):
            (ax,) = each.plot(name).axes
            assert np.allclose(median_of(ax), expected, atol=1e-9)


def test_cases_that_did_not_arrive_are_left_out_and_counted():
    partly = many(masses=[-1.0, -1.0, *[1.0] * 7], outputs=["r.rod.x"])
    ax = partly.plot().axes[0]
    assert ax.get_ylabel() == "r.rod.x\n[m]\n7 of 9 cases"
    assert np.array_equal(median_of(ax), np.median(partly["r.rod.x"][2:], axis=0))
    none = many(masses=[-1.0] * 9, outputs=["r.rod.x"])
    assert_refused(("'r.rod.x [m]' is finite in none of the 9 cases", "see messages"), none.plot)


def test_names_that_are_not_known_are_refused(states, kept):
    assert_refused("unknown name 'rodd'", states.plot, "rodd")
    assert_refused("'energy'", kept.plot, "energy")
