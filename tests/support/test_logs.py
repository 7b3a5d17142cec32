"""Records of logging: which there are, under which names, and that nothing is printed unasked."""

import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import models
import runtime
from runtime.cli import main
from runtime.support.logs import logger


def messages(caplog, level, room):
    return [r.getMessage() for r in caplog.records if r.levelno == level and r.name.startswith(room)]


def test_an_ensemble_tells_its_beginning_end_and_folder(caplog, tmp_path):
    system, cases = models.pendulum.build(), {"mass.bob": np.linspace(0.9, 1.1, 4)}
    cases = {f"mass.{system.body_names[0]}": cases["mass.bob"]}
    with caplog.at_level(logging.DEBUG, "runtime.ensemble"):
        runtime.simulate_many(system, cases, 0.1, out=tmp_path / "many", chunk=2)
    assert messages(caplog, logging.INFO, "runtime.ensemble") == [
        f"4 cases, 2 in a chunk, 0 of them in {tmp_path / 'many'}",
        "4 of 4 cases done, 0 as single runs",
    ]
    assert sorted(messages(caplog, logging.DEBUG, "runtime.ensemble")) == ["2 of 4 cases", "4 of 4 cases"]


class _Failing(ThreadPoolExecutor):
    """Runs the first chunk, and fails at the second."""

    def submit(self, function, task, first, cases):
        if first:
            raise RuntimeError("no worker is left")
        return super().submit(function, task, first, cases)


def test_lost_chunks_are_warnings(caplog):
    system = models.pendulum.build()
    cases = {f"mass.{system.body_names[0]}": [0.9, 1.1]}
    with caplog.at_level(logging.WARNING, "runtime"), _Failing(1) as engine:
        runtime.simulate_many(system, cases, t_end=0.1, chunk=1, engine=engine)
    (message,) = messages(caplog, logging.WARNING, "runtime.ensemble")
    assert message == "cases from 1 on were not run: RuntimeError: no worker is left"


def test_runs_that_fail_and_files_are_messages(caplog, tmp_path):
    system = models.pendulum.build()
    with caplog.at_level(logging.INFO, "runtime"):
        failed = runtime.simulate(system, 1.0, max_steps=3)
        runtime.simulate(system, 0.1).to_csv(tmp_path / "run.csv")
    assert messages(caplog, logging.INFO, "runtime.integrate") == [f"system '{system.name}': {failed.message}"]
    assert messages(caplog, logging.INFO, "runtime.support") == [f"writing {tmp_path / 'run.csv'}"]


def test_nothing_is_printed_unasked():
    program = "from runtime.support.logs import logger; logger('runtime.ensemble.simulate_many').warning('lost')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""
    assert logger("runtime.ensemble.simulate_many").parent.name in ("runtime.ensemble", "runtime")


@pytest.mark.slow
def test_the_command_prints_them_where_asked(tmp_path, monkeypatch):
    out = tmp_path / "out"
    command = [sys.executable, "-c", "from runtime.cli import main; main()"]
    arguments = ["simulate", "pendulum", "--t-end", "0.1", "--no-report", "--out", str(out), "--json"]
    quiet = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    arguments[-2] = str(tmp_path / "again")
    loud = subprocess.run([*command, "--verbose", *arguments], capture_output=True, text=True, check=True)
    assert "results go to" not in quiet.stderr
    assert f"runtime.support.results_folder  results go to {tmp_path / 'again'}" in loud.stderr
    assert loud.stdout.startswith("{") and callable(main)
