"""Refuse to start where another package has the name ``runtime``; Talus's can then not report it itself."""

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
    if not places or not RUNTIME.is_dir():
        return
    if not any(RUNTIME in Path(place).resolve().parents for place in places):
        reason = f"{places[0]} hides Talus's package 'runtime'; rename that file or folder, or start Python where it is not found"
    elif "refuse_hidden_packages" not in (RUNTIME / "__init__.py").read_text(encoding="utf-8", errors="replace"):
        reason = (
            f"{RUNTIME / '__init__.py'} is not Talus's: another distribution has a package 'runtime' too, which replaced it; "
            "install that one into another environment, and Talus again"
        )
    else:
        return
    print(reason, file=sys.stderr)
    raise SystemExit(2)
