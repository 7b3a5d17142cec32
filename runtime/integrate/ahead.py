"""What a first simulation needs, compiled in a second process while the first one builds its system.

The functions of compiled code have the same types for all systems, so one body that is free serves as an example.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import numba
import numpy as np
from numba import types

from runtime.dynamics import projection
from runtime.dynamics.contacts import contacts_part
from runtime.dynamics.derived import derive, derive_energies, derived_memory
from runtime.dynamics.energy import energy_part
from runtime.dynamics.equations import (
    general_part,
    loaded_part,
    signature_of_parts,
    types_of,
    whole_part,
)
from runtime.dynamics.force_elements import forces_part
from runtime.dynamics.jacobian import ALL, OF_CONTACTS, PARTS, jacobian_memory, types_of_parts
from runtime.dynamics.layout import STATE, P
from runtime.dynamics.lift import lift_once
from runtime.dynamics.limits import limits_part
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.projection import correction_part
from runtime.dynamics.tree_equations import free_part, kernel_part, lift_part, tree_part
from runtime.dynamics.tree_workspace import NO_TREE
from runtime.integrate import dop853, loop, stepping
from runtime.integrate.batches import batch
from runtime.integrate.batches.parts import address_of_part
from runtime.integrate.batches.surfaces_part import surfaces_part
from runtime.integrate.dense_output import DENSE_PART
from runtime.integrate.loop_parts import LoopPart
from runtime.integrate.quintic import quintic_part, signature_of_quintic
from runtime.integrate.radau import radau
from runtime.integrate.radau.linear import LINEAR_PART
from runtime.integrate.settings import Settings
from runtime.integrate.switching import SWITCHING_PART
from runtime.jit.addresses import addresses_of
from runtime.jit.compilation import address_of_compiled
from runtime.jit.machine_code import CompiledElsewhere
from runtime.jit.pointers import Pointer
from runtime.lanes.lift import prepare_lift
from runtime.system.data_building import Parts, model_data
from runtime.system.parts import Body

FLOAT, INTEGER, VECTOR, MATRIX = types.float64, types.int64, types.float64[::1], types.float64[:, ::1]


@cache
def _data() -> ModelData:
    y = _state()
    body = Body("body", 1.0, np.eye(3), free=True)
    return model_data(Parts((body,), (), (), (), (), (), ()), np.zeros(3), y, fit=False)


def _state() -> Any:
    y = np.zeros(STATE)
    y[P] = 1.0
    return y


@cache
def _stepper(method: str) -> stepping.Stepper:
    own = dop853.memory(STATE) if method == "dop853" else radau.memory(1, jacobian_memory(_data(), 0))
    return stepping.stepper(_state(), 0.0, own, _data())


def _method(method: str) -> None:
    s = _stepper(method)
    control = (FLOAT, FLOAT, FLOAT, FLOAT, INTEGER, VECTOR, MATRIX, VECTOR, MATRIX)
    loop.advance.compile((Pointer(numba.typeof(s)), *types_of(_data()), *control))


def _part(part: Callable[..., Any]) -> None:
    address_of_compiled(part, signature_of_parts())


def _assembly() -> None:
    data, work = types_of(_data())
    projection.worst_row.compile((FLOAT, VECTOR, data, work, types.boolean))
    projection.assemble.compile((FLOAT, VECTOR, data, work, MATRIX, VECTOR))
    projection.mark_dependent.compile((FLOAT, VECTOR, data, work, FLOAT))


def _loop_part(part: LoopPart, method: str) -> None:
    address_of_compiled(part.function, part.signature(_stepper(method), _data()))


def _jacobian(number: int) -> None:
    address_of_compiled(PARTS[number], types.int64(*types_of_parts(_data())))


def _derived() -> None:
    derived = Pointer(numba.typeof(derived_memory(1, _data())))
    vector, matrix = (types.Array(FLOAT, n, "C", readonly=True) for n in (1, 2))
    derive.compile((vector, matrix, matrix, matrix, *types_of(_data()), derived))


def _lifting() -> None:
    lift_once.compile((*(Pointer(numba.typeof(value)) for value in (NO_TREE.data, NO_TREE.lifting)), VECTOR, VECTOR))


def _batch() -> None:
    memory = batch.tree_workspace((0, 0), 1, list(np.ones((4, 2))))
    how = Settings(0.0, 1.0, (1.0,), "dop853", 1e-8, 1e-8, 0.0, 0.0, np.inf, 0.0, 1, False)
    given, results = batch.arguments(how, np.zeros((1, 2)), np.zeros((1, 1)))
    batch.integrate.prepare(memory, 0, *given, *results, np.zeros(1, np.int64))


def _part_of_batch(part: Any) -> None:
    address_of_part(part, batch.tree_workspace((0, 0), 1, list(np.ones((4, 2)))))


def _quintic() -> None:
    address_of_compiled(quintic_part, signature_of_quintic())


def _energies() -> None:
    vector, matrix = (types.Array(FLOAT, n, "C", readonly=True) for n in (1, 2))
    derive_energies.compile((vector, matrix, matrix, matrix, *types_of(_data()), MATRIX))


# What is compiled for each name that ``second_process.ask`` takes, with its rank: what takes longest and is needed late comes
# first, so that both processes are busy to the end.  Contacts are usually simulated with radau.
ASKED: dict[str, tuple[tuple[int, Callable[[], object]], ...]] = {
    "first simulation": (
        (2, lambda: _method("dop853")),
        (5, lambda: _part(energy_part)),
        (5, lambda: _part(whole_part)),
        (5, _energies),
        (6, lambda: _loop_part(DENSE_PART, "dop853")),
        (7, lambda: _part(general_part)),
        (8, _derived),
        (9, lambda: _part(correction_part)),
        (10, _assembly),
    ),
    "joint coordinates": (
        (3, _lifting),
        (3, lambda: _part(lift_part)),
        (3, lambda: _part(free_part)),
    ),
    "vectorised cases": ((0, _batch), (1, prepare_lift)),
    "vectorised contacts": ((1, lambda: _part_of_batch(surfaces_part)),),
    "forces in joint coordinates": ((3, lambda: _part(tree_part)),),
    "limits": (
        (3, lambda: _loop_part(SWITCHING_PART, "dop853")),
        (3, lambda: _loop_part(DENSE_PART, "dop853")),
        (4, lambda: _part(limits_part)),
        (5, lambda: _part(kernel_part)),
        (8, lambda: _part(loaded_part)),
    ),
    "contacts": (
        (0, lambda: _part(contacts_part)),
        (0, lambda: _loop_part(SWITCHING_PART, "radau")),
        (1, lambda: _jacobian(ALL)),
        (1, lambda: _jacobian(OF_CONTACTS)),
        (1, lambda: _loop_part(LINEAR_PART, "radau")),
        (1, lambda: _method("radau")),
        (1, lambda: _loop_part(DENSE_PART, "radau")),
        (1, _quintic),
        (1, _energies),
        (3, lambda: _part(loaded_part)),
    ),
    "forces": ((3, lambda: _part(forces_part)), (4, lambda: _part(loaded_part))),
    "Jacobian": ((0, lambda: _jacobian(ALL)),),
    "radau": (
        (0, lambda: _jacobian(ALL)),
        (0, lambda: _loop_part(LINEAR_PART, "radau")),
        (0, lambda: _part(general_part)),
        (1, lambda: _loop_part(SWITCHING_PART, "radau")),
        (1, lambda: _method("radau")),
    ),
}


def parts_of(name: str) -> tuple[tuple[int, Callable[[], object]], ...]:
    """What is compiled for a name: those of ``ASKED``, or "module:kernel" of a generated module, which is waited for first."""
    module, _, kernel = name.partition(":")
    return ((-1, lambda: addresses_of([import_module(module)], kernel)),) if kernel else ASKED.get(name, ())


def main() -> None:
    """Compile what a first simulation needs and what is asked for on the standard input; end with the process that asks."""
    asked: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in sys.stdin:
            asked.put(line.strip())
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    asked.put("first simulation")
    types_of(_data())
    waiting: list[tuple[int, Callable[[], object]]] = []
    while True:
        while not asked.empty() or not waiting:
            waiting = sorted([*waiting, *parts_of(asked.get())], key=lambda ranked: ranked[0])
        with suppress(CompiledElsewhere, ImportError):  # a model of a user's is no module of this process
            waiting.pop(0)[1]()
