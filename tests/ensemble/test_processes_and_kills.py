"""Ensembles under kills, interruptions and races: every case is run once."""

import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import models
from runtime import read_ensemble, simulate, simulate_many
from tests.support.ensembles import thrown
from tests.support.processes import environment

pytestmark = pytest.mark.slow  # processes that are killed, interrupted or race

PROGRAM = """
import sys, numpy as np, models, runtime
cases = dict(np.load(sys.argv[2]))
runtime.simulate_many(
    models.foot.build(), cases, 2.0, rtol=1e-11, atol=1e-11, out=sys.argv[1], chunk=16, workers=2,
    progress=lambda done, count: print(done, flush=True),
)
"""


def test_killed_five_times_every_case_is_run_once(tmp_path):
    names = thrown(40)
    cases = {name: np.repeat(values, 14, axis=0) for name, values in names.items()}
    np.savez(tmp_path / "cases.npz", **cases)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "many"), str(tmp_path / "cases.npz")]
    rng, seen, kills = random.Random(5), {}, 0
    for _ in range(200):
        process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
        if kills % 3 == 1:
            time.sleep(rng.random() * 0.8)  # while it starts, perhaps
        else:
            for _ in range(rng.randint(1, 5)):  # chunks that it may finish
                if not process.stdout.readline():
                    break
            time.sleep(rng.random() * 5e-3)
        if kills < 5:
            process.kill()
            kills += process.wait() == -signal.SIGKILL
        else:
            process.communicate()
        process.stdout.close()
        for file in (tmp_path / "many" / "chunks").glob("*.npz"):
            content = file.stat().st_mtime_ns
            assert seen.setdefault(file.name, content) == content, "a finished chunk was written again"
        if process.returncode == 0:
            break
    assert kills == 5
    found = read_ensemble(tmp_path / "many")
    assert found.success and len(found) == 560 and len(seen) == 35
    reference = simulate_many(models.foot.build(), cases, 2.0, rtol=1e-11, atol=1e-11)
    assert np.array_equal(found.states(), reference.states())


# So many cases that no machine finishes them all before the signal comes.
INTERRUPTED = """
import sys, numpy as np, models, runtime
if sys.argv[2] == "alone":
    build, chunk, cases = models.foot.build, 8, {"link_length": np.linspace(0.03, 0.05, 4000), "limits": ["elastic"] * 4000}
else:
    build, chunk, cases = models.foot.build(), 64, {"v.toes": np.zeros((40000, 3))}
found = runtime.simulate_many(
    build, cases, 10.0, out=sys.argv[1], workers=2, chunk=chunk, progress=lambda done, count: print(done, flush=True)
)
print((found.status == 0).sum(), (found.status == -21).sum())
"""


@pytest.mark.parametrize("way", ["alone", "lanes"])
def test_ctrl_c_ends_soon_and_keeps_finished_cases(way, tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "many"), way]
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # background jobs of a shell ignore it
    )  # fmt: skip
    process.stdout.readline()  # one chunk is finished, others are under way
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    finished, left = map(int, printed.split("\n")[-2].split())
    assert finished > 0 and left > 0
    assert (read_ensemble(tmp_path / "many").status == 0).sum() == finished


class Plain:
    """What is printed with its place in memory."""


PLAIN = Plain()


def with_defaults(x, what=PLAIN, other=simulate, names=frozenset(("a", "b", "c"))):
    """A function whose defaults differ in no number."""
    return models.foot.build(link_length=x)


AGAIN = """
import functools, sys, tests.ensemble.test_processes_and_kills as t
from runtime import simulate_many
print(simulate_many(functools.partial(t.with_defaults, what=t.Plain()), {"x": [0.04, 0.05]}, 0.1, out=sys.argv[1]).success)
"""


def test_objects_among_defaults_are_the_same_in_another_process(tmp_path):
    for seed in "12":
        command = [sys.executable, "-c", AGAIN, str(tmp_path / "many")]
        done = subprocess.run(
            command, env=environment(PYTHONHASHSEED=seed), capture_output=True, text=True, check=False
        )
        assert done.stdout == "True\n", done.stderr


RACE = """
import sys, time, numpy as np, models, runtime
first, start = float(sys.argv[2]), float(sys.argv[3])
system, cases = models.foot.build(), {"mass.toes": np.linspace(first, first + 0.1, 20000)}
time.sleep(max(0.0, start - time.time()))
try:
    found = runtime.simulate_many(system, cases, 1e-6, out=sys.argv[1], max_steps=1, chunk=20000)
    print(found.cases["mass.toes"][0] == first)
except runtime.ModelError as error:
    print(error)
"""


def test_two_that_begin_together_do_not_take_each_others_cases(tmp_path):
    start = str(time.time() + 5.0)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(tmp_path / "many"), first, start], env=environment(),
            stdout=subprocess.PIPE, text=True,
        )
        for first in ("0.2", "0.3")
    ]  # fmt: skip
    outputs = [process.communicate(timeout=600)[0] for process in processes]
    good = [text == "True\n" for text in outputs]
    assert sum(good) == 1, outputs
    assert (
        "another process" in outputs[1 - good.index(True)] or "holds another ensemble" in outputs[1 - good.index(True)]
    )
    assert read_ensemble(tmp_path / "many").cases["mass.toes"][0] == (0.2, 0.3)[good.index(True)]
