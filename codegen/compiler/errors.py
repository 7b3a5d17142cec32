"""Errors of code generation."""

from __future__ import annotations

from reprlib import Repr
from types import FunctionType, ModuleType
from typing import Any


class DefinitionError(ValueError):
    """A definition that breaks a rule of the calculus; the message names the definition and the rule, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message))


class DefinitionWarning(UserWarning):
    """An unlikely property of a definition, such as a sum of different units; it is derived nevertheless."""


def shown(value: Any) -> str:
    """A value for a message, shortened."""
    short = Repr()
    short.maxother, short.maxlevel = 80, 3
    try:
        if isinstance(value, FunctionType | ModuleType):
            return f"{'module' if isinstance(value, ModuleType) else 'function'} {value.__name__}"
        return " ".join(short.repr(value).split())
    except Exception:  # whatever a foreign object raises
        return f"<{type(value).__name__}>"


class NoKernelError(DefinitionError):
    """Why a system has no kernel in the coordinates of its joints; it is simulated without."""


class NoSystemsError(LookupError):
    """``pyproject.toml`` does not name the systems of ``--models``."""
