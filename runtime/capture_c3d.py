"""C3D files: markers, events, the subject, and the forces of plates of types 1 to 4."""

from __future__ import annotations

import importlib
import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from runtime.capture import Floats, GaitEvent, Subject
from runtime.capture_axes import (
    LENGTHS,
    TURNS,
    Contents,
    Wrench,
    first_line,
    gait_event,
    named_markers,
    plate_axes,
    unit_of_length,
)
from runtime.errors import ModelError

FORCES = {"n": 1.0, "newton": 1.0, "newtons": 1.0, "kn": 1e3}
MOMENTS = {f"{force}{length}": FORCES[force] * LENGTHS[length] for force in FORCES for length in LENGTHS}
COMPUTED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")


def read_c3d(path: Path, units: str | None) -> Contents:
    """Read markers, events, subject and force plates."""
    first_frame = _check_bytes(path)
    try:
        ezc3d = importlib.import_module("ezc3d")
    except ImportError:
        raise ModelError("reading C3D needs ezc3d: pip install 'talus[gait]'") from None
    try:
        file = ezc3d.c3d(str(path))
        parameters = _Parameters(file["parameters"])
        # Points of a negative residual, which are invalid by the format, come as NaN.
        points = np.array(file["data"]["points"], dtype=float)[:3].transpose(2, 1, 0)
        analogs = np.array(file["data"]["analogs"], dtype=float)[0]
        rate = float(parameters.number("POINT", "RATE") or file["header"]["points"]["frame_rate"])
    except Exception as error:  # whatever the library meets in a damaged file
        raise ModelError(f"{path.name}: cannot be read as C3D ({first_line(error)}); export it again") from None
    notes: list[str] = []
    n = len(points)
    if not n:
        raise ModelError(f"{path.name}: zero frames; there is nothing to read")
    if not (math.isfinite(rate) and rate > 0.0):
        raise ModelError(f"{path.name}: POINT:RATE is {rate:g} Hz; it must be positive: export it again")
    factor, phrase = unit_of_length(path, parameters.text("POINT", "UNITS"), "POINT:UNITS", units, notes)
    labels = [label.strip() for label in parameters.texts("POINT", "LABELS")][: points.shape[1]]
    if points.shape[1] and not any(labels):
        raise ModelError(
            f"{path.name}: its {points.shape[1]} markers have no labels (POINT:LABELS); label them in the capture software"
        )
    labels, places = named_markers(path, labels, notes) if labels else ([], [])
    computed = {label.strip() for group in COMPUTED for label in parameters.texts("POINT", group)}
    kept = [k for k, label in enumerate(labels) if label not in computed]
    if len(kept) < len(labels):
        notes.append(f"{len(labels) - len(kept)} angles, moments and the like among the points are left out")
    labels, places = [labels[k] for k in kept], [places[k] for k in kept]
    contents = Contents(path, np.arange(n) / rate, labels, points[:, places] * factor, phrase, factor, notes=notes)
    contents.events = _events(path, parameters, n, rate, first_frame, notes)
    contents.subject = _subject(parameters, notes)
    contents.up = _up(path, parameters)
    contents.wrenches = list(_wrenches(parameters, analogs, analogs.shape[1] / n * rate, factor, notes))
    return contents


def read_c3d_forces(path: Path, units: str | None) -> tuple[list[Wrench], list[str]]:
    """Read the force plates alone."""
    contents = read_c3d(path, units)
    if not contents.wrenches:
        raise ModelError(f"{path.name}: no force plates that can be read; {'; '.join(contents.notes) or 'it has none'}")
    return contents.wrenches, contents.notes


def _check_bytes(path: Path) -> int:
    """Refuse what is no C3D file, is damaged or is cut short; gives the number of the first frame, from 1.

    Done here, on the bytes, because the library that reads the file ends the process where these do not fit together.
    """
    data = path.read_bytes()
    size = len(data)
    if size < 512 or data[1] != 0x50:
        raise ModelError(f"{path.name}: not a C3D file (of {size} bytes; the second is not 0x50); export it again")
    section = 512 * (data[0] - 1)
    if section < 512 or section + 4 > size:
        raise ModelError(
            f"{path.name}: {size} bytes end before its parameters; the file is cut short: copy or export it again"
        )
    processor = data[section + 3]
    if processor not in (84, 85, 86):  # Intel, DEC, MIPS
        raise ModelError(
            f"{path.name}: damaged: processor type {processor} is none of 84, 85, 86; copy or export it again"
        )
    order = ">" if processor == 86 else "<"
    points, analog, first, last = struct.unpack(order + "4H", data[2:10])
    start, samples = struct.unpack(order + "2H", data[16:20])
    # A negative scale says that numbers are stored as reals of 4 bytes; each processor has the sign elsewhere.
    width = 4 if data[{85: 13, 86: 12}.get(processor, 15)] & 0x80 else 2
    try:
        told = _counts(data, section + 4, order)
    except (struct.error, IndexError, ValueError) as error:
        raise ModelError(
            f"{path.name}: damaged: its parameters cannot be followed ({error}); copy or export it again"
        ) from None
    markers, channels = (told.get(f"{group}:USED", (0, 0))[0] for group in ("POINT", "ANALOG"))
    if "POINT:USED" not in told or markers != points or channels * samples != analog and (channels or analog):
        raise ModelError(
            f"{path.name}: damaged: its header counts {points} markers and {analog} analog values per frame, its parameters "
            f"{markers} and {channels * samples}; copy or export it again"
        )
    for name, least in (("SCALE", channels), ("OFFSET", channels), ("GEN_SCALE", 1)):
        have = sum(count for key, (_, count) in told.items() if re.fullmatch(rf"ANALOG:{name}\d*", key))
        if channels and have < least:
            raise ModelError(
                f"{path.name}: damaged: ANALOG:{name} has {have} numbers for {channels} channels; export it again"
            )
    frames = last - first + 1
    if last < 65535:  # beyond that the header does not count
        if frames < 1:
            raise ModelError(f"{path.name}: zero frames ({first} to {last}); there is nothing to read")
        needed = 512 * (start - 1) + frames * (4 * points + analog) * width
        if start < 2 or size < needed:
            raise ModelError(
                f"{path.name}: {size} bytes where {frames} frames need {needed}; the file is cut short: copy or export it again"
            )
    return int(first)


def _counts(data: bytes, at: int, order: str) -> dict[str, tuple[int, int]]:
    """Walk through groups and parameters: by GROUP:NAME the first number, of 2-byte integers, and how many there are."""
    groups: dict[int, str] = {}
    found: list[tuple[int, str, int, int]] = []
    while True:
        length, number = struct.unpack_from("2b", data, at)
        if length == 0:
            break
        at += 2 + abs(length)
        name = data[at - abs(length) : at].decode("ascii").upper()
        (step,) = struct.unpack_from(order + "h", data, at)
        following = at + step
        if number < 0:
            groups[-number] = name
            end = at + 3 + data[at + 2]
        else:
            kind, dimensions = struct.unpack_from("bB", data, at + 2)
            count = math.prod(data[at + 4 : at + 4 + dimensions])
            values = at + 4 + dimensions
            end = values + count * abs(kind)
            if kind not in (-1, 1, 2, 4) or dimensions > 7:
                raise ValueError(f"{name} is of type {kind} with {dimensions} dimensions")
            first = struct.unpack_from(order + "H", data, values)[0] if kind == 2 and count else 0
            found.append((number, name, first, count))
            end += 1 + data[end]
        if end > len(data) or (step != 0 and following < end):
            raise ValueError(f"{name} does not end before what follows it")
        if step == 0:
            break
        at = following
    for number, name, *_ in found:
        if number not in groups:
            raise ValueError(f"{name} belongs to no group")
    return {f"{groups[number]}:{name}": (first, count) for number, name, first, count in found}


class _Parameters:
    """Parameters by group and name, whatever their case; absent ones are empty."""

    def __init__(self, groups: Mapping[str, Mapping[str, Any]]) -> None:
        self._values = {
            (group.upper(), name.upper()): held.get("value")
            for group, members in groups.items()
            for name, held in members.items()
        }

    def numbers(self, group: str, name: str) -> Floats:
        try:
            return np.array(self._values.get((group, name), []), dtype=float)
        except ValueError:
            return np.array([])

    def number(self, group: str, name: str) -> float | None:
        return next(iter(self.numbers(group, name).ravel().tolist()), None)

    def texts(self, group: str, name: str) -> list[str]:
        """Of NAME, NAME2, NAME3, ..., because one parameter holds 255 at most."""
        found: list[str] = []
        for key in (name, *(f"{name}{k}" for k in range(2, 100))):
            if (group, key) not in self._values:
                break
            found += [text for text in self._values[group, key] if isinstance(text, str)]
        return found

    def text(self, group: str, name: str) -> str:
        return next(iter(self.texts(group, name)), "").strip()

    def of_plate(self, name: str, k: int, dimensions: int) -> Floats:
        """What a parameter of FORCE_PLATFORM holds for plate k; its last dimension counts the plates, or there is one."""
        values = self.numbers("FORCE_PLATFORM", name)
        stacked = values[..., None] if values.ndim == dimensions else values
        known = stacked.ndim == dimensions + 1 and k < stacked.shape[-1]
        return np.asarray(stacked[..., k]) if known else np.array([])


def _up(path: Path, parameters: _Parameters) -> tuple[str, str] | None:
    across, upwards = (parameters.text("POINT", name).lower().lstrip("+") for name in ("X_SCREEN", "Y_SCREEN"))
    # Both name an axis, and not the same one, or the parameters were never filled in.
    if upwards in TURNS and across in TURNS and across[-1] != upwards[-1]:
        return upwards, f"POINT:Y_SCREEN of {path.name}"
    return None


def _events(
    path: Path, parameters: _Parameters, n: int, rate: float, first_frame: int, notes: list[str]
) -> list[GaitEvent]:
    times = parameters.numbers("EVENT", "TIMES")
    labels, contexts = parameters.texts("EVENT", "LABELS"), parameters.texts("EVENT", "CONTEXTS")
    if times.size < 2 or not labels:
        return []
    times = times.reshape(2, -1)
    seconds = np.round(60.0 * times[0] + times[1], 6)  # they are stored as 4-byte reals
    events = [
        gait_event(float(time), label, side) for time, label, side in zip(seconds, labels, contexts, strict=False)
    ]
    found = [event for event in events if event is not None and math.isfinite(event.time)]
    if len(found) < len(events):
        notes.append(f"{len(events) - len(found)} events that are no foot strike or foot off of a side are left out")
    offset, slack, end = max(first_frame - 1, 0) / rate, 0.5 / rate, (n - 1) / rate

    def inside(shift: float) -> list[GaitEvent]:
        return [replace(e, time=round(e.time - shift, 6)) for e in found if -slack <= e.time - shift <= end + slack]

    # The format counts event times from the start of the recording; some exporters do from the first frame kept.
    standard, own = inside(offset), inside(0.0)
    kept = own if len(own) > len(standard) else standard
    if found and offset:
        since = "its first frame" if kept is own else f"the start of the recording, {offset:g} s before its first frame"
        notes.append(
            f"event times of {path.name} are counted from {since}, which leaves {len(kept)} of {len(found)} in the trial"
        )
    elif len(kept) < len(found):
        notes.append(
            f"{len(found) - len(kept)} of {len(found)} events are outside the trial, 0 to {end:g} s, and are left out"
        )
    return kept


def _subject(parameters: _Parameters, notes: list[str]) -> Subject:
    values: dict[str, tuple[float, str]] = {}  # name -> number, unit
    numbers = parameters.numbers("SUBJECT", "VALUES").ravel()
    labels, units = parameters.texts("SUBJECT", "LABELS"), parameters.texts("SUBJECT", "UNITS")
    for k, (label, number) in enumerate(zip(labels, numbers, strict=False)):
        values[label.strip().lower()] = (float(number), units[k].strip() if k < len(units) else "")
    for group in ("SUBJECTS", "SUBJECT", "PROCESSING", "ANALYSIS"):
        for name in ("BODYMASS", "MASS", "WEIGHT", "HEIGHT", "AGE"):
            value = parameters.number(group, name)
            if value is not None:
                values.setdefault(name.lower(), (value, ""))
    nothing = (0.0, "")
    mass, unit = next((values[key] for key in ("bodymass", "mass", "weight") if key in values), nothing)
    kilograms = mass / 1000.0 if unit.lower() == "g" else mass
    if mass > 0.0 and not (2.0 <= kilograms <= 400.0 and unit.lower() in ("", "kg", "g")):
        notes.append(f"the subject's mass, {mass:g} {unit or '(no unit)'}, is left out: a person has 2 to 400 kg")
        kilograms = 0.0
    height, unit = values.get("height", nothing)
    unit = unit.lower()
    if height > 0.0 and unit not in LENGTHS:
        unit = "m" if height < 3.0 else "cm" if height < 300.0 else "mm"
        notes.append(f"the subject's height, {height:g} without a unit, is taken as {unit}")
    metres = height * LENGTHS.get(unit, 0.0)
    if height > 0.0 and not 0.3 <= metres <= 2.6:
        notes.append(f"the subject's height, {height:g} {unit}, is left out: a person has 0.3 to 2.6 m")
        metres = 0.0
    code, meaning = values.get("gender", values.get("sex", nothing))
    told = dict(re.findall(r"(\d+)\s*[:=]\s*(\w+)", meaning.lower()))  # such as "0: woman, 1: man", in the unit's place
    sex = {"woman": "female", "female": "female", "man": "male", "male": "male"}.get(told.get(f"{code:g}", ""))
    age, _ = values.get("age", nothing)
    return Subject(parameters.text("SUBJECTS", "NAMES") or None, _tidy(kilograms), _tidy(metres), sex, _tidy(age))


def _tidy(value: float) -> float | None:
    """The decimal number that was meant, None for none: C3D stores 4-byte reals, where 1.655 becomes 1.6549999713897705."""
    return float(np.format_float_positional(np.float32(value), unique=True)) if value > 0.0 else None


def _wrenches(
    parameters: _Parameters, analogs: Floats, rate: float, length: float, notes: list[str]
) -> Iterator[Wrench]:
    used = int(parameters.number("FORCE_PLATFORM", "USED") or 0)
    zero = parameters.numbers("FORCE_PLATFORM", "ZERO").ravel()
    if used and len(zero) == 2 and 0 < zero[0] < zero[1]:
        notes.append(
            f"FORCE_PLATFORM:ZERO names frames {zero[0]:g} to {zero[1]:g} as unloaded; the forces are read as they are stored"
        )
    t = np.arange(analogs.shape[1]) / rate
    for k in range(used):
        try:
            yield _wrench(parameters, k, t, analogs, length, notes)
        except ModelError as error:
            notes.append(f"plate{k + 1} is left out: {error}")


def _wrench(parameters: _Parameters, k: int, t: Floats, analogs: Floats, length: float, notes: list[str]) -> Wrench:
    """Of plate k, about the middle of its surface; the error says why it is left out."""
    kind = int(next(iter(parameters.numbers("FORCE_PLATFORM", "TYPE").ravel()[k:]), 0))
    if kind not in (1, 2, 3, 4):
        raise ModelError(f"force platforms of type {kind} are not read, only types 1 to 4; give forces= instead")
    wanted = 8 if kind == 3 else 6
    used = parameters.of_plate("CHANNEL", k, 1)[:wanted].astype(int) - 1
    corners = parameters.of_plate("CORNERS", k, 2).T * length
    if corners.shape != (4, 3) or len(used) < wanted:
        raise ModelError("FORCE_PLATFORM:CHANNEL or CORNERS do not hold it")
    if used.min() < 0 or used.max() >= len(analogs):
        raise ModelError("it names analog channels that are not there")
    area = np.linalg.norm(np.cross(corners[0] - corners[1], corners[0] - corners[3]))
    if area < 1e-4 or not np.isfinite(corners).all():
        raise ModelError("its corners span no area, so it is nowhere in the laboratory")
    channel = analogs[used]
    told = dict(enumerate(parameters.texts("ANALOG", "UNITS")))
    units = [re.sub(r"[^a-z]", "", told.get(c, "").lower()) for c in used]
    if kind == 4:
        # Calibrated by a matrix: by the format's definition to N, and to N times the unit of the positions.
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
        notes.append(f"plate{k + 1}: channels without a unit are taken as N, and as N times the unit of the positions")
    axes = plate_axes(corners)
    centre = np.broadcast_to(corners.mean(axis=0), force.shape)
    return Wrench(f"plate{k + 1}", t, force @ axes.T, centre, moment @ axes.T, corners)


def _factors(kind: int, units: Sequence[str], length: float) -> Floats:
    """N, m and N m for one unit of each channel."""
    factors = []
    for k, unit in enumerate(units):
        force, point = k < 3 or kind == 3, kind == 1 and k in (3, 4)  # type 1 holds the point itself
        known = FORCES if force else LENGTHS if point else MOMENTS
        if unit and unit not in known:
            what = f"of its forces is '{unit}', not N" if force else f"of its moments or points is '{unit}'"
            raise ModelError(f"the unit {what}")
        factors.append(known.get(unit, 1.0 if force else length))
    return np.array(factors)


def _at_surface(kind: int, channel: Floats, origin: Floats) -> tuple[Floats, Floats]:
    """Force and moment (m, 3) about the middle of a plate's surface, in the plate's axes; SI units.

    ``origin`` is where the middle of the surface is, from the point that the moments are about, in the plate's axes; z
    points into the floor there.  For type 3 it holds the distances of the sensors and the depth of their plane.
    """
    # The depth of the sensors is negative by the format's definition, and often stored the other way.
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
