"""``python -m codegen``: write ``generated/``.  ``--check``: compare instead, and fail on any difference.

``--models`` adds the whole-model kernels of ``generated/whole``, which are made from the others, for the systems that
``pyproject.toml`` names.  Without it ``--check`` only finds whole-model kernels that were edited by hand.
"""

from __future__ import annotations

import argparse
import inspect
import pkgutil
import sys
import tomllib
from pathlib import Path
from typing import Any

from codegen import bodies, cones, contacts, drivers, joints, laws, limits
from codegen.compiler import elimination, mass_groups, model_inputs, recorded_algebra, trace, whole
from codegen.compiler.body_forces import emit_bodies
from codegen.compiler.calculus import DefinitionError
from codegen.compiler.cone_curves import emit_cone, emit_law, emit_measures
from codegen.compiler.contact_forces import derive_contact, emit_contact, emit_friction, emit_normal_law
from codegen.compiler.declarations import refuse_unclear_limits
from codegen.compiler.derive import derive
from codegen.compiler.dispatch import SWITCHES, definitions, emit_dispatch
from codegen.compiler.emit import emit
from codegen.compiler.limit_forces import derive_limit, emit_limit
from codegen.compiler.module import COMMAND, emit_digests, with_header
from codegen.compiler.output import check_folder, digest_of_files, refuse_hand_edits, write_folder
from codegen.compiler.whole import emit_model

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
GENERATED = ROOT / "generated"
MODELS = GENERATED / "whole"
MODELS_COMMAND = f"{COMMAND} --models"
ALL = "codegen/"
# The modules that decide how whole-model kernels follow from the others.
WHOLE_SOURCES = (trace, recorded_algebra, model_inputs, mass_groups, elimination, whole)


class NoSystemsError(LookupError):
    """``pyproject.toml`` does not name the systems of ``--models``."""


def sources_digest() -> str:
    """One digest of all sources that decide what is generated."""
    return digest_of_files(HERE.rglob("*.py"), HERE)


def whole_digest() -> str:
    """One digest of the sources that decide how whole-model kernels follow from the others."""
    return digest_of_files((Path(inspect.getfile(module)) for module in WHOLE_SOURCES), HERE)


def generate() -> dict[str, str]:
    """File name -> text of all modules of ``generated/``."""
    refuse_unclear_limits(definitions(limits), definitions(joints))
    measures = (cones.position, cones.separation, cones.top_view)
    shapes = [f for f in definitions(cones) if f not in measures]
    of_contacts = [f for f in definitions(contacts) if f is not contacts.sphere_plane]
    normal_laws = [f for f in of_contacts if next(iter(inspect.signature(f).parameters)) == "delta"]
    frictions = [f for f in of_contacts if f not in normal_laws]
    families = {
        "MODULES": {
            f.__name__: emit(derive(f), _source(f)) for module in (joints, drivers) for f in definitions(module)
        },
        "LIMITS": {f"limit_{f.__name__}": emit_limit(derive_limit(f), _source(f)) for f in definitions(limits)},
        "CONES": {f"cone_{f.__name__}": emit_cone(f, _source(f)) for f in shapes},
        "NORMAL_LAWS": {f"normal_{f.__name__}": emit_normal_law(f, _source(f)) for f in normal_laws},
        "FRICTIONS": {f"friction_{f.__name__}": emit_friction(f, _source(f)) for f in frictions},
    }
    files = {name: text for family in families.values() for name, text in family.items()}
    contact = contacts.sphere_plane
    files["contact_sphere_plane"] = emit_contact(derive_contact(contact), _source(contact))
    files["bodies"] = emit_bodies(definitions(bodies), inspect.getdoc(bodies) or "", "codegen/bodies.py")
    files |= {f"law_{f.__name__}": emit_law(f, _source(f)) for f in definitions(laws)}
    files |= {f.__name__: emit_measures(f, _source(f)) for f in measures}
    files["dispatch"] = emit_dispatch({name: (list(family), SWITCHES[name]) for name, family in families.items()}, ALL)
    files["__init__"] = with_header('"""Kernels, emitted by codegen; never edited.  May import: numba, math."""\n', ALL)
    files["digests"] = emit_digests(files, sources_digest(), whole_digest(), ALL)
    return {f"{name}.py": text for name, text in sorted(files.items())}


def _source(definition: Any) -> str:
    """The place of a definition, for the header of its module."""
    return f"codegen/{definition.__module__.split('.')[1]}.py: {definition.__name__}"


def generate_models() -> dict[str, str]:
    """File name -> text of all modules of ``generated/whole``, made from the kernels in ``generated/``.

    The systems are those of ``[tool.talus] whole-models`` in ``pyproject.toml``: the place of a mapping of names to functions
    that build them, as "package.module:NAME".  They come from outside, so codegen imports none of the packages that use it.
    """
    table = ROOT / "pyproject.toml"
    named = tomllib.loads(table.read_text(encoding="utf-8")) if table.is_file() else {}
    place = named.get("tool", {}).get("talus", {}).get("whole-models")
    if place is None:
        raise NoSystemsError(
            f"{table}: no [tool.talus] whole-models = 'package.module:NAME'; run in a checkout of Talus"
        )
    file = place.partition(":")[0].replace(".", "/") + ".py"
    made = {
        "__init__.py": with_header(
            '"""Whole-model kernels, emitted by codegen; never edited."""\n', ALL, MODELS_COMMAND
        )
    }
    for name, build in pkgutil.resolve_name(place).items():
        made[f"{name}.py"] = with_header(emit_model(build().model), f"{file}: {name}", MODELS_COMMAND)
    return made


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0 done, 2 a definition breaks a rule, 3 ``generated/`` differs from the definitions."""
    parser = argparse.ArgumentParser(
        prog=COMMAND, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare with generated/ and change nothing")
    parser.add_argument("--models", action="store_true", help="include the whole-model kernels")
    options = parser.parse_args(argv)
    try:
        code = _settle(generate(), GENERATED, COMMAND, options.check)
        if options.check and not options.models:
            return refuse_hand_edits(MODELS, MODELS_COMMAND) or code
        if code or not options.models:
            return code
        return _settle(generate_models(), MODELS, MODELS_COMMAND, options.check)
    except (DefinitionError, NoSystemsError) as error:
        print(error, file=sys.stderr)
        return 2


def _settle(wanted: dict[str, str], folder: Path, command: str, check: bool) -> int:
    """Compare the files of a folder with the wanted texts, or write them; exit code."""
    place = f"{folder.relative_to(ROOT).as_posix()}/"
    if check:
        return check_folder(wanted, folder, place, command)
    write_folder(wanted, folder, place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
