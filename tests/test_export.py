"""Results as labelled data and as files: what is written is read back, and nothing is overwritten."""

import csv

import numpy as np
import pytest
import xarray

import models
import runtime
from runtime import ModelError


@pytest.fixture(scope="module")
def run():
    return runtime.simulate(models.foot.build(), 0.2, t_eval=np.linspace(0, 0.2, 21))


def test_xarray(run):
    data = run.to_xarray()
    assert dict(data.sizes) == {"time": 21, "body": 3, "axis": 3, "euler": 4, "row": 16}
    np.testing.assert_array_equal(data.r.sel(body="main_foot", axis="z"), run.r["main_foot"][:, 2])
    np.testing.assert_array_equal(data.lam.sel(row="ankle.link_length"), run.lam["ankle"][:, 0])
    assert str(data.lam_unit.sel(row="ankle.link_length").values) == "N/m"
    assert str(data.row_unit.sel(row="ankle.link_length").values) == "m^2"
    assert data.v.attrs["units"] == "m/s" and data.time.attrs["units"] == "s"
    assert all("units" in data[name].attrs for name in data.data_vars)
    assert data.attrs["method"] == "dop853" and "x anterior" in data.attrs["convention"]
    assert np.isfinite(data.to_array().values.astype(float)).all()


def test_netcdf_keeps_every_number(run, tmp_path):
    file = run.to_netcdf(tmp_path / "run.nc")
    with xarray.open_dataset(file) as data:
        for name in ("r", "p", "omega_dot", "lam", "energy"):
            np.testing.assert_array_equal(data[name], run.to_xarray()[name])
        assert list(data.body.values.astype(str)) == ["toes", "main_foot", "leg"]
        assert data.attrs["model"] == "foot, modified ankle"


def test_csv_keeps_every_number(run, tmp_path):
    file = run.to_csv(tmp_path / "run.csv")
    with file.open() as stream:
        rows = list(csv.reader(stream))
    column = rows[0].index("main_foot.r_z [m]")
    np.testing.assert_array_equal([float(row[column]) for row in rows[1:]], run.r["main_foot"][:, 2])
    assert rows[0][0] == "time [s]" and "ankle.lam_link_length [N/m]" in rows[0]
    assert len(set(rows[0])) == len(rows[0])


def test_sto_is_opensim_storage(run, tmp_path):
    lines = run.to_sto(tmp_path / "run.sto").read_text().splitlines()
    end = lines.index("endheader")
    head = dict(line.split("=") for line in lines[1:end])
    names, values = lines[end + 1].split("\t"), np.loadtxt(lines[end + 2 :])
    assert head == {"version": "1", "nRows": "21", "nColumns": str(len(names)), "inDegrees": "no"}
    assert values.shape == (21, len(names)) and names[0] == "time"
    np.testing.assert_array_equal(values[:, names.index("toes/v_x")], run.v["toes"][:, 0])


@pytest.mark.parametrize("write", ["to_netcdf", "to_csv", "to_sto"])
def test_nothing_is_overwritten_in_silence(run, tmp_path, write):
    file = tmp_path / "run.out"
    file.write_text("precious")
    with pytest.raises(ModelError, match=r"run.out' exists; choose another name or pass overwrite=True"):
        getattr(run, write)(file)
    assert file.read_text() == "precious"
    getattr(run, write)(file, overwrite=True)
    assert file.stat().st_size > 1000
    with pytest.raises(ModelError, match=r"the folder '.*nowhere' does not exist; make it first"):
        getattr(run, write)(tmp_path / "nowhere" / "run.out")
    with pytest.raises(ModelError, match="it is a folder; give a file name"):
        getattr(run, write)(tmp_path)


def test_system_without_joints(tmp_path):
    run = runtime.simulate(models.free_body.build(), 0.1)
    data = run.to_xarray()
    assert "lam" not in data and run.violation.max() == 0.0
    run.to_netcdf(tmp_path / "free.nc")
