"""Former names answer with the names that took their place."""

import re

import pytest

import models
import runtime
from runtime import Builder, ModelError

FORMER = {
    "module": (lambda: runtime.rest, "module 'runtime' has no attribute 'rest'; did you mean 'at_rest'"),
    "event": (lambda: runtime.crossing, "did you mean 'zero_crossing'"),
    "builder": (lambda: Builder("b").angles, "'Builder' object has no attribute 'angles'; did you mean 'initial_coordinates'"),
    "run": (lambda: runtime.simulate(models.pendulum.build(), 0.01).undetermined, "did you mean 'undetermined_reactions'"),
    "passages": (lambda: runtime.simulate(models.pendulum.build(), 0.01).passages, "did you mean 'singular_passages'"),
    "ensemble": (
        lambda: runtime.simulate_many(models.pendulum.build(), {"mass.rod": [1.0]}, 0.01).in_batch,
        "an Ensemble has no attribute 'in_batch'; did you mean 'vectorised'",
    ),
    "law": (lambda: models.foot.build(limits="elastic", law="printed"), "did you mean 'as_published'"),
    "contact": (
        lambda: touching(creep=0.01, mu_c=0.3, mu_d=0.0, friction="smooth"), r"unused creep \(now transition_velocity\)",
    ),
    "parameter": (
        lambda: runtime.with_parameters(touching(friction="smooth", mu_c=0.3, mu_d=0.0).build(), {"creep.touch": 0.1}),
        "did you mean 'transition_velocity.touch'",
    ),
    "build": (lambda: Builder("b").build(redundant="fit"), "Builder.build_overdetermined"),
}  # fmt: skip


def touching(**friction):
    b = Builder("ball")
    b.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 1), free=True)
    b.contact(
        "touch",
        "ball",
        centre=(0, 0, 0),
        radius=0.1,
        law="kelvin_voigt",
        stiffness=1e4,
        exponent=1.0,
        damping=1.0,
        **friction,
    )
    return b


@pytest.mark.parametrize("of", FORMER)
def test_a_former_name_answers_with_the_new_one(of):
    asked, says = FORMER[of]
    with pytest.raises((AttributeError, ModelError), match=says):
        asked()


def test_a_keyword_that_merely_looks_like_a_former_name_is_unused():
    with pytest.raises(ModelError, match=r"unused rest; law kelvin_voigt"):
        touching(rest=0.1)


def test_every_former_name_has_a_case():
    from runtime.support.errors import RENAMED

    cases = " ".join(says for _, says in FORMER.values())
    assert [now for now in RENAMED.values() if not re.search(rf"\b{now}\b", cases)] == ["min_impact_speed"]
