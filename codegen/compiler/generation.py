"""The texts of all generated modules: those whose sources are unchanged are kept, the others derived side by side."""

from __future__ import annotations

import os
import pkgutil
import tomllib
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from codegen.compiler.command import end_with_parent, without_interruption
from codegen.compiler.errors import NoKernelError, NoSystemsError
from codegen.compiler.output import digest_of_files, modules_in
from codegen.compiler.plan import FOLDER, MOTIONS, Output, outputs
from codegen.compiler.swap import WHOLE, surplus
from codegen.compiler.text import (
    COMMAND,
    body_of,
    constants_of,
    digest,
    emit_digests,
    states_its_digest,
    text_of,
    with_header,
)

ROOT = FOLDER.parent
GENERATED = ROOT / "generated"
MODELS = GENERATED / WHOLE
MODELS_COMMAND = f"{COMMAND} --models"
ALL = "codegen/"
LISTS = ("dispatch", "joints", "forces", "paths", "points", "muscles", "reflexes")  # modules that list others
# The modules of the compiler that decide how whole-model kernels follow from the others.
WHOLE_SOURCES = (
    "trace", "recorded_algebra", "model_inputs", "mass_groups", "elimination", "whole", "polynomials", "sine",
    "tree_equations", "tree_kinematics", "composite_bodies", "tree", "closed_tree",
)  # fmt: skip
# By family in ``generated.dispatch``, the forms of its definitions.
FAMILIES = {
    "LIMITS": "limit", "CONES": "cone", "LAWS": "law", "NORMAL_LAWS": "normal law", "FRICTIONS": "friction",
}  # fmt: skip


def sources_digest() -> str:
    """One digest of all sources that decide what is generated."""
    return digest_of_files(FOLDER.rglob("*.py"), FOLDER)


def whole_digest() -> str:
    """One digest of the sources that decide how whole-model kernels follow from the others."""
    return digest_of_files((FOLDER / "compiler" / f"{name}.py" for name in WHOLE_SOURCES), FOLDER)


def kept_modules() -> dict[str, str]:
    """Module name -> text of the modules in ``generated/`` that are unedited, and whose sources have not changed."""
    recorded = constants_of(GENERATED / "digests.py")
    kept = {}
    for output in outputs():
        file = GENERATED / f"{output.name}.py"
        if recorded.get("INPUTS", {}).get(output.name) != output.inputs:
            continue
        text = text_of(file)
        if states_its_digest(text) and digest(body_of(text)) == recorded.get("MODULES", {}).get(output.name):
            kept[output.name] = text
    return kept


def is_up_to_date() -> bool:
    """Whether ``generated/`` was made from the present sources and is unedited: by digests alone, nothing is derived."""
    recorded = constants_of(GENERATED / "digests.py")
    present = {name.removesuffix(".py"): text for name, text in modules_in(GENERATED).items()}
    wanted = {output.name for output in outputs()} | {*LISTS, "__init__", "digests"}
    return (
        recorded.get("SOURCES") == sources_digest()
        and present.keys() == wanted
        and all(map(states_its_digest, present.values()))
        and recorded.get("MODULES")
        == {name: digest(body_of(text)) for name, text in present.items() if name != "digests"}
        and recorded.get("INPUTS") == {output.name: output.inputs for output in outputs()}
        and not surplus(GENERATED)
    )


def unspoilt_models() -> tuple[dict[str, str], list[str]]:
    """File name -> text of the whole-model kernels whose texts are what their digests state, and the names of the others."""
    good = {name: text for name, text in modules_in(MODELS).items() if states_its_digest(text)}
    return good, sorted({entry.name for entry in MODELS.glob("*.py")} - good.keys())


def generate(kept: Mapping[str, str] | None = None) -> dict[str, str]:
    """File name -> text of all modules of ``generated/``; the texts in ``kept`` are taken as they are."""
    kept, planned = kept or {}, outputs()
    _check_declarations()
    files = {output.name: kept[output.name] for output in planned if output.name in kept}
    files |= _derived([output for output in planned if output.name not in kept])
    files |= _lists(planned)
    files["__init__"] = with_header('"""Kernels, emitted by codegen; never edited.  May import: numba, math."""\n', ALL)
    inputs = {output.name: output.inputs for output in planned}
    files["digests"] = emit_digests(files, inputs, sources_digest(), whole_digest(), ALL)
    return {f"{name}.py": text for name, text in sorted(files.items())}


def _check_declarations() -> None:
    from codegen import joints, limits, motions  # the dictionary imports SymPy, which a check by digests does without
    from codegen.compiler.declarations import refuse_motions_without_joint, refuse_unclear_limits
    from codegen.compiler.dispatch import definitions

    refuse_unclear_limits(definitions(limits), definitions(joints))
    refuse_motions_without_joint(definitions(motions), definitions(joints))


def _lists(planned: Iterable[Output]) -> dict[str, str]:
    """The modules ``dispatch``, ``joints``, ``forces``, ``paths``, ``points``, ``muscles`` and ``reflexes``."""
    from codegen.compiler.dispatch import SWITCHES, emit_dispatch, emit_list  # as above

    families = {
        family: ([output.name for output in planned if output.form == form], SWITCHES[family])
        for family, form in FAMILIES.items()
    }
    listed = {
        file: emit_list({output.definition: output.name for output in planned if output.form == form}, what, ALL)
        for file, form, what in (
            ("joints", "joint", "joints and drivers"),
            ("forces", "force", "forces"),
            ("paths", "path", "spans of paths"),
            ("points", "point", "points of paths"),
            ("muscles", "muscle", "laws of muscles"),
            ("reflexes", "reflex", "reflexes of muscles"),
        )
    }
    return {"dispatch": emit_dispatch(families, ALL), **listed}


def _derived(wanted: list[Output]) -> dict[str, str]:
    """Module name -> text, derived in several processes."""
    workers = min(os.cpu_count() or 1, len(wanted))
    if workers < 2:
        return {output.name: derived(output) for output in wanted}
    with without_interruption():  # which the processes of the pool inherit
        pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=end_with_parent)
        texts = pool.map(derived, wanted)
    processes = list((pool._processes or {}).values())
    try:
        return dict(zip((output.name for output in wanted), texts, strict=True))
    except BaseException:  # a definition that breaks a rule, an interruption
        for process in processes:
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def derived(output: Output) -> str:
    """The text of one generated module, derived from its definition."""
    from codegen.compiler.body_forces import emit_bodies  # as above
    from codegen.compiler.cone_curves import emit_cone, emit_measures
    from codegen.compiler.contact_forces import derive_contact, emit_contact
    from codegen.compiler.couplings import emit_coupling, emit_term
    from codegen.compiler.derive import derive
    from codegen.compiler.dispatch import definitions
    from codegen.compiler.emit import emit
    from codegen.compiler.force_elements import derive_force, emit_force
    from codegen.compiler.laws import emit_friction, emit_law, emit_normal_law
    from codegen.compiler.limit_forces import derive_limit, emit_limit
    from codegen.compiler.muscle_laws import emit_muscle, emit_reflex
    from codegen.compiler.paths import emit_path, emit_point
    from codegen.compiler.reading import doc_of

    dictionary, place = import_module(f"codegen.{output.file}"), f"codegen/{output.file}.py"
    if output.form == "bodies":
        return emit_bodies(definitions(dictionary), doc_of(dictionary), place)
    definition, source = getattr(dictionary, output.definition), f"{place}: {output.definition}"
    match output.form:
        case "joint":
            motions = import_module(f"codegen.{MOTIONS}")
            return emit(derive(definition), source, getattr(motions, output.definition, None))
        case "limit":
            return emit_limit(derive_limit(definition), source)
        case "force":
            return emit_force(derive_force(definition), source)
        case "contact":
            return emit_contact(derive_contact(definition), source)
    emitters = {
        "cone": emit_cone, "measure": emit_measures, "law": emit_law, "normal law": emit_normal_law,
        "friction": emit_friction, "coupling": emit_coupling, "term": emit_term, "muscle": emit_muscle,
        "path": emit_path, "point": emit_point, "reflex": emit_reflex,
    }  # fmt: skip
    return emitters[output.form](definition, source)


def generate_models() -> dict[str, str]:
    """File name -> text of all modules of ``generated/whole``, made from the kernels in ``generated/``.

    The systems are those of ``[tool.talus] whole-models`` in ``pyproject.toml``: the place of a mapping of names to functions
    that build them, as "package.module:NAME".  They come from outside, so codegen imports none of the packages that use it.
    A kernel that has the key of its model is kept: the key is the digest of everything that determines the text.
    """
    from codegen.compiler.study import equations_in_joint_coordinates, refuse_wrong_tree  # as above
    from codegen.compiler.whole import emit_model

    table = ROOT / "pyproject.toml"
    named = tomllib.loads(table.read_text(encoding="utf-8")) if table.is_file() else {}
    place = named.get("tool", {}).get("talus", {}).get("whole-models")
    if place is None:
        raise NoSystemsError(
            f"{table}: no [tool.talus] whole-models = 'package.module:NAME'; run in a checkout of Talus"
        )
    file = place.partition(":")[0].replace(".", "/") + ".py"
    doc = '"""Whole-model kernels, emitted by codegen; never edited."""\n'
    doc += f'\nWHOLE = "{whole_digest()}"  # of the modules that emitted the kernels\n'
    made = {"__init__.py": with_header(doc, ALL, MODELS_COMMAND)}
    for name, build in pkgutil.resolve_name(place).items():
        system = build()
        model, tree, closed = system.model, system._trees.tree, system._trees.closed
        if not system.redundant:  # they have no such kernel
            made[f"{name}.py"] = _kept_model(MODELS / f"{name}.py", model.key) or with_header(
                emit_model(model), f"{file}: {name}", MODELS_COMMAND
            )
        if tree is not None and (closed is not None or tree.has_polynomials):
            of_tree = f"{name}_in_joint_coordinates.py" if closed is not None else f"{tree.name}.py"
            key = tree.key if closed is None else closed.key
            with suppress(NoKernelError):  # trees with too many operations run by recursion
                text = (
                    _kept_model(MODELS / of_tree, key)
                    or equations_in_joint_coordinates(system, file, MODELS_COMMAND)[0]
                )
                refuse_wrong_tree(system, text)
                made[of_tree] = text
    return made


def _kept_model(file: Path, key: str) -> str:
    """The text of an unedited whole-model kernel with this key; empty if there is none."""
    text = text_of(file)
    return text if f"\nKEY = '{key}'\n" in text and states_its_digest(text) else ""


def models_left_behind() -> list[str]:
    """Names of the whole-model kernels that were made from other kernels of joints, or by another emitter."""
    emitter_changed = constants_of(MODELS / "__init__.py").get("WHOLE") != whole_digest()
    left = []
    for file in sorted(MODELS.glob("*.py")):
        constants = constants_of(file)
        changed = any(_digest_of(name) != known for name, known in constants.get("MADE_FROM", {}).items())
        if "KEY" in constants and (emitter_changed or changed):
            left.append(file.stem)
    return left


def _digest_of(module: str) -> str:
    file = ROOT / (module.replace(".", "/") + ".py")
    return digest(text_of(file)) if file.is_file() else ""
