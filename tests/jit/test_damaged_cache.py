"""Damaged entries of the cache are dropped and made again; a cache that cannot be written or is full ends no run."""

import os
import subprocess
import sys

import pytest

from runtime.jit import machine_code, place
from tests.support.compiled_code import copied_code
from tests.support.marks import quick_for
from tests.support.permissions import read_only, without_privileges, writable
from tests.support.processes import environment

NOT_KEPT = "compiled code cannot be kept in"
PROGRAM = """
import sys
import numpy as np
from generated import revolute
from runtime.jit import addresses
from runtime.jit.compilation import compiled
from runtime.support.notice import compilations


@compiled
def total(x, factor):
    return factor * x[0]


addresses.addresses_of([revolute])
print(total(np.array([5.0]), 4.0), len(compilations()))
"""


@pytest.fixture
def run(tmp_path):
    """Run the program with a cache folder: what it prints, and its lines on stderr but for notices of compilation."""
    (tmp_path / "study.py").write_text(PROGRAM, encoding="utf-8")

    def call(folder, preexec=None, **variables):
        done = subprocess.run(
            [sys.executable, str(tmp_path / "study.py")], cwd=tmp_path, capture_output=True, text=True, preexec_fn=preexec,
            env=environment(TALUS_CACHE_DIR=str(folder), **variables),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.split(), [line for line in done.stderr.splitlines() if not line.startswith("compiling ")]

    return call


def files_in(folder):
    return [file for file in folder.rglob("*") if file.is_file()]


def other(file, make):
    file.unlink()
    make(file)


DAMAGES = {
    "empty": lambda file: file.write_bytes(b""),
    "cut off": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "one bit": lambda file: file.write_bytes(file.read_bytes()[:-9] + b"\x80" + file.read_bytes()[-8:]),
    "no text": lambda file: file.write_bytes(bytes(range(256)) * 9),
    "a link to itself": lambda file: other(file, lambda f: f.symlink_to(f)),
    "a pipe": lambda file: other(file, os.mkfifo),
    "the end of the memory": lambda file: other(file, lambda f: f.symlink_to("/dev/zero")),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", quick_for(DAMAGES, ("cut off",), pytest.mark.nightly))
def test_damaged_files_are_made_again(run, tmp_path, damage):
    """Machine code, locks and dates: each file of the cache."""
    cache = tmp_path / "cache"
    assert run(cache) == (["20.0", "2"], [])
    for file in files_in(cache):
        DAMAGES[damage](file)
    assert run(cache) == (["20.0", "2"], [])
    assert run(cache) == (["20.0", "0"], [])


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_no_entry(tmp_path, monkeypatch, damage):
    monkeypatch.setenv("TALUS_CACHE_DIR", str(tmp_path))
    file = tmp_path / "digest" / "code"
    machine_code.store(file, b"machine code of a function")
    assert machine_code.stored(file) == b"machine code of a function"
    DAMAGES[damage](file)
    assert machine_code.stored(file) is None
    machine_code.store(file, b"the same again")
    assert machine_code.stored(file) == b"the same again"


NO_CACHE = {
    "a place in /proc": "/proc/not-there", "a file": "file", "a name too long": "a" * 300,
    "no home folder": "~nobody-of-this-name/cache",
}  # fmt: skip


def test_a_folder_with_files_in_place_of_an_entry_stays(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("TALUS_CACHE_DIR", str(tmp_path))
    machine_code._say_that_nothing_is_kept.cache_clear()
    file = place.cache_folder() / "digest" / "code"
    file.mkdir(parents=True)
    (file / "inside").write_text("mine", encoding="utf-8")
    machine_code.store(file, b"machine code of a function")
    assert machine_code.stored(file) is None and (file / "inside").read_text(encoding="utf-8") == "mine"
    assert capfd.readouterr().err.startswith(NOT_KEPT) and [entry.name for entry in file.parent.iterdir()] == ["code"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", quick_for(NO_CACHE, ("a file",), pytest.mark.nightly))
def test_without_a_cache_each_process_compiles_and_says_so_once(run, tmp_path, kind):
    (tmp_path / "file").write_text("the user's own", encoding="utf-8")
    folder = tmp_path / NO_CACHE[kind] if not NO_CACHE[kind].startswith("~") else NO_CACHE[kind]
    before = sorted(tmp_path.rglob("*"))
    for _ in range(2):
        output, lines = run(folder)
        assert output == ["20.0", "2"]
        assert len(lines) == 1 and lines[0].startswith(NOT_KEPT), lines
        assert lines[0].endswith("set TALUS_CACHE_DIR to a folder that can be written")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "the user's own"
    assert sorted(tmp_path.rglob("*")) == before, "nothing is written elsewhere"


def small_files():
    """No file of more than 1000 bytes can be written, as on a full disk."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_full_disk_of_the_cache_ends_no_run(run, tmp_path):
    output, lines = run(tmp_path / "cache", small_files)
    assert output == ["20.0", "2"]
    assert len(lines) == 1 and lines[0].startswith(NOT_KEPT) and "File too large" in lines[0]
    assert not [file for file in files_in(tmp_path / "cache") if file.stat().st_size == 1000], "no half file"
    assert run(tmp_path / "cache") == (["20.0", "2"], [])
    assert run(tmp_path / "cache", small_files) == (["20.0", "0"], [])


OWN_MODEL = """
import sys
import codegen, models, runtime
chain = models.chain.build(2)
file = codegen.compile_model(chain)
run = runtime.simulate(chain, 0.1, coordinates="absolute")
print(run.success, run.stats.kernel.replace(" ", "_"), file.exists())
"""


@pytest.mark.slow
def test_a_kernel_that_cannot_be_written_serves_its_process(tmp_path):
    cache = copied_code(tmp_path / "cache")
    read_only(cache)
    done = subprocess.run(
        [sys.executable, "-c", OWN_MODEL], env=environment(TALUS_CACHE_DIR=str(cache)), capture_output=True, text=True,
        preexec_fn=without_privileges(),
    )  # fmt: skip
    writable(cache)
    assert done.returncode == 0 and done.stdout.split() == ["True", "whole_model", "False"], done.stderr
    assert "cannot be written" in done.stderr and "serves this process only" in done.stderr


IN_PYTHON = """
import numba
import models, runtime


@numba.njit
def own(x):
    return x + 1


print(type(own).__name__, runtime.simulate(models.pendulum.build(), 0.1).energy[-1])
"""


@pytest.mark.slow
def test_functions_of_a_user_run_in_python_where_numba_is_told_so(tmp_path):
    """Talus's own are compiled all the same, and are those of other processes."""
    found = []
    copied_code(tmp_path, without=("energy.", "projection.", "revolute."))
    for disabled in ("1", "0"):
        done = subprocess.run(
            [sys.executable, "-c", IN_PYTHON], capture_output=True, text=True,
            env=environment(NUMBA_DISABLE_JIT=disabled, TALUS_CACHE_DIR=str(tmp_path)),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
    assert found[0][0] == "function" and found[1][0] == "CPUDispatcher" and found[0][1] == found[1][1]
