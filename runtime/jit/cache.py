"""The cache of machine code.

numba's cache looks at the file of the *calling* function only, so after a regeneration it would keep serving old machine
code.  Here the name of the cache folder is the digest of ``generated`` and of the folders of compiled code: other sources,
other folder.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numba.core import config

from runtime.jit.freshness import ROOT, sha256, text_of, verify

COMPILED = ("jit", "dynamics", "integrate")  # folders of compiled code, and of all constants that it uses


def cache_folder() -> Path:
    """The folder of the cache: the environment variable TALUS_CACHE_DIR, or ``talus`` in the user's cache folder."""
    base = os.environ.get("TALUS_CACHE_DIR") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "talus")
    return Path(base).expanduser()


def digest(root: Path = ROOT) -> str:
    """Digest of all sources that decide what machine code is made: ``generated`` and the folders of compiled code."""
    folders = [root / "generated", *(root / "runtime" / folder for folder in COMPILED)]
    return sha256("".join(text_of(file) for folder in folders for file in sorted(folder.glob("*.py"))))[:16]


verify()
_ONE_AT_A_TIME = threading.RLock()
_FOLDER = str(cache_folder() / digest())


def compiled_folder() -> Path:
    """The folder of the machine code that belongs to the present sources."""
    return Path(_FOLDER)


@contextmanager
def cached_here() -> Iterator[None]:
    """Cache the functions that are declared in this context under the digest of the sources."""
    with _ONE_AT_A_TIME:  # numba's setting belongs to the process, and cases run in threads
        previous = config.CACHE_DIR
        config.CACHE_DIR = _FOLDER
        try:
            yield
        finally:
            config.CACHE_DIR = previous
