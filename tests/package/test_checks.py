"""The checks of arguments return proper values, and name the argument where they refuse one."""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from runtime.support.checks import counted, finite, increasing_times, not_negative, positive, unit
from tests.support.refusals import assert_refused


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
    assert_refused(re.compile(message), increasing_times, times, "t_eval")


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
    assert_refused(re.compile(message), check, value, "rtol")


@pytest.mark.parametrize(
    "value, reason",
    [
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "has masked elements; fill them"),
        ([np.ma.array([1.0, 2.0], mask=[0, 1])] * 2, "has masked elements; fill them"),
        ([np.ma.masked, 1.0], "has masked elements; fill them"),
        (np.array([1, 2], "m8[ms]"), "holds a duration with a unit of its own; divide it by"),
        ([np.timedelta64(1, "s"), 1.0], "holds np.timedelta64(1,'s')"),
        (np.array([1, 2], "M8[s]"), "holds a date"),
        ([1.0, True], "holds a truth value"),
        (np.array([True, False]), "holds a truth value"),
        ([1.0, 2j], "holds complex numbers"),
        ([1.0, "2"], "holds text"),
        ([1.0, b"2"], "holds bytes"),
        (np.zeros(2, "f4,f4"), "holds records"),
        ([[1.0], [1.0, 2.0]], "its rows differ in shape"),
        ([None, 1.0], "holds None"),
        ({1.0, 2.0}, "give 2 numbers"),
        ((x for x in (1.0, 2.0)), "give 2 numbers"),
        ([1e60, 1.0], "overflows in products, limit 1e+50"),
        ([10**400, 1], "is not finite"),
        (np.broadcast_to(1.0, 10**12), "has the shape (1000000000000,); give 2 numbers"),
    ],
)
def test_what_is_no_number_is_refused(value, reason):
    assert_refused(reason, finite, value, (2,), "x")


def test_numbers_of_all_kinds_are_numbers():
    for value in (
        [1, Fraction(1, 2)],
        (np.float32(1), Decimal("0.5")),
        np.array([1.0, 0.5], ">f8"),
        np.ma.array([1.0, 0.5]),
    ):
        assert finite(value, (2,), "x").tolist() == [1.0, 0.5]
