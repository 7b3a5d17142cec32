"""The derivative of y' over the state y, for methods that integrate the states as plain numbers.

It is made of the Jacobian of the accelerations over displacements and velocities (``runtime.dynamics.jacobian``): a change dp of
Euler parameters is a rotation by 2 G dp / |p|^2, and p' = 1/2 G(p)^T omega is linear in p and in omega.

A whole-model kernel takes bodies that are fixed to the ground at their reference pose, so its derivatives over the states of
these bodies, which stay there, are other ones.
"""

from __future__ import annotations

from runtime.dynamics.equations import accelerations
from runtime.dynamics.jacobian import jacobian
from runtime.dynamics.kinematics import euler_rates, turn_of
from runtime.dynamics.layout import OK, OMEGA, STATE, P, R, V
from runtime.jit.compilation import compiled, inlined


@inlined
def _set_kinematics(e, omega, o, memory, out):  # type: ignore[no-untyped-def]
    """Derivatives of r' and p' of the body whose state begins at ``o``."""
    unit, image = memory[0], memory[1]
    for k in range(4):
        for c in range(4):
            unit[c] = 1.0 if c == k else 0.0
        euler_rates(unit, omega, image)
        for c in range(4):
            out[o + P + c, o + P + k] = image[c]
        if k < 3:
            out[o + R + k, o + V + k] = 1.0
            euler_rates(e, unit, image)
            for c in range(4):
                out[o + P + c, o + OMEGA + k] = image[c]


@inlined
def row_of(r, m):  # type: ignore[no-untyped-def]
    """Place in a state of row r of the Jacobian: of one of m velocities, or of a state of a force behind these."""
    return STATE * (r // 6) + V + r % 6 if r < m else STATE * (m // 6) + r - m


@inlined
def _set_accelerations(e, b, J, memory, out):  # type: ignore[no-untyped-def]
    """Derivatives of all accelerations and rates of states of forces over the state of body b, counted from 0."""
    m, o, unit, turn = J.shape[1] - len(J), STATE * b, memory[0], memory[1]
    square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]
    for r in range(len(J)):
        row = row_of(r, m)
        for c in range(3):
            out[row, o + R + c] = J[r, 6 * b + c]
        for c in range(6):
            out[row, o + V + c] = J[r, m + 6 * b + c]
    for k in range(4):
        for c in range(4):
            unit[c] = 1.0 if c == k else 0.0
        turn_of(e, unit, turn)
        for r in range(len(J)):
            value = 0.0
            for c in range(3):
                value += J[r, 6 * b + 3 + c] * turn[c]
            out[row_of(r, m), o + P + k] = value / square


@inlined
def _set_jacobian(y, m, memory, out):  # type: ignore[no-untyped-def]
    moving = m.J.shape[1] - len(m.J)
    for b in range(moving // 6):
        o = STATE * b
        e = y[o + P : o + V]
        _set_kinematics(e, y[o + OMEGA : o + STATE], o, memory, out)
        _set_accelerations(e, b, m.J, memory, out)
    for r in range(len(m.J)):
        for c in range(moving, len(m.J)):
            out[row_of(r, moving), row_of(c, moving)] = m.J[r, moving + c]


@compiled
def state_jacobians(times, states, t, w, m, memory, out):  # type: ignore[no-untyped-def]
    """Put the derivatives of y' over states (k, n) at times (k,) into ``out`` (k, n, n), which is 0; memory (2, 4).

    Along the length of Euler parameters those of the accelerations are 0.  Returns as of ``derivatives``.
    """
    for k in range(len(states)):
        code = accelerations(times[k], states[k], t, w, False)
        if code != OK:
            return k, code
        jacobian(t, w, m)
        _set_jacobian(states[k], m, memory, out[k])
    return len(states), OK
