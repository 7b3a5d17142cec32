"""The surface of a cone of circumduction, one piece of its longitude at a time.

Source: Rodrigues da Silva et al. (2024b), sections 3.1.1-3.1.4.

A definition gives the curve in which the cone meets the unit sphere: longitude and latitude of its point at a parameter s,
and the parameter at a longitude psi, or a first guess of it.  Tangents, curvature and the slope of the maximum latitude
are derived.  ``position``, ``separation`` and ``top_view`` are the measures of a direction that limits use.

To add a shape, add a function here and run ``python -m codegen``.
"""

from __future__ import annotations

from sympy import atan2, cos, sin, sqrt

from codegen.compiler.calculus import Expr, Vector

Curve = dict[str, Expr]


def elliptical(s: Expr, psi: Expr, a: Expr, b: Expr) -> Curve:
    """A quarter of an ellipse in the top view (longitude and latitude as polar coordinates).

    Source: Rodrigues da Silva et al. (2024b), Eqs. (8)-(14).
    a, b : maximum latitudes [rad] at the longitudes 0 or 180 degrees, and 90 or 270 degrees
    The parameter is the eccentric angle, in which the curve is smooth for an ellipse of any ratio.
    """
    x, y = a * cos(s), b * sin(s)
    return {"longitude": atan2(y, x), "latitude": sqrt(x**2 + y**2), "parameter": atan2(a * sin(psi), b * cos(psi))}


def spline(
    s: Expr, psi: Expr, psi_0: Expr, psi_1: Expr, length: Expr,
    x0: Expr, x1: Expr, x2: Expr, x3: Expr, y0: Expr, y1: Expr, y2: Expr, y3: Expr,
) -> Curve:  # fmt: skip
    """A piece of a periodic cubic spline in the top view.

    Source: Rodrigues da Silva et al. (2024b), Eqs. (15)-(19).
    psi_0, psi_1 : longitudes [rad] of its ends
    length : of the chord between them [rad]; the parameter runs from 0 to it
    x0 .. x3, y0 .. y3 : coefficients of the plane coordinates by powers of the parameter
    """
    x, y = x0 + s * (x1 + s * (x2 + s * x3)), y0 + s * (y1 + s * (y2 + s * y3))
    guess = length * (psi - psi_0) / (psi_1 - psi_0)
    return {"longitude": atan2(y, x), "latitude": sqrt(x**2 + y**2), "parameter": guess}


def latitude_spline(s: Expr, psi: Expr, psi_0: Expr, c0: Expr, c1: Expr, c2: Expr, c3: Expr) -> Curve:
    """A piece of a periodic cubic spline of latitude over longitude, which is the parameter.

    psi_0 : longitude [rad] at which the piece begins
    c0 .. c3 : its coefficients by powers of the longitude from there
    """
    h = s - psi_0
    return {"longitude": s, "latitude": c0 + h * (c1 + h * (c2 + h * c3)), "parameter": psi}


def position(u: Vector) -> Curve:
    """Latitude and longitude of a direction, with full precision at every latitude.

    Source: Rodrigues da Silva et al. (2024b), Eqs. (6)-(7).
    """
    return {"latitude": atan2(sqrt(u.x**2 + u.y**2), u.z), "longitude": atan2(u.y, u.x)}


def separation(u: Vector, t: Vector) -> Expr:
    """Angle between two directions, of any lengths, with full precision at every angle."""
    return atan2(u.cross(t).norm(), u.dot(t))


def top_view(u: Vector, t: Vector) -> Curve:
    """Distance of two directions in the top view, and the factor that shortens the arm u x n.

    Source: Rodrigues da Silva et al. (2024b), Eqs. (32)-(33).
    The law of cosines, in a form that loses no digits where the two are close.
    """
    at_u, at_t = position(u), position(t)
    half = sin((at_u["longitude"] - at_t["longitude"]) / 2)
    square = (at_u["latitude"] - at_t["latitude"]) ** 2 + 4 * at_u["latitude"] * at_t["latitude"] * half**2
    return {"distance": sqrt(square), "shortening": cos(separation(u, t))}
