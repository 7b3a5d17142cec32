"""Values in elements of OpenSim's files, whose texts hold them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.files.description import Floats
from models.files.xml_reading import Element, shortened


@dataclass(frozen=True, eq=False)
class Entry:
    """An object of a set, by its name."""

    name: str
    element: Element


def entries(parent: Element, tag: str) -> list[Entry]:
    """The objects of a set, in order; their names must differ."""
    holder = parent.one(tag)
    objects = None if holder is None else holder.one("objects")
    found: dict[str, Entry] = {}
    for element in objects.children if objects is not None else ():
        name = element.need("name")
        if name in found:
            raise element.error(
                f"'{name}' exists already in <{tag}>, line {found[name].element.line}; names must differ"
            )
        found[name] = Entry(name, element)
    return list(found.values())


def text_of(element: Element, tag: str, default: str | None = None) -> str:
    """The text of a child."""
    child = element.one(tag)
    text = "" if child is None else child.text.strip()
    if not text and default is None:
        raise element.error(f"<{element.tag}> has no <{tag}>; give <{tag}>...</{tag}>")
    return text or (default or "")


def numbers(element: Element, tag: str, count: int, default: tuple[float, ...] | None = None) -> Floats:
    """Numbers (count,) in the text of a child."""
    child = element.one(tag)
    if child is None and default is not None:
        return np.array(default)
    text = text_of(element, tag)
    values = all_numbers(text)
    if values is None or values.shape != (count,):
        what = "a finite number" if count == 1 else f"{count} finite numbers"
        assert child is not None
        raise child.error(f'<{tag}> holds "{shortened(text)}"; give {what}')
    return values


def all_numbers(text: str) -> Floats | None:
    """The numbers in a text; None unless all of its words are finite numbers."""
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def number(element: Element, tag: str, default: float) -> float:
    """A number in the text of a child."""
    return float(numbers(element, tag, 1, (default,))[0])


def flag(element: Element, tag: str, default: bool) -> bool:
    """A true or false in the text of a child."""
    text = text_of(element, tag, str(default)).lower()
    if text not in ("true", "false"):
        raise element.error(f'<{tag}> holds "{shortened(text)}"; give true or false')
    return text == "true"
