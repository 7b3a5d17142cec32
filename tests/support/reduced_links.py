"""Accelerations of the coordinates of a description by d'Alembert's principle, link by link, with dense linear algebra.

Second route to what ``models.files.building`` makes: no bodies between joints, no rows, forces along coordinates.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.motion import Coordinates, motion_of

WIDTH = {"turn": 1, "slide": 1, "ball": 3, "free": 6}


def follow(description, sample, names, places):
    """Rates of all coordinates by those of the independent ones, and what the accelerations have beyond them."""
    G, g = np.eye(places[-1]), np.zeros(places[-1])
    for one in description.followers_in_order:
        k, *at = (places[names.index(name)] for name in (one.step, *one.leaders))
        _, slopes, curvatures = one.derivatives(sample.q)
        u = np.array([sample.u[name] for name in one.leaders])
        G[k] = slopes @ G[at]
        g[k] = slopes @ g[at] + u @ curvatures @ u
    still = [places[names.index(one.step)] for one in description.followers]
    return np.delete(G, still, axis=1), g


def ways_at(links, steps, places, sample, u):
    """The motion of links at a sample with rates u."""
    parts = {s.name: u[a] if b == a + 1 else u[a:b] for s, a, b in zip(steps, places, places[1:], strict=False)}
    return motion_of(links, Coordinates(sample.q, parts, {}))


def bushing_wrenches(links, bushings, ways):
    """Force and moment about the centre of mass (6,) of each bushing on each link, by virtual power of its angles' rates."""
    centres = {link.name: link.centre for link in links}
    for b in bushings:
        (one, (p_1, R_1)), (two, (p_2, R_2)) = zip((b.link_1, b.link_2), b.frames, strict=True)
        at_1, at_2 = ways[one][-1], ways[two][-1]
        F, M = at_1.A @ R_1, at_2.A @ R_2
        (r_1, v_1, _), (r_2, v_2, _) = at_1.at(p_1), at_2.at(p_2)
        angles = Rotation.from_matrix(F.T @ M).as_euler("XYZ")
        Rx, Ry = (Rotation.from_euler(a, angle).as_matrix() for a, angle in zip("xy", angles[:2], strict=True))
        W = np.column_stack([np.eye(3)[0], Rx @ np.eye(3)[1], Rx @ Ry @ np.eye(3)[2]])  # omega in F = W rates
        rates = np.linalg.solve(W, F.T @ (at_2.omega - at_1.omega))
        d, d_dot = F.T @ (r_2 - r_1), F.T @ (v_2 - v_1 - np.cross(at_1.omega, r_2 - r_1))
        force = F @ (-b.stiffness[0] * d - b.damping[0] * d_dot)
        moment = F @ np.linalg.solve(W.T, -b.stiffness[1] * angles - b.damping[1] * rates)
        found = {name: np.zeros(6) for name in (*centres, "ground")}
        for name, at, sign in ((one, at_1, -1.0), (two, at_2, 1.0)):
            arm = r_2 - (at.at(centres[name])[0] if name != "ground" else np.zeros(3))
            found[name] = sign * np.concatenate([force, moment + np.cross(arm, force)])
        yield found


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
    for forces in bushing_wrenches(links, description.bushings, ways_at(links, steps, places, sample, u)):
        for k, link in enumerate(links):
            Q += N[6 * k : 6 * k + 6].T @ forces[link.name]
    G, g = follow(description, sample, [step.name for step in steps], places)
    u_dot = G @ np.linalg.solve(G.T @ M @ G, G.T @ (Q - bias - M @ g)) + g
    return {s.name: u_dot[a] if b == a + 1 else u_dot[a:b] for s, a, b in zip(steps, places, places[1:], strict=False)}


def by_links(reading):
    """Accelerations of a model that was read, by sample."""
    return lambda sample: reduced_accelerations(reading.description, sample)
