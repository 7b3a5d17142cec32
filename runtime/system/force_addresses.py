"""Addresses of the kernels of forces and of laws, and the flat data of forces that depend on the reaction of their joint."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from runtime.dynamics.angles import OF_MOTOR
from runtime.dynamics.contacts import ABOVE, BELOW, NORMAL_LAW
from runtime.jit.addresses import addresses_of
from runtime.support.arrays import Ints
from runtime.system.parts import Contact, Force, Joint, Limit, Motor


def force_addresses(forces: Sequence[Force]) -> dict[str, Any]:
    """Addresses (forces,) in this process of the kernels of ``ForceData``, by their names there; 0 for none."""
    found: dict[str, Any] = {"address": addresses_of(f.module for f in forces)}
    for name in ("lookups", "kinks", "angles"):
        own = [
            int(addresses_of([f.module], f"{name}_entry")[0]) if hasattr(f.module, f"{name}_entry") else 0
            for f in forces
        ]
        found[name] = np.array(own, np.int64)
    return found


def limit_addresses(limits: Sequence[Limit]) -> Ints:
    """``LimitData.address``."""
    return addresses_of([limit.law_module for limit in limits], "law_entry")


def contact_addresses(contacts: Sequence[Contact]) -> Ints:
    """``ContactData.address``; 0 without friction."""
    found = np.zeros((len(contacts), 3), np.int64)
    for k, contact in enumerate(contacts):
        found[k, NORMAL_LAW] = addresses_of([contact.law_module], "law_entry")[0]
        for column, piece in ((BELOW, "below_entry"), (ABOVE, "above_entry")):
            if contact.friction_module is not None:
                found[k, column] = addresses_of([contact.friction_module], piece)[0]
    return found


def place_of_angles(module: ModuleType) -> int:
    """Place in x of the first angle before whose revolutions are counted: these are the last held constants."""
    return int(3 * len(module.VECTORS) + len(module.PARAMETERS) + module.HELD - module.ANGLES)


def counted_angles(joints: Sequence[Joint], forces: Sequence[Force], motors: Sequence[Motor]) -> Ints:
    """Rows (joints, forces and motors with such angles, 5) of ``runtime.dynamics.angles``, with addresses in this process."""
    modules = [joint.module for joint in joints], [force.module for force in forces]
    rows = [
        [int(addresses_of([m], "angles_entry")[0]), sort, k, place_of_angles(m), m.ANGLES]
        for sort, own in enumerate(modules)
        for k, m in enumerate(own)
        if m.ANGLES
    ]
    rows += [[0, OF_MOTOR, k, place_of_signal(motor), 1] for k, motor in enumerate(motors) if motor.winds]
    return np.array(rows, np.int64).reshape(-1, 5)


def place_of_signal(motor: Motor) -> int:
    """Place in x of the signal of a motor's driver, with two derivatives behind it."""
    return int(motor.joint.module.SIZE) - 3


def reactive_data(forces: Sequence[Force], joints: Sequence[Joint]) -> Ints:
    """Rows (forces with normal loads, 7) of ``runtime.dynamics.joint_loads``, with addresses in this process."""
    names, rows, first = [joint.name for joint in joints], [], 0
    for k, force in enumerate(forces):
        module = force.module
        if module.LOADS:
            kernels = [int(addresses_of([module], f"{name}_entry")[0]) for name in ("loads", "load_wrenches")]
            rows.append([k, names.index(force.joint), first, module.LOADS, module.LOADS_PLACE, *kernels])
            first += module.LOADS
    return np.array(rows, np.int64).reshape(-1, 7)
