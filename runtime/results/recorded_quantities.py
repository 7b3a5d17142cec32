"""All quantities of a run with their values, from which its datasets and tables are made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtime.results.drawn_motion import centre_of_pressure, load_motion, reactions_of
from runtime.results.force_motion import BODIES
from runtime.results.outputs import OF_JOINTS, REACTIONS, is_on_request, quantities_of_runs, values_of
from runtime.results.recorded import RecordedRun
from runtime.results.result_quantities import WRENCH_QUANTITIES
from runtime.support.arrays import Floats
from runtime.system.quantity import Quantity, Role

UNITS_OF_DRIVEN = {
    "N m": {"rate": "rad/s", "effort": "N m", "power": "W"},
    "N": {"rate": "m/s", "effort": "N", "power": "W"},
}
Recorded = tuple[Quantity, Floats]  # values (n,) or (n, components)


def recorded_quantities(run: RecordedRun) -> Iterator[Recorded]:
    """Quantities of all runs, and those that not every run has, in the order of the columns of tables.

    ``owner_sort``: "body", "joint", "limit", "contact", "force", "motor", "reaction", "load", "coupling", "driver",
    "degree of freedom" or "source"; empty for those of the whole system.
    """
    known = [quantity for quantity in quantities_of_runs(run.system).values() if not is_on_request(quantity)]
    for quantity in known:
        if (
            quantity.part in OF_JOINTS
            or quantity.owner_sort == "coupling"
            or (quantity.part == "lam" and not run.has_forces)
        ):
            continue
        yield quantity, values_of(run, quantity)
        if quantity.part == "Phi":
            rate = quantity._replace(part="Phi_dot")
            yield rate, values_of(run, rate)
        if quantity.part == "force_power":  # the last one of a force
            yield from _on_bodies(run, quantity.owner)
    yield from _wrenches(run)
    for quantity in known:
        if quantity.owner_sort == "coupling":
            yield quantity, values_of(run, quantity)
    yield from _driven(run)
    if (path := centre_of_pressure(run)) is not None:
        yield _quantity("", "centre_of_pressure", "", "m"), path
    work: Any = getattr(run, "_work_done", None)
    if work is not None and len(work.done) == len(run.t):  # not of driven motions and runs with other times
        balance = run.energy_balance
        for source, done in balance.work.items():
            yield _quantity("source", "work", source, "J"), done
        yield _quantity("", "energy_balance_error", "", "J"), balance.error


def _quantity(sort: str, part: str, owner: str, unit: str) -> Quantity:
    return Quantity(f"{part}.{owner}", part, owner, Role.OUTPUT, None, unit, sort)


def _on_bodies(run: RecordedRun, force: str) -> Iterator[Recorded]:
    """Forces and moments of a force on its bodies."""
    motion = run.forces[force]
    for end, _ in zip(BODIES, motion.bodies, strict=False):
        for what in REACTIONS:
            unit = WRENCH_QUANTITIES[what][0]
            yield _quantity("force", f"force_{what}_{end}", force, unit), getattr(motion, f"{what}_{end}")


def _wrenches(run: RecordedRun) -> Iterator[Recorded]:
    """Reactions of the joints without drivers, and loads."""
    wrenches = {"reaction": reactions_of(run) if run.has_forces else {}}
    wrenches["load"] = {load.name: load_motion(run, load) for load in run.system.loads}
    for sort, of in wrenches.items():
        for owner, wrench in of.items():
            for name, (unit, _) in WRENCH_QUANTITIES.items():
                yield _quantity(sort, f"{sort}_{name}", owner, unit), getattr(wrench, name)


def _driven(run: RecordedRun) -> Iterator[Recorded]:
    """Of a driven motion: signals of the drivers, where forces are determined, and degrees of freedom of the joints."""
    drivers: Any = getattr(run, "driven", {}) if run.has_forces else {}
    for driver in drivers.values():
        for name, effort in driver.effort.items():
            own = {"value": driver.value[name], "rate": driver.rate[name], "effort": effort}
            own["power"] = own["rate"] * effort
            for part, values in own.items():
                unit = "W" if part == "power" else ""
                yield _quantity("driver", f"signal_{part}", f"{driver.name}.{name}", unit), values
    motions: Any = getattr(run, "degrees_of_freedom", {})
    for name, motion in motions.items():
        for part, unit in UNITS_OF_DRIVEN[motion.unit].items():
            yield _quantity("degree of freedom", f"degree_of_freedom_{part}", name, unit), getattr(motion, part)


def angles_of(run: RecordedRun) -> Iterator[tuple[str, str, Floats, Floats]]:
    """Name, unit, values and rates of the coordinates of the joints, such as ``ankle.theta_i``."""
    for joint, angles in run.angles.items():
        for name, values in angles.values.items():
            yield f"{joint}.{name}", angles.units[name], values, angles.rates[name]
