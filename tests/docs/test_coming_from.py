"""Pages for users of other programs: outputs are those shown, and equal to those of the other program, where it is installed."""

import ast
import importlib.util
import os
import re
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.support.pages import numbers_of_blocks
from tests.support.paths import ROOT

PAGES = ROOT / "docs" / "coming_from"
PACKAGES = {"drake": "pydrake", "mujoco": "mujoco", "opensim": "opensim", "pinocchio": "pinocchio"}
# In a process of its own: OpenSim does not live in one with ezc3d.
OTHER = """
import pathlib, sys, numpy
from tests.support.pages import numbers_of_blocks
numpy.savez(sys.argv[2], **numbers_of_blocks(pathlib.Path(sys.argv[1]), "py"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_both_sides_of_a_page_have_the_same_numbers(name, tmp_path, monkeypatch):
    if importlib.util.find_spec(PACKAGES[name]) is None:
        pytest.skip(f"{PACKAGES[name]} is not installed")
    monkeypatch.chdir(tmp_path)
    page = PAGES / f"{name}.md"
    ours = numbers_of_blocks(page, "python")
    paths = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    subprocess.run([sys.executable, "-c", OTHER, page, "of_peer.npz"], env=os.environ | paths, check=True, timeout=120)
    with np.load("of_peer.npz") as of_peer:
        shared = sorted(of_peer.keys() & ours.keys())
        assert {"M", "r", "A", "J", "needed", "acceleration"} <= set(shared)
        for one in shared:
            tolerance = 1e-9 * np.abs(of_peer[one]).max() + 1e-12
            np.testing.assert_allclose(ours[one], of_peer[one], rtol=0, atol=tolerance, err_msg=one)


SHOWN = re.compile(r"^(\w+) = .*  # (\[[-\d\[\]., ]*\])", re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_a_page_runs_and_shows_its_outputs(name, tmp_path, monkeypatch):
    """To the four digits that comments show."""
    monkeypatch.chdir(tmp_path)
    page = PAGES / f"{name}.md"
    found, shown = numbers_of_blocks(page, "python"), SHOWN.findall(page.read_text(encoding="utf-8"))
    plt.close("all")
    assert len(shown) >= 5
    for variable, text in shown:
        np.testing.assert_allclose(found[variable], ast.literal_eval(text), rtol=0, atol=6e-5, err_msg=variable)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_page_answers_the_ten_questions_in_order(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    heads = [line.split()[1] for line in text.splitlines() if line.startswith("## ")]
    assert heads[:10] == [f"{k}." for k in range(1, 11)]
    assert {"Words", "Conventions"} <= set(heads[10:])
