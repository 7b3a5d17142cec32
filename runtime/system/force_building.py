"""Checked forces, and their flat data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.force_elements import LOOKED_UP, REPORTS, ForceData, values_of_piece
from runtime.dynamics.vectors import Vector, vectors_of
from runtime.jit.python_code import python_code, with_arrays
from runtime.support.arguments import unchecked
from runtime.support.arrays import Floats
from runtime.support.checks import bounded
from runtime.support.errors import ModelError
from runtime.support.numbers import floats
from runtime.system.connection import checked_values, definition, refuse_unknown_body
from runtime.system.force_addresses import force_addresses, place_of_angles, reactive_data
from runtime.system.global_axes import local_values
from runtime.system.parts import GROUND, Force, Joint
from runtime.system.reference import named_vectors, reference
from runtime.system.signal import as_signal

SUFFIXES = "ijkl"


def build_force(
    name: str,
    kind: str | ModuleType,
    bodies: Sequence[str],
    values: Mapping[str, Any],
    known: Collection[str],
    sort: str = "force",
    *,
    states: Mapping[str, Floats] | None = None,
    joint: Joint | str | None = None,
    settled: tuple[str, ...] = (),
) -> Force:
    """Return a checked force; see ``Builder.force``.

    ``known``: the names of the bodies; ``sort``: "force" or "event".
    ``states``: of the ground and the bodies by name, (13,) each, where the vectors are given in global axes; else None.
    ``joint``: on whose reaction the force depends; vectors that are not given are those of the joint.
    ``settled``: states of a muscle that begin in equilibrium.

    Raises
    ------
    ModelError
        Naming the force, its kind and the rule.
    """
    module = definition(sort, name, kind)
    what = f"{sort} '{name}' ({module.NAME})"
    _check_bodies(what, module, bodies, known)
    _check_joint(what, module, bodies, joint)
    if states is not None:
        ends = {suffix: states[body] for suffix, body in zip(SUFFIXES, bodies, strict=False)}
        values = local_values(what, module, values, ends)
    own = joint.values if isinstance(joint, Joint) else {}
    borrowed = {v: own[v] for v, *_ in module.VECTORS if v in module.KEYWORDS and v in own and v not in values}
    checked = checked_values(what, module, {**borrowed, **values})
    checked |= {table: checked_table(values[table], f"{what}: {table}") for table in module.TABLE_UNITS}
    signals = {signal: as_signal(values[signal], f"{what}: {signal}") for signal in module.SIGNALS}
    return unchecked(
        Force, name, module.NAME, tuple(bodies), MappingProxyType(checked), module, MappingProxyType(signals),
        joint.name if isinstance(joint, Joint) else "", tuple(borrowed), settled,
    )  # fmt: skip


def _check_joint(what: str, module: ModuleType, bodies: Sequence[str], joint: Joint | str | None) -> None:
    if not module.LOADS:
        if joint is not None:
            raise ModelError(f"{what}: unused joint; this force does not depend on a reaction")
        return
    if not isinstance(joint, Joint):
        known = "" if joint is None else f"unknown joint '{joint}'; "
        raise ModelError(
            f"{what}: {known}depends on the reaction of a joint; add the joint first and pass joint=its name"
        )
    if tuple(bodies) != (joint.body_i, joint.body_j):
        raise ModelError(
            f"{what}: acts between '{bodies[0]}' and '{bodies[1]}', but joint '{joint.name}' joins '{joint.body_i}' and "
            f"'{joint.body_j}'; give the bodies in this order"
        )


def _check_bodies(what: str, module: ModuleType, bodies: Sequence[str], known: Collection[str]) -> None:
    for body in bodies:
        refuse_unknown_body(body, known, what)
    needed = set(module.BODIES) | {body for _, _, body in module.VECTORS}
    count = 4 if "l" in needed else 3 if "k" in needed else 2
    if len(bodies) != count:
        named = ", ".join(f"body_{suffix}" for suffix in SUFFIXES[:count])
        raise ModelError(f"{what}: has {len(bodies)} bodies, needs {named}")
    if count == 2 and needed == {"i", "j"} and bodies[0] == bodies[1]:
        raise ModelError(f"{what}: acts between body '{bodies[0]}' and itself; give two different bodies")
    if needed == {"i"} and (bodies[0] == GROUND or bodies[1] != GROUND):
        raise ModelError(f"{what}: acts on body i alone; give the moving body first, and no other")
    if all(body == GROUND for body in bodies):
        raise ModelError(f"{what}: acts on the ground alone; give a body that moves")


def checked_table(value: ArrayLike, what: str) -> Floats:
    """Return the points (n, 2) of a table, arguments increasing, or (n, 3) with the slopes there.

    Raises
    ------
    ModelError
    """
    wanted = "two or more points (n, 2), argument and value each, or (n, 3) with slopes"
    points = floats(value, what, wanted)
    if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) < 2:
        raise ModelError(f"{what} has the shape {points.shape}; give {wanted}")
    bounded(points, what)
    if not (steps := np.diff(points[:, 0]) > 0.0).all():
        bad = int(np.argmin(steps)) + 1
        raise ModelError(f"{what}[{bad}, 0] = {points[bad, 0]:g} is not above the one before; sort the points")
    points.flags.writeable = False
    return points


def table_pieces(points: Floats) -> tuple[Floats, Floats]:
    """Knots (pieces,) and coefficients (pieces, 5) of the integral of the curve through points.

    The curve is the natural cubic spline, twice continuously differentiable, or cubic between points with the slopes that are
    given.  It is continued by its tangents.  Neighbouring lines are one piece, so that a derivative jumps at each knot but the
    first one.
    """
    from scipy.interpolate import CubicHermiteSpline, CubicSpline  # only systems with tables need it

    x, y, *slopes = points.T
    spline = CubicHermiteSpline(x, y, *slopes) if slopes else CubicSpline(x, y, bc_type="natural")
    cubic = np.vstack([np.zeros((1, 4)), spline.c[::-1].T, np.zeros((1, 4))])  # lowest power first
    cubic[0, :2] = y[0], spline(x[0], 1)
    cubic[-1, :2] = y[-1], spline(x[-1], 1)
    knots = np.concatenate([x[:1], x])
    coefficients = np.zeros((len(knots), 5))
    coefficients[:, 1:] = cubic / np.arange(1, 5)
    widths = np.diff(x)
    pieces = (coefficients[1:-1, 1:] * widths[:, None] ** np.arange(1, 5)).sum(axis=1)
    coefficients[2:, 0] = np.cumsum(pieces)
    bends = np.count_nonzero(coefficients[:, 3:], axis=1)  # 0 of lines
    kept = np.append(True, bends[:-1] + bends[1:] > 0)
    return knots[kept], coefficients[kept]


def look_up_tables(force: Force, ends: Sequence[Floats], x: Floats) -> None:
    """Put what the tables of a force give in states of its bodies, (13,) or (13, n), into its x, (X,) or (X, n)."""
    look_up(force.module, force.module.TABLES_PLACE, [force.values[table] for table in force.module.TABLES], ends, x)


def look_up(module: ModuleType, place: int, tables: Sequence[Any], ends: Sequence[Floats], x: Floats) -> None:
    """As ``look_up_tables``, of a module with these tables, into x from a place on."""
    at = np.zeros((len(tables), *x.shape[1:]))
    if tables:
        with_arrays(module.lookups)(*ends, x, at)
    for n, table in enumerate(tables):
        knots, coefficients = table_pieces(table)
        piece = np.maximum(np.searchsorted(knots, at[n], side="right") - 1, 0)
        found = python_code(values_of_piece)(np.moveaxis(coefficients[piece], -1, 0), at[n] - knots[piece])
        x[place + LOOKED_UP * n :][:LOOKED_UP] = found


def force_data(
    forces: Sequence[Force], joints: Sequence[Joint], places: Mapping[str, int], states: Floats, first_signal: int
) -> ForceData:
    """Flat data of forces, whose signals are numbered from ``first_signal``; ``places`` of the bodies in ``states``."""
    body = np.array([[places[end] for end in force.ends] for force in forces], np.int64).reshape(-1, 4)
    x = np.zeros((len(forces), max([force.module.SIZE for force in forces], default=1) or 1))
    vectors: list[Vector] = []
    calls, call_place, pieces, kinks = [0], [], [], [0]
    for k, force in enumerate(forces):
        own = [states[b] for b in body[k, : 2 if len(force.bodies) == 2 else 4]]
        local = reference(force, own[0], own[1], x[k], *own[2:])
        vectors += vectors_of(k, force.module.VECTORS, dict(zip(SUFFIXES, map(int, body[k]), strict=True)), local)
        tables = force.module.TABLES
        call_place += [force.module.TABLES_PLACE + LOOKED_UP * n for n in range(len(tables))]
        pieces += [table_pieces(force.values[table]) for table in tables]
        calls.append(calls[-1] + len(tables))
        kinks.append(kinks[-1] + force.module.KINKS + sum(len(knots) - 1 for knots, _ in pieces[calls[-2] :]))
    of_signals = [
        (k, force.module.LOADS_PLACE - 3 * (len(force.signals) - n))
        for k, force in enumerate(forces)
        for n in range(len(force.signals))
    ]
    of_states = [
        (k, force.module.STATES_PLACE + n, REPORTS + len(force.module.OUTPUTS) + n)
        for k, force in enumerate(forces)
        for n in range(len(force.module.STATES))
    ]
    state_force, state_place, state_rate = np.array(of_states, np.int64).reshape(-1, 3).T.copy()
    return ForceData(
        **force_addresses(forces), angle_place=np.array([place_of_angles(f.module) for f in forces], np.int64), body=body,
        kink=np.array(kinks, np.int64),
        bodies=np.array([2 if len(force.bodies) == 2 else 4 for force in forces], np.int64),
        **named_vectors("force", vectors),
        signal=first_signal + np.arange(len(of_signals)),
        signal_force=np.array([k for k, _ in of_signals], np.int64),
        signal_place=np.array([place for _, place in of_signals], np.int64),
        state_force=state_force, state_place=state_place, state_rate=state_rate,
        call=np.array(calls, np.int64), call_place=np.array(call_place, np.int64),
        start=np.cumsum([0, *(len(knots) for knots, _ in pieces)]).astype(np.int64),
        knot=np.concatenate([*(knots for knots, _ in pieces), np.zeros(0)]),
        coefficient=np.concatenate([*(c for _, c in pieces), np.zeros((0, 5))]),
        reactive=reactive_data(forces, joints), x=x,
        outputs=REPORTS + max([len(force.module.OUTPUTS) + len(force.module.STATES) for force in forces], default=0),
    )  # fmt: skip
