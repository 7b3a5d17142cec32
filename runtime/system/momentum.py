"""Centre of mass and momentum of the bodies of a system that can move, in states of a run, of many cases, or of its mechanics."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.layout import OMEGA, P, R, V
from runtime.dynamics.lift import GROUND_STEP
from runtime.support.arrays import Floats, Ints
from runtime.system.reference import rotation_matrices
from runtime.system.system import System
from runtime.system.trees import trees_of


def moving_bodies(system: System) -> Ints:
    """Places of the bodies that no joints fix to the ground; of all where there are none."""
    tree = trees_of(system).of_joints
    every = np.arange(len(system.bodies))
    moving = every if tree is None else every[np.array(tree.body_step) != GROUND_STEP]
    return moving if len(moving) else every


def centre_of_mass(mass: Floats, r: Floats) -> Floats:
    """Centre of mass (n, 3) [m] of bodies of masses (bodies,) or (n, bodies) at r (n, bodies, 3)."""
    return np.asarray((mass[..., None] * r).sum(axis=-2) / mass.sum(axis=-1)[..., None])


def momentum(mass: Floats, inertia: Floats, states: Floats, about: Floats | None = None) -> Floats:
    """Linear and angular momentum, (n, 6) [kg m/s], [kg m^2/s], of bodies in states (n, bodies, 13); without that of rotors.

    mass, inertia : (bodies,), (bodies, 3, 3) of all rows, or of each
    about : point of the angular momentum, (3,) [m]; default: the centre of mass
    """
    r, v, omega = states[..., R:P], states[..., V:OMEGA], states[..., OMEGA:]
    A = rotation_matrices(states[..., P:V].reshape(-1, 4)).reshape(*r.shape, 3)
    linear = mass[..., None] * v
    local = np.einsum("nbxi,nbx->nbi", A, omega)
    turning = np.einsum("nbxi,nbi->nx", A, (inertia @ local[..., None])[..., 0])
    arms = r - (centre_of_mass(mass, r)[:, None] if about is None else about)
    return np.hstack([linear.sum(axis=1), np.cross(arms, linear).sum(axis=1) + turning])
