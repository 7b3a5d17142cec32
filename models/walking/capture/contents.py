"""Contents of a file before conversion, and the conventions that readers share: units, labels and events.

A reader returns the ``Contents`` of a file in the file's own axes; ``conventions.to_capture`` converts them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from models.walking.capture.trial import SIDES, Analog, GaitEvent, Side, Subject
from runtime import ModelError
from runtime.support.arrays import Floats

AXES = "xyz"
UNITS = ("mm", "cm", "m")
# Units as files spell them, letters only: in SI.
LENGTHS = {"mm": 1e-3, "cm": 1e-2, "dm": 1e-1, "m": 1.0} | dict.fromkeys(("in", "inch", "inches"), 0.0254)
LENGTHS |= dict.fromkeys(("ft", "foot", "feet"), 0.3048) | {
    f"{prefix}{word}": factor
    for prefix, factor in (("", 1.0), ("milli", 1e-3), ("centi", 1e-2))
    for word in ("meter", "meters", "metre", "metres")
}
FORCES = dict.fromkeys(("n", "nt", "nts", "newton", "newtons"), 1.0) | {
    "kn": 1e3,
    "kilonewton": 1e3,
    "kilonewtons": 1e3,
}
FORCES |= dict.fromkeys(("lb", "lbs", "lbf"), 4.4482216152605) | {"kgf": 9.80665}
MOMENTS = {force + length: FORCES[force] * LENGTHS[length] for force in FORCES for length in LENGTHS}

STRIKE = re.compile(r"(?i)(foot|heel|toe)?[\s_-]*(strike|contact|down)|initial[\s_-]*contact")
OFF = re.compile(r"(?i)(foot|toe|heel)[\s_-]*off")
# Short labels, with the side before or behind them: RHS, TO_L, right_fo, LON and LOFF of force plates.
SHORT = re.compile(r"(?:(hs|fs|ic|fc|hc)|(to|fo))")
SIDED = re.compile(r"(left|right|[lr])?(.*?)(left|right|[lr])?")
ON_PLATE = {"on": "hs", "off": "to"}  # only with a side
UNNAMED = re.compile(
    r"(?i)\s*(\*\s*\d*|[a-z]?\s*\d+|M\d{3,}|u?[\s_-]*(un)?named?[\s_*-]*\d*|u(n(known|labell?ed)?)?[\s_*-]*\d*|traj\w*[\s_*-]*\d+|)\s*"
)
# Labels that consist of a letter and a number but name something, such as vertebrae.
ANATOMICAL = re.compile(r"(?i)[CTLS]\d{1,2}")


class Wrench(NamedTuple):
    """Force and moment of one plate as stored in a file: the file's axes, SI units."""

    plate: str
    t: Floats  # (m,) [s]
    force: Floats  # (m, 3) [N]
    point: Floats  # (m, 3) [m] point of application
    moment: Floats  # (m, 3) [N m] about that point
    corners: Floats | None = None  # (4, 3) [m]
    foot: Side | None = None


@dataclass
class Contents:
    """Contents of a file, in the file's axes, SI units."""

    path: Path
    t: Floats  # (n,) [s]
    labels: list[str]
    points: Floats  # (n, labels, 3) [m]
    units: str  # a phrase for Capture.axes
    metres: float  # per unit of position in the file
    wrenches: list[Wrench] = field(default_factory=list)
    events: list[GaitEvent] = field(default_factory=list)
    subject: Subject = field(default_factory=Subject)
    up: tuple[str, str] | None = None  # the vertical as stated by the file, and where it is stated
    screen: tuple[str, str] | None = None  # the axis that points up on a display, and where it is stated
    notes: list[str] = field(default_factory=list)
    analog: Analog | None = None
    date: str = ""


def gait_event(time: float, label: str, context: str) -> GaitEvent | None:
    """Event of a label such as "Foot Strike1" and a context such as "Right"; None if it is neither a strike nor an off.

    The side is that of the context, else that of the label, else "unknown".
    """
    strike, off = bool(STRIKE.search(label)), bool(OFF.search(label))
    side = side_of(context) or side_of(label)
    letters = re.sub(r"[^a-z]", "", label.lower())
    parts = SIDED.fullmatch(letters)
    before, name, behind = parts.groups() if parts else (None, letters, None)
    own = before or behind
    if short := SHORT.fullmatch(ON_PLATE.get(name, name) if own else name):
        strike, off = bool(short[1]), bool(short[2])
    if own and (short or (STRIKE.match(name) or OFF.match(name))):
        side = side or side_of(own)
    if strike == off:
        return None
    return GaitEvent(time, "foot_strike" if strike else "foot_off", side or "unknown")


def side_of(text: str) -> Side | None:
    """Side named by a text such as "L", "Left" or "Foot Strike left"; None if it names neither."""
    word = text.strip().lower()
    return next(
        (side for side in SIDES if re.search(rf"(^|[\s_-])({side}\b|{side}[\s_-]|{side[0]}([\s_-]|$))", word)), None
    )


def printable(text: str) -> str:
    """A text of a file without characters that would break a line, colour a terminal or cannot be written in UTF-8."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def first_line(error: BaseException) -> str:
    """First line of an error's message, at most 120 characters; its class if it has no message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]


def why_no_plates(notes: Sequence[str]) -> str:
    """Those notes of a trial that say why a force plate is left out; empty if there are none."""
    return "; ".join(note for note in notes if re.match(r"plate\d+ is left out|FORCE_PLATFORM:USED", note))


def plain_unit(text: str) -> str:
    """A unit as the tables of this module spell it: "N*mm" and "[N mm]" are "nmm"."""
    return re.sub(r"[^a-z]", "", text.lower())


def unit_of_length(
    path: Path, stated: str | None, where: str, units: str | None, notes: list[str]
) -> tuple[float, str]:
    """Metres per unit of position, and a phrase for ``Capture.axes``; ``units`` overrules what is stated at ``where``."""
    plain = plain_unit(stated or "")
    if units is not None:
        if plain and LENGTHS.get(plain) != LENGTHS[units]:
            notes.append(
                f"{path.name}: positions are read in {units}, as given by units=, although {where} says '{plain}'"
            )
        return LENGTHS[units], f"{units} as given"
    if plain not in LENGTHS:
        says = f"{where} says '{plain}'" if plain else f"{where} does not state it"
        raise ModelError(f"{path.name}: the unit of the positions is not known: {says}; give units='mm', 'cm' or 'm'")
    return LENGTHS[plain], plain if plain == "m" else f"{plain} converted to m"


def named_markers(path: Path, labels: Sequence[str], notes: list[str]) -> tuple[list[str], list[int]]:
    """Labels that name something, and their indices; a subject's name in front of all of them is removed."""
    labels = [printable(label) for label in labels]
    kept = [k for k, label in enumerate(labels) if ANATOMICAL.fullmatch(label) or not UNNAMED.fullmatch(label)]
    left_out = len(labels) - len(kept)
    if not kept:
        some = ", ".join(repr(label) for label in labels[:3])
        raise ModelError(
            f"{path.name}: none of its {len(labels)} markers has a name ({some}, ...); label them in the capture software"
        )
    if left_out:
        notes.append(f"{left_out} markers without a name are left out")
    named = [labels[k] for k in kept]
    prefixes = {label.split(":", 1)[0] for label in named if ":" in label}
    if len(prefixes) == 1 and all(":" in label for label in named):
        notes.append(f"'{prefixes.pop()}:' in front of every label is left out")
        named = [label.split(":", 1)[1] for label in named]
    return named, kept
