"""Events, subject, date and feet from ``X_meta.json`` beside the markers of a trial."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from models.walking.capture.contents import Contents, first_line, gait_event, side_of
from models.walking.capture.trial import GaitEvent, Side, Subject
from runtime import ModelError
from runtime.support import read_file

ENTRIES = ("events", "plates", "subject", "mass_kg", "height_m", "sex", "age", "date")
LISTED = 5  # names in a note


def add_metadata(contents: Contents) -> None:
    """Add events, subject, date and feet where the file of markers has none; what is not read of the metadata gets a note.

    Raises
    ------
    ModelError
        For a file that cannot be read, with the reason.
    """
    path, notes = contents.path, contents.notes
    meta = path.with_name(path.stem.removesuffix("_markers") + "_meta.json")
    if not meta.is_file():
        return
    ignored: list[str] = []
    try:
        stored = json.loads(read_file(meta))
        unknown = [str(name) for name in stored if name not in ENTRIES]
        events = _events(stored, meta.name, ignored)
        feet = _feet(stored, contents, meta.name, ignored)
        subject, date = _subject(stored), str(stored.get("date") or "")
    except (ValueError, TypeError, KeyError, AttributeError, OSError, OverflowError, RecursionError) as error:
        raise ModelError(
            f"{meta.name}: cannot be read ({first_line(error)}); it must be JSON with events of time, label and side, mass_kg, "
            "height_m and plates with a foot each; correct it or move it away"
        ) from None
    if unknown:
        more = f" and {len(unknown) - LISTED} others" if len(unknown) > LISTED else ""
        ignored.append(f"{meta.name}: entries that are not read: {', '.join(unknown[:LISTED])}{more}")
    added = []
    if not contents.events and events:
        contents.events = events
        added.append("events")
    if contents.subject == Subject():
        contents.subject = subject
        added.append("subject")
    if date:
        contents.date = date
        added.append("the date")
    if any(feet.get(wrench.plate) for wrench in contents.wrenches):
        contents.wrenches = [wrench._replace(foot=feet.get(wrench.plate)) for wrench in contents.wrenches]
        added.append("the feet on the plates")
    if added:
        notes.append(f"{', '.join(added)} are read from {meta.name} beside {path.name}")
    notes += ignored


def _events(stored: Mapping[str, Any], name: str, ignored: list[str]) -> list[GaitEvent]:
    given = [
        (_finite(e["time"], "time of an event"), str(e["label"]), str(e.get("side") or ""))
        for e in stored.get("events", [])
    ]
    events = [event for e in given if (event := gait_event(*e)) is not None]
    if len(events) < len(given):
        ignored.append(
            f"{name}: events that are neither foot strikes nor foot offs are left out: {len(given) - len(events)}"
        )
    return events


def _feet(stored: Mapping[str, Any], contents: Contents, name: str, ignored: list[str]) -> dict[str, Side | None]:
    plates = {str(plate): str(value.get("foot") or "") for plate, value in stored.get("plates", {}).items()}
    feet = {plate: side_of(foot) for plate, foot in plates.items()}
    ignored += [f"{name}: the foot {foot!r} of {plate} is neither left nor right, and is not read"
                for plate, foot in plates.items() if foot and feet[plate] is None]  # fmt: skip
    measured = [wrench.plate for wrench in contents.wrenches]
    if lost := [plate for plate in plates if measured and plate not in measured]:
        ignored.append(
            f"{name}: {', '.join(lost[:LISTED])} is no force plate of the trial, which has {', '.join(measured)}"
        )
    return feet


def _subject(stored: Mapping[str, Any]) -> Subject:
    def text(key: str) -> str | None:
        return None if stored.get(key) is None else str(stored[key])

    def number(key: str) -> float | None:
        return None if stored.get(key) is None else _finite(stored[key], key)

    return Subject(
        name=text("subject"), mass=number("mass_kg"), height=number("height_m"), sex=text("sex"), age=number("age")
    )


def _finite(value: Any, what: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{what} is {number}")
    return number
