"""A walk with swapped ankles: inverse kinematics and inverse dynamics of the whole body, once for each kind of ankle.

Rodrigues da Silva et al. (2024a) for the modified universal joint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from models.files.added_axes import notes_of, with_subtalar_axis
from models.files.description import Description, Floats
from models.files.opensim_loads import ExternalForce, read_external_loads
from models.files.reading import Reading
from models.files.sides import on_other_side
from models.files.swap_checks import hinges_of
from models.files.swapping import SORT, Talus, swap
from models.walking.capture import Capture, read_capture
from models.walking.capture.read import read_markers
from models.walking.fitted_motion import FittedMotion
from models.walking.inverse_kinematics import inverse_kinematics
from models.walking.joint_contact import JointContact, joint_contacts
from models.walking.opensim_trial import Trial, inverse_dynamics_of_trial, with_loads
from models.walking.orthosis_loads import massless_springs, orthosis_loads
from models.walking.plate_loads import loads_of_plates
from models.walking.residuals import Residuals, residuals
from models.walking.static_optimisation import SMALLEST_ARM, MuscleForces, checked_options, static_optimisation
from runtime import ModelError
from runtime.support import checked, checked_class

# Periods of the filter beyond start and end for which coordinates are found too, so that it has settled there
MARGIN = 2.0
FILE, UNIVERSAL, MODIFIED = "as in the file", "universal", "modified universal"
SORTS = (FILE, UNIVERSAL, MODIFIED)


@dataclass(frozen=True, eq=False)
class AnkleTrial:
    """A trial of a model with one kind of ankle.

    ``swapped``: what was swapped, by the ankle's joint; ``orthosis``: its part of ``trial.forces`` by coordinate, empty without
    one; ``muscles`` and ``contacts``, by joint of the file: None and empty unless muscles are asked for.
    """

    sort: str
    reading: Reading
    motion: FittedMotion
    trial: Trial
    residuals: Residuals
    swapped: Mapping[str, str]
    orthosis: Mapping[str, Floats]
    muscles: MuscleForces | None = None
    contacts: Mapping[str, JointContact] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"AnkleTrial with the ankle {self.sort}: {self.motion!r}; {self.trial!r}"


@checked_class
@dataclass(frozen=True, eq=False)
class AnkleComparison:
    """A trial with several kinds of ankles.

    Attributes
    ----------
    model, name : str
        Of the model and of the trial.
    mass : float [kg]
        By which moments are divided.
    ankles : mapping of str to (str, str)
        Coordinates of the ankle and of the subtalar joint, by the ankle's joint.
    trials : mapping of str to AnkleTrial
        By sort: "as in the file", "universal", "modified universal".
    notes : tuple of str
        Assumptions on markers and forces.
    recording : Capture
        The trial as it was read.
    """

    model: str
    name: str
    mass: float
    ankles: Mapping[str, tuple[str, str]]
    trials: Mapping[str, AnkleTrial]
    notes: tuple[str, ...]
    recording: Capture

    def __repr__(self) -> str:
        return f"AnkleComparison of {self.model} along {self.name}: {', '.join(self.trials)}; ankles {', '.join(self.ankles)}"

    def angle(self, sort: str, coordinate: str) -> Floats:
        """A coordinate over the times of ``trials[sort].trial.t`` [deg], filtered."""
        return np.asarray(np.rad2deg(self.trials[sort].trial.q[coordinate]))

    def moment(self, sort: str, coordinate: str) -> Floats:
        """Moment of a coordinate [N m/kg]."""
        return np.asarray(self.trials[sort].trial.forces[coordinate] / self.mass)

    def orthosis_moment(self, sort: str, coordinate: str) -> Floats:
        """The part of the moment of a coordinate that the orthosis exerts [N m/kg]."""
        return np.asarray(self.trials[sort].orthosis[coordinate] / self.mass)

    def muscles_of(self, ankle: str) -> list[str]:
        """The muscles that move a coordinate of an ankle, with any kind of joint; empty without muscles."""
        found = [one.muscles for one in self.trials.values() if one.muscles is not None]
        return [
            name
            for name in (found[0].paths if found else ())
            if any(
                np.abs(of.paths[name].moment_arms[c]).max() > SMALLEST_ARM for of in found for c in self.ankles[ankle]
            )
        ]


# Above 60 lines: the options of both steps, each documented.
@checked
def compare_ankles(
    reading: Reading,
    markers: str | Path | Capture,
    loads: str | Path | Sequence[ExternalForce] | None = None,
    *,
    ankles: Sequence[tuple[str, str | None]] | None = None,
    sorts: Sequence[str] = SORTS,
    talus_length: float | None = None,
    axes: tuple[ArrayLike | None, ArrayLike | None] | Mapping[str, float] | None = None,
    subtalar_axis: str | ArrayLike | None = None,
    subtalar_point: ArrayLike | None = None,
    talus: Talus = "foot",
    unlock: bool = False,
    feet: Sequence[str] | None = None,
    mass: float | None = None,
    cutoff: float | None = 6.0,
    orthosis: str | Mapping[str, Any] | None = None,
    muscles: bool | Mapping[str, Any] = False,
    say: Callable[[str], None] | None = None,
    start: float | None = None,
    end: float | None = None,
    up: str | None = None,
    units: str | None = None,
    **fit: Any,
) -> AnkleComparison:
    """Inverse kinematics and inverse dynamics of a trial with the ankles of a file, universal and modified universal joints.

    Parameters
    ----------
    reading : Reading
        A model of OpenSim, from ``models.read``.
    markers : str, Path or Capture
        A trial, as of ``inverse_kinematics``.
    loads : str, Path or sequence of ExternalForce, optional
        .xml file of external loads, or a file of ground forces that ``read_capture`` takes.  Default: the force plates of the
        trial or of a file beside it, each on the nearest foot; without any, moments are those of inertia and gravity alone.
    ankles : sequence of (ankle, subtalar), optional
        Joints of the model; default: both sides by the names of OpenSim's models, ``ankle_r`` and ``subtalar_r`` and so on.
    sorts : sequence of str
        Of "as in the file", "universal" and "modified universal".
    talus_length : float [m], optional
        Of the modified universal joints; default: the distance between the hinges of the file.
    axes, subtalar_axis, subtalar_point, talus, unlock
        As of ``models.swap``; the hinges of "as in the file" are unlocked too, and have the axes that are added.
    feet : sequence of str, optional
        Bodies on which force plates act; default: the feet behind the ankles, and those of the other side by its name.
    mass : float [kg], optional
        By which moments are divided; default: that of the model.
    cutoff : float [Hz], optional
        As of ``inverse_dynamics_of_trial``.
    orthosis : str or mapping, optional
        On each ankle, as of ``models.foot.build``: what it would contribute to the moments, if motion and loads remained the
        same.  Legs and feet have the axes x anterior, y up of OpenSim's models.
    muscles : bool or mapping
        Also activations and forces of the muscles and contact forces of both hinges; a mapping has options of
        ``static_optimisation``.  An orthosis acts beside them, and leaves the rest of the moments to muscles.
    say : callable(str), optional
        Receives a line for each stage.
    start, end, up, units, **fit
        As of ``inverse_kinematics``: also ``tasks``, ``weights``, ``coordinates``, ``labels``.

    Returns
    -------
    AnkleComparison

    Raises
    ------
    ModelError
    """
    if unknown := [sort for sort in sorts if sort not in SORTS]:
        raise ModelError(f"sorts: '{unknown[0]}' is unknown; use {', '.join(SORTS)}")
    if not len(sorts):
        raise ModelError(f"sorts: there are none to compare; give at least one of {', '.join(SORTS)}")
    named = list(ankles) if ankles is not None else ankles_of(reading.source, added=subtalar_axis is not None)
    if not named:
        raise ModelError("ankles: there are none to compare; give pairs of joints such as ('ankle_r', 'subtalar_r')")
    reading, pairs = with_axes(reading, named, subtalar_axis, subtalar_point, axes)
    tell = say or (lambda line: None)
    pull: Mapping[str, Any] | None = None if muscles is False else {} if muscles is True else muscles
    if pull is not None:
        checked_options(reading, pull)  # refuses a model without muscles before the work begins
    _check_feet(reading, feet, loads)
    springs = None if orthosis is None else massless_springs(orthosis)
    opened = {sort: _swapped(reading, pairs, sort, talus_length, axes, talus, unlock) for sort in dict.fromkeys(sorts)}
    capture = markers if isinstance(markers, Capture) else read_trial(markers, loads, up, units)
    external: str | Path | Sequence[ExternalForce] | None = loads
    if isinstance(loads, str | Path) and Path(loads).suffix.lower() != ".xml":
        external = None
    trials, notes = {}, notes_of(reading) + _length_noted(reading, pairs, opened, talus_length, axes)
    if FILE in opened and subtalar_axis is not None:
        notes.insert(0, f"joints '{FILE}' have the added axes too, about which the file does not move")
    first, last = (capture.t[k] if t is None else float(t) for k, t in ((0, start), (-1, end)))
    capture.crop(first, last)  # refuses an empty part by the times that were given
    beyond = MARGIN / cutoff if cutoff else 0.0
    coordinates = {ankle: _coordinates(reading, ankle, subtalar) for ankle, subtalar in pairs}
    for sort, model in opened.items():
        tell(f"{sort}: inverse kinematics")
        motion = inverse_kinematics(model, capture, start=first - beyond, end=last + beyond, **fit)
        given = external
        if given is None and capture.forces:
            given, more = loads_of_plates(model, motion, capture, feet or feet_of(reading.source, pairs))
            notes += more
        elif given is None:
            notes.append(f"{capture.name}: has no ground forces; moments are those of inertia and gravity alone")
        notes += _open_noted(motion, coordinates)
        tell(f"{sort}: inverse dynamics")
        trial = inverse_dynamics_of_trial(model, motion, given, cutoff=cutoff, start=first, end=last)
        swapped = {ankle: _note(model, ankle, subtalar) for ankle, subtalar in pairs}
        left = trial if springs is None else with_loads(model, trial, orthosis_loads(model, trial, pairs, springs))
        worn = {} if springs is None else {name: force - left.forces[name] for name, force in trial.forces.items()}
        trials[sort] = AnkleTrial(sort, model, motion, trial, residuals(model, trial), swapped, worn)
        if pull is not None:
            tell(f"{sort}: muscles")
            pulling = static_optimisation(model, left, **pull)
            contacts = joint_contacts(model, left, pulling, _joints(model, pairs))
            trials[sort] = replace(trials[sort], muscles=pulling, contacts=contacts)
            notes += pulling.notes
        if trial.t[0] - first > 1.0 / capture.rate or last - trial.t[-1] > 1.0 / capture.rate:
            notes.append(f"moments are from {trial.t[0]:g} to {trial.t[-1]:g} s, where the ground forces are known")
    fitted = next(iter(trials.values())).motion
    whole = float(sum(link.mass for link in reading.source.links)) if mass is None else mass
    every = tuple(dict.fromkeys((*fitted.notes, *notes)))
    return AnkleComparison(reading.source.name, capture.name, whole, coordinates, trials, every, capture)


def _check_feet(reading: Reading, feet: Sequence[str] | None, loads: Any) -> None:
    """Refuse feet that the model lacks, and feet beside loads that name their bodies."""
    if feet is None:
        return
    for foot in feet:
        if foot not in reading.source.bodies:
            raise ModelError(f"feet: the model has no body '{foot}'; it has {', '.join(reading.source.bodies)}")
    if loads is not None and not (isinstance(loads, str | Path) and Path(loads).suffix.lower() != ".xml"):
        raise ModelError("feet: external loads name the bodies on which they act; leave feet out, or give force plates")


def _length_noted(
    reading: Reading, pairs: Sequence[tuple[str, str]], opened: Mapping[str, Reading], length: float | None, axes: Any
) -> list[str]:
    """A note where the modified universal joints have the axes of the file, so that the talus's mass alone differs."""
    if length is not None or axes is not None or not {FILE, MODIFIED} <= set(opened):
        return []
    links = {link.name: link for link in reading.source.links}
    apart = []
    for ankle, subtalar in pairs:
        one, two = (links[name] for name in hinges_of(reading, ankle, subtalar, unlock=True)[1])
        between = two.position + two.rotation @ two.steps[0].point - one.steps[0].point
        apart.append(f"{1e3 * float(np.linalg.norm(between)):.1f} mm ({ankle})")
    return [
        f"the links are as long as the hinges of the file are apart, {', '.join(apart)}: both axes stay, and the modified "
        "universal joint differs from the ankle of the file by the talus's mass alone; talus_length= shortens it"
    ]


def _open_noted(motion: FittedMotion, coordinates: Mapping[str, tuple[str, str]]) -> list[str]:
    """Notes on coordinates of ankles that the markers show in some frames; those that they show in none are refused."""
    frames, notes = len(motion.t), []
    for name in (name for pair in coordinates.values() for name in pair):
        lost = motion.undetermined.get(name, 0)
        if lost == frames:
            raise ModelError(
                f"{motion.name}: its markers show coordinate '{name}' in none of {frames} frames, and ankles that are not seen "
                "cannot be compared; give markers of the foot, or name the other ankles by ankles="
            )
        if lost:
            notes.append(f"{name}: not shown by the markers in {lost} of {frames} frames; interpolated there")
    return notes


def read_trial(markers: str | Path, loads: Any, up: str | None, units: str | None) -> Capture:
    """The trial; files of forces beside it are read where no external loads are given."""
    if loads is None:
        return read_capture(markers, up=up, units=units)
    if isinstance(loads, str | Path) and Path(loads).suffix.lower() != ".xml":
        return read_capture(markers, forces=loads, up=up, units=units)
    if isinstance(loads, str | Path):
        read_external_loads(loads, span=(0.0, 0.0))  # refuses a malformed file before the work begins
    return read_markers(markers, up=up, units=units)


def with_axes(
    reading: Reading, pairs: Sequence[tuple[str, str | None]], axis: Any, point: Any, axes: Any
) -> tuple[Reading, list[tuple[str, str]]]:
    """The model with the subtalar axes that are asked for, and both hinges of each ankle.

    Raises
    ------
    ModelError
    """
    found = []
    for ankle, subtalar in pairs:
        if axis is not None or point is not None or subtalar is None:
            reading, subtalar = with_subtalar_axis(reading, ankle, subtalar, axis, point, axes=axes)
        found.append((ankle, subtalar))
    return reading, found


def ankles_of(source: Description, *, added: bool = False) -> list[tuple[str, str | None]]:
    """Pairs of joints whose names differ by the words ankle and subtalar alone, such as ``ankle_r`` and ``subtalar_r``.

    ``added``: subtalar axes are added; where there are no pairs, ankles that carry the foot are found, each with None.

    Raises
    ------
    ModelError
        Where there are none.
    """
    joints = {link.joint for link in source.links}
    pairs = ((name, name.replace("ankle", "subtalar").replace("Ankle", "Subtalar")) for name in joints)
    found: list[tuple[str, str | None]] = [(name, other) for name, other in pairs if other != name and other in joints]
    if added and not found:
        found = [(name, None) for name in joints if "ankle" in name.lower()]
    if not found:
        raise ModelError(
            f"model '{source.name}': has no joints ankle_r and subtalar_r; name both hinges, its joints are "
            f"{', '.join(sorted(joint for joint in joints if joint))}"
        )
    return sorted(found, key=lambda pair: pair[0], reverse=True)


def feet_of(source: Description, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Bodies of the file that the subtalar joints move, and those of the other side."""
    in_file = {link: body for body, link in source.bodies.items()}
    found = [in_file[link.name] for _, subtalar in pairs for link in source.links if link.joint == subtalar]
    for name in list(found):
        if (other := on_other_side(name)) in source.bodies and other not in found:
            found.append(other)
    return found


def _swapped(
    reading: Reading,
    pairs: Sequence[tuple[str, str]],
    sort: str,
    length: float | None,
    axes: Any,
    talus: Talus,
    unlock: bool,
) -> Reading:
    """The model with one kind of ankles."""
    for ankle, subtalar in pairs:
        if sort == FILE:
            reading = swap(reading, ankle, subtalar, talus="keep", unlock=unlock)
        elif sort == UNIVERSAL:
            reading = swap(reading, ankle, subtalar, with_="universal", axes=axes, talus=talus, unlock=unlock)
        else:
            reading = swap(reading, ankle, subtalar, talus_length=length, axes=axes, talus=talus, unlock=unlock)
    return reading


def _coordinates(reading: Reading, ankle: str, subtalar: str) -> tuple[str, str]:
    """Coordinates of both hinges."""
    source, names = hinges_of(reading, ankle, subtalar, unlock=True)
    links = {link.name: link for link in source.links}
    coordinate = {law.step: law.coordinate for law in source.laws}
    one, two = (coordinate[links[name].steps[0].name] for name in names)
    return one, two


def _joints(reading: Reading, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Joints of the file of both hinges of each ankle."""
    links = {link.name: link for link in reading.source.links}
    return [links[name].joint for pair in pairs for name in hinges_of(reading, *pair, unlock=True)[1]]


def _note(reading: Reading, ankle: str, subtalar: str) -> str:
    """What ``models.swap`` says of an ankle."""
    names = {ankle, subtalar}
    return next((one.reason for one in reading.left_out if one.sort == SORT and set(one.names) & names), "")
