"""Parquet files of runs and ensembles: the CSV of the same result, read by another library, and refusals."""

import sys

import numpy as np
import pytest

import runtime
from tests.support.refusals import assert_refused

TIMES = np.linspace(0.0, 0.2, 5)


@pytest.fixture(scope="module")
def run():
    """A hinge and its limit have one name, and each has a quantity ``angle``."""
    b = runtime.Builder("rod")
    b.body("base", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -0.5))
    b.joint("ground", "fixed", runtime.GROUND, "base")
    b.joint("pivot", "revolute", "base", "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.5), a_j=(0, 1, 0))
    cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), [20] * 5)
    b.limit("pivot", "pivot", reference="base", xi=(1, 0, 0), eta=(0, 1, 0), cone=cone, max_moment=1.0, compliance=0.1)
    return runtime.simulate(b.build(), 0.2, t_eval=TIMES)


def fields(parquet, file):
    """Names and units of the columns."""
    schema = parquet.read_schema(file)
    units = [(field.metadata or {}).get(b"unit", b"").decode() for field in schema]
    return schema.names, units


def test_a_run_has_the_columns_of_its_csv(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    file = run.to_parquet(tmp_path / "run.parquet")
    header, *rows = run.to_csv(tmp_path / "run.csv").read_text().splitlines()
    names, units = fields(parquet, file)
    assert names == header.split(",") and len(set(names)) == len(names)
    assert "pivot.angle [rad]" in names and "pivot (limit).angle [rad]" in names  # of the joint, and of its limit
    assert all(name.endswith(f" [{unit}]") for name, unit in zip(names, units, strict=True) if unit)
    table = parquet.read_table(file)
    values = np.column_stack([column.to_numpy() for column in table.columns])
    np.testing.assert_array_equal(values, [[float(word) for word in row.split(",")] for row in rows])


def test_an_ensemble_has_the_columns_of_its_csv(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    cases = {"mass.rod": [3.0, 4.0]}
    many = runtime.simulate_many(run.system, cases, 0.2, t_eval=TIMES, outputs=["max(energy)"], progress=False)
    file = many.to_parquet(tmp_path / "many.parquet")
    header, *rows = many.to_csv(tmp_path / "many.csv").read_text().splitlines()
    names, units = fields(parquet, file)
    assert names == header.split(",") and dict(zip(names, units, strict=True))["mass.rod [kg]"] == "kg"
    columns = parquet.read_table(file).to_pydict().values()
    for row, found in zip(rows, zip(*columns, strict=True), strict=True):
        *numbers, status = row.split(",")
        assert [float(word) for word in numbers] == list(found[:-1]) and status == found[-1]


def test_a_file_is_not_replaced_unasked(run, tmp_path):
    pytest.importorskip("pyarrow")
    file = tmp_path / "run.parquet"
    file.write_text("kept")
    assert_refused("exists; choose another name or pass overwrite=True", run.to_parquet, file)
    assert file.read_text() == "kept"
    run.to_parquet(file, overwrite=True)
    assert file.read_bytes()[:4] == b"PAR1"


def test_without_pyarrow_the_remedy_is_named(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert_refused("needs pyarrow; pip install 'talus-multibody[parquet]'", run.to_parquet, tmp_path / "run.parquet")
    assert not (tmp_path / "run.parquet").exists()
