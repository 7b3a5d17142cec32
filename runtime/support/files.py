"""Files that are complete or absent: written beside their place, then renamed; and reading of regular files alone.

Every reader uses ``opened`` or ``read_file``: what is no regular file, such as a pipe, a device or a folder, is not opened, so
that no reader waits or fills the memory.  Every writer of results uses ``whole_file``, ``write_bytes`` or ``write_text``; a full
disk, a missing right or an interruption leaves the earlier file, or none, and no part of a new one.
"""

from __future__ import annotations

import errno
import os
import re
import stat
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
LARGEST = 64 * 1024 * 1024  # [bytes] of a model's file
SPECIAL = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


@contextmanager
def opened(file: Path, remedy: str = "give an existing file") -> Iterator[IO[bytes]]:
    """Open a regular file for reading.

    Raises
    ------
    ModelError
        Where it is not there, is no regular file, or cannot be opened or read within the block; with the reason.
    """
    try:
        state = os.stat(file)
        if not stat.S_ISREG(state.st_mode):  # opening some devices changes them
            raise OSError(errno.EINVAL, f"not a file but {SPECIAL.get(stat.S_IFMT(state.st_mode), 'a device')}")
        with open(file, "rb") as stream:
            yield stream
    except ModelError:
        raise
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read '{file}': {reason(error)}; {remedy}") from None


def read_file(
    file: Path, largest: int | None = None, *, remedy: str = "give an existing file", smaller: str = "shorten it"
) -> bytes:
    """The content of a regular file of at most ``largest`` bytes, by default LARGEST; ``smaller``: the remedy for larger ones.

    Raises
    ------
    ModelError
    """
    largest = LARGEST if largest is None else largest
    with opened(file, remedy) as stream:
        data = stream.read(largest + 1) or b""
        size = max(len(data), os.fstat(stream.fileno()).st_size)
    if size > largest:
        raise ModelError(f"'{file}': {size} bytes, limit {largest}; {smaller}")
    return data


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
