"""The verb ``talus study``: results, resuming, and mistakes in the file."""

import json

import pytest
import xarray

import models
import runtime.cli
from runtime.studies import normal
from runtime.support.results_folder import MARKED

FILE = """
model = "foot"
kind = "sobol"
n = 8
seed = 3
t_end = 0.3
points = 31

[arguments]
limits = "dissipative"

[parameters]
mass.toes = [0.15, 0.25]
"rate.ankle.theta_j" = {normal = [0.0, 0.5], low = -1.0, high = 1.0}

[outputs]
excursion = "range(r.main_foot.y)"
path = "r.main_foot.y"

[settings]
rtol = 1e-8
workers = 1
"""


@pytest.fixture
def talus(command, without_figures, tmp_path):
    """``talus study`` with the text of a file."""

    def call(text, *arguments):
        (tmp_path / "foot.toml").write_text(text, encoding="utf-8")
        return command("study", "foot.toml", *arguments)

    return call


@pytest.mark.slow
def test_a_file_gives_what_the_function_gives(talus, tmp_path):
    done = talus(FILE, "--json")
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    parameters = {"mass.toes": (0.15, 0.25), "rate.ankle.theta_j": normal(0.0, 0.5, low=-1.0, high=1.0)}
    found = runtime.study(
        models.foot.build(limits="dissipative"), parameters, 0.3, outputs={"excursion": "range(r.main_foot.y)"}, kind="sobol",
        n=8, seed=3, t_eval=[0.01 * k for k in range(31)], rtol=1e-8,
    ).indices()  # fmt: skip
    rows = {row["parameter"]: row for row in summary["tables"]["Sobol indices"]}
    for k, name in enumerate(parameters):
        assert rows[name]["total"] == pytest.approx(found.total[0, k], rel=1e-6)
    folder = tmp_path / "talus-foot"
    assert {"report.html", "study.nc", "cases.csv", "summary.json", "study.toml", "cases"} <= {
        f.name for f in folder.iterdir()
    }
    with xarray.open_dataset(folder / "study.nc", engine="scipy") as data:
        assert data["path"].shape == (32, 31)
    again = talus(FILE, "--out", "talus-foot")
    assert again.code == 2 and "output folder 'talus-foot' exists; name another one" in again.err
    text = talus(FILE, "--out", "other", "--full").out
    assert "takes part in" in text and "Sobol indices" in text and "files in other; open report.html" in text


def test_an_interrupted_study_is_resumed(talus, tmp_path):
    assert talus(FILE, "--out", "o").code == 0
    (tmp_path / "o" / "summary.json").unlink()
    files = {f: f.stat().st_mtime_ns for f in (tmp_path / "o" / "cases" / "chunks").iterdir()}
    assert talus(FILE, "--out", "o").code == 0
    assert files == {f: f.stat().st_mtime_ns for f in (tmp_path / "o" / "cases" / "chunks").iterdir()}
    (tmp_path / "o" / "summary.json").unlink()
    other = talus(FILE.replace("n = 8", "n = 16"), "--out", "o")
    assert other.code == 2 and "output folder 'o' exists; name another one" in other.err


def test_arguments_of_the_model_may_vary(talus):
    text = """
    model = "foot"
    kind = "one_at_a_time"
    n = 2
    t_end = 0.1
    parameters = {link_length = [0.036, 0.047]}
    outputs = {excursion = "range(r.main_foot.y)"}
    arguments = {ankle = "modified"}
    """
    done = talus(text, "--json")
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["tables"]["effects"]
    assert row["parameter"] == "link_length" and row["from ... to"] == "0.036 to 0.047" and row["range"] > 0


def test_failed_cases_end_with_code_1(talus):
    text = FILE.replace("mass.toes = [0.15, 0.25]", "mass.toes = [-0.05, 0.25]")
    done = talus(text)
    assert done.code == 1 and "32 cases failed" in done.err and "REFUSED" in done.err
    assert "Sobol indices" not in done.out
    left = talus(text.replace("seed", 'failed = "leave_out"\nseed'), "--out", "left")
    assert left.code == 1 and "Sobol indices" in left.out


def test_cases_that_violate_their_constraints_are_assembled_by_a_setting_of_the_file(talus):
    before, _, after = FILE.replace('"sobol"', '"sample"').partition("[parameters]")
    text = f"{before}[parameters]\nl.ankle = [0.038, 0.046]\n[outputs]{after.partition('[outputs]')[2]}"
    done = talus(text)
    remedy = "for every case assemble=True does so, in a study's file 'assemble = true' under [settings]"
    assert done.code == 2 and remedy in done.err, done.err
    assert talus(text.replace("[settings]", "[settings]\nassemble = true"), "--out", "o").code == 0


MISTAKES = {
    "an unknown key": ('kind = "sobol"', 'knid = "sobol"', "foot.toml: unknown key 'knid'; did you mean 'kind'?"),
    "an unknown kind": ('"sobol"', '"sobel"', "kind = 'sobel'; did you mean 'sobol'? use 'sample', 'sobol', 'grid'"),
    "text for a number": ("n = 8", 'n = "8"', "n = '8': give a whole number"),
    "no power of 2": ("n = 8", "n = 9", "n = 9: the base samples of a Sobol sequence are a power of 2; give 8 or 16"),
    "no TOML": ("n = 8", "n = = 8", "'foot.toml' is no TOML: Invalid value (at line 4"),
    "an unknown model": ('"foot"', '"feet"', "unknown model 'feet'; the models are chain"),
    "an unknown argument": ("limits =", "limit =", "model 'foot' has no argument 'limit'; it takes ankle"),
    "a wrong argument": ('"dissipative"', '"plastic"', "foot.toml: models.foot.build: limits = 'plastic'"),
    "an unknown parameter": ("mass.toes", "mass.toe", "cases: system 'foot, modified"),
    "an unknown distribution": ("{normal", "{gauss", "'rate.ankle.theta_j' = {"),
    "another table": ("{normal = [0.0, 0.5], low = -1.0, high = 1.0}", "{gauss = [0, 1]}", "foot.toml: "),
    "too few numbers": ("[0.0, 0.5]", "[0.0]", "'rate.ankle.theta_j': normal = [0.0]; give 2 numbers"),
    "an unknown bound": ("low =", "lowest =", "'rate.ankle.theta_j' has the unknown key 'lowest'"),
    "exchanged bounds": ("[0.15, 0.25]", "[0.25, 0.15]", "'mass.toes': uniform: high = 0.15"),
    "an unknown output": ("range(r.main_foot.y)", "range(r.main_feet.y)", "outputs: 'excursion' = 'range("),
    "an output that is no text": ('"r.main_foot.y"', "3", "output 'path' = 3; give a text"),
    "an unknown setting": ("rtol", "rtoll", "unknown setting 'rtoll'; did you mean 'rtol'?"),
    "a wrong setting": ("1e-8", '"small"', "simulate_many: rtol = 'small'"),
    "an unknown method": ("rtol = 1e-8", 'method = "dopp"', "unknown method 'dopp'"),
    "a start after the end": ("rtol = 1e-8", "t_start = 2", "t_end = 0.3 s must be after the start, 2 s"),
    "a start that is no time": ("rtol = 1e-8", 't_start = "a"', "t_start = 'a'; give a time in seconds"),
    "no outputs": ("[outputs]", "[settings.outputs]", "foot.toml: 'outputs' is missing; a study needs model, t_end"),
    "time backwards": ("t_end = 0.3", "t_end = -0.3", "t_end = -0.3 s must be after the start"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_the_file_are_one_sentence(talus, tmp_path, mistake):
    old, new, said = MISTAKES[mistake]
    assert old in FILE
    done = talus(FILE.replace(old, new, 1), "--out", "o")
    assert done.code == 2 and said in done.err, done.err
    assert len(done.err.splitlines()) == 1 and "foot.toml" in done.err and not (tmp_path / "o").exists()


def test_a_file_that_does_not_exist(command):
    done = command("study", "none.toml")
    assert done.code == 2 and "cannot read 'none.toml'" in done.err


MODULE = """
from pathlib import Path
import models
Path("imported").touch()
def build(**given):
    return models.foot.build(**given)
"""


@pytest.mark.parametrize("trust", [False, True])
def test_a_function_is_called_only_where_the_command_says_so(talus, tmp_path, monkeypatch, trust):
    name = f"sent_{trust}".lower()  # a module is imported once
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    text = FILE.replace('"foot"', f'"{name}:build"').replace('"rate.ankle.theta_j"', "#")
    done = talus(text.replace('limits = "dissipative"', ""), "--out", "o", *["--trust"] * trust)
    assert (tmp_path / "imported").exists() is trust and (done.code == 0) is trust, done.err
    assert trust or f"foot.toml: model '{name}:build' is a function" in done.err
    assert trust or ("give --trust" in done.err and not (tmp_path / "o").exists())


def test_a_study_reads_no_model_outside_of_its_folder(talus, tmp_path, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    file = models.foot.build().to_file(other / "foot.json")
    (tmp_path / "linked.json").symlink_to(file)
    text = FILE.replace('limits = "dissipative"', "")
    for place in (str(file), f"../{other.name}/foot.json", f"a/../../{other.name}/foot.json", "linked.json"):
        done = talus(text.replace('"foot"', f'"{place}"'))
        assert "foot.toml: " in done.err and "is outside of the folder of the study" in done.err
    done = talus(FILE.replace('"foot"', '"robot.urdf"').replace("limits =", "root ="))
    assert done.code == 2 and "root opens other folders" in done.err
    assert "cannot read" in talus(text.replace('"foot"', f'"{other}/none.json"'), "--trust").err


def test_a_folder_that_talus_did_not_make_is_not_resumed(talus, tmp_path):
    folder = tmp_path / "o"
    folder.mkdir()
    (folder / "study.toml").write_text(FILE)
    (folder / "cases.csv").write_text("mine")
    done = talus(FILE, "--out", "o")
    assert done.code == 2 and "output folder 'o' exists; name another one" in done.err
    (folder / ".talus").write_text(MARKED)
    (folder / "report.html").symlink_to("../mine.html")
    done = talus(FILE, "--out", "o")
    assert done.code == 2 and "o/report.html is a link, which may lead out of the folder" in done.err
    assert (folder / "cases.csv").read_text() == "mine"
