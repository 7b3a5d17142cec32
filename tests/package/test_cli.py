"""The command ``talus``: its verbs, their output, and the exit codes."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import xarray

import runtime.cli
from tests.support.processes import environment


@pytest.fixture
def talus(tmp_path, monkeypatch, capsys):
    """The command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["talus", *arguments])
        try:
            runtime.cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        said = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)

    return call


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


FIGURES = (
    "fig10_trajectories", "fig12_velocities_accelerations", "fig13_phase_portraits", "fig17_energy", "fig18_cost",
    "fig19_link_lengths", "fig20_link_length_trajectories",
)  # fmt: skip


@pytest.mark.slow
def test_ankle(talus_process, tmp_path):
    done = talus_process("ankle", "--out", "study", "--t-end", "1.0")
    assert done.returncode == 0, done.stderr
    for word in ("motion", "cost", "link length", "BDF", "47.4 mm", "medial", "lateral", "wall time, best of 5 [ms]"):
        assert word in done.stdout
    folder = tmp_path / "study"
    for name in FIGURES:
        assert (folder / f"rodrigues_da_silva_2024a_{name}.png").stat().st_size > 10_000
        assert (folder / f"rodrigues_da_silva_2024a_{name}.svg").stat().st_size > 10_000
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["failures"] == []
    motion = {row[""]: row for row in summary["tables"]["motion"]}
    assert motion["moves towards"] == {
        "": "moves towards",
        "classical universal joint": "lateral",
        "modified universal joint": "medial",
    }
    ranges = [row["y range [mm]"] for row in summary["tables"]["link length"]]
    assert ranges == sorted(
        ranges
    )  # Rodrigues da Silva et al. (2024a): the amplitude grows with the length of the link
    with (
        xarray.open_dataset(folder / "link_0.0_mm.nc") as none,
        xarray.open_dataset(folder / "classical.nc") as classical,
    ):
        assert none.r.equals(classical.r)

    again = talus_process("ankle", "--out", "study")
    assert again.returncode == 2
    assert again.stderr.strip() == "output folder 'study' exists; name another one, so that nothing is overwritten"


def test_simulate(talus, tmp_path):
    done = talus(
        "simulate", "foot", "--set", "ankle=classical", "--t-end", "0.5", "--points", "11", "--json", "--out", "o"
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (
        result["success"]
        and result["model"] == "foot, classical ankle"
        and result["error of the energy balance [J]"] < 1e-8
    )
    assert result["kernel"] == "whole model"
    assert {file.name for file in (tmp_path / "o").iterdir()} == {"run.nc", "run.csv", "run.sto"}
    assert talus("simulate", "chain", "--set", "links=3", "--t-end", "0.1").returncode == 0
    assert (tmp_path / "talus-chain").is_dir()
    assert talus("simulate", "chain", "--set", "links=3", "--t-end", "0.1").returncode == 0
    assert (tmp_path / "talus-chain-2").is_dir()


def test_info_models_doctor(talus):
    info = talus("info", "four_bar", "--set", "joints=revolute", "--json")
    facts = {row["fact"]: row["value"] for row in next(iter(json.loads(info.stdout).values()))}
    assert facts["degrees of freedom"] == 1 and facts["redundant rows"].count(",") == 2
    foot = talus("info", "foot").stdout
    assert "metatarsophalangeal" in foot and "generated/whole/foot_modified.py" in foot
    assert "none; codegen.compile_model(system) emits one" in talus("info", "chain", "--set", "links=9").stdout
    assert "spatial double pendulum" in talus("models").stdout
    doctor = talus("doctor")
    assert doctor.returncode == 0 and "fresh" in doctor.stdout and "reached t = 0.5 s" in doctor.stdout
    assert f"{runtime.__version__}, distribution talus-multibody" in doctor.stdout


BAD = {
    ("simulate", "hand"): "unknown model 'hand'; the models are",
    ("simulate", "models.foot:nothing"): "model 'models.foot:nothing' cannot be loaded",
    (
        "simulate",
        "foot",
        "--set",
        "colour=red",
    ): "model 'foot' has no 'colour'; it takes ankle, link_length, limits, preset",
    ("simulate", "foot", "--set", "ankle"): "--set ankle: give KEY=VALUE",
    ("simulate", "foot", "--set", "link_length=-1"): "link_length = -1 m must be a finite length",
    ("simulate", "foot", "--t-end", "-1"): "t_end = -1 s must be after t_start = 0 s",
    ("simulate", "foot", "--method", "ode15s"): "unknown method 'ode15s'; use auto, dop853",
    ("simulate", "foot", "--rtol", "nan"): "rtol = nan is not finite",
    ("ankle", "--t-end", "-1"): "--t-end = -1 must be a finite number above 0",
    ("ankle", "--tolerance", "0"): "--tolerance = 0 must be a finite number above 0",
    ("ankle", "--out", "/proc/none"): "output folder '/proc/none' cannot be made",
    ("dance",): "No such command 'dance'",
    ("simulate",): "Missing argument 'model'",
    ("ankle", "--out"): "requires an argument",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_one_sentence_and_exit_2(talus, tmp_path, arguments):
    done = talus(*arguments)
    assert done.returncode == 2
    assert BAD[arguments] in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_help_lists_every_verb(talus):
    text = talus("--help").stdout
    for verb in ("ankle", "simulate", "info", "models", "warm", "doctor"):
        assert verb in text
    assert "--tolerance" in talus("ankle", "--help").stdout


def test_a_failed_run_ends_with_exit_1(monkeypatch, tmp_path, capsys):
    from dataclasses import replace

    from runtime.integrate import simulate

    real = simulate.simulate
    monkeypatch.setattr(
        simulate, "simulate", lambda *a, **k: replace(real(*a, **k), status=-2, message="singular at t")
    )
    monkeypatch.setattr(sys, "argv", ["talus", "simulate", "pendulum", "--t-end", "0.1", "--out", str(tmp_path / "o")])
    with pytest.raises(SystemExit) as stop:
        runtime.cli.main()
    assert stop.value.code == 1 and "singular at t" in capsys.readouterr().err
