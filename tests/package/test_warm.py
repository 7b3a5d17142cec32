"""``talus warm``: what it compiles, what it says, and that nothing is left to compile."""

import json
import subprocess
import sys
from functools import partial

import pytest

from runtime.jit.place import cache_folder
from tests.support.compiled_code import copied_code
from tests.support.permissions import read_only, without_privileges, writable
from tests.support.processes import environment


@pytest.fixture
def warm(command):
    """Calls ``talus warm``."""
    return partial(command, "warm")


def test_a_second_call_finds_all_in_place(warm):
    assert warm("free_body").code == 0
    done = warm("free_body")
    assert done.code == 0 and "nothing: all was there" in " ".join(done.out.split()) and done.err == "free_body\n"
    assert f"compiled code: {cache_folder()} (" in done.out
    found = json.loads(warm("free_body", "models.free_body:build", "free_body", "--json").out)
    uses = ["simulation (dop853)", "linearisation", "ensemble", "sensitivities"]
    assert [row["model"] for row in found["models"]] == ["free_body", "models.free_body:build"]
    assert found["models"][0] == {"model": "free_body", "uses": uses, "compiled": [], "seconds": 0.0}
    assert found["folder"] == str(cache_folder())


def test_an_unknown_model_is_answered_with_the_nearest_name(warm):
    done = warm("free_body", "pendlum")
    assert done.code == 2 and done.out == ""
    assert done.err.startswith(
        "unknown model 'pendlum'; did you mean 'pendulum'? The models are chain, double_pendulum, foot, "
    )


@pytest.mark.slow
def test_contacts_are_warmed_for_radau_and_driven_systems_for_inverse_dynamics(warm):
    found = json.loads(warm("foot_ground", "gait", "--json").out)["models"]
    assert "simulation (radau)" in found[0]["uses"] and "sensitivities" in found[0]["uses"]
    assert "inverse dynamics" in found[1]["uses"] and "simulation (radau)" not in found[1]["uses"]


WARM = """
import os
from runtime.cli import main
from runtime.jit import addresses, machine_code

stored = machine_code.stored


def noted(file):
    with open(os.environ["USED"], "a") as used:
        print(file, file=used)
    return stored(file)


machine_code.stored = addresses.stored = noted
main()
"""
USE = """
import numpy as np
import models, runtime
from runtime.support.notice import compilations

system = models.pendulum.build()
run = runtime.simulate(system, 0.1, t_eval=np.linspace(0.0, 0.1, 5))
run.energy, run.violation, run.lam, run.to_xarray()
runtime.linearisation(system)
runtime.sensitivities(models.pendulum.build, {"length": 0.3}, 0.1)
runtime.simulate_many(models.pendulum.build, {"length": np.array([0.3, 0.4])}, 0.1)
print(compilations())
"""


@pytest.mark.slow
@pytest.mark.long
def test_after_it_nothing_is_left_to_compile_and_the_cache_may_be_read_only(tmp_path):
    drop, used = without_privileges(), tmp_path / "used"
    cache = copied_code(tmp_path / "cache", without=("tree_equations.",))

    def python(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", *arguments], env=environment(TALUS_CACHE_DIR=str(cache), USED=str(used)),
            capture_output=True, text=True, preexec_fn=drop,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    found = json.loads(python(WARM, "warm", "pendulum", "--json"))["models"]
    assert "equations of motion in joint coordinates" in found[0]["compiled"]
    assert found[0]["seconds"] > 0.0
    names = used.read_text(encoding="utf-8").split()
    for file in cache.glob("*/*/*-*"):
        if str(file) not in names:  # it was there, and would have been missed
            file.unlink()
    read_only(cache)
    assert python(USE) == "[]\n"
    writable(cache)
