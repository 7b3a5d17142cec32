"""Errors, checks of arguments, array types, progress, the notice of compilation, results folders, late imports.

Imports no other room.
"""

from runtime.support.results_folder import results_folder

__all__ = ["results_folder"]
