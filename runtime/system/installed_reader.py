"""The installed reader of model files: ``models.read``, which stands above this package."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from runtime.support.errors import ModelError

GROUP = "talus.files"


def read_by_installed(file: str, arguments: dict[str, Any]) -> Any:
    """What the installed reader gives for a file.

    Raises
    ------
    ModelError
    """
    (reader,) = entry_points(group=GROUP, name="read") or (None,)
    if reader is None:
        raise ModelError(f"{file}: no reader of such files is installed; pip install 'talus-multibody[files]'")
    return reader.load()(file, **arguments)
