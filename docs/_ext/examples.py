"""The examples of the gallery: ``example`` shows one with picture and source, ``thumbnails`` several small ones.

Pictures are kept in ``docs/_build/examples`` under the digest of the sources of Talus and of the example.
"""

from __future__ import annotations

from docutils import nodes
from docutils.statemachine import StringList
from runner import DOCS, FOLDER, first_line, picture_and_output, text_of
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


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
        lines += [f"Source: ``docs/examples/{name}.py``", "", f".. literalinclude:: /examples/{name}.py"]
        lines += [f"   :lines: {first_line(name)}-", ""]
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
