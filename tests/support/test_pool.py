"""Memory that runs use one after the other."""

import copy
import gc
import pickle
import threading
import weakref
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

import codegen
import models
import runtime
from runtime.integrate import methods, tree_method
from runtime.integrate.methods import pool_of
from runtime.support.errors import ModelError
from runtime.support.pool import MAX_FREE, MAX_POOLS, Block, Pool


class Inner(NamedTuple):
    part: np.ndarray
    roots: np.ndarray


class Outer(NamedTuple):
    values: np.ndarray
    count: int
    modes: np.ndarray
    inner: Inner
    fixed: np.ndarray


def constant(values):
    values = np.array(values)
    values.flags.writeable = False
    return values


def example():
    values = np.arange(12.0).reshape(3, 4)
    return Outer(values, 5, np.arange(3), Inner(values[1:], np.array([1j, 2.0])), constant(np.ones(2)))


def test_a_block_in_use_is_not_taken_and_few_wait():
    pool = Pool(2)

    def take():
        return pool.take(lambda: Block(example()), "key")

    blocks = [take() for _ in range(MAX_FREE + 2)]
    assert len(set(map(id, blocks))) == len(blocks)
    for block in blocks:
        block.give_back()
    taken = [take() for _ in range(MAX_FREE + 2)]
    assert sum(block in blocks for block in taken) == MAX_FREE


def test_few_pools_keep_blocks():
    pools = [Pool(2) for _ in range(3 * MAX_POOLS)]
    blocks = [weakref.ref(pool.take(lambda: Block(example()), "key")) for pool in pools]
    kept = [pool.take(lambda: Block(example()), "key") for pool in pools]
    for block in kept:
        block.give_back()
    waiting = [weakref.ref(block) for block in kept]
    del kept, block
    gc.collect()
    assert not any(block() for block in blocks)
    assert 1 <= sum(block() is not None for block in waiting) <= MAX_POOLS


def results(system, **how):
    run = runtime.simulate(system, 0.3, t_eval=np.linspace(0.0, 0.3, 7), **how)
    return run, [
        run.states.tobytes(),
        run.energy.tobytes(),
        run.contact_events.tobytes(),
        run.message,
        run.stats.evaluations,
    ]


@pytest.mark.parametrize("name", ["foot", "foot_ground", "four_bar", "pendulum", "chain"])
@pytest.mark.parametrize("method", ["auto", "radau"])
def test_a_run_has_the_same_bits_whatever_ran_before(name, method):
    def build():
        arguments = {"pendulum": ("spherical",), "chain": (3,)}.get(name, ())
        more = {"limits": "elastic"} if name in ("foot", "pendulum") else {}
        return getattr(models, name).build(*arguments, **more)

    system = build()
    first_run, first = results(system, method=method)
    kept = first_run.states.copy(), first_run.final.y.copy()
    runtime.simulate(system, 0.05, method="radau")
    runtime.simulate(
        system, 0.2, max_step=1e-2, events=[runtime.Event("time", lambda t, state: t - 0.1, terminal=True)]
    )
    assert results(system, method=method)[1] == first == results(build(), method=method)[1]
    assert np.array_equal(first_run.states, kept[0]) and np.array_equal(first_run.final.y, kept[1])


def test_runs_in_threads_and_inside_events_have_memory_of_their_own():
    system = models.foot.build()
    expected = results(system)[1]
    found = []
    threads = [threading.Thread(target=lambda: found.append(results(system)[1])) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6

    def inner(t, state):
        found.append(results(system)[1])
        return 1.0

    outer = runtime.simulate(system, 0.02, events=[runtime.Event("inner", inner)])
    assert outer.success and set(map(str, found)) == {str(expected)}


def test_memory_that_a_result_refers_to_is_not_used_again():
    system = models.four_bar.build()
    stepper = methods.Compiled(
        "dop853", system, system.data, system.state, 0.0, 0.1, 1e-8, 1e-8, np.inf, 0.0, projected=True
    )
    ready = stepper._ready
    stepper.passages.append(None)
    stepper.give_back()
    assert not ready.home
    stepper.passages.clear()
    stepper.give_back()
    assert ready.home == [ready]
    stepper.give_back()
    assert ready.home == [ready]


def test_the_next_run_of_a_system_makes_no_memory(monkeypatch):
    system = models.foot.build()
    first = results(system)[1]
    monkeypatch.setattr(tree_method, "workspace_for", None)
    assert results(system)[1] == first
    with pytest.raises(TypeError):
        results(system, alpha=3.0, coordinates="absolute", method="dop853")[1] and results(models.foot.build())


def test_a_run_says_the_same_of_itself_after_others_had_its_memory():
    system = models.foot.build(limits="elastic")

    def run():
        return runtime.simulate(system, 0.2, events=[runtime.Event("time", lambda t, state: t - 0.1)])

    def said(run):
        balance = run.energy_balance
        counts = run.stats.evaluations, run.stats.steps, run.stats.rejections, run.stats.parts
        return run.message, counts, balance.largest_error, balance.time, balance.explained, run.final.y.tobytes()

    expected = said(run())
    one, other = run(), runtime.simulate(system, 0.4, rtol=1e-5)
    assert {"message", "stats", "final"} <= set(dir(one))
    assert said(one) == expected != said(other)
    assert said(pickle.loads(pickle.dumps(copy.copy(run())))) == expected
    assert said(replace(run())) == expected


def test_equations_in_each_kind_of_coordinates_have_memory_of_their_own():
    system = models.chain.build(3)  # no kernel knows its tree
    how = [dict(coordinates=one, method="dop853") for one in ("joint", "absolute")]
    expected = [results(models.chain.build(3), **one)[1] for one in how]
    assert [results(system, **one)[1] for one in how * 2] == expected * 2


def test_a_kernel_that_is_made_between_two_runs_serves_the_second_one():
    b = runtime.Builder("swing of two", axes="global", gravity=(0.0, 0.0, -9.7))
    for k in (1, 2):
        b.body(f"rod_{k}", mass=1.0 + k, inertia=(0.1, 0.1, 0.1), r=(k - 0.5, 0.0, 0.0))
        b.joint(
            f"pin_{k}",
            "revolute",
            f"rod_{k - 1}" if k > 1 else "ground",
            f"rod_{k}",
            point=(k - 1, 0, 0),
            axis=(0, 1, 0),
        )
    system = b.build()

    def kernel():
        return runtime.simulate(system, 0.01, coordinates="absolute").stats.kernel

    assert kernel() == "joint by joint"
    codegen.compile_model(system)
    assert kernel() == "whole model"


def test_memory_of_a_run_that_ended_in_an_error_is_not_used_again():
    system = models.foot.build()
    expected = results(system)[1]

    def fails(t, state):
        if t > 0.1:
            raise error
        return 1.0

    for error in (ValueError("of the user"), KeyboardInterrupt()):  # noqa: B007  fails() raises it
        run = runtime.simulate(system, 0.3, events=[runtime.Event("fails", fails)])
        assert not run.success
        assert results(system)[1] == expected
    controlled = models.pendulum.build("spherical")
    before = results(controlled)[1]
    with pytest.raises(ModelError):
        runtime.simulate(controlled, 0.3, progress=lambda t, end: 1 / 0)
    assert results(controlled)[1] == before


def test_systems_and_their_memory_are_collected():
    systems = [models.pendulum.build("spherical") for _ in range(3)]
    for system in systems:
        results(system)
        results(system, method="radau")
    alive = [weakref.ref(pool_of(system)) for system in systems]
    del system, systems
    results(models.foot.build())
    gc.collect()
    assert not any(pool() for pool in alive)


def test_copies_of_a_system_and_systems_with_other_values_have_memory_of_their_own():
    system = models.foot.build()
    expected = results(system)[1]
    assert results(pickle.loads(pickle.dumps(system)))[1] == expected
    assert results(copy.copy(system))[1] == expected
    name = "mass.leg"
    heavier = runtime.with_parameters(system, {name: 1.5 * runtime.parameters(system)[name]})
    assert results(heavier)[1] != expected
    assert results(system)[1] == expected
