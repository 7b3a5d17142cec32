"""Cases of functions whose systems have closed loops or drivers: built and run at once, as if each were built alone."""

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import builder_of
from runtime import Cone, Signal, Status
from runtime.ensemble.built_closed import built_closed, shared_parts
from runtime.ensemble.compiled_cases import settings_of
from runtime.system.deferred import deferring, recipe_of
from tests.support.driven_legs import Y, made
from tests.support.ensembles import once_and_each

COUNT, END = 12, 0.5
TIMES = np.linspace(0.0, 3.0, 61)
SETTINGS = dict(t_eval=[0.1, 0.3, END], rtol=1e-12, atol=1e-12, workers=1)
STOPS = Cone.from_degrees((0, 90, 180, 270, 360), (5, 30, 6, 30, 5))
FOUR_BAR = models.four_bar.build("revolute", crank_speed=2.0)
LIFT = Signal.function(lambda t: 0.2 * np.sin(3 * t) ** 3, 0.0, 3.0)


def leg(
    amplitude=0.6, lift=0.2, stiffness=1.0, damping=0.02, push=0.0, first=0.0, mass=0.9, reach=0.14, end=3.0, degree=3,
    given=0.0, project=True,
):  # fmt: skip
    """A leg that is driven at the hip and at the toes; its passive ankle has a spring and stops."""
    b = runtime.Builder("driven leg", axes="global")
    b.body("leg", mass=3.0, inertia=(4e-2, 4e-2, 5e-3), r=(0.0, 0.0, -0.2), omega=(0.0, given, 0.0))
    b.body("foot", mass=mass, inertia=(1e-3, 4e-3, 4e-3), r=(0.06, 0.0, -0.45))
    b.body("toes", mass=0.2, inertia=(1e-4, 2e-4, 2e-4), r=(0.17, 0.0, -0.46))
    b.joint("hip", "revolute", "ground", "leg", point=(0, 0, 0), axis=Y)
    b.joint("ankle", "revolute", "leg", "foot", point=(0, 0, -0.4), axis=Y)
    b.joint("ball", "revolute", "foot", "toes", point=(reach, 0, -0.46), axis=Y)
    across = dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))
    t = TIMES * end / 3.0
    swing = Signal.spline(t, first + amplitude * np.sin(5 * t), degree=degree)
    b.driver("swing", "guided_angle", "ground", "leg", **across, theta_t=swing)
    b.driver("toe_off", "guided_angle", "foot", "toes", **across, theta_t=LIFT if lift == 0.2 else lift)
    b.force("spring", "torsional_spring", "leg", "foot", a_i=Y, stiffness=stiffness, damping=0.01, free_angle=0.0)
    b.load("push", "foot", force=(push, 0.0, LIFT))
    law = dict(max_moment=9.0, compliance=0.2, damping=damping)
    b.limit("stop", "ankle", reference="leg", xi=(1, 0, 0), eta=Y, cone=STOPS, **law)
    return b.build(project_velocities=project)


def sprung_loop(stiffness, mass):
    """A four-bar linkage, some of whose rows are redundant, with a spring at its crank."""
    b = builder_of(FOUR_BAR)
    b.force("spring", "torsional_spring", "ground", "crank", a_i=Y, stiffness=stiffness, damping=0.0, free_angle=0.0)
    b.load("push", "rocker", force=(mass, 0.0, 0.0))
    return b.build()


@pytest.fixture
def both(monkeypatch):
    made(leg()), made(sprung_loop(1.0, 1.0))
    return once_and_each(monkeypatch, END, SETTINGS)


def varied(**spans):
    random = np.random.default_rng(0)
    return {name: random.uniform(*span, COUNT) for name, span in spans.items()}


@pytest.mark.slow
def test_signals_forces_and_limits_of_each_case(both):
    """Rates of the driver differ at the start already."""
    cases = varied(amplitude=(0.4, 0.8), stiffness=(0.5, 2.0), damping=(0.0, 0.05), push=(-1.0, 1.0))
    once, each, done = both(leg, cases)
    assert done == COUNT and not once.messages and not each.messages
    assert np.abs(once.states() - each.states()).max() < 2e-9 and np.ptp(once.states()[:, 0], axis=0).max() > 0.1
    few, _, done = both(leg, {name: values[:4] for name, values in cases.items()}, coordinates="absolute")
    assert done == 0 and np.abs(once.states()[:4] - few.states()).max() < 1e-8


@pytest.mark.slow
def test_a_loop_without_drivers(both):
    once, each, done = both(sprung_loop, varied(stiffness=(0.5, 2.0), mass=(0.8, 1.2)))
    assert done == COUNT and np.abs(once.states() - each.states()).max() < 1e-10


CASES = [
    ({"first": [0.0, 0.1, 0.05, 0.1], "push": [0.1, 0.2, 0.3, 0.4]}, 4),  # drivers begin elsewhere
    ({"mass": [0.9, 0.9, 1.0], "reach": [0.14, 0.15, 0.15]}, 3),
    ({"end": [3.0] * 4 + [0.4, 0.5]}, 5),  # signals end before the run, and with it
    ({"degree": [3] * 4 + [1]}, 4),  # rates jump
    ({"lift": [0.0] * 4 + [0.2]}, 5),  # another sort of signal
    ({"given": [1.0] * 5}, 0),  # velocities that drivers change, with a remark
    ({"project": [True] * 4 + [False]}, 4),  # inconsistent velocities are refused
    ({"stiffness": [1.0] * 4 + [1e300, -1.0]}, 4),
]


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "at_once"), CASES)
@pytest.mark.filterwarnings("ignore::runtime.AssemblyWarning")
def test_cases_in_groups_and_alone(cases, at_once, both):
    """Statuses and messages are those of systems that are built alone."""
    once, each, done = both(leg, cases, rtol=1e-9, atol=1e-9)
    assert done == at_once and np.array_equal(once.status, each.status) and once.messages == each.messages
    good = once.status == Status.REACHED_END
    assert not good.any() or np.abs(once.states()[good] - each.states()[good]).max() < 1e-5


def test_starts_and_rules_of_cases():
    """Starts are those of systems that are built; signals that jump or end, and systems with remarks, are left to these."""
    with deferring() as systems:
        for values in (dict(), dict(amplitude=0.7, push=2.0), dict(degree=1), dict(end=0.4), dict(damping=0.0)):
            leg(**values)
    recipes = [recipe_of(system) for system in systems]
    assert len({shared_parts(recipe) for recipe in recipes}) == 1
    how = settings_of(leg(), runtime.simulate_many(leg(), {"mass.foot": [0.9]}, END, **SETTINGS)._task.how)
    given, states = built_closed(leg(), recipes, how)
    assert given.good.tolist() == [True, True, False, False, True]
    assert np.array_equal(states[1], leg(amplitude=0.7, push=2.0).state.y)
    with deferring() as outside:
        leg(first=0.2)
    assert built_closed(leg(first=0.2), [recipe_of(outside[0])], how) is None
    assert shared_parts(recipe_of(outside[0])) != shared_parts(recipes[0])


@pytest.mark.slow
def test_cases_depend_neither_on_others_nor_on_chunks(both, tmp_path):
    cases = varied(amplitude=(0.4, 0.8), push=(-1.0, 1.0))
    settings = SETTINGS | dict(rtol=1e-8, atol=1e-8)
    many = runtime.simulate_many(leg, cases, END, **settings)
    other = {name: values[::-1] for name, values in cases.items()}
    again = runtime.simulate_many(leg, other, END, **settings | dict(workers=2, chunk=5, out=tmp_path / "sweep"))
    assert np.array_equal(many.states()[::-1], again.states())
    resumed = runtime.simulate_many(leg, other, END, **settings | dict(chunk=5, out=tmp_path / "sweep"))
    assert np.array_equal(again.states(), resumed.states())
    assert np.abs(many[3].states.reshape(3, 3, 13) - many.states()[3]).max() < 1e-5


@pytest.mark.slow
def test_outputs_of_built_cases(both):
    outputs = ["lam.swing.angle", "energy", "limit_excess.stop", "angle.ankle.angle"]
    once, each, done = both(leg, varied(amplitude=(0.4, 0.8)), outputs=outputs)
    assert done == COUNT
    for name in outputs:
        assert np.abs(once[name] - each[name]).max() < 1e-8 * max(1.0, np.abs(each[name]).max())


def test_a_driven_system_that_is_put_off_is_built_when_it_is_asked():
    with deferring() as systems:
        system = leg()
    assert systems == [system] and system.degrees_of_freedom == 1 and type(system) is runtime.System
