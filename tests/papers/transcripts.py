"""Transcribed papers, and the numbered equations in them."""

import re
from functools import cache

from tests.papers.citations import RODRIGUES_2024A, RODRIGUES_2024B, RODRIGUES_2024C, RODRIGUES_ND
from tests.support.paths import shared_file

DISPLAYED = re.compile(
    r"\$\$((?:(?!\$\$).)*?)(?:\\quad\s*\((\d+)\)\s*\$\$|\\tag\{(\d+)\}\s*\$\$|\$\$\s*\((\d+)\))", re.S
)


# From the first to the last heading named; the second is not part of the section.
SECTIONS = {
    RODRIGUES_2024A: ("\n2 Multibody systems methodology", "\n5 Application example"),
    RODRIGUES_2024C: ("\n### 1. Introduction", "\n## 5. Results and discussion"),
    RODRIGUES_ND: ("\n## 2 MULTIBODY", "\n## 7 RESULTS"),
    RODRIGUES_2024B: ("\n2 Multibody systems formulation", "\n4 Demonstrative example"),
}
LAYOUT = (
    r"\\begin\{(?:array|aligned|cases|[bB]matrix)\}(?:\{(?:\*\{20\}|c|l|@\{\\quad\})+\})?", r"\\end\{\w+\}",
    r"\\(?:left|right)\s*(?:\\[{}]|[\[\].])", r"\\[{}]", r"\\quad", r"\\\\",
)  # fmt: skip
FONTS = r"\\(?:mathbf|boldsymbol|varvec|mathrm|text|textstyle|displaystyle|hfill|left|right)(?![a-zA-Z])"
SPELLINGS = {r"\upomega": r"\omega", r"\upgamma": r"\gamma", r"\uplambda": r"\lambda", r"\varPhi": r"\Phi"}
PRIMES = ((r"^^\prime\prime", "''"), (r"^\prime\prime", "''"), (r"^\prime", "'"))


def plain(latex):
    """LaTeX without fonts, layout and space: one string per entry."""
    text = re.sub("|".join(LAYOUT), "&", latex)
    text = re.sub(FONTS, "", text)
    for printed, ours in SPELLINGS.items():
        text = text.replace(printed, ours)
    cells = (re.sub(r"[{}\s]", "", cell).rstrip(".,") for cell in text.split("&"))
    for printed, ours in PRIMES:
        cells = [cell.replace(printed, ours) for cell in cells]
    return [cell for cell in cells if cell]


@cache
def paper_text(paper):
    return shared_file("seeds", paper.transcription).read_text(encoding="utf-8")


def printed_in(paper):
    """Number -> entries, of the numbered equations in the sections that the registry covers."""
    text = paper_text(paper)
    start, stop = (text.index(heading) for heading in SECTIONS[paper])
    found = DISPLAYED.findall(text[start:stop])
    return {int(next(filter(None, numbers))): plain(body) for body, *numbers in found}
