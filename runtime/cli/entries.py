"""Models and studies among the installed entry points, whose modules another version of the sources may lack."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

from runtime.cli.options import DISTRIBUTION
from runtime.support.documentation import documentation
from runtime.support.errors import ModelError


def loaded(entry: EntryPoint) -> Any:
    """The function of an entry point.

    Raises
    ------
    ModelError
        Where the installation names what its sources do not have.
    """
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise ModelError(_missing(entry, error)) from None


def described(entry: EntryPoint, function: str = "") -> str:
    """Docstring of the module of an entry point, or of a function in it; where it is missing, a sentence that says so."""
    try:
        return documentation(entry.module, function)
    except (ImportError, AttributeError) as error:
        return _missing(entry, error)


def _missing(entry: EntryPoint, error: Exception) -> str:
    distribution = entry.dist.name if entry.dist else DISTRIBUTION
    remedy = f"install '{distribution}' again, in a checkout by: pip install -e ."
    return f"'{entry.name}' ({entry.value}) cannot be imported: {error}; {remedy}"
