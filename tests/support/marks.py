"""Marks for parameters: the quick set takes some values of a parameter, the full set or each night all of them."""

import functools
import inspect

import pytest


def quick_for(values, quick, otherwise=pytest.mark.slow):
    """The values of a parameter, marked where ``quick`` does not contain them."""
    return [value if value in quick else pytest.param(value, marks=otherwise) for value in values]


# Of so many statements one is broken; each night all are.
NIGHTLY_ALL = [pytest.param(8, id="some"), pytest.param(1, id="all", marks=pytest.mark.nightly)]


def over(name, values):
    """One test for all values of a parameter: thousands of tests take longer to report than to run."""

    def decorated(test):
        signature = inspect.signature(test)

        @functools.wraps(test)
        def for_all(*arguments, **named):
            for value in values:
                try:
                    test(*arguments, **named, **{name: value})
                except BaseException as error:
                    error.add_note(f"{name} = {value!r}")
                    raise

        rest = [one for one in signature.parameters.values() if one.name != name]
        for_all.__signature__ = signature.replace(parameters=rest)
        return for_all

    return decorated
