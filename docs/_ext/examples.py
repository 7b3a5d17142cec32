"""The examples of the gallery: run by the build, and shown with picture and source.

An example is a module of ``docs/examples``: its docstring is its text, and it writes the picture ``NAME.png`` into the current
folder.  ``example`` shows one, ``thumbnails`` all of a page.  Pictures are kept in ``docs/_build/examples`` under the digest of
the sources of Talus and of the example.
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

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
FOLDER = DOCS / "examples"
KEPT = DOCS / "_build" / "examples"
SOURCES = ("codegen", "generated", "models", "runtime")


def digest_of_sources() -> str:
    """Digest of all that outputs of pages follow from."""
    digest = hashlib.sha256()
    for folder in SOURCES:
        for file in sorted((ROOT / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def names() -> list[str]:
    """Names of all examples."""
    return sorted(file.stem for file in FOLDER.glob("*.py"))


def run(name: str, folder: Path) -> str:
    """Run an example in a folder; returns what it printed."""
    import matplotlib

    matplotlib.use("Agg")
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    return printed.getvalue()


def picture_and_output(name: str, digest: str) -> tuple[Path, str]:
    """The picture of an example, and what it printed; run if neither is kept."""
    of_source = hashlib.sha256((FOLDER / f"{name}.py").read_bytes()).hexdigest()[:16]
    kept = KEPT / f"{digest}-{of_source}"
    picture, output = kept / f"{name}.png", kept / f"{name}.txt"
    if not output.is_file():
        with tempfile.TemporaryDirectory() as folder:
            printed = run(name, Path(folder))
            kept.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(folder, f"{name}.png"), picture)
        output.write_text(printed, encoding="utf-8")
    return picture, output.read_text(encoding="utf-8")


def text_of(name: str) -> tuple[str, str]:
    """Title and description: the docstring of an example."""
    text = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))) or ""
    title, _, description = text.partition("\n")
    return title.rstrip("."), description.strip()


class Example(SphinxDirective):
    """``example:: NAME``: description, picture, output and source."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Run the example unless its picture is kept."""
        name = self.arguments[0]
        picture, output = picture_and_output(name, self.config.talus_digest)
        self.env.note_dependency(str(FOLDER / f"{name}.py"))
        title, description = text_of(name)
        lines = [description, "", f".. image:: /{picture.relative_to(DOCS)}", f"   :alt: {title}", ""]
        if output:
            lines += ["::", "", *(f"   {line}" for line in output.splitlines()), ""]
        lines += [f".. literalinclude:: /examples/{name}.py", f"   :caption: docs/examples/{name}.py", ""]
        section = nodes.section(ids=[f"example-{name.replace('_', '-')}"], names=[name])
        section += nodes.title(title, title)
        self.state.nested_parse(StringList("\n".join(lines).split("\n"), source=name), 0, section)
        return [section]


class Thumbnails(SphinxDirective):
    """``thumbnails:: PAGE NAME...``: pictures that link to the examples of a page."""

    required_arguments = 1
    optional_arguments = 100

    def run(self) -> list[nodes.Node]:
        """A list of linked pictures."""
        page, *chosen = self.arguments
        grid = nodes.container(classes=["thumbnails"])
        for name in chosen:
            picture, _ = picture_and_output(name, self.config.talus_digest)
            title, _ = text_of(name)
            link = nodes.reference(
                "", "", refuri=f"{page}.html#example-{name.replace('_', '-')}", classes=["thumbnail"]
            )  # fmt: skip
            image = nodes.image(uri=f"/{picture.relative_to(DOCS)}", alt=title)
            link += [image, nodes.inline(title, title)]
            grid += nodes.paragraph("", "", link)
        return [grid]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_config_value("talus_digest", "", "env")
    app.add_directive("example", Example)
    app.add_directive("thumbnails", Thumbnails)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
