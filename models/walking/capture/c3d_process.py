"""A process beside this one that reads C3D files with ezc3d, which ends its process on some damaged files.

The process is started for the first file, reads one after another, and ends with this one.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import IO, Any

from models.walking.capture import c3d_program
from models.walking.capture.contents import first_line
from runtime import ModelError
from runtime.support import EndedError, Helper

PROGRAM = Path(c3d_program.__file__)
PATIENCE, PER_BYTE = 60.0, 1e-5  # [s] for a file: a fixed part, and for each byte


_READER = Helper(lambda: [sys.executable, "-P", str(PROGRAM), str(_library())])


def _library() -> Path:
    """The folder that holds the library."""
    found = importlib.util.find_spec("ezc3d")
    if found is None or found.origin is None:
        raise ModelError("reading C3D needs ezc3d: pip install 'talus-multibody[gait]'")
    return Path(found.origin).parents[1]


def read(path: Path) -> dict[str, Any]:
    """Contents of a file, as ``c3d_program.read`` returns them.

    Raises
    ------
    ModelError
        For a file that the library refuses, or that ends it; without the library.
    """
    _library()

    def talk(requests: IO[bytes], answers: IO[bytes]) -> tuple[str, Any]:
        c3d_program.send(requests, os.path.abspath(path))
        kind, answer = c3d_program.receive(answers)
        return kind, answer

    try:
        if not Path(sys.executable or "").name.startswith("python"):
            raise OSError  # Python is part of another program
        kind, answer = _READER.ask(talk, PATIENCE + PER_BYTE * path.stat().st_size)
        if kind == "refused":
            _READER.stop()  # its memory may be damaged now
    except EndedError as ended:
        kind, answer = "ended", "takes too long" if ended.late else "ends the process of the library that reads it"
    except OSError:  # no process can be started; the file has passed the check of its bytes
        try:
            return c3d_program.read(str(path))
        except Exception as error:
            kind, answer = "refused", str(error)
    if kind == "read":
        contents: dict[str, Any] = answer
        return contents
    said = first_line(ValueError(answer)) if kind == "refused" else f"it {answer}"
    raise ModelError(f"{path.name}: cannot be read as C3D ({said}); export it again")
