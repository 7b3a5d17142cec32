"""Whole turns of joints where times of results are more than half a turn apart."""

import pickle

import numpy as np
import pytest

import runtime
from models import four_bar
from runtime import GROUND, Builder, Cone, Event
from runtime.dynamics.status import Status
from runtime.integrate.tree_method import InJointCoordinates
from runtime.results import whole_turns
from runtime.system.trees import trees_of

RATE, START = 50.0, 0.5
TIMES = [0.0, 1.0, 2.0]
ANGLES = START + RATE * np.array(TIMES)


def rotor(rate=RATE, *, load=False):
    """A body that turns about a horizontal axis at a constant rate; a load along the axis does no work."""
    b = Builder("rotor", axes="global", gravity=(0.0, 0.0, 0.0))
    b.body("rotor", mass=1.0, inertia=(0.02, 0.02, 0.02), r=(0.0, 0.0, -0.5))
    b.joint("bearing", "revolute", GROUND, "rotor", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    b.initial_coordinates("bearing", angle=START, rates={"angle": rate})
    if load:
        b.load("push", "rotor", force=(0.0, 1.0, 0.0))
    return b.build()


def limited(reference):
    """A body that spins about one axis of a cross, with limits that hardly hold it."""
    b = Builder("limited", gravity=(0.0, 0.0, 0.0))
    spin = (25.0, 0.0, 0.0) if reference == GROUND else (0.0, -25.0, 0.0)
    b.body("rod", mass=1.0, inertia=(0.02, 0.025, 0.01), r=(0.0, 0.0, -0.2), omega=spin, guess=True)
    b.joint("joint", "universal", GROUND, "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.2), a_i=(1, 0, 0), a_j=(0, 1, 0))
    cone = Cone.from_degrees([0, 90, 180, 270, 360], [30, 40, 25, 35, 30])
    frame = dict(reference=reference, xi=(1, 0, 0), eta=(0, -1, 0))
    b.limit("limit", "joint", **frame, cone=cone, max_moment=1e-9, compliance=0.2)
    return b.build(project_velocities=True)


@pytest.mark.parametrize("events", [[], [Event("never", lambda t, state: 1.0)]])
def test_a_run_counts_turns_between_its_times(events):
    run = runtime.simulate(rotor(), 2.0, t_eval=TIMES, events=events)
    assert run.angles["bearing"].angle == pytest.approx(ANGLES, abs=1e-7) and run.message == "reached t = 2 s"
    late = pickle.loads(pickle.dumps(runtime.simulate(rotor(), 2.0, t_eval=TIMES[1:])))
    assert late.angles["bearing"].angle == pytest.approx(ANGLES[1:], abs=1e-7)


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_steps_of_several_turns_are_counted(coordinates):
    run = runtime.simulate(rotor(-RATE), 2.0, coordinates=coordinates)
    assert run.angles["bearing"].angle == pytest.approx(START - RATE * run.t, abs=1e-7)


@pytest.mark.parametrize("times", [TIMES, None])
@pytest.mark.parametrize("events", [[], [Event("stop", lambda t, state: t - 1.5, terminal=True)]])
def test_turns_are_counted_where_joint_coordinates_fail(monkeypatch, times, events):
    advance = InJointCoordinates.advance

    def fails(self, steps, *arrays):
        status, message = advance(self, min(steps, 5), *arrays)
        return (Status.SINGULAR_CONFIGURATION, "here") if self.counts()[1] >= 5 else (status, message)

    monkeypatch.setattr(InJointCoordinates, "advance", fails)
    run = runtime.simulate(rotor(), 2.0, t_eval=times, events=events, max_step=0.1)
    assert len(run.stats.parts) == 2
    assert run.angles["bearing"].angle == pytest.approx(START + RATE * run.t, abs=1e-7)


@pytest.mark.parametrize("reference", [GROUND, "rod"])
def test_angles_of_limits_have_the_turns_of_their_joint(reference):
    system, times = limited(reference), np.linspace(0.0, 3.0, 601)
    fine = runtime.simulate(system, 3.0, t_eval=times, coordinates="joint").limits["limit"].angle
    assert np.abs(fine).max() > 20.0 and np.abs(np.diff(fine)).max() < 0.5
    for at in ([0, 300, 600], [300, 600], [600]):
        run = runtime.simulate(system, 3.0, t_eval=times[at], coordinates="joint")
        assert run.limits["limit"].angle == pytest.approx(fine[at], abs=1e-6)
    how = dict(t_eval=times[[300, 600]], coordinates="joint", outputs=["limit_angle.limit"])
    many = runtime.simulate_many(system, {"mass.rod": [1.0, 1.0]}, 3.0, **how)
    assert many["limit_angle.limit"][1] == pytest.approx(fine[[300, 600]], abs=1e-6)


@pytest.mark.parametrize("load", [False, True])
def test_ensembles_count_turns(tmp_path, load):
    """In lanes, and with a load one after another; in memory, in a folder, pickled, and as outputs."""
    cases, system = {"rate.bearing.angle": [1.0, RATE]}, rotor(load=load)
    expected = np.array([START + np.array(TIMES), ANGLES])
    many = runtime.simulate_many(system, cases, 2.0, t_eval=TIMES)
    written = runtime.simulate_many(system, cases, 2.0, t_eval=TIMES, out=tmp_path / "many")
    assert many.vectorised.all() and not many.messages
    for one in (many, written, pickle.loads(pickle.dumps(many))):
        assert one.angles["bearing"].angle == pytest.approx(expected, abs=1e-7)
        assert one[1].angles["bearing"].angle == pytest.approx(ANGLES, abs=1e-7)
    kept_turns = [own for chunk in many._states for own in chunk.turns]
    assert [cases.tolist() for cases, _ in kept_turns] == [[1]]  # the other case needs none
    names = ["angle.bearing.angle", "max(angle.bearing.angle)"]
    kept = runtime.simulate_many(system, cases, 2.0, t_eval=TIMES, outputs=names)
    assert kept[names[0]] == pytest.approx(expected, abs=1e-7) and kept[names[1]] == pytest.approx(expected[:, -1])


def test_sensitivities_count_turns():
    found = runtime.sensitivities(rotor(), {"rate.bearing.angle": RATE}, 2.0, t_eval=TIMES)
    assert found.motion["bearing"].angle == pytest.approx(ANGLES, abs=1e-6)


def test_absolute_coordinates_name_turns_that_times_do_not_show():
    run = runtime.simulate(rotor(), 2.0, t_eval=TIMES, coordinates="absolute")
    said = "revolutions of 'bearing.angle' are not known: 50 rad/s for 1 s from t = 0 s on may be more than half a turn"
    assert said in run.message and "less than 0.063 s apart, or coordinates='joint'" in run.message
    for system, times in ((rotor(), np.linspace(0.0, 2.0, 41)), (rotor(), None), (rotor(1.0), TIMES)):
        assert runtime.simulate(system, 2.0, t_eval=times, coordinates="absolute").message == "reached t = 2 s"
    cases = {"rate.bearing.angle": [1.0, RATE]}
    for method in ("dop853", "radau"):
        many = runtime.simulate_many(rotor(), cases, 2.0, t_eval=TIMES, coordinates="absolute", method=method)
        assert (
            not many.vectorised.any()
            and list(many.messages) == [1]
            and "'bearing.angle' are not known" in many.messages[1]
        )
        late = runtime.simulate_many(rotor(), cases, 2.0, t_eval=TIMES[2:], coordinates="absolute", method=method)
        assert list(late.messages) == [1] and "50 rad/s for 2 s from t = 0 s on" in late.messages[1]
    late = runtime.simulate(rotor(), 2.0, t_eval=TIMES[2:], coordinates="absolute")
    assert "50 rad/s for 2 s from t = 0 s on" in late.message
    plain = runtime.simulate_many(rotor(), cases, 2.0, t_eval=TIMES, coordinates="absolute", outputs=["r.rotor"])
    assert not plain.messages


def test_joints_that_close_loops_name_turns_that_times_do_not_show():
    system = four_bar.build("revolute", crank_speed=30.0, gravity=(0.0, 0.0, 0.0))
    closing = system.joints[trees_of(system).tree.closing[0]].name
    fine = runtime.simulate(system, 1.0, t_eval=np.linspace(0.0, 1.0, 401), coordinates="joint")
    run = runtime.simulate(system, 1.0, t_eval=[0.0, 0.5, 1.0], coordinates="joint")
    assert fine.message == "reached t = 1 s" and f"revolutions of '{closing}.angle' are not known" in run.message
    late = runtime.simulate(system, 1.0, t_eval=[1.0], coordinates="joint").message
    many = runtime.simulate_many(system, {"mass.crank": [1.0, 2.0]}, 1.0, t_eval=[1.0])
    assert "for 1 s from t = 0 s on" in late and "for 1 s from t = 0 s on" in many.messages[0]
    for name in set(run.angles) - {closing}:
        assert run.angles[name].angle == pytest.approx(fine.angles[name].angle[[0, 200, 400]], abs=1e-6)


def test_turns_that_are_surely_shown_are_not_needed():
    random = np.random.default_rng(0)
    shown = 0
    for size in np.repeat([0.3, 1.0, 2.0, 4.0], 100):
        start, angles = random.uniform(-size, size, (2, 2)), random.uniform(-size, size, (2, 3, 2))
        sure = whole_turns.surely_shown(start, angles)
        shown += sure
        assert not (sure and whole_turns.needed(whole_turns.whole_turns(start, angles).quarters).any())
    assert 100 < shown < 250


def test_no_case_that_reaches_its_end():
    """Nothing is left to follow; each case has its own reason."""
    for coordinates in ("absolute", "joint"):
        how = dict(t_eval=[1.0, 2.0], max_steps=1, coordinates=coordinates)
        many = runtime.simulate_many(rotor(), {"mass.rotor": [1.0, 2.0]}, 2.0, **how)
        assert (many.status == Status.STEPS_USED_UP).all() and "max_steps = 1" in many.messages[1]
        assert np.isnan(many.angles["bearing"].angle).all()
    assert runtime.simulate(rotor(), 2.0, **how).angles["bearing"].angle.shape == (0,)
