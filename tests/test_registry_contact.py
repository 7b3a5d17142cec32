"""The registry of seed 004's equations: text against source, function against text, both against kernels and runtime."""

import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from registry_contact import (
    DEEP,
    EQUATIONS,
    IN_CONTACT,
    LEAVING,
    NEARING,
    NUMBERS,
    ON,
    PULLED,
    SEED_004,
    SLIDING,
    SPINNING,
    STATES,
    STRAIGHT,
    WITH_FORCE,
    spheres,
)
from scipy.integrate import solve_ivp
from test_kernels import Motion, Setting, call, derivatives, module_of, unit
from test_limit_kernels import call as outputs
from test_registry import (
    DISPLAYED,
    SOLVED,
    TOLERANCE,
    WELL_ABOVE_ROUNDING,
    Formula,
    arranged,
    assembled,
    column,
    driver_symbols,
    errors,
    plain,
    seed_text,
    sides,
    system_symbols,
)

from generated import contact_sphere_plane as kernels
from models import foot
from runtime import Builder, hertz_stiffness, simulate
from runtime.contacts import NORMAL_FORCE, PENETRATION
from runtime.equations import derivative_once

SEEDS = range(4)
CREEP = 1e-6  # [m/s]
CASES = [(e, state, seed) for e in EQUATIONS for state in e.states for seed in SEEDS]
cases = pytest.mark.parametrize(("equation", "state", "seed"), CASES, ids=lambda v: getattr(v, "id", v))
seeds = pytest.mark.parametrize("seed", SEEDS)
states = pytest.mark.parametrize("state", STATES)


def of(number):
    (equation,) = [e for e in EQUATIONS if e.number == number]
    return equation


# What the symbols stand for: one contact


def lengthwise(a):
    return np.linalg.norm(a)


@cache
def contact_symbols(state, seed):
    """The symbols of a sphere and a plane on a random motion, at a given depth and rate of depth."""
    rng = np.random.default_rng([seed, STATES.index(state)])
    motion, setting = Motion(rng), Setting(kernels, rng)
    setting.signals[:] = 0.0  # no belt
    setting.local["b_j"] = unit(np.cross(setting.local["n_j"], rng.normal(size=3)))
    if state == STRAIGHT:
        for body in "ij":
            motion.q[body][1:] = 0.0
    m = SimpleNamespace(R_i=setting.parameters[0], R_j=np.inf, motion=motion, setting=setting)
    n = motion.A("j", 0.0) @ setting.local["n_j"]
    depth = {"apart": -0.3, ON: 0.0, DEEP: 1.5}.get(state, 0.4) * m.R_i
    nearing = (-1.0 if state in (LEAVING, PULLED) else 1.0) * rng.uniform(0.5, 2.0)
    motion.r["i"][0] += n * (measured(motion, setting)[0] - depth)
    motion.r["i"][1] += n * (measured(motion, setting)[1] - nearing)

    body_i, body_j = motion.states()
    m.delta, m.delta_dot, *slip = measured(motion, setting)
    m.slip, m.n = column(slip), column(n)
    paths = {
        "rC_i": lambda t: motion.state("i", t)[:3] + motion.A("i", t) @ setting.local["s_i"],
        "rP_j": lambda t: motion.state("j", t)[:3] + motion.A("j", t) @ setting.local["s_j"],
    }
    for name, path in paths.items():
        value, rate = derivatives(path, 1)
        vars(m).update({name: column(value), name.replace("r", "v"): column(rate)})
    m.w_i, m.w_j = column(body_i[10:]), column(body_j[10:])
    m.Q = column(outputs(kernels.point, 3, body_i, body_j, setting.x(body_i, body_j)))
    m.between = column(derivatives(lambda t: paths["rP_j"](t) - paths["rC_i"](t), 0)[0])
    # From the kernel: d^T n = delta - R, and the plane's velocity against the sphere's is - slip + delta' n.
    m.d, m.d_n = m.between, (m.delta - m.R_i) * m.n
    m.d_t = -np.cross(m.n, np.cross(m.n, m.d, axis=0), axis=0)
    m.distance = lengthwise(m.d_n)
    m.v_n, m.v_t = m.delta_dot * m.n, -m.slip
    m.v = m.v_n + m.v_t
    if m.delta > 0.0:
        _forces(m, state, rng)
    return m


def measured(motion, setting):
    body_i, body_j = motion.states()
    return outputs(kernels.measure, 5, body_i, body_j, setting.x(body_i, body_j))


def _forces(m, state, rng):
    """What the laws do, by the runtime: accelerations of two bodies that nothing else moves."""
    m.K, m.m, m.c = rng.uniform(500, 2000), rng.uniform(1.0, 2.0), rng.uniform(5, 20)
    m.mu_c, m.mu_d = rng.uniform(0.5, 1.0), rng.uniform(1.0, 5.0)
    if state == PULLED:
        m.c = 2.0 * m.K * m.delta**m.m / abs(m.delta_dot)
    linear = dict(law="kelvin_voigt", stiffness=m.K, exponent=m.m)
    m.force_elastic, _ = acting(m, damping=0.0, **linear)
    m.force_normal, m.force_on_plane = acting(m, damping=m.c, **linear)
    m.f_n = lengthwise(m.force_normal)
    rubbed, on_plane = acting(m, damping=m.c, friction="coulomb", mu_c=m.mu_c, mu_d=m.mu_d, **linear)
    m.force_friction, m.friction_on_plane = rubbed - m.force_normal, on_plane - m.force_on_plane
    m.v_t_length = lengthwise(m.v_t)
    m.t = m.v_t / m.v_t_length
    m.chi = m.K * rng.uniform(0.01, 0.1)
    damped, _ = acting(m, law="hunt_crossley", stiffness=m.K, exponent=m.m, loss=2 * m.chi / (3 * m.K))
    # c delta' n is what the damper adds to the elastic force.
    m.c_hysteresis = (m.n.T @ (damped - m.force_elastic)).item() / m.delta_dot


def acting(m, **law):
    """Force on the sphere's and on the plane's body, by the runtime's accelerations."""
    system = two_free_bodies(m.setting, **law)
    y = np.concatenate(m.motion.states())
    work, tables = system.work(), system.tables
    assert derivative_once(0.0, y, tables, work, np.empty(y.size)) == 0
    told = work.contacts.told[0]
    assert told[PENETRATION] == pytest.approx(m.delta, rel=1e-12)
    on_sphere, on_plane = (column(mass * work.v_dot[b, :3]) for b, mass in ((1, 2.0), (2, 3.0)))
    assert (m.n.T @ on_sphere).item() == pytest.approx(told[NORMAL_FORCE], rel=1e-12)
    return on_sphere, on_plane


def two_free_bodies(setting, **law):
    b = Builder("contact", gravity=(0, 0, 0))
    b.body("sphere", mass=2.0, inertia=(1, 1, 1), free=True)
    b.body("plane", mass=3.0, inertia=(1, 1, 1), free=True)
    b.contact(
        "touch", "sphere", plane="plane", centre=setting.local["s_i"], point=setting.local["s_j"],
        normal=setting.local["n_j"], radius=setting.parameters[0], creep=CREEP, **law,
    )  # fmt: skip
    return b.build()


@cache
def stiffness_symbols(seed):
    rng = np.random.default_rng(seed)
    E_i, E_j = 10 ** rng.uniform(5, 9, 2)
    nu_i, nu_j = rng.uniform(0.0, 0.5, 2)
    R_i = rng.uniform(0.01, 0.04)
    K = hertz_stiffness(R_i, E_i, nu_i, plane_modulus=E_j, plane_ratio=nu_j)
    return SimpleNamespace(R_i=R_i, R_j=np.inf, E_i=E_i, E_j=E_j, nu_i=nu_i, nu_j=nu_j, K=K)


# Main foot and toes on the ground


def sole(state, seed):
    """Main foot and toes as two free bodies above the ground, with their spheres in it, at random velocities."""
    rng = np.random.default_rng([seed, 4])
    b = Builder("sole", gravity=(0, 0, 0))
    v = np.array([*rng.uniform(0.3, 1.0, 2), rng.uniform(-0.1, 0.1)])
    for body, height in (("main_foot", 0.045), ("toes", 0.022)):
        r = np.array([0.3, -0.2, 0.0]) + [foot.BODIES[body]["r"][0], 0.0, height]
        omega = rng.normal(size=3) * [1, 1, 5] if state == SPINNING else np.zeros(3)
        b.body(
            body,
            mass=1.0,
            inertia=(1, 1, 1),
            r=r,
            v=v,
            omega=omega,
            p=unit([1.0, *rng.uniform(-0.02, 0.02, 3)]),
            free=True,
        )
        for k, (*centre, radius) in enumerate(spheres()[body]):
            b.contact(
                f"{body}_{k}", body, centre=centre, radius=radius, law="kelvin_voigt", stiffness=40e3, exponent=1.5,
                damping=30.0, friction="coulomb", mu_c=0.7, mu_d=3.0, creep=CREEP,
            )  # fmt: skip
    return b.build()


@cache
def foot_symbols(state, seed):
    run = simulate(sole(state, seed), 1e-6, t_eval=[0.0])
    reaction = run.ground_reaction()
    m = SimpleNamespace(vectors_nk=[], vectors_tk=[])
    for body, side in (("main_foot", "i"), ("toes", "j")):
        about_centre, about_origin, F_n = np.zeros(3), np.zeros(3), 0.0
        for motion in run.contacts.values():
            if motion.body == body and motion.normal_force[0] > 0.0:
                f, at = motion.force[0], motion.point[0]
                m.vectors_nk.append(f * [0, 0, 1])
                m.vectors_tk.append(f * [1, 1, 0])
                about_centre += np.cross(at - run.r[body][0], f)
                about_origin += np.cross(at, f)
                F_n += f[2]
        vars(m).update({f"M_x{side}": about_centre[0], f"M_y{side}": about_centre[1], f"F_n{side}": F_n})
        vars(m).update({f"O_x{side}": about_origin[0], f"O_y{side}": about_origin[1]})
    m.vectors_nk, m.vectors_tk = np.array(m.vectors_nk), np.array(m.vectors_tk)
    assert len(m.vectors_nk) > 3 and min(m.F_ni, m.F_nj) > 1.0
    m.f_nk, m.f_tk = (np.linalg.norm(v, axis=1) for v in (m.vectors_nk, m.vectors_tk))
    force = reaction.force[0]
    m.F_n, m.F_t = lengthwise(force * [0, 0, 1]), lengthwise(force * [1, 1, 0])
    m.X_COP, m.Y_COP, _ = reaction.centre_of_pressure[0]
    return m


# Coordinates (r, p) of two bodies: Phi(q, t) by the generated kernel, its derivatives by Cauchy's integral

# Of the last, signals and bodies are multiplied, so that no term of gamma is missing.
DEFINITIONS = ("modified_universal", "guided_point", "cosine_of_angle", "driven_slide")


@cache
def coordinate_symbols(name, place, seed):
    rng = np.random.default_rng([seed, *name.encode(), 4])
    module = module_of(name)
    setting, motion = Setting(module, rng), Motion(rng)
    if place == "on":
        setting, reference, _ = assembled(module, rng)
        motion = Motion.through(reference, rng)
    rows = len(module.ROWS)

    def q_at(t):
        return np.concatenate([motion.state(body, t)[:7] for body in "ij"])

    def Phi(q, t):
        bodies = [np.concatenate([part, np.zeros(6)]) for part in (q[:7], q[7:])]
        return call(module.phi, *bodies, setting.x(*bodies, t), rows)

    q, q_dot, q_ddot = derivatives(q_at, 2)

    def second(u):
        return derivatives(lambda e: Phi(q + e * u, 0.0), 2)[2]

    def slope(f, u):
        return derivatives(lambda e: f(q + e * u), 1)[1]

    def in_time(q):  # Phi_t
        bodies = [np.concatenate([part, np.zeros(6)]) for part in (q[:7], q[7:])]
        return -call(module.nu, *bodies, setting.x(*bodies), rows)

    basis = np.eye(14)
    m = SimpleNamespace(q_dot=column(q_dot), rows=rows)
    m.Phi_q_q_dot_q = np.array([(second(q_dot + e) - second(q_dot) - second(e)) / 2 for e in basis]).T
    m.Phi_tt = column(derivatives(lambda t: Phi(q, t), 2)[2])
    m.Phi_qt = np.array([slope(in_time, e) for e in basis]).T
    # What the kernels say: D v' - gamma is Phi'', and what Phi_q q'' lacks to it is the gamma of these coordinates.
    body_i, body_j = motion.states()
    evaluated = call(module.evaluate, body_i, body_j, setting.x(body_i, body_j), (rows,), (rows,), (rows, 12), (rows,))
    Phi_now, Phi_dot, D, gamma = evaluated
    if place == "on":
        assert max(np.abs(Phi_now).max(), np.abs(Phi_dot).max()) < 1e-10
    m.gamma = column(slope(lambda q: Phi(q, 0.0), q_ddot) - (D @ motion.acceleration() - gamma))
    m.scale = max(1.0, *(np.abs(term).max() for term in (m.gamma, m.Phi_tt, m.Phi_q_q_dot_q @ m.q_dot)))
    return m


def symbols_for(equation, state, seed):
    if equation.about == "contact":
        m = contact_symbols(state, seed)
        return SimpleNamespace(**vars(m) | {"c": m.c_hysteresis}) if equation.number == 13 else m
    if equation.about == "stiffness":
        return stiffness_symbols(seed)
    if equation.about == "foot":
        return foot_symbols(state, seed)
    if equation.about == "driver":
        return SimpleNamespace(Phi=driver_symbols("cosine_of_angle", seed, state).kernels["Phi"])
    if equation.about == "coordinates":
        return coordinate_symbols(DEFINITIONS[seed], state, seed)
    m = system_symbols(seed, state, equation.number == 22)
    # Eq. (20) is taken without stabilisation; its form must not hold the terms of Eq. (22) all the same.
    return SimpleNamespace(**vars(m) | {"Phi_q": m.D, "q_ddot": m.v_dot, "alpha": 5.0, "beta": 5.0})


def tolerance_of(equation):
    return SOLVED if equation.about in ("equations of motion", "coordinates") else TOLERANCE


# The papers against kernels and runtime


@cases
def test_equation(equation, state, seed):
    """A printed equation holds where its entry says so, fails where its entry says so, and its corrected form holds."""
    m = symbols_for(equation, state, seed)
    error = errors(equation, m, equation.literal).max()
    assert error > WELL_ABOVE_ROUNDING if state in equation.fails_in else error < tolerance_of(equation)
    if equation.corrected:
        assert errors(equation, m, equation.corrected).max() < tolerance_of(equation)


def test_verdicts():
    assert sorted(e.number for e in EQUATIONS) == list(NUMBERS)
    for e in EQUATIONS:
        assert (e.verdict == "holds") == (e.corrected is None) == (not e.fails_in)
        assert set(e.fails_in) <= set(e.states)
        assert e.note or e.verdict == "holds"
        if e.verdict == "incomplete":
            assert set(e.fails_in) < set(e.states)
    assert {e.number for e in EQUATIONS if e.verdict == "misprint"} == {5, 8, 9, 12, 14, 16, 17, 18}
    assert {e.number for e in EQUATIONS if e.verdict == "incomplete"} == {4, 11}


@pytest.mark.parametrize("equation", [e for e in EQUATIONS if e.misprints], ids=lambda e: e.id)
@seeds
def test_each_misprint_alone(equation, seed):
    """Each of several misprints is one by itself, and together they are all that differs from what is printed."""
    for state in equation.fails_in:
        m = symbols_for(equation, state, seed)
        printed, left = (sides(f) for f in (equation.literal(m), equation.corrected(m, equation.misprints)))
        for a, b in zip(printed, left, strict=True):
            assert np.array_equal(a, b) or np.abs(a - b).max() < 1e-12 * max(1.0, np.abs(b).max())
        for misprint in equation.misprints:
            error = errors(equation, m, lambda m, left=misprint: equation.corrected(m, (left,))).max()
            if (misprint, state) == ("sign", DEEP):  # below the plane, d^T n is the distance
                assert error < TOLERANCE
            else:
                assert error > WELL_ABOVE_ROUNDING


@states
@seeds
def test_the_kernel_knows_its_geometry(state, seed):
    """Penetration and rate against Cauchy's integral along the motion, and the slip against a point that moves with a body."""
    m = contact_symbols(state, seed)
    motion, local = m.motion, m.setting.local

    def delta(t):
        n = motion.A("j", t) @ local["n_j"]
        centre = motion.state("i", t)[:3] + motion.A("i", t) @ local["s_i"]
        return m.R_i - (centre - motion.state("j", t)[:3] - motion.A("j", t) @ local["s_j"]) @ n

    value, rate = derivatives(delta, 1)
    assert (m.delta, m.delta_dot) == pytest.approx((value, rate), abs=1e-11)
    # The material points that are at Q now.
    velocity = {}
    for body in "ij":
        mine = motion.A(body, 0.0).T @ (m.Q[:, 0] - motion.state(body)[:3])
        velocity[body] = derivatives(lambda t, b=body, u=mine: motion.state(b, t)[:3] + motion.A(b, t) @ u, 1)[1]
    across = (velocity["i"] - velocity["j"]) @ (np.eye(3) - m.n @ m.n.T)
    assert np.abs(across - m.slip[:, 0]).max() < 1e-11
    # Nothing here would agree by chance.
    assert abs(m.delta_dot) > 0.1 and lengthwise(m.slip) > 0.1


def test_states_are_what_they_are_called():
    for seed in SEEDS:
        at = {state: contact_symbols(state, seed) for state in STATES}
        assert abs(at[ON].delta) < 1e-14 and at["apart"].delta < 0.0
        assert all(at[state].delta > 0.0 for state in IN_CONTACT)
        assert at[DEEP].delta > at[DEEP].R_i and all(at[s].delta < at[s].R_i for s in (NEARING, LEAVING, PULLED))
        assert all((at[s].delta_dot < 0.0) == (s in (LEAVING, PULLED)) for s in STATES)
        assert at[PULLED].f_n == 0.0 and all(at[s].f_n > 1.0 for s in WITH_FORCE)
        assert not at[STRAIGHT].w_i.any() and lengthwise(at[NEARING].w_i) > 0.1


# What follows from the errors


@pytest.mark.parametrize("state", WITH_FORCE)
@seeds
def test_no_normal_serves_all(state, seed):
    """Eqs. (5), (10), (14): with n into the ground, d^T n is the distance and the forces are those on the ground."""
    m = contact_symbols(state, seed)
    apart = (m.d.T @ m.n).item()
    sign = -1.0 if state == DEEP else 1.0
    assert -sign * apart == pytest.approx(m.distance, rel=1e-12)
    up, down = of(10).literal(m)[1], of(10).literal(SimpleNamespace(**vars(m) | {"n": -m.n}))[1]
    assert np.abs(up - m.force_elastic).max() < 1e-9 * m.K and np.abs(down + m.force_elastic).max() < 1e-9 * m.K
    assert np.abs(m.force_on_plane + m.force_normal).max() < 1e-12 * m.K
    # Friction does not depend on n: as printed it is that on the plane's body.
    assert np.abs(of(14).literal(m)[1] - m.friction_on_plane).max() < 1e-12 * m.K


@seeds
def test_the_printed_friction_drives(seed):
    """Eq. (14) on the sphere's body gives energy."""
    for state in WITH_FORCE:
        m = contact_symbols(state, seed)
        true, printed = of(14).literal(m)
        assert (printed.T @ m.slip).item() > 0.1 and (true.T @ m.slip).item() < -0.1


def rolling(spin):
    """A sphere that rolls along x on a plane at rest, or spins on the spot: symbols by the kernel."""
    R, speed = 0.03, 0.7
    at = np.array([0.4, -0.1, 0.9 * R])
    omega = np.array([0.0, speed / (0.9 * R), 0.0])  # about the lowest point below the plane, C - 0.9 R n, as deep as R
    v = np.zeros(3) if spin else np.cross(omega, [0.0, 0.0, R])
    body_i = np.concatenate([at, [1.0, 0, 0, 0], v, omega])
    body_j = np.concatenate([np.zeros(3), [1.0, 0, 0, 0], np.zeros(6)])
    x = np.concatenate([np.zeros(6), [0, 0, 1.0, 1.0, 0, 0, R], np.zeros(3)])
    m = SimpleNamespace(rC_i=column(at), vC_i=column(v), rP_j=np.zeros((3, 1)), vP_j=np.zeros((3, 1)))
    m.w_i, m.w_j, m.n, m.Q = column(omega), np.zeros((3, 1)), column([0, 0, 1]), column(at - [0, 0, R])
    m.slip = column(outputs(kernels.measure, 5, body_i, body_j, x)[2:])
    m.v = -m.slip
    return m, R * lengthwise(omega)


def test_a_rolling_sphere_does_not_slip():
    """Eq. (8): the velocity of the centre is all slip for a sphere that rolls, and none for one that spins on the spot."""
    m, speed = rolling(spin=False)
    true, printed = of(8).literal(m)
    assert lengthwise(true) < 1e-15 and lengthwise(printed) == pytest.approx(speed)
    m, speed = rolling(spin=True)
    true, printed = of(8).literal(m)
    assert lengthwise(true) == pytest.approx(speed) and lengthwise(printed) == 0.0
    for spin in (False, True):
        m, _ = rolling(spin)
        assert errors(of(8), m, of(8).corrected).max() < 1e-14


def test_a_norm_damps_nothing():
    """Eq. (9) in Eq. (11): reversed in time, the motion is the same, so a sphere leaves as fast as it came; (13) is no help."""
    mass, K, c, speed = 1.0, 40e3, 30.0, 0.5

    def leaving(t, y):
        return y[0]

    leaving.terminal, leaving.direction = True, -1.0

    def restitution(rate, power=0.0):
        def motion(t, y):
            delta = max(y[0], 0.0)
            return [y[1], -(K * delta**1.5 + c * (500.0 * delta) ** power * rate(y[1])) / mass]

        run = solve_ivp(motion, (0.0, 1.0), [0.0, speed], events=leaving, rtol=1e-11, atol=1e-13)
        (end,) = run.y_events[0]
        return -end[1] / speed

    for power in (0.0, 1.5):
        assert restitution(abs, power) == pytest.approx(1.0, abs=1e-6)
        assert restitution(lambda v: v, power) < 0.8


@seeds
def test_the_damper_jumps_at_touch_down(seed):
    """Eq. (11) with a constant c has a force on the plane already; with Eq. (13) it has none."""
    m = contact_symbols(NEARING, seed)
    at = SimpleNamespace(**vars(m) | {"delta": 0.0})
    assert lengthwise(of(11).literal(at)[1]) == pytest.approx(m.c * m.delta_dot)
    at.c = m.chi * at.delta**m.m
    assert lengthwise(of(11).literal(at)[1]) == 0.0


def test_friction_without_slip_is_undefined():
    """Eq. (14): t is 0 / 0 at rest; the law of the runtime is zero there, and rises to the printed size at the creep speed."""
    with np.errstate(invalid="ignore"):
        assert np.isnan(np.zeros(3) / np.linalg.norm(np.zeros(3))).all()
    m, _ = rolling(spin=False)
    law = dict(law="kelvin_voigt", stiffness=40e3, exponent=1.5, damping=0.0, friction="coulomb", mu_c=0.7, mu_d=3.0)
    for slip, share in ((0.0, 0.0), (0.5, 0.6875), (1.0, 1.0)):  # of the creep speed; 3/2 x - x^3/2
        b = Builder("sphere", gravity=(0, 0, 0))
        b.body("sphere", mass=1.0, inertia=(1, 1, 1), r=m.rC_i[:, 0], v=(slip * 0.01, 0, 0), free=True)
        b.contact("touch", "sphere", centre=(0, 0, 0), radius=0.03, creep=0.01, **law)
        touched = simulate(b.build(), 1e-9, t_eval=[0.0]).contacts["touch"]
        printed = 0.7 * touched.normal_force[0]
        assert touched.friction[0, 0] == pytest.approx(-share * printed - 3.0 * slip * 0.01, abs=1e-9)


def test_the_viscous_part_knows_no_cone():
    """Eq. (14): as the normal force goes to zero, mu_d v_t stays, and is more than any coefficient of friction."""
    m = contact_symbols(NEARING, 0)
    for f_n in (1.0, 1e-3, 1e-6):
        at = SimpleNamespace(**vars(m) | {"f_n": f_n})
        beyond = lengthwise(of(14).literal(at)[1]) - m.mu_c * f_n
        assert beyond == pytest.approx(m.mu_d * m.v_t_length)


@seeds
def test_moments_about_the_origin_give_the_printed_x(seed):
    """Eq. (17): its sign is right, about the origin; and the sign of Eq. (18) is wrong by twice the coordinate."""
    for state in (SPINNING, SLIDING):
        m = foot_symbols(state, seed)
        m = SimpleNamespace(**vars(m) | {f"M_{a}{b}": getattr(m, f"O_{a}{b}") for a in "xy" for b in "ij"})
        assert errors(of(17), m, of(17).literal).max() < TOLERANCE
        true, printed = of(18).literal(m)
        assert printed == pytest.approx(-true, rel=1e-11) and abs(true) > 0.01


@seeds
def test_every_sign_and_factor_of_gamma_is_seen(seed):
    """Eq. (21), which holds: it would not with another sign or factor of any of its terms."""
    for name in DEFINITIONS:
        for place in ("off", "on"):
            m = coordinate_symbols(name, place, seed)
            terms = np.stack([-m.Phi_q_q_dot_q @ m.q_dot, -m.Phi_tt, -2 * m.Phi_qt @ m.q_dot])
            assert np.abs(terms.sum(axis=0) - m.gamma).max() < SOLVED * m.scale
            for term in terms:
                if np.abs(term).max() > 1e-6:
                    for factor in (-1.0, 0.5):
                        changed = terms.sum(axis=0) + (factor - 1.0) * term
                        assert np.abs(changed - m.gamma).max() > 1e-7
                else:
                    assert name != "driven_slide"


# The registry against itself: the function is what the text says

NAMES = {
    r"\mathbf{d}": "d", r"\mathbf{d}_n": "d_n", r"\mathbf{d}_t": "d_t", r"\mathbf{n}": "n", r"\mathbf{r}_j^p": "rP_j",
    r"\mathbf{r}_i^c": "rC_i", r"\delta": "delta", r"\dot{\delta}": "delta_dot", r"\delta^m": "delta_m", "d_n": "distance",
    "R_i": "R_i", "R_j": "R_j", r"\mathbf{v}": "v", r"\mathbf{v}_n": "v_n", r"\mathbf{v}_t": "v_t",
    r"\mathbf{v}_j^p": "vP_j", r"\mathbf{v}_i^c": "vC_i", r"\mathbf{f}_n": "left", r"\mathbf{f}_t": "left", "K": "K", "c": "c",
    r"\chi": "chi", r"\nu_i": "nu_i", r"\nu_j": "nu_j", "E_i": "E_i", "E_j": "E_j", r"\pi": "pi", r"\mu_c": "mu_c",
    "f_n": "f_n", r"\mu_d": "mu_d", "v_t": "v_t_length", r"\mathbf{t}": "t", "F_n": "F_n", "F_t": "F_t", "f_{nk}": "f_nk",
    "f_{tk}": "f_tk", "X_{COP}": "X_COP", "Y_{COP}": "Y_COP", "F_{ni}": "F_ni", "F_{nj}": "F_nj",
    r"\Phi(\mathbf{q},t)": "Phi", r"\mathbf{0}": "zero", r"\boldsymbol{\gamma}": "gamma", r"\dot{\mathbf{q}}": "q_dot",
    r"(\Phi_{\mathbf{q}}\dot{\mathbf{q}})_{\mathbf{q}}": "Phi_q_q_dot_q", r"\Phi_{tt}": "Phi_tt", r"\Phi_{qt}": "Phi_qt",
    **{f"M_{{{axis}{body}}}": f"M_{axis}{body}" for axis in "xy" for body in "ij"},
}  # fmt: skip


class ContactFormula(Formula):
    """Reads decimals and sums over the spheres too."""

    def base(self):
        number = self.take(r"\d+\.\d+")
        if number:
            return float(number[0])
        if self.take(r"\\sum_\{k=1\}\^l"):
            return self.factor().sum()
        return super().base()


def text_value(equation, m):
    if equation.matrix[0]:
        cells = [plain(cell)[0].replace(r"\ddotq", r"\ddot q") for cell in equation.text]
        split = cells.index("=")
        return [arranged(group, equation, m) for group in (cells[:split], cells[split + 1 :])]
    m = SimpleNamespace(**vars(m), pi=np.pi)
    if equation.number in (10, 11, 14):
        m.left = equation.literal(m)[0]
    if hasattr(m, "m"):
        m.delta_m = m.delta**m.m if m.delta > 0.0 else np.nan
    if equation.number == 19:
        m.zero = np.zeros_like(m.Phi)
    # A sum has an equals sign of its own.
    return [ContactFormula(side, m, NAMES).value() for side in re.split(r"(?<!k)=", equation.text[0])]


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda e: e.id)
def test_function_is_what_the_text_says(equation):
    m = symbols_for(equation, equation.states[0], 1)
    literal, text = sides(equation.literal(m)), sides(tuple(text_value(equation, m)))
    assert len(literal) == len(text)
    for a, b in zip(literal, text, strict=True):
        assert a.shape == b.shape
        assert np.array_equal(a, b) or np.abs(a - b).max() < 1e-13 * max(1.0, np.abs(b).max())


def test_the_paper_prints_no_other_number():
    assert sorted(printed()) == list(NUMBERS)


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda e: e.id)
def test_text_stands_in_the_paper(equation):
    assert [cell for text in equation.text for cell in plain(text)] == printed()[equation.number]


@cache
def printed():
    """Number -> entries, of the numbered equations."""
    found = DISPLAYED.findall(seed_text(SEED_004))
    return {int(next(filter(None, numbers))): plain(body) for body, *numbers in found}
