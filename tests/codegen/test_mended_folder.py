"""``python -m codegen`` mends every state of ``generated/``; a kill or a full disk leaves the old tree or the new one."""

import fcntl
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from codegen.compiler import swap
from codegen.compiler.swap import WritingError, write_tree
from codegen.compiler.text import body_of, with_header
from tests.support.definition_copies import ROOT, copy_of, edit, run
from tests.support.marks import quick_for

DISTANCE = 'return {"distance": d.dot(d) - l**2}'
CHANGED = 'return {"distance": (d.dot(d) - l**2) * 2}'


def tree(folder):
    """All that is in a folder, by its place."""
    return {
        str(place.relative_to(folder)): place.read_bytes() if place.is_file() else None
        for place in folder.rglob("*")
        if "__pycache__" not in place.parts
    }


def cut(file):
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def replaced(file, make):
    if file.is_dir():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)
    make(file)


def with_its_digest(file):
    """A change of a kernel, and a header that fits it."""
    text = file.read_text(encoding="utf-8").replace("    Phi[0] = ", "    Phi[0] = 2.0 * ")
    file.write_text(with_header(body_of(text), "x"), encoding="utf-8")


DAMAGES = {
    "bytes that are no text": lambda g: (g / "spherical.py").write_bytes(b"\xff\xfe\0" * 9),
    "a kernel cut off": lambda g: cut(g / "spherical.py"),
    "a kernel changed with its digest": lambda g: with_its_digest(g / "constant_distance.py"),
    "an empty kernel": lambda g: (g / "spherical.py").write_bytes(b""),
    "a folder for a kernel": lambda g: replaced(g / "spherical.py", lambda f: f.mkdir()),
    "a link to nowhere": lambda g: replaced(g / "spherical.py", lambda f: f.symlink_to(g / "nowhere")),
    "a link to itself": lambda g: replaced(g / "spherical.py", lambda f: f.symlink_to(f)),
    "a pipe": lambda g: replaced(g / "spherical.py", os.mkfifo),
    "another package": lambda g: (g / "spherical").mkdir(),
    "a compiled module": lambda g: (g / "spherical.so").write_bytes(b"\x7fELF"),
    "a module too many": lambda g: (g / "ball.py").write_text("NAME = 'ball'\n"),
    "no __init__": lambda g: (g / "__init__.py").unlink(),
    "lists cut off": lambda g: (cut(g / "dispatch.py"), cut(g / "joints.py")),
    "no digests": lambda g: (g / "digests.py").unlink(),
    "digests cut off": lambda g: cut(g / "digests.py"),
    "digests that are no text": lambda g: (g / "digests.py").write_bytes(bytes(range(256))),
    "digests that state nothing": lambda g: (g / "digests.py").write_text("MODULES = 1\n"),
    "a folder for digests": lambda g: replaced(g / "digests.py", lambda f: f.mkdir()),
    "a whole-model kernel cut off": lambda g: cut(g / "whole" / "pendulum.py"),
    "a folder for a whole-model kernel": lambda g: replaced(g / "whole" / "pendulum.py", lambda f: f.mkdir()),
    "whole-model kernels without text": lambda g: [f.write_bytes(b"\xff") for f in (g / "whole").glob("*.py")],
    "a file for the whole-model kernels": lambda g: replaced(g / "whole", lambda f: f.write_text("")),
    "nothing": lambda g: shutil.rmtree(g),
    "a file": lambda g: replaced(g, lambda f: f.write_text("")),
    "a link to nothing": lambda g: replaced(g, lambda f: f.symlink_to(g.parent / "nowhere")),
    "what a killed process left": lambda g: (g.with_name(".generated-1").mkdir(), cut(g / "spherical.py")),
    "what a process killed between two names left": lambda g: g.rename(g.with_name(".generated-1-old")),
}


# A regeneration each; the others are left to the night.
OFTEN = "a link to itself", "nothing"
SIGNALS = signal.SIGKILL, signal.SIGTERM, signal.SIGINT


@pytest.mark.slow
@pytest.mark.parametrize("damage", quick_for(DAMAGES, OFTEN, pytest.mark.nightly))
def test_every_state_is_mended_by_one_command(copy, miniature, damage):
    DAMAGES[damage](copy / "generated")
    assert run(copy, "-m", "codegen", "--check", "--quick").returncode in (0, 3)
    done = run(copy, "-m", "codegen")
    assert (done.returncode, done.stderr) == (0, "")
    found = tree(copy / "generated")
    assert {n: t for n, t in found.items() if "whole" not in n} == {
        n: t for n, t in tree(miniature / "generated").items() if "whole" not in n
    }
    good = tree(miniature / "generated")
    assert all(text == good[name] for name, text in found.items() if name.startswith("whole/")), (
        "spoilt kernels are gone"
    )
    assert not list(copy.glob(".generated-*"))


@pytest.mark.slow
def test_checks_of_a_spoilt_folder_change_nothing(copy):
    for damage in (
        "a folder for a kernel",
        "a compiled module",
        "digests that are no text",
        "a file for the whole-model kernels",
    ):
        DAMAGES[damage](copy / "generated")
    before = tree(copy / "generated")
    done = run(copy, "-m", "codegen", "--check")
    assert (done.returncode, done.stderr) == (3, "") and "generated/spherical.so: no output of codegen" in done.stdout
    assert tree(copy / "generated") == before


@pytest.mark.slow
def test_a_spoilt_whole_model_kernel_is_mended_by_the_command_that_the_message_names(tmp_path):
    """The command builds the models with the runtime, which refuses spoilt kernels."""
    copy = copy_of(ROOT, tmp_path)
    for room in ("runtime", "models"):
        shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "pyproject.toml").write_text('[tool.talus]\nwhole-models = "own:SYSTEMS"\n', encoding="utf-8")
    (copy / "own.py").write_text("import runtime\nSYSTEMS = {}\n", encoding="utf-8")
    cut(copy / "generated" / "whole" / "pendulum.py")
    refused = run(copy, "-c", "from runtime.jit.freshness import verify; verify()")
    assert refused.returncode == 3 and refused.stderr.strip().endswith("run: python -m codegen --models")
    done = run(copy, "-m", "codegen", "--models")
    assert done.returncode == 0, done.stderr
    assert run(copy, "-c", "from runtime.jit.freshness import verify; verify()").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", quick_for([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], [signal.SIGKILL], pytest.mark.nightly)
)
def test_a_kill_leaves_the_old_tree_or_the_new_one(copy, tmp_path_factory, number):
    other = copy_of(copy, tmp_path_factory.mktemp("other"))
    trees = {}
    for name, folder in (("old", copy), ("new", other)):
        if name == "new":
            edit(folder / "codegen" / "joints.py", DISTANCE, CHANGED)
            assert run(folder, "-m", "codegen").returncode == 0
        trees[name] = tree(folder / "generated")
    edit(copy / "codegen" / "joints.py", DISTANCE, CHANGED)
    rng, seen, longest = random.Random(3), set(), 6.0
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-m", "codegen"], cwd=copy, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        begun = time.monotonic()
        try:
            process.wait(0.3 + rng.random() * longest)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        _, said = process.communicate()
        assert "Traceback" not in said, said
        found = [name for name, wanted in trees.items() if tree(copy / "generated") == wanted]
        assert found, "a tree of which a part is new"
        seen.update(found)
        if found == ["new"]:
            longest = min(longest, time.monotonic() - begun)
            shutil.rmtree(copy / "generated")
            for place, data in trees["old"].items():
                (copy / "generated" / place).parent.mkdir(parents=True, exist_ok=True)
                if data is not None:
                    (copy / "generated" / place).write_bytes(data)
    assert seen <= {"old", "new"}
    assert run(copy, "-m", "codegen").returncode == 0
    assert tree(copy / "generated") == trees["new"] and not list(copy.glob(".generated-*"))


@pytest.fixture
def folder(tmp_path):
    """A folder that holds modules, one of a folder in it, and a file that is none."""
    folder = tmp_path / "generated"
    (folder / "whole").mkdir(parents=True)
    for place, text in {"a.py": "a = 1\n", "b.py": "b = 1\n", "whole/c.py": "c = 1\n", "py.typed": ""}.items():
        (folder / place).write_text(text, encoding="utf-8")
    return folder


WANTED = {"a.py": "a = 1\n", "b.py": "b = 2\n", "digests.py": "d = 1\n", "whole/e.py": "e = 1\n"}
WRITTEN = {"a.py", "b.py", "digests.py", "py.typed", "whole", "whole/e.py"}


@pytest.mark.parametrize("way", ["exchanged", "renamed", "copied"])
def test_a_folder_gets_the_wanted_files_and_no_other_modules(folder, monkeypatch, way):
    """Also where the system cannot exchange folders, and where a folder cannot be moved."""
    before = (folder / "a.py").stat().st_mtime_ns
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "b.cpython-311.pyc").write_bytes(b"of the old b")
    if way != "exchanged":
        monkeypatch.setattr(swap, "_exchange", lambda side, folder: False)
    if way == "copied":
        rename = type(folder).rename

        def refuse(path, to):
            if path == folder:
                raise OSError("in use")
            return rename(path, to)

        monkeypatch.setattr(type(folder), "rename", refuse)
    write_tree(folder, WANTED)
    found = tree(folder)
    assert not list(folder.rglob("*.pyc"))
    assert found.keys() == WRITTEN and found["b.py"] == b"b = 2\n"
    assert (folder / "a.py").stat().st_mtime_ns == before
    assert [place.name for place in folder.parent.iterdir()] == ["generated"]


def test_a_folder_that_is_a_link_stays_one(folder):
    real = folder.with_name("real")
    folder.rename(real)
    folder.symlink_to(real)
    write_tree(folder, WANTED)
    assert folder.is_symlink() and tree(real).keys() == WRITTEN


def test_a_process_that_does_not_end_is_passed(folder, monkeypatch):
    """It was stopped while it wrote, and holds the lock."""
    monkeypatch.setattr(swap, "PATIENCE", 0.2)
    number = os.open(folder.parent, os.O_RDONLY)
    fcntl.flock(number, fcntl.LOCK_EX)
    write_tree(folder, {"a.py": "new"})
    os.close(number)
    assert (folder / "a.py").read_text(encoding="utf-8") == "new"


def test_a_full_disk_changes_nothing(folder):
    before, limits = tree(folder), resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(WritingError, match="generated/ cannot be written: File too large; it is as it was before"):
            write_tree(folder, WANTED | {"large.py": "x = 1\n" * 1000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert tree(folder) == before and [place.name for place in folder.parent.iterdir()] == ["generated"]


@pytest.mark.slow
def test_a_lost_output_is_one_sentence_after_the_work(copy):
    edit(copy / "codegen" / "joints.py", DISTANCE, CHANGED)
    done = subprocess.run(
        ["sh", "-c", '"$0" -m codegen > /dev/full', sys.executable], cwd=copy, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, "the output cannot be written: No space left on device\n")
    assert run(copy, "-m", "codegen", "--check", "--quick").returncode == 0
    done = run(copy, "-m", "codegen", "--check", PYTHONIOENCODING="ascii")
    assert done.returncode == 0


@pytest.mark.slow
def test_without_docstrings_the_kernels_are_the_same(copy):
    done = run(copy, "-OO", "-m", "codegen", "--check")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"def broken(:\n", "codegen/joints.py, line 1: invalid syntax"),
        (b"\xff\xfe", "codegen/joints.py cannot be read"),
        (b"\0", "codegen/joints.py: "),
    ],
)
def test_a_damaged_definition_is_one_sentence(copy, text, message):
    before = tree(copy / "generated")
    (copy / "codegen" / "joints.py").write_bytes(text)
    done = run(copy, "-m", "codegen")
    assert done.returncode == 2 and message in done.stderr and len(done.stderr.splitlines()) == 1
    assert tree(copy / "generated") == before
