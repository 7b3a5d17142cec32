"""The command ``talus joints``: tables, figures and files of bones that a modified universal joint moves, and its messages."""

import csv
import json

import numpy as np
import pytest

from models import foot
from models.studies.joints.study import joints
from models.studies.joints.tables import published_distance
from models.walking.geometry import euler_parameters
from runtime.cli.studies import study_command
from tests.models.walking.test_joint_fit import FRAMES, LENGTH, moved
from tests.support.layouts import faults_of_figures
from tests.support.refusals import assert_refused
from tests.support.reports import check_figures, quiet, records


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file of poses for each movement, of the calcaneus in the tibia."""
    folder, found = tmp_path_factory.mktemp("poses"), []
    for one in moved("modified", 1.0):
        names = ("x", "y", "z", "qw", "qx", "qy", "qz")
        rows = np.column_stack([1e3 * one.r, euler_parameters(one.A)])
        file = folder / f"{one.name.replace(' ', '_')}.csv"
        lines = [",".join(f"calcaneus_{name}" for name in names), *(",".join(map(str, row)) for row in rows)]
        file.write_text("# units: mm\n" + "\n".join(lines) + "\n")
        found.append(file)
    return tuple(found)


def test_a_report_says_which_joint_fits(files, tmp_path):
    with faults_of_figures() as faults:
        report = joints(tmp_path, quiet, motions=files, proximal="none")
    assert not faults and not report.failures
    check_figures(tmp_path, records(report, "figures"))
    rows = {row["joint"]: row for row in records(report, "joints")}
    assert rows["modified"]["result"] == "chosen" and rows["modified"]["parameters"] == 12
    assert [row["parameters"] for row in rows.values()] == [9, 11, 12, 6, 0]
    assert "The modified joint fits" in report.answer and report.head["frames"].startswith(f"{3 * FRAMES},")
    line = next(row for row in records(report, "lines") if row["joint"] == "modified")
    assert line["from [mm]"] < 1e3 * LENGTH < line["to [mm]"]
    assert [row["movement"] for row in records(report, "left out")] == ["movement_1", "movement_2", "movement_3"]
    with open(tmp_path / "joints.csv", encoding="utf-8") as stream:
        assert [row["joint"] for row in csv.DictReader(stream)] == list(rows)
    assert (tmp_path / "report.html").exists()


@pytest.mark.usefixtures("without_figures")
def test_options_of_the_command(files, tmp_path, capsys):
    command = study_command("joints", lambda: joints)
    options = [
        "--proximal",
        "none",
        "--joint",
        "hinge",
        "--joint",
        "spherical",
        "--json",
        "--out",
        str(tmp_path / "out"),
    ]
    command.main([*map(str, files), *options], standalone_mode=False)
    said = json.loads(capsys.readouterr().out)
    assert [row["joint"] for row in said["tables"]["joints"]] == ["hinge", "spherical"]
    assert {row["result"] for row in said["tables"]["joints"]} == {"chosen", ""}


def test_without_files_it_says_what_it_takes(tmp_path):
    assert_refused("give one or more, such as walk.csv", joints, tmp_path, quiet, motions=())


def test_the_axes_of_the_published_foot_are_apart_by_less_than_its_link():
    """By the least distance of points that slide along both lines."""
    one, two = foot.talocrural_frame()[1], foot.talocalcaneal_frame()[0]
    link = np.array([0.0, 0.0, -foot.LINK_LENGTH])
    slides = np.linalg.lstsq(np.column_stack([-one, two]), -link, rcond=None)[0]
    assert published_distance() == pytest.approx(
        np.linalg.norm(link + np.column_stack([-one, two]) @ slides), rel=1e-12
    )
