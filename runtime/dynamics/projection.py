"""Moving a configuration onto the constraints by the least change, and the rank of the constraints there."""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.elimination import DAMPING, apply, factorise, solve
from runtime.dynamics.kinematics import euler_rates, update_kinematics
from runtime.dynamics.layout import OK, OMEGA, ROWS, STATE, P, R, V
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.places import CORRECTION, PROJECTION
from runtime.jit.compilation import compiled, expanded, inlined
from runtime.jit.pointers import array_at, call_at
from runtime.support.arrays import Floats, frozen

# The rank is found with unit masses, so that it depends on the geometry alone: a row whose pivot in D D^T is below this
# fraction of its own size is redundant; its angle to the span of the other rows is below 3e-5 rad.
RANK_TOLERANCE = 1e-9
NEWTON_STEPS = 100
VELOCITY_PASSES = 10
HALVINGS = 12
# Damping by the square of the residual keeps the quadratic convergence of Newton's method, and copes with singular poses and
# redundant rows (Levenberg and Marquardt; Yamashita and Fukushima).
MIN_DAMPING, MAX_DAMPING = 1e-12, 1e-2
ASSEMBLED = 1e-11  # [SI unit of a row] a configuration is assembled when no row is farther off than this
REDUCED = 0.5  # largest fraction of a violation below ROUNDED that a step may leave: rounding leaves more, Newton's method less
PROJECTIONS = 8
TO_ROUNDING, TO_ZERO, CAUTIOUS = range(3)  # manners of a projection
CAUTION = 1e-3  # pivot ratio of rows along which a cautious projection moves a state by half
ROUNDED = 1e-14  # [SI unit of a row, and of its rate] a state is not moved onto rows that it violates by less


@compiled
def worst_row(time, y, t, w, velocities):  # type: ignore[no-untyped-def]
    """Largest |Phi| (or |Phi'|) of all rows, kept or not; its joint and row go to ``w.failed``."""
    return worst_violation(time, y, t, w, velocities)


@inlined
def worst_violation(time, y, t, w, velocities):  # type: ignore[no-untyped-def]
    """``worst_row``, for compiled code."""
    update_kinematics(time, y, t, w)
    return largest_violation(t, w, velocities)


@compiled
def worst_of_all(time, states, t, w, worst):  # type: ignore[no-untyped-def]
    """Largest |Phi| and |Phi'| of all rows, into ``worst`` (n, 2), of many states (n, 13 bodies) at one time."""
    for n in range(len(states)):
        update_kinematics(time, states[n], t, w)
        for velocities in range(2):
            worst[n, velocities] = largest_violation(t, w, velocities == 1)


@inlined
def correction(y, t, w, velocities, damping, u):  # type: ignore[no-untyped-def]
    """The least u (bodies + 1, 6), measured by the kinetic energy, with D u = -Phi (or -Phi'); after ``update_kinematics``."""
    call_at(w.address[CORRECTION], damping, y, t, w, 1 if velocities else 0, u)


def correction_part(damping, y, t, w, velocities, u):  # type: ignore[no-untyped-def]
    """``correction``, compiled once for all callers."""
    factorise(t, w, 0.0, damping, 0)
    least_change(w.Phi_dot if velocities == 1 else w.Phi, array_at(u, len(t.mass), 6), t, w)
    return OK


@inlined
def least_change(rows, u, t, w):  # type: ignore[no-untyped-def]
    """The least u with D u = -rows, of Phi or Phi', by the factors of S."""
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            w.y[k, r] = rows[k, r]
    solve(t, w)
    for b in range(len(u)):
        for c in range(6):
            u[b, c] = 0.0
    apply(t, w, w.y, u)


def projection_part(time, y, t, w, manner, left):  # type: ignore[no-untyped-def]
    """Move a state onto Phi = 0 and Phi' = 0 by the least change, measured by the kinetic energy, in place.

    The positions first, until nothing improves, since the velocities need the exact D.  ``left`` (2,): largest |Phi| and |Phi'|.
    manner : TO_ROUNDING, TO_ZERO (as far as it goes), CAUTIOUS (motions that change all rows by little are left alone, as close
    to a singular pose, where errors of the rows would move them far)
    """
    state, of_rows = array_at(y, STATE * (len(t.mass) - 1)), array_at(left, 2)
    update_kinematics(time, state, t, w)
    for velocities in range(2):
        of_rows[velocities] = largest_violation(t, w, velocities)
        for _ in range(PROJECTIONS):
            if of_rows[velocities] <= (0.0 if manner == TO_ZERO else ROUNDED):
                break
            damping = CAUTION if manner == CAUTIOUS else DAMPING
            call_at(w.address[CORRECTION], damping, y, t, w, velocities, w.v_dot)
            if velocities == 1:
                _accelerate(state, w.v_dot)
            else:
                _move(state, w.v_dot, 1.0, state)
            update_kinematics(time, state, t, w)
            before, of_rows[velocities] = of_rows[velocities], largest_violation(t, w, velocities)
            if not of_rows[velocities] < 0.25 * before:
                break
    return OK


@compiled
def project_all(times, states, t, w, most, left):  # type: ignore[no-untyped-def]
    """``projection_part`` of states (m, n) at times (m,), also of coordinates of a tree with rows; how many were projected.

    A state that keeps more than ``most`` ends it: ``left`` (2,) is its largest |Phi| and |Phi'|, and ``w.failed`` the row.
    """
    for k in range(len(states)):
        call_at(w.address[PROJECTION], times[k], states[k], t, w, TO_ROUNDING, left)
        if not max(left[0], left[1]) <= most:
            return k
    return len(states)


@inlined
def largest_violation(t, w, velocities):  # type: ignore[no-untyped-def]
    """``worst_row`` of the state of the last ``update_kinematics``."""
    worst = 0.0
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            value = abs(w.Phi_dot[k, r] if velocities else w.Phi[k, r])
            if not value <= worst:
                worst = value
                w.failed[0], w.failed[1] = k, r
    return worst


@inlined
def _accelerate(y, u):  # type: ignore[no-untyped-def]
    """Add u (bodies + 1, 6) to the velocities of y."""
    for b in range(1, len(u)):
        for c in range(6):
            y[STATE * (b - 1) + V + c] += u[b, c]


@compiled
def mark_dependent(time, y, t, w, tolerance):  # type: ignore[no-untyped-def]
    """Factorise in a configuration; dependent rows get ``w.inverse`` 0."""
    update_kinematics(time, y, t, w)
    return factorise(t, w, tolerance, 0.0, 0)


@compiled
def move(y, u, scale, moved):  # type: ignore[no-untyped-def]
    """``moved`` = y displaced by scale u (translation, rotation vector); Euler parameters stay of unit length."""
    _move(y, u, scale, moved)


@inlined
def _move(y, u, scale, moved):  # type: ignore[no-untyped-def]
    for b in range(len(u) - 1):
        o = b * STATE
        move_body(y[o : o + STATE], u[b + 1], scale, moved[o : o + STATE])
        for k in range(V, STATE):
            moved[o + k] = y[o + k]


@inlined
def move_body(y, u, scale, moved):  # type: ignore[no-untyped-def]
    """``move`` the pose of a body."""
    for k in range(3):
        moved[R + k] = y[R + k] + scale * u[k]
    e0, e1, e2, e3 = y[P], y[P + 1], y[P + 2], y[P + 3]  # ``moved`` may be y itself
    turned = moved[P:V]
    euler_rates((e0, e1, e2, e3), u[3:6], turned)
    e0, e1, e2, e3 = e0 + scale * turned[0], e1 + scale * turned[1], e2 + scale * turned[2], e3 + scale * turned[3]
    norm = math.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    turned[0], turned[1], turned[2], turned[3] = e0 / norm, e1 / norm, e2 / norm, e3 / norm


@inlined
def _copy(source, to):  # type: ignore[no-untyped-def]
    for i in range(len(to)):
        to[i] = source[i]


@inlined
def misfit(size, t, w):  # type: ignore[no-untyped-def]
    """Sum of Phi^2 / size of the rows, with the sizes of the last factorisation; a damped step is sure to reduce this sum."""
    total = 0.0
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            total += w.Phi[k, r] * w.Phi[k, r] / size[k, r]
    return total


@expanded
def reduced(before, now):  # type: ignore[no-untyped-def]
    """Whether a step has reduced the largest |Phi| (or |Phi'|) by more than rounding may."""
    return now < before * (REDUCED if before <= ROUNDED else 1.0)


@compiled
def assemble(time, y, t, w, u, trial):  # type: ignore[no-untyped-def]
    """``assemble_state``, called from Python."""
    return assemble_state(time, y, t, w, u, trial)


@inlined
def assemble_state(time, y, t, w, u, trial):  # type: ignore[no-untyped-def]
    """Newton's method on Phi with the least change of y, which is changed in place; iterations and largest |Phi| left.

    Steps that do not reduce the misfit are halved, but not those of an assembled configuration.
    """
    steps = 0
    residual = worst_violation(time, y, t, w, False)
    while steps < NEWTON_STEPS and residual > 0.0:
        # Off the constraints, redundant rows contradict each other by about the square of the residual.
        damping = residual if t.redundant > 0 else residual**2
        correction(y, t, w, False, min(max(damping, MIN_DAMPING), MAX_DAMPING), u)
        before, scale, helps = misfit(w.size, t, w), 1.0, False
        for _ in range(HALVINGS if residual > ASSEMBLED else 1):
            _move(y, u, scale, trial)
            update_kinematics(time, trial, t, w)
            if misfit(w.size, t, w) < before:
                helps = True
                break
            scale *= 0.5
        if not helps:
            break
        candidate = largest_violation(t, w, False)
        if residual <= ASSEMBLED and not reduced(residual, candidate):
            break
        steps += 1
        _copy(trial, y)
        residual = candidate
    return steps, residual


def assemble_positions(time: float, y: Floats, t: ModelData, w: Workspace) -> tuple[Floats, int, float]:
    """State moved onto Phi = 0 by the least change, iterations, largest |Phi| left."""
    y = y.copy()
    steps, residual = assemble(time, y, t, w, np.zeros((len(t.mass), 6)), np.empty_like(y))
    return y, steps, residual


@compiled
def _project(time, states, t, w, u, trial):  # type: ignore[no-untyped-def]
    """Give all states (n, 13 bodies) the velocities nearest by kinetic energy that satisfy D v = nu."""
    for n in range(len(states)):
        make_velocities_consistent(time, states[n], t, w, u, trial)


@inlined
def make_velocities_consistent(time, y, t, w, u, trial):  # type: ignore[no-untyped-def]
    """Give a state the velocities nearest by kinetic energy that satisfy D v = nu."""
    residual = worst_violation(time, y, t, w, True)
    # The first pass suffices but for damping and rounding, whose remainders the others remove.
    for _ in range(VELOCITY_PASSES):
        if residual == 0.0:
            break
        correction(y, t, w, True, MIN_DAMPING, u)
        _copy(y, trial)
        _accelerate(trial, u)
        candidate = worst_violation(time, trial, t, w, True)
        if not reduced(residual, candidate):
            break
        _copy(trial, y)
        residual = candidate


def project_velocities(time: float, y: Floats, t: ModelData, w: Workspace) -> Floats:
    """The velocities nearest by kinetic energy that satisfy D v = nu, of one state (13 bodies,) or of many (n, 13 bodies)."""
    states = np.array(y, ndmin=2)
    _project(time, states, t, w, np.zeros((len(t.mass), 6)), np.zeros(states.shape[1]))
    return states.reshape(np.shape(y))


def mark_smallest_pivot(time: float, y: Floats, t: ModelData, w: Workspace) -> None:
    """Put the joint and row of the smallest pivot into ``w.failed``, beyond as many as are redundant."""
    mark_dependent(time, y, t, w, 0.0)
    ratios = np.divide(1.0, w.inverse * w.size, out=np.zeros_like(w.size), where=w.inverse > 0.0)
    ratios[np.arange(ROWS) >= t.rows[:, None]] = np.inf
    place = np.argsort(ratios, axis=None)[t.redundant]
    w.failed[:] = np.unravel_index(place, ratios.shape)


def dependent_rows(
    time: float, y: Floats, t: ModelData, w: Workspace, length: float, tolerance: float
) -> list[tuple[int, int]]:
    """Joint and row of every kept row that depends on others in this configuration.

    length [m] : converts rotations to displacements; tolerance: of pivots, as fractions of the rows
    """
    bodies = len(t.mass)
    if not len(t.address):
        return []
    unit = np.tile(np.eye(3), (bodies, 1, 1))
    geometry = frozen(
        t._replace(mass=np.ones(bodies), inertia=length**2 * unit, inertia_inverse=unit / length**2),
    )
    mark_dependent(time, y, geometry, w, tolerance)
    found = [(k, r) for k in range(len(t.address)) for r in range(t.rows[k]) if w.inverse[k, r] == 0.0]
    return sorted(found)


def nearby_configuration(time: float, y: Floats, t: ModelData, w: Workspace, distance: float) -> Floats:
    """An assembled configuration at a small distance along an arbitrary admissible motion.

    Rows that are dependent at a singular pose only are independent there.
    """
    bodies = y.reshape(-1, STATE)
    shaken = bodies.copy()
    shaken[:, V : OMEGA + 3] = np.random.default_rng(0).standard_normal((len(bodies), 6))
    admissible = project_velocities(time, shaken.ravel(), t, w).reshape(-1, STATE)[:, V : OMEGA + 3]
    u = np.zeros((len(t.mass), 6))
    u[1:] = admissible
    moved = np.empty_like(y)
    largest = np.abs(u).max()
    move(y, u, distance / largest if largest > 0 else 0.0, moved)
    moved.reshape(-1, STATE)[:, V:] = 0.0
    return assemble_positions(time, moved, t, w)[0]
