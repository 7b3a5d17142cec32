"""Folders of the repository and beside it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"  # material that is no part of the repository


def shared_file(*parts):
    """A file of the shared material; the test is skipped where it is missing."""
    file = SHARED.joinpath(*parts)
    if not file.is_file():
        pytest.skip(f"{'/'.join(parts)} is not in ../shared beside the repository")
    return file
