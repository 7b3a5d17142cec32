"""Compiles MJCF by MuJoCo in a process of its own, which may crash on a damaged file."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from models.files.mjcf_files import sealed
from runtime import ModelError
from runtime.support import EndedError, Helper, one_line

LONGEST = 120.0  # [s] of a model
CRASHED = "its compiler crashed"
PROGRAM = Path(__file__).with_name("mjcf_process.py")
_compiler = Helper(lambda: [sys.executable, "-P", str(PROGRAM)])


def compiled(file: Path, root: Path) -> Any:
    """MuJoCo's model of a file; files that it names must lie in the folder ``root``.

    Raises
    ------
    ModelError
        With MuJoCo's message where its compiler refuses the model, or crashes.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, binary = sealed(file, root, Path(folder)), Path(folder) / "model.mjb"
        _compiler.start()
        import mujoco  # while the process does the same

        def talk(requests: IO[bytes], answers: IO[bytes]) -> str:
            requests.write(json.dumps([str(source), str(binary)]).encode() + b"\n")
            requests.flush()
            return str(json.loads(answers.readline()))

        try:
            text = _compiler.ask(talk, LONGEST)
        except EndedError as ended:
            text = f"its compiler took more than {LONGEST:g} s" if ended.late else CRASHED
        if text:
            text = text.replace(str(Path(folder)), "").replace("\\", "/")
            raise ModelError(f"{file.name}: MuJoCo refuses it: {one_line(text)}; correct the file")
        return mujoco.MjModel.from_binary_path(str(binary))
