"""The notice of compilation: one line for a burst, after two seconds, on stderr alone."""

import io
import multiprocessing
import os
import pty
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from runtime.support import notice
from tests.support.processes import environment

LINE = "compiling the equations of motion ... (once; kept in /tmp)\n"
FOLDER = Path("/tmp")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A new notice with shorter times."""
    monkeypatch.setattr(notice, "_NOTICE", notice._Notice())
    monkeypatch.setattr(notice, "SILENT_SECONDS", 0.2)
    monkeypatch.setattr(notice, "PAUSE", 0.1)


def compile_for(seconds, what="the equations of motion"):
    with notice.compiling(what, FOLDER):
        time.sleep(seconds)


# Seconds of each compilation and of the pause behind it, and how many lines are written.
BURSTS = {
    "a long one": ([(0.5, 0.0), (0.5, 0.0, "the integration loop")], 1),
    "short ones apart": ([(0.05, 0.2)] * 3, 0),
    "short ones directly after each other": ([(0.06, 0.0)] * 5, 1),
    "two with a pause": ([(0.3, 0.2), (0.3, 0.0)], 2),
}


@pytest.mark.parametrize("burst", BURSTS)
def test_a_burst_has_one_line_on_stderr(capsys, burst):
    compilations, lines = BURSTS[burst]
    for seconds, pause, *what in compilations:
        compile_for(seconds, *what)
        time.sleep(pause)
    assert capsys.readouterr() == ("", lines * LINE)


def test_compilations_inside_each_other_and_in_threads_have_one_line(capsys):
    threads = [threading.Thread(target=compile_for, args=(0.4,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    with notice.compiling("the equations of motion", FOLDER):
        compile_for(0.4)
    for thread in threads:
        thread.join()
    assert capsys.readouterr() == ("", LINE)
    assert len(notice.compilations()) == 1 and notice.compilations()[0].seconds == pytest.approx(0.4, abs=0.3)


def test_a_failed_compilation_ends_the_notice(capsys):
    with pytest.raises(ZeroDivisionError), notice.compiling("the equations of motion", FOLDER):
        raise ZeroDivisionError
    time.sleep(0.3)
    assert capsys.readouterr() == ("", "")


class Closed(io.StringIO):
    def __init__(self):
        super().__init__()
        self.close()


class Broken(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


@pytest.mark.parametrize("stream", [None, Closed(), Broken()])
def test_without_a_usable_stderr_nothing_is_written(stream, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", stream)
    compile_for(0.3)
    monkeypatch.undo()
    assert capsys.readouterr() == ("", "")


def test_a_folder_that_cannot_be_written_keeps_nothing(capsys, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    compile_for(0.3)
    assert capsys.readouterr().err == "compiling the equations of motion ...\n"


def test_the_folder_is_named_from_the_home_folder(capsys):
    with notice.compiling("cones of limits", Path.home() / ".cache" / "not there"):
        time.sleep(0.3)
    assert capsys.readouterr().err == "compiling cones of limits ... (once; kept in ~/.cache/not there)\n"


def in_a_worker(method):
    program = f"""
import multiprocessing, time
from pathlib import Path
from runtime.support import notice
notice.SILENT_SECONDS = 0.05

def compile():
    with notice.compiling("cones", Path("/tmp")):
        time.sleep(0.3)

if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    workers = [context.Process(target=compile) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(*(worker.exitcode for worker in workers))
"""
    return program


@pytest.mark.slow
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_are_silent(method, tmp_path):
    (tmp_path / "program.py").write_text(in_a_worker(method), encoding="utf-8")
    command = [sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0 0\n", "")


def on_a_terminal(program):
    """What a program writes to a terminal."""
    ours, its = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", program], env=environment(), stdout=its, stderr=its)
    os.close(its)
    text = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # the end, on Linux
            break
        if not data:
            break
        text += data
    os.close(ours)
    assert process.wait() == 0, text
    return text.decode()


def test_the_line_is_written_once_on_a_terminal_beside_a_bar_of_progress():
    program = """
import time
from pathlib import Path
from runtime.support import notice, progress
notice.SILENT_SECONDS = progress.SILENT_SECONDS = 0.1
with progress.reporter(True, 0.0, 1.0, "cases") as bar:
    time.sleep(0.2)
    bar.update(0.5)
    with notice.compiling("the equations of motion", Path("/tmp")):
        time.sleep(0.4)
print("done")
"""
    text = on_a_terminal(program)
    assert text.count("compiling the equations of motion ... (once; kept in /tmp)\r\n") == 1
    assert text.count("compiling") == 1 and text.endswith("done\r\n")
