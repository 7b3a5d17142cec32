"""A subject's lower leg as a model of OpenSim: tibia, talus without mass, foot and toes by hinges, with the subject's markers.

The subject is what ``scale_to_subject`` finds in a static trial; nothing is added to it here.  Bodies and coordinates have the
names and axes of OpenSim's gait models: x anterior, y up, z to the right; dorsiflexion, inversion and extension are positive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from models.files.description import WORLD, Description, Floats, Frame, Link, Step
from models.files.opensim_writing import opensim_text
from models.files.osim import read_osim
from models.files.reading import Reading, reading_of
from models.files.written_tree import Tree
from models.walking.capture import Capture
from models.walking.capture.plates import loaded_intervals
from models.walking.capture.vertical import ROTATIONS
from models.walking.plate_assignment import assign_feet
from models.walking.preparation import find_feet
from models.walking.subject import LegFoot, Segment
from runtime import ModelError
from runtime.support import GRAVITY, checked, free_file, write_text

UP_AXIS = "y"
ROOT = (("tilt", 2), ("list", 0), ("rotation", 1))  # turns of the tibia about axes of the ground, in this order


@checked
def write_leg(subject: LegFoot, file: str | Path, *, overwrite: bool = False) -> Reading:
    """Write a subject's lower leg as a model of OpenSim, and read it.

    The pose of the model is that of the static trial, in which all coordinates are 0.  ``subject.sources`` says where each value
    is from.

    Parameters
    ----------
    subject : LegFoot
        From ``scale_to_subject``.  The model of a left leg, which was scaled in a mirrored trial, is a left one.
    file : str or Path
        .osim
    overwrite : bool
        Replace an existing file.

    Returns
    -------
    Reading
        Bodies ``tibia_r``, ``talus_r``, ``calcn_r``, ``toes_r``; joints ``ankle_r``, ``subtalar_r``, ``mtp_r`` with the
        coordinates ``ankle_angle_r``, ``subtalar_angle_r``, ``mtp_angle_r``; six coordinates of the tibia; ``_l`` for a left
        leg.  The toes are locked where the subject has no markers on them.

    Raises
    ------
    ModelError
    """
    path = Path(file)
    if path.suffix.lower() != ".osim":
        raise ModelError(f"{path.name}: a lower leg is written as .osim; give such a name")
    description = _description(subject)
    steps = dict.fromkeys((step.name for _, step in description.steps), 0.0)
    joints = {link.name: link.joint for link in description.links}
    locked = [name for name in steps if name.startswith("mtp") and not subject.bodies["toes"].markers]
    system = reading_of(path, description, ()).build()
    text = opensim_text(Tree(description, system, joints, frozenset(locked), steps, steps))
    write_text(free_file(path, overwrite), text)
    return reading_of(path, read_osim(path), ())


@checked
def with_own_forces(trial: Capture, side: str, *, markers: Mapping[str, str] | None = None) -> Capture:
    """The trial with the ground forces on one foot alone, as a model of one leg needs them; notes say what is left out.

    Parameters
    ----------
    trial : Capture
    side : "left" or "right"
    markers : mapping of landmark to label, optional
        Of this foot, for labels of no known marker set.

    Raises
    ------
    ModelError
        Where the markers do not show the foot.
    """
    if side not in ("left", "right"):
        raise ModelError(f"side = {side!r}; use 'left' or 'right'")
    if not trial.forces:
        return trial
    found = assign_feet(trial, find_feet(trial, side, markers))  # type: ignore[arg-type]
    forces = tuple(found.force(trial, plate, side) for plate in found.plates(side))  # type: ignore[arg-type]
    others = [
        f"{trial.name}: force plate '{plate}' is under the other foot"
        for plate, on in found.sides.items()
        if on != side
    ]
    spans = [f"{grf.t[a]:.2f} to {grf.t[b - 1]:.2f} s" for grf in forces for a, b in loaded_intervals(grf)]
    own = (
        f"{trial.name}: ground forces on the {side} foot are known at {', '.join(spans) or 'no time'}; elsewhere moments are "
        "those of a foot in the air"
    )
    notes = (*trial.notes, *found.left_out.values(), *others, *found.notes(trial), own)
    return replace(trial, forces=forces, notes=notes)


def _description(subject: LegFoot) -> Description:
    """The bodies in axes of OpenSim, in the pose of the static trial."""
    left = subject.landmarks.side == "left"
    letter = "l" if left else "r"
    turn = ROTATIONS[UP_AXIS][0].T
    S = turn @ np.diag([1.0, -1.0 if left else 1.0, 1.0])  # a left leg was mirrored
    leg, foot, toes = (subject.bodies[name] for name in ("leg", "main_foot", "toes"))
    crural, calcaneal, ball = subject.talocrural, subject.talocalcaneal, subject.metatarsophalangeal
    # Origin of each body and its segment, in lab axes; the talus is parallel to the foot.
    origins = {
        "tibia": (leg.r + leg.A @ subject.knee, leg),
        "talus": (leg.r + leg.A @ crural.points["leg"], foot),
        "calcn": (foot.r + foot.A @ calcaneal.points["main_foot"], foot),
        "toes": (foot.r + foot.A @ ball.points["main_foot"], toes),
    }
    # Joint, coordinate, and the axis about which the coordinate is positive, in lab axes.
    hinges = {
        "talus": ("ankle", -leg.A @ crural.axes["leg"]),
        "calcn": ("subtalar", foot.A @ calcaneal.axes["main_foot"]),
        "toes": ("mtp", -foot.A @ ball.axes["main_foot"]),
    }
    parents = {"tibia": "", "talus": "tibia", "calcn": "talus", "toes": "calcn"}
    links, frames = [], []
    for name, (origin, segment) in origins.items():
        body, R = f"{name}_{letter}", S @ segment.A @ S.T
        place, rotation, parent = S @ origin, R, WORLD
        joint, steps = f"ground_{body}", _free(name, letter, R)
        if before := parents[name]:
            at, one = origins[before]
            outer = S @ one.A @ S.T
            place, rotation, parent = outer.T @ (S @ (origin - at)), outer.T @ R, f"{before}_{letter}"
            joint, axis = hinges[name]
            across = float(np.linalg.det(S)) * S @ axis  # an axis of rotation
            steps = (Step(f"{joint}_angle_{letter}", "turn", R.T @ across),)
            joint = f"{joint}_{letter}"
        mass, centre, inertia = (
            _inertial(segment, origin, S) if name != "talus" else (0.0, np.zeros(3), np.zeros((3, 3)))
        )
        links.append(Link(body, parent, place, rotation, mass, centre, inertia, steps, joint))
        if name != "talus":
            own = {label: p for label, p in segment.markers.items() if label not in segment.calibration}
            frames += [Frame(label, body, S @ (p - segment.local(origin)), kind="marker") for label, p in own.items()]
    gravity = turn @ np.array([0.0, 0.0, -GRAVITY])
    return Description(f"lower_leg_{letter}", "OpenSim", gravity, tuple(links), tuple(frames))


def _inertial(segment: Segment, origin: Floats, S: Floats) -> tuple[float, Floats, Floats]:
    """Mass, centre of mass from an origin (3,) in lab axes, and inertia, in axes of OpenSim."""
    return segment.mass, -S @ segment.local(origin), S @ segment.inertia @ S.T


def _free(body: str, letter: str, R: Floats) -> tuple[Step, ...]:
    """Slides along and turns about axes of the ground, in axes (3, 3) of the body."""
    slides = [Step(f"{body}_t{'xyz'[k]}_{letter}", "slide", R.T[:, k]) for k in range(3)]
    return (*slides, *(Step(f"{body}_{word}_{letter}", "turn", R.T[:, k]) for word, k in ROOT))
