"""The folder of the cache: where it is, who may write there, and the mark by which Talus knows it as its own.

This module imports nothing of Talus: ``codegen`` runs its file, since ``runtime`` refuses to be imported with stale kernels.
Code and pickles come only from files that the user or root owns and nobody else can write, in such a folder.  Windows has no such
owners and modes; nothing is checked there.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

SETTING, XDG = "TALUS_CACHE_DIR", "XDG_CACHE_HOME"
NAME = "talus"  # of the cache in the folder that a variable names
MARK = "CACHEDIR.TAG"
TEXT = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is the cache of Talus, which removes its own files from it.  See https://bford.info/cachedir/\n"
)
TIDIED, TEXTS = "tidied", ("joints", "forces", "events", "whole")
# Folders in the cache: digests of sources, these, and the records of earlier versions.
ROOMS = re.compile("|".join(("[0-9a-f]{16}", *TEXTS, "checkouts")))
# Files in these rooms: code with its locks and parts, records and kernels.
FILES = re.compile(
    r".+-[0-9a-f]{20}(\.lock|\.\d+)?|[0-9a-f]{16}\.json(\.\d+)?|(model_)?[0-9a-f]{16,32}(\.py(\.\d+)?|\.[\w.-]+\.pyc)"
)
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
SAFE = "code is taken only from a folder that you own and nobody else can write"


def cache_folder() -> Path:
    """The folder of the cache: ``talus`` in the folder that TALUS_CACHE_DIR or XDG_CACHE_HOME names, or in ``~/.cache``.

    Relative paths are ignored.  A folder that others can write is not used: the next one is, or else none, and one sentence
    says so.  Users without a home folder, as in some containers, have none: the path returned cannot exist.
    """
    return _found(os.environ.get(SETTING), os.environ.get(XDG), os.environ.get("HOME"))


@cache
def _found(given: str | None, xdg: str | None, home: str | None) -> Path:
    wanted = [_expanded(given)] if given else []
    flaws = []
    if wanted and not wanted[0].is_absolute():
        flaws, wanted = [f"{SETTING} = '{given}' is ignored, since it is relative"], []
    wanted.append(Path(xdg) if xdg and Path(xdg).is_absolute() else _expanded("~/.cache"))
    for folder in (base / NAME for base in wanted):
        if not (flaw := flaw_of(folder)):
            break
        flaws.append(f"the cache {folder} is not used, since {flaw}: {SAFE}")
    else:
        folder = Path(os.devnull, NAME)
    if flaws:
        os.environ[SETTING] = str(folder.parent)  # for the processes that this one starts
        kept = "not kept" if folder.parent == Path(os.devnull) else f"kept in {folder} instead"
        _say(f"{flaws[0]}; compiled code is {kept}; set {SETTING} to a folder of your own")
    return folder


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # there is no such home folder
        return Path(os.devnull, path)


def _say(message: str) -> None:
    """As ``runtime.support.streams.tell``: this file is run without the package by ``codegen``."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(message, file=sys.stderr, flush=True)


def flaw_of(folder: Path) -> str:
    """Why others may write in a folder, or replace it: owner or mode of it or of a folder above; "" where they cannot.

    A folder above may be sticky, as /tmp is: then nobody else can rename or remove what the user owns in it.
    """
    if os.name != "posix":
        return ""
    real = Path(os.path.realpath(folder))
    for place in dict.fromkeys((real, *real.parents, folder, *folder.parents)):
        try:
            found = place.lstat()
        except OSError:  # it is made later, by the user; or the cache cannot be there at all
            continue
        above = place not in (real, folder)
        if found.st_uid not in (0, os.geteuid(), _unmapped_root() if above else 0):
            return f"'{place}' belongs to {_user(found.st_uid)}"
        if stat.S_ISDIR(found.st_mode) and _open(found) and not (above and found.st_mode & stat.S_ISVTX):
            return f"others can write in '{place}'"
    return ""


@cache
def _unmapped_root() -> int:
    """The user that root's folders seem to have in a container that does not know root, as those of clusters; else 0."""
    with suppress(OSError, ValueError):
        outside = [int(line.split()[1]) for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()]
        if 0 not in outside:
            return int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="ascii"))
    return 0


def _open(found: os.stat_result) -> bool:
    """Whether others can write; the group of a user, which has no other members, is not others."""
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


@cache
def _is_own_group(number: int) -> bool:
    with suppress(ImportError, KeyError):
        import grp
        import pwd

        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
        return user.pw_gid == number and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
    return False


def _user(number: int) -> str:
    with suppress(ImportError, KeyError):
        import pwd

        return f"the user '{pwd.getpwuid(number).pw_name}'"
    return f"the user {number}"


def read(file: Path) -> bytes:
    """The content of a file of the cache.

    Raises
    ------
    OSError
        Also where it is no file, or another user owns it or can write it.
    """
    # A pipe would wait for its writer.
    number = os.open(file, os.O_RDONLY | NO_LINK | getattr(os, "O_NONBLOCK", 0))
    with open(number, "rb") as stream:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{file} is no file")
        if os.name == "posix" and (found.st_uid not in (0, os.geteuid()) or _open(found)):
            raise PermissionError(f"{file} is not the user's alone")
        return stream.read()


def write(file: Path, data: bytes) -> None:
    """Write a file of the cache, of which other processes see all or nothing.

    Raises
    ------
    OSError
    """
    make_room(file.parent)
    part = file.with_name(f"{file.name}.{os.getpid()}")
    with suppress(OSError):  # of a process that was killed
        part.unlink()
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o644), "wb") as stream:
            stream.write(data)
        part.replace(file)
    finally:
        with suppress(OSError):
            part.unlink()


def make_room(room: Path) -> None:
    """Make a folder in the cache, and the cache with its mark; only their owner has access to new folders.

    Raises
    ------
    OSError
    """
    folder = room.parent
    new = [place for place in (room, folder, *folder.parents) if not os.path.lexists(place)]
    for place in reversed(new):
        with suppress(FileExistsError):  # another process has made it
            place.mkdir(0o700)
    if not (folder / MARK).exists() and folder in new:
        with suppress(OSError), (folder / MARK).open("x", encoding="utf-8") as stream:
            stream.write(TEXT)


def is_marked(folder: Path) -> bool:
    """Whether a folder has the mark of Talus, so that what has names of Talus's in it may be removed."""
    with suppress(OSError, ValueError):
        return not folder.is_symlink() and read(folder / MARK).startswith(TEXT.encode())
    return False


def rooms_of(folder: Path) -> list[Path]:
    """The folders that Talus has made in its cache; no links."""
    if not is_marked(folder):
        return []
    return [entry for entry in folder.iterdir() if ROOMS.fullmatch(entry.name) and _is_folder(entry)]


def files_of(room: Path) -> list[Path]:
    """What has names of Talus's files in a folder of the cache."""
    found = [room, *([room / "__pycache__"] if _is_folder(room / "__pycache__") else [])]
    entries = (entry for place in found for entry in place.iterdir())
    return [entry for entry in entries if FILES.fullmatch(entry.name) and not _is_folder(entry)]


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def remove(room: Path) -> None:
    """Remove Talus's files from a folder of the cache, and the folder if it is empty then; no link is followed."""
    with suppress(OSError):
        for file in files_of(room):
            file.unlink(missing_ok=True)
        for place in (room / "__pycache__", room):
            with suppress(OSError):
                place.rmdir()


def clear(folder: Path) -> None:
    """Remove what is Talus's from its cache; what else is there stays, and so does a folder without the mark."""
    with suppress(OSError):
        if is_marked(folder):
            for room in rooms_of(folder):
                remove(room)
            (folder / TIDIED).unlink(missing_ok=True)
            if {entry.name for entry in folder.iterdir()} <= {MARK}:
                (folder / MARK).unlink(missing_ok=True)
                folder.rmdir()
