"""Cones of circumduction: the directions that a limit admits, by longitude and maximum latitude.  Seed 003, section 3.1.

Longitude and latitude are those of the joint's frame: the latitude is measured from zeta, the longitude from xi towards
eta.  The cone is made of pieces, each a curve on the unit sphere whose kernels are generated (``codegen/cones.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from generated import dispatch
from runtime.errors import ModelError
from runtime.kernels import compiled, inlined
from runtime.pointers import behind
from runtime.structure import Floats, Ints, frozen

QUADRANTS = np.deg2rad([0.0, 90.0, 180.0, 270.0, 360.0])
SAME_LONGITUDE = 1e-9  # [rad]
SAMPLES = 17  # directions of a piece among which the search begins
DENSE = 16  # times as many tell how large its derivatives are
SAFETY = 2.0  # on what they tell
COEFFICIENTS = max(len(module.COEFFICIENTS) for module in dispatch.CONES)
KINDS = [module.NAME for module in dispatch.CONES]

SAME_DIRECTION = 1e-12
VERTEX_HALVINGS = 20
NEWTON_STEPS, MOST_STEPS = 8, 64  # then bisection, which gains a bit of the parameter each step
MOST_HALVINGS = 24  # of an interval between two samples
MOST_LOOKS = 3000  # at places of the curve, in one search
ROUNDING = 1e-20  # a closeness that can gain no more than this is not looked for


class Pieces(NamedTuple):
    """The pieces of one cone, or of several one after the other."""

    kind: Ints  # (pieces,)
    longitude: Floats  # (pieces, 2) at both ends
    span: Floats  # (pieces, 2) parameter there
    coefficients: Floats  # (pieces, COEFFICIENTS)
    samples: Floats  # (pieces, SAMPLES, 3) points of the curve, evenly in the parameter
    bounds: Floats  # (pieces, 2) largest second and third derivative of the curve


@dataclass(frozen=True, init=False)
class Cone:
    """A cone of admissible directions.

    Parameters
    ----------
    longitudes : (n,) [rad]
        Increasing from 0 to 2 pi.
    latitudes : (n,) [rad]
        Maximum latitudes there, between 0 and pi; the first and the last are the same direction and must be equal.
    interpolation : str, optional
        "elliptical": quarters of ellipses in the top view (latitude and longitude as polar coordinates), for the longitudes
        0, 90, 180, 270, 360 degrees only, where it is the default.  "spline", the default elsewhere: a periodic cubic spline
        in the top view over the length of its chords, as the paper has it.  "latitude_spline": a periodic cubic spline of
        the latitude over the longitude, for longitudes that are too far apart for the other.

    Raises
    ------
    ModelError
        Naming the rule, the value and its limit.
    """

    longitudes: tuple[float, ...]
    latitudes: tuple[float, ...]
    interpolation: str

    def __init__(self, longitudes: ArrayLike, latitudes: ArrayLike, interpolation: str | None = None) -> None:
        psi, sigma = _numbers(longitudes, "longitudes"), _numbers(latitudes, "latitudes")
        if len(psi) != len(sigma):
            raise ModelError(f"cone: {len(psi)} longitudes but {len(sigma)} latitudes; give one latitude for each")
        if len(psi) < 2 or abs(psi[0]) > SAME_LONGITUDE or abs(psi[-1] - 2 * np.pi) > SAME_LONGITUDE:
            raise ModelError(
                f"cone: longitudes {_degrees(psi)}; the first must be 0 and the last 360 degrees, so that the cone closes"
            )
        psi[0], psi[-1] = 0.0, 2 * np.pi
        for before, after in zip(psi[:-1], psi[1:], strict=True):
            if not after - before > SAME_LONGITUDE:
                raise ModelError(
                    f"cone: longitude {_degrees(after)} follows {_degrees(before)}; they must increase, each given once"
                )
        for value, at in zip(sigma, psi, strict=True):
            if not 0.0 < value < np.pi:
                raise ModelError(
                    f"cone: maximum latitude {_degrees(value)} at longitude {_degrees(at)}; it must lie between 0 and 180 "
                    "degrees, ends excluded (1 degree stands for a direction that the joint cannot reach)"
                )
        if sigma[0] != sigma[-1]:
            raise ModelError(
                f"cone: maximum latitude {_degrees(sigma[0])} at longitude 0 but {_degrees(sigma[-1])} at 360 degrees, which is "
                "the same direction; give the same value twice"
            )
        object.__setattr__(self, "longitudes", tuple(map(float, psi)))
        object.__setattr__(self, "latitudes", tuple(map(float, sigma)))
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
        """The cone of longitudes and maximum latitudes in degrees."""
        longitudes, latitudes = _numbers(longitudes_deg, "longitudes"), _numbers(latitudes_deg, "latitudes")
        return cls(np.deg2rad(longitudes), np.deg2rad(latitudes), interpolation)

    def maximum_latitude(self, longitude: ArrayLike) -> Floats:
        """Maximum latitudes [rad] at longitudes [rad], of the same shape."""
        try:
            given = np.asarray(longitude, dtype=float)
        except (TypeError, ValueError):
            given = np.full(1, np.nan)
        if not np.isfinite(given).all():
            raise ModelError(f"cone: longitude = {longitude!r} must be finite angles [rad]")
        psi = np.mod(given, 2 * np.pi)
        values = np.empty(psi.size)
        _maxima(np.ascontiguousarray(psi.ravel()), self.pieces, np.empty(2), values)
        return values.reshape(psi.shape)

    @property
    def least_latitude(self) -> float:
        """A latitude [rad] below which every direction is inside, close below the least maximum."""
        samples = np.arctan2(np.hypot(*np.moveaxis(self.pieces.samples[:, :, :2], 2, 0)), self.pieces.samples[:, :, 2])
        # Between two samples the curve bends away from its chord by at most h^2/8 times its second derivative.
        h = (self.pieces.span[:, 1] - self.pieces.span[:, 0]) / (SAMPLES - 1)
        slack = (h * h / 8 * self.pieces.bounds[:, 0]).max() / np.sin(samples.min() / 2)
        return float(max(samples.min() - slack, 0.0))

    def nearest(self, direction: ArrayLike) -> Floats:
        """The direction of the cone nearest to a direction of the joint's frame, (3,)."""
        try:
            u = np.array(direction, dtype=float)
        except (TypeError, ValueError):
            u = np.zeros(0)
        length = float(np.linalg.norm(u)) if u.shape == (3,) else 0.0
        if not (np.isfinite(length) and length > 0.0):
            raise ModelError(f"cone: direction = {direction!r}; give three finite numbers, not all 0")
        t = np.empty(3)
        _nearest(u / length, self.pieces, np.empty(12), t)
        return t

    def vertex(self, side: Floats) -> tuple[float, Floats]:
        """The cone's point at the longitude of a plane direction, and how far outside, in that plane, it stays the nearest.

        On a line that leaves a curve at a right angle the foot of the line is the nearest point up to some distance, and
        never again beyond.  So it suffices to find that distance, by bisection.
        """
        latitude = float(self.maximum_latitude(np.arctan2(side[1], side[0])))

        def at(angle: float) -> Floats:
            return np.array([*(np.sin(angle) * side), np.cos(angle)])

        def stays(excess: float) -> bool:
            return bool(np.linalg.norm(self.nearest(at(latitude + excess)) - at(latitude)) < SAME_DIRECTION)

        known, unknown = 0.0, np.pi - latitude
        for _ in range(VERTEX_HALVINGS):
            middle = 0.5 * (known + unknown)
            known, unknown = (middle, unknown) if stays(middle) else (known, middle)
        return known, at(latitude)

    @cached_property
    def pieces(self) -> Pieces:
        """The tables that compiled code searches."""
        psi = np.array(self.longitudes)
        spans, coefficients = self._spans_and_coefficients()
        kind = np.full(len(spans), KINDS.index(self.interpolation))
        steps = DENSE * (SAMPLES - 1)
        values = np.empty((len(spans), steps + 1, 9))
        _curves(kind, spans, coefficients, values)
        step = (spans[:, 1] - spans[:, 0]) / steps
        second = np.linalg.norm(values[:, :, 6:], axis=2).max(axis=1)
        third = np.linalg.norm(np.diff(values[:, :, 6:], axis=1), axis=2).max(axis=1) / step
        bounds = SAFETY * np.stack([second, third], axis=1)
        longitudes = np.stack([psi[:-1], psi[1:]], axis=1)
        pieces = Pieces(kind, longitudes, spans, coefficients, values[:, ::DENSE, :3].copy(), bounds)
        return frozen(pieces)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("longitudes", "latitudes", "interpolation")}

    def _spans_and_coefficients(self) -> tuple[Floats, Floats]:
        psi, sigma = np.array(self.longitudes), np.array(self.latitudes)
        spans = np.stack([psi[:-1], psi[1:]], axis=1)
        coefficients = np.zeros((len(spans), COEFFICIENTS))
        if self.interpolation == "elliptical":
            coefficients[:, 0] = sigma[[0, 2, 2, 0]]  # the semi-axis along xi of each quadrant
            coefficients[:, 1] = sigma[[1, 1, 3, 3]]  # and along eta
        elif self.interpolation == "latitude_spline":
            coefficients[:, 0] = psi[:-1]
            coefficients[:, 1:5] = CubicSpline(psi, sigma, bc_type="periodic").c[::-1].T
        else:
            plane = sigma[:, None] * np.stack([np.cos(psi), np.sin(psi)], axis=1)
            plane[-1] = plane[0]
            chords = np.linalg.norm(np.diff(plane, axis=0), axis=1)
            cubics = CubicSpline(np.concatenate([[0.0], np.cumsum(chords)]), plane, bc_type="periodic").c[::-1]
            coefficients[:, :2], coefficients[:, 2] = spans, chords
            coefficients[:, 3:7], coefficients[:, 7:11] = cubics[:, :, 0].T, cubics[:, :, 1].T
            spans = np.stack([np.zeros(len(chords)), chords], axis=1)
        return spans, coefficients

    def _refuse_folds(self) -> None:
        """Between its knots a spline can leave the latitudes between 0 and pi, or turn back in longitude."""
        if self.interpolation == "elliptical":
            return
        psi = np.array(self.longitudes)
        remedy = 'give longitudes between, or interpolation="latitude_spline"'
        if self.interpolation == "spline" and (np.diff(psi) >= np.pi).any():
            widest = int(np.diff(psi).argmax())
            raise ModelError(
                f"cone: longitudes {_degrees(psi[widest])} and {_degrees(psi[widest + 1])} are 180 degrees or more apart, and a "
                f"spline in the top view would not lead around zeta; {remedy}"
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


def _roots(polynomial: Polynomial, length: float) -> list[float]:
    """Real roots between 0 and the length."""
    roots = np.asarray(polynomial.roots(), dtype=complex)
    real = roots.real[np.abs(roots.imag) < 1e-9 * max(length, 1e-3)]
    return [h for h in real.tolist() if 0.0 < h < length]


def _numbers(value: ArrayLike, what: str) -> Floats:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"cone: {what} = {value!r} are no list of angles") from None
    if array.ndim != 1:
        raise ModelError(f"cone: {what} have the shape {array.shape}; give a list of angles")
    if not np.isfinite(array).all():
        raise ModelError(f"cone: {what} hold a number that is not finite")
    return array


def _degrees(value: float | Sequence[float] | Floats) -> str:
    return ", ".join(f"{angle:.6g}" for angle in np.atleast_1d(np.rad2deg(value))) + " degrees"


def joined(cones: Sequence[Cone]) -> tuple[Ints, Pieces]:
    """Where the pieces of each cone begin (cones + 1,), and all pieces."""
    parts = [cone.pieces for cone in cones]
    start = np.cumsum([0, *(len(part.kind) for part in parts)]).astype(np.int64)
    empty = Pieces(
        np.zeros(0, np.int64), np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, COEFFICIENTS)), np.zeros((0, SAMPLES, 3)),
        np.zeros((0, 2)),
    )  # fmt: skip
    return start, Pieces(*(np.concatenate(tables) for tables in zip(empty, *parts, strict=True)))


@inlined
def maximum(psi, first, last, pieces, pair):  # type: ignore[no-untyped-def]
    """The maximum latitude of a cone (pieces first .. last - 1) at a longitude of 0 .. 2 pi.  ``pair`` is memory (2,)."""
    p = last - 1
    for q in range(first, last - 1):
        if psi < pieces.longitude[q, 1]:
            p = q
            break
    kind, c, lower, upper = pieces.kind[p], pieces.coefficients[p], pieces.span[p, 0], pieces.span[p, 1]
    dispatch.parameter(kind, psi, c, pair)
    s = pair[0] if pair[0] > lower - 1.0 else pair[0] + 2.0 * math.pi
    s = min(max(s, lower), upper)
    # The longitude rises with the parameter: Newton's method, kept in a bracket.
    for step in range(MOST_STEPS):
        dispatch.bearing(kind, s, psi, c, pair)
        if abs(pair[0]) <= 1e-16:
            break
        if pair[0] < 0.0:
            lower = s
        else:
            upper = s
        to = s - pair[0] / pair[1] if pair[1] > 0.0 else 0.5 * (lower + upper)
        if step >= NEWTON_STEPS or not lower <= to <= upper:
            to = 0.5 * (lower + upper)
        if abs(to - s) <= 1e-15 * max(1.0, abs(s)):
            break
        s = to
    dispatch.limit(kind, s, c, pair)
    return pair[0]


@compiled
def _nearest(u, pieces, curve, t):  # type: ignore[no-untyped-def]
    at = behind(pieces)
    nearest(u, 0, len(at.kind), at, curve, t)


@compiled
def _maxima(longitudes, pieces, pair, out):  # type: ignore[no-untyped-def]
    at = behind(pieces)
    for n in range(len(longitudes)):
        out[n] = maximum(longitudes[n], 0, len(at.kind), at, pair)


@compiled
def _curves(kind, span, coefficients, out):  # type: ignore[no-untyped-def]
    """The curve of every piece at evenly spaced parameters, (pieces, n, 9)."""
    for p in range(len(kind)):
        steps = out.shape[1] - 1
        for n in range(steps + 1):
            s = span[p, 0] + (span[p, 1] - span[p, 0]) * n / steps
            dispatch.curve(kind[p], s, coefficients[p], out[p, n])


@inlined
def closeness(u, point):  # type: ignore[no-untyped-def]
    """Minus half the square of the chord from u to a point: their cosine less 1, without its loss of digits near 1."""
    x, y, z = u[0] - point[0], u[1] - point[1], u[2] - point[2]
    return -0.5 * (x * x + y * y + z * z)


@inlined
def look(u, p, s, pieces, curve):  # type: ignore[no-untyped-def]
    """The closeness of t(s) with two derivatives into the last three places of ``curve`` (12,), the curve into the others.

    With |t| = 1:  closeness' = (u - t) . t',  closeness'' = (u - t) . t'' - t' . t'.
    """
    dispatch.curve(pieces.kind[p], s, pieces.coefficients[p], curve)
    curve[9] = closeness(u, curve)
    curve[10] = curve[11] = 0.0
    for c in range(3):
        chord = u[c] - curve[c]
        curve[10] += chord * curve[3 + c]
        curve[11] += chord * curve[6 + c] - curve[3 + c] * curve[3 + c]


@inlined
def climb(u, p, lower, upper, pieces, curve):  # type: ignore[no-untyped-def]
    """Look where t(s) is closest to u between two parameters, given that it comes closer at the first and leaves at the second.

    Newton's method, kept in the bracket; after a few steps bisection.
    """
    s = 0.5 * (lower + upper)
    for step in range(MOST_STEPS):
        look(u, p, s, pieces, curve)
        rise, bend = curve[10], curve[11]
        if rise > 0.0:
            lower = s
        else:
            upper = s
        to = s - rise / bend if bend < 0.0 else 0.5 * (lower + upper)
        if step >= NEWTON_STEPS or not lower < to < upper:
            to = 0.5 * (lower + upper)
        if rise == 0.0 or abs(to - s) <= 1e-15 * max(1.0, abs(s)):
            return s
        s = to
    return s


@inlined
def nearest(u, first, last, pieces, curve, t):  # type: ignore[no-untyped-def]
    """Put the direction of the cone (pieces first .. last - 1) nearest to the unit direction u into t; its piece and parameter.

    Every interval between two samples of the curve is left out if it is too far to hold the nearest point, searched if it
    holds one closest place at most, else halved.  ``curve`` is memory (12,).
    """
    best, best_p, best_s = -np.inf, first, 0.0
    for p in range(first, last):
        for n in range(SAMPLES):
            point = pieces.samples[p, n]
            close = closeness(u, point)
            if close > best:
                best, best_p = close, p
                best_s = pieces.span[p, 0] + (pieces.span[p, 1] - pieces.span[p, 0]) * n / (SAMPLES - 1)
                t[0], t[1], t[2] = point[0], point[1], point[2]
    looks = 0
    for p in range(first, last):
        second, third = pieces.bounds[p, 0], pieces.bounds[p, 1]
        whole = (pieces.span[p, 1] - pieces.span[p, 0]) / (SAMPLES - 1)
        for n in range(SAMPLES - 1):
            ends = max(closeness(u, pieces.samples[p, n]), closeness(u, pieces.samples[p, n + 1]))
            if ends + whole * whole / 8.0 * second <= best:
                continue
            halvings, number = 0, 0  # the part ``number`` of the 2^halvings equal ones
            for _ in range(MOST_LOOKS - looks):
                width = whole / 2.0**halvings
                left = pieces.span[p, 0] + n * whole + number * width
                look(u, p, left + 0.5 * width, pieces, curve)
                looks += 1
                close, slope, bend = curve[9], curve[10], curve[11]
                if close > best:
                    best, best_p, best_s = close, p, left + 0.5 * width
                    t[0], t[1], t[2] = curve[0], curve[1], curve[2]
                spread = 0.5 * width * third  # of the second derivative from the middle
                most = min(second, abs(bend) + spread)
                near = close + 0.5 * width * (abs(slope) + 0.25 * width * most) > best + ROUNDING
                turns = abs(slope) <= 0.5 * width * most  # it may be closest or farthest here
                if near and turns and bend < -spread:
                    # One closest place, if it comes closer at the left and leaves at the right.
                    look(u, p, left, pieces, curve)
                    rise = curve[10]
                    look(u, p, left + width, pieces, curve)
                    looks += 2
                    if rise > 0.0 > curve[10]:
                        at = climb(u, p, left, left + width, pieces, curve)
                        if curve[9] >= best:
                            best, best_p, best_s = curve[9], p, at
                            t[0], t[1], t[2] = curve[0], curve[1], curve[2]
                elif near and turns and not bend > spread and halvings < MOST_HALVINGS:
                    halvings, number = halvings + 1, 2 * number
                    continue
                number += 1
                for _up in range(halvings):
                    if number % 2 == 1:
                        break
                    halvings, number = halvings - 1, number // 2
                if halvings == 0:
                    break
    return best_p, best_s
