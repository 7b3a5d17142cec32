"""Knee and hip: a walker by hand, other models of the same trials, norms, and trials whose markers do not show them."""

from dataclasses import replace

import numpy as np
import pytest

import models
import runtime
from models.files.storage import read_storage
from models.files.virtual_power import ways_at
from models.studies.gait.figures import NORM
from models.walking import Anatomy, Filters, analyse, leg_foot, norms, scale_to_subject, synthetic, upper_leg
from models.walking.both_feet import analyse_trials
from models.walking.capture import read_capture
from models.walking.cycle_curves import curve, curves_of, dimensionless_speed, knee_and_hip_peaks_of
from models.walking.geometry import euler_parameters
from models.walking.opensim_trial import kinds_of
from models.walking.upper_leg import JOINT_ANGLES, UPPER_ANGLES, scale_upper_leg
from tests.support.paths import SHARED
from tests.support.recorded_gait import C3D, MASS, OPENSIM, recorded, reference, rms
from tests.support.refusals import assert_refused
from tests.support.walker import Walker, relative

OFF = Filters.off()
PELVIS = ("R_IAS", "L_IAS", "R_IPS", "L_IPS")


def rotation(axis, angle):
    """Matrices (n, 3, 3) by hand."""
    c, s, zero, one = np.cos(angle), np.sin(angle), np.zeros(len(angle)), np.ones(len(angle))
    rows = {
        "x": ((one, zero, zero), (zero, c, -s), (zero, s, c)),
        "y": ((c, zero, s), (zero, one, zero), (-s, zero, c)),
        "z": ((c, -s, zero), (s, c, zero), (zero, zero, one)),
    }[axis]
    return np.moveaxis(np.array(rows), 2, 0)


def turned(flexion, adduction, internal, sign):
    """A distal in a proximal body; ``sign`` of flexion about y, which points to the left of a right leg."""
    return rotation("y", sign * flexion) @ rotation("x", adduction) @ rotation("z", internal)


@pytest.fixture(scope="module")
def by_hand():
    """Moments (n, 3) of knee and hip in global axes, and the axes of pelvis, thigh and leg (n, 3, 3), over the cycle."""
    walker, above = Walker(synthetic.subject()), synthetic.upper_leg()
    series = {name: norms.MOTION[name](walker.x) for name in UPPER_ANGLES}
    leg = walker.G["leg"].as_matrix() @ walker.person.bodies["leg"].A
    tibia = leg @ above.knee_axes
    thigh = tibia @ np.swapaxes(turned(*(series[f"knee_{k}"] for k in ("flexion", "adduction", "rotation")), 1.0), 1, 2)
    pelvis = thigh @ np.swapaxes(
        turned(*(series[f"hip_{k}"] for k in ("flexion", "adduction", "rotation")), -1.0), 1, 2
    )
    knee = walker.r["leg"] + leg @ walker.person.knee
    r = knee - thigh @ above.knee
    hip = r + thigh @ above.hip
    wrench = walker.wrenches()
    force, moment = (sum(wrench[body][k] for body in ("leg", "main_foot", "toes")) for k in (0, 1))
    own = walker.needed(above.thigh, r, thigh)
    moments = {"knee": moment - np.cross(knee, force)}
    moments["hip"] = moment + own[1] - np.cross(hip, force + own[0])
    return walker, moments, {"pelvis": pelvis, "thigh": thigh, "leg": tibia}


def about_axes(moments, proximal, distal, sign):
    """Components along the axes of Grood and Suntay: y of the proximal body, the floating axis, z of the distal body."""
    y, z = proximal[:, :, 1], distal[:, :, 2]
    floating = np.cross(y, z)
    floating /= np.linalg.norm(floating, axis=1)[:, None]
    return [(moments * axis).sum(axis=1) for axis in (sign * y, floating, z)]


def test_angles_and_moments_are_those_of_a_walker_by_hand(synthetic_walk, by_hand):
    one = synthetic_walk
    walker, moments, axes = by_hand
    for name in UPPER_ANGLES:
        assert np.abs(one.angles[name] - synthetic.angle(name, one.t)).max() < 1e-9
    inside = (one.percent > -1e-9) & (one.percent < 100.0 - 1e-6)
    frames = slice(0, None, 5)
    assert np.allclose(one.percent[inside] / 100.0, walker.x[frames], atol=1e-12)
    truths = about_axes(moments["knee"], axes["thigh"], axes["leg"], 1.0)
    truths += about_axes(moments["hip"], axes["pelvis"], axes["thigh"], -1.0)
    largest = {joint: max(np.abs(t).max() for t in truths[k : k + 3]) for joint, k in (("knee", 0), ("hip", 3))}
    for name, truth in zip(UPPER_ANGLES, truths, strict=True):
        assert np.abs(one.moments[name][inside] - truth[frames]).max() < 1e-6 * largest[name.split("_")[0]], name
        power = truth * norms.MOTION[name](walker.x, 1) / synthetic.CYCLE
        assert np.abs(one.powers[name][inside] - power[frames]).max() < 5e-6 * np.abs(power).max(), name


def test_the_moments_are_loads_of_the_joints_of_one_tree(monkeypatch):
    """The same bodies with spherical knee and hip below a trunk; ``runtime.inverse_dynamics`` finds the loads by multipliers."""
    add = leg_foot._add_body
    monkeypatch.setattr(
        leg_foot, "_add_body", lambda b, name, s, **_: add(b, name, s, free=False)
    )  # the trunk is the root
    person, above, paths = synthetic.subject(), synthetic.upper_leg(), synthetic.upper_paths()
    thigh, leg, arm = above.thigh, synthetic.coordinates(), np.array([0.1, -0.2, 0.3])
    b = leg_foot.skeleton(person, "tree")
    b.body("thigh", mass=thigh.mass, inertia=thigh.inertia, r=thigh.r, p=euler_parameters(thigh.A[None])[0])
    b.body("trunk", mass=30.0, inertia=np.eye(3), r=thigh.r + thigh.A @ above.hip - arm, free=True)
    b.joint("knee", "spherical", "thigh", "leg", s_i=above.knee, s_j=person.knee)
    b.joint("hip", "spherical", "trunk", "thigh", s_i=arm, s_j=above.hip)
    for joint, angle in leg_foot.driven_angles(person).items():
        b.driver(angle.driver, angle.kind, *angle.bodies, **angle.inputs(leg.angle(joint)))
    for body, turn in (("leg", leg.turn), ("thigh", paths["thigh"].turn), ("trunk", paths["pelvis"].turn)):
        b.driver(f"{body}_turn", "guided_orientation", body, **{f"e{k}_t": signal for k, signal in enumerate(turn)})
    b.driver("leg", "guided_point", "leg", s_i=(0, 0, 0), **dict(zip(("x_t", "y_t", "z_t"), leg.leg, strict=True)))
    leg_foot.add_ground_loads(b, synthetic.ground())
    t = synthetic.STRIKE + np.linspace(0.01, 0.9, 12)
    tree = runtime.inverse_dynamics(b.build(time=float(t[0])), t)
    monkeypatch.undo()
    system = leg_foot.build(person, leg, synthetic.ground(), thigh=(thigh, paths["thigh"]))
    moments = upper_leg.joint_moments(runtime.inverse_dynamics(system, t), person, above)
    for joint, body in (("knee", "leg"), ("hip", "thigh")):
        assert relative(moments[joint], tree.joint_load(joint, on=body).moment) < 1e-6


def without(capture, *labels):
    return replace(capture, markers={label: p for label, p in capture.markers.items() if label not in labels})


def reduced(*labels, static=True):
    """The analysis of the synthetic trial without some markers, in the static trial too or in the walk alone."""
    standing = without(synthetic.static(), *labels) if static else synthetic.static()
    return analyse(standing, without(synthetic.trial(), *labels), markers=synthetic.MARKERS, filters=OFF)


@pytest.mark.parametrize(
    ("labels", "static", "words"),
    [
        (
            PELVIS,
            True,
            "no marker on the anterior superior iliac spine of the right side (R_IAS in the set Schreiber-Moissenet)",
        ),
        (("L_IPS",), True, "no marker on the posterior superior iliac spine opposite of the right side (L_IPS"),
        (("L_IAS", "R_IPS"), False, "of the markers of the pelvis (R_IAS, R_IPS, L_IAS, L_IPS) R_IAS, L_IPS are seen"),
        (("R_FTC",), False, "of the markers of the thigh (R_FTC, R_FLE, R_FME) none are seen in the whole gait cycle"),
    ],
)
def test_without_their_markers_a_note_says_so_and_nothing_else_changes(synthetic_walk, labels, static, words):
    one = reduced(*labels, static=static)
    (note,) = [note for note in one.notes if note.startswith("knee and hip are not analysed: ")]
    assert words in note and one.upper_leg is None
    assert not set(UPPER_ANGLES) & {*one.angles, *one.moments, *one.powers}
    assert not [name for name in curves_of(one) if name.startswith(("knee", "hip"))]
    assert not any("knee and hip" in note for note in synthetic_walk.notes)
    for of in ("angles", "moments", "powers"):
        for joint, values in getattr(one, of).items():
            whole = getattr(synthetic_walk, of)[joint]
            assert np.abs(values - whole).max() < 1e-10 * max(1.0, np.abs(whole).max())


def test_a_marker_that_is_not_seen_all_the_time_is_left_out(synthetic_walk):
    walk = synthetic.trial()
    lost = np.array(walk.markers["L_IPS"])
    lost[60:110] = np.nan
    walk = replace(walk, markers={**walk.markers, "L_IPS": lost})
    one = analyse(synthetic.static(), walk, markers=synthetic.MARKERS, filters=OFF)
    assert "L_IPS" not in one.markers and "R_IPS" in one.markers
    for name in UPPER_ANGLES:
        assert np.abs(one.angles[name] - synthetic_walk.angles[name]).max() < 1e-9


def test_the_filter_of_the_markers_filters_pelvis_and_thigh(synthetic_walk):
    one = analyse(synthetic.static(), synthetic.trial(), markers=synthetic.MARKERS)
    for name in UPPER_ANGLES:
        assert 1e-5 < rms(one.angles[name] - synthetic_walk.angles[name]) < np.radians(1.0)
        assert rms(one.moments[name] - synthetic_walk.moments[name]) < 0.05 * synthetic.MASS


def test_hip_centres_by_regression():
    """Width 0.24 m, depth from the markers; the standing pelvis is tilted, its axes are not the laboratory's."""
    found = synthetic.upper_leg()
    own, other, *back = (np.array(synthetic.STANDING[label]) for label in PELVIS)
    depth = np.linalg.norm((own + other - back[0] - back[1]) / 2)
    expected = (-0.24 * depth - 0.0099, -(0.33 * 0.24 + 0.0073), -0.30 * 0.24 - 0.0109)
    np.testing.assert_allclose(found.hip_in_pelvis, expected, atol=1e-12)
    bell = scale_upper_leg(synthetic.static(), synthetic.subject(), Anatomy(hip_centre="bell"))
    np.testing.assert_allclose(bell.hip_in_pelvis, 0.24 * np.array([-0.19, -0.36, -0.30]), atol=1e-12)
    assert "Bell" in bell.sources["hip centre"] and "Harrington" in found.sources["hip centre"]
    tilt = np.arctan2(0.015, 0.16)  # the anterior spines are lower
    hip = (own + other) / 2 + np.array([
        np.cos(tilt) * expected[0] + np.sin(tilt) * expected[2], expected[1],
        np.cos(tilt) * expected[2] - np.sin(tilt) * expected[0],
    ])  # fmt: skip
    thigh = found.thigh
    np.testing.assert_allclose(thigh.r + thigh.A @ found.hip, hip, atol=1e-12)
    knee = np.mean([synthetic.STANDING[label] for label in ("R_FLE", "R_FME")], axis=0)
    np.testing.assert_allclose(thigh.r + thigh.A @ found.knee, knee, atol=1e-12)
    # De Leva (1996), the mean of female and male, from hip to knee.
    np.testing.assert_allclose(thigh.r, hip + (0.4095 + 0.3612) / 2 * (knee - hip), atol=1e-12)
    assert thigh.mass == pytest.approx(70.0 * (0.1416 + 0.1478) / 2)
    radii = np.sqrt(np.diag(thigh.inertia) / thigh.mass) / np.linalg.norm(hip - knee)
    np.testing.assert_allclose(radii, [0.349, 0.3465, 0.1555], atol=1e-9)
    assert_refused("hip_centre = 'davis'; use 'harrington', 'bell'", Anatomy, hip_centre="davis")


def test_a_sacral_marker_in_place_of_the_posterior_spines():
    static = synthetic.static()
    middle = (static.markers["R_IPS"] + static.markers["L_IPS"]) / 2
    names = {label: label.replace("_", "") for label in static.markers}
    gait = {
        "R_FLE": "RKNE",
        "R_FME": "RKNM",
        "R_FAL": "RANK",
        "R_TAM": "RMED",
        "R_FCC": "RHEE",
        "R_FM2": "RTOE",
        "R_FM1": "RD1M",
    }
    gait |= {"R_FM5": "RD5M", "R_TTC": "RTIB", "R_IAS": "RASI", "L_IAS": "LASI", "R_FTC": "RTHI"}
    markers = {(names | gait)[label]: p for label, p in static.markers.items() if "IPS" not in label}
    other = replace(static, markers=markers | {"SACR": middle})
    found = scale_upper_leg(other, scale_to_subject(other))
    np.testing.assert_allclose(found.hip_in_pelvis, synthetic.upper_leg().hip_in_pelvis, atol=1e-12)
    assert set(found.pelvis) == {"RASI", "LASI", "SACR"} and "RTHI" in found.thigh.markers


def test_a_left_leg_is_the_mirror_image_of_a_right_one(synthetic_walk):
    def other_side(capture):
        swapped = {"R": "L", "L": "R"}
        markers = {swapped[label[0]] + label[1:]: p * (1.0, -1.0, 1.0) for label, p in capture.markers.items()}
        forces = tuple(
            replace(f, force=f.force * (1, -1, 1), cop=f.cop * (1, -1, 1), free_moment=-f.free_moment, corners=None)
            for f in capture.forces
        )
        return replace(
            capture, markers=markers, forces=forces, events=tuple(replace(e, side="left") for e in capture.events)
        )

    labels = {name: "L" + label[1:] for name, label in synthetic.MARKERS.items()}
    one = analyse(
        other_side(synthetic.static()), other_side(synthetic.trial()), side="left", markers=labels, filters=OFF
    )
    for name in UPPER_ANGLES:
        assert np.abs(one.angles[name] - synthetic_walk.angles[name]).max() < 1e-9
        assert relative(one.moments[name], synthetic_walk.moments[name]) < 1e-7


def test_impossible_pelvis_and_thigh_are_refused():
    static, person = synthetic.static(), synthetic.subject()
    swapped = replace(
        static, markers={**static.markers, "R_IAS": static.markers["L_IAS"], "L_IAS": static.markers["R_IAS"]}
    )
    assert_refused(
        "the markers of the pelvis are upside down; are their labels exchanged?", scale_upper_leg, swapped, person
    )
    raised = {label: static.markers[label] + (0.0, 0.0, 0.4) for label in PELVIS}
    high = replace(static, markers={**static.markers, **raised})
    assert_refused("length of the thigh = 0.8", scale_upper_leg, high, person)


@recorded
def test_the_knee_of_a_full_body_model_of_the_same_trial(adult):
    """OpenSim's scaled generic model fits the same markers and has the same plates; its knee and hip are others."""
    one = adult("C4_05")
    inside, angle, moment = reference(
        "opensim_fullbody_2014001_C4_05.csv", one, "knee_angle_r_deg", "knee_angle_r_moment_Nm_per_kg"
    )
    off = np.degrees(one.angles["knee_flexion"][inside]) - angle
    assert abs(off.mean()) < 0.5 and off.std() < 1.0
    assert rms(one.moments["knee_flexion"][inside] / MASS - moment) < 0.06
    # All markers of pelvis and thigh are followed, within their movement on the skin.
    of = {body: [m for m in one.markers.values() if m.body == body] for body in ("pelvis", "thigh")}
    assert len(of["pelvis"]) == 4 and len(of["thigh"]) == 3
    assert max(np.linalg.norm(m.measured - m.modelled, axis=1).max() for m in of["pelvis"]) < 0.006
    assert max(np.linalg.norm(m.measured - m.modelled, axis=1).max() for m in of["thigh"]) < 0.03


@pytest.fixture(scope="module")
def hip_of_opensim():
    """Hip centre of the model of subject01 from the middle of the anterior spines, in the axes of the pelvis by its markers."""
    source = models.read(SHARED / "opensim" / "subject01.osim").source
    motion = read_storage(SHARED / "opensim" / "subject01_walk1_ik.mot")
    kinds = kinds_of(source)
    q = np.stack([motion.columns[name] * (np.pi / 180 if kind == "turn" else 1.0) for name, kind in kinds.items()])
    ways, _ = ways_at(source, list(kinds), np.stack([q, 0.0 * q, 0.0 * q]))
    walk = read_capture(OPENSIM / "subject01_walk1.trc")
    # In axes of OpenSim: x forwards, y up, z to the right.
    spines = (
        np.stack([np.interp(motion.t, walk.t, c) for c in walk.markers[k].T], axis=1)
        for k in ("R.ASIS", "L.ASIS", "V.Sacral")
    )
    right, left, back = (np.column_stack([p[:, 0], p[:, 2], -p[:, 1]]) for p in spines)
    side = right - left
    side /= np.linalg.norm(side, axis=1)[:, None]
    ahead = (right + left) / 2 - back
    ahead -= (ahead * side).sum(axis=1)[:, None] * side
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    centre = ways[source.bodies["femur_r"]][-1].r - (right + left) / 2
    return [float((centre * axis).sum(axis=1).mean()) for axis in (ahead, side, np.cross(side, ahead))]


@recorded
@pytest.mark.slow
@pytest.mark.parametrize("centre", ["harrington", "of the model"])
def test_knee_and_hip_of_opensim_on_the_same_markers_and_plates(monkeypatch, hip_of_opensim, centre):
    """The difference of the hip's flexion moment is that of the hip centres, 31 mm apart."""
    own = Anatomy()
    if centre == "of the model":
        monkeypatch.setitem(upper_leg.HIP_CENTRES, "harrington", [(x, 0.0, 0.0) for x in hip_of_opensim])
    static, walk = (read_capture(OPENSIM / f"subject01_{name}.trc") for name in ("static", "walk1"))
    one = analyse(static, walk, side="right", mass=72.6, height=1.803, sex="male", anatomy=own)
    known = read_storage(SHARED / "opensim" / "subject01_inverse_dynamics.sto")
    t = one.t[(one.t >= one.cycle.strike) & (one.t <= known.t[-1])]
    limits = {"knee_flexion": 0.075, "hip_flexion": 0.22, "hip_adduction": 0.12, "hip_rotation": 0.025}
    if centre == "of the model":
        limits["hip_flexion"] = 0.08
    names = {"knee_flexion": ("knee_angle_r", -1.0)} | {name: (f"{name}_r", 1.0) for name in limits if "hip" in name}
    for name, limit in limits.items():
        column, sign = names[name]
        moment = sign * np.interp(t, known.t, known.columns[f"{column}_moment"])
        off = rms(np.interp(t, one.t, one.moments[name]) - moment) / 72.6
        assert off < limit, name
        assert name != "hip_flexion" or centre == "of the model" or off > 0.15


@recorded
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("condition", ["C4", "C5"])
def test_nine_adults_walk_as_the_norms_say(condition):
    """Means of both feet of nine adults at the speed they chose and fast, beside children at the nearest dimensionless speed."""
    pytest.importorskip("ezc3d")
    options = {"side": None, "markers": None, "filters": OFF, "functional": None}
    found = []
    for static in sorted(C3D.glob("*_ST.c3d")):
        walks = sorted(C3D.glob(f"{static.name[:7]}_{condition}_*.c3d"))
        readers = [(walk.name, lambda walk=walk: read_capture(walk)) for walk in walks]
        found += analyse_trials(read_capture(static), readers, options, lambda _: None).found
    assert len(found) == 18 and all(one.upper_leg is not None for one in found)
    pace = float(np.mean([dimensionless_speed(one) for one in found]))
    for (quantity, joint), (name, sign) in NORM.items():
        if joint not in (*UPPER_ANGLES, *JOINT_ANGLES):
            continue
        scale = sign * (np.rad2deg(1.0) if quantity == "angle" else 1.0)
        _, mean, sd = (scale * values for values in norms.band(name, pace))
        curves = np.mean([curve(one, quantity, joint) for one in found], axis=0)
        assert np.corrcoef(curves, mean)[0, 1] > (0.65 if quantity == "power" else 0.85), name
        within = np.mean(np.abs(curves - mean) < 2.0 * np.abs(sd))
        # Adults flex the hip in late stance with larger moments than children.
        assert within > (0.55 if name == "hip_extensor_moment" else 0.8), name
    for one in found:
        peaks = knee_and_hip_peaks_of(one)
        assert 50.0 < peaks["knee flexion, largest [deg]"] < 75.0
        assert 0.4 < peaks["hip abductor moment, largest [N m/kg]"] < 1.4
        assert -30.0 < peaks["hip flexion, smallest [deg]"] < 10.0 < peaks["hip flexion, largest [deg]"] < 50.0
