"""Steps of closed loops that may have left their branch of the motion, kept for ``runtime.integrate.branches``, in compiled code.

The square root of the smallest pivot ratio, the sine of an angle between rows, changes by no more than the directions of the rows
do.  A step across which these change by less than it cannot have passed a singular pose, nor the gap between two branches.
"""

from __future__ import annotations

from runtime.dynamics.lift import FREE, SLIDE, TURN
from runtime.dynamics.places import ROW_SPACE
from runtime.dynamics.row_space import BODY, orthonormalise, same_side
from runtime.integrate.loop_parts import REAL, LoopPart
from runtime.integrate.stepping import BODIES, DOUBTED, T_OLD, TURNED, UNSURE, T
from runtime.jit.compilation import inlined
from runtime.jit.pointers import call_at

# Change of the directions of rows in a step, as a fraction of the root of the smallest pivot ratio, up to which it crosses no
# singular pose: the latter is at most 0.25 of the change there, the half of the widest gap between the stages of a method, times
# the rate at which directions turn.
CLEAR = 1.5
ROW = 12  # entries of a row of D
SMALL, VANISHED = 1e-300, 1e-20  # VANISHED: square of a part of all rows of a joint that is 0 but for rounding


def turned_part(stepper, t, w, time_end):  # type: ignore[no-untyped-def]
    """1 where a direction of the rows turns by much in a step; the evaluation at its end is then that of its rows alone."""
    s = stepper
    n = BODY * s.flags[BODIES] if s.flags[BODIES] > 0 else w.tree.size[0] - w.tree.data.u[0]
    count = call_at(w.address[ROW_SPACE], s.time[T], s.y, t, w, 0, s.first_rows)
    if call_at(w.address[ROW_SPACE], time_end, s.trial, t, w, 0, s.last_rows) != count or count <= 0:
        return 1
    orthonormalise(s.first_rows, count, n)
    orthonormalise(s.last_rows, count, n)
    return 0 if same_side(s.first_rows, s.last_rows, s.products, count, n) else 1


TURNED_PART = LoopPart(turned_part, (), (REAL,))


@inlined
def doubt(stepper, s, t, w, smallest, time_end):  # type: ignore[no-untyped-def]
    """Mark a step whose smallest pivot ratio is this, after the projection of its end, where it may have left its branch.

    Returns whether the evaluation at its end is to be repeated.
    """
    s.passage[DOUBTED] = 0.0
    if len(s.unsure) == 0 or is_clear(s, t, w, smallest, time_end):
        return False
    s.passage[DOUBTED] = call_at(s.address[TURNED], stepper, t, w, time_end)
    return True


@inlined
def is_clear(s, t, w, smallest, time_end):  # type: ignore[no-untyped-def]
    """Whether a step whose smallest pivot ratio is this is too short to have crossed a singular pose."""
    largest = (CLEAR * CLEAR) * smallest
    if s.flags[BODIES] == 0:
        return square_of_turns(s.y, s.trial, w.tree.data) < largest
    known = s.rows_at[0] == s.time[T]
    change = square_of_rows(t, w, s.rows)
    s.rows_at[0] = time_end
    return known and change < largest


@inlined
def note_rows(s, t, w):  # type: ignore[no-untyped-def]
    """Store the rows at the start of an integration, after the projection there."""
    if len(s.rows) > 0:
        square_of_rows(t, w, s.rows)
        s.rows_at[0] = s.time[T]


@inlined
def square_of_turns(y, trial, tree):  # type: ignore[no-untyped-def]
    """Square of the largest turn [rad] of a step of a tree, or of the largest slide as a fraction of the distance."""
    largest = 0.0
    for k in range(len(tree.kind)):
        q, kind = tree.q[k], tree.kind[k]
        if kind == TURN:
            largest = max(largest, (trial[q] - y[q]) ** 2)
        elif kind == SLIDE:
            largest = max(largest, share(y, trial, q, 1))
        else:
            angles = q
            if kind == FREE:
                largest = max(largest, share(y, trial, q, 3))
                angles += 3
            for i in range(angles, angles + 4):
                largest = max(largest, 4.0 * (trial[i] - y[i]) ** 2)
    return largest


@inlined
def share(y, trial, q, n):  # type: ignore[no-untyped-def]
    """Square of a change of n components from q on as a fraction of their length."""
    moved = before = after = 0.0
    for i in range(q, q + n):
        moved += (trial[i] - y[i]) ** 2
        before += y[i] * y[i]
        after += trial[i] * trial[i]
    return moved / max(before, after, SMALL)


@inlined
def square_of_rows(t, w, before):  # type: ignore[no-untyped-def]
    """Square of the largest change of D of a joint, which is then stored, as a fraction of the longest of its rows.

    Of forces and moments on both bodies apart: the moment of a single row of a joint may vanish on the way.
    """
    largest, o = 0.0, 0
    for k in range(len(t.address)):
        for part in range(0, ROW, 3):
            moved, length = 0.0, 0.0
            for r in range(t.rows[k]):
                D, at, change, own = w.D[k, r], o + ROW * r, 0.0, SMALL
                for i in range(part, part + 3):
                    change += (D[i] - before[at + i]) ** 2
                    own += max(D[i] * D[i], before[at + i] * before[at + i])
                    before[at + i] = D[i]
                moved, length = max(moved, change), max(length, own)
            if length > VANISHED and moved > largest * length:
                largest = moved / length
        o += ROW * t.rows[k]
    return largest


@inlined
def keep_unsure(s):  # type: ignore[no-untyped-def]
    """Keep both ends of the last step where it may have left its branch; whether there is no more room."""
    if s.passage[DOUBTED] == 0.0 or len(s.unsure) == 0:
        return False
    to, n = s.unsure[s.counts[UNSURE]], len(s.y)
    to[0], to[1] = s.time[T_OLD], s.time[T]
    for i in range(n):
        to[2 + i], to[2 + n + i] = s.y_old[i], s.y[i]
    s.passage[DOUBTED] = 0.0
    s.counts[UNSURE] += 1
    return s.counts[UNSURE] == len(s.unsure)
