"""The figure of a run by names of parts and outputs."""

import numpy as np
import pytest

import models
import runtime
from tests.support.refusals import assert_refused


@pytest.fixture(scope="module")
def run():
    times, outputs = np.linspace(0.0, 0.3, 31), {"path": "r.toes", "height": "max(r.toes.z)"}
    return runtime.simulate(models.foot.build(limits="dissipative"), 0.3, t_eval=times, outputs=outputs)


def drawn(figure):
    """Label of the axis -> label of the line -> its values, of each panel."""
    return {ax.get_ylabel(): {line.get_label(): line.get_ydata() for line in ax.lines} for ax in figure.axes}


def test_without_names_coordinates_reactions_and_energies_are_drawn(run):
    coordinates, reactions, energies = drawn(run.plot()).values()
    assert list(coordinates) == ["metatarsophalangeal.angle", "ankle.theta_i", "ankle.theta_j"]
    assert np.array_equal(coordinates["ankle.theta_j"], np.rad2deg(run.angles["ankle"].theta_j))
    force = run.reaction("ankle", on=run.system.joint("ankle").body_j).force
    assert np.array_equal(reactions["ankle"], np.linalg.norm(force, axis=1))
    assert np.array_equal(energies["energy"], run.energy - run.energy[0]) and energies["energy"][-1] < 0.0


def test_a_part_stands_for_its_quantities_and_outputs_for_themselves(run):
    panels = drawn(run.plot("ankle", "talocrural", "norm(v.toes)", "path"))
    assert list(panels) == [
        "angle\nankle [deg]", "reaction force of\nankle on leg [N]", "reaction moment of\nankle on leg [N m]",
        "limit angle\ntalocrural [deg]", "limit restricting moment\ntalocrural [N m]", "norm(v.toes) [m/s]", "path [m]",
    ]  # fmt: skip
    assert list(panels["angle\nankle [deg]"]) == ["theta_i", "theta_j"]
    assert np.array_equal(panels["path [m]"]["z"], run.r["toes"][:, 2])
    force = np.column_stack([*panels["reaction force of\nankle on leg [N]"].values()])
    assert np.array_equal(force, run.reaction("ankle", on="leg").force)
    (angle,) = drawn(run.plot("ankle.theta_i"))["angle\nankle [deg]"].values()
    assert np.array_equal(angle, np.rad2deg(run.angles["ankle"].theta_i))
    (speed,) = panels["norm(v.toes) [m/s]"].values()
    assert np.array_equal(speed, np.linalg.norm(run.v["toes"], axis=1))


def test_panels_share_the_time_and_have_letters(run):
    figure = run.plot("energy", "leg")
    assert [ax.texts[0].get_text() for ax in figure.axes] == ["a", "b", "c"]
    assert figure.axes[-1].get_xlabel() == "time [s]" and figure.axes[0].get_xlabel() == ""


def test_names_that_are_not_drawn_are_refused(run):
    assert_refused(("plot: unknown name 'ankel'", "did you mean 'ankle'"), run.plot, "ankel")
    assert_refused(("plot: 'max(energy)' is one value",), run.plot, "max(energy)")
    assert_refused(("plot: 'height' is one value",), run.plot, "height")
    assert_refused(("unknown quantity 'r.toe'", "'r.toes'"), run.plot, "r.toe")
    short = runtime.simulate(models.pendulum.build(), 0.1, t_eval=[0.1])
    assert_refused(("the run has 1 output times", "t_eval"), short.plot)


def test_distances_and_systems_without_joints_are_drawn():
    free = runtime.simulate(models.free_body.build(), 0.1, t_eval=[0.0, 0.1])
    assert "energy − start [J]" in drawn(free.plot())
    b = runtime.Builder("slide", axes="global")
    b.body("block", mass=1.0, inertia=(1.0, 1.0, 1.0), r=(0.0, 0.0, 0.0))
    b.joint("rail", "translational", "ground", "block", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    slide = runtime.simulate(b.build(), 0.1, t_eval=[0.0, 0.1])
    (name,) = slide.angles["rail"].values
    assert list(drawn(slide.plot())["coordinates [m]"]) == [f"rail.{name}"]
