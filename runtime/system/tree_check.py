"""The equations of a tree in its own coordinates against those of all bodies."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from runtime.dynamics.equations import derivative_once, shared_workspace_for
from runtime.dynamics.layout import OK, STATE, V
from runtime.dynamics.lift import lift_once, lift_workspace
from runtime.dynamics.model_data import ModelData, stabilised
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats
from runtime.system.spanning_tree import SpanningTree, tree_data, tree_parameters

SAMPLES, SEED = 5, 20
TURNS, SPEEDS = 1.0, 2.0  # [rad] or [m], and per second, of random coordinates and rates: standard deviations
NEARLY_SINGULAR = 1e-6  # smallest pivot ratio
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
    n, of, memory, worst = len(tree.kinds), tree_data(tree, data.gravity), lift_workspace(len(tree.kinds)), 0.0
    constants = np.zeros((module.CONSTANTS, 1))
    module.prepare(tree_parameters(tree, data.gravity), constants[:, 0])
    absolute = without_forces(stabilised(data, 0.0, 0.0))
    random = np.random.default_rng(SEED)

    def states(z: Floats) -> Floats:
        y = np.empty(STATE * len(tree.pose))
        lift_once(of, memory, z, y)
        return y

    for _ in range(SAMPLES):
        z = np.concatenate([TURNS * random.standard_normal(n), SPEEDS * random.standard_normal(n)])
        rates = np.zeros((2 * n, 1))
        python_code(module.derivative)(0, z[:, None], constants, rates, np.zeros((1, 1)))
        own, way = np.zeros(STATE * len(tree.pose)), STEP * rates[:, 0]
        for k, factor in DIFFERENCES:
            own += factor / STEP * (states(z + k * way) - states(z - k * way))
        y_dot, work = np.empty_like(own), shared_workspace_for(absolute)
        code = derivative_once(0.0, states(z), absolute, work, y_dot)
        if code != OK or work.smallest_pivot[0] < NEARLY_SINGULAR:
            continue  # there the equations of all bodies are not exact
        wanted, found = (a.reshape(-1, STATE)[:, V:] for a in (y_dot, own))
        worst = max(worst, float(np.abs(found - wanted).max() / np.abs(wanted).max()))
    return worst
