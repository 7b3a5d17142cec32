"""Detection of a user's file or folder that hides one of Talus's packages, at the import."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from runtime.support.streams import tell

PACKAGES = ("codegen", "generated", "models", "runtime")
ROOT = Path(__file__).resolve().parents[2]


class HiddenPackageError(RuntimeError, SystemExit):
    """Python finds another module under the name of one of Talus's packages.  Uncaught, it ends the program with exit code 2."""

    code = 2


def refuse_hidden_packages() -> None:
    """Refuse to start where Python finds another file or folder for one of the packages.

    Raises
    ------
    HiddenPackageError
        The message names the file or folder and the remedy, and is printed too: uncaught, this error ends the program silently.
    """
    for name in PACKAGES:
        loaded = sys.modules.get(name)
        spec = getattr(loaded, "__spec__", None) or importlib.util.find_spec(name)
        places = [] if spec is None else [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
        own = (ROOT / name).resolve()  # without an __init__.py Python finds the folder itself
        if not own.is_dir() or any(
            place and own in (Path(place).resolve(), *Path(place).resolve().parents) for place in places
        ):
            continue
        place = places[0] if places and places[0] else "another module"
        message = (
            f"{place} hides Talus's package '{name}'; rename that file or folder, or start Python where it is not found"
        )
        tell(message)
        raise HiddenPackageError(message)
