"""C3D files: markers, events and the subject; with force plates, parameters and the check of the bytes in ``c3d_*``."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from models.walking.capture import c3d_process
from models.walking.capture.c3d_bytes import readable
from models.walking.capture.c3d_parameters import Parameters
from models.walking.capture.c3d_plates import plate_wrenches
from models.walking.capture.contents import (
    LENGTHS,
    Contents,
    Wrench,
    first_line,
    gait_event,
    named_markers,
    printable,
    side_of,
    unit_of_length,
    why_no_plates,
)
from models.walking.capture.trial import Analog, GaitEvent, Subject
from models.walking.capture.vertical import ROTATIONS
from runtime import ModelError
from runtime.support.arrays import Floats

COMPUTED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")  # groups of labels that are no markers


def read_c3d(path: Path, units: str | None) -> Contents:
    """Read markers, events, subject and force plates; ``units`` overrules POINT:UNITS."""
    notes: list[str] = []
    with readable(path, notes) as (given, first_frame, held):
        file = c3d_process.read(given)
    try:
        parameters = Parameters(file["parameters"])
        points, analogs = file["points"][:3].transpose(2, 1, 0), file["analogs"][0]
        rate = float(parameters.number("POINT", "RATE") or file["rate"])
    except (ValueError, IndexError) as error:
        raise ModelError(f"{path.name}: cannot be read as C3D ({first_line(error)}); export it again") from None
    n = len(points)
    if held > n:
        notes.append(
            f"{path.name}: its size holds at least {held} frames, of which {n} are read, as the header counts no more; "
            "cut it into parts"
        )
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
    if len(labels) < points.shape[1]:
        notes.append(
            f"{points.shape[1] - len(labels)} of {points.shape[1]} points have no label (POINT:LABELS) and are left out"
        )
    labels, columns = named_markers(path, labels, notes) if labels else ([], [])
    computed = {label.strip() for group in COMPUTED for label in parameters.texts("POINT", group)}
    kept = [k for k, label in enumerate(labels) if label not in computed]
    if len(kept) < len(labels):
        notes.append(
            f"{len(labels) - len(kept)} computed quantities (angles, moments, ...) among the points are left out"
        )
    labels, columns = [labels[k] for k in kept], [columns[k] for k in kept]
    contents = Contents(path, np.arange(n) / rate, labels, points[:, columns] * factor, phrase, factor, notes=notes)
    contents.events = _events(path, parameters, n, rate, first_frame, notes)
    contents.subject = _subject(parameters, notes)
    contents.screen = _screen(path, parameters)
    contents.wrenches = list(plate_wrenches(parameters, analogs, first_frame, n, rate, factor, notes))
    contents.analog = _analog(parameters, analogs, n, rate)
    return contents


def read_c3d_forces(path: Path, units: str | None) -> tuple[list[Wrench], list[str]]:
    """Read only the force plates, and the notes on them."""
    contents = read_c3d(path, units)
    if not contents.wrenches:
        raise ModelError(
            f"{path.name}: no force plates that can be used: {why_no_plates(contents.notes) or 'it has none'}"
        )
    return contents.wrenches, contents.notes


def _analog(parameters: Parameters, analogs: Floats, frames: int, rate: float) -> Analog | None:
    """The labelled channels that no force plate uses; of several with one label all but the first get their number too."""
    stated, of_plates = parameters.texts("ANALOG", "UNITS"), parameters.numbers("FORCE_PLATFORM", "CHANNEL") - 1.0
    labels = [printable(label.strip()) for label in parameters.texts("ANALOG", "LABELS")]
    found: dict[str, Floats] = {}
    units: dict[str, str] = {}
    for k, (label, values) in enumerate(zip(labels, analogs, strict=False)):
        if label and not (of_plates == k).any():
            name = f"{label} (channel {k + 1})" if label in found else label
            found[name], units[name] = values, printable(stated[k].strip()) if k < len(stated) else ""
    samples = analogs.shape[1]
    return Analog(np.arange(samples) * frames / (rate * samples), found, units) if found and samples else None


def _screen(path: Path, parameters: Parameters) -> tuple[str, str] | None:
    across, upwards = (parameters.text("POINT", name).lower().lstrip("+") for name in ("X_SCREEN", "Y_SCREEN"))
    # Unless both name an axis, and not the same one, the parameters were never filled in.
    if upwards in ROTATIONS and across in ROTATIONS and across[-1] != upwards[-1]:
        return upwards, f"POINT:Y_SCREEN of {path.name}"
    return None


def _events(
    path: Path, parameters: Parameters, n: int, rate: float, first_frame: int, notes: list[str]
) -> list[GaitEvent]:
    labels, contexts = parameters.texts("EVENT", "LABELS"), parameters.texts("EVENT", "CONTEXTS")
    used = int(parameters.number("EVENT", "USED") or len(labels))
    times = _event_times(parameters.numbers("EVENT", "TIMES"), len(labels[:used]) or used)
    if not times.size or not labels:
        return []
    counts = [("times", times.shape[1]), ("labels", len(labels)), ("contexts", len(contexts) or len(labels))]
    if len({count for _, count in counts}) > 1:
        words = ", ".join(f"{count} {what}" for what, count in counts)
        notes.append(
            f"{path.name} has {words} of events, of which EVENT:USED counts {used}; an event needs a time and a label"
        )
    contexts = [*contexts, *[""] * len(labels)]
    seconds = np.round(60.0 * times[0] + times[1], 6)[:used]  # stored as 4-byte reals
    events = [
        gait_event(float(time), label, side) for time, label, side in zip(seconds, labels, contexts, strict=False)
    ]
    found = [event for event in events if event is not None and math.isfinite(event.time)]
    if len(found) < len(events):
        notes.append(f"events that are neither foot strikes nor foot offs are left out: {len(events) - len(found)}")
    if any(
        event.side != "unknown" and not side_of(side) for event, side in zip(events, contexts, strict=False) if event
    ):
        notes.append(f"{path.name} states no side of some events (EVENT:CONTEXTS): it is that of their labels")
    offset, slack, end = max(first_frame - 1, 0) / rate, 0.5 / rate, (n - 1) / rate

    def inside(shift: float) -> list[GaitEvent]:
        return [replace(e, time=round(e.time - shift, 6)) for e in found if -slack <= e.time - shift <= end + slack]

    # The format counts event times from the start of the recording; some exporters count from the first frame kept.
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


def _event_times(values: Floats, count: int) -> Floats:
    """Minutes and seconds (2, n) of events: stored as (2, n) or, as one dimension, in pairs, in two blocks, or as seconds."""
    if values.ndim == 2 and 2 in values.shape:
        return values if values.shape[0] == 2 else values.T
    flat = values.ravel()
    if flat.size == count:
        return np.stack([np.zeros(count), flat])
    pairs = flat[: flat.size // 2 * 2].reshape(-1, 2).T
    blocks = pairs.T.reshape(2, -1)
    # Minutes are whole numbers; in pairs, as the format has them, unless these are not and those of two blocks are.
    whole = [bool((form[0] == np.round(form[0])).all()) for form in (pairs, blocks)]
    return blocks if whole == [False, True] else pairs


def _subject(parameters: Parameters, notes: list[str]) -> Subject:
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
        notes.append(f"the subject's mass, {mass:g} {unit or '(no unit)'}, is left out: it must be 2 to 400 kg")
        kilograms = 0.0
    height, unit = values.get("height", nothing)
    unit = unit.lower()
    if height > 0.0 and unit not in LENGTHS:
        unit = "m" if height < 3.0 else "cm" if height < 300.0 else "mm"
        notes.append(f"the subject's height, {height:g} without a unit, is read in {unit}")
    metres = height * LENGTHS.get(unit, 0.0)
    if height > 0.0 and not 0.3 <= metres <= 2.6:
        notes.append(f"the subject's height, {height:g} {unit}, is left out: it must be 0.3 to 2.6 m")
        metres = 0.0
    code, meaning = values.get("gender", values.get("sex", nothing))
    # The unit may hold the meaning of codes, such as "0: woman, 1: man".
    meanings = dict(re.findall(r"(\d+)\s*[:=]\s*(\w+)", meaning.lower()))
    sex = {"woman": "female", "female": "female", "man": "male", "male": "male"}.get(meanings.get(f"{code:g}", ""))
    age, _ = values.get("age", nothing)
    return Subject(
        parameters.text("SUBJECTS", "NAMES") or None, _decimal(kilograms), _decimal(metres), sex, _decimal(age)
    )


def _decimal(value: float) -> float | None:
    """Shortest decimal number of a 4-byte real, in which 1.655 is stored as 1.6549999713897705; None unless positive."""
    return float(np.format_float_positional(np.float32(value), unique=True)) if value > 0.0 else None
