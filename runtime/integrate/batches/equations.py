"""Derivatives of the states of all lanes, by functions of lanes."""

from __future__ import annotations

from runtime.dynamics.elimination import PIVOT_TOLERANCE, code_of_pivot
from runtime.dynamics.layout import OK
from runtime.integrate.batches.forces import behind_rates, call_equations, forces_in_steps, forces_when_ready
from runtime.jit import addresses
from runtime.jit.compilation import columns, inlined

LARGEST_WORST = 1.0 / PIVOT_TOLERANCE**2  # of an evaluation that is neither singular nor infinite


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
def rates_in_steps(m, address, fraction, y, out, codes):  # type: ignore[no-untyped-def]
    """Derivatives of all lanes in states y at a fraction of their steps; ``codes`` as of ``evaluate``."""
    forces_in_steps(m, fraction, y, out)
    evaluate(m, address, y, m.forces.own, m.constants, out, codes)


@inlined
def rates_when_ready(m, address, begin, fraction, y, out):  # type: ignore[no-untyped-def]
    """Derivatives of the cases that are ready, in states y at a fraction of their first steps."""
    forces_when_ready(m, begin, fraction, y, out)
    evaluate(m, address, y, m.forces.waiting, m.ready_constants, out, m.s.ready_code)
