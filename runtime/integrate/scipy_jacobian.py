"""The exact Jacobian for SciPy's implicit methods, as an array or a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.dynamics.layout import STATE
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.state_jacobian import state_jacobian
from runtime.support.arrays import Floats
from runtime.system.system import System
from runtime.system.workspaces import workspace_of_jacobian

IMPLICIT = ("Radau", "BDF", "LSODA")
WITHOUT_SPARSE = ("LSODA",)
# Components of a state from which SciPy is faster with sparse matrices, measured on chains, in which every acceleration depends
# on all bodies: at 325 both take the same time, at 1040 dense ones 2.5 to 4 times as long.
LARGE = 325


class Jacobian:
    """The derivative (n, n) of y' over y, a sparse matrix where this is faster; ``code`` is that of the last evaluation."""

    def __init__(self, method: str, system: System, data: ModelData, work: Workspace) -> None:
        self.data, self.work = data, work
        self.memory = workspace_of_jacobian(system)
        self.sparse = method not in WITHOUT_SPARSE and STATE * len(system.bodies) >= LARGE
        self.code = 0

    def __call__(self, t: float, y: Floats) -> Any:
        """The Jacobian at a time [s] and a state (n,)."""
        self.code, found = state_jacobian(t, np.ascontiguousarray(y), self.data, self.work, self.memory)
        if not self.sparse:
            return found
        from scipy.sparse import csc_matrix  # here because the import takes a fifth of a second

        return csc_matrix(found)
