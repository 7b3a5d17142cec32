"""Kernels of trees with balls and free steps whose coordinates rows restrain, against the equations of all bodies."""

import numpy as np
import pytest

from codegen.compiler import closed_tree, composite_bodies, tree_kinematics
from codegen.compiler.errors import DefinitionError
from codegen.compiler.study import module_from, refuse_wrong_tree
from runtime import State, simulate
from runtime.system.variants import with_reference
from tests.support.free_steps import chain, gait, posed

SETTINGS = dict(rtol=1e-11, atol=1e-11, t_eval=np.linspace(0.0, 1.0, 11))


@pytest.mark.parametrize("build", [gait, chain, posed])
def test_against_the_equations_of_all_bodies(build):
    system = build()
    text = closed_tree.emit_closed_tree(system.closed_tree)
    assert system.error_of_tree(module_from(text, f"<{system.name}>", "loop")) < 1e-12


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (tree_kinematics, "rotation"),
        (tree_kinematics, "euler_product"),
        (composite_bodies, "_own"),
        (composite_bodies._Composite, "carry"),
        (tree_kinematics.TreeMotion, "_freely_turned"),
    ],
)
def test_wrong_equations_are_refused(monkeypatch, where, what):
    right, system = getattr(where, what), posed() if what == "euler_product" else chain()

    def wrong(*given):
        if what == "carry":
            right(*given)
            given[0].torque[0] = given[0].torque[0] * 1.001
            return None
        found = right(*given)
        if what == "_own":
            found.force[1] = found.force[1] * 1.001
        elif what == "_freely_turned":
            return found._replace(alpha=[1.001 * x for x in found.alpha])
        elif what == "rotation":
            found[0][1] = found[0][1] * 1.001
        else:
            found[2] = found[2] * 1.001
        return found

    monkeypatch.setattr(where, what, wrong)
    if what == "euler_product":
        monkeypatch.setattr(closed_tree, what, wrong)
    with pytest.raises(DefinitionError, match="differ from those of all bodies by .* limit 1e-09"):
        refuse_wrong_tree(system, closed_tree.emit_closed_tree(system.closed_tree))


@pytest.mark.parametrize("build", [gait, chain, posed])
def test_runs_by_kernel_are_those_in_absolute_coordinates(build):
    system = build()
    run, absolute = (simulate(system, 1.0, coordinates=c, **SETTINGS) for c in ("joint", "absolute"))
    assert run.success and run.stats.kernel == "joint coordinates"
    assert np.abs(run.states - absolute.states).max() < 5e-9
    assert run.violation.max() < 1e-13 and run.velocity_violation.max() < 1e-12
    assert np.abs(run.energy_balance.error).max() < 1e-6
    bound = (
        1e-3 if build is gait else 1e-7
    )  # the force of the ground has kinks, which the steps of driven motions do not see
    for driver in system.driver_names:
        work = absolute.energy_balance.work[driver]
        assert np.abs(run.energy_balance.work[driver] - work).max() < bound * max(1.0, np.abs(work).max())


def test_signs_of_euler_parameters_follow_those_of_the_state():
    """A reference configuration has the other signs: rows that read Euler parameters are those of the state all the same."""
    system, y = posed(), posed().state.y.copy()
    y[13 + 3 : 13 + 7] *= -1.0
    other = with_reference(system, State(system.body_names, y))
    assert other.closed_tree.key == system.closed_tree.key and (other.tree.pose[1, 3:] == y[16:20]).all()
    run, absolute = (simulate(other, 1.0, coordinates=c, **SETTINGS) for c in ("joint", "absolute"))
    assert run.success and run.stats.kernel == "joint coordinates"
    assert np.abs(run.states - absolute.states).max() < 1e-9 and (run.states[0] == system.state.y).all()
    assert np.abs(run.energy_balance.error).max() < 1e-8 and run.lam["turn"] == pytest.approx(
        absolute.lam["turn"], abs=1e-6
    )
