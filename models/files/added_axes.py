"""A hinge for the subtalar joint that a model of OpenSim welds or lacks, by published angles of its axis or by a direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from models.files.description import Description, FileCoordinate, Floats, Law, Link, Omitted, Step
from models.files.naming import identifiers
from models.files.osim_functions import straight
from models.files.reading import Reading
from models.files.sides import on_other_side, stated_side
from models.files.swapped_axes import in_opensim
from models.foot import LINK_LENGTH, talocalcaneal_axis
from models.foot_anatomy import SUBTALAR_DEVIATION_DEG, SUBTALAR_INCLINATION_DEG, Side, check_axis_angles
from runtime import ModelError
from runtime.support import bounded, floats

SORT = "added axes"  # of the notes in a reading
# Inclination and deviation [deg], or a direction in axes of a right foot of OpenSim (x anterior, y up, z to the right).
KNOWN = {
    "isman_inman": ((SUBTALAR_INCLINATION_DEG, SUBTALAR_DEVIATION_DEG), "mean of Isman and Inman (1969)"),
    "opensim": ((0.78717961, 0.60474746, -0.12094949), "axis of OpenSim's gait models, Delp et al. (1990)"),
}
FORMS = "two angles [deg], inclination and deviation, or a direction of three numbers"


def with_subtalar_axis(
    reading: Reading,
    ankle: str,
    subtalar: str | None,
    axis: str | ArrayLike | None,
    point: ArrayLike | None = None,
    *,
    axes: Any = None,
    side: Side | None = None,
    check: bool = True,
) -> tuple[Reading, str]:
    """The reading whose welded subtalar joint is a hinge, and the name of this joint.

    Parameters are those of ``models.swap``; ``axes`` is checked alone.

    Raises
    ------
    ModelError
    """
    if axis is None:
        alone = f"joint '{ankle}': carries the foot without a subtalar joint"
        what = alone if subtalar is None else "subtalar_point= needs an axis"
        raise ModelError(f"{what}; add one by subtalar_axis='isman_inman'")
    source = reading.source
    if source.format != "OpenSim":
        raise ModelError(
            f"subtalar_axis= needs bodies with x anterior, y up, z to the right, as OpenSim's; this model is of {source.format}: "
            "give it a hinge in the file"
        )
    of_axes = [name for name in axes if str(name).startswith("subtalar")] if isinstance(axes, Mapping) else []
    if of_axes or isinstance(axes, tuple) and any(one is not None for one in axes[1:]):
        turning = of_axes[0] if of_axes else "axes"
        raise ModelError(
            f"{turning}= turns a subtalar axis of the file, and subtalar_axis= adds one; leave one of them out"
        )
    chosen = stated_side(ankle, side)
    inclination, deviation, said = _angles(axis)
    check_axis_angles("models.swap", check, subtalar_inclination_deg=inclination, subtalar_deviation_deg=deviation)
    taken = [*(link.joint for link in source.links), *source.coordinates, *(step.name for _, step in source.steps)]
    if subtalar is None:
        subtalar = _new_name(ankle, "subtalar", (), "ankle")
        if subtalar in taken:
            raise ModelError(f"joint '{ankle}': the model has a joint '{subtalar}' too; name both")
        source = _with_talus(source, ankle, subtalar)
    foot = _welded(source, subtalar)
    at, through = _point(foot, source, point, chosen)
    coordinate = _new_name(subtalar, "angle", taken)
    step = Step(coordinate, "turn", in_opensim(talocalcaneal_axis(inclination, deviation, side=chosen)), at)
    notes = (
        f"hinge that the file lacks, its axis {inclination:.4g} degrees up and {deviation:.4g} degrees medially from the x axis "
        f"of '{foot.name}': {said}",
        f"the axis goes through {through}",
        f"coordinate '{coordinate}' is 0 in the pose of the file, positive in inversion, without range, spring and damper",
    )
    added = source.changed(
        links=tuple(replace(one, steps=(step,)) if one is foot else one for one in source.links),
        laws=(*source.laws, Law(coordinate, (coordinate,), straight(1.0, 0.0))),
        coordinates={**source.coordinates, coordinate: FileCoordinate(0.0)},
        omitted=(*source.omitted, *(Omitted(SORT, (subtalar,), note) for note in notes)),
    )
    return replace(reading, source=added), subtalar


def notes_of(reading: Reading) -> list[str]:
    """The assumptions behind axes that were added."""
    return [f"{', '.join(one.names)}: {one.reason}" for one in reading.source.omitted if one.sort == SORT]


def _angles(axis: str | ArrayLike) -> tuple[float, float, str]:
    """Inclination and deviation [deg], and where they are from."""
    said = "given"
    if isinstance(axis, str):
        if axis not in KNOWN:
            raise ModelError(f"subtalar_axis = {axis!r}; use {', '.join(map(repr, KNOWN))}, {FORMS}")
        axis, said = KNOWN[axis]
    values = bounded(floats(axis, "subtalar_axis", FORMS), "subtalar_axis")
    if values.shape not in ((2,), (3,)) or not np.isfinite(values).all():
        raise ModelError(f"subtalar_axis = {values.tolist()}; give {FORMS}, all finite")
    if len(values) == 3:
        x, y, medial = values * [1.0, 1.0, -1.0] * (-1.0 if values[0] < 0.0 else 1.0)
        if not x > 0.0:
            raise ModelError(
                f"subtalar_axis = {values.tolist()}: is perpendicular to the long axis of the foot, x, or has no length; give a "
                "direction with an anterior part"
            )
        values = np.rad2deg(np.arctan2([y, medial], x))
    return float(values[0]), float(values[1]), said


def _new_name(name: str, word: str, taken: Iterable[str], instead: str = "") -> str:
    """A name with a word in place of another one, else before its side: ``subtalar_r`` and "angle" give ``subtalar_angle_r``."""
    parts = name.split("_")
    if instead in parts:
        parts[parts.index(instead)] = word
    else:
        parts.insert(len(parts) - (on_other_side(parts[-1]) != parts[-1]), word)
    new = "_".join(parts)
    return identifiers([new], taken)[new]


def _welded(source: Description, subtalar: str) -> Link:
    """The foot behind a joint without steps."""
    foot = _behind(source, subtalar)
    if steps := foot.steps:
        locked = any(law.step == steps[0].name and not law.own for law in source.laws)
        raise ModelError(
            f"joint '{subtalar}': has an axis in the file, and subtalar_axis= adds one to a welded joint; leave it out"
            + (", and use unlock=True" if locked else "")
        )
    return foot


def _behind(source: Description, joint: str) -> Link:
    """The link that a joint of the file carries."""
    found = next((link for link in source.links if link.joint == joint), None)
    if found is None:
        raise ModelError(
            f"joint '{joint}': no such joint in the model; its joints are "
            f"{', '.join(sorted(link.joint for link in source.links if link.joint))}"
        )
    return found


def _point(foot: Link, source: Description, point: ArrayLike | None, side: Side) -> tuple[Floats, str]:
    """A point of the axis (3,) [m] in axes of the foot, and the point in words."""
    if point is not None:
        at = bounded(floats(point, "subtalar_point", "three lengths [m]"), "subtalar_point")
        if at.shape != (3,) or not np.isfinite(at).all():
            raise ModelError(f"subtalar_point = {at.tolist()}; give three finite lengths [m]")
        at = at * [1.0, 1.0, -1.0 if side == "left" else 1.0]
        return at, f"({', '.join(f'{x:.6g}' for x in at.tolist())}) m of '{foot.name}', given"
    talus = next((link for link in source.links if link.name == foot.parent), None)
    if talus is None or talus.mass > 0.0 or not talus.steps:
        return np.zeros(3), f"the origin of '{foot.name}', as in OpenSim's gait models"
    at = foot.rotation.T @ (talus.steps[0].point - foot.position) - [0.0, LINK_LENGTH, 0.0]
    return at, (
        f"the point {LINK_LENGTH:g} m below that of the ankle's axis, along y of '{foot.name}': the height of the talus, "
        "Rodrigues da Silva et al. (2024a)"
    )


def _with_talus(source: Description, ankle: str, subtalar: str) -> Description:
    """The description with a talus without mass, to which the foot behind the ankle is welded."""
    foot = _behind(source, ankle)
    name = _new_name(ankle, "talus", [link.name for link in source.links], "ankle")
    talus = replace(foot, name=name, mass=0.0, centre=np.zeros(3), inertia=np.zeros((3, 3)))
    links: list[Link] = []
    for link in source.links:
        behind = replace(link, parent=name, position=np.zeros(3), rotation=np.eye(3), steps=(), joint=subtalar)
        links += [talus, behind] if link is foot else [link]
    return source.changed(links=tuple(links), bodies={**source.bodies, name: name})
