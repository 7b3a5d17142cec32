"""Programs that own the formats of files."""

import importlib.util

import pytest

from benchmarks.files.owners import OpenSim


@pytest.fixture
def in_program():
    """Accelerations by OpenSim of a reading."""
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")
    opened = []

    def of(reading):
        opened.append(OpenSim(reading))
        return opened[-1].accelerations

    yield of
    for program in opened:
        program.close()
