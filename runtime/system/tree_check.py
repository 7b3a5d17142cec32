"""The equations of a tree in its own coordinates against those of all bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType

import numpy as np

from runtime.dynamics.equations import derivative_once, shared_workspace_for
from runtime.dynamics.layout import OK, STATE, V
from runtime.dynamics.lift import lift_once, lift_workspace
from runtime.dynamics.model_data import ModelData, Workspace, stabilised
from runtime.dynamics.projection import worst_row
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats
from runtime.system.closed_tree import ClosedTree
from runtime.system.spanning_tree import SpanningTree, tree_data, tree_parameters

SAMPLES, SEED = 5, 20
TURNS, SPEEDS = 1.0, 2.0  # [rad] or [m], and per second, of random coordinates and rates: standard deviations
NEARLY_SINGULAR = 1e-6  # smallest pivot ratio
EQUAL = 1e-8  # of the size of a right-hand side
STEP = 0.01  # of the differences
DIFFERENCES = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))  # central, of order 8


def without_forces(data: ModelData) -> ModelData:
    """The data without limits, contacts, forces and loads, whose effect on bodies is that of the equations of all bodies."""
    limits, contacts, forces, loads = data.limits, data.contacts, data.forces, data.loads
    return data._replace(
        limits=limits._replace(kind=limits.kind[:0]),
        contacts=contacts._replace(law=contacts.law[:0]),
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
        worst = max(worst, _difference(found, y_dot.reshape(-1, STATE)[:, V:]))
    return worst


def error_of_closed_tree(
    tree: SpanningTree, closed: ClosedTree, module: ModuleType, data: ModelData, time: float
) -> float:
    """As ``error_of_tree``, and of Phi and Phi', for a tree whose coordinates rows of joints restrain.

    The multipliers of both are those of least squares, since some rows may depend on others.
    """
    n, m, worst = len(tree.kinds), len(module.ROWS), 0.0
    constants, out = np.zeros(max(module.CONSTANTS, 1)), np.zeros(module.OUTPUTS)
    module.prepare(closed.parameters, constants)
    rows = [(tree.closing[k], r) for k, r in module.ROWS]
    every = [(k, r) for k in range(len(data.rows)) if k not in tree.closing for r in range(data.rows[k])] + rows
    absolute = without_forces(stabilised(data, 0.0, 0.0))
    work = shared_workspace_for(absolute)
    for z, states in _samples(tree, data):
        worst_row(time, states(z), absolute, work, False)
        python_code(module.evaluate)(z, np.zeros(n), work.signals, constants, out)
        free, Phi, Phi_dot, lacking = out[1 : 1 + n], *out[1 + n : 1 + n + 3 * m].reshape(3, m)
        for found, of_rows in ((Phi, work.Phi.copy()), (Phi_dot, work.Phi_dot.copy())):
            for value, row in zip(found, rows, strict=True):
                of_rows[row] -= value
            left = np.abs(of_rows[list(tree.closing)]).max()
            worst = max(worst, float(left) / max(1.0, float(np.abs(found).max(initial=0.0))))
        S, place = np.zeros((m, m)), 1 + n + 4 * m
        S[np.tril_indices(m)] = out[place : place + m * (m + 1) // 2]
        S = S + np.tril(S, -1).T
        multipliers, fits = _least_squares(S, lacking)
        wanted, also_fits = _with_rows(work, absolute, every)
        if not (fits and also_fits):
            continue  # there rows contradict each other
        response = out[len(out) - m * n :].reshape(m, n)
        rates = np.concatenate([z[n:], free + multipliers @ response])
        worst = max(worst, _difference(_accelerations(states, z, rates), wanted))
    return worst


def _samples(tree: SpanningTree, data: ModelData) -> Iterator[tuple[Floats, Callable[[Floats], Floats]]]:
    """Random coordinates and rates, and the function that gives the states of all bodies for such."""
    n, of, memory = len(tree.kinds), tree_data(tree, data.gravity), lift_workspace(len(tree.kinds))
    random = np.random.default_rng(SEED)

    def states(z: Floats) -> Floats:
        y = np.empty(STATE * len(tree.pose))
        lift_once(of, memory, z, y)
        return y

    for _ in range(SAMPLES):
        yield np.concatenate([TURNS * random.standard_normal(n), SPEEDS * random.standard_normal(n)]), states


def _accelerations(states: Callable[[Floats], Floats], z: Floats, rates: Floats) -> Floats:
    """Accelerations of all bodies (bodies, 6) for the derivative of coordinates and rates, by differences."""
    way = STEP * rates
    own = sum(factor / STEP * (states(z + k * way) - states(z - k * way)) for k, factor in DIFFERENCES)
    found: Floats = np.asarray(own).reshape(-1, STATE)[:, V:]
    return found


def _difference(found: Floats, wanted: Floats) -> float:
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def _with_rows(work: Workspace, data: ModelData, rows: Sequence[tuple[int, int]]) -> tuple[Floats, bool]:
    """Accelerations of all bodies (bodies, 6) that satisfy rows (joint, number), after the kinematics; and whether any do."""
    bodies = len(data.mass)
    D, inverse = np.zeros((len(rows), bodies, 6)), np.zeros((bodies, 6, 6))
    for n, (k, r) in enumerate(rows):
        D[n, data.body_i[k]] += work.D[k, r, :6]
        D[n, data.body_j[k]] += work.D[k, r, 6:]
    inverse[1:, :3, :3] = np.eye(3) / data.mass[1:, None, None]
    inverse[1:, 3:, 3:] = work.inertia_inverse[1:]
    MD = np.einsum("bij,nbj->nbi", inverse, D)
    gamma = np.array([work.gamma[place] for place in rows])
    S = np.einsum("nbi,mbi->nm", D, MD)
    multipliers, fits = _least_squares(S, gamma - np.einsum("nbi,bi->n", D, work.free))
    return (work.free + np.einsum("n,nbi->bi", multipliers, MD))[1:], fits


def _least_squares(S: Floats, right: Floats) -> tuple[Floats, bool]:
    """The least x with S x nearest to the right-hand side, and whether it is equal."""
    x: Floats = np.asarray(np.linalg.lstsq(S, right, rcond=NEARLY_SINGULAR**2)[0], float)
    return x, bool(np.abs(S @ x - right).max(initial=0.0) <= EQUAL * max(1.0, float(np.abs(right).max(initial=0.0))))
