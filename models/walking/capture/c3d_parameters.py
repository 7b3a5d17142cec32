"""Parameters of a C3D file by group and name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from runtime.support.arrays import Floats


class Parameters:
    """Parameters by group and name, regardless of case; absent ones are empty."""

    def __init__(self, groups: Mapping[str, Mapping[str, Any]]) -> None:
        self._values = {
            (group.upper(), name.upper()): value for group, members in groups.items() for name, value in members.items()
        }

    def numbers(self, group: str, name: str) -> Floats:
        """All values of a numeric parameter."""
        try:
            return np.array(self._values.get((group, name), []), dtype=float)
        except ValueError:
            return np.array([])

    def number(self, group: str, name: str) -> float | None:
        """First value of a numeric parameter."""
        return next(iter(self.numbers(group, name).ravel().tolist()), None)

    def texts(self, group: str, name: str) -> list[str]:
        """Texts of NAME, NAME2, NAME3, ...: one parameter holds at most 255."""
        found: list[str] = []
        for key in (name, *(f"{name}{k}" for k in range(2, 100))):
            if (group, key) not in self._values:
                break
            found += [text for text in self._values[group, key] if isinstance(text, str)]
        return found

    def text(self, group: str, name: str) -> str:
        """First text of a parameter."""
        return next(iter(self.texts(group, name)), "").strip()

    def of_plate(self, name: str, k: int, dimensions: int) -> Floats:
        """Values of a FORCE_PLATFORM parameter for plate k; its last dimension counts the plates, or is absent for one plate."""
        values = self.numbers("FORCE_PLATFORM", name)
        stacked = values[..., None] if values.ndim == dimensions else values
        known = stacked.ndim == dimensions + 1 and k < stacked.shape[-1]
        return np.asarray(stacked[..., k]) if known else np.array([])
