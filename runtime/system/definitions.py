"""The generated definitions of a family, such as the joints, by name; a model imports those that it uses."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType


class Definitions(Mapping[str, ModuleType]):
    """Generated modules by the names of their definitions, imported when they are asked for."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> ModuleType:
        place = self._places[name]
        return sys.modules.get(place) or import_module(place)  # ``import_module`` alone takes 10 us

    def __contains__(self, name: object) -> bool:
        return name in self._places  # without importing it

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def is_own(module: ModuleType) -> bool:
    """Whether a module is that made by this program, as by ``codegen.compile_joint``, and not one of ``generated``."""
    return not module.__name__.startswith("generated.")
