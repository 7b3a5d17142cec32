"""Notebooks of the tutorials: each page as .ipynb, to be downloaded from its head."""

from pathlib import Path

import jupytext

KERNEL = "  name: python3\n  display_name: Python 3\n"  # notebooks need the second, pages do not


def write_notebooks(app):
    """Convert the tutorials before pages are read, into a folder that their links name."""
    folder = Path(app.srcdir) / "_build" / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    for page in Path(app.srcdir, "tutorials").glob("*.md"):
        if page.stem != "index":
            text = page.read_text(encoding="utf-8").replace("  name: python3\n", KERNEL, 1)
            notebook = jupytext.reads(text, fmt="md:myst")
            jupytext.write(notebook, folder / f"{page.stem}.ipynb")


def add_link(app, docname, source):
    """State below the first heading of a tutorial where its notebook is."""
    if docname.startswith("tutorials/") and docname != "tutorials/index":
        before, heading, after = source[0].partition("\n# ")
        title, rest = after.split("\n", 1)
        link = f"{{download}}`This page as a notebook </_build/notebooks/{Path(docname).name}.ipynb>`"
        source[0] = f"{before}{heading}{title}\n\n{link}\n{rest}"


def setup(app):
    """Register both steps."""
    app.connect("builder-inited", write_notebooks)
    app.connect("source-read", add_link)
    return {"parallel_read_safe": True}
