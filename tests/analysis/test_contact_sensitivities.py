"""Sensitivities of contacts along a run, against central differences of the same forces, and impacts of driven motions."""

import re

import numpy as np
import pytest

from runtime import Builder, Signal, contact_sensitivities, inverse_dynamics, simulate
from tests.support.refusals import assert_refused

LAWS = {
    "kelvin_voigt": dict(stiffness=4e4, exponent=1.3, damping=30.0),
    "hertz": dict(stiffness=3e5),
    "hunt_crossley": dict(stiffness=2e5, exponent=1.5, loss=0.4),
    "lankarani_nikravesh": dict(stiffness=2e5, exponent=1.5, restitution=0.7),
    "flores": dict(stiffness=2e5, exponent=1.4, restitution=0.6),
}

PLANE = np.array([0.1, -0.2, 1.0]) / np.linalg.norm([0.1, -0.2, 1.0])


def rolling(law, friction, **parameters):
    """A body that is driven through a tilted plane with a belt while it turns; its sphere lies off its centre."""
    b = Builder("rolling")
    b.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01))
    wave = {key: Signal.function(f, 0.0, 1.0) for key, f in {
        "x_t": lambda t: 0.3 * t, "y_t": lambda t: 0.1 * np.sin(3 * t), "z_t": lambda t: 0.04 + 0.01 * np.cos(9 * t),
    }.items()}  # fmt: skip
    b.driver("place", "guided_point", "ball", s_i=(0, 0, 0), **wave)
    angle = {"e0_t": lambda t: np.cos(t), "e1_t": lambda t: np.sin(t) * 0.6, "e2_t": lambda t: np.sin(t) * 0.8}
    turn = {key: Signal.function(f, 0.0, 1.0) for key, f in angle.items()}
    b.driver("turn", "guided_orientation", "ball", **turn, e3_t=0.0)
    b.contact(
        "sole", "ball", centre=(0.01, -0.02, 0.015), radius=0.05, law=law, friction=friction, normal=PLANE,
        belt=np.cross(PLANE, (0.0, 1.0, 0.0)) / np.linalg.norm(np.cross(PLANE, (0.0, 1.0, 0.0))), belt_speed=0.2,
        **parameters,
    )  # fmt: skip
    return b.build()


@pytest.mark.parametrize("friction", [None, "smooth", "coulomb"])
@pytest.mark.parametrize("law", LAWS)
def test_sensitivities_are_central_differences(law, friction):
    rub = {} if friction is None else dict(mu_c=0.4, mu_d=2.0, transition_velocity=0.05)
    motion = inverse_dynamics(rolling(law, friction, **LAWS[law], **rub), np.linspace(0.0, 1.0, 201))
    own = contact_sensitivities(motion)["sole"]
    contact = motion.contacts["sole"]
    assert own.parameters == (*LAWS[law], "centre_x", "centre_y", "centre_z", "radius")
    for name in ("normal_force", "friction", "point"):
        assert np.abs(getattr(own, name) - getattr(contact, name)).max() == 0.0
    centre, values = np.array([0.01, -0.02, 0.015]), LAWS[law] | {"radius": 0.05}
    # Away from touch-down, lift-off and the seam of Coulomb's friction, where a difference would mix two laws.
    speed = np.linalg.norm(contact.slip, axis=1)
    steady = (np.abs(contact.penetration) > 1e-4) & (np.abs(speed - 0.05) > 1e-3)
    steady &= (contact.normal_force == 0.0) | (contact.normal_force > 1.0)
    assert 20 < (steady & (contact.normal_force > 0.0)).sum() and (steady & (contact.normal_force == 0.0)).any()
    for q, name in enumerate(own.parameters):
        h = 1e-6 * (abs(values[name]) if name in values else 0.1)

        def moved(by, name=name):
            if name in values:
                change = {name: values[name] + by}
            else:
                change = {"centre": centre + by * np.eye(3)["xyz".index(name[-1])]}
            return contact_sensitivities(motion, {"sole": change})["sole"]

        # Two steps of central differences, extrapolated to cancel the leading error.
        wide, narrow = ((moved(2 * h), moved(-2 * h)), (moved(h), moved(-h)))
        for quantity in ("normal_force", "friction", "point"):
            one, two = (
                (getattr(a, quantity) - getattr(b, quantity)) / d for (a, b), d in ((wide, 4 * h), (narrow, 2 * h))
            )
            slope = getattr(own, f"{quantity}_slopes")[..., q]
            off = np.abs(slope - (4 * two - one) / 3)[steady]
            assert off.max() <= 1e-7 * max(np.abs(slope).max(), 1e-3), (name, quantity, off.max(), np.abs(slope).max())


def test_sensitivities_of_a_simulated_impact_use_its_speed():
    """The laws that damp by the speed of touch-down take it from the run."""
    b = Builder("drop")
    b.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.0, 0.0, 0.3), free=True)
    b.contact("floor", "ball", centre=(0, 0, 0), radius=0.05, law="flores", **LAWS["flores"])
    run = simulate(b.build(), 0.3, t_eval=np.linspace(0.0, 0.3, 1001))
    own = contact_sensitivities(run)["floor"]
    assert np.array_equal(own.normal_force, run.contacts["floor"].normal_force) and own.normal_force.max() > 10.0
    h = 1e-6
    a, c = (contact_sensitivities(run, {"floor": {"restitution": 0.6 + by}})["floor"].normal_force for by in (h, -h))
    q = own.parameters.index("restitution")
    pressed = own.normal_force > 1.0
    assert own.normal_force_slopes[pressed, q] == pytest.approx((a - c)[pressed] / (2 * h), rel=1e-6, abs=1e-4)


@pytest.mark.parametrize("law", LAWS)
def test_driven_motions_report_their_touch_downs(law):
    """A sphere that is pressed into the plane and lifted: its speed at touch-down follows from the signal."""
    t = np.linspace(0.0, 1.0, 401)
    b = Builder("press")
    b.body("foot", mass=3.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0.06))
    z_t = Signal.function(lambda t: 0.06 - 0.02 * np.sin(np.pi * t) ** 2, 0.0, 1.0)
    b.driver("place", "guided_point", "foot", s_i=(0, 0, 0), x_t=0.0, y_t=0.0, z_t=z_t)
    for k, (i, j) in enumerate((((1, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 0, 1)), ((0, 1, 0), (0, 0, 1)))):
        b.joint(f"turn_{k}", "constant_angle", "ground", "foot", a_i=i, a_j=j)
    p = LAWS[law]
    b.contact("sole", "foot", centre=(0, 0, 0), radius=0.0503, law=law, **p)
    motion = inverse_dynamics(b.build(), t)
    sole = motion.contacts["sole"]
    down = np.arcsin(np.sqrt((0.06 - 0.0503) / 0.02)) / np.pi
    speed = 0.02 * np.pi * np.sin(2 * np.pi * down)
    assert sole.touch_down == pytest.approx([down], abs=1e-9)
    assert sole.impact_speed == pytest.approx([speed], rel=1e-5)
    depth, rate = np.maximum(0.0503 - z_t(t), 0.0), -z_t(t, 1)
    factor = {
        "lankarani_nikravesh": lambda: 0.75 * (1 - p["restitution"] ** 2) / speed,
        "flores": lambda: 1.6 * (1 - p["restitution"]) / p["restitution"] / speed,
        "hunt_crossley": lambda: 1.5 * p["loss"],
    }.get(law, lambda: 0.0)()
    elastic = p["stiffness"] * depth ** p.get("exponent", 1.5)
    force = elastic * (1.0 + factor * rate) + p.get("damping", 0.0) * rate * (depth > 0.0)
    assert sole.normal_force == pytest.approx(np.maximum(force, 0.0), rel=1e-5, abs=1e-9)
    last = t[force > 0.0][-1]
    assert len(sole.lift_off) == 1 and last <= sole.lift_off[0] < last + 0.0025
    # The same of a contact with other parameters, which may touch sooner or where the run's does not.
    if law == "flores":
        b.contact("high", "foot", centre=(0, 0, 0), radius=0.03, law=law, **p)
        other = inverse_dynamics(b.build(), t)
        lower = contact_sensitivities(other, {"high": {"radius": 0.0503}})["high"]
        assert lower.normal_force == pytest.approx(sole.normal_force, rel=1e-9)


def test_wrong_contacts_and_parameters_are_refused():
    motion = inverse_dynamics(rolling("hertz", None, stiffness=3e5), np.linspace(0.0, 1.0, 5))
    for changes, sentence in (
        ({"heel": {}}, "unknown contact 'heel'; the contacts are sole"),
        ({"sole": {"stiffness": -1.0}}, r"contact 'sole': stiffness = -1 N/m\^1\.5, must be above 0"),
        ({"sole": {"loss": 1.0}}, "contact 'sole': unused loss; law hertz needs stiffness"),
        ({"sole": {"law": "flores"}}, "contact 'sole': law cannot change along a run; build another system"),
    ):
        assert_refused(re.compile(sentence), contact_sensitivities, motion, changes)
    b = Builder("bare")
    b.body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), free=True)
    assert_refused(
        "system 'bare' has no contact; add one with Builder.contact", contact_sensitivities, simulate(b.build(), 0.1)
    )
