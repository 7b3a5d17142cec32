"""Properties of objects in OpenSim files."""

from __future__ import annotations

from models.files.naming import unique
from runtime.support import Element, shortened


def text_of(e: Element, tag: str) -> str:
    """Text of a child, without blanks around it; empty where there is none."""
    child = e.one(tag)
    return "" if child is None else child.text.strip()


def truth(e: Element, tag: str, default: bool) -> bool:
    """A child that is true or false.

    Raises
    ------
    ModelError
    """
    text = text_of(e, tag).lower()
    if text not in ("", "true", "false"):
        raise e.error(f'<{e.tag}>: {tag} = "{shortened(text)}"; give true or false')
    return default if not text else text == "true"


def with_defaults(model: Element) -> None:
    """Give the objects of a model the properties of the objects of their kind in its <defaults>, which is taken out."""
    holders = model.all("defaults")
    for holder in holders:
        model.children.remove(holder)
    kinds = {one.tag: one for holder in holders for one in holder.children}
    for e in list(model.within()) if kinds else []:
        own = {child.tag for child in e.children}
        e.children += [child for child in kinds[e.tag].children if child.tag not in own] if e.tag in kinds else []


def of_parts(e: Element, tag: str) -> Element:
    """A child that holds others; an empty one where it is missing."""
    return e.one(tag) or Element(e.file, tag, {}, e.line)


def objects(e: Element, group: str, tag: str | None) -> list[Element]:
    """The members of a set of objects, of one tag or all."""
    members = of_parts(of_parts(e, group), "objects").children
    return [one for one in members if tag is None or one.tag == tag]


def name_unnamed(model: Element) -> None:
    """Give joints and constraints without a name the one of OpenSim: their kind in lower case, numbered from the second."""
    nested = [e for body in objects(model, "BodySet", "Body") for e in of_parts(body, "Joint").children]
    elements = nested + objects(model, "JointSet", None) + objects(model, "ConstraintSet", None)
    taken = {e.attributes.get("name", "").strip() for e in elements}
    for e in elements:
        if not e.attributes.get("name", "").strip():
            e.attributes["name"] = unique([*taken, e.tag.lower()])[-1]
            taken.add(e.attributes["name"])


def active(e: Element) -> bool:
    """Whether a force or a constraint acts, by the words of either version."""
    return truth(e, "isEnforced", True) and truth(e, "appliesForce", True) and not truth(e, "isDisabled", False)
