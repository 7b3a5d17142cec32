"""Where in a step limits of coordinates change their modes, in single runs and in lanes."""

import numpy as np
import pytest

import models
from runtime import Status, simulate
from runtime.dynamics.layout import LANES
from runtime.integrate import batch_limits, loop, stepping
from runtime.integrate.batch_rows import ROWS_OF_LANES, SPECIAL, TAKEN
from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.integrate.limit_changes import ON_SIDE, SHARE, bends_of, cubic_of, passes
from runtime.integrate.methods import NONE, NONE2
from runtime.integrate.tree_method import InJointCoordinates
from runtime.jit.compilation import compiled


@compiled
def _passage(begin, end, h, limit, found):
    """The cubic polynomial of a coordinate and its passage; value, rate and acceleration at both ends of a step."""
    cubic = cubic_of(begin[0], end[0], begin[1], end[1], h)
    of = limit[0], limit[1], limit[2], limit[3], limit[4]
    found[0], found[1], found[2], found[3] = cubic
    found[4] = passes(cubic, bends_of(cubic, begin[2], end[2], h), of, 0.0, 1.0)


@compiled
def _go_on(own, lanes):
    batch_limits.go_on_with_limit(own, lanes)


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
        edge, side, sign = 1.0, rng.choice([-1.0, 1.0]), rng.choice([-1.0, 1.0])
        p0 = rng.uniform(-0.5, 0.5)  # value of the edge in the middle of the values, so that many steps pass it
        offset = edge - sign * (0.5 * (q + q_end) + p0 * (q_end - q)) + 2.0 * np.pi * rng.integers(-3, 4)

        def over(x, p=p, h=h, sign=sign, offset=offset, edge=edge, side=side):
            return side * (abs((sign * p(x * h) + offset + np.pi) % (2.0 * np.pi) - np.pi) - edge)

        x = np.linspace(0.0, 1.0, 2001)
        if not (over(x[:1]) < -1e-6 and over(x[-1:]) > 1e-3 and (np.abs(np.diff(over(x))) < 0.1).all()):
            continue
        found = np.zeros(5)
        _passage(ends[0], ends[1], h, np.array([sign, offset, edge, edge, side]), found)
        at, difference = found[4], abs(p(found[4] * h) - np.polynomial.Polynomial(found[:4])(found[4]))
        assert 0.0 < at <= 1.0 and 0.5 * ON_SIDE <= over(at) <= 1.6 * (ON_SIDE + SHARE * difference)
        passed += 1


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10, 1e-12])
def test_a_change_takes_one_attempt_more_than_a_step(tolerance):
    """Steps that are cut by the quintic polynomials of their coordinates end at a change, hardly ever short of it."""
    system = models.foot.build("modified", limits="elastic")
    m = InJointCoordinates(system, system.data, system.state, 0.0, 2.0, tolerance, tolerance, np.inf, 0.0)
    loop.advance(m.s, m.data, m.work, 2.0, tolerance, tolerance, np.inf, 0, NONE, NONE2, NONE, NONE2)  # first modes
    modes, changes, attempts, beyond, code = m.work.switches.mode.copy(), 0, 0, 0.0, Status.RUNNING
    while code == Status.RUNNING:
        before = m.s.counts[stepping.REJECTIONS]
        code = loop.advance(m.s, m.data, m.work, 2.0, tolerance, tolerance, np.inf, 1, NONE, NONE2, NONE, NONE2)
        if (m.work.switches.mode != modes).any():
            changed = m.work.switches.mode != modes
            beyond = max(beyond, np.abs(m.work.switches.over[changed]).max())
            changes, attempts = changes + 1, attempts + m.s.counts[stepping.REJECTIONS] - before
        modes[:] = m.work.switches.mode
    assert changes > 25 and attempts <= 1.5 * changes
    assert 0.0 < beyond < 1e-5


def test_only_accepted_steps_without_a_change_begin_anew():
    """A step that was rejected, or ends at a change, has its own start; another one there shifts results by 1e-9 rad alone."""
    own, lanes = np.zeros(batch_limits.WIDTH * LANES), np.zeros((ROWS_OF_LANES, LANES))
    rows = own.reshape(-1, LANES)
    rows[batch_limits.START], rows[batch_limits.ENDED] = np.arange(LANES), 100.0 + np.arange(LANES)
    lanes[TAKEN], lanes[SPECIAL] = np.arange(LANES) % 2, np.arange(LANES) // 2 % 2
    _go_on(own, lanes.ravel())
    plain = (lanes[TAKEN] == 1.0) & (lanes[SPECIAL] == 0.0)
    assert np.array_equal(rows[batch_limits.START], np.arange(LANES) + np.where(plain, 100.0, 0.0))


def test_states_within_a_step_are_prepared_for_outputs_alone():
    """Those of a step at whose end a limit changes, by the modes of the step."""
    system, times = models.foot.build("modified", limits="elastic"), np.linspace(0.0, 1.0, 1001)
    tight, run = (simulate(system, 1.0, t_eval=times, rtol=r, atol=r) for r in (1e-12, 1e-9))
    assert np.abs(run.omega["main_foot"] - tight.omega["main_foot"]).max() < 1e-6
    last = simulate(system, 1.0, t_eval=[1.0], rtol=1e-9, atol=1e-9)
    attempts = last.stats.steps + last.stats.rejections
    assert last.stats.evaluations == 2 + STAGES * attempts + EXTRA
    assert np.array_equal(last.states[-1], run.states[-1])
