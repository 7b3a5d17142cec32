"""Bodies without inertia in some rotation: thin rods about their axis, point masses.  See ``runtime.dynamics.thin_bodies``."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.layout import STATE, P, V
from runtime.support.arrays import Floats, frozen
from runtime.support.errors import ModelError
from runtime.support.latest import Latest
from runtime.system.degrees_of_freedom import dense_rows, null_space, rows_at
from runtime.system.mass_data import ADDED, mass_data
from runtime.system.reference import rotation_matrix
from runtime.system.system import System, with_fields

ROUNDING = 1e-6
# Share of E in M + E on the motions that the rows admit: the iteration of the accelerations converges by this factor
LARGEST_SHARE = 0.5


def with_added_inertia(system: System, time: float, y: Floats, motions: Floats | None = None) -> System:
    """The system with an added inertia E of thin bodies that is small beside the one of the motions that the rows admit.

    ``motions``: ``open_motions`` in the state y, where they are known.

    Raises
    ------
    ModelError
        Naming the body, the axis and the inertia that its rotation meets, where it is too small beside any.
    """
    if not len(system.data.thin_body) or system.overdetermined:
        return system
    motions = open_motions(system, time, y) if motions is None else motions
    for added in ADDED:
        values = mass_data(system.bodies, system.joints, added)
        inverse, thin_body, thin = frozen(values)
        data = system.data._replace(inertia_inverse=inverse, thin_body=thin_body, thin=thin)
        system = with_fields(system, data=data)
        message = _free_rotation(system, y, motions)
        if not message:
            return system
    raise ModelError(message)


def open_motions(system: System, time: float, y: Floats) -> Floats:
    """The motions that the rows admit in a state, as columns (6 bodies, n)."""
    return null_space(dense_rows(system, rows_at(system, time, y).D))


open_motions_at_start = Latest(lambda system: open_motions(system, system.time, system.state.y), 4)


def _free_rotation(system: System, y: Floats, motions: Floats) -> str:
    """Message about the rotation that meets too little inertia beside the added one, or nothing."""
    t = system.data
    if not motions.shape[1]:
        return ""
    A = [rotation_matrix(body[P:V]) for body in y.reshape(-1, STATE)]
    M, E = np.zeros((2, len(motions), len(motions)))
    for k, body in enumerate(system.bodies):
        o = 6 * k
        M[o : o + 3, o : o + 3] = body.mass * np.eye(3)
        M[o + 3 : o + 6, o + 3 : o + 6] = A[k] @ np.linalg.inv(t.inertia_inverse[k + 1]) @ A[k].T
    for b, N in zip(t.thin_body - 1, t.thin, strict=True):
        turns = slice(6 * b + 3, 6 * b + 6)
        E[turns, turns] = M[turns, turns] @ A[b] @ N @ A[b].T
    root = np.linalg.cholesky(motions.T @ M @ motions)
    shares, vectors = np.linalg.eigh(np.linalg.solve(root, np.linalg.solve(root, motions.T @ E @ motions).T))
    if shares[-1] <= LARGEST_SHARE:
        return ""
    motion = motions @ np.linalg.solve(root.T, vectors[:, -1])
    turned = [N @ A[b].T @ motion[6 * b + 3 : 6 * b + 6] for b, N in zip(t.thin_body - 1, t.thin, strict=True)]
    n = int(np.argmax([np.linalg.norm(turn) for turn in turned]))
    return _message(system, int(t.thin_body[n]), turned[n], float(shares[-1]))


def _message(system: System, b: int, turn: Floats, share: float) -> str:
    """Sentence about body b of the data, which turns as given in axes of the body; ``share`` of the added inertia."""
    body, axis = system.bodies[b - 1], turn / np.linalg.norm(turn)
    axis *= np.sign(axis[np.abs(axis).argmax()])
    own = float(axis @ body.inertia @ axis)
    added = 1.0 / float(axis @ system.data.inertia_inverse[b] @ axis) - own
    met = added * (1.0 / share - 1.0)
    met = met if met > ROUNDING * added else 0.0
    text = ", ".join(f"{0.0 if abs(component) < 1e-9 else component:.6g}" for component in axis)
    return (
        f"body '{body.name}': its moment of inertia about ({text}) in axes of the body is {own:.3g} kg m^2, and the joints "
        f"leave this rotation to an inertia of {met:.3g} kg m^2, where {added:.3g} kg m^2 or more are needed; give a moment "
        "above this, or a joint that holds the rotation, such as 'universal' in place of 'spherical'"
    )
