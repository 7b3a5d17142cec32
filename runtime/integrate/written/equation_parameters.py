"""Parameters of ``written.tree_recursion``: of one system, and of many cases that differ in geometry and parameters."""

from __future__ import annotations

import numpy as np

from runtime.integrate.written.acting_forces import OF_CARRIED, OF_STEP, Rows, acting_forces
from runtime.integrate.written.force_parameters import NONE, Values, parameters_of_cases
from runtime.support.arrays import Floats
from runtime.system.system import System
from runtime.system.tree_geometry import UPPER, Carried, Geometry
from runtime.system.trees import trees_of


def parameters_of_equations(system: System) -> Floats:
    """Parameters (P,) of the equations of the tree of a system with all that acts on it."""
    tree = trees_of(system).of_joints
    assert tree is not None
    found: Floats = equations_of_cases(system, tree.geometry, tree.carried, system.gravity[None])[0]
    return found


def equations_of_cases(system: System, where: Geometry, load: Carried, gravity: Floats, own: Values = NONE) -> Floats:
    """Parameters (cases, P) of many cases of a system: those of ``parameters_of_cases``, then of the steps and what they carry.

    Parameters
    ----------
    where, load : Geometry, Carried
        Of each case, or one of all.
    gravity : (cases, 3) or (1, 3)
    """
    acting, tree = acting_forces(system), trees_of(system).of_joints
    assert tree is not None
    rows, of_forces = Rows(acting, whole=True), parameters_of_cases(system, where, own)
    found = np.empty((max(len(of_forces), len(where.axis), len(load.mass), len(gravity)), rows.count))
    found[:, : of_forces.shape[1]] = of_forces
    ways = where.ways(tree.parents)
    for step in range(len(tree.kinds)):
        o = rows.of("step", step)
        found[:, o : o + 3], found[:, o + 3 : o + OF_STEP] = where.axis[:, step], ways[:, step]
    for step in acting.carrying():
        o = rows.of("carried", step)
        found[:, o], found[:, o + 1 : o + 4] = load.mass[:, step], load.moment[:, step]
        found[:, o + 4 : o + OF_CARRIED] = load.inertia[:, step, UPPER[0], UPPER[1]]
    for step in acting.rotors:
        assert tree.armature is not None
        found[:, rows.of("armature", step)] = tree.armature[step]
    o = rows.of("gravity", 0)
    found[:, o : o + 3] = gravity
    return found
