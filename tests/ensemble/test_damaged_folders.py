"""Damaged files of an ensemble's folder: the folder is read as it was written, or refused with one line."""

import json
import shutil
from collections import Counter

import numpy as np
import pytest

import models
from runtime import ModelError, read_ensemble, simulate_many
from tests.support.damage import bytes_of, text_of
from tests.support.ensembles import SETTINGS, thrown

SOME, MANY = 200, 10_000  # files of each kind in the full set, and each night
FILES = ("ensemble.json", "cases.npz", "chunks/000000002.npz")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "folder"
    cases = {name: values[:4] for name, values in thrown(5).items()}
    simulate_many(models.foot.build(), cases, 0.1, t_eval=[0.0, 0.1], out=path, chunk=2, **SETTINGS)
    return path


def contents(path):
    """All that a folder holds, for comparison."""
    found = read_ensemble(path)
    arrays = [
        found.states(),
        found.status,
        found.reached,
        found.counts,
        found.vectorised,
        found.t,
        *found.cases.values(),
    ]
    texts = [found.name, found.bodies, list(found.cases), dict(found.settings), dict(found.messages), found.units]
    return [array.tobytes() for array in arrays], json.dumps(texts, sort_keys=True, default=dict)


def examined(folder, copy, name, seeds):
    """Outcomes of damaged files, counted; a folder that is read must hold what was written."""
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    whole, right, found = (folder / name).read_bytes(), contents(folder), Counter()
    for seed in seeds:
        random = np.random.default_rng([seed, *name.encode()])
        data = text_of(whole.decode(), '"', random) if name.endswith(".json") else bytes_of(whole, random)
        (copy / name).write_bytes(data)
        try:
            assert contents(copy) == right, f"{name}, seed {seed}"
            found["read"] += 1
        except ModelError as error:
            said = str(error)
            assert len(said.splitlines()) == 1 and str(copy) in said, repr(said)
            found["refused"] += 1
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_refused(folder, tmp_path, name):
    found = examined(folder, tmp_path / "copy", name, range(SOME))
    assert found["refused"] > SOME / 2, found


@pytest.mark.nightly
@pytest.mark.parametrize("name", FILES)
def test_many_damaged_files_are_refused(folder, tmp_path, name):
    found = examined(folder, tmp_path / "copy", name, range(SOME, SOME + MANY))
    assert found["refused"] > MANY / 2, found
