"""Texts in cells of CSV files: spreadsheets run those that begin as a formula."""

from __future__ import annotations

import re
from typing import TypeVar

from runtime.support.errors import printable

FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")  # also the full-width signs
T = TypeVar("T")


def cell(value: T) -> T | str:
    """A value for a cell: a text that a spreadsheet would run gets an apostrophe before it, numbers and their texts stay."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    if not FORMULA.match(text):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
