"""Help texts of parameters, from docstrings."""

from __future__ import annotations

import re


def helps_of(doc: str) -> dict[str, str]:
    """Help texts of a function's parameters with their units, from its docstring."""
    found: dict[str, str] = {}
    units: dict[str, str] = {}
    names: list[str] = []
    for line in doc.split("Parameters\n----------")[-1].splitlines():
        if re.match(r"\w+(, \w+)* : ", line):
            listed, _, kind = line.partition(" : ")
            names = listed.split(", ")
            given = [f" {unit}" for unit in re.findall(r"\[[^\]]*\]", kind)]
            own = given if len(given) == len(names) else ["".join(given)] * len(names)
            units |= dict(zip(names, own, strict=True))
            found |= dict.fromkeys(names, "")
        elif names and line.startswith("    "):
            found |= {name: f"{found[name]} {line.strip()}".strip() for name in names}
        elif line:
            names = []
    return {name: f"{text.rstrip('.')}{units[name]}.".strip() for name, text in found.items() if text or units[name]}
