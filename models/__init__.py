"""Published mechanisms: a module each, with its data and a ``build`` function that returns a ``runtime.System``.

``read`` and ``write`` read and write models of other programs, ``swap`` swaps their ankle; ``files`` holds what they return.
``isb`` measures a foot: the angles of the ankle that the ISB recommends.  ``walking`` holds motion capture, gait analysis and
contact of gait; ``studies`` reproduces the papers, and nothing here imports it.  Modules of this folder import the public names
of ``runtime`` and one another.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from models.hidden_runtime import refuse_hidden_runtime

refuse_hidden_runtime()  # before anything is imported from runtime

if TYPE_CHECKING:
    from models import (
        chain,
        double_pendulum,
        files,
        foot,
        foot_ground,
        foot_ligaments,
        foot_orthosis,
        foot_sole,
        four_bar,
        free_body,
        hooke_shaft,
        isb,
        pendulum,
        walking,
    )
    from models.files.reading import read
    from models.files.swapping import swap
    from models.files.writing import write

__all__ = [
    "chain",
    "double_pendulum",
    "files",
    "foot",
    "foot_ground",
    "foot_ligaments",
    "foot_orthosis",
    "foot_sole",
    "four_bar",
    "free_body",
    "hooke_shaft",
    "isb",
    "pendulum",
    "read",
    "swap",
    "walking",
    "write",
]


def __getattr__(name: str) -> Any:
    """Import a model, or the reader of files, when it is first used."""
    if name not in __all__:
        from runtime.support import no_attribute

        raise no_attribute("module 'models'", name, __all__)
    if name == "read":
        return import_module("models.files.reading").read
    if name == "swap":
        return import_module("models.files.swapping").swap
    if name == "write":
        return import_module("models.files.writing").write
    return import_module(f"models.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
