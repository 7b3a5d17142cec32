"""Digests by which a folder proves that its files belong together and were not changed since they were written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from runtime.support.arrays import Floats
from runtime.system.model_writing import digests_of_definitions, parts_of
from runtime.system.system import System

SEAL = "seal"  # key of the digest of a description, and of a chunk
STATES, OF_STATES = "states", "seal_of_states"  # an array that may be left unread, and its digest
# Fields of the data with addresses, which differ between processes; their other entries follow from kinds and joints of forces.
ADDRESSES = ("address", "lookups", "kinks", "angles", "reactive")


def seal_of_description(description: Mapping[str, Any]) -> str:
    """Digest of all entries of a description but its seal."""
    own = {name: value for name, value in description.items() if name != SEAL}
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[:16]


def digest_of_arrays(arrays: Mapping[str, Any]) -> str:
    """Digest of arrays by name."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        values = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {values.dtype.str} {values.shape} ".encode())
        # The bytes of objects are their addresses.
        digest.update(json.dumps(values.tolist()).encode() if values.dtype == object else values.reshape(-1).data)
    return digest.hexdigest()[:16]


def sealed(arrays: Mapping[str, Any], ensemble: str) -> dict[str, Any]:
    """The arrays of a chunk with the digests of them; ``ensemble``: the seal of its description."""
    all_of = {**arrays, "ensemble": np.array(ensemble)}
    all_of[OF_STATES] = np.array(digest_of_arrays({STATES: all_of[STATES]}))
    all_of[SEAL] = np.array(_seal(all_of))
    return all_of


def is_sealed(arrays: Mapping[str, Any], left_out: Collection[str] = ()) -> bool:
    """Whether the digests of a chunk are those of its arrays; states that were left out are not compared.

    Raises
    ------
    KeyError
        For a chunk without digests.
    """
    if STATES not in left_out and str(arrays[OF_STATES]) != digest_of_arrays({STATES: arrays[STATES]}):
        return False
    return str(arrays[SEAL]) == _seal(arrays)


def _seal(arrays: Mapping[str, Any]) -> str:
    return digest_of_arrays({name: values for name, values in arrays.items() if name not in (SEAL, STATES)})


def digest_of_system(system: System, y: Floats) -> str:
    """Digest of the data of a system, its definitions and an initial state."""
    joints = [(joint.name, joint.kind, joint.body_i, joint.body_j) for joint in system.joints]
    joints += [(one.name, one.joint.kind, one.joint.body_i, one.joint.body_j) for one in system.motors]
    forces = [(force.name, force.kind, force.bodies, force.joint) for force in system.forces]
    laws = [limit.law for limit in system.limits], [(one.law, one.friction) for one in system.contacts]
    of_kernels = repr(system), joints, forces, laws, digests_of_definitions(parts_of(system))
    digest = hashlib.sha256(repr((of_kernels, _bytes(system.data))).encode())
    digest.update(y.tobytes())
    return digest.hexdigest()[:16]


def _bytes(value: Any) -> Any:
    if isinstance(value, tuple):
        named = zip(getattr(value, "_fields", range(len(value))), value, strict=True)
        return [_bytes(part) for name, part in named if name not in ADDRESSES]
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
