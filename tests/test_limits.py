"""Limits of motion in systems: work of the laws, energy, every kind of joint, angles, results, and an independent reference."""

import pickle
from functools import cache

import numpy as np
import pytest
from reduced_foot import LINK_LENGTH, MOVING
from reduced_limits import (
    ANATOMICAL,
    ANKLE_DAMPING,
    DOWN,
    PUBLISHED,
    PUBLISHED_CONE,
    ConeLimit,
    HingeLimits,
    LimitedFoot,
    Viscous,
    elliptical_cone,
)
from scipy.integrate import cumulative_simpson

import models
import runtime
from generated import dispatch
from runtime import GROUND, Builder, Cone
from runtime.cones import KINDS
from runtime.kernels import compiled
from runtime.limits import EXCESS, POTENTIAL, TOLD, restrain

IRREGULAR = {
    "elliptical": Cone.from_degrees([0, 90, 180, 270, 360], [60, 30, 45, 20, 60]),
    "spline": Cone.from_degrees([0, 90, 135, 180, 270, 315, 360], [30, 70, 100, 80, 50, 45, 30]),
    "latitude_spline": Cone.from_degrees([0, 80, 200, 300, 360], [40, 60, 45, 70, 40], "latitude_spline"),
}
REGULAR = Cone.from_degrees([0, 90, 180, 270, 360], [40] * 5)
MAX_MOMENT, COMPLIANCE = 226.0, np.deg2rad(11.5)

both_ankles = pytest.mark.parametrize("ankle", ["modified", "classical"])
both_presets = pytest.mark.parametrize("preset", ["anatomical", "published"])
irregular = pytest.mark.parametrize("shape", list(IRREGULAR))


# The law


@compiled
def _restrain(u, tables, work, told, slope):
    for n in range(len(u)):
        restrain(u[n], 0, tables, work, told[n], slope[n])


def restrained(cone, u, law="conservative", **parameters):
    """Excess, potential and dV/du at directions (n, 3) of the joint's frame."""
    system = models.pendulum.build(limits="elastic", cone=cone, law=law, **parameters)
    told, slope = np.full((len(u), TOLD), np.nan), np.full(u.shape, np.nan)
    _restrain(np.ascontiguousarray(u), system.tables.limits, system.work().limits, told, slope)
    return told[:, EXCESS], told[:, POTENTIAL], slope


def at(cone, p, s):
    """Point of the cone, its derivative, and the unit normal that points outside with its derivative."""
    out = np.empty(9)
    dispatch.CONES[KINDS.index(cone.interpolation)].curve.py_func(s, cone.pieces.coefficients[p], out)
    t, dt, ddt = out.reshape(3, 3)
    speed = np.linalg.norm(dt)
    n = -np.cross(t, dt) / speed
    return t, dt, n, -np.cross(t, ddt) / speed - n * (dt @ ddt) / speed**2


def loop(cone, rng):
    """Gauss points on a loop around the cone at a changing separation: u, du, separation and its change, each by weight."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    spans = cone.pieces.span
    lengths = spans[:, 1] - spans[:, 0]
    before, total = np.concatenate([[0.0], np.cumsum(lengths)]), lengths.sum()
    waves, phases = rng.integers(1, 4, 2), rng.uniform(0, 2 * np.pi, 2)
    found = []
    for p, (first, last) in enumerate(spans):
        for x, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
            s, angle = first + x * (last - first), 2 * np.pi / total * (before[p] + x * lengths[p])
            away = 0.1 + np.sum([0.06, 0.02] * np.sin(waves * angle + phases))
            change = np.sum([0.06, 0.02] * waves * np.cos(waves * angle + phases)) * 2 * np.pi / total
            t, dt, n, dn = at(cone, p, s)
            u = np.cos(away) * t + np.sin(away) * n
            du = change * (np.cos(away) * n - np.sin(away) * t) + np.cos(away) * dt + np.sin(away) * dn
            found.append((u, du * weight * (last - first), away))
    return map(np.array, zip(*found, strict=True))


def work_around(cone, law, seed):
    """Work around a closed loop relative to the work along it, where the nearest direction is the one it was made from."""
    u, du, away = loop(cone, np.random.default_rng(seed))
    excess, _, slope = restrained(cone, u, law)
    power = np.sum(slope * du, axis=1)
    if law == "conservative":
        assert np.abs(excess - away).max() < 1e-9, "the nearest direction is not unique here"
    assert np.abs(du.sum(axis=0)).max() < 1e-12, "the loop is not closed"
    return abs(power.sum()) / np.abs(power).sum()


def chance(seed):
    """An irregular cone that keeps the nearest direction unique up to a separation of 0.2."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        return Cone.from_degrees([0, 90, 180, 270, 360], [*(a := rng.uniform(20, 80, 4)), a[0]])
    sigma = rng.uniform(45, 65, 5)
    return Cone.from_degrees(
        [0, 70, 150, 210, 290, 360], [*sigma, sigma[0]], ["spline", "latitude_spline"][seed // 2 % 2]
    )


@pytest.mark.parametrize("seed", range(12))
def test_default_law_does_no_work_around_a_closed_loop(seed):
    assert work_around(chance(seed), "conservative", seed) < 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_printed_law_does_work_around_irregular_cones(seed):
    assert max(work_around(chance(seed), "printed", other) for other in range(seed, seed + 3)) > 1e-3


@pytest.mark.parametrize("law", ["conservative", "printed"])
def test_both_laws_conserve_around_a_regular_cone(law):
    assert max(work_around(REGULAR, law, seed) for seed in range(4)) < 1e-12


@irregular
def test_slope_is_the_gradient_of_the_potential(shape):
    """By central differences along the sphere, at random directions outside, up to three compliances away."""
    rng, cone, h = np.random.default_rng(0), IRREGULAR[shape], 1e-5
    u = rng.normal(size=(400, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    excess, potential, slope = restrained(cone, u)
    u, slope, potential, excess = (a[(excess > 1e-3) & (excess < 0.6)] for a in (u, slope, potential, excess))
    assert len(u) > 30 and (potential > 0.0).all()
    across = np.cross(u, rng.normal(size=u.shape))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    high, low = (restrained(cone, np.cos(h) * u + sign * np.sin(h) * across)[1] for sign in (1, -1))
    assert np.abs((high - low) / (2 * h) - np.sum(slope * across, axis=1)).max() < 2e-5  # of up to 226 N m
    assert np.abs(np.sum(slope * u, axis=1)).max() < 1e-11
    x = excess / COMPLIANCE
    moment = MAX_MOMENT * np.where(x < 1, 3 * x**2 - 2 * x**3, 1.0)
    assert np.abs(np.linalg.norm(slope, axis=1) - moment).max() < 1e-10
    work = MAX_MOMENT * COMPLIANCE * np.where(x < 1, x**3 - x**4 / 2, x - 0.5)
    assert np.abs(potential - work).max() < 1e-11


@irregular
def test_inside_there_is_nothing(shape):
    rng, cone = np.random.default_rng(1), IRREGULAR[shape]
    longitude = rng.uniform(0, 2 * np.pi, 300)
    latitude = cone.maximum_latitude(longitude) * rng.uniform(0, 1.5, 300)
    u = np.stack([np.sin(latitude) * np.cos(longitude), np.sin(latitude) * np.sin(longitude), np.cos(latitude)], axis=1)
    outside = latitude > cone.maximum_latitude(longitude)
    excess, potential, slope = restrained(cone, u)
    assert 50 < outside.sum() < 200
    assert (excess[outside] > 0.0).all() and (potential[outside] > 0.0).all() and slope[outside].any(axis=1).all()
    assert not (excess[~outside].any() or potential[~outside].any() or slope[~outside].any())
    axis = restrained(cone, np.array([[0.0, 0.0, 1.0]]))
    assert all(np.isfinite(part).all() for part in axis)
    opposite = restrained(cone, np.array([[0.0, 0.0, -1.0], [1e-13, 0.0, -1.0], [0.0, -1e-200, -1.0]]))
    assert all(np.isfinite(part).all() for part in opposite) and (opposite[0] > 0.5).all()


# Energy


@irregular
def test_energy_of_the_pendulum(shape):
    system = models.pendulum.build(
        limits="elastic", cone=IRREGULAR[shape], angle=0.3, longitude=0.7, omega=(3.0, 4.0, 1.0)
    )
    run = runtime.simulate(system, 5.0, rtol=1e-10, atol=1e-10)
    assert run.limits["pivot"].excess.max() > 0.03
    assert np.ptp(run.energy) < 1e-7


def test_energy_of_the_published_pendulum():
    run = runtime.simulate(models.pendulum.build(limits="elastic"), 5.0, rtol=1e-10, atol=1e-10)
    assert run.limits["pivot"].excess.max() > 0.05
    assert np.ptp(run.energy) < 1e-7


@both_ankles
@both_presets
def test_energy_of_the_foot(ankle, preset):
    run = runtime.simulate(models.foot.build(ankle, limits="elastic", preset=preset), 5.0, rtol=1e-10, atol=1e-10)
    assert max(motion.excess.max() for motion in run.limits.values()) > 0.02
    assert np.ptp(run.energy) < 1e-7
    assert run.violation.max() < 1e-8


@both_ankles
@both_presets
def test_what_the_damper_takes_is_what_is_missing(ankle, preset):
    system = models.foot.build(ankle, limits="dissipative", preset=preset)
    run = runtime.simulate(system, 2.0, t_eval=np.linspace(0.0, 2.0, 8001))
    power = sum(motion.dissipated_power for motion in run.limits.values())
    assert (power >= 0.0).all()
    taken = cumulative_simpson(power, x=run.t, initial=0.0)
    assert taken[-1] > 0.2
    assert np.ptp(run.energy + taken) < 1e-7


def test_printed_law_has_no_potential_and_does_not_conserve():
    system = models.pendulum.build(limits="elastic", law="printed")
    run = runtime.simulate(system, 5.0, rtol=1e-10, atol=1e-10)
    assert run.limits["pivot"].restricting_moment.max() > 1.0
    assert not run.elastic_energy.any() and not run.limits["pivot"].elastic_energy.any()
    free = run.limits["pivot"].excess == 0.0
    assert np.ptp(run.energy[free]) > 1e-3


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


def test_signs_of_the_foot():
    """Dorsiflexion and inversion are positive: toes up, and the medial border up."""
    system = models.foot.build("modified", limits="elastic")
    for name, omega in (
        ("talocrural", -models.foot.talocrural_axis()),
        ("talocalcaneal", models.foot.talocalcaneal_axis()),
    ):
        state = system.assemble(system.state.replace(omega={"main_foot": 1e-3 * omega, "toes": 1e-3 * omega}))
        run = runtime.simulate(system, 1e-6, initial=state)
        assert run.limits[name].rate[0] > 0.0
        assert run.limits[name].angle[0] == pytest.approx(0.0, abs=1e-12)
    assert run.v["main_foot"][0, 1] > 0.0 or run.omega["main_foot"][0, 0] > 0.0  # the medial border rises


def test_angle_of_a_cone_is_its_latitude():
    run = runtime.simulate(models.pendulum.build(limits="elastic"), 1.0)
    motion = run.limits["pivot"]
    assert np.array_equal(motion.angle, motion.latitude)
    u = np.einsum("nab,b->na", run.rotations("rod"), [0, 0, -1.0]) * [-1, 1, -1]  # in xi, eta, zeta
    assert np.abs(motion.latitude - np.arctan2(np.hypot(u[:, 0], u[:, 1]), u[:, 2])).max() < 1e-14
    assert np.abs(np.exp(1j * motion.longitude) - (u[:, 0] + 1j * u[:, 1]) / np.hypot(u[:, 0], u[:, 1])).max() < 1e-12
    assert np.abs(motion.rate - np.linalg.norm(run.omega["rod"], axis=1)).max() < 1e-14


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


def test_hinge_frames_may_stand_anyhow_about_zeta():
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


# Results

QUANTITIES = (
    "angle", "rate", "latitude", "longitude", "maximum_latitude", "excess", "restricting_moment", "dissipative_moment",
)  # fmt: skip


@cache
def foot_run():
    return runtime.simulate(models.foot.build(limits="dissipative"), 0.5, t_eval=np.linspace(0, 0.5, 51))


def test_names_and_shapes():
    run = foot_run()
    assert tuple(run.limits) == run.system.limit_names == ("talocrural", "talocalcaneal")
    assert tuple(models.foot.build("classical", limits="elastic", preset="published").limit_names) == ("talocrural",)
    for name, motion in run.limits.items():
        assert motion.name == name
        for quantity in (*QUANTITIES, "elastic_energy", "dissipated_power"):
            assert getattr(motion, quantity).shape == (51,), quantity
            assert np.isfinite(getattr(motion, quantity)).all()
    assert np.abs(run.elastic_energy - sum(m.elastic_energy for m in run.limits.values())).max() < 1e-15
    assert not models.foot.build().limits and not runtime.simulate(models.foot.build(), 0.01).limits
    with pytest.raises(runtime.ModelError, match="unknown limit 'knee'; the limits are talocrural, talocalcaneal"):
        run.system.limit("knee")


def test_exports_hold_the_limits(tmp_path):
    run = foot_run()
    data = run.to_xarray()
    assert list(data["limit"].values) == ["talocrural", "talocalcaneal"]
    table = np.genfromtxt(run.to_csv(tmp_path / "run.csv"), delimiter=",", names=True, deletechars="")
    storage = (run.to_sto(tmp_path / "run.sto")).read_text(encoding="utf-8")
    for quantity in QUANTITIES:
        values = np.stack([getattr(motion, quantity) for motion in run.limits.values()], axis=1)
        assert np.array_equal(data[f"limit_{quantity}"].values, values)
        assert data[f"limit_{quantity}"].attrs["units"]
        for k, limit in enumerate(run.limits):
            (column,) = [name for name in table.dtype.names if name.startswith(f"{limit}.{quantity}_[")]
            assert np.array_equal(table[column], values[:, k])
            assert f"{limit}/{quantity}" in storage
    assert data.elastic_energy.attrs["units"] == "J"


def test_systems_and_runs_with_limits_travel():
    run = foot_run()
    system, again = pickle.loads(pickle.dumps(run.system)), pickle.loads(pickle.dumps(run))
    repeated = runtime.simulate(system, 0.5, t_eval=run.t)
    assert np.array_equal(repeated.states, run.states)
    for name, motion in run.limits.items():
        assert np.array_equal(repeated.limits[name].excess, motion.excess)
        assert np.array_equal(again.limits[name].angle, motion.angle)
        assert system.limit(name).cone == run.system.limit(name).cone
    with pytest.raises(TypeError):
        system.limit("talocrural").values["damping"] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        system.limit("talocrural").values["e_i"][0] = 1.0


@pytest.mark.parametrize("method", ["RK45", "LSODA"])
def test_other_methods_come_to_the_same(method):
    run = foot_run()
    other = runtime.simulate(run.system, 0.5, t_eval=run.t, method=method, rtol=1e-9, atol=1e-9)
    assert np.abs(other.states - run.states).max() < 1e-5


# An independent reference

TIMES = np.linspace(0.0, 5.0, 101)


@both_ankles
@both_presets
@pytest.mark.parametrize("limits", ["elastic", "dissipative"])
def test_foot_against_its_motion_in_two_angles(ankle, preset, limits):
    damping = ANKLE_DAMPING if limits == "dissipative" else 0.0
    if preset == "published" and ankle == "classical":
        model = ConeLimit(elliptical_cone(PUBLISHED_CONE), u=DOWN, viscous=Viscous(relative=damping))
    else:
        each = damping / 2 if preset == "published" else damping
        model = HingeLimits(
            **(PUBLISHED if preset == "published" else ANATOMICAL), viscous=Viscous(hinges=(each, each))
        )
    foot = LimitedFoot(LINK_LENGTH if ankle == "modified" else 0.0, model)
    angles = foot.solve(TIMES, tolerance=1e-12 if isinstance(model, ConeLimit) else 1e-11)
    motions = foot.bodies(angles)
    run = runtime.simulate(models.foot.build(ankle, limits=limits, preset=preset), TIMES[-1], t_eval=TIMES)
    assert max(np.abs(run.r[name] - motions[name].r).max() for name in MOVING) < 1e-7
    assert max(np.abs(run.omega[name] - motions[name].omega).max() for name in MOVING) < 1e-4
    if isinstance(model, HingeLimits):
        ours = np.stack([run.limits[name].angle for name in ("talocrural", "talocalcaneal")], axis=1)
        assert np.abs(ours - np.stack(model.angles(angles[:, 0], angles[:, 1]), axis=1)).max() < 1e-6
    else:
        assert np.abs(run.limits["talocrural"].excess - [max(model.excess(*y[:2]), 0.0) for y in angles]).max() < 1e-6
