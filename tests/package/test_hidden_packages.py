"""A user's own file or folder that hides one of the packages is named in one sentence with the remedy; the exit code is 2."""

import base64
import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

STUDIES = ["import models, runtime", "import runtime, models", "import runtime", "import models"]
CONSOLE = ROOT / "runtime" / "console"  # holds the command's entry point
COMMAND = "import sys; from talus_command import main; sys.argv[0] = 'talus'; main()"
VERBS = ["--help", "ankle", "simulate foot", "info foot", "models", "doctor"]


def run(*arguments, folder, pythonpath):
    """A Python process in a folder; the packages come last on its path."""
    path = os.pathsep.join([*pythonpath, str(CONSOLE), str(ROOT)])
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )


def refused(done, file):
    package = file.stem if file.suffix else file.name
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.startswith(str(file)) and len(done.stderr.splitlines()) == 1, done.stderr
    assert f"hides Talus's package '{package}'; rename that file or folder, or start Python" in done.stderr


# One that hides runtime is named by models.
BESIDE = [*itertools.product(("models", "codegen", "generated"), STUDIES[:3])]
BESIDE += [("runtime", study) for study in STUDIES if "models" in study]


@pytest.mark.parametrize("package, study", BESIDE)
def test_a_file_beside_a_study(tmp_path, package, study):
    hiding = tmp_path / f"{package}.py"
    hiding.write_text("x = 1\n")
    (tmp_path / "study.py").write_text(f"{study}\nprint('not refused')\n")
    refused(run("study.py", folder=tmp_path, pythonpath=[]), hiding)


@pytest.mark.parametrize("package", ["models", "runtime"])
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_with_a_file_on_the_path(tmp_path, package, verb):
    hiding = tmp_path / "own" / f"{package}.py"
    hiding.parent.mkdir()
    hiding.write_text("x = 1\n")
    refused(run("-c", COMMAND, *verb.split(), folder=ROOT.parent, pythonpath=[str(hiding.parent)]), hiding)


def test_a_package_that_hides_models(tmp_path):
    hiding = tmp_path / "models" / "__init__.py"
    hiding.parent.mkdir()
    hiding.write_text("x = 1\n")
    done = run("-c", "import runtime", folder=tmp_path, pythonpath=[])
    assert done.returncode == 2
    assert done.stderr.startswith(f"{hiding} hides Talus's package 'models'")


# An editable installation finds the packages after the path: a folder without __init__.py on the path then hides a package.
EDITABLE = f"""
import sys
from importlib.machinery import PathFinder

class Finder:
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, ["{CONSOLE}", "{ROOT}"]) if path is None else None

sys.meta_path.append(Finder)
sys.argv[0] = "talus"
"""


@pytest.mark.parametrize("package", ["runtime", "models"])
@pytest.mark.parametrize("study", [*STUDIES[:2], "from talus_command import main; main()"])
def test_a_folder_beside_a_study_of_an_editable_installation(tmp_path, package, study):
    hiding = tmp_path / package
    hiding.mkdir()
    (hiding / "data.txt").write_text("1\n")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", f"{EDITABLE}{study}"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    refused(done, hiding)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder of installed distributions: this checkout's packages, and another with a package of the name models."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("codegen", "generated", "models", "runtime"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name, version in (("talus_multibody", "9"), ("other", "1.0")):
        (info := folder / f"{name}-{version}.dist-info").mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n")
        files = [*folder.glob("*/*.py")] if name == "talus_multibody" else [folder / "models" / "__init__.py"]
        (info / "RECORD").write_text(
            "".join(f"{file.relative_to(folder).as_posix()},{digest(file)},\n" for file in files)
        )
    return folder


def digest(file):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()


def in_site(site, tmp_path, *arguments):
    """A Python process that finds the packages among installed distributions alone."""
    path = os.pathsep.join([str(site), str(CONSOLE)])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "package, study",
    [("models", "import runtime"), ("models", "import codegen, runtime"), ("runtime", "import models")],
)
def test_another_distribution_replaced_a_package(site, tmp_path, package, study):
    file = site / package / "__init__.py"
    before = file.read_text()
    file.write_text("x = 1\n")
    try:
        done = in_site(site, tmp_path, "-c", f"{study}\nprint('not refused')")
    finally:
        file.write_text(before)
    others = "other" if package == "models" else "another distribution"
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.startswith(
        f"{file} is not Talus's: {others} has a package '{package}' too, which replaced it; install "
    )
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_doctor_names_other_distributions_and_changed_files(site, tmp_path):
    file = site / "models" / "chain.py"
    file.write_text(file.read_text() + "\n")
    done = in_site(site, tmp_path, "-c", COMMAND, "doctor", "--json")
    assert done.returncode == 1, done.stderr
    facts = json.loads(done.stdout)
    assert facts["other distributions"].startswith(
        "other: packages of equal names; install each into another environment"
    )
    assert facts["files"] == "models/chain.py changed since the installation; install Talus again"
