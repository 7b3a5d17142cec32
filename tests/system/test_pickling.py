"""Systems, states and runs can be sent to other processes."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import codegen
import models
import runtime
from runtime import ModelError
from tests.support.own_laws import HARDENING, POWER, ball, rod
from tests.support.refusals import assert_refused


def final_height(system):
    return runtime.simulate(system, 0.05).final.r["main_foot"][2]


@pytest.mark.slow
def test_a_system_in_a_spawned_process_gives_the_same_bits():
    systems = [models.foot.build(ankle=ankle) for ankle in ("classical", "modified")]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(final_height, systems)) == [final_height(system) for system in systems]


@pytest.mark.parametrize("through", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_round_trip(through):
    system = models.four_bar.build("revolute")
    run = runtime.simulate(system, 0.1, events=[runtime.Event("e", late, direction=1)])
    again = through(run)
    assert np.array_equal(again.states, run.states) and np.array_equal(again.energy, run.energy)
    assert np.array_equal(again.events["e"], run.events["e"]) and again.system.redundant == system.redundant
    other = through(system)
    assert other.joint("B").values["a_i"].tolist() == [0, 1, 0] and other.joint("B").module is system.joint("B").module
    assert np.array_equal(runtime.simulate(other, 0.1).states, runtime.simulate(system, 0.1).states)
    with pytest.raises(ValueError, match="read-only"):
        other.state.y[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        run.states[:] = 0.0


def late(t, state):
    return t - 0.05


def pin(r_i, s_i, r_j, s_j):
    """A ball joint of the study's own."""
    return {"point": r_j + s_j - r_i - s_i}


def on_a_pin(joint=None):
    """A bob on a joint of the user's own."""
    b = runtime.Builder("own")
    b.body("bob", mass=1.0, inertia=(1, 1, 1), r=(1, 0, 0))
    b.joint("pin", joint or codegen.compile_joint(pin), "ground", "bob", s_i=(0, 0, 0), s_j=(-1, 0, 0))
    return b


def test_a_users_own_joint_cannot_be_pickled_and_says_why():
    b = on_a_pin()
    assert_refused(("joint 'pin' ", "cannot be pickled; build the system in each process"), pickle.dumps, b.build())
    many = runtime.simulate_many(b.build(), {"mass.bob": [1.0, 2.0]}, 0.1)
    kept = pickle.loads(pickle.dumps(many))
    assert np.array_equal(kept.r["bob"], many.r["bob"])
    with pytest.raises(ModelError, match="holds no system, since .* pickled with a function or with definitions"):
        kept[0]


def test_own_laws_cannot_be_pickled_and_shipped_ones_are_found_again():
    says = "cannot be pickled; build the system in each process"
    assert_refused(
        ("limit 'stop' (power)", says), pickle.dumps, rod(POWER, exponent=1.0, max_moment=1.0, compliance=1.0)
    )
    values = dict(stiffness=1e6, order=1.5, loss=0.0)
    assert_refused(("contact 'sole' (hardening)", says), pickle.dumps, ball(HARDENING, **values))
    for system in (
        rod("conservative", max_moment=20.0, compliance=1.0),
        ball("hertz", "coulomb", stiffness=1e6, mu_c=0.5, mu_d=0.0),
    ):
        again = pickle.loads(pickle.dumps(system))
        runs = [runtime.simulate(one, 0.5) for one in (system, again)]
        assert runs[0].states.tobytes() == runs[1].states.tobytes()
