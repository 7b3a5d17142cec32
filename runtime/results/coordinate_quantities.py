"""Mechanics along a run by name: mass matrix, efforts, Jacobians and moment arms over the coordinates of the joints.

They are those of ``runtime.mechanics`` in the states of the run; ``runtime.analysis.mechanics`` defines them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from runtime.support.arrays import Floats
from runtime.support.kept import kept
from runtime.system.coordinate_mechanics import CoordinateMechanics
from runtime.system.muscle_paths import is_muscle
from runtime.system.quantity import Quantity, Role
from runtime.system.state import AXES, EULER
from runtime.system.system import System

INVERSE_DYNAMICS = "inverse_dynamics"  # the only one that needs accelerations
MOMENT_ARMS = "moment_arms"  # the only ones that depend on parameters of forces
EFFORTS, RATES, MOTION = "effort_of", "rate_of", "motion"  # dimensions
ROWS_OF_MOTION = tuple(f"{sort}_{axis}" for sort in ("linear", "angular") for axis in AXES)
# name -> dimensions, meaning
COORDINATE_QUANTITIES: dict[str, tuple[tuple[str, ...], str]] = {
    "mass_matrix": ((EFFORTS, RATES), "mass matrix"),
    "bias": ((EFFORTS,), "Coriolis, centrifugal and gyroscopic efforts"),
    "gravity_forces": ((EFFORTS,), "efforts that hold the system against gravity"),
    INVERSE_DYNAMICS: ((EFFORTS,), "efforts of the motion, M a + c + g"),
    "jacobian": ((MOTION, RATES), "Jacobian"),
    "bias_acceleration": ((MOTION,), "rate of the Jacobian times velocity"),
    MOMENT_ARMS: ((EFFORTS,), "moment arms"),
}
OF_FRAMES = "jacobian", "bias_acceleration"


def dimensions_of(quantity: Quantity) -> Mapping[str, tuple[str, ...]]:
    """Names of the dimensions of a quantity at a time, with those of its components along them."""
    if quantity.part in COORDINATE_QUANTITIES:
        dimensions, _ = COORDINATE_QUANTITIES[quantity.part]
        return {name: ROWS_OF_MOTION if name == MOTION else quantity.rates for name in dimensions}
    if not quantity.shape:
        return {}
    return {"euler": EULER} if quantity.shape == (len(EULER),) else {"axis": AXES}


@kept
def coordinate_quantities(system: System) -> Mapping[str, Quantity]:
    """The quantities over the coordinates of a system, by name."""
    return {one.name: one for one in _quantities(system, _mechanics(system))}


def _quantities(system: System, m: CoordinateMechanics) -> Iterator[Quantity]:
    rates = tuple(name.removesuffix("_rate") for name in m.rate_names)
    turns = [unit == "rad/s" for unit in m.rate_units]
    angular = [False, False, False, True, True, True]
    units = {
        "mass_matrix": tuple(("kg", "kg m", "kg m^2")[a + b] for a, b in product(turns, turns)),
        "jacobian": tuple(("m", "1", "1/m")[1 + a - b] for a, b in product(angular, turns)),
        "bias_acceleration": tuple("rad/s^2" if turning else "m/s^2" for turning in angular),
        MOMENT_ARMS: tuple("m" if turning else "1" for turning in turns),
    }
    owners = dict.fromkeys(OF_FRAMES, (*system.body_names, *(one.name for one in system.frames)))
    owners[MOMENT_ARMS] = tuple(force.name for force in system.forces if is_muscle(force))
    for part, (dimensions, _) in COORDINATE_QUANTITIES.items():
        own = units.get(part, m.effort_units)
        shape = tuple(len(ROWS_OF_MOTION if name == MOTION else rates) for name in dimensions)
        for owner in owners.get(part, ("",)):
            name = f"{part}.{owner}".removesuffix(".")
            yield Quantity(
                name, part, owner, Role.OUTPUT, shape, " or ".join(dict.fromkeys(own)), rates=rates, units=own
            )


@kept
def _mechanics(system: System) -> CoordinateMechanics:
    return CoordinateMechanics(system, None)


def coordinate_value(
    system: System, quantity: Quantity, states: Floats, counted: Mapping[str, Floats], v_dot: Callable[[], Floats]
) -> Floats:
    """A quantity (n, ...) in states (n, bodies, 13), with accelerations (n, bodies, 6); counted: coordinates with whole turns."""
    m, wanted = _mechanics(system), tuple(f"{name}_rate" for name in quantity.rates)
    if m.rate_names != wanted and m.independent is not None:
        # The initial state of this case selects other independent coordinates.
        m = CoordinateMechanics(system, quantity.rates)
    coordinates, rates = m.of_states(states.reshape(len(states), -1), counted)
    q, u = m.assemble(coordinates), m.own_rates(rates)
    if quantity.part == INVERSE_DYNAMICS:
        return m.inverse_dynamics(q, u, _accelerations(m, q, u, v_dot()))
    arguments: list[Any] = [quantity.owner] if quantity.owner else []
    arguments += [q, u] if quantity.part.startswith("bias") else [q]
    found: Floats = getattr(m, quantity.part)(*arguments)
    return found


def _accelerations(m: CoordinateMechanics, q: Floats, u: Floats, v_dot: Floats) -> Floats:
    """Accelerations of the coordinates (n, rates) that reproduce the bodies' accelerations (n, bodies, 6)."""
    names = m.system.body_names
    J = np.concatenate([m.jacobian(name, q) for name in names], axis=1)
    by_rates = np.concatenate([m.bias_acceleration(name, q, u) for name in names], axis=1)
    found: Floats = (np.linalg.pinv(J) @ (v_dot.reshape(by_rates.shape) - by_rates)[..., None])[..., 0]
    return found
