"""The wheel holds the four packages and the entry point of the command, nothing else; in a fresh environment it does its work."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.support.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.long]
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
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == PACKAGES | {
        "talus_command",
        "talus_multibody",
    }
    assert {f"{package}/py.typed" for package in PACKAGES} | {"runtime/system/model.schema.json"} <= names
    tracked = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    modules = [name for name in tracked.split() if name.endswith(".py") and (ROOT / name).is_file()]
    assert {name.removeprefix("runtime/console/") for name in modules} <= names
    assert not any(name.startswith("runtime/console") for name in names)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The commands of a fresh environment with the wheel; its libraries are those of this Python, without this checkout."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", folder, "install", "--no-deps", "--quiet", wheel]
    done = subprocess.run(pip, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (site,) = folder.glob("lib/*/site-packages") if os.name == "posix" else folder.glob("Lib/site-packages")
    (site / "libraries_of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / ("bin" if os.name == "posix" else "Scripts")


def outside():
    """The environment of a process that finds Talus only where it is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def test_the_packages_are_those_of_the_environment(installed, tmp_path):
    program = "import codegen, generated, models, runtime; print(*[m.__file__ for m in (codegen, generated, models, runtime)])"
    command = [installed / "python", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=outside(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(Path(file).is_relative_to(installed.parent) for file in done.stdout.split())


@pytest.mark.parametrize(
    "arguments, files",
    [
        (["ankle", "--t-end", "0.2"], {"summary.json"}),  # the main job
        (["simulate", "foot", "--t-end", "0.2"], {"run.nc", "run.csv", "run.sto"}),
        (["doctor"], set()),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_command_runs_from_the_wheel(installed, tmp_path, arguments, files):
    out = ["--out", "results"] if files else []
    done = subprocess.run(
        [installed / "talus", *arguments, *out], cwd=tmp_path, env=outside(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not files or files <= {file.name for file in (tmp_path / "results").iterdir()}
