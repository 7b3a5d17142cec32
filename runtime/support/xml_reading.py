"""XML without risk: no document types, so no entities, and each element with its line.

Elements are read by Python's expat, which checks that the text is well formed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from runtime.support.errors import ModelError, shortened

DEEPEST = 500  # elements in each other
MOST = 1e60  # magnitude of a number, so that products of a few stay finite; what is below its inverse is 0


@dataclass(eq=False, slots=True)
class Element:
    """An element of a file: its tag, attributes, children and line."""

    file: Path
    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    @property
    def place(self) -> str:
        """File and line, the beginning of messages."""
        return f"{self.file.name}, line {self.line}"

    def error(self, text: str) -> ModelError:
        """An error at this element."""
        return ModelError(f"{self.place}: {text}")

    def all(self, tag: str) -> list[Element]:
        """Its children with a tag."""
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str) -> Element | None:
        """Its child with a tag, if it has one; several are an error."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"<{self.tag}> has a second <{tag}>; keep one")
        return found[0] if found else None

    def within(self) -> Iterator[Element]:
        """The element and all below it."""
        waiting = [self]
        while waiting:
            yield (element := waiting.pop())
            waiting += reversed(element.children)

    def need(self, attribute: str) -> str:
        """A text that the element must have."""
        value = self.attributes.get(attribute, "").strip()
        if not value:
            raise self.error(f'<{self.tag}> has no {attribute}; give {attribute}="..."')
        return value

    def numbers(self, attribute: str, count: int, default: tuple[float, ...] | None = None) -> NDArray[np.float64]:
        """Numbers of an attribute, (count,)."""
        if attribute not in self.attributes and default is not None:
            return np.array(default)
        words = self.need(attribute).split()
        try:
            values = plain_numbers(words)
        except ValueError:
            values = np.array([np.nan])
        if values.shape != (count,) or not are_finite(values):
            raise self.error(
                f'<{self.tag}>: {attribute} = "{shortened(self.attributes[attribute])}"; give {finite_numbers(count)}'
            )
        return without_tiny(values)

    def number(self, attribute: str, default: float | None = None) -> float:
        """One number of an attribute."""
        return float(self.numbers(attribute, 1, None if default is None else (default,))[0])


def plain_numbers(words: Sequence[str]) -> NDArray[np.float64]:
    """Numbers as files have them (words,); Python's ``float`` takes 1_0 and digits of other scripts, too.

    Raises
    ------
    ValueError
    """
    text = "".join(words)
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return np.array(list(map(float, words)))


def plain_number(word: str) -> float:
    """One number, as of ``plain_numbers``."""
    return float(plain_numbers([word])[0])


def are_finite(values: NDArray[np.float64]) -> bool:
    """Whether all values are finite, and small enough to compute with."""
    return bool((np.abs(values) <= MOST).all())


def without_tiny(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values, 0 in place of those by which nothing can be divided."""
    return np.where(np.abs(values) < 1.0 / MOST, 0.0, values)


def finite_numbers(count: int | None) -> str:
    """Words for so many numbers that ``are_finite``; None: for any count."""
    what = "finite numbers" if count is None else "a finite number" if count == 1 else f"{count} finite numbers"
    return f"{what}, at most {MOST:g}"


def parse_xml(data: bytes, file: Path) -> Element:
    """The root element of a text; ``file`` for messages.

    Raises
    ------
    ModelError
        For what is no XML, is in an encoding that Python does not know, or has a document type.
    """
    reader = _Reader(file)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise ModelError(f"{file.name}, line {error.lineno}: no well-formed XML: {reason}; correct the file") from None
    except ModelError:
        raise
    except (UnicodeError, LookupError, ValueError) as error:
        raise ModelError(
            f"{file.name}: no text in the encoding that it states: {shortened(str(error))}; use UTF-8"
        ) from None
    root: Element | None = reader.root
    assert root is not None
    return root


class _Reader:
    """Collects elements as expat meets them."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.root: Element | None = None
        self.open: list[Element] = []
        self.texts: list[list[str]] = []  # of the open elements
        self.parser = expat.ParserCreate()  # without namespaces: tags of OpenSim contain colons
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._document_type
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(self.file, tag, attributes, self.parser.CurrentLineNumber)
        if len(self.open) >= DEEPEST:
            raise element.error(f"elements in each other deeper than {DEEPEST}; flatten the file")
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.texts.append([])

    def _end(self, tag: str) -> None:
        self.open.pop().text = "".join(self.texts.pop())

    def _text(self, text: str) -> None:
        self.texts[-1].append(text)

    def _document_type(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise ModelError(
            f"{self.file.name}, line {line}: has a document type, which may define entities; remove <!DOCTYPE ...>"
        )
