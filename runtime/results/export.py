"""Results as files: NetCDF, CSV, OpenSim storage."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.results.columns import columns_of
from runtime.results.dataset import to_xarray
from runtime.results.further_results import angles_of
from runtime.results.recorded import Recorded
from runtime.results.storage_columns import checked_columns, numbers_in_columns, one_line
from runtime.support.arguments import checked
from runtime.support.cells import cell
from runtime.support.errors import ModelError, shown
from runtime.support.files import free_file, whole_file, write_bytes


def to_netcdf(run: Recorded, file: Path, overwrite: bool) -> Path:
    """Write NetCDF by SciPy, without another library."""
    return write_dataset(to_xarray(run), file, overwrite=overwrite)


@checked
def write_dataset(data: Any, file: str | Path, *, overwrite: bool = False) -> Path:
    """Write a dataset of xarray as NetCDF, whole or not at all; returns the file.

    Raises
    ------
    ModelError
        The dataset is none, or the file exists, unless ``overwrite``, or cannot be written.
    """
    import xarray

    file = free_file(Path(file), overwrite)
    if not isinstance(data, xarray.Dataset):
        raise ModelError(f"{file}: data = {shown(data)}; give a dataset of xarray")
    # In memory first: a library that writes the file itself meets a full disk again when its objects are deleted.
    # Copied: a view of the memory of a stream that an error keeps alive makes Python 3.13 raise BufferError at any later place.
    with memoryview(data.to_netcdf(engine="scipy")) as view:
        content = bytes(view)
    return write_bytes(file, content)


def to_csv(run: Recorded, file: Path, overwrite: bool) -> Path:
    """Write comma-separated values in full precision, with units in the header."""
    names, units, values = columns_of(run)
    header = [f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True)]
    return write_columns(file, header, values, overwrite=overwrite)


@checked
def write_columns(
    file: str | Path, names: Sequence[str], values: ArrayLike, *, digits: int = 17, overwrite: bool = False
) -> Path:
    """Write comma-separated columns (n, columns) with a line of names, quoted where they contain commas; returns the file.

    Raises
    ------
    ModelError
        Names and values do not fit, or the file exists, unless ``overwrite``, or cannot be written.
    """
    file = free_file(Path(file), overwrite)
    values = numbers_in_columns(str(file), names, values)
    if not 1 <= digits <= 17:
        raise ModelError(f"{file}: digits = {digits}; give 1 to 17")
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(map(cell, names))
    line, fmt = header.getvalue()[:-1], f"%.{digits}g"
    with whole_file(file) as stream:
        np.savetxt(stream, values, fmt=fmt, delimiter=",", header=line, comments="", encoding="utf-8")
    return file


def to_sto(run: Recorded, file: Path, overwrite: bool) -> Path:
    """Write OpenSim storage, version 1: header, tab-separated columns, radians; '/' in names after the body, as in OpenSim.

    Columns with values that are not finite, such as a centre of pressure in the air, are left out: readers of these tables refuse
    them.
    """
    names, _, values = columns_of(run)
    finite = np.flatnonzero(np.isfinite(values).all(axis=0))
    names, values = [names[k] for k in finite], values[:, finite]
    title = one_line(run.system.name)
    # Readers of these tables split names at blanks: "knee (limit)" is "knee_limit" there.
    plain = [name.replace(" (", "_").replace(")", "").replace(".", "/") for name in names]
    return write_storage(file, title, plain, values, overwrite=overwrite)


def to_mot(run: Recorded, file: Path, overwrite: bool) -> Path:
    """Write the coordinates of the joints as OpenSim motion, angles in degrees."""
    listed = list(angles_of(run))
    if not listed:
        kinds = ", ".join(sorted({joint.kind for joint in run.system.joints})) or "none"
        raise ModelError(
            f"'{file}': system '{run.system.name}' has no joint with coordinates (joints: {kinds}); write to_sto() or to_csv()"
        )
    values = [np.rad2deg(values) if unit == "rad" else values for _, unit, values, _ in listed]
    names = ["time", *(name.replace(".", "_") for name, *_ in listed)]
    table = np.column_stack([run.t, *values])
    return write_storage(file, one_line(run.system.name), names, table, in_degrees=True, overwrite=overwrite)


@checked
def write_storage(
    file: str | Path,
    title: str,
    names: Sequence[str],
    values: ArrayLike,
    *,
    in_degrees: bool = False,
    overwrite: bool = False,
) -> Path:
    """Write columns as OpenSim storage (``.sto``) or motion (``.mot``) file; returns the file.

    Parameters
    ----------
    file : path
    title : str
        First line of the file.
    names : sequence of str
        Names of the columns, all different; the first is ``time``.
    values : (n, columns)
        In the units of the columns; a column for each name.  The times must be finite and must not decrease.
    in_degrees : bool
        Whether angles are in degrees.
    overwrite : bool
        Whether an existing file is replaced.

    Raises
    ------
    ModelError
        Where title, names or values do not fit the format, and where the file cannot be written, or exists and must not be
        overwritten.
    """
    file = Path(file)
    free_file(file, overwrite)
    table = checked_columns(file.name, title, names, values)
    degrees = "yes" if in_degrees else "no"
    head = [title, "version=1", f"nRows={len(table)}", f"nColumns={len(names)}", f"inDegrees={degrees}", "endheader"]
    header = "\n".join([*head, "\t".join(names)])
    with whole_file(file) as stream:
        np.savetxt(stream, table, fmt="%.17g", delimiter="\t", header=header, comments="", encoding="utf-8")
    return file
