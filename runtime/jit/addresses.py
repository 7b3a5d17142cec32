"""Kernels of joints, drivers and whole models, called through their addresses: each is compiled once, when a system needs it.

The machine code of a kernel is kept under the digest of its own text, so a change of one definition leaves the others compiled.
The generated kernels and those of a user's own joint are treated alike.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from runtime.jit import straight_line
from runtime.jit.cache import cache_folder
from runtime.jit.freshness import sha256, text_of
from runtime.support.arrays import Ints


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
    return np.array([_kernel(module, name)[0] for module in modules], np.int64)


@cache  # for the life of the process: the machine code at an address goes with its library
def _kernel(module: ModuleType, name: str) -> tuple[int, Any]:
    """Address of a kernel's machine code, which comes from the cache or is made now, and the library that holds it."""
    if hasattr(module, "LANES"):
        _vectorise_lanes()
    codegen = cpu_target.target_context.codegen()
    symbol = f"talus_{_digest(inspect.getsource(module), name, codegen.magic_tuple())}"
    file = cache_folder() / "kernels" / symbol
    with global_compiler_lock:
        library = _stored(file, codegen) or _made(module, name, file, codegen)
    return int(library.get_pointer_to_function(symbol)), library


def _stored(file: Path, codegen: Any) -> Any:
    """The library in a file of the cache, None if there is none."""
    with suppress(OSError):
        digest, _, state = file.read_bytes().partition(b"\n")
        if digest.decode(errors="replace") == hashlib.sha256(state).hexdigest():  # the file is whole
            return codegen.unserialize_library(pickle.loads(state))
    return None


def _made(module: ModuleType, name: str, file: Path, codegen: Any) -> Any:
    """A new library with one kernel, under the name of its file; the library is stored there."""
    library = codegen.create_library(file.name)
    library.enable_object_caching()
    library.add_ir_module(_translated(module, name, library.create_ir_module(file.name), file.name))
    library.finalize()
    with suppress(OSError):  # the code of this process serves, whether or not the folder can be written
        file.parent.mkdir(parents=True, exist_ok=True)
        state = pickle.dumps(library.serialize_using_object_code())
        part = file.with_name(f"{file.name}.{os.getpid()}")  # other processes see all of the file or none
        part.write_bytes(hashlib.sha256(state).hexdigest().encode() + b"\n" + state)
        part.replace(file)
    return library


def _translated(module: ModuleType, name: str, owner: ir.Module, symbol: str) -> ir.Module:
    """``owner`` with the kernel as a function of the addresses of its arrays, under the name ``symbol``."""
    count = len(straight_line.functions_of(module)[name].args.args)
    function = ir.Function(owner, ir.FunctionType(ir.VoidType(), [straight_line.DOUBLE.as_pointer()] * count), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    straight_line.emit(builder, module, name, function.args)
    builder.ret_void()
    return owner


@cache
def _translator() -> str:
    """Digest of what translates kernels."""
    texts = [text_of(Path(file)) for file in (straight_line.__file__, __file__)]
    return sha256("".join([*texts, numba.__version__, llvmlite.__version__]))


def _digest(text: str, name: str, machine: tuple[str, ...]) -> str:
    return sha256(repr((text, name, machine, _translator())))[:32]


@cache
def _vectorise_lanes() -> None:
    """Raise LLVM's limit on the memory checks of a loop: the loop over the lanes accesses four arrays only, but many times.

    A lane of the foot (state and derivative) then takes 0.08 us in place of 0.55 us.
    """
    if not hasattr(binding, "_memory_check_merge_threshold"):  # an option can be given once in a process
        binding.set_option("", "-memory-check-merge-threshold=100000")
        binding._memory_check_merge_threshold = True
