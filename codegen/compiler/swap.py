"""Writes ``generated/``: a new folder beside it takes its place at once, so that a kill leaves the old tree or the new one."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.machinery import all_suffixes
from pathlib import Path

from codegen.compiler.text import text_of

WHOLE = "whole"  # folder of the whole-model kernels, in ``generated/``
TYPED = "py.typed"  # marks a package with types
SIDE = ".generated-"  # beginning of the name of a folder that is being written, or was replaced
PATIENCE = 20.0  # [s] for another process, which writes within a second
AT_FDCWD, RENAME_EXCHANGE, RENAME_SWAP = -100, 2, 2  # of Linux, Linux and macOS


class WritingError(OSError):
    """``generated/`` cannot be written."""


def write_tree(folder: Path, wanted: Mapping[str, str]) -> None:
    """Make a folder hold the wanted texts, by their places in it, and no other module or folder.

    Files that are no modules stay; files with the wanted text keep their time stamps.

    Raises
    ------
    WritingError
        The folder is as it was.
    """
    if folder.is_dir():
        folder = folder.resolve()  # it may be a link
    try:
        with _alone(folder.parent):
            _remove_left_over(folder)
            side = folder.with_name(f"{SIDE}{os.getpid()}")
            try:
                _fill(side, folder, wanted)
                _put_in_place(side, folder, wanted)
            finally:
                _remove(side)
    except OSError as error:
        raise WritingError(
            f"{folder.name}/ cannot be written: {error.strerror or error}; it is as it was before"
        ) from None


def surplus(folder: Path) -> list[str]:
    """Names of what is in a folder besides modules, the folder of whole-model kernels, and what Python does not import."""
    with suppress(OSError):
        return sorted(entry.name for entry in folder.iterdir() if not _harmless(entry) and not _belongs(entry))
    return []


def _belongs(entry: Path) -> bool:
    return entry.is_dir() if entry.name == WHOLE else entry.suffix == ".py" and entry.is_file()


def _harmless(entry: Path) -> bool:
    """Whether Python never imports it: caches, and files that are no modules."""
    if entry.name == "__pycache__":
        return entry.is_dir()
    return entry.name != WHOLE and entry.is_file() and not any(entry.name.endswith(suffix) for suffix in all_suffixes())


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process writes at a time; where folders cannot be locked, or the one that writes does not go on, any."""
    number, end = None, time.monotonic() + PATIENCE
    with suppress(ImportError, OSError):
        import fcntl

        number = os.open(folder, os.O_RDONLY)
        while time.monotonic() < end:
            with suppress(BlockingIOError):
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(0.05)
    try:
        yield
    finally:
        if number is not None:
            os.close(number)


def _remove_left_over(folder: Path) -> None:
    """Folders of processes that were killed; one is put back where the folder itself is missing."""
    for left in sorted(folder.parent.glob(f"{SIDE}*")):
        if left.name.endswith("-old") and not folder.exists():
            left.rename(folder)
        else:
            _remove(left)


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _fill(side: Path, folder: Path, wanted: Mapping[str, str]) -> None:
    """The new tree.  Compiled modules of Python (``__pycache__``) are left out, so that none can be older than its source."""
    side.mkdir()
    for place, text in wanted.items():
        file, present = side / place, folder / place
        file.parent.mkdir(exist_ok=True)
        if text_of(present) == text:
            shutil.copy2(present, file)
        else:
            file.write_text(text, encoding="utf-8", newline="\n")
    for within in {Path(place).parent for place in wanted}:
        for entry in (folder / within).iterdir() if (folder / within).is_dir() else ():
            if entry.is_file() and _harmless(entry):
                shutil.copy2(entry, side / within / entry.name)
    (side / TYPED).touch()
    if folder.is_dir():
        shutil.copymode(folder, side)


def _put_in_place(side: Path, folder: Path, wanted: Mapping[str, str]) -> None:
    if not os.path.lexists(folder):
        side.rename(folder)
    elif not _exchange(side, folder):
        old = side.with_name(f"{side.name}-old")
        try:
            folder.rename(old)
        except OSError:  # a folder that cannot be moved, such as a mounted one or one of a container's image
            _copy_into(folder, side, wanted)
            return
        try:
            side.rename(folder)  # after a kill before this line the next call puts the old folder back
        except OSError:
            old.rename(folder)
            raise
        _remove(old)


def _exchange(side: Path, folder: Path) -> bool:
    """Exchange two folders at once; False where the system cannot."""
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None, use_errno=True)
        one, other = os.fsencode(side), os.fsencode(folder)
        if sys.platform == "darwin":
            return bool(library.renamex_np(one, other, RENAME_SWAP) == 0)
        return bool(library.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0)
    return False


def _copy_into(folder: Path, side: Path, wanted: Mapping[str, str]) -> None:
    """Write the files one by one; the digests come last, so that a tree that is cut off is refused and made anew."""
    record = folder / "digests.py"
    (folder / TYPED).touch()
    for entry in sorted(folder.rglob("*"), reverse=True):
        if entry == folder / WHOLE and entry.is_dir():
            continue
        if not _harmless(entry) and str(entry.relative_to(folder)) not in wanted:
            _remove(entry)
    if text_of(record) != wanted.get(record.name):
        _remove(record)
    for place in sorted(wanted, key=lambda place: place == record.name):
        file = folder / place
        if text_of(file) != wanted[place]:
            if file.is_dir():
                _remove(file)
            if file.parent.exists() and not file.parent.is_dir():
                _remove(file.parent)
            file.parent.mkdir(exist_ok=True)
            part = file.with_name(f"{file.name}.part")
            shutil.copy2(side / place, part)
            part.replace(file)
