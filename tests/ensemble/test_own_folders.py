"""Ensembles overwrite nothing of the user's, and follow no link out of their folder."""

import pytest

import models
from runtime import ModelError, read_ensemble, simulate_many
from tests.support.ensembles import SETTINGS
from tests.support.refusals import assert_refused

FOREIGN = {
    "a file of that name": lambda folder: (folder / "cases.npz").write_text("mine"),
    "a file named lock": lambda folder: (folder / "lock").write_text("mine"),
    "a link named lock": lambda folder: (folder / "lock").symlink_to("../mine"),
    "a hard link named lock": lambda folder: (folder / "lock").hardlink_to(folder.parent / "mine"),
    "a link to another folder": lambda folder: (folder / "chunks").symlink_to(folder.parent),
}


@pytest.mark.parametrize("sort", FOREIGN)
def test_files_of_the_user_are_neither_overwritten_nor_followed(tmp_path, sort):
    folder, system, cases = tmp_path / "f", models.foot.build(), {"mass.toes": [0.2, 0.3]}
    (tmp_path / "mine").write_text("mine")
    folder.mkdir()
    FOREIGN[sort](folder)
    assert_refused(
        "holds other files; give an empty folder", simulate_many, system, cases, 0.01, out=folder, **SETTINGS
    )
    assert len(list(folder.iterdir())) == 1 and (tmp_path / "mine").read_text() == "mine"
    assert (folder / "cases.npz").exists() is False or (folder / "cases.npz").read_text() == "mine"


@pytest.mark.parametrize("name", ["lock", "chunks", "cases.npz", "ensemble.json"])
def test_no_link_is_followed_out_of_a_folder(tmp_path, name):
    folder, system, cases = tmp_path / "f", models.foot.build(), {"mass.toes": [0.2, 0.3]}
    simulate_many(system, cases, 0.01, out=folder, **SETTINGS)
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    (tmp_path / "lock").write_text("mine")
    for call in (lambda: simulate_many(system, cases, 0.01, out=folder, **SETTINGS), lambda: read_ensemble(folder)):
        with pytest.raises(ModelError, match=f"{name} is a link, which may lead out of the folder"):
            call()
    assert (tmp_path / "lock").read_text() == "mine"


def test_a_folder_without_a_mark_is_resumed_by_its_seal(tmp_path):
    system, cases = models.foot.build(), {"mass.toes": [0.2, 0.3]}
    simulate_many(system, cases, 0.01, out=tmp_path, **SETTINGS)
    (tmp_path / ".talus").unlink()  # as folders of earlier versions
    (tmp_path / "lock").write_text("mine")
    assert simulate_many(system, cases, 0.01, out=tmp_path, **SETTINGS).success
    assert (tmp_path / "lock").read_text() == "mine"
