"""Workers of an ensemble whose cache lacks code: each function is compiled once by all processes, and one notice appears."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import models
import runtime
from runtime.integrate import ahead
from runtime.integrate.batches import batch
from runtime.lanes.lift import lift_lanes
from tests.support.compiled_code import copied_code
from tests.support.processes import environment

PROGRAM = """
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import models
import runtime
from runtime.jit import addresses, machine_code
from runtime.support import notice

store = machine_code.store
notice.SILENT_SECONDS = 0.0


def counted(file, data):
    with open("made", "a") as made:
        made.write(f"{os.getpid()} {file.name}\\n")
    store(file, data)


machine_code.store = addresses.store = counted

if __name__ == "__main__":
    cases = {"length": np.linspace(0.5, 1.0, 8)}
    with ProcessPoolExecutor(4, get_context(METHOD)) as engine:
        found = runtime.simulate_many(models.pendulum.build, cases, 0.01, engine=engine, chunk=1)
    print(found.success, os.getpid())
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", pytest.param("fork", marks=pytest.mark.nightly)])
def test_workers_wait_for_one_compilation(method, tmp_path):
    (tmp_path / "study.py").write_text(PROGRAM.replace("METHOD", repr(method)), encoding="utf-8")
    cache = copied_code(tmp_path / "cache", without=("lift.", "projection.", "revolute.", "tree_turn."))
    done = subprocess.run(
        [sys.executable, "study.py"], cwd=tmp_path, env=environment(TALUS_CACHE_DIR=str(cache)),
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    success, main = done.stdout.split()
    assert success == "True"
    made = [line.split() for line in (tmp_path / "made").read_text(encoding="utf-8").splitlines()]
    assert set(Counter(name for _, name in made).values()) == {1}
    assert {process for process, _ in made} - {main}  # workers compiled what only they need
    assert [name for process, name in made if process != main and name.startswith("lift._lift_lanes")]
    lines = done.stderr.splitlines()
    assert lines and all(line.startswith("compiling ") and "(once; kept in " in line for line in lines)
    assert sum("what the workers need" in line for line in lines) <= 1  # of the main process alone


def test_the_second_process_compiles_for_the_types_of_ensembles():
    for _, make in ahead.ASKED["vectorised cases"]:
        make()
    made = dict(batch.integrate.overloads), dict(lift_lanes.overloads)
    values = np.linspace(0.2, 0.4, 3)
    for system in (models.foot.build(), models.foot.build(limits="elastic")):
        for name in ("mass.toes", "rate.ankle.theta_i"):
            assert runtime.simulate_many(system, {name: values}, 0.01).vectorised.all()
    assert (batch.integrate.overloads, lift_lanes.overloads) == made
