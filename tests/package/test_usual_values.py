"""Values in another unit, and values whose products overflow: arguments of models are asked about or refused."""

import numpy as np
import pytest

import models
import runtime
from runtime import ModelError
from runtime.support import usual
from tests.support.refusals import assert_refused

SHORT = dict(rtol=1e-6, atol=1e-6, progress=False)


@pytest.mark.parametrize(
    "build, message",
    [
        (
            lambda **more: models.foot.build(link_length=41.7, **more),
            "models.foot.build: link_length = 41.7 m, but the height of a talus is at most 0.1 m; is another unit meant? 41.7 mm "
            "are 0.0417 m; check_units=False accepts it",
        ),
        (lambda **more: models.foot.build(gravity=(0, 0, -9810), **more), "9810 mm/s^2 are 9.81 m/s^2"),
        (lambda **more: models.foot_ground.build(speed=5000.0, **more), "5000 mm/s are 5 m/s"),
    ],
)
def test_values_outside_of_the_domain_of_a_model_are_refused(build, message):
    assert_refused(message, build)
    build(check_units=False)


@pytest.mark.parametrize(
    "build, message",
    [
        (lambda **more: models.pendulum.build(angle=90.0, **more), "90 degrees are 1.571 rad"),
        (lambda **more: models.double_pendulum.build(masses=(1e6, 1.0), **more), "1e+06 g are 1000 kg"),
        (
            lambda **more: runtime.with_parameters(models.foot.build(), {"mass.leg": 3510.0}, **more),
            "3510 g are 3.51 kg",
        ),
        (
            lambda **more: runtime.simulate_many(
                models.foot.build(), {"mass.leg": [3.51, 3510.0]}, 0.01, **SHORT, **more
            ),
            "3510 g are 3.51 kg",
        ),
    ],
)
def test_values_in_another_unit_are_used_with_a_warning(build, message):
    with pytest.warns(runtime.UnitWarning) as given:
        build()
    assert message in str(given[0].message)
    build(check_units=False)


@pytest.mark.parametrize("value", [1e308, 5e-324, np.inf, np.nan])
@pytest.mark.parametrize(
    "build, name",
    [
        (models.chain.build, "length"),
        (models.four_bar.build, "crank"),
        (models.four_bar.build, "base"),
        (models.hooke_shaft.build, "length"),
        (models.hooke_shaft.build, "radius"),
    ],
)
def test_lengths_whose_products_overflow_are_refused(build, name, value):
    with pytest.raises(ModelError, match=f"{name} .*(overflows in products|not finite)"):
        build(**{name: value}, check_units=False)
    assert_refused("crank_angle = inf is not finite", models.four_bar.build, crank_angle=np.inf)


def test_usual_values_and_signs_are_not_asked_about():
    @usual(length=runtime.support.Usual(0.1, 1.0, "m", "a length"))
    def build(length, check_units=True):
        return length

    assert [build(x) for x in (0.0, 0.1, 1.0, -5.0, np.nan, "a")][:4] == [0.0, 0.1, 1.0, -5.0]
    with pytest.warns(runtime.UnitWarning, match="length = 0.01 m, but a length is 0.1 to 1 m"):
        assert build(0.01) == 0.01
