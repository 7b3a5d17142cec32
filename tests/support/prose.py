"""Text that a user reads: pages by paragraphs and sentences, messages, docstrings of public names."""

import ast
import inspect
import pkgutil
import re

from markdown_it import MarkdownIt

from tests.support.paths import ROOT

ADMONITION = re.compile(r"\{(note|warning|tip|important|admonition)\}")
SHORT_FORM = re.compile(r"\b(?:e\.g|i\.e|cf|vs|Eqs?|Figs?|Tabs?|Sects?|No|St|approx|resp)\.$")
CODE, FORMULA = "`…`", "$…$"  # code and formulas of a line count as one word each


def _words_of(token):
    """Text of an inline token: code and formulas as one word, links by their text."""
    parts = []
    for child in token.children or ():
        if child.type == "code_inline":
            parts.append(CODE)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "text":
            parts.append(child.content)
    return re.sub(r"\$[^$]+\$", FORMULA, "".join(parts))


def paragraphs_of_markdown(text):
    """(line, text) of each paragraph and item of a list; tables, headings, code and formulas are left out."""
    text = re.sub(r"\A---\n.*?\n---\n", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    text = re.sub(r"^\$\$.*?\$\$", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    found = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "inline" and before.type == "paragraph_open":
            found.append((token.map[0] + 1, _words_of(token)))
        elif token.type == "fence" and ADMONITION.match(token.info):
            inner = "\n".join(line for line in token.content.splitlines() if not line.startswith(":"))
            found += [(token.map[0] + 1 + line, words) for line, words in paragraphs_of_markdown(inner)]
    return found


def paragraphs_of_rst(text):
    """(line, text) of each paragraph of a page in reStructuredText; directives, titles and tables are left out."""
    found, at = [], 1
    for block in re.split(r"(\n\s*\n)", text):
        lines = block.strip("\n").splitlines()
        marks = any(re.fullmatch(r"\s*[=\-~^*+|]{3,}.*", line) for line in lines)
        if lines and block.strip() and not marks and not re.match(r"\s+|\.\. |:|\|", lines[0]):
            words = " ".join(line.strip() for line in lines)
            words = re.sub(r":\w+:`([^`<]+?)(?:\s*<[^>]*>)?`", r"\1", words)
            found.append((at + len(block) - len(block.lstrip("\n")), re.sub(r"``.+?``", CODE, words)))
        at += block.count("\n")
    return found


def sentences(paragraph):
    """Sentences of a paragraph: they end with a full stop, or a mark of question, before a space and no small letter."""
    found = [""]
    for part in re.split(r"(?<=[.?!])(?:[)\"”])?\s+(?=[^a-z])", paragraph):
        joined = SHORT_FORM.search(found[-1]) or found[-1].endswith("al.") and part.startswith("(")
        found = [*found[:-1], f"{found[-1]} {part}"] if joined else [*found, part]
    return found[1:]


def words(text):
    """Words of a text: what stands between spaces and holds a letter, a digit, code or a formula."""
    return [word for word in text.split() if re.search(r"[\w…]", word)]


PARAGRAPHS = {".md": paragraphs_of_markdown, ".rst": paragraphs_of_rst}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def pages():
    """README and all pages of the documentation."""
    below = (page for page in (ROOT / "docs").rglob("*") if page.suffix in PARAGRAPHS and "_build" not in page.parts)
    return [ROOT / "README.md", *sorted(below)]


def examples():
    """The files of the gallery's examples, whose docstrings are shown."""
    return sorted((ROOT / "docs" / "examples").glob("*.py"))


def messages(folder):
    """(place, text) of each string of a package that may be read by a user: messages, help texts, labels; not docstrings."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        documented = (
            node for node in ast.walk(tree) if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False)
        )
        docstrings = {id(node.body[0].value) for node in documented}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                if " " in node.value.strip():
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", node.value


def docstrings(names):
    """(place, text) of the docstring of each public name, and of the public members of classes."""
    for name in sorted(names):
        value = pkgutil.resolve_name(name)
        yield name, inspect.getdoc(value) or ""
        for member in vars(value) if inspect.isclass(value) else ():
            if not member.startswith("_"):
                yield f"{name}.{member}", inspect.getdoc(getattr(value, member)) or ""
