"""Whole-model kernels against the general evaluation, for every system."""

import itertools
from types import ModuleType

import numpy as np
import pytest

import codegen.compiler.study
import codegen.compiler.whole
import models
import runtime
from models.shipped import SYSTEMS
from runtime import GROUND, Builder, Signal
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import OK
from runtime.dynamics.places import WHOLE
from runtime.system.whole_model import module_of
from runtime.system.workspaces import workspace
from tests.support.systems import BUILDS, LAWS, powered, slider, spun
from tests.support.whole_model import difference, emitted, general, off, operations

# --- the same answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILDS)
def test_models(name):
    system = BUILDS[name]()
    module, state = emitted(system), spun(system)
    for by in (0.0, 1e-6, 1e-2):
        assert difference(system, off(system, state.y, by), module=module) < 2e-14


def test_drivers():
    system = models.walking.synthetic.build()
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
        b.body(name, mass=1.5 + k, inertia=(0.01, 0.02 + 0.002 * k, 0.025), r=PLACES[name], guess=True)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "ground"),
    [(tuple(PLACES), "hinge"), (tuple(PLACES)[::-1], "fixed"), (("ball", "shin", "toe", "heel"), "driven")],
)
def test_locked_bodies_move_as_one(order, ground, monkeypatch):
    system = locked(order, ground)
    module, state = emitted(system), system.state if ground == "driven" else spun(system)
    for by in (0.0, 1e-3):
        assert difference(system, off(system, state.y, by), 0.0, module) < 1e-13
    monkeypatch.setattr(codegen.compiler.elimination, "find_lock", lambda *arguments: None)
    plain = emitted(system)
    assert difference(system, state.y, 0.0, plain) < 1e-13
    assert operations(module) < 0.9 * operations(plain)


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
    assert tilted.model.key != key  # its components of gravity differ in which are zero
    assert difference(tilted, spun(tilted).y) < 1e-14


# --- found, and fresh -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "four_bar_revolute"])  # it has redundant rows
def test_shipped_kernels_are_found_and_used(name):
    system = SYSTEMS[name]()
    module = module_of(system.model.key)
    assert module is not None and module.__name__ == f"generated.whole.{name}"
    work, y, y_dot = workspace(system), spun(system).y.copy(), np.empty_like(system.state.y)
    assert work.address[WHOLE] != 0
    assert derivative_once(system.time, y, system.data, work, y_dot) == OK
    expected, plain = general(system, y)
    assert np.abs(y_dot - expected).max() < 1e-14 * max(1.0, np.abs(expected).max())
    assert 0.0 < work.smallest_pivot[0] and (work.smallest_pivot[0] < 1.0 or plain.smallest_pivot[0] == np.inf)


def test_a_singular_configuration_is_named_as_without():
    found = []
    for whole in (False, True):
        system = models.foot.build()
        # Straight up: the link in the plane of both axes.
        work, y, y_dot = (
            (workspace(system) if whole else workspace_for(system.data)),
            system.state.y.copy(),
            np.empty_like(system.state.y),
        )
        flat = system.joint("ankle").values
        straight = np.cross(flat["a_i"], flat["a_j"])
        y[13:16] += 0.0417 * (np.array([0, 0, 1.0]) - np.cross(straight, flat["a_i"]) / np.linalg.norm(straight))
        code = derivative_once(0.0, y, system.data, work, y_dot)
        found.append((code, tuple(work.failed)))
    assert found[0] == found[1]


# --- broken on purpose ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ['a"""; print("run")  # """', 'a"', "a\\", "coding: utf-7 +AAo-print()"])
def test_the_name_of_a_system_is_no_part_of_its_program(capsys, monkeypatch, name):
    b, texts = Builder(name), []
    b.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), free=True)
    monkeypatch.setattr(codegen.compiler.study, "_use", lambda file, key, derived, name: texts.append(derived()))
    codegen.compile_model(b.build())
    module = ModuleType("emitted")
    exec(texts[0], module.__dict__)
    assert capsys.readouterr().out == "" and name in module.__doc__
    assert not any(name in line for line in texts[0].splitlines()[:2])  # where Python looks for an encoding
