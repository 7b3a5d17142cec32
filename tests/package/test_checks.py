"""The checks of arguments return proper values, and name the argument where they refuse one."""

import numpy as np
import pytest

from runtime import ModelError
from runtime.support.checks import counted, increasing_times, not_negative, positive, unit


def test_values_that_keep_the_rules_are_returned():
    assert increasing_times([0, 1, 2.5], "t").tolist() == [0.0, 1.0, 2.5]
    assert not_negative(0, "rtol") == 0.0 and positive(2, "step") == 2.0 and counted("n", np.int64(3), "cases") == 3
    assert unit(np.array([0.0, 0.0, 1.0 + 1e-9]), "axis", 1e-8, normalise=True).tolist() == [0.0, 0.0, 1.0]


def test_times_are_copied():
    given = np.arange(3.0)
    increasing_times(given, "t")[0] = -1.0
    assert given[0] == 0.0


@pytest.mark.parametrize(
    "times, message",
    [
        ("now", "t_eval = 'now': give a list of times"),
        (None, "t_eval = None: give a list of times"),
        ([1j], r"t_eval = \[1j\] holds complex numbers; give a list of times"),
        (1.0, r"t_eval has the shape \(\); give a list of times"),
        ([], r"t_eval has the shape \(0,\); give a list of times"),
        ([0.0, np.nan, 1.0], "t_eval: time 1 is not finite"),
        ([0.0, 2.0, 1.0], "t_eval must increase from each time to the next; 1 s follows 2 s"),
        ([0.0, 1.0, 1.0], "1 s follows 1 s"),
    ],
)
def test_lists_of_times_are_refused_with_the_reason(times, message):
    with pytest.raises(ModelError, match=message):
        increasing_times(times, "t_eval")


@pytest.mark.parametrize(
    "check, value, message",
    [
        (not_negative, -1.0, "rtol = -1 is negative; give 0 or more"),
        (not_negative, np.inf, "rtol = inf is not finite"),
        (not_negative, "small", "rtol = 'small': give one number"),
        (not_negative, True, "rtol = True: give one number"),
        (not_negative, np.True_, "rtol = (np.)?True_?: give one number"),
        (not_negative, object, "rtol = <class 'object'>: give one number"),
        (positive, np.inf, "rtol = inf is not finite"),
        (positive, 0.0, "rtol = 0 is not positive; give a number above 0"),
        (positive, [1.0, 2.0], r"rtol has the shape \(2,\); give one number"),
    ],
)
def test_numbers_out_of_range_are_refused(check, value, message):
    with pytest.raises(ModelError, match=message):
        check(value, "rtol")
