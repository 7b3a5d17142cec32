"""``python -m codegen`` derives what has changed, by the text of the sources, and nothing else."""

import re

import pytest

from tests.support.definition_copies import edit, modules_of, run

WRITTEN = re.compile(r"(\d+) written(?: \((.*)\))?")


def regenerate(copy):
    """Names of the files that were written."""
    done = run(copy, "-m", "codegen")
    assert done.returncode == 0, done.stderr
    found = WRITTEN.search(done.stdout)
    return set((found[2] or "").split(", ")) if found else set()


def derived(copy):
    """Names of the modules that would be derived."""
    program = (
        "from codegen.compiler.generation import kept_modules; from codegen.compiler.plan import outputs; "
        "print(*sorted({o.name for o in outputs()} - kept_modules().keys()))"
    )
    done = run(copy, "-c", program)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_nothing_changed(copy):
    assert derived(copy) == []
    done = run(copy, "-m", "codegen")
    assert done.stdout.startswith("generated/: up to date with the definitions")
    program = (
        "import sys; from codegen.__main__ import main; code = main(sys.argv[1:]); print('sympy' in sys.modules, code)"
    )
    for options in ([], ["--check", "--quick"]):
        assert run(copy, "-c", program, *options).stdout.endswith("False 0\n")


@pytest.mark.slow
def test_an_edit_is_derived_alone(copy):
    edit(copy / "codegen" / "joints.py", "d.dot(d) - l**2", "2 * (d.dot(d) - l**2)")
    names = derived(copy)
    assert names == ["constant_distance"]
    assert regenerate(copy) == {"constant_distance.py", "digests.py"}
    assert derived(copy) == []


@pytest.mark.slow
def test_an_edit_of_a_motion_derives_its_joint(copy):
    edit(copy / "codegen" / "motions.py", '{"orientation": ball(s_i)}', '{"turn_of_j": ball(s_i)}')
    assert derived(copy) == ["spherical"]
    assert regenerate(copy) == {"spherical.py", "digests.py"}
    edit(copy / "codegen" / "motions.py", "def spherical(", "def sphericle(")
    done = run(copy, "-m", "codegen")
    assert done.returncode == 2 and "motion 'sphericle': there is no joint of this name" in done.stderr


@pytest.mark.slow
def test_what_a_definition_uses_counts(copy):
    edit(copy / "codegen" / "basics.py", "return r_j + s_j - r_i - s_i", "return s_j + r_j - s_i - r_i")
    names = derived(copy)
    assert "constant_distance" in names and "law_cubic" not in names


@pytest.mark.slow
def test_text_beside_the_definitions_does_not_count(copy):
    joints = copy / "codegen" / "joints.py"
    joints.write_text(joints.read_text(encoding="utf-8") + "\n\n# A comment.\n", encoding="utf-8")
    assert derived(copy) == []
    assert regenerate(copy) == {"digests.py"}


@pytest.mark.slow
def test_the_compiler_counts_for_all(copy):
    compiler = copy / "codegen" / "compiler" / "straight.py"
    compiler.write_text(compiler.read_text(encoding="utf-8") + "# A comment.\n", encoding="utf-8")
    assert "constant_distance" in derived(copy) and "law_cubic" in derived(copy)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["edit", "remove", "forge"])
def test_a_spoilt_module_is_derived_again(copy, damage):
    file = copy / "generated" / "constant_distance.py"
    if damage == "remove":
        file.unlink()
    else:
        file.write_text(
            file.read_text(encoding="utf-8").replace("    Phi[0] = ", "    Phi[0] = 2.0 * "), encoding="utf-8"
        )
    if damage == "forge":  # with a digest that fits the edited text
        program = (
            "from pathlib import Path; from codegen.compiler.text import body_of, with_header; "
            f"file = Path({str(file)!r}); file.write_text(with_header(body_of(file.read_text()), 'x'))"
        )
        assert run(copy, "-c", program).returncode == 0
    assert derived(copy) == ["constant_distance"]
    quick = run(copy, "-m", "codegen", "--check", "--quick")
    assert quick.returncode == 3 and "run: python -m codegen" in quick.stdout
    assert regenerate(copy) == {"constant_distance.py"}
    assert run(copy, "-m", "codegen", "--check", "--quick").returncode == 0


def test_a_quick_check_finds_an_edit(copy):
    edit(copy / "codegen" / "joints.py", "d.dot(d) - l**2", "2 * (d.dot(d) - l**2)")
    done = run(copy, "-m", "codegen", "--check", "--quick")
    assert done.returncode == 3
    assert done.stdout.startswith("generated/: older than the definitions, or edited; run: python -m codegen")


def test_quick_belongs_to_check(copy):
    done = run(copy, "-m", "codegen", "--quick")
    assert done.returncode == 2 and "--quick belongs to --check" in done.stderr


@pytest.mark.slow
def test_other_modules_keep_their_time_stamps(copy):
    before = {name: (copy / "generated" / name).stat().st_mtime_ns for name in modules_of(copy)}
    edit(copy / "codegen" / "joints.py", "d.dot(d) - l**2", "2 * (d.dot(d) - l**2)")
    written = regenerate(copy)
    after = {name: (copy / "generated" / name).stat().st_mtime_ns for name in modules_of(copy)}
    assert {name for name in before if after[name] != before[name]} == written


@pytest.mark.slow
def test_whole_model_kernels_of_another_emitter_are_named(copy):
    def left():  # free_body has no joints, so the emitter alone decides
        return "free_body" in run(copy, "-m", "codegen").stdout

    assert not left()
    emitter = copy / "codegen" / "compiler" / "elimination.py"
    emitter.write_text(emitter.read_text(encoding="utf-8") + "# A comment.\n", encoding="utf-8")
    assert left()
    assert left()  # nothing is written now, and the kernels are still old
