"""Files and datasets of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from runtime.results.columns import columns_of
from runtime.results.dataset import to_xarray
from runtime.results.export import write_columns, write_dataset, write_storage
from runtime.results.parquet import write_parquet
from runtime.results.recorded import RecordedRun
from runtime.results.recorded_quantities import angles_of
from runtime.results.storage_columns import one_line
from runtime.support.arguments import checked_class
from runtime.support.errors import ModelError
from runtime.support.files import free_file

if TYPE_CHECKING:
    import xarray


@checked_class
class WrittenRun(RecordedRun):
    """The part of a run that makes datasets and writes files."""

    def to_xarray(self) -> xarray.Dataset:
        """A labelled dataset with units: time, body, axis, row; attributes name the model and the method."""
        return to_xarray(self)

    def to_netcdf(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the dataset as NetCDF; returns the file.  An existing file is refused unless ``overwrite``."""
        return write_dataset(to_xarray(self), file, overwrite=overwrite)

    def to_csv(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write a table, one line per time, columns ``body.r_x [m]`` and so on; returns the file."""
        names, units, values = columns_of(self)
        header = [f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True)]
        return write_columns(file, header, values, overwrite=overwrite)

    def to_parquet(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the table of ``to_csv`` as Parquet, by pyarrow (extra ``parquet``); returns the file.

        Each column has its unit in its name, and as ``unit`` in the metadata of its field.
        """
        path = free_file(Path(file), overwrite)
        names, units, values = columns_of(self)
        return write_parquet(path, zip(names, units, values.T, strict=True))

    def to_sto(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write an OpenSim storage file with the same columns; returns the file.

        Angles are in radians.  Columns with values that are not finite, such as a centre of pressure in the air, are left out:
        readers of these tables refuse them.
        """
        names, _, values = columns_of(self)
        finite = np.flatnonzero(np.isfinite(values).all(axis=0))
        # As in OpenSim "/" follows the body.  Readers of these tables split names at blanks: "knee (limit)" becomes "knee_limit".
        plain = [names[k].replace(" (", "_").replace(")", "").replace(".", "/") for k in finite]
        return write_storage(file, one_line(self.system.name), plain, values[:, finite], overwrite=overwrite)

    def to_mot(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the coordinates of the joints as an OpenSim motion file, ``ankle_theta_i`` and so on; returns the file.

        Angles are in degrees, distances in metres.
        """
        listed = list(angles_of(self))
        if not listed:
            kinds = ", ".join(sorted({joint.kind for joint in self.system.joints})) or "none"
            raise ModelError(
                f"'{file}': system '{self.system.name}' has no joint with coordinates (joints: {kinds}); write to_sto() or "
                "to_csv()"
            )
        names = ["time", *(name.replace(".", "_") for name, *_ in listed)]
        values = [np.rad2deg(values) if unit == "rad" else values for _, unit, values, _ in listed]
        table = np.column_stack([self.t, *values])
        return write_storage(file, one_line(self.system.name), names, table, in_degrees=True, overwrite=overwrite)
