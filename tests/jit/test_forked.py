"""Processes that are forked while another thread compiles, or beside the second process."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from tests.support.paths import ROOT
from tests.support.processes import environment

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX systems alone")

PROGRAM = """
import os, signal, threading, time
from numba.core.compiler_lock import global_compiler_lock
import runtime.jit.machine_code
from runtime.jit import second_process

held = threading.Event()
def compiling():
    with global_compiler_lock:
        held.set()
        time.sleep(0.3)
other = threading.Thread(target=compiling)
other.start()
held.wait()
second_process.compile_ahead_with("time")
own = second_process.begin()
child = os.fork()
if child == 0:
    signal.alarm(20)
    with global_compiler_lock:
        second_process.ask("part")
        os._exit(7 if second_process.begin.cache_info().currsize == 0 else 8)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
other.join()
"""


def test_a_forked_process_compiles_and_leaves_the_second_process_to_the_first():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], cwd=ROOT, env=environment(), capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.stdout.split() == ["7"], (done.stdout, done.stderr, -signal.SIGALRM)
