"""Kernels of joints, drivers and whole models, called through their addresses: each is compiled once, when a system needs it.

The machine code of a kernel is kept under the digest of its own text, so a change of one definition leaves the others compiled.
The generated kernels and those of a user's own joint are treated alike.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from runtime.jit.cache import digest_of
from runtime.jit.llvm_code import DOUBLE
from runtime.jit.machine_code import digest_of_kernel, file_of, making, store, stored
from runtime.jit.pipelines import PairingLibrary, UnoptimisedLibrary
from runtime.jit.python_code import python_code
from runtime.jit.stored_library import library_from, names_in
from runtime.jit.straight_line import emit
from runtime.jit.words import words_of_kernel
from runtime.support.arrays import Ints
from runtime.support.stopwatch import preparing

# Makes, of a generated module, the name of a function, an empty module of LLVM and a symbol, the module with that function.
Translation = Callable[[ModuleType, str, ir.Module, str], ir.Module]


@intrinsic  # type: ignore[untyped-decorator]
def call(typingctx: Any, address: Any, *arrays: Any) -> Any:
    """Call the kernel at ``address`` with the addresses of its arrays."""
    signature, count = types.void(types.intp, types.StarArgTuple(arrays)), len(arrays)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.VoidType(), [double] * count)
        pointer = builder.inttoptr(arguments[0], function.as_pointer())
        addresses = cgutils.unpack_tuple(builder, arguments[1], count)
        builder.call(pointer, [builder.inttoptr(value, double) for value in addresses])
        return context.get_dummy_value()

    return signature, generate


def addresses_of(modules: Iterable[ModuleType], name: str = "entry") -> Ints:
    """Addresses (modules,) in this process of a kernel of generated modules: "entry" for ``evaluate``, or "tangent_entry"."""
    return np.array([_kernel(module, name, _translated)[0] for module in modules], np.int64)


def address_of(module: ModuleType, name: str, translate: Translation, translator: str, *, pairs: bool = False) -> int:
    """Address in this process of a function that ``translate``, of the module ``translator``, makes of a generated module.

    ``pairs``: equal operations on different numbers become vector instructions.
    """
    return _kernel(module, name, translate, digest_of(translator), pairs=pairs)[0]


@cache  # for the life of the process: the machine code at an address goes with its library
def _kernel(module: ModuleType, name: str, translate: Translation, *more: str, pairs: bool = False) -> tuple[int, Any]:
    """Address of a kernel's machine code, which comes from the cache or is made now, and the library that holds it."""
    sources = digest_of_kernel(inspect.getsource(module))
    return _found(
        sources, f"{module.__name__.rpartition('.')[2]}.{name}", more, words_of_kernel(module.__name__),
        lambda owner, symbol: translate(module, name, owner, symbol), PairingLibrary if pairs else JITCodeLibrary,
    )  # fmt: skip


_WRITTEN: dict[tuple[str, ...], tuple[int, Any]] = {}


def address_of_written(
    name: str, write: Callable[[ir.Module, str], ir.Module], writer: str, words: str, *decided: str
) -> int:
    """Address in this process of a function that the module ``writer`` writes into an empty module of LLVM under a symbol.

    Its machine code is made of the instructions as they are written, without LLVM's passes over them.
    ``decided``: all that decides its text besides the sources of the writer; ``words`` of it for the notice of compilation.
    """
    key = name, writer, *decided
    if key not in _WRITTEN:
        _WRITTEN[key] = _found(digest_of(writer), name, decided, words, write, UnoptimisedLibrary)
    return _WRITTEN[key][0]


def _found(
    sources: str,
    name: str,
    more: tuple[str, ...],
    words: str,
    write: Callable[[ir.Module, str], ir.Module],
    sort: type,
) -> tuple[int, Any]:
    """Address of the machine code of a function, which comes from the cache or is made now, and the library that holds it."""
    codegen = cpu_target.target_context.codegen()
    file = file_of(sources, name, codegen.magic_tuple(), *more)
    symbol = f"talus_{sources}_{file.name}"
    with preparing(), global_compiler_lock:
        library = _stored(file, codegen)
        if library is None:
            with making(file, words):
                library = _stored(file, codegen) or _made(write, file, symbol, codegen, sort)
    return int(library.get_pointer_to_function(symbol)), library


def _stored(file: Path, codegen: Any) -> Any:
    """The library in a file of the cache, None if there is none."""
    with suppress(Exception):  # whatever is wrong with it, it is made anew
        return library_from(codegen, *pickle.loads(stored(file) or b""))
    return None


def _made(write: Callable[[ir.Module, str], ir.Module], file: Path, symbol: str, codegen: Any, sort: type) -> Any:
    """A new library of this sort with one function under the name ``symbol``; the library is stored in the file."""
    library = sort(codegen, symbol)
    library.enable_object_caching()
    library.add_ir_module(write(library.create_ir_module(symbol), symbol))
    library.finalize()
    store(file, pickle.dumps((library.serialize_using_object_code(), names_in(library))))
    return library


def _translated(module: ModuleType, name: str, owner: ir.Module, symbol: str) -> ir.Module:
    """``owner`` with the kernel as a function of the addresses of its arrays, under the name ``symbol``."""
    count = python_code(getattr(module, name)).__code__.co_argcount
    function = ir.Function(owner, ir.FunctionType(ir.VoidType(), [DOUBLE.as_pointer()] * count), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    emit(builder, module, name, function.args)
    builder.ret_void()
    return owner
