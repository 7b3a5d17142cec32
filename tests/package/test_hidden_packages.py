"""A user's own file or folder that hides one of the packages is named in one sentence with the remedy; the exit code is 2."""

import itertools
import os
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
