"""The wheel holds the four packages and the command's entry point and nothing else, and the command runs from it."""

import subprocess
import sys
import sysconfig
import zipfile

import pytest

from tests.support.paths import ROOT
from tests.support.processes import environment

pytestmark = pytest.mark.slow
PACKAGES = {"codegen", "generated", "models", "runtime"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of a copy of the tracked files, so that no build folder is left in the repository."""
    folder = tmp_path_factory.mktemp("wheel")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in tracked.split("\0"):
        if (ROOT / name).is_file():
            copy = folder / "source" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", str(folder / "source"), "-w", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("*.whl")
    return file


def test_files(wheel):
    assert wheel.name.startswith("talus_multibody-")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == PACKAGES | {"talus_command"}
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    tracked = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    modules = [name for name in tracked.split() if name.endswith(".py") and (ROOT / name).is_file()]
    assert {name.removeprefix("runtime/console/") for name in modules} <= names
    assert not any(name.startswith("runtime/console") for name in names)


def test_the_command_runs_from_the_wheel(wheel, tmp_path):
    """The packages are unpacked into a folder, as an installation does; the libraries are those of this Python."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    program = (
        f"import sys; sys.path[:0] = [{str(site)!r}, {sysconfig.get_path('purelib')!r}]; import runtime; "
        f"assert runtime.__file__.startswith({str(site)!r}); from talus_command import main; sys.argv[0] = 'talus'; main()"
    )
    command = [sys.executable, "-c", program, "simulate", "foot", "--t-end", "0.2", "--out", "results"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {file.name for file in (tmp_path / "results").iterdir()} == {"run.nc", "run.csv", "run.sto"}
