"""A process beside this one that reads C3D files with ezc3d, which ends its process on some damaged files.

The process is started for the first file, reads one after another, and ends with this one.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from models.walking.capture import c3d_program
from models.walking.capture.contents import first_line
from runtime import ModelError

PROGRAM = Path(c3d_program.__file__)
PATIENCE, PER_BYTE = 60.0, 1e-5  # [s] for a file: a fixed part, and for each byte


class _Reader:
    """The process, and the lock of those that ask it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = 0  # the number of the process that started it; a forked one starts its own

    def ask(self, path: Path, library: Path) -> tuple[str, Any]:
        """The answer to a request; "ended" and the reason if the process ended.

        Raises
        ------
        OSError
            Where no process can be started.
        """
        with self.lock:
            fresh = self.process is None or self.owner != os.getpid() or self.process.poll() is not None
            if fresh:
                self.start(library)
            kind, answer = self.exchange(path)
            if kind == "ended" and not fresh:  # an earlier file may have damaged its memory
                self.start(library)
                kind, answer = self.exchange(path)
            if kind == "refused":
                self.stop()  # its memory may be damaged now
            return kind, answer

    def exchange(self, path: Path) -> tuple[str, Any]:
        """Send a request and wait for the answer, a limited time."""
        process = self.process
        assert process is not None and process.stdin is not None and process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        watch = threading.Timer(PATIENCE + PER_BYTE * path.stat().st_size, end)
        watch.daemon = True
        watch.start()
        try:
            c3d_program.send(process.stdin, os.path.abspath(path))
            kind, answer = c3d_program.receive(process.stdout)
            return kind, answer
        except Exception:  # it ended, or what it sent is damaged
            self.stop()
            return "ended", "takes too long" if late.is_set() else "ends the process of the library that reads it"
        except BaseException:  # an interruption; the answer would be that to the next request
            self.stop()
            raise
        finally:
            watch.cancel()

    def start(self, library: Path) -> None:
        """Start the process.

        Raises
        ------
        OSError
        """
        self.process, self.owner = None, os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(PROGRAM), str(library)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def stop(self) -> None:
        """End the process, if this process has started it."""
        process, self.process = self.process, None
        if process is None or self.owner != os.getpid():
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()


_READER = _Reader()
atexit.register(_READER.stop)


def read(path: Path) -> dict[str, Any]:
    """Contents of a file, as ``c3d_program.read`` returns them.

    Raises
    ------
    ModelError
        For a file that the library refuses, or that ends it; without the library.
    """
    found = importlib.util.find_spec("ezc3d")
    if found is None or found.origin is None:
        raise ModelError("reading C3D needs ezc3d: pip install 'talus-multibody[gait]'")
    try:
        if not Path(sys.executable or "").name.startswith("python"):
            raise OSError  # Python is part of another program
        kind, answer = _READER.ask(path, Path(found.origin).parents[1])
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
