"""The synthetic trial, and another subject in another laboratory, against a walker by hand: what went in is found again."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import runtime
from models import walking
from models.studies.gait import recovery
from models.walking import Filters, analyse, forward_simulation, leg_foot, norms, synthetic
from models.walking.capture import read_capture
from models.walking.cycle_curves import curves_of, peaks_of
from models.walking.gait_result import PERCENT
from models.walking.heading import along_x
from models.walking.leg_foot import JOINTS
from models.walking.synthetic import CYCLE, STANCE, STRIKE
from models.walking.upper_leg import JOINT_ANGLES
from tests.support.gait_files import laboratory
from tests.support.recorded_gait import ANKLE, rms
from tests.support.refusals import assert_refused
from tests.support.walker import Walker, other_laboratory, relative

OFF = Filters.off()


@pytest.mark.slow
def test_the_exact_answer_of_the_synthetic_trial_by_newton_and_euler():
    walker = Walker(synthetic.subject())
    # The plate's samples are joined by straight lines, whose corners are at the sample times: 960 of them in a cycle.
    t = STRIKE + walker.x * CYCLE
    assert np.allclose(1e3 * t, np.round(1e3 * t))
    exact = synthetic.exact(t)
    force, moments = walker.loads()
    for joint in JOINTS:
        series = walker.angle[joint]
        assert np.abs(exact[joint, "angle"] - series(walker.x)).max() < 1e-14
        assert relative(exact[joint, "moment"], moments[joint]) < 1e-6
        assert relative(exact[joint, "power"], moments[joint] * walker.rate(joint)) < 1e-6
    system = leg_foot.build(synthetic.subject(), synthetic.coordinates(), synthetic.ground())
    motion = runtime.inverse_dynamics(system, t)
    load = motion.joint_load("ankle", on="main_foot")
    assert relative(load.force, force) < 1e-6
    for body, positions in walker.r.items():
        assert np.abs(motion.r[body] - positions).max() < 1e-10
        assert np.abs(motion.rotations(body) - walker.G[body].as_matrix() @ walker.person.bodies[body].A).max() < 1e-10
        drift = np.array([walker.slope, 0.0, 0.0]) * CYCLE * walker.x[:, None]
        assert relative(motion.v_dot[body], walker.derivative(positions - drift, 2)) < 1e-6


def test_markers_and_force_of_the_synthetic_trial_are_those_of_the_series():
    walker, walk = Walker(synthetic.subject()), synthetic.trial()
    x = (walk.t - STRIKE) / CYCLE
    for label, positions in walker.markers(x).items():
        assert np.abs(walk.marker(label) - positions).max() < 1e-10
    (plate,) = walk.forces
    force, point, free = walker.ground((plate.t - STRIKE) / CYCLE)
    loaded = np.isfinite(plate.cop).all(axis=1)
    assert np.abs(plate.force - force).max() < 1e-9 and np.abs(plate.free_moment - free).max() < 1e-9
    assert np.abs(plate.cop - point)[loaded].max() < 1e-9 and 500 < loaded.sum() < 620


def test_the_synthetic_trial_is_recovered(synthetic_walk):
    one = synthetic_walk
    errors = recovery.recovered(one)
    assert len(errors) == 13 and max(errors.values()) < 2e-6
    assert max(error for name, error in errors.items() if not name.startswith(tuple(JOINT_ANGLES))) < 1e-6
    t = one.t
    assert t[0] < STRIKE and t[-1] > STRIKE + CYCLE and one.toes_guided and one.residual.max() < 1e-9
    for joint in JOINTS:
        assert np.abs(one.angles[joint] - synthetic.angle(joint, t)).max() < 1e-9
        rate = synthetic.angle(joint, t, 1)
        assert relative(one.powers[joint], one.moments[joint] * rate) < 1e-6
    # The curve over the cycle at its ends and at toe-off, which lie between frames.
    middle = synthetic.angle("talocrural", STRIKE + PERCENT / 100.0 * CYCLE)
    assert np.abs(one.over_cycle(one.angles["talocrural"]) - middle).max() < 1e-7


def test_the_toes_carry_the_force_once_its_centre_has_passed_their_axis(synthetic_walk):
    one, walker = synthetic_walk, Walker(synthetic.subject())
    _, point, _ = walker.ground(walker.x)
    ahead = np.cross([0.0, 0.0, 1.0], walker.hinge_axis["metatarsophalangeal"])
    ahead *= np.sign(ahead[:, :1])
    past = ((point - walker.hinge["metatarsophalangeal"]) * ahead).sum(axis=1) > 0.0
    share = (past & (walker.x > 0.0) & (walker.x < STANCE)).astype(float)
    _, moments = walker.loads(share)
    found = np.interp(walker.x, one.percent / 100.0, one.moments["metatarsophalangeal"])
    every = slice(0, None, 5)  # frames of the markers
    change = np.flatnonzero(np.diff(share))
    away = np.min(np.abs(np.arange(walker.n)[:, None] - change), axis=1) > 2
    off = np.abs(found - moments["metatarsophalangeal"])[every][away[every]]
    assert off.max() < 1e-6 * np.abs(moments["metatarsophalangeal"]).max()
    assert -moments["metatarsophalangeal"].min() > 5.0


@pytest.mark.slow
@pytest.mark.parametrize("rate", [60.0, 120.0])
def test_marker_rates(rate):
    one = analyse(synthetic.static(), synthetic.trial(rate), markers=synthetic.MARKERS, filters=OFF)
    errors = recovery.recovered(one)
    for name, error in errors.items():  # splines of degree 5: two derivatives leave four
        largest = 3e-4 if name.startswith(tuple(JOINT_ANGLES)) else 2e-5
        assert error < max(1e-6, largest * (60.0 / rate) ** 4), name


@pytest.mark.slow
def test_the_default_filters_change_the_synthetic_trial_little(synthetic_walk):
    # Within the cycle; at the ends of the trial a filter lacks data.
    one = analyse(synthetic.static(), synthetic.trial(), markers=synthetic.MARKERS)
    exact = synthetic_walk
    for joint in ANKLE:
        assert np.degrees(rms(one.angles[joint] - exact.angles[joint])) < 0.6
        assert rms(one.moments[joint] - exact.moments[joint]) < 0.02 * synthetic.MASS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "direction"),
    [("right", 37.0), ("left", -90.0), ("right", 180.0), ("left", 0.0)],
)
def test_another_subject_and_laboratory(side, direction):
    static, walk, walker = other_laboratory(side, direction)
    one = analyse(along_x(static)[0], along_x(walk)[0], filters=OFF)
    assert one.side == side and not one.toes_guided and one.residual.max() < 1e-9
    assert one.subject.sex == "female" and one.subject.mass == 55.0
    _, moments = walker.loads()
    frames = slice(0, None, 5)  # 200 Hz among 1000 places in a second
    inside = (one.percent > -1e-9) & (one.percent < 100.0 - 1e-6)
    assert np.allclose(one.percent[inside] / 100.0, walker.x[frames], atol=1e-12)
    for joint in ANKLE:
        assert np.abs(one.angles[joint][inside] - walker.angle[joint](walker.x[frames])).max() < 1e-9
        assert relative(one.moments[joint][inside], moments[joint][frames]) < 1e-6
        power = (moments[joint] * walker.rate(joint))[frames]
        assert relative(one.powers[joint][inside], power) < 2e-6
    assert one.speed == pytest.approx(0.85 * norms.STRIDE / 1.2, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "csv, y up, mm", "trc", "c3d"])
def test_another_subject_from_files(tmp_path, form):
    """Every format, with the precision that it stores."""
    static, walk, _ = other_laboratory("left", 37.0)
    base = analyse(along_x(static)[0], along_x(walk)[0], filters=OFF)
    files = laboratory(tmp_path, static, walk, form)
    read_back = [read_capture(file) for file in files]
    one = analyse(*read_back, filters=OFF, mass=55.0, height=1.60, sex="female")
    # Below 5 N the readers drop the centre of pressure; C3D has numbers of 4 bytes.
    angle, moment = (1e-4, 0.05) if form == "c3d" else (1e-6, 0.02)
    assert one.cycle.source == "file"
    for joint in ANKLE:
        assert np.abs(one.angles[joint] - base.angles[joint]).max() < angle
        assert np.abs(one.moments[joint] - base.moments[joint]).max() < moment


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [1.0, pytest.param(1.0001, marks=pytest.mark.nightly)])
def test_forward_simulation_by_the_moments_alone(monkeypatch, wrong):
    """Without stiffness and damping, as long as the instability allows; and moments with a small error are detected."""
    for table in (forward_simulation.STIFFNESS, forward_simulation.DAMPING):
        for joint in table:
            monkeypatch.setitem(table, joint, 0.0)
    ground = synthetic.ground()
    t = np.linspace(STRIKE, STRIKE + 0.2, 21)
    if wrong != 1.0:
        real = forward_simulation.inverse_dynamics

        def spoilt(system, times):
            found = real(system, times)
            if len(times) == len(t):
                return found
            efforts = {
                name: SimpleNamespace(effort={key: wrong * value for key, value in one.effort.items()})
                for name, one in found.driven.items()
            }
            return SimpleNamespace(driven=efforts)

        monkeypatch.setattr(forward_simulation, "inverse_dynamics", spoilt)
    run, motion, feedback = forward_simulation.replay(synthetic.subject(), synthetic.coordinates(), ground, t)
    person = synthetic.subject()
    off = max(
        np.abs(leg_foot.angles(run, person)[joint] - guided).max()
        for joint, guided in leg_foot.angles(motion, person).items()
    )
    assert run.success and feedback == 0.0
    assert off < 1e-6 if wrong == 1.0 else off > 1e-4


@pytest.fixture(scope="module")
def plug_in_gait():
    """Standing and walking with the markers of Plug-in Gait on one leg, without medial ones."""
    static, walk = synthetic.static(), synthetic.trial()
    whole = walking.rebuild(walking.scale_to_subject(static, "right", markers=synthetic.MARKERS), walk).markers
    labels = {"R_FLE": "RKNE", "R_TTC": "RTIB", "R_FAL": "RANK", "R_FCC": "RHEE", "R_FM2": "RTOE"}
    return [
        replace(one, markers={new: of[old] for old, new in labels.items()})
        for one, of in ((static, static.markers), (walk, whole))
    ]


@pytest.mark.slow
def test_a_foot_whose_markers_do_not_show_inversion(plug_in_gait):
    """The talocalcaneal joint is locked and blank; the talocrural one is near that of all markers."""
    options = dict(side="right", filters=walking.Filters.off())
    assert_refused(
        ("no marker on the medial malleolus of the right side", "give ankle_width= in metres"),
        walking.analyse,
        *plug_in_gait,
        **options,
    )
    one = walking.analyse(*plug_in_gait, **options, anatomy=walking.Anatomy(ankle_width=0.0758))
    exact = synthetic.exact(one.t)
    for of, scale, limit in (("angle", 180.0 / np.pi, 2.5), ("moment", 1.0, 8.0)):
        off = scale * (getattr(one, of + "s")["talocrural"] - exact["talocrural", of])
        assert np.abs(off).max() < limit
        assert np.isnan(getattr(one, of + "s")["talocalcaneal"]).all()
    assert any("stay blank, as the markers RHEE and RTOE do not show inversion" in note for note in one.notes)
    assert np.isnan(peaks_of(one)["inversion, range [deg]"]) and peaks_of(one)["dorsiflexion, largest [deg]"] > 5.0
    blank = {name for name, values in curves_of(one).items() if np.isnan(values).all()}
    assert blank == {f"talocalcaneal_{of}" for of in ("angle", "moment", "power")} | {
        "ankle_inversion",
        "ankle_internal_rotation",
    }
    assert_refused("ankle_width = 70 m must be between", walking.Anatomy, ankle_width=70.0)
