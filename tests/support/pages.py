"""Fenced blocks of README and of the pages of ``docs/``."""

import re

import numpy as np

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page, language):
    """The fenced blocks of a page in one language."""
    return [text for found, text in FENCE.findall(page.read_text(encoding="utf-8")) if found == language]


def run_blocks(page):
    """Execute the Python blocks of a page in order, in one scope."""
    scope = {}
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), scope)
    return scope


def numbers_of_blocks(page, language):
    """Numbers and arrays of numbers by name, each as it is after the first block that makes it."""
    scope, found = {}, {}
    for block in blocks(page, language):
        exec(compile(block, page.name, "exec"), scope)
        for name, value in scope.items():
            if name not in found and isinstance(value, (float, np.ndarray)):
                found[name] = np.array(value)
    return {name: value for name, value in found.items() if value.dtype == float}
