"""A subject's leg as a model of OpenSim: tibia, talus without mass, foot and toes by hinges, with the subject's markers.

The subject is what ``scale_to_subject`` finds in a static trial.  With pelvis and thigh the model has muscles too, those of
``models.walking.generic_muscles``.  Bodies and coordinates have the names and axes of OpenSim's gait models: x anterior, y up, z
to the right; dorsiflexion, inversion, extension of knee and toes, flexion and adduction of the hip and internal rotation are
positive.  The tibia slides in the femur with the flexion of the knee as in the generic leg.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from models.files.description import WORLD, Description, Floats, Frame, Law, LawFunction, Link, Step
from models.files.opensim_writing import opensim_text
from models.files.osim import read_osim
from models.files.reading import Reading, reading_of
from models.files.written_tree import Tree
from models.walking.capture import Capture
from models.walking.capture.plates import loaded_intervals
from models.walking.capture.vertical import ROTATIONS
from models.walking.generic_muscles import PlacedLeg, place_generic_leg
from models.walking.geometry import unit
from models.walking.plate_assignment import assign_feet
from models.walking.preparation import find_feet
from models.walking.subject import LegFoot, Segment, UpperLeg
from runtime import ModelError
from runtime.support import GRAVITY, checked, free_file, write_text

UP_AXIS = "y"
ROOT = (("tilt", 2), ("list", 0), ("rotation", 1))  # turns of the first body about axes of the ground, in this order
PELVIS = "pelvis"
HIP_TURNS = ("hip_flexion", "hip_adduction", "hip_rotation")
KNEE_TURNS = ("knee_angle", "knee_adduction", "knee_rotation")


@checked
def write_leg(
    subject: LegFoot, file: str | Path, *, upper: UpperLeg | None = None, strength: float = 1.0, overwrite: bool = False
) -> Reading:
    """Write a subject's leg as a model of OpenSim, and read it.

    The pose of the model is that of the static trial, in which all coordinates are 0.  ``subject.sources`` says where each value
    is from.

    Parameters
    ----------
    subject : LegFoot
        From ``scale_to_subject``.  The model of a left leg, which was scaled in a mirrored trial, is a left one.
    file : str or Path
        .osim
    upper : UpperLeg, optional
        Pelvis and thigh of the same subject, such as ``Gait.upper_leg``: the model has them and 43 muscles.
    strength : float
        Maximum isometric forces of the muscles, by those of the generic leg.
    overwrite : bool
        Replace an existing file.

    Returns
    -------
    Reading
        Bodies ``tibia_r``, ``talus_r``, ``calcn_r``, ``toes_r``; joints ``ankle_r``, ``subtalar_r``, ``mtp_r`` with the
        coordinates ``ankle_angle_r``, ``subtalar_angle_r``, ``mtp_angle_r``; six coordinates of the tibia; ``_l`` for a left
        leg.  The toes are locked where the subject has no markers on them.  With pelvis and thigh: bodies ``pelvis`` and
        ``femur_r``, joints ``hip_r`` and ``knee_r`` with three turns each, such as ``hip_flexion_r`` and ``knee_angle_r``, and
        six coordinates of the pelvis.

    Raises
    ------
    ModelError
    """
    bones = None if upper is None else place_generic_leg(subject, upper)
    return write_placed(subject, upper, bones, file, strength=strength, overwrite=overwrite)


def write_placed(
    subject: LegFoot,
    upper: UpperLeg | None,
    bones: PlacedLeg | None,
    file: str | Path,
    *,
    strength: float,
    overwrite: bool,
) -> Reading:
    """As ``write_leg``, with the generic leg as it was placed on the subject."""
    path = Path(file)
    if path.suffix.lower() != ".osim":
        raise ModelError(f"{path.name}: a lower leg is written as .osim; give such a name")
    if not 0.0 < strength < np.inf:
        raise ModelError(f"strength = {strength:g}: give a factor of the maximum isometric forces above 0")
    description = _description(subject, upper, bones, strength)
    steps = dict.fromkeys((step.name for _, step in description.steps), 0.0)
    joints = {link.name: link.joint for link in description.links}
    locked = [name for name in steps if name.startswith("mtp") and not subject.bodies["toes"].markers]
    system = reading_of(path, description.changed(laws=(), muscles=()), ()).build()
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


def _description(subject: LegFoot, upper: UpperLeg | None, bones: PlacedLeg | None, strength: float) -> Description:
    """The bodies in axes of OpenSim, in the pose of the static trial."""
    left = subject.landmarks.side == "left"
    letter = "l" if left else "r"
    turn = ROTATIONS[UP_AXIS][0].T
    S = turn @ np.diag([1.0, -1.0 if left else 1.0, 1.0])  # a left leg was mirrored
    chain = _chain(subject, upper, bones)
    links: list[Link] = []
    frames: list[Frame] = []
    laws: list[Law] = []
    before: _Part | None = None
    for part in chain:
        body, segment, R = _named(part.body, letter), part.segment, S @ part.segment.A @ S.T
        if before is None:
            place, rotation, parent = S @ part.origin, R, WORLD
            joint, steps = f"ground_{body}", _free(part.body, letter, R)
        else:
            outer = S @ before.segment.A @ S.T
            place, rotation, parent = (
                outer.T @ (S @ (part.origin - before.origin)),
                outer.T @ R,
                _named(before.body, letter),
            )
            # A mirror image turns the other way about the image of its axis.
            turns = [
                Step(_named(name, letter), "turn", R.T @ (float(np.linalg.det(S)) * S @ axis))
                for name, axis in part.turns.items()
            ]
            slides = [Step(f"{turns[0].name}_{n}", "slide", R.T @ S @ axis) for n, (axis, _) in enumerate(part.slides)]
            laws += [
                Law(step.name, (turns[0].name,), law, own=False)
                for step, (_, law) in zip(slides, part.slides, strict=True)
            ]
            joint, steps = _named(part.joint, letter), (*slides, *turns)
        massless = part.body == "talus"
        inertial = (0.0, np.zeros(3), np.zeros((3, 3))) if massless else _inertial(segment, part.origin, S)
        links.append(Link(body, parent, place, rotation, *inertial, steps, joint))
        own = {} if massless else {k: p for k, p in segment.markers.items() if k not in segment.calibration}
        frames += [Frame(label, body, S @ (p - segment.local(part.origin)), kind="marker") for label, p in own.items()]
        before = part
    gravity = turn @ np.array([0.0, 0.0, -GRAVITY])
    found = Description(f"lower_leg_{letter}", "OpenSim", gravity, tuple(links), tuple(frames))
    if bones is None:
        return found
    origins = {part.body: part.origin for part in chain}
    muscles = bones.muscles(origins, {part.body: part.segment.A @ S.T for part in chain}, letter, strength)
    return found.changed(name=f"leg_{letter}", laws=tuple(laws), muscles=muscles)


@dataclass(frozen=True, eq=False)
class _Part:
    """A body of the chain, outwards: its origin (3,) [m] in lab axes, the segment that it moves with, and its joint.

    ``turns``: axes (3,) in lab axes about which the coordinates are positive, by their names; ``slides``: directions in which the
    origin slides, with functions of the first turn.
    """

    body: str
    origin: Floats
    segment: Segment
    joint: str = ""
    turns: Mapping[str, Floats] = field(default_factory=dict)
    slides: Sequence[tuple[Floats, LawFunction]] = ()


def _chain(subject: LegFoot, upper: UpperLeg | None, bones: PlacedLeg | None) -> list[_Part]:
    """The bodies from the root on; the talus is parallel to the foot."""
    leg, foot, toes = (subject.bodies[name] for name in ("leg", "main_foot", "toes"))
    crural, calcaneal, ball = subject.talocrural, subject.talocalcaneal, subject.metatarsophalangeal
    knee = leg.r + leg.A @ subject.knee
    above, of_knee = [], {}
    if upper is not None and bones is not None:
        pelvis, thigh = bones.pelvis, upper.thigh
        hip = thigh.r + thigh.A @ upper.hip
        above = [
            _Part("pelvis", hip - pelvis.A @ upper.hip_in_pelvis, pelvis),
            _Part("femur", hip, thigh, "hip", _three(HIP_TURNS, pelvis.A, thigh.A)),
        ]
        of_knee = {
            "joint": "knee", "turns": _three(KNEE_TURNS, thigh.A, leg.A @ upper.knee_axes), "slides": bones.knee_slides(),
        }  # fmt: skip
    return [
        *above,
        _Part("tibia", knee, leg, **of_knee),  # type: ignore[arg-type]
        _Part(
            "talus", leg.r + leg.A @ crural.points["leg"], foot, "ankle", {"ankle_angle": -leg.A @ crural.axes["leg"]}
        ),
        _Part(
            "calcn", foot.r + foot.A @ calcaneal.points["main_foot"], foot, "subtalar",
            {"subtalar_angle": foot.A @ calcaneal.axes["main_foot"]},
        ),
        _Part(
            "toes", foot.r + foot.A @ ball.points["main_foot"], toes, "mtp", {"mtp_angle": -foot.A @ ball.axes["main_foot"]}
        ),
    ]  # fmt: skip


def _three(names: Sequence[str], outer: Floats, inner: Floats) -> dict[str, Floats]:
    """Axes of three turns: the lateral one of the outer body, the long one of the inner body, and across both between them."""
    lateral, long = -outer[:, 1], inner[:, 2]
    return dict(zip(names, (lateral, unit(np.cross(long, lateral)), long), strict=True))


def _named(name: str, letter: str, *words: str) -> str:
    """The name of a body, joint or coordinate of a side; the pelvis has none."""
    return "_".join([name, *words] if name == PELVIS else [name, *words, letter])


def _inertial(segment: Segment, origin: Floats, S: Floats) -> tuple[float, Floats, Floats]:
    """Mass, centre of mass from an origin (3,) in lab axes, and inertia, in axes of OpenSim."""
    return segment.mass, -S @ segment.local(origin), S @ segment.inertia @ S.T


def _free(body: str, letter: str, R: Floats) -> tuple[Step, ...]:
    """Slides along and turns about axes of the ground, in axes (3, 3) of the body."""
    slides = [Step(_named(body, letter, f"t{'xyz'[k]}"), "slide", R.T[:, k]) for k in range(3)]
    return (*slides, *(Step(_named(body, letter, word), "turn", R.T[:, k]) for word, k in ROOT))
