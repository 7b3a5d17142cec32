"""The equations of a tree in its own coordinates against those of all bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType

import numpy as np

from runtime.dynamics.equations import derivative_once, shared_workspace_for
from runtime.dynamics.kinematics import own_euler_rates
from runtime.dynamics.layout import OK, STATE, V
from runtime.dynamics.lift import lift_once, lift_workspace, normalise_coordinates
from runtime.dynamics.model_data import ModelData, Workspace, stabilised
from runtime.dynamics.projection import worst_row
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats
from runtime.system.closed_tree import ClosedTree
from runtime.system.spanning_tree import SpanningTree, tree_data, tree_parameters

SAMPLES, SEED = 5, 20
TURNS, SPEEDS = 1.0, 2.0  # [rad] or [m], and per second, of random coordinates and rates: standard deviations
NEARLY_SINGULAR = 1e-6  # smallest pivot ratio
DEPENDENT = 1e-10  # and below this one rows repeat others
STEP = 0.003  # of the differences: truncation and rounding are below 1e-13
DIFFERENCES = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))  # central, of order 8


def without_forces(data: ModelData) -> ModelData:
    """The data without limits, contacts, forces and loads, whose effect on bodies is that of the equations of all bodies."""
    limits, contacts, forces, loads = data.limits, data.contacts, data.forces, data.loads
    return data._replace(
        limits=limits._replace(kind=limits.kind[:0]),
        contacts=contacts._replace(address=contacts.address[:0]),
        forces=forces._replace(address=forces.address[:0], reactive=forces.reactive[:0]),
        loads=loads._replace(body=loads.body[:0], address=loads.address[:0]),
    )


def error_of_tree(tree: SpanningTree, module: ModuleType, data: ModelData) -> float:
    """Largest difference of the accelerations of all bodies without forces but gravity, in random states.

    As a fraction of the largest acceleration.
    """
    n, worst = len(tree.kinds), 0.0
    constants = np.zeros((module.CONSTANTS, 1))
    module.prepare(tree_parameters(tree, data.gravity), constants[:, 0])
    absolute = without_forces(stabilised(data, 0.0, 0.0))
    for z, states in _samples(tree, data):
        rates = np.zeros((2 * n, 1))
        python_code(module.derivative)(0, z[:, None], constants, rates, np.zeros((1, 1)))
        found = _accelerations(states, z, rates[:, 0])
        y_dot, work = np.empty(STATE * len(tree.pose)), shared_workspace_for(absolute)
        code = derivative_once(0.0, states(z), absolute, work, y_dot)
        if code != OK or work.smallest_pivot[0] < NEARLY_SINGULAR:
            continue  # there the equations of all bodies are not exact
        wanted = y_dot.reshape(-1, STATE)[:, V:]
        worst = max(worst, _difference(found, wanted, float(np.abs(wanted).max())))
    return worst


def error_of_closed_tree(
    tree: SpanningTree, closed: ClosedTree, module: ModuleType, data: ModelData, time: float
) -> float:
    """Largest relative difference of what the module of a tree with rows gives from that of all bodies, in random states.

    That is Phi and Phi', the accelerations of the tree without the rows and what they lack to gamma, the accelerations for unit
    multipliers, and S.
    """
    (q, u), m, worst = tree.places, len(module.ROWS), 0.0
    n = u[-1] - q[-1]
    constants, out = np.zeros(max(module.CONSTANTS, 1)), np.zeros(module.OUTPUTS)
    module.prepare(closed.parameters, constants)
    own = [(tree.closing[k], r) for k, r in module.ROWS]
    absolute = without_forces(stabilised(data, 0.0, 0.0))
    work = shared_workspace_for(absolute)
    for z, states in _samples(tree, data):
        worst_row(time, states(z), absolute, work, False)
        python_code(module.evaluate)(z, np.zeros(n), work.signals, constants, out)
        wanted = _of_all_bodies(work, absolute, tree, own)
        Phi, Phi_dot, lacking = out[1 + n : 1 + n + 3 * m].reshape(3, m)
        for found, of_rows in ((Phi, work.Phi.copy()), (Phi_dot, work.Phi_dot.copy())):
            for value, row in zip(found, own, strict=True):
                of_rows[row] -= value
            left = np.abs(of_rows[list(tree.closing)]).max()  # of rows that are left out too
            worst = max(worst, float(left) / max(1.0, float(np.abs(found).max(initial=0.0))))
        S, response = out[1 + n + 4 * m : len(out) - m * n], out[len(out) - m * n :].reshape(m, n)
        rates = np.concatenate([_rates_of_coordinates(tree, z), out[1 : 1 + n]])
        free = _accelerations(states, z, rates).ravel()
        moved = [states(np.concatenate([z[: q[-1]], one])).reshape(-1, STATE)[:, V:].ravel() for one in response]
        given = [free, lacking, np.array(moved).reshape(m, -1), S]
        worst = max(worst, *map(_difference, given, *zip(*wanted, strict=True)))
    return worst


def _of_all_bodies(
    work: Workspace, data: ModelData, tree: SpanningTree, rows: Sequence[tuple[int, int]]
) -> list[tuple[Floats, float]]:
    """Accelerations of the bodies held by the steps alone, what they lack to gamma of rows (joint, number), responses, S.

    After the kinematics.  Each with the size of what it is computed from, since some rows are satisfied by all poses of the tree.
    """
    of_steps = [(k, r) for k in range(len(data.rows)) if k not in tree.closing for r in range(data.rows[k])]
    inverse, bodies = np.zeros((len(data.mass), 6, 6)), len(data.mass)
    inverse[1:, :3, :3] = np.eye(3) / data.mass[1:, None, None]
    inverse[1:, 3:, 3:] = work.inertia_inverse[1:]

    def of(places: Sequence[tuple[int, int]]) -> tuple[Floats, Floats, Floats]:
        """D, M^-1 D^T and gamma of rows."""
        D = np.zeros((len(places), bodies, 6))
        for one, (k, r) in zip(D, places, strict=True):
            one[data.body_i[k]] += work.D[k, r, :6]
            one[data.body_j[k]] += work.D[k, r, 6:]
        moved = np.einsum("bij,nbj->nbi", inverse, D)[:, 1:].reshape(len(places), 6 * bodies - 6)
        return D[:, 1:].reshape(len(places), 6 * bodies - 6), moved.T, np.array([work.gamma[place] for place in places])

    (D, _, gamma), (own, own_moved, own_gamma) = of(of_steps), of(rows)
    free, response = _held(work, data, inverse, (D, gamma), own)
    lacking = np.abs(own_gamma).max(initial=0.0) + (np.abs(own) @ np.abs(free)).max(initial=0.0)
    alone = np.abs(own_moved).max(initial=0.0), np.abs(own @ own_moved).max(initial=0.0)
    return [
        (free, float(np.abs(free).max())), (own_gamma - own @ free, float(lacking)), (response.T, float(alone[0])),
        ((own @ response)[np.tril_indices(len(own))], float(alone[1])),
    ]  # fmt: skip


def _held(
    work: Workspace, data: ModelData, inverse: Floats, held: tuple[Floats, Floats], rows: Floats
) -> tuple[Floats, Floats]:
    """Accelerations (6 bodies,) of bodies held by rows D and gamma, and those for unit multipliers of other rows.

    ``inverse``: that of M, with the inertia added to bodies that have none in some rotation, so that M has no inverse.
    """
    D, gamma = held
    n, m = D.shape[1], len(D)
    forces = np.linalg.solve(inverse[1:], work.free[1:, :, None]).reshape(n, 1)
    K = np.zeros((n + m, n + m))
    for k in range(n // 6):
        A, b = work.A[k + 1], 6 * k
        K[b : b + 3, b : b + 3] = data.mass[k + 1] * np.eye(3)
        K[b + 3 : b + 6, b + 3 : b + 6] = A @ data.inertia[k + 1] @ A.T
    K[n:, :n], K[:n, n:] = D, D.T
    right = np.block([[forces, rows.T], [gamma[:, None], np.zeros((m, len(rows)))]])
    scale = 1.0 / np.sqrt(np.abs(K).max(axis=1, keepdims=True))
    found = (scale * np.linalg.lstsq(scale * K * scale.T, scale * right, rcond=DEPENDENT)[0])[:n]
    return found[:, 0], found[:, 1:]


def _samples(tree: SpanningTree, data: ModelData) -> Iterator[tuple[Floats, Callable[[Floats], Floats]]]:
    """Random coordinates and rates, and the function that gives the states of all bodies for such."""
    of, memory, (q, u) = tree_data(tree, data.gravity), lift_workspace(len(tree.kinds)), tree.places
    random = np.random.default_rng(SEED)

    def states(z: Floats) -> Floats:
        y = np.empty(STATE * len(tree.pose))
        lift_once(of, memory, z, y)
        return y

    for _ in range(SAMPLES):
        z = np.concatenate([TURNS * random.standard_normal(q[-1]), SPEEDS * random.standard_normal(u[-1] - q[-1])])
        python_code(normalise_coordinates)(of, z)
        yield z, states


def _rates_of_coordinates(tree: SpanningTree, z: Floats) -> Floats:
    """Derivatives of the coordinates (n,) for coordinates and rates z."""
    q, u = tree.places
    found = np.zeros(q[-1])
    for k, kind in enumerate(tree.kinds):
        rates, to = z[u[k] : u[k + 1]], found[q[k] : q[k + 1]]
        if kind in ("turn", "slide", "free"):
            count = 3 if kind == "free" else 1
            to[:count] = rates[:count]
        if kind in ("ball", "free"):
            python_code(own_euler_rates)(z[q[k + 1] - 4 : q[k + 1]], rates[-3:], to[-4:])
    return found


def _accelerations(states: Callable[[Floats], Floats], z: Floats, rates: Floats) -> Floats:
    """Accelerations of all bodies (bodies, 6) for the derivative of coordinates and rates, by differences."""
    way = STEP * rates
    own = sum(factor / STEP * (states(z + k * way) - states(z - k * way)) for k, factor in DIFFERENCES)
    return np.asarray(own).reshape(-1, STATE)[:, V:]


def _difference(found: Floats, wanted: Floats, size: float) -> float:
    """The largest difference, as a fraction of a size."""
    return float(np.abs(found - wanted).max(initial=0.0) / max(size, 1e-300))
