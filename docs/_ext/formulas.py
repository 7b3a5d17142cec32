"""Formulas as pictures inside the page (SVG), drawn by ziamath: no network, no script, and no font of the reader's computer.

MathML needs a mathematical font, which many computers do not have; the scripts of MathJax are larger than all pages together.
"""

from __future__ import annotations

import html
import re
from functools import cache

import ziamath
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number

SIZE = 16.0  # units of a drawing for 1 em
ziamath.config.svg2 = False  # no definitions by ids, which the drawings of one page would share


@cache
def svg(latex: str, *, inline: bool) -> str:
    """A formula as SVG in the size and colour of the text; its source is the text for readers of screens."""
    formula = ziamath.Latex(latex, size=SIZE, inline=inline, color="currentColor")
    drawing = formula.svg()
    for side in ("width", "height"):
        drawing = re.sub(
            rf' {side}="([\d.]+)"', lambda m, side=side: f' {side}="{float(m[1]) / SIZE:.4f}em"', drawing, count=1
        )
    label = html.escape(" ".join(latex.split()), quote=True)
    style = f"vertical-align: {formula.getyofst() / SIZE:.4f}em"
    return drawing.replace("<svg", f'<svg role="img" aria-label="{label}" style="{style}"', 1)


def _inline(self, node):  # type: ignore[no-untyped-def]
    self.body.append(f'<span class="math">{svg(node.astext(), inline=True)}</span>')
    raise nodes.SkipNode


def _display(self, node):  # type: ignore[no-untyped-def]
    self.body.append(self.starttag(node, "div", CLASS="math display"))
    self.body.append(f'<div class="formula">{svg(node.astext().strip(), inline=False)}</div>')
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Permalink to this equation")
        self.body.append("</span>")
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer ``svg``."""
    app.add_html_math_renderer("svg", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
