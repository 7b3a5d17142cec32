"""Limits, contacts and forces for the second method: scalar coordinates with their gradients, and laws of force along them.

A coordinate is a function of the pose; its gradient g (bodies + 1, 6) gives its rate, the sum of g times (v, w), and the wrench
of a force Q along it, Q g.  The gradients are checked by finite differences in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from benchmarks.random.mechanism import Contact, Floats, Force, Limit
from benchmarks.random.rows import cross_of, turn_of

SAMPLES = 181  # directions of a cone from which the search for the nearest one begins


@dataclass
class Poses:
    """Positions, rotation matrices and velocities of all bodies, the ground first."""

    r: Floats
    A: Floats
    v: Floats
    w: Floats
    index: dict[str, int]
    rates: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.rates = np.concatenate([self.v, self.w], axis=1)

    def rate(self, g: Floats) -> float:
        """Rate of a coordinate."""
        return float(np.vdot(g, self.rates))

    def point(self, body: str, s: Floats) -> tuple[int, Floats, Floats]:
        """Number of the body, the vector from its centre of mass in global axes, and the point."""
        k = self.index[body]
        arm = self.A[k] @ s
        return k, arm, self.r[k] + arm

    def zeros(self) -> Floats:
        """The gradient of a constant."""
        return np.zeros((len(self.r), 6))


Coordinate = tuple[float, Floats]


@njit(cache=True)
def _push(g, k, arm, f):  # type: ignore[no-untyped-def]
    """Add a force f at a point of body k."""
    g[k, :3] += f
    g[k, 3:] += cross_of(arm, f)


@njit(cache=True)
def _distance(r, A, k, s_k, n, s_n, g):  # type: ignore[no-untyped-def]
    """Distance of two points; its gradient into g."""
    arm_k, arm_n = turn_of(A[k], s_k), turn_of(A[n], s_n)
    d = r[n] + arm_n - r[k] - arm_k
    length = np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2)
    _push(g, n, arm_n, d / length)
    _push(g, k, arm_k, -d / length)
    return length


@njit(cache=True)
def _along(r, A, k, s_k, a_k, n, s_n, g):  # type: ignore[no-untyped-def]
    """Separation of two points along a direction of body k; its gradient into g."""
    arm_k, arm_n, a = turn_of(A[k], s_k), turn_of(A[n], s_n), turn_of(A[k], a_k)
    d = r[n] + arm_n - r[k] - arm_k
    _push(g, n, arm_n, a)
    _push(g, k, arm_k, -a)
    g[k, 3:] += cross_of(a, d)
    return d[0] * a[0] + d[1] * a[1] + d[2] * a[2]


def distance(x: Poses, i: str, s_i: Floats, j: str, s_j: Floats) -> Coordinate:
    """Distance of two points."""
    g = x.zeros()
    return _distance(x.r, x.A, x.index[i], s_i, x.index[j], s_j, g), g


def along(x: Poses, i: str, s_i: Floats, a_i: Floats, j: str, s_j: Floats) -> Coordinate:
    """Separation of the points P_i and P_j along a direction of body i."""
    g = x.zeros()
    return _along(x.r, x.A, x.index[i], s_i, a_i, x.index[j], s_j, g), g


def _turned(x: Poses, i: str, j: str, axis: Floats) -> Floats:
    """Gradient of an angle of body j relative to body i whose derivative by the relative turn is ``axis``, global."""
    g = x.zeros()
    g[x.index[j], 3:] += axis
    g[x.index[i], 3:] -= axis
    return g


def hinge_angle(x: Poses, i: str, a_i: Floats, e_i: Floats, z_i: Floats, j: str, u_j: Floats) -> Coordinate:
    """Angle from z towards e of a direction u of body j, about the axis of a hinge, which both bodies hold."""
    A, u = x.A[x.index[i]], x.A[x.index[j]] @ u_j
    e, z = A @ e_i, A @ z_i
    return float(np.arctan2(u @ e, u @ z)), _turned(x, i, j, cross_of(z, e))


def cross_angle(x: Poses, limit: Limit) -> Coordinate:
    """Angle of the cross of a universal joint about its axis on the reference body, from the reference pose."""
    A = x.A[x.index[limit.reference]]
    a, b = A @ limit.axes[0], x.A[x.index[limit.moving]] @ limit.axes[1]
    e, z, n = A @ limit.eta, A @ limit.zeta, cross_of(a, b)
    c = a @ b
    angle = float(np.arctan2(n @ e, n @ z)) - limit.held
    # The relative velocity is in the plane of a and b; b has no part in the angle; z turns to e about z x e, which is a or -a.
    sense = float(np.sign(cross_of(z, e) @ a))
    return float((angle + np.pi) % (2 * np.pi) - np.pi), sense * _turned(
        x, limit.reference, limit.moving, (a - c * b) / (1 - c * c)
    )


def link_angle(x: Poses, limit: Limit) -> Coordinate:
    """Angle of the line between two points about an axis of the reference body."""
    Y, of_y = along(x, limit.reference, limit.points[0], limit.eta, limit.moving, limit.points[1])
    X, of_x = along(x, limit.reference, limit.points[0], limit.zeta, limit.moving, limit.points[1])
    return float(np.arctan2(Y, X)), (X * of_y - Y * of_x) / (X * X + Y * Y)


def cardan_angles(x: Poses, i: str, frame: Floats, j: str, carried: Floats) -> list[Coordinate]:
    """Cardan angles of axes carried by body j relative to the axes ``frame`` of body i (columns)."""
    F, C = x.A[x.index[i]] @ frame, x.A[x.index[j]] @ carried
    R = F.T @ C
    angles = np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])
    e1, e3 = F[:, 0], C[:, 2]
    e2 = np.cos(angles[0]) * F[:, 1] + np.sin(angles[0]) * F[:, 2]
    axes = np.linalg.inv(np.stack([e1, e2, e3], axis=1))  # rows: the derivative of each angle by the relative turn
    return [(float(angle), _turned(x, i, j, axis)) for angle, axis in zip(angles, axes, strict=True)]


@dataclass
class Cone:
    """An elliptical cone: quarters of ellipses with latitude and longitude as polar coordinates; (4,) latitudes from xi on."""

    latitudes: Floats
    samples: Floats = field(init=False)
    s: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.s = np.linspace(0.0, 2 * np.pi, SAMPLES)
        self.samples = np.array([self.at(s)[0] for s in self.s])

    def axes(self, x: float, y: float) -> tuple[float, float]:
        """Semi-axes of the quarter that holds a direction of the plane."""
        return float(self.latitudes[0 if x >= 0 else 2]), float(self.latitudes[1 if y >= 0 else 3])

    def at(self, s: float) -> tuple[Floats, Floats]:
        """A direction of the cone and its derivative."""
        a, b = self.axes(np.cos(s), np.sin(s))
        x, y, dx, dy = a * np.cos(s), b * np.sin(s), -a * np.sin(s), b * np.cos(s)
        q = np.hypot(x, y)
        dq, h = (x * dx + y * dy) / q, np.sin(q) / q
        dh = (np.cos(q) - h) / q * dq
        return np.array([x * h, y * h, np.cos(q)]), np.array([dx * h + x * dh, dy * h + y * dh, -np.sin(q) * dq])

    def excess(self, u: Floats) -> tuple[float, Floats]:
        """Angle of a direction (3,) outside the cone, and its gradient by u; 0 inside."""
        side = np.hypot(u[0], u[1])
        latitude = np.arctan2(side, u[2])
        if side == 0.0:
            return 0.0, np.zeros(3)
        a, b = self.axes(u[0], u[1])
        if latitude <= 1 / np.hypot(u[0] / side / a, u[1] / side / b):
            return 0.0, np.zeros(3)
        k = int(np.argmax(self.samples @ u))
        step = self.s[1]
        low, high = self.s[k] - step, self.s[k] + step
        t = self.at(float(brentq(lambda s: u @ self.at(s)[1], low, high, xtol=1e-15, rtol=1e-14)))[0]
        away = u - (u @ t) * t
        sine = float(np.linalg.norm(away))
        angle = float(np.arctan2(sine, u @ t))
        if sine == 0.0:
            return 0.0, np.zeros(3)
        return angle, ((u @ t) * u - t) / sine


def restricting(limit: Limit, excess: float) -> float:
    """dV/d excess of the cubic law, constant beyond its end."""
    q = min(excess / limit.compliance, 1.0)
    return limit.max_moment * q * q * (3.0 - 2.0 * q)


def add_limit(x: Poses, limit: Limit, cone: Cone, f: Floats) -> None:
    """Add the restricting and the viscous moments of a limit."""
    i, j = limit.reference, limit.moving
    if limit.kind == "cone":
        frame = x.A[x.index[i]] @ np.stack([limit.xi, limit.eta, limit.zeta], axis=1)
        u = x.A[x.index[j]] @ limit.direction
        excess, slope = cone.excess(frame.T @ u)
        turning = x.w[x.index[j]] - x.w[x.index[i]]
        # A small turn phi of body j against body i changes u by phi x u, so dV by phi . (u x slope).
        f += _turned(x, i, j, -restricting(limit, excess) * cross_of(u, frame @ slope) - limit.damping * turning)
        return
    if limit.kind == "hinge":
        angle, g = hinge_angle(x, i, limit.axes[0], limit.eta, limit.zeta, j, limit.direction)
    else:
        angle, g = cross_angle(x, limit) if limit.kind == "cross_hinge" else link_angle(x, limit)
    excess, slope = cone.excess(np.array([0.0, np.sin(angle), np.cos(angle)]))
    slope_by_angle = float(slope @ [0.0, np.cos(angle), -np.sin(angle)])
    f -= (restricting(limit, excess) * slope_by_angle + limit.damping * x.rate(g)) * g


def normal_force(contact: Contact, depth: float, rate: float) -> float:
    """Force of the law at a depth and its rate; never a pull."""
    p = contact.parameters
    if contact.law == "kelvin_voigt":
        return max(0.0, float(p["stiffness"] * depth ** p["exponent"] + p["damping"] * rate))
    if contact.law == "hertz":
        return float(p["stiffness"] * depth**1.5)
    return max(0.0, float(p["stiffness"] * depth ** p["exponent"] * (1 + 1.5 * p["loss"] * rate)))


def dry(x: float) -> float:
    """The part of full dry friction at a slip of x transition velocities."""
    return float(np.sign(x)) if abs(x) >= 1 else 1.5 * x - 0.5 * x**3


def add_contact(x: Poses, contact: Contact, f: Floats) -> None:
    """Add normal force and friction of a sphere on a plane."""
    height, g = along(x, contact.plane, contact.point, contact.normal, contact.body, contact.centre)
    depth = contact.radius - height
    if depth <= 0.0:
        return
    push = normal_force(contact, depth, -x.rate(g))
    f += push * g
    if contact.friction is None or push == 0.0:
        return
    i, _, centre = x.point(contact.body, contact.centre)
    j = x.index[contact.plane]
    n = x.A[j] @ contact.normal
    at = centre - contact.radius * n
    arms = at - x.r[i], at - x.r[j]
    slip = x.v[i] + cross_of(x.w[i], arms[0]) - x.v[j] - cross_of(x.w[j], arms[1])
    slip = slip - (slip @ n) * n
    p, speed = contact.parameters, float(np.linalg.norm(slip))
    if contact.friction == "smooth":
        drag = p["mu_c"] * push / np.hypot(speed, p["transition_velocity"]) + p["mu_d"]
    else:
        share = dry(speed / p["transition_velocity"]) / speed if speed > 0.0 else 0.0
        drag = p["mu_c"] * push * share + p["mu_d"]
    _push(f, i, arms[0], -drag * slip)
    _push(f, j, arms[1], drag * slip)


def table_of(points: Floats) -> CubicSpline:
    """The natural spline through points."""
    return CubicSpline(points[:, 0], points[:, 1], bc_type="natural")


def _value(spline: CubicSpline, x: float) -> float:
    """The value of a spline, continued by its tangents."""
    inside = min(max(x, spline.x[0]), spline.x[-1])
    value = float(spline(inside))
    return value if x == inside else value + float(spline(inside, 1)) * (x - inside)


def add_force(x: Poses, force: Force, f: Floats) -> None:
    """Add a force of a definition."""
    p, (i, j, *others) = force.values, force.bodies
    kind = force.kind
    if kind in ("spring_damper", "cable", "tabulated_spring", "tendon", "tabulated_tendon"):
        ends = [(i, p["s_i"]), *zip(others, (p.get("s_k"), p.get("s_l")), strict=False), (j, p["s_j"])]
        parts = [distance(x, *a, *b) for a, b in zip(ends, ends[1:], strict=False)]  # type: ignore[arg-type]
        length, g = sum(part[0] for part in parts), sum((part[1] for part in parts), x.zeros())
        f -= _tension(force, length, x.rate(g)) * g
    elif kind == "torsional_spring":
        angle, g = hinge_angle(x, i, p["a_i"], force.across[1], force.across[0], j, force.across[2])
        angle = (angle - p["free_angle"] + np.pi) % (2 * np.pi) - np.pi
        f -= (p["stiffness"] * angle + p["damping"] * x.rate(g)) * g
    elif kind == "bushing":
        F = np.eye(3)
        moves = [along(x, i, p["s_i"], F[:, k], j, p["s_j"]) for k in range(3)]
        turns = cardan_angles(x, i, F, j, force.across)
        for k, name in enumerate(("xi", "eta", "zeta")):
            for (value, g), t in ((moves[k], ""), (turns[k], "t")):
                f -= (p[f"k{t}_{name}"] * value + p[f"c{t}_{name}"] * x.rate(g)) * g
    elif kind == "stop":
        value, g = along(x, i, p["s_i"], p["a_i"], j, p["s_j"])
        depth = max(p["clearance"] - value, 0.0)
        f += max(p["stiffness"] * depth ** p["exponent"] * (1 - p["loss"] * x.rate(g)), 0.0) * g
    else:
        if kind == "hinge_friction":
            g = _turned(x, i, j, x.A[x.index[i]] @ p["a_i"])
        else:
            _, g = along(x, i, p["s_i"], p["a_i"], j, p["s_j"])
        slip = x.rate(g)
        f -= (p["friction"] * dry(slip / p["transition_velocity"]) + p["damping"] * slip) * g


def _tension(force: Force, length: float, rate: float) -> float:
    p = force.values
    if force.kind == "spring_damper":
        return float(p["stiffness"] * (length - p["free_length"]) + p["damping"] * rate)
    if force.kind.startswith("tabulated"):
        return _value(force.across, length) + float(p["damping"] * rate)
    return max(float(p["stiffness"] * max(length - p["slack_length"], 0.0) * (1 + p["loss"] * rate)), 0.0)
