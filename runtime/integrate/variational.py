"""The equations of motion together with their variational equations, in compiled code.

    y' = f(y, theta),     z' = df/dy z + df/dtheta

for a state y and its derivatives z with respect to K parameters theta.  df/dy is the exact Jacobian of
``runtime.dynamics.jacobian``.  df/dtheta, the effect of a parameter on joints, limits, loads, motors and signals at a state, is a
difference of order six of systems with nearby parameters; their limits share the modes of the system itself, so that no
difference reaches across a cone.  State and derivatives form one long state for the integration loop, which evaluates it
through ``Workspace.address``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np

from runtime.dynamics.equations import place_of_part, workspace_for
from runtime.dynamics.jacobian import JacobianWorkspace, jacobian
from runtime.dynamics.kinematics import euler_rates, turn_of
from runtime.dynamics.layout import DERIVATIVE as VALUE
from runtime.dynamics.layout import OK, OMEGA, STATE, P, V
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.places import ADDRESSES, EVALUATION
from runtime.jit.pointers import array_at, at_address, call_at
from runtime.jit.references import Reference
from runtime.support.arrays import Floats, Ints
from runtime.system.system import System
from runtime.system.workspaces import workspace_of_jacobian

ITSELF, DIRECTIONS = ADDRESSES, ADDRESSES + 1  # places in ``Workspace.address``, beside those of every system
# Places of the nearby systems, as fractions of the step: on both sides, or on one.  The latter are the points of Chebyshev, whose
# weights, and with them the rounding error of the slope, are smallest.
BOTH_SIDES = np.array([1.0, -1.0, 0.5, -0.5, 0.25, -0.25])
AHEAD = (1.0 - np.cos(np.pi / 6.0 * np.arange(1, 7))) / 2.0


def weights(places: Floats) -> Floats:
    """Weights with which the changes from the value at 0 to those at the places add up to the slope at 0.

    Exact for polynomials of as high a degree as there are places.
    """
    powers = np.arange(1, len(places) + 1)
    first = np.where(powers == 1, 1.0, 0.0)
    return np.asarray(np.linalg.solve(places ** powers[:, None], first), float)


class Directions(NamedTuple):
    """Parameters of the derivatives, as nearby systems, and memory."""

    jacobian: JacobianWorkspace
    data: Ints  # (K, 6) addresses of the data of the nearby systems, 0 for a parameter of the initial state
    works: Ints  # (K, 6) addresses of their memory
    factors: Floats  # (K, 6)
    rates: Floats  # (13 bodies,) memory
    change: Floats  # (12 bodies,) displacements, then changes of velocity
    p: Floats  # (4,)


class Varied:
    """Memory for the evaluation of a system with its derivatives with respect to K parameters.

    ``nearby``: for each parameter the data of six nearby systems and the weights (6,) with which their changes add up to the
    derivative; None for a parameter of the initial state.
    """

    def __init__(
        self, system: System, data: ModelData, nearby: Sequence[tuple[Sequence[ModelData], Floats] | None]
    ) -> None:
        n, count = STATE * len(system.bodies), len(nearby)
        work = workspace_for(data)
        mode = work.limits.mode
        self._kept: list[Reference] = []
        places, works, factors = np.zeros((count, 6), np.int64), np.zeros((count, 6), np.int64), np.zeros((count, 6))
        for k, six in enumerate(nearby):
            if six is None:
                continue
            others, factors[k] = six
            for q, other in enumerate(others):
                memory = workspace_for(other)
                memory = memory._replace(limits=memory.limits._replace(mode=mode))  # the modes of the system itself
                places[k, q], works[k, q] = self._keep(other), self._keep(memory)
        directions = Directions(
            workspace_of_jacobian(system),
            places,
            works,
            factors,
            np.zeros(n),
            np.zeros(12 * len(system.bodies)),
            np.zeros(4),
        )
        if not _TYPES:
            globals()["_TYPES"] = (numba.typeof(data), numba.typeof(work), numba.typeof(directions))
        address = np.zeros(ADDRESSES + 2, np.int64)
        address[: len(work.address)] = work.address
        address[EVALUATION], address[ITSELF] = place_of_part(_entry), work.address[EVALUATION]
        address[DIRECTIONS] = self._keep(directions)
        self.work = work._replace(address=address)

    def _keep(self, value: ModelData | Workspace | Directions) -> int:
        self._kept.append(Reference(value))
        return self._kept[-1].address


_TYPES: tuple[Any, ...] = ()  # of data, memory and directions, identical for all systems


def _entry(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """State derivative and its derivatives with respect to the parameters; a code."""
    d = at_address(w.address[DIRECTIONS], _TYPES[2])
    bodies, count, n = len(t.mass) - 1, len(d.factors), len(d.rates)
    states, slopes = array_at(y, (1 + count) * n), array_at(y_dot, (1 + count) * n)
    code = call_at(w.address[ITSELF], time, states, t, w, VALUE, slopes)
    if code != OK:
        return code
    jacobian(t, w, d.jacobian)
    J, change = d.jacobian.J, d.change
    for k in range(count):
        z, to = states[(1 + k) * n : (2 + k) * n], slopes[(1 + k) * n : (2 + k) * n]
        for b in range(bodies):
            o = STATE * b
            e, omega = states[o + P : o + V], states[o + OMEGA : o + STATE]
            dp, turn = z[o + P : o + V], change[6 * b + 3 : 6 * b + 6]
            turn_of(e, dp, turn)
            square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]
            for c in range(3):
                change[6 * b + c] = z[o + c]
                turn[c] /= square
            for c in range(6):
                change[6 * (bodies + b) + c] = z[o + V + c]
            for c in range(3):
                to[o + c] = z[o + V + c]
            euler_rates(dp, omega, d.p)
            euler_rates(e, z[o + OMEGA : o + STATE], to[o + P : o + V])
            for c in range(4):
                to[o + P + c] += d.p[c]
        for r in range(6 * bodies):
            value = 0.0
            for c in range(12 * bodies):
                value += J[r, c] * change[c]
            to[STATE * (r // 6) + V + r % 6] = value
        for q in range(6):
            if d.data[k, q] == 0:
                break
            other, memory = at_address(d.data[k, q], _TYPES[0]), at_address(d.works[k, q], _TYPES[1])
            code = call_at(w.address[ITSELF], time, states, other, memory, VALUE, d.rates)
            if code != OK:
                return code
            for b in range(bodies):
                for c in range(STATE * b + V, STATE * (b + 1)):
                    to[c] += d.factors[k, q] * (d.rates[c] - slopes[c])  # exactly 0 where the parameter has no effect
    return OK
