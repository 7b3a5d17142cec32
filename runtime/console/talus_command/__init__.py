"""Entry point of the command ``talus``.  It has an import name of its own, so it starts even where a file hides ``runtime``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def main() -> None:
    """Run the command, or name the file or folder that hides the package ``runtime``, with the exit code 2."""
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
