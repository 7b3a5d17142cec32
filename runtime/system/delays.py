"""Muscles whose reflexes act after a delay."""

from __future__ import annotations

from runtime.support.errors import ModelError
from runtime.system.muscle_modules import DELAYED
from runtime.system.parts import Force
from runtime.system.system import System


def delayed(system: System) -> tuple[Force, ...]:
    """The muscles of a system whose reflexes have a delay, which follow from the past of a run unless it is 0."""
    return tuple(force for force in system.forces if DELAYED[0] in force.signals)


def refuse_delays(system: System, whose: str) -> None:
    """Refuse a system with delays; ``whose``: analyses that do not know them, for the message.

    Raises
    ------
    ModelError
        Naming the first of its muscles.
    """
    for force in delayed(system)[:1]:
        raise ModelError(
            f"muscle '{force.name}': its reflex acts after a delay of {force.values['delay']:g} s, and {whose} know no past of a "
            "run; simulate and simulate_many do; or build the muscle with delay=0"
        )
