"""Forces along the coordinates of a tree: in lanes, and from the wrenches on its bodies."""

import ctypes

import numpy as np

import models
from benchmarks.ensemble_systems import builder_of
from runtime import Signal
from runtime.dynamics.contacts import POTENTIAL
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.force_elements import ENERGY
from runtime.dynamics.layout import LANES, STATE, V
from runtime.dynamics.lift import lift_once, lift_workspace
from runtime.integrate.written.force_parameters import parameters_of_forces, values_at_start
from runtime.integrate.written.tree_forces import address_of_forces
from runtime.system.spanning_tree import tree_data
from runtime.system.trees import trees_of
from tests.support.force_kernels import TABLE, Case


def random_states(system, seed, size=1.0):
    """Coordinates and rates (2 n, LANES) and a time of each lane."""
    random, n = np.random.default_rng(seed), len(trees_of(system).tree.kinds)
    return random.uniform(-size, size, (2 * n, LANES)), random.uniform(0.0, 1.0, LANES)


def signals_at(system, times):
    """Values and two derivatives of all signals (signals, 3, times)."""
    t = system.data.signals
    found = np.zeros((len(times), len(t.start) - 1, 3))
    for values, time in zip(found, times, strict=True):
        evaluate_once(float(time), t, values)
    return np.ascontiguousarray(np.moveaxis(found, 0, -1))


def evaluate_once(time, t, values):
    """The polynomials of the signals, by numpy."""
    for k, (first, last) in enumerate(zip(t.start[:-1], t.start[1:], strict=True)):
        at = first + max(int(np.searchsorted(t.knot[first:last], time, side="right")) - 1, 0)
        of = np.polynomial.Polynomial(t.coefficient[at])
        values[k] = [of.deriv(m)(time - t.knot[at]) if m else of(time - t.knot[at]) for m in range(3)]


def with_angles(system, z, parameters):
    """z (n, LANES) as compiled code takes it: behind it are the work, which no force reads, and angles of forces at the start."""
    _, angles = values_at_start(system, np.atleast_2d(parameters))
    behind = np.hstack([np.zeros((len(angles), 1)), angles])
    return np.concatenate([z, np.broadcast_to(behind, (LANES, behind.shape[1])).T])


def in_lanes(system, z, times, parameters=None):
    """Q (rates, LANES), power and energy (LANES,) by compiled code."""
    one = parameters_of_forces(system) if parameters is None else parameters
    rows = np.ascontiguousarray(np.broadcast_to(np.atleast_2d(one), (LANES, np.shape(one)[-1])).T)
    rates = len(z) - trees_of(system).tree.places[0][-1]
    found = np.full((rates, LANES), np.nan), np.full(LANES, np.nan), np.full(LANES, np.nan)
    arrays = [with_angles(system, z, one), signals_at(system, times), rows, *found]
    call(address_of_forces(system), arrays)
    return found


def call(address, arrays):
    """Call a function of addresses of arrays."""
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))
    kind(address)(*(array.ctypes.data for array in arrays))


def expected(system, z, times, place=None, begin=None):
    """The same from the forces on bodies in absolute coordinates, whose velocities are linear in the rates.

    ``begin(work, lane)`` may set modes of contacts.
    """
    tree = tree_data(trees_of(system).tree if place is None else place, system.gravity)
    first, bodies = tree.u[0], len(tree.step)
    rates, memory, work = len(z) - first, lift_workspace(len(tree.kind)), workspace_for(system.data)
    Q, power, energy = np.zeros((rates, LANES)), np.zeros(LANES), np.zeros(LANES)
    for lane in range(LANES):
        y, moved, y_dot = np.zeros(STATE * bodies), np.zeros(STATE * bodies), np.zeros(STATE * bodies)
        own = np.ascontiguousarray(z[:, lane])
        lift_once(tree, memory, own, y)
        if begin is not None:
            begin(work, lane)
        derivative_once(float(times[lane]), y, system.data, work, y_dot)
        power[lane] = work.power.sum()
        energy[lane] = (
            work.loads.energy[0] + work.forces.out[:, ENERGY].sum() + work.contacts.outputs[:, POTENTIAL].sum()
        )
        for k in range(rates):
            own[first:] = np.eye(rates)[k]
            lift_once(tree, memory, own, moved)
            Q[k, lane] = (work.wrench[1:] * moved.reshape(-1, STATE)[:, V:]).sum()
    return Q, power, energy


def add_force(b, kind, seed, bodies):
    """A force of a kind with random values between random bodies."""
    random, case = np.random.default_rng([seed, 9]), Case(kind, seed)
    ends = [str(body) for body in random.permutation(bodies)[: case.count]]
    ends += ends[1:2] * (case.count - len(ends))
    if set(case.module.BODIES) | {body for _, _, body in case.module.VECTORS} == {"i"}:
        ends = [next(body for body in ends if body != "ground"), "ground"]
    over = dict(zip(("body_k", "body_l"), ends[2:], strict=False))
    values = {v: case.local[v] for v, *_ in case.module.VECTORS if v in case.module.KEYWORDS} | case.values
    b.force(f"f_{kind}", kind, *ends[:2], **values, **dict.fromkeys(case.module.TABLES, TABLE), **over)


def foot_with_forces():
    """The foot with forces at its ankle: of points, of directions, of a table, a motor with gains."""
    b = builder_of(models.foot.build())
    for seed, kind in enumerate(("spring_damper", "torsional_spring", "tabulated_spring"), 3):
        add_force(b, kind, seed, ["leg", "main_foot"])
    wave = Signal.function(np.sin, 0.0, 1.0)
    b.load("push", "main_foot", force=(wave, 1.0, 0.0), point=(0.1, 0.0, 0.02), attached=True)
    axes = dict(a_i=(0.6, 0.8, 0), h_i=(0, 0, 1), b_j=(1, 0, 0))
    b.motor("drive", "guided_angle", "leg", "main_foot", **axes, theta_t=wave, stiffness=2.0, damping=0.1, effort=wave)
    b.motor(
        "pull",
        "guided_distance",
        "leg",
        "main_foot",
        s_i=(0.1, 0, 0),
        s_j=(0, 0.1, 0),
        l_t=0.2,
        stiffness=3.0,
        effort=1.0,
    )
    return b.build()
