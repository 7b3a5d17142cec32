"""What the symbols of Moreira et al. (2011) stand for, on random motions of spheres, feet and joints."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from generated import contact_sphere_plane as kernels
from models import foot
from runtime import Builder, simulate
from runtime.dynamics.contacts import NORMAL_FORCE, PENETRATION
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.system import hertz_stiffness
from tests.papers.moreira_2011 import DEEP, LEAVING, ON, PULLED, SPINNING, STATES, STRAIGHT
from tests.papers.moreira_2011_data import spheres
from tests.papers.symbols import column, system_symbols
from tests.papers.symbols_of_drivers import driver_symbols
from tests.support.definitions import module_of
from tests.support.kernels import Setting, assembled, call
from tests.support.limit_kernels import call as outputs
from tests.support.motions import Motion, derivatives, unit

TRANSITION_VELOCITY = 1e-6  # [m/s]


# What the symbols stand for: one contact


def lengthwise(a):
    return np.linalg.norm(a)


@cache
def contact_symbols(state, seed):
    """The symbols of a sphere and a plane on a random motion, at a given depth and rate of depth."""
    rng = np.random.default_rng([seed, STATES.index(state)])
    motion, setting = Motion(rng), Setting(kernels, rng)
    setting.signals[:] = 0.0  # no belt
    setting.parameters[1] = 0.0  # the sphere is rigid
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
    work, data = workspace_for(system.data), system.data
    assert derivative_once(0.0, y, data, work, np.empty(y.size)) == 0
    contact_outputs = work.contacts.outputs[0]
    assert contact_outputs[PENETRATION] == pytest.approx(m.delta, rel=1e-12)
    on_sphere, on_plane = (column(mass * work.v_dot[b, :3]) for b, mass in ((1, 2.0), (2, 3.0)))
    assert (m.n.T @ on_sphere).item() == pytest.approx(contact_outputs[NORMAL_FORCE], rel=1e-12)
    return on_sphere, on_plane


def two_free_bodies(setting, **law):
    b = Builder("contact", gravity=(0, 0, 0))
    b.body("sphere", mass=2.0, inertia=(1, 1, 1), free=True)
    b.body("plane", mass=3.0, inertia=(1, 1, 1), free=True)
    b.contact(
        "touch", "sphere", plane="plane", centre=setting.local["s_i"], point=setting.local["s_j"],
        normal=setting.local["n_j"], radius=setting.parameters[0], transition_velocity=TRANSITION_VELOCITY, **law,
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
                damping=30.0, friction="coulomb", mu_c=0.7, mu_d=3.0, transition_velocity=TRANSITION_VELOCITY,
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


def contact_symbols_for(equation, state, seed):
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
