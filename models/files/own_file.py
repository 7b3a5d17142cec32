"""Talus's own file, read as files of other programs are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.files.description import Frame, Omitted
from runtime import Builder, ModelError, System
from runtime.support import read_file


@dataclass(frozen=True, eq=False)
class OwnReading:
    """A model that was read from Talus's own file, which leaves nothing out."""

    file: Path
    left_out: tuple[Omitted, ...] = ()
    ignored: tuple[Omitted, ...] = ()

    def builder(self) -> Builder:
        """A new builder with the model, to which more may be added.  Raises ModelError."""
        return Builder.from_file(self.file)

    def build(self, **options: Any) -> System:
        """The system; ``options``: those of ``Builder.build``.

        Without options the system of the file, with the bits that it was written with.  Where the file holds none, or was edited
        since, ``Builder.build`` makes one.

        Raises
        ------
        ModelError, AssemblyError
        """
        builder = self.builder()
        own = json.loads(read_file(self.file)).get("system", {})
        if own and not options:
            try:
                return System.from_file(self.file)
            except ModelError:
                pass  # edited: the builder has the model as it is now
        given: dict[str, Any] = {"check_units": False, "time": float(own.get("time", 0.0))}
        build = builder.build_overdetermined if own.get("overdetermined") else builder.build
        try:
            return build(**{**given, **options})
        except ModelError as error:
            raise type(error)(f"{self.file.name}: {error}") from None

    @property
    def frames(self) -> dict[str, Frame]:
        """Frames by name, from the centre of mass of their bodies."""
        return {one.name: Frame(one.name, one.body, one.s, one.A, "frame") for one in self.builder().frames}

    def rows(self) -> list[tuple[str, str, str]]:
        """Parts that are not in the model, for a table: none."""
        return []


def read_own(file: Path) -> OwnReading:
    """Read a file that ``System.to_file`` or ``Builder.to_file`` wrote, or one of this format written by hand.

    Raises
    ------
    ModelError
    """
    Builder.from_file(file)  # refuses what is malformed at once
    return OwnReading(file)
