"""Errors, checks of arguments, array types, progress, the notice of compilation, results folders, late imports.

Imports no other room.  Public: what functions of models and studies check their arguments with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names
from runtime.support.results_folder import results_folder

if TYPE_CHECKING:
    from runtime.support.arguments import checked, checked_class
    from runtime.support.beside import Beside
    from runtime.support.checks import bounded, finite, finite_number, increasing_times, positive
    from runtime.support.files import free_file, made_folder, write_text
    from runtime.support.late_names import no_attribute
    from runtime.support.logs import logger
    from runtime.support.names import named
    from runtime.support.numbers import floats
    from runtime.support.units import Usual, usual
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "arguments": "checked checked_class",
            "beside": "Beside",
            "checks": "bounded finite finite_number increasing_times positive",
            "files": "free_file made_folder write_text",
            "late_names": "no_attribute",
            "logs": "logger",
            "names": "named",
            "numbers": "floats",
            "units": "Usual usual",
        },
    )

__all__ = [
    "Beside",
    "Usual",
    "bounded",
    "checked",
    "checked_class",
    "finite",
    "finite_number",
    "floats",
    "free_file",
    "increasing_times",
    "late_names",
    "logger",
    "made_folder",
    "named",
    "no_attribute",
    "positive",
    "results_folder",
    "usual",
    "write_text",
]
