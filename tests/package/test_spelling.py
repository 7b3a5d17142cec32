"""Messages of the command name its options where Python's name arguments: each option of each verb, with odd values."""

import pytest

from runtime.cli.verb import with_options, with_remedies
from runtime.report.tables import WORDS, Table
from tests.support.gait_files import laboratory

OPTIONS = {"t_end": "--t-end", "filters: markers": "--marker-cutoff", "mass": "--mass", "rtol": "--rtol"}

MESSAGES = {
    "t_end = -1 s must be after t_start = 0 s": "--t-end = -1 s must be after t_start = 0 s",
    "simulate: rtol = 'a': give one number": "--rtol = 'a': give one number",
    "filters: markers = 0 Hz; give more": "--marker-cutoff = 0 Hz; give more",
    "body 'rod': mass = -1 is not positive": "body 'rod': --mass = -1 is not positive",
    "a file 'mass = 3' of l.ankle = 2 and no-mass = 4": "a file 'mass = 3' of l.ankle = 2 and no-mass = 4",
    "mass = 100 kg, but it is at most 10 kg; check_units=False accepts it": "--mass = 100 kg, but it is at most 10 kg",
    "no heel; give markers={'heel': LABEL}": "no heel; give --landmark heel=LABEL",
    "no set; give markers={landmark: label}, or": "no set; give --landmark landmark=label, or",
    "not flat; give foot_flat=False": "not flat; give --no-foot-flat",
    "give sides='left', or unlock=True": "give sides='left', or --unlock",
}  # fmt: skip
OPTIONS |= {"markers": "--landmark", "foot_flat": "--foot-flat", "unlock": "--unlock"}
OF_MODEL = {"given": "--set"}


@pytest.mark.parametrize("message", MESSAGES)
def test_arguments_become_options(message):
    assert with_options(message, OPTIONS) == MESSAGES[message]


def test_arguments_of_a_model_become_its_settings():
    message = "leg = 'free' falls for ever; give ground=True too, or leg='fixed'"
    told = "leg = 'free' falls for ever; give --set ground=True too, or --set leg=fixed"
    assert with_options(message, OF_MODEL) == told


def test_the_refusal_of_a_unit_names_the_option_that_accepts_it():
    message = "height = 9 m must be below 3 m; check_units=False accepts it"
    assert with_options(message, {"check_units": "--check-units"}).endswith("; --no-check-units accepts it")


def test_texts_of_tables_are_in_the_words_of_the_reader():
    before = WORDS.set(lambda text: with_remedies(text, OPTIONS))
    table = Table("notes", ["note", "n"], [["mass: given; give foot_flat=False", 1]], "give unlock=True")
    WORDS.reset(before)
    assert table.rows == [["mass: given; give --no-foot-flat", 1]] and table.note == "give --unlock"


ODD = ("-1", "nan", "")
KEYS = {
    "foot": ("ankle", "link_length", "limits", "preset", "law", "check_units"), "chain": ("links",),
    "pendulum": ("length", "mass", "angle", "longitude", "kind", "limits", "damping", "law"),
    "foot_ground": ("shape", "height", "pitch_deg", "speed", "mu_d"), "four_bar": ("crank", "joints"),
}  # fmt: skip
CALLS = [
    *(("simulate", "pendulum", option, odd) for option in ("--t-end", "--rtol", "--atol", "--method") for odd in ODD),
    *(("view", "pendulum", "--out", "a.html", option, odd) for option in ("--t-end", "--speed") for odd in ODD[:3]),
    *(("info", model, "--set", f"{key}={odd}") for model, keys in KEYS.items() for key in keys for odd in ODD),
    *(("drop", option, odd) for option in ("--t-end", "--tolerance", "--height", "--figure-format") for odd in ODD[:3]),
    *(("ankle", "--figure-format", odd) for odd in ODD),
    ("ankle", "--tolerance", "1e-40"), ("claims", "--tolerance", "1e-40"), ("pendulum", "--tolerance", "1e-40"),
    ("drop", "--tolerance", "1e-40"), ("drop", "--height", "100"), ("info", "foot", "--set", "link_length=41.7"),
    ("info", "foot", "--set", "law=as_published"), ("info", "pendulum", "--set", "limits=elastic", "--set", "damping=1"),
]  # fmt: skip


@pytest.mark.slow
def test_every_option_with_odd_values(command, without_figures):
    refused = 0
    for arguments in CALLS:
        done = command(*arguments)
        assert done.code in (0, 2), arguments
        if done.code == 2:
            refused += 1
    assert refused > 60


GAIT = (
    "--side", "--mass", "--height", "--sex", "--marker-cutoff", "--cop-cutoff", "--force-cutoff", "--order", "--longest-gap",
    "--toes", "--forces", "--marker", "--up", "--units", "--figure-format",
)  # fmt: skip


@pytest.mark.slow
def test_every_option_of_gait_with_odd_values(command, tmp_path, without_figures):
    files = laboratory(tmp_path)
    for option in GAIT:
        for odd in ("nan", "x=y"):
            assert command("gait", *files, option, odd).code == 2, (option, odd)
    assert command("gait", *files, "--marker", "heel=NONE").sentence.startswith(
        "--marker: walk_markers.csv has no marker 'NONE'"
    )
    assert command("gait", *files, "--mass", "1e9").sentence.endswith("give --mass in kilograms")
    assert "--toes guided needs; use --toes locked" in command("gait", *files, "--toes", "guided").sentence
    assert command("gait", *files, "--units", "mm").sentence.endswith("--units m would fit")


def test_angles_of_an_axis_may_be_negative_and_lengths_may_not(command):
    refused = command("gait", "--talocrural-inclination", "-95")
    assert refused.code == 2 and "--talocrural-inclination = -95 degrees must lie between" in refused.sentence
    refused = command("gait", "--link-length", "-1")
    assert refused.code == 2 and "--link-length = -1 must be a finite number above 0" in refused.sentence
