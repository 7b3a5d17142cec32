"""An orthosis between leg and foot, of parts that a builder has: springs, bodies with their masses, a hinge, straps, shapes.

Without a hinge it is a set of springs about three axes, and a mass on the foot.  With one it is a mechanism of its own: a plate
and a cuff, which a hinge joins and straps fasten to the segments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import OMEGA, P, R, V
from runtime.support.arrays import Floats, crossed
from runtime.support.checks import bounded, finite, not_negative, positive, unit
from runtime.support.errors import ModelError, shown, unknown_name, warn
from runtime.support.numbers import floats
from runtime.support.units import Usual, ask, ask_by
from runtime.system.connection import definition, refuse_other_keys
from runtime.system.force_building import checked_table
from runtime.system.reference import rotation_matrix
from runtime.system.shapes import Shape, build_shape

MOTIONS = ("dorsiflexion", "inversion", "rotation")
PARTS = ("plate", "cuff")
# As fractions of the plate's length: its edges; rods of the cuff, and its radius; half of a hinge's axis.
EDGES, ROD, CUFF, AXIS = np.array([1.0, 0.35, 0.02]), 0.025, 0.27, 0.27
RODS, KEPT = 12, 64  # of the cuff; orthoses that were drawn last
COLOUR = "#56606b"
PARALLEL = 1e-6  # [1] sine of an angle between directions below which they are parallel
SIX = ("x", "y", "z", "tx", "ty", "tz")  # ends of the names of stiffness and damping of "frame_bushing"
CURVE = "tabulated_hinge_spring"
DIRECTIONS = ("a_i", "b_i", "c_j", "axes")  # keywords of a spring that the orthosis gives
MASSES = Usual(0.01, 3.0, "kg", "the mass of an orthosis")
STIFFNESSES = Usual(1.0, 1000.0, "N m/rad", "the stiffness of an orthosis about an axis")
FASTENED = Usual(100.0, 1e8, "N/m", "the stiffness of straps along a direction")
MOMENTS = Usual(0.0, 500.0, "N m", "the moment of an orthosis")
ANGLES = Usual(0.0, 1.6, "rad", "an angle of the ankle")
LENGTHS = Usual(0.0, 1.0, "m", "a length of an orthosis")
HINGE = "hinge: distance from the centre of mass of the leg"
AT_ZERO = 0.05  # of the largest moment of a curve: that at its angle 0 which counts as 0
Place = tuple[float, ...]
Turn = tuple[str, str, Floats, Floats, Floats]  # bodies i and j, and the directions a_i, b_i, c_j of "hinge_spring"


class _Frame(NamedTuple):
    """Anterior, medial (of a right foot) and upward direction as columns (3, 3), in global axes, and states of leg and foot.

    ``low``, ``high``: centres of plate and cuff in global coordinates.
    """

    axes: Floats
    leg: Floats
    foot: Floats
    low: Floats
    high: Floats

    def centre(self, part: str) -> Floats:
        """The centre of the plate or of the cuff."""
        return self.low if part == "plate" else self.high

    def part(self, part: str) -> dict[str, Any]:
        """Pose, in the anatomical axes, and velocities of a body about this centre that moves with its segment."""
        state, place = self.foot if part == "plate" else self.leg, self.centre(part)
        omega = state[OMEGA:]
        return dict(r=place, p=self.axes, v=state[V:OMEGA] + np.cross(omega, place - state[R:P]), omega=omega)

    def local(self, state: Floats) -> Floats:
        """The directions in axes of a body."""
        return rotation_matrix(state[P:V]).T @ self.axes

    def positive(self, side: str) -> Floats:
        """Axes about which the foot's dorsiflexion, inversion and internal rotation are positive, by rows (3, 3)."""
        anterior, medial, up = self.axes.T
        sign = 1.0 if side == "right" else -1.0
        return np.array([-medial, sign * anterior, sign * up])


class _Hinge(NamedTuple):
    """A point (3,) and an axis (3,) of the cuff, and of the plate where it has two; in global axes, by rows."""

    points: Floats
    axes: Floats

    def add(self, builder: Any, name: str, cuff: str, plate: str) -> None:
        """Add the joint, whose coordinates are dorsiflexion and inversion."""
        ends: dict[str, Any] = dict(s_i=self.points[0], s_j=self.points[-1], a_i=self.axes[0], a_j=self.axes[-1])
        kind = "revolute" if len(self.axes) == 1 else "universal"
        if apart := float(np.linalg.norm(self.points[-1] - self.points[0])):
            kind, ends["l"] = "modified_universal", apart
        builder.joint(name, kind, cuff, plate, axes="global", **ends)

    def shapes(self, name: str, frame: _Frame, bodies: tuple[str, str], length: float) -> tuple[Shape, ...]:
        """A rod along each axis; ``bodies``: of cuff and plate."""
        half, made = AXIS * length * self.axes, []
        for body, centre, point, to_end in zip(bodies, (frame.high, frame.low), self.points, half, strict=False):
            start, end = (frame.axes.T @ (point - centre + s * to_end) for s in (-1.0, 1.0))
            values = dict(start=start, end=end, radius=0.5 * ROD * length)
            made.append(build_shape(body, "capsule", (body,), values, COLOUR, name, None))
        return tuple(made)

    def turns(self, cuff: str, plate: str) -> dict[str, Turn]:
        """The angles about its axes, by motion."""
        first, last = self.axes[0], self.axes[-1]
        if len(self.axes) == 1:
            across = _across(first, np.eye(3)[np.argmin(np.abs(first))])
            return {"dorsiflexion": (cuff, plate, first, across, across)}
        # Either body sees the turn about its own axis by the direction of the other axis.
        return {
            "dorsiflexion": (cuff, plate, first, _across(first, last), last),
            "inversion": (plate, cuff, -last, _across(last, first), first),
        }


def add_orthosis(
    builder: Any, name: str, leg: str, foot: str, states: Mapping[str, Floats], *, stiffness: Sequence[Any],
    damping: ArrayLike, neutral: ArrayLike, mass: ArrayLike, plate: ArrayLike, cuff: ArrayLike, length: float,
    hinge: Mapping[str, Any] | None, straps: Mapping[str, Any], anterior: ArrayLike, up: ArrayLike,
    side: Literal["right", "left"], in_global_axes: bool, check_units: bool,
) -> None:  # fmt: skip
    """Add an orthosis by calls of a builder; see ``Builder.orthosis``.  After an error it may be there in part.

    ``states``: of the ground and the bodies (13,) by name.

    Raises
    ------
    ModelError
    """
    what = f"orthosis '{name}'"
    if leg == foot:
        raise ModelError(f"{what}: acts between body '{leg}' and itself; give the leg and the foot")
    for body in (leg, foot):
        if body not in states:
            raise unknown_name(body, states, "body", "bodies", f"{what}: ")
    turn = np.eye(3) if in_global_axes else rotation_matrix(states[leg][P:V])
    axes = _axes(what, turn @ finite(anterior, (3,), f"{what}: anterior"), turn @ finite(up, (3,), f"{what}: up"))
    plate, cuff = finite(plate, (3,), f"{what}: plate"), finite(cuff, (3,), f"{what}: cuff")
    edges = positive(length, f"{what}: length") * EDGES
    frame = _Frame(axes, states[leg], states[foot], _moved(states[foot], plate), _moved(states[leg], cuff))
    laws = _laws(what, name, stiffness, damping, neutral)
    if hinge is None:
        if straps:
            raise ModelError(f"{what}: straps fasten the parts that a hinge joins; give hinge too, or leave them out")
        heavy = not_negative(finite(mass, (), f"{what}: mass"), f"{what}: mass")
        if heavy > 0.0:
            builder.body(name, mass=heavy, inertia=_of_plate(heavy, edges), **frame.part("plate"))
            builder.joint(f"{name}_plate", "fixed", foot, name)
        turns, joined = _turns_of_segments(frame, leg, foot, side), None
        on_cuff = leg, cuff, frame.local(frame.leg)
        on_plate = (name, np.zeros(3), np.eye(3)) if heavy > 0.0 else (foot, plate, frame.local(frame.foot))
    else:
        joined = _hinge(what, hinge, frame, side, in_global_axes)
        _check_straps(what, straps)
        masses = finite(mass, (2,), f"{what}: mass of plate and cuff [kg]")
        moments = _of_plate(masses[0], edges), _of_ring(masses[1], CUFF * length)
        ends = {"plate": (foot, name), "cuff": (leg, f"{name}_cuff")}
        for (part, (_, body)), own, inertia in zip(ends.items(), masses, moments, strict=True):
            own = positive(own, f"{what}: mass of the {part}")
            floating = part == "plate" and part in straps
            builder.body(body, mass=own, inertia=inertia, free=floating, **frame.part(part))
        if "plate" not in straps:
            builder.joint(f"{name}_plate", "fixed", foot, name)
        joined.add(builder, f"{name}_hinge", ends["cuff"][1], name)
        for part, given in straps.items():
            about = f"{what}: straps of the {part}"
            _add_straps(builder, about, given, (f"{name}_{part}_strap", *ends[part]), frame.centre(part), axes)
        turns = joined.turns(ends["cuff"][1], name)
        on_plate, on_cuff = ((body, np.zeros(3), np.eye(3)) for _, body in ends.values())
    _add_springs(builder, what, name, turns, laws)
    bottom = frame.low if joined is None else joined.points[0]
    drop = round(float((frame.high - bottom) @ axes[:, 2]), 12)
    places = (tuple(np.round(each, 12).flat) for on in (on_cuff, on_plate) for each in on[1:])
    builder.add_shapes(_shapes(name, on_cuff[0], on_plate[0], float(edges[0]), drop, *places))
    if joined is not None:
        builder.add_shapes(joined.shapes(name, frame, (on_cuff[0], on_plate[0]), length))
    if check_units:
        reach = frame.leg[R:P] if joined is None else joined.points
        given = {"plate": plate, "cuff": cuff, "length": length, HINGE: reach - frame.leg[R:P]}
        lengths = [(subject, value, LENGTHS) for subject, value in given.items()]
        for subject, value, of in (("mass", mass, MASSES), ("neutral", neutral, ANGLES), *lengths, *_of_straps(straps)):
            ask(f"{what}: {subject}", value, of)
        for motion, (kind, values) in laws.items():
            _ask_about_law(f"{what}: stiffness of {motion}", kind, values)


def _of_straps(straps: Mapping[str, Any]) -> Iterator[tuple[str, Any, Usual]]:
    """Stiffnesses along directions, and places and lengths of bands, each with its subject and the values that it can have."""
    for part, given in straps.items():
        about = f"straps of the {part}"
        yield f"{about}: stiffness", given.get("stiffness", np.zeros(6))[:3], FASTENED
        for n, band in enumerate(given.get("bands", ()), 1):
            for key in ("s_i", "s_j", "slack_length", "stiffness"):
                yield f"{about}: band {n}: {key}", band[key], FASTENED if key == "stiffness" else LENGTHS


def _ask_about_law(about: str, kind: str | ModuleType, values: Mapping[str, Any]) -> None:
    """Warn of a stiffness or an angle that no orthosis has, and of a curve that falls or is not 0 at 0."""
    if isinstance(kind, ModuleType):
        return
    if kind != CURVE:
        ask(about, [values[way] for way in ("stiffness", "reverse_stiffness") if way in values], STIFFNESSES)
        return
    from scipy.interpolate import CubicSpline  # only curves need it

    angles, moments = values["moment_table"].T
    ask(f"{about}: angle", angles, ANGLES)
    ask(f"{about}: moment", moments, MOMENTS)
    if moments[-1] < moments[0]:
        ask_by(
            f"{about}: its moment falls from {moments[0]:g} to {moments[-1]:g} N m, so that it drives the foot away from the "
            "neutral angle; is it the moment of the orthosis on the foot? give the resisting one, which has the sign of the angle"
        )
    curve, nearest = CubicSpline(angles, moments, bc_type="natural"), np.clip(0.0, angles[0], angles[-1])
    at_zero = float(curve(nearest) - curve(nearest, 1) * nearest)
    if abs(at_zero) > AT_ZERO * np.abs(moments).max():
        ask_by(
            f"{about}: its moment at the angle 0 is {at_zero:.3g} N m, but an orthosis has none at its neutral angle; is the "
            "angle of the ankle meant? give angles from the neutral one, and this as neutral"
        )


def _moved(state: Floats, place: Floats) -> Floats:
    """A point of a body in global coordinates."""
    moved: Floats = state[R:P] + rotation_matrix(state[P:V]) @ place
    return moved


def _across(axis: Floats, direction: Floats) -> Floats:
    """The part of a direction across a unit axis, of unit length."""
    across = direction - (direction @ axis) * axis
    return np.asarray(across / np.linalg.norm(across))


def _axes(what: str, anterior: Floats, up: Floats) -> Floats:
    """``_Frame.axes`` from two of the directions, of any length."""
    medial = crossed(up, anterior)
    lengths = [float(np.linalg.norm(vector)) for vector in (up, anterior, medial)]
    if not lengths[2] > PARALLEL * lengths[0] * lengths[1]:
        raise ModelError(f"{what}: anterior and up must be directions of any length that are not parallel")
    up, medial = up / lengths[0], medial / lengths[2]
    return np.column_stack([crossed(medial, up), medial, up])


def _turns_of_segments(frame: _Frame, leg: str, foot: str, side: str) -> dict[str, Turn]:
    """The foot's angles about axes of the leg, by motion: each of a direction across the axis that both bodies share."""
    anterior, medial, _ = frame.axes.T
    across = (anterior, medial, anterior)
    return {
        motion: (leg, foot, axis, b, b) for motion, axis, b in zip(MOTIONS, frame.positive(side), across, strict=True)
    }


def _laws(
    what: str, name: str, stiffness: Sequence[Any], damping: ArrayLike, neutral: ArrayLike
) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The kind of force of each motion, with its values except the directions."""
    if len(stiffness) != len(MOTIONS):
        raise ModelError(f"{what}: stiffness has {len(stiffness)} entries; give 3, about {', '.join(MOTIONS)}")
    dampers = finite(damping, (3,), f"{what}: damping")
    free = finite(neutral, (3,), f"{what}: neutral")
    laws = {}
    for motion, given, damper, angle in zip(MOTIONS, stiffness, dampers.tolist(), free.tolist(), strict=True):
        rest = {"damping": not_negative(damper, f"{what}: damping of {motion}"), "free_angle": angle}
        laws[motion] = _law(f"{what}: stiffness of {motion}", f"{name}_{motion}", given, rest)
    return laws


def _law(about: str, name: str, given: Any, rest: dict[str, Any]) -> tuple[str | ModuleType, dict[str, Any]]:
    """Kind and values of one motion: of a number, a pair, a table, or a law of the user's own."""
    if isinstance(given, Mapping):
        own = _keywords(
            about, given, "a number, a pair, points (n, 2), or a mapping with law and its parameters by name"
        )
        if "law" not in own:
            raise ModelError(
                f"{about}: missing law; give {{'law': codegen.compile_force(definition)}} with its parameters"
            )
        law = definition("force", name, own.pop("law"))
        if twice := [key for key in own if key in DIRECTIONS or rest.get(key)]:
            raise ModelError(f"{about}: {twice[0]} is given by the orthosis; leave it out of the values of the law")
        return law, {key: value for key, value in rest.items() if value or key in law.KEYWORDS} | own
    values = floats(given, about, "one number, a pair, or points (n, 2) of angle and moment")
    if values.ndim == 0:
        return "hinge_spring", rest | {"stiffness": not_negative(float(values), about)}
    if values.shape == (2,):
        ways = [not_negative(float(one), about) for one in bounded(values, about)]
        return "two_way_spring", rest | dict(zip(("stiffness", "reverse_stiffness"), ways, strict=True))
    return CURVE, rest | {"moment_table": checked_table(values, about)}


def _add_springs(
    builder: Any, what: str, name: str, turns: Mapping[str, Turn], laws: Mapping[str, tuple[Any, dict[str, Any]]]
) -> None:
    for motion, (kind, values) in laws.items():
        if motion in turns:
            i, j, a, b, c = turns[motion]
            along = dict(a_i=a, b_i=b, c_j=c, axes="global")
            builder.force(f"{name}_{motion}", kind, i, j, **{**along, **values})
        elif kind != "hinge_spring" or any(values.values()):
            raise ModelError(
                f"{what}: its hinge has no {motion}; give 0 for stiffness, damping and neutral of {motion}"
            )


def _hinge(what: str, given: Mapping[str, Any], frame: _Frame, side: str, in_global_axes: bool) -> _Hinge:
    """The hinge from its point and axis, or two, in axes of the leg or in global ones."""
    refuse_other_keys(f"{what}: hinge", given, ("point", "axis"), "needs point and axis, (3,) or (2, 3) each")
    rows = {}
    for key in ("point", "axis"):
        values = floats(given[key], f"{what}: hinge: {key}", "3 numbers, or (2, 3)")
        if values.shape not in ((3,), (2, 3)):
            raise ModelError(f"{what}: hinge: {key} has the shape {values.shape}; give 3 numbers, or (2, 3)")
        rows[key] = np.atleast_2d(bounded(values, f"{what}: hinge: {key}"))
    points, axes = rows["point"], rows["axis"]
    if len(points) > len(axes):
        raise ModelError(f"{what}: hinge: two points, but one axis; give one point, or two axes")
    points = np.broadcast_to(points, axes.shape)
    if not in_global_axes:
        points = np.array([_moved(frame.leg, point) for point in points])
        axes = axes @ rotation_matrix(frame.leg[P:V]).T
    axes = np.array([unit(axis, f"{what}: hinge: axis", np.inf, normalise=True) for axis in axes])
    if len(axes) == 2 and np.linalg.norm(np.cross(*axes)) < PARALLEL:
        raise ModelError(f"{what}: hinge: its two axes are parallel; give one axis, or axes that differ")
    wanted = frame.positive(side)[: len(axes)]
    return _Hinge(points, np.where((axes * wanted).sum(axis=1) < 0.0, -1.0, 1.0)[:, None] * axes)


def _check_straps(what: str, straps: Mapping[str, Any]) -> None:
    if unknown := [part for part in straps if part not in PARTS]:
        raise unknown_name(unknown[0], PARTS, "part", whose=f"{what}: straps: ")
    if "cuff" not in straps:
        raise ModelError(
            f"{what}: its cuff is not fastened; fixed rigidly, the hinge and the ankle would be two hinges in parallel, "
            "which lock unless they coincide; give straps={'cuff': {'stiffness': six numbers}}, 3 [N/m] and 3 [N m/rad]"
        )


def _add_straps(builder: Any, what: str, given: Any, names: tuple[str, str, str], at: Floats, axes: Floats) -> None:
    """Add what fastens a part to a segment: springs along and about the anatomical axes, and bands that only pull.

    ``names``: of the force, the segment and the part.
    """
    force, segment, body = names
    own = _keywords(what, given, "a mapping with stiffness (6,), damping (6,), bands")
    listed, words = own.pop("bands", []), "a list of mappings, keywords of the force 'cable' each"
    if not isinstance(listed, list | tuple):
        raise ModelError(f"{what}: bands = {shown(listed)}; give {words}")
    bands = [_keywords(f"{what}: band {n}", band, words) for n, band in enumerate(listed, 1)]
    if own or not bands:
        own = {"damping": np.zeros(6), **own}
        refuse_other_keys(what, own, ("stiffness", "damping"), "needs stiffness (6,), and takes damping (6,), bands")
        values = {
            f"{letter}{end}": not_negative(value, f"{what}: {key}: number {place}")
            for letter, key in (("k", "stiffness"), ("c", "damping"))
            for place, (end, value) in enumerate(
                zip(SIX, finite(own[key], (6,), f"{what}: {key}").tolist(), strict=True)
            )
        }
        if not (bands or any(values[f"k{end}"] for end in SIX)):
            warn(f"{what}: stiffness is 0 in all six directions, which fastens nothing; give one above 0, or bands")
        anterior, medial, _ = axes.T
        builder.force(
            force, "frame_bushing", segment, body, axes="global", point=at, axis=anterior, b_i=medial, b_j=medial, **values
        )  # fmt: skip
    for n, band in enumerate(bands, 1):
        builder.force(f"{force}_{n}", "cable", segment, body, **{"axes": "body", "loss": 0.0, **band})


def _keywords(what: str, given: Any, words: str) -> dict[str, Any]:
    """A mapping from names as a dictionary; ``words``: what to give."""
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise ModelError(f"{what} = {shown(given)}; give {words}")
    return dict(given)


def _of_plate(mass: float, edges: Floats) -> Floats:
    """Principal moments of inertia of a homogeneous plate."""
    squares = edges**2
    return np.asarray(mass / 12.0 * (squares.sum() - squares))


def _of_ring(mass: float, radius: float) -> Floats:
    """Principal moments of inertia of a thin ring about its axis, the third one."""
    return mass * radius**2 * np.array([0.5, 0.5, 1.0])


@lru_cache(KEPT)
def _shapes(
    name: str, ring_on: str, on: str, length: float, drop: float, cuff: Place, axes: Place, plate: Place, turn: Place
) -> tuple[Shape, ...]:
    """A plate on the body ``on``; on another a ring, and a strut behind it that ends by ``drop`` below the ring.

    ``axes``, ``turn``: rotation matrices by their rows, of the directions in the body of the ring and in that of the plate.
    """
    edges, (anterior, medial, up), centre = length * EDGES, np.reshape(axes, (3, 3)).T, np.array(cuff)
    angles = np.linspace(0.0, 2.0 * np.pi, RODS + 1)
    ring = centre + CUFF * length * (np.outer(np.cos(angles), anterior) + np.outer(np.sin(angles), medial))
    back = centre - CUFF * length * anterior
    rods = [*zip(ring[:-1], ring[1:], strict=True), (back, back - drop * up)]
    kinds: list[tuple[str, str, dict[str, Any]]] = [
        (on, "box", dict(edges=edges, at=plate, p=np.reshape(turn, (3, 3)))),
        *((ring_on, "capsule", dict(start=start, end=end, radius=ROD * length)) for start, end in rods),
    ]
    return tuple([build_shape(body, kind, (ring_on, on), values, COLOUR, name, None) for body, kind, values in kinds])
