"""Guided systems and motions can be sent to other processes, and are read-only."""

import copy
import pickle

import numpy as np
import pytest

import runtime
from tests.support.two_bodies import AXES, WAVE, two_bodies, two_guided

THROUGH = pytest.mark.parametrize("through", (copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))))


def loaded():
    """A system with drivers, loads in both axes and a motor."""
    b = two_bodies()
    b.driver("place", "guided_point", "leg", s_i=(0, 0, 0), x_t=WAVE, y_t=0.0, z_t=0.0)
    b.driver("turn", "guided_orientation", "leg", e0_t=1.0, e1_t=0.0, e2_t=0.0, e3_t=0.0)
    b.load("push", "foot", force=(WAVE, 0.0, 1.0), point=(0.1, WAVE, 0.0), axes="body")
    b.load("pull", "leg", moment=(0.0, WAVE, 0.0), point=(0.0, 0.0, 1.0))
    b.motor("muscle", "guided_angle", "leg", "foot", **AXES, effort=WAVE)
    return b


@THROUGH
def test_systems_with_drivers_loads_and_motors_can_be_pickled(through):
    system = loaded().build(time=0.1)
    again = through(system)
    assert repr(again) == repr(system) and again.time == 0.1
    assert list(again.signals) == list(system.signals)
    assert (again.driver_names, again.load_names, again.motor_names) == (
        ("place", "turn"),
        ("push", "pull"),
        ("muscle",),
    )
    assert again.signals["muscle.effort"](0.3) == system.signals["muscle.effort"](0.3)
    assert (
        again.loads[0].axes == "body"
        and again.loads[1].force[0](0.0) == 0.0
        and again.motors[0].joint.kind == "guided_angle"
    )
    runs = [runtime.simulate(s, 0.5) for s in (system, again)]
    assert np.array_equal(runs[0].states, runs[1].states) and np.ptp(runs[0].states[:, 13]) > 0.1
    with pytest.raises(ValueError, match="read-only"):
        again.data.loads.x[:] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        again.data.signals.coefficient[:] = 0.0


@THROUGH
@pytest.mark.parametrize("overdetermined", [False, True])
def test_motions_can_be_pickled(through, overdetermined):
    m = runtime.kinematics(two_guided(overdetermined=overdetermined), [0.0, 0.25, 0.5])
    rates = {name: f.rate for name, f in m.degrees_of_freedom.items()}  # computed before it travels
    again = through(m)
    assert not again.states.flags.writeable and not again.t.flags.writeable
    assert type(again) is runtime.analysis.Motion and repr(again) == repr(m)
    assert np.array_equal(again.states, m.states) and np.array_equal(again.residual, m.residual)
    for name, rate in rates.items():
        assert np.array_equal(again.degrees_of_freedom[name].rate, rate)
    for part in ("v_dot", "omega_dot"):
        assert np.array_equal(getattr(again, part)["foot"], getattr(m, part)["foot"])
    if not overdetermined:
        assert np.array_equal(again.driven["angle"].effort["theta_t"], m.driven["angle"].effort["theta_t"])
        assert np.array_equal(again.joint_load("ankle", on="foot").moment, m.joint_load("ankle", on="foot").moment)


def test_an_analysis_does_not_change_a_guided_system():
    system = two_guided()
    before = pickle.dumps((system.state.y, system.data.x))
    t = np.array([0.0, 0.5, 1.0])
    m = runtime.inverse_dynamics(system, t)
    t[:] = 7.0
    assert m.t.tolist() == [0.0, 0.5, 1.0]
    assert m.driven and m.degrees_of_freedom
    assert pickle.dumps((system.state.y, system.data.x)) == before
    for thing in (m.states, m.t, m.r["foot"], system.data.x, system.state.y):
        with pytest.raises(ValueError, match="read-only"):
            thing[:] = 0.0
    for mapping in (
        m.degrees_of_freedom,
        m.driven,
        m.driven["angle"].effort,
        system.signals,
        system.joint("angle").signals,
    ):
        with pytest.raises(TypeError):
            mapping["new"] = 0.0
    for thing, name in (
        (system, "drivers"),
        (m, "residual"),
        (m.degrees_of_freedom["ankle.a_i"], "effort"),
        (m.driven["angle"], "power"),
    ):
        with pytest.raises(AttributeError):
            setattr(thing, name, None)


def test_a_builder_can_be_extended_after_it_has_built():
    """A system keeps its drivers when its builder gets more."""
    b = loaded()
    one = b.build()
    b.driver("angle", "guided_angle", "leg", "foot", **AXES, theta_t=0.0)
    two = b.build()
    assert (one.degrees_of_freedom, two.degrees_of_freedom) == (1, 0)
    assert one.driver_names == ("place", "turn") and two.driver_names == ("place", "turn", "angle")


def test_description_of_a_guided_system():
    text = repr(loaded().build())
    assert text == (
        "System('two', 2 bodies, 1 joint, 1 degree of freedom, drivers place, turn, loads push, pull, motors muscle)"
    )
    m = runtime.inverse_dynamics(two_guided(), [0.0, 0.5])
    assert repr(m) == "Motion('two', 2 times, 0 .. 0.5 s)" and m.success and m.stats.method == "kinematics"
    assert m.to_xarray().sizes["time"] == 2
