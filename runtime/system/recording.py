"""A builder that notes the calls of a function: an ensemble checks those of many cases at once.

``Builder(...)`` makes one within ``deferring(Recording)``.  Calls that add bodies, joints, limits, forces and shapes are noted
with their arguments.  Any other use makes these calls, and the object is a Builder from there on.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from runtime.support.by_value import FLOAT64, NUMBERS
from runtime.support.numbers import PLAIN
from runtime.system.builder import Builder
from runtime.system.cone import Cone
from runtime.system.deferred import Recipe, put_off
from runtime.system.shapes import Shape
from runtime.system.system import System

TEXTS = frozenset({str, bool, type(None), ModuleType})  # types of arguments that are equal in cases of one structure
FIXED = TEXTS | NUMBERS | {Cone}  # types of values that do not change


class Call(NamedTuple):
    """A call of a method: arguments by place, and by name.  Vectors are tuples of numbers."""

    method: str
    given: tuple[Any, ...]
    named: dict[str, Any]


class Recording(Builder):
    """A builder of an ensemble, see above; a call that is refused is found when the calls are made."""

    _calls: list[Call]

    def __init__(self, *given: Any, **named: Any) -> None:
        vars(self)["_calls"] = []
        self._note("__init__", given, named)

    def body(self, *given: Any, **named: Any) -> None:  # noqa: D102  see Builder, as below
        self._note("body", given, named)

    def joint(self, *given: Any, **named: Any) -> None:  # noqa: D102
        self._note("joint", given, named)

    def limit(self, *given: Any, **named: Any) -> None:  # noqa: D102
        self._note("limit", given, named)

    def force(self, *given: Any, **named: Any) -> None:  # noqa: D102
        self._note("force", given, named)

    def add_shapes(self, shapes: Any) -> None:  # noqa: D102
        if type(shapes) is tuple and {Shape}.issuperset(map(type, shapes)) and "_calls" in vars(self):
            self._calls.append(Call("add_shapes", (), {"shapes": shapes}))
        else:
            self._made().add_shapes(shapes)

    def build(self, *given: Any, **named: Any) -> System:  # noqa: D102
        check_units = named.get("check_units", True)
        if (
            given
            or type(check_units) is not bool
            or len(named) > ("check_units" in named)
            or "_calls" not in vars(self)
        ):
            return self._made().build(*given, **named)
        return put_off(_calls=(*self._calls, Call("build", (), {"check_units": check_units})), _made=recipe_of_calls)

    def _note(self, method: str, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Note a call whose arguments cannot change; make one with others."""
        noted = "_calls" in vars(self) and TEXTS.issuperset(map(type, given))
        for name, value in named.items():
            kind = type(value)
            if kind in FIXED:
                continue
            if kind is np.ndarray and value.shape == (3,) and value.dtype is FLOAT64:
                named[name] = tuple(value.tolist())
            elif (kind is tuple or kind is list) and PLAIN.issuperset(map(type, value)):
                named[name] = tuple(value) if NUMBERS.issuperset(map(type, value)) else tuple(map(float, value))
            elif kind is np.float64:
                named[name] = float(value)
            else:
                noted = False
        if noted:
            self._calls.append(Call(method, given, named))
        else:
            getattr(self._made(), method)(*given, **named)

    def _made(self) -> Builder:
        """Make all noted calls; returns the object, which is a Builder then."""
        calls = vars(self).get("_calls", ())
        try:
            made = builder_of_calls(calls)
        except Exception:
            put_off()  # this case has made a system that its function does not return: the function is called again
            raise
        vars(self).clear()
        object.__setattr__(self, "__class__", Builder)
        vars(self).update(vars(made))
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_calls" not in vars(self):
            raise AttributeError(name)
        return getattr(self._made(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._made(), name, value)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._made().__reduce_ex__(protocol)


def builder_of_calls(calls: Any) -> Builder:
    """The builder that these calls make, the first of which is that of ``__init__``.

    Raises
    ------
    ModelError
    """
    made = object.__new__(Builder)
    for call in calls:
        getattr(made, call.method)(*call.given, **call.named)
    return made


def recipe_of_calls(calls: tuple[Call, ...]) -> Recipe:
    """The recipe of the system that these calls build, the last of which is that of ``build``.

    Raises
    ------
    ModelError
    """
    made = builder_of_calls(calls[:-1])
    if not made._bodies:
        made.build()  # refuses it
    return made._recipe(0.0, "keep", None, None, calls[-1].named["check_units"])  # the defaults of ``Builder.build``
