"""What build says where a system is not as its data state it: one sentence each, with names, numbers and the remedy."""

import re
import warnings
from functools import partial

import numpy as np
import pytest

import models
import runtime
from runtime import GROUND, AssemblyError, AssemblyWarning, Builder
from runtime.system import system_building
from tests.support.loops import bennett, four_bar_of_tilted_hinges, rounded
from tests.support.motions import rotation_matrix

INERTIA = (0.1, 0.1, 0.1)


def bob(length, *, kind="spherical", **options):
    """A bob 1 m below the ground, on a joint of another length."""
    b = Builder("bob")
    b.body("bob", mass=1.0, inertia=INERTIA, r=(0, 0, -1.0), **options)
    if kind == "spherical":
        b.joint("rod", "spherical", GROUND, "bob", s_i=(0, 0, 0), s_j=(0, 0, length))
    else:
        b.joint("rod", "constant_distance", GROUND, "bob", s_i=(0, 0, 0), s_j=(0, 0, 0), l=length)
    return b


def said(build):
    """The sentences of a build, and the system."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        system = build()
    assert all(one.category is AssemblyWarning and one.filename == __file__ for one in given)
    assert system.assembly.remarks == tuple(str(one.message) for one in given)
    return [str(one.message) for one in given], system


# --- bodies that are moved ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["spherical", "distance"])
def test_a_length_of_1000_for_1_is_refused(kind):
    with pytest.raises(
        AssemblyError, match=r"^body 'bob' would have to move by 999 m, where .* size of 1 m, .*rod\..*; correct its"
    ):
        bob(1000.0, kind=kind).build()


@pytest.mark.parametrize("kind", ["spherical", "distance"])
def test_a_moved_body_is_named(kind):
    (sentence,), system = said(lambda: bob(1.01, kind=kind).build())
    assert sentence.startswith(
        "body 'bob' was moved by 0.01 m, where the model has a size of 1 m, and turned by 0 rad, to satisfy rod."
    )
    assert system.state.r["bob"][2] == pytest.approx(-1.01)


def test_bodies_of_first_guesses_move_before_others():
    def arm(guess):
        b = Builder("arm")
        b.body("upper", mass=1.0, inertia=INERTIA, r=(0, 0, -0.5), free=True)
        b.body("lower", mass=1.0, inertia=INERTIA, r=(0, 0, -1.8), free=True, guess=guess)
        b.joint("elbow", "spherical", "upper", "lower", s_i=(0, 0, -0.5), s_j=(0, 0, 0.5))
        return b.build()

    sentences, system = said(lambda: arm(True))
    assert sentences == []
    assert abs(system.state.r["upper"][2] + 0.5) < 1e-5 and abs(system.state.r["lower"][2] + 1.5) < 1e-5
    (sentence,), _ = said(lambda: arm(False))
    assert re.match(
        r"body 'upper' was moved by 0\.15 m, .*, and 1 other by less, .* elbow\.point_z, off by 0\.3 m", sentence
    )


def on_an_axle(a_j, kind="revolute", bodies=(GROUND, "wheel"), a_i=(0, 0, 1)):
    b = Builder("turned")
    b.body("wheel", mass=1.0, inertia=INERTIA)
    b.joint("axle", kind, *bodies, s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=a_i, a_j=a_j)
    return b.build()


def test_a_turned_body_is_named():
    (sentence,), _ = said(lambda: on_an_axle((0, np.sin(0.05), np.cos(0.05))))
    assert "body 'wheel' was moved by 0 m" in sentence and "turned by 0.05 rad" in sentence


def test_what_drivers_move_is_meant_to_move():
    def driven(length):
        b = bob(length)
        b.driver("turn", "guided_cardan", "bob", alpha_t=0.5, beta_t=0.2, gamma_t=0.1)
        return b

    sentences, system = said(lambda: driven(1.0).build())
    assert sentences == [] and system.assembly.largest_turn > 0.4
    (sentence,), _ = said(lambda: driven(1.1).build())
    assert "was moved by 0.1 m" in sentence
    with pytest.raises(AssemblyError, match="would have to move|could not assemble"):
        driven(1000.0).build()


# --- velocities -----------------------------------------------------------------------------------------------------------------


def test_a_changed_velocity_is_named():
    b = bob(1.0, v=(0.48, 0.0, 0.0))
    (sentence,), system = said(lambda: b.build(project_velocities=True))
    v = system.state.v["bob"][0]
    assert 0.0 < v < 0.48
    assert sentence.startswith(
        f"v of body 'bob' was changed from (0.48, 0, 0) to ({v:.4g}, 0, 0) m/s, to satisfy the constraints; "
    )
    assert "guess=True" in sentence


def test_velocities_that_no_projection_makes_consistent_have_another_remedy(monkeypatch):
    monkeypatch.setattr(system_building.projection, "project_velocities", lambda time, y, *rest: y)  # as if it failed
    with pytest.raises(
        AssemblyError, match="inconsistent initial velocities: .* the rows contradict each other"
    ) as refused:
        bob(1.0, v=(0.48, 0, 0)).build(project_velocities=True)
    assert "project_velocities=True" not in str(refused.value)


# --- closed loops ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tilt", [1e-8, 1e-6, 2e-5])
def test_a_loop_that_closes_to_data_accuracy_only_is_refused(tilt):
    with pytest.raises(AssemblyError) as refused:
        four_bar_of_tilted_hinges(tilt).build(project_velocities=True)
    text = str(refused.value)
    assert text.startswith("a closed loop closes to the accuracy of its data only: ")
    assert " of the loop of A, B, C, D depends on the other rows to within " in text and "build(adjust=True)" in text
    accuracy = float(re.search(r"to within ([\d.e-]+),", text)[1])
    assert 0.05 * tilt < accuracy < 2.0 * tilt


@pytest.mark.parametrize("tilt", [1e-4, 5e-4])
def test_a_locked_loop_is_named(tilt):
    (locked, stopped), system = said(lambda: four_bar_of_tilted_hinges(tilt).build(project_velocities=True))
    assert system.degrees_of_freedom == 0
    assert locked.startswith("system 'tilted' has nearly dependent rows: ")
    assert "which leaves 0 degrees of freedom in place of 1; " in locked and "build(adjust=True)" in locked
    assert re.match(r"v of body '\w+' was changed from \(.*\) to \(0, 0, 0\) m/s", stopped)
    with pytest.raises(AssemblyError, match="^inconsistent initial velocities: .* has nearly dependent rows: "):
        four_bar_of_tilted_hinges(tilt).build()


def test_a_loop_that_closes_to_few_digits_only_is_told_what_to_do():
    with pytest.raises(
        AssemblyError, match=r"could not assemble: .* worst row \w+\.\w+; start nearer .* rounded data: .*adjust=True"
    ):
        rounded(bennett, 4).build()


def test_a_mechanism_without_degrees_of_freedom_is_named():
    b = Builder("held")
    b.body("beam", mass=1.0, inertia=INERTIA)
    for name, at, axis in (("left", -1.0, (0, 1, 0)), ("right", 1.0, (0, 0, 1))):
        b.joint(
            name,
            "revolute",
            GROUND,
            "beam",
            s_i=(at, 0, 0),
            s_j=(at, 0, 0),
            a_i=axis,
            a_j=axis,
        )
    (sentence,), system = said(b.build)
    assert system.degrees_of_freedom == 0
    assert sentence.startswith(
        "system 'held' has 0 degrees of freedom and cannot move: its 6 independent rows hold all bodies; "
    )


def test_a_change_of_parameters_that_locks_a_loop_is_named():
    system = models.four_bar.build("revolute")
    axis = np.array([0.0, np.cos(1e-3), np.sin(1e-3)])
    with pytest.warns(AssemblyWarning, match="nearly dependent rows"):
        locked = runtime.with_parameters(
            system, {"a_i.A": axis, "a_j.A": rotation_matrix(system.state.p["crank"]).T @ axis}
        )
    assert locked.degrees_of_freedom == 0 and locked.rank == 18
    assert system.degrees_of_freedom == 1


# --- opposite axes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "translational"])
@pytest.mark.parametrize("bodies", [(GROUND, "wheel"), ("wheel", GROUND)])
def test_a_joint_on_its_reversed_branch_is_named(kind, bodies):
    (sentence,), _ = said(lambda: on_an_axle((0, -0.6, -0.8), kind, bodies, (0, 0.6, 0.8)))
    assert sentence == (
        f"joint 'axle' ({kind}): a_i and a_j point against each other, which closes the joint on its reversed branch; turn one "
        "of them around, such as a_j = (0, 0.6, 0.8)"
    )
    assert said(lambda: on_an_axle((0, 0.6, 0.8), kind, bodies, (0, 0.6, 0.8)))[0] == []


# --- right models ---------------------------------------------------------------------------------------------------------------


def shaft(kind, v, omega):
    b = Builder("shaft")
    b.body("shaft", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.0, 0.0, 1.0), v=v, omega=omega, free=True)
    b.joint("bearing", kind, "ground", "shaft", s_i=(0, 0, 0), s_j=(0, 0, -1), a_i=(0, 0, 1), a_j=(0, 0, 1))
    return b


def fixed():
    b = Builder("fixed")
    b.body("beam", mass=1.0, inertia=INERTIA)
    b.joint("wall", "fixed", GROUND, "beam")
    return b


def free_axes():
    b = Builder("free axes")
    b.body("rod", mass=1.0, inertia=INERTIA, free=True)
    b.driver("turn", "guided_cardan", "rod", alpha_t=0.0, beta_t=0.0, gamma_t=0.0)
    b.joint("line", "point_on_line", GROUND, "rod", s_i=(0, 0, 0), a_i=(0, 0, 1), s_j=(0, 0, 0))
    return b


MODELS = ("chain", "double_pendulum", "foot", "foot_ground", "four_bar", "free_body", "hooke_shaft", "pendulum")
PROJECTED = dict(project_velocities=True)
SILENT = {
    **{f"the shipped {name}": getattr(models, name).build for name in MODELS},
    "a thousandth of rounding, ball": bob(1.0005).build,
    "a thousandth of rounding, distance": bob(1.0005, kind="distance").build,
    "a body of a first guess": bob(1000.0, guess=True).build,
    "consistent velocities": partial(bob(1.0, v=(0.48, 0, 0), omega=(0, -0.48, 0)).build, **PROJECTED),
    "the velocity of a first guess": partial(bob(1.0, v=(0.48, 0, 0), guess=True).build, **PROJECTED),
    "rounding of v that is zero": partial(shaft("revolute", (0, 1e-17, 0), (0, 0, 2)).build, **PROJECTED),
    "rounding of omega that is zero": partial(shaft("translational", (0, 0, 2), (0, 1e-17, 0)).build, **PROJECTED),
    "data of all digits": four_bar_of_tilted_hinges(0.0).build,
    "data of twelve digits": four_bar_of_tilted_hinges(1e-12).build,
    "data of eleven digits": four_bar_of_tilted_hinges(1e-11).build,
    "what is fixed is meant to be": fixed().build,
    "a loop that moves": partial(models.four_bar.build, "revolute", crank=0.2, coupler=0.5, rocker=0.4, base=0.5),
    "opposite axes that no joint holds parallel": free_axes().build,
}


@pytest.mark.parametrize("name", SILENT)
def test_right_models_are_built_without_a_word(name):
    sentences, system = said(SILENT[name])
    assert sentences == [] and system.assembly.adjustments == ()
    assert system.degrees_of_freedom > 0 or name.startswith("what is fixed")


def test_a_start_outside_a_cone_by_more_than_its_compliance_is_remarked_on():
    assert models.pendulum.build("planar", limits="elastic", angle=1.5).assembly.remarks == ()  # by 0.09 rad
    system = models.pendulum.build("planar", limits="elastic", angle=1.7)
    (remark,) = system.assembly.remarks
    excess = runtime.simulate(system, 0.01).limits["pivot"].excess[0]
    assert excess > 0.2007 and f"the start is {excess:.4g} rad (15.2 degrees) outside its cone" in remark
    assert remark.startswith("limit 'pivot' of joint 'pivot': ") and "compliance of 0.2007 rad" in remark
