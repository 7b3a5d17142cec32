"""Cases with contacts beside limits of angles side by side: as in absolute coordinates, and alone where these know more."""

import functools

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import builder_of
from runtime import Cone, Status
from runtime.ensemble import chunk
from tests.ensemble.test_contacts_in_lanes import FINE, SETTINGS, compared, pendulum

TIMES = np.linspace(0.0, 0.6, 61)


@functools.cache
def leg(damping=0.0, law="flores", height=0.7, range_deg=20.0):
    """Two hinges about one axis; the bob touches a plane, and the knee has a limit."""
    return with_stop(pendulum(law, height), "hinge_1", "upper", damping, range_deg)


def with_stop(system, joint, reference, damping=0.0, range_deg=20.0, compliance=0.2):
    """A system with a limit of a hinge."""
    b = builder_of(system)
    cone = Cone.from_degrees((0, 90, 180, 270, 360), (range_deg,) * 5)
    law = dict(max_moment=20.0, compliance=compliance, damping=damping, cone=cone)
    b.limit("stop", joint, reference=reference, xi=(1, 0, 0), eta=(0, -1, 0), **law)
    return b.build()


def test_a_limit_and_a_contact_that_change_at_once(in_lanes):
    """Legs beside each other with equal angles: the stop of one and the sphere of the other are met at the same time."""
    reach, half = 0.3, np.deg2rad(20.0)
    b = runtime.Builder("two rods")
    for name, y in (("stopped", 0.0), ("falling", 1.0)):
        b.body(name, mass=0.4, inertia=(2e-3, 2e-3, 2e-3), r=(reach, y, 1.0))
        b.joint(
            f"{name}_hinge", "revolute", "ground", name, axes="global", point=(0, y, 1), a_i=(0, 1, 0), a_j=(0, 1, 0)
        )
    where = dict(centre=(0, 0, 0), radius=0.05, point=(0, 0, 0.95 - reach * np.sin(half)))
    b.contact("touch", "falling", **where, law="hertz", stiffness=1e5)
    system = with_stop(b.build(), "stopped_hinge", "ground")
    both = np.linspace(0.5, 3.0, 9)
    cases = {"rate.stopped_hinge.angle": both, "rate.falling_hinge.angle": both}
    names = ["r.stopped", "r.falling", "energy"]
    many, absolute = compared(system, cases, 0.6, names, in_lanes, **FINE)
    assert not many.messages
    for name in names:
        assert np.abs(many[name] - absolute[name]).max() < 1e-7, name


@pytest.fixture
def alone(monkeypatch):
    """How many cases run one by one, by calls."""
    found, run = [], chunk._run_each
    monkeypatch.setattr(chunk, "_run_each", lambda cases, *more: found.append(len(cases)) or run(cases, *more))
    return found


def test_an_excess_beyond_what_lanes_know_runs_alone(alone):
    """A rod turns far beyond a weak stop, where another point of its cone is nearer."""
    cases = {"rate.hinge_1.angle": [0.5, -15.0, -0.5], "max_moment.stop": [20.0, 0.01, 20.0]}
    many = runtime.simulate_many(leg(height=0.4), cases, 0.6, **SETTINGS)
    assert sum(alone) == 1 and (many.status == Status.REACHED_END).all()
    changed = runtime.simulate_many(leg(height=0.4), cases, 0.6, coordinates="absolute", method="dop853", **SETTINGS)
    assert np.abs(many.r["lower"] - changed.r["lower"]).max() < 1e-6


def test_contacts_beside_limits_with_a_kernel_for_them(in_lanes):
    """The kernel of a foot with elastic limits serves cases with a contact, too."""
    b = builder_of(models.foot.build(limits="elastic"))
    b.contact("toe", "toes", centre=(0, 0, 0), radius=0.01, point=(0, 0, -0.02), law="hertz", stiffness=1e5)
    system, cases = b.build(), {"rate.ankle.theta_j": np.linspace(-8.0, 8.0, 5)}
    names = ["r.toes", "energy", "max(limit_excess.talocalcaneal)", "max(contact_penetration.toe)"]
    many, absolute = compared(system, cases, 0.6, names, in_lanes, t_eval=TIMES, **FINE)
    assert not many.messages and min(many[name].max() for name in names[2:]) > 1e-3
    for name in names:
        assert np.abs(many[name] - absolute[name]).max() < 1e-6, name
