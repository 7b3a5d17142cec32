"""Description of a system for its whole-model kernel: everything that determines the kernel's text, and its digest, the key."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from generated import digests
from runtime.dynamics.kinematics import euler_rates, rotation
from runtime.dynamics.layout import STATE, V
from runtime.dynamics.model_data import ModelData
from runtime.jit.freshness import WHOLE
from runtime.jit.place import cache_folder
from runtime.jit.python_code import python_code
from runtime.support.arrays import Bools, Floats
from runtime.system.parts import GROUND, Joint

# Zeros and ones of these parameters are given by users and folded into the kernel; those of others may come from rounding.
FOLDED = ("mass", "inertia", "inertia_inverse", "gravity", "vector_local")


@dataclass(frozen=True)
class Model:
    """Description of a system from which ``codegen`` emits its kernel.  Body 0 is the ground."""

    name: str
    key: str
    made_from: dict[str, str]  # digests of the joints' kernels by module
    fixed: Sequence[bool]
    joints: Sequence[tuple[Any, int, int, Sequence[int]]]
    vectors: Sequence[tuple[int, int, int]]
    signals: Sequence[tuple[int, int]]
    loaded: bool
    thin: bool  # bodies without inertia in some rotation, which a kernel of this kind cannot have
    parameters: dict[str, Floats]
    folded: dict[str, Bools]
    rotation: Any = rotation
    euler_rates: Any = euler_rates

    @property
    def file(self) -> Path:
        """Path of the kernel of a user's model."""
        return cache_folder() / WHOLE / f"model_{self.key}.py"


def like_model(model: Model, data: ModelData, y: Floats) -> Model | None:
    """Return the description of a system with other parameters, if the same kernel serves: no folded parameter has changed.

    A parameter that has become 0 or 1 remains an argument of the kernel.
    """
    found = parameters_of(data, y, model.fixed)
    if model.thin == (len(data.thin_body) > 0) and all(
        np.array_equal(found[name][folded], model.parameters[name][folded]) for name, folded in model.folded.items()
    ):
        return replace(model, parameters=found)
    return None


def describe_model(
    name: str, bodies: Sequence[str], joints: Sequence[Joint], loaded: bool, t: ModelData, y: Floats
) -> Model:
    """Describe a system by the names of its bodies, its joints, flat data and initial state.

    ``loaded``: the system has limits, loads, motors or contacts, whose forces are computed outside of the kernel.
    """
    on_ground = [{joint.body_i, joint.body_j} for joint in joints if joint.kind == "fixed"]
    fixed = [True, *({GROUND, body} in on_ground for body in bodies)]
    parameters = parameters_of(t, y, fixed)
    folded = {
        name: ((values == 0.0) | (np.abs(values) == 1.0)) & (name in FOLDED) for name, values in parameters.items()
    }
    rows = [list(range(n)) for n in t.rows.tolist()]
    pairs = [(int(i), int(j)) for i, j in zip(t.body_i, t.body_j, strict=True)]
    vectors = [(int(k), int(p), int(b)) for k, p, b in zip(t.vector_joint, t.vector_place, t.vector_body, strict=True)]
    signals = [(int(k), int(p)) for k, p in zip(t.signal_joint, t.signal_place, strict=True)]
    constants = [
        [name, list(map(int, i)), float(parameters[name][i])]
        for name in FOLDED
        for i in map(tuple, np.argwhere(folded[name]))
    ]
    kernels = {joint.module.__name__: digest_of_module(joint.module) for joint in joints}
    decided = [
        digests.WHOLE, kernels, _text(rotation), _text(euler_rates),
        [[joint.module.__name__, *pair, own] for joint, pair, own in zip(joints, pairs, rows, strict=True)],
        fixed, vectors, signals, loaded, *(["thin"] * (len(t.thin_body) > 0)),
        {name: values.shape for name, values in parameters.items()}, constants,
    ]  # fmt: skip
    return Model(
        name=name,
        key=key_of(decided),
        made_from=kernels,
        fixed=fixed,
        joints=[(joint.module.evaluate, *pair, own) for joint, pair, own in zip(joints, pairs, rows, strict=True)],
        vectors=vectors,
        signals=signals,
        loaded=loaded,
        thin=len(t.thin_body) > 0,
        parameters=parameters,
        folded=folded,
    )


def key_of(decided: object) -> str:
    """Key of a kernel, from everything that determines its text."""
    return hashlib.sha256(json.dumps(decided).encode()).hexdigest()[:16]


def parameters_of(t: ModelData, y: Floats, fixed: Sequence[bool]) -> dict[str, Floats]:
    """All parameters of a system by their names in ``ModelData``, and the poses of the bodies fixed to the ground."""
    x, pose = np.array(t.x), np.zeros((len(t.mass), V))
    for joint, place in zip(t.vector_joint, t.vector_place, strict=True):
        x[joint, place : place + 3] = 0.0  # global components, which every evaluation overwrites
    pose[1:][fixed[1:]] = y.reshape(-1, STATE)[fixed[1:], :V]
    found = {name: np.asarray(getattr(t, name)) for name in FOLDED}
    return found | {"x": x, "pose": pose, "alpha": np.array(t.alpha), "beta": np.array(t.beta)}


@cache
def _text(function: Any) -> str:
    return inspect.getsource(python_code(function))


@cache
def digest_of_module(module: ModuleType) -> str:
    """Digest of the text of a joint's kernels."""
    return hashlib.sha256(inspect.getsource(module).encode()).hexdigest()
