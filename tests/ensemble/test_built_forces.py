"""Cases with loads, motors and forces whose systems a function builds: checked and run at once, as if each were built alone."""

import numpy as np
import pytest

import runtime
from models import foot
from models.foot_anatomy import size_of
from runtime import Builder, Signal
from runtime.ensemble import at_once
from runtime.integrate.written.force_parameters import parameters_of_forces
from runtime.system.built_cases import built_cases
from runtime.system.case_table import table_of_recipes
from runtime.system.deferred import deferring, recipe_of
from tests.support.ensembles import equal, once_and_each
from tests.support.force_kernels import FORCES, TABLE, Case

COUNT, END = 12, 0.02
SETTINGS = dict(t_eval=[END], rtol=1e-7, atol=1e-7, workers=1)
ONE_RUN = dict(method="dop853", rtol=1e-7, atol=1e-7)
FRAMES = foot.talocrural_frame(), foot.talocalcaneal_frame()
ACROSS = dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))


def foot_of(link_length=0.04, mass=70.0, shift=0.0):
    """A builder of the foot, whose leg may be beside its place by a shift."""
    b, size = Builder("foot"), size_of(mass, 1.7, None)
    for name, data in foot.bodies_of(size).items():
        b.body(name, **data | {"r": data["r"] + [0.0, 0.0, shift if name == "leg" else 0.0]})
    foot.add_joints(b, FRAMES, link_length, size)
    return b


def wave_of(size, end=0.1):
    return Signal.function(lambda t: size * np.sin(40.0 * t), 0.0, end)


def with_all(link_length, share, push, size):
    """A foot with a force of each kind, loads of all sorts and motors on an angle and a distance."""
    wave = wave_of(size)
    b = foot_of(link_length, 70.0 * share)
    for seed, kind in enumerate(FORCES):
        case = Case(kind, seed)
        vectors = {v: case.local[v] for v, *_ in case.module.VECTORS if v in case.module.KEYWORDS}
        points = {v: value * share for v, value in vectors.items() if v.startswith("s_")}
        alone = set(case.module.BODIES) | {body for _, _, body in case.module.VECTORS} == {"i"}
        over = dict(zip(("body_k", "body_l"), ("toes", "main_foot"), strict=True)) if case.count == 4 else {}
        numbers = {key: value * share for key, value in case.values.items()}
        tables = dict.fromkeys(case.module.TABLES, TABLE * [1.0, share])
        b.force(kind, kind, "main_foot", "ground" if alone else "leg", **vectors | points | numbers | tables | over)
    b.load("of_points", "main_foot", force=(wave, push, 0.0), point=(0.1, wave, push), moment=(0.0, push, wave))
    b.load("of_body", "toes", force=(push, wave, 0.0), point=(0.0, push, wave), axes="body")
    b.load("attached", "toes", force=(push, 1.0, 0.0), point=(0.1 * share, 0.0, 0.05), attached=True)
    b.motor(
        "angle", "guided_angle", "leg", "main_foot", **ACROSS, theta_t=wave, stiffness=share, damping=0.1, effort=push
    )
    ends = dict(s_i=(0.1 * share, 0, 0), s_j=(0, 0.1, 0))
    b.motor("pull", "guided_distance", "leg", "main_foot", **ends, l_t=0.2 * share, stiffness=3.0, effort=wave)
    return b.build()


def varied(seed):
    random = np.random.default_rng(seed)
    spans = dict(link_length=(0.03, 0.05), share=(0.9, 1.1), push=(0.1, 0.2), size=(1.0, 3.0))
    return {name: random.uniform(*span, COUNT) for name, span in spans.items()}


@pytest.fixture
def both(monkeypatch):
    return once_and_each(monkeypatch, END, SETTINGS)


@pytest.mark.slow
def test_forces_of_each_kind_loads_and_motors(both, monkeypatch):
    """Parameters are those of systems that are built, and so are the runs."""
    found, own = [], at_once.parameters_of_cases
    monkeypatch.setattr(at_once, "parameters_of_cases", lambda *given: found.append(own(*given)) or found[-1])
    cases = varied(0)
    once, each, done = both(with_all, cases)
    assert done == COUNT and once.in_batch.all() and equal(once, each)
    for case in range(COUNT):
        system = with_all(**{name: values[case] for name, values in cases.items()})
        assert found[0][case] == pytest.approx(parameters_of_forces(system), rel=1e-14, abs=1e-14)


@pytest.mark.slow
def test_named_values_and_outputs(both):
    """Values by name replace those of the function; stored energies are those of the signals of each case."""
    named = {
        "stiffness.angle": 2.0,
        "stiffness.spring_damper": 3.0,
        "s_i.bushing": [0.1, 0.0, 0.2],
        "rate.ankle.theta_i": 0.3,
    }
    cases = varied(1) | {name: [value] * COUNT for name, value in named.items()}
    outputs = ["energy", "elastic_energy", "r.toes"]
    once, each, done = both(with_all, cases, outputs=outputs, t_eval=[0.0, END])
    assert done == COUNT and once.in_batch.all() and once.messages == each.messages == {}
    for name in outputs:
        assert once[name] == pytest.approx(each[name], rel=1e-9, abs=1e-10) and np.ptp(once[name]) > 1e-3


def sprung(stiffness=8.0, shift=0.0, gap=0.1, creep=1.0, check_units=True):
    """A foot, whose leg may be beside its place, with a stiff spring, a spring without a length and friction."""
    b = foot_of(shift=shift)
    at = b._states["leg"][:3] - b._states["main_foot"][:3]
    ends = dict(s_i=(0.0, 0.0, -0.1), s_j=at + [gap, 0.0, -0.1])
    b.force("rod", "spring_damper", "leg", "main_foot", **ends, stiffness=stiffness, damping=0.1, free_length=0.3)
    b.force("hold", "hinge_friction", "leg", "main_foot", a_i=(0, 1, 0), friction=0.1, creep=creep, damping=0.0)
    free = dict(stiffness=2.0, damping=0.0, free_angle=0.1)
    b.force("turn", "torsional_spring", "leg", "main_foot", a_i=(0.6, 0.8, 0), **free)
    return b.build(check_units=check_units)


def unusual(stiffness):
    return sprung(stiffness, check_units=False)


def with_motor(reach, body="main_foot"):
    """A foot with a motor whose coordinate is singular where the reach is 0."""
    b = foot_of()
    at = b._states["main_foot"][:3] - b._states["leg"][:3]
    b.motor("pull", "guided_distance", "leg", body, s_i=at, s_j=(reach, 0, 0), l_t=0.1, stiffness=1.0)
    return b.build()


def pushed(size, end=0.1):
    """A foot with loads that vary and that are constant."""
    b = foot_of()
    b.load("push", "main_foot", force=(wave_of(size, end) if size > 1.0 else size, size, 0.0))
    return b.build()


def with_table(strength, length=1.0):
    """A foot with a spring whose tension is that of a table times a strength."""
    b = foot_of()
    ends = dict(s_i=(0.3, 0.0, 0.2), s_j=(0.1, 0.0, 0.0), damping=0.0)
    b.force("strap", "tabulated_spring", "leg", "main_foot", **ends, tension_table=TABLE * [length, strength])
    return b.build()


NEAR = [0.0, 1e-17, 1e-10, 1e-8, 1e-5] * 2
CASES = [
    (sprung, {"stiffness": [-1.0, 0.0, 1.0, 8.0, 2e13, 1e60]}, 3),
    (unusual, {"stiffness": [-1.0, 1.0, 2.0, 3.0, 2e13]}, 3),
    (sprung, {"shift": NEAR}, 8),
    (sprung, {"gap": [0.1, 0.0, 0.2, 1e-3, 0.05]}, 4),
    (sprung, {"creep": [0.1, 1e-5, 1e-6, 1e-7, 1e-9, 0.0, 1.0, 2.0]}, 4),
    (with_motor, {"reach": [0.0, 1e-9, 1e-3, 0.01, 0.02, 0.1]}, 5),
    (with_motor, {"reach": [0.1] * 6, "body": ["main_foot"] * 4 + ["shank", "leg"]}, 4),
    (with_table, {"strength": [1.0, 2.0, 3.0, 4.0, 1e300, 1.0], "length": [1.0] * 4 + [1.0, 1e-300]}, 4),
    (pushed, {"size": [2.0, 3.0, 4.0, 5.0, 2.0, 0.1, 0.2, 0.3, 0.4, 0.0], "end": [0.1] * 3 + [0.01] + [0.1] * 6}, 8),
]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "cases", "at_once"), CASES)
@pytest.mark.filterwarnings("ignore::runtime.AssemblyWarning", "ignore::runtime.UnitWarning")
def test_cases_that_may_be_refused(build, cases, at_once, both):
    """Sentences and bits are those of systems that are built alone."""
    once, each, done = both(build, cases)
    assert equal(once, each) and done == at_once
    for case in np.flatnonzero(once.status == runtime.Status.REFUSED).tolist():
        with pytest.raises(runtime.ModelError) as refused:
            runtime.simulate(build(**{name: values[case] for name, values in cases.items()}), END, **ONE_RUN)
        assert once.messages[case] == str(refused.value)


def test_a_case_of_unusual_stiffness_is_used_with_the_warning_of_its_builder():
    cases = {"stiffness": [8.0, 9.0, 2e13, -1.0]}
    with pytest.warns(runtime.UnitWarning, match="force 'rod': stiffness = 2e.13 N/m, .* the value is used as it is"):
        many = runtime.simulate_many(sprung, cases, END, **SETTINGS)
    assert (many.status == runtime.Status.REFUSED).tolist() == [False, False, False, True]
    assert many.steps[2] > 0 and "stiffness = -1" in many.messages[3]


@pytest.mark.parametrize(("build", "name"), [(sprung, "stiffness"), (sprung, "gap"), (with_motor, "reach")])
def test_rules_hold_by_a_margin(build, name):
    """Of stiffnesses that no solid has, forces that are not finite, and coordinates of motors without a gradient."""
    values = {"stiffness": [8.0, 1.01e13, 0.99e13], "gap": [0.1, 0.0, 0.2], "reach": [0.1, 0.0, 0.2]}[name]
    with deferring() as made:
        for value in values:
            build(**{name: value})
    found = built_cases(build(**{name: values[0]}), table_of_recipes([recipe_of(system) for system in made]))
    assert found.good.tolist() == [True, False, True]


def limited(shift):
    """A foot with a classical ankle and limits of motion, whose leg may be beside its place."""
    b, law = foot_of(0.0, shift=shift), dict(max_moment=200.0, compliance=0.2)
    cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (20, 20, 35, 35, 20))
    for name, of, (xi, eta, _) in zip(("crural", "calcaneal"), ("leg", "main_foot"), FRAMES, strict=True):
        b.limit(name, "ankle", reference=of, xi=xi, eta=eta, cone=cone, **law)
    return b.build()


@pytest.mark.filterwarnings("ignore::runtime.AssemblyWarning")
def test_constants_of_limits_are_those_of_assembled_poses(both):
    once, each, done = both(limited, {"shift": NEAR}, t_end=0.5, t_eval=[0.5])
    assert equal(once, each) and done == 8 and not np.array_equal(once.states()[0], once.states()[3])
