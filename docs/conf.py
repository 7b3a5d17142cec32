"""Configuration of the documentation.  Build: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``.

The build needs no network, and neither do the pages: formulas are drawn by the build, pictures and scripts lie beside the pages.
"""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS / "_ext"), str(DOCS.parent)]
os.environ.pop("MPLBACKEND", None)  # the kernels of executed pages show figures inline

from runner import digest_of_sources, remove_others  # noqa: E402

import runtime  # noqa: E402

project = "Talus"
author = "The authors of Talus"
copyright = author
version = release = runtime.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "formulas",
    "public_names",
    "examples",
    "notebooks",
    "tables",
    "offline",
]
root_doc = "index"
exclude_patterns = ["_build", "README.md", "examples"]
nitpicky = False
add_module_names = False
python_use_unqualified_type_names = True
autodoc_typehints = "none"  # docstrings state shapes and units beside each argument
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # types of arguments are shapes and units, not names to look up

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # pages that are shown on their own begin with the heading that suits them
numfig = math_numfig = True
numfig_secnum_depth = 1
math_eqref_format = "Eq. ({number})"

talus_digest = digest_of_sources()
remove_others(talus_digest)
nb_execution_mode = os.environ.get("TALUS_DOCS_EXECUTION", "cache")
nb_execution_cache_path = str(DOCS / "_build" / "executed" / talus_digest)  # outputs of other sources are never shown
nb_execution_timeout = 600  # [s] of a cell, also on busy machines
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_output_stderr = "remove"  # notices of compilation, which name a folder of this machine

html_math_renderer = "svg"
html_theme = "furo"
html_title = f"Talus {release}"
html_static_path = ["_static"]
html_css_files = ["talus.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"sidebar_hide_name": False}

# Links of pages that are read in the repository too, and where the site has their targets.
LINKS = {
    "](../CONTRIBUTING.md": "](/development/contributing.md",
    "](../README.md": "](/index.md",
    "](../CHANGELOG.md": "](/development/changelog.md",
    "](../../CHANGELOG.md": "](/development/changelog.md",
    "](SECURITY.md": "](/development/security.md",
    **{
        f"](../codegen/{name}.py": "](/reference/dictionary.rst"
        for name in ("joints", "motions", "drivers", "contacts", "forces")
    },
}
# Pages that are files of the repository's root.
ROOT_FILES = {
    "development/contributing": "CONTRIBUTING.md",
    "development/changelog": "CHANGELOG.md",
    "development/security": "SECURITY.md",
}


def read_source(app, docname, source):
    """Links between the repository and the site, and pages from the repository's root."""
    if docname in ROOT_FILES:
        text = (DOCS.parent / ROOT_FILES[docname]).read_text(encoding="utf-8")
        app.env.note_dependency(str(DOCS.parent / ROOT_FILES[docname]))
        source[0] = text.replace("](docs/", "](/").replace("](README.md", "](/index.md")
    for link, target in LINKS.items():
        source[0] = source[0].replace(link, target)


def setup(app):
    """Register the treatment of links."""
    app.connect("source-read", read_source)
