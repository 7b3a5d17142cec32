"""Calls in a forked process beside this one."""

import os
import signal

import pytest

from runtime.support import beside
from runtime.support.beside import Beside

HERE = os.getpid()
forked = pytest.mark.skipif(beside.forking() is None, reason="processes are not forked here")


@forked
def test_the_result_comes_from_another_process():
    assert Beside(os.getpid).result() != HERE


def test_without_other_processes_the_call_is_made_here(monkeypatch):
    monkeypatch.setattr(beside, "cores", lambda: 1)
    assert Beside(os.getpid).result() == HERE


def test_an_error_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        Beside(lambda: 1 / 0).result()


@forked
def test_a_call_whose_process_was_ended_is_repeated_here():
    def ends():
        if os.getpid() != HERE:
            os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid()

    assert Beside(ends).result() == HERE
