"""Accelerations of the coordinates of a description by d'Alembert's principle, link by link, with dense linear algebra.

Second route to what ``models.files.building`` makes: no bodies between joints, no rows, forces along coordinates.
"""

import numpy as np

from models.files.motion import Coordinates, motion_of

WIDTH = {"turn": 1, "slide": 1, "ball": 3, "free": 6}


def follow(description, sample, names, places):
    """Rates of all coordinates by those of the independent ones, and what the accelerations have beyond them."""
    G, g = np.eye(places[-1]), np.zeros(places[-1])
    for one in description.followers_in_order:
        k, at = (places[names.index(name)] for name in (one.step, one.leader))
        x = sample.q[one.leader]
        G[k] = one.value(x, 1) * G[at]
        g[k] = one.value(x, 1) * g[at] + one.value(x, 2) * sample.u[one.leader] ** 2
    still = [places[names.index(one.step)] for one in description.followers]
    return np.delete(G, still, axis=1), g


def reduced_accelerations(description, sample, pushes=None):
    """Derivatives of the rates of all steps by name, for springs, dampers and gravity.

    ``pushes``: more forces along coordinates, by step.
    """
    links, steps = description.links, [step for _, step in description.steps]
    places = np.cumsum([0, *(WIDTH[step.kind] for step in steps)])

    def accelerations(u, u_dot):
        parts = [
            {s.name: x[a] if b == a + 1 else x[a:b] for s, a, b in zip(steps, places, places[1:], strict=False)}
            for x in (u, u_dot)
        ]
        ways = motion_of(links, Coordinates(sample.q, *parts))
        found = []
        for link in links:
            at = ways[link.name][-1]
            A, J = at.A, at.A @ link.inertia @ at.A.T
            a = at.at(link.centre)[2] - description.gravity
            found += [link.mass * a, J @ at.alpha + np.cross(at.omega, J @ at.omega)]
            assert np.abs(A @ A.T - np.eye(3)).max() < 1e-9
        return np.concatenate(found)

    def velocities(u):
        parts = {s.name: u[a] if b == a + 1 else u[a:b] for s, a, b in zip(steps, places, places[1:], strict=False)}
        ways = motion_of(links, Coordinates(sample.q, parts, {}))
        return np.concatenate(
            [x for link in links for x in (ways[link.name][-1].at(link.centre)[1], ways[link.name][-1].omega)]
        )

    n = places[-1]
    u = np.concatenate([np.ravel(sample.u[step.name]) for step in steps])
    zero = np.zeros(n)
    N = np.column_stack([velocities(e) for e in np.eye(n)])
    bias = N.T @ accelerations(u, zero)
    rest = N.T @ accelerations(zero, zero)
    M = np.column_stack([N.T @ accelerations(zero, e) - rest for e in np.eye(n)])
    Q = np.zeros(n)
    for step, a, b in zip(steps, places, places[1:], strict=False):
        Q[a:b] -= step.damping * u[a:b] if step.kind != "free" else 0.0
        if step.kind in ("turn", "slide"):
            M[a, a] += step.armature
            Q[a] += (pushes or {}).get(step.name, 0.0) - step.stiffness * (sample.q[step.name] - step.free)
    G, g = follow(description, sample, [step.name for step in steps], places)
    u_dot = G @ np.linalg.solve(G.T @ M @ G, G.T @ (Q - bias - M @ g)) + g
    return {s.name: u_dot[a] if b == a + 1 else u_dot[a:b] for s, a, b in zip(steps, places, places[1:], strict=False)}
