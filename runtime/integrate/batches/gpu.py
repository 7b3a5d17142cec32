"""An ensemble on a graphics processor: one thread for each case, by the functions of the batch on the CPU.

``batches.batch.integrate`` and all functions that it calls (stages, step control, limits that restrain coordinates, contacts,
projection onto rows, dense output) are compiled for the device from their source, with one lane; so is the
derivative of the generated whole-model kernel, in the coordinates of joints or of all bodies.  Forces, what contacts measure, the
recursion of trees without a kernel and the equations with rows are texts that the formulas of the CPU's code write for one lane.
Nothing of the method is written here a second time; the memory of a thread follows from the batch's (``device_text``).

This module is imported only when it is asked for, since it needs numba-cuda.  Of the kernels, the typing and code generation for
compute capability 8.0 are tested without a device, and their results by numba's simulator; runs on a device: docs/ensembles.md.
Threads may call ``integrate`` at once: each has a stream of its own, so that the kernels of small chunks run side by side.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from functools import cache
from threading import Lock
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float64, int64
from numba.core.registry import CPUDispatcher

from runtime.integrate.batches import batch
from runtime.integrate.batches.device_text import FOUND, MemoryText, text_of_kernel
from runtime.integrate.batches.kink_landing import kink_part
from runtime.integrate.batches.surfaces_part import surfaces_part
from runtime.integrate.batches.workspace import BatchWorkspace
from runtime.integrate.memory_kinds import Kind
from runtime.integrate.written import force_kinks, measured_contacts, tree_forces, tree_recursion
from runtime.jit.cache import digest_of, unchanged
from runtime.jit.device_code import DeviceCode
from runtime.jit.freshness import sha256
from runtime.jit.machine_code import digest_of_kernel
from runtime.support.errors import ModelError

THREADS = 64  # of a block
_BEGINNING = Lock()
NO_STAGES = np.zeros(2, np.int64)  # those of the batch are machine code of the CPU


class Texts(NamedTuple):
    """Functions of one system for one lane, as text; "" where it needs none."""

    forces: str = ""  # that the kernel of its tree does not know (``tree_forces.text_of_forces``)
    contacts: str = ""  # ``measured_contacts.text_of_contacts``
    kinks: str = ""  # ``force_kinks.text_of_kinks``
    angles: str = ""  # the same, of angles
    equations: str = ""  # of a tree without a kernel (``tree_recursion.text_of_recursion``)
    derivative: str = ""  # of a tree with rows (``closed_stages.texts_of_closed``)
    correction: str = ""


def refuse_without_device() -> None:
    """Raise ModelError if there is no graphics processor."""
    if not cuda.is_available():
        raise ModelError(
            "engine='gpu': no CUDA device or driver was found; leave engine out to run on the processor's cores"
        )


def integrate(module: ModuleType | None, memory: BatchWorkspace, *arrays: Any, texts: Texts) -> None:
    """Run all cases with the kernel of a model; the arguments are those of ``batches.batch.run`` but for ``stop``.

    ``module``: None where the text of the equations takes its place.
    """
    *given, out, status, counts, reached = arrays
    text, of = text_of_kernel(memory._replace(stages=NO_STAGES))
    kernel, stream = kernel_of(module, Kernel(text, of, rows=len(memory.surfaces.over) > 0), texts), cuda.stream()
    results = [out, status, counts, reached]
    on_device = [cuda.to_device(a, stream=stream) for a in (*given, np.zeros(1, np.int64), *results)]
    back = [*zip(results, on_device[-len(results) :], strict=True)]
    for one in of.arguments:
        written = one.kind is Kind.WRITTEN
        there = (
            cuda.device_array_like(one.array, stream=stream) if written else cuda.to_device(one.array, stream=stream)
        )
        on_device.append(there)
        if one.kind in FOUND:
            back.append((one.array, there))
    run(kernel, -(-len(out) // THREADS), stream, on_device)
    for own, there in back:
        there.copy_to_host(own, stream=stream)
    stream.synchronize()


def run(kernel: Any, blocks: int, stream: Any, arrays: list[Any]) -> None:
    """Run a kernel, which is compiled for these arrays or taken from the cache.

    One thread at a time: two that begin with a kernel would both load it to the device, which fails for the second.
    """
    with _BEGINNING:
        try:
            kernel[blocks, THREADS, stream](*arrays)
        finally:
            kernel._cache.release()


def _for_device(function: Any, replaced: Mapping[str, Any], done: dict[Any, Any]) -> Any:
    """A function of compiled code and all that it calls, compiled for the device; ``replaced``: names with other values."""
    if function not in done:
        source = getattr(function, "py_func", function)
        values = {name: source.__globals__[name] for name in source.__code__.co_names if name in source.__globals__}
        for name, value in values.items():
            if name in replaced:
                values[name] = replaced[name]
            elif isinstance(value, CPUDispatcher):
                values[name] = _for_device(value, replaced, done)
            elif BatchWorkspace in getattr(value, "forms", ()):
                values[name] = _for_device(value.forms[BatchWorkspace], replaced, done)
        done[function] = cuda.jit(device=True)(FunctionType(source.__code__, values, source.__name__))
    return done[function]


@cuda.jit(device=True)
def _itself(m):  # type: ignore[no-untyped-def]
    """In place of ``pointers.local``: the memory of a thread is its own."""
    return m


@cuda.jit(device=True)
def _no_stages(m, which):  # type: ignore[no-untyped-def]
    """In place of ``batches.stages.written_stages``, which are machine code of the CPU: ``stages`` (2,) are zeros."""


@cuda.jit(device=True)
def _no_lanes(address, y, constants, out, worst):  # type: ignore[no-untyped-def]
    """In place of ``batches.stages.call_lanes`` where there is no kernel."""


@cuda.jit(device=True)
def _no_forces(address, y, signals, own, Q, power, energy):  # type: ignore[no-untyped-def]
    """In place of ``batches.forces.call_forces`` where there are no forces, or the equations have them."""


@cuda.jit(device=True)
def _no_equations(address, y, signals, own, limits, out, power, energy, worst):  # type: ignore[no-untyped-def]
    """In place of ``batches.forces.call_equations`` where there is a kernel."""


@cuda.jit(device=True)
def _no_surfaces(m, purpose, memory, address, a, b, x, y):  # type: ignore[no-untyped-def]
    """In place of ``batches.surfaces.call_surfaces`` where there are no limits and contacts."""
    return 0


@cuda.jit(device=True)
def _no_events(m, purpose, memory, a):  # type: ignore[no-untyped-def]
    """In place of ``batches.event_memory.call_event_part``: there are no events."""
    return 0


@cuda.jit(device=True)
def _nothing_measured(x, y, signals, own, to):  # type: ignore[no-untyped-def]
    """In place of ``batches.contacts.measure`` where there are no contacts."""


@cuda.jit(device=True)
def _no_kinks(address, y, signals, own, out):  # type: ignore[no-untyped-def]
    """In place of ``call_kinks`` and ``call_angles`` where forces have none."""


@cuda.jit(device=True)
def _no_rows(m):  # type: ignore[no-untyped-def]
    """In place of ``batches.closing.project_ends`` where no rows restrain coordinates."""


@cuda.jit(device=True)
def _no_checks(m, rtol, atol):  # type: ignore[no-untyped-def]
    """In place of ``batches.closing.check_ends`` where no rows restrain coordinates."""


def _of_text(text: str, name: str) -> Any:
    """The function of a text for one lane, for the device."""
    names: dict[str, Any] = {"math": math}
    exec(text, names)
    return cuda.jit(device=True)(names[name])


def _of_texts(texts: Texts) -> dict[str, Any]:
    """In place of the functions of the batch that call machine code of the CPU: those of the texts."""
    found: dict[str, Any] = {"call_forces": _no_forces, "call_equations": _no_equations, "call_kinks": _no_kinks}
    found["call_angles"] = _no_kinks
    found["measure"] = _nothing_measured
    if texts.forces:
        forces = _of_text(texts.forces, tree_forces.FORCES.name)

        @cuda.jit(device=True)
        def call_forces(address, y, signals, own, Q, power, energy):  # type: ignore[no-untyped-def]
            forces(y, signals, own, Q, power, energy)

        found["call_forces"] = call_forces
    if texts.equations:
        equations = _of_text(texts.equations, tree_recursion.NAME)

        @cuda.jit(device=True)
        def call_equations(address, y, signals, own, limits, out, power, energy, worst):  # type: ignore[no-untyped-def]
            equations(y, signals, own, limits, out, power, energy, worst)

        found["call_equations"] = call_equations
    if texts.kinks:
        kinks = _of_text(texts.kinks, force_kinks.NAME)

        @cuda.jit(device=True)
        def call_kinks(address, y, signals, own, out):  # type: ignore[no-untyped-def]
            kinks(y, signals, own, out)

        found["call_kinks"] = call_kinks
    if texts.angles:
        angles = _of_text(texts.angles, force_kinks.ANGLES)

        @cuda.jit(device=True)
        def call_angles(address, y, signals, own, out):  # type: ignore[no-untyped-def]
            angles(y, signals, own, out)

        found["call_angles"] = call_angles
    if texts.contacts:
        contacts = _of_text(texts.contacts, measured_contacts.CONTACTS.name)

        @cuda.jit(device=True)
        def measure(x, y, signals, own, to):  # type: ignore[no-untyped-def]
            contacts(y, signals, own, to)

        found["measure"] = measure
    if not texts.correction:
        return found | {"project_ends": _no_rows, "check_ends": _no_checks}
    correction, derivative = _of_text(texts.correction, "correction"), _of_text(texts.derivative, "derivative")

    @cuda.jit(device=True)
    def find_correction(x, y, constants):  # type: ignore[no-untyped-def]
        correction(y, constants, x.change, x.left)

    @cuda.jit(device=True)
    def call_lanes(address, y, constants, out, worst):  # type: ignore[no-untyped-def]
        derivative(y, constants, out, worst)

    return found | {"find_correction": find_correction, "call_lanes": call_lanes}


def _lanes_of(module: ModuleType | None) -> Any:
    """In place of ``batches.stages.call_lanes``: the derivative of the kernel of a model."""
    if module is None:
        return _no_lanes
    derivative = _for_device(module.derivative, {}, {})
    if hasattr(module, "BODIES"):

        @cuda.jit(device=True)
        def call_lanes(address, y, constants, out, worst):  # type: ignore[no-untyped-def]
            derivative(0, y[:, None], constants, constants, constants, out[:, None], worst[:, None])
    else:

        @cuda.jit(device=True)
        def call_lanes(address, y, constants, out, worst):  # type: ignore[no-untyped-def]
            derivative(0, y[:, None], constants, out[:, None], worst[:, None])

    return call_lanes


@cache
def _integration(module: ModuleType | None, texts: Texts, rows: bool) -> Any:
    """``batch.integrate`` for the device, with the kernel of a model and the texts of what it does not know."""
    replaced = {"local": _itself, "call_lanes": _lanes_of(module), "written_stages": _no_stages}
    replaced |= _of_texts(texts)
    done: dict[Any, Any] = {}
    replaced |= {"call_surfaces": _no_surfaces, "call_event_part": _no_events}
    if rows:
        part = _for_device(surfaces_part, replaced, done)

        @cuda.jit(device=True)
        def call_surfaces(m, purpose, memory, address, a, b, x, y):  # type: ignore[no-untyped-def]
            return part(purpose, memory, address, a, b, x, y)

        replaced["call_surfaces"] = call_surfaces
    of_kinks = _for_device(kink_part, replaced, done)

    @cuda.jit(device=True)
    def call_kink_part(x, memory, special):  # type: ignore[no-untyped-def]
        return special if len(x.kinks_by) == 0 else of_kinks(memory, special)

    replaced["call_kink_part"] = call_kink_part
    return _for_device(batch.integrate, replaced, done)


class Kernel:
    """The text of a kernel and the types of its memory; equal ones have equal texts."""

    def __init__(self, text: str, of: MemoryText, *, rows: bool = False) -> None:
        self.text, self.types, self.rows = text, of.types, rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@cache
def kernel_of(module: ModuleType | None, of: Kernel, texts: Texts) -> Any:
    """The kernel of a model, or of the text of its equations, with the texts of what the model's kernel does not know."""
    integration = _integration(module, texts, of.rows)
    names = {"cuda": cuda, "float64": float64, "int64": int64, "integration": integration, **of.types}
    exec(of.text, names)
    kernel = cuda.jit(names["run"])
    source = "" if module is None else digest_of_kernel(inspect.getsource(module))
    made_from = sha256(digest_of(__name__) + source + "".join(texts) + of.text)[:16]
    digest = made_from if unchanged(__name__) else None
    kernel._cache = DeviceCode("the integration of cases on the graphics processor", digest, THREADS)
    return kernel
