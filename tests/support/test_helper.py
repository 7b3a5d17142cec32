"""Processes that answer requests: after an interruption, a crash, and in processes that are forked."""

import os
import signal
import sys
import time
import warnings

import pytest

from runtime.support.helper import EndedError, Helper

ECHO = """
import os, sys, time
for line in sys.stdin.buffer:
    if line == b"crash\\n":
        os.abort()
    time.sleep(30.0 * line.startswith(b"slow"))
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


class Interruption(BaseException):
    """As KeyboardInterrupt, which pytest would end with."""


@pytest.fixture
def helper():
    made = Helper(lambda: [sys.executable, "-c", ECHO])
    yield made
    made.stop()


def ask(helper, text, seconds=60.0, interrupted=False):
    def talk(requests, answers):
        requests.write(f"{text}\n".encode())
        requests.flush()
        if interrupted:
            raise Interruption
        line = answers.readline()
        if not line:
            raise EOFError
        return line.decode().strip()

    return helper.ask(talk, seconds)


def test_an_interrupted_request_leaves_no_answer_to_the_next(helper):
    assert ask(helper, "one") == "one"
    with pytest.raises(Interruption):
        ask(helper, "two", interrupted=True)
    assert ask(helper, "three") == "three"


def test_a_process_that_was_used_is_replaced_and_a_new_one_is_believed(helper):
    with pytest.raises(EndedError) as ended:
        ask(helper, "crash")
    assert not ended.value.late and ask(helper, "one") == "one"
    helper.process.kill()
    assert ask(helper, "two") == "two"


def test_one_that_takes_too_long_is_ended(helper):
    with pytest.raises(EndedError) as ended:
        ask(helper, "slow", seconds=0.2)
    assert ended.value.late and ask(helper, "one") == "one"


def in_fork(function):
    """Exit code of a forked process that calls a function; it is killed after a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of other threads, which are those of linear algebra
        child = os.fork()
    if child == 0:
        try:
            os._exit(int(function()))
        except BaseException:
            os._exit(99)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX systems alone")
def test_a_forked_process_has_a_helper_of_its_own(helper):
    """Also where another thread held the lock when it was forked; its end leaves that of the first process alone."""
    assert ask(helper, "one") == "one"
    own = helper.process.pid

    def child():
        answer = ask(helper, "two")
        other = helper.process.pid
        helper.stop()
        return 7 if answer == "two" and other != own else 8

    with helper.lock:
        assert in_fork(child) == 7
    assert ask(helper, "three") == "three" and helper.process.pid == own
