"""Values that no mechanism has, or that do not go with the others of a system, are asked about; idealised ones are not."""

import contextlib
import cProfile
import pstats

import numpy as np
import pytest

import models
import runtime
from runtime import Builder, ModelError
from tests.support.refusals import assert_refused


def three_links(*, lengths=(0.4, 0.4, 0.2), masses=(7.0, 3.5, 1.2), inertias=None, omega=0.0, gravity=9.81):
    """A chain of three links on hinges about y, hanging; centres of mass in the middle."""
    b = Builder("three links", gravity=(0.0, 0.0, -gravity))
    before, end, below = "ground", np.zeros(3), 0.0
    for k, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        inertia = mass * length**2 / 12.0 * np.array([1.0, 1.0, 0.1]) if inertias is None else inertias[k]
        half = np.array([0.0, 0.0, length / 2.0])
        turning = (0.0, omega, 0.0) if k == 2 else (0.0, 0.0, 0.0)
        speed = np.cross(turning, -half)
        b.body(f"link{k}", mass=mass, inertia=inertia, r=(0.0, 0.0, -below - length / 2.0), omega=turning, v=speed)
        axis = (0.0, 1.0, 0.0)
        b.joint(f"hinge{k}", "revolute", before, f"link{k}", s_i=end, s_j=half, a_i=axis, a_j=axis)
        before, end, below = f"link{k}", -half, below + length
    return b


def ball(*, radius=0.1, stiffness=1e5, exponent=1.0, normal=(0.0, 0.0, 1.0), height=0.3, mass=1.0):
    """A ball above a plane."""
    b = Builder("ball")
    b.body("ball", mass=mass, inertia=(4e-3, 4e-3, 4e-3), r=(0.0, 0.0, height), free=True)
    law = dict(law="kelvin_voigt", stiffness=stiffness, exponent=exponent, damping=10.0)
    b.contact("sole", "ball", centre=(0.0, 0.0, 0.0), radius=radius, normal=normal, **law)
    return b


def spring(stiffness):
    """A body on a spring."""
    b = Builder("spring")
    b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.0, 0.0, -1.0), free=True)
    ends = dict(s_i=(0.0, 0.0, 0.0), s_j=(0.0, 0.0, 0.0))
    b.force("coil", "spring_damper", "ground", "bob", **ends, stiffness=stiffness, damping=0.0, free_length=1.0)
    return b


def rotor(eccentricity):
    """A flywheel of half a metre on a hinge beside its centre of mass."""
    b = Builder("rotor")
    b.body("wheel", mass=1e3, inertia=(70.0, 70.0, 125.0), r=(eccentricity, 0.0, 0.0))
    axis = (0.0, 0.0, 1.0)
    b.joint(
        "hinge", "revolute", "ground", "wheel", s_i=(0.0, 0.0, 0.0), s_j=(-eccentricity, 0.0, 0.0), a_i=axis, a_j=axis
    )
    return b


def falling(speed, omega=0.0):
    """A free body of 1 kg and a radius of gyration of 0.1 m."""
    b = Builder("falling")
    b.body("stone", mass=1.0, inertia=(0.01, 0.01, 0.01), v=(0.0, 0.0, speed), omega=(omega, 0.0, 0.0), free=True)
    return b


QUESTIONS = {
    "gravity in mm/s^2": (three_links(gravity=9810.0), "gravity = 9810 m/s^2, but gravity is at most 300", "9.81 m/s^2"),
    "a link in mm": (
        three_links(lengths=(0.4, 400.0, 0.2)),
        "body 'link1': distance = 200 m, but with the points of the other bodies up to 0.2 m",
        "200 mm are 0.2 m",
    ),
    "inertia in kg mm^2": (
        three_links(inertias=[np.array([1.0, 1.0, 0.1]) * 9e4, (0.05, 0.05, 0.01), (0.01, 0.01, 0.01)]),
        "body 'link0': inertia = 90000 kg m^2, but in a system of 11.7 kg with 0.4 m between two points of a body a moment",
        "90000 kg mm^2 are 0.09 kg m^2",
    ),
    "a mass of no mechanism": (three_links(masses=(7e10, 3.5, 1.2)), "link0': mass = 7e+10 kg", "7e+10 g are 7e+07 kg"),
    "a speed of no body": (falling(2e6), "body 'stone': v = 2e+06 m/s", "2e+06 mm/s are 2000 m/s"),
    "a body that bursts": (falling(0.0, 1e5), "at a radius of gyration of 0.1 m no material holds together", "100000 degrees"),
    "a link that bursts": (three_links(omega=1e6), "body 'link2': omega = 1e+06 rad/s", "check_units=False"),
    "a radius whose power is 0": (ball(radius=5e-324, exponent=1.5), "below that the weight of 9.81 N", "is at least inf"),
    "a radius in mm": (ball(radius=50.0), "in a system of 0.3 m the radius of a contact is at most 30 m", "0.05 m"),
    "a stiffness in N/mm": (ball(stiffness=5.0), "contact 'sole': stiffness = 5 N/m, but below that", "5 N/mm are 5000 N/m"),
    "a stiffness of no solid": (ball(stiffness=1e14), "the stiffness of a solid body is at most 1e+13", "is another unit meant?"),
    "a spring of no solid": (spring(1e15), "force 'coil': stiffness = 1e+15 N/m", "1e+15 N/km are 1e+12 N/m"),
}  # fmt: skip


@pytest.mark.parametrize("builder, question, hint", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_what_is_asked_about(builder, question, hint):
    with pytest.warns(runtime.UnitWarning) as given:
        system = builder.build()
    text = str(given[0].message)
    assert question in text and hint in text and "the value is used as it is" in text and "\n" not in text
    assert builder.build(check_units=False).degrees_of_freedom == system.degrees_of_freedom > 0


@pytest.mark.parametrize(
    "builder",
    [
        three_links(),
        three_links(lengths=(40.0, 40.0, 0.2)),  # a hook at a crane
        three_links(masses=(7e5, 3.5, 1e-6)),  # a load and a bolt
        three_links(inertias=[(1e-9, 1e-9, 1e-9)] * 3),  # point masses
        three_links(
            inertias=[(0.1, 0.1, 0.1), (1e-9, 1e-9, 1e-9), (50.0, 50.0, 50.0)], masses=(7.0, 1e-9, 1e-3)
        ),  # rotors
        three_links(omega=1e4),  # a dentist's drill
        three_links(gravity=274.0),
        three_links(gravity=0.0),
        falling(7.8e3),  # a satellite
        falling(1.9e5),  # a probe near the sun
        ball(radius=5.0, height=5.1),
        ball(stiffness=1e-3, normal=(1.0, 0.0, 0.0)),  # a wall does not carry
        ball(stiffness=50.0),  # foam
        ball(stiffness=1e10, exponent=1.5),  # steel
        spring(1e9),
        spring(1e-9),
        rotor(1e-4),
        rotor(1e-31),  # of rounding
        rotor(0.0),
    ],
)
def test_what_mechanisms_have_is_not_asked_about(builder):
    builder.build()


def heavier(system):
    """A parameter that is a thousand times as heavy, and data for a fit."""
    name = next(name for name in runtime.parameters(system) if name.startswith("mass."))
    body, t = system.body_names[0], [0.0, 0.05, 0.1]
    data = {f"r.{body}": runtime.simulate(system, 0.1, t_eval=t).r[body]}
    return system, {name: 1e3 * runtime.parameters(system)[name]}, t, data


FAST = falling(0.0).build(), {"v.stone": [0.0, 0.0, 3e6]}, [0.0, 0.1], {"r.stone": np.zeros((2, 3))}
ASKED = {
    "speeds": (lambda: FAST, "v = 3e.06 m/s, but the speed of a body is at most 1e.06 m/s"),
    "masses": (lambda: heavier(models.pendulum.build()), "is another unit meant"),
}


@pytest.mark.parametrize("case", ASKED)
def test_values_of_ensembles_derivatives_and_fits_are_asked_about(case):
    make, question = ASKED[case]
    system, values, t, data = make()
    for call in (
        lambda **more: runtime.simulate_many(system, {name: [value] for name, value in values.items()}, 0.1, **more),
        lambda **more: runtime.sensitivities(system, values, 0.1, **more),
        lambda **more: runtime.fit_parameters(system, values, t, data, **more),
    ):
        with pytest.warns(runtime.UnitWarning, match=question):
            call()
        call(check_units=False)


@pytest.mark.parametrize(
    ("what", "value", "question"),
    [
        (
            "angle",
            90.0,
            "angle 'hinge2.angle' = 90 rad, but an angle at the start is at most 13 rad; .*90 degrees are 1.571 rad",
        ),
        ("rate", 1e30, "rate 'hinge2.angle' = 1e.30 rad/s, but at a radius of gyration of"),
    ],
)
def test_coordinates_at_the_start_are_asked_about(what, value, question):
    """Of the builder, ensembles and derivatives."""

    def built(**more):
        b = three_links()
        b.initial_coordinates("hinge2", **({"rates": {"angle": value}} if what == "rate" else {"angle": value}))
        return b.build(**more)

    system, name = three_links().build(), f"{what}.hinge2.angle"
    for call in (
        built,
        lambda **more: runtime.simulate_many(system, {name: [value]}, 0.1, **more),
        lambda **more: runtime.sensitivities(system, {name: value}, 0.1, **more),
    ):
        with pytest.warns(runtime.UnitWarning, match=question), contextlib.suppress(ModelError):
            call()  # such a rate ends the derivative
    built(check_units=False)


def test_coordinates_are_given_once():
    b = three_links()
    b.initial_coordinates("hinge2", angle=0.1)
    b.initial_coordinates("hinge2", rates={"angle": 1.0})
    assert_refused(
        "angle 'hinge2.angle' = 0.2: it was given as 0.1 before; give it once",
        b.initial_coordinates,
        "hinge2",
        angle=0.2,
    )


def many(bodies):
    """Bodies that float."""
    b = Builder("many")
    for k in range(bodies):
        b.body(f"b{k}", mass=1.0, inertia=(1.0, 1.0, 1.0), r=(k, 0.0, 0.0), free=True)
    return b


def test_many_bodies_take_time_in_proportion_to_their_number():
    """The calls of twice as many bodies are at most twice as many."""
    calls = []
    for bodies in (100, 200, 400):
        profile, builder = cProfile.Profile(), many(bodies)
        builder.build()
        profile.runcall(many(bodies).build)
        calls.append(pstats.Stats(profile).total_calls)
    assert calls[2] - calls[1] < 2.1 * (calls[1] - calls[0])


@pytest.mark.parametrize(("sizes", "asked"), [((0.2, 0.3, 500.0), True), ((0.2, 0.3, 100.0), False)])
def test_a_body_is_compared_with_the_next_smaller_one_if_a_third_is_known(sizes, asked):
    b = three_links(lengths=tuple(2.0 * size for size in sizes), masses=(1.0, 1.0, 1.0))
    if asked:
        with pytest.warns(runtime.UnitWarning) as given:  # so is its moment of inertia
            b.build()
        assert any("body 'link2': distance = 500" in str(one.message) for one in given)
    else:
        b.build()
