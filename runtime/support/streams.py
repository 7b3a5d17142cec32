"""Standard output and error of a command where they are full, or show ASCII only."""

from __future__ import annotations

import codecs
import errno
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress

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
    """Within this block characters that the encoding of a standard stream does not have are spelled.

    Where stdout cannot be written, one sentence on stderr says so and the command ends with the exit code 1; silently where the
    reader of a pipe ended.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            if getattr(stream, "errors", None) in DEFAULTS:
                stream.reconfigure(errors=SPELLED)  # type: ignore[union-attr]
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:  # of another file
            raise
        with suppress(
            OSError, ValueError
        ):  # what the stream holds must not be tried again at the end of the interpreter
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:
            tell(f"the output cannot be written: {error.strerror or error}")
        raise OutputLost(LOST) from None
