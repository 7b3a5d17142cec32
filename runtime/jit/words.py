"""Compiled code in the terms of the field, for the notice of compilation."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

WORDS: dict[str, str] = {}  # by module; higher rooms add their own


def add_words(room: str, words: Mapping[str, str]) -> None:
    """Add words for the modules of a room, by their names in it."""
    WORDS.update({f"{room}.{module}": text for module, text in words.items()})


def words_of(function: Any, signature: Any) -> str:
    """Words for a compiled function and the types of its arguments."""
    method = _method(signature)
    words = WORDS.get(function.__module__, f"the function {function.__name__}")
    return f"{words} ({method})" if method else words


def _method(signature: Any) -> str:
    """Method of integration: the module that defines its memory in the stepper, one of the arguments of a part of the loop."""
    for kind in getattr(signature, "args", signature):
        with suppress(AttributeError, IndexError, ValueError):
            return str(kind.field("own")[1].instance_class.__module__.rpartition(".")[2])
    return ""


def words_of_kernel(module: str) -> str:
    """Words for the kernel of a generated module, or of one of a user."""
    room, _, name = module.rpartition(".")
    name = name.removeprefix("generated_from_")  # of a user's own joint
    return f"the whole-model kernel of {name}" if room.endswith("whole") else f"the kernel of {name}"
