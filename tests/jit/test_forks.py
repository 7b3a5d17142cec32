"""Compilation in forked processes, whatever other threads of the parent were doing."""

import os
import subprocess
import sys
import warnings

import pytest

from runtime.jit import second_process
from tests.support.processes import environment

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")

PROGRAM = """
import os, signal, sys, threading
import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from runtime.jit import forks
from runtime.jit.compilation import compiled
from runtime.support.forks import lock


@compiled
def total(x, factor):
    return factor * x[0]


@compiled
def slow(x):
    s = 0.0
    for i in range(x.size):
        s += {terms}
    return s


begun, ended, own = threading.Event(), threading.Event(), lock()


def hold(held):
    with held:
        begun.set()
        ended.wait()


def hold_typing():
    with global_compiler_lock:  # as numba does
        hold(numba.core.registry.cpu_target.typing_context.callstack._lock)


def compile_slow():
    begun.set()
    slow(np.ones(3))


kind = sys.argv[1]
if kind != "compiling":  # which ends; the others hold their locks for longer than the fork waits
    forks.SOON = 0.1
act = {{
    "compiling": compile_slow,
    "numba's lock": lambda: hold(global_compiler_lock),
    "typing": hold_typing,
    "a lock of this process": lambda: hold(own),
}}[kind]
total(np.ones(1, np.int64), 1.0)  # numba is ready
thread = threading.Thread(target=act, daemon=True)
thread.start()
begun.wait()
if (child := os.fork()) == 0:
    signal.alarm(100)
    with own:
        found = total(np.array([5.0]), 4.0)
    os._exit(0 if found == 20.0 else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
ended.set()
thread.join()
print(code, total(np.array([2.0]), 4.0), slow(np.ones(2)) > 0.0)
"""
TERMS = " + ".join(f"np.sin({k}.0 * x[i]) * np.exp(x[i] / {k + 1}.0)" for k in range(60))
KINDS = ("compiling", "numba's lock", "typing", "a lock of this process")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_forked_process_compiles_whatever_other_threads_hold(tmp_path, kind):
    (tmp_path / "study.py").write_text(PROGRAM.format(terms=TERMS), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(tmp_path / "study.py"), kind], capture_output=True, text=True,
        timeout=300, env=environment(TALUS_CACHE_DIR=str(tmp_path)),
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.split() == ["0", "8.0", "True"], done.stdout + done.stderr


def test_a_forked_process_leaves_the_second_process_to_its_parent(monkeypatch):
    monkeypatch.setattr(second_process, "_modules", ["of what is compiled ahead"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads
        child = os.fork()
    if child == 0:
        os._exit(len(second_process._modules))
    assert os.waitpid(child, 0)[1] == 0 and second_process._modules
