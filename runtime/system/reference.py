"""The reference configuration: quantities that definitions call across, carried and held are computed in it once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from runtime.dynamics.kinematics import rotation
from runtime.dynamics.layout import GROUND_INDEX, STATE, P, R, V
from runtime.dynamics.vectors import Vector, vector_data, vectors_of
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats, crossed, read_only
from runtime.system.parts import GROUND, Contact, Force, Joint, Limit

EYE = np.eye(3)
KEPT = 64  # rotation matrices: the parts of a system ask for those of few bodies many times
BODY_FRAME = dict(zip(("xi", "eta", "zeta"), EYE, strict=True))  # axes of a body in its own components


def ground_state() -> Floats:
    """The state of the ground, (13,)."""
    state = np.zeros(STATE)
    state[P] = 1.0
    return state


def states_with_ground(y: Floats) -> Floats:
    """States of the ground and of all bodies, (..., bodies + 1, 13), from those of the bodies in a row (..., 13 bodies)."""
    more = y.shape[:-1]
    ground = np.broadcast_to(ground_state(), (*more, 1, STATE))
    return np.concatenate([ground, y.reshape(*more, y.shape[-1] // STATE, STATE)], axis=-2)


def body_places(names: Iterable[str]) -> dict[str, int]:
    """Places of the ground and of the bodies among these states, by name."""
    return {GROUND: GROUND_INDEX} | {name: k + 1 for k, name in enumerate(names)}


def states_by_name(y: Floats, names: Iterable[str]) -> dict[str, Floats]:
    """States (..., 13) of the ground and of the bodies by name, from those of the bodies in a row (..., 13 bodies)."""
    states = states_with_ground(y)
    return {name: states[..., k, :] for name, k in body_places(names).items()}


def rotation_matrix(p: Floats) -> Floats:
    """Rotation matrix of Euler parameters, (3, 3), from local to global components; read-only."""
    return _rotation_matrix(np.asarray(p, float).tobytes())


@lru_cache(KEPT)
def _rotation_matrix(p: bytes) -> Floats:
    matrix: Floats = read_only(rotation_matrices(np.frombuffer(p)[None])[0])
    return matrix


def rotation_matrices(p: Floats) -> Floats:
    """Rotation matrices of Euler parameters (n, 4), (n, 3, 3), from local to global components."""
    A = np.empty((len(p), 3, 3))
    python_code(rotation)(p.T, A.transpose(1, 2, 0))
    return A


def placed_vectors(joint: Joint, state_i: Floats, state_j: Floats) -> Iterator[tuple[str, str, str, Floats]]:
    """Points and directions that a joint was given, in states (13,) of its bodies.

    Name, kind, side ("i" or "j") and global vector of each.
    """
    A = {side: (rotation_matrix(state[P:V]), state[R:P]) for side, state in (("i", state_i), ("j", state_j))}
    for name, kind, side in joint.module.VECTORS:
        if name in joint.values:
            turned = A[side][0] @ joint.values[name]
            yield name, kind, side, turned + A[side][1] if kind == "point" else turned


def reference(
    joint: Joint | Limit | Contact | Force, state_i: Floats, state_j: Floats, x: Floats, *more: Floats
) -> dict[str, Floats]:
    """Return the local components of all body-fixed vectors of a joint, limit, contact or force; write its constants into x.

    ``more``: states of bodies k and l of a force that has these.  Many cases at once: x (X, cases), vectors (3, cases) or (3, 1)
    and constants (cases,) or numbers as values, states (13,) or (13, cases).

    Held constants and carried vectors are evaluated in the reference configuration by the kernel of the definition.
    """
    module = joint.module
    states = (state_i, state_j, *more)
    A = {body: _axes(state) for body, state in zip("ijkl", states, strict=False)}
    local: dict[str, Floats] = {}
    carried: list[tuple[int, str, str]] = []
    for n, (vector, kind, body) in enumerate(module.VECTORS):
        if kind == "frame":
            local[vector] = BODY_FRAME[vector.split("_")[0]].reshape(3, *[1] * (x.ndim - 1))
        elif kind.startswith("across"):
            local[vector] = tangents(local[kind.split(":")[1]])[int(kind[6]) - 1]
        elif kind.startswith("carried"):
            carried.append((n, vector, body))
            local[vector] = np.zeros((3, *x.shape[1:]))
        else:
            local[vector] = joint.values[vector]
        x[3 * n : 3 * n + 3] = _times(A[body], local[vector])
    start = 3 * len(module.VECTORS)
    constants = [joint.values[key] for key, *_ in module.PARAMETERS]
    for n, constant in enumerate(constants):
        x[start + n] = constant
    own = len(getattr(module, "STATES", ()))  # states of a force: their initial values
    out = np.zeros((3 * len(carried) + module.HELD + getattr(module, "BRANCH_SIGNS", 0) + own, *x.shape[1:]))
    _evaluate(module.reference, states, x, out)
    for k, (n, vector, body) in enumerate(carried):
        x[3 * n : 3 * n + 3] = out[3 * k : 3 * k + 3]
        local[vector] = _times(np.swapaxes(A[body], -1, -2), out[3 * k : 3 * k + 3])
    if carried:  # again: a held value may use a carried vector
        _evaluate(module.reference, states, x, out)
    start += len(constants)
    x[start : start + module.HELD] = out[3 * len(carried) :][: module.HELD]
    if own:
        x[module.STATES_PLACE :][:own] = out[3 * len(carried) + module.HELD :]
    return local


def _evaluate(kernel: Any, states: Sequence[Floats], x: Floats, out: Floats) -> None:
    """Call a kernel ``reference``; for many cases at once, unless it has functions of single numbers."""
    code = python_code(kernel)
    if x.ndim == 1 or "math" not in code.__code__.co_names:
        code(*states, x, out)
        return
    for case in range(x.shape[1]):
        code(*(state if state.ndim == 1 else state[:, case] for state in states), x[:, case], out[:, case])


def _axes(state: Floats) -> Floats:
    """Rotation matrix (3, 3) of a body in a state (13,), or matrices (cases, 3, 3) in states (13, cases)."""
    return rotation_matrix(state[P:V]) if state.ndim == 1 else rotation_matrices(state[P:V].T)


def _times(A: Floats, vector: Floats) -> Floats:
    """A matrix (3, 3) times a vector (3,) or columns (3, cases), or matrices (cases, 3, 3) times those, (3, cases)."""
    if A.ndim == 2:
        return np.asarray(A @ vector)
    return np.asarray((A @ np.asarray(vector).T[..., None])[..., 0].T)


def reference_data(
    sort: str,
    items: Sequence[Joint | Limit | Contact],
    index: Mapping[str, int],
    states: Floats,
    ends: tuple[str, str] = ("body_i", "body_j"),
) -> dict[str, Any]:
    """Return bodies i and j of joints, limits or contacts, their constants x (items, X), and the flat data of their vectors.

    All are computed in the reference configuration ``states`` (bodies + 1, 13); ``index``: places of the bodies by name;
    ``ends``: attributes of an item that hold the names of bodies i and j; ``sort``: of the items, as fields of the data name it.
    """
    body_i, body_j = (np.array([index[getattr(item, end)] for item in items], np.int64) for end in ends)
    x = np.zeros((len(items), max([item.module.SIZE for item in items], default=1)))
    vectors: list[Vector] = []
    for k, item in enumerate(items):
        owner = {"i": int(body_i[k]), "j": int(body_j[k])}
        local = reference(item, states[owner["i"]], states[owner["j"]], x[k])
        vectors += vectors_of(k, item.module.VECTORS, owner, local)
    return {"body_i": body_i, "body_j": body_j, "x": x, **named_vectors(sort, vectors)}


def named_vectors(sort: str, vectors: Sequence[Vector]) -> dict[str, Any]:
    """Flat data of vectors by the names of their fields, such as "vector_joint" (``sort``: "joint")."""
    names = (f"vector_{sort}", "vector_place", "vector_body", "vector_local")
    return dict(zip(names, vector_data(list(vectors)), strict=True))


def branch_signs(joint: Joint, state_i: Floats, state_j: Floats, x: Floats) -> Floats:
    """Signs (n, ...) of the expressions that the joint's definition passes to ``keeps_sign``: -1, 0 or 1 each.

    Of one case, or of many: states (13,) or (13, cases), x (X, ...).
    """
    module = joint.module
    before = 3 * sum(kind.startswith("carried") for _, kind, _ in module.VECTORS) + module.HELD
    out = np.zeros((before + module.BRANCH_SIGNS, *x.shape[1:]))
    python_code(module.reference)(state_i, state_j, x, out)
    return np.asarray(np.sign(out[before:]))


def tangents(a: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors that complete the unit vector a to a right-handed triad; columns for columns a (3, n)."""
    smallest = np.argmin(np.abs(a), axis=0)
    b = crossed(a.T, EYE[smallest])
    b /= np.sqrt((b * b).sum(axis=-1, keepdims=True))
    return b.T, crossed(a.T, b).T
