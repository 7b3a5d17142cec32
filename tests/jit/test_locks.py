"""How long a lock of another process is waited for."""

import os
import signal
import subprocess
import sys

import pytest

from runtime.jit import locks

fcntl = pytest.importorskip("fcntl", reason="this system has no such locks")


def test_a_lock_is_held_once_and_removed(tmp_path):
    with locks.locked(tmp_path / "lock") as outer, locks.locked(tmp_path / "lock", 0.0) as inner:
        assert outer is True and inner is False
    assert not list(tmp_path.iterdir())
    with locks.locked(tmp_path / "no folder" / "lock") as found:
        assert found is None


HOLD = """
import sys
from pathlib import Path
from runtime.jit import locks
with locks.locked(Path(sys.argv[1])) as held:
    print(held, flush=True)
    sys.stdin.read()
"""


def test_a_holder_that_is_stopped_is_waited_for_a_while(tmp_path):
    file = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "True\n"
        holder.send_signal(signal.SIGSTOP)
        os.waitpid(holder.pid, os.WUNTRACED)
        with locks.locked(file, 0.2) as held:
            assert held is False
        holder.send_signal(signal.SIGCONT)
        holder.communicate()
        with locks.locked(file) as held:
            assert held is True
    finally:
        holder.kill()
        holder.communicate()
