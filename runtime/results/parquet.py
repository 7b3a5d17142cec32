"""Tables as Parquet files, by pyarrow: the columns of the CSV files, units in names and in the metadata of each column."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from runtime.support.errors import ModelError
from runtime.support.files import write_bytes


def write_parquet(file: Path, columns: Iterable[tuple[str, str, Any]]) -> Path:
    """Write columns, each name, unit (or "") and values (n,), whole or not at all; returns the file.

    A column ``angle`` in rad is named ``angle [rad]``, as in CSV, and its field has the metadata ``unit``.  Names that
    occur again are numbered: ``length (2) [m]``.

    Raises
    ------
    ModelError
        pyarrow is not installed, or the file cannot be written.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ModelError(
            f"cannot write '{file}': Parquet needs pyarrow; pip install 'talus-multibody[parquet]', or write CSV by to_csv"
        ) from None
    arrays, fields = [], []
    count: Counter[str] = Counter()
    for name, unit, values in columns:
        count[name] += 1
        own = name if count[name] == 1 else f"{name} ({count[name]})"
        array = pyarrow.array(values)
        arrays.append(array)
        header = f"{own} [{unit}]" if unit else own
        fields.append(pyarrow.field(header, array.type, metadata={"unit": unit} if unit else None))
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays, schema=pyarrow.schema(fields)), content)
    return write_bytes(file, content.getvalue())
