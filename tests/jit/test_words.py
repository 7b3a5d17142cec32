"""Words for compiled code."""

import re
import subprocess
import sys

import pytest

from runtime.jit.words import WORDS, words_of_kernel
from tests.jit.test_digest import compiled_functions, modules
from tests.support.compiled_code import copied_code
from tests.support.processes import environment


def test_each_module_with_entry_points_has_words():
    compiling = {
        module.__name__
        for module in modules()
        if any(
            type(value).__name__ == "Entry" and value.__module__ == module.__name__ for value in vars(module).values()
        )
    } | {module.__name__ for module in modules() if "_entry" in vars(module) and compiled_functions(module)}
    assert "runtime.integrate.loop" in compiling and compiling <= WORDS.keys() <= {m.__name__ for m in modules()}


def test_kernels_have_the_names_of_their_definitions():
    assert words_of_kernel("generated.revolute") == "the kernel of revolute"
    assert words_of_kernel("generated.whole.foot_modified") == "the whole-model kernel of foot_modified"
    assert words_of_kernel("generated_from_ball_in_slot") == "the kernel of ball_in_slot"


PROGRAM = """
import runtime, models
from runtime.support import notice
notice.SILENT_SECONDS = 0.0
run = runtime.simulate(models.pendulum.build(), 0.01)
print(*(what for what, _ in notice.compilations()), sep="\\n")
"""


@pytest.mark.slow
def test_a_first_run_gives_one_notice_and_a_second_none(tmp_path):
    copied_code(tmp_path, without=("revolute.", "tree_equations."))

    def run():
        command = [sys.executable, "-c", PROGRAM]
        return subprocess.run(
            command, env=environment(TALUS_CACHE_DIR=str(tmp_path)), capture_output=True, text=True, check=True
        )

    first, second = run(), run()
    assert re.fullmatch(rf"compiling .* \.\.\. \(once; kept in {re.escape(str(tmp_path))}/talus\)\n", first.stderr)
    assert {"the kernel of revolute", "the equations of motion in joint coordinates"} <= set(first.stdout.splitlines())
    assert (second.stdout, second.stderr) == ("\n", "")
