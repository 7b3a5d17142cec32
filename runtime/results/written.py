"""Files and datasets of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from runtime.results import export
from runtime.results.columns import columns_of
from runtime.results.dataset import to_xarray
from runtime.results.parquet import write_parquet
from runtime.results.recorded import Recorded
from runtime.support.arguments import checked_class
from runtime.support.files import free_file

if TYPE_CHECKING:
    import xarray


@checked_class
class WrittenRun:
    """The part of a run that makes datasets and writes files."""

    def to_xarray(self: Recorded) -> xarray.Dataset:  # type: ignore[misc]
        """A labelled dataset with units: time, body, axis, row; attributes name the model and the method."""
        return to_xarray(self)

    def to_netcdf(self: Recorded, file: str | Path, *, overwrite: bool = False) -> Path:  # type: ignore[misc]
        """Write the dataset as NetCDF; returns the file.  An existing file is refused unless ``overwrite``."""
        return export.to_netcdf(self, Path(file), overwrite)

    def to_csv(self: Recorded, file: str | Path, *, overwrite: bool = False) -> Path:  # type: ignore[misc]
        """Write a table, one line per time, columns ``body.r_x [m]`` and so on; returns the file."""
        return export.to_csv(self, Path(file), overwrite)

    def to_parquet(self: Recorded, file: str | Path, *, overwrite: bool = False) -> Path:  # type: ignore[misc]
        """Write the table of ``to_csv`` as Parquet, by pyarrow (extra ``parquet``); returns the file.

        Each column has its unit in its name, and as ``unit`` in the metadata of its field.
        """
        path = free_file(Path(file), overwrite)
        names, units, values = columns_of(self)
        return write_parquet(path, zip(names, units, values.T, strict=True))

    def to_sto(self: Recorded, file: str | Path, *, overwrite: bool = False) -> Path:  # type: ignore[misc]
        """Write an OpenSim storage file with the same columns; returns the file."""
        return export.to_sto(self, Path(file), overwrite)

    def to_mot(self: Recorded, file: str | Path, *, overwrite: bool = False) -> Path:  # type: ignore[misc]
        """Write the coordinates of the joints as an OpenSim motion file, ``ankle_theta_i`` and so on; returns the file.

        Angles are in degrees, distances in metres.
        """
        return export.to_mot(self, Path(file), overwrite)
