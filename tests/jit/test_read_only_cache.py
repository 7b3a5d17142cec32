"""A warm cache may be read-only: its code is used, nothing is written or said; what is missing is compiled by each process."""

import subprocess
import sys

import pytest

from tests.support.permissions import read_only, without_privileges, writable
from tests.support.processes import environment

PROGRAM = """
import sys
import numpy as np
from generated import revolute
from runtime.jit import addresses
from runtime.jit.compilation import compiled
from runtime.support import notice

notice.SILENT_SECONDS = 0.0


@compiled
def total(x, factor):
    return factor * x[0]


addresses.addresses_of([revolute])
print(total(np.array([5.0]), 4.0))
if len(sys.argv) > 1:
    print(total(np.array([5]), 4))
print(len(notice.compilations()))
"""


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    yield folder
    writable(folder)


@pytest.fixture
def run(tmp_path, cache):
    """Run the program where modes of files bind it: its output, its lines on stderr."""
    (tmp_path / "study.py").write_text(PROGRAM, encoding="utf-8")
    drop = without_privileges()

    def call(*arguments):
        done = subprocess.run(
            [sys.executable, str(tmp_path / "study.py"), *arguments], env=environment(TALUS_CACHE_DIR=str(cache)),
            capture_output=True, text=True, preexec_fn=drop,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.split(), done.stderr.splitlines()

    return call


def contents(folder):
    return {str(place): place.stat().st_mtime_ns for place in (folder, *folder.rglob("*"))}


@pytest.mark.slow
def test_code_comes_from_a_cache_that_cannot_be_written(run, cache):
    assert run()[0] == ["20.0", "2"]
    read_only(cache)
    before = contents(cache)
    for _ in range(2):
        assert run() == (["20.0", "0"], [])
    assert contents(cache) == before


@pytest.mark.slow
def test_missing_code_is_compiled_and_one_sentence_says_that_it_is_not_kept(run, cache):
    run()
    read_only(cache)
    before = contents(cache)
    for _ in range(2):
        output, lines = run("more")
        assert output == ["20.0", "20", "1"]
        assert lines[-1] == (
            f"compiled code cannot be kept in {cache}/talus (Permission denied), so each process compiles anew; "
            "set TALUS_CACHE_DIR to a folder that can be written"
        )
        assert lines[:-1] in ([], ["compiling the function total ..."])  # by the time it takes
    assert contents(cache) == before
