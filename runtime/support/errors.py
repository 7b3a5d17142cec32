"""The errors that users see: each names the object, the rule, the value against its limit and the remedy."""

from __future__ import annotations


class ModelError(ValueError):
    """A model, a state or an argument that breaks a rule.  Nothing was changed."""


class AssemblyError(ModelError):
    """The constraints cannot be met from the given configuration or velocities."""


class StaleKernelsError(RuntimeError, SystemExit):
    """Kernels are edited, incomplete or older than the definitions.  Uncaught, it ends the program with exit code 3."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = 3
