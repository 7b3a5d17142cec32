"""Scenes of runs: one, several side by side, and ghosts in the place of the first."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from runtime.results import drawn_bodies as drawn
from runtime.results.recorded import Recorded
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError
from runtime.system.parts import GROUND, Contact, Load
from runtime.system.reference import rotation_matrix
from runtime.system.shapes import along
from runtime.view import colours
from runtime.view.scene import STILL, Arrows, Chart, Group, Lines, Pose, Scene, Solid
from runtime.view.triangles import Triangles, box, ellipsoid, triangles

FRAMES_PER_SECOND = 50.0  # of playing
MOST_FRAMES = 900
GHOST = 0.3  # opacity
APART = 1.3  # distance of runs side by side, in widths
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

    def group(self, key: str, label: str, colour: str, *, shown: bool = True, choice: bool = False) -> str:
        self.groups.setdefault(key, Group(key, label, colour, shown, choice))
        return key

    def frames(self, t: Floats) -> Ints:
        """Places of the outputs that are shown: all, or those at least a frame apart, and the last."""
        span = float(t[-1] - t[0]) if len(t) else 0.0
        least = max(1.0 / self.frames_per_second, span / MOST_FRAMES)
        kept, last = [], -np.inf
        for n, time in enumerate(t):
            if time >= last + least * (1.0 - 1e-9):
                kept.append(n)
                last = time
        if kept and kept[-1] != len(t) - 1:
            kept.append(len(t) - 1)
        return np.array(kept, np.int64)


class _Drawn:
    """One run in a drawing: what it adds is moved by ``offset`` and belongs to groups of its own."""

    def __init__(
        self, to: _Drawing, run: Recorded, *, offset: Floats, one: str = "", label: str = "", colour: str = "",
        ghost: bool = False,
    ) -> None:  # fmt: skip
        self.to, self.run, self.offset, self.ghost = to, run, offset, ghost
        self.one, self.label, self.colour = one, label, colour  # ``one``: key of the only group, with several runs
        self.kept = to.frames(run.t)
        self.t = run.t[self.kept]

    def group(self, key: str, label: str, colour: str, *, shown: bool = True) -> str:
        if self.one:
            return self.to.group(self.one, self.label, self.colour, choice=self.ghost)
        return self.to.group(key, label, colour, shown=shown)

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

    def bodies(self) -> None:
        """Bodies, joined by massless links and forces."""
        run, size = self.run, self.to.size
        for k, body in enumerate(run.system.bodies):
            own = colours.PALETTE[k % len(colours.PALETTE)]
            for n, (shape, given, label) in enumerate(drawn.body_triangles(run.system, body, size)):
                colour = self.colour or given or own
                text = label or body.name
                self.solid(
                    self.group(text, text.replace("_", " "), colour), f"{body.name} {n}", shape, colour, body.name
                )
        for n, fixed in enumerate(shape for shape in run.system.shapes if shape.body == GROUND):
            colour = fixed.colour or colours.GROUND
            self.solid(self.group("ground", "ground", colour), f"ground {n}", triangles(fixed), colour, GROUND)
        names = run.system.joint_names
        for name, points in drawn.links(run, size):
            link = name in names and "l" in run.system.joint(name).values
            label, colour = ("massless link", colours.LINK) if link else ("springs and slides", colours.SPRING)
            colour = (self.colour if self.ghost else "") or colour
            moved = points[self.kept][:, None] + self.offset
            self.to.lines.append(
                Lines(
                    self.group(label, label, colour), self.name(name), self.t, moved, colour, 0.025 if link else 0.008
                )
            )

    def joints(self) -> None:
        """Axes of the joints, and limits of motion."""
        run, size = self.run, self.to.size
        for n, (body, shape) in enumerate(drawn.drawn_axes(run.system, size)):
            self.solid(self.group("axes", "axes of joints", colours.AXIS), f"axis {n}", shape, colours.AXIS, body)
        for limit in run.system.limits:
            group = self.group("limits", "limits of motion", colours.CONE)
            cone = drawn.cone_triangles(run.system, limit, size)
            self.solid(group, f"cone {limit.name}", cone, colours.CONE, limit.reference, opacity=0.3)
            start = drawn.points_of(run, limit.reference, drawn.apex(run.system, limit))
            ends = start + drawn.CONE * size * drawn.cone_directions(run, limit)
            points = (np.stack([start, ends], axis=1)[self.kept] + self.offset)[:, None]
            self.to.lines.append(Lines(group, self.name("direction", limit.name), self.t, points, colours.FORCE, 0.006))

    def contacts(self) -> None:
        """Spheres coloured by their force, planes, forces on the bodies and the trail of the centre of pressure."""
        run = self.run
        if not run.system.contacts:
            return
        for contact in run.system.contacts:
            values = contact.values
            vertices, faces = ellipsoid(np.full(3, float(values["radius"])))
            seen = drawn.sphere_colours(run.contacts[contact.name].normal_force[self.kept])
            group = self.group("contacts", "contacts, red under load", colours.LOADED)
            shape = (vertices + values["s_i"], faces)
            self.solid(group, contact.name, shape, seen[0], contact.body, colours=seen)
        for contact in {(c.plane, *c.values["n_j"], *c.values["s_j"]): c for c in run.system.contacts}.values():
            self._plane(contact)
        forces = np.array([run.contacts[name].force[self.kept] for name in run.system.contact_names])
        most = float(np.linalg.norm(forces, axis=2).max(initial=0.0))
        group = self.group("contact forces", _forces("contact forces", most), colours.FORCE)
        for name, force in zip(run.system.contact_names, forces, strict=True):
            self.arrow(group, name, run.contacts[name].point[self.kept], force, most, colours.FORCE)
        with suppress(ModelError):  # contacts on several planes have no common centre of pressure
            self._centre_of_pressure()

    def _centre_of_pressure(self) -> None:
        trail = self.run.ground_reaction().centre_of_pressure[self.kept]
        parts = np.stack([trail[:-1], trail[1:]], axis=1)
        parts = parts[np.isfinite(parts).all(axis=(1, 2))]
        if len(parts):
            group = self.group("centre of pressure", "centre of pressure", colours.PALETTE[2])
            points = parts[None] + self.offset
            self.to.lines.append(Lines(group, self.name("trail"), np.zeros(1), points, colours.PALETTE[2]))

    def _plane(self, contact: Contact) -> None:
        vertices, faces = box(np.array([1.6, 1.6, 0.004]) * self.to.size)
        values = contact.values
        turned = vertices @ along(values["n_j"]).T
        group = self.group("ground", "ground", colours.GROUND)
        place = np.asarray(values["s_j"]) - 0.002 * self.to.size * np.asarray(values["n_j"])
        self.solid(
            group, f"plane of {contact.name}", (turned + place, faces), colours.GROUND, contact.plane, opacity=0.5
        )

    def loads(self) -> None:
        """Prescribed forces and moments, gravity, and reactions of the joints, which are hidden at first."""
        run = self.run
        for load in run.system.loads:
            start, force, moment = _load(run, load, self.kept)
            for what, vector, colour in (("force", force, colours.FORCE), ("moment", moment, colours.MOMENT)):
                if most := float(np.linalg.norm(vector, axis=1).max(initial=0.0)):
                    text = f"{load.name}: {_forces(what, most, 'N' if what == 'force' else 'N m')}"
                    self.arrow(
                        self.group(f"load {what}", text, colour), f"{load.name} {what}", start, vector, most, colour
                    )
        if not self.one and run.has_forces:
            self._reactions()

    def _reactions(self) -> None:
        run = self.run
        joints = drawn.connecting(run.system)
        try:
            found = [run.reaction(joint.name, on=joint.body_j) for joint in joints]
        except ModelError as error:
            self.to.notes.append(f"Reactions are not drawn: {error}")
            return
        for what, colour, unit in (("force", colours.FORCE, "N"), ("moment", colours.MOMENT, "N m")):
            vectors = [getattr(reaction, what)[self.kept] for reaction in found]
            most = max((float(np.linalg.norm(v, axis=1).max(initial=0.0)) for v in vectors), default=0.0)
            if most == 0.0:
                continue
            group = self.group(f"reaction {what}s", _forces(f"reaction {what}s", most, unit), colour, shown=False)
            for joint, vector in zip(joints, vectors, strict=True):
                local = np.asarray(joint.values.get("s_j", np.zeros(3)))
                start = drawn.points_of(run, joint.body_j, local)[self.kept]
                self.arrow(group, f"{joint.name} {what}", start, vector, most, colour)

    def arrow(self, group: str, name: str, start: Floats, vector: Floats, most: float, colour: str) -> None:
        """An arrow whose longest vector has the length of the drawing's longest arrow."""
        scaled = vector * (FORCE * self.to.size / most) if most else vector
        small = np.linalg.norm(scaled, axis=1) < 1e-3 * self.to.size
        scaled = np.where(small[:, None], np.nan, scaled)
        self.to.arrows.append(Arrows(group, self.name(name), self.t, start + self.offset, scaled, colour))


def _forces(what: str, most: float, unit: str = "N") -> str:
    return f"{what}, up to {most:.3g} {unit}"


def _load(run: Recorded, load: Load, kept: Ints) -> tuple[Floats, Floats, Floats]:
    """Point of action, force and moment of a load at the shown times, (n, 3) each, in global axes."""
    t = run.t[kept]
    force, moment = (np.stack([signal(t) for signal in part], axis=1) for part in (load.force, load.moment))
    A = run.rotations(load.body)[kept]
    if load.axes == "body":
        force, moment = (np.einsum("nab,nb->na", A, vector) for vector in (force, moment))
    if load.point is None:
        return run.r[load.body][kept], force, moment
    point = np.stack([signal(t) for signal in load.point], axis=1)
    if load.point_of_body:
        point = run.r[load.body][kept] + np.einsum("nab,nb->na", A, point)
    return point, force, moment


def scene_of(
    runs: Mapping[str, Recorded], *, ghosts: Mapping[str, Recorded], title: str, choice: str, speed: float
) -> Scene:
    """The scene of runs side by side; ``ghosts`` are drawn in the place of the first, one at a time."""
    everything = [*runs.values(), *ghosts.values()]
    size = max(drawn.model_size(run.system) for run in everything)
    to = _Drawing(size, FRAMES_PER_SECOND / speed)
    several = len(runs) > 1 or bool(ghosts)
    width = max(
        (float(np.ptp(run.r[body.name][:, 1])) for run in runs.values() for body in run.system.bodies), default=0.0
    )
    step = np.array([0.0, APART * max(0.5 * size, width + 0.3 * size), 0.0])
    for n, (label, run) in enumerate(runs.items()):
        colour = colours.PALETTE[n % len(colours.PALETTE)] if len(runs) > 1 else ""
        one = label if len(runs) > 1 else ""
        shown = _Drawn(to, run, offset=n * step, one=one, label=label if several else "", colour=colour)
        shown.bodies()
        shown.joints()
        shown.contacts()
        shown.loads()
    for n, (label, run) in enumerate(ghosts.items()):
        colour = colours.PALETTE[(n + len(runs)) % len(colours.PALETTE)]
        _Drawn(to, run, offset=np.zeros(3), one=f"ghost {n}", label=label, colour=colour, ghost=True).bodies()
    low, high = _corners(to)
    _add_gravity(to, next(iter(runs.values())), low)
    t = next(iter(runs.values())).t
    return Scene(
        title, t[to.frames(t)], tuple(to.solids), tuple(to.lines), tuple(to.arrows), tuple(to.groups.values()), low, high,
        float(low[2]), _charts(runs), choice, tuple(to.notes),
    )  # fmt: skip


def _corners(to: _Drawing) -> tuple[Floats, Floats]:
    """Corners of the box that holds the solids but the ground at all times."""
    found: list[Floats] = []
    for solid in to.solids:
        if solid.group != "ground":
            ends = np.array([solid.vertices.min(axis=0), solid.vertices.max(axis=0)])
            corners = np.array([ends[[a, b, c], [0, 1, 2]] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
            found += [r + corners @ rotation_matrix(p).T for r, p in zip(solid.pose.r, solid.pose.p, strict=True)]
    points = np.concatenate(found)
    return points.min(axis=0), points.max(axis=0)


def _add_gravity(to: _Drawing, run: Recorded, low: Floats) -> None:
    gravity = np.asarray(run.system.gravity)
    if (size := float(np.linalg.norm(gravity))) > 0.0:
        vector = GRAVITY * to.size * gravity / size
        group = to.group("gravity", f"gravity, {size:.3g} m/s²", colours.GRAVITY)
        start = low + np.array([0.0, 0.0, 0.05 * to.size]) - np.minimum(vector, 0.0)
        to.arrows.append(Arrows(group, "gravity", np.zeros(1), start[None], vector[None], colours.GRAVITY))


def _charts(runs: Mapping[str, Recorded]) -> tuple[Chart, ...]:
    """Angles of the limits, and the energies."""
    charts: list[Chart] = []
    names = dict.fromkeys(limit.name for run in runs.values() for limit in run.system.limits)
    for name in names:
        curves = [
            (label, run.t, np.rad2deg(run.limits[name].angle))
            for label, run in runs.items()
            if name in run.system.limit_names
        ]
        charts.append(_chart(f"{name} [deg]", curves))
    if len(runs) > 1:
        charts.append(_chart("kinetic energy [J]", [(label, run.t, run.kinetic_energy) for label, run in runs.items()]))
    else:
        run = next(iter(runs.values()))
        energies = {
            "kinetic": run.kinetic_energy,
            "potential": run.potential_energy,
            "total": run.energy,
        }
        charts.append(_chart("energy − start [J]", [(label, run.t, e - e[0]) for label, e in energies.items()]))
    return tuple(charts)


def _chart(title: str, curves: list[tuple[str, Floats, Floats]]) -> Chart:
    coloured = zip(curves, colours.PALETTE * (len(curves) // len(colours.PALETTE) + 1), strict=False)
    return Chart(title, tuple((label, colour, t, y) for (label, t, y), colour in coloured))
