"""Pages have short paragraphs, short sentences and the words of the field, as do messages and docstrings of public names."""

import re
import sys

import pytest
import typer

from runtime.cli.application import app
from runtime.cli.studies import studies_by_name, study_command
from tests.support.paths import ROOT
from tests.support.prose import PARAGRAPHS, docstrings, examples, messages, pages, sentences, words

sys.path.append(str(ROOT / "docs" / "_ext"))
import inventory
import runner

LONGEST_PARAGRAPH, LONGEST_SENTENCE = 80, 35  # words


def paragraphs(page):
    """Paragraphs of a page, or of the description of an example."""
    text = page.read_text(encoding="utf-8")
    return (
        PARAGRAPHS[page.suffix](text) if page.suffix in PARAGRAPHS else PARAGRAPHS[".rst"](runner.text_of(page.stem)[1])
    )


@pytest.mark.parametrize("page", [*pages(), *examples()], ids=lambda page: str(page.relative_to(ROOT)))
def test_paragraphs_and_sentences_of_a_page_are_short(page):
    long = []
    for line, text in paragraphs(page):
        long += [f"line {line}: {len(words(text))} words"] if len(words(text)) > LONGEST_PARAGRAPH else []
        long += [f"line {line}: {s.strip()}" for s in sentences(text) if len(words(s)) > LONGEST_SENTENCE]
    assert long == []


MARKDOWN = """# A heading of four words

Two words of `code and more` and $a formula$. A second sentence, of Rodrigues et al. (2024), e.g. this one.
It has [a link](https://example.org).

- an item
  of two lines

| a | table |
|---|---|

```python
code = "that is left out"
```
"""


def test_what_counts_as_a_paragraph():
    found = PARAGRAPHS[".md"](MARKDOWN)
    assert [line for line, _ in found] == [3, 6] and found[1][1] == "an item of two lines"
    assert [len(words(s)) for s in sentences(found[0][1])] == [6, 11, 4]
    rst = "Title\n=====\n\nOne ``word of code`` and\n:doc:`a link <page>`.\n\n.. note:: left out\n"
    assert PARAGRAPHS[".rst"](rst) == [(4, "One `…` and a link.")]


# Phrases, as patterns, that have a plain one; and where a pattern is legitimate.
INSTEAD = {
    r"\btaken? for\b": "treated as",
    r"\b(take|takes|taken|took) up\b(?! to|=)": "resume, continue",
    r"\b(is|are|was|were|be|been) told\b": "name, state",
    r"\bas (it is|they are) found\b": "name the object",
    r"\bwhat it comes to\b": "the result",
    r"\btheirs\b": "name whose",
    r"\bnothing sticks\b": "static friction is not modelled",
    r"\bcreep\b": "transition velocity",
    r"\bcorners? (of|in) (an? |the )?(force|law|friction|curve|table|signal|slope)s?\b": "kink",
    r"\b(a|the|each|every) corner\b": "kink",
    r"\b(whole|full) turns\b": "revolutions",
    r"\bside by side\b": "vectorised, in parallel",
    r"\bone after another\b": "serially",
    r"\bsorts? of\b": "kind of",
    r"\bexchanged ankles?\b": "swapped ankle",
    r"\blimits? of motion\b": "joint limit",
    r"\bcosts? in\b": "takes",
    r"\bin silence\b": "without a message",
    r"\bto blame\b": "causes",
    r"\bless so\b": "reduce",
    r"\ball the same\b": "nevertheless",
    r"\bused up its\b": "reached the limit",
    r"\bfell below the rounding\b": "became smaller than machine precision allows",
    r"\bthe method of SciPy failed\b": "SciPy's solver failed",
    r"\bstands? in the (table|notes)\b": "is listed in",
    r"\bknows? nothing\b": "does not contain, does not use",
    r"\bwrites itself\b": "name the technique",
    r"\bcome and go\b": "join and leave",
    r"(?:^|[.] )(?-i:What) [^?.:|]*[.]": "begin with the noun",
}
ALLOWED = {
    r"\bside by side\b": r"(drawn|figures|runs|columns|written to files,|#) side by side",
    r"\ball the same\b": r"give all the same",
}


def helps():
    """(verb, text) of the help of each verb of the command."""
    studies = {name: study_command(name, study.load) for name, study in studies_by_name().items()}
    for name, verb in {**typer.main.get_command(app).commands, **studies}.items():
        yield name, verb.get_help(verb.context_class(verb, info_name=name))


TEXTS = {
    "pages": lambda: ((str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")) for page in pages()),
    "examples": lambda: ((file.stem, file.read_text("utf-8")) for file in examples()),
    "messages": lambda: (found for folder in ("runtime", "models", "codegen") for found in messages(folder)),
    "help": helps,
    "docstrings": lambda: docstrings(inventory.public_names()),
}


def found_in(text):
    """Phrases of INSTEAD in a text with single blanks, each with what is around it."""
    text = re.sub(r"\s+", " ", text)
    for phrase, instead in INSTEAD.items():
        for match in re.finditer(phrase, text, re.IGNORECASE):
            around = text[max(0, match.start() - 40) : match.end() + 40]
            if not re.search(ALLOWED.get(phrase, r"(?!)"), around, re.IGNORECASE):
                yield f"{around!r}: say {instead}"


@pytest.mark.parametrize("of", TEXTS)
def test_text_has_the_words_of_the_field(of):
    assert [f"{place}: {one}" for place, text in TEXTS[of]() for one in found_in(text)] == []


@pytest.mark.parametrize(
    "phrase", ["the two\nside by side, vectorised", "What it leaves is divided.", "A corner at the range."]
)
def test_a_phrase_is_found_across_lines_and_an_allowed_one_is_not(phrase):
    assert len(list(found_in(phrase))) == 1
    assert list(found_in("runs side by side; the corners of a plate; takes up to a minute")) == []
