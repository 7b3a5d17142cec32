"""Runs that do not start at the time of their system: no system is made for a case, unless drivers are elsewhere then."""

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import builder_of
from runtime import Signal
from runtime.ensemble import chunk

SETTINGS = dict(rtol=1e-9, atol=1e-9, workers=1)
START, DURATION, COUNT = 1.5, 0.1, 5


def pushed():
    """The foot under a load that is another one at the start of the runs than at the time of the system."""
    b = builder_of(models.foot.build(limits="elastic"))
    b.load("push", "toes", force=(0.0, 0.0, Signal.function(lambda t: 5.0 * t + np.sin(30.0 * t), 0.0, 2.0)))
    return b.build()


def standing():
    """A contact beside limits: cases run one after another."""
    b = builder_of(pushed())
    b.contact("toe", "toes", centre=(0, 0, 0), radius=0.01, point=(0, 0, -0.02), law="hertz", stiffness=1e5)
    return b.build()


WAYS = {
    "masses": (pushed, {"mass.toes": np.linspace(0.2, 0.3, COUNT)}, {}),
    "joints": (pushed, {"l.ankle": np.linspace(0.0417, 0.042, COUNT)}, dict(assemble=True)),
    "rates": (pushed, {"rate.ankle.theta_i": np.linspace(-1.0, 1.0, COUNT)}, dict(assemble=True)),
    "by name": (standing, {"mass.toes": np.linspace(0.2, 0.3, COUNT)}, dict(coordinates="joint")),
    "loop": (models.four_bar.build, {"mass.coupler": np.linspace(1.0, 2.0, COUNT)}, {}),
}


@pytest.mark.parametrize("way", WAYS)
def test_runs_that_start_at_another_time(way, monkeypatch):
    make, cases, more = WAYS[way]
    system, settings = make(), SETTINGS | dict(t_start=START, t_eval=START + np.linspace(0.0, DURATION, 5)) | more
    with monkeypatch.context() as patch:
        patch.setattr(chunk, "built_case", lambda *_: pytest.fail("a system was made"))
        many = runtime.simulate_many(system, cases, START + DURATION, **settings)
    for name in ("run_side_by_side", "run_named"):
        monkeypatch.setattr(chunk, name, lambda *_: None)
    each = runtime.simulate_many(system, cases, START + DURATION, **settings)
    assert np.ptp(many.states()[:, -1], axis=0).max() > 1e-6 and not many.messages and not many.status.any()
    assert np.abs(many.states() - each.states()).max() < 1e-10
