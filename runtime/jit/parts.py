"""Parts of compiled code: functions that only compiled code calls.

numba optimises each function by itself and makes machine code of it, then repeats both wherever the function is inlined.  The
machine code of a part is never run.  ``PartCompiler`` leaves a part as it was translated; the entry points that call it optimise
it, once, together with their own code.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _NoEngine:
    """Nothing to do for a part where numba would prepare its machine code."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Parts use no Python objects."""


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into others, and neither optimised nor translated to machine code."""

    codegen = _NoEngine

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0


class _UnoptimisedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Machine code as it was translated."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass


class UnoptimisedCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, for functions that run seldom."""

    def define_pipelines(self) -> Any:
        """As numba's, but the code goes to a library that is not optimised."""
        state = self.state
        state.library = _UnoptimisedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


class PartCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, for parts."""

    def define_pipelines(self) -> Any:
        """As numba's, but the code goes to a library for parts."""
        state = self.state
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()
