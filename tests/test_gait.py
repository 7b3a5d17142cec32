"""Gait: recorded trials against worked ones, a synthetic walker against mechanics by hand, the command, bad input."""

import json
import os
import re
import subprocess
import sys
import time as clock
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray
from scipy.spatial.transform import Rotation

import runtime.cli
from models import gait, gait_study, normative, synthetic_gait
from models import subject as subjects
from models.gait_analysis import JOINTS, PERCENT, Filters, analyse
from models.gait_study import LITERATURE, curve, humps, vertical
from models.normative import CENTRE_OF_PRESSURE, MOTION, NORMS
from models.synthetic_gait import CYCLE, STANCE, STRIKE
from runtime import ModelError, read_capture
from runtime.capture import Capture, GaitEvent, GroundForce, Subject
from runtime.ground import along_x, assign_feet, combined

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "gait"
C3D = SHARED / "dev" / "schreiber_moissenet" / "c3d"
CSV = SHARED / "dev" / "schreiber_moissenet" / "csv"
OPENSIM = SHARED / "dev" / "opensim_subject01"
TRIALS = ("C3_01", "C3_02", "C3_03", "C3_05", "C4_05")
MASS = 67.0  # [kg] of the adult
OFF = Filters.off()
ANKLE = JOINTS[:2]

recorded = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the recorded gait is not here: no ../shared/gait beside the repository"
)


# Recorded gait


def trial(name):
    pytest.importorskip("ezc3d")
    return read_capture(C3D / f"2014001_{name}.c3d")


@cache
def adult(name, side="right", filters=OFF):
    return analyse(trial("ST"), trial(name), side=side, filters=filters)


@cache
def adult_by_csv(name, side="right"):
    static = read_capture(CSV / "2014001_static_markers.csv")
    return analyse(static, read_capture(CSV / f"2014001_{name}_markers.csv"), side=side, filters=OFF)


@cache
def shod(side="right", toes="auto", filters=None):
    static, walk = (read_capture(OPENSIM / f"subject01_{name}.trc") for name in ("static", "walk1"))
    return analyse(static, walk, side=side, toes=toes, mass=72.6, height=1.803, filters=filters)


def reference(file, one, *names):
    """Columns of a worked trial at the frames of the cycle, and which of the trial's own frames these are."""
    lines = [line for line in (SHARED / "reference" / file).read_text().splitlines() if not line.startswith("#")]
    table = np.array([[float(word or "nan") for word in line.split(",")] for line in lines[1:]])
    columns = dict(zip(lines[0].split(","), table.T, strict=True))
    inside = (one.percent > -1e-6) & (one.percent < 100.0 + 1e-6)
    rows = [int(np.argmin(np.abs(columns["time_s"] - time))) for time in one.t[inside]]
    assert np.allclose(columns["time_s"][rows], one.t[inside], atol=1e-6) and len(set(rows)) == len(rows) == 97
    return inside, *(columns[name][rows] for name in names)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


@recorded
@pytest.mark.parametrize("filters", [OFF, Filters()], ids=["as filtered by the authors", "filtered once more"])
def test_the_worked_trial(filters):
    one = adult("C4_05", "right", filters)
    inside, crural, subtalar, tau_crural, tau_subtalar = reference(
        "leg3_2014001_C4_05.csv",
        one,
        "talocrural_angle",
        "subtalar_angle",
        "tau_talocrural_angle",
        "tau_subtalar_angle",
    )
    angles = {"talocrural": crural, "talocalcaneal": subtalar}
    for joint, limit, reached in (("talocrural", 3.5, 0.6), ("talocalcaneal", 5.0, 1.1)):
        off = np.degrees(one.angles[joint][inside] - angles[joint])
        assert off.std() < reached < limit  # the limit is the issue's, the lower one what is reached
        assert abs(off.mean()) < 5.0  # neutral poses differ by the standing angles
    moment = one.moments["talocrural"][inside]
    assert rms(moment - tau_crural) / MASS < 0.04 < 0.06
    assert moment.min() / tau_crural.min() == pytest.approx(1.0, abs=0.06)  # 0.08 is the limit
    assert rms(one.moments["talocalcaneal"][inside] - tau_subtalar) / MASS < 0.04
    assert one.residual.max() < 0.01 and not one.toes_guided and one.cycle.plates == ("plate2",)
    assert (one.cycle.strike, one.cycle.off, one.cycle.next_strike) == (0.05, 0.66, 1.01)
    assert one.speed == pytest.approx(1.424, abs=0.02)


@recorded
def test_a_full_body_model_of_the_same_trial():
    one = adult("C4_05")
    inside, angle, moment, power, push = reference(
        "opensim_fullbody_2014001_C4_05.csv", one, "ankle_angle_r_deg", "ankle_angle_r_moment_Nm_per_kg",
        "ankle_r_power_W_per_kg", "grf_y_BW",
    )  # fmt: skip
    assert np.degrees(one.angles["talocrural"][inside] - np.radians(angle)).std() < 2.5
    assert rms(one.moments["talocrural"][inside] / MASS - moment) < 0.05
    ours = (one.powers["talocrural"] + one.powers["talocalcaneal"])[inside] / MASS
    assert ours.max() == pytest.approx(power.max(), rel=0.15) and np.corrcoef(ours, power)[0, 1] > 0.97
    up = np.interp(one.t[inside], one.ground.t, one.ground.force[:, 2]) / (MASS * 9.81)
    assert rms(up - push) < 0.02


@recorded
@pytest.mark.parametrize("name", TRIALS)
@pytest.mark.parametrize("filters", [OFF, Filters()], ids=["no filter", "filters"])
def test_five_trials(name, filters):
    one = adult(name, "right", filters)
    assert 1.1 < -one.moments["talocrural"].min() / MASS < 1.7
    first, valley, second = humps(vertical(one), one.toe_off)
    assert valley < 0.9 < 1.0 < min(first, second) and max(first, second) < 1.3
    assert 55.0 < one.toe_off < 68.0
    crural, calcaneal = (np.degrees(one.over_cycle(one.angles[joint])) for joint in ANKLE)
    assert -25 < crural.min() < -10 < 5 < crural.max() < 15 and 5 < np.ptp(calcaneal) < 20
    assert 0.2 < one.moments["talocalcaneal"].max() / MASS < 0.5
    assert 2.0 < one.powers["talocrural"].max() / MASS < 5.0
    assert one.residual.max() < 0.012
    # Positive power is generated at push-off, and that is where the peaks are.
    peak = one.percent[np.argmax(one.powers["talocrural"])]
    assert 50 < peak < one.toe_off < 65 or peak < one.toe_off
    swing = one.over_cycle(one.moments["talocrural"])[int(one.toe_off) + 3 : 99]
    assert np.abs(swing).max() < 0.05 * MASS


@recorded
@pytest.mark.parametrize("name", TRIALS)
def test_the_left_foot_is_a_mirrored_right_one(name):
    one, right = adult(name, "left"), adult(name)
    assert one.side == "left" and one.cycle.side == "left" and one.cycle.complete
    assert one.cycle.plates != right.cycle.plates
    assert 1.1 < -one.moments["talocrural"].min() / MASS < 1.7
    assert 0.2 < one.moments["talocalcaneal"].max() / MASS < 0.5
    for joint, limit in zip(ANKLE, (8.0, 6.0), strict=True):  # the two feet of one person
        a, b = (np.degrees(foot.over_cycle(foot.angles[joint])) for foot in (one, right))
        assert (a - b).std() < limit and np.corrcoef(a, b)[0, 1] > 0.7
    moments = [curve(foot, "moment", "talocrural") for foot in (one, right)]
    assert np.corrcoef(*moments)[0, 1] > 0.97
    medial = one.ground_over_cycle()[0][:60, 1]
    assert medial[5:55].mean() > 0.0  # the ground pushes either foot inwards
    path = one.cop_in_foot()
    assert path[0, 0] < 0.06 and path[-1, 0] > 0.15 and np.abs(path[:, 1]).max() < 0.06


@recorded
@pytest.mark.parametrize("name", TRIALS)
@pytest.mark.parametrize("side", ["right", "left"])
def test_c3d_and_csv_of_a_trial_give_the_same_curves(name, side):
    a, b = adult(name, side), adult_by_csv(name, side)
    assert a.subject.mass == b.subject.mass == MASS
    for joint in ANKLE:  # markers to 1e-5 m, forces at 1500 and at 300 Hz
        assert np.degrees(np.abs(a.angles[joint] - b.angles[joint])).max() < 0.02
        assert np.abs(a.moments[joint] - b.moments[joint]).max() < 0.02 * MASS
        assert rms(a.moments[joint] - b.moments[joint]) < 0.003 * MASS
        assert rms(a.powers[joint] - b.powers[joint]) < 0.02 * MASS


@recorded
def test_filters_leave_filtered_data_nearly_as_they_are():
    for name in TRIALS:
        raw, smooth = adult(name), adult(name, "right", Filters())
        for joint in ANKLE:
            assert np.degrees(rms(raw.angles[joint] - smooth.angles[joint])) < 0.4
            assert rms(raw.moments[joint] - smooth.moments[joint]) < 0.01 * MASS


@recorded
@pytest.mark.parametrize("side", ["right", "left"])
def test_a_shod_adult_on_a_treadmill(side):
    one = shod(side)
    weight = one.subject.mass * 9.81
    letter = side[0].upper()
    assert one.toes_guided and one.speed < 0.05
    assert one.cycle.source == "forces and markers" and any("heel is farthest ahead" in note for note in one.notes)
    rebuilt = subjects.rebuild(one.subject, capture_of(side))
    assert {f"{letter}.Ankle.Lat", f"{letter}.Ankle.Med"} <= set(rebuilt.static_only)
    assert one.residual.max() < 0.012
    assert 1.1 < -one.moments["talocrural"].min() / one.subject.mass < 1.8
    first, valley, second = humps(vertical(one), one.toe_off)
    assert valley < 0.9 < 1.0 < min(first, second) < max(first, second) < 1.25
    toes = np.degrees(one.angles["metatarsophalangeal"])
    assert 25 < toes.max() < 50 and toes.min() > -10 and 45 < one.percent[toes.argmax()] < 75
    # With the whole force on the toes once its centre has passed their axis, they are pushed into extension and resist.
    extension = one.moments["metatarsophalangeal"] / one.subject.mass
    assert -0.4 < extension.min() < -0.03 and extension.max() < 0.02
    assert one.ground.force[:, 2].max() < 1.3 * weight
    locked = shod(side, "locked")
    assert not locked.toes_guided and np.abs(locked.angles["metatarsophalangeal"]).max() < 1e-9
    assert rms(locked.moments["talocrural"] - one.moments["talocrural"]) < 0.03 * one.subject.mass


def capture_of(side):
    walk = read_capture(OPENSIM / "subject01_walk1.trc")
    return walk.mirrored() if side == "left" else walk


@recorded
@pytest.mark.parametrize("angle", [37.0, 90.0, -122.0, 180.0])
def test_directions_and_places_in_the_laboratory_do_not_count(angle):
    base = adult("C4_05")
    turn = np.deg2rad(angle)
    static, walk = trial("ST"), trial("C4_05").turned(turn)
    static = static.turned(0.3 - turn)  # faces elsewhere than the walk goes
    for one in (analyse(static, walk, side="right", filters=OFF),
                analyse(along_x(static)[0], along_x(moved(walk, (3.0, -2.0, 0.4)))[0], side="right", filters=OFF)):  # fmt: skip
        for joint in ANKLE:
            assert np.abs(one.angles[joint] - base.angles[joint]).max() < 1e-10
            assert np.abs(one.moments[joint] - base.moments[joint]).max() < 1e-8


def moved(capture, by):
    by = np.asarray(by)
    forces = tuple(
        replace(g, cop=g.cop + by, corners=None if g.corners is None else g.corners + by, surface=g.surface + by[2])
        for g in capture.forces
    )
    return replace(capture, markers={label: p + by for label, p in capture.markers.items()}, forces=forces)


@recorded
@pytest.mark.parametrize(("side", "angle"), [("right", 135.0), ("left", -160.0)])
def test_the_driven_motion_is_the_fitted_one(side, angle):
    """The angles leave two ways to assemble the ankle; in the other one they are the same, and moments are fourfold."""
    base = adult("C4_05", side)
    one = analyse(trial("ST").turned(np.deg2rad(angle)), trial("C4_05"), side=side, filters=OFF)
    for joint in ANKLE:
        assert np.abs(one.moments[joint] - base.moments[joint]).max() < 1e-6


@recorded
def test_a_trial_cut_at_its_events_is_nearly_as_good():
    base, static, walk = adult("C4_05"), trial("ST"), trial("C4_05")
    for margin, limit in ((0.05, 1e-6), (0.02, 1e-5), (0.0, 1e-3)):
        one = analyse(static, walk.crop(0.05 - margin, 1.01 + margin), side="right", filters=OFF)
        for joint in ANKLE:
            off = one.over_cycle(one.moments[joint]) - base.over_cycle(base.moments[joint])
            assert np.abs(off).max() < limit * MASS
    with pytest.raises(ModelError, match="no gait cycle of the right foot"):
        analyse(static, walk.crop(0.06, 1.01), side="right", filters=OFF)


@recorded
def test_noise_of_a_millimetre():
    walk, rng = trial("C4_05"), np.random.default_rng(4)
    noisy = replace(walk, markers={label: p + rng.normal(0.0, 1e-3, p.shape) for label, p in walk.markers.items()})
    one, base = analyse(trial("ST"), noisy, side="right"), adult("C4_05", "right", Filters())
    for joint, degrees in zip(ANKLE, (0.4, 0.8), strict=True):
        assert np.degrees(rms(one.angles[joint] - base.angles[joint])) < degrees
        assert rms(one.moments[joint] - base.moments[joint]) < 0.005 * MASS


@recorded
def test_forward_simulation_returns_the_recorded_motion():
    one = adult("C4_05")
    signals = {joint.name: joint.signals for joint in one.motion.system.drivers}
    coordinates = gait.Coordinates(
        tuple(signals["leg"][f"{axis}_t"] for axis in "xyz"), tuple(signals["leg_turn"][f"e{k}_t"] for k in range(4)),
        signals["talocrural"]["beta_t"], signals["talocalcaneal"]["beta_t"], signals["toe_extension"]["theta_t"],
    )  # fmt: skip
    (load,) = one.motion.system.loads
    ground = gait.Ground(load.force, load.point, load.moment[2], load.body)
    t = np.linspace(one.cycle.strike, one.cycle.off, 40)
    run, motion, feedback = gait.replay(one.subject, coordinates, (ground,), t)
    assert run.success and len(run.t) == 40 and feedback < 1e-6
    for joint, guided in gait.angles(motion, one.subject).items():
        assert np.abs(gait.angles(run, one.subject)[joint] - guided).max() < 1e-6
        if joint in ANKLE:
            at = np.interp(t, one.t, one.angles[joint])
            assert np.abs(guided - at).max() < 2e-3  # it is the trial's motion that was simulated


@pytest.mark.parametrize("wrong", [1.0, 1.0001])
def test_forward_simulation_by_the_moments_alone(monkeypatch, wrong):
    """Without stiffness and damping, as long as the instability allows; and moments that are a little wrong are seen."""
    for table in (gait.STIFFNESS, gait.DAMPING):
        for joint in table:
            monkeypatch.setitem(table, joint, 0.0)
    ground = synthetic_gait.ground()
    t = np.linspace(STRIKE, STRIKE + 0.2, 21)
    if wrong != 1.0:
        real = gait.inverse_dynamics

        def spoilt(system, times):
            found = real(system, times)
            if len(times) == len(t):
                return found
            efforts = {
                name: SimpleNamespace(effort={key: wrong * value for key, value in one.effort.items()})
                for name, one in found.driven.items()
            }
            return SimpleNamespace(driven=efforts)

        monkeypatch.setattr(gait, "inverse_dynamics", spoilt)
    run, motion, feedback = gait.replay(synthetic_gait.subject(), synthetic_gait.coordinates(), ground, t)
    person = synthetic_gait.subject()
    off = max(
        np.abs(gait.angles(run, person)[joint] - guided).max() for joint, guided in gait.angles(motion, person).items()
    )
    assert run.success and feedback == 0.0
    assert off < 1e-6 if wrong == 1.0 else off > 1e-4


# A walker by hand: poses by rotations about the hinges, derivatives by Fourier series, Newton and Euler, no Talus dynamics


class Walker:
    """A subject who walks as the series say: markers, ground force and the joints' moments over one cycle, in n places."""

    def __init__(self, person, *, n=960, stride=1.0, cycle=CYCLE, toes=True):
        self.person, self.n, self.cycle = person, n, cycle
        self.x = np.arange(n) / n
        at = self.at(self.x, stride, toes)
        self.r, self.G, self.hinge = at
        self.slope = stride * normative.STRIDE / cycle

    def at(self, x, stride=1.0, toes=True):
        """Centres of mass (n, 3), turns from standing, and the hinges' points (n, 3) at fractions x of the cycle."""
        s = self.person
        bodies = s.bodies
        standing = {name: b.r + b.A @ h.points[name] for name, b, h in (
            ("leg", bodies["leg"], s.talocrural), ("main_foot", bodies["main_foot"], s.talocalcaneal),
        )}  # fmt: skip
        ball = bodies["toes"].r + bodies["toes"].A @ s.metatarsophalangeal.points["toes"]
        self.axis = {
            "talocrural": -(bodies["leg"].A @ s.talocrural.axes["leg"]),  # dorsiflexion
            "talocalcaneal": bodies["main_foot"].A @ s.talocalcaneal.axes["main_foot"],  # inversion
            "metatarsophalangeal": -(bodies["toes"].A @ s.metatarsophalangeal.axes["toes"]),  # extension
        }
        self.angle = {
            "talocrural": MOTION["dorsiflexion"], "talocalcaneal": MOTION["inversion"],
            "metatarsophalangeal": NORMS["toe_extension"].mean if toes else None,
        }  # fmt: skip

        def about(joint):
            series = self.angle[joint]
            theta = np.zeros(len(x)) if series is None else series(x)
            return Rotation.from_rotvec(theta[:, None] * self.axis[joint])

        G, r, hinge = {}, {}, {}
        G["leg"] = Rotation.from_euler("ZYX", np.column_stack([MOTION[k](x) for k in ("yaw", "pitch", "roll")]))
        talus = G["leg"] * about("talocrural")
        G["main_foot"] = talus * about("talocalcaneal")
        G["toes"] = G["main_foot"] * about("metatarsophalangeal")
        hinge["talocrural"] = standing["leg"] + stride * np.column_stack([MOTION[f"ankle_{k}"](x) for k in "xyz"])
        hinge["talocalcaneal"] = hinge["talocrural"] + talus.apply(standing["main_foot"] - standing["leg"])
        hinge["metatarsophalangeal"] = hinge["talocalcaneal"] + G["main_foot"].apply(ball - standing["main_foot"])
        r["leg"] = hinge["talocrural"] + G["leg"].apply(bodies["leg"].r - standing["leg"])
        r["main_foot"] = hinge["talocalcaneal"] + G["main_foot"].apply(bodies["main_foot"].r - standing["main_foot"])
        r["toes"] = hinge["metatarsophalangeal"] + G["toes"].apply(bodies["toes"].r - ball)
        self.hinge_axis = {
            "talocrural": G["leg"].apply(self.axis["talocrural"]),
            "talocalcaneal": G["main_foot"].apply(self.axis["talocalcaneal"]),
            "metatarsophalangeal": G["toes"].apply(self.axis["metatarsophalangeal"]),
        }
        return r, G, hinge

    def markers(self, x, stride=1.0, toes=True):
        r, G, _ = self.at(x, stride, toes)
        found = {}
        for body, segment in self.person.bodies.items():
            for label, local in segment.markers.items():
                if label not in segment.calibration:
                    found[label] = r[body] + G[body].apply(segment.A @ local)
        return found

    def ground(self, x, stride=1.0, toes=True):
        """Force (n, 3), point (n, 3) and free moment (n,) at fractions of the cycle."""
        s = np.clip(x / STANCE, 0.0, 1.0)
        weight = self.person.mass * 9.81
        force = weight * np.column_stack([NORMS[f"{k}_force"].mean(s) for k in ("anterior", "medial", "vertical")])
        foot = self.person.bodies["main_foot"]
        heel = foot.markers[self.person.landmarks.labels["heel"]]
        r, G, _ = self.at(x, stride, toes)
        path = heel + self.person.foot_length * np.column_stack([CENTRE_OF_PRESSURE[k](s) for k in "xyz"])
        point = r["main_foot"] + G["main_foot"].apply(path @ foot.A.T)
        point[:, 2] = 0.0
        return force, point, self.person.mass * NORMS["free_moment"].mean(x / STANCE)

    def derivative(self, values, order):
        """Of periodic values (n, ...) over time, by their Fourier series up to the 150th harmonic."""
        k = np.fft.rfftfreq(self.n, 1.0 / self.n)
        factor = np.where(k <= 150, (2j * np.pi * k / self.cycle) ** order, 0.0)
        spectrum = np.fft.rfft(values, axis=0) * factor.reshape(-1, *[1] * (values.ndim - 1))
        return np.fft.irfft(spectrum, self.n, axis=0)

    def loads(self, share=None):
        """Force on the foot at the ankle (n, 3) and moment of each joint (n,); a share (n,) of the ground's force is on toes."""
        drift = np.array([self.slope, 0.0, 0.0]) * self.cycle * self.x[:, None]
        force, point, free = self.ground(self.x)
        free = np.outer(free, [0.0, 0.0, 1.0])
        wrench = {}  # by body: what the joint above must give, force and moment about the origin
        for body, segment in self.person.bodies.items():
            a = self.derivative(self.r[body] - drift, 2)
            A = self.G[body].as_matrix() @ segment.A
            A1, A2 = self.derivative(A, 1), self.derivative(A, 2)
            spin = A1 @ np.swapaxes(A, 1, 2)
            turning = A2 @ np.swapaxes(A, 1, 2) + A1 @ np.swapaxes(A1, 1, 2)
            omega, alpha = (np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1) for W in (spin, turning))
            inertia = A @ segment.inertia @ np.swapaxes(A, 1, 2)
            momentum = (inertia @ omega[..., None])[..., 0]
            rate = (inertia @ alpha[..., None])[..., 0] + np.cross(omega, momentum)
            push = segment.mass * (a + [0.0, 0.0, 9.81])
            wrench[body] = (push, rate + np.cross(self.r[body], push))
        part = np.zeros(self.n) if share is None else share
        for body, here in (("main_foot", 1.0 - part), ("toes", part)):
            push, moment = wrench[body]
            here = here[:, None]
            wrench[body] = (push - here * force, moment - here * (np.cross(point, force) + free))
        moments = {}
        foot = tuple(a + b for a, b in zip(wrench["main_foot"], wrench["toes"], strict=True))
        for joint, (push, moment) in zip(JOINTS, (foot, foot, wrench["toes"]), strict=True):
            about = moment - np.cross(self.hinge[joint], push)
            moments[joint] = (about * self.hinge_axis[joint]).sum(axis=1)
        return foot[0], moments

    def rate(self, joint):
        """Of an angle, (n,) [rad/s]."""
        series = self.angle[joint]
        return np.zeros(self.n) if series is None else series(self.x, 1) / self.cycle


@cache
def synthetic(filters=OFF):
    return analyse(synthetic_gait.static(), synthetic_gait.trial(), markers=synthetic_gait.MARKERS, filters=filters)


def relative(found, truth):
    return float(np.abs(found - truth).max() / np.abs(truth).max())


def test_the_exact_answer_of_the_synthetic_trial_by_newton_and_euler():
    walker = Walker(synthetic_gait.subject())
    # The plate's samples are joined by straight lines, whose corners are at the sample times: 960 of them in a cycle.
    t = STRIKE + walker.x * CYCLE
    assert np.allclose(1e3 * t, np.round(1e3 * t))
    exact = synthetic_gait.exact(t)
    force, moments = walker.loads()
    for joint in JOINTS:
        series = walker.angle[joint]
        assert np.abs(exact[joint, "angle"] - series(walker.x)).max() < 1e-14
        assert relative(exact[joint, "moment"], moments[joint]) < 1e-6
        assert relative(exact[joint, "power"], moments[joint] * walker.rate(joint)) < 1e-6
    system = gait.build(synthetic_gait.subject(), synthetic_gait.coordinates(), synthetic_gait.ground())
    motion = runtime.inverse_dynamics(system, t)
    load = motion.joint_load("ankle", on="main_foot")
    assert relative(load.force, force) < 1e-6
    for body, positions in walker.r.items():
        assert np.abs(motion.r[body] - positions).max() < 1e-10
        assert np.abs(motion.rotations(body) - walker.G[body].as_matrix() @ walker.person.bodies[body].A).max() < 1e-10
        drift = np.array([walker.slope, 0.0, 0.0]) * CYCLE * walker.x[:, None]
        assert relative(motion.v_dot[body], walker.derivative(positions - drift, 2)) < 1e-6


def test_markers_and_force_of_the_synthetic_trial_are_those_of_the_series():
    walker, walk = Walker(synthetic_gait.subject()), synthetic_gait.trial()
    x = (walk.t - STRIKE) / CYCLE
    for label, positions in walker.markers(x).items():
        assert np.abs(walk.marker(label) - positions).max() < 1e-10
    (plate,) = walk.forces
    force, point, free = walker.ground((plate.t - STRIKE) / CYCLE)
    loaded = np.isfinite(plate.cop).all(axis=1)
    assert np.abs(plate.force - force).max() < 1e-9 and np.abs(plate.free_moment - free).max() < 1e-9
    assert np.abs(plate.cop - point)[loaded].max() < 1e-9 and 500 < loaded.sum() < 620


def test_the_synthetic_trial_is_recovered():
    one = synthetic()
    errors = gait_study.recovered(one)
    assert len(errors) == 7 and max(errors.values()) < 1e-6
    t = one.t
    assert t[0] < STRIKE and t[-1] > STRIKE + CYCLE and one.toes_guided and one.residual.max() < 1e-9
    for joint in JOINTS:
        assert np.abs(one.angles[joint] - synthetic_gait.angle(joint, t)).max() < 1e-9
        rate = synthetic_gait.angle(joint, t, 1)
        assert relative(one.powers[joint], one.moments[joint] * rate) < 1e-6
    # The curve over the cycle at its ends and at toe-off, which lie between frames.
    middle = synthetic_gait.angle("talocrural", STRIKE + PERCENT / 100.0 * CYCLE)
    assert np.abs(one.over_cycle(one.angles["talocrural"]) - middle).max() < 1e-7


def test_the_toes_carry_the_force_once_its_centre_has_passed_their_axis():
    one, walker = synthetic(), Walker(synthetic_gait.subject())
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


@pytest.mark.parametrize("rate", [60.0, 100.0, 120.0, 250.0])
def test_marker_rates(rate):
    one = analyse(synthetic_gait.static(), synthetic_gait.trial(rate), markers=synthetic_gait.MARKERS, filters=OFF)
    errors = gait_study.recovered(one)
    assert max(errors.values()) < max(
        1e-6, 2e-5 * (60.0 / rate) ** 4
    )  # splines of degree 5: two derivatives leave four


def test_filters_of_the_seed_cost_little_on_the_synthetic_trial():
    # Within the cycle; at the ends of the trial a filter has nothing to go on.
    one, exact = synthetic(Filters()), synthetic()
    for joint in ANKLE:
        assert np.degrees(rms(one.angles[joint] - exact.angles[joint])) < 0.6
        assert rms(one.moments[joint] - exact.moments[joint]) < 0.02 * synthetic_gait.MASS


# Another subject, another foot, another laboratory: nothing that is embedded

OTHER = {
    "FLE": (0.03, -0.06, 0.42), "FME": (0.03, 0.04, 0.415), "FAX": (0.01, -0.07, 0.37), "TTC": (0.075, -0.01, 0.36),
    "FAL": (0.02, -0.045, 0.066), "TAM": (0.045, 0.03, 0.078), "FCC": (-0.005, 0.0, 0.03),
    "FM1": (0.165, 0.045, 0.028), "FM2": (0.175, 0.01, 0.04), "FM5": (0.135, -0.045, 0.02),
}  # fmt: skip


@cache
def other_laboratory(side, direction, rate=200.0):
    """A woman's static trial and walk in laboratory axes of their own, and the answer by hand."""
    letter, across = side[0].upper(), np.array([1.0, 1.0 if side == "right" else -1.0, 1.0])
    toe_in = Rotation.from_euler("z", 12.0, degrees=True)
    who = Subject("other", 55.0, 1.60, "female", None)
    standing = {f"{letter}_{k}": toe_in.apply([p]) for k, p in OTHER.items()}
    person = subjects.leg_foot(Capture("other standing", np.zeros(1), standing, subject=who), side)
    cycle, stride = 1.2, 0.85
    walker = Walker(person, n=1200, stride=stride, cycle=cycle, toes=False)
    walker.r, walker.G, walker.hinge = walker.at(walker.x, stride, toes=False)
    walker.ground = lambda x, *_, real=walker.ground: real(x, stride, False)
    t = np.arange(round(1.5 * rate)) / rate
    markers = walker.markers((t - 0.15) / cycle, stride, False)
    t_force = np.arange(1501) / 1000.0
    x = (t_force - 0.15) / cycle
    force, point, free = walker.ground(x)
    point[(x <= 0.0) | (x >= STANCE)] = np.nan
    lab = Rotation.from_euler("z", direction, degrees=True).as_matrix() @ np.diag(across)
    shift = np.array([2.0, -1.0, 0.3])
    plate = GroundForce("plate", t_force, force @ lab.T, point @ lab.T + shift, free * across[1], None, 0.3)
    events = tuple(
        GaitEvent(time, kind, side)
        for time, kind in ((0.15, "foot_strike"), (0.15 + STANCE * cycle, "foot_off"), (0.15 + cycle, "foot_strike"))
    )
    markers = {label: p @ lab.T + shift for label, p in markers.items()}
    walk = Capture("other walk", t, markers, (plate,), events, who)
    facing = Rotation.from_euler("z", -70.0, degrees=True).as_matrix() @ np.diag(across)
    static = Capture("other standing", np.zeros(1), {k: p @ facing.T for k, p in standing.items()}, subject=who)
    return static, walk, walker


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("direction", [0.0, 180.0, 37.0, -90.0])
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
    assert one.speed == pytest.approx(0.85 * normative.STRIDE / 1.2, rel=0.05)


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


# Files of a laboratory


def laboratory(folder, static=None, walk=None, form="csv", *, name="walk"):
    """Files of a static trial and a walk; gives their paths."""
    static, walk = static or synthetic_gait.static(), walk or synthetic_gait.trial()
    if form == "c3d":
        return [
            write_c3d(folder / "standing.c3d", static), write_c3d(folder / f"{name}.c3d", walk),
        ]  # fmt: skip
    y_up = "y up" in form or form == "trc"
    scale, unit = (1000.0, "mm") if "mm" in form or form == "trc" else (1.0, "m")
    turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]) if y_up else np.eye(3)
    if form == "trc":
        write_mot(folder / f"{name}_grf.mot", walk.forces, turn)
        write_meta(folder / f"{name}_meta.json", walk)
        return [write_trc(folder / "standing.trc", static, turn), write_trc(folder / f"{name}.trc", walk, turn)]
    up = "y" if y_up else "z"
    head = f"# units {unit}/N\n# {up} up\n"
    rows = [f"{label},{','.join(f'{v:.17g}' for v in scale * turn @ p[0])}" for label, p in static.markers.items()]
    (folder / "standing_markers.csv").write_text(head + "marker,x,y,z\n" + "\n".join(rows) + "\n")
    table = np.column_stack([walk.t, *(scale * p @ turn.T for p in walk.markers.values())])
    write_table(folder / f"{name}_markers.csv", head, ["time", *triples(walk.markers, "_")], table)
    names, columns = ["time"], [walk.forces[0].t] if walk.forces else []
    for k, plate in enumerate(walk.forces, 1):
        up_axis = "xyz".index(up)
        names += [f"p{k}_F{a}" for a in "xyz"] + [f"p{k}_cop{a}" for a in "xyz"] + [f"p{k}_T{up}_free"]
        columns += [plate.force @ turn.T, scale * plate.cop @ turn.T, scale * plate.free_moment * turn[up_axis, 2]]
    if columns:
        write_table(folder / f"{name}_forces.csv", head, names, np.column_stack(columns))
    write_meta(folder / f"{name}_meta.json", walk)
    return [folder / "standing_markers.csv", folder / f"{name}_markers.csv"]


def triples(labels, sign):
    return [f"{label}{sign}{axis}" for label in labels for axis in "xyz"]


def write_table(file, head, names, table):
    rows = [",".join("nan" if np.isnan(v) else f"{v:.17g}" for v in row) for row in table]
    file.write_text(head + ",".join(names) + "\n" + "\n".join(rows) + "\n")
    return file


def write_meta(file, walk):
    labels = {"foot_strike": "Foot Strike", "foot_off": "Foot Off"}
    events = [{"time": e.time, "side": e.side.title(), "label": labels[e.kind]} for e in walk.events]
    who = walk.subject
    told = {"subject": who.name, "mass_kg": who.mass, "height_m": who.height, "sex": who.sex, "events": events}
    file.write_text(json.dumps(told))
    return file


def write_trc(file, capture, turn):
    points = {label: 1000.0 * p @ turn.T for label, p in capture.markers.items()}
    rate = 100.0 if len(capture.t) == 1 else capture.rate
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{file.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate}\t{rate}\t{len(capture.t)}\t{len(points)}\tmm\t{rate}\t1\t{len(capture.t)}",
        "Frame#\tTime\t" + "\t\t\t".join(points) + "\t\t",
        "\t\t" + "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, len(points) + 1)),
        "",
    ]
    for k, time in enumerate(capture.t):
        values = np.concatenate([p[k] for p in points.values()])
        lines.append(f"{k + 1}\t{time:.12g}\t" + "\t".join("" if np.isnan(v) else f"{v:.17g}" for v in values))
    file.write_text("\n".join(lines) + "\n")
    return file


def write_mot(file, plates, turn):
    names, columns = ["time"], [plates[0].t]
    for k, plate in enumerate(plates, 1):
        names += [f"{k}_ground_force_{kind}{axis}" for kind in "vp" for axis in "xyz"]
        names += [f"{k}_ground_torque_{axis}" for axis in "xyz"]
        free = np.outer(plate.free_moment, turn[:, 2])
        columns += [plate.force @ turn.T, np.nan_to_num(plate.cop @ turn.T), free]
    table = np.column_stack(columns)
    head = [file.name, "version=1", f"nRows={len(table)}", f"nColumns={table.shape[1]}", "inDegrees=no", "endheader"]
    rows = ["\t".join(f"{v:.17g}" for v in row) for row in table]
    file.write_text("\n".join([*head, "\t".join(names), *rows]) + "\n")
    return file


def write_c3d(file, capture, labels=None):
    ezc3d = pytest.importorskip("ezc3d")
    c = ezc3d.c3d()
    points = 1000.0 * np.stack(list(capture.markers.values()), axis=1).transpose(2, 1, 0)
    point = c["parameters"]["POINT"]
    rate = 100.0 if len(capture.t) == 1 else capture.rate
    point["RATE"]["value"], point["UNITS"]["value"] = [rate], ["mm"]
    point["LABELS"]["value"] = list(labels or capture.markers)
    c["data"]["points"] = np.vstack([points, np.ones((1, *points.shape[1:]))])
    if capture.forces:
        channels, corners, numbers = [], [], []
        samples = round(capture.forces[0].rate / rate) * len(capture.t)
        for plate in capture.forces:
            middle = np.array([*np.nanmean(plate.cop[:, :2], axis=0), plate.surface])
            square = middle + np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
            moment = np.cross(np.nan_to_num(plate.cop - middle), plate.force)
            moment[:, 2] += plate.free_moment
            values = np.column_stack([plate.force, 1000.0 * moment])[:samples]
            values = np.vstack([values, np.zeros((samples - len(values), 6))])
            numbers.append(len(channels) + 1 + np.arange(6))
            channels += list(values.T)
            corners.append(1000.0 * square.T)
        analog = c["parameters"]["ANALOG"]
        analog["RATE"]["value"] = [capture.forces[0].rate]
        analog["LABELS"]["value"] = [f"channel {k + 1}" for k in range(len(channels))]
        analog["UNITS"]["value"] = ["N", "N", "N", "Nmm", "Nmm", "Nmm"] * len(capture.forces)
        c["data"]["analogs"] = np.array(channels)[None]
        c.add_parameter("FORCE_PLATFORM", "USED", [len(capture.forces)])
        c.add_parameter("FORCE_PLATFORM", "TYPE", [2] * len(capture.forces))
        c.add_parameter("FORCE_PLATFORM", "CORNERS", np.stack(corners, axis=-1))
        c.add_parameter("FORCE_PLATFORM", "ORIGIN", np.zeros((3, len(capture.forces))))
        c.add_parameter("FORCE_PLATFORM", "CHANNEL", np.stack(numbers, axis=-1).astype(float))
    if capture.events:
        words = {"foot_strike": "Foot Strike", "foot_off": "Foot Off"}
        c.add_parameter("EVENT", "USED", [len(capture.events)])
        c.add_parameter("EVENT", "CONTEXTS", [e.side.title() for e in capture.events])
        c.add_parameter("EVENT", "LABELS", [words[e.kind] for e in capture.events])
        c.add_parameter("EVENT", "TIMES", np.array([[0.0] * len(capture.events), [e.time for e in capture.events]]))
    c.write(str(file))
    return file


# The command

FIGURES = ("fig5_angles_and_moments", "fig6_centre_of_pressure", "fig7_powers", "ground_forces")
TABLES = ("subject", "trials", "peaks", "notes", "summary")


@pytest.fixture
def talus(tmp_path, monkeypatch, capsys):
    """Runs ``talus gait`` in this process; gives exit code, output, and the last line that went to stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["talus", "gait", *map(str, arguments)])
        code = 0
        try:
            runtime.cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        done = capsys.readouterr()
        lines = done.err.splitlines()
        return SimpleNamespace(code=code, out=done.out, err=done.err, sentence=lines[-1] if lines else "", lines=lines)

    return call


def storage(file):
    """Header, names and table of an OpenSim storage file."""
    lines = file.read_text().splitlines()
    end = lines.index("endheader")
    header = dict(line.split("=") for line in lines[1:end])
    names = lines[end + 1].split("\t")
    table = np.array([[float(word) for word in line.split("\t")] for line in lines[end + 2 :]])
    assert (len(table), len(names)) == (int(header["nRows"]), int(header["nColumns"])) and header["version"] == "1"
    assert table.shape[1] == len(names) and names[0] == "time" and (np.diff(table[:, 0]) > 0).all()
    assert np.isfinite(table).all()
    return header, names, table


def test_without_files_the_command_runs_the_synthetic_trial(tmp_path):
    program = "import sys; from runtime.cli import main; sys.argv[0] = 'talus'; main()"
    environment = {**os.environ, "COLUMNS": "120"}
    done = subprocess.run(
        [sys.executable, "-c", program, "gait", "--out", "o"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "o"
    for name in FIGURES:
        assert (folder / f"{name}.png").stat().st_size > 10_000 and (folder / f"{name}.svg").stat().st_size > 10_000
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["failures"] == [] and {Path(file).name for file in summary["files"]} == {
        file.name for file in folder.iterdir()
    }
    recovery = summary["tables"]["synthetic trial: recovered"]
    assert len(recovery) == 8 and all(row["error"] < row["limit"] == 1e-6 for row in recovery)
    assert "forward simulation" in recovery[-1][""]
    feedback = re.search(r"added ([\d.e+-]+) N m", summary["notes"]["synthetic trial: recovered"])
    assert float(feedback[1]) < 1e-6
    for word in ("synthetic", "Isman and Inman 1969", "de Leva 1996", "plantarflexor moment", "1.33 ± 0.13"):
        assert word in done.stdout
    for table in ("trials", "peaks", "synthetic_trial"):
        assert (folder / f"{table}.csv").is_file()
    peaks = {row[""]: row["mean"] for row in summary["tables"]["peaks"]}
    for name, (mean, sd) in {
        name: map(float, re.findall(r"-?[\d.]+", text)) for name, text in LITERATURE.items()
    }.items():
        assert abs(peaks[name] - mean) < 3 * sd, name


def walks(tmp_path, names=("one", "two"), form="csv"):
    """A static trial and several walks of the synthetic subject, the later ones a little other."""
    rng = np.random.default_rng(0)
    files = []
    for name in names:
        walk = synthetic_gait.trial(100.0)
        by = rng.normal(0.0, 2e-4, 3)
        walk = replace(walk, markers={label: p + by for label, p in walk.markers.items()})
        files += laboratory(tmp_path, None, walk, form, name=name)
    return [files[0], *files[1::2]]


SYNTHETIC = ("--marker", "hallux=R_HLX", "--marker", "toe_tip=R_TOE")


def test_files_that_the_command_writes(talus, tmp_path):
    files = walks(tmp_path)
    done = talus(*files, "--no-filter", "--out", "o", *SYNTHETIC)
    assert done.code == 0, done.err
    folder = tmp_path / "o"
    trials = [file.name for file in files[1:]]
    with xarray.open_dataset(folder / "gait.nc") as data:
        assert dict(data.sizes) == {"trial": 2, "joint": 3, "percent": 101, "axis": 3}
        assert [str(name) for name in data.trial.values] == trials
        units = {name: data[name].attrs["units"] for name in data.data_vars}
        assert units == {
            "angles": "rad", "moments": "N m", "powers": "W", "ground_force": "N", "centre_of_pressure": "m",
            "free_moment": "N m", "toe_off": "percent of the gait cycle", "mass": "kg",
        }  # fmt: skip
        exact = synthetic_gait.angle("talocrural", STRIKE + PERCENT / 100.0 * CYCLE)
        assert np.abs(data.angles.sel(joint="talocrural").values - exact).max() < 1e-5  # between frames
        assert np.allclose(data.toe_off, 100 * STANCE) and (data.mass == 70.0).all()
        assert "x anterior, y medial, z up" in data.attrs["axes"] and "Isman" in data.attrs["sources"]
        moments = data.moments.sel(joint="talocrural").values / 70.0
        percent = data.percent.values
    lines = (folder / "curves.csv").read_text().splitlines()
    names = lines[0].split(",")
    table = np.array([[float(word) for word in line.split(",")] for line in lines[1:]])
    assert table.shape == (101, len(names)) and np.array_equal(table[:, 0], percent)
    columns = dict(zip(names, table.T, strict=True))
    stem = "talocrural_moment [N m/kg]"
    for k, name in enumerate(trials):
        assert np.allclose(columns[f"{stem} {name}"], moments[k], rtol=1e-8)
    assert np.allclose(columns[f"{stem} mean"], moments.mean(axis=0), rtol=1e-8)
    assert np.allclose(columns[f"{stem} SD"], moments.std(axis=0, ddof=1), rtol=1e-6, atol=1e-12)
    assert {name.split()[0] for name in names[1:]} == {
        *(f"{joint}_{what}" for joint in JOINTS for what in ("angle", "moment", "power")), "vertical_force",
    }  # fmt: skip
    for name in ("one_markers", "two_markers"):
        header, names, angles = storage(folder / f"{name}_angles.mot")
        assert header["inDegrees"] == "yes" and names[1:] == [f"{joint}_angle" for joint in JOINTS]
        assert np.abs(np.radians(angles[:, 1]) - synthetic_gait.angle("talocrural", angles[:, 0])).max() < 1e-6
        header, names, values = storage(folder / f"{name}_moments.sto")
        assert header["inDegrees"] == "no" and names[1:] == [f"{joint}_angle_moment" for joint in JOINTS]
        truth = synthetic_gait.exact(values[:, 0])["talocrural", "moment"]
        assert relative(values[:, 1], truth) < 1e-3  # the walks are a little off the synthetic one
        with xarray.open_dataset(folder / f"{name}_motion.nc") as motion:
            assert motion.r.attrs["units"] == "m" and list(motion.body.values) == ["leg", "main_foot", "toes"]
            assert np.allclose(motion.time, angles[:, 0])
    summary = json.loads((folder / "summary.json").read_text())
    assert {row["trial"] for row in summary["tables"]["trials"]} == set(trials)
    assert all(row["SD"] is not None for row in summary["tables"]["peaks"])


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_written_ground_force_reads_back(talus, tmp_path, side):
    static, walk, _ = other_laboratory(side, 37.0)
    files = laboratory(tmp_path, static, walk)
    assert talus(*files, "--no-filter", "--out", "o").code == 0
    header, names, table = storage(tmp_path / "o" / "walk_markers_ground.mot")
    letter = side[0]
    assert names[1:4] == [f"ground_force_{letter}_v{axis}" for axis in "xyz"] and header["inDegrees"] == "no"
    # Read by our own reader, beside the markers of the same trial in the same axes.
    along, _ = along_x(read_capture(files[1]))
    turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    write_trc(tmp_path / "again.trc", along, turn)
    again = read_capture(tmp_path / "again.trc", forces=tmp_path / "o" / "walk_markers_ground.mot", up="y")
    (back,), (plate,) = again.forces, along.forces
    assert np.allclose(back.t, plate.t) and np.abs(back.force - plate.force).max() < 1e-9
    loaded = plate.force[:, 2] > 20.0
    assert np.abs(back.cop - plate.cop)[loaded].max() < 1e-9
    assert np.abs(back.free_moment - plate.free_moment)[loaded].max() < 1e-9
    assert assign_feet(again).sides == {back.plate: side}


def test_json_is_all_that_goes_to_stdout(talus, tmp_path):
    files = walks(tmp_path, ("one",))
    done = talus(*files, "--json", "--out", "o", *SYNTHETIC)
    assert done.code == 0 and "analysing" in done.err
    told = json.loads(done.out)
    assert told["failures"] == [] and told == json.loads((tmp_path / "o" / "summary.json").read_text())
    assert all(Path(file).is_file() for file in told["files"])
    rows = {row[""]: row for row in told["tables"]["peaks"]}
    assert 1.1 < rows["plantarflexor moment [N m/kg]"]["mean"] < 1.7
    assert rows["plantarflexor moment [N m/kg]"]["SD"] is None  # of one trial


def test_nothing_is_overwritten(talus, tmp_path):
    files = walks(tmp_path, ("one",))
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "mine.txt").write_text("mine")
    done = talus(*files, "--out", "o", *SYNTHETIC)
    assert (done.code, done.sentence) == (
        2, "output folder 'o' exists; name another one, so that nothing is overwritten",
    )  # fmt: skip
    assert [file.name for file in (tmp_path / "o").iterdir()] == ["mine.txt"]
    for expected in ("talus-gait", "talus-gait-2"):
        done = talus(*files, *SYNTHETIC)
        assert done.code == 0 and f"files in {expected}" in done.out and (tmp_path / expected / "gait.nc").is_file()


def gap(walk, label, start, stop):
    p = np.array(walk.marker(label))
    p[start:stop] = np.nan
    return replace(walk, markers={**walk.markers, label: p})


def test_one_bad_trial_among_several(talus, tmp_path):
    files = walks(tmp_path)
    bad = laboratory(tmp_path, None, gap(synthetic_gait.trial(100.0), "R_FCC", 40, 60), name="bad")[1]
    done = talus(files[0], files[1], bad, files[2], "--out", "o", *SYNTHETIC)
    assert done.code == 1
    said = " ".join(done.err.split())
    assert "bad_markers.csv: marker 'R_FCC' of the main foot is not seen" in said
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert len(summary["failures"]) == 1 and "R_FCC" in summary["failures"][0]
    assert {row["trial"] for row in summary["tables"]["trials"]} == {file.name for file in files[1:]}
    assert not list((tmp_path / "o").glob("bad*"))
    alone = talus(files[0], bad, bad, "--out", "p", *SYNTHETIC)
    assert alone.code == 2 and not (tmp_path / "p").exists()


@pytest.mark.parametrize("how", ["truncated", "absent", "text"])
def test_one_unreadable_trial_among_several(talus, tmp_path, how):
    files = walks(tmp_path)
    bad = laboratory(tmp_path, None, synthetic_gait.trial(100.0), name="bad")[1]
    if how == "truncated":
        bad.write_text(bad.read_text()[:-100])
    elif how == "text":
        bad.write_text("hello\n")
    else:
        bad.unlink()
    done = talus(files[0], files[1], bad, files[2], "--out", "o", *SYNTHETIC)
    assert done.code == 1 and "bad_markers.csv" in done.err
    assert len(json.loads((tmp_path / "o" / "summary.json").read_text())["tables"]["trials"]) == 2


def test_a_failure_among_several_is_one_line(talus, tmp_path):
    files = walks(tmp_path, ("one",))
    bad = laboratory(tmp_path, None, gap(synthetic_gait.trial(100.0), "R_FCC", 40, 60), name="b[ad]")[1]
    done = talus(files[0], files[1], bad, "--out", "o", *SYNTHETIC)
    assert done.code == 1 and done.sentence.startswith("b[ad]_markers.csv: marker 'R_FCC'")


def test_trials_of_the_same_name_in_different_folders(talus, tmp_path):
    files = []
    for day in ("monday", "tuesday"):
        (tmp_path / day).mkdir()
        files += laboratory(tmp_path / day, None, synthetic_gait.trial(100.0))
    done = talus(files[0], files[1], files[3], "--out", "o", *SYNTHETIC)
    if done.code == 2:  # a clear refusal at once would do, too
        assert "walk_markers.csv" in done.sentence and "overwrite=" not in done.sentence
        assert not (tmp_path / "o").exists()
    else:
        assert done.code == 0 and len(list((tmp_path / "o").glob("*_angles.mot"))) == 2


# Bad input


def one_sentence(done, *words):
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.sentence, done.sentence
    others = [line for line in done.lines[:-1] if not re.match(r"(reading|analysing|no files|figures) ", line)]
    assert not others


def edited(change):
    """Files of the synthetic trial with one text changed."""

    def make(folder):
        files = laboratory(folder, None, synthetic_gait.trial(100.0))
        return change(folder, files) or files

    return make


def rewritten(name, change):
    def edit(folder, files):
        file = folder / name
        file.write_text(change(file.read_text()))

    return edited(edit)


def lines_of(change):
    def edit(text):
        lines = text.splitlines()
        change(lines)
        return "\n".join(lines) + "\n"

    return edit


def field(line, column, value):
    def change(lines):
        fields = lines[line].split(",")
        fields[column] = value
        lines[line] = ",".join(fields)

    return lines_of(change)


def swapped(a, b):
    def change(lines):
        x, y = lines[a].split(","), lines[b].split(",")
        x[0], y[0] = y[0], x[0]
        lines[a], lines[b] = ",".join(x), ",".join(y)

    return lines_of(change)


def static_with(change):
    def make(folder):
        static = synthetic_gait.static()
        return laboratory(folder, replace(static, markers=change(dict(static.markers))), synthetic_gait.trial(100.0))

    return make


def walk_with(change):
    return lambda folder: laboratory(folder, None, change(synthetic_gait.trial(100.0)))


def without(*labels):
    return lambda markers: {label: p for label, p in markers.items() if label not in labels}


def without_in_walk(*labels):
    return walk_with(lambda walk: replace(walk, markers=without(*labels)(walk.markers)))


def swap_labels(markers):
    markers["R_FAL"], markers["R_TAM"] = markers["R_TAM"], markers["R_FAL"]
    return markers


W, F, M, S = "walk_markers.csv", "walk_forces.csv", "walk_meta.json", "standing_markers.csv"
LANDMARK = {
    "R_FAL": ("lateral malleolus", "talocrural axis"), "R_TAM": ("medial malleolus", "talocrural axis"),
    "R_FCC": ("back of the heel", "frame of the foot"), "R_FM1": ("first metatarsal", "metatarsophalangeal axis"),
    "R_FM5": ("fifth metatarsal", "metatarsophalangeal axis"),
}  # fmt: skip

BAD_FILES = {
    **{
        f"static without {label}": (static_with(without(label)), (S, *words, label, "needs"))
        for label, words in LANDMARK.items() if label != "R_FCC"
    },
    "leg with two markers": (
        without_in_walk("R_FAX", "R_TTC"), (W, "the leg has the markers R_FAL, R_TAM", "three that are not in a line"),
    ),
    "foot with two markers": (
        without_in_walk("R_FM1", "R_FM5"), (W, "the main foot has the markers R_FCC, R_FM2", "three"),
    ),
    "another label set in the trial": (
        walk_with(lambda walk: replace(walk, markers={"X" + k: p for k, p in walk.markers.items()})), (W,),
    ),
    "static eight per cent larger": (
        static_with(lambda m: {k: 1.08 * p for k, p in m.items()}), (W, "not placed as in the static trial", "limit is 22 mm"),
    ),
    "malleoli exchanged": (static_with(swap_labels), (S, "medial malleolus", "lateral side", "labels exchanged?")),
    "static lying down": (
        static_with(lambda m: {k: p[:, [2, 1, 0]] * (1, 1, -1) for k, p in m.items()}), (S, "leans", "limit is 30"),
    ),
    "long gap": (walk_with(lambda walk: gap(walk, "R_FCC", 40, 60)), (W, "'R_FCC'", "0.4 to 0.6 s, 0.2 s", "up to 0.1 s")),
    "gap at the strike": (walk_with(lambda walk: gap(walk, "R_TTC", 0, 20)), (W, "'R_TTC' of the leg", "from 0 to 0.2 s")),
    "millimetres called metres": (
        rewritten(W, lines_of(lambda x: [x.__setitem__(k, scaled(x[k])) for k in range(3, len(x))] and None)),
        (W, "the unit of the positions is wrong", "units='mm' would fit"),
    ),
    "no unit": (rewritten(W, lambda text: text.replace("# units m/N\n", "")), (W, "unit of the positions is not known")),
    "unknown unit": (rewritten(W, lambda text: text.replace("units m/N", "units ft")), (W, "unit of the positions")),
    "time goes back": (rewritten(W, swapped(20, 21)), (W, "the time goes from 0.18 s to 0.17 s", "must increase")),
    "time stands": (rewritten(W, field(21, 0, "0.17")), (W, "the time goes from 0.17 s to 0.17 s")),
    "time of force goes back": (rewritten(F, swapped(20, 21)), ("force plate 'plate1'", "times must increase")),
    "time is NaN": (rewritten(W, field(21, 0, "nan")), (W, "time of sample 19 is nan", "finite")),
    "word among numbers": (rewritten(W, field(21, 4, "abc")), (W, "line 22, column 5 holds 'abc'")),
    "force is NaN": (rewritten(F, field(400, 2, "nan")), ("'plate1'", "is not a finite number", "every sample needs a force")),
    "force is infinite": (rewritten(F, field(400, 2, "inf")), ("'plate1'", "is not a finite number")),
    "no point of a force": (rewritten(F, field(400, 5, "nan")), ("'plate1'", "no point or moment", "every loaded sample")),
    "no centre of pressure column": (rewritten(F, lambda text: text.replace("p1_copx", "p1_cpx")), (F, "no column px")),
    "forces in kN, as N": (
        walk_with(lambda walk: replace(walk, forces=(replace(walk.forces[0], force=walk.forces[0].force / 1e3),))),
        (W, "never loaded", "20 N"),
    ),
    "forces in mN": (
        walk_with(lambda walk: replace(walk, forces=(replace(walk.forces[0], force=walk.forces[0].force * 1e3),))),
        ("plate1", "no step makes more than 20000 N"),
    ),
    "centre of pressure in mm": (
        walk_with(lambda walk: replace(walk, forces=(replace(walk.forces[0], cop=walk.forces[0].cop * 1e3),))),
        (W, "centre of pressure of 'plate1' is", "limit 5 m"),
    ),
    "a plate beside the foot": (
        walk_with(lambda walk: replace(walk, forces=(replace(walk.forces[0], cop=walk.forces[0].cop + (0, 0.4, 0)),))),
        (W, "'plate1': under none of the feet", "limit 0.12 m"),
    ),
    "force of half a stance": (
        walk_with(lambda walk: replace(walk, forces=(cut(walk.forces[0], 0.4),))), (W, "stance of the right foot", "cut short"),
    ),
    "events of the other foot": (
        walk_with(lambda walk: replace(walk, events=tuple(replace(e, side="left") for e in walk.events), forces=())),
        (W, "no gait cycle of the right foot"),
    ),
    "no events, nothing to find them by": (
        walk_with(lambda walk: replace(walk, events=(), forces=())), (W, "no gait cycle of the right foot", "0 in the file"),
    ),
    "no next strike": (
        walk_with(lambda walk: replace(walk, events=walk.events[:2], forces=())), (W, "no gait cycle of the right foot"),
    ),
    "markers end before the next strike": (
        walk_with(lambda walk: replace(walk.crop(0.0, 0.9), events=walk.events, forces=walk.forces)),
        (W, "do not cover the gait cycle from 0.1 to 1.06 s"),
    ),
    "another mass in the static trial": (
        lambda folder: laboratory_with_masses(folder, 70.0, 77.0), (W, "77 kg", "70 kg", "same subject"),
    ),
    "mass of nobody": (
        walk_with(lambda walk: replace(walk, subject=replace(walk.subject, mass=0.0))), ("mass of the subject = 0 kg",),
    ),
    "broken meta file": (rewritten(M, lambda text: text[:-20]), (M, "cannot be read", "JSON")),
    "doubled column": (rewritten(W, lambda text: text.replace("R_FM1_x", "R_FM5_x")), (W, "more than once")),
    "no names": (
        walk_with(lambda walk: replace(walk, markers={f"*{k}": p for k, p in enumerate(walk.markers.values())})),
        (W, "has a name", "label them"),
    ),
}  # fmt: skip


def scaled(row):
    fields = row.split(",")
    return ",".join([fields[0], *(f"{1000.0 * float(v):.12g}" for v in fields[1:])])


def cut(plate, until):
    part = plate.t < until
    return replace(plate, **{name: getattr(plate, name)[part] for name in ("t", "force", "cop", "free_moment")})


def laboratory_with_masses(folder, standing, walking):
    walk = synthetic_gait.trial(100.0)
    files = laboratory(folder, None, replace(walk, subject=replace(walk.subject, mass=walking)))
    write_meta(folder / "standing_meta.json", replace(walk, events=(), subject=replace(walk.subject, mass=standing)))
    return files


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_get_one_sentence(talus, tmp_path, case):
    make, words = BAD_FILES[case]
    files = make(tmp_path)
    done = talus(*files, "--out", "o")
    one_sentence(done, *words)
    assert not (tmp_path / "o").exists()


BAD_OPTIONS = {
    ("--side", "rihgt"): ("side = 'rihgt'", "auto, right, left"),
    ("--side", "left"): ("left",),
    ("--toes", "x"): ("toes = 'x'", "auto, guided, locked"),
    ("--sex", "man"): ("sex = 'man'", "female, male"),
    ("--mass", "0"): ("--mass = 0", "above 0"),
    ("--mass", "nan"): ("--mass = nan", "finite"),
    ("--mass", "70000"): ("mass of the subject = 7e+04 kg", "between 5 and 300 kg", "in kilograms"),
    ("--height", "175"): ("height = 175 m", "between 0.5 and 2.5 m", "in metres"),
    ("--marker", "heel"): ("--marker heel", "LANDMARK=LABEL"),
    ("--marker", "knee=R_FLE"): ("no landmark 'knee'", "lateral_epicondyle"),
    ("--marker", "heel=R_HEEL"): ("no marker 'R_HEEL' for heel", "R_FCC"),
    ("--marker-cutoff", "60"): ("cut-off 60 Hz", "100 samples per second", "between 0 and 50 Hz"),
    ("--force-cutoff", "600"): ("force: cut-off 600 Hz", "1000 samples per second"),
    ("--cop-cutoff", "600"): ("centre of pressure: cut-off 600 Hz",),
    ("--marker-cutoff", "-1"): ("--marker-cutoff = -1", "above 0"),
    ("--order", "0"): ("order = 0", "1 to 8"),
    ("--longest-gap", "-1"): ("--longest-gap = -1",),
    ("--up", "w"): ("up = 'w'", "z, y, x"),
    ("--up", "y"): ("y up",),
    ("--units", "km"): ("units = 'km'", "'mm', 'cm' or 'm'"),
    ("--units", "mm"): ("unit of the positions is wrong", "units='m' would fit"),
    ("--forces", "x.mot"): ("x.mot: no such file",),
    ("--forces", "x.mot", "--forces", "y.mot"): ("--forces: 2 files for 1 trials",),
}


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=" ".join)
def test_bad_options_get_one_sentence(talus, tmp_path, options):
    files = laboratory(tmp_path, None, synthetic_gait.trial(100.0))
    done = talus(*files, *options, "--out", "o")
    one_sentence(done, *BAD_OPTIONS[options])
    assert not (tmp_path / "o").exists()


def test_bad_arguments_get_one_sentence(talus, tmp_path):
    static, walk = laboratory(tmp_path, None, synthetic_gait.trial(100.0))
    for file, content in (("empty.c3d", b""), ("empty.trc", b""), ("empty.csv", b""), ("text.c3d", b"hello\n" * 300)):
        (tmp_path / file).write_bytes(content)
        one_sentence(talus(static, file, "--out", "o"), file)
        one_sentence(talus(file, walk, "--out", "o"), file)
    (tmp_path / "folder.c3d").mkdir()
    one_sentence(talus(static, "folder.c3d", "--out", "o"), "folder.c3d: not a file")
    one_sentence(talus(static, tmp_path, "--out", "o"), "markers are read from .c3d, .trc, .csv")
    one_sentence(talus(static, "absent.trc", "--out", "o"), "absent.trc: no such file")
    one_sentence(talus(static, "--out", "o"), "give the static trial and then one walking trial or more")
    one_sentence(talus(static, tmp_path / F, "--out", "o"), F, "it holds forces")
    one_sentence(talus(walk, walk, "--out", "o"), W, "on the foot moves by", "must stand still")
    one_sentence(talus(static, static, "--out", "o"), S, "1 frames are no walk")
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("form", ["csv", "trc", "c3d"])
def test_files_cut_anywhere(tmp_path, form):
    """Whatever is left of a file, it is read or refused with one sentence."""
    files = laboratory(tmp_path, None, synthetic_gait.trial(100.0), form)
    beside = [file for file in tmp_path.iterdir() if file not in files]
    rng = np.random.default_rng(1)
    for file in (*files, *beside):
        data = file.read_bytes()
        step = np.linspace(0, len(data) - 1, 25).astype(int)
        for length in {0, 1, 2, 511, 512, 513, 1024, *step, *rng.integers(0, len(data), 25)} - {len(data)}:
            file.write_bytes(data[:length])
            reads = files[0] if file == files[0] else files[1]
            try:
                capture = read_capture(reads)
            except ModelError as error:
                assert "\n" not in str(error) and len(str(error)) < 700
            else:
                # Only what fills up the last block of a C3D file may be lost.
                assert len(capture.t) in (1, 117) or (form != "c3d" and len(capture.t) < 117)
        file.write_bytes(data)
    read_capture(files[1])


def test_short_gaps_are_filled_and_told():
    walk, static = synthetic_gait.trial(100.0), synthetic_gait.static()
    base = analyse(static, walk, markers=synthetic_gait.MARKERS, filters=OFF)
    one = analyse(static, gap(walk, "R_FCC", 52, 58), markers=synthetic_gait.MARKERS, filters=OFF)
    told = [note for note in one.notes if "R_FCC" in note]
    assert told == ["synthetic trial: marker 'R_FCC' was not seen from 0.52 to 0.58 s; filled by a spline"]
    assert np.abs(one.moments["talocrural"] - base.moments["talocrural"]).max() < 0.5
    infinite = np.array(walk.marker("R_FCC"))
    infinite[55, 1] = np.inf
    one = analyse(static, replace(walk, markers={**walk.markers, "R_FCC": infinite}), markers=synthetic_gait.MARKERS)
    assert any("R_FCC" in note for note in one.notes)
    with pytest.raises(ModelError, match="marker 'R_FCC' of the main foot is not seen from 0.52 to 0.58 s"):
        analyse(static, gap(walk, "R_FCC", 52, 58), markers=synthetic_gait.MARKERS, filters=Filters(longest_gap=0.0))
    # Of a marker that is not needed, and before the cycle, nothing is asked.
    analyse(static, gap(walk, "R_TTC", 0, 3), markers=synthetic_gait.MARKERS)


@recorded
def test_reading_and_analysis_take_less_than_a_second():
    pytest.importorskip("ezc3d")
    taken = []
    for _ in range(4):
        begin = clock.process_time()
        analyse(trial("ST"), trial("C3_01"), side="right")  # 192 frames
        taken.append(clock.process_time() - begin)
    assert min(taken) < 1.0


def test_markers_that_no_foot_can_have_are_refused():
    walk = synthetic_gait.trial(100.0)
    loose = np.array(walk.marker("R_FCC"))
    loose[60:] += (0.0, 0.0, 0.15)  # fell off late: its usual distances are right
    with pytest.raises(ModelError, match=r"misses the markers by \d+ mm at t = [\d.]+ s, the limit is 20 mm"):
        analyse(synthetic_gait.static(), replace(walk, markers={**walk.markers, "R_FCC": loose}))


# Recorded trials, spoilt


@recorded
def test_spoilt_recorded_trials_get_one_sentence():
    static, walk = trial("ST"), trial("C4_05")
    other = read_capture(OPENSIM / "subject01_static.trc")

    def exchanged(capture):
        other_side = {"L_": "R_", "R_": "L_"}
        return replace(capture, markers={other_side.get(k[:2], k[:2]) + k[2:]: p for k, p in capture.markers.items()})

    both = replace(walk, forces=(combined(walk.forces, name="plate"),))
    nobody = replace(walk, forces=tuple(replace(g, cop=g.cop + (0.0, 0.9, 0.0)) for g in walk.forces))
    for one, two, words in (
        (other, walk, "none of the markers of the static trial subject01_static.trc"),
        (static, both, "touched by both feet"),
        (static, nobody, "under none of the feet"),
        (exchanged(static), walk, "labels exchanged"),
        (static, walk.crop(0.2, 1.4), "no gait cycle of the right foot"),
    ):
        with pytest.raises(ModelError, match=words) as caught:
            analyse(one, two, side="right", mass=MASS)
        assert "\n" not in str(caught.value)
    for side in ("right", "left"):  # one person, told the wrong way round in both files
        with pytest.raises(ModelError):
            analyse(exchanged(static), exchanged(walk), side=side)


# Found once as defects


def test_an_absurd_order_is_refused():
    with pytest.raises(ModelError, match="order"):
        analyse(synthetic_gait.static(), synthetic_gait.trial(), filters=Filters(order=99))


def test_a_gap_as_long_as_the_limit_is_filled_wherever_it_is():
    walk = synthetic_gait.trial(100.0)
    lengths = walk.t[22:100] - walk.t[12:90]
    for start in 12 + np.array([lengths.argmin(), lengths.argmax()]):  # both are 0.1 s, but for the rounding
        analyse(synthetic_gait.static(), gap(walk, "R_FCC", start, start + 10), filters=OFF)


def test_no_gap_at_all_may_be_asked_for(talus, tmp_path):
    assert talus(*walks(tmp_path, ("one",)), "--longest-gap", "0", "--out", "o").code == 0


@pytest.mark.parametrize("labels", ["told", "lower case", "dots"])
def test_labels_that_the_marker_sets_know_are_enough(labels):
    change = {
        "told": lambda label: {"R_FCC": "Ferse"}.get(label, label), "lower case": str.lower,
        "dots": lambda label: label.replace("_", "."),
    }[labels]  # fmt: skip
    static, walk = (
        replace(c, markers={change(k): p for k, p in c.markers.items()})
        for c in (synthetic_gait.static(), synthetic_gait.trial(100.0))
    )
    one = analyse(static, walk, markers={"heel": "Ferse"} if labels == "told" else None, filters=OFF)
    assert one.cycle.complete


@recorded
def test_markers_on_one_leg_are_enough():
    static, walk = trial("ST"), trial("C4_05")
    walk = replace(walk, markers={k: p for k, p in walk.markers.items() if not k.startswith("L_F")})
    one = analyse(static, walk, side="right", filters=OFF)
    assert np.abs(one.moments["talocrural"] - adult("C4_05").moments["talocrural"]).max() < 1e-6


@recorded
def test_a_trial_without_the_heel_names_it():
    walk = trial("C4_05")
    with pytest.raises(ModelError, match=r"R_FCC|heel"):
        analyse(trial("ST"), replace(walk, markers=without("R_FCC")(walk.markers)), side="right")


def test_a_static_trial_without_the_heel_says_what_it_is_for(talus, tmp_path):
    static = synthetic_gait.static()
    files = laboratory(tmp_path, replace(static, markers=without("R_FCC")(static.markers)), synthetic_gait.trial(100.0))
    one_sentence(talus(*files, "--out", "o"), S, "back of the heel", "R_FCC", "needs")


def test_a_trial_without_plates_says_so():
    with pytest.raises(ModelError, match=r"no force plates.*forces"):
        analyse(synthetic_gait.static(), replace(synthetic_gait.trial(100.0), forces=()))


def test_a_cut_contact_is_not_called_whole():
    walk = synthetic_gait.trial(100.0)
    with pytest.raises(ModelError, match="cut short") as caught:
        analyse(synthetic_gait.static(), replace(walk, forces=(cut(walk.forces[0], 0.4),)))
    assert "is on plate" not in str(caught.value)


def test_a_refused_gap_tells_its_length_and_the_limit():
    with pytest.raises(ModelError, match=r"0\.2 s.*0\.1 s"):
        analyse(synthetic_gait.static(), gap(synthetic_gait.trial(100.0), "R_FCC", 45, 65))


def test_static_and_trial_exchanged():
    static = synthetic_gait.static()
    with pytest.raises(ModelError, match="static"):
        analyse(synthetic_gait.trial(100.0), static)


def test_locked_toes_are_not_called_unmarked():
    one = analyse(
        synthetic_gait.static(), synthetic_gait.trial(100.0), markers=synthetic_gait.MARKERS, toes="locked", filters=OFF
    )
    assert not any("no marker on the toes" in note for note in one.notes)


def test_a_wrong_option_is_told_once(talus, tmp_path):
    done = talus(*walks(tmp_path), "--sex", "man", "--out", "o")
    assert done.code == 2 and done.sentence.count("sex = 'man'") == 1
