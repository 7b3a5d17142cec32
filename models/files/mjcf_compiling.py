"""Compiles MJCF by MuJoCo in a process of its own, which may crash on a damaged file."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from models.files.xml_reading import one_line
from runtime import ModelError

LONGEST = 120.0  # [s] of a model
CRASHED = "its compiler crashed"
PROGRAM = Path(__file__).with_name("mjcf_process.py")


class _Compiler:
    """The process; it ends with this one, and is started anew where it has ended."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None

    def _started(self, folder: str) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            self.close()
            self.process = subprocess.Popen(
                [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                bufsize=0, cwd=folder,
            )  # fmt: skip
        return self.process

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()  # closes its streams
            self.process = None

    def begin(self) -> bool:
        """Start the process, unless it runs, which is returned."""
        with self.lock:
            running = self.process is not None and self.process.poll() is None
            self._started(tempfile.gettempdir())
            return running

    def ask(self, file: Path, binary: Path, running: bool) -> str:
        """Write the binary form of a model; the message of an error, or "".  ``running``: as of ``begin``."""
        with self.lock:
            answer = self._answer(file, binary)
            if answer == CRASHED and running:  # it may have ended before it took this file
                answer = self._answer(file, binary)
            return answer

    def _answer(self, file: Path, binary: Path) -> str:
        process = self._started(tempfile.gettempdir())
        assert process.stdin is not None and process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(LONGEST, stop)
        timer.start()
        try:
            process.stdin.write(
                json.dumps([str(file), str(binary)]).encode() + b"\n"
            )  # unbuffered: nothing is left to close
            line = process.stdout.readline()
        except OSError:
            line = b""
        finally:
            timer.cancel()
        if line:
            return str(json.loads(line))
        process.wait()
        return f"its compiler took more than {LONGEST:g} s" if late.is_set() else CRASHED


_compiler = _Compiler()
atexit.register(_compiler.close)


def compiled(file: Path) -> Any:
    """MuJoCo's model of a file.

    Raises
    ------
    ModelError
        With MuJoCo's message where its compiler refuses the model, or crashes.
    """
    running = _compiler.begin()
    import mujoco  # while the process does the same

    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / "model.mjb"
        text = _compiler.ask(file.resolve(), binary, running)
        if text:
            raise ModelError(f"{file.name}: MuJoCo refuses it: {one_line(text)}; correct the file")
        return mujoco.MjModel.from_binary_path(str(binary))
