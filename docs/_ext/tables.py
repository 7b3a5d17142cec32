"""Tables that follow from the sources: outcomes of runs, and the registry of printed equations."""

from __future__ import annotations

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import runtime


def anchor(status: runtime.Status) -> str:
    """Anchor of a status on the page of errors."""
    return f"status-{status.name.lower().replace('_', '-')}"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """A table in Markdown."""
    return [f"| {' | '.join(row)} |" for row in (heads, [":---"] * len(heads), *rows)]


class Text(SphinxDirective):
    """A directive that writes Markdown."""

    def parsed(self, lines: list[str]) -> list[nodes.Node]:
        """The nodes of these lines."""
        node = nodes.container()
        self.state.nested_parse(StringList(lines, source="table"), 0, node)
        return node.children


class StatusTable(Text):
    """``statuses::``: every member of ``runtime.Status`` with a link to its section."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        rows = [[f"[{s.name}](#{anchor(s)})", str(s.value), s.sentence, s.remedy] for s in runtime.Status]
        return self.parsed(_table(["status", "number", "meaning", "remedy"], rows))


class StatusText(Text):
    """``status:: NAME``: number, cause and remedy of one member."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A paragraph."""
        status = runtime.Status[self.arguments[0]]
        remedy = f" **Remedy:** {status.remedy}." if status.remedy else ""
        return self.parsed([f"**Status {status.value}:** {status.sentence}.{remedy}"])


class Registry(Text):
    """``registry:: YEAR``: the verdict on each printed equation of a paper."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table, and the notes on what is wrong."""
        from tests.papers import moreira_2011
        from tests.papers.equations import EQUATIONS

        year = self.arguments[0]
        entries = moreira_2011.EQUATIONS if year == "2011" else [e for e in EQUATIONS if e.paper.year == year]
        rows = [
            [e.place, _plain(e.quantity), _plain(e.about) or "any body", _verdict(e.verdict), _plain(e.note)]
            for e in entries
        ]
        return self.parsed(_table(["equation", "quantity", "about", "verdict", "note"], rows))


def _verdict(verdict: str) -> str:
    """Bold where a printed form is wrong."""
    return f"**{verdict}**" if verdict in ("misprint", "incomplete") else verdict


def _plain(text: str) -> str:
    """Text without markup."""
    for sign in "\\*`|_<>$[]~{}":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    for name, directive in {"statuses": StatusTable, "status": StatusText, "registry": Registry}.items():
        app.add_directive(name, directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
