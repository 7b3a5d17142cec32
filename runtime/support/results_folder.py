"""Results folders: named by the command, never overwritten."""

from __future__ import annotations

from pathlib import Path

from runtime.support.arguments import checked
from runtime.support.errors import ModelError


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
        The folder exists or cannot be made.
    """
    folder = Path(out) if out is not None else _free(Path(name))
    if folder.exists():
        raise ModelError(f"output folder '{folder}' exists; name another one, so that nothing is overwritten")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ModelError(f"output folder '{folder}' cannot be made: {error.strerror}; name another one") from None
    return folder


def _free(folder: Path) -> Path:
    number, candidate = 1, folder
    while candidate.exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate
