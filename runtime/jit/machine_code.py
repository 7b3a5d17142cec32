"""Machine code in files of the cache: one file for a function, the types of its arguments and the processor.

numba's own cache is not used.  It takes whatever lies beside the sources where a folder cannot be written, keeps an index that
only the process that wrote it may be able to read, and ends at the first damaged file.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import platform
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import config
from numba.core.caching import _Cache
from numba.core.ccallback import CFunc
from numba.core.compiler import compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps

import runtime.jit.forks  # noqa: F401  # what a forked process has of numba
from runtime.jit.cache import compiled_folder, digest_for, digest_of, unchanged
from runtime.jit.freshness import ROOT, sha256, text_of
from runtime.jit.locks import PATIENCE, locked
from runtime.jit.numba_types import types
from runtime.jit.place import cache_folder, make_room, read, write
from runtime.jit.pointers import Pointer
from runtime.jit.second_process import begin, is_second
from runtime.jit.stored_library import library_from, names_in
from runtime.jit.tidying import tidy, touch
from runtime.jit.words import words_of
from runtime.support.notice import compiling
from runtime.support.stopwatch import preparing
from runtime.support.streams import tell

# In the names of functions that numba defines when it gets ready to compile: a quarter of a second.
MEMORY_OF_NUMBA = b"NRT_"
# Settings of numba, from its environment variables, that decide what machine code it makes.
SETTINGS = (
    "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "USING_SVML",
)  # fmt: skip
SELDOM = 50_000, 50, 100  # as of ``gc.set_threshold``
VERSIONS = (
    platform.python_version(), numba.__version__, llvmlite.__version__,
    *(str(getattr(config, name, None)) for name in SETTINGS),
)  # fmt: skip


def file_of(digest: str, name: str, *what: Any) -> Path:
    """The file for code that is made from sources of a digest, under a name, for one more key."""
    return cache_folder() / digest / f"{name}-{sha256(repr((VERSIONS, what)))[:20]}"


def stored(file: Path) -> bytes | None:
    """What was stored in a file, None if there is nothing, or not all of it."""
    _begin_with_new_sources()
    with suppress(OSError):
        digest, _, data = read(file).partition(b"\n")
        if digest == hashlib.sha256(data).hexdigest().encode():
            touch(file.parent)
            return data
    return None


def store(file: Path, data: bytes) -> None:
    """Store data; where this cannot be done, one sentence says so, and the code of this process serves."""
    try:
        write(file, hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
        tidy(cache_folder())
    except OSError as error:
        _say_that_nothing_is_kept(str(cache_folder()), error.strerror or str(error))


def digest_of_kernel(text: str) -> str:
    """Digest of a module of generated kernels, for the translation of its kernels to machine code."""
    return sha256(text + _translator())[:16]


@cache
def _translator() -> str:
    return sha256(
        "".join(
            text_of(ROOT / "runtime" / "jit" / f"{name}.py")
            for name in ("recorder", "llvm_code", "straight_line", "addresses", "pipelines")
        )
    )


@cache  # once in a process
def _begin_with_new_sources() -> None:
    """Start the second process where the cache has nothing of the present sources: then much is to be compiled."""
    room = compiled_folder()
    if os.path.isdir(room):  # false, too, where no folder can have the name
        touch(room)
        return
    with suppress(OSError):  # a cache that is only read
        make_room(room)
        begin()


@cache  # once in a process
def _say_that_nothing_is_kept(folder: str, reason: str) -> None:
    tell(
        f"compiled code cannot be kept in {folder} ({reason}), so each process compiles anew; "
        "set TALUS_CACHE_DIR to a folder that can be written"
    )


def modules_of(kind: Any) -> Iterator[str]:
    """Modules that define the classes of a named tuple and of those in it; they decide what ``overload`` selects."""
    if isinstance(kind, Pointer):
        yield from modules_of(kind.of)
    elif isinstance(kind, types.BaseNamedTuple):
        yield kind.instance_class.__module__
        for inner in kind.types:
            yield from modules_of(inner)


class CompiledElsewhere(Exception):
    """Another process is compiling the function that the second process was to compile."""


@contextmanager
def making(file: Path, what: str) -> Iterator[bool | None]:
    """While a process makes a file, others that need it wait; if that takes long, a notice says what is made.

    Whether this process has the lock.  Without it, where there are no locks or who has it does not go on, it makes the file too.
    """
    with suppress(OSError):  # a folder that cannot be written
        make_room(file.parent)
    lock = file.with_name(f"{file.name}.lock")
    with compiling(what, cache_folder()), locked(lock, 0.0 if is_second() else PATIENCE) as held:
        if is_second() and held is False:
            raise CompiledElsewhere
        yield held


def being_made() -> bool:
    """Whether any process makes code for the cache."""
    with suppress(ImportError, OSError):
        import fcntl

        for file in cache_folder().glob("*/*.lock"):
            with suppress(FileNotFoundError), open(file, "rb") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return True
    return False


class CodeInFiles(_Cache):  # type: ignore[misc]
    """The cached machine code of one function, for a dispatcher of numba.

    While a process compiles a function, others that need it wait and take its code.
    """

    def __init__(self) -> None:
        self._held = ExitStack()

    @abstractmethod
    def _file(self, signature: Any, codegen: Any) -> Path | None:
        """The file of the code, None where the sources have changed since this process imported them."""

    @abstractmethod
    def _rebuilt(self, file: Path, sig: Any, target_context: Any) -> Any:
        """The compiled function from a file, None if it is not there."""

    @abstractmethod
    def _words(self, sig: Any) -> str:
        """What is compiled, for the notice of compilation."""

    def _begin(self) -> None:
        """Called when others wait for this process to compile."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature, None if it has to be compiled: then this process does it."""
        file = self._file(sig, target_context.codegen())
        if file is None:
            return None
        found = self._rebuilt(file, sig, target_context)
        if found is None:
            if self._held.enter_context(making(file, self._words(sig))):
                self._begin()
            found = self._rebuilt(file, sig, target_context)
        if found is not None:
            self.release()
        return found

    def release(self) -> None:
        """Let other processes go on; also where a compilation has failed."""
        with suppress(OSError):
            self._held.close()

    def enable(self) -> None:
        """A function is always cached."""

    def disable(self) -> None:
        """A function is always cached."""

    def flush(self) -> None:
        """Files of other sources have other names."""


class FunctionCache(CodeInFiles):
    """The cached machine code of one function for the processor."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self._function = function

    def _words(self, sig: Any) -> str:
        return words_of(self._function, sig)

    def _begin(self) -> None:
        begin()

    def _file(self, signature: Any, codegen: Any) -> Path | None:
        function = self._function
        closure = tuple(cell.cell_contents for cell in function.__closure__ or ())
        arguments = signature.args if hasattr(signature, "args") else signature
        modules = {module for kind in arguments for module in modules_of(kind)}
        if not all(map(unchanged, {function.__module__, *modules})):
            return None
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        kept = sha256(dumps(closure).hex()) if closure else ""
        digests = sorted(map(digest_of, modules))
        which = (
            function.__qualname__,
            function.__code__.co_firstlineno,
        )  # several functions of a module may have one name
        return file_of(digest_for(function), name, repr(signature), digests, codegen.magic_tuple(), kept, which)

    def _rebuilt(self, file: Path, sig: Any, target_context: Any) -> Any:
        data = stored(file)
        if data is None:
            return None
        if MEMORY_OF_NUMBA in data:
            target_context.refresh()
        try:
            found = _result(target_context, *pickle.loads(data))
        except Exception:  # whatever is wrong with it, it is made anew
            return None
        arguments = sig.args if hasattr(sig, "args") else sig
        return found if tuple(found.signature.args) == tuple(arguments) else None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep a compiled function.

        Raises
        ------
        TypeError
            For one that no other process could use.
        """
        function, arguments = self._function, sig.args if hasattr(sig, "args") else sig
        inside = [cell.cell_contents for cell in function.__closure__ or ()]
        if (
            cres.library.has_dynamic_globals
            or any(isinstance(kind, types.Callable) for kind in arguments)
            or any(isinstance(value, Dispatcher) for value in inside)
        ):
            raise TypeError(
                f"function '{function.__module__}.{function.__qualname__}': its machine code belongs to this process and cannot "
                "be kept, since a compiled function is its argument or in its closure, or a large array is among its globals; "
                "let it call functions of its module, and take arrays as arguments"
            )
        file = self._file(sig, cres.codegen)
        if file is not None:
            store(file, dumps((names_in(cres.library), *cres._reduce())))
        self.release()

    @property
    def cache_path(self) -> str:
        """The folder of the function's files."""
        return str(cache_folder() / digest_for(self._function))


def _result(
    target_context: Any, names: set[str], library_data: Any, description: Any, environment: Any, signature: Any,
    objectmode: bool, lifted: Any, types: str, reload_init: Any, environments: Any,
) -> Any:  # fmt: skip
    """A result of numba's compiler from what was stored of it, as ``CompileResult._rebuild`` makes it, with a StoredLibrary."""
    for prepare in reload_init:
        prepare()
    library = library_from(target_context.codegen(), library_data, names)
    entry_point = target_context.get_executable(library, description, environment)
    for other in environments:
        library.codegen.set_env(other.env_name, other)
    return compile_result(
        target_context=target_context, typing_context=target_context.typing_context, library=library, environment=environment,
        entry_point=entry_point, fndesc=description, type_annotation=types, signature=signature, objectmode=objectmode,
        lifted=lifted, reload_init=reload_init, referenced_envs=environments,
    )  # fmt: skip


@contextmanager
def _ready_to_compile() -> Iterator[None]:
    """Settings of the process while Talus compiles.

    NUMBA_DISABLE_JIT=1 holds for the functions of a user: those of Talus are written for compiled code.  Python searches for
    cyclic garbage seldom, since among the many objects of numba that takes 5 % of a compilation.
    """
    before, config.DISABLE_JIT = config.DISABLE_JIT, 0
    often = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        config.DISABLE_JIT = before
        gc.set_threshold(*often)


class _InFiles:
    """What numba compiles, with its machine code in files of the cache."""

    def __init__(self, function: Any, *arguments: Any, **more: Any) -> None:
        super().__init__(function, *arguments, **more)  # type: ignore[call-arg]
        self._cache = FunctionCache(function)

    def compile(self, *signature: Any) -> Any:
        """Compile for the types of arguments."""
        # Another thread may compile for other types next.
        with preparing(), global_compiler_lock, _ready_to_compile():
            try:
                return super().compile(*signature)  # type: ignore[misc]
            finally:
                self._cache.release()


class Kept(_InFiles, CPUDispatcher):  # type: ignore[misc]
    """A compiled function whose machine code is kept under the digest of its sources."""

    def _compile_for_args(self, *arguments: Any, **more: Any) -> Any:
        """Find the types of arguments, and compile for them."""
        with preparing():
            return super()._compile_for_args(*arguments, **more)


class Callback(_InFiles, CFunc):  # type: ignore[misc]
    """A compiled function that compiled code calls through its address; kept in the same way."""
