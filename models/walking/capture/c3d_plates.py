"""Force plates of types 1 to 5 in C3D files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from models.walking.capture.c3d_parameters import Parameters
from models.walking.capture.contents import FORCES, LENGTHS, MOMENTS, Wrench, plain_unit
from models.walking.capture.plates import OFFSET, STEADY, THRESHOLD, plate_axes
from runtime import ModelError
from runtime.support.arrays import Floats

MOST = 65536  # no C3D file has more channels or plates
CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6, 5: 8}  # of the types that are read
MATRICES = {4: (6, 6), 5: (6, 8)}  # calibration: from the channels to force and moment
OTHERS = {6: "12 channels and a 12 by 12 matrix", 7: "8 channels and an 8 by 8 matrix", 11: "Kistler's split-belt treadmill",
          12: "a Gaitway treadmill", 21: "AMTI's stairs"}  # fmt: skip
SMALL = 0.05  # [N] below it an offset gets no note


def plate_wrenches(
    parameters: Parameters, analogs: Floats, first: int, frames: int, rate: float, length: float, notes: list[str]
) -> Iterator[Wrench]:
    """Wrenches of all force plates; a plate that cannot be read is left out with a note.

    Parameters
    ----------
    parameters : Parameters
    analogs : (channels, m)
        Analog samples as stored.
    first, frames : int
        Number of the first frame, from 1, and of all frames.
    rate : float [Hz]
        Frames per second.
    length : float [m]
        Metres per unit of position in the file.
    notes : list of str
        Assumptions are appended.
    """
    used = _whole(parameters.number("FORCE_PLATFORM", "USED") or 0.0)
    if used > len(analogs):
        notes.append(f"FORCE_PLATFORM:USED is {used}, but the file has {len(analogs)} analog channels")
        used = len(analogs)
    samples = analogs.shape[1] / frames
    t = np.arange(analogs.shape[1]) / (rate * samples)
    zero = _unloaded(parameters, first, frames, notes) if used else None
    span = None if zero is None else slice(round((zero[0] - first) * samples), round((zero[1] - first + 1) * samples))
    for k in range(used):
        try:
            yield _wrench(parameters, k, t, analogs, span, length, notes)
        except ModelError as error:
            notes.append(f"plate{k + 1} is left out: {error}")


def _unloaded(parameters: Parameters, first: int, frames: int, notes: list[str]) -> tuple[int, int] | None:
    """First and last frame, as the file numbers them, in which FORCE_PLATFORM:ZERO says that the plates are unloaded."""
    zero = parameters.numbers("FORCE_PLATFORM", "ZERO").ravel()
    if len(zero) != 2 or not (zero[1] > 0.0 and zero[1] >= zero[0]):
        return None
    if 0.0 < zero[0] and first <= zero[0] and zero[1] < first + frames:
        return int(zero[0]), int(zero[1])
    notes.append(
        f"FORCE_PLATFORM:ZERO names frames {zero[0]:g} to {zero[1]:g} as unloaded, but the file has frames {first} to "
        f"{first + frames - 1}; no baseline is subtracted from the forces"
    )
    return None


def _wrench(
    parameters: Parameters, k: int, t: Floats, analogs: Floats, span: slice | None, length: float, notes: list[str]
) -> Wrench:
    """Wrench of plate k about the origin of its sensors; the error gives the reason why it is left out.

    ``span``: samples whose mean is subtracted if the plate is unloaded there.
    """
    kind = _whole(next(iter(parameters.numbers("FORCE_PLATFORM", "TYPE").ravel()[k:]), 0.0))
    if kind not in CHANNELS:
        what = f" ({OTHERS[kind]})" if kind in OTHERS else ""
        raise ModelError(f"force platforms of type {kind}{what} are not read, only types 1 to 5; give forces= instead")
    wanted = CHANNELS[kind]
    used = np.array([_whole(channel) for channel in parameters.of_plate("CHANNEL", k, 1)[:wanted]], dtype=int) - 1
    corners = parameters.of_plate("CORNERS", k, 2).T * length
    if corners.shape != (4, 3) or len(used) < wanted:
        raise ModelError("FORCE_PLATFORM:CHANNEL or CORNERS have no entry for it")
    if used.min() < 0 or used.max() >= len(analogs):
        raise ModelError("it names analog channels that do not exist")
    area = np.linalg.norm(np.cross(corners[0] - corners[1], corners[0] - corners[3]))
    if area < 1e-4 or not np.isfinite(corners).all():
        raise ModelError("its corners span no area, so its place is unknown")
    stated = dict(enumerate(parameters.texts("ANALOG", "UNITS")))
    channel, units = analogs[used], [plain_unit(stated.get(c, "")) for c in used]
    matrix = parameters.of_plate("CAL_MATRIX", k, 2) if kind in MATRICES else np.zeros(0)
    if matrix.shape == MATRICES.get(kind):
        # By the format's definition, the calibration matrix gives N, and N times the unit of the positions.
        channel, units = matrix @ channel, ["n"] * 3 + [""] * 3
    elif kind == 5 or kind == 4 and any(unit not in FORCES for unit in units[:3]):
        raise ModelError(f"it is of type {kind} but has no FORCE_PLATFORM:CAL_MATRIX")
    elif not all(units):
        notes.append(f"plate{k + 1}: channels without a unit are read in N, and in N times the unit of the positions")
    channel = channel * _factors(kind, units, length)[:, None]
    origin = parameters.of_plate("ORIGIN", k, 1) * length
    if origin.shape != (3,):
        origin = np.zeros(3)
    if span is not None:
        channel = _without_baseline(f"plate{k + 1}", kind, channel, origin, span, notes)
    force, moment, arm = _of_channels(kind, channel, origin)
    axes = plate_axes(corners)
    point = np.broadcast_to(corners.mean(axis=0) - axes @ arm, force.shape)
    return Wrench(f"plate{k + 1}", t, force @ axes.T, point, moment @ axes.T, corners)


def _without_baseline(plate: str, kind: int, channel: Floats, origin: Floats, span: slice, notes: list[str]) -> Floats:
    """Channels without their mean over the samples of FORCE_PLATFORM:ZERO, if the plate is steady and unloaded there."""
    mean = channel[:, span].mean(axis=1, keepdims=True)
    if kind == 1:
        mean[3:5] = 0.0  # points
    force = _of_channels(kind, channel, origin)[0]
    offset, shaking = force[span].mean(axis=0), float(np.linalg.norm(force[span].std(axis=0)))
    beyond = force - offset
    # A plate that is loaded in these samples shows less elsewhere: a force against the largest one, beside its baseline.
    largest = beyond[np.argmax(np.linalg.norm(beyond, axis=1))]
    against = -float((beyond @ largest).min()) / max(float(np.linalg.norm(largest)), 1e-9)
    size = float(np.linalg.norm(offset))
    frames = "the frames that FORCE_PLATFORM:ZERO names as unloaded"
    if size > OFFSET or against > THRESHOLD or not shaking < STEADY:
        notes.append(
            f"{plate}: in {frames} it shows {size:.3g} N, with a deviation of {shaking:.2g} N: loaded, or not steady (limits "
            f"{OFFSET:g} and {STEADY:g} N); their mean is not subtracted"
        )
        return channel
    if size > SMALL:
        notes.append(f"{plate}: the mean of {frames}, {size:.3g} N, is subtracted")
    return np.asarray(channel - mean)


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
            what = "forces" if force else "points" if point else "moments"
            raise ModelError(
                f"the unit of its {what}, '{unit}', is not known, as {', '.join(list(known)[:3])} and others are; scale "
                "its channels"
            )
        factors.append(known.get(unit, 1.0 if force else length))
    return np.array(factors)


def _of_channels(kind: int, channel: Floats, origin: Floats) -> tuple[Floats, Floats, Floats]:
    """Force and moment (m, 3) about the origin of the sensors, and the middle of the surface (3,) from there.

    In the plate's axes, SI units.  ``origin`` as stored: for type 3 the distances of the sensors and the depth of their plane.
    """
    if kind == 3:
        fx12, fx34, fy14, fy23, f1, f2, f3, f4 = channel
        a, b = np.abs(origin[:2])
        force = np.stack([fx12 + fx34, fy14 + fy23, f1 + f2 + f3 + f4], axis=1)
        moment = np.stack(
            [b * (f1 + f2 - f3 - f4), a * (f2 + f3 - f1 - f4), b * (fx34 - fx12) + a * (fy14 - fy23)], axis=1
        )
        return force, moment, np.array([0.0, 0.0, origin[2]])
    force = channel[:3].T
    if kind == 1:
        point = np.stack([channel[3], channel[4], np.zeros(channel.shape[1])], axis=1)
        moment = np.cross(point, force)
        moment[:, 2] += channel[5]
        return force, moment, np.zeros(3)
    return force, channel[3:6].T, origin
