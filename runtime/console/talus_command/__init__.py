"""Entry point of the command ``talus``.  It has an import name of its own, so it starts even where a file hides ``runtime``."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command, or name the file or folder that hides the package ``runtime``, with the exit code 2."""
    _end_at_once_by_signals()
    import importlib.util  # after the signals, which may come at any time
    from pathlib import Path

    spec = importlib.util.find_spec("runtime")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    if spec is not None and not any(Path(folder, "support", "hidden_packages.py").is_file() for folder in folders):
        print(
            f"{spec.origin or folders[0]} hides Talus's package 'runtime'; rename that file or folder, or start Python "
            "where it is not found",
            file=sys.stderr,
        )
        raise SystemExit(2)
    from runtime.cli import main as command

    command()


def _end_at_once_by_signals() -> None:
    """Until ``runtime.support.interruption`` is imported: end by Ctrl-C or SIGTERM at once; nothing is open that is lost."""
    import os

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:  # as a shell starts a command in the background
            signal.signal(number, lambda number, frame: os._exit(128 + number))
