"""``python -m codegen`` derives what has changed, by the text of the sources, and nothing else; every difference is found."""

import hashlib
import re

import pytest

from tests.support.definition_copies import check, edit, modules_of, run
from tests.support.marks import quick_for

pytestmark = pytest.mark.slow

COMMAND = "python -m codegen"
STALE = 3
DISTANCE = 'return {"distance": d.dot(d) - l**2}', 'return {"distance": (d.dot(d) - l**2) * 2}'
HASH_OF_GENERATED = (
    "import hashlib; from codegen.__main__ import generate; "
    "print(hashlib.sha256(''.join(n + t for n, t in generate().items()).encode()).hexdigest())"
)
DERIVED = (
    "from codegen.compiler.generation import kept_modules; from codegen.compiler.plan import outputs; "
    "print(*sorted({o.name for o in outputs()} - kept_modules().keys()))"
)


def said(copy, *arguments):
    """What a command that succeeds prints."""
    done = run(copy, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def derived(copy):
    """Names of the modules that would be derived."""
    return said(copy, "-c", DERIVED).split()


def regenerate(copy):
    """Names of the files that were written."""
    found = re.search(r"\d+ written \((.*)\)", said(copy, "-m", "codegen"))
    return set(found[1].split(", ")) if found else set()


def stamps(copy):
    return {name: (copy / "generated" / name).stat().st_mtime_ns for name in modules_of(copy)}


def test_nothing_changed(copy):
    assert derived(copy) == []
    assert said(copy, "-m", "codegen").startswith("generated/: up to date with the definitions")
    program = (
        "import sys; from codegen.__main__ import main; code = main(sys.argv[1:]); print('sympy' in sys.modules, code)"
    )
    for options in ([], ["--check", "--quick"]):
        assert run(copy, "-c", program, *options).stdout.endswith("False 0\n")
    done = run(copy, "-m", "codegen", "--quick")
    assert done.returncode == 2 and "--quick belongs to --check" in done.stderr


def test_output_does_not_depend_on_the_hash_seed(miniature):
    """The miniature was made with a seed by chance."""
    texts = {f.name: f.read_text(encoding="utf-8") for f in sorted((miniature / "generated").glob("*.py"))}
    committed = hashlib.sha256("".join(n + t for n, t in texts.items()).encode()).hexdigest()
    done = run(miniature, "-c", HASH_OF_GENERATED, PYTHONHASHSEED="0")
    assert done.stdout.strip() == committed, done.stderr


def test_an_edit_is_found_and_derived_alone(copy):
    """The difference is shown, the module is written, and no other one is touched."""
    edit(copy / "codegen" / "joints.py", *DISTANCE)
    quick = run(copy, "-m", "codegen", "--check", "--quick")
    assert quick.returncode == STALE
    assert quick.stdout.startswith(f"generated/: older than the definitions, or edited; run: {COMMAND}")
    done = check(copy)
    assert done.returncode == STALE
    assert "--- generated/constant_distance.py (in the folder)" in done.stdout
    assert "+++ generated/constant_distance.py (from the definitions)" in done.stdout
    assert re.search(r"^-    Phi\[0\] = d_x\*\*2.*^\+    Phi\[0\] = 2\*d_x", done.stdout, re.M | re.S)
    assert done.stdout.rstrip().endswith(f"run: {COMMAND}") and "spherical.py" not in done.stdout
    before = stamps(copy)
    assert derived(copy) == ["constant_distance"]
    assert regenerate(copy) == {"constant_distance.py", "digests.py"}
    assert {name for name, time in stamps(copy).items() if time != before[name]} == {
        "constant_distance.py",
        "digests.py",
    }
    assert derived(copy) == [] and run(copy, "-m", "codegen", "--check", "--quick").returncode == 0


EDITS = {
    "motion": (
        "motions.py", '{"orientation": ball(s_i)}', '{"turn_of_j": ball(s_i)}', {"spherical", "not constant_distance"},
    ),
    "what a definition uses": (
        "basics.py", "return r_j + s_j - r_i - s_i", "return s_j + r_j - s_i - r_i", {"constant_distance", "not law_cubic"},
    ),
    "compiler": ("compiler/straight.py", "", "# A comment.\n", {"constant_distance", "law_cubic"}),
    "text beside": ("joints.py", "", "\n\n# A comment.\n", set()),
}  # fmt: skip


@pytest.mark.parametrize("kind", quick_for(EDITS, ["what a definition uses", "compiler"], pytest.mark.nightly))
def test_what_counts_for_a_definition(copy, kind):
    file, old, new, names = EDITS[kind]
    source = copy / "codegen" / file
    if old:
        edit(source, old, new)
    else:
        source.write_text(source.read_text(encoding="utf-8") + new, encoding="utf-8")
    found = set(derived(copy))
    assert {name for name in names if not name.startswith("not ")} <= found and (names or not found)
    assert not {f"not {name}" for name in found} & names
    if "law_cubic" in names:
        assert "-SOURCES = " in check(copy).stdout
    else:
        assert {"digests.py"} <= regenerate(copy) <= {"digests.py", *(f"{name}.py" for name in found)}


def test_a_motion_without_its_joint(copy):
    edit(copy / "codegen" / "motions.py", "def spherical(", "def sphericle(")
    done = run(copy, "-m", "codegen")
    assert done.returncode == 2 and "motion 'sphericle': there is no joint of this name" in done.stderr


def test_a_new_and_a_removed_definition(copy):
    edit(copy / "codegen" / "joints.py", "def constant_angle(", "def new_angle(")
    done = check(copy)
    assert done.returncode == STALE and "generated/new_angle.py (from the definitions)" in done.stdout
    regenerate(copy)
    assert not (copy / "generated" / "constant_angle.py").exists()
    assert '"new_angle": "generated.new_angle"' in (copy / "generated" / "joints.py").read_text(encoding="utf-8")


def test_a_spoilt_folder_is_found(copy, miniature):
    """A file edited by hand, a file too many and a file too few; ``test_mended_folder`` mends them."""
    edit(copy / "generated" / "point_on_plane.py", "ROWS = ('height',)", "ROWS = ('depth',)")
    (copy / "generated" / "ball.py").write_text("NAME = 'ball'\n", encoding="utf-8")
    (copy / "generated" / "spherical.py").unlink()
    before = modules_of(copy)
    done = check(copy)
    assert done.returncode == STALE and modules_of(copy) == before
    assert "-ROWS = ('depth',)\n+ROWS = ('height',)\n" in done.stdout
    assert "--- generated/ball.py (in the folder)" in done.stdout
    assert "+++ generated/spherical.py (from the definitions)" in done.stdout
    assert done.stdout.rstrip().endswith(f"3 of {len(modules_of(miniature))} files differ; run: {COMMAND}")


def test_a_whole_model_kernel_edited_by_hand_is_found(copy):
    pendulum = copy / "generated" / "whole" / "pendulum.py"
    edit(pendulum, "CONSTANTS = ", "CONSTANTS = 1 + ")
    text = pendulum.read_text(encoding="utf-8")
    (copy / "generated" / "whole" / "free_body.py").write_text("BODIES = 1\n", encoding="utf-8")  # without a header
    edit(copy / "generated" / "point_on_plane.py", "ROWS = ('height',)", "ROWS = ('depth',)")
    done = check(copy)
    assert done.returncode == STALE and "-ROWS = ('depth',)\n+ROWS = ('height',)\n" in done.stdout
    of_body, of_pendulum = done.stdout.splitlines()[-2:]
    said = f"edited by hand: its text does not match the digest in its header; run: {COMMAND} --models"
    assert of_pendulum == f"generated/whole/pendulum.py: {said}" and of_body.startswith("generated/whole/free_body.py:")
    assert pendulum.read_text(encoding="utf-8") == text


def test_whole_model_kernels_of_any_package_with_a_table_of_systems(copy):
    done = run(copy, "-m", "codegen", "--check", "--models")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "pyproject.toml: no [tool.talus] whole-models = 'package.module:NAME'" in done.stderr
    (copy / "pyproject.toml").write_text('[tool.talus]\nwhole-models = "own.systems:SYSTEMS"\n', encoding="utf-8")
    (copy / "own").mkdir()
    (copy / "own" / "systems.py").write_text("SYSTEMS = {}\n", encoding="utf-8")
    assert "generated/whole/: 1 files" in said(copy, "-m", "codegen", "--models")
    assert [file.name for file in (copy / "generated" / "whole").glob("*.py")] == ["__init__.py"]


def test_whole_model_kernels_of_another_emitter_are_named(copy):
    def left():  # free_body has no joints, so the emitter alone decides
        return "free_body" in run(copy, "-m", "codegen").stdout

    assert not left()
    emitter = copy / "codegen" / "compiler" / "elimination.py"
    emitter.write_text(emitter.read_text(encoding="utf-8") + "# A comment.\n", encoding="utf-8")
    assert left()
    assert left()  # nothing is written now, and the kernels are still old


def test_a_broken_definition_exits_2_and_writes_nothing(copy, miniature):
    edit(copy / "codegen" / "joints.py", DISTANCE[0], 'return {"distance": d.dot(d) - l}')
    edit(copy / "codegen" / "joints.py", "def constant_angle(a_i: Vector, a_j", "def constant_angle(a_i: Vector, a_k")
    done = run(copy, "-m", "codegen")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "definition 'constant_angle': argument 'a_k' has the unknown suffix '_k'" in done.stderr
    assert modules_of(copy) == modules_of(miniature)
