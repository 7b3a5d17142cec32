"""Whole-model kernels: the same answers as the general evaluation, for every system, and never an old one."""

import contextlib
import itertools
import math
import operator
import sys
from types import ModuleType

import numpy as np
import pytest

import codegen.whole
import models
import runtime
from codegen import DefinitionError, compile_joint, compile_model
from codegen.trace import Record, Text, recording
from codegen.whole import LANES, emit_model
from models.shipped import SYSTEMS
from runtime import GROUND, Builder, Signal, StaleKernelsError, simulate
from runtime.equations import LOADED, OK, SINGULAR, STATE, WHOLE, derivative_once
from runtime.whole import FOLDED, module_of
from tests.test_linear import BUILDS, LAWS, LIMITED, powered, slider, spun

RANDOM = np.random.default_rng(6)


def emitted(system):
    """The emitted module, in plain Python."""
    module = ModuleType("whole_in_python")
    exec(emit_model(system.model), module.__dict__)
    return module


def constants(module, system):
    """What ``prepare`` makes of the parameters of a system."""
    c, parameters = np.zeros((max(module.CONSTANTS, 1), 1)), system.model.parameters
    module.prepare([float(parameters[name][index]) for name, index in module.PARAMETERS], c[:, 0])
    return c


def general(system, y, time=None):
    """State derivative by the joints' kernels, with the accelerations without joints and the signals of it."""
    work, y_dot = system.work(), np.empty_like(y)
    assert work.address[WHOLE] == 0
    assert derivative_once(system.time if time is None else time, y, system.tables, work, y_dot) == OK
    return y_dot, work


def difference(system, y, time=None, module=None):
    """Largest difference of both, as a fraction of the largest number."""
    module = module or emitted(system)
    expected, work = general(system, y, time)
    found, worst = np.full((len(y), 1), np.nan), np.full((1, 1), np.nan)
    module.derivative.py_func(0, y[:, None], work.free, work.signals, constants(module, system), found, worst)
    return np.abs(found[:, 0] - expected).max() / np.abs(expected).max()


def off(system, y, by):
    """A state near by, off the constraints; bodies fixed to the ground stay."""
    moved = y + by * RANDOM.normal(size=len(y))
    for b, fixed in enumerate(system.model.fixed[1:]):
        if fixed:
            moved[STATE * b : STATE * (b + 1)] = y[STATE * b : STATE * (b + 1)]
    return moved


# --- the same answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILDS)
def test_models(name):
    system = BUILDS[name]()
    module, state = emitted(system), spun(system)
    for by in (0.0, 1e-6, 1e-2):
        assert difference(system, off(system, state.y, by), module=module) < 2e-14


@pytest.mark.parametrize("name", LIMITED)
def test_limits(name):
    system = models.foot.build(**LIMITED[name])
    run = simulate(system, 3.0, t_eval=np.linspace(0.0, 3.0, 200))
    outside = int(np.argmax(sum(limit.excess for limit in run.limits.values())))
    module = emitted(system)
    assert module.LOADED and not module.LANES
    for n in (0, outside):
        assert difference(system, run.states[n].copy(), module=module) < 2e-14


def test_drivers():
    system = models.gait.build()
    module = emitted(system)
    for time in (0.2, 0.5, 0.8):
        y = runtime.kinematics(system, [time]).states[0].copy()
        assert difference(system, y, time, module) < 2e-13
        assert difference(system, off(system, y, 1e-4), time, module) < 2e-13


@pytest.mark.parametrize("axes", ["global", "body"])
def test_motors_and_loads(axes):
    system = powered(axes, (0.1, -0.02, 0.03))
    assert difference(system, spun(system).y, 0.7) < 2e-14


@pytest.mark.parametrize("plane", ["ground", "plate"])
def test_contacts(plane):
    system = slider("flores", "coulomb", plane=plane, **LAWS["flores"])
    assert difference(system, system.state.y) < 2e-14


PLACES = {"shin": (0, 0, 0.5), "heel": (0.02, 0, 0.2), "ball": (0.12, 0.01, 0.18), "toe": (0.2, 0.0, 0.17)}
Y_AXES = dict(a_i=(0, 1, 0), a_j=(0, 1, 0))


def locked(order=tuple(PLACES), ground="hinge"):
    """A shin; locked to it the heel, to that by a ball joint and three angles the ball; on a hinge of that the toe."""
    b = Builder("locked", gravity=(0.3, -0.2, -9.7))
    for k, name in enumerate(order):
        b.body(name, mass=1.5 + k, inertia=(0.01, 0.02 + 0.002 * k, 0.025), r=PLACES[name])
    if ground == "hinge":
        b.joint("hip", "revolute", GROUND, "shin", s_i=(0, 0, 0.8), s_j=(0, 0, 0.3), **Y_AXES)
    elif ground == "fixed":
        b.joint("hip", "fixed", GROUND, "shin")
    else:
        x_t, y_t, z_t = (Signal.function(lambda t, k=k: PLACES["shin"][k] + 0.1 * t**2, 0.0, 1.0) for k in range(3))
        alpha_t, beta_t, gamma_t = (Signal.function(lambda t, k=k: 0.1 * (k + 1) * t**2, 0.0, 1.0) for k in range(3))
        b.driver("hip", "guided_point", "shin", s_i=(0, 0, 0), x_t=x_t, y_t=y_t, z_t=z_t)
        b.driver("turn", "guided_cardan", "shin", alpha_t=alpha_t, beta_t=beta_t, gamma_t=gamma_t)
    b.joint("cast", "fixed", "shin", "heel")
    b.joint("plate", "spherical", "ball", "heel", s_i=(-0.05, 0, 0.01), s_j=(0.05, 0.01, -0.01))
    for a, c in itertools.combinations(range(3), 2):
        b.joint(f"screw_{a}{c}", "constant_angle", "heel", "ball", a_i=np.eye(3)[a], a_j=np.eye(3)[c])
    b.joint("bend", "revolute", "ball", "toe", s_i=(0.04, 0, 0), s_j=(-0.04, -0.01, 0.01), **Y_AXES)
    return b.build(project_velocities=True)


@pytest.mark.parametrize("ground", ["hinge", "fixed", "driven"])
@pytest.mark.parametrize("order", [tuple(PLACES), tuple(PLACES)[::-1], ("ball", "shin", "toe", "heel")])
def test_locked_bodies_move_as_one(order, ground, monkeypatch):
    system = locked(order, ground)
    module, state = emitted(system), system.state if ground == "driven" else spun(system)
    for by in (0.0, 1e-3):
        assert difference(system, off(system, state.y, by), 0.0, module) < 1e-13
    monkeypatch.setattr(codegen.whole._Whole, "_lock_of", lambda *arguments: None)
    plain = emitted(system)
    assert difference(system, state.y, 0.0, plain) < 1e-13
    assert operations(module) < 0.9 * operations(plain)


def operations(module):
    """Of one evaluation, as its docstring tells."""
    return int(module.derivative.py_func.__doc__.split()[-2])


def test_rows_to_ground_and_to_another_body_are_no_lock():
    # Three rows of a ball joint with the ground and three with the next link: the rod between them can spin.
    system = models.double_pendulum.build()
    assert difference(system, spun(system).y) < 1e-14


# --- parameters stay arguments ----------------------------------------------------------------------------------------


def test_one_kernel_serves_all_parameters():
    module, key = emitted(models.foot.build()), models.foot.build().model.key
    for link_length, gravity in ((0.03, (0.0, 0.0, -9.81)), (0.06, (0.0, 0.0, -1.62))):
        system = models.foot.build(link_length=link_length, gravity=gravity)
        assert system.model.key == key
        assert difference(system, spun(system).y, module=module) < 1e-14
    tilted = models.foot.build(gravity=(1.0, 0.0, -9.81))
    assert tilted.model.key != key  # a zero was taken for what it is
    assert difference(tilted, spun(tilted).y) < 1e-14


def test_what_is_taken_for_what_it_is():
    model = models.foot.build().model
    for name, mask in model.folded.items():
        values = model.parameters[name][mask]
        assert name in FOLDED or not mask.any()
        assert np.isin(values, (0.0, 1.0, -1.0)).all()


def test_baumgarte_terms_are_arguments():
    system = models.foot.build()
    coarse = dict(rtol=1e-6, atol=1e-6, t_eval=[0.0, 1.0])
    runs = [simulate(system, 1.0, alpha=a, beta=a, **coarse) for a in (0.0, 5.0)]
    assert runs[1].violation[-1] < runs[0].violation[-1] / 3.0


# --- found, and fresh -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SYSTEMS)
def test_shipped_kernels_are_found_and_used(name):
    system = SYSTEMS[name]()
    module = module_of(system.model.key)
    assert module is not None and module.__name__ == f"generated.whole.{name}"
    work, y, y_dot = system.work(whole=True), spun(system).y.copy(), np.empty_like(system.state.y)
    assert work.address[WHOLE] != 0 and work.address[LOADED] == module.LOADED
    assert derivative_once(system.time, y, system.tables, work, y_dot) == OK
    expected, plain = general(system, y)
    assert np.abs(y_dot - expected).max() < 1e-14 * max(1.0, np.abs(expected).max())
    assert 0.0 < work.weakest[0] and (work.weakest[0] < 1.0 or plain.weakest[0] == np.inf)


def test_runs_agree_with_the_general_evaluation(monkeypatch):
    systems = [models.foot.build(), models.foot.build(limits="dissipative"), models.foot_ground.build()]
    settings = dict(t_eval=np.linspace(0.0, 0.6, 61), rtol=1e-10, atol=1e-10)
    found = [simulate(system, 0.6, method="radau" if system.contacts else "dop853", **settings) for system in systems]
    plain = runtime.System.work
    monkeypatch.setattr(runtime.System, "work", lambda self, tables=None, *, whole=False: plain(self, tables))
    for run in found:
        again = simulate(run.system, 0.6, method=run.stats.method, **settings)
        assert run.success and again.success
        assert np.abs(run.states - again.states).max() < (1e-6 if run.system.contacts else 1e-9)


def test_a_singular_configuration_is_named_as_without():
    found = []
    for whole in (False, True):
        system = models.foot.build()
        # Straight up: the link in the plane of both axes.
        work, y, y_dot = system.work(whole=whole), system.state.y.copy(), np.empty_like(system.state.y)
        flat = system.joint("ankle").values
        straight = np.cross(flat["a_i"], flat["a_j"])
        y[13:16] += 0.0417 * (np.array([0, 0, 1.0]) - np.cross(straight, flat["a_i"]) / np.linalg.norm(straight))
        code = derivative_once(0.0, y, system.tables, work, y_dot)
        found.append((code, tuple(work.failed)))
    assert found[0] == found[1]


def test_not_finite_is_told():
    system = models.foot.build()
    y = system.state.y.copy()
    y[4] = np.nan
    for whole in (False, True):
        assert derivative_once(0.0, y, system.tables, system.work(whole=whole), np.empty_like(y)) not in (OK, SINGULAR)


def test_the_key_tells_what_the_kernel_was_made_from(monkeypatch):
    import runtime.whole as whole

    before = models.pendulum.build().model.key
    assert models.pendulum.build().model.key == before
    monkeypatch.setattr(whole.digests, "WHOLE", "another emitter")
    assert models.pendulum.build().model.key != before
    monkeypatch.undo()
    monkeypatch.setattr(whole, "_digest", lambda module: "another kernel")
    changed = models.pendulum.build()
    assert changed.model.key != before and changed.work(whole=True).address[WHOLE] == 0


def test_a_study_compiles_its_own_model(tmp_path, monkeypatch):
    import runtime.whole as whole

    monkeypatch.setattr(whole, "compiled_folder", lambda: tmp_path)

    def leaning(r_i, s_i, r_j, s_j, a_j, slope):
        """A point on an inclined plane, whose slope is a root and a sine.  Singular nowhere."""
        d = r_j + s_j - r_i - s_i
        return {"height": a_j.dot(d) * (1 + slope**2)}

    b = Builder("own")
    b.body("plate", mass=2.0, inertia=(0.1, 0.1, 0.2), free=True)
    b.body("block", mass=1.0, inertia=(0.01, 0.02, 0.03), r=(0.1, 0.0, 0.2), omega=(1.0, 2.0, 3.0), free=True)
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
    assert system.work(whole=True).address[WHOLE] == 0
    reference = simulate(system, 0.5, t_eval=[0.5])
    file = compile_model(system)
    assert file.parent.parent == tmp_path and "def derivative" in file.read_text(encoding="utf-8")
    assert system.work(whole=True).address[WHOLE] != 0
    run = simulate(system, 0.5, t_eval=[0.5])
    assert np.abs(run.states - reference.states).max() < 1e-10


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A system, and the file of its kernel, as a new process finds them."""
    import runtime.whole as whole

    monkeypatch.setattr(whole, "compiled_folder", lambda: tmp_path)
    system = models.chain.build(2)
    monkeypatch.delitem(sys.modules, f"{whole.WHOLE}.model_{system.model.key}", raising=False)
    return system, compile_model(system)


DAMAGES = {
    "another sign": lambda text: b"-".join(text.rsplit(b"+", 1)),
    "one more line": lambda text: text + b"# by hand\n",
    "cut off": lambda text: text[: len(text) // 2],
    "cut off in its first line": lambda text: text[:20],
    "empty": lambda text: b"",
    "no text": lambda text: text + b"\xff\xfe",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_kernel_that_is_not_as_it_was_emitted_is_refused(own, damage):
    system, file = own
    good = file.read_bytes()
    file.write_bytes(DAMAGES[damage](good))
    with pytest.raises(StaleKernelsError) as error:
        simulate(system, 0.1)
    assert str(error.value) == (
        f"stale kernels: the whole-model kernel {file} was edited by hand or cut off; delete the file, or call "
        "codegen.compile_model(system) again"
    )
    assert compile_model(system) == file and file.read_bytes() == good
    assert simulate(system, 0.1).stats.kernel == "whole model"


def test_a_kernel_of_another_model_is_refused(own):
    system, file = own
    compile_model(models.chain.build(3)).replace(file)
    with pytest.raises(StaleKernelsError, match="edited by hand"):
        system.work(whole=True)
    file.unlink()
    assert simulate(system, 0.1).stats.kernel == "joint by joint"


def test_runs_tell_what_evaluated_them():
    system = models.foot.build()
    for method in ("dop853", "radau", "BDF"):
        assert simulate(system, 0.01, method=method).stats.kernel == "whole model"
    assert runtime.kinematics(models.gait.build(), [0.2]).stats.kernel == "joint by joint"


@pytest.mark.parametrize("what", [models.foot.build, None, "foot"])
def test_what_is_no_system_is_refused(what):
    with pytest.raises(
        DefinitionError, match=r"compile_model\(.*\): give a runtime.System, such as what a model's build"
    ):
        compile_model(what)


def test_a_system_too_large_for_one_function_is_refused():
    with pytest.raises(DefinitionError, match=r"'chain of 60'.*operations, limit .*leave it"):
        compile_model(models.chain.build(60))


# --- broken on purpose ------------------------------------------------------------------------------------------------


def test_a_wrong_sign_anywhere_is_seen():
    system = models.foot.build()
    y, text = off(system, spun(system).y, 0.1), emit_model(system.model)  # where nothing is zero
    head, body = text.split("def derivative(", 1)
    lines = body.split("\n\n\ndef entry", 1)[0].split("\n")
    spots = [k for k, line in enumerate(lines) if " = " in line and "+" in line and "carray" not in line]
    assert len(spots) > 100
    unseen = 0
    for k in RANDOM.choice(spots, 60, replace=False):
        module = ModuleType("broken")
        broken = [line.replace("+", "-", 1) if n == k else line for n, line in enumerate(lines)]
        exec(head + "def derivative(" + "\n".join(broken), module.__dict__)
        unseen += not difference(system, y, module=module) > 1e-12
    assert unseen < 15  # of the step of refinement, a fifth of the statements, which adds what is lost to rounding


# --- arithmetic on record ---------------------------------------------------------------------------------------------


def value(record, number, inputs):
    """Of a number on record, from the text that is written for it."""
    lines = Text(record, "t").write([("result", number)])
    names = dict(inputs, math=math)
    exec("\n".join(lines), {}, names)
    return names["result"]


OPERATIONS = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.neg,
    lambda a: a**2,
    lambda a: 1.0 / a,
    lambda a: 2.0 - a,
    lambda a: 0.5 * a,
    lambda a: a + 0.0,
)


def test_arithmetic_on_record_is_arithmetic():
    record, inputs = Record(), dict(a=1.3, b=-0.7, c=2.9)
    numbers = [record.input(name) for name in inputs] + [record.constant(c) for c in (0.0, 1.0, -1.0, 2.5)]
    values = [*inputs.values(), 0.0, 1.0, -1.0, 2.5]
    for _ in range(3000):
        operation, (i, j) = OPERATIONS[RANDOM.integers(len(OPERATIONS))], RANDOM.integers(len(numbers), size=2)
        count = 2 if OPERATIONS.index(operation) < 4 else 1
        with contextlib.suppress(ZeroDivisionError):
            expected = operation(*(values[i], values[j])[:count])
            if 1e-6 < abs(expected) < 1e6:
                numbers.append(operation(*(numbers[i], numbers[j])[:count]))
                values.append(expected)
    for n in RANDOM.choice(len(numbers), 200):
        assert value(record, numbers[n], inputs) == pytest.approx(values[n], rel=1e-9)


def test_what_is_known_is_not_computed():
    record = Record()
    a, b = record.input("a"), record.input("b")
    assert (a * 0.0).constant == 0.0 and (a - a).constant == 0.0 and (a * 1.0).same(a) and (0.0 + a).same(a)
    assert (a + b).same(b + a) and (a * b).same(b * a) and (-(a - b)).same(b - a) and operator.neg(-a).same(a)
    assert (-a * b).same(-(a * b)) and (a + (-b)).same(a - b) and (a - (-b)).same(a + b)
    assert len(Text(record, "t").write([("x", (a + b) * (b + a))])) == 2
    with pytest.raises(TypeError, match="branches"):
        bool(a)


def test_functions_of_math_are_recorded():
    def kernel(x, out):
        out[0] = math.sqrt(x[0]) + math.sin(2.0) * math.atan2(x[0], x[1])

    record, out = Record(), np.empty(1, object)
    recording(kernel)([record.input("a"), record.input("b")], out)
    found = value(record, out[0], dict(a=0.7, b=-0.4))
    assert found == pytest.approx(math.sqrt(0.7) + math.sin(2.0) * math.atan2(0.7, -0.4))


def test_lanes_are_columns():
    import numba

    from runtime.addresses import addresses_of, call

    system = models.foot.build()
    module = module_of(system.model.key)
    c = constants(module, system)
    Y = np.array([off(system, spun(system).y, 1e-3) for _ in range(LANES)])
    y, out, worst = np.ascontiguousarray(Y.T), np.empty(Y.T.shape), np.empty((1, LANES))
    lanes, address = np.repeat(c, LANES, axis=1), int(addresses_of([module], "lanes")[0])

    @numba.njit
    def at_once(address, y, c, out, worst):
        call(address, y.ctypes.data, c.ctypes.data, out.ctypes.data, worst.ctypes.data)

    at_once(address, y, lanes, out, worst)
    for n in range(LANES):
        expected, _ = general(system, Y[n])
        assert np.abs(out[:, n] - expected).max() < 1e-14 * np.abs(expected).max()
