"""Marks for parameters: the quick set takes some values of a parameter, the full set or each night all of them."""

import pytest


def quick_for(values, quick, otherwise=pytest.mark.slow):
    """The values of a parameter, marked where ``quick`` does not contain them."""
    return [value if value in quick else pytest.param(value, marks=otherwise) for value in values]
