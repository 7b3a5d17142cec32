"""Results that not every system has, for datasets and tables: of forces, couplings, events, drivers, and the work of sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from runtime.results.energy_balance import EnergyBalance
from runtime.results.recorded import Recorded
from runtime.results.result_quantities import WRENCH_QUANTITIES
from runtime.support.arrays import Floats
from runtime.system.coupling import Coupling
from runtime.system.system import System


class Driven(NamedTuple):
    """Values over time (n,) of a driver's signal, or of a degree of freedom; NaN where efforts are undetermined."""

    name: str
    unit: str  # of the effort; empty where the definition has none
    values: dict[str, Floats]  # "value", "rate", "effort", "power"


def angles_of(run: Recorded) -> Iterator[tuple[str, str, Floats, Floats]]:
    """Name, unit, values and rates of the coordinates of the joints, such as ``ankle.theta_i``."""
    for joint, angles in run.angles.items():
        for name, values in angles.values.items():
            yield f"{joint}.{name}", angles.units[name], values, angles.rates[name]


def quantities_of_forces(run: Recorded) -> Iterator[tuple[str, str, str, Floats]]:
    """Force, name, unit and values of its quantities (n,), such as ``tension``, and of its wrenches on bodies (n, 3)."""
    for force, motion in run.forces.items():
        for name, values in motion.quantities.items():
            yield force, name, motion.units[name], values
        yield force, "energy", "J", motion.energy
        yield force, "power", "W", motion.power
        for end, _ in zip("ijkl", motion.bodies, strict=False):
            for what in ("force", "moment"):
                yield force, f"{what}_{end}", WRENCH_QUANTITIES[what][0], getattr(motion, f"{what}_{end}")


def unit_of_coupling(system: System, coupling: Coupling) -> str:
    """Unit of the force of a coupling along its follower."""
    joint, _, column = coupling.follower.rpartition(".")
    return "N m" if system.joint_motions[joint].units[column] == "rad" else "N"


def work_of(run: Recorded) -> EnergyBalance | None:
    """The energy balance of a run that was integrated; None of a driven motion, a run made of states or one with other times."""
    work = getattr(run, "_work_done", None)
    return run.energy_balance if work is not None and len(work.done) == len(run.t) else None


def drivers_of(run: Recorded) -> Iterator[Driven]:
    """Signals of the drivers of a driven motion, where forces are determined."""
    drivers: Any = getattr(run, "driven", {}) if run.has_forces else {}
    for driver in drivers.values():
        for name, value in driver.value.items():
            own = {"value": value, "rate": driver.rate[name], "effort": driver.effort[name]}
            own["power"] = own["rate"] * own["effort"]
            yield Driven(f"{driver.name}.{name}", "", own)


def degrees_of_freedom_of(run: Recorded) -> Iterator[Driven]:
    """Degrees of freedom of the joints of a driven motion."""
    motions: Any = getattr(run, "degrees_of_freedom", {})
    for name, motion in motions.items():
        yield Driven(name, motion.unit, {"rate": motion.rate, "effort": motion.effort, "power": motion.power})
