"""Consistency of a C3D file's header, parameters and size, checked on its bytes."""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path

from runtime import ModelError
from runtime.support.files import read_file

LARGEST = 2**31  # [bytes]


def check_bytes(path: Path) -> int:
    """Refuse a file that is not C3D, is damaged or is cut short; returns the number of the first frame, from 1.

    The bytes are checked here because the library that reads the file ends the process if they are inconsistent.

    Raises
    ------
    ModelError
        With the file, the rule, the value and the remedy.
    """
    data = read_file(path, LARGEST)
    size = len(data)
    if size < 512 or data[1] != 0x50:
        raise ModelError(f"{path.name}: not a C3D file ({size} bytes; the second is not 0x50); export it again")
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
    # A negative scale marks numbers stored as reals of 4 bytes; the byte of its sign depends on the processor.
    width = 4 if data[{85: 13, 86: 12}.get(processor, 15)] & 0x80 else 2
    try:
        stated = _counts(data, section + 4, order)
    except (struct.error, IndexError, ValueError) as error:
        raise ModelError(
            f"{path.name}: damaged: its parameters are inconsistent ({error}); copy or export it again"
        ) from None
    markers, channels = (stated.get(f"{group}:USED", (0, 0))[0] for group in ("POINT", "ANALOG"))
    if "POINT:USED" not in stated or markers != points or channels * samples != analog and (channels or analog):
        raise ModelError(
            f"{path.name}: damaged: its header counts {points} markers and {analog} analog values per frame, its parameters "
            f"{markers} and {channels * samples}; copy or export it again"
        )
    for name, fewest in (("SCALE", channels), ("OFFSET", channels), ("GEN_SCALE", 1)):
        have = sum(count for key, (_, count) in stated.items() if re.fullmatch(rf"ANALOG:{name}\d*", key))
        if channels and have < fewest:
            raise ModelError(
                f"{path.name}: damaged: ANALOG:{name} has {have} numbers for {channels} channels; export it again"
            )
    frames = last - first + 1
    if last < 65535:  # the header cannot count beyond
        if frames < 1:
            raise ModelError(f"{path.name}: zero frames ({first} to {last}); there is nothing to read")
        needed = 512 * (start - 1) + frames * (4 * points + analog) * width
        if start < 2 or size < needed:
            raise ModelError(
                f"{path.name}: {size} bytes where {frames} frames need {needed}; the file is cut short: copy or export it again"
            )
    return int(first)


def _counts(data: bytes, at: int, order: str) -> dict[str, tuple[int, int]]:
    """First value (of 2-byte integers) and number of values of each parameter, by GROUP:NAME."""
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
            raise ValueError(f"{name} overlaps the entry after it")
        if step == 0:
            break
        at = following
    for number, name, *_ in found:
        if number not in groups:
            raise ValueError(f"{name} belongs to no group")
    return {f"{groups[number]}:{name}": (first, count) for number, name, first, count in found}
