"""The examples of the gallery run alone, write their picture, and are on one page each."""

import re
import sys

import pytest

from tests.support.paths import ROOT

sys.path.append(str(ROOT / "docs" / "_ext"))
import runner


@pytest.fixture(scope="module")
def digest():
    """Digest of the sources of Talus; what was kept for others is removed, as the site does."""
    digest = runner.digest_of_sources()
    runner.remove_others(digest)
    return digest


SLOW = {"ankle_angles", "ensemble_bands", "excursion_study", "landing_muscles", "landing_numbers", "twenty_numbers"}
LONG = [pytest.mark.slow, pytest.mark.long]  # .ci/run builds the site beside the slow tests, with what these keep


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG if name in SLOW else []) for name in runner.names()])
def test_an_example_runs_and_draws(name, tmp_path, digest):
    printed = runner.run(name, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [f"{name}.png"]
    runner.keep(name, digest, tmp_path, printed)
    title, description = runner.text_of(name)
    assert title and description.endswith(".")


def test_names_of_slow_examples_exist():
    assert SLOW <= set(runner.names())


def test_each_example_is_on_one_page_and_on_the_front_page():
    pages = {page.stem: page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "gallery").glob("*.rst")}
    front = {
        page: names.split() for page, names in re.findall(r"^\.\. thumbnails:: (\w+) (.+)$", pages.pop("index"), re.MULTILINE)
    }  # fmt: skip
    shown = {page: re.findall(r"^\.\. example:: (\w+)$", text, re.MULTILINE) for page, text in pages.items()}
    assert shown == front
    assert sorted(name for names in shown.values() for name in names) == runner.names()
