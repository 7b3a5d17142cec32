"""Limits on every kind of joint: energy, rest, angles, and frames."""

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import runtime
from runtime import GROUND, Builder, Cone

# Every kind of joint

WIDE = Cone.from_degrees([0, 90, 180, 270, 360], [30, 40, 25, 35, 30])
LAW = dict(cone=WIDE, max_moment=40.0, compliance=0.2)
X, Y, Z = np.eye(3)


def thrown(kind, omega, limits, *, gravity=(0, 0, 0), v=(0, 0, 0), s_i=(0, 0, 0), s_j=(0, 0, 0.2), **values):
    """A body below the ground on a joint, with initial velocities as near as its joint admits."""
    b = Builder(kind, gravity=gravity)
    b.body(
        "rod",
        mass=1.0,
        inertia=(0.02, 0.025, 0.01),
        r=np.subtract(s_i, s_j) - (0, 0, values.get("l", 0.0)),
        omega=omega,
        v=v,
        guess=True,
    )
    b.joint("joint", kind, GROUND, "rod", s_i=s_i, s_j=s_j, **values)
    for name, arguments in limits.items():
        b.limit(name, "joint", **(LAW | dict(reference=GROUND, xi=X, eta=-Y) | arguments))
    return b.build(project_velocities=True)


DOWNWARDS = dict(direction=-Z)
KINDS_OF_JOINT = {
    "spherical": ("spherical", (3, 2, 1), {"limit": DOWNWARDS}, {}),
    "spherical, body holds the cone": ("spherical", (3, 2, 1), {"limit": DOWNWARDS | dict(reference="rod")}, {}),
    "revolute": ("revolute", (0, 4, 0), {"limit": {}}, dict(a_i=Y, a_j=Y)),
    "revolute with a direction": ("revolute", (0, 4, 0), {"limit": DOWNWARDS}, dict(a_i=Y, a_j=Y)),
    "cylindrical": ("cylindrical", (0, 4, 0), {"limit": {}}, dict(a_i=Y, a_j=Y, v=(0, 0.1, 0))),
    "universal, one cone": ("universal", (3, 3, 0), {"limit": DOWNWARDS}, dict(a_i=X, a_j=Y)),
    "universal, a cone each": (
        "universal", (3, 3, 0), {"first": {}, "second": dict(reference="rod")}, dict(a_i=X, a_j=Y),
    ),
    "modified universal": (
        "modified_universal", (3, 3, 0), {"first": {}, "second": dict(reference="rod", xi=X, eta=Y)},
        dict(a_i=X, a_j=Y, l=0.05),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", KINDS_OF_JOINT)
def test_a_body_thrown_beyond_its_limit_returns(case):
    kind, omega, limits, values = KINDS_OF_JOINT[case]
    system = thrown(kind, omega, limits, **values)
    run = runtime.simulate(system, 3.0, rtol=1e-10, atol=1e-10, t_eval=np.linspace(0, 3, 3001))
    assert run.success
    assert np.ptp(run.energy) < 1e-7
    assert tuple(run.limits) == system.limit_names == tuple(limits)
    for motion in run.limits.values():
        out = motion.excess > 0.0
        assert motion.excess.max() > 0.01, "never beyond"
        assert motion.excess.max() < 0.3, "not restrained"
        assert np.diff(out.astype(int)).min() == -1, "did not return"
        assert np.array_equal(motion.restricting_moment > 0.0, out)
        assert np.abs(motion.excess[out]).max() <= np.abs(motion.latitude - motion.maximum_latitude)[out].max() + 1e-12
        assert (motion.latitude > motion.maximum_latitude)[out].all() and (motion.latitude <= motion.maximum_latitude)[
            ~out
        ].all()
    # Without limits the same throw leaves the cones far behind.
    free = runtime.simulate(thrown(kind, omega, {}, **values), 3.0)
    assert free.energy[0] == pytest.approx(run.energy[0], abs=1e-12) and not free.limits


@pytest.mark.parametrize("case", KINDS_OF_JOINT)
def test_a_damped_body_comes_to_rest(case):
    """Without gravity, in three seconds, and what the damper takes is what is missing."""
    kind, omega, limits, values = KINDS_OF_JOINT[case]
    system = thrown(kind, omega, {name: limit | dict(damping=0.4) for name, limit in limits.items()}, **values)
    run = runtime.simulate(system, 3.0, t_eval=np.linspace(0, 3, 6001))
    power = sum(motion.dissipated_power for motion in run.limits.values())
    assert np.ptp(run.energy + cumulative_simpson(power, x=run.t, initial=0.0)) < 1e-6
    assert all(np.allclose(m.dissipative_moment, 0.4 * np.abs(m.rate)) for m in run.limits.values())
    assert np.abs(run.omega["rod"][-1]).max() < 1e-3 * np.abs(run.omega["rod"][0]).max()


# Angles

SPINNING = {
    "revolute": ("revolute", (0, 25, 0), {"limit": {}}, dict(a_i=Y, a_j=Y)),
    "cylindrical": ("cylindrical", (0, -25, 0), {"limit": {}}, dict(a_i=Y, a_j=Y)),
    "link": ("modified_universal", (25, 0, 0), {"limit": {}}, dict(a_i=X, a_j=Y, l=0.05)),
    "link, from the body": (
        "modified_universal",
        (0, -25, 0),
        {"limit": dict(reference="rod")},
        dict(a_i=X, a_j=Y, l=0.05),
    ),
    "cross": ("universal", (25, 0, 0), {"limit": {}}, dict(a_i=X, a_j=Y)),
    "cross, from the body": ("universal", (0, -25, 0), {"limit": dict(reference="rod")}, dict(a_i=X, a_j=Y)),
}


@pytest.mark.parametrize("case", SPINNING)
def test_angle_of_a_spinning_hinge(case):
    """Through 0 and +-pi, again and again: no NaN, no jump; the angle is the integral of its rate."""
    kind, omega, limits, values = SPINNING[case]
    system = thrown(kind, omega, {name: limit | dict(max_moment=1e-9) for name, limit in limits.items()}, **values)
    run = runtime.simulate(system, 3.0, t_eval=np.linspace(0, 3, 1501))
    motion = run.limits["limit"]
    for part in (
        motion.angle,
        motion.rate,
        motion.latitude,
        motion.longitude,
        motion.excess,
        motion.restricting_moment,
    ):
        assert np.isfinite(part).all()
    assert np.abs(motion.angle).max() > 4 * np.pi
    assert np.abs(np.diff(motion.angle)).max() < 0.1
    turned = cumulative_simpson(motion.rate, x=run.t, initial=0.0)
    assert np.abs(motion.angle - motion.angle[0] - turned).max() < 1e-5
    assert np.abs(np.abs(np.angle(np.exp(1j * motion.angle))) - motion.latitude).max() < 1e-9
    assert np.sign(motion.angle[-1]) == np.sign(motion.rate.mean())


# Frames


def turned(quarters, mirrored=False):
    """The cone WIDE in a frame that is turned about zeta by quarters of a turn, or that counts longitudes the other way."""
    a, b, c, d = np.roll((30, 40, 25, 35), quarters)
    return Cone.from_degrees([0, 90, 180, 270, 360], [a, d, c, b, a] if mirrored else [a, b, c, d, a])


FRAMES = {
    "half a turn": dict(xi=-X, eta=Y, cone=turned(2)),
    "a quarter": dict(xi=-Y, eta=-X, cone=turned(-1)),
    "upside down": dict(xi=-X, eta=-Y, direction=Z, cone=turned(0, mirrored=True)),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("kind", ["spherical", "universal"])
def test_the_same_cone_in_another_frame_is_the_same_limit(kind, frame):
    """Turned about zeta; or upside down, with the direction reversed: antipodes have the same separation."""
    axes = {} if kind == "spherical" else dict(a_i=X, a_j=Y)
    runs = [
        runtime.simulate(
            thrown(kind, (5, 4, 0), {"limit": DOWNWARDS | other}, **axes), 1.0, t_eval=np.linspace(0, 1, 21)
        )
        for other in ({}, FRAMES[frame])
    ]
    assert np.abs(runs[0].states - runs[1].states).max() < 1e-8
    assert runs[0].limits["limit"].excess.max() > 0.01


@pytest.mark.parametrize("kind", ["revolute", "cylindrical"])
def test_a_hinge_seen_from_the_other_body_is_the_same_limit(kind):
    """The angle changes its sign, and the cone's sides with it."""
    axes = dict(a_i=Y, a_j=Y, gravity=(1, 0, -9.81))
    runs = [
        runtime.simulate(thrown(kind, (0, 12, 0), {"limit": other}, **axes), 1.0, t_eval=np.linspace(0, 1, 21))
        for other in (
            dict(cone=Cone.from_degrees([0, 90, 180, 270, 360], [30, 1, 25, 1, 30])),
            dict(cone=Cone.from_degrees([0, 90, 180, 270, 360], [25, 1, 30, 1, 25]), reference="rod"),
        )
    ]
    assert np.abs(runs[0].states - runs[1].states).max() < 1e-8
    a, b = (run.limits["limit"] for run in runs)
    assert np.abs(a.angle + b.angle).max() < 1e-8 and np.abs(a.rate + b.rate).max() < 1e-6
    assert np.abs(a.excess - b.excess).max() < 1e-8 and a.excess.max() > 0.01


def test_hinge_frames_may_be_turned_about_zeta():
    """The hinge's axis anywhere in the plane of xi and eta; the angle is positive towards longitudes of 0 .. 180."""
    cone = Cone.from_degrees([0, 90, 180, 270, 360], [25] * 5)
    motions = []
    for turn in np.deg2rad([0.0, 30.0, 90.0, 200.0, 300.0]):
        xi, eta = np.cos(turn) * X - np.sin(turn) * Y, -np.sin(turn) * X - np.cos(turn) * Y
        limits = {"limit": dict(xi=xi, eta=eta, cone=cone)}
        run = runtime.simulate(thrown("revolute", (0, 4, 0), limits, a_i=Y, a_j=Y), 1.0, t_eval=np.linspace(0, 1, 21))
        motions.append(run.limits["limit"])
    for motion in motions[1:]:
        assert np.abs(np.abs(motion.angle) - np.abs(motions[0].angle)).max() < 1e-8
        assert np.abs(motion.excess - motions[0].excess).max() < 1e-8
    assert motions[0].excess.max() > 0.01
