"""Mappings from names; a name that does not exist raises an error with the nearest one and those that exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

from runtime.support.arrays import read_only
from runtime.support.errors import unknown_name

T = TypeVar("T")


class Named(dict[str, T]):
    """A dictionary whose missing keys raise an error with names."""

    __slots__ = ("several", "what")

    def __init__(self, items: Mapping[str, T], what: str, several: str = "") -> None:
        super().__init__(items)
        self.what, self.several = what, several

    def __getitem__(self, name: str) -> T:
        try:
            return super().__getitem__(name)
        except Exception:  # also of what cannot be a key
            raise unknown_name(name, self, self.what, self.several) from None


class ReadOnly(Named[T]):
    """A ``Named`` that cannot be changed, and can be pickled and copied."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"this mapping from {self.several or self.what + 's'} cannot be changed; take dict(...) of it")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return named, (self.what, dict(self), self.several)


def named(what: str, items: Mapping[str, T], several: str = "") -> Mapping[str, T]:
    """A read-only mapping from names of something, such as "body", to values; arrays among them cannot be changed either.

    several : the plural, if it is not with an "s"

    A name that it does not have raises ``UnknownNameError``, a ModelError and a KeyError.
    """
    return ReadOnly({name: read_only(value) for name, value in items.items()}, what, several)
