"""Inverse kinematics: closed forms, round trips through forward kinematics, conditions of a least sum, and other programs."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import models
import runtime
from runtime.system import Frame
from tests.analysis.test_mechanics import loops, trees
from tests.support.refusals import assert_refused
from tests.support.vectors import largest

L1, L2 = 0.3, 0.25  # [m] rods of the arm in the plane of x and z, which hangs down at 0


def arm(*, ranges=()):
    """Two rods; ranges: joint -> ends of its angle, as stops."""
    b = runtime.Builder("arm", axes="global")
    b.body("upper", mass=2.0, inertia=(0.02, 0.02, 0.002), r=(0, 0, -0.1))
    b.body("lower", mass=1.5, inertia=(0.01, 0.01, 0.001), r=(0, 0, -L1 - 0.1))
    b.joint("shoulder", "revolute", "ground", "upper", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("elbow", "revolute", "upper", "lower", point=(0, 0, -L1), axis=(0, 1, 0))
    b.frame("hand", "lower", s=(0, 0, -L1 - L2))
    for name, (lower, upper) in dict(ranges).items():
        bodies = ("ground", "upper") if name == "shoulder" else ("upper", "lower")
        b.force(
            f"{name}_stop", "hinge_stop", *bodies, a_i=(0, 1, 0), b_i=(0, 0, -1), c_j=(0, 0, -1), stiffness=100.0, loss=0.0,
            middle=(lower + upper) / 2, half_range=(upper - lower) / 2,
        )  # fmt: skip
    return b.build()


def hand(q):
    """Place of the hand for angles q (..., 2)."""
    a, b = q[..., 0], q[..., 0] + q[..., 1]
    return np.stack([-L1 * np.sin(a) - L2 * np.sin(b), 0 * a, -L1 * np.cos(a) - L2 * np.cos(b)], axis=-1)


def test_an_arm_in_closed_form():
    """Both elbows, by the start."""
    wanted = np.array([0.2, 0.0, -0.35])
    bend = np.arccos((wanted @ wanted - L1**2 - L2**2) / (2 * L1 * L2))
    for side in (1.0, -1.0):
        found = runtime.inverse_kinematics(arm(), positions={"hand": wanted}, initial=[0.0, side])
        assert found.reached and found.converged and found.errors["hand"] < 1e-12 and not found.undetermined
        assert found.coordinates["elbow.angle"] == pytest.approx(side * bend, abs=1e-9)
        assert hand(found.q) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("far", [(0.5, 0.0, 0.9), (3.0, 0.2, -1.0), (0.0, 0.0, -0.9)])
def test_a_hand_stretches_towards_a_target_beyond_its_reach(far):
    found = runtime.inverse_kinematics(arm(), positions={"hand": far}, initial=[0.3, -0.5])
    in_plane = np.array([far[0], 0.0, far[2]])
    nearest = (L1 + L2) * in_plane / np.linalg.norm(in_plane)
    assert found.converged and not found.reached and "not reached" in found.message and not found.undetermined
    assert hand(found.q) == pytest.approx(nearest, abs=1e-7)
    assert found.errors["hand"] == pytest.approx(np.linalg.norm(nearest - far), abs=1e-9)
    assert np.abs(found.q).max() < np.pi  # no revolutions on the way


def test_a_start_at_a_saddle_point_is_left():
    """The stretched arm has no slope towards a target on its line, and the target is within reach."""
    found = runtime.inverse_kinematics(arm(), positions={"hand": (0, 0, -0.4)}, initial=[0.0, 0.0])
    assert found.reached and abs(found.coordinates["elbow.angle"]) > 0.5


RANGES = {"shoulder": (-0.4, 0.6), "elbow": (0.1, 1.0)}


def test_limits_hold_and_say_so():
    """Least squares of SciPy in the box, which knows only forward kinematics."""
    system, random = arm(ranges=RANGES), np.random.default_rng(3)
    for wanted in hand(random.uniform(-1.5, 1.5, (8, 2))):
        found = runtime.inverse_kinematics(system, positions={"hand": wanted}, initial=[0.1, 0.5])
        box = [RANGES["shoulder"], RANGES["elbow"]]
        sums = [
            minimize(lambda q, to=wanted: ((hand(q) - to) ** 2).sum(), x, bounds=box, tol=1e-14)
            for x in ([0.1, 0.5], found.q)
        ]
        assert found.converged and found.errors["hand"] ** 2 <= min(one.fun for one in sums) + 1e-9
        for name, (lower, upper) in RANGES.items():
            value = found.coordinates[f"{name}.angle"]
            assert lower - 1e-15 <= value <= upper + 1e-15
            assert (min(value - lower, upper - value) < 1e-12) == (f"{name}.angle" in found.at_limits)
    assert found.limits == {f"{name}.angle": pytest.approx(ends) for name, ends in RANGES.items()}
    wide = runtime.inverse_kinematics(system, positions={"hand": hand(np.array([0.9, 1.2]))}, limits=False)
    assert wide.reached and not wide.limits
    own = runtime.inverse_kinematics(system, positions={"hand": wanted}, bounds={"elbow.angle": (0.3, 0.3)})
    assert own.coordinates["elbow.angle"] == 0.3


def test_limits_of_the_foot_and_cones_that_are_no_range():
    foot = models.foot.build(limits="elastic")
    found = runtime.inverse_kinematics(foot, coordinates={"ankle.theta_i": 2.0, "ankle.theta_j": -0.1})
    upper = found.limits["ankle.theta_i"][1]
    assert found.coordinates["ankle.theta_i"] == pytest.approx(upper, abs=1e-9) and "ankle.theta_i" in found.at_limits
    assert found.coordinates["ankle.theta_j"] == pytest.approx(-0.1, abs=1e-9) and not found.reached
    ball = runtime.inverse_kinematics(models.pendulum.build(limits="elastic"), positions={"rod": (0.1, 0.1, -0.3)})
    assert ball.limits_left_out == ("pivot",) and not ball.limits


def cases():
    tripod = runtime.Builder("tripod", axes="global")
    tripod.body("plate", mass=2.0, inertia=(0.02, 0.02, 0.03), r=(0, 0, 0.5))
    for k, angle in enumerate(2.0 * np.pi / 3.0 * np.arange(3)):
        out, across = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
        foot, top = 0.4 * out, 0.3 * out + [0, 0, 0.5]
        along = (top - foot) / np.linalg.norm(top - foot)
        tripod.body(f"lower_{k}", mass=0.3, inertia=(0.01, 0.01, 0.01), r=foot + 0.1 * along)
        tripod.body(f"rod_{k}", mass=0.3, inertia=(0.01, 0.01, 0.01), r=top - 0.1 * along)
        tripod.joint(f"hinge_{k}", "revolute", "ground", f"lower_{k}", point=foot, axis=across)
        tripod.joint(f"jack_{k}", "translational", f"lower_{k}", f"rod_{k}", point=top, axis=along)
        tripod.joint(f"ball_{k}", "spherical", f"rod_{k}", "plate", point=top)
    return {**trees(), **loops(), "tripod": tripod.build()}


@pytest.mark.parametrize(
    "name",
    ["tree", "floating", "another", "walked from body j", "four-bar", "redundant rows", "bennett", "screw", "tripod"],
)
def test_poses_of_all_bodies_are_found_again(name):
    """Positions and orientations by forward kinematics of random configurations; rows hold to rounding."""
    m, random = runtime.mechanics(cases()[name]), np.random.default_rng(5)
    closed = m.independent is not None
    q = m.integrate(np.tile(m.q0, (6, 1)), (0.15 if closed else 0.5) * random.standard_normal((6, len(m.rate_names))))
    poses = {body: m.pose(body, q) for body in m.system.body_names}
    found = runtime.inverse_kinematics(
        m.system, positions={b: pose.r for b, pose in poses.items()}, orientations={b: pose.A for b, pose in poses.items()},
        initial=np.tile(m.q0, (6, 1)),
    )  # fmt: skip
    assert found.reached.all() and found.converged.all() and not found.undetermined
    assert found.violation.max() < 1e-13
    for body, pose in poses.items():
        again = m.pose(body, found.q)
        assert largest(again.r - pose.r) < 1e-9 and largest(again.A - pose.A) < 1e-9


@pytest.mark.parametrize("name, body", [("four-bar", "coupler"), ("bennett", ""), ("tripod", "rod_0")])
def test_a_loop_comes_as_near_as_it_can(name, body):
    """At a least sum no rate that the rows admit reduces it, and no configuration nearby is better."""
    m = runtime.mechanics(cases()[name])
    body = body or m.system.body_names[0]
    wanted = m.pose(body, m.q0).r + np.array([0.05, 0.08, 0.04])
    found = runtime.inverse_kinematics(m.system, positions={body: wanted})
    assert found.converged and not found.reached and found.violation < 1e-13
    q = m.assemble(found.q)
    off = m.pose(body, q).r - wanted
    assert largest(off @ m.jacobian(body, q)[:3]) < 1e-7
    random = np.random.default_rng(2)
    for _ in range(10):
        near = m.integrate(q, 1e-3 * random.standard_normal(len(m.rate_names)))
        assert np.linalg.norm(m.pose(body, near).r - wanted) >= found.errors[body] - 1e-10


def test_a_bound_within_a_loop():
    """The crank is free, and the rocker that it moves is at its bound."""
    m = runtime.mechanics(models.four_bar.build())
    q = m.configuration({"A.angle": 0.4})
    end = 0.5 * q[m.coordinate_names.index("D.angle")]
    found = runtime.inverse_kinematics(m.system, coordinates={"A.angle": 0.4}, bounds={"D.angle": (-1.0, end)})
    assert found.converged and not found.reached and list(found.at_limits) == ["D.angle"] and found.violation < 1e-13
    assert found.coordinates["D.angle"] == pytest.approx(end, abs=1e-12)
    rocker = runtime.mechanics(m.system, independent=["D.angle"]).configuration({"D.angle": end})
    assert found.q == pytest.approx(rocker, abs=1e-10)


def test_drivers_hold_at_each_instant():
    b = runtime.Builder("driven", axes="global")
    b.body("upper", mass=2.0, inertia=(0.02, 0.02, 0.002), r=(0, 0, -0.1))
    b.body("lower", mass=1.5, inertia=(0.01, 0.01, 0.001), r=(0, 0, -L1 - 0.1))
    b.joint("shoulder", "revolute", "ground", "upper", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("elbow", "revolute", "upper", "lower", point=(0, 0, -L1), axis=(0, 1, 0))
    b.frame("hand", "lower", s=(0, 0, -L1 - L2))
    swing = runtime.Signal.spline(np.linspace(0, 1, 9), 0.3 * np.linspace(0, 1, 9) ** 2)
    b.driver("swing", "guided_angle", "upper", "ground", a_i=(0, 0, 1), h_i=(0, 1, 0), b_j=(0, 0, 1), theta_t=swing)
    system, t = b.build(), np.linspace(0.0, 1.0, 6)
    m = runtime.mechanics(system)
    shoulder = np.array([m.of(runtime.assemble(system, system.state, time=x))[0][0] for x in t])
    assert np.abs(shoulder[-1]) == pytest.approx(0.3, abs=1e-9)
    wanted = hand(np.stack([shoulder, 0.4 + 0.2 * t], axis=1))
    found = runtime.inverse_kinematics(system, positions={"hand": wanted}, t=t)
    assert found.reached.all() and found.violation.max() < 1e-13
    assert found.coordinates["shoulder.angle"] == pytest.approx(shoulder, abs=1e-9)
    assert found.coordinates["elbow.angle"] == pytest.approx(0.4 + 0.2 * t, abs=1e-8)


def test_markers_that_are_not_seen():
    """A sequence starts at the solution before, and stays there where nothing is seen."""
    system, t = arm(), np.linspace(0.0, 1.0, 21)
    q = np.stack([0.5 * np.sin(t), 0.8 + t], axis=1)
    m = runtime.mechanics(system)
    hands, elbows = hand(q), m.pose(Frame("joint", "lower", (0, 0, 0.1), np.eye(3)), q).r
    hands[4:8], elbows[6:10] = np.nan, np.nan
    found = runtime.inverse_kinematics(
        system, positions={"hand": hands, "joint": elbows}, frames=[Frame("joint", "lower", (0, 0, 0.1), np.eye(3))],
        initial=[0.0, 0.5],
    )  # fmt: skip
    assert found.missing == {"hand": 4, "joint": 4} and np.isnan(found.errors["hand"][4:8]).all()
    seen, dark = np.isfinite(hands).all(axis=1), np.isin(np.arange(21), (6, 7))
    assert largest(found.q[seen] - q[seen]) < 1e-8 and found.reached.tolist() == (~dark).tolist()
    assert (found.q[6] == found.q[5]).all() and found.converged.all()
    assert found.undetermined["elbow.angle_rate"].tolist() == (~seen).tolist()
    assert found.undetermined["shoulder.angle_rate"].tolist() == dark.tolist()
    assert found.rms[3] < 1e-9 and np.isnan(found.rms[6])


@pytest.mark.parametrize("turn", [np.pi, np.pi - 1e-9, 3.0, 1e-9])
def test_orientations_up_to_half_a_turn(turn):
    b = runtime.Builder("ball", axes="global")
    b.body("rod", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, -0.5))
    b.joint("pivot", "spherical", "ground", "rod", point=(0, 0, 0))
    wanted = Rotation.from_rotvec(turn * np.array([2.0, -1.0, 2.0]) / 3.0)
    found = runtime.inverse_kinematics(b.build(), orientations={"rod": wanted})
    assert found.reached and found.errors["rod.orientation"] < 1e-12
    state = runtime.mechanics(found.system).pose("rod", found.q)
    assert largest(state.A - wanted.as_matrix()) < 1e-12


def test_half_a_turn_about_an_axis_that_no_joint_has():
    """At the start every small turn leaves the error at half a turn; half a turn of both joints is that about the third axis."""
    b = runtime.Builder("pendulum", axes="global")
    b.body("rod", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, -0.5))
    b.joint("pivot", "universal", "ground", "rod", point=(0, 0, 0), a_i=(0, 1, 0), a_j=(1, 0, 0))
    turned = runtime.inverse_kinematics(b.build(), orientations={"rod": (0, 0, 0, 1)})
    assert turned.reached and np.abs(turned.q) == pytest.approx([np.pi, np.pi], abs=1e-9)
    fixed = {"pivot.theta_i": (0.0, 0.0)}
    kept = runtime.inverse_kinematics(b.build(), orientations={"rod": (0, 0, 0, 1)}, bounds=fixed)
    assert not kept.reached and kept.errors["rod.orientation"] == pytest.approx(np.pi)


def test_a_wanted_angle_may_be_many_revolutions_away():
    wanted = {"elbow.angle": 100.0 * np.pi + 0.3}
    found = runtime.inverse_kinematics(arm(), coordinates=wanted, positions={"hand": hand(np.array([0.2, 0.3]))})
    assert found.reached and found.q == pytest.approx([0.2, 100.0 * np.pi + 0.3], abs=1e-9)
    kept = runtime.inverse_kinematics(arm(), coordinates=wanted, bounds={"elbow.angle": (-3.0, 3.0)})
    assert kept.q[1] == 3.0 and kept.converged and not kept.reached


def test_a_body_that_joints_fix_to_the_ground_is_no_target():
    b = runtime.Builder("wall", axes="global")
    for name, kind, own in (("wall", "fixed", {}), ("arm", "revolute", {"point": (0, 0, 0), "axis": (0, 1, 0)})):
        b.body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.1, 0, 0))
        b.joint(f"of_{name}", kind, "ground", name, **own)
    assert_refused("does not move", runtime.inverse_kinematics, b.build(), positions={"wall": (0.1, 0, 0)})


def test_what_is_left_open_stays_near_to_the_start():
    """A chain of four hinges in a plane: of all poses with the hand there, that of the least change of its angles."""
    b = runtime.Builder("chain", axes="global")
    for k in range(4):
        b.body(f"rod_{k}", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, -0.1 - 0.2 * k))
        before = f"rod_{k - 1}" if k else "ground"
        b.joint(f"hinge_{k}", "revolute", before, f"rod_{k}", point=(0, 0, -0.2 * k), axis=(0, 1, 0))
    b.frame("tip", "rod_3", s=(0, 0, -0.8))
    m, random = runtime.mechanics(b.build()), np.random.default_rng(0)
    starts, wanted = random.uniform(-1, 1, (6, 4)), m.pose("tip", random.uniform(-1, 1, (6, 4))).r
    found = runtime.inverse_kinematics(m.system, positions={"tip": wanted}, initial=starts)
    assert found.reached.all() and len(found.undetermined) == 4
    for q, start, to, J in zip(found.q, starts, wanted, m.jacobian("tip", found.q), strict=True):
        open_ways = np.linalg.svd(J[[0, 2]])[2][2:]
        assert largest(open_ways @ (q - start)) < 1e-5
        other = minimize(
            lambda q, start=start: ((q - start) ** 2).sum(), start, tol=1e-12, method="SLSQP",
            constraints={"type": "eq", "fun": lambda q, to=to: (m.pose("tip", q).r - to)[[0, 2]]},
        )  # fmt: skip
        assert np.linalg.norm(q - start) <= np.linalg.norm(other.x - start) + 1e-5


def test_weights_divide_what_cannot_be_met():
    """Two targets of one slide: the weighted mean."""
    b = runtime.Builder("slide", axes="global")
    b.body("bead", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, 0))
    b.joint("rail", "translational", "ground", "bead", point=(0, 0, 0), axis=(1, 0, 0))
    t = np.array([1.0, 3.0])
    found = runtime.inverse_kinematics(
        b.build(), positions={"bead": (0.4, 0, 0)}, coordinates={"rail.distance": -0.2}, weights={"bead": t}
    )
    sign = found.coordinates["rail.distance"][0] / runtime.mechanics(found.system).pose("bead", found.q).r[0, 0]
    assert found.coordinates["rail.distance"] == pytest.approx((0.4 * sign * t - 0.2) / (t + 1.0), abs=1e-10)
    assert found.weights["bead"].tolist() == [1.0, 3.0] and not found.reached.any()


ARM = """<mujoco model="arm"><compiler angle="radian"/><worldbody>
 <body name="base" pos="0 0 0.2"><joint name="j1" axis="0 0 1" range="-3 3"/><geom size="0.1" mass="2"/>
 <body name="one" pos="0 0 0.2"><joint name="j2" axis="0 1 0" range="-2 2"/><geom size="0.1" mass="2"/>
 <body name="two" pos="0.4 0 0"><joint name="j3" axis="0 1 0" range="-2.5 2.5"/><geom size="0.1" mass="1"/>
 <body name="three" pos="0.3 0 0"><joint name="j4" axis="1 0 0" range="-3 3"/><geom size="0.1" mass="1"/>
 <body name="four" pos="0.1 0 0"><joint name="j5" axis="0 1 0" range="-2 2"/><geom size="0.1" mass="1"/>
 <body name="five" pos="0.1 0 0"><joint name="j6" axis="1 0 0" range="-3 3"/><geom size="0.1" mass="1"/>
 <site name="tool" pos="0.1 0.02 0" euler="0.1 0.2 0.3"/></body></body></body></body></body></body></worldbody></mujoco>"""


def test_an_arm_of_a_file_against_mujoco(tmp_path):
    """Places and axes of the tool by MuJoCo, at the angles that were found for them."""
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "arm.xml").write_text(ARM)
    reading = models.read(tmp_path / "arm.xml", ignore="contacts")
    model = mujoco.MjModel.from_xml_string(ARM)
    data, random = mujoco.MjData(model), np.random.default_rng(7)
    r, A = np.empty((8, 3)), np.empty((8, 3, 3))
    angles = random.uniform(-0.8, 0.8, (8, 6))
    for k in range(8):
        data.qpos[:] = angles[k]
        mujoco.mj_forward(model, data)
        r[k], A[k] = data.site("tool").xpos, data.site("tool").xmat.reshape(3, 3)
    system = reading.build()
    m = runtime.mechanics(system)
    start = m.integrate(np.tile(m.q0, (8, 1)), 0.3 * np.ones((8, 6)))
    found = runtime.inverse_kinematics(system, positions={"tool": r}, orientations={"tool": A}, initial=start)
    assert found.converged.all() and found.reached.sum() >= 6 and len(found.limits) == 6
    for k in np.flatnonzero(found.reached):
        data.qpos[:] = [found.coordinates[".".join(reading.coordinates[f"j{n}"])][k] for n in range(1, 7)]
        mujoco.mj_forward(model, data)
        assert largest(data.site("tool").xpos - r[k]) < 1e-6
        assert largest(data.site("tool").xmat.reshape(3, 3) - A[k]) < 1e-6


def test_calls_that_are_refused():
    system = arm()
    solve, nan = runtime.inverse_kinematics, np.full(3, np.nan)
    calls = [
        ("no targets", {}), ("'hnd'", {"positions": {"hnd": nan}}), ("does not move", {"positions": {"ground": nan}}),
        ("position of 'hand' has the shape (2,)", {"positions": {"hand": (0, 1)}}),
        ("not finite", {"positions": {"hand": (0, 1, np.inf)}}),
        ("orientation of 'hand'", {"orientations": {"hand": 2 * np.eye(3)}}),
        ("'elbow.angel'", {"coordinates": {"elbow.angel": 0.0}}),
        ("'foot'", {"positions": {"hand": nan}, "weights": {"foot": 1}}),
        ("weight of 'hand' = -1", {"positions": {"hand": nan}, "weights": {"hand": -1}}),
        ("give the lower one first", {"positions": {"hand": nan}, "bounds": {"elbow.angle": (1, 0)}}),
        ("empty range", {"positions": {"hand": nan}, "bounds": {"elbow.angle": (np.inf, np.inf)}}),
        ("'x'", {"positions": {"hand": nan}, "bounds": {"x": (0, 1)}}),
        ("2 instants", {"positions": {"hand": np.zeros((2, 3))}, "coordinates": {"elbow.angle": [1, 2, 3]}}),
        ("above 0", {"positions": {"hand": nan}, "tolerance": 0}),
        ("exists already", {"positions": {"hand": nan}, "frames": [Frame("hand", "lower", np.ones(3), np.eye(3))]}),
    ]  # fmt: skip
    for sentence, options in calls:
        assert_refused(sentence, solve, system, **options)
    four_bar = models.four_bar.build()
    both = {"A.angle": (0.0, 0.0), "D.angle": (1.0, 1.0)}
    assert_refused(("within the bounds", "D.angle"), solve, four_bar, coordinates={"A.angle": 0.1}, bounds=both)
    b = runtime.Builder("jack", axes="global")
    b.body("rod", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.1, 0, 0))
    b.joint("hinge", "revolute", "ground", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    longer = runtime.Signal.spline([0, 0.5, 1, 1.5], np.sqrt(1.04) + np.array([0, 0.1, 1, 2]), degree=3)
    b.driver("jack", "guided_distance", "ground", "rod", s_i=(0, 0, 1), s_j=(0.1, 0, 0), l_t=longer, axes="body")
    assert_refused("no instants", solve, system, positions={"hand": nan}, initial=np.zeros((0, 2)))
    assert "no target is seen" in solve(system, positions={"hand": nan}).message
    sentence = ("instant 1", "satisfies jack.", "start nearer")
    assert_refused(sentence, solve, b.build(), coordinates={"hinge.angle": 0.1}, t=[0.0, 1.0])
