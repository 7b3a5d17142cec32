"""A scene as one page that needs no other file and no network: viser's player, with a legend and charts of our own."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import partial
from html import escape
from importlib import resources
from itertools import count, pairwise
from typing import Any

import numpy as np

from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.view.colours import rgb
from runtime.view.rods import with_rods
from runtime.view.scene import Arrows, Lines, Scene, Solid

VIEW = np.array([0.47, 0.84, 0.28])  # from the centre towards the camera: from the medial side, in front and above
FIELD_OF_VIEW = 0.75  # [rad] upwards
ASPECT = 1.1  # width by height of the part of a window beside the legend
SMOOTH = 60  # a solid of fewer faces has flat ones
HEAD = (0.006, 0.014, 0.035)  # of arrows: radii of shaft and head, length of the head
CHART_POINTS = 400
ROUNDING = 1e-9  # of the largest value of a curve, below which it is zero
UNCHANGED = 1e-6  # of coordinates in the size of the scene, and of Euler parameters
Change = tuple[float, Any]  # time [s]; a function that changes a node, or a message to it


def page(scene: Scene, speed: float) -> str:
    """The page as text.

    Raises
    ------
    ModelError
        viser is not installed.
    """
    try:
        import viser
    except ImportError:
        raise ModelError(
            "pages with a view in three dimensions need viser: pip install 'talus-multibody[view]'"
        ) from None
    with redirect_stdout(io.StringIO()):  # its address, which nobody needs
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        html = _recorded(server, scene, speed)
    finally:
        with redirect_stdout(io.StringIO()):
            server.stop()
    head = html.index("</head>")
    title = f"<title>{escape(scene.title)}</title>"
    return html[:head].replace("<title>Viser</title>", "") + title + _overlay(scene, speed) + html[head:]


def _recorded(server: Any, scene: Scene, speed: float) -> str:
    """Viser's page of the scene, in units of its size, about its centre."""
    scene, drawing = with_rods(scene), server.scene
    low, high = scene.near
    centre, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
    drawing.set_up_direction("+z")
    camera = server.initial_camera
    camera.look_at, camera.position, camera.fov = (0.0, 0.0, 0.0), _camera(scene, centre) / size, FIELD_OF_VIEW
    cell = grid_cell(scene) / size
    floor = np.array([0.0, 0.0, (scene.floor - centre[2]) / size - 1e-3])
    grid = drawing.add_grid("/grid", 4.0, 4.0, cell_size=cell, section_size=5 * cell, position=floor)
    frames = [drawing.add_frame(f"/{_node(group.key)}", show_axes=False, visible=group.shown) for group in scene.groups]
    changes: list[Change] = []
    place = partial(_place, count())
    if scene.follow is not None:
        for t, moved in zip(scene.follow.t, scene.follow.moved / size, strict=True):
            changes += [(float(t), _setter(frame, position=-moved)) for frame in frames]
            changes.append((float(t), _setter(grid, position=floor - np.fmod(moved, 5 * cell))))  # which has no end
    for solid in scene.solids:
        changes += _solid(drawing, place(solid), solid, centre, size)
    for lines in scene.lines:
        changes += _lines(drawing, place(lines), lines, centre, size)
    for arrow in scene.arrows:
        changes += _arrow(drawing, place(arrow), arrow, centre, size)
    serializer = server.get_scene_serializer()
    _play(serializer, changes, float(scene.t[0]), float(scene.t[-1]), speed)
    return serializer.as_html()


def _camera(scene: Scene, centre: Floats) -> Floats:
    """Place of the camera (3,) [m] from the centre, so near that the box of the scene just fits into its view."""
    towards = VIEW / np.linalg.norm(VIEW)
    aside = np.cross([0.0, 0.0, 1.0], towards)
    aside /= np.linalg.norm(aside)
    ends = np.array(scene.near) - centre
    corners = np.array([[ends[a, 0], ends[b, 1], ends[c, 2]] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    half = np.tan(0.5 * FIELD_OF_VIEW)
    across = np.abs(corners @ aside) / (ASPECT * half)
    upwards = np.abs(corners @ np.cross(towards, aside)) / half
    return towards * float((corners @ towards + np.maximum(across, upwards)).max())


def grid_cell(scene: Scene) -> float:
    """Width of the grid's cells [m]: a power of ten."""
    low, high = scene.near
    return float(10.0 ** np.floor(np.log10(max(float(np.linalg.norm(high - low)), 1e-9) / 3.0)))


def _play(serializer: Any, changes: list[Change], start: float, end: float, speed: float) -> None:
    """Record the changes at their times."""
    at: dict[float, list[Any]] = defaultdict(list)
    for time, change in changes:
        at[time].append(change)
    times = sorted({*at, start, end})
    for before, now in pairwise([times[0], *times]):
        if now > before:
            serializer.insert_sleep((now - before) / speed)
        for change in at.get(now, ()):
            if callable(change):
                change()
            else:
                serializer._insert_message(change)


def _node(name: str) -> str:
    return name.replace("/", "∕")


def _place(numbers: Iterator[int], part: Any) -> str:
    """A node of its own: a second one of the same name would remove the first."""
    return f"/{_node(part.group)}/{next(numbers)} {_node(part.name)}"


def _setter(handle: Any, **values: Any) -> Callable[[], None]:
    def change() -> None:
        for name, value in values.items():
            setattr(handle, name, value)

    return change


def _solid(drawing: Any, place: str, solid: Solid, centre: Floats, size: float) -> list[Change]:
    places, p = (solid.pose.r - centre) / size, solid.pose.p
    shapes = (solid.vertices.reshape(-1, *solid.vertices.shape[-2:]) / size).astype(np.float32)
    handle = drawing.add_mesh_simple(
        place, shapes[0], solid.faces, color=rgb(solid.colour), side="double",
        opacity=None if solid.opacity == 1.0 else solid.opacity, flat_shading=len(solid.faces) < SMOOTH, wxyz=p[0],
        position=places[0], cast_shadow=False, receive_shadow=False,
    )  # fmt: skip
    changes: list[Change] = []
    if solid.pose.moves:
        changes += [*_motion("Position", place, solid.pose.t, places), *_motion("Orientation", place, solid.pose.t, p)]
        sent = shapes[0]
        for t, shape in zip(solid.pose.t, shapes, strict=False):
            if np.abs(shape - sent).max() > UNCHANGED:
                sent = shape
                changes.append((float(t), _setter(handle, vertices=shape)))
        for k, colour in enumerate(solid.colours):
            if k == 0 or colour != solid.colours[k - 1]:
                changes.append((float(solid.pose.t[k]), _setter(handle, color=rgb(colour))))
    return changes


def _motion(what: str, place: str, t: Floats, values: Floats) -> Iterator[Change]:
    """Messages that move a node from the first of its positions, or orientations, to the others.

    The node's setters send the same messages in four times the time: they wake a server to which no window is connected.
    """
    from viser import _messages

    message, sent = getattr(_messages, f"Set{what}Message"), values[0].tolist()
    for time, value in zip(t.tolist(), values.tolist(), strict=True):
        if any(abs(new - old) > UNCHANGED * (1.0 + abs(old)) for new, old in zip(value, sent, strict=True)):
            sent = value
            yield time, message(place, tuple(value))


def _lines(drawing: Any, place: str, lines: Lines, centre: Floats, size: float) -> list[Change]:
    points = ((lines.points - centre) / size).astype(np.float32)
    handle = drawing.add_line_segments(place, points[0], rgb(lines.colour), thickness=lines.width)
    return [] if len(points) == 1 else [
        (float(t), _setter(handle, points=at)) for t, at in zip(lines.t, points, strict=True)
    ]  # fmt: skip


def _arrow(drawing: Any, place: str, arrow: Arrows, centre: Floats, size: float) -> list[Change]:
    start = (arrow.start - centre) / size
    points = np.stack([start, start + arrow.vector / size], axis=1)[:, None].astype(np.float32)
    seen = [bool(np.isfinite(at).all()) for at in points]
    if not any(seen):
        return []
    shaft, head, length = HEAD
    first = points[seen.index(True)]
    handle = drawing.add_arrows(
        place,
        first,
        rgb(arrow.colour),
        shaft_radius=shaft,
        head_radius=head,
        head_length=length,
        visible=seen[0],
    )
    changes: list[Change] = []
    for k, t in enumerate(arrow.t if len(points) > 1 else ()):
        if seen[k]:
            changes.append((float(t), _setter(handle, points=points[k])))
        if k == 0 or seen[k] != seen[k - 1]:
            changes.append((float(t), _setter(handle, visible=seen[k])))
    return changes


def _overlay(scene: Scene, speed: float) -> str:
    """Legend, slider, charts and their script."""
    groups = [
        dict(node=f"/{_node(g.key)}", label=g.label, colour=g.colour, shown=g.shown, choice=g.choice, scale=g.scale)
        for g in scene.groups
    ]
    cell = grid_cell(scene)
    notes = [f"grid {cell:g} m" if cell >= 0.01 else f"grid {1000 * cell:g} mm", *scene.notes]
    charts = [
        dict(title=c.title, curves=[dict(label=n, colour=k, **_thinned(t, y)) for n, k, t, y in c.curves])
        for c in scene.charts
    ]
    data = dict(
        title=scene.title, start=float(scene.t[0]), end=float(scene.t[-1]), speed=speed, groups=groups, charts=charts,
        choice=scene.choice, notes=notes,
    )  # fmt: skip
    text = json.dumps(data, allow_nan=False).replace("<", "\\u003c")  # which may begin or end a comment or a script
    source = resources.files("runtime.view")
    script, style = (source.joinpath(f"overlay.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    return f"<style>{style}</style><script>window.TALUS={text};\n{script}</script>"


def _thinned(t: Floats, y: Floats) -> dict[str, list[float | None]]:
    """A curve with few points; None where it is not defined."""
    kept = np.unique(np.linspace(0, len(t) - 1, min(len(t), CHART_POINTS)).astype(int))
    zero = ROUNDING * np.abs(y[np.isfinite(y)]).max(initial=0.0)
    values = [None if not np.isfinite(v) else float(f"{v:.5g}") if abs(v) > zero else 0.0 for v in y[kept]]
    return dict(t=[float(f"{v:.7g}") for v in t[kept]], y=values)
