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


def test_reactions_cost_and_balances():
    run = runtime.simulate(models.foot.build(limits="dissipative"), 0.1, t_eval=[0.0, 0.05, 0.1])
    reaction = run.reaction("ankle", on="main_foot")
    assert repr(reaction).startswith(
        "Reaction('ankle' on 'main_foot' at s_i of joint 'ankle', axes: global, 3 times, up to"
    )
    assert {"force.z", "N", f"{reaction.force[:, 2].min():.4g}", f"{reaction.force[:, 2].max():.4g}"} <= set(
        shown(reaction)
    )
    assert f"up to {np.linalg.norm(reaction.force, axis=1).max():.4g} N and" in repr(reaction)
    assert {str(run.stats.evaluations), str(run.stats.steps), "from [s]"} <= set(shown(run.stats))
    assert f"{run.stats.evaluations} evaluations, {run.stats.steps} steps" in repr(run.stats)
    balance = run.energy_balance
    assert {"work of talocrural", f"{balance.energy.max():.4g}", "error"} <= set(shown(balance))
    assert f"{balance.largest_error:.2e} J" in repr(balance)
    foot = run.free_body("main_foot")
    weight = np.linalg.norm(foot.forces["gravity"][0])
    assert {"gravity", f"{weight:.4g}", "sum"} <= set(shown(foot)) and "'main_foot', 3 times" in repr(foot)


def test_undetermined_reactions_and_forces_of_the_ground():
    b = runtime.Builder("door", gravity=(0, 0, -9.81), axes="global")
    b.body("door", mass=10.0, inertia=(1, 1, 1), r=(0.5, 0, 0))
    b.joint("upper", "spherical", "ground", "door", point=(0, 0, 0.8))
    b.joint("lower", "spherical", "ground", "door", point=(0, 0, -0.8))
    upper = runtime.simulate(b.build(), 0.1).reaction("upper", on="door")
    assert "1 components undetermined" in repr(upper) and {"lower", upper.reason} <= set(shown(upper))
    ground = runtime.simulate(models.foot_ground.build(), 0.2, t_eval=[0.0, 0.2]).ground_reaction()
    assert "GroundReaction(2 times, up to" in repr(ground) and "free moment [N m]" in shown(ground)


@pytest.mark.parametrize("odd", ["<b>", "a & b", "'\""])
def test_texts_are_escaped(odd):
    assert odd in shown(Table(odd, [odd], [[odd]], note=odd))
