"""The border: arguments of public functions are checked by their annotations, and refused in one sentence.

Kinds, not values: that a number is a number is checked here, that a mass is above 0 where the mass is used.  Written here because
libraries that check annotations (beartype, typeguard, pydantic) report in several lines, take a masked array for an array and a
truth value for a number, and take 0.1 to 0.3 s of ``import runtime``.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from itertools import chain, repeat
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from runtime.support.errors import ArgumentError, ModelError, Refused, did_you_mean, said_by

if TYPE_CHECKING:
    from runtime.support.kinds import Kind

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
T = TypeVar("T")
FIRST = ("self", "cls")


def checked(function: F) -> F:
    """Check the arguments of a function by its annotations at each call; arguments that are left out are not checked.

    Values are passed on in their proper type: a float for one number of any kind, a list for an iterator.

    Raises
    ------
    ModelError
        Naming the function and the argument, its value, and what to give.
    """
    return _guarded(function, by_annotations=True)


def fitting(function: F) -> F:
    """Refuse calls that do not fit the signature, as ``checked`` does, for functions that check their arguments themselves."""
    return _guarded(function, by_annotations=False)


def _guarded(function: F, *, by_annotations: bool) -> F:
    border = Border(function)

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        if by_annotations:
            given, named = border.admit(given, named)
        try:
            return function(*given, **named)
        except TypeError:
            if (wrong := border.wrong_call(given, named)) is None:
                raise  # from inside
            raise wrong from None
        except ValueError as error:
            if type(error).__name__ != "LinAlgError":
                raise
            raise ModelError(
                f"{name_at_border(function)}: the numbers differ by so many powers of ten that rounding leaves no solution "
                f"({error}); check units"
            ) from error

    return call  # type: ignore[return-value]


def checked_methods(kind: C) -> C:
    """Check the arguments of the public methods of a class that checks its values itself, for those that are made often."""
    made: Any = kind.__dict__["__init__"]
    checked_class(kind)
    type.__setattr__(kind, "__init__", fitting(made))
    return kind


def checked_class(kind: C) -> C:
    """Check the arguments of a class and of its public methods, ``checked`` each."""
    for name, value in list(vars(kind).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        if isinstance(value, FunctionType):
            setattr(kind, name, checked(value))
        elif isinstance(value, classmethod | staticmethod):
            setattr(kind, name, type(value)(checked(value.__func__)))
    return kind


def unchecked(kind: type[T], /, *given: Any, **named: Any) -> T:
    """An object of a ``checked_class`` from arguments that its maker has checked; their types may not be checked twice."""
    made = object.__new__(kind)
    cast(Any, kind.__init__).__wrapped__(made, *given, **named)
    return made


class Border:
    """The arguments of a function: their kinds, found at the first call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.kinds: dict[str, Kind] | None = None
        self.many: str = ""  # name of *arguments
        self.more: str = ""  # name of **arguments

    def admit(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments in their proper types."""
        if self.kinds is None:
            self.kinds = self._find_kinds()
        places = *zip(chain(self.order, repeat(self.many)), given, strict=False), *named.items()
        admitted: list[Any] = []
        for name, value in places:  # most are of these types, and a call for each takes longer than the rest
            kind = self.kinds.get(name if name in self.names else self.more)
            of_kind = kind is None or type(value) in kind.at_once
            admitted.append(value if of_kind else self._admitted((given, named), name, value, cast("Kind", kind)))
        return tuple(admitted[: len(given)]), dict(zip(named, admitted[len(given) :], strict=True))

    def _admitted(self, calls: tuple[tuple[Any, ...], Mapping[str, Any]], name: str, value: Any, kind: Kind) -> Any:
        try:
            return kind.admit(value)
        except ModelError:
            raise
        except Exception as error:  # whatever a foreign object raises
            refused = error if isinstance(error, Refused) else Refused(f"cannot be read: {said_by(error)}")
            cause = None if error is refused else error
            raise ModelError(refused.sentence(f"{self._subject(*calls)}: {name}", value, kind.words)) from cause

    def _subject(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> str:
        """The function, with the name that the user gives to what it makes."""
        name = name_at_border(self.function)
        position = self.order.index("name") if "name" in self.order else -1
        own = named.get("name", given[position] if 0 <= position < len(given) else None)
        return f"{name} '{own}'" if type(own) is str and len(own) < 100 else name

    def _find_kinds(self) -> dict[str, Kind]:
        from runtime.support.kinds import ArrayLike  # with numpy, which defining a function need not wait for

        function = inspect.unwrap(self.function)
        space = {**vars(sys.modules["typing"]), **getattr(function, "__globals__", {})}
        home = sys.modules.get(function.__module__)
        space |= vars(home) if home else {}
        space["ArrayLike"] = ArrayLike
        parameters = inspect.signature(function).parameters
        kinds: dict[str, Kind] = {}
        self.order: list[str] = []
        for name, parameter in parameters.items():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                self.order.append(name)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                self.many = name
            elif parameter.kind is parameter.VAR_KEYWORD:
                self.more = name
            if (kind := _kind(parameter.annotation, space, name)) is not None:
                kinds[name] = kind
        self.names = frozenset(parameters)
        return kinds

    def wrong_call(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> ModelError | None:
        """The error for a call that does not fit the signature; None for one that does."""
        signature = inspect.signature(self.function)
        try:
            signature.bind(*given, **named)
        except TypeError as error:
            reason = error
        else:
            return None
        name, known = name_at_border(self.function), [p for p in signature.parameters if p not in FIRST]
        takes = f"it takes {', '.join(known) or 'no arguments'}"
        if not self.more and (unknown := [key for key in named if key not in known]):
            guess = did_you_mean(unknown[0], known)
            return ArgumentError(f"{name}: unknown argument '{unknown[0]}'; {guess}{takes}")
        return ArgumentError(f"{name}: {reason}; {takes}")


def name_at_border(function: Callable[..., Any]) -> str:
    """The name of a function for messages: of a class that it makes, and of the module that a ``build`` is in."""
    name = function.__name__
    if name in ("__init__", "__call__"):
        return function.__qualname__.split(".")[-2].lower()
    return f"{function.__module__}.build" if name == function.__qualname__ == "build" else name


def _kind(annotation: Any, space: dict[str, Any], name: str) -> Kind | None:
    if annotation is inspect.Parameter.empty or name in FIRST:
        return None
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, space)
        except Exception:
            return None  # a name that only type checkers see
    from runtime.support.kinds import kind_of

    return kind_of(annotation)
