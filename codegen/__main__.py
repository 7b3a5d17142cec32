"""``python -m codegen``: write ``generated/``.  Modules whose definitions are unchanged are kept.

``--check`` derives everything again, compares it with the folder, and changes nothing; with ``--quick`` it compares digests only.
``--models`` adds the whole-model kernels of ``generated/whole``, which are made from the others, for the systems that
``pyproject.toml`` names.  Without it, kernels that are older than the modules they were made from are listed; systems then use
the general evaluation.
"""

from __future__ import annotations

import os

from codegen.compiler.command import FAILED, command, end_by_signals, say, tell

if __name__ == "__main__":
    end_by_signals()  # before what takes long to import
    # SymPy's results, of which it keeps 1000 otherwise: a tenth of the time for 100 MB in each process of the pool.
    os.environ.setdefault("SYMPY_CACHE_SIZE", "none")

import argparse
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor
from pathlib import Path

from codegen.compiler.errors import DefinitionError, NoSystemsError
from codegen.compiler.generation import (
    GENERATED,
    MODELS,
    MODELS_COMMAND,
    ROOT,
    generate,
    generate_models,
    is_up_to_date,
    kept_modules,
    models_left_behind,
    unspoilt_models,
)
from codegen.compiler.output import STALE, changes, check_folder, modules_in, refuse_hand_edits, say_written
from codegen.compiler.swap import WritingError, surplus, write_tree
from codegen.compiler.text import COMMAND


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0 done, 1 nothing could be written, 2 a definition breaks a rule, 3 ``generated/`` differs.

    ``command`` adds 1 where the output is lost, 130 after Ctrl-C and 143 after SIGTERM.
    """
    parser = argparse.ArgumentParser(
        prog=COMMAND, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare with generated/ and change nothing")
    parser.add_argument("--quick", action="store_true", help="with --check: compare digests, derive nothing")
    parser.add_argument("--models", action="store_true", help="include the whole-model kernels")
    options = parser.parse_args(argv)
    if options.quick and not options.check:
        parser.error("--quick belongs to --check; python -m codegen alone derives only what has changed")
    try:
        return _check(options) if options.check else _write(options)
    except (DefinitionError, NoSystemsError) as error:
        tell(str(error))
        return 2
    except (WritingError, BrokenExecutor) as error:
        tell(str(error))
        return FAILED


def _write(options: argparse.Namespace) -> int:
    place = _place(GENERATED)
    models, spoilt = unspoilt_models()
    if is_up_to_date():
        say(f"{place}: up to date with the definitions")
        modules = modules_in(GENERATED)
        if spoilt:
            write_tree(GENERATED, modules | _in_models(models))
    else:
        modules = generate(kept_modules())
        changed = changes(modules, modules_in(GENERATED))
        more = surplus(GENERATED)
        write_tree(GENERATED, modules | _in_models(models))
        say_written(modules, changed, more, place)
    if spoilt:  # before the models are built: the runtime refuses spoilt kernels
        say(f"{_place(MODELS)}: removed {', '.join(spoilt)}: the text was not what its digest states")
    if options.models:
        made = generate_models()
        changed, more = changes(made, modules_in(MODELS)), surplus(MODELS)
        if changed or more:
            write_tree(GENERATED, modules | _in_models(made))
        say_written(made, changed, more, _place(MODELS))
        return 0
    left = [*models_left_behind(), *(name.removesuffix(".py") for name in spoilt if name != "__init__.py")]
    if left:
        say(
            f"{_place(MODELS)}: {', '.join(left)} made from other kernels of joints, or by another emitter; "
            f"run: {MODELS_COMMAND} (until then these models use the general evaluation, which is slower)"
        )
    return 0


def _in_models(models: Mapping[str, str]) -> dict[str, str]:
    """Texts by their places in ``generated/``."""
    return {f"{MODELS.name}/{name}": text for name, text in models.items()}


def _check(options: argparse.Namespace) -> int:
    place = _place(GENERATED)
    if not options.quick:
        code = check_folder(generate(), GENERATED, place, COMMAND)
    elif is_up_to_date():
        say(f"{place}: up to date with the definitions, by digests")
        code = 0
    else:
        say(f"{place}: older than the definitions, or edited; run: {COMMAND}")
        code = STALE
    if not options.models:
        return refuse_hand_edits(MODELS, MODELS_COMMAND) or code
    return code or check_folder(generate_models(), MODELS, _place(MODELS), MODELS_COMMAND)


def _place(folder: Path) -> str:
    """A folder as users know it."""
    return f"{folder.relative_to(ROOT).as_posix()}/"


if __name__ == "__main__":
    command(main)
