"""Detection of a user's file, or of a file of another distribution, in place of one of Talus's packages, at the import."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from runtime.support.streams import tell

# Each package, and a word of its __init__.py.
PACKAGES = {
    "codegen": "compile_joint", "generated": "python -m codegen", "models": "refuse_hidden_runtime",
    "runtime": "refuse_hidden_packages",
}  # fmt: skip
DISTRIBUTION = "talus-multibody"
ROOT = Path(__file__).resolve().parents[2]


class HiddenPackageError(RuntimeError, SystemExit):
    """Another module has the name of one of Talus's packages.  Uncaught, it ends the program with exit code 2."""

    code = 2


def refuse_hidden_packages() -> None:
    """Refuse to start where Python finds another file or folder for one of the packages, or one that is not Talus's.

    Raises
    ------
    HiddenPackageError
        The message names the file or folder and the remedy, and is printed too: uncaught, this error ends the program silently.
    """
    for name, word in PACKAGES.items():
        loaded = sys.modules.get(name)
        spec = getattr(loaded, "__spec__", None) or importlib.util.find_spec(name)
        places = [] if spec is None else [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
        own = (ROOT / name).resolve()  # without an __init__.py Python finds the folder itself
        if not own.is_dir():
            continue
        if not any(place and own in (Path(place).resolve(), *Path(place).resolve().parents) for place in places):
            place = places[0] if places and places[0] else "another module"
            _refuse(
                f"{place} hides Talus's package '{name}'; rename that file or folder, or start Python where it is not found"
            )
        if not is_own(own, word):
            others = ", ".join(shipping(name)) or "another distribution"
            _refuse(
                f"{own / '__init__.py'} is not Talus's: {others} has a package '{name}' too, which replaced it; install {others} "
                "into another environment, and Talus again"
            )


def is_own(package: Path, word: str) -> bool:
    """Whether the ``__init__.py`` of a package, if there is one, is Talus's: it contains this word."""
    file = package / "__init__.py"
    return not file.is_file() or word in file.read_text(encoding="utf-8", errors="replace")


def shipping(*packages: str) -> list[str]:
    """Names of the other installed distributions that contain files of packages with these names."""
    from importlib.metadata import distributions  # here because a start that finds nothing wrong does not need it

    starts = tuple(f"{package}/" for package in packages)
    found = {one.name for one in distributions() if any(str(file).startswith(starts) for file in one.files or ())}
    return sorted(found - {DISTRIBUTION})


def _refuse(message: str) -> None:
    tell(message)
    raise HiddenPackageError(message)
