"""States of forces in the states of a system: behind those of the bodies, in the order of the forces."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, unknown_name
from runtime.system.state import State
from runtime.system.system import System

Kind = TypeVar("Kind", bound=State)


def names_of_states(system: System) -> tuple[str, ...]:
    """Names of the states of all forces, such as "tendon.extension"."""
    return tuple(f"{force.name}.{state}" for force in system.forces for state in force.module.STATES)


def units_of_states(system: System) -> tuple[str, ...]:
    """Units of ``names_of_states``."""
    return tuple(force.outputs[state] for force in system.forces for state in force.module.STATES)


def states_of_forces(system: System, state: State) -> Floats:
    """Values of the states of forces in a state of the system: their initial values where it has none.

    Raises
    ------
    ModelError
        For a name that no force has.
    """
    of, names = system.data.forces, names_of_states(system) if system.forces else ()
    values: Floats = of.x[of.state_force, of.state_place]
    for name, value in state.z.items():
        if name not in names:
            raise unknown_name(name, names, "state of a force", "states of forces", f"system '{system.name}': state: ")
        values[names.index(name)] = value
    return values


def vector_of(system: System, state: State) -> Floats:
    """A state as integrators have it: of the bodies (13 bodies,), then of forces.

    Raises
    ------
    ModelError
    """
    return np.append(state.y, states_of_forces(system, state))


def state_of(system: System, y: Floats, kind: type[Kind] = State) -> Kind:  # type: ignore[assignment]
    """The state of a system from ``vector_of`` it."""
    if not len(system.data.forces.state_force):
        return kind(system.body_names, y)
    names = names_of_states(system)
    first = len(y) - len(names)
    return kind(system.body_names, y[:first], dict(zip(names, y[first:].tolist(), strict=True)))


def refuse_states(system: System, what: str) -> None:
    """Refuse forces with states where they are not known.

    Raises
    ------
    ModelError
    """
    if names := names_of_states(system):
        raise ModelError(
            f"{what}: system '{system.name}' has forces with states ({', '.join(names)}), which it does not know; use "
            "simulate, simulate_many or rhs, or leave these forces out"
        )
