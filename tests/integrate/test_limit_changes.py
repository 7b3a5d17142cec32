"""Where in a step limits of coordinates change their modes, in single runs and in lanes."""

from types import SimpleNamespace

import numpy as np
import pytest

import models
import runtime
from runtime import Status, simulate
from runtime.dynamics.equations import derivative_once
from runtime.integrate import loop
from runtime.integrate.aiming import until_edge
from runtime.integrate.batches.limit_steps import go_on_with_limit
from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.integrate.limit_changes import ON_SIDE, SHARE, bends_of, cubic_of, passes
from runtime.integrate.methods import NONE, NONE2
from runtime.integrate.tree_method import InJointCoordinates, start_of
from runtime.jit.compilation import compiled


@compiled
def _passage(begin, end, h, sides, found):
    """The cubic polynomial of a coordinate and its passage; value, rate and acceleration at both ends of a step."""
    cubic = cubic_of(begin[0], end[0], begin[1], end[1], h)
    found[0], found[1], found[2], found[3] = cubic
    found[4] = passes(cubic, bends_of(cubic, begin[2], end[2], h), (sides[0], sides[1]), 0.0, 1.0, False)


@compiled
def _until(begin, end, h, sides, longest, found):
    cubic = cubic_of(begin[0], end[0], begin[1], end[1], h)
    bends, at = bends_of(cubic, begin[2], end[2], h), (end[0], end[1], end[2])
    found[0] = until_edge(cubic, bends, h, at, (sides[0], sides[1]), longest)


def quintic(rng):
    """Value, rate and acceleration of a random polynomial of order 5 at both ends of a step, and its length."""
    p, h = np.polynomial.Polynomial(rng.normal(size=6) * np.exp(-np.arange(6.0))), rng.uniform(0.1, 2.0)
    return p, h, np.array([(p(t), p.deriv()(t), p.deriv(2)(t)) for t in (0.0, h)])


def test_a_passage_lies_a_little_beyond_the_edge():
    """Against the roots of random polynomials, which those of the step are exactly."""
    rng, passed = np.random.default_rng(1), 0
    while passed < 400:
        p, h, ends = quintic(rng)
        q, q_end = ends[:, 0]
        edge = 0.5 * (q + q_end) + rng.uniform(-0.5, 0.5) * (q_end - q)  # many steps pass it
        other = rng.choice([np.inf, rng.uniform(0.2, 0.8)])
        sides = (edge, edge + other) if q > edge else (edge - other, edge)

        def over(x, p=p, h=h, sides=sides):
            return np.maximum(sides[0] - p(x * h), p(x * h) - sides[1])

        x = np.linspace(0.0, 1.0, 2001)
        if not (over(x[:1]) < -1e-6 and over(x[-1:]) > 1e-3 and (np.abs(np.diff(over(x))) < 0.1).all()):
            continue
        found = np.zeros(5)
        _passage(ends[0], ends[1], h, np.array(sides), found)
        at, difference = found[4], abs(p(found[4] * h) - np.polynomial.Polynomial(found[:4])(found[4]))
        assert 0.0 < at <= 1.0 and 0.5 * ON_SIDE <= over(at) <= 1.6 * (ON_SIDE + SHARE * difference)
        passed += 1


def test_a_passage_beyond_a_step_is_that_of_its_polynomial():
    """Against the roots of random polynomials of order 5, which are extended exactly; nearly all are found."""
    rng, passed, found, x = np.random.default_rng(2), 0, np.zeros(1), np.linspace(1.0, 2.0, 2001)
    missed = 0
    while passed < 400:
        p, h, ends = quintic(rng)
        q, edge = p(h), rng.normal()
        low, high = (edge, edge + 3.0) if q > edge else (edge - 3.0, edge)
        inside = (p(x * h) > low) & (p(x * h) < high)
        if not inside[0] or inside.all() or np.abs(np.diff(p(x * h))).max() > 0.1:
            continue
        _until(ends[0], ends[1], h, np.array([low, high]), h, found)
        first = x[np.argmin(inside)] - 1.0
        passed, missed = passed + 1, missed + (found[0] == np.inf)
        if found[0] < 1.01 * first * h:  # one that turns is left by another way
            assert found[0] == pytest.approx(first * h, abs=2e-3 * h)
        if found[0] < np.inf:
            assert np.abs(p(h + found[0]) - np.array([low, high])).min() < 1e-9
    assert missed < 0.25 * passed


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10, 1e-12])
def test_a_change_takes_no_attempt_more_than_a_step(tolerance):
    """Steps are aimed at the changes; few are rejected or cut, and all end near them."""
    system = models.foot.build("modified", limits="elastic")
    m = InJointCoordinates(system, system.data, system.state, 0.0, 2.0, tolerance, tolerance, np.inf, 0.0)
    loop.advance(m.s, m.data, m.work, 2.0, tolerance, tolerance, np.inf, 0, NONE, NONE2, NONE, NONE2)  # first modes
    modes, changes, repeated, beyond, code = m.work.switches.mode.copy(), 0, 0, 0.0, Status.RUNNING
    limits, rates = m.work.tree.limits, np.empty_like(m.s.y)
    while code == Status.RUNNING:
        before = m.s.now.rejections
        code = loop.advance(m.s, m.data, m.work, 2.0, tolerance, tolerance, np.inf, 1, NONE, NONE2, NONE, NONE2)
        if (m.work.switches.mode != modes).any():
            q = m.s.y[limits.q]
            off = np.abs(np.maximum(limits.low - q, q - limits.high))
            beyond = max(beyond, off[m.work.switches.mode != modes].max())
            changes, repeated = changes + 1, repeated + m.s.now.rejections - before
            if m.s.now.rejections == before:  # the next step begins with the derivative by its own modes
                derivative_once(m.s.now.time, m.s.y, m.data, m.work, rates)
                assert np.abs(m.s.end - rates).max() < 1e-12 * np.abs(rates).max()
        modes[:] = m.work.switches.mode
    assert changes > 25 and repeated <= 0.3 * changes
    assert 0.0 < beyond < 0.05 * tolerance ** (1 / 3)  # the rates change with its third power


def test_a_first_step_may_be_cut_at_a_change():
    """No step was of usual length before it."""
    system = models.foot.build("classical", limits="dissipative")
    start = runtime.system.displaced(system, {}, {"ankle.theta_i": 3.28105591, "ankle.theta_j": 44.89513253})
    for tolerance in (1e-6, 1e-7, 1e-8):
        assert simulate(system, 0.1, initial=start, rtol=tolerance, atol=tolerance, coordinates="joint").success


def test_only_accepted_steps_without_a_change_begin_anew():
    """A step that was rejected, or ends at a change, has its own start; another one there shifts results by 1e-9 rad alone."""
    lanes = np.arange(16.0)
    of = SimpleNamespace(start=lanes[None].copy(), ended=100.0 + lanes[None])
    s = SimpleNamespace(W=16, accepted=lanes % 2, special=lanes // 2 % 2)
    go_on_with_limit.py_func(of, 0, s)
    plain = (s.accepted == 1.0) & (s.special == 0.0)
    assert np.array_equal(of.start[0], lanes + np.where(plain, 100.0, 0.0))


def test_states_within_a_step_are_prepared_for_outputs_alone():
    """Those of a step at whose end a limit changes, by the modes of the step."""
    system, times = models.foot.build("modified", limits="elastic"), np.linspace(0.0, 1.0, 1001)
    tight, run = (simulate(system, 1.0, t_eval=times, rtol=r, atol=r) for r in (1e-12, 1e-9))
    assert np.abs(run.omega["main_foot"] - tight.omega["main_foot"]).max() < 1e-6
    last = simulate(system, 1.0, t_eval=[1.0], rtol=1e-9, atol=1e-9)
    attempts = last.stats.steps + last.stats.rejections
    checks = last.stats.evaluations - 2 - STAGES * attempts - EXTRA  # of ends of steps, by the new modes
    assert 10 < checks < 25
    assert np.array_equal(last.states[-1], run.states[-1])


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-5, 1e-8])
def test_events_at_the_edges_are_located_within_the_tolerance(tolerance):
    """The steps that are aimed at changes end up to 1e-5 rad off their edges; events are zeros of the dense output."""
    system = models.foot.build("modified", limits="elastic")
    m = InJointCoordinates(system, system.data, system.state, 0.0, 1.0, 1e-8, 1e-8, np.inf, 0.0)
    loop.advance(m.s, m.data, m.work, 1.0, 1e-8, 1e-8, np.inf, 0, NONE, NONE2, NONE, NONE2)  # first modes
    of_limits = m.work.tree.limits

    def edge(k):
        return runtime.Event(f"{k}", lambda t, state: start_of(system, state)[of_limits.q[k]] - of_limits.high[k])

    runs = [
        simulate(system, 1.0, rtol=one, atol=one, events=[edge(0), edge(1)], coordinates="joint", t_eval=[0.0, 1.0])
        for one in (tolerance, 1e-12)
    ]
    for name, wanted in runs[1].events.items():
        assert len(wanted) >= 6
        np.testing.assert_allclose(runs[0].events[name], wanted, rtol=0, atol=0.3 * tolerance)
