"""Read one trial: the reader by the ending of the file's name, ground forces and metadata from files beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np

from models.walking.capture.c3d import read_c3d, read_c3d_forces
from models.walking.capture.contents import UNITS, Contents, Wrench, printable
from models.walking.capture.conventions import to_capture
from models.walking.capture.metadata import add_metadata
from models.walking.capture.text_files import read_force_csv, read_marker_csv, read_storage, read_trc
from models.walking.capture.trial import Capture
from models.walking.capture.vertical import ROTATIONS
from runtime import ModelError
from runtime.support import checked, opened

Reader = TypeVar("Reader")

FORCE_ENDINGS = tuple(
    f"{tail}{kind}" for kind in (".mot", ".sto", ".csv") for tail in ("_grf", "_forces", "_grfs", "_GRF")
)

MARKER_READERS: dict[str, Callable[[Path, str | None], Contents]] = {
    ".c3d": read_c3d,
    ".trc": read_trc,
    ".csv": read_marker_csv,
}
FORCE_READERS: dict[str, Callable[[Path, str | None], tuple[list[Wrench], list[str]]]] = {
    ".mot": read_storage,
    ".sto": read_storage,
    ".csv": read_force_csv,
    ".c3d": read_c3d_forces,
}


@checked
def read_capture(
    path: str | Path, *, forces: str | Path | None = None, up: str | None = None, units: str | None = None
) -> Capture:
    """Read one trial of a motion laboratory.

    Parameters
    ----------
    path : path
        A file of markers: ``.c3d``, ``.trc`` or ``.csv``.
    forces : path, optional
        A file of ground forces: ``.mot``, ``.sto``, ``.csv`` or ``.c3d``.  By default the forces in the C3D file itself, else
        those of a file beside it (``walk_grf.mot`` for ``walk.trc``, ``walk_forces.csv`` for ``walk_markers.csv``, ...).
    up : {"x", "y", "z", "-x", "-y", "-z"}, optional
        The file's vertical axis.  By default the axis that the file states, else the one that its data show.
    units : {"mm", "cm", "m"}, optional
        Unit of the positions, for a file that does not state it or states it wrongly.

    Returns
    -------
    Capture
        In the axes and units of Talus: z up, right-handed, SI.  Every assumption that was not read from a file is listed in
        ``Capture.notes``.

    Raises
    ------
    ModelError
        With the file, the rule, the value and the remedy.
    """
    marker_file = Path(path)
    force_file = None if forces is None else Path(forces)
    vertical = None if up is None else up.lstrip("+").lower()
    if vertical not in (None, *ROTATIONS):
        raise ModelError(f"up = {up!r}; use one of {', '.join(ROTATIONS)}")
    if units not in (None, *UNITS):
        raise ModelError(f"units = {units!r}; use 'mm', 'cm' or 'm', the unit of the positions")
    try:
        with np.errstate(all="ignore"):  # numbers that are not finite are judged, sample by sample
            return to_capture(_contents(marker_file, force_file, units), vertical)
    except ModelError as error:
        raise ModelError(printable(str(error))) from None


def _contents(marker_file: Path, force_file: Path | None, units: str | None) -> Contents:
    """Contents of a file of markers, with forces of another file or of one beside it, and the metadata."""
    hint = ", which holds forces: give it as forces=" if marker_file.suffix.lower() in FORCE_READERS else ""
    contents = _reader(marker_file, MARKER_READERS, f"{hint}; markers")(marker_file, units)
    if force_file is None and not contents.wrenches:
        force_file = _force_file_beside(contents)
    if force_file is not None:
        read_forces = _reader(force_file, FORCE_READERS, "; forces")
        if contents.wrenches:
            contents.notes.append(f"the force plates of {marker_file.name} are replaced by those of {force_file.name}")
        contents.wrenches, notes = read_forces(force_file, units)
        contents.notes += notes
    add_metadata(contents)
    return contents


def _reader(path: Path, readers: Mapping[str, Reader], what: str) -> Reader:
    if path.suffix.lower() not in readers:
        raise ModelError(
            f"{path.name}: no reader for files that end with '{path.suffix}'{what} are read from {', '.join(readers)}"
        )
    with opened(path, "check the name, the folder and the rights; give the file of one trial"):
        return readers[path.suffix.lower()]


def _force_file_beside(contents: Contents) -> Path | None:
    path = contents.path
    stem = path.stem.removesuffix("_markers")
    found = [path.with_name(stem + ending) for ending in FORCE_ENDINGS]
    found = [candidate for candidate in found if candidate.is_file() and candidate != path]
    if not found:
        return None
    others = f", and not from {', '.join(other.name for other in found[1:])}" if found[1:] else ""
    contents.notes.append(f"ground forces are read from {found[0].name} beside {path.name}{others}")
    return found[0]


def read_markers(path: str | Path, *, up: str | None = None, units: str | None = None) -> Capture:
    """As ``read_capture``, without files of forces and metadata beside the file.

    Raises
    ------
    ModelError
    """
    file = Path(path)
    vertical = None if up is None else up.lstrip("+").lower()
    if vertical not in (None, *ROTATIONS) or units not in (None, *UNITS):
        return read_capture(file, up=up, units=units)  # refuses the option
    try:
        with np.errstate(all="ignore"):
            return to_capture(marker_contents(file, units), vertical)
    except ModelError as error:
        raise ModelError(printable(str(error))) from None


def marker_contents(file: Path, units: str | None) -> Contents:
    """The markers of a file in its own axes, which need not be those of a person.

    Raises
    ------
    ModelError
    """
    return _reader(file, MARKER_READERS, "; markers")(file, units)
