"""The second process that compiles ahead: what it makes, and that it ends with the first."""

import os
import signal
import subprocess
import sys
import time

import pytest

from runtime.jit import second_process
from runtime.support.machine import cores
from tests.support.compiled_code import copied_code

PROGRAM = """
import sys, time
import numpy as np
from runtime.dynamics.projection import worst_row
from runtime.dynamics.equations import workspace_for
from runtime.integrate import ahead
from runtime.jit import second_process
from runtime.support.machine import cores

data = ahead._data()
worst_row(0.0, ahead._state(), data, workspace_for(data), False)  # the first function that is missing
process = second_process.begin()
print(process.pid if process else None, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def first(tmp_path):
    """The first process, which waits until its standard input is closed; the second one's number."""
    begun = []
    copied_code(tmp_path / "cache", without=("loop.advance", "projection.worst_row"))

    def start(**more):
        environment = {**os.environ, "TALUS_CACHE_DIR": str(tmp_path / "cache"), second_process.SETTING: "", **more}
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        process = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, cwd=tmp_path, **pipes)
        begun.append(process)
        line = process.stdout.readline().strip()
        return process, None if line == "None" else int(line)

    yield start
    for process in begun:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def ended(number):
    """Whether a process ends within ten seconds."""
    for _ in range(100):
        try:
            os.kill(number, 0)
            with open(f"/proc/{number}/stat", encoding="utf-8") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.1)
    return False


def is_made(tmp_path, name, seconds=120.0):
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        if [file for file in (tmp_path / "cache").glob(f"*/*/{name}-*") if not file.name.endswith(".lock")]:
            return True
        time.sleep(0.2)
    return False


pytestmark = [
    pytest.mark.slow,  # processes that compile
    pytest.mark.long,
    pytest.mark.skipif(cores() < 2, reason="one core: there is no second process"),
]


def test_it_compiles_what_the_first_process_has_not_called(first, tmp_path):
    _, number = first()
    assert number is not None and is_made(tmp_path, "loop.advance")


@pytest.mark.parametrize("killed", [False, True])
def test_it_ends_with_the_first_process(first, killed):
    process, number = first()
    process.send_signal(signal.SIGKILL) if killed else process.stdin.close()
    process.wait(timeout=30)
    assert ended(number)


def test_it_can_be_left_out(first):
    assert first(TALUS_SECOND_PROCESS="0")[1] is None


ALL_ASKED = """
from runtime.integrate.ahead import ASKED, _data, types_of
from runtime.jit import addresses, machine_code

stored = machine_code.stored


def noted(file):
    print(file.name.partition("-")[0])
    return stored(file)


machine_code.stored = addresses.stored = noted
types_of(_data())
for ranked in ASKED.values():
    for _, make in ranked:
        make()
"""


def test_all_that_can_be_asked_for_compiles():
    """Or is loaded, which has compiled for the same types."""
    done = subprocess.run([sys.executable, "-c", ALL_ASKED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = set(done.stdout.split())
    assert {"loop.advance", "limits.limits_part", "contacts.contacts_part", "jacobian._entry", "derived.derive"} <= made


def test_a_first_simulation_finds_its_types(tmp_path):
    """The second process compiles for the types that a simulation has: nothing is compiled twice."""
    program = "import models, runtime\nrun = runtime.simulate(models.foot.build(), 0.01)\nprint(run.energy[-1])\n"
    names = (
        "loop.advance",
        "derived.derive_energies",
        "energy.energy_part",
        "projection.assemble",
        "projection.worst_row",
        "projection.mark_dependent",
    )
    cache = copied_code(tmp_path / "cache", without=names)
    environment = {**os.environ, "TALUS_CACHE_DIR": str(cache), second_process.SETTING: ""}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = [file.name.partition("-")[0] for file in cache.glob("*/*/*-*") if not file.name.endswith(".lock")]
    for name in names:
        assert made.count(name) == 1, name
