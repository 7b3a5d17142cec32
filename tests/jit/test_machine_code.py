"""Files of machine code: whole or not used, read-only, not to be written at all, shared by processes."""

import os
import subprocess
import sys
import time

import pytest

PAIR = """
from typing import NamedTuple
import numpy as np

class Pair(NamedTuple):
    a: np.ndarray
    b: float
"""
PROGRAM = """
import numpy as np
from pair import Pair
from runtime.jit import machine_code
from runtime.jit.compilation import compiled

@compiled
def total(pair, factor):
    return factor * (pair.a[0] + pair.b)

print(total(Pair(np.array([2.0]), 3.0), 4.0), len(total.stats.cache_hits))
"""


NOTICE = "compiling "  # where the machine is busy, two seconds pass


@pytest.fixture
def program(tmp_path):
    """Run the program with a cache, as a user who may not write everywhere."""
    (tmp_path / "study.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "pair.py").write_text(PAIR, encoding="utf-8")

    def run(cache=tmp_path / "cache", name="study.py"):
        environment = {**os.environ, "TALUS_CACHE_DIR": str(cache)}
        command = [sys.executable, str(tmp_path / name)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        lines = done.stderr.splitlines(keepends=True)
        return done.stdout.split(), "".join(line for line in lines if not line.startswith(NOTICE))

    return run


@pytest.mark.slow
def test_files_that_only_another_program_can_read_are_made_again(program, tmp_path):
    (tmp_path / "pair.py").rename(tmp_path / "other_pair.py")
    (tmp_path / "other.py").write_text(
        "import sys\nimport other_pair\nother_pair.Pair.__module__ = 'not_there'\n"
        "sys.modules['not_there'] = sys.modules['pair'] = other_pair\n" + PROGRAM,
        encoding="utf-8",
    )
    assert program(name="other.py") == (["20.0", "0"], "")
    (tmp_path / "pair.py").write_text(PAIR, encoding="utf-8")
    assert program() == (["20.0", "0"], "")


@pytest.mark.slow
def test_processes_wait_for_one_compilation(program, tmp_path):
    slow = PROGRAM.replace(
        "print(", "import time\nstore = machine_code.store\n"
        "machine_code.store = lambda *a: (print('made', flush=True), time.sleep(0.5), store(*a))\nprint(",
    )  # fmt: skip
    (tmp_path / "study.py").write_text(slow, encoding="utf-8")
    environment = {**os.environ, "TALUS_CACHE_DIR": str(tmp_path / "cache")}
    begun = [
        subprocess.Popen([sys.executable, "study.py"], env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    texts = [process.communicate()[0] for process in begun]
    assert sum(text.count("made") for text in texts) == 1
    assert sorted(text.split()[-1] for text in texts) == ["0", "1", "1"]


@pytest.mark.slow
def test_a_process_that_dies_holds_nobody_up(program, tmp_path):
    dying = PROGRAM.replace("print(", "import os\n"
                            "machine_code.store = lambda *a: os._exit(0)\nprint(")  # fmt: skip
    (tmp_path / "dying.py").write_text(dying, encoding="utf-8")
    program(name="dying.py")
    begin = time.monotonic()
    assert program()[0] == ["20.0", "0"]
    assert time.monotonic() - begin < 60.0
