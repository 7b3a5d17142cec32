"""numba's compiler for two sorts of functions: those that only compiled code calls, and those that run seldom.

numba optimises the code of each function with all that it calls and makes machine code of it, then repeats both wherever the
function is inlined.  The machine code of an inlined function is never run.  ``InlinedCompiler`` leaves both to the entry points
that call it, which do it once, together with their own code.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _UnoptimisedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Machine code as it was translated."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass


class _NoEngine:
    """Does nothing where numba would prepare the machine code of a function that has none."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Inlined functions use no Python objects."""


class _InlinedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into others, without machine code of its own.

    Only each function by itself is optimised: without this the joint-by-joint evaluation, which inlines it, takes 15 % longer.
    """

    codegen = _NoEngine

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0


class UnoptimisedCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, for functions that run seldom."""

    library: type = _UnoptimisedLibrary

    def define_pipelines(self) -> Any:
        """As numba's, but the code goes to a library of this class."""
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


class InlinedCompiler(UnoptimisedCompiler):
    """numba's compiler, for functions that only compiled code calls."""

    library = _InlinedLibrary
