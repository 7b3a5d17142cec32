"""Libraries of machine code from files, which are ready at once.

numba parses the intermediate code that it keeps beside the machine code of each function.  Only linking needs it, and most of
this code is never linked.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary


class StoredLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Machine code from a file; its intermediate code is parsed when other code is linked with it."""

    intermediate = b""
    _shared_module: Any

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self.intermediate)
        return self._shared_module


def names_in(library: Any) -> set[str]:
    """Names of the functions and constants that a library defines."""
    module = library._get_module_for_linking()
    return {value.name for values in (module.functions, module.global_variables) for value in values
            if not value.is_declaration}  # fmt: skip


def library_from(codegen: Any, data: tuple[str, str, tuple[bytes, bytes]], names: set[str]) -> StoredLibrary:
    """The library from what numba's ``serialize_using_object_code`` gave, and from the names that it defines."""
    name, _, (machine_code, intermediate) = data
    library = StoredLibrary(codegen, name)
    library.intermediate = intermediate
    library.enable_object_caching()
    library._set_compiled_object(machine_code)
    library._finalize_final_module()
    codegen._engine._defined_symbols |= names
    return library
