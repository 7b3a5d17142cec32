"""The README is an API document: its Python blocks run as they stand."""

import re

import pytest

from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_every_python_block_runs_in_order():
    scope: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), scope)
    assert scope["system"].degrees_of_freedom == 3
    run = scope["run"]
    assert run.success, run.message
    assert abs(run.energy - run.energy[0]).max() < 1e-8


def test_users_own_joint_is_shown_in_under_20_lines():
    (own,) = [block for block in BLOCKS if "compile_joint" in block]
    assert len(own.strip().splitlines()) < 20


@pytest.mark.parametrize("word", ["talus ankle", "pytest"])
def test_each_of_the_two_commands_appears_once(word):
    commands = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]
    assert len([line for line in commands if word in line]) == 1
