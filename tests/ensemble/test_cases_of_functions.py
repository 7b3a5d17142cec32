"""Cases whose systems a function builds: the results are those of single runs of the systems that it returns."""

import numpy as np
import pytest

import runtime
from models import foot, foot_ground
from models.foot_anatomy import size_of
from runtime import Builder, Cone, Signal, Status
from runtime.system.displacement import displaced

COUNT, END = 6, 0.1
ONE_RUN = dict(method="dop853", rtol=1e-9, atol=1e-9)
SETTINGS = ONE_RUN | dict(t_eval=[0.5 * END, END], workers=1)
STOPS = Cone.from_degrees((0, 90, 180, 270, 360), (5, 30, 6, 30, 5))
Y, ACROSS = (0.0, 1.0, 0.0), dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))
SPAN = np.linspace(0.0, 3.0, 61)


def foot_of(link_length=0.04, mass=70.0):
    """A builder of the foot."""
    b, size = Builder("foot"), size_of(mass, 1.7, None)
    for name, data in foot.bodies_of(size).items():
        b.body(name, **data)
    foot.add_joints(b, (foot.talocrural_frame(), foot.talocalcaneal_frame()), link_length, size)
    return b


def loaded(link_length=0.04, push=0.1, amplitude=2.0, stiffness=3.0, end=3.0):
    """A foot with loads and a motor, whose signals are its own, and a spring."""
    b, wave = foot_of(link_length), Signal.function(lambda t: amplitude * np.sin(40.0 * t), 0.0, end)
    b.load("push", "main_foot", force=(wave, push, 0.0), point=(0.1, wave, push))
    b.motor("turn", "guided_angle", "leg", "main_foot", **ACROSS, theta_t=wave, stiffness=stiffness, effort=push)
    ends = dict(s_i=(0.0, 0.0, -0.1), s_j=(0.1, 0.0, 0.1))
    b.force("rod", "spring_damper", "leg", "main_foot", **ends, stiffness=stiffness, damping=0.1, free_length=0.3)
    return b.build()


def leg(amplitude=0.6, push=0.0, stiffness=1.0, degree=3, mass=0.9):
    """A leg that is driven at the hip; its passive ankle has a spring and stops."""
    b = Builder("driven leg", axes="global")
    b.body("leg", mass=3.0, inertia=(4e-2, 4e-2, 5e-3), r=(0.0, 0.0, -0.2))
    b.body("foot", mass=mass, inertia=(1e-3, 4e-3, 4e-3), r=(0.06, 0.0, -0.45))
    b.joint("hip", "revolute", "ground", "leg", point=(0, 0, 0), axis=Y)
    b.joint("ankle", "revolute", "leg", "foot", point=(0, 0, -0.4), axis=Y)
    swing = Signal.spline(SPAN, amplitude * np.sin(5 * SPAN), degree=degree)
    b.driver("swing", "guided_angle", "ground", "leg", **ACROSS, theta_t=swing)
    b.force("spring", "torsional_spring", "leg", "foot", a_i=Y, stiffness=stiffness, damping=0.01, free_angle=0.0)
    b.load("push", "foot", force=(push, 0.0, 0.0))
    law = dict(max_moment=9.0, compliance=0.2, damping=0.02)
    b.limit("stop", "ankle", reference="leg", xi=(1, 0, 0), eta=Y, cone=STOPS, **law)
    return b.build()


def tolerant(link_length):
    """A foot with another length where this one is refused."""
    try:
        return foot.build(link_length=link_length)
    except runtime.ModelError:
        return foot.build(link_length=0.04)


def spread(**spans):
    random = np.random.default_rng(0)
    return {name: random.uniform(*span, COUNT) for name, span in spans.items()}


FEET = {
    "ankle": ["modified", "classical", "modified", "modified", "classical", "modified"],
    "limits": ["dissipative", None, "elastic", None, "dissipative", "dissipative"],
    "side": ["left", "right"] * 3,
    "subtalar_inclination_deg": [30.0, 35.0, 40.0, 99.0, 45.0, 50.0],  # the fourth is refused
    "mass": [60.0, 70.0, 80.0, 65.0, 75.0, 85.0],
    "gravity": [(0.0, 0.0, -1.0 - number) for number in range(COUNT)],
}
OF_LEG = spread(amplitude=(0.4, 0.8), push=(-1.0, 1.0), stiffness=(0.5, 2.0))
OF_GROUND = spread(stiffness=(1e6, 2e6), height=(1e-4, 5e-3), mu_c=(0.5, 1.0), mass=(60.0, 80.0))
WAYS = {
    "feet of all kinds": (foot.build, FEET, 1),
    "functions that catch a refusal": (tolerant, {"link_length": [-0.01, 0.03, 0.0, 0.05]}, 0),
    "signals, a load, a motor and a spring": (
        loaded, spread(link_length=(0.03, 0.05), push=(0.1, 0.2), amplitude=(1.0, 3.0)) | {"end": [3, 3, 0.05, 3, 3, 3]}, 1,
    ),
    "rules of parts": (loaded, {"stiffness": [1.0, -1.0, 2.0, 1e80], "push": [0.1, 0.2, 0.3, 0.4]}, 2),
    "contacts with the ground": (foot_ground.build, OF_GROUND, 0),
    "drivers, stops and a signal that jumps": (leg, OF_LEG | {"degree": [3] * 5 + [1]}, 1),
}  # fmt: skip


def rows_of(cases):
    return [dict(zip(cases, row, strict=True)) for row in zip(*cases.values(), strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_cases_are_single_runs_of_what_the_function_builds(way):
    """A refused case has the message of the builder, or of ``simulate``, and does not stop the others."""
    build, cases, refused = WAYS[way]
    many = runtime.simulate_many(build, cases, END, **SETTINGS)
    assert (many.status == Status.REFUSED).sum() == refused
    for case, row in enumerate(rows_of(cases)):
        try:
            run = runtime.simulate(build(**row), END, t_eval=SETTINGS["t_eval"], **ONE_RUN)
        except runtime.ModelError as error:
            assert many.status[case] == Status.REFUSED and many.messages[case] == str(error)
        else:
            assert many.status[case] == run.status == Status.REACHED_END
            assert np.abs(many.states()[case].reshape(run.states.shape) - run.states).max() < 1e-6


def test_coordinates_parameters_and_outputs():
    """Values by name replace those of the function; quantities are those of single runs."""
    cases = spread(link_length=(0.03, 0.05)) | {"limits": ["dissipative"] * COUNT}
    named = spread(**{"mass.toes": (0.1, 0.3), "damping.talocrural": (0.0, 0.5)})
    start = spread(**{"angle.ankle.theta_i": (-0.3, 0.3), "rate.ankle.theta_j": (-9.0, 9.0)})
    outputs = ["energy", "r.toes", "max(limit_excess.talocrural)", "norm(reaction_force.ankle)"]
    many = runtime.simulate_many(foot.build, cases | named | start, END, outputs=outputs, **SETTINGS)
    assert many.vectorised.all() and not many.messages
    for case, (row, own, at) in enumerate(zip(rows_of(cases), rows_of(named), rows_of(start), strict=True)):
        system = runtime.with_parameters(foot.build(**row), own)
        theta, rate = at.values()
        state = displaced(system, {"ankle.theta_i": theta}, {"ankle.theta_j": rate})
        run = runtime.simulate(system, END, t_eval=SETTINGS["t_eval"], initial=state, **ONE_RUN)
        assert many["energy"][case] == pytest.approx(run.energy, rel=1e-7)
        assert many["r.toes"][case] == pytest.approx(run.r["toes"], abs=1e-7)
        assert many[outputs[2]][case] == pytest.approx(run.limits["talocrural"].excess.max(), abs=1e-7)
        force = np.linalg.norm(run.reaction("ankle", on="leg").force, axis=1)
        assert many[outputs[3]][case] == pytest.approx(force, rel=1e-6)


def test_a_case_of_unusual_stiffness_is_used_with_the_warning_of_its_builder():
    cases = {"stiffness": [8.0, 9.0, 2e13, -1.0]}
    with pytest.warns(runtime.UnitWarning, match="force 'rod': stiffness = 2e.13 N/m, .* the value is used as it is"):
        many = runtime.simulate_many(loaded, cases, 1e-4, **SETTINGS | dict(t_eval=[1e-4], rtol=1e-6, atol=1e-6))
    assert (many.status == Status.REFUSED).tolist() == [False, False, False, True]
    assert many.steps[2] > 0 and "stiffness = -1" in many.messages[3]
