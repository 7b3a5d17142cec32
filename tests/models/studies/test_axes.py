"""The command ``talus axes``: the axes of the subjects of a table together, its report, and subjects that cannot be used."""

from dataclasses import replace

import numpy as np
import pytest

from models.studies.axes import axes
from models.walking import synthetic
from models.walking.axes_of_many import axes_of_many
from models.walking.axes_posterior import axes_posterior
from models.walking.scaling import scale_to_subject
from runtime.cli.studies import study_command
from tests.support.gait_files import laboratory
from tests.support.layouts import faults_of_figures
from tests.support.refusals import assert_refused
from tests.support.reports import check_figures, quiet, records

NAMES = ("ann", "bob")
MARKERS = ["=".join(pair) for pair in synthetic.MARKERS.items()]


def noisy(seed):
    """The synthetic walk with 2 mm of noise."""
    walk, rng = synthetic.trial(50.0), np.random.default_rng(seed)
    return replace(walk, markers={label: p + rng.normal(0.0, 2e-3, p.shape) for label, p in walk.markers.items()})


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Two subjects, each with a walk, the second one with another one that does not count, and a subject with a bad file."""
    folder, lines = tmp_path_factory.mktemp("people"), ["subject,mass,static,trials,side"]
    (folder / "bad_markers.csv").write_text("nothing\n")
    for seed, name in enumerate(NAMES):
        static, walk = laboratory(folder, None, noisy(seed), name=name)
        lines.append(f"{name},70,{static.name},{walk.name}{'|bad_markers.csv' if seed else ''},")
    lines.append(f"cyd,70,{static.name},bad_markers.csv,")
    file = folder / "people.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_a_report_of_subjects_together(table, tmp_path):
    """The table shows what ``axes_of_many`` finds of the same walks; a subject with a bad file is named, the others count."""
    with faults_of_figures() as faults:
        report = axes(tmp_path, quiet, table=table, marker=MARKERS)
    assert not faults and report.answer.startswith("2 feet: talocrural inclination")
    (failure,) = report.failures
    assert failure.startswith("subject 'cyd' (line 4): not used: bad_markers.csv")
    check_figures(tmp_path, records(report, "figures"))
    subject = scale_to_subject(synthetic.static(), "right", markers=synthetic.MARKERS, mass=70.0)
    found = axes_of_many([axes_posterior(subject, [noisy(seed)]) for seed in range(len(NAMES))])
    rows = records(report, "axes of the subjects")
    assert [row["subject"] for row in rows[::8]] == ["ann, right", "bob, right"]
    for k, row in ((0, 4), (1, 4)):
        one, shown = found.subjects[k], rows[8 * k + row]
        assert shown["what"] == "talocalcaneal inclination [deg]"
        assert shown["together"] == pytest.approx(np.degrees(one.mean[row]), abs=0.3)
        assert shown["to"] == pytest.approx(np.degrees(one.interval[row, 1]), abs=0.3)
    group = records(report, "population")[4]
    assert group["published"] == pytest.approx(41.0) and group["SD"] == pytest.approx(10.8, abs=0.05)
    prior = found.subjects[0].prior
    assert group["group"] == pytest.approx(np.degrees(prior.mean[4] + prior.sd[4] * found.mean[4]), abs=0.3)
    assert records(report, "notes")[0]["remark"] == "bob: trials that were not used: 1"


@pytest.mark.usefixtures("without_figures")
def test_messages_of_the_command(table, tmp_path):
    command = study_command("axes", lambda: axes)
    assert "SUBJECTS.csv" in " ".join(one.help or "" for one in command.params)
    assert_refused("foot = 'both': use right or left", axes, tmp_path, quiet, table=table, foot="both")
    lines = table.read_text().splitlines()
    alone = table.with_name("alone.csv")
    alone.write_text("\n".join([lines[0], lines[3]]) + "\n")
    assert_refused(
        "the axes of 0 subjects were found, two are needed", axes, tmp_path, quiet, table=alone, marker=MARKERS
    )
    sides = table.with_name("sides.csv")
    sides.write_text(f"{lines[0]},condition\n{lines[1]}right,slow\n{lines[1]}left,fast\n")
    assert_refused("line 3: subject 'ann' has another side than in line 2", axes, tmp_path, quiet, table=sides)
