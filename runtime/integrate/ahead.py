"""What a first simulation needs, compiled in a second process while the first one builds its system.

The functions of compiled code have the same types for all systems, so one body that is free serves as an example.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types

from runtime.dynamics import projection
from runtime.dynamics.contacts import contacts_part
from runtime.dynamics.equations import (
    general_part,
    loaded_part,
    signature_of_parts,
    types_of,
    whole_part,
    workspace_for,
)
from runtime.dynamics.jacobian import ALL, OF_CONTACTS, PARTS, jacobian_memory, types_of_parts
from runtime.dynamics.layout import STATE, P
from runtime.dynamics.limits import limits_part
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.projection import correction_part
from runtime.integrate import dop853, loop, radau, stepping
from runtime.integrate.landing import signature_of_switching, switching_part
from runtime.jit.compilation import address_of_compiled
from runtime.jit.machine_code import CompiledElsewhere
from runtime.jit.pointers import Pointer
from runtime.jit.references import Reference
from runtime.system.data_building import Parts, model_data
from runtime.system.parts import Body

FLOAT, INTEGER, VECTOR, MATRIX = types.float64, types.int64, types.float64[::1], types.float64[:, ::1]


@cache
def _data() -> ModelData:
    y = _state()
    body = Body("body", 1.0, np.eye(3), free=True)
    return model_data(Parts((body,), (), (), (), (), ()), np.zeros(3), y, fit=False)


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


def _switching(method: str) -> None:
    signature = signature_of_switching(_stepper(method), _data(), workspace_for(_data()))
    address_of_compiled(switching_part, signature)


def _jacobian(number: int) -> None:
    address_of_compiled(PARTS[number], types.int64(*types_of_parts(_data())))


def _memory() -> None:
    Reference(_data())
    Reference(workspace_for(_data()))


# By the names that ``second_process.ask`` takes.  Contacts are usually simulated with radau.
ASKED: dict[str, tuple[Callable[[], object], ...]] = {
    "first simulation": (
        lambda: _method("dop853"),
        lambda: _part(correction_part),
        lambda: _part(whole_part),
        lambda: _part(general_part),
        _memory,
        _assembly,
    ),
    "limits": (lambda: _part(limits_part), lambda: _part(loaded_part), lambda: _switching("dop853")),
    "contacts": (lambda: _part(contacts_part), lambda: _jacobian(OF_CONTACTS), lambda: _switching("radau")),
    "radau": (lambda: _part(general_part), lambda: _jacobian(ALL), lambda: _method("radau")),
}


def main() -> None:
    """Compile what is asked for on the standard input, then the rest; end with the process at its other end."""
    asked: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in sys.stdin:
            asked.put(line.strip())
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    types_of(_data())
    waiting: list[Callable[[], object]] = list(ASKED["first simulation"])
    while True:
        while not asked.empty() or not waiting:
            waiting[:0] = ASKED.get(asked.get(), ())
        try:
            waiting.pop(0)()
        except CompiledElsewhere:
            continue
