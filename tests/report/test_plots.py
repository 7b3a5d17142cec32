"""Figures: nothing is cut off at their edges."""

import numpy as np
import pytest

from models import pendulum
from runtime import Run, simulate
from runtime.report import cone_plots, plots
from runtime.system.cone import Cone
from tests.support.refusals import assert_refused


@pytest.mark.parametrize("count", [2, 4, 7])
def test_a_legend_fits_its_figure(count):
    x = np.linspace(0.0, 1.0, 5)
    series = {f"series with a long name {k}": (x, k * x) for k in range(count)}
    for figure in (plots.curves(series, "x", "y"), plots.charts([plots.Chart("one", "y", series)], "x")):
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
        assert len(figure.legends) == 1 and box.x0 >= 0.0 and box.x1 <= figure.bbox.width


class Motion:
    longitude, latitude = np.zeros(3), np.array([0.1, 0.5, 0.2])


class OneRun(Run):
    def __init__(self):
        pass

    t, limits = np.array([0.0, 1.0, 2.0]), {"pivot": Motion()}


def test_top_view_draws_paths_that_coincide():
    cone = Cone.from_degrees((0.0, 90.0, 180.0, 270.0, 360.0), (30.0,) * 5)
    figure = cone_plots.top_view({"first": OneRun(), "second": OneRun()}, {"pivot": cone})
    labels = [line.get_label() for line in figure.axes[0].lines if not line.get_label().startswith("_")]
    assert labels[:2] == ["first", "second"]


def test_labels_of_a_top_view_lie_within_it():
    system = pendulum.build(limits="elastic")
    run = simulate(system, 0.5, t_eval=np.linspace(0.0, 0.5, 101))
    (limit,) = system.limits
    fig = cone_plots.top_view({"a": run}, {limit.name: limit.cone})
    fig.draw_without_rendering()
    (ax,) = fig.axes
    box = ax.get_window_extent()
    for text in ax.texts:
        x0, y0, x1, y1 = text.get_window_extent().extents
        assert box.x0 <= x0 and x1 <= box.x1 and box.y0 <= y0 and y1 <= box.y1, text.get_text()


def test_figures_of_nothing_are_refused():
    assert_refused(
        "angles: groups are empty; give one at least", cone_plots.angles, {}, {"ankle": {"dorsiflexion": 20.0}}
    )
    assert_refused("angles: limits are empty; give one at least", cone_plots.angles, {"all": {}}, {"ankle": {}})
    assert_refused("bars: give a height", plots.bars, ["free"], {"evaluations": {}}, "evaluations")
