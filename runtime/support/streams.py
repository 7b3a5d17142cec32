"""Standard output and error of a command where they are closed, full, or show ASCII only."""

from __future__ import annotations

import codecs
import errno
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

LOST = 1  # exit code where the output could not be written
IN_ASCII = {
    "²": "^2", "³": "^3", "°": " deg", "·": " ", "×": "x", "–": "-", "—": "-", "−": "-", "…": "...", "±": "+/-", "≤": "<=",
    "≥": ">=", "µ": "u", "μ": "mu", "Φ": "Phi", "ν": "nu", "γ": "gamma", "λ": "lambda", "α": "alpha", "β": "beta",
    "ω": "omega", "σ": "sigma", "ψ": "psi", "κ": "kappa", "Δ": "Delta", "ξ": "xi", "η": "eta", "ζ": "zeta", "θ": "theta",
    "\u00a0": " ", "\u2019": "'", "\u201c": '"', "\u201d": '"',
}  # fmt: skip
DEFAULTS = ("strict", "surrogateescape", "backslashreplace")  # of Python: who sets another error handler wants it
SPELLED = "talus.spelled"  # name of the error handler of encodings


class OutputLost(SystemExit):
    """The standard output cannot be written.  It is no OSError, since those are reported as errors of files."""


def _spelled(error: UnicodeError) -> tuple[str | bytes, int]:
    """A character that an encoding does not have, in letters that it has; bytes of file names that are no text stay."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letter = error.object[error.start]
    if "\udc80" <= letter <= "\udcff":
        return bytes([ord(letter) - 0xDC00]), error.start + 1
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return IN_ASCII.get(letter) or plain or "?", error.start + 1


codecs.register_error(SPELLED, _spelled)


def tell(message: str) -> None:
    """Print a sentence on stderr, if it can be written."""
    if sys.stderr is not None:  # print would take stdout
        with suppress(OSError, ValueError):
            print(message, file=sys.stderr, flush=True)


@contextmanager
def safe_streams() -> Iterator[None]:
    """Within this block the standard streams take all text.

    Characters that their encoding does not have are spelled.  What stderr does not take is dropped.  Where stdout cannot be
    written, one sentence on stderr says so and the command ends with the exit code 1; silently where the reader of a pipe ended.
    """
    _fill_descriptors()
    out, err, plain_err = sys.stdout, sys.stderr, sys.__stderr__
    for stream in (out, err):
        with suppress(AttributeError, ValueError, OSError):
            if getattr(stream, "errors", None) in DEFAULTS:
                stream.reconfigure(errors=SPELLED)  # type: ignore[union-attr]
    replaced = cast(TextIO, _Safe(err))
    sys.stdout = cast(TextIO, _Output(out))
    sys.stderr = replaced
    if plain_err is err:
        sys.__stderr__ = replaced  # type: ignore[misc, assignment]
    try:
        yield
        sys.stdout.flush()
    finally:
        with suppress(OutputLost):
            sys.stdout.flush()
        sys.stdout, sys.stderr, sys.__stderr__ = out, err, plain_err  # type: ignore[misc]


def _fill_descriptors() -> None:
    """Closed standard streams become the null device: otherwise the next file that is opened has their number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)


class _Safe:
    """A stream, of which ``write`` and ``flush`` raise no error of the system."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream, self._lost = stream, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text; once a part is lost, the rest is dropped."""
        if not self._lost:
            try:
                if self._stream is None:
                    raise OSError(errno.EBADF, "it is closed")
                self._stream.write(text)
            except (OSError, ValueError) as error:
                self._lose(error)
        return len(text)

    def flush(self) -> None:
        """Pass on what was written."""
        if not self._lost and self._stream is not None:
            try:
                self._stream.flush()
            except (OSError, ValueError) as error:
                self._lose(error)

    def isatty(self) -> bool:
        """Whether this is a terminal."""
        with suppress(OSError, ValueError):
            return self._stream is not None and self._stream.isatty()
        return False

    def _lose(self, error: Exception) -> None:
        self._lost = True
        if self._stream is not None:
            _forget(self._stream)
        self._failed(error)

    def _failed(self, error: Exception) -> None:
        """Nothing: a message that is lost ends no run."""


class _Output(_Safe):
    """stdout: where it is lost, the command ends, and says so once."""

    def _failed(self, error: Exception) -> None:
        if getattr(error, "errno", None) != errno.EPIPE:
            tell(f"the output cannot be written: {getattr(error, 'strerror', None) or error}")
        raise OutputLost(LOST)


def _forget(stream: TextIO) -> None:
    """What a stream still holds goes to the null device, so that the interpreter does not try again at its end."""
    with suppress(AttributeError, OSError, ValueError):
        number, nowhere = stream.fileno(), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
