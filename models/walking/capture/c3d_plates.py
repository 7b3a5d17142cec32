"""Force plates of types 1 to 4 in C3D files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from models.walking.capture.c3d_parameters import Parameters
from models.walking.capture.contents import LENGTHS, Wrench
from models.walking.capture.plates import plate_axes
from runtime import ModelError
from runtime.support.arrays import Floats

MOST = 65536  # no C3D file has more channels or plates
FORCES = {"n": 1.0, "newton": 1.0, "newtons": 1.0, "kn": 1e3}
MOMENTS = {f"{force}{length}": FORCES[force] * LENGTHS[length] for force in FORCES for length in LENGTHS}


def plate_wrenches(
    parameters: Parameters, analogs: Floats, rate: float, length: float, notes: list[str]
) -> Iterator[Wrench]:
    """Wrenches of all force plates; a plate that cannot be read is left out with a note.

    Parameters
    ----------
    parameters : Parameters
    analogs : (channels, m)
        Analog samples as stored.
    rate : float [Hz]
        Analog samples per second.
    length : float [m]
        Metres per unit of position in the file.
    notes : list of str
        Assumptions are appended.
    """
    used = _whole(parameters.number("FORCE_PLATFORM", "USED") or 0.0)
    if used > len(analogs):
        notes.append(f"FORCE_PLATFORM:USED is {used}, but the file has {len(analogs)} analog channels")
        used = len(analogs)
    zero = parameters.numbers("FORCE_PLATFORM", "ZERO").ravel()
    if used and len(zero) == 2 and 0 < zero[0] < zero[1]:
        notes.append(
            f"FORCE_PLATFORM:ZERO names frames {zero[0]:g} to {zero[1]:g} as unloaded; their mean is not subtracted from forces"
        )
    t = np.arange(analogs.shape[1]) / rate
    for k in range(used):
        try:
            yield _wrench(parameters, k, t, analogs, length, notes)
        except ModelError as error:
            notes.append(f"plate{k + 1} is left out: {error}")


def _wrench(parameters: Parameters, k: int, t: Floats, analogs: Floats, length: float, notes: list[str]) -> Wrench:
    """Wrench of plate k about the middle of its surface; the error gives the reason why it is left out."""
    kind = _whole(next(iter(parameters.numbers("FORCE_PLATFORM", "TYPE").ravel()[k:]), 0.0))
    if kind not in (1, 2, 3, 4):
        raise ModelError(f"force platforms of type {kind} are not read, only types 1 to 4; give forces= instead")
    wanted = 8 if kind == 3 else 6
    used = np.array([_whole(channel) for channel in parameters.of_plate("CHANNEL", k, 1)[:wanted]], dtype=int) - 1
    corners = parameters.of_plate("CORNERS", k, 2).T * length
    if corners.shape != (4, 3) or len(used) < wanted:
        raise ModelError("FORCE_PLATFORM:CHANNEL or CORNERS have no entry for it")
    if used.min() < 0 or used.max() >= len(analogs):
        raise ModelError("it names analog channels that do not exist")
    area = np.linalg.norm(np.cross(corners[0] - corners[1], corners[0] - corners[3]))
    if area < 1e-4 or not np.isfinite(corners).all():
        raise ModelError("its corners span no area, so its place is unknown")
    channel = analogs[used]
    stated = dict(enumerate(parameters.texts("ANALOG", "UNITS")))
    units = [re.sub(r"[^a-z]", "", stated.get(c, "").lower()) for c in used]
    if kind == 4:
        # By the format's definition, the calibration matrix gives N, and N times the unit of the positions.
        matrix = parameters.of_plate("CAL_MATRIX", k, 2)
        if matrix.shape == (6, 6):
            channel, units = matrix @ channel, ["n"] * 3 + [""] * 3
        elif any(unit not in FORCES for unit in units[:3]):
            raise ModelError("it is of type 4 but has no FORCE_PLATFORM:CAL_MATRIX")
    origin = parameters.of_plate("ORIGIN", k, 1) * length
    if origin.shape != (3,):
        origin = np.zeros(3)
    force, moment = _at_surface(kind, channel * _factors(kind, units, length)[:, None], origin)
    if not all(units):
        notes.append(f"plate{k + 1}: channels without a unit are read in N, and in N times the unit of the positions")
    axes = plate_axes(corners)
    centre = np.broadcast_to(corners.mean(axis=0), force.shape)
    return Wrench(f"plate{k + 1}", t, force @ axes.T, centre, moment @ axes.T, corners)


def _whole(number: float) -> int:
    """A number as an integer; 0 if it counts nothing."""
    return int(number) if abs(number) < MOST else 0


def _factors(kind: int, units: Sequence[str], length: float) -> Floats:
    """N, m or N m per unit of each channel."""
    factors = []
    for k, unit in enumerate(units):
        force, point = k < 3 or kind == 3, kind == 1 and k in (3, 4)  # type 1 stores the centre of pressure
        known = FORCES if force else LENGTHS if point else MOMENTS
        if unit and unit not in known:
            what = f"of its forces is '{unit}', not N" if force else f"of its moments or points is '{unit}'"
            raise ModelError(f"the unit {what}")
        factors.append(known.get(unit, 1.0 if force else length))
    return np.array(factors)


def _at_surface(kind: int, channel: Floats, origin: Floats) -> tuple[Floats, Floats]:
    """Force and moment (m, 3) about the middle of a plate's surface, in the plate's axes; SI units.

    ``origin`` is the vector from the reference point of the moments to the middle of the surface, in the plate's axes, whose
    z points into the floor.  For type 3 it holds the distances of the sensors and the depth of their plane.
    """
    # The depth of the sensors is negative by the format's definition, but often stored with the other sign.
    below = -origin if origin[2] > 0.0 else origin
    if kind == 3:
        fx12, fx34, fy14, fy23, f1, f2, f3, f4 = channel
        a, b = np.abs(origin[:2])
        force = np.stack([fx12 + fx34, fy14 + fy23, f1 + f2 + f3 + f4], axis=1)
        moment = np.stack(
            [b * (f1 + f2 - f3 - f4), a * (f2 + f3 - f1 - f4), b * (fx34 - fx12) + a * (fy14 - fy23)], axis=1
        )
        return force, moment + np.cross(force, [0.0, 0.0, below[2]])
    force = channel[:3].T
    if kind == 1:
        point = np.stack([channel[3], channel[4], np.zeros(channel.shape[1])], axis=1)
        moment = np.cross(point, force)
        moment[:, 2] += channel[5]
        return force, moment
    return force, channel[3:6].T + np.cross(force, below)
