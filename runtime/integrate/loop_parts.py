"""Parts of the integration loop that are compiled apart, once for each method, and called by their addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import types

from runtime.dynamics.equations import types_of
from runtime.dynamics.layout import NOT_FINITE
from runtime.dynamics.model_data import ModelData
from runtime.integrate.stepping import Stepper
from runtime.jit.compilation import place_of_address
from runtime.jit.pointers import Pointer

REAL, INTEGER, ARRAY = types.float64, types.int64, types.CPointer(types.float64)


class LoopPart:
    """A function of numbers, the stepper, the data and the memory of a system, and more numbers and arrays; it returns a code."""

    def __init__(self, function: Callable[..., int], before: tuple[Any, ...] = (), after: tuple[Any, ...] = ()) -> None:
        self.function, self._before, self._after = function, before, after
        self._signatures: dict[type, Any] = {}  # by the class of the method's memory
        self._places: dict[type, int] = {}

    def signature(self, s: Stepper, t: ModelData) -> Any:
        """Its types for a method."""
        method = type(s.own)
        if method not in self._signatures:
            stepper = Pointer(numba.typeof(s))
            self._signatures[method] = INTEGER(*self._before, stepper, *types_of(t), *self._after)
        return self._signatures[method]

    def place(self, s: Stepper, t: ModelData) -> int:
        """Place of its address for a method; it is compiled when the loop first calls it."""
        method = type(s.own)
        if method not in self._places:
            self._places[method] = place_of_address(self.function, self.signature(s, t), NOT_FINITE)
        return self._places[method]
