"""A second process that compiles beside this one; both take the other's machine code from the cache.

It is started when a function is missing in the cache, compiles what a first simulation will need (``compile_ahead_with``), leaves
out what this process is compiling, and ends with this process.  TALUS_SECOND_PROCESS=0 leaves it out.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.jit.freshness import ROOT
from runtime.support.forks import at_fork
from runtime.support.machine import cores

if TYPE_CHECKING:
    import subprocess

SETTING = "TALUS_SECOND_PROCESS"
HERE = "here"  # its value in the second process


def is_second() -> bool:
    """Whether this is the second process."""
    return os.environ.get(SETTING) == HERE


_modules: list[str] = []  # of ``compile_ahead_with``
_asked: list[str] = []


def compile_ahead_with(module: str) -> None:
    """Have the second process run ``main`` of a module, which reads the names of parts (``ask``) from the standard input."""
    _modules[:] = [module]


def ask(part: str) -> None:
    """Have a part compiled before others if something is to be compiled; the program of the second process has the names."""
    if part not in _asked:
        _asked.append(part)
        if begin.cache_info().currsize:
            _send(begin(), [part])


@cache  # once in a process
def begin() -> subprocess.Popen[str] | None:
    """Start the second process; None where there can be none."""
    import atexit  # here because every process imports this module, and few start another
    import multiprocessing
    import subprocess

    from runtime.jit.place import cache_folder

    if not _modules or os.environ.get(SETTING) or multiprocessing.parent_process() is not None or cores() < 2:
        return None
    if not Path(sys.executable or "").name.startswith("python"):
        return None  # Python is part of another program
    program = f"from {_modules[0]} import main; main()"
    environment = os.environ | {
        SETTING: HERE,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "TALUS_CACHE_DIR": str(cache_folder().parent),
    }
    nowhere = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", program], stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, text=True,
            env=environment, start_new_session=True,
        )  # fmt: skip
    except OSError:
        return None
    atexit.register(_end, process, os.getpid())
    _send(process, _asked)
    return process


def _send(process: subprocess.Popen[str] | None, parts: list[str]) -> None:
    if process is not None and process.stdin is not None:
        with suppress(OSError):  # it has ended
            process.stdin.write("".join(f"{part}\n" for part in parts))
            process.stdin.flush()


def _leave() -> None:
    """A forked process leaves the second process to its parent, and starts none."""
    _modules.clear()
    if begin.cache_info().currsize and (process := begin()) is not None and process.stdin is not None:
        with suppress(OSError, ValueError):
            process.stdin.close()  # the second process ends when the parent does
    begin.cache_clear()


at_fork(after_in_child=_leave)


def _end(process: subprocess.Popen[str], owner: int) -> None:
    if os.getpid() != owner:  # forked
        return
    gc.freeze()  # after compilations the end of this process would search many objects for half a second
    process.kill()
    process.wait()
