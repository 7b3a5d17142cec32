"""Units and bounds of parameters, as the docstring of a definition states them.

A line of the docstring for each parameter, in which the bounds may be left out, and a remark follows after a semicolon:

    name : meaning [unit], lower < symbol <= upper; remark
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.compiler.errors import DefinitionError

Bounds = tuple[float | None, bool, float | None, str]  # lower, whether it is excluded, upper (None: not bounded), unit

NUMBER = r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?"
DEGREES = re.compile(r"\bdeg(rees?)?\b|°")
INTERVAL = re.compile(rf"(?:({NUMBER}) (<=?) )?\w+(?: <= ({NUMBER}))?")


def bounds_of(definition: str, doc: str, names: Sequence[str]) -> dict[str, Bounds]:
    """Bounds of the parameters that have such a line in the docstring.  Raises DefinitionError for unreadable bounds."""
    found: dict[str, Bounds] = {}
    for name in names:
        line = re.search(rf"^{name} :[^\[\n]*\[([^\]\n]*)\](.*)$", doc, re.MULTILINE)
        if line is None:
            continue
        unit, rest = line.groups()
        stated = [part.strip() for part in rest.split(";")[0].split(",") if re.search("[<>]", part)]
        interval = INTERVAL.fullmatch(stated[0]) if len(stated) == 1 else None
        if stated and interval is None:
            raise DefinitionError(
                f"definition '{definition}': bounds of '{name}', {', '.join(stated)}: cannot be read; write them as "
                f"0 < {name} <= 1, or as one half of it"
            )
        lower, sign, upper = interval.groups() if interval else (None, None, None)
        bounds = _number(lower), sign == "<", _number(upper)
        if bounds[0] is not None and bounds[2] is not None and bounds[0] >= bounds[2]:
            raise DefinitionError(
                f"definition '{definition}': bounds of '{name}', {stated[0]}: no range lies within; exchange them"
            )
        if DEGREES.search(unit):
            raise DefinitionError(
                f"definition '{definition}': '{name}' has the unit [{unit}], but angles are in radians; state the unit with rad"
            )
        found[name] = *bounds, "" if unit == "1" else unit
    return found


def bounds_of_law(definition: str, doc: str, names: Sequence[str], lowest: float | None = 0.0) -> dict[str, Bounds]:
    """Bounds of all parameters of a law, ``lowest`` or more where no lower bound is stated.  Raises DefinitionError."""
    found = bounds_of(definition, doc, names)
    if missing := [name for name in names if name not in found]:
        raise DefinitionError(
            f"definition '{definition}': its docstring has no unit of {', '.join(missing)}; add the line "
            f"'{missing[0]} : meaning [unit]'"
        )
    return {name: (lowest if bounds[0] is None else bounds[0], *bounds[1:]) for name, bounds in found.items()}


def singular_of(doc: str) -> str:
    """Where a definition is singular, by its docstring; empty if it does not say."""
    found = re.search(r"Singular (when .*?)\.(?=\s|$)", " ".join(doc.split()))
    return found.group(1) if found else ""


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)
