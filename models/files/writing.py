"""Writes a model as a file of another program."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models.files.description import Omitted
from models.files.mjcf_writing import mjcf_text
from models.files.opensim_writing import opensim_text
from models.files.own_file import OwnReading
from models.files.reading import Reading
from models.files.urdf_writing import urdf_text
from models.files.written_tree import SORTS, Tree, tree_of
from runtime import Builder, ModelError, System
from runtime.support import DOWN, checked, free_file, write_text

WRITERS: dict[str, Callable[[Tree], str]] = {
    ".xml": mjcf_text, ".mjcf": mjcf_text, ".urdf": urdf_text, ".osim": opensim_text,
}  # fmt: skip
ALL_SORTS = (*SORTS, "springs")


@dataclass(frozen=True, eq=False)
class Writing:
    """A file that was written, and what of the model is not in it.

    ``left_out``: what does not change the motion, and what the format states in another way; ``ignored``: what changes the
    motion, and was named in ``ignore=``.
    """

    file: Path
    left_out: tuple[Omitted, ...]
    ignored: tuple[Omitted, ...]

    def rows(self) -> list[tuple[str, str, str]]:
        """Sort, names and reason of all that is not in the file, for a table."""
        ignored = [(one.sort, ", ".join(one.names), f"ignored: {one.reason}") for one in self.ignored]
        return ignored + [(one.sort, ", ".join(one.names), one.reason) for one in self.left_out]


@checked
def write(
    model: System | Builder | Reading | OwnReading,
    file: str | Path,
    *,
    ignore: str | Collection[str] = (),
    overwrite: bool = False,
) -> Writing:
    """Write a model as MJCF (.xml, .mjcf), URDF (.urdf), OpenSim (.osim), or Talus's own file (.json).

    Parameters
    ----------
    model : System, Builder, or what ``models.read`` returned
    file : str or Path
    ignore : str or collection of str
        Kinds of parts that are left out although the motion would be another with them, such as "limits,contacts".
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    ModelError
        For parts that the format cannot state and that are not ignored, and for a file that cannot be written.
    """
    path, system = Path(file), model if isinstance(model, System) else model.build()
    if isinstance(ignore, str):
        ignore = [word.strip() for word in ignore.split(",") if word.strip()]
    for sort in ignore:
        if sort not in ALL_SORTS:
            raise ModelError(f"ignore: unknown kind of parts '{sort}'; the kinds of parts are {', '.join(ALL_SORTS)}")
    suffix = path.suffix.lower()
    if suffix == ".json":
        return Writing(system.to_file(path, overwrite=overwrite), (), ())
    if suffix not in WRITERS:
        raise ModelError(f"{path.name}: a model is written as .xml or .mjcf, .urdf, .osim, or .json; give one of these")
    tree = tree_of(system, ignore, mjcf=suffix in (".xml", ".mjcf"), bushings=suffix == ".osim")
    if suffix == ".urdf" and not np.array_equal(system.gravity, DOWN):
        tree.ignored.append(
            Omitted("gravity", (system.name,), f"URDF states none, and readers take {DOWN} m/s^2", True)
        )
    if tree.locked and suffix != ".osim":
        tree.left_out.append(
            Omitted("locked coordinates", tuple(sorted(tree.locked)), "their bodies are written as welded")
        )
    text = WRITERS[suffix](tree)
    for one in tree.ignored:
        if one.sort not in ignore:
            raise ModelError(
                f"system '{system.name}': {one.sort} ({', '.join(one.names[:6])}: {one.reason}); remove them, or "
                f"ignore='{one.sort}'"
            )
    write_text(free_file(path, overwrite), text)
    return Writing(path, tuple(tree.left_out), tuple(tree.ignored))
