"""Errors, checks of arguments, array types, progress, the notice of compilation, results folders, late imports.

Imports no other room.
"""

from runtime.support.files import made_folder
from runtime.support.results_folder import results_folder

__all__ = ["made_folder", "results_folder"]
