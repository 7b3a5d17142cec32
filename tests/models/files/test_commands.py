"""The command with files in place of names of models."""

import json

import pytest

import models
from tests.support import model_files, osim_muscles
from tests.support.osim_files import osim

MODEL = model_files.mjcf(model_files.JOINTS["three hinges"], extra='<sensor><jointpos name="s" joint="a"/></sensor>')


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(MODEL.replace('axis="0 0 1"', 'axis="0 0 1" frictionloss="0.1"'))
    return path


def test_info_lists_what_is_not_carried_over(file, command):
    done = command("info", file, "--set", "ignore=friction", "--json")
    rows = json.loads(done.out)["not carried over"]
    assert done.code == 0 and [(row["sort"], row["names"]) for row in rows] == [("friction", "c"), ("sensors", "s")]


def test_parts_that_change_the_motion_are_refused_with_the_option(file, command):
    done = command("info", file)
    assert done.code == 2 and "--set ignore=friction" in done.err


def test_simulate(file, command, tmp_path):
    options = ("--set", "ignore=friction", "--t-end", "0.1", "--no-report", "--json", "--out", tmp_path / "out")
    done = command("simulate", file, *options)
    assert done.code == 0 and json.loads(done.out)["success"] and (tmp_path / "out" / "run.csv").is_file()


def test_talus_s_own_file(command, tmp_path):
    own = models.foot.build(limits="elastic").to_file(tmp_path / "foot.json")
    done = command("info", own, "--json")
    assert done.code == 0 and "not carried over" not in json.loads(done.out)
    options = ("--t-end", "0.01", "--no-report", "--json", "--out")
    names = ("foot", own)
    found = []
    for name, given in zip(names, (("--set", "limits=elastic"), ()), strict=True):
        out = tmp_path / f"out_{len(found)}"
        done = command("simulate", name, *given, *options, out)
        assert done.code == 0 and json.loads(done.out)["success"]
        found.append((out / "run.csv").read_bytes())
    assert found[0] == found[1]


def test_a_file_of_talus_with_a_mistake(command, tmp_path):
    own = models.foot.build().to_file(tmp_path / "foot.json")
    own.write_text(own.read_text().replace('"mass"', '"mas"', 1))
    done = command("info", own)
    assert done.code == 2 and "unknown key 'mas'; did you mean 'mass'" in " ".join(done.err.split())


def test_info_takes_opensim_files(tmp_path, command):
    path = tmp_path / "limb.osim"
    path.write_text(osim(4))
    done = command("info", path, "--set", "ignore=couplers", "--json")
    rows = json.loads(done.out)["not carried over"]
    assert done.code == 0 and [row["sort"] for row in rows] == ["couplers", "ranges"]


def test_muscles_by_name(tmp_path, command):
    points = osim_muscles.point("pelvis", "0.02 0 0.02") + osim_muscles.point("foot", "0.1 0 0.02")
    file = tmp_path / "leg.osim"
    file.write_text(
        osim_muscles.leg("".join(osim_muscles.muscle(name, points) for name in ("soleus", "gastrocnemius")))
    )
    done = command("info", file, "--set", "ignore=couplers", "--set", "muscles=soleus", "--json")
    rows = json.loads(done.out)["not carried over"]
    assert done.code == 0 and [row["names"] for row in rows if row["sort"] == "muscles"] == ["gastrocnemius"]
