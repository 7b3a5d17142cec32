"""Every writer leaves a whole file or the earlier one: on a full disk, after a kill, an interruption, an error."""

import ast
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import xarray

import models
from runtime import ModelError, simulate
from runtime.figures import FigureFormat, panels
from runtime.report import Report, Table, write_report
from runtime.report.tables import write_csv
from runtime.results import write_storage
from runtime.results.export import write_columns, write_dataset
from runtime.support.files import is_unfinished, made_folder, whole_file, write_bytes, write_text
from runtime.support.results_folder import results_folder, results_in
from tests.support.full_disk import no_room
from tests.support.paths import ROOT
from tests.support.permissions import without_privileges
from tests.support.processes import environment
from tests.support.refusals import assert_refused

N = 400  # rows; more than fit


@pytest.fixture(scope="module")
def run():
    return simulate(models.pendulum.build(), 0.1, t_eval=np.linspace(0.0, 0.1, N))


def _figure(folder, kind):
    fig, axes = panels.figure(1, 1)
    axes[0, 0].plot(np.random.default_rng(0).normal(size=5000))
    return panels.save(fig, folder, "f", FigureFormat((kind,)))


def _report(folder):
    report = Report("title", [Table("t", ["a"], [[float(k)] for k in range(N)])])
    write_report(report, folder, pdf=False, overwrite=True)


TABLE = np.column_stack([np.arange(N), np.sqrt(np.arange(N))])
WRITERS = {
    "r.nc": lambda run, folder: run.to_netcdf(folder / "r.nc", overwrite=True),
    "r.csv": lambda run, folder: run.to_csv(folder / "r.csv", overwrite=True),
    "r.sto": lambda run, folder: run.to_sto(folder / "r.sto", overwrite=True),
    "w.mot": lambda run, folder: write_storage(folder / "w.mot", "t", ["time", "a"], TABLE, overwrite=True),
    "d.nc": lambda run, folder: write_dataset(
        xarray.Dataset({"a": ("n", np.arange(9000.0))}), folder / "d.nc", overwrite=True
    ),
    "c.csv": lambda run, folder: write_columns(folder / "c.csv", ["a", "b"], TABLE, overwrite=True),
    "t.csv": lambda run, folder: write_csv(folder / "t.csv", ["a", "b"], TABLE, overwrite=True),
    "t.txt": lambda run, folder: write_text(folder / "t.txt", "x" * 5000),
    "b.bin": lambda run, folder: write_bytes(folder / "b.bin", bytes(5000)),
    "t.csv of a report": lambda run, folder: _report(folder),
    **{f"f.{kind}": lambda run, folder, kind=kind: _figure(folder, kind) for kind in ("png", "svg", "pdf")},
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_a_sentence_and_leaves_no_half_file(run, tmp_path, name):
    file = tmp_path / name.split()[0]
    with no_room(), pytest.raises(ModelError, match=r"cannot write '.*': File too large; make room") as error:
        WRITERS[name](run, tmp_path)
    assert str(file) in str(error.value) and list(tmp_path.iterdir()) == []
    file.write_text("earlier")
    with no_room(), pytest.raises(ModelError, match="make room"):
        WRITERS[name](run, tmp_path)
    assert [one.read_text() for one in tmp_path.iterdir()] == ["earlier"]
    WRITERS[name](run, tmp_path)
    assert file.stat().st_size > 1024 and not [one for one in tmp_path.iterdir() if is_unfinished(one.name)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_an_interruption_leaves_the_earlier_file(tmp_path, error):
    file = write_text(tmp_path / "a.txt", "earlier")
    with pytest.raises(error), whole_file(file) as stream:
        stream.write(b"later")
        stream.flush()
        raise error
    assert [one.read_text() for one in tmp_path.iterdir()] == ["earlier"]


KILLED = """
import sys, time
from pathlib import Path
from runtime.support.files import whole_file
with whole_file(Path(sys.argv[1])) as stream:
    stream.write(b"later" * 1000)
    stream.flush()
    print("written", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_kill_leaves_the_earlier_file(tmp_path, number):
    file = write_text(tmp_path / "a.txt", "earlier")
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(file)], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout.readline() == b"written\n"
    process.send_signal(number)
    process.communicate()
    assert file.read_text() == "earlier"
    assert all(one == file or is_unfinished(one.name) for one in tmp_path.iterdir())


def test_links_devices_and_rights_are_kept(tmp_path):
    file = write_text(tmp_path / "a.txt", "earlier")
    file.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(file)
    write_text(link, "later")
    assert link.is_symlink() and file.read_text() == "later" and file.stat().st_mode & 0o777 == 0o640
    write_text(type(file)(os.devnull), "nothing")
    if os.path.exists("/dev/full"):
        assert_refused("No space left on device", write_text, type(file)("/dev/full"), "nothing")


PROGRAM = """
import sys
from pathlib import Path
from runtime import ModelError
from runtime.support.files import write_text
from runtime.support.results_folder import results_folder
place = Path(sys.argv[1])
for write in (lambda: write_text(place / "a.txt", "a"), lambda: results_folder(place / "out", "x")):
    try:
        write()
    except ModelError as error:
        print(error)
"""


def test_a_folder_without_the_right_to_write_is_a_sentence(tmp_path):
    tmp_path.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path)], env=environment(), capture_output=True, text=True,
            preexec_fn=without_privileges(),
        )  # fmt: skip
    finally:
        tmp_path.chmod(0o755)
    assert done.stdout.splitlines() == [
        f"cannot write '{tmp_path}/a.txt': Permission denied; choose another place",
        f"output folder '{tmp_path}/out' cannot be made: Permission denied; name another one",
    ], done.stderr


@pytest.mark.parametrize("out", ["file/out", "a\0b", "x" * 300, "file", ""])
def test_places_that_cannot_be_a_folder_are_sentences(tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="output folder '.*' (exists|cannot be made)|out = .* give a path"):
        results_folder(out, "x")
    if out and out != "file":
        assert_refused(("folder '", "' cannot be made"), made_folder, tmp_path / out)
        with pytest.raises(ModelError, match="cannot write|does not exist|give a path"):
            write_storage(tmp_path / out, "t", ["time", "a"], TABLE)


def test_a_failed_command_removes_its_empty_folder(tmp_path):
    with pytest.raises(KeyError), results_in(tmp_path / "out", "x"):
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyError), results_in(tmp_path / "out", "x") as folder:
        write_text(folder / "a.txt", "a")
        raise KeyError
    assert (tmp_path / "out" / "a.txt").read_text() == "a"


def test_commas_and_quotes_in_names_stay_in_their_column(tmp_path):
    names = ["time", 'a, "b"', "c\nd"]
    write_columns(tmp_path / "c.csv", names, np.ones((3, 3)))
    import csv

    with (tmp_path / "c.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == names and [len(row) for row in rows[1:]] == [3, 3, 3]


# Functions that write the cache or generated code have their own ways, tested beside them.
OWN_WAY = ("runtime/support/files.py", "runtime/jit/", "runtime/ensemble/store.py")
WRITING = {"write_text", "write_bytes", "savefig", "to_netcdf", "savez", "savetxt", "tofile", "dump", "save", "touch"}


def _writes(tree):
    """Calls of methods that write a file by its name."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, first = node.func.attr, ast.unparse(node.args[0]) if node.args else ""
        modes = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        opened = name == "open" and any(set(mode) & set("wax") for mode in modes)
        if opened or name in WRITING and first and first != "stream" and ast.unparse(node.func.value) != "panels":
            yield node


@pytest.mark.slow
def test_no_other_writer_opens_a_file():
    found = []
    for file in sorted([*(ROOT / "runtime").rglob("*.py"), *(ROOT / "models").rglob("*.py")]):
        place = file.relative_to(ROOT).as_posix()
        if not place.startswith(OWN_WAY):
            found += [
                f"{place}:{node.lineno}: {ast.unparse(node)}" for node in _writes(ast.parse(file.read_text("utf-8")))
            ]
    # Methods of Run and of Folder.
    ours = ("run.to_netcdf(", "one.motion.to_netcdf(", "measures.thinned(", "export.to_netcdf(", "folder.save(")
    assert [line for line in found if not line.split(": ", 1)[1].startswith(ours)] == []
