"""The packages import only those below them; a whole simulation imports neither SymPy nor the code generator."""

import ast
import subprocess
import sys
from importlib import import_module

import pytest

from tests.support.paths import ROOT
from tests.support.processes import environment

ROOMS = {"codegen", "generated", "runtime", "models", "tests", "benchmarks"}
MAY_IMPORT = {
    "codegen": {"codegen", "sympy", "numpy"},
    "generated": {"generated", "numba", "math"},
    "runtime": ROOMS - {"codegen", "models", "tests", "benchmarks"},
    "models": {"models", "runtime"},
    "benchmarks": {"benchmarks", "runtime", "models", "sympy"},  # programs that integrate given equations need SymPy
}
OWN_OR_LIMITED = ROOMS | {"sympy", "numba"}


def imports(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            yield node.module.split(".")[0]


@pytest.mark.slow
@pytest.mark.parametrize("room", MAY_IMPORT)
def test_directions(room):
    for file in (ROOT / room).rglob("*.py"):
        if file.is_relative_to(ROOT / "runtime" / "console"):  # installed above the rooms
            continue
        for name in imports(file):
            strict = room in ("codegen", "generated") and name not in sys.stdlib_module_names
            if strict or name in OWN_OR_LIMITED:
                allowed = MAY_IMPORT[room] | ({"numba"} if room in ("runtime", "benchmarks") else set())
                assert name in allowed, f"{file.relative_to(ROOT)} imports {name}"


@pytest.mark.slow
def test_generated_modules_use_numba_and_math_only():
    for file in (ROOT / "generated").glob("*.py"):
        assert set(imports(file)) <= {"numba", "math", "generated"}


def reachable(module):
    """Whether a module is ``runtime``, one of its rooms, a module that its room exports, or that of the array types."""
    room, _, name = module.partition(".")[2].partition(".")
    return not name or module == "runtime.support.arrays" or name in import_module(f"runtime.{room}").__all__


def test_models_use_public_names_of_the_runtime_only():
    for file in (ROOT / "models").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "runtime":
                assert reachable(node.module), f"{file.name} reaches into {node.module}"
                assert not [alias.name for alias in node.names if alias.name.startswith("_")], file.name


def test_top_level_holds_the_agreed_names():
    allowed = {
        "pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs",
        *ROOMS,
    }  # fmt: skip
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in {path.split("/")[0] for path in listed} if not name.startswith(".")} <= allowed


SCIPYS = ["integrate", "interpolate", "optimize", "signal", "sparse", "spatial", "special"]  # numba uses its linalg
UNUSED = {
    "import runtime": ["numba", "numpy", "runtime.dynamics"],
    "import models": ["numba", "numpy", "runtime.dynamics", "models.foot"],
    "from runtime.cli import main; sys.argv[1:] = ['--help']; main()": ["numba", "numpy", "models.studies.ankle.study"],
    "from runtime.cli import main; sys.argv[1:] = ['models']; main()": ["numba", "numpy", "models.foot"],
    "from runtime.cli import main; sys.argv[1:] = ['drop', '--help']; main()": ["models.studies.ankle", "models.walking"],
    "import models, runtime; runtime.simulate(models.foot.build(), 0.1).energy": [
        *(f"scipy.{part}" for part in SCIPYS), "matplotlib", "xarray", "pandas", "rich", "typer", "sympy", "codegen",
        "models.walking", "runtime.analysis", "runtime.ensemble", "runtime.report",
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("program", UNUSED)
def test_a_call_imports_what_it_uses(program):
    whole = (
        f"import sys\ntry:\n    {program}\nexcept SystemExit as end:\n    assert not end.code\n"
        f"found = set(sys.modules) & set({UNUSED[program]!r})\nassert not found, found"
    )
    done = subprocess.run([sys.executable, "-c", whole], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
