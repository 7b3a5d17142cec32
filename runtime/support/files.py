"""Files that are complete or absent: written beside their place, then renamed.

Every writer of results uses ``whole_file``, ``write_bytes`` or ``write_text``; a full disk, a missing right or an interruption
leaves the earlier file, or none, and no part of a new one.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from runtime.support.errors import ModelError
from runtime.support.logs import logger

BEGINNING, PART = ".talus-", ".part"  # of the name of a file that is being written
LOG = logger(__name__)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no room, quota used up, file too large for its file system
MAKE_ROOM, ELSEWHERE = "make room, or choose another place", "choose another place"


@contextmanager
def whole_file(file: Path, *, remedy: str = "") -> Iterator[IO[bytes]]:
    """Open a file for writing; it gets its name, and replaces an earlier file, at the end of the block if nothing failed.

    Parameters
    ----------
    file : Path
        A device or a pipe is written to directly.
    remedy : str
        End of the error's sentence.  Default: make room, or choose another place.

    Raises
    ------
    ModelError
        Where the file cannot be written; with the reason of the operating system.
    """
    try:
        place = file.resolve()  # of a link, the file it leads to
        direct = place.exists() and not place.is_file()
    except (OSError, ValueError, RuntimeError) as error:  # a null byte, links in a circle
        raise _cannot_write(file, error, remedy) from None
    try:
        if direct:
            with place.open("wb") as stream:
                yield stream
            return
        part = place.with_name(f"{BEGINNING}{os.urandom(4).hex()}{PART}")
        try:
            with part.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())  # some file systems report only here that there is no room
            if place.exists():
                part.chmod(place.stat().st_mode & 0o7777)
            part.replace(place)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _cannot_write(file, error, remedy) from None


def _cannot_write(file: Path, error: Exception, remedy: str) -> ModelError:
    remedy = remedy or (MAKE_ROOM if getattr(error, "errno", None) in FULL else ELSEWHERE)
    return ModelError(f"cannot write '{file}': {reason(error)}; {remedy}")


def write_bytes(file: Path, data: bytes | memoryview, *, remedy: str = "") -> Path:
    """Write a whole file; returns it.  Raises as ``whole_file`` does."""
    with whole_file(file, remedy=remedy) as stream:
        stream.write(data)
    return file


def write_text(file: Path, text: str, *, remedy: str = "") -> Path:
    """Write a whole file in UTF-8; returns it.  Raises as ``whole_file`` does.

    Bytes of a path that are no UTF-8 are written as escapes.
    """
    return write_bytes(file, text.encode(errors="backslashreplace"), remedy=remedy)


def made_folder(folder: Path) -> Path:
    """Make a folder, and those above it, unless it exists; returns it.

    Raises
    ------
    ModelError
        Where it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise ModelError(f"folder '{folder}' cannot be made: {reason(error)}; {ELSEWHERE}") from None
    return folder


def free_file(file: Path, overwrite: bool) -> Path:
    """The file, if its folder exists, and the file itself does not, unless it may be overwritten."""
    try:
        if not file.parent.is_dir():
            raise ModelError(f"cannot write '{file}': the folder '{file.parent}' does not exist; make it first")
        if file.is_dir():
            raise ModelError(f"cannot write '{file}': it is a folder; give a file name")
        if file.exists() and not overwrite:
            raise ModelError(f"'{file}' exists; choose another name or pass overwrite=True")
    except OSError as error:
        raise ModelError(f"cannot write '{file}': {reason(error)}; choose another place") from None
    LOG.info("writing %s", file)
    return file


def reason(error: Exception) -> str:
    """The reason of the operating system, or of the library that refused a path, such as one with a null byte."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def is_unfinished(name: str) -> bool:
    """Whether a file has the name of one that is being written, or was when its process was killed."""
    return re.fullmatch(rf"{BEGINNING}[0-9a-f]{{8}}{PART}", name) is not None
