"""Machine code of kernels for graphics processors in files of the cache.

This module is imported only with numba-cuda; numba's own cache is not used for the reasons in ``runtime.jit.machine_code``.
"""

from __future__ import annotations

import pickle
import zlib
from contextlib import ExitStack, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from numba.core.caching import _Cache
from numba.core.serialize import dumps

from runtime.jit.machine_code import file_of, making, store, stored


def _version() -> str:
    with suppress(PackageNotFoundError):
        return version("numba-cuda")
    return ""


class DeviceCode(_Cache):  # type: ignore[misc]
    """The cached machine code of one kernel, for numba's dispatcher.

    While a process compiles the kernel, others that need it wait and take its code.

    Parameters
    ----------
    words : str
        What the kernel is, for the notice of compilation.
    digest : str or None
        Digest of all that the code is made from; None: it is not kept, since the sources have changed meanwhile.
    which
        Tells kernels of the same sources apart.
    """

    def __init__(self, words: str, digest: str | None, *which: Any) -> None:
        self._words, self._digest, self._which = words, digest, which
        self._held = ExitStack()
        self._file: Path | None = None

    @property
    def is_kept(self) -> bool:
        """Whether other processes can use the code."""
        return self._digest is not None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for a signature, None if it has to be compiled: then this process does it."""
        self._file = None
        if self._digest is None:
            return None
        codegen = target_context.codegen()
        file = self._file = file_of(self._digest, "gpu", repr(sig), codegen.magic_tuple(), _version(), self._which)
        found = _rebuilt(file)
        if found is None:
            self._held.enter_context(making(file, self._words))
            found = _rebuilt(file)
        if found is not None:
            self.release()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel."""
        if self._file is not None:
            store(self._file, zlib.compress(dumps(data._reduce_states()), 1))  # texts of 25 MB: the foot
        self.release()

    def release(self) -> None:
        """Let other processes go on; also where a compilation has failed."""
        with suppress(OSError):
            self._held.close()

    @property
    def cache_path(self) -> str:
        """The folder of the kernel's files."""
        return "" if self._file is None else str(self._file.parent)

    def enable(self) -> None:
        """A kernel is always cached."""

    def disable(self) -> None:
        """A kernel is always cached."""

    def flush(self) -> None:
        """Files of other sources have other names."""


def _rebuilt(file: Path) -> Any:
    from numba.cuda.dispatcher import _Kernel  # there is none in numba's simulator

    data = stored(file)
    if data is None:
        return None
    try:
        return _Kernel._rebuild(**pickle.loads(zlib.decompress(data)))
    except Exception:  # whatever is wrong with it, it is made anew
        return None
