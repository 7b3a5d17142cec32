"""Cases with loads, motors and forces whose systems a function builds: checked and run at once, as if each were built alone."""

import numpy as np
import pytest

from models import foot
from models.foot_anatomy import size_of
from runtime import Builder, Signal
from runtime.ensemble import at_once
from runtime.integrate.force_parameters import parameters_of_forces
from tests.support.ensembles import equal, once_and_each
from tests.support.force_kernels import FORCES, TABLE, Case

COUNT, END = 12, 0.02
SETTINGS = dict(t_eval=[END], rtol=1e-7, atol=1e-7, workers=1)
FRAMES = foot.talocrural_frame(), foot.talocalcaneal_frame()
WAVE = Signal.function(lambda t: 3.0 * np.sin(40.0 * t), 0.0, 0.1)
ACROSS = dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))


def foot_of(link_length=0.04, mass=70.0, shift=0.0):
    """A builder of the foot, whose leg may be beside its place by a shift."""
    b, size = Builder("foot"), size_of(mass, 1.7, None)
    for name, data in foot.bodies_of(size).items():
        b.body(name, **data | {"r": data["r"] + [0.0, 0.0, shift if name == "leg" else 0.0]})
    foot.add_joints(b, FRAMES, link_length, size)
    return b


def with_all(link_length, share, push, wave=WAVE):
    """A foot with a force of each kind, loads of all sorts and motors on an angle and a distance."""
    b = foot_of(link_length, 70.0 * share)
    for seed, kind in enumerate(FORCES):
        case = Case(kind, seed)
        vectors = {v: case.local[v] for v, *_ in case.module.VECTORS if v in case.module.KEYWORDS}
        points = {v: value * share for v, value in vectors.items() if v.startswith("s_")}
        alone = set(case.module.BODIES) | {body for _, _, body in case.module.VECTORS} == {"i"}
        over = dict(zip(("body_k", "body_l"), ("toes", "main_foot"), strict=True)) if case.count == 4 else {}
        numbers = {key: value * share for key, value in case.values.items()}
        tables = dict.fromkeys(case.module.TABLES, TABLE)
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
    spans = dict(link_length=(0.03, 0.05), share=(0.9, 1.1), push=(0.1, 0.2))
    return {name: random.uniform(*span, COUNT) for name, span in spans.items()}


@pytest.fixture
def both(monkeypatch):
    return once_and_each(monkeypatch, END, SETTINGS)


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
