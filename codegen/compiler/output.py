"""The files of ``generated/``: compare them with the emitted texts, or write them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

from codegen.compiler.text import digest, states_its_digest

STALE = 3  # exit code: the files differ from the emitted texts


def digest_of_files(files: Iterable[Path], root: Path) -> str:
    """One digest of files and of their places below ``root``; read as text, so that line ends do not matter."""
    ordered = sorted((file.relative_to(root).as_posix(), file) for file in files)
    return digest("".join(f"{name}\n{file.read_text(encoding='utf-8')}" for name, file in ordered))


def refuse_hand_edits(folder: Path, command: str) -> int:
    """Print the files of a folder that were edited by hand, whether or not the others are up to date; exit code."""
    files = sorted(folder.glob("*.py"))
    edited = [file for file in files if not states_its_digest(file.read_text(encoding="utf-8"))]
    for file in edited:
        name = file.relative_to(folder.parent.parent).as_posix()
        print(f"{name}: edited by hand: its text does not match the digest in its header; run: {command}")
    return STALE if edited else 0


def check_folder(wanted: dict[str, str], folder: Path, place: str, command: str) -> int:
    """Print how the files of a folder differ from the wanted texts; exit code.  ``place`` is the folder as users know it."""
    present = _present(folder)
    changed = _changed(wanted, present)
    for name in changed:
        lines = difflib.unified_diff(
            present.get(name, "").splitlines(), wanted.get(name, "").splitlines(),
            f"{place}{name} (in the folder)", f"{place}{name} (from the definitions)", lineterm="", n=1,
        )  # fmt: skip
        print("\n".join(lines))
    if changed:
        print(f"{place}: {len(changed)} of {len(wanted)} files differ; run: {command}")
        return STALE
    print(f"{place}: {len(wanted)} files, all up to date with the definitions")
    return 0


def write_folder(wanted: dict[str, str], folder: Path, place: str) -> None:
    """Write the wanted texts that differ, and remove all other modules of the folder."""
    folder.mkdir(exist_ok=True)
    changed = _changed(wanted, _present(folder))
    for name in changed:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8", newline="\n")
        else:
            (folder / name).unlink()
    print(f"{place}: {len(wanted)} files, {len(changed)} written" + (f" ({', '.join(changed)})" if changed else ""))


def write_whole(file: Path, text: str) -> None:
    """Write a file of the cache, of which other processes see all or nothing.

    Raises
    ------
    OSError
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(file)


def _present(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.py")}


def _changed(wanted: dict[str, str], present: dict[str, str]) -> list[str]:
    return [name for name in sorted(wanted.keys() | present.keys()) if wanted.get(name) != present.get(name)]
