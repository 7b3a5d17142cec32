"""Errors, checks of arguments, array types, progress, the notice of compilation and results folders.  Imports no other room."""

from runtime.support.results_folder import results_folder

__all__ = ["results_folder"]
