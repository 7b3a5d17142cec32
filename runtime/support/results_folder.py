"""Results folders: named by the command, made and tried before the work begins.

A file marks a folder that Talus made, or found empty: only there it replaces files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path

from runtime.support.arguments import checked
from runtime.support.errors import ModelError
from runtime.support.files import is_unfinished, reason, write_text
from runtime.support.logs import logger

LOG = logger(__name__)
MARK, MARKED = ".talus", "Talus made this folder, and may replace files in it.\n"


@checked
def results_folder(out: str | Path | None, name: str) -> Path:
    """Make and return the folder for results.

    Parameters
    ----------
    out : path, optional
        The folder that the user names; it must not exist yet.  Default: ``name`` in the current folder, with the first
        free number behind it.
    name : str

    Raises
    ------
    ModelError
        The folder exists or cannot be made, or no file can be written there.
    """
    try:
        folder = Path(out).expanduser() if out is not None else _free(Path(name))
        if str(folder).startswith("-"):  # --out --json
            raise ModelError(f"output folder '{folder}' has the name of an option; give the name of a folder")
        folder.mkdir(parents=True)
    except FileExistsError as error:
        where = error.filename
        raise ModelError(f"output folder '{where}' exists; name another one, so that nothing is overwritten") from None
    except ModelError:
        raise
    except (OSError, ValueError, TypeError, RuntimeError) as error:  # the last: whose home folder is not known
        wanted = name if out is None else out
        raise ModelError(f"output folder '{wanted}' cannot be made: {reason(error)}; name another one") from None
    try:
        write_text(folder / MARK, MARKED)  # a full disk may have room for a folder, but not for a file
    except ModelError:
        with suppress(OSError):
            folder.rmdir()
        raise
    LOG.info("results go to %s", folder)
    return folder


@contextmanager
def results_in(out: str | Path | None, name: str) -> Iterator[Path]:
    """Make the folder for results, as ``results_folder`` does; it is removed again if the block fails and has written nothing."""
    folder = results_folder(out, name)
    try:
        yield folder
    except BaseException:
        remove_unused(folder)
        raise


def remove_unused(folder: Path) -> None:
    """Remove a folder that holds nothing but its mark."""
    with suppress(OSError):
        if os.listdir(folder) == [MARK]:
            (folder / MARK).unlink()
            folder.rmdir()


def is_own(folder: Path) -> bool:
    """Whether a folder has Talus's mark."""
    mark = folder / MARK
    try:
        return not mark.is_symlink() and mark.is_file() and mark.read_bytes() == MARKED.encode()
    except (OSError, ValueError):
        return False


def own_folder(folder: Path) -> Path:
    """Make and mark a folder, or accept one that is empty or that Talus marked, and that holds no links; returns it.

    Raises
    ------
    ModelError
        Where the folder holds files of somebody else or a link, or cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not is_own(folder):
            if any(not is_unfinished(name) for name in os.listdir(folder)):
                raise ModelError(f"{folder} holds other files; give an empty folder, or one that does not exist")
            try:
                write_text(folder / MARK, MARKED)
            except ModelError:
                if not is_own(folder):  # by another process, which removes what is half written
                    raise
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{folder} cannot be written to ({reason(error)}); give another folder") from None
    refuse_links(folder)
    return folder


def refuse_links(folder: Path) -> None:
    """Refuse a folder that holds a link, by whose name a file would go elsewhere, or a pipe or device, which may wait for ever.

    Raises
    ------
    ModelError
    """
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if (entry := Path(place, name)).is_symlink():
                raise ModelError(
                    f"{entry} is a link, which may lead out of the folder; remove it, or give another folder"
                )
            if os.path.lexists(entry) and not (
                entry.is_file() or entry.is_dir()
            ):  # parts of other processes go at any time
                raise ModelError(f"{entry} is a pipe, a socket or a device, no file; remove it, or give another folder")


def _free(folder: Path) -> Path:
    names = chain([folder.name], (f"{folder.name}-{number}" for number in count(2)))
    return next(free for name in names if not (free := folder.with_name(name)).exists())
