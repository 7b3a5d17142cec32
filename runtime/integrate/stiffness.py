"""Stiffness: whether the last step speaks for the other of the two compiled methods, dop853 and radau.

A step of dop853 speaks for radau where stability bounds it (Hairer and Wanner 1996, section IV.2); where the motion is slow: in
the step the accelerations change by little, both against the fastest time constant and against the change that accuracy would
allow; and at rest, where the accelerations are errors.  Slow motion shows stiffness at small tolerances too, where the error
estimate keeps the step below the stability bound.  A step of radau speaks for dop853 where the latter's steps would cost less.

The constants come from measurements on pendulums, feet, chains, contacts, a flyball governor and two bodies on a damper: at
tolerances from 1e-11 to 1e-4 motions that are not stiff had at most one slow step in a row, stiff ones dozens.
"""

from __future__ import annotations

from runtime.dynamics.layout import STATE, V
from runtime.integrate.stepping import norm_of
from runtime.jit.compilation import inlined

STABLE = 5.5  # below the length of dop853's interval of stability
SLOW = 0.05  # change of the accelerations in a step over that in the fastest time constant
CHANGE = 0.7  # half of what radau allows in a step, over the sixth root of the tolerance
BREAK = 6  # steps in a row that end a run of steps that speak for the other method
REST = 10.0  # change of the state in a step at rest, in units of the tolerance
WORTHWHILE = 200  # steps of dop853 that are left: fewer take less time than it takes to load radau's machine code


@inlined
def cost_ratio(bodies):  # type: ignore[no-untyped-def]
    """Cost of a step of radau over that of a step of dop853, as measured: evaluations, Jacobian, factors of matrices."""
    return 1.5 + 0.25 * bodies + 0.04 * bodies * bodies


@inlined
def slow(m, begin, end, square, tolerance):  # type: ignore[no-untyped-def]
    """Whether the accelerations change slowly between two derivatives; ``square`` of step length times largest eigenvalue."""
    changes = size = size_end = 0.0
    bodies, n = m.bodies[0], len(m.y)
    if bodies == 0:  # coordinates of a tree, and their rates
        bodies = n // 2
        for i in range(n // 2, n):
            changes += (end[i] - begin[i]) ** 2
            size += begin[i] ** 2
            size_end += end[i] ** 2
    for b in range(m.bodies[0]):
        for i in range(STATE * b + V, STATE * (b + 1)):
            changes += (end[i] - begin[i]) ** 2
            size += begin[i] ** 2
            size_end += end[i] ** 2
    size = max(size, size_end)
    if not changes < size * SLOW * SLOW * square:  # most steps; a root takes longer than all that is above
        return False
    allowed = CHANGE * tolerance ** (1.0 / 6.0) / cost_ratio(bodies)
    return changes < size * allowed * allowed


@inlined
def resting(m, begin, square, rtol, atol):  # type: ignore[no-untyped-def]
    """Whether a step changes the state by little more than its error, so that no accuracy asks for a step as short as this."""
    return square > 1.0 and m.s.length[0] * norm_of(m, begin, m.y, rtol, atol) < REST


@inlined
def speaks(m, other):  # type: ignore[no-untyped-def]
    """Count a step that speaks for the other method, or one that does not; whether there are enough of the former for a turn."""
    if other:
        m.s.speaking[0] += 1
        m.s.silent[0] = 0
    else:
        m.s.silent[0] += 1
        if m.s.silent[0] >= BREAK:
            m.s.speaking[0] = 0
    return m.s.speaking[0] >= m.s.needed[0]
