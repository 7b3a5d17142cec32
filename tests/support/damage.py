"""Damage to files, from a generator of random numbers: bytes, lines, fields, and the records of C3D files."""

import re
import struct

SIZES = (0, 1, 2, 3, 4, 7, 8, 63, 64, 127, 128, 200, 254, 255)
WORDS = (
    "", " ", "nan", "inf", "-inf", "1e27", "-9999", "1e400", "-0", "abc", "1e-320", "0x10", "1_000", "é", "\0", "9" * 400, "True",
    '"', "#", "endheader", "null", "[]", "{}", "1e5", "-1", "0",
)  # fmt: skip


def bytes_of(data, random):
    """Some bytes changed, cut off, doubled, removed or filled."""
    data = bytearray(data)
    kind = random.integers(6)
    if kind == 0:
        return bytes(data[: random.integers(len(data) + 1)])
    at, length = int(random.integers(len(data))), int(2 ** random.uniform(0, 10))
    if kind == 1:
        del data[at : at + length]
    elif kind == 2:
        data[at:at] = data[at : at + length]
    elif kind == 3:
        data[at : at + length] = bytes([int(random.integers(256))]) * len(data[at : at + length])
    else:
        last = len(data) if kind == 4 else min(len(data), 2048)
        for at in random.integers(0, last, size=int(random.choice([1, 3, 20]))):
            data[at] = random.integers(256)
    return bytes(data)


def text_of(text, separator, random):
    """Some lines or fields changed, exchanged, doubled, removed or cut; now and then the bytes."""
    if random.random() < 0.15:
        return bytes_of(text.encode(), random)
    lines = text.split("\n")
    for _ in range(int(random.choice([1, 1, 2, 5]))):
        # Headers are where most rules are.
        last = len(lines) if random.random() < 0.5 else min(len(lines), 8)
        row, other = (int(k) for k in random.integers(0, last, size=2))
        kind = random.integers(7)
        if kind == 0:
            del lines[row]
            lines = lines or [""]
        elif kind == 1:
            lines.insert(other, lines[row])
        elif kind == 2:
            lines[row], lines[other] = lines[other], lines[row]
        elif kind == 3:
            lines[row] = lines[row][: random.integers(len(lines[row]) + 1)]
        else:
            fields = lines[row].split(separator)
            at, to = (int(k) for k in random.integers(0, len(fields), size=2))
            if kind == 4:
                fields[at] = str(random.choice(WORDS))
            elif kind == 5:
                fields[at], fields[to] = fields[to], fields[at]
            elif random.random() < 0.5:
                del fields[at]
            else:
                fields.insert(at, fields[to])
            lines[row] = separator.join(fields)
    return "\n".join(lines).encode()


def c3d_of(data, random):
    """Some entries of the header or of the parameters' records changed: numbers, types, dimensions, lengths, names."""
    if random.random() < 0.2:
        return bytes_of(data, random)
    data = bytearray(data)
    places = [*((at, "H") for at in (0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20)), (12, "f"), (20, "f")]
    records = list(c3d_records(data))
    for _ in range(int(random.choice([1, 1, 1, 2, 4]))):
        if random.random() < 0.15:
            at, kind = places[random.integers(len(places))]
        else:
            record = records[random.integers(len(records))]
            at, kind = record[random.integers(len(record))]
        if kind == "f":
            value = struct.pack("<f", random.choice([0.0, -1.0, 1e27, float("nan"), float("inf"), 3.0, 1e-30]))
        elif kind == "H":
            value = struct.pack(
                "<H", int(random.choice([0, 1, 2, 3, 255, 256, 32767, 32768, 65535, random.integers(65536)]))
            )
        else:
            value = bytes([int(random.choice([*SIZES, random.integers(256)]))])
        data[at : at + len(value)] = value
    return bytes(data)


def c3d_records(data):
    """Places of the entries of each parameter's record: length, group, name, offset, type, dimensions, first values."""
    at = 512 * (data[0] - 1) + 4
    while True:
        length, number = struct.unpack_from("2b", data, at)
        if not length:
            return
        name = at + 2
        offset = name + abs(length)
        entries = [(at, "B"), (at + 1, "B"), (name, "B"), (offset, "H")]
        (step,) = struct.unpack_from("<h", data, offset)
        if number > 0:
            kind, dimensions = struct.unpack_from("bB", data, offset + 2)
            values = offset + 4 + dimensions
            entries += [(offset + 2, "B"), (offset + 3, "B"), *((offset + 4 + k, "B") for k in range(dimensions))]
            entries += [(offset + 4 + k, "B") for k in range(dimensions)]  # most of what a reader trusts
            entries += [(values, {2: "H", 4: "f"}.get(kind, "B"))]
        yield entries
        if not step:
            return
        at = offset + step


NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])")
NUMBERS = (
    "nan", "-inf", "1e308", "-1", "0", "1e-320", "9" * 400, "1,5", "0x10", "1_0", "", "\u0661", "1e60", "1e18",
    "3.141592653589793",
)  # fmt: skip
ENCODINGS = ("utf-16", "utf-16-le", "utf-8-sig", "utf-32", "latin-1", "cp037")
STATED = ("UTF-16", "latin-1", "nonsense", "shift_jis", "cp1252", "utf-7", "x" * 5000)
LEVELS = (3, 70, 600, 20_000)  # of elements or lists in each other
TIMES = (2, 3, 50)


def odd_of(text, separator, random):
    """The bytes of a file as ``text_of`` damages it, or with an odd number, reference, nesting, repetition or encoding."""
    kind = random.integers(8)
    if kind < 3:
        return text_of(text, separator, random)
    lines = text.split("\n")
    row, other = (int(k) for k in random.integers(0, len(lines), size=2))
    if kind == 3:  # numbers
        places = list(NUMBER.finditer(text))
        for place in sorted(random.choice(len(places), min(len(places), int(random.choice([1, 1, 3]))), replace=False))[
            ::-1
        ]:
            text = text[: places[place].start()] + str(random.choice(NUMBERS)) + text[places[place].end() :]
        return text.encode()
    if kind == 4:  # names, and what refers to them
        places = list(re.finditer(r'"[^"\n]*"', text)) or list(re.finditer(r"\S+", text))
        to, by = (places[int(k)] for k in random.integers(0, len(places), size=2))
        return (text[: to.start()] + by[0] + text[to.end() :]).encode()
    if kind == 5:  # lists or elements in each other
        levels = int(random.choice(LEVELS))
        begin, end = ("[", "]") if text.lstrip().startswith("{") else ("<frame>", "</frame>")
        lines[row] = begin * levels + lines[row] + end * levels
    elif kind == 6:
        lines[other:other] = lines[row : row + int(random.integers(1, 4))] * int(random.choice(TIMES))
    else:
        if random.random() < 0.5:
            stated = f'<?xml version="1.0" encoding="{random.choice(STATED)}"?>\n'
            return (stated + text.partition("?>\n")[2] if text.startswith("<?") else stated + text).encode()
        if random.random() < 0.3:
            text = f'<!DOCTYPE a [<!ENTITY b "{"c" * 99}">]>\n' + text
        return text.encode(str(random.choice(ENCODINGS)), "replace")
    return "\n".join(lines).encode()
