"""The implicit Runge-Kutta method Radau IIA of order 5 with the exact Jacobian, in compiled code, for stiff systems.

Hairer and Wanner (1996), Solving Ordinary Differential Equations II, sections IV.8 and IV.9.  Newton's method solves for the
stages; a system of linear equations for a state is reduced to one for velocities: with the eigenvalue
mu = lambda / h of the method, displacements are dr = (R_r + dv) / mu and
dp = (mu - P)^-1 (R_p + 1/2 G^T domega), where P dp = 1/2 G(dp)^T omega has the square -|omega|^2 / 4.  The rotations 2 G dp are
T domega and a part of R_q, so

    (mu - J_u - J_q T) du = R_u + J_q R_q

where J_q and J_u are the derivatives of the accelerations (``runtime.dynamics.jacobian``).
Between its ends a step is a polynomial of degree 5 of the positions, which r, v and v' at both ends give.  Where a force is so
stiff, as friction that sticks, that a v within the tolerance gives a v' far off, the slope of the stages replaces v'.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from runtime.dynamics.energy import powers
from runtime.dynamics.equations import accelerations, derivative
from runtime.dynamics.jacobian import JacobianWorkspace, jacobian
from runtime.dynamics.layout import LOADS, OK, OMEGA, STATE, P, R, V
from runtime.dynamics.lift import OF_TURN
from runtime.dynamics.places import EVALUATION
from runtime.integrate import stepping
from runtime.integrate.balance import BEFORE, BEGIN, DONE, END, TRIAL, UNRESOLVED_NOW
from runtime.integrate.dop853 import ties_of_bodies
from runtime.integrate.quintic import put_slopes
from runtime.integrate.radau.coefficients import COEFFICIENTS, STAGES, Coefficients
from runtime.integrate.radau.linear import EIGENVALUE, FACTORISE, FASTEST_RATE, SOLVE, solve_linear
from runtime.integrate.radau.newton import (
    FACTORISED,
    FACTORS_OF,
    FRESH,
    HAS_LAST_STEP,
    LAST_ATTEMPT,
    LAST_BEGIN,
    LAST_ERROR,
    LAST_LENGTH,
    MAX_ITERATIONS,
    MODES,
    THETA,
    iterate,
    norm_in,
    predict,
    predict_middle,
    scale_of,
    through_stages,
)
from runtime.integrate.stepping import (
    normalise,
    serves,
)
from runtime.integrate.stiffness import cost_ratio, speaks
from runtime.jit.compilation import inlined
from runtime.jit.pointers import call_at
from runtime.support.arrays import Floats, Ints

ROUNDING = 2.2e-16
SHORT = 1e-6  # [s] in shorter steps the slopes of positions have lost the digits of velocities
WANTED = 0.25  # rate of Newton's method up to which a step may grow; it grows as h^2 where a stiff direction turns
EXPLAINED = 0.5  # part of a change of the derivative that the Jacobian may leave unexplained
LOOSER = 18.0  # times the tolerance, at most, of the estimate: errors of the result stay in proportion to the tolerance
BESIDE_POSE = 0.3  # of the largest pivot of a closed loop: a smaller pivot is next to a singular pose
REUSE = 1e-3  # a Jacobian with which Newton's method converges at least so fast is used for the next step too
SAFETY, SLOWEST, FASTEST = 0.9, 0.2, 8.0
INFLUENCE = 0.06  # of an error of v' at an end on velocities between, per length of the step
KEEP = 1.2  # a step that could grow by less keeps its length, and the factors of its matrices


class Memory(NamedTuple):
    """Memory of the method."""

    coefficients: Coefficients
    jacobian: JacobianWorkspace
    z: Floats  # (3, n) stages less the start
    z_last: Floats  # (3, n) of the last accurate step, which predicts those of the next, of its repetition or its part
    f: Floats  # (3, n) derivatives at the stages
    middle: Floats  # (n,) state of the Jacobian
    real: Floats  # (n,) in eigenvectors
    pair: np.ndarray  # (n,) complex
    right: Floats  # (n,) right-hand sides, then corrections
    right_pair: np.ndarray
    lu: Floats  # (m, m) factors, m = 6 bodies + states of forces
    lu_pair: np.ndarray
    turns: Ints  # (2, m) exchanges of rows
    u: Floats  # (m,)
    u_pair: np.ndarray
    T: Floats  # (3, 3) rotation of a body by a change of its omega
    T_pair: np.ndarray
    p: Floats  # (3, 4)
    p_pair: np.ndarray
    q: Floats  # (m,) displacements of the right-hand side
    q_pair: np.ndarray
    dense: Floats  # (2, n) derivatives at the ends of the last step, for polynomials of the positions
    slopes: Floats  # (2, n) slopes of the stages at both ends of the last step where these replace y', else NaN
    error: Floats  # (n,)
    bounds: Floats  # (n,) upper bounds of the tolerances of the stages; see ``runtime.integrate.transition_velocities``
    ties: Ints  # (4 bodies, 3) as of ``dop853.Memory``
    fastest: Floats  # (6 bodies + m,) displacements and velocities of the fastest mode
    kept: Ints  # (4,) 1: J is that of this step; 1: factors exist; code of the modes they belong to; 1: there is a last step
    # (7,) step length of the factors; length and error of the last step; rate of Newton's method; time of the last attempt;
    # start of the last step; modulus of the Jacobian's largest eigenvalue, where turns to dop853 are wanted
    last: Floats


def memory(bodies: int, jacobian: JacobianWorkspace, motions: int = 1) -> Memory:
    """Memory for a system of bodies, and of forces whose states the Jacobian knows; ``motions``: with neighbouring ones."""
    m = len(jacobian.J)
    n = motions * (STATE * bodies + m - 6 * bodies)
    return Memory(
        coefficients=COEFFICIENTS, jacobian=jacobian, z=np.zeros((3, n)), z_last=np.zeros((3, n)), f=np.zeros((3, n)),
        middle=np.zeros(n), real=np.zeros(n), pair=np.zeros(n, complex), right=np.zeros(n), right_pair=np.zeros(n, complex),
        lu=np.zeros((m, m)), lu_pair=np.zeros((m, m), complex), turns=np.zeros((2, m), np.int64), u=np.zeros(m),
        u_pair=np.zeros(m, complex), T=np.zeros((3, 3)), T_pair=np.zeros((3, 3), complex), p=np.zeros((3, 4)),
        p_pair=np.zeros((3, 4), complex), q=np.zeros(m), q_pair=np.zeros(m, complex), dense=np.zeros((2, n)),
        slopes=np.full((2, n), np.nan), error=np.zeros(n), bounds=np.full(n, np.inf),
        kept=np.zeros(4, np.int64), last=np.zeros(7), ties=ties_of_bodies(bodies), fastest=np.cos(np.arange(jacobian.J.shape[1])),
    )  # fmt: skip


@inlined
def code_of_modes(m, w):  # type: ignore[no-untyped-def]
    """A code of the modes of all limits and contacts, and of the kinks of forces that were passed."""
    value = 1 + int(m.s.passed_kinks[0])
    for k in range(len(w.switches.mode)):
        value = (5 * value + w.switches.mode[k]) % 1000000007
    return value


@inlined
def begin_attempt(own, modes, time):  # type: ignore[no-untyped-def]
    """Mark what an attempt at this time, with these modes of limits and contacts, can no longer use of the attempts before."""
    other_modes = modes != own.kept[MODES]
    if other_modes or own.last[LAST_ATTEMPT] != time:
        own.kept[FRESH] = 0
        if other_modes:
            own.kept[HAS_LAST_STEP] = 0
        if other_modes or not own.last[THETA] <= REUSE:
            own.kept[FACTORISED] = 0
        own.kept[MODES], own.last[LAST_ATTEMPT] = modes, time


@inlined
def prepare_matrices(m, t, w, h):  # type: ignore[no-untyped-def]
    """Jacobian and LU factors for a step of length h, unless they are up to date; False if it fails, and a code."""
    own = m.own
    if own.kept[FRESH] == 0 and own.kept[FACTORISED] == 0:
        predict_middle(m, h)
        time = m.s.time[0] + (0.5 * h if own.kept[HAS_LAST_STEP] == 1 else 0.0)
        code = accelerations(time, own.middle, t, w, False)
        m.s.evaluations[0] += 1
        if code != OK:
            return False, code
        jacobian(t, w, own.jacobian)
        if m.s.needed[0] > 0:
            solve_linear(EIGENVALUE, m, t, w, h)
        own.kept[FRESH] = 1
    if own.kept[FACTORISED] == 0 or own.last[FACTORS_OF] != h:
        if solve_linear(FACTORISE, m, t, w, h) != OK:
            return False, OK
        own.kept[FACTORISED], own.last[FACTORS_OF] = 1, h
    return True, OK


@inlined
def is_explained(own, m, rtol, atol):  # type: ignore[no-untyped-def]
    """Whether the Jacobian explains how the error changes the derivative, as it does unless friction or a stop sets in."""
    for i in range(len(m.y)):
        own.f[2, i] = own.f[0, i] - m.begin[i] - own.f[1, i]
    return norm_in(own, own.f[2], m.y, rtol, atol) <= EXPLAINED * norm_in(own, own.f[1], m.y, rtol, atol)


@inlined
def estimate_error(m, t, w, h, rtol, atol):  # type: ignore[no-untyped-def]
    """Error of the step in units of the tolerance, from the stages; of a first or repeated step, filtered once more."""
    own, n, coefficients = m.own, len(m.y), m.own.coefficients
    for i in range(n):
        own.right[i] = m.begin[i]
        for q in range(STAGES):
            own.right[i] += coefficients.error[q] * own.z[q, i] / h
    for i in range(n):
        own.error[i] = own.right[i] - m.begin[i]
    solve_linear(SOLVE, m, t, w, h)
    error = norm_in(own, own.right, m.y, rtol, atol)
    if error >= 1.0 and (m.s.after_rejection[0] == 1 or own.kept[HAS_LAST_STEP] == 0):
        for i in range(n):
            # What the Jacobian makes of the error, from the equation that was solved for it.
            own.f[1, i] = coefficients.real / h * own.right[i] - m.begin[i] - own.error[i]
            own.right[i] += m.y[i]
        code = derivative(m.s.time[0], own.right, t, w, own.f[0])
        m.s.evaluations[0] += 1
        if code == OK and is_explained(own, m, rtol, atol):
            for i in range(n):
                own.right[i] = own.f[0, i] + own.error[i]
            solve_linear(SOLVE, m, t, w, h)
            error = norm_in(own, own.right, m.y, rtol, atol)
    return max(error, 1e-10)


@inlined
def factor_of_step(own, h, error, iterations):  # type: ignore[no-untyped-def]
    """Factor for the next step: fewer iterations allow a longer one, and an accepted step uses the error of the last one too."""
    safety = SAFETY * (2 * MAX_ITERATIONS + 1) / (2 * MAX_ITERATIONS + iterations)
    factor = safety * error**-0.25
    if error > 1.0:
        return min(1.0, max(SLOWEST, factor))
    if own.last[LAST_ERROR] > 0.0:
        factor = min(factor, factor * h / own.last[LAST_LENGTH] * (own.last[LAST_ERROR] / error) ** 0.25)
    if own.last[THETA] > 0.0:
        factor = min(factor, max(1.0, math.sqrt(WANTED / own.last[THETA])))
    factor = min(FASTEST, max(SLOWEST, factor))
    return 1.0 if 1.0 <= factor <= KEEP and own.last[THETA] <= REUSE else factor


@inlined
def tolerance_of_estimate(m, tolerance):  # type: ignore[no-untyped-def]
    """The estimate is of order 3, and a larger tolerance for it corresponds to that of the result of order 5.  Hairer, RADAU5.

    It has a bound, except next to a singular pose, where accelerations lose the digits that a smaller tolerance would take.
    """
    looser = 0.1 * tolerance ** (2.0 / 3.0)
    if m.s.projected[0] == 1 and m.s.pivot_at_begin[0] < BESIDE_POSE * m.s.largest_pivot[0]:
        return looser
    return min(looser, LOOSER * tolerance)


@serves(stepping.attempt, Memory)
def attempt(m, t, w, h, rtol, atol):  # type: ignore[no-untyped-def]
    """Jacobian and factors unless they are up to date, Newton's method for the stages, and the error."""
    own = m.own
    tolerance, of_result = max(rtol, atol), (rtol, atol)
    looser = tolerance_of_estimate(m, tolerance)
    enough = max(10.0 * ROUNDING / looser, min(0.03, math.sqrt(looser)))
    atol, rtol = atol * looser / tolerance, rtol * looser / tolerance
    m.s.error[0], m.s.factor[0], m.s.smallest_pivot[0] = np.inf, 0.5, np.inf
    begin_attempt(own, code_of_modes(m, w), m.s.time[0])
    for _ in range(2):
        prepared, code = prepare_matrices(m, t, w, h)
        if not prepared:
            return code
        predict(m, h)
        iterations, code = iterate(m, t, w, h, rtol, atol, enough)
        if iterations > 0 or own.kept[FRESH] == 1:
            break
        own.kept[FACTORISED] = 0
    if iterations < 0:
        if code == OK:
            m.s.error[0] = 2.0
        own.kept[FRESH] = own.kept[FACTORISED] = 0  # the middle of a shorter step is elsewhere
        return code
    for i in range(len(m.y)):
        m.trial[i] = m.y[i] + own.z[STAGES - 1, i]
    error = estimate_error(m, t, w, h, rtol, atol)
    m.s.error[0], m.s.factor[0] = error, factor_of_step(own, h, error, iterations)
    if error > 1.0:
        return OK
    code = integrate_powers(m, t, w, h)
    keep_slopes(m, h, of_result[0], of_result[1])
    own.last[LAST_LENGTH], own.last[LAST_ERROR], own.last[LAST_BEGIN] = h, max(error, 1e-2), m.s.time[0]
    for q in range(STAGES):
        for i in range(len(m.y)):
            own.z_last[q, i] = own.z[q, i]
    own.kept[HAS_LAST_STEP] = 1
    return code


@inlined
def integrate_powers(m, t, w, h):  # type: ignore[no-untyped-def]
    """The derivative and the work at the end of an accurate step; a code."""
    own, b, nodes = m.own, m.balance, m.own.coefficients.nodes
    if b.work.shape[1] > 0:
        for q in range(len(own.z) - 1):
            for i in range(len(m.y)):
                own.error[i] = m.y[i] + own.z[q, i]
            time = m.s.time[0] + nodes[q] * h
            if len(t.signal_joint) > 0 or len(t.forces.reactive) > 0:
                derivative(time, own.error, t, w, own.f[q])  # powers of drivers and of friction by reactions need it
                m.s.evaluations[0] += 1
            else:
                call_at(w.address[EVALUATION], time, own.error, t, w, LOADS, own.f[q])
            powers(own.error, own.f[q], t, w, b.power[1 + q])
    code = derivative(m.s.time[0] + h, m.trial, t, w, m.end)
    m.s.evaluations[0] += 1
    if b.work.shape[1] > 0:
        powers(m.trial, m.end, t, w, b.power[END])
        b.energy[UNRESOLVED_NOW] = 0.0
        for k in range(b.work.shape[1]):
            b.power[0, k], b.power[STAGES, k] = b.power[BEGIN, k], b.power[END, k]
            b.work[TRIAL, k] = b.work[DONE, k] + h * integral(own.coefficients, b, k, 1.0)
            b.energy[UNRESOLVED_NOW] += h * abs(cubic_part(own.coefficients, b, k))
    return code


@inlined
def integral(coefficients, b, k, x):  # type: ignore[no-untyped-def]
    """Integral of the power of source k until the fraction x of the step, over the length of the step."""
    value = 0.0
    for d in range(STAGES, -1, -1):
        term = 0.0
        for q in range(STAGES + 1):
            term += coefficients.integral[d, q] * b.power[q, k]
        value = (value + term) * x
    return value


@inlined
def cubic_part(coefficients, b, k):  # type: ignore[no-untyped-def]
    """Part of ``integral`` of a step due to the highest power of the polynomial."""
    part = 0.0
    for q in range(STAGES + 1):
        part += coefficients.integral[STAGES, q] * b.power[q, k]
    return part


@serves(stepping.interpolate_work, Memory)
def interpolate_work(m, time, work):  # type: ignore[no-untyped-def]
    """The integral of the polynomial of degree 3 through the powers at the start and at the stages."""
    h = m.s.length[0]
    for k in range(len(work)):
        work[k] = m.balance.work[BEFORE, k] + h * integral(m.own.coefficients, m.balance, k, (time - m.s.began[0]) / h)


@inlined
def keep_slopes(m, h, rtol, atol):  # type: ignore[no-untyped-def]
    """Replace accelerations whose error would be that of velocities between the ends, by the slopes of the stages."""
    own = m.own
    follows = (
        own.kept[HAS_LAST_STEP] == 1 and abs(own.last[LAST_BEGIN] + own.last[LAST_LENGTH] - m.s.time[0]) <= 1e-12 * h
    )
    for b in range(m.bodies[0]):
        for i in range(STATE * b + V, STATE * (b + 1)):
            own.slopes[0, i] = own.slopes[1, i] if follows else np.nan
            first, second, third = through_stages(own, own.z, i)
            slope = first + 2.0 * second + 3.0 * third
            replaced = INFLUENCE * abs(h * m.end[i] - slope) > scale_of(own, i, m.trial[i], rtol, atol)
            own.slopes[1, i] = slope / h if replaced else np.nan


@inlined
def slope_at(m, end, i):  # type: ignore[no-untyped-def]
    """The acceleration in place i of the state at an end of the last step."""
    slope = m.own.slopes[end, i]
    if slope == slope:
        return slope
    return m.begin[i] if end == 0 else m.end[i]


@serves(stepping.check_stiffness, Memory)
def check_stiffness(m, rtol, atol, max_step, end):  # type: ignore[no-untyped-def]
    """1 if dop853 should go on: if its steps would cost less, being as long as the last stiff one for the largest eigenvalue."""
    if m.s.needed[0] == 0:
        return 0
    bound = m.s.length[0] * m.own.last[FASTEST_RATE]
    return 1 if speaks(m, bound < m.s.reach[0] * cost_ratio(m.bodies[0])) else 0


@serves(stepping.prepare_dense, Memory)
def prepare_dense(m, t, w):  # type: ignore[no-untyped-def]
    """Derivatives at both ends, by which ``interpolate`` finds the polynomials of degree 5 of r and p."""
    if m.s.dense_ready[0] == 1:
        return OK
    for i in range(len(m.y)):
        m.own.dense[0, i], m.own.dense[1, i] = slope_at(m, 0, i), slope_at(m, 1, i)
    m.s.dense_ready[0] = 1
    return OK


@inlined
def through(m, x, y, first):  # type: ignore[no-untyped-def]
    """The polynomial of degree 3 through the stages, at the fraction x of the step, of components from ``first`` on."""
    own = m.own
    for i in range(first, len(y)):
        a, b, c = through_stages(own, own.z, i)
        y[i] = m.y_old[i] + x * (a + x * (b + x * c))


@serves(stepping.between_ends, Memory)
def between_ends(m, x, y):  # type: ignore[no-untyped-def]
    """The polynomial of degree 3 through the stages."""
    through(m, x, y, 0)


@serves(stepping.interpolate, Memory)
def interpolate(m, time, y):  # type: ignore[no-untyped-def]
    """Positions from their polynomials, velocities from the slopes of these; states of forces from the stages.

    In a very short step all are from the stages.
    """
    own, h = m.own, m.s.length[0]
    x = (time - m.s.began[0]) / h
    if h < SHORT:
        through(m, x, y, 0)
        normalise(y, m.bodies[0])
        return
    through(m, x, y, STATE * m.bodies[0])
    for b in range(m.bodies[0]):
        o = STATE * b
        for c in range(3):
            put_slopes(m, o + R + c, o + V + c, 1, x, own.dense[0], own.dense[1], y)
        put_slopes(m, o + P, o + OMEGA, OF_TURN, x, own.dense[0], own.dense[1], y)
