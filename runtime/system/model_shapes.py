"""Shapes from a model's document."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from runtime.support.arrays import read_only
from runtime.support.checks import bounded, finite, not_negative, positive
from runtime.support.errors import ModelError
from runtime.system.connection import refuse_unknown_body
from runtime.system.shapes import Shape, checked_colour

SIZES = {"sphere": 1, "capsule": 2, "bone": 2, "ellipsoid": 3, "box": 3, "mesh": 0}
ORTHOGONAL = 1e-6  # [1] largest entry of R^T R - 1


def shape_of(item: Mapping[str, Any], bodies: Collection[str]) -> Shape:
    """A shape that is drawn, checked; see ``runtime.system.Shape`` for its entries.

    Raises
    ------
    ModelError
    """
    body, kind = item["body"], item["kind"]
    what = f"shape of '{body}' ({kind})"
    refuse_unknown_body(body, bodies, what)
    checks = [positive, not_negative if kind in ("capsule", "bone") else positive, positive]  # a length may be 0
    if len(given_sizes := item.get("sizes", ())) != SIZES[kind]:
        raise ModelError(f"{what}: has {len(given_sizes)} sizes; needs {SIZES[kind]}")
    sizes = tuple([check(size, f"{what}: sizes") for check, size in zip(checks, given_sizes, strict=False)])
    at = finite(item.get("at", np.zeros(3)), (3,), f"{what}: at")
    rotation = finite(item.get("rotation", np.eye(3)), (3, 3), f"{what}: rotation")
    if np.abs(rotation.T @ rotation - np.eye(3)).max() > ORTHOGONAL or np.linalg.det(rotation) < 0.0:
        raise ModelError(f"{what}: rotation is no rotation matrix; give orthogonal unit rows of determinant 1")
    vertices = bounded(np.array(item.get("vertices", ()), dtype=float).reshape(-1, 3), f"{what}: vertices")
    given = item.get("faces", ())
    if any(not 0 <= n < len(vertices) for face in given for n in face):
        raise ModelError(f"{what}: a face names a vertex that does not exist; give places 0 to {len(vertices) - 1}")
    if (kind == "mesh") != bool(given) or (kind != "mesh" and len(vertices)):
        raise ModelError(
            f"{what}: has {len(vertices)} vertices and {len(given)} faces; a mesh has some, other shapes none"
        )
    faces = np.array(given, dtype=np.int64).reshape(-1, 3)
    return Shape(
        body,
        kind,
        read_only(at),
        read_only(rotation),
        sizes,
        read_only(vertices),
        read_only(faces),
        checked_colour(item.get("colour"), what),
        item.get("label", ""),
    )
