"""Points and directions given in global axes at the reference pose, turned into axes of their bodies.

``axes="global"`` of the builder: a point is given by its global coordinates, a direction by its global components and with
any length; both are then fixed in their bodies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Literal

from numpy.typing import ArrayLike

from runtime.dynamics.layout import P, R, V
from runtime.support.arrays import Floats
from runtime.support.checks import finite, unit
from runtime.support.errors import ModelError
from runtime.system.reference import rotation_matrix

Axes = Literal["body", "global"]
POINT, AXIS = "point", "axis"  # keywords that give the points or the axes of both bodies at once


def is_global(axes: Axes | None, default: Axes, what: str) -> bool:
    """Whether data are in global axes.

    Raises
    ------
    ModelError
    """
    chosen = default if axes is None else axes
    if chosen not in ("body", "global"):
        raise ModelError(f"{what}: axes = {chosen!r}; use 'body' or 'global'")
    return chosen == "global"


def local_point(state: Floats, value: Any, what: str) -> Floats:
    """A point given by global coordinates, from the centre of mass of a body in its state (13,), in axes of the body."""
    return rotation_matrix(state[P:V]).T @ (finite(value, (3,), what) - state[R:P])


def local_direction(state: Floats, value: ArrayLike, what: str) -> Floats:
    """A direction given in global axes with any length, as a unit vector in axes of a body in its state (13,)."""
    return rotation_matrix(state[P:V]).T @ unit(finite(value, (3,), what), what, math.inf, normalise=True)


def local_values(
    what: str, module: ModuleType, values: Mapping[str, Any], states: Mapping[str, Floats]
) -> dict[str, Any]:
    """Return the values of a definition with its vectors in body axes; ``states``: of bodies "i" and "j".

    Raises
    ------
    ModelError
    """
    vectors = {name: (kind, body) for name, kind, body in module.VECTORS if name in module.KEYWORDS}
    local = _spread(what, module, values, list(vectors))
    for name, (kind, body) in vectors.items():
        if name not in local:
            continue
        turned = local_point if kind == "point" else local_direction
        local[name] = turned(states[body], local[name], f"{what}: {name}")
    return local


def _spread(what: str, module: ModuleType, values: Mapping[str, Any], vectors: list[str]) -> dict[str, Any]:
    """The values with ``point`` and ``axis`` in the places of the vectors that they stand for."""
    spread = dict(values)
    # The axis of a driver is h_i, beside directions a_i and b_j between which it measures.
    stems = {POINT: "s", AXIS: "h" if any(name.startswith("h_") for name in vectors) else "a"}
    for key, stem in stems.items():
        if key not in values or key in module.KEYWORDS:
            continue
        names = [name for name in vectors if name in (f"{stem}_i", f"{stem}_j")]
        if not names:
            raise ModelError(f"{what}: has no {stem}_i or {stem}_j that {key} could give; needs {', '.join(vectors)}")
        if twice := [name for name in names if name in values]:
            raise ModelError(f"{what}: {', '.join(twice)} given twice, also by {key}; leave out one of them")
        spread |= dict.fromkeys(names, spread.pop(key))
    return spread
