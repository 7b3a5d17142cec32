"""A scene as a film (.gif, .mp4), drawn with matplotlib."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.files import write_bytes
from runtime.support.progress import reporter
from runtime.system.reference import rotation_matrix
from runtime.view.colours import rgb
from runtime.view.scene import Scene, Solid

FRAMES_PER_SECOND = 25
MOST_FRAMES = 1000
PIXELS, DOTS_PER_INCH = (800, 640), 100
ELEVATION, AZIMUTH = 14.0, 60.0  # [deg] of the camera, as in pages
LIGHT = np.array([0.4, 0.7, 0.6]) / np.linalg.norm([0.4, 0.7, 0.6])
AMBIENT = 0.45
MOST_FACES = 4000  # of a solid: more are left out evenly


def write_movie(scene: Scene, file: Path, speed: float) -> Path:
    """Draw and write the film.

    Raises
    ------
    ModelError
        The film is too long, or ffmpeg, which writes .mp4, is missing.
    """
    from matplotlib import animation
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    start, end = float(scene.t[0]), float(scene.t[-1])
    count = int(np.ceil((end - start) / speed * FRAMES_PER_SECOND)) + 1
    if count > MOST_FRAMES:
        raise ModelError(
            f"animation: {count} frames at {FRAMES_PER_SECOND} per second, limit {MOST_FRAMES}; give a higher speed, or a "
            "shorter run"
        )
    if file.suffix.lower() == ".mp4" and not animation.FFMpegWriter.isAvailable():
        raise ModelError("animation: .mp4 needs the program ffmpeg; install it, or write .gif or .html")
    fig = Figure(figsize=(PIXELS[0] / DOTS_PER_INCH, PIXELS[1] / DOTS_PER_INCH), dpi=DOTS_PER_INCH)
    FigureCanvasAgg(fig)
    ax: Any = fig.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
    times = np.linspace(start, end, count)
    kind = animation.FFMpegWriter if file.suffix.lower() == ".mp4" else animation.PillowWriter
    writer: Any = kind(fps=FRAMES_PER_SECOND)
    with tempfile.TemporaryDirectory() as folder, reporter(None, start, end, "animation") as bar:
        beside = Path(folder) / file.name
        with writer.saving(fig, str(beside), DOTS_PER_INCH):
            for time in times:
                _draw(ax, scene, float(time))
                writer.grab_frame()
                bar.update(float(time))
        return write_bytes(file, beside.read_bytes())


def _draw(ax: Any, scene: Scene, time: float) -> None:
    """Draw the scene at a time."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    ax.clear()
    hidden = {group.key for group in scene.groups if not group.shown or group.choice}
    polygons, colours = [], []
    for solid in scene.solids:
        if solid.group not in hidden:
            corners, shades = _polygons(solid, time)
            polygons.append(corners)
            colours.append(shades)
    ax.add_collection3d(
        Poly3DCollection(np.concatenate(polygons), facecolors=np.concatenate(colours), edgecolors="none")
    )
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
    ax.set_box_aspect(scene.high - scene.low, zoom=1.1)
    ax.view_init(ELEVATION, AZIMUTH)
    ax.set_axis_off()
    ax.text2D(0.02, 0.96, f"{scene.title}\nt = {time:.3f} s", transform=ax.transAxes, va="top")
    shown = [group for group in scene.groups if group.key not in hidden]
    for n, group in enumerate(shown):
        ax.text2D(
            0.02, 0.88 - 0.035 * n, f"■ {group.label}", transform=ax.transAxes, va="top", color=group.colour, fontsize=9
        )


def _place(t: Floats, time: float) -> int:
    """Place of the last of several times that is not after a time."""
    return max(int(np.searchsorted(t, time + 1e-9, side="right")) - 1, 0)


def _polygons(solid: Solid, time: float) -> tuple[Floats, Floats]:
    """Triangles (n, 3, 3) at a time, and their shaded colours (n, 4)."""
    n = _place(solid.pose.t, time) if solid.pose.moves else 0
    vertices = solid.pose.r[n] + solid.vertices @ rotation_matrix(solid.pose.p[n]).T
    corners = vertices[solid.faces[:: 1 + len(solid.faces) // MOST_FACES]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-30)[:, None]
    bright = AMBIENT + (1.0 - AMBIENT) * np.abs(normals @ LIGHT)
    colour = np.array(rgb(solid.colours[n] if solid.colours else solid.colour)) / 255.0
    return corners, np.column_stack([bright[:, None] * colour, np.full(len(corners), solid.opacity)])
