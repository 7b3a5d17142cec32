"""Loggers of the standard library, which print nothing until the user asks for it."""

from __future__ import annotations

import logging


def logger(name: str) -> logging.Logger:
    """The logger of a module, such as "runtime.ensemble.simulate_many", below that of its room, "runtime.ensemble".

    Level INFO: beginnings and ends of long work, files written, turns to other equations or another method, runs that failed;
    WARNING: work that is lost; DEBUG: every chunk of an ensemble and every run.  ``talus --verbose VERB`` prints from INFO on.
    """
    top = logging.getLogger(name.partition(".")[0])
    if not any(isinstance(handler, logging.NullHandler) for handler in top.handlers):
        top.addHandler(logging.NullHandler())  # without it warnings would be printed unasked
    return logging.getLogger(name)


def print_logs() -> None:
    """Print the records of Talus from level INFO on to the standard error."""
    logging.basicConfig(format="%(asctime)s  %(name)s  %(message)s", datefmt="%H:%M:%S")
    for room in ("runtime", "models", "codegen"):
        logging.getLogger(room).setLevel(logging.INFO)
