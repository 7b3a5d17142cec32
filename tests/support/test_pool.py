"""Memory that runs use one after the other."""

import threading
from typing import NamedTuple

import numpy as np
import pytest

import models
import runtime
from runtime.integrate import methods
from runtime.support.pool import MAX_FREE, Pool


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
    pool, key = Pool(2), object()
    blocks = [pool.take(example, key) for _ in range(MAX_FREE + 2)]
    assert len(set(map(id, blocks))) == len(blocks)
    for block in blocks:
        block.give_back()
    taken = [pool.take(example, key) for _ in range(MAX_FREE + 2)]
    assert sum(block in blocks for block in taken) == MAX_FREE


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
        "dop853", system, system.data, system.state.y, 0.0, 0.1, 1e-8, 1e-8, np.inf, 0.0, projected=True
    )
    stepper.passages.append(None)
    stepper.give_back()
    assert len(stepper._blocks) == 2
    stepper.passages.clear()
    stepper.give_back()
    assert not stepper._blocks
