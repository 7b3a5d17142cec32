"""A worked trial of gait: generalised forces and the ankle's load, by Simbody; the same motion by the pose of the foot."""

import csv
import json
from functools import cache
from types import SimpleNamespace

import numpy as np

import runtime
from runtime import Builder, Signal, State
from runtime.system.assemble import mirrored
from runtime.system.homotopy import follow_homotopy
from tests.support.paths import shared_file
from tests.support.trees import continuous, signals_of, smooth
from tests.support.vectors import X, across, cardan, largest, matrix, parameter_rates

TRIAL = "leg3_2014001_C4_05"


@cache
def worked():
    """The trial: its columns, and a function that builds its system with drivers of a choice."""
    files = [shared_file("gait", "reference", f"{TRIAL}.{suffix}") for suffix in ("json", "csv")]
    given = json.loads(files[0].read_text(encoding="utf-8"))
    lines = [line for line in files[1].read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names, *rows = csv.reader(lines)
    data = np.array(rows, float)
    return SimpleNamespace(columns={name: data[:, k] for k, name in enumerate(names)}, **given)


def columns(pattern, parts="xyz"):
    return np.column_stack([worked().columns[pattern.format(part)] for part in parts])


# The trial's model as one list of bodies, joints, drivers and loads: its parts have no meaning apart.
def worked_motion(through=None):
    """Inverse dynamics of the trial, its leg guided; or its foot, by signals from the motion ``through``."""
    w = worked()
    C, B, joints, t = w.columns, w.bodies, w.joints, w.columns["time_s"]
    leg, foot, toes = (np.array(B[name]["com"]) for name in ("leg", "foot", "toes"))
    crural, calcaneal, mtp = (np.array(joints[name]["in_parent"]) for name in ("talocrural", "subtalar", "mtp"))
    # In the pose with all angles zero all frames are parallel; each hinge turns about the z axis of its frame.
    angles = (joints[name]["parent_orientation_xyz"] for name in ("talocrural", "subtalar", "mtp"))
    a_crural, a_calcaneal, a_mtp = (cardan(a)[:, 2] for a in angles)
    centres = dict(leg=leg, foot=crural + calcaneal + foot, toes=crural + calcaneal + mtp + toes)
    b = Builder("worked trial", gravity=w.gravity)
    for name, r in centres.items():
        xx, yy, zz, xy, xz, yz = B[name]["inertia_com"]
        b.body(name, mass=B[name]["mass"], inertia=[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], r=r, free=name == "leg")
    ends = dict(s_i=-foot, a_i=a_calcaneal, s_j=crural - leg, a_j=a_crural)
    b.joint("ankle", "modified_universal", "foot", "leg", **ends, l=np.linalg.norm(calcaneal))
    b.joint("mtp", "revolute", "foot", "toes", s_i=mtp - foot, a_i=a_mtp, s_j=-toes, a_j=a_mtp)

    def of(name):
        return Signal.samples(t, C[name], C[name + "_d"], C[name + "_dd"])

    def place(body, s):
        if through is None:
            x = dict(x_t=of("leg_tx"), y_t=of("leg_ty"), z_t=of("leg_tz"))
        else:
            A, w, alpha = matrix(through.p[body]), through.omega[body], through.omega_dot[body]
            arm = A @ s
            r, v = through.r[body] + arm, through.v[body] + np.cross(w, arm)
            a = through.v_dot[body] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
            x = signals_of(("x_t", "y_t", "z_t"), smooth(t, r, v, a))
        b.driver(f"{body}_place", "guided_point", body, s_i=s, **x)

    def turn(body):
        p = continuous(through.p[body])
        e = smooth(t, p, *parameter_rates(p, through.omega[body], through.omega_dot[body]))
        b.driver(f"{body}_turn", "guided_orientation", body, **signals_of(("e0_t", "e1_t", "e2_t", "e3_t"), e))

    if through is None:
        place("leg", -leg)
        turned = dict(alpha_t=of("leg_rx"), beta_t=of("leg_ry"), gamma_t=of("leg_rz"))
        b.driver("leg_turn", "guided_cardan", "leg", **turned)
    else:
        place("foot", np.array([0.1, 0.02, -0.01]))
        turn("foot")
    to_calcaneal, to_crural = across(a_crural, calcaneal), across(a_calcaneal, -calcaneal)
    far = dict(s_i=crural - leg, s_j=-foot, h_i=a_crural, a_i=to_calcaneal)
    b.driver("talocrural", "guided_link", "leg", "foot", **far, beta_t=of("talocrural_angle"))
    near = dict(s_i=-foot, s_j=crural - leg, h_i=-a_calcaneal, a_i=to_crural)
    b.driver("subtalar", "guided_link", "foot", "leg", **near, beta_t=of("subtalar_angle"))
    x = across(a_mtp, X)
    b.driver("mtp_angle", "guided_angle", "foot", "toes", a_i=x, h_i=a_mtp, b_j=x, theta_t=of("mtp_angle"))

    def linear(values):
        return Signal.spline(t, values, degree=1)

    force, point = ([linear(C[f"{name}_{axis}"]) for axis in "xyz"] for name in ("grf", "cop"))
    b.load("ground", "foot", force=force, point=point, moment=(0.0, linear(C["free_moment_y"]), 0.0))
    return runtime.inverse_dynamics(b.build(time=t[0]), t)


@cache
def own():
    return worked_motion()


ANGLES = {"talocrural": "ankle.a_j", "subtalar": "ankle.a_i", "mtp": "mtp.a_i"}


def test_generalised_forces_of_the_worked_trial():
    """From its q, q', q''; computed with Simbody, and written with ten digits."""
    w, m = worked(), own()
    for name, signal in (("talocrural", "beta_t"), ("subtalar", "beta_t"), ("mtp_angle", "theta_t")):
        exact = w.columns[f"tau_{name.removesuffix('_angle')}_angle"]
        assert largest(m.driven[name].effort[signal] - exact) < 1e-4
    for driver, pairs in (
        ("leg_place", {"x_t": "tx", "y_t": "ty", "z_t": "tz"}),
        ("leg_turn", {"alpha_t": "rx", "beta_t": "ry", "gamma_t": "rz"}),
    ):
        for signal, name in pairs.items():
            assert largest(m.driven[driver].effort[signal] - w.columns[f"tau_leg_{name}"]) < 1e-4
    for name, freedom in ANGLES.items():
        assert largest(m.degrees_of_freedom[freedom].effort - w.columns[f"tau_{name}_angle"]) < 1e-4
        assert largest(m.degrees_of_freedom[freedom].rate - w.columns[f"{name}_angle_d"]) < 1e-10
        assert m.degrees_of_freedom[freedom].joint == freedom.split(".")[0]
    assert largest(m.degrees_of_freedom["ankle.a_j"].effort) > 50.0  # it is an ankle that pushes


def test_ankle_force_and_moments_of_the_worked_trial():
    m, foot = own(), -np.array(worked().bodies["foot"]["com"])
    force = columns("ankle_reaction_on_foot_{}")
    subtalar, talocrural = columns("M_subtalar_point_{}"), columns("M_talocrural_point_{}")
    known = np.isfinite(force).all(axis=1)
    assert known.sum() > 60
    load = m.joint_load("ankle", on="foot")
    assert largest((load.force - force)[known]) < 0.01 and largest((load.moment - subtalar)[known]) < 1e-3
    assert load.at == "s_i of joint 'ankle'"
    assert largest(m.joint_load("ankle", on="foot", at=foot).moment - load.moment) < 1e-12
    back = m.joint_load("ankle", on="leg")
    assert largest((back.force + force)[known]) < 0.01 and largest((back.moment + talocrural)[known]) < 1e-3
    assert largest(load.force) > 100.0


def test_a_far_pose_of_the_worked_trial_is_approached():
    """From the pose in which it is built, all at once, to those of the whole step: the longest of ways.

    The link on the other side of the axes meets the rows of the ankle as well, and is another ankle.
    """
    one = own()
    system = one.system
    far = np.linspace(0, len(one.t) - 1, 9).astype(int)
    for start in (system.state.y, one.states[far[4]]):
        for n in far:
            y = follow_homotopy(system, float(one.t[n]), np.array(start))
            assert mirrored(system, float(one.t[n]), y) == []
            bodies, exact = (State(system.body_names, part) for part in (y, one.states[n]))
            for name in system.body_names:
                assert largest(bodies.r[name] - exact.r[name], matrix(bodies.p[name]) - matrix(exact.p[name])) < 1e-8
    two = worked_motion(through=one)  # built where all angles are zero, a metre away
    placed = two.system.assembly
    assert placed.largest_move > 1.0 and placed.largest_turn > 0.5
    assert largest(one.r["leg"] - two.r["leg"]) < 1e-10
    assert largest(one.r["leg"] - two.r["leg"]) < 1e-10
    assert mirrored(two.system, float(one.t[0]), two.states[0]) == []
