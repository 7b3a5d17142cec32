"""The command ``talus``: its verbs, their output, and the exit codes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import xarray
from PIL import Image

import runtime.cli
from tests.support.full_disk import no_room
from tests.support.processes import environment


@pytest.fixture
def talus_process(tmp_path):
    """The command as a process, on a terminal of 120 columns."""

    def call(*arguments):
        program = "import sys; from runtime.cli import main; sys.argv[0] = 'talus'; main()"
        return subprocess.run(
            [sys.executable, "-c", program, *arguments], cwd=tmp_path, env=environment(COLUMNS="120"),
            capture_output=True, text=True,
        )  # fmt: skip

    return call


def test_out_is_checked_before_the_work(command, tmp_path, monkeypatch):
    def never(*arguments, **options):
        raise AssertionError("the work began")

    monkeypatch.setattr("runtime.integrate.simulate.simulate", never)
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("")
    for out, said in (("there", "exists; name another one"), ("file/o", "cannot be made: Not a directory")):
        done = command("simulate", "pendulum", "--out", out)
        assert done.code == 2 and said in done.err and len(done.err.splitlines()) == 1


OWN = """
import sys
import models

def leaves():
    sys.exit()

def prints():
    print("noise")
    return models.pendulum.build()
"""


def test_modules_of_users_that_print_or_exit(command, tmp_path, monkeypatch):
    (tmp_path / "own_models.py").write_text(OWN)
    (tmp_path / "own_script.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    for model, said in (
        ("own_models:leaves", "cannot be built: SystemExit"),
        ("own_script:x", "cannot be loaded: SystemExit"),
    ):
        done = command("info", model)
        assert done.code == 2 and said in done.err and len(done.err.splitlines()) == 1
    done = command("info", "own_models:prints", "--json")
    assert json.loads(done.out)["bodies"] and "noise" in done.err


def test_an_argument_of_a_model_that_is_given_twice_is_refused(command):
    done = command("info", "pendulum", "--set", "length=1.0", "--set", "length=2.0")
    assert done.code == 2 and done.err.strip() == "--set length=2.0: 'length' has a value already, 1.0; give each once"


def test_names_in_messages_stay_as_they_are(command):
    assert "model 'a:b:c' is no name" in command("info", "a:b:c").err
    done = command("simulate", "pendulum", "--t-end", "0.01", "--no-report", "--out", "a[/b]\x1b")
    assert done.code == 0 and "files in a[/b]\\x1b" in done.out, done.err


def test_folders_for_results_are_not_options_and_know_the_home_folder(command, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    done = command("simulate", "pendulum", "--t-end", "0.01", "--out", "--json")
    assert done.code == 2 and "output folder '--json' has the name of an option" in done.err
    assert command("simulate", "pendulum", "--t-end", "0.01", "--no-report", "--out", "~/o").code == 0
    assert (tmp_path / "home" / "o" / "run.nc").is_file() and not (tmp_path / "~").exists()


def test_a_full_disk_is_a_sentence_of_the_command(command, tmp_path):
    assert command("simulate", "pendulum", "--t-end", "0.01", "--no-report", "--out", "first").code == 0  # compiles
    with no_room(2000):
        done = command("simulate", "pendulum", "--t-end", "0.01", "--no-report", "--out", "o")
    assert done.code == 2 and "File too large; make room, or choose another place" in done.err
    assert len(done.err.splitlines()) == 1 and not (tmp_path / "o").exists()


def test_version_and_completion(command, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # the tests may run without a shell
    assert command("--version").out == f"talus-multibody {runtime.__version__}\n"
    assert "talus_completion" in command("--show-completion", "bash").out


@pytest.mark.slow
def test_every_verb_has_an_example(command):
    verbs = re.findall(r"^  (\w+)  ", command("--help").out.split("Commands:")[1], re.MULTILINE)
    assert {"info", "view", "gait"} <= set(verbs)
    for verb in verbs:
        text = command(verb, "--help").out
        assert f"Example: talus {verb}" in text, verb


def test_info_lists_the_arguments_with_units_and_defaults(command):
    rows = json.loads(command("info", "pendulum", "--json").out)["arguments, --set KEY=VALUE"]
    by_key = {row["key"]: row for row in rows}
    assert by_key["length"]["meaning"].endswith("[m]")
    assert by_key["length"]["default"] == "0.3"
    assert "`" not in str(rows)


def test_view_writes_a_page_and_says_where(command, tmp_path):
    pytest.importorskip("viser", reason="pages need the extra view")
    done = command("view", "pendulum", "--t-end", "0.1", "--out", "a.html")
    assert done.code == 0, done.err
    assert "written to a.html" in done.out
    assert "<title>" in (tmp_path / "a.html").read_text(encoding="utf-8")
    again = command("view", "pendulum", "--t-end", "0.1", "--out", "a.html")
    assert again.code == 2
    assert again.err == "--out a.html exists; name another file, so that nothing is overwritten\n"
    assert "--speed = -1" in command("view", "pendulum", "--speed", "-1", "--out", "b.html").err


@pytest.mark.slow
def test_view_reads_files_of_runs(command, tmp_path):
    pytest.importorskip("viser", reason="pages need the extra view")
    for name in ("one", "two"):
        assert (
            command("simulate", "pendulum", "--t-end", "0.1", "--points", "5", "--no-report", "--out", name).code == 0
        )
    done = command("view", "one/run.nc", "two/run.nc", "--out", "a.html")
    assert done.code == 0, done.err
    assert all(f'"label": "{name}"' in (tmp_path / "a.html").read_text(encoding="utf-8") for name in ("one", "two"))
    with xarray.open_dataset("one/run.nc") as data:
        old = data.load().assign_attrs(outline="")
    del old.attrs["outline"]
    old.to_netcdf("old.nc", engine="scipy")
    said = command("view", "old.nc", "--out", "b.html").err
    assert (
        said.startswith("'old.nc' contains no shapes and joints") and "that it was made with, --model, or make" in said
    )
    assert command("view", "old.nc", "--model", "pendulum", "--out", "b.html").code == 0
    for arguments, text in (
        (("foot.nc",), "cannot read 'foot.nc': No such file"),
        (("one/run.nc", "one/run.nc"), "a file is given twice"),
        (("one/run.nc", "--t-end", "1"), "--t-end belongs to models"),
        (("one/run.nc", "--set", "length=1"), "--set belongs to models"),
        (("foot", "pendulum"), "give one model, or files of runs (.nc)"),
        (("one/run.csv",), "'one/run.csv' is no NetCDF file of a run"),
    ):
        done = command("view", *arguments)
        assert done.code == 2 and text in done.err and len(done.err.splitlines()) == 1, done.err


def test_a_driven_model_is_simulated_as_long_as_its_signals(command):
    assert "reached t = 1.16 s" in command("simulate", "gait", "--no-report").out


@pytest.mark.slow
def test_the_verbs_answer_first(command):
    for arguments, answer in (
        (("models",), "9 models can be simulated by name"),
        (("info", "four_bar", "--set", "joints=revolute"), "four-bar linkage"),
        (("doctor",), "The installation works: "),
        (("warm", "free_body"), "1 model is ready: "),
        (("simulate", "pendulum", "--t-end", "0.1", "--no-report"), "planar pendulum: reached t = 0.1 s"),
    ):
        done = command(*arguments)
        assert done.out.startswith(answer), done.out
        sentences = re.findall(r"[.:](?:\s|$)", done.out.split("\n\n")[0])
        assert len(sentences) <= 4  # three sentences, and a colon after the name
        assert done.out.count("───\n") + done.out.count("── \n") <= 1  # one table


@pytest.mark.slow
def test_simulate(command, tmp_path):
    done = command(
        "simulate", "foot", "--set", "ankle=classical", "--t-end", "0.5", "--points", "11", "--json", "--out", "o"
    )
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert (
        result["success"]
        and result["model"] == "foot, classical ankle"
        and result["error of the energy balance [J]"] < 1e-8
    )
    assert result["kernel"] == "joint coordinates"
    written = {file.name for file in (tmp_path / "o").iterdir()}
    assert written >= {"run.nc", "run.csv", "run.sto", "run.mot", "report.html", "motion.html", "summary.md"}
    assert written >= {"positions.png", "angles.png"}
    angle = min(result["tables"]["coordinates of joints"], key=lambda row: row["least"])
    name, unit, least = (angle[key] for key in ("coordinate", "unit", "least"))
    lines = (tmp_path / "o" / "run.mot").read_text().splitlines()
    start = lines.index("endheader") + 1
    column = lines[start].split("\t").index(name.replace(".", "_"))
    values = [float(line.split("\t")[column]) for line in lines[start + 1 :]]
    assert unit == "deg" and len(values) == 11 and min(values) == pytest.approx(least) and least < -1.0
    assert {Path(file).name for file in result["files"]} == written - {".talus"}
    for folder in ("talus-chain", "talus-chain-2"):
        assert command("simulate", "chain", "--set", "links=3", "--t-end", "0.1", "--no-report").code == 0
        assert (tmp_path / folder).is_dir()


@pytest.mark.parametrize(
    "verb", [("simulate", "pendulum", "--t-end", "0.1"), ("drop", "--t-end", "0.15")], ids=" ".join
)
def test_figures_have_the_formats_and_dots_that_are_asked_for(command, tmp_path, verb):
    assert command(*verb, "--figure-format", "pdf", "--dpi", "75", "--out", "o").code == 0
    pictures = sorted(tmp_path.glob("o/*.png"))
    assert pictures and all(file.with_suffix(".pdf").is_file() for file in pictures)
    for file in pictures:  # which pages show in place of PDF
        with Image.open(file) as picture:
            assert picture.info["dpi"] == pytest.approx((75, 75), abs=0.02)


@pytest.mark.parametrize("verb", [("simulate", "pendulum"), ("drop",)], ids=" ".join)
def test_unknown_formats_and_too_many_dots_are_refused(command, verb):
    refused = command(*verb, "--figure-format", "gif").sentence
    assert refused == "--figure-format = 'gif': 'gif' is unknown; use png, svg, pdf"
    assert command(*verb, "--dpi", "5000").sentence.startswith("--dpi = 5000, limit 50 to 600; ")


def test_info_models_doctor(command):
    info = command("info", "four_bar", "--set", "joints=revolute", "--json")
    facts = {row["fact"]: row["value"] for row in next(iter(json.loads(info.out).values()))}
    assert facts["degrees of freedom"] == 1 and facts["redundant rows"].count(",") == 2
    foot = command("info", "foot").out
    assert foot.startswith("foot, modified ankle: 3 bodies, 4 joints, 2 degrees of freedom.\n")
    assert "metatarsophalangeal" in foot and "More tables with --full: system; bodies; points" in foot
    whole = command("info", "foot", "--full").out
    assert "generated/whole/foot_modified.py" in whole and "-0.2438" in whole  # of the ankle on the leg
    assert "none; codegen.compile_model(system) emits one" in command("info", "chain", "--set", "links=9", "--full").out
    assert "spatial double pendulum" in command("models").out
    doctor = command("doctor")
    assert doctor.code == 0 and "fresh" in doctor.out and "reached t = 0.5 s" in doctor.out
    assert f"{runtime.__version__}, distribution talus-multibody" in doctor.out


BAD = {
    ("simulate", "hand"): "unknown model 'hand'; the models are",
    ("simulate", "models.foot:nothing"): "model 'models.foot:nothing' cannot be loaded",
    ("simulate", ":build"): "model ':build' is no name of a function; give package.module:function",
    ("simulate", ".models.foot:build"): "model '.models.foot:build' is no name of a function",
    ("simulate", "models..foot:build"): "is no name of a function",
    ("simulate", "models.foot:"): "is no name of a function",
    ("simulate", "foot", "--set", "link_length={[]: 1}"): "link_length",
    ("simulate", "foot", "--set", "link_length=" + "(" * 9999): "link_length",
    ("simulate", "foot", "--t-end", "1e400"): "--t-end = inf is not finite; give finite numbers",
    ("simulate", "foot", "--points", "1000000000000"): "Invalid value for '--points'",
    (
        "simulate",
        "foot",
        "--set",
        "colour=red",
    ): "model 'foot' has no 'colour'; it takes ankle, side, subtalar_inclination_deg",
    ("simulate", "foot", "--set", "ankle"): "--set ankle: give KEY=VALUE",
    ("simulate", "foot", "--set", "link_length=-1"): "link_length = -1 m must be a finite length",
    ("simulate", "foot", "--t-end", "-1"): "--t-end = -1 s must be after t_start = 0 s",
    ("simulate", "foot", "--method", "ode15s"): "unknown method 'ode15s'; use auto, dop853",
    ("simulate", "foot", "--rtol", "nan"): "--rtol = nan is not finite",
    ("ankle", "--t-end", "-1"): "--t-end = -1 must be a finite number above 0",
    ("ankle", "--tolerance", "0"): "--tolerance = 0 must be a finite number above 0",
    ("ankle", "--out", "/proc/none"): "output folder '/proc/none' cannot be made",
    ("dance",): "No such command 'dance'",
    ("simulate",): "Missing argument 'model'",
    ("ankle", "--out"): "requires an argument",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_one_sentence_and_exit_2(command, tmp_path, arguments):
    done = command(*arguments)
    assert done.code == 2
    message = " ".join(done.err.replace("│", " ").split())
    assert BAD[arguments].lower() in message.lower()  # Click 8.1 writes MODEL for 'model'
    assert "Traceback" not in done.err and "Warning" not in done.err
    assert not list(tmp_path.iterdir())


MODULES = {
    "x = 1 / 0": "model 'own:build' cannot be loaded: ZeroDivisionError: division by zero (own.py, line 1)",
    "def (": "model 'own:build' cannot be loaded: SyntaxError: invalid syntax (own.py, line 1)",
    "import nosuch": "model 'own:build' cannot be loaded: No module named 'nosuch'",
    "\0": "model 'own:build' cannot be loaded: SyntaxError: source code string cannot contain null bytes",
    "def build():\n    raise KeyError('a\\nb')": "model 'own:build' cannot be built: KeyError: 'a\\nb' (own.py, line 2)",
    "def build():\n    return build()": "model 'own:build' cannot be built: RecursionError: maximum recursion depth exceeded",
    "def build(*, a):\n    return 3": "missing 1 required keyword-only argument: 'a'",
    "class E(Exception):\n    def __str__(self): raise self\ndef build(): raise E": "cannot be built: E (own.py, line 3)",
}


@pytest.mark.parametrize("source", MODULES, ids=range(len(MODULES)))
def test_errors_in_a_users_module_are_one_sentence_and_exit_2(command, tmp_path, monkeypatch, source):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own", raising=False)
    (tmp_path / "own.py").write_text(source, encoding="utf-8")
    done = command("info", "own:build")
    sys.modules.pop("own", None)
    assert done.code == 2 and len(done.err.splitlines()) == 1, done.err
    assert MODULES[source] in done.err


def test_a_failed_run_ends_with_exit_1(command, monkeypatch):
    from dataclasses import replace

    from runtime.integrate import simulate

    real = simulate.simulate
    monkeypatch.setattr(
        simulate, "simulate", lambda *a, **k: replace(real(*a, **k), status=-2, message="singular at t")
    )
    done = command("simulate", "pendulum", "--t-end", "0.1", "--no-report", "--out", "o")
    assert done.code == 1 and "singular at t" in done.err


def test_an_installation_that_names_a_missing_module_ends_only_its_verb(talus_process, tmp_path):
    lost = tmp_path / "lost-1.0.dist-info"
    lost.mkdir()
    (lost / "METADATA").write_text("Metadata-Version: 2.1\nName: lost\nVersion: 1.0\n")
    (lost / "entry_points.txt").write_text(
        "[talus.models]\ngone = models.no_such:build\n"
        "[talus.studies]\nvanished = models.studies.no_such:study\nabsent = models.studies.drop:no_such\n"
    )
    remedy = "; install 'lost' again, in a checkout by: pip install -e ."
    for arguments, sentence in {
        (
            "vanished",
        ): "'vanished' (models.studies.no_such:study) cannot be imported: No module named 'models.studies.no_such'",
        (
            "absent",
            "--help",
        ): "'absent' (models.studies.drop:no_such) cannot be imported: module 'models.studies.drop' has no",
        ("simulate", "gone"): "'gone' (models.no_such:build) cannot be imported: No module named 'models.no_such'",
    }.items():
        done = talus_process(*arguments)
        assert done.returncode == 2 and " ".join(done.stderr.split()).startswith(sentence), done.stderr
        assert " ".join(done.stderr.split()).endswith(remedy)
    assert "cannot be imported" in talus_process("models").stdout
    done = talus_process("info", "pendulum")
    assert done.returncode == 0 and not done.stderr


def test_set_lists_its_choices(command):
    text = command("info", "foot", "--full").out
    assert "one of classical, modified" in " ".join(text.split())


def test_json_names_the_method_that_ran(command, tmp_path):
    out = command("simulate", "pendulum", "--t-end", "0.1", "--no-report", "--json", "--out", str(tmp_path / "a")).out
    assert json.loads(out)["method"] == "dop853"


def test_a_warning_about_a_value_is_a_sentence_and_truth_values_may_be_lower_case(talus_process):
    done = talus_process("info", "foot", "--set", "ground=true", "--set", "incline_deg=60")
    assert done.returncode == 0
    assert done.stderr.startswith(
        "warning: models.foot.build: incline_deg = 60 degrees, but the incline of a ground is"
    )
    assert len(done.stderr.splitlines()) == 1
