"""Errors of code generation."""

from __future__ import annotations


class DefinitionError(ValueError):
    """A definition that breaks a rule of the calculus; the message names the definition and the rule."""


class NoSystemsError(LookupError):
    """``pyproject.toml`` does not name the systems of ``--models``."""
