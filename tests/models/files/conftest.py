"""Programs that own the formats of files."""

import importlib.util

import pytest

import models
from benchmarks.files.owners import OpenSim


@pytest.fixture
def read(tmp_path):
    """Reads a model from the text of a file."""

    def of(text, name="limb.osim", **options):
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return models.read(file, **options)

    return of


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
