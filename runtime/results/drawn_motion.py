"""The motion that views draw: arrays over time of a run, or of a file that a run was written to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from runtime.results.ground_reaction import ground_reaction
from runtime.results.outline import Outline, outline_of
from runtime.results.recorded import RecordedRun
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.muscle_paths import is_muscle
from runtime.system.parts import GROUND, Force, Load
from runtime.system.reference import rotation_matrices
from runtime.system.system import System

SPAN = "span_x"  # first component of the reported span of a force
# Reported quantities that colour a muscle: the second of a law without the first.
ACTIVATIONS = "activation", "excitation"


class LimitAngles(NamedTuple):
    """Angles of a limit, (n,) [rad]."""

    angle: Floats
    latitude: Floats
    longitude: Floats


class ContactForce(NamedTuple):
    """The normal force (n,) [N] of a contact, its force [N] and the point of application [m], (n, 3) each in global axes."""

    normal_force: Floats
    force: Floats
    point: Floats


class Wrench(NamedTuple):
    """A force [N], a moment [N m] about a point, and this point [m], (n, 3) each in global axes."""

    force: Floats
    moment: Floats
    point: Floats


class Energies(NamedTuple):
    """Energies, (n,) [J]."""

    kinetic: Floats
    potential: Floats
    total: Floats


@dataclass(frozen=True, eq=False)
class DrawnMotion:
    """Drawn quantities of a motion: mappings by the names of bodies, limits, contacts, loads and joints.

    ``reactions``: on body j of each joint without a driver, about its point there; empty where they are not known.
    """

    outline: Outline
    t: Floats  # (n,) [s]
    r: Mapping[str, Floats]  # (n, 3) [m]
    p: Mapping[str, Floats]  # (n, 4)
    limits: Mapping[str, LimitAngles]
    contacts: Mapping[str, ContactForce]
    centre_of_pressure: Floats | None  # (n, 3) [m] of contacts with one plane
    loads: Mapping[str, Wrench]
    moving_loads: tuple[str, ...]  # loads whose point is not fixed in a body
    reactions: Mapping[str, Wrench]
    spans: Mapping[
        str, Floats
    ]  # (n, 3) [m] from end to end, of forces that report one, such as those to a massless link
    activations: Mapping[str, Floats]  # (n,) of muscles
    energies: Energies | None  # None where they are not known
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of_poses(
        cls, system: System, t: Floats, poses: Mapping[str, tuple[Floats, Floats]], *,
        loads: Mapping[str, tuple[Floats, Floats, Floats]], activations: Mapping[str, Floats], hidden: Collection[str] = (),
        notes: Sequence[str] = (),
    ) -> DrawnMotion:  # fmt: skip
        """A drawing of a system along measured poses, at times (n,) [s], without its contacts, limits and springs.

        Parameters
        ----------
        poses : mapping of body to ((n, 3) [m], (n, 4))
            Centre of mass and Euler parameters.
        loads : mapping of name to three (n, 3)
            Force [N], moment [N m] and point [m] in global axes.
        activations : mapping of muscle to (n,)
            Of those that are drawn; a note names muscles that the system lacks.
        hidden : collection of str
            Joints that are not drawn.
        """
        outline = outline_of(system)
        joints = tuple(joint for joint in outline.joints if joint.name not in hidden)
        known = {muscle.name for muscle in outline.muscles}
        lacking = ", ".join(name for name in activations if name not in known)
        return cls(
            outline=replace(outline, joints=joints, contacts=(), limits=(), forces=()),
            t=t,
            r={body: r for body, (r, _) in poses.items()},
            p={body: p for body, (_, p) in poses.items()},
            limits={},
            contacts={},
            centre_of_pressure=None,
            loads={name: Wrench(*load) for name, load in loads.items()},
            moving_loads=tuple(loads) if len(loads) == 1 else (),  # the centre of several leaps from foot to foot
            reactions={},
            spans={},
            activations=activations,
            energies=None,
            notes=(*notes, *([f"not drawn: {lacking}"] if lacking else ())),
        )

    def rotations(self, body: str) -> Floats:
        """Rotation matrices of a body or "ground", body to global axes, (n, 3, 3)."""
        if body == GROUND:
            return np.broadcast_to(np.eye(3), (len(self.t), 3, 3))
        return rotation_matrices(self.p[body])

    def points(self, body: str, local: Floats) -> Floats:
        """Global coordinates (n, 3) of a point in axes of a body."""
        turned = self.directions(body, local)
        return turned if body == GROUND else self.r[body] + turned

    def directions(self, body: str, local: Floats) -> Floats:
        """Global components (n, 3) of a vector in axes of a body."""
        return np.einsum("nab,b->na", self.rotations(body), local)


def drawn_motion(run: RecordedRun) -> DrawnMotion:
    """What is drawn of a run."""
    system = run.system
    reactions, notes = _reactions(run)
    return DrawnMotion(
        outline=outline_of(system),
        t=run.t,
        r=run.r,
        p=run.p,
        limits={name: LimitAngles(m.angle, m.latitude, m.longitude) for name, m in run.limits.items()},
        contacts={name: ContactForce(m.normal_force, m.force, m.point) for name, m in run.contacts.items()},
        centre_of_pressure=centre_of_pressure(run),
        loads={load.name: load_motion(run, load) for load in system.loads},
        moving_loads=tuple(load.name for load in system.loads if load.point and not load.point_of_body),
        reactions=reactions,
        spans={force.name: run.forces[force.name].values["span"] for force in system.forces if SPAN in force.outputs},
        activations={force.name: activation_of(run, force) for force in system.forces if is_muscle(force)},
        energies=Energies(run.kinetic_energy, run.potential_energy, run.energy),
        notes=notes,
    )


def activation_of(run: RecordedRun, force: Force) -> Floats:
    """The activation (n,) of a muscle, or its excitation where its law has none."""
    return run.forces[force.name].values[next(name for name in ACTIVATIONS if name in force.outputs)]


def centre_of_pressure(run: RecordedRun) -> Floats | None:
    """That of all contacts; None where they do not share a plane, or there are none."""
    found: Floats | None = None
    if run.system.contacts:
        with suppress(ModelError):
            found = ground_reaction(run).centre_of_pressure
    return found


def _reactions(run: RecordedRun) -> tuple[dict[str, Wrench], tuple[str, ...]]:
    """The reactions; without them, a note on the reason."""
    if not run.has_forces:
        return {}, ()
    try:
        return reactions_of(run), ()
    except ModelError as error:
        return {}, (f"Reactions are not drawn: {error}",)


def reactions_of(run: RecordedRun) -> dict[str, Wrench]:
    """Reactions on body j of each joint without a driver, about the joint's point there."""
    found = {}
    for joint in run.system.joints:
        if not joint.signals:
            reaction = run.reaction(joint.name, on=joint.body_j)
            local = np.asarray(joint.values.get("s_j", np.zeros(3)))
            point = np.einsum("nab,b->na", run.rotations(joint.body_j), local)
            point = point if joint.body_j == GROUND else run.r[joint.body_j] + point
            found[joint.name] = Wrench(reaction.force, reaction.moment, point)
    return found


def load_motion(run: RecordedRun, load: Load) -> Wrench:
    """Force, moment and point of a load."""
    t, A = run.t, run.rotations(load.body)
    force, moment = (np.stack([signal(t) for signal in part], axis=1) for part in (load.force, load.moment))
    if load.axes == "body":
        force, moment = (np.einsum("nab,nb->na", A, vector) for vector in (force, moment))
    if load.point is None:
        return Wrench(force, moment, run.r[load.body])
    point = np.stack([signal(t) for signal in load.point], axis=1)
    if load.point_of_body:
        point = run.r[load.body] + np.einsum("nab,nb->na", A, point)
    return Wrench(force, moment, point)
