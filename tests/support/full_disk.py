"""A disk that is full: files may not grow beyond a size while a block runs."""

import resource
from contextlib import contextmanager

import pytest


@contextmanager
def no_room(size=1024):
    """Let every write beyond ``size`` bytes of a file fail, as on a full disk; of this process alone."""
    try:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    except (OSError, ValueError):
        pytest.skip("no limits of the size of files here")
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
