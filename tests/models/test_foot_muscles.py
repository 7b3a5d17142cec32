"""Muscles of the foot: places on the generic leg scaled to the foot, groups, and what their excitations do in a landing."""

import json
from dataclasses import replace

import numpy as np
import pytest

import models
import runtime
from models.foot_muscles import GROUPS, NAMES
from models.generic_bones import generic_leg
from models.studies.landing.runs import Case, Control, landed
from tests.support.paths import ROOT
from tests.support.refusals import assert_refused

OPENSIM = json.loads((ROOT / "tests" / "support" / "opensim_generic_leg.json").read_text())
# (2024c), Tables 1 and 3, from the talocrural joint: the knee of the drawn leg, the ball, and centres of mass.
KNEE, BALL = 0.19 + 0.2438, np.array([0.0907 + 0.0996 - 0.0544, 0.0, 0.0562 - 0.038 - 0.1075])
CENTRES = {
    "leg": np.array([0.0, 0.0, 0.2438]), "main_foot": np.array([0.0363, 0.0, -0.0513]),
    "toes": np.array([0.2177 - 0.0544, 0.0, 0.0367 - 0.1075]),
}  # fmt: skip
BELOW = {"tibia": "leg", "femur": "leg", "calcn": "main_foot", "toes": "toes"}
LANDING = Case(20.0, 0.05, control=Control(("evertors",), ("evertors",), 0.06))
SETTINGS = dict(after=0.08, tolerance=1e-7)


def ours(v):
    """A vector of OpenSim (x anterior, y up, z to the right) in axes of the foot (x anterior, y medial, z up)."""
    x, y, z = np.asarray(v, float)
    return np.array([x, -z, y])


def expected(body, at):
    """A point of the generic leg on the published foot, from the talocrural joint."""
    centres = {name: ours(at) for name, at in generic_leg()["centres"].items()}
    to_ball = centres["mtp"] + centres["subtalar"]
    along, size = BALL[0] / to_ball[0], KNEE / 0.43
    if body == "calcn":
        return along * (ours(at) + centres["subtalar"])
    if body == "toes":
        return BALL + along * ours(at)
    if body == "femur":
        return np.array([0.0, 0.0, KNEE]) + size * (ours(at) - centres["knee"])
    x, y, z = ours(at)
    medial = -ours(generic_leg()["directions"]["talocrural"])
    turn = np.arctan2(*models.foot.talocrural_axis()[1::-1]) - np.arctan2(*medial[1::-1])  # of the talocrural axes
    turned = (x + 1j * y) * np.exp(1j * turn * np.clip(-z / 0.43, 0.0, 1.0))
    return np.array([0.0, 0.0, KNEE]) + size * np.array([turned.real, turned.imag, z])


def points_of(system, name):
    """Points of a muscle from the talocrural joint, with their bodies."""
    known, found = runtime.parameters(system), []
    (force,) = [force for force in system.forces if force.name == name]
    for n in range(1, 10):
        for letter, body in zip("ijkl", force.bodies, strict=False):
            if f"s_{n}_{letter}.{name}" in known:
                found.append((body, CENTRES[body] + known[f"s_{n}_{letter}.{name}"]))
    return found


def test_points_are_those_of_the_generic_leg_scaled_to_the_foot():
    system = models.foot.build(muscles=True)
    for name in NAMES:
        own = [one for one in generic_leg()["muscles"][name]["points"]]  # all belong to the path of a straight knee
        found = points_of(system, name)
        assert [body for body, _ in found] == [BELOW[one["body"]] for one in own]
        for (_, at), one in zip(found, own, strict=True):
            assert at == pytest.approx(expected(one["body"], one["at"]), abs=1e-9), (name, one)


def arms(system, pose=(0.0, 0.0)):
    """Moment arms [m] of dorsiflexion and inversion by muscle."""
    m = runtime.mechanics(system)
    assert m.coordinate_names == ("ankle.theta_j", "ankle.theta_i")
    return {name: m.moment_arms(name, np.array(pose)) * (1.0, -1.0) for name in NAMES}


@pytest.mark.parametrize("ankle", ["classical", "modified"])
def test_arms_about_the_ankle_are_near_those_of_the_generic_leg_and_have_the_signs_of_the_groups(ankle):
    """The talocrural axis of the foot differs from that of gait2392 by a few degrees, the subtalar axis by more."""
    found, neutral = arms(models.foot.build(ankle, muscles=True)), OPENSIM["paths"][0]
    assert not any(neutral["q"].values())
    for name, (dorsiflexion, _) in found.items():
        assert dorsiflexion == pytest.approx(neutral["arms"][f"{name}_r"][2], abs=0.006), name
    assert all(found[name][1] < -0.015 for name in GROUPS["evertors"])
    assert all(found[name][1] > 0.015 for name in GROUPS["invertors"] if name != "ext_hal")
    assert all(found[name][0] < -0.04 for name in GROUPS["plantarflexors"]) and found["tib_ant"][0] > 0.04


def test_a_left_foot_is_the_mirror_image():
    right, left = (arms(models.foot.build(side=side, muscles=True), (0.1, -0.2)) for side in ("right", "left"))
    for name in NAMES:
        assert left[name] == pytest.approx(right[name], abs=1e-12)


def test_muscles_grow_with_leg_and_foot():
    one, two = (
        runtime.parameters(models.foot.build(height=h, muscles={"strength": s})) for h, s in ((1.77, 1.0), (1.947, 2.0))
    )
    for name in NAMES:
        for constant, factor in (
            ("optimal_fiber_length", 1.1),
            ("tendon_slack_length", 1.1),
            ("max_isometric_force", 2.0),
        ):
            assert two[f"{constant}.{name}"] == pytest.approx(factor * one[f"{constant}.{name}"], rel=1e-9)


def test_later_groups_and_muscles_count_and_a_reflex_acts_on_its_group():
    system = models.foot.build(
        muscles={
            "co_activation": {"all": 0.1, "evertors": 0.5, "per_tert": 0.2},
            "reflex": {"gain": 2.0, "delay": 0.04, "of": ["evertors", "tib_ant"]},
        }
    )  # fmt: skip
    known = runtime.parameters(system)
    levels = {name: known[f"excitation.{name}"] for name in NAMES}
    assert levels == dict.fromkeys(NAMES, 0.1) | dict.fromkeys(GROUPS["evertors"], 0.5) | {"per_tert": 0.2}
    assert {name for name in NAMES if f"gain.{name}" in known} == {*GROUPS["evertors"], "tib_ant"}
    assert known["gain.tib_ant"] == 2.0 and known["delay.tib_ant"] == 0.04


def test_other_laws_keep_their_own_constants():
    known = runtime.parameters(models.foot.build(muscles={"law": "de_groote_as_opensim", "tendon": "rigid"}))
    assert "fmax_tendon_strain.soleus" not in known and "max_isometric_force.soleus" in known


@pytest.mark.parametrize(
    "muscles, message",
    [
        ({"coactivation": 0.3}, "muscles: unknown 'coactivation'; use law, tendon, co_activation"),
        ({"co_activation": {"peronei": 0.3}}, "muscles: co_activation of 'peronei'; use all, invertors, evertors"),
        ({"co_activation": 1.5}, "excitation"),
        ({"reflex": 2.0}, "muscles: reflex = 2.0; give a mapping from names"),
        ({"reflex": {"gain": 1.0, "of": 3}}, "muscles: reflex of 3; use all"),
        ({"constants": {1: 2.0}}, "muscles: constants"),
    ],
)  # fmt: skip
def test_unknown_options_are_refused(muscles, message):
    assert_refused(message, models.foot.build, muscles=muscles)


def peak(**changed):
    return landed("modified", replace(LANDING, **changed), None, None, **SETTINGS).peak("subtalar")


def test_muscles_without_activation_and_passive_force_change_nothing():
    silent = {
        "tendon": "rigid",
        "co_activation": 0.0,
        "constants": {"minimum_activation": 0.0, "fmax_muscle_strain": 1e9},
    }
    with_them, without = (
        runtime.simulate(
            models.foot.build(
                ground=True, leg="free", clearance=0.0, velocity=(0.0, 0.0, -1.0), incline_deg=20.0, limits="dissipative",
                toes="sprung", transition_velocity=0.02, muscles=muscles,
            ), 0.05, t_eval=np.linspace(0.0, 0.05, 51), rtol=1e-8, atol=1e-8,
        ).angles["ankle"]
        for muscles in (silent, None)
    )  # fmt: skip
    assert np.abs(without.theta_i).max() > 0.05
    assert with_them.theta_i == pytest.approx(without.theta_i, abs=1e-5)
    assert with_them.theta_j == pytest.approx(without.theta_j, abs=1e-5)


def test_activated_evertors_reduce_the_peak_and_invertors_raise_it():
    few, more = (peak(co_activation=level) for level in (0.02, 0.1))
    inverting = peak(co_activation=0.1, control=LANDING.control._replace(co_activation_of=("invertors",)))
    assert 0.0 <= more < few < peak() < inverting


def test_a_landing_from_touch_down_on_is_that_of_the_whole_fall():
    whole = landed("modified", replace(LANDING, control=None), None, None, **SETTINGS)
    begun = landed("modified", LANDING, None, None, **SETTINGS)
    assert begun.touch_down == 0.0 and whole.touch_down == pytest.approx(LANDING._time_of_fall)
    assert begun.peak("subtalar") == pytest.approx(whole.peak("subtalar"), abs=2e-3)


def test_a_reflex_acts_after_its_delay_and_not_before():
    early, late, without = (
        landed("modified", replace(LANDING, reflex=gain, control=LANDING.control._replace(delay=delay)), None, None, **SETTINGS)
        for gain, delay in ((20.0, 0.03), (20.0, 1.0), (1e-12, 0.0))
    )  # fmt: skip
    inversion = [one.run.angles["ankle"].theta_i for one in (early, late, without)]
    assert inversion[1] == pytest.approx(inversion[2], abs=1e-5)
    assert inversion[0][:31] == pytest.approx(inversion[2][:31], abs=1e-5)
    assert np.abs(inversion[0] - inversion[2]).max() > 1e-3


def test_co_activation_by_the_names_of_one_system_is_that_of_systems_of_their_own():
    """With a rigid tendon the activation is the only state of a muscle."""

    def falling(level):
        return models.foot.build(
            ground=True, leg="free", clearance=0.0, velocity=(0.0, 0.0, -1.0), incline_deg=20.0, limits="dissipative",
            transition_velocity=0.02, muscles={"tendon": "rigid", "co_activation": {"evertors": level}},
        )  # fmt: skip

    t, levels = np.linspace(0.0, 0.05, 51), np.array([0.01, 0.04, 0.2])
    cases = {f"{name}.{muscle}": levels for muscle in GROUPS["evertors"] for name in ("excitation", "activation_0")}
    many = runtime.simulate_many(
        falling(0.1), cases, 0.05, t_eval=t, outputs=["min(angle.ankle.theta_i)"], rtol=1e-8, atol=1e-8
    )
    for level, found in zip(levels, many["min(angle.ankle.theta_i)"], strict=True):
        run = runtime.simulate(falling(level), 0.05, t_eval=t, rtol=1e-8, atol=1e-8)
        assert found == pytest.approx(run.angles["ankle"].theta_i.min(), abs=1e-6)
