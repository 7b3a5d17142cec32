"""``talus gait`` with bad files and options: one sentence that names the file, the rule and the remedy."""

import re
from dataclasses import replace

import pytest

from models.walking import synthetic
from tests.support.gait_files import laboratory, trial_at_100_hz, write_meta
from tests.support.spoilt_captures import cut, gap, without


def one_sentence(done, *words):
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.sentence, done.sentence
    others = [
        line for line in done.lines[:-1] if not re.match(r"(reading|analysing|no files|figures|compiling) ", line)
    ]
    assert not others


def edited(change):
    """Files of the synthetic trial with one text changed."""

    def make(folder):
        files = laboratory(folder, None, trial_at_100_hz())
        return change(folder, files) or files

    return make


def rewritten(name, change):
    def edit(folder, files):
        file = folder / name
        file.write_text(change(file.read_text()))

    return edited(edit)


def lines_of(change):
    def edit(text):
        lines = text.splitlines()
        change(lines)
        return "\n".join(lines) + "\n"

    return edit


def field(line, column, value):
    def change(lines):
        fields = lines[line].split(",")
        fields[column] = value
        lines[line] = ",".join(fields)

    return lines_of(change)


def swapped(a, b):
    def change(lines):
        x, y = lines[a].split(","), lines[b].split(",")
        x[0], y[0] = y[0], x[0]
        lines[a], lines[b] = ",".join(x), ",".join(y)

    return lines_of(change)


def static_with(change):
    def make(folder):
        static = synthetic.static()
        return laboratory(folder, replace(static, markers=change(dict(static.markers))), trial_at_100_hz())

    return make


def of_leg(walk, events):
    """The walk without forces and without the markers above the knee, beside which the foot would show its strikes."""
    markers = {label: p for label, p in walk.markers.items() if label[2:] not in ("IAS", "IPS", "FTC")}
    return replace(walk, events=events, forces=(), markers=markers)


def walk_with(change):
    return lambda folder: laboratory(folder, None, change(trial_at_100_hz()))


def without_in_walk(*labels):
    return walk_with(lambda walk: replace(walk, markers=without(*labels)(walk.markers)))


def swap_labels(markers):
    markers["R_FAL"], markers["R_TAM"] = markers["R_TAM"], markers["R_FAL"]
    return markers


def scaled(row):
    fields = row.split(",")
    return ",".join([fields[0], *(f"{1000.0 * float(v):.12g}" for v in fields[1:])])


def laboratory_with_masses(folder, standing, walking):
    walk = trial_at_100_hz()
    files = laboratory(folder, None, replace(walk, subject=replace(walk.subject, mass=walking)))
    write_meta(folder / "standing_meta.json", replace(walk, events=(), subject=replace(walk.subject, mass=standing)))
    return files


W, F, M, S = "walk_markers.csv", "walk_forces.csv", "walk_meta.json", "standing_markers.csv"

LANDMARK = {
    "R_FAL": ("lateral malleolus", "talocrural axis"), "R_TAM": ("medial malleolus", "talocrural axis"),
    "R_FCC": ("back of the heel",), "R_FM1": ("first metatarsal", "metatarsophalangeal axis"),
    "R_FM5": ("fifth metatarsal", "metatarsophalangeal axis"),
}  # fmt: skip

BAD_FILES = {
    **{
        f"static without {label}": (static_with(without(label)), (S, *words, label, "needs"))
        for label, words in LANDMARK.items()
    },
    "leg with two markers": (
        without_in_walk("R_FAX", "R_TTC"), (W, "the leg has the markers R_FAL, R_TAM", "three that are not in a line"),
    ),
    "foot with two markers": (
        without_in_walk("R_FM1", "R_FM5"), (W, "the main foot has the markers R_FCC, R_FM2", "three"),
    ),
    "another label set in the trial": (
        walk_with(lambda walk: replace(walk, markers={"X" + k: p for k, p in walk.markers.items()})), (W,),
    ),
    "static eight per cent larger": (
        static_with(lambda m: {k: 1.08 * p for k, p in m.items()}), (W, "not placed as in the static trial", "limit is 22 mm"),
    ),
    "malleoli exchanged": (static_with(swap_labels), (S, "medial malleolus", "lateral side", "labels exchanged?")),
    "static lying down": (
        static_with(lambda m: {k: p[:, [2, 1, 0]] * (1, 1, -1) for k, p in m.items()}), (S, "leans", "limit is 30"),
    ),
    "long gap": (walk_with(lambda walk: gap(walk, "R_FCC", 40, 60)), (W, "'R_FCC'", "0.4 to 0.6 s, 0.2 s", "up to 0.1 s")),
    "gap at the strike": (walk_with(lambda walk: gap(walk, "R_TTC", 0, 20)), (W, "'R_TTC' of the leg", "from 0 to 0.2 s")),
    "millimetres called metres": (
        rewritten(W, lines_of(lambda x: [x.__setitem__(k, scaled(x[k])) for k in range(3, len(x))] and None)),
        (W, "the unit of the positions is wrong", "--units mm would fit"),
    ),
    "no unit": (rewritten(W, lambda text: text.replace("# units m/N\n", "")), (W, "unit of the positions is not known")),
    "unknown unit": (rewritten(W, lambda text: text.replace("units m/N", "units ft")), (W, "unit of the positions")),
    "time goes back": (rewritten(W, swapped(20, 21)), (W, "the time goes from 0.18 s to 0.17 s", "must increase")),
    "time stands": (rewritten(W, field(21, 0, "0.17")), (W, "the time goes from 0.17 s to 0.17 s")),
    "time of force goes back": (rewritten(F, swapped(20, 21)), ("force plate 'plate1'", "times must increase")),
    "time is NaN": (rewritten(W, field(21, 0, "nan")), (W, "time of sample 19 is nan", "finite")),
    "word among numbers": (rewritten(W, field(21, 4, "abc")), (W, "line 22, column 5 contains 'abc'")),
    "force is NaN": (rewritten(F, field(400, 2, "nan")), ("'plate1'", "is not a finite number", "every sample needs a force")),
    "force is infinite": (rewritten(F, field(400, 2, "inf")), ("'plate1'", "is not a finite number")),
    "no point of a force": (
        rewritten(F, field(400, 5, "nan")), ("'plate1'", "no point of application or moment", "every loaded sample"),
    ),
    "no centre of pressure column": (rewritten(F, lambda text: text.replace("p1_copx", "p1_cpx")), (F, "no column px")),
    "forces in kN, as N": (
        walk_with(lambda walk: replace(walk, forces=(replace(walk.forces[0], force=walk.forces[0].force / 1e3),))),
        (W, "never loaded", "20 N"),
    ),
    "forces in mN": (
        walk_with(lambda walk: replace(walk, forces=(replace(walk.forces[0], force=walk.forces[0].force * 1e3),))),
        ("plate1", "no step exceeds 20000 N"),
    ),
    "centre of pressure in mm": (
        walk_with(lambda walk: replace(walk, forces=(replace(walk.forces[0], cop=walk.forces[0].cop * 1e3),))),
        (W, "centre of pressure of 'plate1' is", "limit 5 m"),
    ),
    "a plate beside the foot": (
        walk_with(lambda walk: replace(walk, forces=(replace(walk.forces[0], cop=walk.forces[0].cop + (0, 0.4, 0)),))),
        (W, "'plate1': under none of the feet", "limit 0.12 m"),
    ),
    "force of half a stance": (
        walk_with(lambda walk: replace(walk, forces=(cut(walk.forces[0], 0.4),))), (W, "stance of the right foot", "cut short"),
    ),
    "events of the other foot": (
        walk_with(lambda walk: of_leg(walk, events=tuple(replace(e, side="left") for e in walk.events))),
        (W, "no gait cycle of the right foot"),
    ),
    "no events, nothing to find them by": (
        walk_with(lambda walk: of_leg(walk, events=())), (W, "no gait cycle of the right foot", "0 in the file"),
    ),
    "no next strike": (
        walk_with(lambda walk: of_leg(walk, events=walk.events[:2])), (W, "no gait cycle of the right foot"),
    ),
    "markers end before the next strike": (
        walk_with(lambda walk: replace(walk.crop(0.0, 0.9), events=walk.events, forces=walk.forces)),
        (W, "do not cover the gait cycle from 0.1 to 1.06 s"),
    ),
    "another mass in the static trial": (
        lambda folder: laboratory_with_masses(folder, 70.0, 77.0), (W, "77 kg", "70 kg", "same subject"),
    ),
    "mass of nobody": (
        walk_with(lambda walk: replace(walk, subject=replace(walk.subject, mass=0.0))), ("mass of the subject = 0 kg",),
    ),
    "broken meta file": (rewritten(M, lambda text: text[:-20]), (M, "cannot be read", "JSON")),
    "doubled column": (rewritten(W, lambda text: text.replace("R_FM1_x", "R_FM5_x")), (W, "more than once")),
    "no names": (
        walk_with(lambda walk: replace(walk, markers={f"*{k}": p for k, p in enumerate(walk.markers.values())})),
        (W, "has a name", "label them"),
    ),
}  # fmt: skip


def one_in_three_quick(cases):
    return [pytest.param(case, marks=pytest.mark.slow if k % 3 else ()) for k, case in enumerate(cases)]


@pytest.mark.parametrize("case", one_in_three_quick(BAD_FILES))
def test_bad_files_get_one_sentence(talus, tmp_path, case):
    make, words = BAD_FILES[case]
    files = make(tmp_path)
    done = talus(*files, "--out", "o")
    one_sentence(done, *words)
    assert not (tmp_path / "o").exists()


BAD_OPTIONS = {
    ("--side", "rihgt"): ("side = 'rihgt'", "auto, right, left"),
    ("--side", "left"): ("left",),
    ("--toes", "x"): ("toes = 'x'", "auto, guided, locked"),
    ("--sex", "man"): ("sex = 'man'", "female, male"),
    ("--mass", "0"): ("--mass = 0", "above 0"),
    ("--mass", "nan"): ("--mass = nan", "finite"),
    ("--mass", "70000"): ("mass of the subject = 7e+04 kg", "between 5 and 300 kg", "in kilograms"),
    ("--height", "175"): ("height = 175 m", "between 0.5 and 2.5 m", "in metres"),
    ("--marker", "heel"): ("--marker = 'heel': give LANDMARK=LABEL", "heel=RHEE"),
    ("--marker", "knee=R_FLE"): ("no landmark 'knee'", "lateral_epicondyle"),
    ("--marker", "heel=R_HEEL"): ("no marker 'R_HEEL' for heel", "R_FCC"),
    ("--marker-cutoff", "60"): ("cut-off 60 Hz", "100 samples per second", "between 0.001 and 50 Hz"),
    ("--force-cutoff", "600"): ("force: cut-off 600 Hz", "1000 samples per second"),
    ("--cop-cutoff", "600"): ("centre of pressure: cut-off 600 Hz",),
    ("--marker-cutoff", "-1"): ("--marker-cutoff = -1", "above 0"),
    ("--order", "0"): ("order = 0", "1 to 8"),
    ("--longest-gap", "-1"): ("--longest-gap = -1",),
    ("--up", "w"): ("up = 'w'", "z, y, x"),
    ("--up", "y"): ("y up",),
    ("--units", "km"): ("units = 'km'", "'mm', 'cm' or 'm'"),
    ("--units", "mm"): ("unit of the positions is wrong", "--units m would fit"),
    ("--forces", "x.mot"): ("x.mot': No such file",),
    ("--forces", "x.mot", "--forces", "y.mot"): ("--forces: 2 files for 1 trials",),
}


@pytest.mark.parametrize("options", one_in_three_quick(BAD_OPTIONS), ids=" ".join)
def test_bad_options_get_one_sentence(talus, tmp_path, options):
    files = laboratory(tmp_path, None, trial_at_100_hz())
    done = talus(*files, *options, "--out", "o")
    one_sentence(done, *BAD_OPTIONS[options])
    assert not (tmp_path / "o").exists()


def test_options_of_files_without_files_are_refused(talus, tmp_path):
    for options in (("--up", "z"), ("--units", "mm"), ("--marker", "heel=X"), ("--forces", "x.mot")):
        one_sentence(talus(*options, "--out", "o"), f"{options[0]} belongs to recorded files")
    assert not (tmp_path / "o").exists()


def test_bad_arguments_get_one_sentence(talus, tmp_path):
    static, walk = laboratory(tmp_path, None, trial_at_100_hz())
    empty = {"empty.c3d": b"", "empty.trc": b"", "empty.csv": b"", "text.c3d": b"hello\n" * 300}
    for file, content in empty.items():
        (tmp_path / file).write_bytes(content)
    (tmp_path / "folder.c3d").mkdir()
    for *files, words in (
        *((static, file, (file,)) for file in empty), *((file, walk, (file,)) for file in empty),
        (static, "folder.c3d", ("folder.c3d': not a file but a folder",)),
        (static, tmp_path, ("markers are read from .c3d, .trc, .csv",)),
        (static, "absent.trc", ("absent.trc': No such file",)),
        (static, ("give the static trial and then one walking trial or more",)),
        (static, tmp_path / F, (F, "it holds forces")),
        (walk, walk, (W, "on the foot moves by", "must stand still")),
        (static, static, (S, "a walk needs at least 20 frames, this trial has 1")),
    ):  # fmt: skip
        one_sentence(talus(*files, "--out", "o"), *words)
    assert not (tmp_path / "o").exists()
