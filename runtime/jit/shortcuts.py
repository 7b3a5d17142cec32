"""Work of numba's that compiled functions do not need, left out while they are compiled; their machine code is the same.

* numba finds anew after nine of its passes where each variable is last used.  Only the pass that frees variables needs this,
  and generators, which finds it by itself.
* It measures how long its locks are held, in each function for all that it calls.
* It imports its own modules at each use of a function that it does not know yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from numba.core import event, transforms
from numba.core.cpu import CPUContext
from numba.core.postproc import PostProcessor, VariableLifetime

_load: Callable[[Any], None] = CPUContext.load_additional_registries
_process: Callable[..., None] = PostProcessor.run
_loaded: set[int] = set()  # by the identity of a context, of which there is one for a target


def _load_once(context: Any) -> None:
    if id(context) not in _loaded:
        _load(context)
        _loaded.add(id(context))


def _without_lifetimes(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """As numba's ``PostProcessor.run``; lifetimes of variables are found when they are asked for."""
    code = self.func_ir
    if emit_dels or code.is_generator:
        _process(self, emit_dels, extend_lifetimes)
        return
    code.blocks = transforms.canonicalize_cfg(code.blocks)
    code.variable_lifetime, code.generator_info = VariableLifetime(code.blocks), None


def _no_timer(kind: str, callback: Any) -> Any:
    return nullcontext()


_SHORTCUTS: tuple[tuple[Any, str, Any], ...] = (
    (CPUContext, "load_additional_registries", _load_once),
    (PostProcessor, "run", _without_lifetimes),
    (event, "install_timer", _no_timer),
)


@contextmanager
def shortcuts() -> Iterator[None]:
    """Leave out what is not needed, in a thread that holds numba's lock of compilations."""
    before = [getattr(owner, name) for owner, name, _ in _SHORTCUTS]
    try:
        for owner, name, instead in _SHORTCUTS:
            setattr(owner, name, instead)
        yield
    finally:
        for (owner, name, _), value in zip(_SHORTCUTS, before, strict=True):
            setattr(owner, name, value)
