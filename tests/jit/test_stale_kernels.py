"""Old machine code never runs: proven in fresh processes, on a copy of the packages, by one small compiled function."""

import hashlib
import os

import pytest

HIDDEN, STALE = 2, 3  # exit codes

# numba keeps the compiled function under the time stamp of this file alone, which no edit below changes.
PROBE = """
import numpy as np
from generated import constant_distance
from runtime.dynamics.vectors import rotate_vectors
from runtime.jit.compilation import compiled


@compiled
def probe(body_i, body_j, numbers, A, local, x, Phi):
    constant_distance.phi(body_i, body_j, x[0], Phi)
    rotate_vectors(numbers, numbers, numbers, local, A, x)


bodies, x, Phi = np.zeros((2, 13)), np.zeros((1, 7)), np.zeros(1)
bodies[1, 0], x[0, 6] = 3.0, 2.0
probe(bodies[0], bodies[1], np.zeros(1, np.int64), np.eye(3)[None], np.array([[5.0, 0.0, 0.0]]), x, Phi)
print(Phi[0], x[0, 0], len(probe.stats.cache_hits))
"""

HAND_EDIT = ("generated/spherical.py", "Phi[0] = d_x", "Phi[0] = -d_x")


def digest(text):
    return hashlib.sha256(text.partition("# Digest: ")[2].partition("\n")[2].encode()).hexdigest()


def regenerate(copy, name, before, after):
    """Edit a generated module and what vouches for it, as another definition would."""
    file, record = copy.folder / "generated" / f"{name}.py", copy.folder / "generated" / "digests.py"
    old = digest(file.read_text(encoding="utf-8"))
    copy.edit(f"generated/{name}.py", before, after)
    copy.edit(f"generated/{name}.py", old, digest(file.read_text(encoding="utf-8")))
    stated = digest(record.read_text(encoding="utf-8"))
    copy.edit("generated/digests.py", old, digest(file.read_text(encoding="utf-8")))
    copy.edit("generated/digests.py", stated, digest(record.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_compiled_code_is_kept_until_a_kernel_or_the_runtime_changes(copy):
    (copy.folder / "probe.py").write_text(PROBE, encoding="utf-8")
    assert copy.numbers("probe.py") == [5.0, 5.0, 0.0]  # 3^2 - 2^2, a vector as it is, compiled
    assert copy.numbers("probe.py") == [5.0, 5.0, 1.0]  # from the cache
    regenerate(copy, "constant_distance", "    Phi[0] = ", "    Phi[0] = 2.0 * ")
    Phi, vector, hits = copy.numbers("probe.py")
    assert Phi != 5.0 and (vector, hits) == (5.0, 0.0)
    copy.edit("runtime/dynamics/vectors.py", "to[k] = R[k, 0]", "to[k] = 2.0 * R[k, 0]")
    assert copy.numbers("probe.py") == [Phi, 10.0, 0.0]


@pytest.mark.slow
def test_without_a_cache_a_regenerated_kernel_is_compiled_anew(copy):
    """numba's own cache would take the folder beside the sources, whose files no digest guards."""
    (copy.folder / "probe.py").write_text(PROBE, encoding="utf-8")
    copy.cache = "/proc/not-there"
    assert copy.numbers("probe.py") == [5.0, 5.0, 0.0]
    regenerate(copy, "constant_distance", "    Phi[0] = ", "    Phi[0] = 2.0 * ")
    Phi, vector, hits = copy.numbers("probe.py")
    assert Phi != 5.0 and (vector, hits) == (5.0, 0.0)
    copy.edit("runtime/dynamics/vectors.py", "to[k] = R[k, 0]", "to[k] = 2.0 * R[k, 0]")
    assert copy.numbers("probe.py") == [Phi, 10.0, 0.0]
    assert not list(copy.folder.rglob("*.nb[ci]")), "files of numba's cache"


LATER = """
import sys
import numpy as np
from runtime.dynamics.projection import move

if "edit" in sys.argv:
    with open(sys.argv[-1], "r+", encoding="utf-8") as file:
        text = file.read().replace("y[R + k] + scale", "y[R + k] + 1.0 * scale")
        file.seek(0)
        file.write(text)
y, u, moved = np.zeros(13), np.zeros((2, 6)), np.zeros(13)
y[3], u[1, 0] = 1.0, 1.0
move(y, u, 1.0, moved)
print(moved[0], len(move.stats.cache_hits))
"""


@pytest.mark.slow
def test_code_of_a_process_whose_sources_were_edited_meanwhile_is_not_kept(copy):
    (copy.folder / "later.py").write_text(LATER, encoding="utf-8")
    file = copy.folder / "runtime" / "dynamics" / "projection.py"
    copy.edit("runtime/dynamics/projection.py", "y[R + k] + scale * u[k]", "y[R + k] + scale * 7.0 * u[k]")
    text = file.read_text(encoding="utf-8")
    assert copy.numbers("later.py", "edit", str(file)) == [7.0, 0.0]
    assert file.read_text(encoding="utf-8") != text
    file.write_text(text.replace("scale * 7.0", "scale"), encoding="utf-8")
    assert copy.numbers("later.py") == [1.0, 0.0]


def test_kernels_older_than_their_definitions_are_refused(copy):
    copy.edit("codegen/joints.py", '{"distance": d.dot(d) - l**2}', '{"distance": d.dot(d) - 4 * l**2}')
    refused = copy.python("-c", "import runtime")
    assert refused.returncode == STALE
    assert "older than the definitions in codegen/; run: python -m codegen" in refused.stderr


@pytest.mark.parametrize(
    "program", [["-c", "import runtime"], ["-c", "from runtime.cli import main; main()", "models"]]
)
def test_a_hand_edit_is_refused_with_exit_3(copy, program):
    copy.edit(*HAND_EDIT)
    done = copy.python(*program)
    assert done.returncode == STALE
    assert done.stderr.strip() == (
        "stale kernels: generated/spherical.py was edited by hand or comes from another generation; run: python -m codegen"
    )


def test_the_error_can_be_caught_in_a_study(copy):
    copy.edit(*HAND_EDIT)
    program = "try:\n    import runtime\nexcept Exception as error:\n    print(type(error).__name__)"
    assert copy.python("-c", program).stdout.strip() == "StaleKernelsError"


def test_a_folder_without_its_init_is_mended_by_the_command_that_is_named(copy):
    """Python then finds the folder itself, which hides nothing."""
    (copy.folder / "generated" / "__init__.py").unlink()
    done = copy.python("-c", "import runtime")
    assert done.returncode == STALE and done.stderr.strip() == (
        "stale kernels: generated/__init__.py is missing; run: python -m codegen"
    )


def test_a_folder_behind_a_link_is_the_same_folder(copy):
    (copy.folder / "generated").rename(copy.folder / "elsewhere")
    (copy.folder / "generated").symlink_to("elsewhere")
    done = copy.python("-c", "import runtime")
    assert done.returncode == 0 and not done.stderr


def test_a_pipe_among_the_definitions_is_not_waited_for(copy):
    (copy.folder / "codegen" / "laws.py").unlink()
    os.mkfifo(copy.folder / "codegen" / "laws.py")
    done = copy.python("-c", "import runtime")
    assert (
        done.returncode == STALE and "a file of codegen/ cannot be read (laws.py is no file); restore it" in done.stderr
    )
    done = copy.python("-m", "codegen")
    assert done.returncode == STALE - 1 and "laws.py" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_missing_surplus_and_mixed_modules_are_refused(copy):
    generated = copy.folder / "generated"
    text, other = (generated / "fixed.py").read_bytes(), (generated / "spherical.py").read_bytes()
    for name, content, then, says in (
        ("fixed.py", None, text, "fixed.py is missing"),
        ("extra.py", text, None, "extra.py is no output of codegen"),
        ("fixed.py", other, text, "fixed.py was edited by hand"),
        ("digests.py", None, b"", "digests.py is missing"),
    ):
        (generated / name).unlink(missing_ok=True) if content is None else (generated / name).write_bytes(content)
        done = copy.python("-c", "import runtime")
        assert done.returncode == STALE and says in done.stderr
        (generated / name).unlink(missing_ok=True) if then is None else (generated / name).write_bytes(then)


@pytest.mark.slow
def test_another_package_of_the_same_name_is_refused(copy, tmp_path_factory):
    study = tmp_path_factory.mktemp("study")
    other = study / "generated"
    other.mkdir()
    (other / "__init__.py").write_text('"""Another package."""\n', encoding="utf-8")
    program = f"import sys\nsys.path[:0] = [{str(study)!r}, {str(copy.folder)!r}]\nimport runtime\n"
    (study / "study.py").write_text(program, encoding="utf-8")
    done = copy.python(str(study / "study.py"))
    assert done.returncode == HIDDEN
    assert "hides Talus's package 'generated'" in done.stderr
    (copy.folder / "generated" / "spherical").mkdir()
    assert "generated/spherical/ is no output of codegen" in copy.python("-c", "import runtime").stderr
