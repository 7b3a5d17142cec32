"""Drawings and motions in pages: ``drawing``, ``motion`` and ``tiles``; made by ``drawings.py`` when the site is built."""

from __future__ import annotations

import html
import shutil
from pathlib import Path

from docutils import nodes
from runner import DOCS, DRAWINGS, drawing, picture_and_output
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

MOTIONS = "motions"  # folder of the site


class Drawing(SphinxDirective):
    """``drawing:: joint NAME``, ``drawing:: model NAME``: a drawing made from the definition."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """The picture."""
        kind, name = self.arguments
        file = drawing(kind, name, self.config.talus_digest)
        classes = ["drawing", f"drawing-{kind}"]
        return [nodes.image(uri=f"/{file.relative_to(DOCS)}", alt=f"drawing of the {kind} {name}", classes=classes)]


class Motion(SphinxDirective):
    """``motion:: NAME``: a page with a motion, in a frame."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The frame, with the size of the page."""
        file = drawing("motion", self.arguments[0], self.config.talus_digest)
        title = html.escape(f"the motion {self.arguments[0]} in three dimensions")
        frame = f'<iframe class="motion" src="{MOTIONS}/{file.name}" title="{title}" loading="lazy"></iframe>'
        size = f"{file.stat().st_size / 1e6:.1f} MB"
        text = f"The page that run.animation writes, {size} in one file: drag to turn, scroll to come nearer."
        return [nodes.raw("", frame, format="html"), nodes.paragraph("", text, classes=["caption"])]


class Tiles(SphinxDirective):
    """``tiles::`` with a line ``page | picture | text`` for each tile.

    A picture is a file beside the page, or a kind and a name: ``joint NAME``, ``model NAME``, ``example NAME``.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Pictures with texts that link to pages of the site."""
        grid = nodes.container(classes=["thumbnails"])
        for line in self.content:
            page, picture, text = (part.strip() for part in line.split("|"))
            if page not in self.env.found_docs:
                raise self.error(f"tiles: no page '{page}'")
            link = nodes.reference("", "", refuri=self.env.app.builder.get_relative_uri(self.env.docname, page))
            link += [nodes.image(uri=f"/{self._file(picture)}", alt=""), nodes.inline(text, text)]
            grid += nodes.paragraph("", "", link)
        return [grid]

    def _file(self, picture: str) -> Path:
        kind, _, name = picture.partition(" ")
        if not name:
            return Path(picture)
        digest = self.config.talus_digest
        file = picture_and_output(name, digest)[0] if kind == "example" else drawing(kind, name, digest)
        return file.relative_to(DOCS)


def copy_motions(app: Sphinx, error: Exception | None) -> None:
    """Put the pages with motions beside the pages of the site."""
    if error is None and app.builder.name == "html":
        for file in DRAWINGS.glob(f"{app.config.talus_digest}-*/*.html"):
            (Path(app.outdir) / MOTIONS).mkdir(exist_ok=True)
            shutil.copy(file, Path(app.outdir) / MOTIONS)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives; motions are copied before the pages are checked."""
    for name, directive in {"drawing": Drawing, "motion": Motion, "tiles": Tiles}.items():
        app.add_directive(name, directive)
    app.connect("build-finished", copy_motions, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
