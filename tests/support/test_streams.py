"""Standard streams of a command that are closed or full, or that show ASCII only."""

import errno
import io
import os
import subprocess
import sys

import pytest

from runtime.support.progress import reporter
from runtime.support.streams import OutputLost, safe_streams, tell
from tests.support.processes import environment


class Failing(io.StringIO):
    """A stream of which every write fails."""

    def __init__(self, number):
        super().__init__()
        self.number = number

    def write(self, text):
        raise OSError(self.number, os.strerror(self.number))


def lost(monkeypatch, capsys, stdout):
    """What is said on stderr, and the exit code, of a command that prints twice."""
    monkeypatch.setattr(sys, "stdout", stdout)
    with pytest.raises(OutputLost) as end, safe_streams():
        try:
            print("a")
        finally:
            print("b", flush=True)
    return capsys.readouterr().err, end.value.code


def test_a_full_output_is_one_sentence(monkeypatch, capsys):
    said = lost(monkeypatch, capsys, Failing(errno.ENOSPC))
    assert said == ("the output cannot be written: No space left on device\n", 1)


def test_a_missing_output_is_one_sentence(monkeypatch, capsys):
    assert lost(monkeypatch, capsys, None) == ("the output cannot be written: it is closed\n", 1)


def test_a_reader_that_has_ended_is_left_in_peace(monkeypatch, capsys):
    assert lost(monkeypatch, capsys, Failing(errno.EPIPE)) == ("", 1)


@pytest.mark.parametrize("stderr", [None, Failing(errno.ENOSPC)])
def test_a_lost_message_ends_nothing(monkeypatch, capsys, stderr):
    monkeypatch.setattr(sys, "stderr", stderr)
    tell("a")
    assert reporter(None, 0.0, 1.0).show is False
    with safe_streams():
        print("b", file=sys.stderr)
        print("c")
    assert capsys.readouterr().out == "c\n"


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("ascii", "kg m^2, 3 deg, Phi = 1e-3, ?, e"),
        ("latin-1", "kg m², 3°, Phi = 1e-3, ?, é"),
        ("utf-8", "kg m², 3°, Φ = 1e-3, 水, é"),
    ],
)
def test_letters_that_an_encoding_does_not_have_are_spelled(monkeypatch, encoding, shown):
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(data, encoding, newline="\n"))
    with safe_streams():
        print("kg m², 3°, Φ = 1e-3, 水, é")
    assert data.getvalue().decode(encoding) == f"{shown}\n"


def test_names_of_files_that_are_no_text_are_printed(monkeypatch):
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(data, "utf-8", newline="\n"))
    with safe_streams():
        print(os.fsdecode(b"a\xff"))
    assert data.getvalue() == b"a\xff\n"


COMMAND = [sys.executable, "-c", "import sys; from runtime.cli import main; sys.argv[0] = 'talus'; main()"]


def command(arguments, redirections="", **variables):
    """The command in a shell with redirections of its streams: its exit code, output and errors."""
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirections}', "sh", *COMMAND, *arguments], env=environment(**variables), capture_output=True
    )  # fmt: skip
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize("arguments", [["models"], ["info", "pendulum", "--json"]], ids=" ".join)
def test_the_command_with_lost_streams(arguments):
    whole = command(arguments)
    assert whole[0] == 0 and whole[2] == ""
    assert command(arguments, "> /dev/full") == (1, "", "the output cannot be written: No space left on device\n")
    assert command(arguments, ">&-") == (1, "", "the output cannot be written: it is closed\n")
    assert command(arguments, "| true")[1:] == ("", "")
    assert command(arguments, "2> /dev/full") == whole
    assert command(arguments, "2>&-") == whole
    assert command(arguments, "<&-") == whole
    assert command(arguments, ">&- 2>&-") == (1, "", "")


@pytest.mark.slow
def test_the_command_on_an_ascii_terminal():
    code, output, _ = command(["info", "pendulum", "--full"], PYTHONIOENCODING="ascii")
    assert code == 0 and output.isascii() and "kg m^2" in output
    code, output, _ = command(["info", "pendulum", "--full"], LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert code == 0 and output.isascii() and "kg m^2" in output


@pytest.mark.slow
def test_the_command_in_a_terminal_without_width():
    code, output, _ = command(["info", "pendulum"], COLUMNS="0")
    assert code == 0 and "degree of freedom" in " ".join(output.split())


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["pendulum", "--help"]], ids=" ".join)
def test_the_command_without_docstrings(arguments):
    assert command(arguments, PYTHONOPTIMIZE="2") == command(arguments)
