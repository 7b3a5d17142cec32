"""Stale kernels are impossible: proven in fresh processes, on a copy of the repository with its own cache folder."""

import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from numba.core import config

from runtime import kernels
from runtime.kernels import EDGE

ROOT = Path(__file__).parent.parent
STALE = 3

PROGRAM = """
import numpy as np, runtime
from runtime.equations import derivative_once
b = runtime.Builder("link")
b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(1.0, 0.0, 0.0), v=(0.0, 1.0, 0.0))
b.joint("link", "constant_distance", "ground", "bob", s_i=(0, 0, 0), s_j=(0, 0, 0), l=1.0)
system = b.build()
y_dot = np.zeros(13)
derivative_once(0.0, system.state.y, system.tables, system.work(), y_dot)
print(*system.state.r["bob"], *y_dot[7:10])
"""


@pytest.fixture
def copy(tmp_path):
    for room in ("codegen", "generated", "runtime", "models"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def python(copy, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(copy), "TALUS_CACHE_DIR": str(copy / "cache")}
    return subprocess.run([sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True)


def assembled(copy):
    done = python(copy, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    return [float(number) for number in done.stdout.split()]


def edit(file, before, after):
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


def test_after_an_edit_and_a_regeneration_the_assembled_answer_changes(copy):
    first = assembled(copy)
    assert first == pytest.approx([1, 0, 0, -1, 0, -9.81], abs=1e-12)
    assert first == assembled(copy)  # from the cache

    edit(copy / "codegen" / "joints.py", '{"distance": d.dot(d) - l**2}', '{"distance": d.dot(d) - 4 * l**2}')
    refused = python(copy, "-c", PROGRAM)
    assert refused.returncode == STALE
    assert "older than the definitions in codegen/; run: python -m codegen" in refused.stderr

    regenerated = python(copy, "-m", "codegen")
    assert regenerated.returncode == 0 and "constant_distance.py" in regenerated.stdout
    assert assembled(copy) == pytest.approx([2, 0, 0, -0.5, 0, -9.81], abs=1e-12)


@pytest.mark.parametrize(
    "program", [["-c", "import runtime"], ["-c", "from runtime.cli import main; main()", "models"]]
)
def test_a_hand_edit_is_refused_with_exit_3(copy, program):
    edit(copy / "generated" / "spherical.py", "Phi[0] = d_x", "Phi[0] = -d_x")
    done = python(copy, *program)
    assert done.returncode == STALE
    assert done.stderr.strip() == (
        "stale kernels: generated/spherical.py was edited by hand or comes from another generation; run: python -m codegen"
    )


def test_missing_surplus_and_mixed_modules_are_refused(copy):
    generated = copy / "generated"
    text = (generated / "fixed.py").read_text(encoding="utf-8")
    (generated / "fixed.py").unlink()
    assert "generated/fixed.py is missing" in python(copy, "-c", "import runtime").stderr
    (generated / "fixed.py").write_text(text, encoding="utf-8")
    (generated / "extra.py").write_text(text, encoding="utf-8")
    assert "generated/extra.py is no output of codegen" in python(copy, "-c", "import runtime").stderr
    (generated / "extra.py").unlink()
    (generated / "fixed.py").write_text((generated / "spherical.py").read_text(encoding="utf-8"), encoding="utf-8")
    assert "generated/fixed.py was edited by hand" in python(copy, "-c", "import runtime").stderr
    (generated / "fixed.py").write_text(text, encoding="utf-8")
    (generated / "digests.py").unlink()
    done = python(copy, "-c", "import runtime")
    assert done.returncode == STALE and "digests.py is missing" in done.stderr


def test_another_package_of_the_same_name_is_refused(copy, tmp_path_factory):
    study = tmp_path_factory.mktemp("study")
    shutil.copytree(copy / "generated", study / "generated")
    edit(study / "generated" / "spherical.py", "Phi[0] = d_x", "Phi[0] = -d_x")
    (study / "study.py").write_text("import sys\nsys.path.insert(1, sys.argv[1])\nimport runtime\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": "", "TALUS_CACHE_DIR": str(copy / "cache")}
    command = [sys.executable, str(study / "study.py"), str(copy)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == STALE
    assert "the package 'generated' that Python finds is another one" in done.stderr
    (copy / "generated" / "spherical").mkdir()
    assert "generated/spherical/ is no output of codegen" in python(copy, "-c", "import runtime").stderr


def test_an_edited_runtime_does_not_run_old_machine_code(copy):
    assert assembled(copy)[5] == pytest.approx(-9.81)
    edit(copy / "runtime" / "equations.py", "free[k] = t.gravity[k]", "free[k] = 2.0 * t.gravity[k]")
    assert assembled(copy)[5] == pytest.approx(-19.62)


def test_the_error_can_be_caught_in_a_study(copy):
    edit(copy / "generated" / "spherical.py", "Phi[0] = d_x", "Phi[0] = -d_x")
    program = "try:\n    import runtime\nexcept Exception as error:\n    print(type(error).__name__)"
    assert python(copy, "-c", program).stdout.strip() == "StaleKernelsError"


def test_modules_that_the_cache_does_not_depend_on_hold_no_compiled_code():
    compiling = {
        file.stem
        for file in (ROOT / "runtime").glob("*.py")
        if "@compiled" in file.read_text() or "@inlined" in file.read_text()
    }
    assert {"equations", "dop853", "limits", "cones", "result"} <= compiling and not compiling & set(EDGE)
    for name in compiling:
        text = (ROOT / "runtime" / f"{name}.py").read_text()
        assert not [
            edge for edge in EDGE if re.search(rf"^(from runtime\.{edge} |import runtime\.{edge})", text, re.MULTILINE)
        ]


def test_threads_do_not_disturb_where_compiled_code_is_kept():
    before, folder, seen = config.CACHE_DIR, str(kernels.compiled_folder()), set()

    def use(_):
        with kernels.cached_here():
            seen.add(config.CACHE_DIR)
            time.sleep(1e-3)
            seen.add(config.CACHE_DIR)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, range(40)))
    assert seen == {folder} and config.CACHE_DIR == before
