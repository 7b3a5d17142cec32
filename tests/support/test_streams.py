"""Standard streams of a command that are full, or that show ASCII only."""

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


@pytest.mark.parametrize(
    ("stdout", "said"),
    [
        (Failing(errno.ENOSPC), "the output cannot be written: No space left on device\n"),
        (Failing(errno.EPIPE), ""),  # a reader that has ended is left in peace
    ],
)
def test_a_lost_output_is_one_sentence(monkeypatch, capsys, stdout, said):
    monkeypatch.setattr(sys, "stdout", stdout)
    with pytest.raises(OutputLost) as end, safe_streams():
        try:
            print("a")
        finally:
            print("b", flush=True)
    assert (capsys.readouterr().err, end.value.code) == (said, 1)


@pytest.mark.parametrize("stderr", [None, Failing(errno.ENOSPC)])
def test_a_lost_message_ends_nothing(monkeypatch, stderr):
    monkeypatch.setattr(sys, "stderr", stderr)
    tell("a")
    assert reporter(None, 0.0, 1.0).show is False


LETTERS = "kg m², 3°, Φ = 1e-3, 水, é"


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [
        (LETTERS, "ascii", b"kg m^2, 3 deg, Phi = 1e-3, ?, e"),
        (LETTERS, "latin-1", "kg m², 3°, Phi = 1e-3, ?, é".encode("latin-1")),
        (LETTERS, "utf-8", LETTERS.encode()),
        (os.fsdecode(b"a\xff"), "utf-8", b"a\xff"),  # the name of a file that is no text
    ],
)
def test_letters_that_an_encoding_does_not_have_are_spelled(monkeypatch, text, encoding, shown):
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(data, encoding, newline="\n"))
    with safe_streams():
        print(text)
    assert data.getvalue() == shown + b"\n"


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
def test_the_command_with_lost_streams():
    arguments = ["models"]
    whole = command(arguments)
    assert whole[0] == 0 and whole[2] == ""
    assert command(arguments, "> /dev/full") == (1, "", "the output cannot be written: No space left on device\n")
    assert command(arguments, "| true")[1:] == ("", "")
    assert command(arguments, "2>&-") == whole
    assert command(arguments, "<&-") == whole


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
