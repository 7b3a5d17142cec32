"""A scene as a film (.gif, .mp4), and as pictures in a row, drawn with matplotlib."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.files import write_bytes
from runtime.support.progress import reporter
from runtime.system.reference import rotation_matrix
from runtime.view.colours import rgb
from runtime.view.rods import with_rods
from runtime.view.scene import Scene, Solid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRAMES_PER_SECOND = 25
MOST_FRAMES = 1000
PIXELS, DOTS_PER_INCH = (800, 640), 100
ELEVATION, AZIMUTH = 14.0, 60.0  # [deg] of the camera, as in pages
LIGHT = np.array([0.4, 0.7, 0.6]) / np.linalg.norm([0.4, 0.7, 0.6])
AMBIENT = 0.45
MOST_FACES = 4000  # of a solid: more are left out evenly
LEGEND, HEIGHT = 2.6, 4.8  # [in] of pictures in a row: width of the legend, height
NARROWEST, FILLED = 0.3, 0.85  # least width of a picture, and what the scene fills of it, as parts of the height
EDGE, ROW, SQUARE = 0.16, 0.225, 0.085  # [in] of a legend: margin, heights of its rows, distance of colours of a bar


def write_movie(scene: Scene, file: Path, speed: float) -> Path:
    """Draw and write the film.

    Raises
    ------
    ModelError
        The film is too long, or ffmpeg, which writes .mp4, is missing.
    """
    from matplotlib import animation

    start, end = float(scene.t[0]), float(scene.t[-1])
    count = int(np.ceil((end - start) / speed * FRAMES_PER_SECOND)) + 1
    if count > MOST_FRAMES:
        raise ModelError(
            f"animation: {count} frames at {FRAMES_PER_SECOND} per second, limit {MOST_FRAMES}; give a higher speed, or a "
            "shorter run"
        )
    if file.suffix.lower() == ".mp4" and not animation.FFMpegWriter.isAvailable():
        raise ModelError("animation: .mp4 needs the program ffmpeg; install it, or write .gif or .html")
    scene = with_rods(scene)
    fig = _figure(PIXELS[0] / DOTS_PER_INCH, PIXELS[1] / DOTS_PER_INCH, scene, below=0.5)
    title = fig.text(EDGE * DOTS_PER_INCH / PIXELS[0], 1.0 - EDGE * DOTS_PER_INCH / PIXELS[1], "", va="top")
    ax: Any = fig.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
    times = np.linspace(start, end, count)
    kind = animation.FFMpegWriter if file.suffix.lower() == ".mp4" else animation.PillowWriter
    writer: Any = kind(fps=FRAMES_PER_SECOND)
    with tempfile.TemporaryDirectory() as folder, reporter(None, start, end, "animation") as bar:
        beside = Path(folder) / file.name
        with writer.saving(fig, str(beside), DOTS_PER_INCH):
            for time in times:
                ax.clear()
                _draw(ax, scene, float(time), zoom=1.1)
                title.set_text(f"{scene.title}\nt = {time:.3f} s")
                writer.grab_frame()
                bar.update(float(time))
        return write_bytes(file, beside.read_bytes())


def stills(scene: Scene, times: Sequence[float] | None = None) -> Figure:
    """The scene at some times [s], by default the first, the middle and the last, in a row, with a legend on the left."""
    scene, times = with_rods(scene), np.linspace(scene.t[0], scene.t[-1], 3).tolist() if times is None else times
    x, y, z = scene.high - scene.low
    tilt, turn = np.deg2rad(ELEVATION), np.deg2rad(AZIMUTH)
    wide, deep = x * np.sin(turn) + y * np.cos(turn), x * np.cos(turn) + y * np.sin(turn)
    tall = z * np.cos(tilt) + deep * np.sin(tilt)
    own = HEIGHT * float(np.clip(wide / tall, NARROWEST, 1.0))
    width = LEGEND + own * len(times)
    fig = _figure(width, HEIGHT, scene)
    for n, time in enumerate(times):
        middle = LEGEND + own * (n + 0.5)  # matplotlib draws in squares, which overlap here
        place = (middle - 0.5 * HEIGHT) / width, 0.0, HEIGHT / width, 1.0
        ax: Any = fig.add_axes(place, projection="3d", computed_zorder=False)
        ax.patch.set_visible(False)
        _draw(
            ax, scene, time, zoom=FILLED * scene.size / max(wide, tall)
        )  # at 1 the diagonal of the box is as long as a square
        fig.text(middle / width, 1.0 - EDGE / HEIGHT, f"t = {time:.3f} s", ha="center", va="top", fontsize=9)
    return fig


def _figure(width: float, height: float, scene: Scene, *, below: float = 0.0) -> Figure:
    """An empty figure of a size [in] with the legend of a scene, at a distance from its upper edge."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fig = Figure(figsize=(width, height), dpi=DOTS_PER_INCH)
    FigureCanvasAgg(fig)
    up = 1.0 - (EDGE + below) / height
    for group in scene.groups:
        if group.shown and not group.choice:
            bar = group.scale or (group.colour,)
            for n, colour in enumerate(bar):
                fig.text((EDGE + SQUARE * n) / width, up, "■", color=colour, va="top", fontsize=9)
            fig.text((2.0 * EDGE + SQUARE * len(bar)) / width, up, group.label, va="top", fontsize=9)
            up -= ROW / height
    return fig


def _draw(ax: Any, scene: Scene, time: float, *, zoom: float) -> None:
    """Draw the scene at a time."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    hidden = {group.key for group in scene.groups if not group.shown or group.choice}
    faces, colours = [], []
    for solid in scene.solids:
        if solid.group not in hidden:
            corners, shades = polygons(solid, time)
            faces.append(corners)
            colours.append(shades)
    ax.add_collection3d(Poly3DCollection(np.concatenate(faces), facecolors=np.concatenate(colours), edgecolors="none"))
    for lines in scene.lines:
        if lines.group not in hidden:
            ax.add_collection3d(
                Line3DCollection(lines.points[_place(lines.t, time)], colors=lines.colour, linewidths=400 * lines.width)
            )
    for arrow in scene.arrows:
        n = _place(arrow.t, time)
        if arrow.group not in hidden and np.isfinite(arrow.vector[n]).all():
            ax.quiver(*arrow.start[n], *arrow.vector[n], color=arrow.colour, linewidth=2.0, arrow_length_ratio=0.2)
    for axis, low, high in zip("xyz", scene.low, scene.high, strict=True):
        getattr(ax, f"set_{axis}lim")(low, high)
    ax.set_box_aspect(scene.high - scene.low, zoom=zoom)
    ax.view_init(ELEVATION, AZIMUTH)
    ax.set_axis_off()


def _place(t: Floats, time: float) -> int:
    """Place of the last of several times that is not after a time."""
    return max(int(np.searchsorted(t, time + 1e-9, side="right")) - 1, 0)


def polygons(solid: Solid, time: float) -> tuple[Floats, Floats]:
    """Triangles (n, 3, 3) at a time, and their shaded colours (n, 4)."""
    n = _place(solid.pose.t, time) if solid.pose.moves else 0
    shape = solid.vertices[n] if solid.vertices.ndim == 3 else solid.vertices
    vertices = solid.pose.r[n] + shape @ rotation_matrix(solid.pose.p[n]).T
    corners = vertices[solid.faces[:: 1 + len(solid.faces) // MOST_FACES]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-30)[:, None]
    bright = AMBIENT + (1.0 - AMBIENT) * np.abs(normals @ LIGHT)
    colour = np.array(rgb(solid.colours[n] if solid.colours else solid.colour)) / 255.0
    return corners, np.column_stack([bright[:, None] * colour, np.full(len(corners), solid.opacity)])
