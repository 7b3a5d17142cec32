"""What acts on each body of a run, by its source, and what joints transmit.

Rows act by -D^T lam.  A limit acts on both bodies as the derivatives of its potential and its damper: where its angle is one of a
massless link between points of the bodies, its moment on the link is a pair of forces at these points too.  A coupling or a
rotor exerts a generalised force along a coordinate: a moment in the span of the axes of the joint's turns, or a force in that
of its slides at the centre of mass of body j, and the opposite on body i (see ``coupling_forces``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import P, R
from runtime.results.drawn_motion import load_motion
from runtime.results.ranges import greatest
from runtime.results.reactions import Reaction
from runtime.results.recorded import RecordedRun
from runtime.support.arrays import Floats, ReadOnlyArrays
from runtime.support.errors import ModelError
from runtime.support.html import html_table
from runtime.support.names import named
from runtime.system.degrees_of_freedom import Branch
from runtime.system.parts import GROUND
from runtime.system.reference import body_places

GRAVITY = "gravity"


@dataclass(frozen=True, repr=False)
class FreeBody(ReadOnlyArrays):
    """Everything that acts on a body over time, by its source: arrays (n, 3) in global axes.

    ``forces`` [N]; ``moments`` [N m] about the centre of mass, that of the ground about the origin.  Sources have their names
    (with the kind in brackets, as in "ankle (limit)", where two share a name), and "gravity".  ``force`` and ``moment`` are the
    sums over all sources: mass times acceleration of the centre of mass, and the rate of the angular momentum about it.
    """

    body: str
    forces: Mapping[str, Floats]
    moments: Mapping[str, Floats]
    force: Floats
    moment: Floats

    def __repr__(self) -> str:
        return f"FreeBody('{self.body}', {len(self.force)} times: {', '.join(self.forces)})"

    def _repr_html_(self) -> str:
        """The largest force and moment of each source and of their sum, for notebooks."""
        rows = [(name, greatest(self.forces[name]), greatest(self.moments[name])) for name in self.forces]
        columns = ("source", "largest force [N]", "largest moment [N m]")
        return html_table(repr(self), columns, [*rows, ("sum", greatest(self.force), greatest(self.moment))])


class Interaction(NamedTuple):
    """What a source exerts on its bodies, by their indices, the ground 0, which together need no other force."""

    kind: str  # "joint", "driver", "motor", "limit", "contact", "force", "coupling" or "armature"
    name: str
    bodies: tuple[int, ...]
    wrench: Floats  # (n, bodies, 6) force, moment about the centre of mass, of the ground about the origin


def interactions(run: RecordedRun) -> Iterator[Interaction]:
    """What bodies of a run exert on each other and on the ground; reactions that are undetermined are those of least norm.

    Raises
    ------
    ModelError
        Where they are undetermined at a time.
    """
    system, wrenches, derived = run.system, run._forces[1], run._derived
    place, joints, t = body_places(system.body_names), system.joint_names, system.data
    for k, joint in enumerate(system.joints):
        bodies = place[joint.body_i], place[joint.body_j]
        yield Interaction("driver" if joint.signals else "joint", joint.name, bodies, wrenches[:, k])
    pairs = (
        ("motor", system.motor_names, t.loads, derived.motor_wrench),
        ("limit", system.limit_names, t.limits, derived.limit_wrench),
    )
    for kind, names, of, wrench in pairs:
        for k, name in enumerate(names):
            yield Interaction(kind, name, (int(of.body_i[k]), int(of.body_j[k])), wrench[:, k])
    for contact in system.contacts:
        own, bodies = run.contacts[contact.name], (place[contact.body], place[contact.plane])
        arms = own.point[:, None] - _centres(run, bodies)
        force = np.stack([own.force, -own.force], axis=1)
        yield Interaction("contact", contact.name, bodies, np.concatenate([force, np.cross(arms, force)], axis=2))
    for k, force_ in enumerate(system.forces):
        ends = tuple(place[body] for body in force_.bodies)
        wrench = derived.force_outputs[:, k, : 6 * len(ends)].reshape(len(run.t), len(ends), 6)
        yield Interaction("force", force_.name, ends, wrench)
    for part in run._of_couplings.parts if system.joint_coordinates_only else ():
        joint = system.joints[joints.index(part.joint)]
        kind = "coupling" if part.name in system.coupling_names else "armature"
        yield Interaction(kind, part.name, (place[joint.body_i], place[joint.body_j]), part.wrench)


def _centres(run: RecordedRun, bodies: Collection[int]) -> Floats:
    """Centres of mass (n, bodies, 3) of bodies by their indices; the origin for the ground."""
    zero = np.zeros((len(run.t), 3))
    return np.stack([run._state[:, b - 1, R:P] if b else zero for b in bodies], axis=1)


def free_body(run: RecordedRun, acting: Sequence[Interaction], body: str) -> FreeBody:
    """All that acts on a body of a run, or on the ground; see ``Run.free_body``."""
    system, found = run.system, dict[tuple[str, str], Floats]()
    b = 0 if body == GROUND else 1 + system.body_index(body)
    kinds: list[tuple[str, str]] = [(load.name, "load") for load in system.loads]
    for kind, name, bodies, wrench in acting:
        kinds.append((name, kind))
        for n in np.flatnonzero(np.equal(bodies, b)):
            found[name, kind] = found.get((name, kind), 0.0) + wrench[:, n]
    for load in system.loads:
        if load.body == body:
            own = load_motion(run, load)
            moment = own.moment + np.cross(own.point - run.r[body], own.force)
            found[load.name, "load"] = np.concatenate([own.force, moment], axis=1)
    if b:
        weight = np.concatenate([system.bodies[b - 1].mass * system.gravity, np.zeros(3)])
        found[GRAVITY, GRAVITY] = np.tile(weight, (len(run.t), 1))
    names = [name for name, _ in {*kinds, (GRAVITY, GRAVITY)}]
    wrenches = {name if names.count(name) == 1 else f"{name} ({kind})": w for (name, kind), w in found.items()}
    total = sum(wrenches.values(), np.zeros((len(run.t), 6)))
    forces, moments = ({name: w[:, part] for name, w in wrenches.items()} for part in (slice(3), slice(3, 6)))
    return FreeBody(body, named("source", forces), named("source", moments), total[:, :3], total[:, 3:])


def joint_load(
    run: RecordedRun,
    acting: Sequence[Interaction],
    distal: Sequence[Branch],
    joint: str,
    on: str,
    at: ArrayLike | str,
    axes: str,
) -> Reaction:
    """The load that a joint of a run transmits, with all interactions and branches of its tree; see ``Run.joint_load``."""
    if run.system.joint(joint).signals:
        raise ModelError(f"'{joint}' is a driver; ask for the load of a joint, or for driven['{joint}']")
    _, k, side = run._end(joint, on)
    t = run.data
    pair = int(t.body_i[k]), int(t.body_j[k])
    b, branch = pair[side], next((branch for branch in distal if k in branch.joints), None)
    inside = {b} if branch is None else {*branch.bodies}
    sign = 1.0 if branch is None or b == branch.distal else -1.0
    wrench, centre = np.zeros((len(run.t), 6)), _centres(run, (b,))
    for one in acting:
        within = [n for n, body in enumerate(one.bodies) if body in inside]
        across = {*one.bodies} == {*pair} if branch is None else 0 < len(within) < len(one.bodies)
        if across and one.kind != "contact":
            of_pair = sign * one.wrench[:, within]
            arms = _centres(run, [one.bodies[n] for n in within]) - centre
            wrench[:, :3] += of_pair[:, :, :3].sum(axis=1)
            wrench[:, 3:] += (of_pair[:, :, 3:] + np.cross(arms, of_pair[:, :, :3])).sum(axis=1)
    bodies = [(int(i), int(j)) for i, j in zip(t.body_i, t.body_j, strict=True)]
    ends = tuple((n, own.index(b)) for n, own in enumerate(bodies) if {*own} == {*pair})
    return run._as_reaction(joint, on, at, axes, wrench, ends)
