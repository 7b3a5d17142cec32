"""Kinds of arguments, from annotations: each admits a value in its proper type, or says what to give."""

from __future__ import annotations

import os
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from runtime.support.errors import Refused, did_you_mean, shown
from runtime.support.numbers import real_number, real_numbers


class ArrayLike:
    """Stands for numpy's ArrayLike, a union that contains str, so that a union with it would hide what it adds.

    Such arguments are checked where their shape is known, by ``finite`` and others of ``checks``.
    """


LARGEST_COUNT = 10**50  # larger ones have no floating-point number, and some no text
MOST_ITEMS = 10_000_000  # of an iterator, which may have no end


@dataclass(frozen=True)
class Kind:
    """A kind of argument.

    ``admit`` returns the value in its proper type or raises ``Refused``; ``words``: what to give; ``at_once``: types of values
    that need no check.
    """

    admit: Callable[[Any], Any]
    words: str
    at_once: frozenset[type] = frozenset()


def kind_of(annotation: Any) -> Kind | None:
    """The kind of an annotation; None for one that admits everything, or that is not known here."""
    annotation = _unnamed(annotation)
    if annotation is None or annotation is type(None):
        return NONE
    if isinstance(annotation, typing.TypeVar) or annotation in (Any, object, ArrayLike):
        return None
    if isinstance(annotation, type) and not typing.get_origin(annotation):
        return _SIMPLE.get(annotation) or _instance(annotation)
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _union(annotation)
    if origin is Literal:
        return _literal(inner)
    if origin is Callable or annotation is Callable:
        return CALLABLE
    if origin is np.ndarray:
        return NUMBERS if typing.get_args(inner[1])[:1] in ((np.float64,), (np.int64,)) else None
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(*map(kind_of, inner))
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        return _fixed([kind_of(one) for one in inner])
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return _several(kind_of(inner[0]), origin)
    return None


def _unnamed(annotation: Any) -> Any:
    """What stands behind the name of a type (``type X = ...``), such as numpy's since 2.5 from Python 3.12 on."""
    origin = typing.get_origin(annotation)
    if hasattr(origin, "__value__"):
        return _unnamed(origin.__value__[typing.get_args(annotation)])
    return _unnamed(annotation.__value__) if hasattr(type(annotation), "__value__") else annotation


def _instance(kind: type) -> Kind | None:
    name = getattr(kind, "MADE_BY", f"a {kind.__module__.partition('.')[0]}.{kind.__qualname__}")
    if kind is types.ModuleType:
        name = "what a function of codegen, such as compile_joint, compile_limit or compile_muscle, returned"
    if issubclass(kind, os.PathLike):
        return PATH
    if getattr(kind, "_is_protocol", False):
        return None
    if kind in (Mapping, dict):
        return _mapping(None, None)

    def admit(value: Any) -> Any:
        if isinstance(value, kind):
            return value
        if issubclass(kind, Enum):
            try:
                return kind(value)
            except (ValueError, TypeError):
                raise Refused(remedy=f"use one of {', '.join(map(str, kind))}") from None
        raise Refused

    return Kind(admit, name, frozenset({kind}))


def _whole(value: Any) -> int:
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, int | np.integer):
        raise Refused
    if not -LARGEST_COUNT <= value <= LARGEST_COUNT:
        raise Refused(f"is beyond {LARGEST_COUNT:g}")
    return int(value)


def _of_class(classes: type | tuple[type, ...], words: str, at_once: set[type], proper: Callable[[Any], Any]) -> Kind:
    """Objects of some classes, each in the type that ``proper`` makes."""

    def admit(value: Any) -> Any:
        if not isinstance(value, classes):
            raise Refused
        return proper(value)

    return Kind(admit, words, frozenset(at_once))


NONE = _of_class(type(None), "None", {type(None)}, lambda value: None)
FLOAT = Kind(real_number, "one number", frozenset({float}))
TEXT = _of_class(str, "text", {str}, str.__str__)  # of a class of its own, as an enumeration's, too
PATH = _of_class((str, os.PathLike), "a path, as text or pathlib.Path", set(), Path)
CALLABLE = _of_class(cast(type, Callable), "a function", {types.FunctionType, types.MethodType}, lambda value: value)
NUMBERS = Kind(
    real_numbers, "an array of numbers", frozenset({np.ndarray})
)  # ndarrays by their users: a dtype takes time
_SIMPLE = {
    float: FLOAT,
    int: Kind(_whole, "a whole number"),
    bool: _of_class((bool, np.bool_), "True or False", {bool}, bool),
    str: TEXT,
    np.ndarray: NUMBERS,
}


def _union(annotation: Any) -> Kind | None:
    found: list[Kind] = []
    mappings: list[Kind] = []
    left = list(typing.get_args(annotation))
    if {str, Path} <= set(left):  # text that is a path
        left.remove(str)
    for one in left:
        if (kind := kind_of(one)) is None:
            return None
        found.append(kind)
        origin = typing.get_origin(one) or one
        if isinstance(origin, type) and issubclass(origin, Mapping):
            mappings.append(kind)

    def admit(value: Any) -> Any:
        reasons = []
        for kind in mappings if mappings and isinstance(value, Mapping) else found:  # a sequence would lose its values
            try:
                return kind.admit(value)
            except Refused as refused:
                others = [one.words for one in found if one is not kind and one.words != "None"]
                if refused.remedy and others and not refused.reason:  # of a few values, beside other kinds
                    refused.remedy += f", or give {' or '.join(others)}"
                reasons.append(refused)
        raise next((refused for refused in reasons if refused.reason or refused.remedy), Refused())

    words = [kind.words for kind in found if kind.words != "None"]
    text = ", ".join(dict.fromkeys(words[:-1]))
    given = f"{text} or {words[-1]}" if text else words[-1]
    optional = ", or leave it out" if len(words) < len(found) else ""
    return Kind(admit, given + optional, frozenset().union(*(kind.at_once for kind in found)))


def _literal(values: tuple[Any, ...]) -> Kind:
    *first, last = map(repr, values)
    words = f"{', '.join(first)} or {last}" if first else last

    def admit(value: Any) -> Any:
        value = str.__str__(value) if isinstance(value, str) else value
        if isinstance(value, str | int | None) and any(value == one and type(value) is type(one) for one in values):
            return value
        raise Refused(remedy=did_you_mean(value, [one for one in values if isinstance(one, str)]) + f"use {words}")

    return Kind(admit, words)


def _mapping(keys: Kind | None, values: Kind | None) -> Kind:
    def admit(value: Any) -> Any:
        if (table := _columns_of_table(value)) is not None:
            value = table
        if not isinstance(value, Mapping):
            raise Refused
        changed = {}
        for key, one in value.items():
            if keys is TEXT and not isinstance(key, str):
                raise Refused(f"has the key {shown(key)}, which is no text")
            if values is not None and (admitted := _item(values, one, f"'{key}'")) is not one:
                changed[key] = admitted
        return {**value, **changed} if changed else value

    return Kind(admit, "a mapping from names to " + (_plural(values.words) if values else "values"))


def _columns_of_table(value: Any) -> dict[Any, Any] | None:
    """The columns by name of a DataFrame of pandas or polars, vectors in cells as rows of an array; None of anything else."""
    if type(value).__name__ != "DataFrame" or type(value).__module__.partition(".")[0] not in ("pandas", "polars"):
        return None
    names = list(value.columns)
    if twice := [name for name in names if names.count(name) > 1]:
        raise Refused(f"has the column {shown(twice[0])} more than once", "give each name once")
    columns = {name: np.asarray(value[name]) for name in names}
    return {name: column.tolist() if column.dtype.kind == "O" else column for name, column in columns.items()}


def _item(kind: Kind, value: Any, name: str) -> Any:
    """An item of a sequence or a mapping."""
    if type(value) in kind.at_once:
        return value
    try:
        return kind.admit(value)
    except Refused as refused:
        which = f", which {refused.reason}" if refused.reason else ""
        raise Refused(f"has {name} = {shown(value)}{which}", refused.remedy) from None


def _several(kind: Kind | None, origin: type) -> Kind:
    """A sequence; an iterator is used up once, here."""
    at_once = frozenset() if kind is None else kind.at_once
    plain = tuple(one for one in (list, tuple) if issubclass(one, origin))

    def admit(value: Any) -> Any:
        if type(value) in plain and len(value) <= MOST_ITEMS and at_once.issuperset(map(type, value)):
            return value
        if isinstance(value, str | bytes | bytearray | memoryview) or not isinstance(value, Iterable):
            raise Refused
        if isinstance(value, Mapping) and kind is not TEXT:  # a mapping from names is a collection of names
            raise Refused
        if isinstance(value, Set) and issubclass(origin, Sequence):
            raise Refused("has no order")
        items = list(islice(value, MOST_ITEMS + 1))
        if len(items) > MOST_ITEMS:
            raise Refused(f"has more than {MOST_ITEMS} items")
        admitted = items if kind is None else [_item(kind, item, f"item {k}") for k, item in enumerate(items)]
        unchanged = isinstance(value, (origin, np.ndarray)) and isinstance(value, Collection)
        return value if unchanged and all(a is b for a, b in zip(items, admitted, strict=True)) else admitted

    return Kind(admit, "a sequence of " + (_plural(kind.words) if kind else "values"))


def _fixed(kinds: list[Kind | None]) -> Kind:
    def admit(value: Any) -> Any:
        if isinstance(value, str | bytes | bytearray | Mapping | Set) or not isinstance(value, Collection):
            raise Refused
        items = list(islice(value, len(kinds) + 1))
        if len(items) != len(kinds):
            raise Refused(f"has {len(value)} items")
        return tuple(
            item if kind is None else _item(kind, item, f"item {k}")
            for k, (item, kind) in enumerate(zip(items, kinds, strict=True))
        )

    return Kind(admit, f"{len(kinds)} items: " + ", ".join(kind.words if kind else "any" for kind in kinds))


def _plural(words: str) -> str:
    known = {"one number": "numbers", "text": "texts", "a function": "functions", "numbers": "numbers"}
    return known.get(words, f"items, each {words}")
