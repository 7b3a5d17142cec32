"""The pendulum with joint limits: the published example, its options, and its messages."""

import numpy as np
import pytest

from models import pendulum
from models.studies import measures
from runtime import simulate
from tests.support.refusals import assert_refused


def test_without_limits_the_pendulum_hangs_level_and_has_none():
    planar, ball = pendulum.build(), pendulum.build("spherical")
    assert planar.name == "planar pendulum" and ball.name == "spherical pendulum"
    for system in (planar, ball):
        assert not system.limits
        assert system.state.r["rod"] == pytest.approx([0.15, 0.0, 0.0], abs=1e-15)


def test_the_published_pendulum():
    """Released horizontally at longitude 135 degrees in the frame of the joint; J / (m d) and m g d as inferred."""
    system = pendulum.build(limits="dissipative")
    (limit,) = system.limits
    assert (limit.name, limit.damping, limit.max_moment) == ("pivot", 3.39, 226.0)
    assert np.rad2deg(limit.compliance) == pytest.approx(11.5)
    seen = simulate(system, 1e-3, t_eval=[0.0]).limits["pivot"]
    assert np.rad2deg([seen.longitude[0], seen.latitude[0], seen.maximum_latitude[0]]) == pytest.approx([135, 90, 100])
    rod = system.bodies[0]
    assert (np.diag(rod.inertia)[0] + rod.mass * 0.15**2) / (rod.mass * 0.15) == pytest.approx(0.202, rel=0.02)
    assert rod.mass * 9.81 * 0.15 == pytest.approx(5.1, rel=0.02)


def test_planar_pendulum_with_limits():
    system = pendulum.build("planar", limits="elastic")
    run = simulate(system, 2.0, t_eval=measures.times(2.0))
    motion = run.limits["pivot"]
    assert system.limits[0].kind == "hinge"
    assert np.rad2deg(motion.latitude[0]) == pytest.approx(60.0)
    assert 0.0 < motion.excess.max() < system.limits[0].compliance  # 30 degrees on the other side
    assert np.ptp(run.energy) < 1e-7


BAD = {
    "unknown limits": (dict(limits="soft"), "limits = 'soft'; use 'elastic' or 'dissipative'"),
    "unknown kind": (dict(kind="cubic"), "kind = 'cubic'; use 'planar' or 'spherical'"),
    "parameter without limits": (dict(damping=1.0), "damping = 1.0 applies to limits only; give limits="),
    "damped elastic": (dict(limits="elastic", damping=1.0), "damping = 1.0 N m s, but limits='elastic' have none"),
    "negative moment": (dict(limits="elastic", max_moment=-1.0), "max_moment = -1 N m, must be above 0 N m"),
    "no compliance": (dict(limits="elastic", compliance=0.0), "compliance = 0 rad, must be above 0 rad"),
    "no cone": (dict(limits="elastic", cone=30.0), "cone = 30.0: give runtime.Cone(longitudes, latitudes)"),
    "unknown law": (dict(limits="elastic", law="cubic"), "law = 'cubic'; use 'conservative' or 'as_published'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(name):
    arguments, sentence = BAD[name]
    assert_refused(sentence, pendulum.build, **arguments)
