"""The foot against its motion in two angles, derived by another route from data that are typed again."""

import re
from functools import cache

import numpy as np
import pytest

import models
import runtime
from tests.papers.citations import RODRIGUES_2024C
from tests.papers.transcripts import paper_text
from tests.support.reduced_foot import (
    GRAVITY,
    LEG,
    LINK_LENGTH,
    MOVING,
    TALOCALCANEAL_AXIS,
    TALOCRURAL,
    TALOCRURAL_AXIS,
    ReducedFoot,
)

TIMES = np.linspace(0.0, 5.0, 251)
LENGTHS = [0.0, 0.036, LINK_LENGTH, 0.0474]


def build(length):
    return models.foot.build("modified", link_length=length) if length else models.foot.build("classical")


@cache
def reference(length, rates=(0.0, 0.0)):
    foot = ReducedFoot(length)
    return foot.bodies(foot.solve(TIMES, rates))


@cache
def simulated(length):
    return runtime.simulate(build(length), TIMES[-1], t_eval=TIMES)


def distance(run, motions, quantity):
    return max(np.abs(getattr(run, quantity)[name] - getattr(motions[name], quantity)).max() for name in MOVING)


# --- the motion ----------------------------------------------------------------------------------------------------


def test_link_of_length_zero_is_the_classical_ankle():
    zero = runtime.simulate(models.foot.build("modified", link_length=0.0), TIMES[-1], t_eval=TIMES)
    assert np.array_equal(zero.states, simulated(0.0).states)
    assert np.array_equal(zero.lam["ankle"], simulated(0.0).lam["ankle"])


def test_modified_ankle_moves_otherwise_and_longer_links_more_to_the_medial_side():
    # Rodrigues da Silva et al. (2024a), third analysis: longer links move the main foot farther to the medial side.
    shift = [simulated(length).r["main_foot"][:, 1].mean() for length in LENGTHS]
    assert (np.diff(shift) > 0.0).all()


def test_default_length_of_the_link_is_the_published_one():
    assert models.foot.build().joint("ankle").values["l"] == LINK_LENGTH
    assert np.array_equal(models.foot.build().state.y, build(LINK_LENGTH).state.y)


@pytest.mark.parametrize("length", [0.0, LINK_LENGTH])
def test_velocities_are_projected_onto_the_nearest_admissible_ones(length):
    # Only the main foot is pushed: the nearest motion by kinetic energy is that of an impulse on the mechanism.
    system = build(length)
    omega = np.array([0.7, -1.3, 2.1])
    state = runtime.assemble(system, system.state.replace(omega={"main_foot": omega}))
    foot = ReducedFoot(length)
    motions = [foot.bodies(np.array([[0.0, 0.0, *rates]])) for rates in np.eye(2)]
    M, impulse = np.zeros((2, 2)), np.zeros(2)
    for name, body in MOVING.items():
        slope = np.stack([np.concatenate([m[name].v[0], m[name].omega[0]]) for m in motions], axis=1)
        inertia = np.diag([body["mass"]] * 3 + list(body["moments"]))
        M += slope.T @ inertia @ slope
        if name == "main_foot":
            impulse += slope.T @ inertia @ [0, 0, 0, *omega]
    rates = np.linalg.solve(M, impulse)
    expected = foot.bodies(np.array([[0.0, 0.0, *rates]]))
    for name in MOVING:
        assert np.abs(state.v[name] - expected[name].v[0]).max() < 1e-14
        assert np.abs(state.omega[name] - expected[name].omega[0]).max() < 1e-13


# --- the reactions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", LENGTHS)
def test_reactions_balance_weight_and_inertia(length):
    run, motions = simulated(length), reference(length)
    force = sum(motions[name].force for name in MOVING)
    moment = sum(motions[name].moment for name in MOVING)  # about the talocrural point
    assert np.abs(force).max() > 10.0

    on_foot = run.reaction("ankle", on="main_foot", at="centre")
    about_talocrural = on_foot.moment + np.cross(run.r["main_foot"] - TALOCRURAL, on_foot.force)
    assert np.abs(on_foot.force - force).max() < 1e-8
    assert np.abs(about_talocrural - moment).max() < 1e-9

    on_leg = run.reaction("ankle", on="leg")  # at s_j, the talocrural point
    assert np.abs(on_leg.force + force).max() < 1e-8
    assert np.abs(on_leg.moment + moment).max() < 1e-9

    # The massless link turns freely about both axes.
    talocalcaneal = run.reaction("ankle", on="main_foot", axes="main_foot")  # at s_i
    assert np.abs(talocalcaneal.moment @ TALOCALCANEAL_AXIS).max() < 1e-12
    assert np.abs(on_leg.moment @ TALOCRURAL_AXIS).max() < 1e-12

    ground = run.reaction("ground", on="leg", at=TALOCRURAL - LEG["r"])
    weight = -LEG["mass"] * GRAVITY
    assert np.abs(ground.force - (force + weight)).max() < 1e-8
    assert np.abs(ground.moment - (moment + np.cross(np.subtract(LEG["r"], TALOCRURAL), weight))).max() < 1e-9


@pytest.mark.parametrize("length", [0.0, LINK_LENGTH])
def test_reactions_in_the_locked_joint_of_the_toes(length):
    run, toes = simulated(length), reference(length)["toes"]
    for on, sign in (("toes", 1.0), ("main_foot", -1.0)):
        force, moment = np.zeros((2, *run.r["toes"].shape))
        for joint in ("metatarsophalangeal", "metatarsophalangeal_lock"):
            part = run.reaction(joint, on=on, at="centre")
            force += part.force
            moment += part.moment + np.cross(run.r[on] - TALOCRURAL, part.force)
        assert np.abs(sign * force - toes.force).max() < 1e-8
        assert np.abs(sign * moment - toes.moment).max() < 1e-9


def test_reaction_axes_and_points():
    run = simulated(LINK_LENGTH)
    p = run.p["main_foot"]
    e0, e = p[:, :1], p[:, 1:]

    def to_body(x):
        """A^T x by the formula of Rodrigues."""
        return x - 2 * e0 * np.cross(e, x) + 2 * np.cross(e, np.cross(e, x))

    centre = run.reaction("ankle", on="main_foot", at="centre")
    local = run.reaction("ankle", on="main_foot", at="centre", axes="main_foot")
    assert np.abs(local.force - to_body(centre.force)).max() < 1e-13
    assert np.abs(local.moment - to_body(centre.moment)).max() < 1e-14
    point = np.array([0.01, -0.02, 0.03])
    moved = run.reaction("ankle", on="main_foot", at=point, axes="main_foot")
    assert np.abs(moved.moment - (local.moment - np.cross(point, local.force))).max() < 1e-14
    assert np.array_equal(moved.force, local.force)


# --- the data ------------------------------------------------------------------------------------------------------


def printed_tables():
    """Tables 1 to 4 of Rodrigues da Silva et al. (2024c): {number: [cells of a row]}."""
    text = paper_text(RODRIGUES_2024C)
    tables = {}
    for number in range(1, 5):
        caption = re.search(rf"^\**Table {number}\**\s*$", text, re.MULTILINE)
        lines = text[caption.end() :].splitlines()
        first = next(k for k, line in enumerate(lines) if "\t" in line)
        length = next(k for k, line in enumerate(lines[first:]) if "\t" not in line)
        tables[number] = [line.split("\t") for line in lines[first : first + length]]
    return tables


def numbers(cells):
    return [float(cell) for cell in cells]


def test_model_holds_the_published_tables():
    tables = printed_tables()
    system = models.foot.build()
    names = {"Toes (1)": "toes", "Main Foot (2)": "main_foot", "Leg (3)": "leg"}
    seen = 0
    for row in tables[1]:
        if row[0] in names:
            body = names[row[0]]
            assert np.array_equal(system.state.r[body], numbers(row[1:4]))
            assert np.array_equal(system.state.p[body], numbers(row[4:8]))
            seen += 1
    for row in tables[2]:
        if row[0] in names:
            body = system.body(names[row[0]])
            assert body.mass == float(row[2])
            assert np.array_equal(body.inertia, np.diag(numbers(row[3:6])))
            seen += 1
    points = {
        ("Metatarsophalangeal", "Toes (1)"): ("metatarsophalangeal", "s_i"),
        ("Metatarsophalangeal", "Main Foot (2)"): ("metatarsophalangeal", "s_j"),
        ("Talocalcaneal", "Main Foot (2)"): ("ankle", "s_i"),
        ("Talocrural", "Leg (3)"): ("ankle", "s_j"),
    }
    for row in tables[3]:
        if (row[0], row[1]) in points:
            joint, key = points[row[0], row[1]]
            # The talocalcaneal point follows from the talocrural one and the length of the link.
            assert np.abs(system.joint(joint).values[key] - numbers(row[2:5])).max() < 1e-16
            assert names[row[1]] in (system.joint(joint).body_i, system.joint(joint).body_j)
            seen += 1
    assert seen == 10
    cells = [cell for row in tables[4] for cell in row]
    after = dict(zip(cells, cells[1:], strict=False))
    assert after["Baumgarte coefficient - $\\alpha$"] == "5"
    assert after["Baumgarte coefficient - $\\beta$"] == "5"
    assert after["Simulation time"] == "5 s"
    run = runtime.simulate(system, 0.01)
    assert (run.data.alpha, run.data.beta) == (5.0, 5.0)
    assert np.array_equal(system.gravity, GRAVITY)


def test_axes_of_the_model():
    values = models.foot.build().joint("ankle").values
    assert np.abs(values["a_i"] - TALOCALCANEAL_AXIS).max() < 1e-15
    assert np.abs(values["a_j"] - TALOCRURAL_AXIS).max() < 1e-15
    # Their projections on the cardinal planes show the published angles: rho and epsilon in the transverse plane.
    x, y, z = np.degrees(np.arctan2(values["a_i"][[1, 2, 2]], values["a_i"][[0, 0, 1]]))
    assert (x, y) == pytest.approx((19.8, 35.3), abs=1e-12)
    epsilon, tau = np.degrees(np.arctan2(values["a_j"][[0, 2]], values["a_j"][[1, 1]]))
    assert (epsilon, tau) == pytest.approx((6.0, 8.0), abs=1e-12)
