"""The tables and the answer about a run that ``talus simulate`` shows."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from runtime.report.tables import Table
from runtime.results.recorded_quantities import angles_of
from runtime.results.run import Run
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError


def run_answer(run: Run) -> str:
    """How the run went, in two sentences."""
    s = run.stats
    balance = run.energy_balance.largest_error
    return (
        f"{run.system.name}: {run.message}, with {s.evaluations} evaluations in {1000 * s.wall_time:.3g} ms.  Its energy balance "
        f"holds within {abs(balance):.1e} J, its constraints within {float(run.violation.max(initial=0.0)):.1e}."
    )


def run_tables(run: Run) -> list[Table]:
    """Tables of the motion, of coordinates of joints, of limits, contacts and reactions, and of the integration."""
    tables = [_motion(run)]
    if run.angles:
        tables.append(_coordinates(run))
    if run.system.limits:
        tables.append(_limits(run))
    if run.system.contacts:
        tables.append(_contacts(run))
    with suppress(ModelError):  # undetermined at a time, or of a motion that meets its drivers by least squares
        tables += [_reactions(run)] if len(run.t) and len(run.system.joints) > len(run.system.drivers) else []
    return [*tables, Table("integration", ["fact", "value"], facts_of(run))]


def facts_of(run: Run) -> list[list[Any]]:
    """Facts of the integration."""
    s = run.stats
    return [
        ["result", run.message],
        ["method", " and ".join(dict.fromkeys(part.method for part in s.parts)) or s.method],
        ["kernel", s.kernel],
        ["evaluations", s.evaluations],
        ["steps", s.steps],
        ["rejected", s.rejections],
        ["time [ms]", 1000 * s.wall_time],
        ["compilation [ms]", 1000 * s.compile_time],
        ["error of the energy balance [J]", run.energy_balance.largest_error],
        ["max |Phi|", float(run.violation.max(initial=0.0))],
    ]


def _motion(run: Run) -> Table:
    rows: list[list[Any]] = []
    for body in run.system.body_names:
        r = run.r[body]
        speed, rate = (np.linalg.norm(of[body], axis=1) for of in (run.v, run.omega))
        ranges = [float(np.ptp(r[:, k])) if len(r) else 0.0 for k in range(3)]
        rows.append([body, *ranges, float(speed.max(initial=0.0)), float(rate.max(initial=0.0))])
    columns = ["body", "range x [m]", "range y [m]", "range z [m]", "largest speed [m/s]", "largest rate [rad/s]"]
    note = "Of the centres of mass, at the output times.  Rate: of the rotation."
    return Table("motion", columns, rows, note, brief=["body", *columns[1:4]])


def shown_coordinates(run: Run) -> list[tuple[str, str, Floats, Floats]]:
    """Name, unit, values and rates of the coordinates of joints, of turns in degrees."""
    return [
        (name, "deg", np.rad2deg(values), np.rad2deg(rates)) if unit == "rad" else (name, unit, values, rates)
        for name, unit, values, rates in angles_of(run)
    ]


def _coordinates(run: Run) -> Table:
    rows = [
        [name, unit, *(float(v) for v in (values[0], values.min(), values.max(), np.abs(rates).max()))]
        for name, unit, values, rates in shown_coordinates(run)
        if len(values)
    ]
    columns = ["coordinate", "unit", "first", "least", "largest", "largest rate"]
    note = "Of the joints, 0 in the reference pose, at the output times; rates are per second."
    return Table("coordinates of joints", columns, rows, note, brief=columns[:5])


def _limits(run: Run) -> Table:
    rows = [
        [
            name, *np.rad2deg([m.angle.min(), m.angle.max(), m.excess.max()]).tolist(), float(m.restricting_moment.max()),
            float(m.dissipative_moment.max()),
        ]
        for name, m in run.limits.items()
        if len(m.angle)
    ]  # fmt: skip
    columns = [
        "limit", "least angle [deg]", "largest angle [deg]", "largest excess [deg]", "restricting moment [N m]",
        "dissipative moment [N m]",
    ]  # fmt: skip
    return Table("limits", columns, rows, "Excess: angle outside the cone.", brief=columns[:4])


def _contacts(run: Run) -> Table:
    rows = [
        [name, float(m.touch_down[0]) if len(m.touch_down) else None, len(m.touch_down), float(m.normal_force.max(initial=0.0)),
         1000.0 * max(0.0, float(m.penetration.max(initial=0.0)))]
        for name, m in run.contacts.items()
    ]  # fmt: skip
    columns = ["contact", "first touch-down [s]", "touch-downs", "largest force [N]", "largest penetration [mm]"]
    return Table("contacts", columns, rows, "Forces and penetrations at the output times.", brief=columns[:4])


def _reactions(run: Run) -> Table:
    rows: list[list[Any]] = []
    for joint in run.system.joints:
        if not joint.signals:
            both = [of(joint.name, on=joint.body_j) for of in (run.reaction, run.joint_load)]
            sizes = [float(np.linalg.norm(part, axis=1).max()) for one in both for part in (one.force, one.moment)]
            shared = both[0].shared_with
            others = ", ".join(dict.fromkeys(name for names in shared.values() for name in names))
            rows.append([joint.name, joint.body_j, *sizes, ", ".join(shared), others])
    columns = [
        "joint", "on", "reaction [N]", "its moment [N m]", "load [N]", "moment of the load [N m]", "undetermined", "shared with",
    ]  # fmt: skip
    note = (
        "Largest sizes on body j of each joint, about its point there, at the output times.  Reaction: of the rows of the joint; "
        "load: all between its two bodies, with limits, motors and couplings, and in a tree the inertial force of what is beyond."
    )
    if any(row[-1] for row in rows):
        note += "  Undetermined components of reactions (global axes) are those of least norm; the others are unique."
    return Table("reactions", columns, rows, note, brief=["joint", "reaction [N]", "load [N]", "undetermined"])
