"""Calls that many cases of a function make: checked at once, with the numbers that a builder of each case has."""

import copy

import numpy as np
import pytest

import models
import runtime
from models.foot_anatomy import size_of
from runtime import Builder, Cone
from runtime.ensemble import built_at_once
from runtime.system import case_table
from runtime.system.case_table import structure_of, table_of_calls, table_of_recipes
from runtime.system.deferred import Deferred, calls_of, deferring, recipe_of
from runtime.system.recording import Recording
from tests.support.ensembles import equal, once_and_each

COUNT = 200
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def arm(mass, moments, r, v, point, tilt, length, stiffness, free, latitude, moment, damping, gravity, title, size):
    """An arm on a hinge and one on a link, with a limit, springs in both axes and a shape."""
    b = Builder(title, gravity=(0.0, 0.0, gravity))
    b.body("upper", mass=mass, inertia=moments, r=np.array(r), v=v)
    b.body("lower", mass=1, inertia=[1.0, 1.0, 1.0], r=(0.0, 0.0, -1.0 - length))
    b.joint("hinge", "revolute", "ground", "upper", s_i=point, a_i=(0.0, np.cos(tilt), np.sin(tilt)), s_j=Z, a_j=Y)
    b.joint("link", "modified_universal", "upper", "lower", s_i=point, a_i=Y, s_j=[0, 0, 0.5], a_j=(1, 0, 0), l=length)
    cone = Cone.from_degrees((0, 90, 180, 270, 360), (latitude, 30, 20, 30, latitude))
    law = dict(max_moment=moment, compliance=0.2, damping=damping)
    b.limit("stop", "link", reference="upper", xi=(1, 0, 0), eta=Y, cone=cone, **law)
    spring = dict(stiffness=stiffness, damping=0.1, free_angle=free)
    b.force("coil", "torsional_spring", "ground", "upper", axes="global", a_i=(0, 3, 0), **spring)
    b.add_shapes(models.foot.build(link_length=size).shapes[:0])
    return b.build(check_units=False)


def drawn(seed):
    """Arguments of ``arm``, each of which is refused or near its bound in some cases."""
    random = np.random.default_rng(seed)

    def mostly(usual, *odd):
        return odd[random.integers(len(odd))] if odd and random.random() < 0.03 else usual

    def vector(scale):
        return tuple((scale * random.normal(size=3)).tolist())

    a, b = random.uniform(0.5, 1.0, 2).tolist()
    return dict(
        mass=mostly(float(random.uniform(1.0, 2.0)), -1.0, 0.0, 1e-60, np.nan, np.inf),
        moments=mostly((a, b, float(random.uniform(abs(a - b), a + b))), (1.0, 1.0, 2.5), (-1.0, 1.0, 1.0), (1.0, np.nan, 1.0)),
        r=mostly(vector(1.0), (0.0, 0.0, 1e60)), v=mostly(vector(1.0), (np.inf, 0.0, 0.0)),
        point=mostly(vector(1.0), (0.0, 0.0, np.nan)), tilt=mostly(0.0, np.nan, 0.3),
        length=mostly(float(random.uniform(0.1, 0.2)), -0.1, 0.0), stiffness=mostly(float(random.uniform(0.0, 9.0)), -1.0, 1e55),
        free=float(random.choice([0.0, -0.0])), latitude=float(random.uniform(10.0, 60.0)),
        moment=mostly(float(random.uniform(1.0, 9.0)), 0.0, -1.0), damping=mostly(float(random.uniform(0.0, 1.0)), -0.1),
        gravity=mostly(-9.81, np.inf, 1e55), title=mostly("arm", "", "other", "a\nb"), size=0.04,
    )  # fmt: skip


def noted(build, cases):
    """Calls of the cases, and the recipe of each; None of those that are refused."""
    calls, recipes = [], []
    for case in cases:
        with deferring(Recording) as made:
            build(**case)
        calls.append(calls_of(made[-1]))
        try:
            with deferring() as made:
                build(**case)
            recipes.append(recipe_of(made[-1]))
        except runtime.ModelError:
            recipes.append(None)
    return calls, recipes


def same(one, other):
    """Whether two values have the same types and bits."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one.tobytes() == other.tobytes() if isinstance(one, np.ndarray) else one == other


def of_cases(table, places):
    """All numbers of the cases at these places."""
    limits = [
        ({k: v[places] for k, v in of.values.items()}, of.law[places], [of.cones[p] for p in places])
        for of in table.limits
    ]
    joints = {name: {key: value[places] for key, value in own.items()} for name, own in table.joints.items()}
    return [*[value[places] for value in table[:4]], joints, limits]


@pytest.mark.parametrize("seed", [0, 1])
def test_numbers_are_those_of_builders_and_no_case_that_these_refuse_is_good(seed):
    random, cases = np.random.default_rng(seed), [drawn(100 * seed + k) for k in range(COUNT)]
    for name in ("tilt", "damping")[: 1 + seed]:  # the same in all cases
        cases = [case | {name: 0.0} for case in cases]
    calls, recipes = noted(arm, cases)
    first = next(recipe for recipe in recipes if recipe is not None)
    assert len({structure_of(own) for own in calls}) == 1 and sum(recipe is None for recipe in recipes) > 20
    _, good = table_of_calls(calls, first)
    assert good.tolist() == [recipe is not None for recipe in recipes]
    places = random.permutation(np.flatnonzero(good))
    table, every = table_of_calls([calls[place] for place in places], first)
    wanted, at = table_of_recipes([recipes[place] for place in places]), np.arange(len(places))
    assert every.all() and same(of_cases(table, at), of_cases(wanted, at))
    for name in ("stiffness", "free_angle"):
        wanted = np.array([recipes[place].parts.forces[0].values[name] for place in places])
        assert same(table.forces["force", "coil"][name], wanted)


def test_directions_of_limits_are_left_to_builders():
    """So are points in global axes of bodies that are elsewhere, and values of other kinds."""

    def rod(r=1.0, tilt=0.0, **values):
        b = Builder("rod", axes="global")
        b.body("rod", mass=1.0, inertia=Z if "inertia" in values else (1.0, 1.0, 1.0), r=(0.0, 0.0, r), **values)
        b.joint("pin", "revolute", "ground", "rod", point=(0, 0, 0), axis=(0.0, 1.0, tilt))
        return b.build(check_units=False)

    def stopped(tilt):
        b, cone = Builder("rod"), Cone.from_degrees((0, 90, 180, 270, 360), (20, 30, 20, 30, 20))
        b.body("rod", mass=1.0, inertia=(1.0, 1.0, 1.0))
        b.joint("pin", "revolute", "ground", "rod", s_i=Z, a_i=Y, s_j=Z, a_j=(0.0, np.cos(tilt), np.sin(tilt)))
        b.limit("stop", "pin", reference="ground", xi=(1, 0, 0), eta=Y, cone=cone, max_moment=1.0, compliance=0.1)
        return b.build(check_units=False)

    for build, given in (
        (stopped, [dict(tilt=0.0), dict(tilt=0.1)]), (rod, [dict(r=1.0), dict(r=2.0)]), (rod, [dict(tilt=0.0), dict(tilt=1.0)]),
        (rod, [dict(v=Z), dict(v=Z[:2])]), (rod, [dict(p=(1, 0, 0, 0)), dict(p=(0, 1, 0, 0))]),
    ):  # fmt: skip
        calls, recipes = noted(build, given)
        assert table_of_calls(calls, next(filter(None, recipes))) is None


def foot(b, length, mass=71.0):
    size = size_of(mass, 1.77, None)
    for name, data in models.foot.bodies_of(size).items():
        b.body(name, **data)
    models.foot.add_joints(b, (models.foot.talocrural_frame(), models.foot.talocalcaneal_frame()), length, size)
    return b


def second_try(length, mass):
    """The mass that is refused is left out."""
    b = Builder()
    try:
        b.body("weight", mass=mass, inertia=(1.0, 1.0, 1.0))
        b.joint("fixed", "fixed", "ground", "weight")
    except runtime.ModelError:
        return foot(Builder(), length).build()
    return foot(Builder(), length).build()


def caught(length, mass):
    b = Builder()
    try:
        return foot(b, length, mass).build()
    except runtime.ModelError:
        return foot(Builder("lighter"), length, 40.0).build()


def caught_twice(length, mass):
    b = foot(Builder(), length)
    try:
        b.body("toes", mass=mass, inertia=(1.0, 1.0, 1.0))
    except runtime.ModelError:
        pass
    return b.build()


def changed_afterwards(length, mass):
    b, r, inertia = Builder(gravity=(9.0, 0.0, 0.0)), np.array([0.0, 0.0, -length]), [mass, mass, mass]
    for name, other in (("toes", "ground"), ("main_foot", "toes"), ("leg", "main_foot")):
        b.body(name, mass=1.0, inertia=inertia, r=r)
        r[2] -= length
        inertia[1] *= 0.9
        b.joint(f"pin_{name}", "revolute", other, name, axes="global", point=(0, 0, r[2] + 2 * length), axis=Y)
    return b.build(check_units=False)


def kept_system(length, mass):
    """A refused mass is refused where it is given, and not where the builder is asked."""
    b = Builder()
    b.body("weight", mass=mass, inertia=(1.0, 1.0, 1.0))
    try:
        return foot(Builder(), length + len(b.shapes)).build()
    except runtime.ModelError:
        return KEPT


def copied(length, mass):
    first = Builder()
    b = copy.deepcopy(foot(first, length))
    first.gravity = (0.0, 0.0, -mass)
    first.body("another", mass=1.0, inertia=(1.0, 1.0, 1.0))
    return b.build()


def asked(length, mass):
    b = foot(Builder(), length)
    b.gravity = (0.0, 0.0, -9.0 if b.shapes == () and mass > 0.0 else -1.0)
    b.load("push", "toes", force=(mass, 0.0, 0.0))
    return b.build()


BUILDS = [second_try, caught, caught_twice, changed_afterwards, kept_system, copied, asked]
KEPT = foot(Builder(), 0.04).build()


@pytest.mark.parametrize("build", BUILDS)
def test_functions_that_catch_errors_change_arguments_or_ask_the_builder(build, monkeypatch):
    settings = dict(t_eval=[0.02], rtol=1e-9, atol=1e-9, workers=1)
    cases = {"length": np.linspace(0.03, 0.05, 8), "mass": np.array([1.0, 2.0, -1.0, 3.0, 60.0, 70.0, 0.0, 5.0])}
    once, each, _ = once_and_each(monkeypatch, 0.02, settings)(build, cases)
    assert equal(once, each)


def test_calls_of_feet_are_checked_at_once(monkeypatch):
    """No builder is made for other cases than the first, nor for their results."""
    own, made = built_at_once.recipe_of, []
    monkeypatch.setattr(built_at_once, "recipe_of", lambda system: made.append(system) or own(system))
    cases = {"link_length": np.linspace(0.03, 0.05, 9), "mass": np.linspace(60, 80, 9), "limits": ["elastic"] * 9}
    many = runtime.simulate_many(models.foot.build, cases, 0.02, workers=1)
    assert many.in_batch.all() and len(made) == 1
    monkeypatch.setattr(case_table._Reader, "_limit", lambda *_: (_ for _ in ()).throw(case_table._Other))
    other = runtime.simulate_many(models.foot.build, cases, 0.02, workers=1)
    assert np.array_equal(many.states(), other.states()) and len(made) > 9


def test_a_noted_system_is_built_when_it_is_used():
    with deferring(Recording) as made:
        b = foot(Builder("foot"), 0.04)
        system, mine = b.build(), type("Mine", (Builder,), {})()
    assert made == [system] and type(system) is Deferred and type(mine).__name__ == "Mine" and isinstance(b, Builder)
    assert system.shapes == () and type(system) is Deferred
    assert repr(system) == repr(foot(Builder("foot"), 0.04).build()) and type(system) is runtime.System
    assert b.name == "foot" and type(b) is Builder and type(Builder()) is Builder
