"""Contact forces of joints: the net reaction of inverse dynamics, and the pull of the muscles that cross the joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.files.description import Floats
from models.files.motion import times
from models.files.muscle_lengths import Wrenches
from models.files.reading import Reading
from models.files.virtual_power import behind, needed_wrenches, ways_at
from models.walking.opensim_trial import Trial
from models.walking.pair_loads import bushing_loads
from models.walking.static_optimisation import MuscleForces
from runtime import ModelError
from runtime.support import checked


@dataclass(frozen=True, eq=False)
class JointContact:
    """Force and moment of a joint on the body that it moves, at a point of its first axis.

    Attributes
    ----------
    inner, outer : str
        Bodies: the one that carries the joint, such as the tibia, and the one that it moves, such as the talus.
    force, moment : (n, 3) [N], [N m]
        In global axes.  The moment includes reserves, and springs and limits of coordinates.
    in_inner, in_outer : (n, 3) [N]
        The force in axes of both bodies.
    net : (n, 3) [N]
        The force in global axes if no muscle pulled: the net reaction of inverse dynamics.
    """

    inner: str
    outer: str
    force: Floats
    moment: Floats
    in_inner: Floats
    in_outer: Floats
    net: Floats

    def __repr__(self) -> str:
        return f"JointContact of {self.inner} on {self.outer}, {len(self.force)} frames, up to {self.size.max():.4g} N"

    @property
    def size(self) -> Floats:
        """Magnitude of the force (n,) [N]."""
        return np.asarray(np.linalg.norm(self.force, axis=1))


@checked
def joint_contacts(
    reading: Reading, trial: Trial, muscles: MuscleForces, joints: Sequence[str]
) -> dict[str, JointContact]:
    """Contact forces of joints along a trial, by joint.

    Parameters
    ----------
    reading : Reading
        The model.
    trial : Trial
        From ``inverse_dynamics_of_trial``.
    muscles : MuscleForces
        From ``static_optimisation`` of this trial.
    joints : sequence of str
        Joints of the file, such as "ankle_r".

    Raises
    ------
    ModelError
        For unknown joints, joints without an axis, and muscles of another trial.

    Notes
    -----
    The force on the outer body is what inertia, gravity, bushings and loads of all bodies that the joint carries need, less the
    pull of the muscles on these.  Bodies without mass, such as the massless link, count with the muscles on them.
    """
    of = muscles.trial
    if not np.array_equal(of.t, trial.t):
        raise ModelError("muscles: are of a trial with other times; give those of this trial")
    for what, its, ours in (("motion", of.q, trial.q), ("rates", of.u, trial.u), ("forces", of.forces, trial.forces)):
        if its.keys() != ours.keys() or not all(np.array_equal(its[name], ours[name]) for name in ours):
            raise ModelError(f"muscles: are of a trial with other {what}; give those of this trial")
    source, names = reading.source, list(trial.q)
    table = np.stack([np.stack([of[name] for name in names]) for of in (trial.q, trial.u, trial.u_dot)])
    ways, _ = ways_at(source, names, table)
    needed = behind(source, needed_wrenches(source, ways, [*trial.loads, *bushing_loads(reading, trial)]))
    pulled = behind(source, _pulled(muscles, {link.name: len(trial.t) for link in source.links}))
    moved = {link.joint: link for link in source.links if link.steps}
    in_file = {link: body for body, link in source.bodies.items()}
    found = {}
    for joint in joints:
        if joint not in moved:
            raise ModelError(
                f"joints: '{joint}' moves no body of {reading.file.name}; use {', '.join(name for name in moved if name)}"
            )
        link = moved[joint]
        at, inner = ways[link.name][-1], ways[link.parent][-1]
        point = ways[link.name][0].place(link.steps[0].point)
        net, about = needed[link.name]
        force, moment = net - pulled[link.name][0], about - pulled[link.name][1]
        found[joint] = JointContact(
            in_file.get(link.parent, link.parent), in_file.get(link.name, link.name), force, moment - np.cross(point, force),
            times(np.swapaxes(inner.A, -1, -2), force), times(np.swapaxes(at.A, -1, -2), force), net,
        )  # fmt: skip
    return found


def _pulled(muscles: MuscleForces, counts: Mapping[str, int]) -> Wrenches:
    """Force and moment about the global origin of all muscles on each link."""
    found = {link: (np.zeros((n, 3)), np.zeros((n, 3))) for link, n in counts.items()}
    for name, path in muscles.paths.items():
        for link in path.wrenches.keys() & counts.keys():
            for total, part in zip(found[link], path.wrenches[link], strict=True):
                total += muscles.forces[name][:, None] * part
    return found
