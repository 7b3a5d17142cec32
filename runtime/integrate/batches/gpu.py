"""An ensemble on a graphics processor: one thread for each case, by the functions of the batch on the CPU.

``batches.batch.integrate`` and all functions that it calls (stages, step control, limits that restrain coordinates,
dense output) are compiled for the device from their source, with one lane instead of LANES; so is the derivative of the generated
whole-model kernel, in the coordinates of joints or of all bodies.  Nothing of the method is written here a second time.

This module is imported only when it is asked for, since it needs numba-cuda.  Of the kernels, the typing and code generation for
compute capability 8.0 are tested without a device, and their results by numba's simulator; runs on a device: docs/ensembles.md.
Threads may call ``integrate`` at once: each has a stream of its own, so that the kernels of small chunks run side by side.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float64, int64
from numba.core.registry import CPUDispatcher

from runtime.dynamics.layout import LANES
from runtime.dynamics.signals import SignalData
from runtime.integrate.batches import batch
from runtime.integrate.batches.closing import BatchClosing
from runtime.integrate.batches.contact_memory import BatchContacts
from runtime.integrate.batches.forces import BatchForces
from runtime.integrate.batches.limits import WIDTH, BatchLimits
from runtime.integrate.batches.rows import ROWS_OF_LANES
from runtime.integrate.batches.workspace import BatchWorkspace
from runtime.integrate.dop853 import POWER
from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.written.tree_forces import NAME
from runtime.jit.cache import digest_of, unchanged
from runtime.jit.device_code import DeviceCode
from runtime.jit.freshness import sha256
from runtime.jit.machine_code import digest_of_kernel
from runtime.support.errors import ModelError

THREADS = 64  # of a block
# In the kernel of a model, what belongs to it stands in place of these: sizes of local arrays, which take no products.
STATES = CONSTANTS = COUNT = OWN = DENSE = SIGNALS = VALUES = PARAMETERS = FORCES = 1
integration: Any = batch.integrate
ALL_STAGES, SAMPLED = STAGES + 1 + EXTRA, SAMPLES + 1


def refuse_without_device() -> None:
    """Raise ModelError if there is no graphics processor."""
    if not cuda.is_available():
        raise ModelError(
            "engine='gpu': no CUDA device or driver was found; leave engine out to run on the processor's cores"
        )


def integrate(module: ModuleType, memory: BatchWorkspace, *arrays: Any, forces: str = "") -> None:
    """Run all cases with the kernel of a model; the arguments are those of ``batches.batch.run`` but for ``stop``.

    ``forces``: text of the function of forces that the kernel does not know, as of ``tree_forces.text_of_forces``
    """
    *given, out, status, counts, reached = arrays
    x, f = memory.limits, memory.forces
    common = (
        memory.which, memory.factors, memory.groups, memory.polynomial, memory.turned, memory.rates, memory.parts // LANES,
        np.zeros(2, np.int64), memory.cap[::LANES].copy(), memory.weight[::LANES].copy(),
        memory.lever[::LANES].copy(), memory.typical, x.q, x.u, x.first, x.weights, x.given, memory.size, f.nodes, f.first,
        *f.signals, f.set_of, f.varying, f.given,
    )  # fmt: skip
    found = out, status, counts, reached, x.final, x.work, f.exchanged, f.unresolved, f.bounded
    sizes = Sizes(given[3].shape[1], given[4].shape[1], len(x.q), len(f.values) // 3, f.given.shape[1])
    kernel, stream = kernel_of(module, sizes, forces), cuda.stream()
    on_device = [cuda.to_device(a, stream=stream) for a in found]
    to_device = [cuda.to_device(a, stream=stream) for a in (*given, *common, np.zeros(1, np.int64))]
    try:
        kernel[-(-len(out) // THREADS), THREADS, stream](*to_device, *on_device)
    finally:
        kernel._cache.release()
    for own, to in zip(on_device, found, strict=True):
        own.copy_to_host(to, stream=stream)
    stream.synchronize()


def _for_device(function: Any, replaced: Mapping[str, Any], done: dict[Any, Any]) -> Any:
    """A function of compiled code and all that it calls, compiled for the device; ``replaced``: names with other values."""
    if function not in done:
        source = function.py_func
        values = {name: source.__globals__[name] for name in source.__code__.co_names if name in source.__globals__}
        for name, value in values.items():
            if name in replaced:
                values[name] = replaced[name]
            elif isinstance(value, CPUDispatcher):
                values[name] = _for_device(value, replaced, done)
        done[function] = cuda.jit(device=True)(FunctionType(source.__code__, values, source.__name__))
    return done[function]


@cuda.jit(device=True)
def _itself(m):  # type: ignore[no-untyped-def]
    """In place of ``pointers.local``: the memory of a thread is its own."""
    return m


@cuda.jit(device=True)
def _no_stages(m, address, worst):  # type: ignore[no-untyped-def]
    """In place of ``batches.stages.written_stages``, which are machine code of the CPU: ``stages`` (2,) are zeros."""


@cuda.jit(device=True)
def _no_forces(address, y, signals, own, Q, power, energy):  # type: ignore[no-untyped-def]
    """In place of ``batches.forces.call_forces`` where there are no forces: ``address`` (1,) is 0."""


def _forces(text: str) -> Any:
    """In place of ``batches.forces.call_forces``, which is machine code of the CPU: the function of a text for one lane."""
    if not text:
        return _no_forces
    names: dict[str, Any] = {"math": math}
    exec(text, names)
    forces = cuda.jit(device=True)(names[NAME])

    @cuda.jit(device=True)
    def call_forces(address, y, signals, own, Q, power, energy):  # type: ignore[no-untyped-def]
        forces(y, signals, own, Q, power, energy)

    return call_forces


@cuda.jit(device=True)
def _no_equations(address, y, signals, own, limits, out, power, energy, worst):  # type: ignore[no-untyped-def]
    """In place of ``batches.forces.call_equations``."""


@cuda.jit(device=True)
def _no_contacts(x, purpose, memory, address, a, b, begin):  # type: ignore[no-untyped-def]
    """In place of ``batches.contact_memory.call_contacts``."""
    return 0


@cuda.jit(device=True)
def _no_rows(m):  # type: ignore[no-untyped-def]
    """In place of ``batches.closing.project_ends``: cases with rows that restrain coordinates run on the CPU."""
    return False


@cuda.jit(device=True)
def _no_checks(m, rtol, atol):  # type: ignore[no-untyped-def]
    """In place of ``batches.closing.check_ends``."""


@cache
def _integration(module: ModuleType, forces: str) -> Any:
    """``batch.integrate`` for the device, with the kernel of a model and the text of the forces that it does not know."""
    derivative = _for_device(module.derivative, {}, {})
    if hasattr(module, "BODIES"):

        @cuda.jit(device=True)
        def call_lanes(address, y, constants, out, worst):  # type: ignore[no-untyped-def]
            derivative(0, y[:, None], constants, constants, constants, out[:, None], worst[:, None])
    else:

        @cuda.jit(device=True)
        def call_lanes(address, y, constants, out, worst):  # type: ignore[no-untyped-def]
            derivative(0, y[:, None], constants, out[:, None], worst[:, None])

    replaced = {"LANES": 1, "local": _itself, "call_lanes": call_lanes, "written_stages": _no_stages}
    replaced |= {"call_forces": _forces(forces), "call_equations": _no_equations, "call_contacts": _no_contacts}
    replaced |= {"project_ends": _no_rows, "check_ends": _no_checks}
    return _for_device(batch.integrate, replaced, {})


def _of_case(  # type: ignore[no-untyped-def]
    span, tolerances, steps, initial, constants, times, which, factors, groups, polynomial, turned, rates, parts, addresses,
    cap, weight, lever, typical, q, u, first, weights, given, size, nodes, first_force, begins, knots, coefficients, set_of,
    varying, acting, stop, out, status, counts, reached, final, work, exchanged, unresolved, bounded,
):  # fmt: skip
    """The kernel: the case of this thread, with memory of its own."""
    case = cuda.grid(1)
    if case >= initial.shape[0]:
        return
    array = cuda.local.array
    own_row = min(case, constants.shape[0] - 1)  # there may be one for all cases
    x = BatchLimits(
        q=q, u=u, first=first, weights=weights, given=given[case : case + 1], final=final[case : case + 1],
        work=work[case : case + 1], own=array(OWN, float64), waiting=array(OWN, float64),
        over=array(COUNT, float64), samples=array((SAMPLED, COUNT), float64),
    )  # fmt: skip
    none, no, table = array(1, int64), array(1, float64), array((1, 1), float64)
    none[0] = 0
    forces = BatchForces(
        address=array(1, int64), whole=none, first=first_force, nodes=nodes, signals=SignalData(begins, knots, coefficients),
        set_of=set_of[min(case, set_of.shape[0] - 1) :], own_set=array(1, int64), waiting_set=array(1, int64), varying=varying,
        value=array(3, float64), values=array((VALUES, 1), float64), piece=array((SIGNALS, 1), int64),
        given=acting[min(case, acting.shape[0] - 1) :], own=array((PARAMETERS, 1), float64),
        waiting=array((PARAMETERS, 1), float64), ways=array((2, 1), float64), along=array((1, 1), float64),
        energy=array(1, float64), exchanged=exchanged[case : case + 1],
        unresolved=unresolved[case : case + 1], bounded=bounded[case : case + 1],
    )  # fmt: skip
    forces.address[0] = FORCES
    for k in range(SIGNALS):
        forces.piece[k, 0] = 0
    flags, deep = array((1, 4), int64), array((1, 1, 1), float64)
    contacts = BatchContacts(
        part=none, address=none, places=flags[:0], least=no, resolution=no, state=deep, waiting=deep, measured=table,
        samples=deep, search=table, then=table, was=no, changed=no, events=deep, found=none,
    )  # fmt: skip
    rows = BatchClosing(
        address=none, size=none, marks=none, loaded=none, pivot=none, lacking=none, change=no, left=no, before=no,
        active=no, start=no,
    )  # fmt: skip
    m = BatchWorkspace(
        which=which, factors=factors, groups=groups, polynomial=polynomial, turned=turned, rates=rates, size=size, parts=parts,
        stages=addresses, cap=cap, weight=weight, lever=lever, typical=typical, y=array(STATES, float64),
        trial=array(STATES, float64),
        end=array(STATES, float64), k=array((ALL_STAGES, STATES), float64), errors=array((2, STATES), float64),
        h=array(STATES, float64), constants=array((CONSTANTS, 1), float64), worst=array(1, float64),
        lanes=array(ROWS_OF_LANES, float64), case=array(1, int64), output=array(1, int64), ready_y=array(STATES, float64),
        ready_k=array(STATES, float64), ready_constants=array((CONSTANTS, 1), float64), queue=array(4, int64),
        dense=array(DENSE, float64), limits=x, forces=forces, contacts=contacts, closing=rows,
    )  # fmt: skip
    integration(
        m, 0, span, tolerances, steps, initial[case : case + 1], constants[own_row : own_row + 1], times,
        out[case : case + 1], status[case : case + 1], counts[case : case + 1], reached[case : case + 1], stop,
    )  # fmt: skip


class Sizes(NamedTuple):
    """What the arrays of a kernel hold."""

    states: int
    constants: int
    limits: int = 0
    signals: int = 0
    parameters: int = 0  # of forces


@cache
def kernel_of(module: ModuleType, sizes: Sizes, forces: str = "") -> Any:
    """The kernel of a model for arrays of these sizes, with the text of the forces that it does not know."""
    count, signals = max(sizes.limits, 1), max(sizes.signals, 1)
    values = {
        "integration": _integration(module, forces), "STATES": sizes.states, "CONSTANTS": sizes.constants, "COUNT": count,
        "OWN": count * WIDTH, "DENSE": POWER * sizes.states, "SIGNALS": signals, "VALUES": 3 * signals,
        "PARAMETERS": max(sizes.parameters, 1), "FORCES": int(bool(forces)),
    }  # fmt: skip
    kernel = cuda.jit(FunctionType(_of_case.__code__, {**_of_case.__globals__, **values}, "run"))
    made_from = sha256(digest_of(__name__) + digest_of_kernel(inspect.getsource(module)) + sha256(forces))[:16]
    digest = made_from if unchanged(__name__) else None
    kernel._cache = DeviceCode("the integration of cases on the graphics processor", digest, sizes, THREADS)
    return kernel
