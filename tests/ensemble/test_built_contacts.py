"""Cases with contacts whose systems a function builds: checked and run at once, as if each were built alone."""

import numpy as np
import pytest

from models import foot_ground
from runtime import Builder, Signal
from runtime.ensemble import at_once
from runtime.integrate.written.equation_parameters import parameters_of_equations
from tests.support.ensembles import equal, once_and_each

COUNT, END = 8, 0.02
SETTINGS = dict(t_eval=[END], rtol=1e-7, atol=1e-7, workers=1, method="dop853")
ALONG, UP = dict(a_i=(1, 0, 0), a_j=(1, 0, 0)), dict(a_i=(0, 0, 1), a_j=(0, 0, 1))


@pytest.fixture
def both(monkeypatch):
    return once_and_each(monkeypatch, END, SETTINGS)


def walker(stiffness, damping, height, mu_c, mass=70.0):
    """The foot on the ground; nothing else differs between its cases."""
    return foot_ground.build(stiffness=stiffness, damping=damping, height=height, mu_c=mu_c, mass=mass)


def varied(seed):
    random = np.random.default_rng(seed)
    spans = dict(stiffness=(1e6, 2e6), damping=(200.0, 400.0), height=(1e-4, 5e-3), mu_c=(0.5, 1.0), mass=(60.0, 80.0))
    return {name: random.uniform(*span, COUNT) for name, span in spans.items()}


def test_contacts_with_the_ground(both, monkeypatch):
    """Parameters are those of systems that are built, and so are the runs."""
    found, own = [], at_once.equations_of_cases
    monkeypatch.setattr(at_once, "equations_of_cases", lambda *given: found.append(own(*given)) or found[-1])
    cases = varied(0)
    once, each, done = both(walker, cases)
    assert done == COUNT and once.in_batch.all() and equal(once, each)
    for case in range(COUNT):
        system = walker(**{name: values[case] for name, values in cases.items()})
        wanted = parameters_of_equations(system)
        assert found[0][case] == pytest.approx(wanted, rel=1e-13, abs=1e-13)


def sledge(stiffness=2e4, damping=50.0, creep=0.01, speed=0.3, wave=None, law="kelvin_voigt"):
    """A block on a slide across a belt, which it touches, tilted in one of two ways."""
    b = Builder("sledge")
    b.body("block", mass=2.0, inertia=(0.01, 0.01, 0.01), r=(0.0, 0.0, 0.05))
    b.body("carriage", mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.joint("along", "translational", "carriage", "ground", axes="global", s_i=(0, 0, 0), s_j=(0, 0, 0), **ALONG)
    b.joint("up", "translational", "block", "carriage", axes="global", s_i=(0, 0, 0.05), s_j=(0, 0, 0), **UP)
    given = dict(exponent=1.0, damping=damping) if law == "kelvin_voigt" else {}
    b.contact(
        "sole", "block", centre=(0, 0, 0), radius=0.05, law=law, stiffness=stiffness, friction="coulomb", mu_c=0.4,
        mu_d=1.0, creep=creep, belt=(1, 0, 0), belt_speed=speed if wave is None else wave, **given,
    )  # fmt: skip
    return b.build()


def waving(stiffness, amplitude):
    """The sledge on a belt whose speed varies."""
    return sledge(stiffness, wave=Signal.function(lambda t: amplitude * np.sin(40.0 * t), 0.0, 0.1))


@pytest.mark.slow
def test_belts_and_cases_that_are_built_alone(both):
    """Speeds of belts are values of cases; refused ones, and others of their kind, have the messages of single runs."""
    speeds = dict(stiffness=np.linspace(1e4, 3e4, COUNT), speed=np.linspace(-0.2, 0.4, COUNT))
    once, each, done = both(sledge, speeds)
    assert done == COUNT and equal(once, each)
    once, each, done = both(waving, dict(stiffness=speeds["stiffness"], amplitude=np.linspace(0.1, 0.4, COUNT)))
    assert done == COUNT and equal(once, each)
    for name, values, alone in (
        ("stiffness", [1e4, 2e4, 3e4, 1e5, 1e-3, -1.0, 4e4, 1e14], 3),  # soft, negative, stiff
        ("damping", [10.0, 20.0, 30.0, 1.0, 0.0, 50.0, 0.0, 60.0], 2),  # ends on the plane
        ("creep", [0.01, 0.02, 0.03, 0.1, 1e-7, 0.05, 2e-6, 0.06], 1),  # needs another method, and almost does
    ):
        once, each, done = both(sledge, {name: np.array(values)})
        assert done == COUNT - alone and equal(once, each)
