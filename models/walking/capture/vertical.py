"""The vertical axis of a file: from its statement, its force plates, its ground forces, or the markers of a person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from models.walking.capture.contents import AXES, Contents, Wrench
from models.walking.capture.plates import plate_axes
from runtime import ModelError
from runtime.support.arrays import Floats

LOADED = 20.0  # [N] force from which a sample shows signs and axes
CLEARLY = 1.5  # times as long as the other two: the axis along which a person's markers extend
MOSTLY = 3.0  # times as large as the other two: the axis along which the ground forces point

# Rows are the axes of Talus in those of the file; proper rotations, so that left stays left.
ROTATIONS: dict[str, tuple[Floats, str]] = {
    "z": (np.eye(3), "x = X, y = Y, z = Z"),
    "y": (np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]), "x = X, y = -Z, z = Y"),
    "x": (np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]), "x = Y, y = Z, z = X"),
    "-z": (np.diag([1.0, -1, -1]), "x = X, y = -Y, z = -Z"),
    "-y": (np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]), "x = X, y = Z, z = -Y"),
    "-x": (np.array([[0.0, 1, 0], [0, 0, -1], [-1, 0, 0]]), "x = Y, y = -Z, z = -X"),
}


def find_vertical(contents: Contents, middle: Floats) -> str:
    """Find the vertical axis of a file from its statement, the plates, the ground forces or the shape of a person.

    Plates and ground forces overrule the statement.  An assumption is added to the notes.

    Parameters
    ----------
    contents : Contents
        In the file's axes.
    middle : (k, 3) [m]
        Median position of each marker that is visible in some frame.

    Returns
    -------
    axis : one of the keys of ``ROTATIONS``

    Raises
    ------
    ModelError
        If nothing distinguishes the vertical.
    """
    physical = _axis_of_plates(contents.wrenches) or _axis_of_forces(contents.wrenches)
    if contents.up is not None:
        stated, where = contents.up
        if physical is None or physical[0] == stated[-1]:
            return stated
        contents.notes.append(f"{where} says that {stated} is up, but {physical[1]}, which takes precedence")
    shape = _axis_of_labels(contents.labels, middle) or _axis_of_markers(middle)
    found = physical or shape
    if found is None:
        raise ModelError(
            f"{contents.path.name}: the file does not state its vertical axis, and its markers extend "
            f"{_lengths(np.ptp(middle, axis=0))} along x, y, z, which does not decide it; give up='z' or up='y'"
        )
    axis, why = found
    if shape is not None and shape[0][-1] == axis:
        axis = shape[0]  # with its sign if labels show it
    if len(axis) == 1:
        k = AXES.index(axis)
        corners = [wrench.corners[:, k].mean() for wrench in contents.wrenches if wrench.corners is not None]
        # A person stands on the plates, or on the floor, whose height is close to zero in laboratories.
        heights = middle[:, k] - (np.mean(corners) if corners else 0.0)
        axis = "-" + axis if heights.max() < -heights.min() else axis
    axis = axis.lstrip("+")
    contents.notes.append(f"the vertical is {axis}, because {why}; another axis can be stated (up)")
    return axis


# Parts of labels that many marker sets share: on foot and ankle, and above the shank.
LOW = re.compile(r"(?i)heel|hee\b|toe|(?<!sh)ank(le|\b)|mall|calc|foot|\bfcc|_fcc|fm[1256]|fal\b|tam\b|mt[1256]")
HIGH = re.compile(
    r"(?i)head|temple|asis|psis|asi\b|psi\b|_ias|_ips|ftc|acrom|stern|hip|troch|thigh|thi\b|knee|kne\b|fle\b|fme\b|c7|cv7|sacr|shoulder"
)


def _axis_of_labels(labels: Sequence[str], middle: Floats) -> tuple[str, str] | None:
    """The signed axis from the feet to the body, by the names of the markers."""
    if len(labels) != len(middle):  # some are never visible
        return None
    low = [k for k, label in enumerate(labels) if LOW.search(label)]
    high = [k for k, label in enumerate(labels) if HIGH.search(label) and k not in low]
    if not low or not high:
        return None
    rise = middle[high].mean(axis=0) - middle[low].mean(axis=0)
    axis = _largest(np.abs(rise), CLEARLY)
    if axis is None:
        return None
    sense = "-" if rise[AXES.index(axis)] < 0.0 else "+"
    return sense + axis, f"{labels[high[0]]} and others are above {labels[low[0]]} and others along {axis}"


def _axis_of_plates(wrenches: Sequence[Wrench]) -> tuple[str, str] | None:
    normals = [np.abs(plate_axes(wrench.corners)[:, 2]) for wrench in wrenches if wrench.corners is not None]
    axes = {AXES[int(np.argmax(normal))] if normal.max() > 0.98 else "" for normal in normals}
    axis = axes.pop() if len(axes) == 1 else ""
    return (axis, f"the force plates are normal to {axis}") if axis else None


def _axis_of_forces(wrenches: Sequence[Wrench]) -> tuple[str, str] | None:
    axis = _largest(total_force(wrench.force for wrench in wrenches), MOSTLY)
    return (axis, f"the mean ground force points along {axis}") if axis else None


def total_force(forces: Iterable[Floats]) -> Floats:
    """Sum (3,) over plates of |sum of the loaded samples| of forces (m, 3) [N], per axis."""
    loaded = (force[np.linalg.norm(force, axis=1) > LOADED] for force in forces)
    return np.asarray(sum((np.abs(force.sum(axis=0)) for force in loaded), np.zeros(3)))


def _axis_of_markers(middle: Floats) -> tuple[str, str] | None:
    extent = np.ptp(middle, axis=0)
    axis = _largest(extent, CLEARLY)
    return (axis, f"the markers extend {_lengths(extent)} along x, y, z") if axis else None


def _largest(sizes: Floats, times: float) -> str | None:
    order = np.argsort(sizes)
    return AXES[order[2]] if sizes[order[2]] > times * sizes[order[1]] else None


def _lengths(extent: Floats) -> str:
    return ", ".join(f"{length:.3g} m" for length in extent)
