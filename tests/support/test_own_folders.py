"""Files are replaced only in folders that Talus made or found empty."""

import os

import pytest

from runtime import ModelError
from runtime.report import Report, Table, write_report
from runtime.support.files import write_text
from runtime.support.results_folder import MARK, MARKED, is_own, own_folder
from tests.support.refusals import assert_refused


def test_a_new_an_empty_and_a_marked_folder_are_taken(tmp_path):
    for folder in (tmp_path / "new" / "er", tmp_path / "empty"):
        folder.name == "empty" and folder.mkdir()
        assert own_folder(folder) == folder and is_own(folder)
        write_text(folder / "results.txt", "later")
        assert own_folder(folder) == folder


def _linked(folder):
    (folder / MARK).write_text(MARKED)
    (folder / "report.html").symlink_to("../mine.txt")


def _linked_below(folder):
    (folder / MARK).write_text(MARKED)
    (folder / "chunks").symlink_to(folder.parent)


def _with_a_pipe(folder):
    (folder / MARK).write_text(MARKED)
    os.mkfifo(folder / "cases.npz")


FOREIGN = {
    "a file": lambda folder: (folder / "mine").write_text("mine"),
    "a mark of another text": lambda folder: (folder / MARK).write_text("mine"),
    "a mark that is a link": lambda folder: (folder / MARK).symlink_to("../mark"),
    "a link of a file": _linked,
    "a link of a folder": _linked_below,
    "a pipe": _with_a_pipe,
}


@pytest.mark.parametrize("sort", FOREIGN)
def test_other_folders_are_refused_and_left_as_they_are(tmp_path, sort):
    folder = tmp_path / "f"
    folder.mkdir()
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "mark").write_text(MARKED)
    FOREIGN[sort](folder)
    before = sorted(os.listdir(folder)), sorted(os.listdir(tmp_path))
    with pytest.raises(
        ModelError, match="holds other files; give an empty folder|is a link, which may lead out|is a pipe"
    ):
        own_folder(folder)
    assert (sorted(os.listdir(folder)), sorted(os.listdir(tmp_path))) == before
    assert (tmp_path / "mine.txt").read_text() == "mine" and (tmp_path / "mark").read_text() == MARKED


def test_a_report_replaces_files_in_folders_of_its_own_alone(tmp_path):
    report = Report("t", [Table("summary", ["a"], [[1.0]])])
    (tmp_path / "summary.md").write_text("mine")
    assert_refused(
        "summary.md' exists; choose another name or pass overwrite=True", write_report, report, tmp_path, pdf=False
    )
    assert (tmp_path / "summary.md").read_text() == "mine"
    for _ in range(2):
        write_report(report, own_folder(tmp_path / "own"), pdf=False)
