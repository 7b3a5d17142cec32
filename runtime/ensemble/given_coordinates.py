"""Coordinates of joints that cases are given, and their rates, as coordinates and rates of their trees."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.layout import P, V
from runtime.ensemble.given import Given
from runtime.results.whole_turns import before_start
from runtime.support.arrays import Floats
from runtime.system.joint_motion import times
from runtime.system.parts import GROUND
from runtime.system.reference import rotation_matrices
from runtime.system.tree_geometry import Geometry


def set_coordinates(z: Floats, given: Given, where: Geometry) -> Floats:
    """Coordinates and rates (cases, n) with the given ones; angles of turns are at most half a turn from where they were.

    The Euler parameters of the bodies then have the signs that ``displaced`` gives them.
    """
    turns = {q for q, kind in zip(given.tree.places[0], given.tree.kinds, strict=False) if kind == "turn"}
    for place, values in given.coordinates.items():
        z[:, place] = values - (before_start(values - z[:, place]) if place in turns else 0.0)
    for step in given.balls:
        _set_ball(z, given, where, step)
    return z


def _set_ball(z: Floats, given: Given, where: Geometry, step: int) -> None:
    """Give a ball its rotation vectors and rates, which joints have in axes of body i, and trees in those of what it carries.

    A ball of the tree has its turn since the reference configuration, in axes that are global there.
    """
    from scipy.spatial.transform import Rotation

    one, (q, u) = given.tree.coordinates[step], (places[step] for places in given.tree.places)
    body_i, inwards = (one.inner, False) if one.sign > 0.0 else (one.outer, True)
    A = np.eye(3)[None]
    if body_i != GROUND:
        A = rotation_matrices(where.pose[:, given.system.body_index(body_i), P:V])
    back = np.swapaxes(A, 1, 2)
    p, own = z[:, q : q + 4].copy(), z[:, u : u + 3]
    rates = times(back, one.sign * (own if inwards else times(rotation_matrices(p), own)))
    vectors = times(back, one.sign * Rotation.from_quat(p[:, [1, 2, 3, 0]]).as_rotvec())
    for (part, column), values in given.balls[step].items():
        (vectors if part == "angle" else rates)[:, column] = values
    turned = Rotation.from_rotvec(one.sign * times(A, vectors)).as_quat()[:, [3, 0, 1, 2]]
    turned *= np.where((turned * p).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
    z[:, q : q + 4] = turned
    own = one.sign * times(A, rates)
    z[:, u : u + 3] = own if inwards else times(np.swapaxes(rotation_matrices(turned), 1, 2), own)
