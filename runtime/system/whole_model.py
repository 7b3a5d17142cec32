"""Whole-model kernels: how they are found, and their constants for a system.

The key of a kernel is the digest of everything that determines its text, including the source of the emitter.  Therefore a kernel
with the key of a model is never stale.  A model without a kernel uses the general evaluation, whose results agree to rounding.

Kernels are those that come with Talus, and those for which this program has called ``codegen.compile_model``: what the cache
holds for the sake of other programs decides nothing.
"""

from __future__ import annotations

import importlib
import inspect
import linecache
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from generated import digests
from runtime.dynamics.angles import OF_JOINT, SORT
from runtime.dynamics.layout import LANES
from runtime.dynamics.model_data import ModelData, WholeModelKernel
from runtime.dynamics.sources import count_of_drivers
from runtime.jit import addresses
from runtime.jit.freshness import WHOLE
from runtime.support.arrays import Floats
from runtime.support.latest import Latest
from runtime.support.stopwatch import preparing
from runtime.system.definitions import is_own
from runtime.system.model_description import parameters_of
from runtime.system.system import System

OWN = f"{WHOLE}.model_"  # beginning of the names of modules of this program


@cache
def _shipped() -> dict[str, str]:
    """Names of the modules in ``generated/whole`` by their keys."""
    found = {}
    for file in (Path(str(digests.__file__)).parent / WHOLE).glob("*.py"):
        key = re.search(r"^KEY = '(\w+)'$", file.read_text(encoding="utf-8"), re.MULTILINE)
        if key:
            found[key[1]] = f"generated.{WHOLE}.{file.stem}"
    return found


def module_of(key: str) -> ModuleType | None:
    """Return the module of a model's kernel, if there is one."""
    name = _shipped().get(key)
    return _imported(name) if name else sys.modules.get(f"{OWN}{key}")


def own_kernels() -> dict[str, str]:
    """Names and texts of the kernels that this program has made, for processes that work for it."""
    return {name: inspect.getsource(module) for name, module in list(sys.modules.items()) if name.startswith(OWN)}


def use_kernels(texts: Mapping[str, str]) -> None:
    """Use kernels of the program for which this process works, as ``own_kernels`` gives them there."""
    for name, text in texts.items():
        if name not in sys.modules:
            module, file = ModuleType(name), f"<{name}>"
            module.__file__ = file
            linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
            exec(compile(text, file, "exec"), module.__dict__)
            sys.modules[name] = module


@cache
def _imported(name: str) -> ModuleType:
    """A module, when it is complete: another thread may be about to import it, and ``sys.modules`` has it from the beginning."""
    return importlib.import_module(name)


def batch_kernel_of(key: str) -> ModuleType | None:
    """Return the module of a model's kernel, if the kernel serves batches.

    Kernels of models without limits, contacts, forces, loads, motors and drivers do.
    """
    module = module_of(key)
    return module if module is not None and module.LANES == LANES else None


def place_of(system: System) -> str | None:
    """Path of the whole-model kernel of a system, for reports; None if there is none."""
    module = None if system.data.forces.reactive.size or counts_in_rows(system) else module_of(system.model.key)
    if module is None:
        return None
    return str(module.__file__) if is_own(module) else module.__name__.replace(".", "/") + ".py"


def counts_in_rows(system: System) -> bool:
    """Whether rows of joints have angles whose revolutions are counted, which kernels of whole models do not know."""
    return bool((system.data.angles[:, SORT] == OF_JOINT).any())


def module_of_whole(system: System, data: ModelData) -> ModuleType | None:
    """Return the module of the whole-model kernel of a system with this data, if there is one."""
    # Its elimination takes independent rows only, keeps no factors for friction by reactions, and gives no multipliers, which
    # the powers of several drivers need.
    if system.redundant or len(data.forces.reactive) or count_of_drivers(data) > 1 or counts_in_rows(system):
        return None
    with preparing():  # the import takes as long as a hundred runs
        return module_of(system.model.key)


def whole_of(system: System, data: ModelData) -> WholeModelKernel | None:
    """Return the whole-model kernel of a system with this data, if there is one."""
    if (module := module_of_whole(system, data)) is None:
        return None
    return WholeModelKernel(int(addresses.addresses_of([module])[0]), module.LOADED, _latest(module, system, data))


def constants_of(module: ModuleType, system: System, data: ModelData) -> Floats:
    """Return the constants that a kernel computes in advance from the parameters of a system with this data."""
    parameters = parameters_of(data, system.state.y, system.model.fixed)
    constants = np.zeros(max(module.CONSTANTS, 1))
    module.prepare([float(parameters[name][index]) for name, index in module.PARAMETERS], constants)
    return constants


_latest = Latest(constants_of, 8)  # constants that no run changes: they take longer than the rest of its beginning
