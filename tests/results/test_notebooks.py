"""What a notebook shows of systems, runs, motions, ensembles and tables."""

import xml.etree.ElementTree as tree

import numpy as np
import pytest

import models
import runtime
from runtime.report import Table


def shown(value):
    """The texts of what a notebook shows, from HTML that is well-formed."""
    assert "\n" not in repr(value)
    assert len(repr(value)) < 400
    return [text for text in tree.fromstring(f"<div>{value._repr_html_()}</div>").itertext() if text]


def test_system_run_and_motion():
    system = models.pendulum.build()
    run = runtime.simulate(system, 0.1, t_eval=[0.0, 0.1])
    assert {"rod", "revolute", "mass [kg]"} <= set(shown(system))
    assert {"REACHED_END: reached t = 0.1 s", "2 times, 0 to 0.1 s"} <= set(shown(run))
    gait = models.walking.synthetic.build()
    motion = runtime.inverse_dynamics(gait, gait.time + np.linspace(0.0, 0.02, 3))
    assert {"Motion", "3 times, 0 to 0.02 s"} <= {text.replace(f"{gait.time:g}", "0") for text in shown(motion)}


def test_ensemble():
    ensemble = runtime.simulate_many(models.pendulum.build(), {"mass.rod": [3.0, 4.0]}, 0.1, t_eval=[0.0, 0.1])
    assert {"mass.rod", "kg", "3", "4"} <= set(shown(ensemble))
    assert "2 REACHED_END" in repr(ensemble)


@pytest.mark.parametrize("odd", ["<b>", "a & b", "'\""])
def test_texts_are_escaped(odd):
    assert odd in shown(Table(odd, [odd], [[odd]], note=odd))
