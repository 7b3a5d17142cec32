"""Events in the cases of an ensemble: their times and states against closed forms, and what terminal ones leave of a case."""

import functools
import pickle

import numpy as np
import pytest
from scipy.special import ellipk

import codegen
import models
from runtime import Builder, Event, ModelError, Status, at_rest, read_ensemble, simulate, simulate_many, zero_crossing
from tests.support.pendulums import INERTIA, LENGTH, MASS, g

TIGHT = dict(rtol=1e-11, atol=1e-11)
CASES = 17  # more than there are lanes


def height(r_i, s_i, level):
    """Height of a point above a level.

    level : [m]
    value : [m]
    """
    return (r_i + s_i).z - level


def side(r_i):
    """How far a body is to one side.

    value : [m]
    """
    return r_i.x


HEIGHT, SIDE = codegen.compile_event(height), codegen.compile_event(side)
CENTRE = dict(s_i=(0.0, 0.0, 0.0))
SPEEDS = {"v.ball": np.outer(np.linspace(2.0, 6.0, CASES), [0.0, 0.0, 1.0])}
UP, DOWN = (
    (SPEEDS["v.ball"][:, 2] + sign * np.sqrt(SPEEDS["v.ball"][:, 2] ** 2 - 2 * g * 0.1)) / g for sign in (-1.0, 1.0)
)


@functools.cache
def ball():
    b = Builder("ball")
    b.body("ball", mass=1.0, inertia=(1, 1, 1), v=(0, 0, 3.0), free=True)
    return b.build()


def level(name="level", z=0.1, **more):
    return zero_crossing(name, HEIGHT, "ball", **CENTRE, level=z, **more)


def landing(**more):
    return level("landing", 0.0, direction=-1, terminal=True, **more)


def test_a_pendulum_passes_below_its_pivot(in_lanes):
    amplitude = np.linspace(0.4, 2.6, CASES)
    quarter = ellipk(np.sin(amplitude / 2) ** 2) / np.sqrt(MASS * g * LENGTH / 2 / INERTIA)
    events = [zero_crossing(name, SIDE, "rod", direction=sign) for name, sign in (("both", 0), ("back", 1))]
    cases, end = {"angle.pivot.angle": np.pi / 2 - amplitude}, 3.9 * quarter.min()
    many = simulate_many(models.pendulum.build(), cases, end, events=events, **TIGHT)
    assert many.success and many.vectorised.all()
    times = quarter[:, None] * [1, 3]
    expected = np.where(times < end, times, np.nan)
    np.testing.assert_allclose(many.events["both"].times, expected, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(many.events["back"].first, expected[:, 1], rtol=0.0, atol=1e-9)
    assert np.array_equal(many.events["both"].count, np.isfinite(expected).sum(axis=1))
    assert np.nanmax(np.abs(many.events["both"].r["rod"][..., 0])) < 1e-12


WAYS = {"in lanes": dict(), "one after another": dict(method="radau"), "alone": dict(method="RK45")}


@pytest.mark.parametrize("way", WAYS)
def test_a_terminal_event_ends_each_case(way):
    """Results behind it are NaN, and the message is that of a single run; the first event is passed twice before it."""
    grid, settings = np.linspace(0.0, 1.5, 7), dict(rtol=1e-9, atol=1e-9) | WAYS[way]
    many = simulate_many(ball(), SPEEDS, 1.5, t_eval=grid, events=[level(), landing()], **settings)
    flight = 2.0 * SPEEDS["v.ball"][:, 2] / g
    assert many.success and (many.status == Status.STOPPED_BY_EVENT).all()
    assert (many.vectorised == (way == "in lanes")).all()
    np.testing.assert_allclose(many.events["level"].times, np.stack([UP, DOWN], axis=1), rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(many.reached, flight, rtol=0.0, atol=1e-8)
    assert np.array_equal(many.events["landing"].times[:, 0], many.reached)
    np.testing.assert_allclose(many.events["landing"].v["ball"][:, 0], -SPEEDS["v.ball"], rtol=0.0, atol=1e-7)
    known = np.isfinite(many.r["ball"]).all(axis=2)
    assert np.array_equal(known, grid <= many.reached[:, None])
    run = simulate(ball(), 1.5, t_eval=grid, events=[level(), landing()], initial=start(3), **settings)
    assert many.messages[3].partition(" at ")[0] == run.message.partition(" at ")[0]
    assert many.messages[3].endswith("event 'landing'") and run.message.endswith("event 'landing'")
    assert abs(many.reached[3] - run.t[-1]) < 0.25 and len(run.t) == known[3].sum()


def start(case):
    return ball().state.replace(v={"ball": SPEEDS["v.ball"][case]})


@pytest.mark.parametrize("way", ["one after another", "alone"])
def test_cases_have_the_events_of_single_runs(way):
    many = simulate_many(ball(), SPEEDS, 1.5, events=[level(), landing()], **WAYS[way])
    for case in (0, 16):
        run = many[case]
        assert np.array_equal(run.events["level"], many.events["level"].times[case])
        assert run.events["landing"][0] == many.events["landing"].first[case] == many.reached[case]
        of_case = many.events["level"].states[case].reshape(2, -1)
        assert np.array_equal([state.y for state in run.event_states["level"]], of_case)


def test_the_events_of_a_case_do_not_depend_on_the_others(in_lanes):
    every = simulate_many(ball(), SPEEDS, 1.5, events=[level(), landing()])
    some = simulate_many(ball(), {"v.ball": SPEEDS["v.ball"][[4, 11]]}, 1.5, events=[level(), landing()])
    for name in ("level", "landing"):
        assert np.array_equal(some.events[name].times, every.events[name].times[[4, 11]])
        assert np.array_equal(some.events[name].states, every.events[name].states[[4, 11]])


def sprung():
    """The ball on a spring without weight, x'' = -25 x, that starts at rest at x = 0.2."""
    b = Builder("sprung", gravity=(0, 0, 0))
    b.body("ball", mass=2.0, inertia=(1, 1, 1), r=(0.2, 0, 0))
    b.joint("line", "translational", "ground", "ball", s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0), a_j=(1, 0, 0))
    ends = dict(s_i=(-5.0, 0, 0), s_j=(0, 0, 0))
    b.force("spring", "spring_damper", "ground", "ball", **ends, stiffness=50.0, damping=0.0, free_length=5.0)
    return b.build()


def test_forces_and_their_parameters_in_lanes(in_lanes):
    stiffness = np.linspace(20.0, 80.0, CASES)
    many = simulate_many(
        sprung(), {"stiffness.spring": stiffness}, 1.0, events=[zero_crossing("x", SIDE, "ball")], **TIGHT
    )
    half = np.pi / np.sqrt(stiffness / 2.0)
    expected = half[:, None] * [0.5, 1.5]
    np.testing.assert_allclose(many.events["x"].times, np.where(expected < 1, expected, np.nan), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_at_the_start(way):
    """A value that is not above 0 at the start counts for an event with ``at_start`` alone; a terminal one stops there."""
    cases = {"r.ball": np.outer([0.05, 0.3], [0.0, 0.0, 1.0])}
    events = [level("low", direction=-1, at_start=True), level("not", direction=-1)]
    many = simulate_many(ball(), cases, 1.0, t_eval=[0.0, 1.0], events=events, **WAYS[way])
    assert many.success and many.events["low"].count.tolist() == [2, 1] and many.events["low"].first[0] == 0.0
    assert many.events["not"].count.tolist() == [1, 1]
    assert many.events["low"].r["ball"][0, 0].tolist() == [0.0, 0.0, 0.05]
    events[0] = level("low", direction=-1, at_start=True, terminal=True)
    many = simulate_many(ball(), cases, 1.0, t_eval=[0.0, 1.0], events=events, **WAYS[way])
    assert many.reached[0] == 0.0 and many.events["not"].count.tolist() == [0, 1]
    assert np.isfinite(many.r["ball"][:, 0]).all() and np.isnan(many.r["ball"][:, 1]).all()


@pytest.mark.parametrize("way", ["in lanes", "one after another"])
def test_several_events_in_one_step(way):
    """Steps are as long as the run; of two terminal events the earlier one stops a case, whatever their order."""
    long = dict(first_step=0.4, max_step=0.4, rtol=1e3, atol=1e3, coordinates="auto") | WAYS[way]
    levels = [level(f"at {z}", z, terminal=z > 0.3) for z in (0.45, 0.1, 0.2, 0.35)]
    cases = {"v.ball": np.outer([3.0, 4.0], [0, 0, 1.0])}
    many = simulate_many(ball(), cases, 0.4, events=levels, **long)
    first = np.array([(v - np.sqrt(v * v - 2 * g * 0.35)) / g for v in (3.0, 4.0)])
    np.testing.assert_allclose(many.reached, first, rtol=0.0, atol=1e-9)
    assert {name: event.count.tolist() for name, event in many.events.items()} == {
        "at 0.45": [0, 0], "at 0.1": [1, 1], "at 0.2": [1, 1], "at 0.35": [1, 1],
    }  # fmt: skip
    assert many.steps.tolist() == [1, 1]


@pytest.mark.parametrize("way", WAYS)
def test_outputs_of_cases_that_an_event_ends(way):
    outputs = {"z": "r.ball.z", "highest": "max(r.ball.z)", "spin": "omega.ball"}
    cases = {"v.ball": np.outer([2.0, 6.0], [0.0, 0.0, 1.0])}
    grid = np.linspace(0.0, 1.0, 5)
    many = simulate_many(ball(), cases, 1.0, t_eval=grid, outputs=outputs, events=[landing()], **WAYS[way])
    assert many.status.tolist() == [1, 0] and many.messages.keys() == {0}
    assert np.array_equal(np.isfinite(many["z"]), grid <= many.reached[:, None])
    assert np.isnan(many["highest"][0]) and many["highest"][1] == many["z"][1].max()
    assert np.array_equal(np.isnan(many["spin"][0]).all(axis=1), grid > many.reached[0])


def bouncing():
    """The ball above a plane at -0.3 m, which it touches twice or more within a second."""
    b = Builder("bouncing")
    b.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), free=True)
    plane = dict(centre=(0, 0, 0), radius=0.05, point=(0, 0, -0.3), normal=(0, 0, 1))
    b.contact("touch", "ball", **plane, law="kelvin_voigt", stiffness=1e4, exponent=1.0, damping=5.0)
    return b.build()


def test_beside_contacts_that_change_their_modes(in_lanes):
    """A terminal event behind a bounce, and zeros on both sides of it, as in single runs."""
    events = [level("rises", -0.1, direction=1, terminal=True), level("passes", -0.15)]
    cases = {"v.ball": np.outer(np.linspace(-1.0, 1.0, CASES), [0, 0, 1.0])}
    many = simulate_many(bouncing(), cases, 1.0, events=events, rtol=1e-9, atol=1e-9)
    assert many.vectorised.all() and (many.status == Status.STOPPED_BY_EVENT).all()
    for case in (0, 8, 16):
        run = many[case]
        for name, event in many.events.items():
            assert np.abs(run.events[name] - event.times[case, : event.count[case]]).max() < 1e-7


def test_beside_limits(in_lanes):
    system, cases = models.foot.build(limits="elastic"), {"rate.ankle.theta_i": np.linspace(-1.0, 1.0, CASES)}
    drop = dict(s_i=(0, 0, 0), level=float(system.state.r["main_foot"][2]) - 0.002)
    many = simulate_many(
        system, cases, 0.3, events=[zero_crossing("low", HEIGHT, "main_foot", **drop)], rtol=1e-9, atol=1e-9
    )
    assert many.success and (many.events["low"].count > 0).any()
    for case in (0, 8, 16):
        times = many.events["low"].times[case, : many.events["low"].count[case]]
        assert np.abs(many[case].events["low"] - times).max(initial=0.0) < 1e-7


def damped():
    """A block of 2 kg at 1 m/s, x'' = -k x', on a guide with a damper."""
    b = Builder("damped", gravity=(0, 0, 0))
    b.body("block", mass=2.0, inertia=(1, 1, 1), v=(1.0, 0, 0))
    b.joint("line", "translational", "ground", "block", s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0), a_j=(1, 0, 0))
    ends = dict(s_i=(-5.0, 0, 0), s_j=(0, 0, 0))
    b.force("damper", "spring_damper", "ground", "block", **ends, stiffness=0.0, damping=20.0, free_length=5.0)
    return b.build()


def test_coming_to_rest():
    """The speed falls below 1e-3 m/s, and the acceleration below 1e-2 m/s^2 where it is the last to do so."""
    damping = np.linspace(10.0, 40.0, CASES)
    many = simulate_many(damped(), {"damping.damper": damping}, 5.0, events=[at_rest()], rtol=1e-10, atol=1e-12)
    k = damping / 2.0
    np.testing.assert_allclose(many.reached, np.log(np.maximum(1e3, 1e2 * k)) / k, rtol=0.0, atol=1e-6)
    assert many.success and np.array_equal(many.events["rest"].first, many.reached)
    speeds = np.abs(many.events["rest"].v["block"][:, 0, 0])
    np.testing.assert_allclose(speeds, np.minimum(1e-3, 1e-2 / k), rtol=1e-6)


def test_an_event_in_python_makes_all_cases_single_runs():
    noon = Event("noon", lambda t, state: t - 0.25)
    many = simulate_many(ball(), SPEEDS, 0.5, events=[noon, level("up", direction=1)])
    assert not many.vectorised.any() and np.abs(many.events["noon"].times - 0.25).max() < 1e-14
    np.testing.assert_allclose(many.events["up"].first, np.where(UP < 0.5, UP, np.nan), rtol=0.0, atol=1e-7)
    copied = pickle.loads(pickle.dumps(many))
    assert np.array_equal(copied.events["up"].times, many.events["up"].times, equal_nan=True)


def test_a_folder_is_resumed_with_its_events(tmp_path):
    def stop(done, count):
        if done >= 6:
            raise KeyboardInterrupt

    given = dict(events=[level(), landing()], out=tmp_path, chunk=3)
    whole = simulate_many(ball(), SPEEDS, 1.5, events=given["events"])
    broken = simulate_many(ball(), SPEEDS, 1.5, progress=stop, workers=1, **given)
    left = broken.status == Status.NOT_RUN
    assert left.any() and not left.all()
    assert np.array_equal(np.isnan(broken.events["landing"].first), left)
    resumed = simulate_many(ball(), SPEEDS, 1.5, **given)
    for found in (resumed, read_ensemble(tmp_path)):
        for name in ("level", "landing"):
            assert np.array_equal(found.events[name].times, whole.events[name].times)
            assert np.array_equal(found.events[name].states, whole.events[name].states)
    refused = {"its events are level, landing, not level": [level()], "its events level, landing differ": [
        level(z=0.2), landing()]}  # fmt: skip
    for says, events in refused.items():
        with pytest.raises(ModelError, match=f"holds another ensemble: {says}"):
            simulate_many(ball(), SPEEDS, 1.5, **given | dict(events=events))


def test_tables_have_the_times_of_events():
    cases = {"v.ball": SPEEDS["v.ball"][:3]}
    many = simulate_many(ball(), cases, 0.45, events=[level(), landing()])
    data, table = many.to_xarray([2, 0]), many.to_pandas()
    assert data["event_level"].attrs["units"] == "s" and data["event_level"].dims == ("case", "number_level")
    assert np.array_equal(data["event_level"], many.events["level"].times[[2, 0]], equal_nan=True)
    assert np.array_equal(table["event.landing"], many.events["landing"].first, equal_nan=True)
    assert "event 'landing': in 1 of 3 cases" in repr(many.events["landing"])


def test_closed_loops_run_one_after_another():
    """The bits of single runs, beside rows."""
    low = zero_crossing("low", HEIGHT, "crank", **CENTRE, level=0.05, direction=-1, terminal=True)
    many = simulate_many(models.four_bar.build(), {"mass.coupler": [0.9, 1.0, 1.2]}, 1.0, events=[low])
    assert not many.vectorised.any() and (many.status == Status.STOPPED_BY_EVENT).all()
    for case in range(3):
        assert many[case].events["low"][0] == many.reached[case]
        assert np.array_equal(many[case].event_states["low"][0].y, many.events["low"].states[case, 0].ravel())


def test_bad_events():
    cases = {"v.ball": SPEEDS["v.ball"][:2]}
    for events, says in (
        ([level(), level()], "the names level, level must differ"),
        ([zero_crossing("e", HEIGHT, "cup", **CENTRE, level=0.0)], r"event 'e' \(height\): unknown body 'cup'"),
    ):
        with pytest.raises(ModelError, match=says):
            simulate_many(ball(), cases, 1.0, events=events)
    with pytest.raises(ModelError, match="engine='gpu' finds no events"):
        simulate_many(ball(), cases, 1.0, events=[level()], engine="gpu")
    many = simulate_many(ball(), cases, 0.1, events=[level()])
    with pytest.raises(ModelError, match="unknown event 'levle'"):
        many.events["levle"]
