"""A run has the same bits in any thread and in any process, whatever runs beside it and wherever its machine code comes from."""

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import models
import runtime
from tests.support.compiled_code import copied_code
from tests.support.marks import quick_for
from tests.support.paths import ROOT
from tests.support.processes import environment

BUILDS = {
    "pendulum with a limit": lambda: models.pendulum.build(limits="elastic"),
    "foot": lambda: models.foot.build(),
    "foot on the ground": lambda: models.foot_ground.build(),
    "closed loop": lambda: models.four_bar.build("revolute"),
}
METHODS = ("auto", "dop853", "radau")
KINDS = [(name, method) for name in BUILDS for method in METHODS] + [("pendulum with a limit", "BDF"), ("foot", "RK45")]
LOOSE = dict(rtol=1e-7, atol=1e-7)


def digest(name, method):
    """Digest of a run and its energy, from a system of its own."""
    run = runtime.simulate(BUILDS[name](), 0.05, method=method, **LOOSE)
    parts = run.t, run.states, run.energy, run.violation, run.contact_events
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()


def test_threads_that_run_at_once_do_not_change_each_other():
    """Eight threads, each run twice, in an order that mixes systems and methods."""
    alone = [digest(*kind) for kind in KINDS]
    assert len(set(alone)) > len(BUILDS)
    mixed = np.random.default_rng(2).permutation(2 * len(KINDS)) % len(KINDS)
    with ThreadPoolExecutor(8) as threads:
        beside = list(threads.map(lambda k: digest(*KINDS[k]), mixed))
    assert beside == [alone[k] for k in mixed]


def test_threads_may_share_a_system():
    """A System is immutable, so that threads may use one together."""
    for name, build in BUILDS.items():
        system = build()
        alone = runtime.simulate(system, 0.05, **LOOSE)
        with ThreadPoolExecutor(4) as threads:
            beside = list(threads.map(lambda _, system=system: runtime.simulate(system, 0.05, **LOOSE), range(8)))
        assert all(np.array_equal(run.states, alone.states) for run in beside), name


# Of a run of the foot: equations of motion, method, assembly and energy; Jacobian and linear equations.
COMPILED_ANEW = {
    "dop853": ("tree_turn_turn.", "tree_equations.", "loop.", "projection.", "energy."),
    "radau": ("linear.", "jacobian."),
}
PROGRAM = """
import sys
from tests.integrate.test_same_bits import digest
print(*[digest(*kind.split(",")) for kind in sys.argv[1:]])
"""


@pytest.mark.slow
@pytest.mark.long
def test_processes_with_other_surroundings():
    """Other seeds of hashes, numbers of threads of libraries, an optimising Python."""
    surroundings = [
        dict(PYTHONHASHSEED="0", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1"),
        dict(PYTHONHASHSEED="7", OPENBLAS_NUM_THREADS="2", NUMBA_NUM_THREADS="2", PYTHONOPTIMIZE="2"),
    ]
    found = [output(*map(",".join, KINDS), **more) for more in surroundings]
    assert found == [" ".join(digest(*kind) for kind in KINDS)] * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("method", quick_for(COMPILED_ANEW, ["dop853"], pytest.mark.nightly))
def test_processes_that_compile_and_that_load(tmp_path, method):
    """Code runs from memory where it was compiled, and from a file of the cache."""
    anew = COMPILED_ANEW[method]
    cache = copied_code(tmp_path, anew)
    for _ in range(2):
        assert output(f"foot,{method}", TALUS_CACHE_DIR=str(cache)) == digest("foot", method)
    made = [file.name for file in cache.glob("*/*/*-*")]
    assert all(any(name.startswith(module) for name in made) for module in anew)


def output(*arguments, **more):
    """What the program prints in a process of its own."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment() | more, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
