"""Runs with forces of definitions against closed forms and against SciPy on reduced coordinates."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from runtime import Builder, simulate, simulate_many

TIGHT = dict(rtol=1e-12, atol=1e-12)
TIMES = np.linspace(0.0, 2.0, 41)
G = 9.81
WAYS = [{}, dict(coordinates="absolute"), dict(method="radau")]
SPHERE = (0.1, 0.1, 0.1)


def reference(f, start, t=TIMES, **more):
    return solve_ivp(f, (t[0], t[-1]), start, "DOP853", t, rtol=1e-12, atol=1e-13, **more).y


def bob(force, *, mass=2.0, r=(0.0, 0.0, -1.0), v=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, -G), inertia=SPHERE, **values):
    b = Builder("bob", gravity=gravity)
    b.body("bob", mass=mass, inertia=inertia, r=r, v=v, free=True, omega=values.pop("omega", (0.0, 0.0, 0.0)))
    b.force("f", force, *values.pop("bodies", ("ground", "bob")), **values)
    return b.build()


POINTS = dict(s_i=(0, 0, 0), s_j=(0, 0, 0))


def test_two_free_bodies_on_a_spring_keep_momentum():
    b = Builder("pair", gravity=(0, 0, 0))
    b.body("a", mass=1.0, inertia=(0.1, 0.2, 0.25), free=True, omega=(1.0, -2.0, 0.5))
    b.body("b", mass=3.0, inertia=(0.4, 0.2, 0.3), r=(1.0, 0.2, 0.1), v=(0.0, 1.0, 0.3), free=True)
    b.force(
        "f", "spring_damper", "a", "b", s_i=(0.1, 0.2, 0), s_j=(0, -0.1, 0.3), stiffness=80, damping=0, free_length=0.5
    )
    run = simulate(b.build(), 2.0, t_eval=TIMES, **TIGHT)
    p = run.v["a"] + 3.0 * run.v["b"]
    assert np.abs(p - [0.0, 3.0, 0.9]).max() < 1e-10
    assert np.abs(run.energy - run.energy[0]).max() < 1e-9
    f = run.forces["f"]
    moment = f.moment_i + np.cross(run.r["a"], f.force_i) + f.moment_j + np.cross(run.r["b"], f.force_j)
    assert np.abs(f.force_i + f.force_j).max() < 1e-12 and np.abs(moment).max() < 1e-11


SIX = ("xi", "eta", "zeta")
STIFF = {f"k_{a}": k for a, k in zip(SIX, (100.0, 200.0, 300.0), strict=True)}
SOFT = {f"c_{a}": c for a, c in zip(SIX, (1.0, 2.0, 0.5), strict=True)}
TURN = {f"kt_{a}": k for a, k in zip(SIX, (1.0, 2.0, 3.0), strict=True)}
SLOW = {f"ct_{a}": c for a, c in zip(SIX, (0.02, 0.03, 0.04), strict=True)}


def test_a_bushing_in_six_directions():
    values = {**POINTS, **STIFF, **SOFT, **TURN, **SLOW}
    for axis in range(3):
        spin = 0.8 * np.eye(3)[axis]
        system = bob("bushing", r=(0, 0, 0), v=(0.3, -0.2, 0.5), omega=spin, gravity=(0, 0, 0), **values)
        run = simulate(system, 2.0, t_eval=TIMES, **TIGHT)
        f = run.forces["f"]
        for n, a in enumerate(SIX):
            k, c = STIFF[f"k_{a}"], SOFT[f"c_{a}"]
            x, v = reference(lambda t, y, k=k, c=c: [y[1], -(k * y[0] + c * y[1]) / 2.0], [0.0, (0.3, -0.2, 0.5)[n]])
            assert np.abs(f.displacement[:, n] - x).max() < 1e-9
            assert np.abs(f.force[:, n] + k * x + c * v).max() < 1e-7
        k, c = TURN[f"kt_{SIX[axis]}"], SLOW[f"ct_{SIX[axis]}"]
        angle, rate = reference(lambda t, y, k=k, c=c: [y[1], -(k * y[0] + c * y[1]) / 0.1], [0.0, 0.8])
        assert np.abs(f.angles[:, axis] - angle).max() < 1e-9
        assert np.abs(f.moment[:, axis] + k * angle + c * rate).max() < 1e-8


def sliding(force, v, **values):
    b = Builder("slider", gravity=(0, 0, 0))
    b.body("block", mass=2.0, inertia=SPHERE, r=(0.5, 0, 0), v=(v, 0, 0))
    b.joint("line", "translational", "ground", "block", s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0), a_j=(1, 0, 0))
    b.force("f", force, "ground", "block", **values)
    return b.build()


def test_a_stop_throws_a_block_back():
    K, n, loss = 3e3, 1.3, 0.2
    system = sliding("stop", -2.0, **POINTS, a_i=(1, 0, 0), stiffness=K, exponent=n, loss=loss, clearance=0.1)
    run = simulate(system, 1.0, t_eval=TIMES / 2.0, **TIGHT)

    def f(t, y):
        depth = max(0.1 - y[0], 0.0)
        return [y[1], max(K * depth**n * (1.0 - loss * y[1]), 0.0) / 2.0]

    expected = reference(f, [0.5, -2.0], TIMES / 2.0, max_step=1e-3)
    assert np.abs(run.r["block"][:, 0] - expected[0]).max() < 1e-8
    assert run.forces["f"].push.max() > 100.0 and run.forces["f"].push.min() == 0.0
    assert 0.5 < run.v["block"][-1, 0] < 1.8


def hung(kind, m=(1.0, 1.2), **values):
    """Two masses on a tendon over two points of the ground, each on a vertical line."""
    b = Builder("hung")
    for name, x, mass in (("left", -1.0, m[0]), ("right", 1.0, m[1])):
        b.body(name, mass=mass, inertia=SPHERE, r=(x, 0, -1.0))
        line = dict(s_i=(x, 0, 0), a_i=(0, 0, 1), s_j=(0, 0, 0), a_j=(0, 0, 1))
        b.joint(f"line_{name}", "translational", "ground", name, **line)
    points = dict(s_i=(0, 0, 0), s_k=(-1.0, 0, 0.5), s_l=(1.0, 0, 0.5), s_j=(0, 0, 0))
    b.force("f", kind, "left", "right", body_k="ground", body_l="ground", **points, **values)
    return b.build()


def test_a_tendon_over_two_points():
    k, loss, slack = 900.0, 0.05, 4.9
    run = simulate(hung("tendon", stiffness=k, loss=loss, slack_length=slack), 1.0, t_eval=TIMES / 2, **TIGHT)

    def f(t, y):
        length, rate = 2.0 + 0.5 - y[0] + 0.5 - y[1], -y[2] - y[3]
        pull = max(k * max(length - slack, 0.0) * (1.0 + loss * rate), 0.0)
        return [y[2], y[3], pull / 1.0 - G, pull / 1.2 - G]

    expected = reference(f, [-1.0, -1.0, 0.0, 0.0], TIMES / 2, max_step=1e-3)
    # One run in fifty takes a step over an end of the slack without notice: by lengths of the first step up to 1.3e-7 m.
    assert np.abs(run.r["left"][:, 2] - expected[0]).max() < 3e-7
    assert np.abs(run.r["right"][:, 2] - expected[1]).max() < 3e-7
    motion = run.forces["f"]
    assert motion.tension.max() > 10.0 and motion.tension.min() == 0.0
    assert np.abs(motion.force_i[:, 2] - motion.tension).max() < 1e-9
    assert np.abs(motion.force_k[:, 2] + motion.tension).max() < 1e-9
    assert np.abs(motion.force_k[:, 0] - motion.tension).max() < 1e-9


def test_a_table_is_continued_by_its_tangents():
    straight = np.column_stack([[0.2, 0.6], [-40.0, -20.0]])  # a spring of 50 N/m, free at 1 m
    table = bob("tabulated_spring", **POINTS, tension_table=straight, damping=0.3)
    spring = bob("spring_damper", **POINTS, stiffness=50.0, damping=0.3, free_length=1.0)
    a, b = (simulate(system, 2.0, t_eval=TIMES, **TIGHT) for system in (table, spring))
    assert np.abs(a.r["bob"] - b.r["bob"]).max() < 1e-11
    assert np.abs(a.forces["f"].tension - b.forces["f"].tension).max() < 1e-9


TENSIONS = np.column_stack([[0.6, 0.9, 1.1, 1.4, 2.0], [-10.0, 0.0, 10.0, 60.0, 300.0]])
SLOPES = np.array([20.0, 40.0, 80.0, 250.0, 400.0])


@pytest.mark.parametrize("table", [TENSIONS, np.column_stack([TENSIONS, SLOPES])], ids=["spline", "slopes"])
def test_steps_end_at_the_points_of_a_table(table):
    """There the third derivative of a spline jumps, or with given slopes the second; single runs and vectorised cases."""
    curve = CubicHermiteSpline(*table.T) if table.shape[1] == 3 else CubicSpline(*table.T, bc_type="natural")
    lengths, tolerance = np.linspace(0.75, 1.3, 8), 1e-10
    systems = [
        bob("tabulated_spring", mass=1.0, r=(0, 0, -x), **POINTS, tension_table=table, damping=0.0) for x in lengths
    ]
    system = systems[0]
    assert system.data.forces.kink[-1] == len(table)
    starts = -lengths[:, None] * [0.0, 0.0, 1.0]
    settings = dict(method="dop853", rtol=tolerance, atol=tolerance)
    many = simulate_many(system, {"r.bob": starts}, 2.0, t_eval=TIMES, outputs=["r.bob"], **settings)
    assert many.vectorised.all()
    for k, length in enumerate(lengths):
        expected = reference(lambda t, y: [y[1], G - curve(y[0])], [length, 0.0], max_step=4e-3)[0]
        found = [
            many["r.bob"][k],
            *(simulate(systems[k], 2.0, t_eval=TIMES, **settings | how).r["bob"] for how in WAYS),
        ]
        assert np.abs(np.array(found)[..., 2] + expected).max() < 40.0 * tolerance


def test_vectorised_cases_locate_the_kinks_of_each_of_several_forces():
    """As many attempts are repeated to end at a kink as in single runs: a search that reads another force's kink repeats more."""
    b = Builder("three", gravity=(0.0, 0.0, -G))
    for k, x in enumerate((0.8, 1.0, 1.2)):
        b.body(f"bob_{k}", mass=1.0, inertia=SPHERE, r=(k, 0.0, -x), free=True)
        values = dict(s_i=(k, 0.0, 0.0), s_j=(0.0, 0.0, 0.0), tension_table=TENSIONS, damping=0.0)
        b.force(f"spring_{k}", "tabulated_spring", "ground", f"bob_{k}", **values)
    system = b.build()
    starts = np.array([system.state.r["bob_1"]] * 3) + 0.01 * np.eye(3)
    many = simulate_many(system, {"r.bob_1": starts}, 2.0, rtol=1e-8, atol=1e-8)
    assert many.vectorised.all()
    for k, start in enumerate(starts):
        initial = system.state.replace(r={"bob_1": start})
        alone = simulate(system, 2.0, initial=initial, method="dop853", rtol=1e-8, atol=1e-8)
        assert abs(int(many.rejections[k]) - alone.stats.rejections) <= 0.1 * alone.stats.rejections


def test_points_on_a_line_end_no_step():
    x = np.linspace(0.25, 4.0, 16)
    straight = bob(
        "tabulated_spring", **POINTS, tension_table=np.column_stack([x, 8.0 * x, 0.0 * x + 8.0]), damping=0.3
    )
    assert straight.data.forces.kink[-1] == 0 == len(straight.data.forces.knot) - 1


def test_friction_of_a_slider():
    values = dict(friction=3.0, transition_velocity=0.3, damping=0.5)
    run = simulate(sliding("slider_friction", 2.0, **POINTS, a_i=(1, 0, 0), **values), 1.0, t_eval=TIMES / 2, **TIGHT)

    def f(t, y):
        x = np.clip(y[1] / 0.3, -1.0, 1.0)
        return [y[1], -(3.0 * (1.5 * x - 0.5 * x**3) + 0.5 * y[1]) / 2.0]

    assert np.abs(run.v["block"][:, 0] - reference(f, [0.5, 2.0], TIMES / 2, max_step=1e-3)[1]).max() < 1e-8


def test_a_weight_on_a_ligament_falls_through_its_slack_toe_and_linear_regions():
    k, toe, slack = 3e3, 0.03, 1.1
    system = bob("ligament", v=(0, 0, -1.0), **POINTS, stiffness=k, toe_strain=toe, slack_length=slack)
    run = simulate(system, 2.0, t_eval=TIMES, **TIGHT)

    def tension(length):
        e = length / slack - 1.0
        return 0.0 if e < 0.0 else k * (e**2 / (4.0 * toe) if e < 2.0 * toe else e - toe)

    expected = reference(lambda t, y: [y[1], -G + tension(-y[0]) / 2.0], [-1.0, -1.0], max_step=1e-3)
    strain = run.forces["f"].strain
    assert strain.min() < 0.0 and strain.max() > 2.0 * toe
    assert np.abs(run.r["bob"][:, 2] - expected[0]).max() < 1e-8
    assert np.abs(run.energy - run.energy[0]).max() < 1e-9


def test_a_ball_slides_and_rolls_on_a_smooth_contact():
    K, c, radius, moment, mass = 1e5, 0.5, 0.1, 0.008, 2.0
    friction = dict(static_friction=0.8, dynamic_friction=0.5, viscous_friction=0.1, transition_velocity=0.2)
    smoothing = dict(rounding=1e-5, hertz_smoothing=300.0, loss_smoothing=50.0)
    system = bob(
        "smooth_contact", bodies=("bob", "ground"), r=(0, 0, 0.12), v=(1.0, 0, 0), inertia=(moment,) * 3,
        **POINTS, n_j=(0, 0, 1), radius=radius, stiffness=K, loss=c, **friction, **smoothing,
    )  # fmt: skip
    run = simulate(system, 1.0, t_eval=TIMES / 2.0, **TIGHT)

    def motion(t, y):
        x, vx, z, vz, turning = y
        depth = radius - z
        hertz = K * (depth**2 + 1e-5) ** 0.75 * (1.0 + np.tanh(300.0 * depth)) / 2.0
        push = hertz * (1.0 - 1.5 * c * vz) * (1.0 + np.tanh(50.0 * (2.0 / (3.0 * c) - vz))) / 2.0
        arm = radius - depth / 2.0
        slip = vx - turning * arm
        speed = np.sqrt(slip**2 + 1e-5)
        part = speed / 0.2
        drag = push * (min(part, 1.0) * (0.5 + 0.6 / (1.0 + part**2)) + 0.1 * speed) * slip / speed
        return [vx, -drag / mass, vz, push / mass - G, drag * arm / moment]

    expected = reference(motion, [0.0, 1.0, 0.12, 0.0, 0.0], TIMES / 2.0, max_step=1e-3)
    found = run.r["bob"][:, 0], run.v["bob"][:, 0], run.r["bob"][:, 2], run.v["bob"][:, 2], run.omega["bob"][:, 1]
    assert expected[4, -1] > 5.0  # it rolls
    assert max(np.abs(a - b).max() for a, b in zip(found, expected, strict=True)) < 1e-6
