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
    from runtime.support.checks import bounded, counted, finite, finite_number, increasing_times, positive
    from runtime.support.errors import did_you_mean, one_line, shortened, shown, warn
    from runtime.support.files import free_file, made_folder, opened, read_file, write_bytes, write_text
    from runtime.support.helper import EndedError, Helper
    from runtime.support.late_names import no_attribute
    from runtime.support.logs import logger
    from runtime.support.names import named
    from runtime.support.numbers import floats
    from runtime.support.units import DOWN, GRAVITY, Usual, ask, usual
    from runtime.support.xml_reading import (
        Element,
        are_finite,
        finite_numbers,
        parse_xml,
        plain_number,
        plain_numbers,
        without_tiny,
    )
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "arguments": "checked checked_class",
            "beside": "Beside",
            "checks": "bounded counted finite finite_number increasing_times positive",
            "errors": "did_you_mean one_line shortened shown warn",
            "files": "free_file made_folder opened read_file write_bytes write_text",
            "helper": "EndedError Helper",
            "late_names": "no_attribute",
            "logs": "logger",
            "names": "named",
            "numbers": "floats",
            "units": "DOWN GRAVITY Usual ask usual",
            "xml_reading": "Element are_finite finite_numbers parse_xml plain_number plain_numbers without_tiny",
        },
    )

__all__ = [
    "DOWN",
    "GRAVITY",
    "Beside",
    "Element",
    "EndedError",
    "Helper",
    "Usual",
    "are_finite",
    "ask",
    "bounded",
    "checked",
    "checked_class",
    "counted",
    "did_you_mean",
    "finite",
    "finite_number",
    "finite_numbers",
    "floats",
    "free_file",
    "increasing_times",
    "late_names",
    "logger",
    "made_folder",
    "named",
    "no_attribute",
    "one_line",
    "opened",
    "parse_xml",
    "plain_number",
    "plain_numbers",
    "positive",
    "read_file",
    "results_folder",
    "shortened",
    "shown",
    "usual",
    "warn",
    "without_tiny",
    "write_bytes",
    "write_text",
]
