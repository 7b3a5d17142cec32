"""The data of a system in flat arrays, and the memory of one evaluation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.contacts import ContactData, ContactWorkspace
from runtime.dynamics.force_elements import EventWorkspace, ForceData, ForceWorkspace
from runtime.dynamics.joint_loads import LoadsWorkspace
from runtime.dynamics.layout import STATE
from runtime.dynamics.limits import LimitData, LimitWorkspace
from runtime.dynamics.loads import LoadData, LoadWorkspace
from runtime.dynamics.signals import SignalData
from runtime.dynamics.sparsity import Sparsity
from runtime.dynamics.switches import Switches
from runtime.dynamics.tree_workspace import TreeWorkspace
from runtime.support.arrays import Floats, Ints
from runtime.support.latest import Latest


class ModelData(NamedTuple):
    """Data of a system, in flat arrays."""

    mass: Floats  # (bodies + 1,)
    inertia: Floats  # (bodies + 1, 3, 3) local axes
    inertia_inverse: Floats  # (bodies + 1, 3, 3); of thin bodies with a small inertia E added
    thin_body: Ints  # (thin,) bodies without inertia in some rotation
    thin: Floats  # (thin, 3, 3) (J + E)^-1 E, local axes
    gravity: Floats  # (3,)
    alpha: float
    beta: float
    closed: int  # 1: there are closed loops, and states are projected onto the rows
    redundant: int  # rows that repeat others
    counted: int  # angles of joints, forces and motors whose revolutions are counted
    address: Ints  # (joints,) of their kernels, in this process
    body_i: Ints
    body_j: Ints
    rows: Ints  # (joints,) rows of each joint
    angles: Ints  # (joints, forces and motors with these angles, 5) as of ``runtime.dynamics.angles``
    vector_joint: Ints  # (vectors,) body-fixed vectors: their joints, places in x, bodies
    vector_place: Ints
    vector_body: Ints
    vector_local: Floats  # (vectors, 3)
    x: Floats  # (joints, X) parameters and held constants, at their places in x
    signals: SignalData
    signal_joint: Ints  # (signals of joints,) joint and place in x of each of the first signals, with two derivatives
    signal_place: Ints
    sparsity: Sparsity
    limits: LimitData
    loads: LoadData
    contacts: ContactData
    forces: ForceData


def alike(a: Any, b: Any) -> bool:
    """Whether named tuples of data differ in values alone: in floats, and in arrays of floats with the same shapes."""
    for one, other in zip(a, b, strict=True):
        if one is other or isinstance(one, float):
            continue
        if isinstance(one, tuple):
            same = alike(one, other)
        else:
            arrays = isinstance(one, np.ndarray) and one.dtype == float
            same = one.shape == other.shape if arrays else np.array_equal(one, other)
        if not same:
            return False
    return True


def size_of_states(t: ModelData) -> int:
    """Size of the states of all bodies, 13 numbers each, and of the states of forces."""
    return STATE * (len(t.mass) - 1) + len(t.forces.state_place)


def stabilised(data: ModelData, alpha: float, beta: float) -> ModelData:
    """The data with other coefficients of Baumgarte: the same object each time, for which compiled code keeps its memory."""
    if (data.alpha, data.beta) == (alpha, beta):
        return data
    found = _OTHERS(data)
    if (alpha, beta) not in found:
        found[alpha, beta] = data._replace(alpha=alpha, beta=beta)
    return found[alpha, beta]


def _others(data: ModelData) -> dict[tuple[float, float], ModelData]:
    return {}


_OTHERS = Latest(_others, 8)


class ThinWorkspace(NamedTuple):
    """Memory of the correction for bodies without inertia in some rotation."""

    added: Floats  # (thin, 3) angular acceleration (J + E)^-1 E omega', global axes
    step: Floats  # (bodies + 1, 6) its last change
    lam: Floats  # (joints, 6) change of the multipliers


class Workspace(NamedTuple):
    """Memory and results of one evaluation."""

    motion: Floats  # (13 bodies,) states of the bodies
    state: Floats  # (bodies + 1, 13)
    A: Floats  # (bodies + 1, 3, 3)
    inertia_inverse: Floats  # (bodies + 1, 3, 3) global axes
    wrench: Floats  # (bodies + 1, 6) of limits, contacts, forces and loads: force, moment about the centre of mass
    given: Floats  # (bodies + 1, 6) of couplings, where a result is derived
    free: Floats  # (bodies + 1, 6) M^-1 g
    v_dot: Floats  # (bodies + 1, 6) accelerations v', omega'
    x: Floats  # (joints, X)
    Phi: Floats  # (joints, 6)
    Phi_dot: Floats
    D: Floats  # (joints, 6, 12)
    gamma: Floats
    target: Floats  # (joints, 6) right-hand side of D v'
    rows: Floats  # (joints, 2, 6, 6) rows of D by side
    MD: Floats  # (joints, 2, 6, 6) M^-1 D^T, by rows of D
    S: Floats  # (blocks, 6, 6) upper blocks of S (row: earlier joint), then diag(pivots) L^T
    L: Floats  # (blocks, 6, 6) L^T, of unit diagonal
    size: Floats  # (joints, 6) diagonal of S before the factorisation
    inverse: Floats  # (joints, 6) inverse pivots, 0 where a row depends on those before it
    y: Floats  # (joints, 6)
    lam: Floats  # (joints, 6) multipliers
    tolerance: Floats  # (1,) of the last factorisation
    failed: Ints  # (2,) joint and row of a failure
    # (1,) smallest pivot of S as a fraction of its row's size: the distance from a singular configuration
    smallest_pivot: Floats
    kept: Floats  # (joints, 6) 1 for the rows chosen as independent, where there are redundant ones
    chosen: Ints  # (1,) 1 once they were chosen
    near_singular: Ints  # (1,) 1 near a singular pose of a closed loop: states are projected before their evaluation
    projected: Floats  # (13 bodies + states of forces,) such a state
    violation: Floats  # (2,) largest |Phi| and |Phi'| left by the last projection
    unsatisfied: Floats  # (1,) ``relative_residual`` that is left in closed loops
    thin: ThinWorkspace
    signals: Floats  # (signals, 3) value, rate, acceleration
    switches: Switches
    limits: LimitWorkspace
    loads: LoadWorkspace
    contacts: ContactWorkspace
    forces: ForceWorkspace
    joint_loads: LoadsWorkspace
    events: EventWorkspace
    power: Floats  # (sources,) [W] see ``runtime.dynamics.energy``
    has_given: Ints  # (1,) 1: ``given`` acts too
    applied: Floats  # (1,) [W] of all forces but gravity and reactions
    address: Ints  # (ADDRESSES,) in this process; see ``runtime.dynamics.places``
    constants: Floats  # of the whole-model kernel
    tree: TreeWorkspace  # of runs in the coordinates of joints; without steps in others


class WholeModelKernel(NamedTuple):
    """A whole-model kernel, which ``derivative`` calls in place of the joints' kernels."""

    address: int  # in this process
    loaded: bool  # the accelerations without joints are an input of the kernel
    constants: Floats
