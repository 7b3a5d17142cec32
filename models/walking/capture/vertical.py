"""The vertical axis of a file: its statement, its force plates, its ground forces and the markers of a person together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from models.walking.capture.contents import AXES, Contents
from models.walking.capture.plates import plate_axes
from runtime import ModelError
from runtime.support.arrays import Floats

LOADED = 20.0  # [N] force from which a sample shows signs and axes
CLEARLY = 1.5  # times as long as the other two: the axis along which a person's markers extend
MOSTLY = 3.0  # times as large as the other two: the axis along which the ground forces point
NEARLY_ALL = 0.8  # of the markers are on the side of the plates on which the person is
STATED = 5.0  # weight of a statement of the file: two kinds of evidence against it outweigh it
CONTRADICTS = 2.0  # least weight of evidence that is named where it contradicts the decision

# Rows are the axes of Talus in those of the file; proper rotations, so that left stays left.
ROTATIONS: dict[str, tuple[Floats, str]] = {
    "z": (np.eye(3), "x = X, y = Y, z = Z"),
    "y": (np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]), "x = X, y = -Z, z = Y"),
    "x": (np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]), "x = Y, y = Z, z = X"),
    "-z": (np.diag([1.0, -1, -1]), "x = X, y = -Y, z = -Z"),
    "-y": (np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]), "x = X, y = Z, z = -Y"),
    "-x": (np.array([[0.0, 1, 0], [0, 0, -1], [-1, 0, 0]]), "x = Y, y = -Z, z = -X"),
}


class Evidence(NamedTuple):
    """What shows the vertical: an axis, with its sign or without one, and how much that counts against other evidence."""

    axis: str
    weight: float
    why: str

    def agrees(self, axis: str) -> bool:
        """Whether it says the same of an axis with its sign."""
        return self.axis in (axis, axis[1])


def find_vertical(contents: Contents, labels: Sequence[str], middle: Floats, up: str | None) -> str:
    """Find the vertical axis of a file from its plates, ground forces, markers and statement together.

    The decision and its reasons are added to the notes, and what contradicts it, also where the axis was given.

    Parameters
    ----------
    contents : Contents
        In the file's axes.
    labels : sequence of str
        Of the markers that are visible in some frame.
    middle : (k, 3) [m]
        Their median positions.
    up : str, optional
        The axis as given.

    Returns
    -------
    axis : one of the keys of ``ROTATIONS``

    Raises
    ------
    ModelError
        If nothing distinguishes the vertical.
    """
    found = sorted(_evidence(contents, labels, middle), key=lambda one: -one.weight)
    if not found and up is None:
        raise ModelError(
            f"{contents.path.name}: the file does not state its vertical axis, and its markers extend "
            f"{_lengths(np.ptp(middle, axis=0))} along x, y, z, which does not decide it; give up='z' or up='y'"
        )
    axis = _heaviest(found, middle) if up is None else up.rjust(2, "+")
    agreeing = [one for one in found if one.agrees(axis)]
    against = [one for one in found if not one.agrees(axis) and one.weight >= CONTRADICTS]
    name = axis.lstrip("+")
    if up is None and not any(one.weight == STATED for one in agreeing):
        reasons = ", ".join(one.why for one in agreeing[:3])
        contents.notes.append(f"the vertical is {name}, because {reasons}; another axis can be stated (up)")
    if against:
        given = "as given" if up is not None else "as decided"
        contents.notes.append(
            f"check the vertical, {name} {given}: {'; '.join(one.why for one in against)}; state the axis of the markers (up), "
            "and give forces in the same axes"
        )
    return name


def _heaviest(found: Sequence[Evidence], middle: Floats) -> str:
    """The axis for which most evidence speaks, with its sign."""
    letter = max(AXES, key=lambda axis: sum(one.weight for one in found if one.axis[-1] == axis))
    sense = sum(one.weight * (one.agrees("+" + letter) - one.agrees("-" + letter)) for one in found)
    if sense == 0.0:  # a person is on the floor, whose height is close to zero in laboratories
        heights = middle[:, AXES.index(letter)]
        sense = heights.max() + heights.min()
    return ("-" if sense < 0.0 else "+") + letter


def _evidence(contents: Contents, labels: Sequence[str], middle: Floats) -> Iterator[Evidence]:
    """All that the contents of a file show of its vertical."""
    wrenches = contents.wrenches
    if contents.up is not None:
        axis, where = contents.up
        yield Evidence(axis.rjust(2, "+"), STATED, f"{where} says that {axis} is up")
    if contents.screen is not None:
        axis, where = contents.screen
        yield Evidence(axis.rjust(2, "+"), 0.5, f"{where}, a setting of the display, is {axis}")
    if along := _largest(total_force(wrench.force for wrench in wrenches), MOSTLY):
        yield Evidence(along, 4.0, f"the mean ground force points along {along}")
    corners = [wrench.corners for wrench in wrenches if wrench.corners is not None]
    normals = [np.abs(plate_axes(one)[:, 2]) for one in corners]
    axes = {AXES[int(np.argmax(normal))] if normal.max() > 0.98 else "" for normal in normals}
    if len(axes) == 1 and (axis := axes.pop()):
        yield Evidence(axis, 3.0, f"the force plates are normal to {axis}")
        k = AXES.index(axis)
        above = float(np.mean(middle[:, k] > np.mean([one[:, k].mean() for one in corners])))
        if max(above, 1.0 - above) > NEARLY_ALL:
            yield Evidence(
                ("+" if above > 0.5 else "-") + axis, 3.0, f"the markers are beyond the force plates along {axis}"
            )
    low = [k for k, label in enumerate(labels) if LOW.search(label)]
    high = [k for k, label in enumerate(labels) if HIGH.search(label) and k not in low]
    if low and high:
        rise = middle[high].mean(axis=0) - middle[low].mean(axis=0)
        if along := _largest(np.abs(rise), CLEARLY):
            signed = ("-" if rise[AXES.index(along)] < 0.0 else "+") + along
            why = f"{labels[high[0]]} and others are above {labels[low[0]]} and others along {signed.lstrip('+')}"
            yield Evidence(signed, 3.5, why)
    extent = np.ptp(middle, axis=0)
    if along := _largest(extent, CLEARLY):
        yield Evidence(along, 1.0, f"the markers extend {_lengths(extent)} along x, y, z")


# Parts of labels that many marker sets share: on foot and ankle, and above the shank.
LOW = re.compile(r"(?i)heel|hee\b|toe|(?<!sh)ank(le|\b)|mall|calc|foot|\bfcc|_fcc|fm[1256]|fal\b|tam\b|mt[1256]")
HIGH = re.compile(
    r"(?i)head|temple|asis|psis|asi\b|psi\b|_ias|_ips|ftc|acrom|stern|hip|troch|thigh|thi\b|knee|kne\b|fle\b|fme\b|c7|cv7|sacr|shoulder"
)


def total_force(forces: Iterable[Floats]) -> Floats:
    """Sum (3,) over plates of |sum of the loaded samples| of forces (m, 3) [N], per axis."""
    loaded = (force[np.linalg.norm(force, axis=1) > LOADED] for force in forces)
    return np.asarray(sum((np.abs(force.sum(axis=0)) for force in loaded), np.zeros(3)))


def _largest(sizes: Floats, times: float) -> str | None:
    order = np.argsort(sizes)
    return AXES[order[2]] if sizes[order[2]] > times * sizes[order[1]] else None


def _lengths(extent: Floats) -> str:
    return ", ".join(f"{length:.3g} m" for length in extent)
