"""numba's compiler for two sorts of functions: entry points, and those that only compiled code calls.

numba optimises the code of each function with all that it calls and makes machine code of it, then repeats both wherever the
function is inlined.  The machine code of an inlined function is never run.  ``InlinedCompiler`` leaves both to the entry points
that call it, which do it once, together with their own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NativeLowering

from runtime.jit.lowering import ShortLowering
from runtime.jit.numba_types import types

# numba's passes for what compiled code here does not contain: closures, ``with``, ``raise``, loops over tuples of several types,
# expressions of whole arrays, functions for which numba's own text is inserted, branches on types; and those that find where
# variables are last used, for reference counts.
LEFT_OUT = {
    "DeadBranchPrune", "DumpParforDiagnostics", "FindLiterallyCalls", "IRLegalization", "IRProcessing", "InlineClosureLikes",
    "InlineInlinables", "InlineOverloads", "LiteralPropagationSubPipelinePass", "LiteralUnroll", "MakeFunctionToJitFunction",
    "NopythonRewrites", "RewriteDynamicRaises", "RewriteSemanticConstants", "WithLifting",
}  # fmt: skip


# Of numba's own functions, by the liberties with floating point: with one for all callers the bits of results would depend on
# what the process compiled first.
_INTERNAL: dict[frozenset[str], dict[Any, Any]] = {}


class UnoptimisedLibrary(JITCodeLibrary):  # type: ignore[misc]
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


class _Typing:
    """numba's typing with less work.

    It remembers what a function gives for types, where numba tries some twenty definitions at each use, and compiles the
    functions that compiled code calls for the types of their arguments alone, where numba does it for each constant.

    numba keeps one implementation of a function for types, the last one that any caller has found; callers with and without
    fused multiply-adds have their own here.
    """

    known: ClassVar[dict[Any, tuple[Any, Any]]] = {}

    def __init__(self, context: Any) -> None:
        self._context = context
        self._chosen: dict[tuple[Any, Any], Any] = {}  # implementations that the present function uses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, arguments: Any, more: Any) -> Any:
        """Signature of a call, None if there is none."""
        if isinstance(
            function, types.Dispatcher
        ):  # once for all constants: LLVM inserts them where it inlines the function
            arguments = tuple(types.unliteral(kind) for kind in arguments)
        if type(function) is not types.Function or more:
            return self._context.resolve_function_type(function, arguments, more)
        key = function, tuple(arguments), fastmath_of(ConfigStack.top_or_none())
        found, implementation = self.known.get(key) or (None, None)
        if found is None:
            found = self._context.resolve_function_type(function, arguments, more)
            if found is None:  # what is not defined yet may be later
                return None
            implementation = function._impl_keys.get(found.args)
            self.known[key] = found, implementation
        self._chosen[function, found.args] = implementation
        return found

    def choose_implementations(self) -> None:
        """Have numba use the implementations that were found, also where other functions were compiled meanwhile."""
        for (function, arguments), implementation in self._chosen.items():
            if implementation is not None:
                function._impl_keys[arguments] = implementation


def fastmath_of(flags: Any) -> frozenset[str]:
    """The liberties with floating point of numba's settings of a compilation."""
    allowed = flags is not None and flags.is_set("fastmath") and flags.fastmath
    return frozenset(allowed.flags) if allowed else frozenset()


class _Flags(Flags):  # type: ignore[misc]
    """numba's settings of a compilation, hashed once: numba does it at each definition that it tries."""

    __slots__ = ("_hash",)

    def __hash__(self) -> int:
        if not hasattr(self, "_hash"):
            self._hash = super().__hash__()
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or bool(super().__eq__(other))


class _OnceOptimisedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is optimised once; numba does it twice, for objects with reference counts, which compiled code here has not."""

    passes: ClassVar[Mapping[str, bool]] = MappingProxyType({})  # besides those of numba

    def _optimize_final_module(self) -> None:
        made = self._codegen._module_pass_manager(**self.passes)
        passes, *builder = made if isinstance(made, tuple) else (made,)  # numba 0.61 needs no builder
        passes.run(self._final_module, *builder)


class PairingLibrary(_OnceOptimisedLibrary):
    """Straight-line code in which equal operations on different numbers become vector instructions.

    numba leaves this out because it takes time and seldom helps other code.
    """

    passes = MappingProxyType({"slp_vectorize": True})


def _shorter(passes: PassManager) -> PassManager:
    """The passes of numba without those that compiled code here does not need."""
    made = PassManager(passes.pipeline_name)
    for step, description in passes.passes:
        if step.__name__ not in LEFT_OUT:
            made.add_pass(ShortLowering if step is NativeLowering else step, description)
    made.finalize()
    return made


class EntryCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, for functions that Python calls and for those called by their address."""

    library: type = _OnceOptimisedLibrary

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, return_type: Any, flags: Any, names: Any
    ) -> None:
        super().__init__(_Typing(typing), target, library, args, return_type, _Flags(flags), names)
        # Functions that numba writes for its own use, such as the powers of a number, have the liberties of their first caller.
        self.state.targetctx.cached_internal_func = _INTERNAL.setdefault(fastmath_of(flags), {})

    def define_pipelines(self) -> Any:
        """As numba's, but the code goes to a library of this class."""
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return [_shorter(pipeline) for pipeline in super().define_pipelines()]


class InlinedCompiler(EntryCompiler):
    """numba's compiler, for functions that only compiled code calls."""

    library = _InlinedLibrary


class ColumnsCompiler(InlinedCompiler):
    """As ``InlinedCompiler``; the arrays among the arguments do not overlap, unless they are only read."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, return_type: Any, flags: Any, names: Any
    ) -> None:
        flags.noalias = True
        super().__init__(typing, target, library, args, return_type, flags, names)


def _vectorise_lanes() -> None:
    """Raise LLVM's limit on the memory checks of a loop: a loop over lanes accesses four arrays only, but many times.

    A lane of the foot (state and derivative) then takes 0.08 us in place of 0.55 us.  The option holds for all that the process
    compiles, therefore from the beginning: given with the first loop over lanes, it would have code depend on what came before.
    """
    if not hasattr(binding, "_memory_check_merge_threshold"):  # an option can be given once in a process
        binding.set_option("", "-memory-check-merge-threshold=100000")
        binding._memory_check_merge_threshold = True


_vectorise_lanes()
