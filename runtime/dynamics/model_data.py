"""A system as flat tables, and the memory of one evaluation."""

from __future__ import annotations

from typing import NamedTuple

from runtime.dynamics.contacts import ContactData, ContactWorkspace
from runtime.dynamics.limits import LimitData, LimitWorkspace
from runtime.dynamics.loads import LoadData, LoadWorkspace
from runtime.dynamics.signals import SignalData
from runtime.dynamics.sparsity import Sparsity
from runtime.support.arrays import Floats, Ints

EVALUATION, WHOLE, LOADED = range(3)  # in ``Work.address``


class ModelData(NamedTuple):
    """A system as flat tables."""

    mass: Floats  # (bodies + 1,)
    inertia: Floats  # (bodies + 1, 3, 3) local axes
    inertia_inverse: Floats  # (bodies + 1, 3, 3)
    gravity: Floats  # (3,)
    alpha: float
    beta: float
    address: Ints  # (joints,) of their kernels, in this process
    body_i: Ints
    body_j: Ints
    rows: Ints  # (joints,) rows of each joint
    active: Ints  # (joints,) rows that are kept
    active_row: Ints  # (joints, 6) their numbers within the joint
    vector_joint: Ints  # (vectors,) body-fixed vectors: where they go in x, and what they are
    vector_place: Ints
    vector_body: Ints
    vector_local: Floats  # (vectors, 3)
    x: Floats  # (joints, X) parameters and held constants, at their places in x
    signals: SignalData
    signal_joint: Ints  # (signals of joints,) where the value and two derivatives of the first signals go in x
    signal_place: Ints
    structure: Sparsity
    limits: LimitData
    loads: LoadData
    contacts: ContactData


class Workspace(NamedTuple):
    """Memory of one evaluation; the results lie here too."""

    state: Floats  # (bodies + 1, 13)
    A: Floats  # (bodies + 1, 3, 3)
    inertia_inverse: Floats  # (bodies + 1, 3, 3) global axes
    free: Floats  # (bodies + 1, 6) M^-1 g
    v_dot: Floats  # (bodies + 1, 6) accelerations v', omega'
    momentum: Floats  # (3,)
    x: Floats  # (joints, X)
    Phi: Floats  # (joints, 6)
    Phi_dot: Floats
    D: Floats  # (joints, 6, 12)
    gamma: Floats
    target: Floats  # (joints, 6) right-hand side of D v'
    rows: Floats  # (joints, 2, 6, 6) kept rows of D by side
    MD: Floats  # (joints, 2, 6, 6) M^-1 D^T, by rows of D
    S: Floats  # (blocks, 6, 6) upper blocks of S (row: earlier joint), then diag(pivots) L^T
    L: Floats  # (blocks, 6, 6) L^T, of unit diagonal
    size: Floats  # (joints, 6) diagonal of S before the factorisation
    inverse: Floats  # (joints, 6) inverse pivots, 0 where a row depends on those before it
    y: Floats  # (joints, 6)
    lam: Floats  # (joints, 6) multipliers of the kept rows
    failed: Ints  # (2,) joint and kept row of a failure
    smallest_pivot: (
        Floats  # (1,) smallest pivot of S as a fraction of its row's size: how far from a singular configuration
    )
    signals: Floats  # (signals, 3) value, rate, acceleration
    limits: LimitWorkspace
    loads: LoadWorkspace
    contacts: ContactWorkspace
    address: Ints  # (3,) of the evaluation and of the whole-model kernel (0: none), in this process; 1 if loads go before that
    constants: Floats  # of the whole-model kernel


class WholeModelKernel(NamedTuple):
    """A whole-model kernel: what ``derivative`` calls in place of the joints' kernels."""

    address: int  # in this process
    loaded: bool  # it takes the accelerations without joints from outside
    constants: Floats
