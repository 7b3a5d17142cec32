"""Triangles from files: VTK's PolyData (.vtp, as OpenSim's bones), and with the extra ``view`` STL and OBJ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError
from runtime.support.files import reason

Triangles = tuple[Floats, Ints]
MOST_BYTES = 200_000_000
MOST_COORDINATE = 1e6  # [m] before scaling


def read_mesh(file: Path, what: str) -> Triangles:
    """Return vertices (n, 3) and triangles (m, 3) of a file.  ``what``: subject of messages.

    Raises
    ------
    ModelError
        Where the file cannot be read, its format is not known, or its content is no mesh.
    """
    read = READERS.get(file.suffix.lower())
    if read is None:
        raise ModelError(f"{what}: file = '{file}': the format '{file.suffix}' is not known; use {', '.join(READERS)}")
    try:
        if not file.is_file():
            raise ModelError(f"{what}: there is no file '{file}'; check the path")
        if (size := file.stat().st_size) > MOST_BYTES:
            raise ModelError(f"{what}: file '{file}' has {size:.3g} bytes, limit {MOST_BYTES:.3g}; reduce the mesh")
        vertices, faces = read(file, what)
    except OSError as error:
        raise ModelError(f"{what}: cannot read '{file}': {reason(error)}") from None
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not len(vertices) or not len(faces):
        raise ModelError(f"{what}: file '{file}' holds no triangles; give a surface")
    if not (np.abs(vertices) <= MOST_COORDINATE).all():  # false for NaN, too
        raise ModelError(f"{what}: file '{file}' has a coordinate that is not finite or above {MOST_COORDINATE:g}")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise ModelError(f"{what}: file '{file}' names vertex {faces.max()}, but has {len(vertices)}; it is damaged")
    return vertices, faces


def _vtp(file: Path, what: str) -> Triangles:
    """PolyData of VTK in XML, as text ("ascii"): polygons are divided into fans of triangles, strips into triangles."""
    data = file.read_bytes()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ModelError(f"{what}: file '{file}' declares entities, which PolyData does not need; remove them")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise ModelError(f"{what}: file '{file}' is no XML: {error}") from None
    if root.tag != "VTKFile" or root.get("type") != "PolyData":
        raise ModelError(f"{what}: file '{file}' is no PolyData of VTK; save it as .vtp")
    vertices, faces, count = [], [], 0
    for piece in root.iter("Piece"):
        points = _numbers(piece.find("Points/DataArray"), file, what)
        own = points.reshape(-1, 3) if len(points) % 3 == 0 else np.zeros((0, 3))
        for kind, divided in (("Polys", _fans), ("Strips", _strips)):
            arrays = {a.get("Name"): _numbers(a, file, what) for a in piece.findall(f"{kind}/DataArray")}
            if len(arrays.get("connectivity", ())):
                corners, ends = (arrays.get(name, np.zeros(0)).astype(np.int64) for name in ("connectivity", "offsets"))
                if len(ends) == 0 or (np.diff(ends, prepend=0) < 0).any() or ends[-1] != len(corners):
                    raise ModelError(f"{what}: file '{file}': the offsets of its {kind} do not fit; it is damaged")
                faces += [
                    count + divided(corners[a:b]) for a, b in zip([0, *ends[:-1]], ends, strict=True) if b - a > 2
                ]
        vertices.append(own)
        count += len(own)
    if not faces:
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    return np.vstack(vertices), np.vstack(faces)


def _fans(corners: Ints) -> Ints:
    return np.stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]], axis=1)


def _strips(corners: Ints) -> Ints:
    faces = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
    faces[1::2] = faces[1::2, ::-1]
    return faces


def _numbers(element: ElementTree.Element | None, file: Path, what: str) -> Floats:
    if element is None:
        return np.zeros(0)
    if element.get("format", "ascii") != "ascii":
        raise ModelError(
            f"{what}: file '{file}' stores '{element.get('format')}' data; save it as text (ascii), or as .stl or .obj"
        )
    try:
        return np.array((element.text or "").split(), float)
    except ValueError:
        raise ModelError(f"{what}: file '{file}' holds text where numbers belong; it is damaged") from None


def _with_trimesh(file: Path, what: str) -> Triangles:
    try:
        import trimesh
    except ImportError:
        raise ModelError(
            f"{what}: reading '{file.suffix}' needs trimesh: pip install 'talus-multibody[view]'"
        ) from None
    try:
        mesh = trimesh.load(file, force="mesh", process=False)
        return np.array(mesh.vertices, float), np.array(mesh.faces, np.int64)
    except Exception as error:  # of a damaged file trimesh raises errors of many types
        raise ModelError(f"{what}: file '{file}' cannot be read as a mesh: {error}") from None


READERS: Mapping[str, Callable[[Path, str], Triangles]] = {".vtp": _vtp, ".stl": _with_trimesh, ".obj": _with_trimesh}
