"""Shared by the tests of ``codegen``: one miniature of the packages per session, and a copy of it for each test."""

import pytest

from tests.support.definition_copies import copy_of, make_miniature


@pytest.fixture(scope="session")
def miniature(tmp_path_factory):
    """The packages with few definitions; not to be changed."""
    return make_miniature(tmp_path_factory.mktemp("miniature"))


@pytest.fixture
def copy(miniature, tmp_path):
    """A copy of the miniature, to be changed."""
    return copy_of(miniature, tmp_path)
