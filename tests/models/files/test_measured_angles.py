"""Coordinates of joints read from tables that runs and others write, as data of fits."""

import numpy as np
import pytest

import models
import runtime
from models.files import read_angles
from tests.support.refusals import assert_refused

T = np.linspace(0.0, 0.5, 26)


@pytest.fixture(scope="module")
def run():
    system = models.foot.build("modified")
    return runtime.simulate(runtime.with_parameters(system, {"l.ankle": 0.045}), 0.5, t_eval=T)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["mot", "sto", "csv"])
def test_tables_of_runs_are_data_of_fits(run, tmp_path, way):
    file = getattr(run, f"to_{way}")(tmp_path / f"run.{way}")
    t, data = read_angles(file, run.system)
    assert t == pytest.approx(T)
    for joint, angles in run.angles.items():
        for name, values in angles.values.items():
            assert data[f"angle.{joint}.{name}"] == pytest.approx(values, abs=1e-14)
            assert way == "mot" or data[f"rate.{joint}.{name}"] == pytest.approx(angles.rates[name], abs=1e-13)
    found = runtime.fit_parameters(models.foot.build("modified"), {"l.ankle": 0.0417}, t, data)
    assert found.values["l.ankle"] == pytest.approx(0.045, abs=1e-9)


def test_tables_of_others(run, tmp_path):
    file = tmp_path / "goniometer.csv"
    file.write_text("time [s],flexion (deg),slide\n0.0,30,\n0.1,,2\n")
    found = read_angles(file, run.system, names={"angle.ankle.theta_i": "flexion"})
    assert found.data["angle.ankle.theta_i"][0] == pytest.approx(np.pi / 6.0) and np.isnan(
        found.data["angle.ankle.theta_i"][1]
    )
    file.write_text("time,ankle.theta_i\n0.0,30\n0.1,31\n")
    assert read_angles(file, run.system, in_degrees=True).data["angle.ankle.theta_i"][1] == pytest.approx(
        np.deg2rad(31.0)
    )


MOT = "x\nversion=1\nnRows=1\nnColumns=2\ninDegrees=yes\nendheader\ntime\tankle_theta_i\n0\t30\n"
REFUSED = {
    "no unit": ("a.csv", "time,ankle.theta_i\n0,1\n", {}, "column 'ankle.theta_i' is not stated; give in_deg"),
    "another unit": ("a.csv", "time,ankle.theta_i [mm]\n0,1\n", {}, "column 'ankle.theta_i' is in [mm]; give one of rad, deg"),
    "the header says": ("a.mot", MOT, {"in_degrees": False}, "in_degrees=False, but the header says degrees; leave it out"),
    "nothing": ("a.csv", "time,hip\n0,1\n", {}, "no column is a coordinate of system 'foot, modified ankle' (angle.meta"),
    "no column": (
        "a.csv", "time,hip\n0,1\n", {"names": {"angle.ankle.theta_i": "hop"}}, "unknown column of a.csv 'hop'; did you mean 'hip'"
    ),
    "no coordinate": ("a.csv", "time,hip\n0,1\n", {"names": {"angle.ankel.theta_i": "hip"}}, "unknown coordinate 'angle.ankel"),
    "no time": ("a.csv", "hip,time\n0,1\n", {}, "the first column is 'hip'; it must be 'time'"),
    "text": ("a.csv", "time,hip\n0,left\n", {}, "row 2: could not convert string to float: 'left'; give numbers"),
    "short row": ("a.csv", "time,hip\n0\n", {}, "row 2: 1 values for 2 columns"),
    "times": ("a.csv", "time,hip\n0,1\n0,1\n", {}, "row 3: time '0'; times must be finite and increase"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_tables(run, tmp_path, name):
    file, text, options, message = REFUSED[name]
    (tmp_path / file).write_text(text)
    assert_refused((message, file.partition(".")[0]), read_angles, tmp_path / file, run.system, **options)
