"""Functions of compiled code that have a form for each kind of memory, found by the type of their first argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from runtime.jit.compilation import OPTIONS, inlined

Function = Callable[..., Any]


def form(function: Function, fits: Callable[[Any], bool]) -> Callable[[Function], Function]:
    """Register the decorated function as the form of another one for memories whose type fits."""

    def register(own: Function) -> Function:
        jitted = inlined(own)

        def select(m, *args):  # type: ignore[no-untyped-def]
            return (lambda m, *args: jitted(m, *args)) if fits(m) else None

        overload(function, strict=False, jit_options=OPTIONS)(select)
        return own

    return register


def for_memory(function: Function, memory: type) -> Callable[[Function], Function]:
    """``form`` for memories of a class of named tuples, or of one derived from it."""

    def register(own: Function) -> Function:
        vars(function).setdefault("forms", {})[memory] = own
        return form(function, lambda m: issubclass(m.of.instance_class, memory))(own)

    return register
