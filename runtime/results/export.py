"""Datasets and columns as files: NetCDF, CSV, OpenSim storage."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.results.storage_columns import checked_columns, numbers_in_columns
from runtime.support.arguments import checked
from runtime.support.cells import cell
from runtime.support.errors import ModelError, shown
from runtime.support.files import free_file, whole_file, write_bytes


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
    file = free_file(Path(file), overwrite)
    table = checked_columns(file.name, title, names, values)
    degrees = "yes" if in_degrees else "no"
    head = [title, "version=1", f"nRows={len(table)}", f"nColumns={len(names)}", f"inDegrees={degrees}", "endheader"]
    header = "\n".join([*head, "\t".join(names)])
    with whole_file(file) as stream:
        np.savetxt(stream, table, fmt="%.17g", delimiter="\t", header=header, comments="", encoding="utf-8")
    return file
