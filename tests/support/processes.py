"""Python in processes of its own."""

import os

from tests.support.paths import ROOT


def environment(**variables):
    """The environment of a process that finds the packages of the repository wherever it runs."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **variables}
