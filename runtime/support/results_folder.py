"""Results folders: named by the command, never overwritten, made and tried before the work begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runtime.support.arguments import checked
from runtime.support.errors import ModelError
from runtime.support.files import reason, write_bytes
from runtime.support.logs import logger

LOG = logger(__name__)
TRIAL = ".trial"  # written and removed


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
        write_bytes(folder / TRIAL, b"\0").unlink()  # a full disk may have room for a folder, but not for a file
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
        with suppress(OSError):  # it holds files
            folder.rmdir()
        raise


def _free(folder: Path) -> Path:
    number, candidate = 1, folder
    while candidate.exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate
