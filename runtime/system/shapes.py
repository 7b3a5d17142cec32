"""Shapes of bodies: drawn in views, without effect on the motion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.layout import P
from runtime.support.arguments import checked_class, unchecked
from runtime.support.arrays import Floats, Ints, read_only
from runtime.support.checks import finite, positive
from runtime.support.errors import ModelError, shown
from runtime.system.connection import refuse_other_keys, refuse_unknown_body
from runtime.system.global_axes import local_point
from runtime.system.orientation import euler_parameters
from runtime.system.reference import rotation_matrix, tangents


@checked_class
@dataclass(frozen=True, eq=False)
class Shape:
    """A shape fixed in a body, drawn and nothing else.

    ``at`` (3,) [m]: its centre, or the start of a capsule or bone, from the centre of mass in axes of the body; ``rotation``
    (3, 3): from axes of the shape to those of the body.  ``sizes`` [m]: of a sphere its radius; of a capsule or bone, along
    zeta, radius and length; of an ellipsoid its semi-axes; of a box its edges.  ``vertices`` (n, 3) [m] and ``faces`` (m, 3) of a
    mesh, else empty.
    """

    body: str
    kind: str
    at: Floats
    rotation: Floats
    sizes: tuple[float, ...]
    vertices: Floats
    faces: Ints
    colour: str | None = None  # "#rrggbb"
    label: str = ""  # in legends

    def scaled(self, factor: float) -> Shape:
        """Return the shape with all its lengths times a factor, and its place from the centre of mass.

        Raises
        ------
        ModelError
            The factor is not a finite number above 0.
        """
        by = positive(factor, "shape: factor")
        return replace(
            self, at=read_only(by * self.at), sizes=tuple([by * size for size in self.sizes]),
            vertices=read_only(by * self.vertices),
        )  # fmt: skip


class _Form(NamedTuple):
    """What the keywords of a kind of shape give."""

    at: Floats
    rotation: Floats
    sizes: tuple[float, ...]
    mesh: tuple[Floats, Ints] = (np.zeros((0, 3)), np.zeros((0, 3), np.int64))


class _Place(NamedTuple):
    """How points and orientations that are given become those of the body."""

    what: str
    state: Floats | None  # of the body (13,), where data are in global axes

    def point(self, value: Any, name: str) -> Floats:
        what = f"{self.what}: {name}"
        return finite(value, (3,), what) if self.state is None else local_point(self.state, value, what)

    def rotation(self, value: Any) -> Floats:
        A = rotation_matrix(euler_parameters(value, f"{self.what}: p"))
        return A if self.state is None else rotation_matrix(self.state[P : P + 4]).T @ A


def build_shape(
    body: str, kind: str, bodies: Collection[str], values: Mapping[str, Any], colour: Any, label: str,
    states: Mapping[str, Floats] | None,
) -> Shape:  # fmt: skip
    """Return a checked shape; see ``Builder.shape``.

    Raises
    ------
    ModelError
    """
    refuse_unknown_body(body, bodies, "shape")
    make, needed, more = KINDS[kind]
    what = f"shape of '{body}' ({kind})"
    if tuple(values) != needed:
        known = ", ".join([*needed, *(f"{name} (optional)" for name in more)])
        refuse_other_keys(what, [name for name in values if name not in more], needed, f"needs {known}")
    form = make(_Place(what, None if states is None else states[body]), values)
    at, rotation, *mesh = map(read_only, (form.at, form.rotation, *form.mesh))
    return unchecked(Shape, body, kind, at, rotation, form.sizes, *mesh, checked_colour(colour, what), label)


def checked_colour(colour: Any, what: str) -> str | None:
    """Return a colour as "#rrggbb"; None where none is given.

    Raises
    ------
    ModelError
    """
    if colour is None:
        return None
    from matplotlib.colors import to_hex  # here because the import takes a tenth of a second

    try:
        found: str = to_hex(colour)
    except (ValueError, TypeError):
        raise ModelError(
            f"{what}: colour = {shown(colour)}; give a colour of matplotlib, such as '#0072B2', 'tab:orange' or (r, g, b)"
        ) from None
    return found


def _placed(place: _Place, values: Mapping[str, Any], sizes: tuple[float, ...]) -> _Form:
    """A shape about a point, by default the centre of mass."""
    at = place.point(values["at"], "at") if "at" in values else np.zeros(3)
    return _Form(at, place.rotation(values["p"]) if "p" in values else np.eye(3), sizes)


def _sized(name: str, shape: tuple[int, ...]) -> Callable[[_Place, Mapping[str, Any]], _Form]:
    def make(place: _Place, values: Mapping[str, Any]) -> _Form:
        what = f"{place.what}: {name}"
        sizes = np.atleast_1d(finite(values[name], shape, what)).tolist()
        return _placed(place, values, tuple(positive(size, what) for size in sizes))

    return make


def _long(place: _Place, values: Mapping[str, Any]) -> _Form:
    """A capsule or bone from one point to another."""
    start, end = place.point(values["start"], "start"), place.point(values["end"], "end")
    radius = positive(values["radius"], f"{place.what}: radius")
    way = end - start
    return _Form(start, along(way), (radius, float(np.linalg.norm(way))))


def along(direction: Floats) -> Floats:
    """A rotation matrix (3, 3) whose third column has a direction (3,) of any length; the unit matrix where it is zero."""
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return np.eye(3)
    return np.column_stack([*tangents(direction / length), direction / length])


def _mesh(place: _Place, values: Mapping[str, Any]) -> _Form:
    from runtime.system.mesh_files import read_mesh  # here because few models read files

    scale = positive(values.get("scale", 1.0), f"{place.what}: scale")
    if not isinstance(file := values["file"], str | Path):
        raise ModelError(f"{place.what}: file = {shown(file)}; give the path of a .vtp, .stl or .obj file")
    vertices, faces = read_mesh(Path(file), place.what)
    return _placed(place, values, ())._replace(mesh=(scale * vertices, faces))


_PLACED = ("at", "p")
KINDS: Mapping[str, tuple[Callable[[_Place, Mapping[str, Any]], _Form], tuple[str, ...], tuple[str, ...]]] = {
    "sphere": (_sized("radius", ()), ("radius",), ("at",)),
    "capsule": (_long, ("start", "end", "radius"), ()),
    "bone": (_long, ("start", "end", "radius"), ()),
    "ellipsoid": (_sized("semi_axes", (3,)), ("semi_axes",), _PLACED),
    "box": (_sized("edges", (3,)), ("edges",), _PLACED),
    "mesh": (_mesh, ("file",), (*_PLACED, "scale")),
}  # the function that reads its keywords, those that it needs, and those that may be left out
