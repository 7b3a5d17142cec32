"""The sole in two rows: its spheres against contacts of the runtime, its fit, and the force from markers alone."""

from dataclasses import replace

import numpy as np
import pytest

from models.walking import Filters, foot_correction, leg_foot, predict_from_markers
from models.walking.contact import in_stance
from models.walking.norms import CYCLE
from models.walking.plantar import NAMES, OF_GROUP, ON_TOES, RADII, foot_motion, spheres_of
from models.walking.plantar_data import PUBLISHED, SOLE
from models.walking.plantar_fit import SIZES, fit_plantar, sample_of, sole_of
from models.walking.plantar_load import expected_force
from models.walking.pressure_path import GUIDES, MAX_DEVIATION, RIDGE, STANCE, fit_guidance, guides_of
from models.walking.whole_body import SEGMENTS, _segments, body_motion
from runtime import inverse_dynamics
from runtime.support import GRAVITY
from tests.support.refusals import assert_refused
from tests.support.whole_walker import PELVIS, vertical_force, whole_walker

OFF = Filters.off()


@pytest.fixture(scope="module")
def walk():
    return whole_walker()


@pytest.fixture(scope="module")
def load(synthetic_walk, walk):
    return predict_from_markers(synthetic_walk, walk, filters=OFF)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


@pytest.mark.slow
def test_spheres_press_like_contacts_of_the_runtime(synthetic_walk):
    one = synthetic_walk
    foot, lower = foot_motion(one), 0.004
    sole = replace(SOLE, rocker=np.zeros(3))
    ours = foot.weight * spheres_of(foot, sole).forces(np.full((len(foot.t), 1), -lower))
    b = leg_foot.driven(one.subject, one.coordinates, "two rows")
    L = foot.length
    on_foot = np.flatnonzero(~ON_TOES)
    for k in on_foot:
        x, y = foot.places[k] + (L * sole.forward[OF_GROUP[k]], 0.0)
        z = foot.base + (RADII[k] + sole.heights[k]) * L
        b.contact(
            NAMES[k], "main_foot", centre=(x, y, z), radius=RADII[k] * L, law="hertz",
            stiffness=foot.weight * sole.stiffness[OF_GROUP[k]] / L**1.5, point=(0.0, 0.0, foot.floor + lower),
        )  # fmt: skip
    motion = inverse_dynamics(b.build(time=float(one.t[0])), one.t)
    expected = np.column_stack([motion.contacts[NAMES[k]].normal_force for k in on_foot])
    assert expected.max() > 50.0 and (expected > 0.0).any(axis=0).sum() >= 6
    assert np.abs(ours[:, on_foot] - expected).max() < 1e-6


def test_toes_stay_flat_while_the_heel_is_up(synthetic_walk):
    foot = foot_motion(replace(synthetic_walk, toes_guided=False))
    heel_up = foot.A[:, 2, 0] < -0.1
    # The hinge is oblique, so that a little of the slope remains.
    assert foot.A[:, 2, 0].min() < -0.5 and np.abs(foot.toes_A[heel_up, 2, 0]).max() < 0.1
    assert (foot.toes_A[foot.A[:, 2, 0] > 0.0] == foot.A[foot.A[:, 2, 0] > 0.0]).all()
    guided = foot_motion(synthetic_walk)
    assert (guided.toes_A == synthetic_walk.motion.rotations("toes")).all()


def test_the_lift_of_a_force_carries_it(synthetic_walk):
    spheres = spheres_of(foot_motion(synthetic_walk), SOLE)
    total = np.linspace(0.05, 1.2, len(synthetic_walk.t))
    assert np.abs(spheres.forces(spheres.lift_of(total)[:, None]).sum(axis=1) - total).max() < 1e-5
    assert np.isnan(spheres.centre(np.zeros((len(total), len(NAMES))))).all()


def test_the_body_gives_the_force_and_the_times_of_contact(synthetic_walk, walk):
    body = body_motion(synthetic_walk, walk, OFF)
    inner = slice(5, -5)
    assert np.abs(body.force[inner, 2] - vertical_force(body.t[inner])).max() < 1e-3
    assert np.abs(body.force[inner, :2]).max() < 1e-6  # the pelvis goes straight ahead at constant speed
    assert "pelvis" in body.note
    # The other foot is the same foot, half a cycle later.
    assert body.opposite_strike - body.strike == pytest.approx(CYCLE / 2.0, abs=0.005)
    assert body.off - body.opposite_off == pytest.approx(CYCLE / 2.0, abs=0.005)
    assert abs(body.strike - synthetic_walk.cycle.strike) < 0.04 and abs(body.off - synthetic_walk.cycle.off) < 0.04


def test_a_foot_is_loaded_while_it_is_slow(synthetic_walk, walk):
    body = body_motion(synthetic_walk, walk, OFF)
    speed = np.gradient(walk.markers["R_IAS"][:, 0], walk.t).mean()
    fore = np.mean([walk.markers[label][:, 0] for label in ("R_FM1", "R_FM2", "R_FM5")], axis=0)
    for x, time, part in ((walk.markers["R_FCC"][:, 0], body.strike, 0.2), (fore, body.off, 0.7)):
        assert np.interp(time, walk.t, np.gradient(x, walk.t)) / speed == pytest.approx(part, abs=1e-3)


@pytest.mark.parametrize("sex", ["female", "male", None])
def test_the_segments_are_the_whole_body(sex):
    labels = {
        label.format(s=side) for *_, first, last in SEGMENTS.values() for label in (*first, *last) for side in "LR"
    }
    weights, share = _segments(labels, sex)
    assert share == pytest.approx(1.0, abs=2e-4) and sum(weights.values()) == pytest.approx(share, abs=1e-12)
    assert min(weights.values()) >= 0.0
    without_arms, share = _segments({label for label in labels if label[2:] not in ("HLE", "HME")}, sex)
    assert 0.9 < share < 0.93 and not {"L_HLE", "R_HME"} & set(without_arms)


def test_shares_of_both_feet_are_the_force_on_both(synthetic_walk, walk):
    body = body_motion(synthetic_walk, walk, OFF)
    t = synthetic_walk.t
    both, share = expected_force(body, PUBLISHED, t)
    single = (t > body.opposite_off + 0.1) & (t < body.opposite_strike - 0.1)
    assert single.any() and (share[single] == 1.0).all()
    assert both[single, 2] == pytest.approx(vertical_force(t[single]), abs=1e-3)
    assert share[t > body.off + 0.1].max() == 0.0 and (share >= 0.0).all() and (share <= 1.0).all()


def test_the_prediction_uses_no_measured_force(synthetic_walk, walk, load):
    silent = replace(synthetic_walk, ground=replace(synthetic_walk.ground, force=0.0 * synthetic_walk.ground.force))
    again = predict_from_markers(silent, replace(walk, forces=()), filters=OFF)
    assert (again.force == load.force).all() and (again.lift == load.lift).all()


def test_spheres_carry_the_expected_force_near_the_markers(load):
    one, weight = load.trial, load.trial.subject.mass * GRAVITY
    stance = in_stance(one)
    total = sum(load.pressed.values())
    assert np.abs(total - load.force[:, 2]).max() < 1e-9 * weight
    assert rms((total - load.expected)[stance]) < 0.05 * weight
    assert max(force.max() for force in load.pressed.values()) < 0.5 * weight
    on = load.force[:, 2] > 0.1 * weight
    # The motion of the synthetic trial is not that of its foot: adults need 2 mm, root mean square.
    assert max(np.abs(shift[on]).max() for shift in (load.lift, load.tilt, load.roll)) < 0.02
    centre = foot_motion(one).in_foot(one.t[on], load.cop[on, :2])
    assert 0.0 < centre[:, 0].min() < centre[:, 0].max() < 1.1 and np.abs(centre[:, 1]).max() < 0.25
    # Moments without a plate have the sign and the size of those with one.
    ankle = load.motion.degrees_of_freedom[leg_foot.DEGREES_OF_FREEDOM["talocrural"]].effort
    assert ankle.min() == pytest.approx(one.moments["talocrural"].min(), rel=0.3)


def test_a_sphere_beyond_its_limit_sheds_load(synthetic_walk, walk, load, monkeypatch):
    monkeypatch.setattr(foot_correction, "MAX_FORCE", 0.2)
    limited = predict_from_markers(synthetic_walk, walk, filters=OFF)
    before, after = (max(f.max() for f in one.pressed.values()) for one in (load, limited))
    assert after < 0.9 * before


def test_a_fit_finds_a_sole_that_made_the_data(synthetic_walk, walk):
    sample = sample_of(synthetic_walk, body_motion(synthetic_walk, walk, OFF))
    true = sole_of(np.random.default_rng(5).uniform(-0.8, 0.8, sum(SIZES)))

    def centre(sole):
        spheres = spheres_of(sample.foot, sole)
        return spheres.centre(spheres.forces(spheres.lift_of(sample.force)[:, None]))

    made = replace(sample, cop=centre(true))
    found = fit_plantar([made, made])
    before, after = (rms(centre(sole) - made.cop) for sole in (sole_of(np.zeros(sum(SIZES))), found.sole))
    assert before > 0.004 and after < 0.25 * before and found.feet == 2
    assert found.vertical == pytest.approx(sample.vertical) and found.path == pytest.approx(sample.path)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            lambda w: {k: v for k, v in w.items() if k not in PELVIS},
            "neither markers of the whole body nor of the pelvis",
        ),
        (
            lambda w: {k: v for k, v in w.items() if k in PELVIS or k[0] == "R"},
            "no heel and forefoot markers of the left",
        ),
        (lambda w: {k: v * (0.0, 1.0, 1.0) if k in PELVIS else v for k, v in w.items()}, "needs a walk"),
    ],
)
def test_missing_markers_are_named(synthetic_walk, walk, changed, sentence):
    assert_refused(
        sentence, predict_from_markers, synthetic_walk, replace(walk, markers=changed(walk.markers)), filters=OFF
    )


def test_weights_of_the_body_are_checked(synthetic_walk, walk, load):
    again = predict_from_markers(synthetic_walk, walk, filters=OFF, body=dict.fromkeys(PELVIS, 2.0))
    assert np.abs(again.force - load.force).max() < 1e-6
    for body in ({}, {"L_IAS": -1.0}, {"L_IAS": 0.0}, {"L_IAS": np.nan}):
        assert_refused("body", predict_from_markers, synthetic_walk, walk, filters=OFF, body=body)
    assert_refused("no samples", fit_plantar, [])


def test_the_path_follows_the_motion_as_it_did_in_the_data():
    """Paths that are linear in the guides come back, less the ridge; guides far from the data are not extrapolated."""
    rng = np.random.default_rng(7)
    guides = rng.normal(size=(400, 21, len(GUIDES))) * (0.1, 0.02, 0.05, 0.2, 0.1) + 0.3
    slopes = rng.normal(size=(len(GUIDES), 2)) * 0.1
    paths = 0.5 + guides @ slopes
    found = fit_guidance(paths, guides)
    expected = slopes * guides.std(axis=0)[:, :, None] / (1.0 + RIDGE)
    assert found.change == pytest.approx(expected, abs=0.15 * np.abs(expected).max())
    assert found.shift(found.mean) == pytest.approx(0.0)
    assert found.shift(found.mean + found.sd) == pytest.approx(found.change.sum(axis=1), abs=1e-12)
    far, edge = (found.shift(found.mean + times * found.sd) for times in (50.0, MAX_DEVIATION))
    assert far == pytest.approx(edge) and np.abs(edge).max() > 0.0


def test_the_guides_are_those_of_the_stance(synthetic_walk, walk):
    foot, body = foot_motion(synthetic_walk), body_motion(synthetic_walk, walk, OFF)
    guides = guides_of(foot, body)
    t = body.strike + STANCE * (body.off - body.strike)
    assert guides[:, 0] == pytest.approx(np.interp(t, foot.t, foot.A[:, 2, 0]), abs=1e-12)
    # The body goes straight ahead at constant speed: its zero-moment point is below the centre of mass.
    pelvis = np.mean([walk.markers[label] for label in PELVIS], axis=0)
    below = foot.in_foot(t, np.column_stack([np.interp(t, walk.t, pelvis[:, k]) for k in (0, 1)]))
    assert guides[:, 3:] == pytest.approx(below, abs=1e-6)


def test_the_search_has_the_slopes_of_its_residuals(synthetic_walk, monkeypatch):
    """Three differences a frame against SciPy's, of all coefficients."""
    foot, seen = foot_motion(synthetic_walk), {}

    def stop(residuals, x0, jac, **settings):
        seen.update(residuals=residuals, x=x0 + 1e-4, jac=jac)
        raise StopIteration

    monkeypatch.setattr(foot_correction, "least_squares", stop)
    spheres = spheres_of(foot, SOLE)
    with pytest.raises(StopIteration):
        foot_correction.correction(
            foot, spheres, np.full(len(foot.t), 0.8), foot.in_laboratory(foot.t, np.full((len(foot.t), 2), 0.5))
        )
    x, found = seen["x"], seen["jac"](seen["x"])
    step = 1e-7
    columns = range(0, len(x), 7)
    for k in columns:
        other = x + step * (np.arange(len(x)) == k)
        expected = (seen["residuals"](other) - seen["residuals"](x)) / step
        assert np.abs(found[:, k] - expected).max() < 1e-4 * (1.0 + np.abs(expected).max())


def test_on_a_belt_the_path_moves_with_the_foot(synthetic_walk):
    foot = replace(foot_motion(synthetic_walk), belt=-1.2)
    path = np.column_stack([np.linspace(0.1, 0.8, len(foot.t)), np.zeros(len(foot.t))])
    points = foot.in_laboratory(foot.t, path)
    assert foot.in_foot(foot.t, points) == pytest.approx(path, abs=1e-12)
    still = replace(foot, belt=0.0).in_laboratory(foot.t, path)
    assert points[:, 0] - still[:, 0] == pytest.approx(-1.2 * (foot.t - foot.flat), abs=1e-12)
    assert foot.in_foot(foot.t, np.stack([points, points], axis=1))[:, 1] == pytest.approx(path, abs=1e-12)
