"""The command with files in place of names of models."""

import json

import pytest

import models
from runtime.cli import main
from tests.support import model_files
from tests.support.osim_files import osim

MODEL = model_files.mjcf(model_files.JOINTS["three hinges"], extra='<sensor><jointpos name="s" joint="a"/></sensor>')


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(MODEL.replace('axis="0 0 1"', 'axis="0 0 1" frictionloss="0.1"'))
    return path


def call(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["talus", *map(str, arguments)])
    with pytest.raises(SystemExit) as done:
        main()
    return done.value.code, capsys.readouterr()


def test_info_lists_what_is_not_carried_over(file, monkeypatch, capsys):
    code, printed = call(monkeypatch, capsys, "info", file, "--set", "ignore=friction", "--json")
    rows = json.loads(printed.out)["not carried over"]
    assert code in (0, None) and [(row["sort"], row["names"]) for row in rows] == [("friction", "c"), ("sensors", "s")]


def test_parts_that_change_the_motion_are_refused_with_the_option(file, monkeypatch, capsys):
    code, printed = call(monkeypatch, capsys, "info", file)
    assert code == 2 and "--set ignore=friction" in printed.err


def test_simulate(file, monkeypatch, capsys, tmp_path):
    options = ("--set", "ignore=friction", "--t-end", "0.1", "--no-report", "--json", "--out", tmp_path / "out")
    code, printed = call(monkeypatch, capsys, "simulate", file, *options)
    assert code in (0, None) and json.loads(printed.out)["success"] and (tmp_path / "out" / "run.csv").is_file()


def test_talus_s_own_file(monkeypatch, capsys, tmp_path):
    own = models.foot.build(limits="elastic").to_file(tmp_path / "foot.json")
    code, printed = call(monkeypatch, capsys, "info", own, "--json")
    assert code in (0, None) and "not carried over" not in json.loads(printed.out)
    options = ("--t-end", "0.01", "--no-report", "--json", "--out")
    names = ("foot", own)
    found = []
    for name, given in zip(names, (("--set", "limits=elastic"), ()), strict=True):
        out = tmp_path / f"out_{len(found)}"
        code, printed = call(monkeypatch, capsys, "simulate", name, *given, *options, out)
        assert code in (0, None) and json.loads(printed.out)["success"]
        found.append((out / "run.csv").read_bytes())
    assert found[0] == found[1]


def test_a_file_of_talus_with_a_mistake(monkeypatch, capsys, tmp_path):
    own = models.foot.build().to_file(tmp_path / "foot.json")
    own.write_text(own.read_text().replace('"mass"', '"mas"', 1))
    code, printed = call(monkeypatch, capsys, "info", own)
    assert code == 2 and "unknown key 'mas'; did you mean 'mass'" in " ".join(printed.err.split())


def test_info_takes_opensim_files(tmp_path, monkeypatch, capsys):
    path = tmp_path / "limb.osim"
    path.write_text(osim(4))
    code, printed = call(monkeypatch, capsys, "info", path, "--set", "ignore=couplers", "--json")
    rows = json.loads(printed.out)["not carried over"]
    assert code in (0, None) and [row["sort"] for row in rows] == ["couplers", "ranges"]
