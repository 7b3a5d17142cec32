"""Captures with odd headers, events and labels, composed at random: each is read right, or refused with its cause."""

import numpy as np
import pytest

from models.walking.capture import read_capture
from models.walking.gait_events import gait_cycle
from tests.support.capture_files import Y_UP, write_c3d, write_mot, write_trc
from tests.support.marks import over
from tests.support.refusals import assert_refused
from tests.support.walking_person import STRIKES, check_first_stance, person, push

T, MARKERS = person()
AT = [(0.25, "Strike"), (0.93, "Off"), (1.35, "Strike")]


def each(change, first=0, last=None):
    """Change a range of lines."""
    return lambda lines: [*lines[:first], *map(change, lines[first:last]), *(lines[last:] if last else [])]


def line(number, change):
    return each(change, number, number + 1)


# Changes of a TRC file that keep its meaning; those of one row exclude one another.
TRC = [
    [line(2, lambda x: x.replace("\t", "\t\t")), line(2, lambda x: x.replace("\t", " ")), line(2, lambda x: x + "\t\t"),
     line(2, lambda x: "\t\t\t\tmm"), line(2, lambda x: x.replace("\t300\t", "\t299\t", 1)), line(2, lambda x: " " + x),
     line(2, lambda x: x.replace("\t300\t", "\t4000\t", 1)), line(1, str.lower), line(1, lambda x: x.replace("\t", " "))],
    [line(3, lambda x: x.replace("\t\t\t", "\t")), line(3, lambda x: x.replace("Time\t", "Time\t\t\t")),
     line(3, lambda x: x.replace("\t\t\t", "\t\t")), line(3, str.rstrip), line(3, lambda x: x.replace("\tR", "\tAnn:R"))],
    [line(4, lambda x: ""), line(4, str.strip), line(4, lambda x: x + "\t"), line(4, str.lower)],
    [lambda x: [*x[:5], *x[6:]], lambda x: [*x[:6], "", " ", *x[6:]], lambda x: [*x, "", "", "\t"]],
    [each(lambda x: x + "\t\t", 6), each(lambda x: "  " + x, 6), each(lambda x: x.replace("\t", " \t "), 6),
     each(lambda x: x.replace("\t", "    "), 6), each(lambda x: x.replace("\t", "\t\t"), 6)],
]  # fmt: skip
# Changes of a MOT file that keep its meaning.
MOT = [
    [line(2, lambda x: "nRows=7"), line(3, lambda x: "nColumns=99"), line(1, lambda x: "version=3"), line(4, lambda x: ""),
     line(3, lambda x: "OpenSimVersion=4.5-2023\nDataType=double"), line(2, lambda x: "datarows 1500\ndatacolumns 10")],
    [line(5, lambda x: "  endheader\t"), line(5, lambda x: "EndHeader"), line(5, lambda x: "endheader\n\n")],
    [each(lambda x: x.replace("\t", "   "), 6), each(lambda x: x + "\t", 6), each(lambda x: " " + x.replace("\t", " \t"), 6),
     each(lambda x: x.replace("\t", "\t\t"), 6)],
]  # fmt: skip
ENCODED = [
    lambda text: text.encode(), lambda text: text.replace("\n", "\r\n").encode(), lambda text: text.encode("utf-8-sig"),
    lambda text: text.encode("utf-16"), lambda text: text.replace("\n", "\r").encode(),
    lambda text: text.replace("walk", "gehen \xfcber", 1).encode("latin-1"), lambda text: (text + "\n\n").encode(),
]  # fmt: skip
WRONG_TRC = [
    (each(lambda x: x.replace(".", ","), 8, 9), "decimal comma"),
    (line(3, lambda x: x.replace("Frame#\t", "")), "first columns of a TRC file are Frame# and Time"),
    (line(4, lambda x: x.replace("Y2\tZ2", "Z2\tY2")), "X, Y, Z of each of 10 markers in this order"),
    (line(8, lambda x: x.rsplit("\t", 1)[0]), "has 31 values where the header names 32 columns"),
    (line(8, lambda x: x.replace("\t0.0", "\t0.o", 1)), "which is not a number"),
    (lambda x: [*x[:8], x[7], *x[8:]], "times must increase"),
    (line(2, lambda x: x.replace("mm", "furlong")), "its field Units says 'furlong'"),
]
WRONG_MOT = [
    (each(lambda x: x.replace("0.", "0,"), 9, 10), "decimal comma"),
    (line(5, lambda x: ""), "no line 'endheader'"),
    (line(9, lambda x: x.rsplit("\t", 1)[0]), "line 10: 9 values for 10 columns"),
    (lambda x: [*x[:12], x[11], *x[12:]], "times must increase"),
    (line(6, lambda x: x.replace("time", "seconds")), "the first column is 'seconds'; it must be time"),
    (line(6, lambda x: x.replace("_vx", "_vy", 1)), "exists twice"),
    (line(9, lambda x: "\t".join([x.split("\t")[0], "1,2,3", *x.split("\t")[2:]])), "3 numbers in one cell"),
]


def composed(rng, text, kinds, wrong=None):
    """A text with some of the changes, and one that makes it wrong, in an encoding."""
    lines = text.splitlines()
    if wrong is not None:
        lines = wrong(lines)
    for kind in kinds[::-1]:  # those of later lines first, since some add lines
        if rng.random() < 0.6:
            lines = kind[rng.integers(len(kind))](lines)
    return ENCODED[rng.integers(len(ENCODED))]("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    trc = write_trc(folder / "walk.trc", MARKERS, T, turn=Y_UP)
    return trc.read_text(), write_mot(folder / "f.mot", {"1": push("R", STRIKES["R"])}).read_text()


@over("seed", range(110))
def test_odd_text_files_are_read_as_they_are_meant(tmp_path, texts, seed):
    rng = np.random.default_rng(seed)
    trc, mot = tmp_path / "walk.trc", tmp_path / ("f.mot", "f.sto")[seed % 2]
    trc.write_bytes(composed(rng, texts[0], TRC))
    mot.write_bytes(composed(rng, texts[1], MOT))
    found = read_capture(trc, forces=mot)
    assert [label.rpartition(":")[2] for label in found.markers] == list(MARKERS) and np.allclose(found.t, T)
    for label, positions in found.markers.items():
        assert np.allclose(positions, MARKERS[label.rpartition(":")[2]], atol=1e-8)
    check_first_stance(found.forces[0])


@over("seed", range(60))
def test_odd_text_files_that_are_wrong_are_refused_with_their_cause(tmp_path, texts, seed):
    rng = np.random.default_rng(1000 + seed)
    trc, mot = tmp_path / "walk.trc", tmp_path / "f.mot"
    of_markers = seed % 2 == 0
    change, sentence = (WRONG_TRC if of_markers else WRONG_MOT)[seed // 2 % 7]
    trc.write_bytes(composed(rng, texts[0], TRC[3:4], change if of_markers else None))
    mot.write_bytes(composed(rng, texts[1], [], None if of_markers else change))
    assert len(assert_refused(sentence, read_capture, trc, forces=mot)) < 500


SHAPES = [
    lambda at: np.array([[0.0] * len(at), at]), lambda at: np.ravel([[0.0, time] for time in at]),
    lambda at: [0.0] * len(at) + at, lambda at: at, lambda at: np.array([[0.0] * len(at), at]).T,
]  # fmt: skip
NAMES = [
    "Right Foot {}", "Foot {} right", "R_Foot{}", "R Heel {}", "RFoot{}1", "Foot_{}_R", "{short} R", "R{short}", "r_{short}",
    "Foot {}", "{short}", "Ann Right Foot {} 2",
]  # fmt: skip


@over("seed", range(60))
def test_odd_tables_of_events_give_the_cycle(tmp_path, seed):
    """Times of any shape, labels of any style, with or without contexts, sides by plates or markers where nothing states them."""
    rng = np.random.default_rng(seed)
    shape, name = SHAPES[seed % len(SHAPES)], NAMES[seed % len(NAMES)]
    short = {"Strike": "HS", "Off": "TO"}
    labels = [
        name.format(kind if kind == "Strike" or "Heel" not in name else "Off", short=short[kind]) for _, kind in AT
    ]
    at, more = [time for time, _ in AT], int(rng.integers(3))
    labels, at = labels + ["Event"] * more, at + [2.0 + 0.1 * k for k in range(more)]
    parameters = [("EVENT", "LABELS", labels), ("EVENT", "TIMES", shape(at))]
    if rng.random() < 0.5:
        parameters.append(("EVENT", "USED", [len(at)]))
    if context := ("", "Right", "R", "right ", "General")[rng.integers(5)]:
        known = context if context != "General" else "General"
        parameters.append(("EVENT", "CONTEXTS", [known] * len(at)))
    found = read_capture(write_c3d(tmp_path / "walk.c3d", MARKERS, parameters=parameters))
    assert [event.time for event in found.events] == [time for time, _ in AT]
    cycle = gait_cycle(found, "right")
    assert (cycle.strike, cycle.off, cycle.next_strike, cycle.source) == (0.25, 0.93, 1.35, "file")
