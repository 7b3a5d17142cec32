"""Quantities that studies take from runs, against runs with finer output and runs without limits."""

import numpy as np
import pytest

import models
from models import pendulum
from models.studies import measures
from runtime import simulate
from tests.support.refusals import assert_refused


def test_limits_that_do_not_act_measure_a_free_motion():
    free = simulate(models.foot.build(), 0.5, t_eval=measures.times(0.5))
    seen = measures.seen_by(free, models.foot.build(limits="elastic"))
    assert not free.limits and set(seen.limits) == {"talocrural", "talocalcaneal"}
    assert np.array_equal(seen.r["main_foot"], free.r["main_foot"])
    assert np.rad2deg(seen.limits["talocrural"].excess.max()) > 20.0  # no limit acts
    assert np.ptp(free.energy) < 1e-8


def test_excursions_begin_and_end_between_output_times():
    fine, coarse = (
        simulate(pendulum.build(limits="elastic"), 0.5, t_eval=measures.times(0.5, rate)) for rate in (20000, 1000)
    )
    (exact,), (found,) = measures.excursions(fine, "pivot"), measures.excursions(coarse, "pivot")
    assert found == pytest.approx(exact, abs=2e-5)
    inside = (fine.t > exact[0] + 1e-4) & (fine.t < exact[1] - 1e-4)
    assert (fine.limits["pivot"].restricting_moment[inside] > 0.0).all()


@pytest.mark.parametrize("t_end", [0.0, -1.0, np.nan, np.inf])
def test_times_of_a_run_that_has_no_end_are_refused(t_end):
    assert_refused("t_end = ", measures.times, t_end)


def test_a_study_of_a_day_is_refused():
    words = "t_end = 86400 s: the study has 1000 output times a second, limit 200000 in all; give at most 200 s"
    assert_refused(words, measures.times, 86400.0)
    assert len(measures.times(200.0)) == 200001
