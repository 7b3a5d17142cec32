"""``python -m codegen``: write ``generated/`` anew.  ``--check``: compare instead, and fail on any difference.

With ``--models`` the same for the whole-model kernels of ``models.shipped``, which are made from the others.  Without it
``--check`` looks only whether one of them was edited by hand.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from codegen import bodies, cones, contacts, drivers, joints, laws, limits, trace, whole
from codegen.calculus import DefinitionError
from codegen.contact_forces import derive_contact, emit_contact, emit_friction, emit_normal_law
from codegen.derive import derive
from codegen.emit import COMMAND, Switch, digest, emit, emit_digests, emit_dispatch, true_to_digest, with_header
from codegen.forces import derive_limit, emit_cone, emit_law, emit_limit, emit_measures
from codegen.whole import emit_model

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "generated"
MODELS = GENERATED / "whole"
STALE = 3  # exit code

ALL = "codegen/"
STATES = ("body_i", "body_j", "x")
# How the modules of each family are called from compiled code; the first argument of a switch is the kind's number.
SWITCHES = {
    "MODULES": [],  # called through their addresses
    "LIMITS": [
        Switch("direction", (*STATES, "u")),
        Switch("measure", (*STATES, "slope", "out")),
        Switch("wrench", (*STATES, "slope", "Q")),
        Switch("direction_tangent", (*STATES, "seeds", "out")),
        Switch("wrench_tangent", (*STATES, "slope", "seeds", "out")),
    ],
    "NORMAL_LAWS": [
        Switch("law", ("delta", "delta_dot", "c", "out")),
        Switch("law_parameters", ("delta", "delta_dot", "c", "out")),
    ],
    "FRICTIONS": [
        Switch("below", ("slip", "normal_force", "c", "out")),
        Switch("above", ("slip", "normal_force", "c", "out")),
    ],
    "CONES": [
        Switch("curve", ("s", "c", "out")),
        Switch("limit", ("s", "c", "out")),
        Switch("bearing", ("s", "psi", "c", "out")),
        Switch("parameter", ("psi", "c", "out")),
    ],
}


def definitions(module: ModuleType = joints) -> list[Callable[..., Any]]:
    """The definitions of a module, such as the joints, in the order in which they stand in it."""
    own = [f for _, f in inspect.getmembers(module, inspect.isfunction) if f.__module__ == module.__name__]
    return sorted((f for f in own if not f.__name__.startswith("_")), key=lambda f: f.__code__.co_firstlineno)


def sources_digest() -> str:
    """One digest of all that decides what is generated, read as text so that line ends do not matter."""
    files = sorted((ROOT / "codegen").glob("*.py"))
    return digest("".join(f"{file.name}\n{file.read_text(encoding='utf-8')}" for file in files))


def whole_digest() -> str:
    """The digest of what decides how whole-model kernels follow from the others."""
    return digest("".join(inspect.getsource(module) for module in (trace, whole)))


def generate_models() -> dict[str, str]:
    """The same for ``generated/whole``, from the kernels that lie in ``generated/``."""
    shipped = importlib.import_module("models.shipped")  # late: it needs those
    command = f"{COMMAND} --models"
    made = {"__init__.py": with_header('"""Whole-model kernels, emitted by codegen; never edited."""\n', ALL, command)}
    for name, build in shipped.SYSTEMS.items():
        made[f"{name}.py"] = with_header(emit_model(build().model), f"models/shipped.py: {name}", command)
    return made


def generate() -> dict[str, str]:
    """File name -> text of everything that belongs into ``generated/``."""
    measures = (cones.position, cones.separation, cones.top_view)
    shapes = [f for f in definitions(cones) if f not in measures]
    families: dict[str, dict[str, str]] = {
        "MODULES": {
            f.__name__: emit(derive(f), f"codegen/{module.__name__.split('.')[1]}.py: {f.__name__}")
            for module in (joints, drivers)
            for f in definitions(module)
        },
        "LIMITS": {
            f"limit_{f.__name__}": emit_limit(derive_limit(f), f"codegen/limits.py: {f.__name__}")
            for f in definitions(limits)
        },
        "CONES": {f"cone_{f.__name__}": emit_cone(f, f"codegen/cones.py: {f.__name__}") for f in shapes},
    }
    laws_of_contact = [f for f in definitions(contacts) if f is not contacts.sphere_plane]
    for f in laws_of_contact:
        first = next(iter(inspect.signature(f).parameters))
        family, prefix, emit_it = (
            ("NORMAL_LAWS", "normal", emit_normal_law) if first == "delta" else ("FRICTIONS", "friction", emit_friction)
        )
        families.setdefault(family, {})[f"{prefix}_{f.__name__}"] = emit_it(f, f"codegen/contacts.py: {f.__name__}")
    files = {name: text for family in families.values() for name, text in family.items()}
    files["contact_sphere_plane"] = emit_contact(
        derive_contact(contacts.sphere_plane), "codegen/contacts.py: sphere_plane"
    )
    files["bodies"] = bodies.emit_bodies("codegen/bodies.py")
    files |= {f"law_{f.__name__}": emit_law(f, f"codegen/laws.py: {f.__name__}") for f in definitions(laws)}
    files |= {f.__name__: emit_measures(f, f"codegen/cones.py: {f.__name__}") for f in measures}
    files["dispatch"] = emit_dispatch({name: (list(family), SWITCHES[name]) for name, family in families.items()}, ALL)
    files["__init__"] = with_header('"""Kernels, emitted by codegen; never edited."""\n', ALL)
    files["digests"] = emit_digests(files, sources_digest(), whole_digest(), ALL)
    return {f"{name}.py": text for name, text in sorted(files.items())}


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0 done, 2 a definition breaks a rule, 3 ``generated/`` is not what the definitions give."""
    parser = argparse.ArgumentParser(
        prog=COMMAND, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare with generated/ and change nothing")
    parser.add_argument("--models", action="store_true", help="the whole-model kernels, too")
    options = parser.parse_args(argv)
    try:
        wanted = generate()
    except DefinitionError as error:
        print(error, file=sys.stderr)
        return 2
    code = _settle(wanted, GENERATED, COMMAND, options.check)
    if options.check and not options.models:
        return _untouched(MODELS, f"{COMMAND} --models") or code
    if code or not options.models:
        return code
    return _settle(generate_models(), MODELS, f"{COMMAND} --models", options.check)


def _untouched(folder: Path, command: str) -> int:
    """Name the files of a folder that were edited by hand; whether the others are up to date is left open."""
    edited = [file for file in sorted(folder.glob("*.py")) if not true_to_digest(file.read_text(encoding="utf-8"))]
    for file in edited:
        print(
            f"{file.relative_to(ROOT).as_posix()}: edited by hand, its digest is that of another text; run: {command}"
        )
    return STALE if edited else 0


def _settle(wanted: dict[str, str], folder: Path, command: str, check: bool) -> int:
    """Make the files of a folder as they are wanted, or tell how they differ."""
    folder.mkdir(exist_ok=True)
    place = f"{folder.relative_to(ROOT).as_posix()}/"
    present = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.py")}
    changed = [name for name in sorted(wanted.keys() | present.keys()) if wanted.get(name) != present.get(name)]
    if check:
        for name in changed:
            lines = difflib.unified_diff(
                present.get(name, "").splitlines(), wanted.get(name, "").splitlines(),
                f"{place}{name} (as it is)", f"{place}{name} (as the definitions give it)", lineterm="", n=1,
            )  # fmt: skip
            print("\n".join(lines))
        if changed:
            print(f"{place}: {len(changed)} of {len(wanted)} files differ; run: {command}")
            return STALE
        print(f"{place}: {len(wanted)} files, all as the definitions give them")
        return 0
    for name in changed:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8", newline="\n")
        else:
            (folder / name).unlink()
    print(f"{place}: {len(wanted)} files, {len(changed)} written" + (f" ({', '.join(changed)})" if changed else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
