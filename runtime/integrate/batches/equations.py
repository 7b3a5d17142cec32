"""Derivatives of the states of all lanes: by functions of lanes, or for one lane by the equations of single runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.elimination import PIVOT_TOLERANCE, code_of_pivot
from runtime.dynamics.energy import REACTIONS
from runtime.dynamics.layout import DERIVATIVE, OK
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.places import ENERGY, EVALUATION
from runtime.integrate.batches.forces import behind_rates, call_equations, forces_in_steps, forces_when_ready
from runtime.integrate.memory_kinds import Common, Scratch
from runtime.jit import addresses
from runtime.jit.compilation import columns, inlined
from runtime.jit.pointers import call_at
from runtime.jit.references import reference
from runtime.support.arrays import Floats, Ints

LARGEST_WORST = 1.0 / PIVOT_TOLERANCE**2  # of an evaluation that is neither singular nor infinite


class Equations(NamedTuple):
    """The equations of a single run."""

    # (4,) places of the addresses of the evaluation and of the energies; addresses of the data and of the workspace; all 0: the
    # functions of lanes are used
    places: Common[Ints]
    drivers: Common[Ints]  # (1,) 1: there are some, whose powers depend on reactions
    pivot: Scratch[Floats]  # (1,) ``Workspace.smallest_pivot``
    power: Scratch[Floats]  # (sources,) ``Workspace.power``


def no_equations() -> Equations:
    """Those of a batch."""
    return Equations(np.zeros(4, np.int64), np.zeros(1, np.int64), np.zeros(1), np.zeros(0))


def equations_of(data: ModelData, work: Workspace) -> tuple[Equations, Any]:
    """Those of a system, and what must live as long as they do."""
    kept = reference(data), reference(work)
    places = [*work.address[[EVALUATION, ENERGY]], *(one.address for one in kept)]
    drivers = np.array([len(data.signal_joint)])
    return Equations(np.array(places), drivers, work.smallest_pivot, work.power), kept


@inlined
def call_lanes(address, y, constants, out, worst):  # type: ignore[no-untyped-def]
    """State derivatives of all lanes by the kernel of a whole model (on a graphics processor: ``batches.gpu``)."""
    addresses.call(address, y.ctypes.data, constants.ctypes.data, out.ctypes.data, worst.ctypes.data)


@inlined
def derive(m, address, y, own, constants, out):  # type: ignore[no-untyped-def]
    """State derivatives of all lanes, by a kernel or the recursion; ``own``: parameters of the forces, or of the equations."""
    x = m.forces
    if x.whole[0] == 1:
        call_equations(x.address[0], y, x.values, own, constants, out, out[behind_rates(m) :], x.energy, m.worst)
    else:
        call_lanes(address, y, constants, out, m.worst)


@inlined
def evaluate(m, address, y, own, constants, out, codes):  # type: ignore[no-untyped-def]
    """``derive``; ``codes`` (W,) keep the first code of a lane that is not OK."""
    derive(m, address, y, own, constants, out)
    if count_bad(m.worst) > 0:
        store_codes(m.worst, codes)


@columns
def count_bad(worst):  # type: ignore[no-untyped-def]
    """Number of lanes whose evaluation was singular or not finite."""
    bad = 0
    for lane in range(len(worst)):
        bad += 0 if worst[lane] < LARGEST_WORST else 1
    return bad


@inlined
def store_codes(worst, codes):  # type: ignore[no-untyped-def]
    """Codes of the last evaluation, in the lanes whose code so far is OK."""
    for lane in range(len(worst)):
        if not worst[lane] < LARGEST_WORST and codes[lane] == OK:
            codes[lane] = code_of_pivot(worst[lane])


@inlined
def rates_of_one(m, time, y, out, codes):  # type: ignore[no-untyped-def]
    """Derivative of the state y of a single run, with the powers of its sources behind the rates."""
    x, n = m.equations, m.size[0]
    code = call_at(x.places[0], time, y, x.places[2], x.places[3], DERIVATIVE, out)
    m.worst[0] = 1.0 / (x.pivot[0] * x.pivot[0])
    if code != OK and codes[0] == OK:
        codes[0] = code
    if len(x.power) > 0:
        if x.drivers[0] > 0:
            call_at(x.places[1], 0.0, y, x.places[2], x.places[3], REACTIONS, out)
        for k in range(len(x.power)):
            out[n + k] = x.power[k]


@inlined
def rates_in_steps(m, address, fraction, y, out, codes):  # type: ignore[no-untyped-def]
    """Derivatives of all lanes in states y at a fraction of their steps; ``codes`` as of ``evaluate``."""
    if m.W == 1 and m.equations.places[0] != 0:
        rates_of_one(m, m.s.time[0] + fraction * m.s.length[0], y, out, codes)
    else:
        forces_in_steps(m, fraction, y, out)
        evaluate(m, address, y, m.forces.own, m.constants, out, codes)


@inlined
def rates_when_ready(m, address, begin, fraction, y, out):  # type: ignore[no-untyped-def]
    """Derivatives of the cases that are ready, in states y at a fraction of their first steps."""
    if m.W == 1 and m.equations.places[0] != 0:
        rates_of_one(m, begin + (fraction * m.s.ready_length[0] if fraction > 0.0 else 0.0), y, out, m.s.ready_code)
    else:
        forces_when_ready(m, begin, fraction, y, out)
        evaluate(m, address, y, m.forces.waiting, m.ready_constants, out, m.s.ready_code)
