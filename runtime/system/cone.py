"""Cones of circumduction: the directions that a limit admits, by longitude and maximum latitude.

Source: Rodrigues da Silva et al. (2024b), section 3.1.  Longitude and latitude are those of the joint's frame: the latitude is
measured from zeta, the longitude from xi towards eta.  A cone consists of pieces, each a curve on the unit sphere with generated
kernels (``codegen/cones.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike

from runtime.dynamics.cone_curve import (
    COEFFICIENTS,
    KINDS,
    SAMPLES,
    Pieces,
    maximum_latitudes,
    nearest_direction,
    reach_of_vertex,
    sample_curves,
)
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats, Ints, frozen
from runtime.support.checks import bounded, finite, unit
from runtime.support.errors import ModelError, shown
from runtime.support.numbers import floats

QUADRANTS = np.deg2rad([0.0, 90.0, 180.0, 270.0, 360.0])
SAME_LONGITUDE = 1e-9  # [rad]
DENSE = 16  # finer sampling, by this factor, from which bounds of the derivatives are estimated
SAFETY = 2.0  # factor on these bounds
ON_AN_AXIS = 1e-15  # [1] a plane direction with a smaller component is along xi or eta


@checked_class
@dataclass(frozen=True, init=False)
class Cone:
    """A cone of admissible directions.

    Parameters
    ----------
    longitudes : (n,) [rad]
        Increasing from 0 to 2 pi.
    latitudes : (n,) [rad]
        Maximum latitudes at these longitudes, between 0 and pi; the first and the last belong to the same direction and must be
        equal.
    interpolation : str, optional
        "elliptical": quarters of ellipses in the top view (latitude and longitude as polar coordinates), for the longitudes
        0, 90, 180, 270, 360 degrees only, where it is the default.  "spline", the default elsewhere: a periodic cubic spline
        in the top view over the length of its chords, as in the paper.  "latitude_spline": a periodic cubic spline of the
        latitude over the longitude, for longitudes too far apart for "spline".

    Raises
    ------
    ModelError
        Naming the rule, the value and its limit.
    """

    MADE_BY: ClassVar[str] = "runtime.Cone(longitudes, latitudes)"
    longitudes: tuple[float, ...]
    latitudes: tuple[float, ...]
    interpolation: str

    def __init__(self, longitudes: ArrayLike, latitudes: ArrayLike, interpolation: str | None = None) -> None:
        psi, sigma = _angles(longitudes, "longitudes"), _angles(latitudes, "latitudes")
        if len(psi) != len(sigma):
            raise ModelError(f"cone: {len(psi)} longitudes but {len(sigma)} latitudes; give one latitude for each")
        if len(psi) < 2 or abs(psi[0]) > SAME_LONGITUDE or abs(psi[-1] - 2 * np.pi) > SAME_LONGITUDE:
            raise ModelError(
                f"cone: longitudes {_degrees(psi)}; the first must be 0 and the last 360 degrees, so that the cone closes"
            )
        psi[0], psi[-1] = 0.0, 2 * np.pi
        longitudes_now, latitudes_now = psi.tolist(), sigma.tolist()
        for before, after in pairwise(longitudes_now):
            if not after - before > SAME_LONGITUDE:
                raise ModelError(
                    f"cone: longitude {_degrees(after)} follows {_degrees(before)}; they must increase, each given once"
                )
        for value, at in zip(latitudes_now, longitudes_now, strict=True):
            if not 0.0 < value < np.pi:
                raise ModelError(
                    f"cone: maximum latitude {_degrees(value)} at longitude {_degrees(at)}; it must lie between 0 and 180 "
                    "degrees, ends excluded (use 1 degree for a direction that the joint cannot reach)"
                )
        if sigma[0] != sigma[-1]:
            raise ModelError(
                f"cone: maximum latitude {_degrees(sigma[0])} at longitude 0 but {_degrees(sigma[-1])} at 360 degrees, which is "
                "the same direction; give the same value twice"
            )
        object.__setattr__(self, "longitudes", tuple(longitudes_now))
        object.__setattr__(self, "latitudes", tuple(latitudes_now))
        quadrants = len(psi) == len(QUADRANTS) and bool((np.abs(psi - QUADRANTS) < SAME_LONGITUDE).all())
        interpolation = interpolation or ("elliptical" if quadrants else "spline")
        if interpolation not in KINDS:
            raise ModelError(f"cone: interpolation = {interpolation!r}; use {', '.join(map(repr, KINDS))}")
        if interpolation == "elliptical" and not quadrants:
            raise ModelError(
                f"cone: longitudes {_degrees(psi)}; quarters of ellipses need 0, 90, 180, 270, 360 degrees; use a spline"
            )
        object.__setattr__(self, "interpolation", interpolation)
        self._refuse_folds()

    @classmethod
    def from_degrees(
        cls, longitudes_deg: ArrayLike, latitudes_deg: ArrayLike, interpolation: str | None = None
    ) -> Cone:
        """Return the cone of longitudes and maximum latitudes in degrees."""
        longitudes, latitudes = _angles(longitudes_deg, "longitudes"), _angles(latitudes_deg, "latitudes")
        return cls(np.deg2rad(longitudes), np.deg2rad(latitudes), interpolation)

    def maximum_latitude(self, longitude: ArrayLike) -> Floats:
        """Return the maximum latitudes [rad] at longitudes [rad], of the same shape."""
        given = floats(longitude, "cone: longitude", "finite angles [rad]")
        if not np.isfinite(given).all():
            raise ModelError(f"cone: longitude = {shown(longitude)} must be finite angles [rad]")
        psi = np.mod(given, 2 * np.pi)
        values = np.empty(psi.size)
        maximum_latitudes(np.ascontiguousarray(psi.ravel()), self.pieces, np.empty(2), values)
        return values.reshape(psi.shape)

    @property
    def least_latitude(self) -> float:
        """A latitude [rad] below which every direction is inside: a lower bound, close to the smallest maximum latitude."""
        samples = np.arctan2(np.hypot(*np.moveaxis(self.pieces.samples[:, :, :2], 2, 0)), self.pieces.samples[:, :, 2])
        # Between two samples the curve bends away from its chord by at most h^2/8 times its second derivative.
        h = (self.pieces.span[:, 1] - self.pieces.span[:, 0]) / (SAMPLES - 1)
        slack = (h * h / 8 * self.pieces.bounds[:, 0]).max() / np.sin(samples.min() / 2)
        return float(max(samples.min() - slack, 0.0))

    def nearest(self, direction: ArrayLike) -> Floats:
        """Return the direction of the cone nearest to a direction in the joint's frame, (3,)."""
        u = unit(finite(direction, (3,), "cone: direction"), "cone: direction", math.inf, normalise=True)
        t = np.empty(3)
        nearest_direction(u, self.pieces, np.empty(12), t)
        return t

    def vertex(self, side: Floats) -> tuple[float, Floats]:
        """Return the cone's point at the longitude of a plane direction, and the excess up to which it is the nearest one.

        On a line perpendicular to a curve, the foot of the line is the nearest point of the curve up to some distance and not
        beyond.  This distance is found by bisection.
        """
        return _vertex(self, float(side[0]), float(side[1]))

    @property
    def pieces(self) -> Pieces:
        """Flat data of the curves for compiled code."""
        return _pieces(self)

    def _spans_and_coefficients(self) -> tuple[Floats, Floats]:
        psi, sigma = np.array(self.longitudes), np.array(self.latitudes)
        spans = np.stack([psi[:-1], psi[1:]], axis=1)
        coefficients = np.zeros((len(spans), COEFFICIENTS))
        if self.interpolation == "elliptical":
            coefficients[:, 0] = sigma[[0, 2, 2, 0]]  # the semi-axis along xi of each quadrant
            coefficients[:, 1] = sigma[[1, 1, 3, 3]]  # and along eta
        elif self.interpolation == "latitude_spline":
            coefficients[:, 0] = psi[:-1]
            coefficients[:, 1:5] = _periodic_cubics(psi, sigma).T
        else:
            plane = sigma[:, None] * np.stack([np.cos(psi), np.sin(psi)], axis=1)
            plane[-1] = plane[0]
            chords = np.linalg.norm(np.diff(plane, axis=0), axis=1)
            cubics = _periodic_cubics(np.concatenate([[0.0], np.cumsum(chords)]), plane)
            coefficients[:, :2], coefficients[:, 2] = spans, chords
            coefficients[:, 3:7], coefficients[:, 7:11] = cubics[:, :, 0].T, cubics[:, :, 1].T
            spans = np.stack([np.zeros(len(chords)), chords], axis=1)
        return spans, coefficients

    def _refuse_folds(self) -> None:
        """Refuse a spline that leaves the latitudes between 0 and pi, or turns back in longitude, between its knots."""
        if self.interpolation == "elliptical":
            return
        psi = np.array(self.longitudes)
        remedy = 'give longitudes between, or interpolation="latitude_spline"'
        if self.interpolation == "spline" and (np.diff(psi) >= np.pi).any():
            widest = int(np.diff(psi).argmax())
            raise ModelError(
                f"cone: longitudes {_degrees(psi[widest])} and {_degrees(psi[widest + 1])} are 180 degrees or more apart, and a "
                f"spline in the top view would not go around zeta; {remedy}"
            )
        for first, last, (_, length), c in zip(psi[:-1], psi[1:], *self._spans_and_coefficients(), strict=True):
            if self.interpolation == "latitude_spline":
                latitude = Polynomial(c[1:5])
                for h in _roots(latitude.deriv(), last - first):
                    if not 0.0 < float(latitude(h)) < np.pi:
                        raise ModelError(
                            f"cone: the spline through the latitudes reaches {_degrees(float(latitude(h)))} at longitude "
                            f"{_degrees(first + h)}, must stay between 0 and 180; give longitudes between, where latitudes "
                            "change fast"
                        )
                continue
            x, y = Polynomial(c[3:7]), Polynomial(c[7:11])
            # x y' - y x' has the sign of the longitude's rate, and vanishes where the curve turns back or meets zeta.
            turning, square = x * y.deriv() - y * x.deriv(), x * x + y * y
            if not float(turning(length / 2)) > 0.0 or _roots(turning, length):
                raise ModelError(
                    f"cone: between longitudes {_degrees(first)} and {_degrees(last)} the spline in the top view "
                    f"turns back in longitude; {remedy}"
                )
            for h in _roots(square.deriv(), length):
                if not float(square(h)) < np.pi**2:
                    raise ModelError(
                        f"cone: the spline in the top view reaches the latitude {_degrees(float(np.sqrt(square(h))))} between "
                        f"longitudes {_degrees(first)} and {_degrees(last)}, must stay below 180; {remedy}"
                    )


# A system with equal cones is often built many times.
@lru_cache(maxsize=256)
def _vertex(cone: Cone, x: float, y: float) -> tuple[float, Floats]:
    side, latitude = np.array([x, y]), np.empty(1)
    longitude = np.mod(np.arctan2(side[1:], side[:1]), 2 * np.pi)
    maximum_latitudes(longitude, cone.pieces, np.empty(2), latitude)
    near = np.abs(side) < ON_AN_AXIS  # as directions of hinges are, but for rounding
    snapped = np.where(near, 0.0, np.sign(side)) if near[0] != near[1] else side
    point = np.concatenate([np.sin(latitude) * side, np.cos(latitude)])
    point.flags.writeable = False
    return _reach(cone, *snapped.tolist(), float(latitude[0])), point


# Directions of hinges that differ by rounding are often along the same axis.
@lru_cache(maxsize=256)
def _reach(cone: Cone, x: float, y: float, latitude: float) -> float:
    return float(reach_of_vertex(np.array([x, y]), latitude, cone.pieces, np.empty(12), np.empty(3)))


@lru_cache(maxsize=256)
def _pieces(cone: Cone) -> Pieces:
    spans, coefficients = cone._spans_and_coefficients()
    kind = np.full(len(spans), KINDS.index(cone.interpolation))
    steps = DENSE * (SAMPLES - 1)
    points, bends = np.empty((len(spans), steps + 1, 3)), np.empty((len(spans), 2))
    sample_curves(kind, spans, coefficients, np.empty((2, 9)), points, bends)
    step = (spans[:, 1] - spans[:, 0]) / steps
    away = np.linalg.norm(points - points[:, None, steps // 2], axis=2).max(axis=1)
    slack = step * step / 8 * SAFETY * bends[:, 0]  # by which the curve bends away from the chord between two points
    bounds = np.stack([SAFETY * bends[:, 0], SAFETY * bends[:, 1] / step, away + slack], axis=1)
    longitudes = np.array([*pairwise(cone.longitudes)])
    return frozen(Pieces(kind, longitudes, spans, coefficients, points[:, ::DENSE].copy(), bounds))


def _periodic_cubics(x: Floats, values: Floats) -> Floats:
    """Coefficients (4, pieces, ...) of the periodic cubic spline, of powers of the distance from each knot, lowest first."""
    from scipy.interpolate import CubicSpline  # here because the import takes a fifth of a second

    return CubicSpline(x, values, bc_type="periodic").c[::-1]


def _roots(polynomial: Polynomial, length: float) -> list[float]:
    """Real roots between 0 and the length."""
    scaled: Floats = np.asarray(polynomial.coef, dtype=float) * length ** np.arange(len(polynomial.coef))
    # Without ``trim`` a highest coefficient that is rounding, as of a symmetric piece, would take the digits of all roots.
    parts = Polynomial(scaled).trim(1e-14 * float(np.abs(scaled).max())).roots().astype(complex)
    real = parts.real[np.abs(parts.imag) < 1e-9]
    return [length * part for part in real.tolist() if 0.0 < part < 1.0]


def _angles(value: ArrayLike, what: str) -> Floats:
    array = floats(value, f"cone: {what}", "a list of angles")
    if array.ndim != 1:
        raise ModelError(f"cone: {what} have the shape {array.shape}; give a list of angles")
    return bounded(array, f"cone: {what}")


def _degrees(value: float | Sequence[float] | Floats) -> str:
    return ", ".join(f"{angle:.6g}" for angle in np.atleast_1d(np.rad2deg(value))) + " degrees"


def joined(cones: Sequence[Cone]) -> tuple[Ints, Pieces]:
    """Return the first piece of each cone (cones + 1,), and all pieces."""
    parts = [cone.pieces for cone in cones]
    start = np.cumsum([0, *(len(part.kind) for part in parts)]).astype(np.int64)
    empty = Pieces(
        np.zeros(0, np.int64), np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, COEFFICIENTS)), np.zeros((0, SAMPLES, 3)),
        np.zeros((0, 3)),
    )  # fmt: skip
    return start, Pieces(*(np.concatenate(data) for data in zip(empty, *parts, strict=True)))
