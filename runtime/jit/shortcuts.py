"""Work of numba's that compiled functions do not need, left out while they are compiled; their machine code is the same.

* numba finds anew after nine of its passes where each variable is last used.  Only the pass that frees variables needs this,
  and generators, which finds it by itself.
* It measures how long its locks are held, in each function for all that it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from numba.core import event, transforms
from numba.core.postproc import PostProcessor, VariableLifetime

_process: Callable[..., None] = PostProcessor.run


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
