"""Pages for users of other programs: variables of one name on both sides are equal, where the other program is installed."""

import importlib.util
import os
import subprocess
import sys

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


@pytest.mark.parametrize("name", PACKAGES)
def test_a_page_answers_the_ten_questions_in_order(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    heads = [line.split()[1] for line in text.splitlines() if line.startswith("## ")]
    assert heads[:10] == [f"{k}." for k in range(1, 11)]
    assert {"Words", "Conventions"} <= set(heads[10:])
