"""Ensembles in folders: what is written is read back, and damaged or foreign content is refused."""

import json
import pickle
import re
import shutil
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import codegen
import models
from benchmarks.ensemble_systems import loaded_foot, sprung_foot
from runtime import Builder, ModelError, Status, read_ensemble, simulate_many
from runtime.ensemble.seals import SEAL, digest_of_system, seal_of_description
from runtime.support.arrays import frozen
from runtime.support.files import is_unfinished
from runtime.support.results_folder import own_folder
from runtime.system.system import with_fields
from tests.support.ensembles import GRID, SETTINGS, thrown
from tests.support.planar_friction import arm_on_a_journal
from tests.support.processes import environment
from tests.support.refusals import assert_refused


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
        system, cases, 0.3, out=tmp_path, chunk=7, progress=lambda done, n: reports.append((done, n)), **SETTINGS
    )
    assert again.success and reports[-1] == (40, 40) and reports[0][0] > count
    assert len(list((tmp_path / "chunks").iterdir())) == 8  # a folder keeps its own chunks
    assert np.array_equal(again.states(), simulate_many(system, cases, 0.3, **SETTINGS).states())


def test_damaged_chunks_are_reported_and_run_again(tmp_path):
    system, cases = models.foot.build(), {name: values[:12] for name, values in thrown(40).items()}
    reference = simulate_many(system, cases, 0.1, out=tmp_path, chunk=3, **SETTINGS)
    states = reference.states()
    files = sorted((tmp_path / "chunks").iterdir())
    files[0].write_bytes(files[0].read_bytes()[:200])
    files[1].write_bytes(b"")
    content = bytearray(files[2].read_bytes())
    content[content.index(states[6].tobytes()) + 100] ^= 1  # among the states
    files[2].write_bytes(content)
    files[3].write_bytes((tmp_path / "chunks" / "000000009.npz").read_bytes())
    assert_refused(("000000000.npz is damaged ", " call simulate_many again"), read_ensemble, tmp_path)
    with pytest.warns(UserWarning, match="its cases are run again") as caught:
        again = simulate_many(system, cases, 0.1, out=tmp_path, **SETTINGS)
    assert len(caught) == 3 and again.success and np.array_equal(again.states(), states)
    assert len(list((tmp_path / "chunks").glob("*.damaged"))) == 3
    files[0].write_bytes(files[1].read_bytes())
    assert_refused("000000000.npz holds other cases", read_ensemble, tmp_path)
    files[0].unlink()
    (tmp_path / "chunks" / "000000001.npz").write_bytes(b"")
    assert_refused("000000001.npz is no chunk of this ensemble", read_ensemble, tmp_path)


def test_damaged_descriptions_are_refused(tmp_path):
    system, cases = models.foot.build(), {name: values[:2] for name, values in thrown(40).items()}
    simulate_many(system, cases, 0.1, out=tmp_path, **SETTINGS)
    (tmp_path / "cases.npz").write_bytes(b"")
    assert_refused(("cases.npz is damaged ", " call simulate_many again"), read_ensemble, tmp_path)
    assert simulate_many(system, cases, 0.1, out=tmp_path, **SETTINGS).success
    assert np.array_equal(read_ensemble(tmp_path).cases["v.toes"], cases["v.toes"])
    content = (tmp_path / "ensemble.json").read_text(encoding="utf-8")
    (tmp_path / "ensemble.json").write_text(content.replace('"format": 3', '"format": 1'), encoding="utf-8")
    assert_refused("has the format 1, this version reads 3", read_ensemble, tmp_path)
    (tmp_path / "ensemble.json").write_text(content[:50], encoding="utf-8")
    assert_refused("ensemble.json cannot be read", read_ensemble, tmp_path)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of ensembles of one shape: equal shapes of all arrays, other cases, settings or systems."""
    base = tmp_path_factory.mktemp("ensembles")
    cases = {name: values[:6] for name, values in thrown(40).items()}
    others = {name: 1.001 * values for name, values in cases.items()}
    made = dict(
        own=(models.foot.build(), cases, {}),
        cases=(models.foot.build(), others, {}),
        settings=(models.foot.build(), cases, dict(rtol=1e-8)),
        system=(models.foot.build(link_length=0.05), cases, dict(assemble=True)),
    )
    for name, (system, given, more) in made.items():
        simulate_many(system, given, 0.1, out=base / name, chunk=2, **SETTINGS | more)
    return base


@pytest.mark.parametrize("other", ["cases", "settings", "system"])
@pytest.mark.parametrize("file", ["cases.npz", "ensemble.json", "chunks/000000002.npz"])
def test_files_of_another_ensemble_are_not_taken_for_own(folders, tmp_path, other, file):
    mine = tmp_path / "mine"
    shutil.copytree(folders / "own", mine)
    shutil.copy(folders / other / file, mine / file)
    if (folders / "own" / file).read_bytes() == (folders / other / file).read_bytes():
        assert file == "cases.npz" and other != "cases"
        return
    with pytest.raises(ModelError, match="another ensemble|holds other cases") as error:
        read_ensemble(mine)
    assert str(mine) in str(error.value)
    cases = {name: values[:6] for name, values in thrown(40).items()}
    if file == "ensemble.json":
        assert_refused("holds another ensemble", simulate_many, models.foot.build(), cases, 0.1, out=mine, **SETTINGS)
        return
    if file != "cases.npz":  # which is written again, as its digest proves the given cases to be the ensemble's
        with pytest.warns(UserWarning, match="of another ensemble; it is set aside, and its cases are run again"):
            again = simulate_many(models.foot.build(), cases, 0.1, out=mine, **SETTINGS)
        assert [f.name for f in (mine / "chunks").glob("*.damaged")] == ["000000002.damaged"]
    else:
        again = simulate_many(models.foot.build(), cases, 0.1, out=mine, **SETTINGS)
    assert np.array_equal(again.states(), read_ensemble(folders / "own").states())


def test_changed_arrays_are_not_believed(folders, tmp_path):
    """Each array of a chunk and of the cases changed and saved anew, so that the archive's checksums are right."""
    mine = tmp_path / "mine"
    shutil.copytree(folders / "own", mine)
    for file, match in (
        (mine / "chunks" / "000000002.npz", "was changed|another ensemble|other cases|is damaged"),
        (mine / "cases.npz", "holds other cases .* or was changed"),
    ):
        whole = file.read_bytes()
        with np.load(file) as stored:
            arrays = dict(stored)
        for name, values in arrays.items():
            kind = values.dtype.kind
            other = np.char.add(values, "x") if kind == "U" else ~values if kind == "b" else values + 1
            np.savez(file, **arrays | {name: other})
            assert_refused(re.compile(match), lambda: read_ensemble(mine).states())
        file.write_bytes(whole)
        assert read_ensemble(mine).success


@pytest.mark.slow
def test_columns_with_none_resume_in_another_process(tmp_path):
    program = """
import sys, models, runtime
limits = [None, "".join(("elas", "tic"))]  # at another address in each process
print(runtime.simulate_many(models.foot.build, {"limits": limits}, 0.01, out=sys.argv[1]).success)
"""
    for _ in range(2):
        command = [sys.executable, "-c", program, str(tmp_path / "many")]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
        assert done.stdout == "True\n", done.stderr


def rod_on_a_table():
    """A body on a spring whose force is a table."""
    b = Builder("table")
    b.body("rod", mass=1.0, inertia=(1.0, 1.0, 1.0), r=(1.0, 0.0, 0.0), free=True)
    table = [(0.9, -1.0), (1.0, 0.0), (1.1, 2.0)]
    ends = dict(s_i=(0, 0, 0), s_j=(0, 0, 0))
    b.force("spring", "tabulated_spring", "ground", "rod", **ends, damping=0.1, tension_table=table)
    return b.build()


@pytest.mark.parametrize(
    "build",
    [
        sprung_foot,
        loaded_foot,
        partial(models.foot.build, orthosis="stiff"),
        partial(arm_on_a_journal, 0.3, 0.1, 0.5),
        rod_on_a_table,
    ],
)
def test_addresses_of_kernels_do_not_count(build):
    """They differ between processes, of forces and motors as of joints, and of tables, kinks, angles and reactions of forces."""
    system = build()
    t = system.data

    def moved(of, *names):
        return of._replace(**{name: np.where(getattr(of, name) != 0, getattr(of, name) + 64, 0) for name in names})

    forces = moved(t.forces, "address", "lookups", "kinks", "angles")
    reactive, angles = t.forces.reactive.copy(), t.angles.copy()
    reactive[:, 5:] += 64
    angles[angles[:, 0] != 0, 0] += 64
    data = moved(t, "address")._replace(
        forces=forces._replace(reactive=reactive), angles=angles, loads=moved(t.loads, "address")
    )
    other = with_fields(system, data=frozen(data))
    assert digest_of_system(other, other.state.y) == digest_of_system(system, system.state.y)


def test_files_set_aside_do_not_replace_earlier_ones(tmp_path):
    system, cases = models.foot.build(), {name: values[:2] for name, values in thrown(40).items()}
    simulate_many(system, cases, 0.01, out=tmp_path, chunk=2, **SETTINGS)
    for content in (b"first", b"second"):
        (tmp_path / "chunks" / "000000000.npz").write_bytes(content)
        with pytest.warns(UserWarning, match="is damaged .*; it is set aside"):
            simulate_many(system, cases, 0.01, out=tmp_path, chunk=2, **SETTINGS)
    assert {f.read_bytes() for f in (tmp_path / "chunks").glob("*.damaged")} == {b"first", b"second"}


def test_another_function_or_code_is_refused(tmp_path):
    factor, cases = 1.0, {"x": [0.03, 0.04]}

    def build(x):
        return models.foot.build(link_length=x * (factor if x > 0.035 else 1.0))

    simulate_many(build, cases, 0.1, out=tmp_path, chunk=1, **SETTINGS)
    assert simulate_many(build, cases, 0.1, out=tmp_path, **SETTINGS).success
    factor = 1.1
    assert_refused("its system differs", simulate_many, build, cases, 0.1, out=tmp_path, **SETTINGS)
    factor = 1.0
    global HIDDEN
    HIDDEN = 1.0
    simulate_many(hidden, cases, 0.1, out=tmp_path / "hidden", chunk=1, **SETTINGS)
    HIDDEN = 1.1
    assert_refused(
        "its system differs for case 1", simulate_many, hidden, cases, 0.1, out=tmp_path / "hidden", **SETTINGS
    )
    record = json.loads((tmp_path / "ensemble.json").read_text(encoding="utf-8"))
    record["code"] = "of another version"
    record[SEAL] = seal_of_description(record)
    (tmp_path / "ensemble.json").write_text(json.dumps(record), encoding="utf-8")
    assert_refused("its code is 'of another version'", simulate_many, build, cases, 0.1, out=tmp_path, **SETTINGS)


def test_an_own_definition_of_another_formula_is_another_ensemble(tmp_path):
    def system(power):
        def pull(r_i, r_j, strength):
            """A central force.

            strength : [N/m]
            """
            d = r_j - r_i
            return {"potential": strength * d.dot(d) ** power}

        b = Builder("planet")
        b.body("planet", mass=1.0, inertia=(1.0,) * 3, r=(2.0, 0, 0), free=True)
        b.force("pull", codegen.compile_force(pull), "planet", strength=3.0)
        return b.build()

    cases = {"mass.planet": [1.0, 2.0]}
    simulate_many(system(1), cases, 0.1, out=tmp_path, **SETTINGS)
    assert simulate_many(system(1), cases, 0.1, out=tmp_path, **SETTINGS).success
    assert_refused("its system differs", simulate_many, system(2), cases, 0.1, out=tmp_path, **SETTINGS)


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
        (
            dict(cases={name: values[:2] for name, values in cases.items()}),
            "it has 4 cases, not 2; repeat the former call to resume it, or give another folder",
        ),
    ):
        arguments = (
            dict(system=system, cases=cases, t_end=0.1, out=tmp_path / "many", assemble=False) | SETTINGS | changes
        )
        assert_refused(("holds another ensemble", message), simulate_many, **arguments)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine", encoding="utf-8")
    assert_refused("holds other files", simulate_many, system, cases, 0.1, out=tmp_path / "other", **SETTINGS)
    assert_refused("holds no ensemble", read_ensemble, tmp_path / "other")


def test_a_call_killed_before_its_first_chunk_starts_again(tmp_path):
    (own_folder(tmp_path / "many") / "chunks").mkdir()
    (tmp_path / "many" / "cases.npz").write_bytes(b"half")
    (tmp_path / "many" / "ensemble.json.part").write_bytes(b"{")
    cases = {name: values[:4] for name, values in thrown(5).items()}
    assert simulate_many(models.foot.build(), cases, 0.1, out=tmp_path / "many", **SETTINGS).success
    assert np.array_equal(read_ensemble(tmp_path / "many").cases["v.toes"], cases["v.toes"])


def test_two_writers_are_refused(tmp_path):
    system, cases = models.foot.build(), {name: values[:4] for name, values in thrown(5).items()}

    def write_too(done, count):
        assert_refused(
            "being written by another process", simulate_many, system, cases, 0.1, out=tmp_path, chunk=1, **SETTINGS
        )

    assert simulate_many(system, cases, 0.1, out=tmp_path, chunk=1, progress=write_too, **SETTINGS).success


def test_a_full_disk_is_reported(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert_refused(
        ("cannot write '", "': No space left on device; make room"),
        simulate_many,
        models.foot.build(),
        thrown(40),
        0.1,
        out=tmp_path,
        **SETTINGS,
    )
    assert not [file for file in tmp_path.rglob("*") if is_unfinished(file.name)]
    monkeypatch.undo()
    assert simulate_many(models.foot.build(), thrown(40), 0.1, out=tmp_path, **SETTINGS).success


def test_an_ensemble_of_a_folder_can_be_pickled(tmp_path):
    found = simulate_many(models.foot.build(), thrown(4), 0.1, out=tmp_path, **SETTINGS)
    for one in (found, read_ensemble(tmp_path)):
        assert np.array_equal(pickle.loads(pickle.dumps(one)).states(), found.states())
    assert pickle.loads(pickle.dumps(found))[3].success
