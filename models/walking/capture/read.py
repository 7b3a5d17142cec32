"""Read one trial: the reader by the ending of the file's name, ground forces and metadata from files beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from models.walking.capture.c3d import read_c3d, read_c3d_forces
from models.walking.capture.contents import UNITS, Contents, Wrench, first_line, gait_event, side_of
from models.walking.capture.conventions import to_capture
from models.walking.capture.text_files import read_force_csv, read_marker_csv, read_storage, read_trc
from models.walking.capture.trial import Capture, Subject
from models.walking.capture.vertical import ROTATIONS
from runtime import ModelError
from runtime.support import checked

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
    _add_metadata(contents)
    return to_capture(contents, vertical)


def _reader(path: Path, readers: Mapping[str, Reader], what: str) -> Reader:
    if path.suffix.lower() not in readers:
        raise ModelError(
            f"{path.name}: no reader for files that end with '{path.suffix}'{what} are read from {', '.join(readers)}"
        )
    if not path.exists():
        raise ModelError(f"{path}: no such file; check the name and the folder")
    if not path.is_file():
        raise ModelError(f"{path}: not a file; give the file of one trial")
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


def _add_metadata(contents: Contents) -> None:
    """Add events, subject and feet from ``X_meta.json`` beside ``X_markers.csv`` where the file itself has none."""
    path = contents.path
    meta = path.with_name(path.stem.removesuffix("_markers") + "_meta.json")
    if not meta.is_file():
        return
    try:
        stored = json.loads(meta.read_text(encoding="utf-8"))
        events = [(float(e["time"]), str(e["label"]), str(e["side"])) for e in stored.get("events", [])]
        feet = {str(plate): side_of(str(value.get("foot") or "")) for plate, value in stored.get("plates", {}).items()}

        def given(kind: type, key: str) -> Any:
            return None if stored.get(key) is None else kind(stored[key])

        subject = Subject(
            name=given(str, "subject"),
            mass=given(float, "mass_kg"),
            height=given(float, "height_m"),
            sex=given(str, "sex"),
            age=given(float, "age"),
        )
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise ModelError(
            f"{meta.name}: cannot be read ({first_line(error)}); it must be JSON with events of time, label and side, mass_kg, "
            "height_m and plates with a foot each; correct it or move it away"
        ) from None
    added = []
    if not contents.events and events:
        contents.events = [event for e in events if (event := gait_event(*e)) is not None]
        added.append("events")
    if contents.subject == Subject():
        contents.subject = subject
        added.append("subject")
    if any(feet.get(wrench.plate) for wrench in contents.wrenches):
        contents.wrenches = [wrench._replace(foot=feet.get(wrench.plate)) for wrench in contents.wrenches]
        added.append("the feet on the plates")
    if added:
        contents.notes.append(f"{', '.join(added)} are read from {meta.name} beside {path.name}")
