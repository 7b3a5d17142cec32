"""The registry of printed equations: text against source, function against text, and both against the kernels."""

import itertools
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from registry import EQUATIONS, NUMBERS, SEED_000, SEED_001, SEED_002, SEED_003, tilde
from test_kernels import G, Motion, Setting, assembled, bodies_of, call, derivatives, module_of, polynomial, unit
from test_limit_kernels import call as outputs
from test_limits import at, restrained
from test_link_transfer import random, rates, sense, situation, turn

import models
from generated import dispatch, limit_cone, position, separation
from models import foot
from runtime import Cone
from runtime.cones import KINDS
from runtime.equations import derivative_once, rotation

TOLERANCE = 1e-12  # relative to the largest of 1 and the quantity
# The accelerations and multipliers of a system solve linear equations, which costs digits.
SOLVED = 1e-9
WELL_ABOVE_ROUNDING = 1e-5
SEEDS = range(5)
PLACES = ("off", "on")  # the constraint manifold
SEED_FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "seeds"
ROWS = ("Phi", "Phi_dot", "Phi_ddot", "D", "nu", "gamma")

equations = pytest.mark.parametrize("equation", EQUATIONS, ids=lambda e: e.id)
wrong_terms = pytest.mark.parametrize("equation", [e for e in EQUATIONS if e.agrees_at_rest], ids=lambda e: e.id)
with_misprints = pytest.mark.parametrize("equation", [e for e in EQUATIONS if e.misprints], ids=lambda e: e.id)
seeds = pytest.mark.parametrize("seed", SEEDS)
places = pytest.mark.parametrize("place", PLACES)


# What the symbols stand for


def column(v):
    return np.asarray(v, float).reshape(-1, 1)


@cache
def joint_symbols(name, seed, place, right_angle=False, at_rest=""):
    """The papers' symbols of a joint on a random motion; ``m.kernels`` holds what the generated kernels give."""
    rng = np.random.default_rng([seed, *name.encode()])
    module = module_of(name)
    setting, states, start = assembled(module, rng, _set_at_right_angle if right_angle else None)
    motion = Motion.through(states, rng) if place == "on" else Motion(rng)
    if at_rest:
        motion.q[at_rest][1:] = 0.0
    return _symbols(module, setting, motion, start)


def _set_at_right_angle(setting, start):
    a_i = start.A("i", 0.0) @ setting.local["a_i"]
    a_j = start.A("j", 0.0) @ setting.local["a_j"]
    setting.local["a_j"] = start.A("j", 0.0).T @ unit(a_j - a_i * (a_i @ a_j))


def _symbols(module, setting, motion, start):
    m = SimpleNamespace()
    paper = {"s": "sP", "a": "s"}  # the definitions' names and the papers'
    points = {"r_i": lambda t: motion.state("i", t)[:3], "r_j": lambda t: motion.state("j", t)[:3]}
    for name, kind, body in module.VECTORS:
        if kind in ("point", "direction"):
            local = setting.local[name]
            points[f"{paper[name[0]]}_{body}"] = lambda t, b=body, u=local: motion.A(b, t) @ u
            if kind == "direction":
                setattr(m, f"s_{body}_0", column(start.A(body, 0.0) @ local))
            else:
                setattr(m, f"sP_{body}_local", column(local))
    if "sP_i" in points:
        points["d"] = lambda t: points["r_j"](t) + points["sP_j"](t) - points["r_i"](t) - points["sP_i"](t)
        points |= {f"rP_{b}": lambda t, b=b: points[f"r_{b}"](t) + points[f"sP_{b}"](t) for b in "ij"}
        ends = [start.state(b)[:3] + start.A(b, 0.0) @ setting.local[f"s_{b}"] for b in "ij"]
        m.d_0 = column(ends[1] - ends[0])
    for name, path in points.items():
        for suffix, value in zip(("", "_dot", "_ddot"), derivatives(path, 2), strict=True):
            setattr(m, name + suffix, column(value))
    for body in "ij":
        omega, omega_dot = derivatives(lambda t, b=body: motion.omega(b, t), 1)
        A = np.empty((3, 3))
        rotation.py_func(motion.state(body)[3:7], A)
        vars(m).update({f"w_{body}": column(omega), f"w_{body}_dot": column(omega_dot), f"A_{body}": A})
    if "sP_i" in points:  # an arbitrary body with a vector fixed in it
        m.w, m.w_dot, m.s, m.s_dot, m.s_ddot = m.w_i, m.w_i_dot, m.sP_i, m.sP_i_dot, m.sP_i_ddot
    m.l = dict(zip((name for name, _ in module.PARAMETERS), setting.parameters, strict=True)).get("l")
    m.kernels = _kernels(module, setting, motion)
    return m


def _kernels(module, setting, motion):
    body_i, body_j = motion.states()
    x = setting.x(body_i, body_j)
    rows = len(module.ROWS)
    Phi, Phi_dot, D, gamma = call(module.evaluate, body_i, body_j, x, (rows,), (rows,), (rows, 12), (rows,))
    nu = call(module.nu, body_i, body_j, x, rows)
    Phi_ddot = D @ motion.acceleration() - gamma
    values = dict(zip(ROWS, (Phi, Phi_dot, Phi_ddot, D, nu, gamma), strict=True))
    return {name: value if name == "D" else column(value) for name, value in values.items()}


def axes_symbols(seed):
    """The axes of the ankle from the projections of their angles: on a cardinal plane an axis has the tangent it shows."""
    rng = np.random.default_rng(seed)
    rho, theta, epsilon, tau = rng.uniform(-1.3, 1.3, 4) if seed else np.deg2rad([19.8, 35.3, 6.0, 8.0])
    s_i = unit(np.array([1.0, np.tan(rho), np.tan(theta)]))  # transverse plane: y/x; sagittal plane: z/x
    s_j = unit(np.array([np.tan(epsilon), 1.0, np.tan(tau)]))  # transverse plane: x/y; frontal plane: z/y
    real = [np.arctan2(s[2], np.hypot(s[0], s[1])) for s in (s_i, s_j)]  # angle to the transverse plane
    return SimpleNamespace(
        rho=rho,
        theta=theta,
        epsilon=epsilon,
        tau=tau,
        theta_re=real[0],
        tau_re=real[1],
        s_i=column(s_i),
        s_j=column(s_j),
    )


@cache
def system_symbols(seed, place, stabilised):
    """Mass matrix and applied forces of the foot by their definitions, the rest as the runtime has it."""
    system = foot.build()
    rng = np.random.default_rng(seed)
    tables, work, y = system.tables, system.work(), system.state.y.reshape(-1, 13).copy()
    if not stabilised:
        tables = tables._replace(alpha=0.0, beta=0.0)
    y[:, 7:] = rng.normal(size=(len(y), 6))
    if place == "off":
        y[:, :3] += 0.01 * rng.normal(size=(len(y), 3))
        y[:, 3:7] += 0.1 * rng.normal(size=(len(y), 4))
        y[:, 3:7] /= np.linalg.norm(y[:, 3:7], axis=1, keepdims=True)
    else:
        y = system.assemble(system.state.replace(v=dict(zip(system.body_names, y[:, 7:10], strict=True)))).y.reshape(
            -1, 13
        )
    assert derivative_once(0.0, y.ravel(), tables, work, np.empty(y.size)) == 0

    rows = [(k, r) for k, joint in enumerate(system.joints) for r in range(len(joint.rows))]
    D = np.zeros((len(rows), 6 * (len(y) + 1)))
    for n, (k, r) in enumerate(rows):
        for body, part in ((tables.body_i[k], work.D[k, r, :6]), (tables.body_j[k], work.D[k, r, 6:])):
            D[n, 6 * body : 6 * body + 6] += part
    M, g = [], []
    for b, state in enumerate(y, start=1):
        A = np.empty((3, 3))
        rotation.py_func(state[3:7], A)
        J, omega = A @ tables.inertia[b] @ A.T, state[10:]
        M += [tables.mass[b] * np.eye(3), J]
        g += [tables.mass[b] * tables.gravity, -np.cross(omega, J @ omega)]
    size = 3 * len(M)
    mass = np.zeros((size, size))
    for k, block in enumerate(M):
        mass[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block

    def of_rows(table):
        return column([table[k, r] for k, r in rows])

    return SimpleNamespace(
        M=mass, g=column(np.concatenate(g)), D=D[:, 6:], v_dot=column(work.v_dot[1:]), lam=of_rows(work.lam),
        gamma=of_rows(work.gamma), Phi=of_rows(work.Phi), Phi_dot=of_rows(work.Phi_dot),
        alpha=tables.alpha, beta=tables.beta,
    )  # fmt: skip


# Drivers: what the kernels say, and the papers' symbols for it

# The definitions' names and the papers', whose s_i is the axis.
IN_SECTION_6 = {"s_i": "sP_i", "s_j": "sP_j", "a_i": "a_i", "b_j": "b_j", "h_i": "s_i"}
WITH_ANY_AXES, AT_REST = "off, a_i not perpendicular to s_i", "off, both bodies at rest"


@cache
def driver_symbols(name, seed, place):
    """The symbols of a driver on a random motion.  The guided Euler parameter is that of ``seed`` modulo 4.

    "on": the signal is where the bodies are, and as fast; a link is that of a modified universal joint whose rows hold too.
    """
    rng = np.random.default_rng([seed, *name.encode()])
    module, motion, m = module_of(name), Motion(rng), SimpleNamespace()
    setting = Setting(module, rng)
    if name == "cosine_of_link" and place == "on":
        joint, states, _ = assembled(module_of("modified_universal"), rng)
        motion = Motion.through(states, rng)
        setting.local |= {"s_i": joint.local["s_i"], "s_j": joint.local["s_j"], "h_i": joint.local["a_i"]}
        rows = (4,), (4,), (4, 12), (4,)
        m.joint = call(joint.module.evaluate, *motion.states(), joint.x(*motion.states()), *rows)
    if name == "cosine_of_link" and place != WITH_ANY_AXES:
        setting.local["a_i"] = unit(np.cross(setting.local["h_i"], rng.normal(size=3)))
    if name == "euler_parameter":
        setting.parameters = np.eye(4)[seed % 4]
    if place == AT_REST:
        for body in "ij":
            motion.r[body][1:], motion.q[body][1:] = 0.0, 0.0
    if place == "on":
        follow(setting, motion)

    paths = {"r_i": lambda t: motion.state("i", t)[:3], "r_j": lambda t: motion.state("j", t)[:3]}
    for vector, _, body in module.VECTORS:
        paths[IN_SECTION_6[vector]] = lambda t, b=body, u=setting.local[vector]: motion.A(b, t) @ u
    if "sP_i" in paths:
        paths["rP_i"] = lambda t: paths["r_i"](t) + paths["sP_i"](t)
    if "sP_j" in paths:
        paths["d"] = lambda t: paths["r_j"](t) + paths["sP_j"](t) - paths["rP_i"](t)
        paths["d_p"] = lambda t: -np.cross(paths["s_i"](t), np.cross(paths["s_i"](t), paths["d"](t)))
    if name == "euler_parameter":
        paths["G_k"] = lambda t: G(motion.state("i", t)[3:7])[:, seed % 4]
        m.e = motion.state("i")[3 + seed % 4]
    for symbol, path in paths.items():
        for suffix, value in zip(("", "_dot", "_ddot"), derivatives(path, 2), strict=True):
            setattr(m, symbol + suffix, column(value))
    for body in "ij":
        setattr(m, f"w_{body}", column(motion.omega(body, 0.0)))
    symbol = {"guided_point": "c", "euler_parameter": "e_k", "cosine_of_angle": "theta", "cosine_of_link": "beta"}[name]
    for order, suffix in enumerate(("", "_dot", "_ddot")):
        value = column([polynomial(c, 0.0, order) for c in setting.signals])
        setattr(m, symbol + suffix, value if len(value) > 1 else value.item())

    body_i, body_j = motion.states()
    rows = len(module.ROWS)
    m.dPhi_dt = column(
        derivatives(lambda t: call(module.phi, body_i, body_j, setting.x(body_i, body_j, t), rows), 1)[1]
    )
    m.kernels, m.r_and_w = _kernels(module, setting, motion), (body_i[:3], body_j[:3])
    if bodies_of(name) == {"i"}:
        assert not m.kernels["D"][:, 6:].any()
        m.kernels["D"] = m.kernels["D"][:, :6]
    return m


def follow(setting, motion):
    """Give the signals the values and rates that the motion has."""
    module, h = setting.module, 1e-30
    bodies, rows = motion.states(), len(module.ROWS)
    setting.signals[:, 0] = np.pi / 2

    def left(x, order):
        if order == 0:
            return call(module.phi, *bodies, x, rows)
        return call(module.jacobian, *bodies, x, (rows, 12)) @ motion.velocity() - call(module.nu, *bodies, x, rows)

    for order in (0, 1):
        places = range(module.SIZE - 3 * len(setting.signals) + order, module.SIZE, 3)
        for _ in range(20):
            x = setting.x(*bodies)
            slope = np.array([left(x + 1j * h * np.eye(len(x))[k], order).imag / h for k in places]).T
            setting.signals[:, order] -= np.linalg.solve(slope, left(x, order))


# Limits of motion: what the kernels and the runtime say, and the papers' symbols for it


def random_cone(rng, elliptical):
    sigma = rng.uniform(0.6, 1.0, 5)
    if elliptical:
        return Cone(np.arange(5) * np.pi / 2, [*sigma[:4], sigma[0]])
    return Cone.from_degrees([0, 70, 150, 210, 290, 360], np.rad2deg([*sigma, sigma[0]]))


def on_cone(cone, rng):
    """A point of a cone: piece and parameter."""
    p = rng.integers(len(cone.pieces.kind))
    return p, cone.pieces.span[p] @ (0.5 + np.array([-0.4, 0.4]) * rng.uniform(-1, 1))


def rotation_of(p):
    A = np.empty((3, 3))
    rotation.py_func(p, A)
    return A


def polar(u):
    """Longitude and latitude of a direction, and their gradients, by the generated kernel."""
    out = outputs(position.position, 8, np.asarray(u, float).ravel())
    return out[1] % (2 * np.pi), out[0], out[5:], out[2:5]


def cone_symbols(m, cone, p, s):
    """A point of a cone: maximum latitude and its slopes, by the generated curve and its derivatives."""
    t, dt, _, _ = at(cone, p, s)
    m.psi, m.sigma_max, along_psi, along_sigma = polar(t)
    m.psi_l, m.sigma_l = along_psi @ dt, along_sigma @ dt
    m.l_psi = 1 / m.psi_l
    kind = dispatch.CONES[KINDS.index(cone.interpolation)]
    m.dsigma = outputs(kind.limit, 2, s, cone.pieces.coefficients[p])[1]
    m.x, m.y = m.sigma_max * np.cos(m.psi), m.sigma_max * np.sin(m.psi)
    return t, dt


@cache
def ellipse_symbols(seed, place):
    rng = np.random.default_rng([seed, PLACES.index(place), 1])
    m, cone = SimpleNamespace(), random_cone(rng, True)
    p, s = on_cone(cone, rng)
    cone_symbols(m, cone, p, s)
    m.a, m.b = cone.pieces.coefficients[p, :2]
    m.a_1, m.b_1, m.a_2, m.b_2, _ = cone.latitudes
    m.psi_B, m.rC = m.psi, np.array([m.x, m.y])
    return m


@cache
def spline_symbols(seed, place):
    rng = np.random.default_rng([seed, PLACES.index(place), 2])
    m, cone = SimpleNamespace(), random_cone(rng, False)
    p, m.l = on_cone(cone, rng)
    cone_symbols(m, cone, p, m.l)
    m.c_x, m.c_y = cone.pieces.coefficients[p, 3:11].reshape(2, 4)
    return m


@cache
def limit_symbols(seed, place):
    """A direction outside a cone, at the end of a moving body, and what the printed law makes of it."""
    rng = np.random.default_rng([seed, PLACES.index(place), 3])
    m, cone, motion = SimpleNamespace(), random_cone(rng, seed % 2 == 0), Motion(rng)
    body_i, body_j = motion.states()
    m.A_i, m.A_j, m.B = rotation_of(body_i[3:7]), rotation_of(body_j[3:7]), rotation_of(unit(rng.normal(size=4)))
    p, s = on_cone(cone, rng)
    t, dt = cone_symbols(m, cone, p, s)
    away = rng.uniform(0.05, 0.3)
    inside = np.cross(t, dt) / np.linalg.norm(dt)
    u = np.cos(away) * t - np.sin(away) * inside
    m.max_moment, m.compliance, m.j = 226.0, 0.2, 3.39
    _, _, slope = restrained(cone, u[None], "printed", compliance=m.compliance)

    def wrench(body_i, body_j, slope):
        x = np.r_[(m.A_i @ m.B).T.ravel(), m.A_i @ m.B @ u, m.j]
        return x, column(outputs(limit_cone.wrench, 12, body_i, body_j, x, slope)[9:])

    resting = [np.r_[body[:7], np.zeros(6)] for body in (body_i, body_j)]
    x, m.moment = wrench(body_i, body_j, slope[0])
    _, m.mr = wrench(*resting, slope[0])
    _, m.md = wrench(body_i, body_j, np.zeros(3))
    m.mr_2 = (m.A_i @ m.B).T @ m.mr
    m.u_2, m.u = column(outputs(limit_cone.direction, 3, body_i, body_j, x)), column(x[9:12])
    m.u_1 = m.A_j.T @ m.u
    m.xi, m.eta, m.zeta = (column(x[k : k + 3]) for k in (0, 3, 6))
    m.xi_1, m.eta_1, m.zeta_1 = (m.A_i.T @ axis for axis in (m.xi, m.eta, m.zeta))
    m.zeta_2 = column([0, 0, 1])
    relative = derivatives(lambda time: motion.A("i", time).T @ motion.A("j", time), 1)
    spin = relative[1] @ relative[0].T
    m.w, m.w_i, m.w_j = m.A_i @ column([spin[2, 1], spin[0, 2], spin[1, 0]]), column(body_i[10:]), column(body_j[10:])
    m.psi, m.sigma, _, _ = polar(u)
    m.psi_A, m.sigma_A, m.sigma_max_A = m.psi, m.sigma, cone.maximum_latitude(m.psi)
    m.psi_B, m.sigma_B, along_psi, _ = polar(t)
    m.delta = outputs(separation.separation, 4, u, t)[0]
    m.G, m.n = np.cos(m.delta), column(outputs(separation.separation, 4, t, u)[1:])
    m.kappa = np.hypot(*(m.sigma_A * np.array(f(m.psi_A)) - m.sigma_B * np.array(f(m.psi_B)) for f in (np.cos, np.sin)))
    m.t_G, m.t_psi, m.r_B = column(t), m.G * column(dt / (along_psi @ dt)), m.G * column(t)
    m.d_2, m.r_2, m.v_2 = np.sin(m.delta) * column(inside), m.G * m.u_2, m.G * m.zeta_2
    m.R_zeta, m.R_eta = turn([0, 0, 1], m.psi), turn([0, 1, 0], m.sigma)
    return m


@cache
def link_symbols(seed, place):
    """A hinge of the foot's massless link on an admissible motion, and the force that its limit puts on both bodies."""
    hinge = ("talocrural", "talocalcaneal")[PLACES.index(place)]
    it = situation(hinge, seed)
    v, slope, module = it.free @ random(it, 8), random(it, 3), it.limit.module
    frame = (foot.talocrural_frame() if hinge == "talocrural" else foot.talocalcaneal_frame()) @ rotation_of(
        it.states[0][3:7]
    ).T
    u = outputs(module.direction, 3, *it.states, it.x)
    u[np.abs(u) < 1e-14] = 0.0  # the side of a longitude of 0 is no matter of rounding
    Q = outputs(module.wrench, 12, *it.states, it.x, slope).reshape(4, 3)
    m = SimpleNamespace(**{key: column(getattr(it, key)) for key in ("s", "sP_i", "sP_j", "d_p")}, u_r=column(it.d))
    m.u_p_2, m.u_p, m.zeta = column(u), frame.T @ column(u), column(frame[2])
    m.psi, m.sigma, _, _ = polar(u)
    m.f_i, m.f_j, m.m_j = (column(Q[k]) for k in (0, 2, 3))
    m.link_mr = -outputs(module.measure, 3, *it.states, it.x, slope)[2] * sense(it) * m.s
    m.m_i, m.f = column(Q[1]) + m.link_mr, np.linalg.norm(m.f_i)
    m.lever = m.sP_i + (m.s.T @ m.u_r) * m.s  # the point of the hinge's axis next to the link's other end
    m.phi = 0.2 + 0.4 * seed
    m.a = turn(it.s, m.phi) @ m.d_p / np.linalg.norm(it.d_p)
    m.r_i_dot, m.w_i, m.r_j_dot, m.w_j = (column(part) for part in v.reshape(4, 3))
    moving = [np.r_[state[:7], part] for state, part in zip(it.states, v.reshape(2, 6), strict=True)]
    m.rate = outputs(module.measure, 3, *moving, it.x, np.zeros(3))[1] * sense(it)
    assert m.rate == pytest.approx(rates(it) @ v, rel=1e-11)
    return m


LIMIT_SYMBOLS = {"limit": limit_symbols, "ellipse": ellipse_symbols, "spline": spline_symbols, "link": link_symbols}


def symbols_for(equation, seed, place, **special):
    if equation.of_limits:
        return LIMIT_SYMBOLS[equation.about](seed, place)
    if equation.of_drivers:
        return driver_symbols(equation.about, seed, place)
    if equation.about == "axes":
        return axes_symbols(seed)
    if equation.about == "equations of motion":
        return system_symbols(seed, place, equation.seed != SEED_002)
    joint = equation.about.partition(".")[0] or "modified_universal"
    return joint_symbols(joint, seed, place, equation.right_angle, **special)


def sides(values):
    return [np.atleast_2d(v) for v in (values if isinstance(values, tuple) else (values,))]


def errors(equation, m, form):
    """How far each row of a form is from the kernels, or a side of an identity from the first side."""
    values = sides(form(m))
    if equation.quantity == "identity":
        truth, values = values[0], values[1:]
    else:
        truth = m.kernels[equation.quantity]
        row = equation.about.partition(".")[2]
        if row:
            module = module_of(equation.about.partition(".")[0])
            truth = truth[[module.ROWS.index(row)]]
    if any(value.shape != truth.shape for value in values):
        return np.full(len(truth), np.inf)
    return np.max([np.abs(value - truth).max(axis=1) for value in values], axis=0) / max(1.0, np.abs(truth).max())


# The papers against the kernels


@equations
@seeds
@places
def test_equation(equation, seed, place):
    """A printed equation holds, or its printed form fails in the rows that are named and its corrected form holds."""
    m = symbols_for(equation, seed, place)
    tolerance = SOLVED if equation.about == "equations of motion" else TOLERANCE
    printed = errors(equation, m, equation.literal)
    if equation.verdict != "misprint":
        assert printed.max() < tolerance
        assert equation.corrected is None
        assert equation.note or equation.verdict == "holds"
    else:
        wrong = list(equation.wrong_rows)
        assert (printed[wrong] > WELL_ABOVE_ROUNDING).all()
        assert np.delete(printed, wrong).max(initial=0.0) < tolerance
        assert errors(equation, m, equation.corrected).max() < tolerance
        assert equation.note


@seeds
@pytest.mark.parametrize(
    "name", ["spherical", "universal", "modified_universal", "constant_angle", "constant_distance"]
)
def test_on_and_off_the_manifold(name, seed):
    on, off = (joint_symbols(name, seed, place).kernels for place in ("on", "off"))
    assert max(np.abs(on["Phi"]).max(), np.abs(on["Phi_dot"]).max()) < 1e-12
    assert min(np.abs(off["Phi"]).max(), np.abs(off["Phi_dot"]).max()) > 1e-3


@wrong_terms
@seeds
def test_where_a_misprint_agrees(equation, seed):
    """The term of wrong sign vanishes where the entry says so, and is the whole error elsewhere."""
    m = symbols_for(equation, seed, "off", at_rest=equation.agrees_at_rest)
    assert errors(equation, m, equation.literal).max() < TOLERANCE
    for place in PLACES:
        m = symbols_for(equation, seed, place)
        term = np.zeros((4, 1))
        term[3] = 2 * m.s_j.T @ tilde(m.w_i) @ m.sP_i_dot
        assert np.abs(equation.corrected(m) - equation.literal(m) - term).max() < 1e-12 * max(1.0, abs(term[3, 0]))


def of_section_6(number):
    (equation,) = [e for e in EQUATIONS if (e.seed, e.number) == (SEED_002, number)]
    return equation


@with_misprints
@seeds
@pytest.mark.parametrize("place", [*PLACES, WITH_ANY_AXES])
def test_each_misprint_alone(equation, seed, place):
    """Each of several misprints is one by itself, and together they are all that differs from what is printed."""
    m = symbols_for(equation, seed, place)
    printed, all_left = equation.literal(m), equation.corrected(m, equation.misprints)
    assert printed.shape == all_left.shape
    assert np.abs(printed - all_left).max() < 1e-12 * max(1.0, np.abs(printed).max())
    for misprint in equation.misprints:
        error = errors(equation, m, lambda m, left=misprint: equation.corrected(m, (left,)))
        if misprint in equation.harmless and place != WITH_ANY_AXES:
            assert error.max() < TOLERANCE
        else:
            assert error.min() > WELL_ABOVE_ROUNDING
    assert errors(equation, m, equation.corrected).max() < TOLERANCE


@seeds
def test_a_guided_point_misses_the_second_rate_by_the_first(seed):
    """Seed 002, Eq. (9): the error is c*' - c*'', so the printed form holds for a point that is to rest."""
    equation = of_section_6(9)
    for place in PLACES:
        m = symbols_for(equation, seed, place)
        error = equation.literal(m) - m.kernels["gamma"]
        assert np.abs(error - (m.c_dot - m.c_ddot)).max() < 1e-12 * max(1.0, np.abs(m.kernels["gamma"]).max())


@seeds
def test_the_gamma_of_an_angle_at_rest(seed):
    """Seed 002, Eqs. (17) and (22): with both bodies at rest, (22) holds; (17) is off by cos(theta) (theta'' - theta'^2)."""
    link, angle = of_section_6(22), of_section_6(17)
    m = symbols_for(link, seed, AT_REST)
    assert errors(link, m, link.literal).max() < TOLERANCE
    m = symbols_for(angle, seed, AT_REST)
    error = angle.literal(m) - m.kernels["gamma"]  # in each of its three components
    assert error.shape == (1, 3)
    assert np.abs(error + np.cos(m.theta) * (m.theta_ddot - m.theta_dot**2)).max() < 1e-12


@seeds
def test_a_resting_body_i_leaves_only_the_length_of_the_projection(seed):
    """Seed 002, Eq. (22): the six slips of the bracket vanish with a_i', s_i' and s_i^P'; a_i is perpendicular to s_i."""
    equation = of_section_6(22)
    m = SimpleNamespace(**vars(symbols_for(equation, seed, "off")))
    d_dot = m.r_j_dot + m.sP_j_dot
    m.a_i_dot, m.s_i_dot, m.sP_i_dot, m.w_i, m.d_dot = *[np.zeros((3, 1))] * 4, d_dot
    m.d_p_dot = d_dot - m.s_i.T @ d_dot * m.s_i
    whole = equation.corrected(m)
    assert np.abs(equation.literal(m) - equation.corrected(m, ("||d_p||",))).max() < 1e-12 * max(
        1.0, np.abs(whole).max()
    )
    assert np.abs(equation.literal(m) - whole).max() > WELL_ABOVE_ROUNDING


@seeds
@pytest.mark.parametrize("place", [*PLACES, WITH_ANY_AXES])
def test_where_the_printed_jacobian_of_a_link_holds(seed, place):
    """Seed 002, Eq. (20): where d is perpendicular to s_i, and a_i to d_p; one of the two is not enough."""
    equation = of_section_6(20)

    def error(across, at_right_angles):
        m = SimpleNamespace(**vars(symbols_for(equation, seed, place)))
        if across:
            m.d = m.d_p
        if at_right_angles:
            m.a_i = m.a_i - m.d_p * (m.a_i.T @ m.d_p) / (m.d_p.T @ m.d_p)
        D = equation.corrected(m)
        return np.abs(equation.literal(m) - D).max() / max(1.0, np.abs(D).max())

    assert error(True, True) < 1e-14
    assert min(error(True, False), error(False, True)) > WELL_ABOVE_ROUNDING


@seeds
def test_the_length_of_the_projected_link_beside_the_joint(seed):
    """Seed 002, Eqs. (20) and (22): to take ||d_p|| for constant adds rows 1 and 3 of the joint, which changes no motion.

    So it is with D anywhere and with gamma where those rows hold as velocities; the other misprints are no sums of rows.
    """
    D, gamma = of_section_6(20), of_section_6(22)
    m = symbols_for(D, seed, "on")
    Phi, Phi_dot, D_joint, gamma_joint = m.joint
    assert max(np.abs(Phi).max(), np.abs(Phi_dot).max()) < 1e-12
    assert abs(m.d_p.T @ m.d_p_dot) < 1e-11  # the length is constant on the joint
    factor = (m.a_i.T @ m.d_p).item() / np.linalg.norm(m.d_p) ** 3
    along = (m.d.T @ m.s_i).item()

    def sum_of_rows(rows):
        return factor * (rows[0] / 2 - along * rows[2])

    def added(equation):
        true = m.kernels[equation.quantity]
        return (equation.corrected(m, ("||d_p||",)) - true).ravel(), max(1.0, np.abs(true).max())

    for equation, rows in ((D, D_joint), (gamma, gamma_joint)):
        value, size = added(equation)
        assert np.abs(value - sum_of_rows(rows)).max() < 1e-11 * size
        assert np.abs(value).max() > WELL_ABOVE_ROUNDING

    basis = np.vstack([D_joint, m.kernels["D"]])

    def outside(row):
        return np.abs(row - row @ np.linalg.pinv(basis) @ basis).max()

    assert outside(D.corrected(m, ("||d_p||",))) < 1e-11
    assert outside(D.literal(m)) > 1e-3
    lam = np.random.default_rng(seed).normal(size=5)
    other = np.linalg.pinv(np.vstack([D_joint, D.corrected(m, ("||d_p||",))])).T @ basis.T @ lam  # of the same forces
    assert np.abs((other - lam)[[1, 3, 4]]).max() < 1e-9  # the last: the driver's
    assert np.abs((other - lam)[[0, 2]]).min() > WELL_ABOVE_ROUNDING
    u, w = np.random.default_rng(seed).normal(size=(2, 3))
    twist = np.concatenate([part for r in m.r_and_w for part in (u + np.cross(w, r), w)])
    assert abs(m.kernels["D"] @ twist) < 1e-11 and abs(D.corrected(m, ("||d_p||",)) @ twist) < 1e-11
    assert abs(D.literal(m) @ twist) > 1e-3

    m = symbols_for(gamma, seed, "off")  # the length changes
    assert abs(m.d_p.T @ m.d_p_dot) > 1e-3


def test_printed_talocalcaneal_limits_are_the_reverse_of_their_text():
    """Seed 001, section 4: the text has inversion up to 35 and eversion up to 25 degrees; the vector has 25 at longitude 90.

    Inverted, with its medial border (+y) raised, the main foot sees the link at a longitude of 90 degrees.
    """
    text = seed_text(SEED_001)
    assert "talocalcaneal maximum inversion and eversion are defined as 35° and 25°, respectively" in " ".join(
        text.split()
    )
    assert r"\{ 1^\circ \quad 25^\circ \quad 1^\circ \quad 35^\circ \quad 1^\circ \}" in text
    inversion = turn(foot.talocalcaneal_axis(), 0.2)
    assert (inversion @ [0.0, 1.0, 0.0])[2] > 0.1
    link = foot.talocalcaneal_frame() @ inversion.T @ [0.0, 0.0, 1.0]  # seen from the foot; the leg stands still
    assert (
        link[1] > 0.1 and abs((foot.talocalcaneal_frame() @ [0.0, 0.0, 1.0])[1]) < 1e-15
    )  # along +eta, across the axis
    systems = (models.foot.build(limits="elastic", preset=preset) for preset in ("published", "anatomical"))
    published, ours = (system.limit("talocalcaneal").cone for system in systems)
    assert np.rad2deg(published.maximum_latitude([np.pi / 2, 3 * np.pi / 2])) == pytest.approx([25.0, 35.0])
    assert np.rad2deg(ours.maximum_latitude([np.pi / 2, 3 * np.pi / 2])) == pytest.approx([35.0, 25.0])


def test_printed_frames_of_the_limits():
    """Seed 001, section 4, not numbered: right-handed, the axes of the hinges along eta (reversed) and xi."""
    m = axes_symbols(0)
    rho, theta, epsilon, tau = m.rho, m.theta_re, m.epsilon, m.tau_re
    crural = [
        [np.cos(epsilon), -np.sin(epsilon), 0.0],
        [-np.sin(epsilon) * np.cos(tau), -np.cos(epsilon) * np.cos(tau), -np.sin(tau)],
        [np.sin(epsilon) * np.sin(tau), np.cos(epsilon) * np.sin(tau), -np.cos(tau)],
    ]
    calcaneal = [
        [np.cos(rho) * np.cos(theta), np.sin(rho) * np.cos(theta), np.sin(theta)],
        [-np.sin(rho), np.cos(rho), 0.0],
        [-np.cos(rho) * np.sin(theta), -np.sin(rho) * np.sin(theta), np.cos(theta)],
    ]
    for printed, ours in ((crural, foot.talocrural_frame()), (calcaneal, foot.talocalcaneal_frame())):
        assert np.abs(ours - printed).max() < 1e-15
        assert np.abs(np.cross(ours[0], ours[1]) - ours[2]).max() < 1e-15


def test_planar_distance_is_the_angle_at_one_longitude_only():
    """Seed 003, Eq. (33): on a regular cone the root is delta, and the norm of Eq. (30) its sine."""
    (printed,) = [e for e in EQUATIONS if (e.seed, e.number) == (SEED_003, 33)]
    for seed in SEEDS:
        m = SimpleNamespace(**vars(limit_symbols(seed, "off")))
        m.psi_B, m.sigma_B, m.sigma_A = m.psi_A, 0.5, 0.5 + m.delta
        delta, norm, root = printed.literal(m)
        assert root == pytest.approx(delta, rel=1e-13) and norm == pytest.approx(np.sin(delta), rel=1e-13)


def test_the_foot_has_the_printed_axes():
    m = axes_symbols(0)
    assert np.abs(column(foot.talocalcaneal_axis()) - m.s_i).max() < 1e-15
    assert np.abs(column(foot.talocrural_axis()) - m.s_j).max() < 1e-15


def test_the_perpendicular_joint_is_no_skew_one():
    """Eq. (3) is meant for axes at a right angle: for others it misses the constant of Eq. (9)."""
    (normal,) = [e for e in EQUATIONS if (e.seed, e.number) == (SEED_000, 3)]
    m = joint_symbols("constant_angle", 0, "off")
    assert errors(normal, m, normal.literal).max() > WELL_ABOVE_ROUNDING


def test_a_wrong_verdict_is_seen():
    """Any one entry of D, or any term of gamma, with another sign fails."""
    (D,) = [e for e in EQUATIONS if (e.seed, e.number) == (SEED_000, 29)]
    m = symbols_for(D, 0, "off")
    for r, c in itertools.product(range(4), range(4)):
        block = (slice(r, r + 1), slice(3 * c, 3 * c + 3))
        value = D.literal(m)
        value[block] *= -1
        if value[block].any():
            assert errors(D, m, lambda _, value=value: value)[r] > WELL_ABOVE_ROUNDING


# The registry against itself: the function is what the text says

TOKEN = re.compile(
    r"\\(?P<prefix>tilde|dot|ddot|cos|sin|tan)(?![a-z])"
    r"|(?P<symbol>\\[a-z]+|\\?Phi|[A-Za-z]'?)(?P<index>_re|_talo[a-z]+|_[a-z0-9],0|_[a-z0-9])?(?P<P>\^[Pp](?![a-z]))?(?P<late>_[ij])?(?P<T>\^T)?"
    r"(?P<square>\^2)?"
    r"|(?P<number>\d)|(?P<operator>[-+()])|(?P<space>\s+)"
)
ATTRIBUTE = {
    r"\omega": "w", r"\Phi": "Phi", r"\gamma": "gamma", r"\lambda": "lam", r"\rho": "rho", r"\theta": "theta",
    r"\tau": "tau", r"\varepsilon": "epsilon", r"\alpha": "alpha", r"\beta": "beta",
}  # fmt: skip


class Reader:
    """Evaluates the text of an entry of the registry."""

    def __init__(self, text, m):
        self.m = m
        self.tokens = []
        place = 0
        while place < len(text):
            match = TOKEN.match(text, place)
            assert match, f"cannot read {text[place:]!r}"
            if not match["space"]:
                self.tokens.append(match)
            place = match.end()

    def value(self):
        result = self.sum()
        assert not self.tokens
        return result

    def peek(self, group):
        return self.tokens[0][group] if self.tokens else None

    def sum(self):
        total = None
        while self.tokens and self.peek("operator") != ")":
            sign = 1.0
            if self.peek("operator") in ("+", "-"):
                sign = 1.0 if self.tokens.pop(0)["operator"] == "+" else -1.0
            term = sign * self.product()
            total = term if total is None else total + term
        return total

    def product(self):
        result = self.factor()
        while self.tokens and self.peek("operator") not in ("+", "-", ")"):
            other = self.factor()
            result = result @ other if np.ndim(result) and np.ndim(other) else result * other
        return result

    def factor(self):
        token = self.tokens.pop(0)
        if token["number"]:
            return float(token["number"])
        if token["operator"] == "(":
            inner = self.sum()
            assert self.tokens.pop(0)["operator"] == ")"
            return inner
        if token["prefix"] in ("cos", "sin", "tan"):
            return getattr(np, token["prefix"])(self.factor())
        if token["prefix"] == "tilde":
            return tilde(self.factor())
        order = token["prefix"] or ""
        if order:
            token = self.tokens.pop(0)
        name = ATTRIBUTE.get(token["symbol"], token["symbol"])
        local = name.endswith("'")
        name = name.rstrip("'") + ("P" if token["P"] else "")
        index = (token["index"] or "") + (token["late"] or "")
        name += index.replace(",", "_") + ("_local" if local else "") + (f"_{order}" if order else "")
        value = getattr(self.m, name)
        value = value.T if token["T"] else value
        return value**2 if token["square"] else value


def arranged(cells, equation, m):
    """An array from its entries: a matrix, times what follows it, or a stack of rows."""
    rows, columns = equation.matrix
    if not rows or len(cells) < rows * columns:
        return np.vstack([np.atleast_2d(Reader(cell, m).value()) for cell in cells])
    matrix = [
        [cells[r + c * rows if equation.by_columns else c + r * columns] for c in range(columns)] for r in range(rows)
    ]
    m = SimpleNamespace(**vars(m) | {"I": np.eye(3)})
    values = [[None if cell == "0" else Reader(cell, m).value() for cell in line] for line in matrix]
    heights = [next(v.shape[0] for v in line if v is not None) for line in values]
    widths = [next(line[c].shape[1] for line in values if line[c] is not None) for c in range(columns)]
    for r, c in itertools.product(range(rows), range(columns)):
        if values[r][c] is None:
            values[r][c] = np.zeros((heights[r], widths[c]))
    result = np.block(values)
    rest = cells[rows * columns :]
    return result @ np.vstack([Reader(cell, m).value() for cell in rest]) if rest else result


# Texts of limits: braces kept, and more of LaTeX

NAMES = {
    r"m_h^r": "moment", r"m_h^d": "md", r"m_h^{mr}": "mr", r"m_h''mr": "mr_2", r"m_{p,h}": "max_moment",
    r"\Delta\sigma_h": "compliance", r"\kappa": "kappa", r"j_h": "j", r"\omega_h": "w", r"\omega_i": "w_i", r"\omega_j": "w_j",
    r"u'_{\zeta,h}": "zeta_1", r"u'_{\xi,h}": "xi_1", r"u'_{\eta,h}": "eta_1", r"u_{\zeta,h}": "zeta", r"u_{\xi,h}": "xi",
    r"u_{\eta,h}": "eta", r"u''_{r,h}": "u_2", r"u_{r,h}''": "u_2", r"u''_{\zeta,h}": "zeta_2", r"u_{\zeta,h}''": "zeta_2",
    r"u": "u", r"u'": "u_1", r"u''": "u_2", r"A_k": "A_j", r"A_i": "A_i", r"B_h": "B", r"n''": "n", r"n": "n", r"d''": "d_2",
    r"u_{r,h}": "u_r", r"u_{r,h,p}": "u_p", r"s_i": "s", r"s_i^p": "sP_i", r"s_j^p": "sP_j", r"a_i": "a", r"I": "I",
    r"\dotr_i": "r_i_dot", r"\dotr_j": "r_j_dot", r"l_{h,i}": "lever", r"m_{h,i}": "m_i", r"m_{h,j}": "m_j", r"f_{h,j}": "f_j",
    r"f_{h,i}": "f_i", r"m_{h,massless}^{mr}": "link_mr", r"m_{h,massless}^{nr}": "link_mr", r"\varphi": "phi",
    r"\psi_h": "psi", r"\sigma_h": "sigma", r"\sigma_{h,\max}": "sigma_max", r"\sigma_{h,\max}(\psi_h)": "sigma_max",
    r"\psi_{h,A}": "psi_A", r"\psi_{h,B}": "psi_B", r"\sigma_{h,A}": "sigma_A", r"\sigma_{h,\max,A}": "sigma_max_A",
    r"\sigma_{h,\max,B}": "sigma_B", r"\sigma_{h,\max,B}(\psi_{h,B})": "sigma_B",
    r"\frac{d\sigma_{h,\max,B}}{d\psi_{h,B}}": "dsigma", r"\frac{\partial\sigma_{h,\max,B}}{\partial\psi_{h,B}}": "dsigma",
    r"\frac{\partial\sigma_{h,\max,B}}{\partiall}": "sigma_l", r"\frac{\partial\psi_{h,B}}{\partiall}": "psi_l",
    r"\frac{\partiall}{\partial\psi_{h,B}}": "l_psi", r"r_C": "rC", r"\pm": "pm", r"l": "l", r"G": "G",
    r"r''": "r_2", r"v_r''": "v_2", r"R_{h,\zeta}": "R_zeta", r"R_{h,\eta}": "R_eta",
    r"r_B''": "r_B", r"t_G''": "t_G", r"t_\psi''": "t_psi",
    **{name: name for name in "xyab"},
}  # fmt: skip
# The same of section 6 of seed 002.
NAMES_OF_DRIVERS = {
    f"{dots}{symbol}": attribute + suffix
    for symbol, attribute in {
        "r_i^G": "rP_i", "r_i": "r_i", "s_i^G": "sP_i", "s_i^P": "sP_i", "s_j^P": "sP_j", "s_i": "s_i", "a_i": "a_i",
        "b_j": "b_j", "d_p": "d_p", "d": "d", "c^*(t)": "c", "e_k^*(t)": "e_k", r"\theta(t)": "theta", r"\beta(t)": "beta",
        "G_{(1:3,k+1)}": "G_k",
    }.items()
    for dots, suffix in (("", ""), (r"\dot", "_dot"), (r"\ddot", "_ddot"))
} | {r"\omega_i": "w_i", r"\omega_j": "w_j", "e_k": "e", "I": "I"} | {
    rf"\frac{{\partial\Phi^{{({name})}}}}{{\partialt}}": "dPhi_dt" for name in ("G,3", "e_k,1", "s_is_m,1", r"\beta,1")
}  # fmt: skip
FUNCTIONS = {"\\cos": np.cos, "\\sin": np.sin, "\\tan": np.tan, "\\arccos": np.arccos}


class Formula:
    """Evaluates a text of a limit: a sum of products of what stands side by side."""

    def __init__(self, text, m, names=NAMES):
        self.rest, self.m, self.names, self.in_norm = re.sub(r"\s", "", text), m, names, False

    def value(self):
        result = self.sum()
        assert not self.rest, f"cannot read {self.rest!r}"
        return result

    def take(self, pattern):
        match = re.match(pattern, self.rest)
        if match:
            self.rest = self.rest[match.end() :]
        return match

    def ends(self, also=""):
        return not self.rest or self.rest[0] in ")}" + also or (self.in_norm and self.rest.startswith(r"\|"))

    def sum(self):
        total = None
        while not self.ends():
            sign = -1.0 if self.take("-") else 1.0
            self.take(r"\+")
            term = sign * self.product()
            total = term if total is None else total + term
        return total

    def product(self):
        result = self.factor()
        while not self.ends("+-"):
            other = self.factor()
            if np.shape(result) == (1, 1):
                result = result.item()
            result = result @ other if np.ndim(result) and np.ndim(other) else result * other
        return result

    def factor(self):
        value = self.base()
        if self.take(r"\^T|T(?=[a-z])"):
            value = value.T
        power = self.take(r"\^\{(\d)/(\d)\}|\^(\d)")
        return value ** (float(power[3] or power[1]) / float(power[2] or 1)) if power else value

    def group(self, opening, closing):
        assert self.take(opening), f"{opening} expected before {self.rest!r}"
        value = self.sum()
        assert self.take(closing)
        return value

    def base(self):
        coefficient = self.take(r"c_\{([xy]),(\d)\}\^k")
        if coefficient:
            return getattr(self.m, f"c_{coefficient[1]}")[int(coefficient[2])]
        for text in sorted(self.names, key=len, reverse=True):
            if self.rest.startswith(text):
                self.rest = self.rest[len(text) :]
                return getattr(self.m, self.names[text])
        if self.take(r"\\tilde"):
            return tilde(self.base())
        if self.take(r"\\arctan\(\\frac"):
            y, x = self.group("{", "}"), self.group("{", "}")
            assert self.take(r"\)")
            return np.arctan2(y, x) % (2 * np.pi)
        if self.take(r"\\frac"):
            return self.group("{", "}") / self.group("{", "}")
        if self.take(r"\\sqrt"):
            return np.sqrt(self.group("{", "}"))
        if self.rest.startswith(r"\|"):
            self.take(r"\\\|")
            self.in_norm = True
            value = self.sum()
            self.in_norm = not self.take(r"\\\|")
            return np.linalg.norm(value)
        function = self.take(r"(\\(?:cos|sin|tan|arccos))(\^2)?")
        if function:
            argument = self.group(r"\(", r"\)") if self.rest.startswith("(") else self.base()
            return FUNCTIONS[function[1]](argument) ** (2 if function[2] else 1)
        number = self.take(r"\d")
        return float(number[0]) if number else self.group(r"\(", r"\)")


def cases_value(cells, m):
    """The right side of a moment in three cases."""
    branches, value = [], []
    for cell in cells:
        if cell.startswith("if") or (branches and branches[-1][1] == ""):
            if cell.startswith("if"):
                branches.append([value, cell.removeprefix("if").strip()])
                value = []
            else:
                branches[-1][1] = cell
        else:
            value.append(cell)
    for value, condition in branches:
        holds = True
        for part in re.split(r"\\?\s*and\\?", condition):
            left, sign, right = re.split(r"(\\leq?|<|>)", part)
            a, b = Formula(left, m).value(), Formula(right, m).value()
            holds &= bool(a > b if sign == ">" else a < b if sign == "<" else a <= b)
        if holds:
            if value == ["0"]:
                return np.zeros((3, 1))
            return Formula(" ".join(f"({v})" if "- 2" in v else v for v in value), m).value()
    raise AssertionError("no case holds")


def limit_text_value(equation, m):
    m, names = SimpleNamespace(**vars(m), I=np.eye(3)), dict(NAMES)
    if equation.about == "limit":  # the moments in cases speak of the point A, and of u_r in the joint's frame
        m.sigma_max, m.u_r, m.u_p = m.sigma_max_A, m.u_2, m.u_2
        if any("if" in cell for cell in equation.text):
            return [m.mr_2, cases_value(list(equation.text[1:]), m)]
    if equation.about == "link":
        m.w = m.rate
    if equation.number == 33 and equation.seed == SEED_003:
        m.kappa = m.delta
    if equation.about in ("limit", "link"):
        u = m.u_2 if equation.about == "limit" else m.u_p_2
        for k, axis in enumerate((r"\xi", r"\eta")):
            setattr(m, f"component_{k}", u[k, 0])
            for name in (f"u''_{{r,h,{axis}}}", f"u_{{\\rmr,h,{axis}}}''", f"u_{{r,h,p,{axis}}}"):
                names[name] = f"component_{k}"
    cells = [cell for cell in equation.text if cell != "^T"]
    if equation.number in (13, 14) and equation.seed == SEED_001:  # one letter for the force and its size
        names[r"f_{h,i}"] = "f"
        return [m.f_i if equation.number == 13 else m.f, Formula(cells[0].partition("=")[2], m, names).value()]
    if len(cells) == 1 or cells[1].startswith("+"):
        sides_of = "".join(cells).split("=")
        if hasattr(m, sides_of[0].strip()):
            m.pm = np.sign(getattr(m, sides_of[0].strip()))
        return [Formula(side, m, names).value() for side in sides_of]
    groups = [[]]
    for cell in cells:
        if cell.endswith("="):
            groups[-1] += [cell[:-1]] if cell != "=" else []
            groups.append([])
        else:
            groups[-1].append(cell)
    values = []
    for group in groups:
        entries = [Formula(cell, m, names).value() for cell in group]
        if len(entries) == 21:  # two rotations and a column
            first, second = (np.array(entries[9 * k : 9 * k + 9]).reshape(3, 3) for k in range(2))
            values.append(first @ second @ column(entries[18:]))
        else:
            values.append(column(entries) if len(entries) > 1 else entries[0])
    return values


def driver_text_value(equation, m):
    m = SimpleNamespace(**vars(m), I=np.eye(3))
    name, _, first = equation.text[0].partition("=")
    cells = [cell.strip("[]") for cell in (first.strip(), *equation.text[1:]) if cell]
    if equation.quantity == "D":
        rows = len(m.kernels["D"])
        return [
            np.hstack([np.zeros((rows, 3)) if c == "0" else Formula(c, m, NAMES_OF_DRIVERS).value() for c in cells])
        ]
    texts = ([name] if equation.quantity == "identity" else []) + "".join(cells).removesuffix("= 0").split("=")
    return [Formula(text, m, NAMES_OF_DRIVERS).value() for text in texts]


def text_value(equation, m):
    """All sides that the text states."""
    if equation.of_limits:
        return limit_text_value(equation, m)
    if equation.of_drivers:
        return driver_text_value(equation, m)
    cells = list(equation.text)
    if re.search(r"\\equiv$|\^\(.*=$", cells[0]):  # the name of what is defined
        cells = cells[1:]
    cells = [re.sub(r"^.*\\equiv\s*|\s*= 0$", "", cell) for cell in cells if cell not in ("= 0", "^T")]
    if len(cells) == 1:
        chain, of_both, _ = cells[0].partition(" (k=i,j)")
        bodies = "ij" if of_both else "k"
        return [
            np.vstack([np.atleast_2d(Reader(side.replace("_k", f"_{body}"), m).value()) for body in bodies])
            for side in chain.split("=")
        ]
    groups = [[]]
    for cell in cells:
        if cell.endswith("="):
            groups[-1] += [cell[:-1]] if cell != "=" else []
            groups.append([])
        else:
            groups[-1].append(cell)
    return [arranged(group, equation, m) for group in groups]


@equations
def test_function_is_what_the_text_says(equation):
    if equation.prose or not equation.read:
        return
    m = symbols_for(equation, 1, "off")
    if equation.about == "axes":
        m.s_talocalcaneal, m.s_talocrural = m.s_i, m.s_j
    literal, text = sides(equation.literal(m)), sides(tuple(text_value(equation, m)))
    assert len(literal) == len(text)
    for a, b in zip(literal, text, strict=True):
        assert a.shape == b.shape
        assert np.abs(a - b).max() < 1e-13 * max(1.0, np.abs(b).max())


# The registry against the papers

DISPLAYED = re.compile(
    r"\$\$((?:(?!\$\$).)*?)(?:\\quad\s*\((\d+)\)\s*\$\$|\\tag\{(\d+)\}\s*\$\$|\$\$\s*\((\d+)\))", re.S
)
# From the first to the last heading named; the second is not part of the section.
SECTIONS = {
    SEED_000: ("\n2 Multibody systems methodology", "\n5 Application example"),
    SEED_001: ("\n### 1. Introduction", "\n## 5. Results and discussion"),
    SEED_002: ("\n## 2 MULTIBODY", "\n## 7 RESULTS"),
    SEED_003: ("\n2 Multibody systems formulation", "\n4 Demonstrative example"),
}
LAYOUT = (
    r"\\begin\{(?:array|aligned|cases|[bB]matrix)\}(?:\{(?:\*\{20\}|c|l|@\{\\quad\})+\})?", r"\\end\{\w+\}",
    r"\\(?:left|right)\s*(?:\\[{}]|[\[\].])", r"\\[{}]", r"\\quad", r"\\\\",
)  # fmt: skip
FONTS = r"\\(?:mathbf|boldsymbol|varvec|mathrm|text|textstyle|displaystyle|hfill|left|right)(?![a-zA-Z])"
SPELLINGS = {r"\upomega": r"\omega", r"\upgamma": r"\gamma", r"\uplambda": r"\lambda", r"\varPhi": r"\Phi"}
PRIMES = ((r"^^\prime\prime", "''"), (r"^\prime\prime", "''"), (r"^\prime", "'"))


def plain(latex):
    """LaTeX without fonts, layout and space: one string per entry."""
    text = re.sub("|".join(LAYOUT), "&", latex)
    text = re.sub(FONTS, "", text)
    for theirs, ours in SPELLINGS.items():
        text = text.replace(theirs, ours)
    cells = (re.sub(r"[{}\s]", "", cell).rstrip(".,") for cell in text.split("&"))
    for theirs, ours in PRIMES:
        cells = [cell.replace(theirs, ours) for cell in cells]
    return [cell for cell in cells if cell]


@cache
def seed_text(name):
    file = SEED_FOLDER / name
    if not file.is_file():
        pytest.skip(f"the transcribed papers are not here: no {name} in ../shared/seeds beside the repository")
    return file.read_text(encoding="utf-8")


def printed_in(name):
    """Number -> entries, of the numbered equations in the sections that the registry covers."""
    text = seed_text(name)
    start, stop = (text.index(heading) for heading in SECTIONS[name])
    found = DISPLAYED.findall(text[start:stop])
    return {int(next(filter(None, numbers))): plain(body) for body, *numbers in found}


def test_every_number_is_in_the_registry():
    for seed, numbers in NUMBERS.items():
        assert sorted({e.number for e in EQUATIONS if e.seed == seed}) == list(numbers)
    assert len({e.id for e in EQUATIONS}) == len(EQUATIONS)
    assert {(e.seed, e.number) for e in EQUATIONS if e.verdict == "misprint"} == {
        (SEED_000, 32), (SEED_002, 5), (SEED_002, 9), (SEED_002, 17), (SEED_002, 20), (SEED_002, 22),
        (SEED_001, 14), (SEED_001, 16), (SEED_001, 20), (SEED_003, 27), (SEED_003, 33),
    }  # fmt: skip
    assert {(e.seed, e.number) for e in EQUATIONS if e.verdict == "slip"} == {(SEED_002, n) for n in (8, 12, 16, 21)}


@pytest.mark.parametrize("name", list(NUMBERS))
def test_the_papers_print_no_other_number(name):
    assert sorted(printed_in(name)) == list(NUMBERS[name])


@equations
def test_text_stands_in_the_paper(equation):
    if equation.prose:
        assert equation.text[0] in seed_text(equation.seed)
        return
    printed = printed_in(equation.seed)[equation.number]
    assert [
        re.sub(r"[{}\s]" if equation.of_limits or equation.of_drivers else r"\s", "", cell) for cell in equation.text
    ] == printed
