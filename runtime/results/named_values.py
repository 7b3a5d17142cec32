"""Results whose values are attributes by the names of a definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from runtime.support.arrays import Floats


class NamedValues:
    """Base of results with ``name``, ``kind`` and ``values``; ``lacks``: words for a part that has no value of a name."""

    lacks: ClassVar[str]

    def __getattr__(self, name: str) -> Floats:
        """A value."""
        if name.startswith("__"):
            raise AttributeError(name)
        values: Mapping[str, Floats] = object.__getattribute__(self, "values")
        if name not in values:
            raise AttributeError(f"{self.lacks.format(self.name, self.kind)} '{name}'; it has {', '.join(values)}")
        return values[name]
