"""``python -m codegen``: committed text is what the definitions give, and every difference is found and mended."""

import hashlib
import re

import pytest

from tests.support.definition_copies import ROOT, check, edit, modules_of, run

pytestmark = pytest.mark.slow

COMMAND = "python -m codegen"
STALE = 3
HASH_OF_GENERATED = (
    "import hashlib; from codegen.__main__ import generate; "
    "print(hashlib.sha256(''.join(n + t for n, t in generate().items()).encode()).hexdigest())"
)
DISTANCE = 'return {"distance": d.dot(d) - l**2}'


@pytest.mark.nightly  # .ci/run asks the same by `python -m codegen --check --models`
def test_committed_kernels_are_fresh():
    done = check(ROOT)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("generated/: ")


def committed_hash(folder):
    texts = {f.name: f.read_text(encoding="utf-8") for f in sorted((folder / "generated").glob("*.py"))}
    return hashlib.sha256("".join(n + t for n, t in texts.items()).encode()).hexdigest()


@pytest.mark.parametrize("seed", ["0", "1"])
def test_output_does_not_depend_on_the_hash_seed(seed, miniature):
    done = run(miniature, "-c", HASH_OF_GENERATED, PYTHONHASHSEED=seed)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == committed_hash(miniature)


@pytest.mark.nightly  # .ci/run asks the same by `python -m codegen --check --models`, whose seed is random
def test_output_of_all_definitions_does_not_depend_on_the_hash_seed():
    done = run(ROOT, "-c", HASH_OF_GENERATED, PYTHONHASHSEED="12345")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == committed_hash(ROOT)


def test_an_edited_definition_is_found_and_regenerated(copy):
    edit(copy / "codegen" / "joints.py", DISTANCE, 'return {"distance": (d.dot(d) - l**2) * 2}')
    done = check(copy)
    assert done.returncode == STALE
    assert "--- generated/constant_distance.py (in the folder)" in done.stdout
    assert "+++ generated/constant_distance.py (from the definitions)" in done.stdout
    assert re.search(r"^-    Phi\[0\] = d_x\*\*2", done.stdout, re.M)
    assert re.search(r"^\+    Phi\[0\] = 2\*d_x", done.stdout, re.M)
    assert done.stdout.rstrip().endswith(f"run: {COMMAND}")
    assert "spherical.py" not in done.stdout
    before = (copy / "generated" / "spherical.py").stat().st_mtime_ns

    done = run(copy, "-m", "codegen")
    assert done.returncode == 0
    assert "2 written (constant_distance.py, digests.py)" in done.stdout
    assert (copy / "generated" / "spherical.py").stat().st_mtime_ns == before
    assert check(copy).returncode == 0


def test_a_new_and_a_removed_definition(copy):
    joints = copy / "codegen" / "joints.py"
    edit(joints, "def constant_angle(", "def new_angle(")
    done = check(copy)
    assert done.returncode == STALE
    assert "generated/new_angle.py (from the definitions)" in done.stdout
    assert run(copy, "-m", "codegen").returncode == 0
    assert not (copy / "generated" / "constant_angle.py").exists()
    assert '"new_angle": "generated.new_angle"' in (copy / "generated" / "joints.py").read_text(encoding="utf-8")


def test_an_edit_of_the_compiler_makes_the_digest_of_the_sources_stale(copy):
    compiler = copy / "codegen" / "compiler" / "straight.py"
    compiler.write_text(compiler.read_text(encoding="utf-8") + "# A comment.\n", encoding="utf-8")
    done = check(copy)
    assert done.returncode == STALE
    assert "1 of " in done.stdout and "-SOURCES = " in done.stdout


def test_a_spoilt_folder_is_found_and_mended(copy, miniature):
    """A file edited by hand, a file too many and a file too few."""
    edit(copy / "generated" / "point_on_plane.py", "ROWS = ('height',)", "ROWS = ('depth',)")
    (copy / "generated" / "ball.py").write_text("NAME = 'ball'\n", encoding="utf-8")
    (copy / "generated" / "spherical.py").unlink()
    before = modules_of(copy)
    done = check(copy)
    assert done.returncode == STALE
    assert "-ROWS = ('depth',)\n+ROWS = ('height',)\n" in done.stdout
    assert "--- generated/ball.py (in the folder)" in done.stdout
    assert "+++ generated/spherical.py (from the definitions)" in done.stdout
    assert done.stdout.rstrip().endswith(f"3 of {len(modules_of(miniature))} files differ; run: {COMMAND}")
    assert modules_of(copy) == before, "--check changes nothing"
    assert run(copy, "-m", "codegen").returncode == 0
    assert modules_of(copy) == modules_of(miniature)


def test_a_whole_model_kernel_edited_by_hand_is_found(copy):
    pendulum = copy / "generated" / "whole" / "pendulum.py"
    edit(pendulum, "CONSTANTS = ", "CONSTANTS = 1 + ")
    text = pendulum.read_text(encoding="utf-8")
    done = check(copy)
    assert done.returncode == STALE
    assert done.stdout.splitlines()[1:] == [
        f"generated/whole/pendulum.py: edited by hand: its text does not match the digest in its header; run: {COMMAND} --models"
    ]
    assert done.stdout.startswith("generated/: ") and pendulum.read_text(encoding="utf-8") == text
    (copy / "generated" / "whole" / "free_body.py").write_text("BODIES = 1\n", encoding="utf-8")  # without a header
    edit(copy / "generated" / "point_on_plane.py", "ROWS = ('height',)", "ROWS = ('depth',)")
    done = check(copy)
    assert done.returncode == STALE and "-ROWS = ('depth',)\n+ROWS = ('height',)\n" in done.stdout
    assert [line.split(":")[0] for line in done.stdout.splitlines()[-2:]] == [
        "generated/whole/free_body.py", "generated/whole/pendulum.py",
    ]  # fmt: skip


def test_whole_model_kernels_need_a_table_of_systems(copy):
    done = run(copy, "-m", "codegen", "--check", "--models")
    assert done.returncode == 2
    assert "pyproject.toml: no [tool.talus] whole-models = 'package.module:NAME'" in done.stderr
    assert "Traceback" not in done.stderr


def test_whole_model_kernels_of_any_package_with_a_table(copy):
    (copy / "pyproject.toml").write_text('[tool.talus]\nwhole-models = "own.systems:SYSTEMS"\n', encoding="utf-8")
    (copy / "own").mkdir()
    (copy / "own" / "systems.py").write_text("SYSTEMS = {}\n", encoding="utf-8")
    done = run(copy, "-m", "codegen", "--models")
    assert done.returncode == 0, done.stderr
    assert [file.name for file in (copy / "generated" / "whole").glob("*.py")] == ["__init__.py"]
    assert "generated/whole/: 1 files" in done.stdout


def test_a_broken_definition_exits_2_and_writes_nothing(copy, miniature):
    edit(copy / "codegen" / "joints.py", DISTANCE, 'return {"distance": d.dot(d) - l}')
    edit(copy / "codegen" / "joints.py", "def constant_angle(a_i: Vector, a_j", "def constant_angle(a_i: Vector, a_k")
    done = run(copy, "-m", "codegen")
    assert done.returncode == 2
    assert "definition 'constant_angle': argument 'a_k' has the unknown suffix '_k'" in done.stderr
    assert "Traceback" not in done.stderr
    assert modules_of(copy) == modules_of(miniature)
