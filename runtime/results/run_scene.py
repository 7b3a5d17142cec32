"""Scenes of runs: one, several side by side, and ghosts in the place of the first."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from runtime.results import drawn_bodies as drawn
from runtime.results.drawn_joints import axes, marks
from runtime.results.drawn_motion import DrawnMotion, Wrench
from runtime.results.outline import Part
from runtime.support.arrays import Floats, Ints
from runtime.system.parts import GROUND
from runtime.system.reference import rotation_matrix
from runtime.system.shapes import along
from runtime.view import colours
from runtime.view.scene import STILL, Arrows, Chart, Follow, Group, Lines, Pose, Scene, Solid
from runtime.view.triangles import Triangles, box, ellipsoid, triangles, tube

FRAMES_PER_SECOND = 50.0  # of playing
MOST_FRAMES = 900
GHOST, SHEER = 0.3, 0.4  # opacity of runs in the place of another, and of bodies without shapes that would hide muscles
APART = 1.3  # distance of runs side by side, in widths
BESIDE = 0.15  # of the size of the model: a plane reaches as far beyond the spheres that touch it
FAR = 1.0  # path, in sizes of the model, from which on a page follows a motion
POINT = 0.016  # radius of points, as a fraction of the model's size
UNLOADED = 1e-3  # of the largest force of loads, below which their point of action is not shown
MUSCLES = "muscles, activation 0 to 1"
BAR = 7  # colours of the bar in the legend
POINT_OF_LOADS = "point of action of the loads"
# Key, label and colour of what is drawn of joints by axes, and by motion.
JOINTS = ("axes", "axes of joints", colours.AXIS), ("joints", "joints", colours.AXIS)
FORCE, GRAVITY = 0.5, 0.2  # length of the longest arrow, as a fraction of the model's size


class _Drawing:
    """Collects the parts of a scene."""

    def __init__(self, size: float, frames_per_second: float) -> None:
        self.size, self.frames_per_second = size, frames_per_second
        self.solids: list[Solid] = []
        self.lines: list[Lines] = []
        self.arrows: list[Arrows] = []
        self.groups: dict[str, Group] = {}
        self.notes: list[str] = []

    def group(self, key: str, label: str, colour: str, **more: Any) -> str:
        self.groups.setdefault(key, Group(key, label, colour, **more))
        return key

    def frames(self, t: Floats) -> Ints:
        """Places of the outputs that are shown: all, or those at least a frame apart, and the last."""
        if not len(t):
            return np.zeros(0, np.int64)
        least = max(1.0 / self.frames_per_second, (t[-1] - t[0]) / MOST_FRAMES)
        kept = np.searchsorted(t, np.arange(t[0], t[-1], least) - 1e-9 * least)
        return np.union1d(kept, [len(t) - 1])


class _Drawn:
    """One run in a drawing: what it adds is moved by ``offset`` and belongs to groups of its own."""

    def __init__(
        self, to: _Drawing, run: DrawnMotion, *, offset: Floats, one: str = "", label: str = "", colour: str = "",
        ghost: bool = False,
    ) -> None:  # fmt: skip
        self.to, self.run, self.offset, self.ghost = to, run, offset, ghost
        self.one, self.label, self.colour = one, label, colour  # ``one``: key of the only group, with several runs
        self.kept = to.frames(run.t)
        self.t = run.t[self.kept]
        self.shapes = {body.name: drawn.body_triangles(run.outline, body, to.size) for body in run.outline.bodies}
        # Bodies that are drawn take the first colours, since the palette repeats.
        self.palette = sorted(self.shapes, key=lambda name: not self.shapes[name])

    def group(self, key: str, label: str, colour: str, **more: Any) -> str:
        if self.one:
            return self.to.group(self.one, self.label, self.colour, choice=self.ghost)
        return self.to.group(key, label, colour, **more)

    def name(self, *parts: str) -> str:
        return " ".join((self.label, *parts)) if self.label else " ".join(parts)

    def pose(self, body: str) -> Pose:
        if body == GROUND:
            return Pose(STILL.t, STILL.r + self.offset, STILL.p)
        p = self.run.p[body][self.kept]
        return Pose(self.t, self.run.r[body][self.kept] + self.offset, p / np.linalg.norm(p, axis=1)[:, None])

    def solid(
        self, group: str, name: str, shape: Triangles, colour: str, body: str, *, opacity: float = 1.0, **more: Any
    ) -> None:
        opacity = GHOST if self.ghost else opacity
        self.to.solids.append(Solid(group, self.name(name), *shape, colour, self.pose(body), opacity, **more))

    def _of_body(self, body: str, label: str = "", given: str | None = None) -> tuple[str, str, str]:
        """Key, label and colour of a body, or of a shape with a label or colour of its own."""
        label = label or body
        own = colours.GROUND if body == GROUND else colours.PALETTE[self.palette.index(body) % len(colours.PALETTE)]
        return label, label.replace("_", " "), self.colour or given or own

    def bodies(self) -> None:
        """Bodies, joined by massless links and forces."""
        run, size = self.run, self.to.size
        for body in run.outline.bodies:
            shaped = any(shape.body == body.name for shape in run.outline.shapes)
            opacity = SHEER if run.activations and not shaped else 1.0
            for n, (shape, given, label) in enumerate(self.shapes[body.name]):
                key, text, colour = self._of_body(body.name, label, given)
                group = self.group(key, text, colour)
                self.solid(group, f"{body.name} {n}", shape, colour, body.name, opacity=opacity)
        for n, fixed in enumerate(shape for shape in run.outline.shapes if shape.body == GROUND):
            colour = fixed.colour or colours.GROUND
            self.solid(self.group("ground", "ground", colour), f"ground {n}", triangles(fixed), colour, GROUND)
        for part, points in drawn.links(run, size):
            link = part in run.outline.joints and "l" in part.values
            label, colour = ("massless link", colours.LINK) if link else ("springs and slides", colours.SPRING)
            colour = (self.colour if self.ghost else "") or colour
            moved = points[self.kept][:, None] + self.offset
            self.to.lines.append(
                Lines(
                    self.group(label, label, colour),
                    self.name(part.name),
                    self.t,
                    moved,
                    colour,
                    0.025 if link else 0.008,
                )
            )

    def muscles(self) -> None:
        """Muscles as tubes along their paths, coloured by their activation."""
        activations, count = self.run.activations, len(self.t)
        if not activations:
            return
        bar = tuple(map(colours.of_activation, np.linspace(0.0, 1.0, BAR)))
        at = Pose(self.t, np.tile(self.offset, (count, 1)), np.tile(STILL.p, (count, 1)))
        for muscle in (muscle for muscle in self.run.outline.muscles if muscle.name in activations):
            # Runs side by side share this entry of the legend, which explains the colours; a ghost is hidden as a whole.
            group = (self.group if self.ghost else self.to.group)("muscles", MUSCLES, bar[-1], scale=bar)
            radius = drawn.muscle_radius(self.run.outline, muscle, self.to.size)
            shape = tube(drawn.muscle_line(self.run, muscle, self.kept), radius)
            seen = tuple(colours.of_activation(float(a)) for a in activations[muscle.name][self.kept])
            name, opacity = self.name(muscle.name), GHOST if self.ghost else 1.0
            self.to.solids.append(Solid(group, name, *shape, seen[0], at, opacity, seen))

    def joints(self) -> None:
        """Joints by their motion, or their axes, and joint limits."""
        run, size = self.run, self.to.size
        for joint in run.outline.joints:
            of_motion = drawn.drawn_by_motion(run.outline, joint)
            for n, mark in enumerate(marks(run, joint, size) if of_motion else axes(run.outline, joint, size)):
                key, label, colour = self._of_body(mark.body) if mark.own else JOINTS[of_motion]
                self.solid(self.group(key, label, colour), f"{joint.name}, {n}", mark.shape, colour, mark.body)
        for limit in run.outline.limits:
            group = self.group("limits", "joint limits", colours.CONE)
            cone = drawn.cone_triangles(run.outline, limit, size)
            self.solid(group, f"cone {limit.name}", cone, colours.CONE, limit.reference, opacity=0.3)
            start = run.points(limit.reference, drawn.apex(run.outline, limit))
            ends = start + drawn.CONE * size * drawn.cone_directions(run, limit)
            points = (np.stack([start, ends], axis=1)[self.kept] + self.offset)[:, None]
            self.to.lines.append(Lines(group, self.name("direction", limit.name), self.t, points, colours.FORCE, 0.006))

    def contacts(self) -> None:
        """Spheres coloured by their force, planes, forces on the bodies and the trail of the centre of pressure."""
        run, contacts = self.run, self.run.outline.contacts
        if not contacts:
            return
        for contact in contacts:
            values = contact.values
            vertices, faces = ellipsoid(np.full(3, float(values["radius"])))
            seen = drawn.sphere_colours(run.contacts[contact.name].normal_force[self.kept])
            group = self.group("contacts", "contacts, red under load", colours.LOADED)
            shape = (vertices + values["s_i"], faces)
            self.solid(group, contact.name, shape, seen[0], contact.bodies[0], colours=seen)
        planes: dict[Any, list[Part]] = {}
        for contact in contacts:
            planes.setdefault((contact.bodies[1], *contact.values["n_j"], *contact.values["s_j"]), []).append(contact)
        for together in planes.values():
            self._plane(together)
        forces = np.array([run.contacts[contact.name].force for contact in contacts])
        most = _longest(forces)
        group = self.group("contact forces", _forces("contact forces", most), colours.FORCE)
        for contact, force in zip(contacts, forces, strict=True):
            self.arrow(group, contact.name, run.contacts[contact.name].point, force, most, colours.FORCE)
        if run.centre_of_pressure is not None:
            self.trail("centre of pressure", run.centre_of_pressure)

    def trail(self, label: str, points: Floats) -> None:
        """The path of a point (n, 3); NaN where there is none."""
        points = points[self.kept]
        parts = np.stack([points[:-1], points[1:]], axis=1)
        parts = parts[np.isfinite(parts).all(axis=(1, 2))]
        if len(parts):
            group = self.group(label, label, colours.TRAIL)
            moved = parts[None] + self.offset
            self.to.lines.append(Lines(group, self.name(f"path, {label}"), np.zeros(1), moved, colours.TRAIL))

    def _plane(self, contacts: list[Part]) -> None:
        """The part of a plane that lies below the spheres of its contacts during the motion."""
        run, size, (body, values) = self.run, self.to.size, (contacts[0].bodies[1], contacts[0].values)
        axes, thick = along(values["n_j"]), 0.004 * size
        moved = [run.points(c.bodies[0], c.values["s_i"]) - run.points(body, values["s_j"]) for c in contacts]
        places = np.einsum("nba,knb->kna", run.rotations(body), np.array(moved)) @ axes
        low, high = places.min(axis=(0, 1)) - BESIDE * size, places.max(axis=(0, 1)) + BESIDE * size
        low[2], high[2] = -thick, 0.0
        vertices, faces = box(high - low)
        shape = values["s_j"] + (vertices + 0.5 * (low + high)) @ axes.T, faces
        group = self.group("ground", "ground", colours.GROUND)
        self.solid(group, f"plane of {contacts[0].name}", shape, colours.GROUND, body, opacity=0.5)

    def loads(self) -> None:
        """Prescribed forces and moments, paths of points on which they act, and reactions, which are hidden at first."""
        run = self.run
        self._wrenches("load", run.loads, shown=True)
        if run.moving_loads:
            self.trail(POINT_OF_LOADS, _common_path([run.loads[name] for name in run.moving_loads]))
        if not self.one:
            self._wrenches("reaction", run.reactions, shown=False)

    def _wrenches(self, kind: str, wrenches: Mapping[str, Wrench], *, shown: bool) -> None:
        """Forces and moments, each drawn to one scale."""
        for what, colour, unit in (("force", colours.FORCE, "N"), ("moment", colours.MOMENT, "N m")):
            vectors = {name: getattr(wrench, what) for name, wrench in wrenches.items()}
            if not (most := max(map(_longest, vectors.values()), default=0.0)):
                continue
            one = next(iter(wrenches)) if len(wrenches) == 1 and shown else ""
            text = _forces(f"{one}: {what}" if one else f"{kind} {what}s", most, unit)
            group = self.group(f"{kind} {what}s", text, colour, shown=shown)
            for name, vector in vectors.items():
                self.arrow(group, f"{name} {what}", wrenches[name].point, vector, most, colour)

    def points(self, groups: Mapping[str, Mapping[str, Floats]]) -> None:
        """Points beside the bodies as small spheres, a colour for each group."""
        for (label, points), colour in zip(groups.items(), itertools.cycle(colours.POINTS), strict=False):
            group = self.to.group(f"points {label}", label, colour)
            for name, path in points.items():
                pose = Pose(self.t, path[self.kept] + self.offset, np.tile(STILL.p, (len(self.t), 1)))
                sphere = ellipsoid(np.full(3, POINT * self.to.size), fine=False)
                self.to.solids.append(Solid(group, self.name(label, name), *sphere, colour, pose))

    def arrow(self, group: str, name: str, start: Floats, vector: Floats, most: float, colour: str) -> None:
        """An arrow whose longest vector has the length of the drawing's longest arrow."""
        scaled = vector[self.kept] * (FORCE * self.to.size / most) if most else vector[self.kept]
        small = np.linalg.norm(scaled, axis=1) < 1e-3 * self.to.size
        scaled = np.where(small[:, None], np.nan, scaled)
        self.to.arrows.append(Arrows(group, self.name(name), self.t, start[self.kept] + self.offset, scaled, colour))


def _longest(vectors: Floats) -> float:
    """Length of the longest of the vectors (..., 3)."""
    return float(np.linalg.norm(vectors, axis=-1).max(initial=0.0))


def _common_path(loads: list[Wrench]) -> Floats:
    """Centre (n, 3) of the points on which loads act, weighted by the magnitudes of their forces; NaN without a force."""
    sizes = np.array([np.linalg.norm(load.force, axis=1) for load in loads])
    loaded = sizes.sum(axis=0) > UNLOADED * sizes.max(initial=0.0)
    path = np.full((len(loaded), 3), np.nan)
    weighted = np.einsum("ln,lna->na", sizes, np.array([load.point for load in loads]))
    path[loaded] = weighted[loaded] / sizes.sum(axis=0)[loaded, None]
    return path


def _forces(what: str, most: float, unit: str = "N") -> str:
    return f"{what}, up to {most:.3g} {unit}"


def scene_of(
    runs: Mapping[str, DrawnMotion], *, ghosts: Mapping[str, DrawnMotion], title: str, choice: str, speed: float,
    points: Mapping[str, Mapping[str, Floats]], curves: Mapping[str, Mapping[str, Floats]],
) -> Scene:  # fmt: skip
    """The scene of runs side by side; ``ghosts`` are drawn in the place of the first, one at a time."""
    everything = [*runs.values(), *ghosts.values()]
    size = max(drawn.model_size(run.outline) for run in everything)
    to = _Drawing(size, FRAMES_PER_SECOND / speed)
    several = len(runs) > 1 or bool(ghosts)
    turn = _upright(next(iter(runs.values())).outline.gravity)
    aside = turn[1]  # of the model: along y of the scene
    width = max(
        (float(np.ptp(run.r[body.name] @ aside)) for run in runs.values() for body in run.outline.bodies), default=0.0
    )
    step = APART * max(0.5 * size, width + 0.3 * size) * aside
    for n, (label, run) in enumerate(runs.items()):
        colour = colours.of_run(n, label) if len(runs) > 1 else ""
        one = label if len(runs) > 1 else ""
        shown = _Drawn(to, run, offset=n * step, one=one, label=label if several else "", colour=colour)
        shown.bodies()
        shown.muscles()
        shown.joints()
        shown.contacts()
        shown.loads()
        if n == 0:
            shown.points(points)
            to.notes += run.notes
    for n, (label, run) in enumerate(ghosts.items()):
        colour = colours.of_run(n + len(runs), label)
        ghost = _Drawn(to, run, offset=np.zeros(3), one=f"ghost {n}", label=label, colour=colour, ghost=True)
        ghost.bodies()
        ghost.muscles()
    if turn[2, 2] < 1.0:
        _turn(to, turn)
    low, high = _corners(to)
    first = next(iter(runs.values()))
    follow = _followed(to, first, turn)
    _add_gravity(to, turn @ first.outline.gravity, low if follow is None else follow.low + follow.moved[0])
    return Scene(
        title, first.t[to.frames(first.t)], tuple(to.solids), tuple(to.lines), tuple(to.arrows), tuple(to.groups.values()),
        low, high, float(low[2]), _charts(runs, curves), choice, tuple(to.notes), follow,
    )  # fmt: skip


def _upright(gravity: Floats) -> Floats:
    """The shortest turn (3, 3) after which gravity points downwards, along -z; none without gravity."""
    if not gravity[:2].any() and gravity[2] <= 0.0:
        return np.eye(3)
    return np.asarray(Rotation.align_vectors([[0.0, 0.0, -1.0]], [gravity])[0].as_matrix())


def _turn(to: _Drawing, turn: Floats) -> None:
    """Turn all that is drawn about the origin."""
    for n, solid in enumerate(to.solids):
        p = (Rotation.from_matrix(turn) * Rotation.from_quat(solid.pose.p, scalar_first=True)).as_quat(
            scalar_first=True
        )
        to.solids[n] = replace(solid, pose=Pose(solid.pose.t, solid.pose.r @ turn.T, p))
    for n, lines in enumerate(to.lines):
        to.lines[n] = replace(lines, points=lines.points @ turn.T)
    for n, arrow in enumerate(to.arrows):
        to.arrows[n] = replace(arrow, start=arrow.start @ turn.T, vector=arrow.vector @ turn.T)


def _followed(to: _Drawing, run: DrawnMotion, turn: Floats) -> Follow | None:
    """The horizontal displacement of a motion that goes farther than the model is large; else None."""
    t = run.t[to.frames(run.t)]
    path = np.mean([run.r[body.name] for body in run.outline.bodies], axis=0)[to.frames(run.t)]
    moved = (path - path.mean(axis=0)) @ turn.T * np.array([1.0, 1.0, 0.0])
    if np.ptp(moved, axis=0).max() < FAR * to.size:
        return None
    return Follow(t, moved, *_corners(to, t, moved))


def _corners(to: _Drawing, t: Floats | None = None, moved: Floats | None = None) -> tuple[Floats, Floats]:
    """Corners of the box that holds the solids but the ground at all times, less displacements ``moved`` at times ``t``."""
    found: list[Floats] = []
    for solid in to.solids:
        if solid.group == "ground":
            continue
        shapes = solid.vertices.reshape(-1, *solid.vertices.shape[-2:])
        ends = np.stack([shapes.min(axis=1), shapes.max(axis=1)])
        corners = np.stack([ends[[a, b, c], :, [0, 1, 2]].T for a in (0, 1) for b in (0, 1) for c in (0, 1)], axis=1)
        places = solid.pose.r
        if t is not None and moved is not None:
            places = places - np.stack([np.interp(solid.pose.t, t, column) for column in moved.T], axis=1)
        each = zip(places, solid.pose.p, itertools.cycle(corners), strict=False)  # one shape, or one for each pose
        found += [r + own @ rotation_matrix(p).T for r, p, own in each]
    points = np.concatenate(found)
    return points.min(axis=0), points.max(axis=0)


def _add_gravity(to: _Drawing, gravity: Floats, low: Floats) -> None:
    if (size := float(np.linalg.norm(gravity))) > 0.0:
        vector = GRAVITY * to.size * gravity / size
        group = to.group("gravity", f"gravity, {size:.3g} m/s²", colours.GRAVITY)
        start = low + np.array([-0.08, 0.0, 0.05]) * to.size - np.minimum(vector, 0.0)  # beside all else
        to.arrows.append(Arrows(group, "gravity", np.zeros(1), start[None], vector[None], colours.GRAVITY))


def _charts(runs: Mapping[str, DrawnMotion], own: Mapping[str, Mapping[str, Floats]]) -> tuple[Chart, ...]:
    """Curves of the first run that were asked for, angles of the limits, and, with nothing else asked for, the energies."""
    first = next(iter(runs.values()))
    charts = [_chart(title, [(label, first.t, y) for label, y in curves.items()]) for title, curves in own.items()]
    for name in dict.fromkeys(limit.name for run in runs.values() for limit in run.outline.limits):
        angles = [
            (label, run.t, np.rad2deg(run.limits[name].angle)) for label, run in runs.items() if name in run.limits
        ]
        charts.append(_chart(f"{name} [deg]", angles))
    if len(runs) > 1:
        kinetic = [(label, run.t, run.energies.kinetic) for label, run in runs.items() if run.energies]
        charts += [_chart("kinetic energy [J]", kinetic)] if kinetic else []
    elif first.energies and not own:
        energies = [(label, first.t, e - e[0]) for label, e in first.energies._asdict().items()]
        charts.append(_chart("energy − start [J]", energies))
    return tuple(charts)


def _chart(title: str, curves: list[tuple[str, Floats, Floats]]) -> Chart:
    return Chart(title, tuple((label, colours.of_run(n, label), t, y) for n, (label, t, y) in enumerate(curves)))
