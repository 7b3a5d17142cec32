"""Running the examples of the gallery.  Imports nothing of Sphinx, so that tests use it; the site shows what they kept.

An example is a module of ``docs/examples``: its docstring is its text, and it writes the picture ``NAME.png`` into the current
folder.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import runpy
import shutil
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
FOLDER = DOCS / "examples"
KEPT = DOCS / "_build" / "examples"
DRAWINGS = DOCS / "_build" / "drawings"
SOURCES = ("codegen", "generated", "models", "runtime")


def digest_of_sources() -> str:
    """Digest of all that outputs of pages follow from."""
    digest = hashlib.sha256()
    for folder in SOURCES:
        for file in sorted((ROOT / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def remove_others(digest: str) -> None:
    """Remove the outputs of pages and examples that were made with other sources."""
    for folder in (DOCS / "_build" / "executed", KEPT, DRAWINGS):
        for old in folder.iterdir() if folder.is_dir() else ():
            if not old.name.startswith(digest):
                shutil.rmtree(old)


def names() -> list[str]:
    """Names of all examples."""
    return sorted(file.stem for file in FOLDER.glob("*.py"))


def run(name: str, folder: Path) -> str:
    """Run an example in a folder; returns what it printed."""
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    plt.close("all")
    return printed.getvalue()


def keep(name: str, digest: str, folder: Path, printed: str) -> tuple[Path, Path]:
    """Keep the picture of an example, which was run in a folder, and what it printed; returns their files."""
    picture, output = kept(name, digest)
    picture.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / picture.name, picture)
    output.write_text(printed, encoding="utf-8")
    return picture, output


def kept(name: str, digest: str) -> tuple[Path, Path]:
    """Files of the picture of an example and of what it printed; the second is written last."""
    of_source = hashlib.sha256((FOLDER / f"{name}.py").read_bytes()).hexdigest()[:16]
    folder = KEPT / f"{digest}-{of_source}"
    return folder / f"{name}.png", folder / f"{name}.txt"


def picture_and_output(name: str, digest: str) -> tuple[Path, str]:
    """The picture of an example, and what it printed; run if neither is kept."""
    picture, output = kept(name, digest)
    if not output.is_file():
        with tempfile.TemporaryDirectory() as folder:
            keep(name, digest, Path(folder), run(name, Path(folder)))
    return picture, output.read_text(encoding="utf-8")


def drawing(kind: str, name: str, digest: str) -> Path:
    """A drawing of ``drawings.py``, or a page with a motion; made unless it is kept."""
    of_source = hashlib.sha256((DOCS / "_ext" / "drawings.py").read_bytes()).hexdigest()[:16]
    import drawings  # here because examples need none

    draw, ending = drawings.DRAWN[kind]
    file = DRAWINGS / f"{digest}-{of_source}" / f"{kind}_{name}{ending}"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            draw(name, Path(folder) / file.name)
            (Path(folder) / file.name).replace(file)
    return file


def text_of(name: str) -> tuple[str, str]:
    """Title and description: the docstring of an example."""
    text = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))) or ""
    title, _, description = text.partition("\n")
    return title.rstrip("."), description.strip()


def first_line(name: str) -> int:
    """Number of the first line after the docstring of an example."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    return tree.body[1].lineno
