"""Whole-model kernels are refused where they are old, damaged or of another model."""

import pickle
import sys
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

import models
import runtime
from codegen import DefinitionError, compile_joint, compile_model
from runtime import Builder, simulate, simulate_many
from runtime.dynamics.places import WHOLE
from runtime.system.workspaces import workspace
from tests.support.refusals import refused_with


def test_the_key_depends_on_the_emitter_and_the_kernels(monkeypatch):
    import runtime.system.model_description as whole

    before = models.pendulum.build().model.key
    assert models.pendulum.build().model.key == before
    monkeypatch.setattr(whole.digests, "WHOLE", "another emitter")
    assert models.pendulum.build().model.key != before
    monkeypatch.undo()
    monkeypatch.setattr(whole, "digest_of_module", lambda module: "another kernel")
    changed = models.pendulum.build()
    assert changed.model.key != before and workspace(changed).address[WHOLE] == 0


def test_threads_wait_until_a_kernel_is_imported(tmp_path, monkeypatch):
    """``sys.modules`` has a module from the beginning of its import; a second thread took half of it."""
    import runtime.system.whole_model as whole

    (tmp_path / "slow_kernel.py").write_text("import time\n\nKEY = 'slow'\ntime.sleep(0.2)\nLOADED = False\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(whole, "_shipped", lambda: {"slow": "slow_kernel"})
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: vars(whole.module_of("slow")).get("LOADED", n), range(4)))
    assert found == [False] * 4 and len({id(sys.modules["slow_kernel"]), id(whole.module_of("slow"))}) == 1
    del sys.modules["slow_kernel"]


def test_a_study_compiles_its_own_model(tmp_path, monkeypatch):
    import runtime.system.model_description as whole

    monkeypatch.setattr(whole, "cache_folder", lambda: tmp_path)

    def leaning(r_i, s_i, r_j, s_j, a_j, slope):
        """A point on an inclined plane, whose slope is a root and a sine.  Singular nowhere."""
        d = r_j + s_j - r_i - s_i
        return {"height": a_j.dot(d) * (1 + slope**2)}

    b = Builder("own")
    b.body("plate", mass=2.0, inertia=(0.1, 0.1, 0.2), free=True, guess=True)
    b.body(
        "block", mass=1.0, inertia=(0.01, 0.02, 0.03), r=(0.1, 0.0, 0.2), omega=(1.0, 2.0, 3.0), free=True, guess=True
    )
    b.joint(
        "rests",
        compile_joint(leaning),
        "block",
        "plate",
        s_i=(0, 0, -0.1),
        s_j=(0, 0, 0.1),
        a_j=(0, 0.6, 0.8),
        slope=0.3,
    )
    system = b.build(project_velocities=True)
    assert workspace(system).address[WHOLE] == 0
    reference = simulate(system, 0.5, t_eval=[0.5])
    file = compile_model(system)
    assert file.parent.parent == tmp_path and "def derivative" in file.read_text(encoding="utf-8")
    assert workspace(system).address[WHOLE] != 0
    run = simulate(system, 0.5, t_eval=[0.5])
    assert np.abs(run.states - reference.states).max() < 1e-10


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A system, and the file of its kernel; ``anew`` forgets the kernel, as a new process does."""
    import runtime.system.model_description as whole

    monkeypatch.setattr(whole, "cache_folder", lambda: tmp_path)
    system = models.chain.build(2)
    name = f"whole.model_{system.model.key}"

    def anew():
        monkeypatch.delitem(sys.modules, name, raising=False)

    anew()
    return system, compile_model(system), anew


DAMAGES = {
    "another sign": lambda text: b"-".join(text.rsplit(b"+", 1)),
    "one more line": lambda text: text + b"# by hand\n",
    "cut off": lambda text: text[: len(text) // 2],
    "cut off in its first line": lambda text: text[:20],
    "empty": lambda text: b"",
    "no text": lambda text: text + b"\xff\xfe",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_kernel_is_emitted_anew(own, damage):
    system, file, anew = own
    good = file.read_bytes()
    file.write_bytes(DAMAGES[damage](good))
    anew()
    assert compile_model(system) == file and file.read_bytes() == good
    assert simulate(system, 0.1, coordinates="absolute").stats.kernel == "whole model"


def test_a_kernel_of_another_model_is_emitted_anew(own):
    system, file, anew = own
    good = file.read_bytes()
    compile_model(models.chain.build(3)).replace(file)
    anew()
    assert compile_model(system) == file and file.read_bytes() == good


def test_a_kernel_in_the_cache_decides_nothing(own):
    """A program that does not ask for it runs by the same equations as with an empty cache."""
    system, file, anew = own
    assert simulate(system, 0.1, coordinates="absolute").stats.kernel == "whole model"
    anew()
    with_file = simulate(system, 0.1)
    file.unlink()
    without = simulate(system, 0.1)
    assert with_file.stats.kernel == without.stats.kernel == "joint coordinates, by recursion"
    assert np.array_equal(with_file.states, without.states)
    assert simulate(system, 0.1, coordinates="absolute").stats.kernel == "joint by joint"


def test_a_kernel_in_the_cache_is_used_without_a_derivation(own, monkeypatch):
    system, file, anew = own
    anew()
    monkeypatch.setattr("codegen.compiler.whole.emit_model", None)  # another emission would fail
    compile_model(system)
    assert simulate(system, 0.1, coordinates="absolute").stats.kernel == "whole model"


def test_runs_report_the_kernel_that_evaluated_them():
    system = models.foot.build()
    for method in ("dop853", "radau", "BDF"):
        assert simulate(system, 0.01, method=method, coordinates="absolute").stats.kernel == "whole model"
    assert simulate(system, 0.01).stats.kernel == "joint coordinates"
    assert runtime.kinematics(models.walking.synthetic.build(), [0.2]).stats.kernel == "joint by joint"


@pytest.mark.parametrize("what", [models.foot.build, None, "foot"])
def test_other_objects_than_systems_are_refused(what):
    refused_with(
        DefinitionError,
        ("compile_model(", "): give a runtime.System, such as what a model's build"),
        compile_model,
        what,
    )


@pytest.mark.slow
def test_a_system_too_large_for_one_function_is_refused():
    refused_with(
        DefinitionError, ("'chain of 60'", "operations, limit ", "leave it"), compile_model, models.chain.build(60)
    )


class Elsewhere:
    """An engine whose worker is a process that has made no kernel."""

    _max_workers = 1

    def __init__(self, anew):
        self.anew = anew

    def submit(self, function, *arguments):
        sent, future = pickle.dumps((function, arguments)), Future()
        self.anew()
        function, arguments = pickle.loads(sent)
        future.set_result(function(*arguments))
        return future


def test_workers_of_an_engine_use_the_kernels_of_the_program(own):
    system, file, anew = own
    cases = {"mass.link_1": [1.0, 1.1]}
    how = dict(coordinates="absolute", alpha=5.0, beta=5.0, check_units=False, progress=False)
    here = simulate_many(system, cases, 0.01, **how)
    there = simulate_many(system, cases, 0.01, engine=Elsewhere(anew), **how)
    assert here.vectorised.all() and there.vectorised.all() and (here.states() == there.states()).all()
