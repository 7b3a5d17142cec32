"""Machine code of kernels for graphics processors in files of the cache.

This module is imported only with numba-cuda; numba's own cache is not used for the reasons in ``runtime.jit.machine_code``.
"""

from __future__ import annotations

import pickle
import zlib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps

from runtime.jit.machine_code import CodeInFiles, file_of, store, stored


def _version() -> str:
    with suppress(PackageNotFoundError):
        return version("numba-cuda")
    return ""


class DeviceCode(CodeInFiles):
    """The cached machine code of one kernel for graphics processors.

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
        super().__init__()
        self._what, self._digest, self._which = words, digest, which
        self._place: Path | None = None  # of the code that is looked for, and then made

    @property
    def is_kept(self) -> bool:
        """Whether other processes can use the code."""
        return self._digest is not None

    def _words(self, sig: Any) -> str:
        return self._what

    def _file(self, signature: Any, codegen: Any) -> Path | None:
        what = repr(signature), codegen.magic_tuple(), _version(), self._which
        self._place = None if self._digest is None else file_of(self._digest, "gpu", *what)
        return self._place

    def _rebuilt(self, file: Path, sig: Any, target_context: Any) -> Any:
        from numba.cuda.dispatcher import _Kernel  # there is none in numba's simulator

        data = stored(file)
        if data is None:
            return None
        try:
            return _Kernel._rebuild(**pickle.loads(zlib.decompress(data)))
        except Exception:  # whatever is wrong with it, it is made anew
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel."""
        if self._place is not None:
            store(self._place, zlib.compress(dumps(data._reduce_states()), 1))  # texts of 25 MB: the foot
        self.release()

    @property
    def cache_path(self) -> str:
        """The folder of the kernel's files."""
        return "" if self._place is None else str(self._place.parent)
