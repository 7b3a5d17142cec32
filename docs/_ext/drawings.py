"""Drawings of joints, models, cones, soles and marker sets, each made from its definition.  Imports nothing of Sphinx.

``python docs/_ext/drawings.py [NAMES]`` remakes the pictures of ``docs/pictures`` that are listed in ``PICTURES``; the site draws
joints and models when it is built.
"""

from __future__ import annotations

import inspect
import io
import pkgutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from PIL import Image, ImageChops, ImageSequence
from runner import DOCS, ROOT

import codegen.joints
import models
import runtime
from models.walking import marker_sets
from runtime.results.drawn_bodies import CONE, apex, body_triangles, limit_frame, links, model_size
from runtime.results.drawn_joints import marks
from runtime.results.drawn_motion import DrawnMotion
from runtime.system.joint_motion import axis_in_body
from runtime.system.shapes import along
from runtime.view import colours
from runtime.view.movie import polygons
from runtime.view.rods import with_rods
from runtime.view.scene import STILL, Lines, Scene, Solid
from runtime.view.triangles import Triangles

Floats = np.ndarray
INK, MOVES = "#202020", "#00734F"
LABEL = 10.0  # [pt] distance of a label from its point
EDGE = 8  # [pixels] beside what is drawn
FAR = 13.0  # [pt] from a point to its label, beyond which a line joins them
COVERED = 1500  # points of solids, at most, that labels keep away from
X, Y, Z = np.eye(3)


class Sketch:
    """Solids, arrows and labels seen from far away in a direction, in a part of a figure."""

    def __init__(self, figure: Figure, place: tuple[float, float, float, float], towards: Iterable[float]) -> None:
        """``place``: left, bottom, width, height in parts of the figure; ``towards``: from the drawing to the eye."""
        eye = np.asarray(towards, float) / np.linalg.norm(towards)
        right = np.cross(Z, eye) if abs(eye[2]) < 0.99 else Y
        right = right / np.linalg.norm(right)
        self.view = np.stack([right, np.cross(eye, right), eye])
        self.axes: Any = figure.add_axes(place)
        self.axes.set_axis_off()
        self.figure, self.points, self.labels = figure, [], []
        self.taken: list[Floats] = []  # points of the plane that labels keep away from

    def plane(self, points: Any) -> Floats:
        """Coordinates in the plane of the drawing of points (..., 3)."""
        return np.asarray(points, float) @ self.view[:2].T

    def solids(self, solids: Iterable[Solid], time: float = 0.0, *, cut: bool = False) -> None:
        """Triangles from back to front; ``cut``: the drawing does not make room for them."""
        found = [polygons(solid, time) for solid in solids]
        corners, shades = (np.concatenate([each[k] for each in found]) for k in (0, 1))
        order = np.argsort(corners.mean(axis=1) @ self.view[2])
        flat, shades = self.plane(corners[order]), shades[order]
        edges = np.where(shades[:, 3:] < 1.0, 0.0, shades)  # edges hide the seams between opaque triangles
        self.axes.add_collection(PolyCollection(flat, facecolors=shades, edgecolors=edges, linewidths=0.4))
        self.points += [] if cut else [flat.reshape(-1, 2)]
        self.taken += list(flat.mean(axis=1)[:: 1 + len(flat) // COVERED])

    def arrow(self, path: Any, colour: str, *, heads: int = 1, dashed: bool = False) -> None:
        """A line along points (n, 3) with a head at its end, or at both."""
        flat = self.plane(path)
        self.axes.plot(*flat.T, color=colour, lw=1.4, ls=(0, (4, 2)) if dashed else "-", solid_capstyle="round")
        for tail, head in ((-2, -1), (1, 0))[:heads]:
            self.axes.add_patch(
                FancyArrowPatch(flat[tail], flat[head], arrowstyle="-|>", mutation_scale=9, color=colour, lw=0.0)
            )
        self.points.append(flat)
        at = np.linspace(0.0, len(flat) - 1.0, 24)
        self.taken += list(np.column_stack([np.interp(at, range(len(flat)), column) for column in flat.T]))

    def arc(self, centre: Floats, axis: Floats, radius: float, colour: str, *, sweep: float = 285.0) -> Floats:
        """A curved arrow about an axis by the right hand; returns its point farthest to the right."""
        frame, angle = along(axis), np.deg2rad(np.linspace(0.0, sweep, 40) + 20.0)
        circle = np.cos(angle)[:, None] * frame[:, 0] + np.sin(angle)[:, None] * frame[:, 1]
        self.arrow(centre + radius * circle, colour)
        return centre + radius * circle[np.argmax(circle @ self.view[0])]

    def ball(self, centre: Floats, radius: float, colour: str = INK) -> None:
        """A ball on top of what is drawn before."""
        flat = self.plane(centre)
        self.axes.add_patch(Circle(flat, radius, color=colour))
        self.points.append(flat[None] - radius)

    def number(self, flat: Any, text: str) -> None:
        """A text in the middle of a point of the plane."""
        self.axes.text(*flat, text, color=INK, fontsize=9, ha="center", va="center")

    def label(self, point: Any, text: str, colour: str = INK, *, away: Any = None) -> None:
        """A text beside a point, on the side that faces away from another where there is room."""
        flat = self.plane(point)
        self.labels.append((flat, flat - self.plane(point if away is None else away), text, colour))

    def finish(self, *, margin: float = 0.06, beside: float = 60.0) -> None:
        """Fit all into its place, and put the labels, of ``beside`` [pt] at the sides, where they hide nothing."""
        points = np.concatenate(self.points)
        low, high = points.min(axis=0), points.max(axis=0)
        box = self.axes.get_position()
        size = self.figure.get_size_inches() * (box.width, box.height) * 72.0  # [pt]
        room = 2.0 * margin * size.min() + np.array([beside, 16.0])
        scale = float(np.min((size - room) / np.maximum(high - low, 1e-9)))  # [pt] of a metre
        for axis, middle, extent in zip("xy", 0.5 * (low + high), size, strict=True):
            getattr(self.axes, f"set_{axis}lim")(middle - 0.5 * extent / scale, middle + 0.5 * extent / scale)
        corner = 0.5 * (low + high) * scale - 0.5 * size
        taken = np.array([*self.taken, *(flat for flat, *_ in self.labels)]) * scale - corner
        boxes: list[Floats] = []
        for flat, away, text, colour in self.labels:
            drawn = self.axes.text(0.0, 0.0, text, color=colour, fontsize=9, ha="center", va="center")
            extent = drawn.get_window_extent(self.figure.canvas.get_renderer())
            half = np.array([extent.width, extent.height]) * 36.0 / self.figure.dpi
            place = _free(flat * scale - corner, away, half, taken, boxes, size)
            boxes.append(np.array([place - half, place + half]))
            drawn.set_position((place + corner) / scale)
            reach = place - (at := flat * scale - corner)
            if np.linalg.norm(np.maximum(np.abs(reach) - half, 0.0)) > FAR:
                ends = np.array([at + 0.15 * reach, place - reach * np.min(half / np.maximum(np.abs(reach), 1e-9))])
                self.axes.plot(*((ends + corner) / scale).T, color=colour, lw=0.7)


def _free(point: Floats, away: Floats, half: Floats, taken: Floats, boxes: list[Floats], size: Floats) -> Floats:
    """Where a label of half sizes [pt] beside a point covers least, of places around it; nearly ``away`` if there is a choice."""
    best, least = point, np.inf
    first = float(np.arctan2(away[1], away[0])) if away.any() else 0.6
    for out in np.multiply(LABEL, (1.0, 1.8, 3.0, 6.0, 10.0, 18.0)):
        for turn in np.deg2rad([0, 30, -30, 60, -60, 90, -90, 130, -130, 180]):
            way = np.array([np.cos(first + turn), np.sin(first + turn)])
            place = point + way * (half * np.abs(way)).sum() + 0.5 * out * way
            low, high = place - half - 1.0, place + half + 1.0
            hidden = int(((low < taken) & (taken < high)).all(axis=1).sum())
            crossed = sum(bool((low < other[1]).all() and (other[0] < high).all()) for other in boxes)
            outside = float(np.maximum(-low, 0.0).sum() + np.maximum(high - size, 0.0).sum())
            cost = hidden + 30.0 * crossed + 5.0 * outside + 0.4 * abs(turn) + 0.1 * (out - LABEL)
            if cost < least:
                best, least = place, cost
    return best


def save(figure: Figure, file: Path) -> None:
    """Write a figure without the white above and below, with as few colours as it needs."""
    stream = io.BytesIO()
    figure.savefig(stream)
    picture = Image.open(stream).convert("RGB")
    _, up, _, down = drawn_box([picture])
    picture = picture.crop((0, max(up, 0), picture.width, min(down, picture.height)))
    picture.quantize(255, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(file, optimize=True)


def drawn_box(pictures: list[Image.Image]) -> tuple[int, int, int, int]:
    """Left, upper, right and lower pixel of what any of these pictures shows, with a margin."""
    white = Image.new("RGB", pictures[0].size, "white")
    boxes = np.array([ImageChops.difference(picture, white).getbbox() for picture in pictures])
    return (*(boxes.min(axis=0)[:2] - EDGE).tolist(), *(boxes.max(axis=0)[2:] + EDGE).tolist())


def figure_of(width: float, height: float) -> Figure:
    """An empty figure of a size [in]."""
    figure = Figure(figsize=(width, height), dpi=144)
    FigureCanvasAgg(figure)
    return figure


# Joints.  Where the centres of mass of both bodies are, and the vectors and lengths of the definition, all in global axes [m];
# P_i and P_j are points, from which s_i and s_j follow.
O = np.zeros(3)
SIDE, BENT, ON_LINE, ON_PLANE = -0.45 * X, 0.33 * X + 0.33 * Z, 0.3 * X, 0.26 * X + 0.18 * Y
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "spherical": dict(r_i=SIDE, r_j=BENT, P_i=O, P_j=O),
    "revolute": dict(r_i=SIDE, r_j=BENT, P_i=O, P_j=O, a_i=-Y, a_j=-Y),
    "cylindrical": dict(r_i=SIDE, r_j=ON_LINE + 0.4 * Z, P_i=O, P_j=ON_LINE, a_i=X, a_j=X),
    "translational": dict(r_i=SIDE, r_j=ON_LINE + 0.4 * Z, P_i=O, P_j=ON_LINE, a_i=X, a_j=X),
    "universal": dict(r_i=SIDE, r_j=0.45 * X + 0.1 * Z, P_i=O, P_j=O, a_i=Z, a_j=-Y),
    "modified_universal": dict(
        r_i=SIDE, r_j=0.85 * X + 0.1 * Z, P_i=O, P_j=0.42 * X, a_i=-Y, a_j=Z, l=0.42
    ),
    "fixed": dict(r_i=SIDE, r_j=0.2 * X + 0.2 * Z),
    "plane_translation": dict(r_i=-0.4 * Z, r_j=ON_PLANE + 0.4 * Z, P_i=O, P_j=ON_PLANE, a_i=X, b_i=Y),
    "translation": dict(r_i=SIDE, r_j=0.25 * X + 0.2 * Z),
    "oblique_translation": dict(
        r_i=SIDE, r_j=0.3 * X + 0.2 * Z, a_i=X, b_i=0.3 * X + 0.9 * Y, c_i=0.4 * X + 0.9 * Z
    ),
    "constant_angle": dict(r_i=SIDE, r_j=0.25 * X + 0.15 * Z, a_i=Z, a_j=0.7 * X + 0.7 * Z),
    "parallel_axes": dict(r_i=SIDE, r_j=0.25 * X + 0.15 * Z, a_i=Z, a_j=Z),
    "constant_distance": dict(r_i=SIDE, r_j=0.85 * X + 0.3 * Z, P_i=O, P_j=0.45 * X + 0.1 * Z, l=np.hypot(0.45, 0.1)),
    "point_on_line": dict(r_i=SIDE, r_j=ON_LINE + 0.2 * X + 0.35 * Z, P_i=O, P_j=ON_LINE, a_i=X),
    "point_on_plane": dict(r_i=-0.4 * Z, r_j=ON_PLANE + 0.2 * X + 0.35 * Z, P_i=O, P_j=ON_PLANE, a_i=Z),
}  # fmt: skip
EYE = 0.45 * X - 0.8 * Y + 0.38 * Z
AXIS, TURN, SLIDE = 0.32, 0.1, 0.17  # [m] lengths of axes and slides, radius of turns
GREEK = ("theta", "xi", "eta", "zeta")
HEAVIER = 1.9  # links and marks than in views
INERTIA = (0.0032, 0.0067, 0.0067)


def joint_system(kind: str) -> runtime.System:
    """Two bodies in space with one joint of this kind, as in ``EXAMPLES``."""
    given = dict(EXAMPLES[kind])
    b = runtime.Builder(kind, gravity=(0, 0, 0))
    for side in "ij":
        b.body(side, mass=1.0, inertia=INERTIA, r=given[f"r_{side}"], free=True)
        if f"P_{side}" in given:
            given[f"s_{side}"] = given[f"P_{side}"] - given[f"r_{side}"]
    values = {name: value for name, value in given.items() if name[0] not in "rP"}
    values |= {name: value / np.linalg.norm(value) for name, value in values.items() if name[0] in "abc"}
    b.joint("joint", kind, "i", "j", **values)
    return b.build()


def joint(kind: str, figure: Figure, place: tuple[float, float, float, float] = (0, 0, 1, 1)) -> None:
    """A joint of ``codegen.joints``: bodies, points and axes of its definition, and what it lets move."""
    system = joint_system(kind)
    motion = motion_of(system)
    (part,) = motion.outline.joints
    sketch, size = Sketch(figure, place, EYE), HEAVIER * model_size(motion.outline)
    own = dict(zip(part.bodies, colours.PALETTE, strict=False))
    solids = []
    for body in motion.outline.bodies:
        for shape, _, _ in body_triangles(motion.outline, body, size):
            solids.append(_still(motion, body.name, shape, own[body.name]))
        sketch.label(body.r, f"body {body.name}", own[body.name], away=body.r + Z)
    for body, shape, guide in marks(motion, part, size):
        solids.append(
            _still(motion, body, shape, colours.between(own[body], "#ffffff", 0.55) if guide else colours.AXIS)
        )
    for _, ends in links(motion, size):
        if "l" in part.values:
            line = Lines("", "l", np.zeros(1), ends[:1, None], colours.LINK, 0.02)
            solids += with_rods(Scene("", np.zeros(1), (), (line,), (), (), np.zeros(3), np.ones(3), 0.0)).solids
            sketch.label(ends[0].mean(axis=0), "$l$", away=ends[0].mean(axis=0) + Z)
    sketch.solids(solids)
    _definition(sketch, motion, own)
    _steps(sketch, motion)
    sketch.finish()


def _still(motion: DrawnMotion, body: str, shape: Triangles, colour: str) -> Solid:
    vertices, faces = shape
    moved = motion.points(body, O)[0] + vertices @ motion.rotations(body)[0].T
    return Solid("", "", moved, faces, colour, STILL)


def _definition(sketch: Sketch, motion: DrawnMotion, own: Mapping[str, str]) -> None:
    """Points and axes that the definition names; those of both bodies at one place together."""
    (part,) = motion.outline.joints
    points, arrows = dict[tuple[float, ...], list[str]](), dict[tuple[float, ...], list[str]]()
    for body in part.bodies:
        start = motion.points(body, part.values.get(f"s_{body}", O))[0]
        if f"s_{body}" in part.values:
            points.setdefault(tuple(start.round(6)), []).append(f"$P_{body}$")
        for name, value in part.values.items():
            if name[1:] == f"_{body}" and name[0] != "s":
                arrows.setdefault((*start.round(6), *motion.directions(body, value)[0].round(6)), []).append(name)
    for place, names in points.items():
        sketch.label(place, ", ".join(names), away=np.add(place, 0.3 * X + 0.3 * Z))
    for key, names in arrows.items():
        start, way = np.array(key[:3]), np.array(key[3:])
        colour = own[names[0][-1]] if len(names) == 1 else INK
        sketch.arrow([start, start + AXIS * way], colour)
        sketch.label(start + AXIS * way, ", ".join(f"${name}$" for name in names), colour, away=start)


def _steps(sketch: Sketch, motion: DrawnMotion) -> None:
    """What moves: curved arrows of turns, straight ones of slides, with the names of the coordinates."""
    (part,) = motion.outline.joints
    slides = sum(kind == "slide" for _, kind, _, _ in part.steps)
    for name, kind, axis, point in part.steps:
        text = rf"$\{name}$" if name.split("_")[0] in GREEK else name.replace("_", " ")
        at = "s_j" if slides else point
        place = motion.points(at[-1], part.values.get(at, O))[0]
        if kind == "ball":
            for each in np.eye(3):
                sketch.arc(place, each, 1.5 * TURN, MOVES, sweep=70.0)
            sketch.label(place + TURN * (X + Z), text, MOVES, away=place)
            continue
        way = motion.directions(axis[-1], axis_in_body(axis, part.values))[0]
        if kind == "turn":
            ring = place + 0.6 * AXIS * way
            sketch.label(sketch.arc(ring, way, TURN, MOVES), text, MOVES, away=ring)
        elif slides == 1:
            ends = place + 0.09 * sketch.view[1] + np.outer([-SLIDE, SLIDE], way)
            sketch.arrow(ends, MOVES, heads=2)
            sketch.label(ends[1], text, MOVES, away=ends[0])
        else:
            sketch.arrow([place, place + 1.3 * SLIDE * way], MOVES)
            sketch.label(place + 1.3 * SLIDE * way, text, MOVES, away=place)
    if not part.steps and not part.values:
        ends = np.array([motion.r[body][0] for body in part.bodies])
        sketch.arrow(ends, INK, heads=0, dashed=True)
        sketch.label(ends.mean(axis=0), "no motion", away=ends.mean(axis=0) - Z)


def names_of_joints() -> list[str]:
    """All joints of the dictionary, in its order."""
    found = [n for n, v in vars(codegen.joints).items() if inspect.isfunction(v) and v.__module__ == "codegen.joints"]
    return [name for name in found if not name.startswith("_")]


def draw_joint(name: str, file: Path) -> None:
    """Write the drawing of a joint."""
    figure = figure_of(3.6, 2.2)
    joint(name, figure)
    save(figure, file)


def all_joints(file: Path) -> None:
    """All joints of the dictionary in rows."""
    names, columns = names_of_joints(), 3
    rows = -(-len(names) // columns)
    figure = figure_of(2.8 * columns, 1.8 * rows)
    for n, name in enumerate(names):
        left, up = n % columns / columns, 1.0 - n // columns / rows
        joint(name, figure, (left, up - 1.0 / rows, 1.0 / columns, 0.88 / rows))
        figure.text(left + 0.5 / columns, up - 0.03 / rows, name, ha="center", va="top", fontsize=10, weight="bold")
    save(figure, file)


def motion_of(system: runtime.System) -> DrawnMotion:
    """What is drawn of a system in its initial pose."""
    return runtime.simulate(system, 1e-3, t_eval=[0.0]).drawn_motion()


def scene_of(system: runtime.System) -> Scene:
    """The scene of a system in its initial pose."""
    return runtime.simulate(system, 1e-3, t_eval=[0.0]).scene()


def of_groups(scene: Scene, *wanted: str) -> list[Solid]:
    """Solids of a scene, with rods for links, that belong to some groups of the legend."""
    return [solid for solid in with_rods(scene).solids if solid.group in wanted]


FOOT = ("leg", "main_foot", "toes")
FROM_MEDIAL = 0.5 * X + 0.8 * Y + 0.3 * Z


def ankle_turns(system: runtime.System) -> dict[str, tuple[Floats, Floats]]:
    """Point and axis of each hinge of the modified ankle at the start, about which the named motion of the foot is positive."""
    joint, motion = system.joint("ankle"), motion_of(system)
    leg, foot = (motion.points(body, joint.values[at])[0] for body, at in (("leg", "s_j"), ("main_foot", "s_i")))
    return {
        "dorsiflexion": (leg, motion.directions("leg", models.foot.talocrural_frame()[1])[0]),
        "inversion": (foot, motion.directions("main_foot", models.foot.talocalcaneal_axis())[0]),
    }


def ankle(file: Path) -> None:
    """The modified ankle: massless link, axes and signs."""
    system = models.foot.build()
    scene, turns, figure = scene_of(system), ankle_turns(system), figure_of(4.7, 3.3)
    sketch = Sketch(figure, (0, 0, 1, 1), FROM_MEDIAL)
    bones = [replace(solid, opacity=0.35) for solid in of_groups(scene, *FOOT)]
    sketch.solids([solid for solid in bones if solid.group == "leg"], cut=True)
    sketch.solids([solid for solid in bones if solid.group != "leg"])
    sketch.solids(of_groups(scene, "massless link"))
    names = {"dorsiflexion": "talocrural axis", "inversion": "talocalcaneal axis"}
    for (name, (point, axis)), colour in zip(turns.items(), ("#004C7A", "#A03C00"), strict=True):
        side = np.sign(sketch.view[2] @ axis)  # of the eye
        sketch.arrow([point - 0.08 * axis, point + 0.08 * axis], colour)
        sketch.label(point - 0.08 * side * axis, names[name], colour, away=point)
        ring = point + 0.06 * side * axis
        sketch.arc(ring, axis, 0.018, MOVES)
        sketch.label(point + 0.085 * side * axis, f"{name} +", MOVES, away=point)
    (one, _), (other, _) = turns.values()
    length = 1000.0 * models.foot.LINK_LENGTH
    middle = 0.3 * one + 0.7 * other
    sketch.label(middle, f"massless link\n(talus), {length:.1f} mm", "#6B6400", away=middle + X)
    for body, at in (("leg", one + 0.05 * Z), ("main_foot", other + 0.09 * X), ("toes", system.state.r["toes"])):
        sketch.label(at, body.replace("_", " "), INK, away=at - 0.02 * Z)
    corner = np.array([0.2, -0.05, 0.125])
    for axis, text in zip(np.eye(3), ("x anterior", "y medial", "z up"), strict=True):
        sketch.arrow([corner, corner + 0.03 * axis], INK)
        sketch.label(corner + 0.03 * axis, text, away=corner)
    sketch.finish()
    save(figure, file)


def cones(file: Path) -> None:
    """Cones of the ankle's limits with their angles, and that of the papers' pendulum."""
    figure = figure_of(8.4, 2.9)
    shown = (
        ("modified ankle", models.foot.build(limits="elastic"), FROM_MEDIAL),
        ("classical ankle", models.foot.build("classical", limits="elastic"), FROM_MEDIAL),
        ("pendulum", models.pendulum.build(limits="elastic"), EYE),
    )
    for n, (title, system, eye) in enumerate(shown):
        scene, run = scene_of(system), motion_of(system)
        sketch = Sketch(figure, (n / 3, 0, 1 / 3, 0.92), eye)
        figure.text((n + 0.5) / 3, 0.98, title, ha="center", va="top", fontsize=10, weight="bold")
        bodies = of_groups(scene, *FOOT, "rod", "joints", "ground", "massless link")
        for leg in (True, False):
            sketch.solids([solid for solid in bodies if (solid.group == "leg") == leg] or bodies, cut=leg and n < 2)
        sketch.solids(of_groups(scene, "limits"))
        for limit in run.outline.limits:
            for longitude, latitude in zip(limit.cone.longitudes[:4], limit.cone.latitudes, strict=False):
                if np.rad2deg(latitude) > models.foot.UNREACHED_DEG + 1e-9:
                    rim = direction_at(longitude, latitude)
                    point, frame = apex(run.outline, limit), limit_frame(limit)
                    start = run.points(limit.reference, point)[0]
                    end = start + CONE * model_size(run.outline) * run.directions(limit.reference, frame @ rim)[0]
                    sketch.label(end, f"{np.rad2deg(latitude):.0f}°", away=start)
        sketch.finish(beside=30.0)
    save(figure, file)


def direction_at(longitude: float, latitude: float) -> Floats:
    """The direction of a longitude and a latitude [rad] in the frame of a cone."""
    return np.array([np.sin(latitude) * np.cos(longitude), np.sin(latitude) * np.sin(longitude), np.cos(latitude)])


def soles(file: Path) -> None:
    """The spheres under the foot, from below with their numbers, and the three shapes from the lateral side."""
    figure = figure_of(8.4, 3.6)
    sides = [(shape, (0.34, 0.64 - 0.32 * n, 0.66, 0.32), -Y) for n, shape in enumerate(models.foot_sole.SHAPE_NAMES)]
    for title, place, eye in (("normal, from below", (0, 0, 0.34, 0.93), -Z), *sides):
        system = models.foot.build(ground=True, sole=title.partition(",")[0])
        scene, motion, sketch = scene_of(system), motion_of(system), Sketch(figure, place, eye)
        sketch.solids(of_groups(scene, "main_foot", "toes"))
        sketch.solids([replace(s, colour=colours.CONE, colours=(), opacity=0.5) for s in of_groups(scene, "contacts")])
        numbers = dict[tuple[float, ...], list[str]]()
        for contact in system.contacts:
            at = motion.points(contact.body, contact.values["s_i"])[0]
            numbers.setdefault(tuple(sketch.plane(at).round(3)), []).append(contact.name.removeprefix("sphere_"))
        for at, names in numbers.items():
            sketch.number(at, ", ".join(names))
        figure.text(place[0] + 0.02, place[1] + 0.96 * place[3], title, va="center", fontsize=10, weight="bold")
        sketch.finish(beside=20.0)
    save(figure, file)


def markers(file: Path) -> None:
    """Labels of the landmarks in each marker set, on the leg and foot of the synthetic subject."""
    system, person = models.walking.synthetic.build(), models.walking.synthetic.subject()
    scene, motion, known = scene_of(system), motion_of(system), marker_sets.MARKER_SETS
    of_labels = {
        label: motion.points(body, local)[0]
        for body, of in person.bodies.items()
        for label, local in of.markers.items()
    }
    own = {name: [f"R_{label}" for label in labels] for name, labels in known[0].labels.items()}
    own |= {name: [label] for name, label in models.walking.synthetic.MARKERS.items()}
    points = {name: of_labels[labels[0]] for name, labels in own.items() if labels[0] in of_labels}
    columns, rows = 3, -(-len(known) // 3)
    figure = figure_of(2.8 * columns, 3.7 * rows)
    for n, one in enumerate(known):
        left, up = n % columns / columns, 1.0 - n // columns / rows
        sketch = Sketch(figure, (left, up - 1.0 / rows, 1.0 / columns, 0.93 / rows), FROM_MEDIAL)
        figure.text(left + 0.5 / columns, up - 0.02 / rows, one.name, ha="center", va="top", fontsize=10, weight="bold")
        sketch.solids(of_groups(scene, *FOOT))
        for name, labels in one.labels.items():
            if name in points:
                sketch.ball(points[name], 0.008)
                sketch.label(points[name], f"R{one.separator}{labels[0]}", away=points[name] + X)
        sketch.finish(beside=90.0)
    save(figure, file)


def models_by_name() -> dict[str, Callable[[], runtime.System]]:
    """Functions that build the models that come with Talus, by the names that the command knows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {name: pkgutil.resolve_name(place) for name, place in project["entry-points"]["talus.models"].items()}


def draw_model(name: str, file: Path) -> None:
    """A model in its initial pose, with the names of its bodies and joints."""
    system = models_by_name()[name]()
    scene, motion, figure = scene_of(system), motion_of(system), figure_of(5.6, 3.6)
    sketch, shown = Sketch(figure, (0, 0, 1, 1), FROM_MEDIAL), {group.key for group in scene.groups if group.shown}
    planes = [solid for solid in scene.solids if solid.name.startswith("plane of")]
    if planes:
        sketch.solids(planes)
    sketch.solids([solid for solid in with_rods(scene).solids if solid.group in shown and solid not in planes])
    for body in motion.outline.bodies:
        colour = next(solid.colour for solid in scene.solids if solid.name == f"{body.name} 0")
        sketch.label(body.r, body.name, colours.between(colour, INK, 0.25), away=body.r + Z)
    for joint in motion.outline.joints:
        side, body = ("i", joint.bodies[0]) if joint.bodies[1] == "ground" else ("j", joint.bodies[1])
        if f"s_{side}" in joint.values:
            at = motion.points(body, joint.values[f"s_{side}"])[0]
            sketch.label(at, joint.name, INK, away=at - Z)
    sketch.finish(beside=90.0)
    save(figure, file)


def swinging_feet() -> tuple[runtime.Run, dict[str, runtime.Run]]:
    """The modified foot that swings within its limits, and the classical one by its name."""
    t = np.linspace(0.0, 1.0, 51)
    modified, classical = (
        runtime.simulate(models.foot.build(kind, limits="elastic"), 1.0, t_eval=t) for kind in ("modified", "classical")
    )
    return modified, {"classical": classical}


def write_motion(name: str, file: Path) -> None:
    """A page with the motion of this name: that of ``swinging_feet``, as the films show it."""
    modified, beside = {"feet": swinging_feet}[name]()
    modified.animation(file, name="modified", beside=beside, speed=0.25)


def foot_in_motion(file: Path) -> None:
    """Both feet swing within their limits: the film of ``run.animation`` with fewer pixels, colours and frames."""
    modified, beside = swinging_feet()
    with tempfile.TemporaryDirectory() as folder:
        film = Image.open(modified.animation(Path(folder) / "foot.gif", name="modified", beside=beside, speed=0.5))
        frames = [frame.convert("RGB") for frame in ImageSequence.Iterator(film)][::2]
    box = drawn_box(frames)
    small = [frame.crop(box).resize((WIDTH, round(WIDTH * (box[3] - box[1]) / (box[2] - box[0])))) for frame in frames]
    palette = small[len(small) // 2].quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
    first, *rest = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
    first.save(file, save_all=True, append_images=rest, duration=80, loop=0, optimize=True)


WIDTH, COLOURS = 480, 64  # of the film: pixels and colours
DRAWN: dict[str, tuple[Callable[[str, Path], None], str]] = {  # at the building of the site: function, ending of the file
    "joint": (draw_joint, ".png"), "model": (draw_model, ".png"), "motion": (write_motion, ".html"),
}  # fmt: skip
PICTURES: dict[str, Callable[[Path], None]] = {
    "joints.png": all_joints,
    "modified_ankle.png": ankle,
    "cones.png": cones,
    "soles.png": soles,
    "marker_sets.png": markers,
    "foot.gif": foot_in_motion,
}


def main(wanted: list[str]) -> None:
    """Write the pictures of these names, by default all, into ``docs/pictures``."""
    for name in wanted or PICTURES:
        PICTURES[name](DOCS / "pictures" / name)
        print(f"docs/pictures/{name}: {(DOCS / 'pictures' / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
