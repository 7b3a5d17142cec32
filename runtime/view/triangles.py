"""Triangles of shapes: vertices (n, 3) and faces (m, 3), outward by the order of their corners."""

from __future__ import annotations

import numpy as np

from runtime.support.arrays import Floats, Ints
from runtime.system.shapes import Shape

Triangles = tuple[Floats, Ints]
SIDES = 24  # of a surface of revolution
RINGS = 8  # of a half sphere
EDGES = 8  # of the cross-section of a tube
SHAFT = 0.55  # radius of a bone in its middle, as a fraction of that of its ends


def triangles(shape: Shape) -> Triangles:
    """Triangles of a shape in axes of its body, from the centre of mass."""
    vertices, faces = _in_own_axes(shape)
    return shape.at + vertices @ shape.rotation.T, faces


def _in_own_axes(shape: Shape) -> Triangles:
    if shape.kind == "mesh":
        return shape.vertices, shape.faces
    if shape.kind == "box":
        return box(np.array(shape.sizes))
    if shape.kind in ("capsule", "bone"):
        return long_shape(*shape.sizes, shaft=SHAFT if shape.kind == "bone" else 1.0)
    sizes = np.array(shape.sizes) if shape.kind == "ellipsoid" else np.full(3, shape.sizes[0])
    return ellipsoid(sizes)


def ellipsoid(semi_axes: Floats, *, fine: bool = True) -> Triangles:
    """An ellipsoid about the origin; not ``fine``: of few faces, for small ones."""
    latitude = np.linspace(-np.pi / 2, np.pi / 2, 2 * (RINGS if fine else RINGS // 2) + 1)
    vertices, faces = revolved(np.cos(latitude), np.sin(latitude), SIDES if fine else SIDES // 2)
    return vertices * semi_axes, faces


def long_shape(radius: float, length: float, *, shaft: float = 1.0) -> Triangles:
    """A capsule along z, from the origin; ``shaft``: radius of its middle as a fraction of that of its ends."""
    latitude = np.linspace(0.0, np.pi / 2, RINGS + 1)
    r, z = radius * np.cos(latitude), radius * np.sin(latitude)
    along = np.linspace(0.0, 1.0, 2 * RINGS + 1)[1:-1]
    middle = radius * (shaft + (1.0 - shaft) * (2.0 * along - 1.0) ** 4)
    return revolved(np.concatenate([r[::-1], middle, r]), np.concatenate([-z[::-1], along * length, length + z]))


def rod(radius: float, length: float) -> Triangles:
    """A cylinder about the origin along z, of several rings: films sort its faces by their distance."""
    return revolved(
        radius * np.array([0.0, *[1.0] * 5, 0.0]), 0.5 * length * np.array([-1.0, *np.linspace(-1.0, 1.0, 5), 1.0])
    )


def revolved(r: Floats, z: Floats, sides: int = SIDES) -> Triangles:
    """The surface of a profile with radii r and heights z, from bottom to top, revolved about z."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(sides)], axis=1)
    vertices = (r[:, None, None] * ring + z[:, None, None] * np.array([0.0, 0.0, 1.0])).reshape(-1, 3)
    faces = _between_rings(len(r), sides)
    p, q, s = (vertices[faces[:, corner]] for corner in range(3))
    return vertices, faces[np.linalg.norm(np.cross(q - p, s - p), axis=1) > 0.0]  # none without area, at the poles


def _between_rings(rings: int, sides: int) -> Ints:
    """Faces between neighbouring rings of points."""
    k, n = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    a, b = k * sides + n, k * sides + (n + 1) % sides
    return np.stack([a, b, b + sides, a, b + sides, a + sides], axis=-1).reshape(-1, 3)


def tube(points: Floats, radius: float) -> Triangles:
    """A tube along polylines (n, k, 3), one for each time, closed at both ends: vertices (n, v, 3) and faces."""
    ways = _unit(np.diff(points, axis=1))
    along = _unit(np.concatenate([ways[:, :1], ways[:, 1:] + ways[:, :-1], ways[:, -1:]], axis=1))
    aside = np.empty_like(along)  # across the tube, with as little twist as the path admits
    before = np.eye(3)[np.abs(along[:, 0]).argmin(axis=1)]
    for k in range(along.shape[1]):
        aside[:, k] = before = _unit(before - along[:, k] * (before * along[:, k]).sum(axis=1)[:, None])
    angle = np.linspace(0.0, 2.0 * np.pi, EDGES, endpoint=False)[:, None]
    rings = np.cos(angle) * aside[:, :, None] + np.sin(angle) * np.cross(along, aside)[:, :, None]
    first, last = (np.zeros((len(points), 1, EDGES, 3)) + points[:, k, None, None] for k in (0, -1))
    vertices = np.concatenate([first, points[:, :, None] + radius * rings, last], axis=1)
    return vertices.reshape(len(points), -1, 3), _between_rings(vertices.shape[1], EDGES)


def _unit(vectors: Floats) -> Floats:
    """Vectors (..., 3) of length 1; 0 where there is none."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-30))


def box(edges: Floats) -> Triangles:
    """A box about the origin."""
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * edges
    sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return corners, np.array([face for a, b, c, d in sides for face in ((a, b, c), (a, c, d))])


def fan(apex: Floats, rim: Floats) -> Triangles:
    """The surface from a point (3,) to a closed curve (n, 3)."""
    n = np.arange(len(rim))
    faces = np.stack([np.zeros(len(rim), np.int64), n + 1, (n + 1) % len(rim) + 1], axis=1)
    return np.vstack([apex, rim]), faces
