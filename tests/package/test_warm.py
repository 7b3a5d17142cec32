"""``talus warm``: what it compiles, what it says, and that nothing is left to compile."""

import json
import subprocess
import sys

import pytest

import runtime.cli
from runtime.jit.cache import cache_folder
from tests.support.permissions import read_only, without_privileges, writable
from tests.support.processes import environment


@pytest.fixture
def warm(monkeypatch, capsys):
    """The command in this process: its exit code, stdout and stderr."""

    monkeypatch.setenv("TALUS_SECOND_PROCESS", "0")  # as the command sets it, and restored after the test

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["talus", "warm", *arguments])
        try:
            runtime.cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        return code, *capsys.readouterr()

    return call


def test_a_second_call_finds_all_in_place(warm):
    assert warm("free_body")[0] == 0
    code, out, err = warm("free_body")
    assert code == 0 and "nothing: all was there" in " ".join(out.split()) and err == "free_body\n"
    assert f"compiled code: {cache_folder()} (" in out
    code, out, _ = warm("free_body", "models.free_body:build", "free_body", "--json")
    found = json.loads(out)
    uses = ["simulation (dop853)", "linearisation", "ensemble", "sensitivities"]
    assert [row["model"] for row in found["models"]] == ["free_body", "models.free_body:build"]
    assert found["models"][0] == {"model": "free_body", "uses": uses, "compiled": [], "seconds": 0.0}
    assert found["folder"] == str(cache_folder())


def test_an_unknown_model_is_answered_with_the_nearest_name(warm):
    code, out, err = warm("free_body", "pendlum")
    assert code == 2 and out == ""
    assert err.startswith(
        "unknown model 'pendlum'; did you mean 'pendulum'? The models are chain, double_pendulum, foot, "
    )


@pytest.mark.slow
def test_contacts_are_warmed_for_radau_and_driven_systems_for_inverse_dynamics(warm):
    found = json.loads(warm("foot_ground", "gait", "--json")[1])["models"]
    assert "simulation (radau)" in found[0]["uses"] and "sensitivities" in found[0]["uses"]
    assert "inverse dynamics" in found[1]["uses"] and "simulation (radau)" not in found[1]["uses"]


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
def test_after_it_nothing_is_left_to_compile_and_the_cache_may_be_read_only(tmp_path):
    drop = without_privileges()

    def python(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", *arguments], env=environment(TALUS_CACHE_DIR=str(tmp_path)), capture_output=True,
            text=True, preexec_fn=drop,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    found = json.loads(python("from runtime.cli import main; main()", "warm", "pendulum", "--json"))["models"]
    assert {"equations of motion in joint coordinates", "integration loop (dop853)"} <= set(found[0]["compiled"])
    assert found[0]["seconds"] > 1.0
    read_only(tmp_path)
    assert python(USE) == "[]\n"
    writable(tmp_path)
