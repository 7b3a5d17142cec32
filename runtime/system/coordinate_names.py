"""Names and units of the coordinates and rates of a tree."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.system.spanning_tree import TreeSteps
from runtime.system.state import COMPONENTS, STATE_UNITS
from runtime.system.system import System

# Parts of a state that are coordinates and rates of a step of a tree, by its kind.
OF_STEPS = {"ball": (("p",), ("omega",)), "free": (("r", "p"), ("v", "omega"))}


def coordinates_of_tree(system: System, tree: TreeSteps) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Names and units of the coordinates of a tree, and of its rates; with a minus sign where it has those of a joint negated."""
    q: list[tuple[str, str]] = []
    u: list[tuple[str, str]] = []
    for c, kind in zip(tree.coordinates, tree.kinds, strict=True):
        if kind in OF_STEPS:
            for of, parts in zip((q, u), OF_STEPS[kind], strict=True):
                of += components_of_parts(c.joint or c.outer, parts)
            continue
        own, unit = list(system.joint_motions[c.joint].units.items())[c.place]
        name = f"{'-' if c.sign < 0.0 else ''}{c.joint}.{own}"
        q.append((name, unit))
        u.append((f"{name}_rate", f"{unit}/s"))
    return q, u


def components_of_parts(owner: str, parts: Iterable[str]) -> list[tuple[str, str]]:
    """Names and units of the components of parts of a state."""
    return [(f"{owner}.{part}_{component}", STATE_UNITS[part]) for part in parts for component in COMPONENTS[part]]
