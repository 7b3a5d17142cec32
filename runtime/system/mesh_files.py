"""Triangles from files: VTK's PolyData (.vtp, as OpenSim's bones), STL and OBJ.  No file that a mesh names is opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError
from runtime.support.files import read_file
from runtime.support.xml_reading import Element, parse_xml

Triangles = tuple[Floats, Ints]
MOST_BYTES = 200_000_000
MOST_COORDINATE = 1e6  # [m] before scaling
FACET = np.dtype(
    [("normal", "<3f4"), ("corners", "<9f4"), ("attribute", "<u2")]
)  # of an STL file in bytes, after 84 others


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
        vertices, faces = read(read_file(file, MOST_BYTES, remedy="check the path", smaller="reduce the mesh"), file)
        if not len(vertices) or not len(faces):
            raise _damaged(file, "holds no triangles; give a surface")
        if not (np.abs(vertices) <= MOST_COORDINATE).all():  # false for NaN, too
            raise _damaged(
                file, f"has a coordinate that is not finite or above {MOST_COORDINATE:g}; export it in metres"
            )
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None
    return vertices, faces


def _damaged(file: Path, text: str) -> ModelError:
    return ModelError(f"file '{file.name}' {text}")


def _numbers(words: Sequence[object], file: Path) -> Floats:
    try:
        return np.array(words, float)
    except ValueError:
        raise _damaged(file, "has other than numbers where they belong; it is damaged") from None


def _points(words: Sequence[object], file: Path) -> Floats:
    """Points (n, 3)."""
    numbers = _numbers(words, file).ravel()
    if len(numbers) % 3:
        raise _damaged(file, f"has {len(numbers)} coordinates, no multiple of 3; it is damaged")
    return numbers.reshape(-1, 3)


def _places(numbers: Floats, count: int, file: Path, what: str = "corner") -> Ints:
    """Whole numbers from 0, less than a count: of vertices, or where polygons end among their corners."""
    wrong = ~((numbers >= 0) & (numbers < count) & (numbers == np.rint(numbers)))
    if wrong.any():
        raise _damaged(
            file, f"has the {what} {numbers[wrong][0]:g}; give whole numbers from 0 to {count - 1}, in OBJ one more"
        )
    return numbers.astype(np.int64)


def _vtp(data: bytes, file: Path) -> Triangles:
    """PolyData of VTK in XML, as text ("ascii"): polygons are divided into fans of triangles, strips into triangles."""
    root = parse_xml(data, file)
    if root.tag != "VTKFile" or root.attributes.get("type") != "PolyData":
        raise _damaged(file, "is no PolyData of VTK; save it as .vtp")
    vertices, faces, count = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for piece in (e for e in root.within() if e.tag == "Piece"):
        points = [_words(a, file) for parent in piece.all("Points") for a in parent.all("DataArray")]
        own = _points(points[0] if points else (), file)
        for kind, divided in (("Polys", _fans), ("Strips", _strips)):
            arrays = {
                a.attributes.get("Name"): _numbers(_words(a, file), file)
                for parent in piece.all(kind)
                for a in parent.all("DataArray")
            }
            if len(numbers := arrays.get("connectivity", np.zeros(0))):
                corners = _places(numbers, len(own), file)
                ends = _places(arrays.get("offsets", np.zeros(0)), len(corners) + 1, file, "offset")
                if len(ends) == 0 or (np.diff(ends, prepend=0) < 0).any() or ends[-1] != len(corners):
                    raise _damaged(file, f"has offsets of its {kind} that do not fit; it is damaged")
                faces += [
                    count + divided(corners[a:b]) for a, b in zip([0, *ends[:-1]], ends, strict=True) if b - a > 2
                ]
        vertices.append(own)
        count += len(own)
    return np.vstack(vertices), np.vstack(faces)


def _words(element: Element, file: Path) -> list[str]:
    if (kind := element.attributes.get("format", "ascii")) != "ascii":
        raise _damaged(file, f"stores '{kind}' data; save it as text (ascii), or as .stl or .obj")
    return element.text.split()


def _fans(corners: Ints) -> Ints:
    return np.stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]], axis=1)


def _strips(corners: Ints) -> Ints:
    faces = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
    faces[1::2] = faces[1::2, ::-1]
    return faces


def _obj(data: bytes, file: Path) -> Triangles:
    """Vertices (v) and faces (f), which are divided into fans; materials, normals and texture are not read."""
    points: list[list[bytes]] = []
    ends: list[int] = [0]
    corners: list[float] = []
    for key, *words in filter(None, (line.split() for line in data.replace(b"\\\n", b" ").splitlines())):
        if key == b"v":
            points.append((words + [b"missing"] * 3)[:3])
        elif key == b"f":
            numbers = _numbers([word.partition(b"/")[0] for word in words], file).tolist()
            corners += [k - 1.0 if k >= 0.0 else k + len(points) for k in numbers]  # from 1, or from the last one back
            ends.append(len(corners))
    vertices, places = _points(points, file), _places(np.array(corners), len(points), file)
    fans = [_fans(places[a:b]) for a, b in zip(ends, ends[1:], strict=False) if b - a > 2]
    return vertices, np.vstack([np.zeros((0, 3), np.int64), *fans])


def _stl(data: bytes, file: Path) -> Triangles:
    """Triangles with corners of their own, as bytes or as text."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 and (len(data) == 84 + count * FACET.itemsize or not data.lstrip().startswith(b"solid")):
        if len(data) < 84 + count * FACET.itemsize:
            raise _damaged(file, f"has {len(data)} bytes, too few for {count} triangles; it is damaged")
        vertices = np.frombuffer(data, FACET, count, 84)["corners"].astype(float).reshape(-1, 3)
    else:
        vertices = _points(re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", data), file)
    if len(vertices) % 3:
        raise _damaged(file, f"has {len(vertices)} corners, no multiple of 3; it is damaged")
    return vertices, np.arange(len(vertices)).reshape(-1, 3)


READERS: Mapping[str, Callable[[bytes, Path], Triangles]] = {".vtp": _vtp, ".stl": _stl, ".obj": _obj}
