"""How long a lock of another process is waited for."""

import os
import signal
import subprocess
import sys

import pytest

from runtime.jit import locks

fcntl = pytest.importorskip("fcntl", reason="this system has no such locks")


class Time:
    """A clock that goes on when somebody sleeps; until ``signs`` [s] the holder of the file gives signs, at ``end`` it ends."""

    def __init__(self, file, signs, end):
        self.now, self.file, self.signs, self.end = 1e6, file, 1e6 + signs, 1e6 + end
        self.holder = file.open("wb")
        fcntl.flock(self.holder, fcntl.LOCK_EX)
        os.utime(file, (self.now, self.now))

    def monotonic(self):
        return self.now

    time = monotonic

    def sleep(self, seconds):
        self.now += seconds
        if self.now <= self.signs:
            os.utime(self.file, (self.now, self.now))
        if self.now >= self.end:
            self.holder.close()


@pytest.mark.parametrize(
    "signs, end, waits, held",
    [
        (60.0, 60.0, 60.0, True),  # it goes on, and ends
        (3.0, 1e9, 3.0 + locks.PATIENCE, False),  # it was stopped
        (1e9, 1e9, locks.LONGEST, False),  # it does not come to an end
    ],
)
def test_a_lock_is_waited_for_as_long_as_its_holder_goes_on(tmp_path, monkeypatch, signs, end, waits, held):
    clock = Time(tmp_path / "lock", signs, end)
    monkeypatch.setattr(locks, "time", clock)
    monkeypatch.setattr(locks, "_give_signs", lambda number, ended: None)
    with locks.locked(tmp_path / "lock") as found:
        assert found is held and clock.now - 1e6 == pytest.approx(waits, abs=0.2)
    clock.holder.close()


def test_the_lock_of_a_holder_that_was_stopped_long_ago_is_not_waited_for(tmp_path, monkeypatch):
    clock = Time(tmp_path / "lock", 0.0, 1e9)
    clock.now += 3600.0
    monkeypatch.setattr(locks, "time", clock)
    with locks.locked(tmp_path / "lock") as found:
        assert found is False and clock.now == 1e6 + 3600.0
    clock.holder.close()


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
locks.BEAT = 0.01
with locks.locked(Path(sys.argv[1])) as held:
    print(held, flush=True)
    sys.stdin.read()
"""


def test_a_holder_gives_signs_until_it_is_stopped(tmp_path):
    file = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "True\n"
        for _ in range(2):  # it would wait without end where no sign came
            before = file.stat().st_mtime_ns
            while file.stat().st_mtime_ns == before:
                pass
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
