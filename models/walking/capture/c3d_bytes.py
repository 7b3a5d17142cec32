"""Consistency of a C3D file's header, parameters and size, checked on its bytes; and what is not stated, completed."""

from __future__ import annotations

import math
import re
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from runtime import ModelError
from runtime.support import read_file, write_bytes

LARGEST = 2**31  # [bytes]

BLOCK = 512  # bytes
TYPES = {1: "b", 2: "H", 4: "f"}  # of numbers by their bytes


class Record(NamedTuple):
    """A parameter, or a group (a negative number), as stored; ``first``: its first number, ``values``: how many it has."""

    number: int
    name: str
    body: bytes
    first: float = 0.0
    values: int = 0


@contextmanager
def readable(path: Path, notes: list[str]) -> Iterator[tuple[Path, int, int]]:
    """The file, or a copy of it with what it does not state; the number of the first frame, from 1; frames by its size.

    The bytes are checked here because the library that reads the file ends the process if they are inconsistent.  Assumptions
    are appended to ``notes``.

    Raises
    ------
    ModelError
        For a file that is not C3D, is damaged or is cut short, with the rule, the value and the remedy.
    """
    data = read_file(path, LARGEST)
    size = len(data)
    if size < BLOCK or data[1] != 0x50:
        raise ModelError(f"{path.name}: not a C3D file ({size} bytes; the second is not 0x50); export it again")
    section = BLOCK * (data[0] - 1)
    if section < BLOCK or section + 4 > size:
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
    # A negative scale marks numbers stored as reals of 4 bytes; the byte of its sign depends on the processor.
    width = 4 if data[{85: 13, 86: 12}.get(processor, 15)] & 0x80 else 2
    try:
        records = _records(data, section + 4, order, processor)
    except (struct.error, IndexError, ValueError) as error:
        raise ModelError(
            f"{path.name}: damaged: its parameters are inconsistent ({error}); copy or export it again"
        ) from None
    frames = last - first + 1
    unknown = last == 65535  # the header cannot count beyond
    if frames < 1 and not unknown:
        raise ModelError(f"{path.name}: zero frames ({first} to {last}); there is nothing to read")

    def needed(markers: int, values: int) -> int:
        return int(BLOCK * (start - 1) + frames * (4 * markers + values) * width)

    markers, channels = (int(_value(records, group, "USED") or 0) for group in ("POINT", "ANALOG"))
    rate = _value(records, "POINT", "RATE") or _real(data[20:24], processor)
    added: dict[str, tuple[str, list[float]]] = {}
    if not channels and analog and samples and analog % samples == 0 and not unknown and size >= needed(points, analog):
        channels = analog // samples
        added["USED"] = "H", [channels]
    each = samples or round((_value(records, "ANALOG", "RATE") or 0.0) / rate if rate > 0.0 else 0.0)
    counted, header = (markers, channels * each), (points, analog)
    differ = counted != header and not (markers == points and not channels and not analog)
    # The size of the file decides: blocks of 512 bytes.
    if differ and (
        not markers or unknown or not 0 <= size - needed(*counted) < BLOCK or size - needed(*header) in range(BLOCK)
    ):
        raise ModelError(
            f"{path.name}: damaged: its header counts {points} markers and {analog} analog values per frame, its parameters "
            f"{markers} and {channels * each}; copy or export it again"
        )
    if differ:
        notes.append(
            f"{path.name}: its header counts {points} markers and {analog} analog values per frame, its parameters {markers} and "
            f"{channels * each}, which the size of the file confirms"
        )
        data = data[:2] + struct.pack(order + "2H", *counted) + data[6:18] + struct.pack(order + "H", each) + data[20:]
    if not unknown and (start < 2 or size < needed(*counted)):
        raise ModelError(
            f"{path.name}: {size} bytes where {frames} frames need {needed(*counted)}; the file is cut short: copy or export it "
            "again"
        )
    added |= _missing(path, records, channels, each, rate)
    stride = width * (4 * counted[0] + counted[1])
    held = (
        (size - BLOCK * (start - 1) - BLOCK) // stride + 1 if unknown and stride else frames
    )  # the last block may be part full
    if not added and not differ:
        yield path, int(first), held
        return
    if added:
        stated = ", ".join(f"ANALOG:{name} {numbers[0]:g}" for name, (_, numbers) in added.items())
        notes.append(f"{path.name}: does not state all of its analog channels; read with {stated}")
        data = _with(data, records, added, section, start, order, processor)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        write_bytes(copy, data)
        yield copy, int(first), held


def _missing(
    path: Path, records: list[Record], channels: int, each: int, rate: float
) -> dict[str, tuple[str, list[float]]]:
    """Parameters of the analog channels that are not stated: by name their type and values, as other programs take them."""
    missing: dict[str, tuple[str, list[float]]] = {}
    if not channels:
        return missing
    for name, kind, values in (
        ("SCALE", "f", [1.0] * channels),
        ("OFFSET", "H", [0.0] * channels),
        ("GEN_SCALE", "f", [1.0]),
    ):
        have = sum(one.values for one in _named(records, "ANALOG", rf"{name}\d*"))
        if 0 < have < len(values) or not have and channels > 255:
            raise ModelError(
                f"{path.name}: damaged: ANALOG:{name} has {have} numbers for {channels} channels; export it again"
            )
        if not have:
            missing[name] = kind, values
    stated = _value(records, "ANALOG", "RATE") or 0.0
    if rate > 0.0 and round(stated / rate) != each:
        missing["RATE"] = "f", [each * rate]
    return missing


def _with(
    data: bytes,
    records: list[Record],
    added: dict[str, tuple[str, list[float]]],
    section: int,
    start: int,
    order: str,
    processor: int,
) -> bytes:
    """The file with other parameters of the group ANALOG."""
    numbers = {one.name: -one.number for one in records if one.number < 0}
    group = numbers.get("ANALOG", min(set(range(1, 128)) - set(numbers.values())))
    kept = [one for one in records if not (one.number == group and one.name in added)]
    if "ANALOG" not in numbers:
        kept.append(Record(-group, "ANALOG", b"\0"))
    for name, (kind, values) in added.items():
        stored = b"".join(_bytes(value, kind, order, processor) for value in values)
        dimensions = bytes([0] if len(values) == 1 else [1, len(values)])
        kept.append(Record(group, name, bytes([4 if kind == "f" else 2]) + dimensions + stored + b"\0"))
    text = b"".join(
        struct.pack("2b", len(one.name), one.number) + one.name.encode("latin-1")
        + struct.pack(order + "h", 2 + len(one.body)) + one.body for one in kept
    )  # fmt: skip
    blocks = -(-(len(text) + 6) // BLOCK)
    head = data[section : section + 2] + bytes([min(blocks, 255), processor])
    begin = section // BLOCK + blocks + 1
    text = (head + text).ljust(BLOCK * blocks, b"\0")
    return data[:16] + struct.pack(order + "H", begin) + data[18:section] + text + data[BLOCK * (start - 1) :]


def _named(records: list[Record], group: str, pattern: str) -> list[Record]:
    numbers = {-one.number for one in records if one.number < 0 and one.name == group}
    return [one for one in records if one.number in numbers and re.fullmatch(pattern, one.name)]


def _value(records: list[Record], group: str, name: str) -> float | None:
    """First number of a parameter; None without one."""
    return next((one.first for one in _named(records, group, name) if one.values), None)


def _real(data: bytes, processor: int) -> float:
    """A real of 4 bytes; those of DEC have their words exchanged, and 4 times the value."""
    if processor == 85:
        return float(struct.unpack("<f", data[2:4] + data[0:2])[0]) / 4.0
    return float(struct.unpack(">f" if processor == 86 else "<f", data)[0])


def _bytes(value: float, kind: str, order: str, processor: int) -> bytes:
    """A number as the processor of a file stores it."""
    if kind == "f" and processor == 85:
        stored = struct.pack("<f", 4.0 * value)
        return stored[2:] + stored[:2]
    return struct.pack(order + kind, value if kind == "f" else int(value))


def _records(data: bytes, at: int, order: str, processor: int) -> list[Record]:
    """All groups and parameters."""
    found: list[Record] = []
    while True:
        length, number = struct.unpack_from("2b", data, at)
        if length == 0:
            break
        at += 2 + abs(length)
        name = (
            data[at - abs(length) : at].upper().decode("latin-1")
        )  # letters of ASCII only, so that it keeps its bytes
        (step,) = struct.unpack_from(order + "h", data, at)
        following, body = at + step, at + 2
        first, count = 0.0, 0
        if number < 0:
            end = body + 1 + data[body]
        else:
            kind, dimensions = struct.unpack_from("bB", data, body)
            values = body + 2 + dimensions
            count = math.prod(data[body + 2 : values])
            end = values + count * abs(kind)
            if kind not in (-1, 1, 2, 4) or dimensions > 7:
                raise ValueError(f"{name} is of type {kind} with {dimensions} dimensions")
            if count and kind == 4:
                first = _real(data[values : values + 4], processor)
            elif count and kind > 0:
                first = float(struct.unpack_from(order + TYPES[kind], data, values)[0])
            end += 1 + data[end]
        if end > len(data) or (step != 0 and following < end):
            raise ValueError(f"{name} overlaps the entry after it")
        found.append(Record(number, name, data[body:end], first, count))
        if step == 0:
            break
        at = following
    groups = {-one.number for one in found if one.number < 0}
    if lost := [one.name for one in found if one.number >= 0 and one.number not in groups]:
        raise ValueError(f"{lost[0]} belongs to no group")
    return found
