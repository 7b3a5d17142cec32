"""A warning for each page that would load something from the network, or shows a path of the computer that built it."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

LOADED = re.compile(r"<(?:script|link|img|iframe|source|video|audio)\b[^>]*?\b(?:src|href)=\"(?:https?:)?//[^\"]*\"")
IMPORTED = re.compile(r"(?:@import|url\()\s*['\"]?(?:https?:)?//[^'\")]*")


def check(app: Sphinx, error: Exception | None) -> None:
    """Read all pages and styles that were written."""
    if error is not None or app.builder.name != "html":
        return
    root = str(Path(app.srcdir).parent)
    for pattern, rule in (("*.html", LOADED), ("*.css", IMPORTED)):
        for file in sorted(Path(app.outdir).rglob(pattern)):
            text = file.read_text(encoding="utf-8")
            found = rule.findall(text) + ([root] if pattern == "*.html" and root in text else [])
            for what in found:
                logging.getLogger(__name__).warning("%s: %s", file.relative_to(app.outdir), what)


def setup(app: Sphinx) -> dict[str, bool]:
    """Check after the build."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
