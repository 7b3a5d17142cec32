"""A trial with each sort of ankle: Lagrange's equations, the limit of a short link, sums of forces, plates and their feet."""

from dataclasses import replace

import numpy as np
import pytest

import models
from models.files.virtual_power import Load, inverse_dynamics, ways_at
from models.walking import compare_ankles, inverse_dynamics_of_trial, inverse_kinematics, loads_of_plates, residuals
from tests.support.limb_models import Limb
from tests.support.marked_limbs import marked, plates_of, read, smooth, trial_of
from tests.support.paths import shared_file
from tests.support.refusals import assert_refused

SIDES = (("ankle_r", "subtalar_r"), ("ankle_l", "subtalar_l"))
FILE, UNIVERSAL, MODIFIED = "as in the file", "universal", "modified universal"


@pytest.fixture
def reading(tmp_path):
    return read(tmp_path, marked())


def walking(reading, **options):
    q = smooth(reading)
    plates, _ = plates_of(reading, q)
    return compare_ankles(reading, trial_of(reading, q, forces=plates), cutoff=None, **options)


def lagrange(source, q, u, u_dot):
    """d/dt dT/du - dT/dq + dV/dq at one time: T and V from velocities of the links, by differences, without accelerations."""
    names = list(q)
    x, v, a = (np.array([of[name] for name in names]) for of in (q, u, u_dot))
    h, eye = 1e-5, np.eye(len(names))

    def energies(x):
        """Mass matrix and potential energy."""
        rates = np.concatenate([eye, 0.0 * x[None]])
        table = np.stack([np.repeat(x[:, None], len(rates), axis=1), rates.T, 0.0 * rates.T])
        ways, _ = ways_at(source, names, table)
        M, V = np.zeros((len(names), len(names))), 0.0
        for link in source.links:
            way = ways[link.name][-1]
            r, speed, _ = way.at(link.centre)
            J = way.A[0] @ link.inertia @ way.A[0].T
            speed, omega = speed[:-1], np.broadcast_to(way.omega, (len(rates), 3))[:-1]
            M += link.mass * speed @ speed.T + omega @ J @ omega.T
            V -= link.mass * float(np.broadcast_to(r, (len(rates), 3))[0] @ source.gravity)
        return M, V

    M, _ = energies(x)
    M_dot = (energies(x + h * v)[0] - energies(x - h * v)[0]) / (2.0 * h)
    found = M @ a + M_dot @ v
    for k, d in enumerate(h * eye):
        (up, V_up), (down, V_down) = energies(x + d), energies(x - d)
        found[k] += (V_up - V_down) / (2.0 * h) - 0.5 * v @ (up - down) @ v / (2.0 * h)
    return dict(zip(names, found, strict=True))


@pytest.mark.parametrize("sort", [UNIVERSAL, MODIFIED])
def test_forces_without_loads_are_those_of_lagrange(reading, sort):
    q = smooth(reading)
    with_noise = trial_of(reading, q, noise=0.003)
    one = compare_ankles(reading, with_noise, sorts=[sort], talus_length=0.05, cutoff=6.0).trials[sort]
    source, trial = one.reading.source, one.trial
    largest = max(np.abs(x).max() for x in trial.forces.values())
    for n in (5, 25, 44):
        state = [{name: x[n] for name, x in of.items()} for of in (trial.q, trial.u, trial.u_dot)]
        for name, force in lagrange(source, *state).items():
            assert trial.forces[name][n] == pytest.approx(force, abs=2e-6 * largest), name
    massless = {link.name: link.mass for link in source.links}
    assert massless["talus_r"] == massless["talus_l"] == 0.0


def test_the_file_s_own_hinges(reading):
    """Known coordinates come back, and forces are those of arrays."""
    q = smooth(reading)
    plates, wanted = plates_of(reading, q)
    found = compare_ankles(reading, trial_of(reading, q, forces=plates), sorts=[FILE], cutoff=None)
    trial = found.trials[FILE].trial
    loads = [Load(body, *parts) for body, parts in wanted.items()]
    known = inverse_dynamics(reading.source, trial.q, trial.u, trial.u_dot, loads)
    assert max(np.abs(trial.q[name] - q[name]).max() for name in q) < 1e-8
    for name in known:
        assert trial.forces[name] == pytest.approx(known[name], abs=1e-9 * np.abs(known[name]).max())
    assert found.ankles["ankle_r"] == ("ankle_angle_r", "subtalar_angle_r")
    assert found.moment(FILE, "ankle_angle_l") * found.mass == pytest.approx(trial.forces["ankle_angle_l"])


def test_a_short_link_is_the_universal_joint(reading):
    """Angles and moments part in proportion to the length."""
    q = smooth(reading)
    plates, _ = plates_of(reading, q)
    trial = trial_of(reading, q, forces=plates)
    given = dict(cutoff=None, ankles=SIDES)
    classical = compare_ankles(reading, trial, sorts=[UNIVERSAL], **given)
    off = []
    for length in (2e-3, 1e-3):
        modified = compare_ankles(reading, trial, sorts=[MODIFIED], talus_length=length, **given)
        off.append(
            [
                np.abs(of(modified)(MODIFIED, name) - of(classical)(UNIVERSAL, name)).max()
                for of in (lambda one: one.angle, lambda one: one.moment)
                for pair in classical.ankles.values()
                for name in pair
            ]
        )
    far, near = np.array(off)
    assert (far < [*4 * [1.0], *4 * [0.1]]).all() and far / near == pytest.approx(2.0, rel=0.05)
    none = compare_ankles(reading, trial, sorts=[MODIFIED], talus_length=0.0, **given)
    assert np.array_equal(none.moment(MODIFIED, "ankle_angle_r"), classical.moment(UNIVERSAL, "ankle_angle_r"))


def test_residuals_are_what_the_ground_forces_lack(reading):
    """Sum of masses times accelerations of the centres of mass, by splines through their places."""
    from scipy.interpolate import make_interp_spline

    found = walking(reading)
    for one in found.trials.values():
        source, trial = one.reading.source, one.trial
        names = list(trial.q)
        ways, _ = ways_at(
            source, names, np.stack([np.stack([of[n] for n in names]) for of in (trial.q, trial.u, trial.u_dot)])
        )
        places = sum(link.mass * ways[link.name][-1].at(link.centre)[0] for link in source.links)
        change = make_interp_spline(trial.t, places, k=5)(trial.t, nu=2)
        net = sum(load.force for load in trial.loads)
        lacks = change - found.mass * source.gravity - net
        at = {residual.coordinate: residual for residual in one.residuals.of}
        for axis, name in enumerate(("pelvis_x", "pelvis_y")):
            inside = slice(5, -5)
            assert at[name].values[inside] == pytest.approx(lacks[inside, axis], abs=0.2)
        largest = np.linalg.norm(net, axis=1).max()
        height = np.mean(places @ -source.gravity) / np.linalg.norm(source.gravity) / found.mass
        assert at["pelvis_x"].limit == pytest.approx(0.05 * largest)
        assert at["pelvis_turn"].limit == pytest.approx(0.01 * largest * height, rel=1e-6)
        assert [residual.unit for residual in one.residuals.of] == ["N", "N", "N m"]
        assert one.residuals.within == all(r.peak <= r.limit for r in one.residuals.of)


def test_plates_act_on_the_nearest_foot(reading):
    q = smooth(reading)
    plates, wanted = plates_of(reading, q)
    trial = trial_of(reading, q, forces=plates)
    motion = inverse_kinematics(reading, trial)
    forces, notes = loads_of_plates(reading, motion, trial, ["calcn_l", "calcn_r"])
    assert {one.body for one in forces} == {"calcn_r", "calcn_l"} and not notes
    for one in forces:
        force, point, moment = wanted[one.body]
        loaded = force.any(axis=1)
        assert one.force == pytest.approx(force) and one.moment == pytest.approx(moment)
        assert one.point[loaded] == pytest.approx(point[loaded]) and (np.abs(one.point).max(axis=1) > 0.0).all()
    far = [replace(plates[0], cop=plates[0].cop + [2.0, 0.0, 0.0]), plates[1]]
    left, notes = loads_of_plates(reading, motion, replace(trial, forces=far), ["calcn_l", "calcn_r"])
    assert [one.body for one in left] == ["calcn_l"] and "acts on no foot" in notes[0]
    for sentence, feet, of in (
        ("no body 'foot'", ["foot"], trial),
        ("no force plates", ["calcn_r"], replace(trial, forces=())),
    ):
        assert_refused(sentence, loads_of_plates, reading, motion, of, feet)


def test_trials_without_forces_and_what_is_refused(reading):
    q = smooth(reading)
    found = compare_ankles(reading, trial_of(reading, q), sorts=[FILE])
    assert "no ground forces" in found.notes[-1] and not found.trials[FILE].residuals.within
    for sentence, options in (
        ("sorts: 'ball'", {"sorts": ["ball"]}),
        ("no such joint", {"ankles": [("ankel_r", "subtalar_r")]}),
        ("talus_length", {"talus_length": 5.0}),
    ):
        assert_refused(sentence, compare_ankles, reading, trial_of(reading, q), **options)


@pytest.mark.slow
def test_the_walk_of_subject01():
    """With its own hinges near the forces of OpenSim's coordinates; with others as the joint differs: by little."""
    reading = models.read(shared_file("opensim", "subject01.osim"))
    loads = shared_file("opensim", "subject01_walk1_grf.xml")
    trc = shared_file("gait", "dev", "opensim_subject01", "subject01_walk1.trc")
    found = compare_ankles(reading, trc, loads, start=0.5, end=1.6)
    own = found.trials[FILE]
    known = inverse_dynamics_of_trial(
        reading, shared_file("opensim", "subject01_walk1_ik.mot"), loads, t_eval=np.clip(own.trial.t, 0.5, 1.6)
    )
    for name in ("ankle_angle_r", "ankle_angle_l"):
        off = np.abs(own.trial.forces[name] - known.forces[name]).max()
        assert off < 0.05 * np.abs(known.forces[name]).max(), name  # OpenSim's tasks weigh the markers in another way
    for name in ("ankle_angle_r", "subtalar_angle_r", "ankle_angle_l", "subtalar_angle_l"):
        assert np.abs(found.moment(MODIFIED, name) - found.moment(FILE, name)).max() < 0.01
        assert 0.0 < np.abs(found.angle(UNIVERSAL, name) - found.angle(FILE, name)).max() < 0.5
    at = {residual.coordinate: residual for residual in residuals(own.reading, own.trial).of}
    assert at["pelvis_tx"].within and own.residuals.external == pytest.approx(933.1, abs=1.0)
    plates = compare_ankles(reading, trc, sorts=[FILE], start=0.5, end=1.6)  # of the file beside the markers
    same = plates.trials[FILE].trial.forces["ankle_angle_r"]
    assert same == pytest.approx(own.trial.forces["ankle_angle_r"], abs=0.02 * np.abs(same).max())


def test_a_welded_subtalar_joint_with_an_added_axis(tmp_path):
    """The comparison of a file that has this axis, and a note for each assumption."""
    limb = Limb()
    hinged, welded = (
        read(tmp_path, marked(replace(limb, welded=one)), name) for one, name in ((0, "a.osim"), (1, "b.osim"))
    )
    q = smooth(hinged)
    trial = trial_of(hinged, q, forces=plates_of(hinged, q)[0])
    wanted = compare_ankles(hinged, trial, talus_length=0.04)
    found = compare_ankles(welded, trial, talus_length=0.04, subtalar_axis=limb.subtalar_axis)
    for sort in wanted.trials:
        for name in (name for pair in wanted.ankles.values() for name in pair):
            assert found.angle(sort, name) == pytest.approx(wanted.angle(sort, name), abs=1e-6)
            assert found.moment(sort, name) == pytest.approx(wanted.moment(sort, name), abs=1e-6)
    added = [note for note in found.notes if note not in wanted.notes]
    assert len(added) == 7 and sum("subtalar_l: " in note for note in added) == 3
    assert_refused("add an axis by subtalar_axis='isman_inman'", compare_ankles, welded, trial)


def test_locked_hinges_are_refused_with_the_option(tmp_path):
    locked = read(tmp_path, marked(Limb(locked=True)))
    trial = trial_of(locked, smooth(locked))
    assert_refused(("locks its coordinate 'subtalar_angle_r'", "use unlock=True"), compare_ankles, locked, trial)
