"""Arrays of results cannot be changed: a conversion in place would change what is exported later."""

import numpy as np
import pytest

import models
import runtime
from runtime import Builder


def arrays(item, depth=0):
    """All arrays that names of a result lead to."""
    if isinstance(item, np.ndarray):
        yield item
    elif hasattr(item, "keys"):
        for name in item:
            yield from arrays(item[name], depth)
    elif depth < 2 and type(item).__module__.startswith("runtime"):
        for value in vars(item).values():
            yield from arrays(value, depth + 1)


def test_arrays_of_a_run_cannot_be_changed():
    builder = Builder("ball on a spring")
    builder.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0.04))
    builder.joint("guide", "revolute", "ground", "ball", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, -0.04), a_j=(0, 1, 0))
    builder.force("spring", "rotational_damper", "ground", "ball", damping=0.1)
    builder.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, law="hertz", stiffness=1e5)
    run = runtime.simulate(builder.build(), 0.01, t_eval=[0.0, 0.01])
    limited = runtime.simulate(models.foot.build(limits="elastic"), 0.01, t_eval=[0.0, 0.01])
    of_run = "t r p v omega v_dot omega_dot lam Phi Phi_dot kinetic_energy potential_energy elastic_energy angles contacts forces"
    results = [getattr(run, name) for name in of_run.split()] + [limited.limits, run.energy_balance.work]
    found = [array for result in results for array in arrays(result)]
    assert len(found) > 40 and not any(array.flags.writeable for array in found)
    angle = run.angles["guide"].angle
    with pytest.raises(ValueError, match="read-only"):
        angle *= 180 / np.pi


def test_arrays_of_an_ensemble_cannot_be_changed():
    many = runtime.simulate_many(models.pendulum.build(), {"mass.rod": [3.0, 3.5]}, 0.01)
    assert not any(array.flags.writeable for array in (many.t, many.status, many.reached, many.angles["pivot"].angle))
