"""Ensembles on other engines: threads, processes, a cluster, a graphics processor."""

import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import models
from runtime import ModelError, Status, simulate_many
from tests.support.ensembles import SETTINGS, thrown
from tests.support.processes import environment


class Counting(ThreadPoolExecutor):
    """Threads that count what is under way."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.now = self.most = self.all = 0

    def submit(self, *arguments, **keywords):
        self.now, self.all = self.now + 1, self.all + 1
        self.most = max(self.most, self.now)
        future = super().submit(*arguments, **keywords)
        future.add_done_callback(lambda _: setattr(self, "now", self.now - 1))
        return future


def test_few_chunks_are_submitted_ahead():
    cases = thrown(40)
    with Counting(1) as engine:
        found = simulate_many(models.foot.build(), cases, 0.1, engine=engine, workers=1, chunk=1, **SETTINGS)
        assert found.success and engine.most <= 3


def test_chunks_keep_all_workers_busy():
    with Counting(3) as engine:
        simulate_many(models.foot.build(), thrown(40), 0.1, engine=engine, **SETTINGS)
        assert engine.all == 3
    with Counting(3) as engine:
        simulate_many(models.foot.build, {"link_length": np.linspace(0.03, 0.05, 24)}, 0.1, engine=engine, **SETTINGS)
        assert engine.all == 12 and engine.most <= 6


def breaking(x):
    """A function that ends the process that calls it."""
    if x > 0.035 and multiprocessing.parent_process() is not None:
        os._exit(1)
    return models.foot.build(link_length=x)


class Failing(ThreadPoolExecutor):
    """Threads that take three chunks."""

    def submit(self, *arguments, **keywords):
        self.taken = getattr(self, "taken", 0) + 1
        if self.taken > 3:
            raise OSError("the net is gone")
        return super().submit(*arguments, **keywords)


def test_an_engine_that_refuses_work_keeps_finished_cases():
    with Failing(1) as engine:
        found = simulate_many(models.foot.build(), thrown(40), 0.1, engine=engine, chunk=4, **SETTINGS)
    assert (found.status[:12] == 0).all() and (found.status[12:] == Status.NOT_RUN).all()
    assert all(found.messages[case] == "not run: OSError: the net is gone" for case in range(12, 40))


class Cancelling(ThreadPoolExecutor):
    """Threads that cancel the second chunk, as a cluster does that has lost it."""

    def submit(self, *arguments, **keywords):
        self.taken = getattr(self, "taken", 0) + 1
        if self.taken != 2:
            return super().submit(*arguments, **keywords)
        future = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_cases_that_an_engine_cancels_are_reported():
    with Cancelling(1) as engine:
        found = simulate_many(models.foot.build(), thrown(40), 0.1, engine=engine, chunk=16, **SETTINGS)
    assert (found.status == Status.NOT_RUN).tolist() == [16 <= case < 32 for case in range(40)]
    assert found.messages[16] == "not run: CancelledError: the engine has cancelled these cases"


@pytest.mark.slow
def test_a_broken_engine_keeps_finished_cases():
    with ProcessPoolExecutor(1) as engine:
        found = simulate_many(breaking, {"x": [0.03, 0.04, 0.03]}, 0.1, engine=engine, chunk=1, workers=1, **SETTINGS)
    assert found.status[:2].tolist() == [0, Status.NOT_RUN] and not found.success
    assert found.messages[1].startswith("not run: BrokenProcessPool: ")
    with ProcessPoolExecutor(1) as engine, pytest.raises(ModelError, match="no case could be run; the first reason: "):
        simulate_many(lambda x: models.foot.build(link_length=x), {"x": [0.03]}, 0.1, engine=engine, **SETTINGS)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["system", "function"])
def test_processes(what):
    build = models.foot.build if what == "function" else models.foot.build()
    cases = {"link_length": np.linspace(0.03, 0.05, 6)} if callable(build) else thrown(40)
    with ProcessPoolExecutor(2) as engine:
        found = simulate_many(build, cases, 0.2, engine=engine, chunk=3, **SETTINGS)
    assert np.array_equal(found.states(), simulate_many(build, cases, 0.2, **SETTINGS).states())


@pytest.mark.slow
def test_an_engine_whose_worker_is_killed_loses_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    cases = {name: np.repeat(values, 5, axis=0) for name, values in thrown(40).items()}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        killed = []

        def kill_one(done, count):
            if not killed and done >= count / 3:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        system = models.foot.build()
        found = simulate_many(system, cases, 3.0, engine=client, chunk=4, out=tmp_path, progress=kill_one, **SETTINGS)
        assert killed and found.success
    assert np.array_equal(found.states(), simulate_many(system, cases, 3.0, **SETTINGS).states())


ON_GPU = """
import warnings, numpy as np, codegen, models, runtime
from benchmarks.ensemble_systems import bouncing_ball, driven_leg, driven_leg_on_plane, floating, loaded_foot
from benchmarks.ensemble_systems import pendulum_on_plane, sprung_foot
from runtime.integrate.batches import contact_memory, gpu
from tests.support.planar_friction import arm_on_a_journal
warnings.simplefilter("ignore")  # of the emulation
rng, kernels = np.random.default_rng(2), []
kernel_of = gpu.kernel_of
gpu.kernel_of = lambda *which: kernels.append(kernel_of(*which)) or kernels[-1]


def check(system, cases, t_end=0.3, off=1e-12, **settings):
    settings = dict(t_eval=[0.0, 0.4 * t_end, t_end], rtol=1e-7, atol=1e-7, assemble=True, workers=1) | settings
    a, b = (runtime.simulate_many(system, cases, t_end, engine=engine, **settings) for engine in ("gpu", None))
    assert a.success and a.vectorised.all() and b.vectorised.all()
    assert off > 1e-11 or np.array_equal(a.counts, b.counts), (a.counts, b.counts)
    assert np.abs(a.states() - b.states()).max() < off, np.abs(a.states() - b.states()).max()


foot, limited = models.foot.build(), models.foot.build(limits="elastic")
thrown = {"omega.main_foot": rng.normal(size=(3, 3))}
check(foot, thrown, 0.03, coordinates="absolute")
check(foot, thrown)
kicked = {"rate.ankle.theta_i": [6.0, -6.0, 2.0], "rate.ankle.theta_j": [0.3, -9.0, 9.0]}
check(limited, kicked)  # every case touches limits
data = {"mass.toes": [0.1, 0.2, 0.3], "l.ankle": [0.04, 0.042, 0.044], "max_moment.talocrural": [20.0, 30.0, 40.0]}
check(limited, kicked | data | {"angle.ankle.theta_j": [0.3, -0.1, 0.2], "damping.talocalcaneal": [0.0, 0.1, 0.2]})
check(lambda link: models.foot.build(link_length=link, limits="dissipative"), {"link": [0.04, 0.044]})
check(models.pendulum.build(), {"rate.pivot.angle": [1.0, 2.0]})
check(loaded_foot(), {"mass.toes": [0.1, 0.3], "stiffness.ankle_spring": [3.0, 8.0]})
check(sprung_foot("elastic"), {"rate.ankle.theta_i": [6.0, -6.0], "stiffness.spring": [0.0, 20.0]})
b = runtime.Builder("pendulum on a tabulated spring")
b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.5, 0, 0))
b.joint("pivot", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(-0.5, 0, 0), a_j=(0, 1, 0))
band = dict(tension_table=[(0.2, -3.0), (0.5, 0.0), (0.8, 4.0), (1.5, 5.0)], damping=0.1)
b.force("band", "tabulated_spring", "ground", "rod", s_i=(1.0, 0.0, 0.5), s_j=(0.5, 0.0, 0.0), **band)
check(b.build(), {"rate.pivot.angle": [1.0, -2.0], "mass.rod": [0.9, 1.2]})
check(floating(), {"mass.left": [1.9, 2.2]})  # by the recursion
check(arm_on_a_journal(0.3, 0.1, 0.5), {"coefficient.rub": [0.1, 0.4]}, 0.1, off=1e-11)  # friction by reactions
check(models.four_bar.build(crank_speed=1.0), {"mass.coupler": [0.9, 1.0]})  # rows
driven = driven_leg()
codegen.compile_model(driven)
check(driven, {"stiffness.spring": [7.0, 9.0]})
touching = driven_leg_on_plane()
codegen.compile_model(touching)
check(touching, {"mass.foot": [0.9, 0.95]}, 0.1, off=1e-11)
# Rounding of the other order of sums moves the steps after a touch-down.
ball, stiffness = bouncing_ball(), {"stiffness.touch": [9e5, 1e6]}
check(ball, stiffness, off=1e-5)
check(pendulum_on_plane(), {"mass.lower": [0.3, 0.31]}, off=1e-5)

assert kernels and all(kernel._cache.is_kept for kernel in kernels)
few = dict(rtol=1e-7, atol=1e-7, max_steps=3, workers=1)
a, b = (runtime.simulate_many(limited, kicked, 0.3, engine=engine, **few) for engine in ("gpu", None))
assert a.messages == b.messages and "max_steps = 3" in a.messages[0]
contact_memory.EVENTS_ON_DEVICE = 3  # cases with more are left to the cores
integrate, left = gpu.integrate, []
gpu.integrate = lambda *given, texts: [integrate(*given, texts=texts), left.append(given[-3].tolist())]
a, b = (runtime.simulate_many(ball, stiffness, 0.5, engine=engine, workers=1) for engine in ("gpu", None))
assert left == [2 * [runtime.Status.NOT_RUN]] and a.success and np.abs(a.states() - b.states()).max() < 1e-5
try:
    runtime.simulate_many(limited, kicked, 0.01, engine="gpu", workers=1, coordinates="absolute")
except runtime.ModelError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_graphics_processor_runs_the_same_source():
    # Emulated thread by thread, from one thread of Python; `python -m benchmarks ensembles` measures devices.
    done = subprocess.run(
        [sys.executable, "-c", ON_GPU],
        env=environment(NUMBA_ENABLE_CUDASIM="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "cannot be run there with these settings" in done.stdout


COMPILED = """
import types as plain
import numba, numba.cuda.dispatcher
import numpy as np
from numba import cuda, types

device = plain.SimpleNamespace(compute_capability=(8, 0))
numba.cuda.dispatcher.get_current_device = lambda: device  # functions of the device ask for it
from benchmarks.ensemble_systems import bouncing_ball, sprung_foot
from runtime import ModelError, simulate_many
from runtime.integrate.batches import gpu


def compile_only(kernel, blocks, stream, arrays):
    kinds = [types.Array(numba.from_dtype(array.dtype), array.ndim, "C") for array in arrays]
    print(cuda.compile_ptx(kernel.py_func, types.void(*kinds), cc=device.compute_capability)[0])
    raise EOFError  # not run


gpu.run, gpu.refuse_without_device = compile_only, lambda: None
cuda.to_device = cuda.device_array_like = lambda array, stream: array
cuda.stream = lambda: None
for system, cases in ((sprung_foot("elastic"), {"stiffness.spring": [1.0]}), (bouncing_ball(), {"mass.ball": [1.0]})):
    try:
        simulate_many(system, cases, 0.1, engine="gpu", workers=1)
    except ModelError:  # no case could be run
        continue
"""


@pytest.mark.slow
def test_kernels_are_compiled_without_a_device():
    """The typing, code generation and NVVM of numba-cuda accept what the emulation runs: limits, forces, recursion, contacts."""
    pytest.importorskip("numba_cuda", reason="the extra 'gpu' is not installed")
    command = [sys.executable, "-c", COMPILED]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(".target sm_80") == done.stdout.count(".visible .entry") == 2


@pytest.mark.slow
def test_a_device_has_the_results_of_the_cores():
    """From eight threads that begin with the same kernel at once, twice: compiled, and taken from the cache."""
    pytest.importorskip("numba_cuda", reason="the extra 'gpu' is not installed")
    from numba import cuda

    if not cuda.is_available():
        pytest.skip("there is no graphics processor")
    command = [sys.executable, "-c", ON_DEVICE]
    for _ in range(2):
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "Error" not in done.stderr, done.stderr


ON_DEVICE = """
import numpy as np, models
from benchmarks.ensemble_systems import bouncing_ball
from runtime import simulate_many
from tests.support.ensembles import thrown

for system, cases, off in (
    (models.foot.build(), thrown(1000), 1e-10), (bouncing_ball(), {"stiffness.touch": np.linspace(9e5, 1e6, 1000)}, 1e-5)
):
    a, b = (simulate_many(system, cases, 0.3, engine=engine, rtol=1e-8, atol=1e-8) for engine in ("gpu", None))
    assert a.success and b.success and np.abs(a.states() - b.states()).max() < off
"""


def test_a_missing_graphics_processor_is_reported_in_a_sentence():
    from numba import cuda

    if cuda.is_available():
        pytest.skip("there is a graphics processor")
    with pytest.raises(ModelError, match="^engine='gpu': no CUDA device or driver was found; leave engine out"):
        simulate_many(models.foot.build(), thrown(40), 0.1, engine="gpu")
