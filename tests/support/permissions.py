"""Processes that may not write where a folder's mode forbids it, although a superuser runs the tests."""

import ctypes
import os
from pathlib import Path

import pytest

PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2


def without_privileges():
    """A function for ``preexec_fn`` after which the modes of files bind the process; the test is skipped where there is none."""
    if os.name != "posix":
        pytest.skip("modes of files bind nobody on this system")
    if os.geteuid() != 0:
        return None
    library = ctypes.CDLL(None)
    if not hasattr(library, "prctl"):
        pytest.skip("a superuser runs the tests, and modes of files do not bind a superuser")

    def drop():
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            if library.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
                os._exit(77)

    pid = os.fork()
    if pid == 0:
        drop()
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        pytest.skip("a superuser who may not give up privileges runs the tests")
    return drop


def read_only(folder: Path):
    """Take from all the right to write in a folder and below it."""
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o555 if place.is_dir() else 0o444)


def writable(folder: Path):
    """Give it back, so that the folder can be removed."""
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)
