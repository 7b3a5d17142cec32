"""Ensembles in folders: what is written is read back, and damaged or foreign content is refused."""

import json

import numpy as np
import pytest

import models
from runtime import ModelError, Status, read_ensemble, simulate_many
from tests.support.ensembles import GRID, SETTINGS, thrown


def test_a_folder_holds_the_same_results_as_memory(tmp_path):
    system, cases = models.foot.build(), thrown(40)
    reference = simulate_many(system, cases, 0.3, t_eval=GRID[:7], **SETTINGS)
    found = simulate_many(system, cases, 0.3, t_eval=GRID[:7], out=tmp_path / "many", chunk=9, **SETTINGS)
    read = read_ensemble(tmp_path / "many")
    for one in (found, read):
        assert np.array_equal(one.states(), reference.states()) and np.array_equal(one.status, reference.status)
        assert np.array_equal(one.states(slice(5, 12)), reference.states()[5:12])
        assert np.array_equal(one.cases["omega.toes"], cases["omega.toes"]) and one.t == pytest.approx(GRID[:7])
    files = {f: f.stat().st_mtime_ns for f in (tmp_path / "many" / "chunks").iterdir()}
    assert len(files) == 5
    simulate_many(system, cases, 0.3, t_eval=GRID[:7], out=tmp_path / "many", chunk=9, **SETTINGS)
    assert files == {f: f.stat().st_mtime_ns for f in (tmp_path / "many" / "chunks").iterdir()}


def test_quantities_of_the_cases_are_read_back(tmp_path):
    cases = {"mass.toes": [0.2, 0.3], "omega.toes": np.zeros((2, 3)), "gravity": [(0, 0, -9.81), (0, 0, -1.62)]}
    found = simulate_many(models.foot.build(), cases, 0.01, out=tmp_path, **SETTINGS)
    read = read_ensemble(tmp_path)
    assert found.units == read.units == {"mass.toes": "kg", "omega.toes": "rad/s", "gravity": "m/s^2"}
    for one in (found, read):
        assert [(q.part, q.owner) for q in one.quantities.values()] == [
            ("mass", "toes"),
            ("omega", "toes"),
            ("gravity", ""),
        ]
        assert [one.to_xarray()[f"case_{name}"].attrs["units"] for name in cases] == list(found.units.values())


def test_repeating_the_call_resumes_an_interrupted_ensemble(tmp_path):
    system, cases = models.foot.build(), thrown(40)

    def stop(done, count):
        if done >= 10:
            raise KeyboardInterrupt

    first = simulate_many(system, cases, 0.3, out=tmp_path, chunk=5, progress=stop, **SETTINGS)
    count = int((first.status == 0).sum())
    assert 10 <= count < 40 and (first.status[first.status != 0] == Status.NOT_RUN).all()
    assert np.isfinite(first.states()[first.status == 0]).all() and np.isnan(first.states()[first.status != 0]).all()
    reports = []
    again = simulate_many(
        system, cases, 0.3, out=tmp_path, chunk=5, progress=lambda done, n: reports.append((done, n)), **SETTINGS
    )
    assert again.success and reports[-1] == (40, 40) and reports[0][0] > count
    assert np.array_equal(again.states(), simulate_many(system, cases, 0.3, **SETTINGS).states())


def test_a_folder_keeps_its_own_chunks(tmp_path):
    system, cases = models.foot.build(), {name: values[:20] for name, values in thrown(40).items()}

    def stop(done, count):
        if done >= 8:
            raise KeyboardInterrupt

    first = simulate_many(system, cases, 0.2, out=tmp_path, chunk=4, workers=1, progress=stop, **SETTINGS)
    assert 8 <= (first.status == 0).sum() < 20
    reports = []
    again = simulate_many(
        system, cases, 0.2, out=tmp_path, chunk=7, progress=lambda done, n: reports.append(done), **SETTINGS
    )
    assert again.success and reports[-1] == 20 and len(list((tmp_path / "chunks").iterdir())) == 5
    assert np.array_equal(again.states(), simulate_many(system, cases, 0.2, **SETTINGS).states())


def test_damaged_chunks_are_reported_and_run_again(tmp_path):
    system, cases = models.foot.build(), {name: values[:12] for name, values in thrown(40).items()}
    reference = simulate_many(system, cases, 0.1, out=tmp_path, chunk=3, **SETTINGS)
    files = sorted((tmp_path / "chunks").iterdir())
    files[0].write_bytes(files[0].read_bytes()[:200])
    files[1].write_bytes(b"")
    content = bytearray(files[2].read_bytes())
    content[len(content) // 3] ^= 1  # among the states
    files[2].write_bytes(content)
    files[3].write_bytes((tmp_path / "chunks" / "000000009.npz").read_bytes())
    with pytest.raises(ModelError, match=r"000000000.npz is damaged .* call simulate_many again"):
        read_ensemble(tmp_path)
    with pytest.warns(UserWarning, match="its cases are run again") as caught:
        again = simulate_many(system, cases, 0.1, out=tmp_path, **SETTINGS)
    assert len(caught) == 3 and again.success and np.array_equal(again.states(), reference.states())
    assert len(list((tmp_path / "chunks").glob("*.damaged"))) == 3
    files[0].write_bytes(files[1].read_bytes())
    with pytest.raises(ModelError, match=r"000000000.npz holds other cases"):
        read_ensemble(tmp_path)
    files[0].unlink()
    (tmp_path / "chunks" / "000000001.npz").write_bytes(b"")
    with pytest.raises(ModelError, match=r"000000001.npz is no chunk of this ensemble"):
        read_ensemble(tmp_path)


def test_damaged_descriptions_are_refused(tmp_path):
    system, cases = models.foot.build(), {name: values[:2] for name, values in thrown(40).items()}
    simulate_many(system, cases, 0.1, out=tmp_path, **SETTINGS)
    (tmp_path / "cases.npz").write_bytes(b"")
    with pytest.raises(ModelError, match=r"cases.npz is damaged .* call simulate_many again"):
        read_ensemble(tmp_path)
    assert simulate_many(system, cases, 0.1, out=tmp_path, **SETTINGS).success
    assert np.array_equal(read_ensemble(tmp_path).cases["v.toes"], cases["v.toes"])
    content = (tmp_path / "ensemble.json").read_text(encoding="utf-8")
    (tmp_path / "ensemble.json").write_text(content.replace('"format": 2', '"format": 1'), encoding="utf-8")
    with pytest.raises(ModelError, match="has the format 1, this version reads 2"):
        read_ensemble(tmp_path)
    (tmp_path / "ensemble.json").write_text(content[:50], encoding="utf-8")
    with pytest.raises(ModelError, match=r"ensemble.json cannot be read"):
        read_ensemble(tmp_path)


def test_another_function_or_code_is_refused(tmp_path):
    factor, cases = 1.0, {"x": [0.03, 0.04]}

    def build(x):
        return models.foot.build(link_length=x * (factor if x > 0.035 else 1.0))

    simulate_many(build, cases, 0.1, out=tmp_path, chunk=1, **SETTINGS)
    assert simulate_many(build, cases, 0.1, out=tmp_path, **SETTINGS).success
    factor = 1.1
    with pytest.raises(ModelError, match="its system differs"):
        simulate_many(build, cases, 0.1, out=tmp_path, **SETTINGS)
    factor = 1.0
    global HIDDEN
    HIDDEN = 1.0
    simulate_many(hidden, cases, 0.1, out=tmp_path / "hidden", chunk=1, **SETTINGS)
    HIDDEN = 1.1
    with pytest.raises(ModelError, match="its system differs for case 1"):
        simulate_many(hidden, cases, 0.1, out=tmp_path / "hidden", **SETTINGS)
    record = json.loads((tmp_path / "ensemble.json").read_text(encoding="utf-8"))
    record["code"] = "of another version"
    (tmp_path / "ensemble.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ModelError, match="its code is 'of another version'"):
        simulate_many(build, cases, 0.1, out=tmp_path, **SETTINGS)


def hidden(x):
    """A function that hangs on a name that its text does not define."""
    return models.foot.build(link_length=x * (HIDDEN if x > 0.035 else 1.0))


def test_another_ensemble_is_refused(tmp_path):
    system, cases = models.foot.build(), {name: values[:4] for name, values in thrown(5).items()}
    simulate_many(system, cases, 0.1, out=tmp_path / "many", **SETTINGS)
    for changes, message in (
        (dict(rtol=1e-8), "its rtol is 1e-09, not 1e-08"),
        (dict(cases={name: 1.0001 * values for name, values in cases.items()}), "its cases differ"),
        (dict(system=models.foot.build(link_length=0.05)), "its system differs"),
        (dict(t_eval=[0.05, 0.1]), "its t is"),
        (dict(assemble=True), "its assemble is False, not True"),
        (dict(max_steps=3), "its max_steps is"),
    ):
        arguments = (
            dict(system=system, cases=cases, t_end=0.1, out=tmp_path / "many", assemble=False) | SETTINGS | changes
        )
        with pytest.raises(ModelError, match=r"holds another ensemble") as error:
            simulate_many(**arguments)
        assert message in str(error.value)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ModelError, match="holds other files"):
        simulate_many(system, cases, 0.1, out=tmp_path / "other", **SETTINGS)
    with pytest.raises(ModelError, match="holds no ensemble"):
        read_ensemble(tmp_path / "other")


def test_a_call_killed_before_its_first_chunk_starts_again(tmp_path):
    (tmp_path / "many" / "chunks").mkdir(parents=True)
    (tmp_path / "many" / "cases.npz").write_bytes(b"half")
    (tmp_path / "many" / "ensemble.json.part").write_bytes(b"{")
    cases = {name: values[:4] for name, values in thrown(5).items()}
    assert simulate_many(models.foot.build(), cases, 0.1, out=tmp_path / "many", **SETTINGS).success
    assert np.array_equal(read_ensemble(tmp_path / "many").cases["v.toes"], cases["v.toes"])


def test_two_writers_are_refused(tmp_path):
    system, cases = models.foot.build(), {name: values[:4] for name, values in thrown(5).items()}

    def write_too(done, count):
        with pytest.raises(ModelError, match="being written by another process"):
            simulate_many(system, cases, 0.1, out=tmp_path, chunk=1, **SETTINGS)

    assert simulate_many(system, cases, 0.1, out=tmp_path, chunk=1, progress=write_too, **SETTINGS).success


def test_a_folder_describes_the_runs(tmp_path):
    simulate_many(models.foot.build, {"link_length": [0.04, 0.05]}, 0.1, out=tmp_path, **SETTINGS)
    record = json.loads((tmp_path / "ensemble.json").read_text(encoding="utf-8"))
    assert (
        record["count"] == 2 and record["settings"]["rtol"] == 1e-9 and record["bodies"] == ["toes", "main_foot", "leg"]
    )


def test_a_full_disk_is_reported(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("runtime.ensemble.store.os.fsync", full)
    with pytest.raises(ModelError, match=r"could not be written \(No space left on device\); make room"):
        simulate_many(models.foot.build(), thrown(40), 0.1, out=tmp_path, **SETTINGS)
    assert not list(tmp_path.glob("*.part"))
    monkeypatch.undo()
    assert simulate_many(models.foot.build(), thrown(40), 0.1, out=tmp_path, **SETTINGS).success
