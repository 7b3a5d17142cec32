"""What is drawn of a trial: the bodies of a model along its coordinates, loads, and muscles by their activations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.building import built
from models.files.description import WORLD, Floats
from models.files.reading import Reading, reading_of
from models.files.virtual_power import ways_at
from models.walking.opensim_trial import Trial
from models.walking.static_optimisation import FREE
from runtime.results import DrawnMotion


def drawn_trial(reading: Reading, trial: Trial, activations: Mapping[str, Floats], note: str) -> DrawnMotion:
    """What is drawn of a model along a trial; joints of a link that floats, and those that slide, are not.

    ``activations``: by muscle (n,).
    """
    muscles = tuple(replace(one, built=one.name in activations) for one in reading.source.muscles)
    source = reading.source.changed(muscles=muscles)
    description = reading_of(reading.file, source, {one.sort for one in reading.ignored}).description
    made, q, count = built(description), np.stack(list(trial.q.values())), len(trial.t)
    ways, _ = ways_at(description, list(trial.q), np.stack([q, 0.0 * q, 0.0 * q]))
    poses = {}
    for body, part in made.parts.items():
        at = ways[part.link][part.steps]
        A = np.broadcast_to(at.A, (count, 3, 3))  # one for all times before the first turn
        p = Rotation.from_matrix(A).as_quat(scalar_first=True)
        poses[body] = np.broadcast_to(at.place(part.centre), (count, 3)), p
    floating = {link.name for link in description.links if link.parent == WORLD and len(link.steps) == FREE}
    hidden = [step.name for link, step in description.steps if step.kind == "slide" or link.name in floating]
    loads = {}
    for n, one in enumerate(trial.loads, 1):
        number = f", {n}" if len(trial.loads) > 1 else ""
        loads[f"load on {one.body.replace('_', ' ')}{number}"] = one.force, one.moment, one.point
    return DrawnMotion.of_poses(
        made.builder.build(check_units=False), trial.t, poses, loads=loads, activations=activations,
        hidden={made.coordinates[name][0] for name in hidden}, notes=[note],
    )  # fmt: skip
