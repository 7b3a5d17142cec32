"""Refuse to start where a user's file or folder hides the package ``runtime``, which can then not report it itself."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

RUNTIME = Path(__file__).resolve().parents[1] / "runtime"


def refuse_hidden_runtime() -> None:
    """Refuse to start where Python finds another module under the name ``runtime``; see ``runtime.support.hidden_packages``.

    Raises
    ------
    SystemExit
        With the exit code 2, after a sentence that names the file or folder and the remedy.
    """
    spec = getattr(sys.modules.get("runtime"), "__spec__", None) or importlib.util.find_spec("runtime")
    places = [] if spec is None else [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    if not places or not RUNTIME.is_dir() or any(RUNTIME in Path(place).resolve().parents for place in places):
        return
    print(
        f"{places[0]} hides Talus's package 'runtime'; rename that file or folder, or start Python where it is not found",
        file=sys.stderr,
    )
    raise SystemExit(2)
