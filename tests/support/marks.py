"""Marks for parameters: the quick set takes some values of a parameter, the full set all of them."""

import pytest


def quick_for(values, quick):
    """The values of a parameter, marked slow where ``quick`` does not contain them."""
    return [value if value in quick else pytest.param(value, marks=pytest.mark.slow) for value in values]
