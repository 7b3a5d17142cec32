"""Ctrl-C and SIGTERM at any moment: the exit code, soon, without a traceback or a half file."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.support.paths import ROOT
from tests.support.processes import environment

pytestmark = [
    pytest.mark.slow,  # processes that are ended
    pytest.mark.skipif(os.name != "posix", reason="signals of POSIX"),
]

SIGNALS = [signal.SIGINT, signal.SIGTERM]
COMMAND = "import sys; from talus_command import main; sys.argv[0] = 'talus'; main()"
SOON = 20.0  # [s]; two on a machine that is free: tests measure no time, but must not wait for ever


def begin(program, *arguments, folder, **variables):
    """A process that Ctrl-C interrupts, although the tests may run in the background of a shell, which ignores it."""
    path = os.pathsep.join([str(ROOT / "runtime" / "console"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment() | {"PYTHONPATH": path} | variables,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def ended(process, number):
    """Send a signal; what the process wrote to stderr."""
    process.send_signal(number)
    _, said = process.communicate(timeout=SOON)
    assert process.returncode == 128 + number, said
    assert "Traceback" not in said and "Exception" not in said, said
    return said


@pytest.mark.parametrize("seconds, number", list(zip((0.3, 0.8, 1.5, 3.0, 4.0, 5.0), 3 * SIGNALS, strict=True)))
def test_a_study_at_any_moment(tmp_path, seconds, number):
    """From the imports to the figures, with an empty cache: compilers, compiled loops, processes that draw."""
    process = begin(COMMAND, "ankle", "--out", "study", folder=tmp_path, TALUS_CACHE_DIR=str(tmp_path / "cache"))
    time.sleep(seconds)
    ended(process, number)
    parts = [file for file in tmp_path.rglob("*") if file.is_file() and tmp_path / "cache" not in file.parents]
    for file in parts:
        assert file.stat().st_size > 0 and file.suffix in (".nc", ".csv", ".png", ".svg", ".json", ".md"), file


@pytest.mark.parametrize("number", SIGNALS)
def test_a_compiled_loop(tmp_path, number):
    process = begin(COMMAND, "simulate", "pendulum", "--t-end", "1e7", "--out", "o", folder=tmp_path)
    time.sleep(4.0)
    assert ended(process, number) == "interrupted\n"
    assert not (tmp_path / "o").exists()


IN_FOREIGN_CODE = """
import time, hashlib, sys
from runtime.support.interruption import ended_by_signals
with ended_by_signals():
    print("begun", flush=True)
    if sys.argv[1] == "compiled":
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 10**9)  # in C without Python, as a compiler or a compiled loop
    elif sys.argv[1] == "swallowed":
        while True:
            try:
                time.sleep(60.0)
            except SystemExit:
                pass
    elif sys.argv[1] == "another error":
        try:
            time.sleep(60.0)
        except SystemExit:
            raise RuntimeError("no compiled object") from None
    elif sys.argv[1] == "thread":
        import concurrent.futures
        pool = concurrent.futures.ThreadPoolExecutor(1)
        pool.submit(time.sleep, 600.0)
        time.sleep(60.0)
"""


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("where", ["compiled", "swallowed", "another error", "thread"])
def test_code_that_does_not_pass_an_interruption_on(tmp_path, number, where):
    process = begin(IN_FOREIGN_CODE, where, folder=tmp_path)
    assert process.stdout.readline() == "begun\n"
    ended(process, number)


FORKED = """
import multiprocessing, os, signal, time
from runtime.support.interruption import ended_by_signals
with ended_by_signals():
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600.0,), daemon=True)
    child.start()
    os.kill(child.pid, signal.SIGTERM)
    child.join()
    time.sleep(2.0)
print("done", child.exitcode)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
def test_the_signal_of_a_forked_process_is_its_own(tmp_path):
    process = begin(FORKED, folder=tmp_path)
    output, said = process.communicate(timeout=60.0)
    assert (process.returncode, said, output) == (0, "", "done 143\n")


IGNORED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from runtime.support.interruption import ended_by_signals
with ended_by_signals():
    os.kill(os.getpid(), signal.SIGINT)
assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
print("done")
"""


def test_a_signal_that_a_shell_ignores_stays_ignored(tmp_path):
    output, said = begin(IGNORED, folder=tmp_path).communicate(timeout=60.0)
    assert (output, said) == ("done\n", "")
