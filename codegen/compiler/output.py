"""The files of ``generated/``: compare them with the emitted texts, or write them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from codegen.compiler.command import say
from codegen.compiler.errors import DefinitionError
from codegen.compiler.swap import surplus
from codegen.compiler.text import digest, states_its_digest, text_of

STALE = 3  # exit code: the files differ from the emitted texts


def digest_of_files(files: Iterable[Path], root: Path) -> str:
    """One digest of files and of their places below ``root``; read as text, so that line ends do not matter."""
    ordered = sorted((file.relative_to(root).as_posix(), file) for file in files)
    return digest("".join(f"{name}\n{source_of(file)}" for name, file in ordered))


def source_of(file: Path) -> str:
    """The text of a source.

    Raises
    ------
    DefinitionError
        It cannot be read.
    """
    try:
        if not file.is_file():  # to read a pipe or a device may never end
            raise OSError("it is no file")
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"{file.parent.name}/{file.name} cannot be read: {error}; restore this file") from None


def refuse_hand_edits(folder: Path, command: str) -> int:
    """Print the files of a folder that were edited by hand, whether or not the others are up to date; exit code."""
    edited = [file for file in sorted(folder.glob("*.py")) if not states_its_digest(text_of(file))]
    for file in edited:
        name = file.relative_to(folder.parent.parent).as_posix()
        say(f"{name}: edited by hand: its text does not match the digest in its header; run: {command}")
    return STALE if edited else 0


def check_folder(wanted: dict[str, str], folder: Path, place: str, command: str) -> int:
    """Print how the files of a folder differ from the wanted texts; exit code.  ``place`` is the folder as users know it."""
    present, more = modules_in(folder), surplus(folder)
    changed = changes(wanted, present)
    for name in changed:
        lines = difflib.unified_diff(
            present.get(name, "").splitlines(), wanted.get(name, "").splitlines(),
            f"{place}{name} (in the folder)", f"{place}{name} (from the definitions)", lineterm="", n=1,
        )  # fmt: skip
        say("\n".join(lines))
    for name in more:
        say(f"{place}{name}: no output of codegen")
    if changed or more:
        say(f"{place}: {len(changed) + len(more)} of {len(wanted)} files differ; run: {command}")
        return STALE
    say(f"{place}: {len(wanted)} files, all up to date with the definitions")
    return 0


def say_written(wanted: Mapping[str, str], changed: Sequence[str], removed: Sequence[str], place: str) -> None:
    """Print what was written to a folder, and what was removed besides modules."""
    say(f"{place}: {len(wanted)} files, {len(changed)} written" + (f" ({', '.join(changed)})" if changed else ""))
    if removed:
        say(f"{place}: removed {', '.join(removed)}: no output of codegen")


def modules_in(folder: Path) -> dict[str, str]:
    """File name -> text of the modules in a folder; empty texts of those that cannot be read."""
    return {file.name: text_of(file) for file in folder.glob("*.py") if file.is_file()}


def changes(wanted: Mapping[str, str], present: Mapping[str, str]) -> list[str]:
    """Names of the files that differ, are missing, or are too many."""
    return [name for name in sorted(wanted.keys() | present.keys()) if wanted.get(name) != present.get(name)]
