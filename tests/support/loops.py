"""Closed loops for tests: a four-bar with tilted hinges, a Bennett and a Bricard linkage, and the same with rounded data."""

import numpy as np

import models
from runtime import GROUND, Builder
from tests.support.motions import rotation_matrix


def four_bar_of_tilted_hinges(tilt, seed=1, speed=2.0):
    """Four hinges that are parallel but for random turns; the loop closes in this pose."""
    rng, base = np.random.default_rng(seed), models.four_bar.build("revolute", crank_speed=speed)
    b, at = Builder("tilted"), base.state
    for body in base.bodies:
        n = body.name
        b.body(n, mass=body.mass, inertia=body.inertia, r=at.r[n], p=at.p[n], v=at.v[n], omega=at.omega[n])
    A = {n: rotation_matrix(at.p[n]) for n in base.body_names} | {GROUND: np.eye(3)}
    for joint in base.joints:
        more = tilt * rng.standard_normal(3)
        axes = {}
        for name, body in (("a_i", joint.body_i), ("a_j", joint.body_j)):
            axis = A[body] @ joint.values[name] + more
            axes[name] = A[body].T @ axis / np.linalg.norm(axis)
        b.joint(joint.name, joint.kind, joint.body_i, joint.body_j, **(dict(joint.values) | axes))
    return b


def _frames(lengths, twists, angles):
    T, found = np.eye(4), []
    for a, alpha, q in zip(lengths, twists, angles, strict=True):
        found.append(T)
        c, s, ca, sa = np.cos(q), np.sin(q), np.cos(alpha), np.sin(alpha)
        T = T @ [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, 0], [0, 0, 0, 1]]
    assert np.abs(T - np.eye(4)).max() < 1e-12
    return found


def bennett():
    """Points and axes of the hinges of a Bennett linkage."""
    alpha, beta, a, q1 = 0.7, 1.9, 0.6, 1.1
    b, k = a * np.sin(beta) / np.sin(alpha), np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    for sign in (1, -1):
        q2 = 2 * np.arctan(sign * k / np.tan(q1 / 2))
        try:
            frames = _frames([a, b, a, b], [alpha, beta, alpha, beta], [q1, q2, -q1, -q2])
        except AssertionError:
            continue
        return [T[:3, 3] for T in frames], [T[:3, 2] for T in frames]
    raise AssertionError


def bricard():
    """Points and axes of the hinges of an orthogonal Bricard linkage along the edges of a cube."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    axes = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)], float)
    turn = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0]
    return list(corners @ turn.T), list(axes @ turn.T)


def rounded(linkage, digits, *, gravity=(0.0, 0.0, -9.81), order=None):
    """A builder of a closed chain of hinges whose points and axes are rounded; the last link is the ground."""
    points, axes = linkage()
    n = len(points)
    b = Builder(f"{linkage.__name__} of {digits} digits", gravity=gravity)
    names = [*(f"link_{k}" for k in range(n - 1)), GROUND]
    centres = {GROUND: np.zeros(3)}
    for k in range(n - 1):
        centres[names[k]] = (points[k] + points[k + 1]) / 2
        b.body(names[k], mass=1.0 + 0.3 * k, inertia=(0.1, 0.12, 0.15), r=np.round(centres[names[k]], digits))
    for k in order or range(n):
        i, j = names[k - 1], names[k]
        axis = np.round(axes[k], digits)
        axis /= np.linalg.norm(axis)
        s_i, s_j = (np.round(points[k] - centres[body], digits) for body in (i, j))
        b.joint(f"hinge_{k}", "revolute", i, j, s_i=s_i, s_j=s_j, a_i=axis, a_j=axis)
    return b
