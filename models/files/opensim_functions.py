"""Functions of coordinates in OpenSim's files: their values, and those that are lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.files.description import Floats
from models.files.opensim_text import all_numbers, number, text_of
from models.files.xml_reading import Element

KINDS = (
    "Constant", "LinearFunction", "SimmSpline", "NaturalCubicSpline", "natCubicSpline", "PiecewiseLinearFunction",
    "PolynomialFunction", "MultiplierFunction",
)  # fmt: skip
PARTS = (
    "coordinates",
    "axis",
    "function",
    "scale",
)  # of a TransformAxis or of a function of a function, beside the function


def _function(holder: Element) -> Element | None:
    """The function in an element, directly or in <function>; None for one without a function."""
    inner = holder.one("function")
    for place in (holder, inner) if inner is not None else (holder,):
        found = [child for child in place.children if child.tag in KINDS]
        if found:
            return found[0]
    places = (holder, inner) if inner is not None else (holder,)
    unknown = [child for place in places for child in place.children if child.tag not in PARTS]
    if unknown:
        raise unknown[0].error(f"a function of the kind <{unknown[0].tag}>; those that are read are {', '.join(KINDS)}")
    return None


def coefficients_of(holder: Element) -> tuple[float, float] | None:
    """Slope and constant of a function that is a line or a constant; None for others."""
    function = _function(holder)
    if function is None:
        return 0.0, 0.0
    if function.tag == "Constant":
        return 0.0, number(function, "value", 0.0)
    if function.tag == "MultiplierFunction":
        line = coefficients_of(function)
        scale = number(function, "scale", 1.0)
        return None if line is None else (scale * line[0], scale * line[1])
    if function.tag not in ("LinearFunction", "PolynomialFunction"):
        return None
    given = _list(function, "coefficients")
    if len(given) > 2 and np.any(given[:-2] != 0.0):
        return None
    given = np.concatenate([np.zeros(2), given])[-2:]
    return float(given[0]), float(given[1])


def value_of(holder: Element, at: Sequence[float]) -> float:
    """The value of a function."""
    function = _function(holder)
    line = coefficients_of(holder)
    if function is None or (line is not None and (line[0] == 0.0 or len(at) == 1)):
        return 0.0 if line is None else line[1] + (line[0] * at[0] if line[0] else 0.0)
    if len(at) != 1:
        raise function.error(f"<{function.tag}> of {len(at)} coordinates; functions of one coordinate are read")
    if function.tag == "MultiplierFunction":
        return number(function, "scale", 1.0) * value_of(function, at)
    if function.tag == "PolynomialFunction":
        return float(np.polyval(_list(function, "coefficients"), at[0]))
    x, y = _list(function, "x"), _list(function, "y")
    if len(x) != len(y) or len(x) < 2 or not (np.diff(x) > 0.0).all():
        raise function.error(
            f"<{function.tag}> has {len(x)} values x and {len(y)} values y; give as many, at least 2, x increasing"
        )
    if function.tag == "PiecewiseLinearFunction":
        return float(
            _continued(
                x, y, at[0], np.interp(at[0], x, y), (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[-2]) / (x[-1] - x[-2])
            )
        )
    spline = _spline(x, y)
    return float(_continued(x, y, at[0], spline(at[0]), spline(x[0], 1), spline(x[-1], 1)))


def _list(function: Element, tag: str) -> Floats:
    values = all_numbers(text_of(function, tag))
    if values is None:
        raise function.error(f"<{function.tag}>: <{tag}> must hold finite numbers")
    return values


def _continued(x: Floats, y: Floats, at: float, inside: float, first: float, last: float) -> float:
    """A function at a place, beyond its knots along its tangents there."""
    if at < x[0]:
        return float(y[0] + first * (at - x[0]))
    return float(y[-1] + last * (at - x[-1])) if at > x[-1] else float(inside)


def _spline(x: Floats, y: Floats):  # type: ignore[no-untyped-def]
    """The cubic spline through points whose third derivatives at its ends are those of the cubics through four points.

    Older files have two other names for it.  Forsythe, Malcolm and Moler (1977), Computer Methods for Mathematical Computations,
    section 4.4.
    """
    from scipy.interpolate import make_interp_spline  # here because the import takes a fifth of a second

    if len(x) < 4:
        return make_interp_spline(x, y, k=len(x) - 1)
    ends = [6.0 * np.polyfit(x[part] - x[part][0], y[part], 3)[0] for part in (slice(0, 4), slice(-4, None))]
    return make_interp_spline(x, y, k=3, bc_type=([(3, ends[0])], [(3, ends[1])]))
