"""Whole-model kernels: what they are emitted from, where they are found, and how they are made ready for a system.

A kernel belongs to a model by its key: the digest of all that decided its text, the emitter's own text included.  So a kernel
that is found is fresh; where none is found, the general evaluation serves, with the same answers to rounding.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from generated import digests
from runtime import addresses
from runtime.equations import STATE, Tables, V, Whole, euler_rates, rotation
from runtime.kernels import WHOLE, compiled_folder, digests_of, refuse
from runtime.lanes import LANES
from runtime.structure import Floats

if TYPE_CHECKING:
    from runtime.system import System

# Parameters that are zero or one are taken for what they are where the user gave them so; others may be so by rounding.
FOLDED = ("mass", "inertia", "inertia_inverse", "gravity", "vector_local")


@dataclass(frozen=True)
class Model:
    """What has to be known of a system to emit its kernel; ``codegen.whole`` tells the shapes.  Body 0 is the ground."""

    name: str
    key: str
    made_from: dict[str, str]  # digests of the texts of the kernels that it is made from, by module
    fixed: Sequence[bool]
    joints: Sequence[tuple[Any, int, int, Sequence[int]]]
    vectors: Sequence[tuple[int, int, int]]
    signals: Sequence[tuple[int, int]]
    loaded: bool
    parameters: dict[str, Floats]
    folded: dict[str, np.ndarray[Any, np.dtype[np.bool_]]]
    rotation: Any = rotation
    euler_rates: Any = euler_rates

    @property
    def file(self) -> Path:
        """Where the kernel of a user's model is to lie."""
        return _file(self.key)


def model_like(model: Model, system: System) -> Model | None:
    """The model of a system that differs in numbers alone, if the same kernel serves: what is folded in it has not changed.

    A number that has become 0 or 1 is an argument still.
    """
    found = _parameters(system.tables, system.state.y, model.fixed)
    if all(
        np.array_equal(found[name][folded], model.parameters[name][folded]) for name, folded in model.folded.items()
    ):
        return replace(model, parameters=found)
    return None


def model_of(system: System) -> Model:
    """The model of a system."""
    t = system.tables
    fixed = [True, *(_is_fixed(system, name) for name in system.body_names)]
    parameters = _parameters(t, system.state.y, fixed)
    folded = {name: _foldable(values) & (name in FOLDED) for name, values in parameters.items()}
    kept = [[int(r) for r in t.active_row[k, : t.active[k]]] for k in range(len(system.joints))]
    bodies = [(int(i), int(j)) for i, j in zip(t.body_i, t.body_j, strict=True)]
    vectors = [(int(k), int(p), int(b)) for k, p, b in zip(t.vector_joint, t.vector_place, t.vector_body, strict=True)]
    signals = [(int(k), int(p)) for k, p in zip(t.signal_joint, t.signal_place, strict=True)]
    loaded = bool(system.limits or system.loads or system.motors or system.contacts)
    constants = [[name, list(map(int, i)), float(parameters[name][i])] for name in FOLDED for i in _where(folded[name])]
    kernels = {joint.module.__name__: _digest(joint.module) for joint in system.joints}
    decided = [
        digests.WHOLE, kernels, _text(rotation), _text(euler_rates),
        [[joint.module.__name__, *pair, rows] for joint, pair, rows in zip(system.joints, bodies, kept, strict=True)],
        fixed, vectors, signals, loaded, {name: values.shape for name, values in parameters.items()}, constants,
    ]  # fmt: skip
    return Model(
        name=system.name,
        key=hashlib.sha256(json.dumps(decided).encode()).hexdigest()[:16],
        made_from=kernels,
        fixed=fixed,
        joints=[
            (joint.module.evaluate, *pair, rows) for joint, pair, rows in zip(system.joints, bodies, kept, strict=True)
        ],
        vectors=vectors,
        signals=signals,
        loaded=loaded,
        parameters=parameters,
        folded=folded,
    )


def _foldable(values: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
    mask: np.ndarray[Any, np.dtype[np.bool_]] = (values == 0.0) | (np.abs(values) == 1.0)
    return mask


def _is_fixed(system: System, name: str) -> bool:
    """The body is held by a fixed joint to the ground."""
    return any(j.kind == "fixed" and {j.body_i, j.body_j} == {"ground", name} for j in system.joints)


def _parameters(t: Tables, y: Floats, fixed: Sequence[bool]) -> dict[str, Floats]:
    """All parameters of a system by the names of their tables, and the poses of the bodies fixed to the ground."""
    x, pose = np.array(t.x), np.zeros((len(t.mass), V))
    for joint, place in zip(t.vector_joint, t.vector_place, strict=True):
        x[joint, place : place + 3] = 0.0  # memory
    pose[1:][fixed[1:]] = y.reshape(-1, STATE)[fixed[1:], :V]
    found = {name: np.asarray(getattr(t, name)) for name in FOLDED}
    return found | {"x": x, "pose": pose, "alpha": np.array(t.alpha), "beta": np.array(t.beta)}


def _where(mask: np.ndarray[Any, np.dtype[np.bool_]]) -> list[tuple[int, ...]]:
    return [tuple(index) for index in np.argwhere(mask)]


@cache
def _text(function: Any) -> str:
    return inspect.getsource(function.py_func)


@cache
def _digest(module: ModuleType) -> str:
    """Of the text of a joint's kernels."""
    return hashlib.sha256(inspect.getsource(module).encode()).hexdigest()


def _file(key: str) -> Path:
    return compiled_folder() / WHOLE / f"model_{key}.py"


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
    """The module of a model's kernel, if there is one.

    Raises
    ------
    StaleKernelsError
        Where the kernel of a user's model is not as it was emitted.
    """
    if name := _shipped().get(key):
        return importlib.import_module(name)
    name, file = f"{WHOLE}.model_{key}", _file(key)
    if name not in sys.modules:
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
    return sys.modules[name]


def lanes_of(key: str) -> ModuleType | None:
    """The same, if it has lanes: so has a model without limits, contacts, loads, motors and drivers."""
    module = module_of(key)
    return module if module is not None and module.LANES == LANES else None


def place_of(system: System) -> str | None:
    """Where the whole-model kernel of a system lies, for people; None if there is none."""
    module = module_of(system.model.key)
    if module is None:
        return None
    return (
        module.__name__.replace(".", "/") + ".py" if module.__name__.startswith("generated.") else str(module.__file__)
    )


def whole_of(system: System, tables: Tables) -> Whole | None:
    """The whole-model kernel of a system with these tables, if there is one."""
    model = system.model
    module = module_of(model.key)
    if module is None:
        return None
    return Whole(int(addresses.addresses_of([module])[0]), module.LOADED, constants_of(module, system, tables))


def constants_of(module: ModuleType, system: System, tables: Tables) -> Floats:
    """What a kernel keeps of the parameters of a system with these tables."""
    parameters = _parameters(tables, system.state.y, system.model.fixed)
    constants = np.zeros(max(module.CONSTANTS, 1))
    module.prepare([float(parameters[name][index]) for name, index in module.PARAMETERS], constants)
    return constants
