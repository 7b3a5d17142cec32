"""Mappings from names; a name that does not exist raises an error with the nearest one and those that exist."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from runtime.support.errors import ModelError, unknown_name

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
        except ModelError:
            raise
        except Exception:  # what cannot be a key
            raise unknown_name(name, self, self.what, self.several) from None

    def __missing__(self, name: Any) -> T:
        raise unknown_name(name, self, self.what, self.several)


def named(what: str, items: Mapping[str, T], several: str = "") -> Mapping[str, T]:
    """A read-only mapping from names of something, such as "body"; ``several``: the plural, if it is not with an "s".

    A name that it does not have raises ``UnknownNameError``, a ModelError and a KeyError.
    """
    return MappingProxyType(Named(items, what, several))
