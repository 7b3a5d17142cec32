"""The rules of step control, and the outcomes that they lead to, are those of one table for the loop, the batch and the GPU."""

import math

import numpy as np
import pytest

import models
from runtime import Status, simulate, simulate_many
from runtime.integrate import step_control
from tests.support.ensembles import SETTINGS, thrown

RULES = [rule for rule in vars(step_control).values() if hasattr(rule, "py_func")]


def rule(name):
    """A rule as plain Python, as the GPU's compiler takes it."""
    return getattr(step_control, name).py_func


def test_rules_call_no_other_compiled_function():
    assert len(RULES) == 13
    for found in RULES:
        assert not any(hasattr(found.py_func.__globals__[name], "py_func") for name in found.py_func.__code__.co_names
                       if name in found.py_func.__globals__), found  # fmt: skip


@pytest.mark.parametrize("time", [0.0, 1.0, 1.5, -3.0, 1e-9, 1023.999, 1024.0])
def test_too_small_is_four_spacings_of_the_largest_time(time):
    end = 2.0
    bound = 4.0 * np.spacing(max(abs(time), end))
    too_small = rule("too_small")
    assert too_small(bound, time, end) and not too_small(np.nextafter(bound, 1.0), time, end)
    assert too_small(math.nan, time, end)


def test_verdicts():
    verdict = rule("verdict")
    assert [verdict(error) for error in (0.0, 1.0)] == [step_control.ACCEPTED] * 2
    assert verdict(np.nextafter(1.0, 2.0)) == step_control.REJECTED
    assert [verdict(error) for error in (math.inf, math.nan)] == [step_control.BAD] * 2


def test_lengths_after_an_attempt():
    assert rule("after_rejection")(0.1, 0.5) == 0.05 and rule("after_rejection")(0.1, 3.0) == 0.1
    assert rule("after_acceptance")(0.1, 3.0, 0) == pytest.approx(0.3) and rule("after_acceptance")(0.1, 3.0, 1) == 0.1
    assert rule("after_bad_attempt")(0.1, 0.0) == pytest.approx(0.01)
    assert rule("after_bad_attempt")(0.9e-10, 0.5) == 0.0 and rule("after_bad_attempt")(0.9e-7, 1000.0) == 0.0


def test_steps_of_dop853_grow_by_a_part_of_what_their_error_allows():
    """An estimate that passes through zero allows a longer step than the next one, which would be rejected."""
    factor_of, slowest, fastest = rule("factor_of"), 0.333, 6.0
    for error in np.geomspace(1e-9, 1e5, 500):
        factor = min(fastest, max(slowest, 0.84 * error ** (-1 / 8)))
        expected = factor if factor < 1.0 else 1.0 + step_control.GROWTH * (factor - 1.0)
        assert factor_of(error * error, 0.84, slowest, fastest) == pytest.approx(expected, rel=3e-3)
    assert factor_of(0.0, 0.84, slowest, fastest) == pytest.approx(1.0 + 5.0 * step_control.GROWTH, rel=3e-3)
    assert factor_of(math.inf, 0.84, slowest, fastest) == pytest.approx(slowest, rel=3e-3)


def test_errors_of_both_orders_are_combined_without_overflow():
    squared_error = rule("squared_error")
    for sum5, sum3, h, n in ((2.0, 5.0, 0.1, 6), (1e-9, 0.0, -3.0, 1), (1e200, 1e150, 1e-3, 39)):
        combined = abs(h) * sum5 / math.sqrt((sum5 + 0.01 * sum3) * n)  # Hairer's
        assert squared_error(sum5, sum3, h, n) == pytest.approx(combined**2, rel=1e-14)
    assert squared_error(0.0, 0.0, 0.1, 6) == 0.0


def test_an_attempt_up_to_a_knot_that_is_near_is_judged_by_the_estimate_of_order_5_too():
    with_knot, h, n = rule("with_knot"), 0.1, 2
    assert (
        with_knot(0.3, 1e5, h, n, math.inf)
        == with_knot(0.3, 1e5, h, n, 0.2)
        == with_knot(0.3, math.inf, h, n, 0.2)
        == 0.3
    )
    assert with_knot(0.3, 1e9, h, n, h) == pytest.approx(step_control.BETWEEN_KNOTS * h * h / n * 1e9)
    assert with_knot(0.3, 1.0, h, n, h) == 0.3


def test_one_attempt_at_a_free_foot_in_thirty_is_rejected_at_most():
    run = simulate(models.foot.build(), 5.0, t_eval=[5.0], rtol=1e-10, atol=1e-10)
    assert run.stats.rejections <= run.stats.steps / 30


def test_the_last_step_takes_a_short_rest_too():
    h, last = rule("step_length")(0.1, math.inf, 1.9, 2.0005, False)
    assert last and h == 2.0005 - 1.9
    assert rule("step_length")(0.1, 0.05, 1.0, 2.0, False) == (0.05, False)
    assert rule("step_length")(0.1, math.inf, 1.9, 2.0005, True) == (0.1, False)  # cut at a change of mode


def test_every_status_has_a_sentence_and_every_failure_a_remedy():
    assert len({status.sentence for status in Status}) == len(Status)
    assert all(status.remedy for status in Status if status < 0)


def test_the_status_of_a_run_is_a_member():
    run = simulate(models.pendulum.build(), 0.1, max_steps=2)
    assert run.status is Status.STEPS_USED_UP and run.status == 3 and "status=STEPS_USED_UP" in repr(run)
    assert simulate(models.pendulum.build(), 0.1, method="RK45").status is Status.REACHED_END


def test_a_first_step_below_the_rounding_of_time_fails_in_the_batch_too():
    system, how = models.foot.build(), {**SETTINGS, "first_step": 1e-20}
    found = simulate_many(system, thrown(3), 0.1, **how)
    assert (found.status == Status.STEP_TOO_SMALL).all() and not found.vectorised.any()
    assert simulate(system, 0.1, first_step=1e-20).status is Status.STEP_TOO_SMALL
