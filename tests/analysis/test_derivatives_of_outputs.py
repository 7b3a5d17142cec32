"""Derivatives of outputs and of functions of runs, against differences of whole runs."""

import numpy as np
import pytest

import models
from runtime import sensitivities, simulate
from tests.analysis.test_sensitivities_of_contacts import BALL, LAWS, ball
from tests.support.sensitivities import difference

TIGHT = dict(rtol=1e-12, atol=1e-12)


def check(build, given, t, outputs, within, step=1e-5):
    """Derivatives of outputs by all given numbers are central differences of runs."""
    found = sensitivities(build, given, t[-1], t_eval=t, **TIGHT)
    for k, (name, value) in enumerate(given.items()):

        def result(of, h, name=name, value=value):
            run = simulate(build(**(given | {name: value + h})), t[-1], t_eval=t, progress=False, **TIGHT)
            return np.asarray(run[of] if isinstance(of, str) else of(run), float)

        for of in outputs:
            expected = difference(lambda h, of=of: result(of, h), step * (abs(value) or 1.0))
            got = found.derivative(of)[..., k]
            assert np.abs(got - expected).max() <= within * max(np.abs(expected).max(), 1e-3), (name, of)
    return found


def test_outputs_of_the_foot_with_limits():
    t = np.linspace(0.0, 0.4, 9)

    found = check(
        lambda link_length: models.foot.build(limits="elastic", link_length=link_length), {"link_length": 0.0417}, t,
        ["angle.ankle.theta_i", "max(rate.ankle.theta_j)", "rms(norm(reaction_force.ankle))",
         "limit_restricting_moment.talocrural"], 2e-6,
    )  # fmt: skip
    assert np.array_equal(found.run.t, t)


@pytest.mark.parametrize("law", ["flores", "hunt_crossley"])
def test_forces_of_contacts_vary_with_the_speed_of_the_touch_down(law):
    def build(**numbers):
        return ball(law, "smooth", **numbers, **LAWS[law])

    t = np.linspace(0.0, 0.1, 21)
    outputs = [
        "contact_normal_force.floor",
        "max(contact_penetration.floor)",
        "norm(contact_friction.floor)",
        "energy",
        lambda run: run.contacts["floor"].touch_down[0],
        lambda run: run.contacts["floor"].impact_speed,
    ]
    check(build, {"speed": BALL["speed"], "mass": BALL["mass"]}, t, outputs, 1e-6)
