"""What the symbols of joint limits stand for, at random directions."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from generated import dispatch, limit_cone, position, separation
from models import foot
from runtime import Cone
from runtime.dynamics.cone_curve import KINDS
from tests.papers.link_transfer import our_rate, random, rates, sense, situation
from tests.papers.places import PLACES
from tests.papers.symbols import column
from tests.support.limit_kernels import call as outputs
from tests.support.limits import at, restrained
from tests.support.motions import Motion, derivatives, rotation_matrix, unit
from tests.support.vectors import about

# Joint limits: what the kernels and the runtime say, and the papers' symbols for it


def random_cone(rng, elliptical):
    sigma = rng.uniform(0.6, 1.0, 5)
    if elliptical:
        return Cone(np.arange(5) * np.pi / 2, [*sigma[:4], sigma[0]])
    return Cone.from_degrees([0, 70, 150, 210, 290, 360], np.rad2deg([*sigma, sigma[0]]))


def on_cone(cone, rng):
    """A point of a cone: piece and parameter."""
    p = rng.integers(len(cone.pieces.kind))
    return p, cone.pieces.span[p] @ (0.5 + np.array([-0.4, 0.4]) * rng.uniform(-1, 1))


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
    m.A_i, m.A_j, m.B = (
        rotation_matrix(body_i[3:7]),
        rotation_matrix(body_j[3:7]),
        rotation_matrix(unit(rng.normal(size=4))),
    )
    p, s = on_cone(cone, rng)
    t, dt = cone_symbols(m, cone, p, s)
    away = rng.uniform(0.05, 0.3)
    inside = np.cross(t, dt) / np.linalg.norm(dt)
    u = np.cos(away) * t - np.sin(away) * inside
    m.max_moment, m.compliance, m.j = 226.0, 0.2, 3.39
    _, _, slope = restrained(cone, u[None], "as_published", compliance=m.compliance)

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
    m.R_zeta, m.R_eta = about([0, 0, 1], m.psi), about([0, 1, 0], m.sigma)
    return m


@cache
def link_symbols(seed, place):
    """A hinge of the foot's massless link on an admissible motion, and the force that its limit puts on both bodies."""
    hinge = ("talocrural", "talocalcaneal")[PLACES.index(place)]
    it = situation(hinge, seed)
    v, slope, module = it.free @ random(it, 8), random(it, 3), it.limit.module
    frame = (foot.talocrural_frame() if hinge == "talocrural" else foot.talocalcaneal_frame()) @ rotation_matrix(
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
    m.a = about(it.s, m.phi) @ m.d_p / np.linalg.norm(it.d_p)
    m.r_i_dot, m.w_i, m.r_j_dot, m.w_j = (column(part) for part in v.reshape(4, 3))
    m.rate = our_rate(it, v)
    assert m.rate == pytest.approx(rates(it) @ v, rel=1e-11)
    return m


LIMIT_SYMBOLS = {"limit": limit_symbols, "ellipse": ellipse_symbols, "spline": spline_symbols, "link": link_symbols}
