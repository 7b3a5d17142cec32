"""Whole-model kernels: how they are found, and their constants for a system.

The key of a kernel is the digest of everything that determines its text, including the source of the emitter.  Therefore a kernel
with the key of a model is never stale.  A model without a kernel uses the general evaluation, whose results agree to rounding.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import threading
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from generated import digests
from runtime.dynamics.layout import LANES
from runtime.dynamics.model_data import ModelData, WholeModelKernel
from runtime.dynamics.sources import count_of_drivers
from runtime.jit import addresses
from runtime.jit.freshness import WHOLE, digests_of, refuse
from runtime.support.arrays import Floats
from runtime.support.latest import Latest
from runtime.support.stopwatch import preparing
from runtime.system.model_description import file_of, parameters_of
from runtime.system.system import System

_LOADING = threading.Lock()


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
    """Return the module of a model's kernel, if there is one.

    Raises
    ------
    StaleKernelsError
        Where the file of a user's kernel was changed after emission.
    """
    if name := _shipped().get(key):
        return _imported(name)
    name, file = f"{WHOLE}.model_{key}", file_of(key)
    if name in sys.modules:
        return sys.modules[name]
    with _LOADING:
        if name in sys.modules:  # loaded by another thread meanwhile
            return sys.modules[name]
        if not file.is_file():
            return None
        stated, true = digests_of(file)
        if true != stated or f"\nKEY = '{key}'\n" not in file.read_text(encoding="utf-8"):
            refuse(
                f"the whole-model kernel {file} was edited by hand or cut off",
                "delete the file, or call codegen.compile_model(system) again",
            )
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
        return module


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
    module = None if system.data.forces.reactive.size else module_of(system.model.key)
    if module is None:
        return None
    return (
        module.__name__.replace(".", "/") + ".py" if module.__name__.startswith("generated.") else str(module.__file__)
    )


def whole_of(system: System, data: ModelData) -> WholeModelKernel | None:
    """Return the whole-model kernel of a system with this data, if there is one."""
    # Its elimination takes independent rows only, keeps no factors for friction by reactions, and gives no multipliers, which
    # the powers of several drivers need.
    if system.redundant or len(data.forces.reactive) or count_of_drivers(data) > 1:
        return None
    with preparing():  # the import takes as long as a hundred runs
        module = module_of(system.model.key)
    if module is None:
        return None
    return WholeModelKernel(int(addresses.addresses_of([module])[0]), module.LOADED, _latest(module, system, data))


def constants_of(module: ModuleType, system: System, data: ModelData) -> Floats:
    """Return the constants that a kernel computes in advance from the parameters of a system with this data."""
    parameters = parameters_of(data, system.state.y, system.model.fixed)
    constants = np.zeros(max(module.CONSTANTS, 1))
    module.prepare([float(parameters[name][index]) for name, index in module.PARAMETERS], constants)
    return constants


_latest = Latest(constants_of, 8)  # constants that no run changes: they take longer than the rest of its beginning
