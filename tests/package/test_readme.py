"""README and the pages of ``docs/`` document the interface: their Python blocks run as they are, and their links have targets."""

import ast
import pkgutil
import re
import tomllib

import matplotlib.pyplot as plt
import pytest

import runtime
from tests.support.marks import over
from tests.support.pages import blocks, run_blocks
from tests.support.paths import ROOT

README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
IN_FOLDERS = sorted(page for page in (ROOT / "docs").glob("*/*.md") if page.parent.name != "_build")
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *DOCS, *IN_FOLDERS]


def commands(page):
    """The lines of a page's shell blocks, without comments."""
    return [line.split("  #")[0].strip() for block in blocks(page, "sh") for line in block.splitlines()]


def test_blocks_of_readme_run_one_by_one():
    for block in blocks(README, "python"):
        exec(compile(block, README.name, "exec"), {})


def test_blocks_of_readme_run_in_order():
    scope = run_blocks(README)
    assert scope["system"].degrees_of_freedom == 3
    run = scope["run"]
    assert run.success, run.message
    assert abs(run.energy - run.energy[0]).max() < 1e-8


SLOW = {
    "assembly.md", "control.md", "coordinates.md", "ensembles.md", "foot_over_ground.md", "forces.md", "joints_that_fit.md",
    "landing.md", "sensitivities.md", "simulation.md", "studies.md", "walking.md",
}  # fmt: skip
# Those of docs/coming_from run in tests/docs.
HOWTO = [ROOT / "docs" / name for name in ("howto/landing.md", "howto/studies.md", "validation/index.md")]
WITH_BLOCKS = [page for page in (*DOCS, *HOWTO) if blocks(page, "python")]


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.name in SLOW else []) for page in WITH_BLOCKS],
)
def test_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks(page)
    plt.close("all")


def test_an_axis_sweep_with_a_figure_takes_10_lines_with_the_installation():
    page = ROOT / "docs" / "index.md"
    lines = [line for language in ("sh", "python") for block in blocks(page, language) for line in block.splitlines()]
    assert len(lines) <= 10 and "pip install" in lines[0] and "savefig" in lines[-1]


def test_the_table_of_statuses_is_the_enumeration():
    page = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([A-Z_]+)` \| (-?\d+) \| (.*?) \| ?(.*?) ?\|$", page, re.MULTILINE)
    assert rows == [(s.name, str(s.value), s.sentence, s.remedy) for s in runtime.Status]


def test_names_of_pages_that_run_slowly_exist():
    assert SLOW <= {page.name for page in WITH_BLOCKS}


def test_joint_of_the_user_is_shown_in_under_20_lines():
    own = [block for block in blocks(ROOT / "docs" / "joints.md", "python") if "compile_joint" in block]
    assert own and all(len(block.strip().splitlines()) < 20 for block in own)


@pytest.mark.parametrize("word", ["talus ankle", "pytest"])
def test_each_of_the_two_commands_appears_once_in_readme(word):
    assert len([line for line in commands(README) if word in line]) == 1


def test_first_line_of_readme_with_pytest_is_the_command():
    """``.ci/run`` evaluates that line."""
    first = next(line for line in README.read_text(encoding="utf-8").splitlines() if "pytest" in line)
    assert first in commands(README)


def test_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


@over("page", PAGES)
def test_links_of_a_page_have_targets(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    local = [link.split("#")[0] for link in links if not link.startswith(("https://", "#"))]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_every_page_and_picture_is_linked():
    linked = {link for page in DOCS for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))}
    assert {page.name for page in DOCS} - linked == {"README.md"}  # the index of the folder
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [file.name for file in (ROOT / "docs" / "pictures").iterdir() if f"pictures/{file.name}" not in text] == []


@over("page", PAGES)
def test_commands_of_a_page_exist(page):
    studies = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    verbs = {"models", "info", "simulate", "study", "view", "warm", "doctor", *studies["talus.studies"]}
    text = page.read_text(encoding="utf-8")
    lines = "\n".join([*commands(page), *re.findall(r"`([^`\n]+)`", text)])
    assert set(re.findall(r"\btalus ([a-z]+)", lines)) <= verbs
    questions = (ROOT / "benchmarks" / "__main__.py").read_text(encoding="utf-8")
    known = next(
        set(ast.literal_eval(node.value))
        for node in ast.parse(questions).body
        if isinstance(node, ast.Assign) and node.targets[0].id == "QUESTIONS"
    )
    assert set(re.findall(r"-m benchmarks ([a-z]+)", lines)) <= known


@over("page", PAGES)
def test_installation_names_our_distribution(page):
    """``talus`` on the package index is another project."""
    text = page.read_text(encoding="utf-8")
    for line in text.splitlines():
        for requirement in re.findall(r"pip install (?:-q )?(.+)", line):
            assert requirement.startswith(("-e .", '-e ".', "'talus-multibody[", "pre-commit")), line


def test_version_is_stated_alike():
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1]
    latest = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert citation == latest == runtime.__version__


def test_new_names_of_the_changelog_exist():
    """Names in the right column of its table, written in full."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    rows = [line.rstrip("| ").rpartition(" | ")[2] for line in text.splitlines() if line.startswith("| `")]
    names = re.findall(r"`((?:runtime|models|codegen)\.[\w.]+)", "\n".join(rows))
    assert len(names) > 30
    for name in names:
        assert pkgutil.resolve_name(name) is not None
