"""The errors and warnings that users see: each names the object, the rule, the value against its limit and the remedy."""

from __future__ import annotations

import sys
import warnings


class ModelError(ValueError):
    """A model, a state or an argument that breaks a rule.  Nothing was changed."""


class AssemblyError(ModelError):
    """The constraints cannot be met from the given configuration or velocities."""


class AssemblyWarning(UserWarning):
    """A system that was built, but not as its data say: bodies were moved, velocities changed, or a closed loop is locked."""


class StaleKernelsError(RuntimeError, SystemExit):
    """Kernels are edited, incomplete or older than the definitions.  Uncaught, it ends the program with exit code 3."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = 3


def warn(sentence: str) -> None:
    """Give an AssemblyWarning whose place is the line outside of ``runtime`` that led to it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "runtime":
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, AssemblyWarning, stacklevel=level)
