"""Recorded subjects: moments and angles without the model's joints, against a worked trial and what is known of gait."""

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from models.walking import rebuild, scale_to_subject, segment_pose
from models.walking.anthropometry import PUBLISHED_FOOT_LENGTH
from models.walking.capture import Capture, Subject, read_capture
from models.walking.marker_sets import SIDES
from models.walking.segment_motion import MAX_MEDIAN_CHANGE
from runtime import ModelError
from tests.support.paths import shared_file
from tests.support.standing_subject import SUBJECT, lab
from tests.support.tables import columns, rows_of


def to_talus(p):
    return np.stack([p[..., 0], -p[..., 2], p[..., 1]], axis=-1)


@cache
def adult(side="right"):
    rows = rows_of("dev/schreiber_moissenet/csv/2014001_static_markers.csv")
    markers = {row["marker"]: to_talus(np.array([[float(row[k]) for k in "xyz"]])) for row in rows}
    static = Capture("ST", np.zeros(1), markers, subject=Subject(mass=67.0, height=1.655, sex="male"))
    return scale_to_subject(static if side == "right" else static.mirrored(), side)


@cache
def adult_walks(trial, side="right"):
    walk = read_capture(shared_file("gait", f"dev/schreiber_moissenet/csv/2014001_{trial}_markers.csv"))
    return walk if side == "right" else walk.mirrored()


@cache
def shod(side="right"):
    static = read_capture(shared_file("gait", "dev/opensim_subject01/subject01_static.trc"))
    return scale_to_subject(static if side == "right" else static.mirrored(), side, mass=72.6, height=1.803)


@cache
def shod_walks(side="right"):
    walk = read_capture(shared_file("gait", "dev/opensim_subject01/subject01_walk1.trc"))
    return walk if side == "right" else walk.mirrored()


def ankle(subject, trial):
    """Middle of the talocrural axis (n, 3), half way between where leg and foot carry it; dorsiflexion axis (n, 3)."""
    poses, foot_ = segment_pose(subject, trial), subject.bodies["main_foot"]
    local = subject.talocrural.points["leg"]
    by_leg = poses["leg"].r + poses["leg"].A @ local
    by_foot = poses["main_foot"].r + poses["main_foot"].A @ foot_.local(lab(subject, "leg", local))
    return (by_leg + by_foot) / 2, -(poses["leg"].A @ subject.talocrural.axes["leg"])


def quasi_static(subject, trial, ground):
    """Moment [N m/kg] of the ground about the talocrural axis; the plantarflexors balance it, apart from inertia."""
    point, axis = ankle(subject, trial)
    on = np.isfinite(ground.cop).all(axis=1)
    at = np.column_stack([np.interp(trial.t, ground.t[on], ground.cop[on, k]) for k in range(3)])
    force = np.column_stack([np.interp(trial.t, ground.t, ground.force[:, k]) for k in range(3)])
    moment = np.cross(at - point, force)
    moment[:, 2] += np.interp(trial.t, ground.t, ground.free_moment)
    return np.einsum("ni,ni->n", moment, axis) / subject.mass


def two_angles(subject, trial):
    """Angles (n,) [deg] about the dorsiflexion and inversion axes that turn the foot best, by Gauss-Newton."""
    poses, leg, main = segment_pose(subject, trial), subject.bodies["leg"], subject.bodies["main_foot"]
    at_rest = leg.A.T @ main.A
    relative = np.swapaxes(poses["leg"].A, 1, 2) @ poses["main_foot"].A @ at_rest.T
    first, second = -subject.talocrural.axes["leg"], at_rest @ subject.talocalcaneal.axes["main_foot"]
    x = np.zeros((len(trial.t), 2))
    for _ in range(20):
        one, two = (Rotation.from_rotvec(np.outer(a, n)) for a, n in zip(x.T, (first, second), strict=True))
        error = (Rotation.from_matrix(relative) * (one * two).inv()).as_rotvec()
        J = np.stack([np.broadcast_to(first, error.shape), one.apply(second)], axis=-1)
        x += np.linalg.solve(np.swapaxes(J, 1, 2) @ J, np.swapaxes(J, 1, 2) @ error[..., None])[..., 0]
    return np.degrees(x.T)


REFERENCE = "reference/leg3_2014001_C4_05.csv"


def test_moment_and_angles_of_the_worked_trial():
    t, tau, crural, subtalar = columns(
        REFERENCE, "time_s", "tau_talocrural_angle", "talocrural_angle", "subtalar_angle"
    )
    trial, subject = adult_walks("C4_05"), adult()
    moment = quasi_static(subject, trial, next(g for g in trial.forces if g.foot == "right"))
    here = (t >= 0.05) & (t <= 0.66)
    ours, reference = np.interp(t[here], trial.t, moment), -tau[here] / 67.0
    assert np.sqrt(np.mean((ours - reference) ** 2)) < 0.06
    assert ours.max() == pytest.approx(reference.max(), rel=0.08)
    here = (t >= 0.05) & (t <= 1.01)
    for ours, reference, limit in zip(two_angles(subject, trial), (crural, subtalar), (3.5, 5.0), strict=True):
        off = np.interp(t[here], trial.t, ours) - np.degrees(reference[here])
        assert off.std() < limit


def test_axes_of_the_worked_trial():
    """The reference has the generic axes of OpenSim, scaled; both are within what Isman and Inman found among people."""
    s = adult()
    crural, subtalar = np.array([0.268, 0.956, 0.119]), np.array([0.868, 0.016, 0.497])  # standing, in Talus' axes
    off = [
        np.degrees(np.arccos(a @ b / np.linalg.norm(b)))
        for a, b in (
            (s.bodies["leg"].A @ s.talocrural.axes["leg"], crural),
            (s.bodies["main_foot"].A @ s.talocalcaneal.axes["main_foot"], subtalar),
        )
    ]
    assert max(off) < 12.0


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("trial", ["C3_01", "C3_02", "C3_03", "C3_05", "C4_05"])
def test_trials_of_the_adult(trial, side):
    subject, walk = adult(side), adult_walks(trial, side)
    assert not rebuild(subject, walk).static_only
    assert max(np.nanmax(pose.residual) for pose in segment_pose(subject, walk).values()) < 0.012
    for ground in walk.forces:
        if ground.foot == side:
            assert 1.1 < quasi_static(subject, walk, ground).max() < 1.7
    crural, subtalar = two_angles(subject, walk)
    assert -25 < crural.min() < -10 < 5 < crural.max() < 15 and -15 < subtalar.min() < subtalar.max() < 15


@pytest.mark.parametrize("side", SIDES)
def test_trial_of_the_shod_adult(side):
    subject, walk = shod(side), shod_walks(side)
    rebuilt = rebuild(subject, walk)
    letter = SIDES[side]
    assert set(rebuilt.static_only) == {
        f"{letter}.{name}" for name in ("Knee.Lat", "Knee.Med", "Ankle.Lat", "Ankle.Med")
    }
    assert np.nanmax(rebuilt.residual["leg"]) < 0.004
    # The toes bend at push-off, by tens of degrees, about their hinge.
    poses = segment_pose(subject, walk)
    forward = np.einsum("nij,nik->njk", poses["main_foot"].A, poses["toes"].A)
    bent = np.degrees(np.arctan2(forward[:, 2, 0], forward[:, 0, 0]))
    assert 15 < np.nanmax(bent) < 60
    assert np.nanmax(poses["toes"].residual) < 0.02


def test_recorded_trials_distinguish_subjects():
    for size in (0.92, 1.08):
        s = adult()
        markers = {
            label: size * lab(s, body, p)[None] for body in s.bodies for label, p in s.bodies[body].markers.items()
        }
        other = scale_to_subject(Capture("other", np.zeros(1), markers, subject=SUBJECT))
        with pytest.raises(ModelError, match="not placed as in the static trial other"):
            rebuild(other, adult_walks("C4_05"))
    with pytest.raises(ModelError, match="none of the markers"):
        rebuild(adult(), shod_walks())
    assert MAX_MEDIAN_CHANGE == 0.008 and PUBLISHED_FOOT_LENGTH == 0.27
