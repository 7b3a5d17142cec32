"""Constants and points of contacts by name: against systems that are built with them."""

import numpy as np
import pytest

from runtime import Builder, parameters, sensitivities, simulate, simulate_many, with_parameters
from tests.support.refusals import assert_refused


def ball(law="hunt_crossley", **given):
    """A ball that is thrown on a slope."""
    b = Builder("ball")
    b.body("ball", mass=0.4, inertia=(2e-4, 2e-4, 2e-4), r=(0, 0, 0.1), v=(0.2, 0, 0), free=True)
    own = dict(stiffness=1e4, exponent=1.5, mu_c=0.8, mu_d=0.1, radius=0.05, centre=(0, 0, 0), transition_velocity=1e-2)
    own["sphere_share"] = 0.2
    own |= {"hunt_crossley": {"loss": 0.5}, "flores": {"restitution": 0.5, "min_impact_speed": 0.02}}[law]
    b.contact("sole", "ball", normal=(0.6, 0, 0.8), law=law, friction="coulomb", **(own | given))
    return b.build()


@pytest.mark.parametrize(
    ("law", "name", "value"),
    [
        ("hunt_crossley", "stiffness", 2e4), ("hunt_crossley", "loss", 0.1), ("hunt_crossley", "exponent", 1.4),
        ("hunt_crossley", "mu_c", 0.2), ("hunt_crossley", "transition_velocity", 2e-2), ("hunt_crossley", "radius", 0.04),
        ("hunt_crossley", "centre", (0.005, 0, 0)), ("hunt_crossley", "sphere_share", 0.9),
        ("hunt_crossley", "point", (0, 0, 0.01)),
        ("flores", "restitution", 0.8), ("flores", "min_impact_speed", 5.0),
    ],
)  # fmt: skip
def test_a_changed_contact_is_the_one_that_is_built(law, name, value):
    changed, built = with_parameters(ball(law), {f"{name}.sole": value}), ball(law, **{name: value})
    assert parameters(changed)[f"{name}.sole"] == pytest.approx(np.array(value))
    runs = [simulate(one, 0.3) for one in (changed, built)]
    assert runs[0].states.tobytes() == runs[1].states.tobytes()
    assert np.abs(runs[0].states[-1] - simulate(ball(law), 0.3).states[-1]).max() > 1e-6


def test_a_changed_contact_keeps_its_belt_beside_a_load():
    """Signals of belts are numbered behind those of drivers, loads and motors."""

    def loaded(stiffness):
        b = Builder("loaded ball")
        b.body("ball", mass=0.4, inertia=(2e-4, 2e-4, 2e-4), r=(0, 0, 0.045), free=True)
        b.load("push", "ball", force=(0.3, 0.2, -1.0))
        law = dict(law="hunt_crossley", stiffness=stiffness, exponent=1.5, loss=0.5)
        rubs = dict(friction="coulomb", mu_c=0.8, mu_d=0.1, transition_velocity=1e-2, belt=(1, 0, 0), belt_speed=0.1)
        b.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, **law, **rubs)
        return b.build()

    runs = [simulate(one, 0.3) for one in (with_parameters(loaded(1e4), {"stiffness.sole": 2e4}), loaded(2e4))]
    assert runs[0].states.tobytes() == runs[1].states.tobytes()


def test_cases_and_derivatives_by_names_of_contacts():
    system, t = ball(), [0.1, 0.3]
    many = simulate_many(system, {"stiffness.sole": [1e4, 2e4, -1.0]}, 0.3, t_eval=t)
    built = simulate(ball(stiffness=2e4), 0.3, t_eval=t, method="dop853")
    assert np.abs(many.r["ball"][1] - built.r["ball"]).max() < 1e-9
    assert many.messages[2] == "contact 'sole': stiffness = -1 N/m^n, must be above 0 N/m^n; " + (
        "a steel ball has 1e10, see hertz_stiffness; a rigid connection is a joint"
    )
    found = [
        sensitivities(build, given, 0.3, t_eval=t)
        for build, given in ((system, {"stiffness.sole": 1e4}), (ball, {"stiffness": 1e4}))
    ]
    assert np.abs(found[0].r["ball"] - found[1].r["ball"]).max() < 1e-6 * np.abs(found[1].r["ball"]).max()


def test_a_file_keeps_where_two_materials_meet(tmp_path):
    system = ball()
    again = Builder.from_file(system.to_file(tmp_path / "ball.json")).build()
    assert again.contacts[0].values["sphere_share"] == 0.2
    assert_refused("sphere_share = 1.1, must not be above 1", ball, sphere_share=1.1)


def test_a_contact_has_only_names_that_it_uses():
    b = Builder("smooth ball")
    b.body("ball", mass=0.4, inertia=(2e-4, 2e-4, 2e-4), r=(0, 0, 0.1), free=True)
    b.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, law="hertz", stiffness=1e5)
    own = [name for name in parameters(b.build()) if name.endswith(".sole")]
    assert own == ["stiffness.sole", "radius.sole", "centre.sole", "point.sole"]
    assert_refused("has no parameter 'loss.sole'", with_parameters, b.build(), {"loss.sole": 0.1})
