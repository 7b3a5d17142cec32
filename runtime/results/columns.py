"""All quantities of a run as the columns of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from runtime.results.drawn_motion import centre_of_pressure, load_motion, reactions_of
from runtime.results.further_results import (
    angles_of,
    degrees_of_freedom_of,
    drivers_of,
    quantities_of_forces,
    unit_of_coupling,
    work_of,
)
from runtime.results.recorded import Recorded
from runtime.results.result_quantities import (
    AXES,
    BODY_QUANTITIES,
    CONTACT_QUANTITIES,
    LIMIT_QUANTITIES,
    SCALARS,
    WRENCH_QUANTITIES,
)
from runtime.support.arrays import Floats

UNITS_OF_DRIVEN = {
    "N m": {"rate": "rad/s", "effort": "N m", "power": "W"},
    "N": {"rate": "m/s", "effort": "N", "power": "W"},
}


class _Column(NamedTuple):
    owner: str  # empty for the whole system
    kind: str  # of the owner
    name: str
    unit: str
    values: Floats  # (n,)


def columns_of(run: Recorded) -> tuple[list[str], list[str], Floats]:
    """Names, units and values (n, columns) of all quantities of a run; the first column is the time.

    Where two columns would have one name, since parts of two kinds share a name, the later one has its kind in brackets, such as
    "knee (limit).angle".
    """
    found: dict[str, tuple[str, Floats]] = {"time": ("s", run.t)}
    for one in [*_columns(run), *_further(run)]:
        name = f"{one.owner}.{one.name}" if one.owner else one.name
        if name in found:
            name = f"{one.owner} ({one.kind}).{one.name}"
        found[name] = one.unit, one.values
    return list(found), [unit for unit, _ in found.values()], np.column_stack([values for _, values in found.values()])


def _columns(run: Recorded) -> Iterator[_Column]:
    """Motion of bodies, multipliers, coordinates, limits, contacts, forces, energies and violations."""
    for body in run.system.body_names:
        for name, (components, unit, _) in BODY_QUANTITIES.items():
            yield from _vector(body, "body", name, unit, getattr(run, name)[body], components)
    for joint in run.system.joints if run.has_forces else ():
        for k, row in enumerate(joint.rows):
            yield _Column(joint.name, "joint", f"lam_{row}", joint.multiplier_units[k], run.lam[joint.name][:, k])
    for name, unit, values, rates in angles_of(run):
        owner, _, own = name.rpartition(".")
        yield _Column(owner, "joint", own, unit, values)
        yield _Column(owner, "joint", f"{own}_rate", f"{unit}/s", rates)
    for limit, motion in run.limits.items():
        for name, (unit, _) in LIMIT_QUANTITIES.items():
            yield _Column(limit, "limit", name, unit, getattr(motion, name))
    for contact, of_contact in run.contacts.items():
        for name, (unit, _) in CONTACT_QUANTITIES.items():
            yield from _vector(contact, "contact", name, unit, getattr(of_contact, name))
    for force, name, unit, values in quantities_of_forces(run):
        yield from _vector(force, "force", name, unit, values)
    for name, (unit, _) in SCALARS.items():
        yield _Column("", "", name, unit, getattr(run, name))


def _further(run: Recorded) -> Iterator[_Column]:
    """Reactions, loads, forces of couplings, drivers, degrees of freedom, centre of pressure, and the work of sources."""
    wrenches = {"reaction": reactions_of(run) if run.has_forces else {}}
    wrenches["load"] = {load.name: load_motion(run, load) for load in run.system.loads}
    for kind, of in wrenches.items():
        for owner, wrench in of.items():
            for name, (unit, _) in WRENCH_QUANTITIES.items():
                yield from _vector(owner, kind, f"{kind}_{name}", unit, getattr(wrench, name))
    for coupling in run.system.couplings:
        unit = unit_of_coupling(run.system, coupling)
        yield _Column(coupling.name, "coupling", "coupling_force", unit, run.coupling_forces[coupling.name])
    for kind, listed in (("driver", drivers_of(run)), ("degree of freedom", degrees_of_freedom_of(run))):
        for one in listed:
            units = UNITS_OF_DRIVEN.get(one.unit, {"power": "W"})
            for name, values in one.values.items():
                yield _Column(one.name, kind, name, units.get(name, ""), values)
    if (path := centre_of_pressure(run)) is not None:
        yield from _vector("", "", "centre_of_pressure", "m", path)
    if (balance := work_of(run)) is not None:
        for source, work in balance.work.items():
            yield _Column(source, "source", "work", "J", work)
        yield _Column("", "", "energy_balance_error", "J", balance.error)


def _vector(
    owner: str, kind: str, name: str, unit: str, values: Floats, components: tuple[str, ...] = AXES
) -> Iterator[_Column]:
    """A column for each component of values (n, components), or for values (n,)."""
    if values.ndim == 1:
        yield _Column(owner, kind, name, unit, values)
        return
    for k, component in enumerate(components):
        yield _Column(owner, kind, f"{name}_{component}", unit, values[:, k])
