"""Errors, checks of arguments, array types, progress, the notice of compilation, results folders, late imports.

Imports no other room.
"""

from runtime.support.arguments import checked, checked_class
from runtime.support.results_folder import results_folder
from runtime.support.usual import Usual, usual

__all__ = ["Usual", "checked", "checked_class", "results_folder", "usual"]
