"""Where in a step limits of coordinates change their modes."""

import numpy as np
import pytest

import models
import runtime
from runtime import Status, simulate
from runtime.dynamics.equations import derivative_once
from runtime.dynamics.limits_along import LimitNumbers
from runtime.integrate import loop
from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.integrate.methods import NONE, NONE2
from runtime.integrate.tree_method import InJointCoordinates, start_of


def sides_of(limits):
    """Coordinates between which limits of a run keep their modes."""
    return [limits.own[:, LimitNumbers.places()[name], 0] for name in ("low", "high")]


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
            low, high = sides_of(limits)
            off = np.abs(np.maximum(low - q, q - high))
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
        return runtime.Event(
            f"{k}", lambda t, state: start_of(system, state)[of_limits.q[k]] - sides_of(of_limits)[1][k]
        )

    runs = [
        simulate(system, 1.0, rtol=one, atol=one, events=[edge(0), edge(1)], coordinates="joint", t_eval=[0.0, 1.0])
        for one in (tolerance, 1e-12)
    ]
    for name, wanted in runs[1].events.items():
        assert len(wanted) >= 6
        np.testing.assert_allclose(runs[0].events[name], wanted, rtol=0, atol=0.3 * tolerance)
