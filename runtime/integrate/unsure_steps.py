"""Steps of closed loops that may have left their branch of the motion, kept for ``runtime.integrate.branches``, in compiled code.

The square root of the smallest pivot ratio, the sine of an angle between rows, changes by no more than the directions of the rows
do.  A step across which these change by less than it cannot have passed a singular pose, nor the gap between two branches.
"""

from __future__ import annotations

from runtime.dynamics.layout import STATE, V
from runtime.dynamics.lift import FREE, SLIDE, TURN, normalise_coordinates
from runtime.dynamics.places import PROJECTION, ROW_SPACE
from runtime.dynamics.projection import TO_ROUNDING
from runtime.dynamics.row_space import BODY, orthonormalise, same_side
from runtime.integrate.loop_parts import REAL, LoopPart
from runtime.integrate.stepping import TURNED, normalise
from runtime.jit.compilation import inlined
from runtime.jit.pointers import call_at

# Change of the directions of rows in a step, as a fraction of the root of the smallest pivot ratio, up to which it crosses no
# singular pose.  That root is at most half of the widest gap between the stages of a method, 0.133 of a step of dop853 and 0.245
# of one of radau, times the change, times the rate at which the root changes with it: up to 5 here, 3.2 where a kite folds.
CLEAR, CLEAR_OF_RADAU = 1.5, 0.8
# Of the way of a step: the most parts across each of which directions are compared, |Phi| of a pose on it [SI unit of a row], and
# how far the pose may lie from its place, as a fraction of the way: farther aside it may be on a third branch.
MOST_PARTS, SATISFIED, SIDEWAYS = 8, 1e-12, 0.6
ROW = 12  # entries of a row of D
SMALL, VANISHED = 1e-300, 1e-20  # VANISHED: square of a part of all rows of a joint that is 0 but for rounding


def turned_part(memory, t, w, time_end):  # type: ignore[no-untyped-def]
    """1 where a direction of the rows turns by much in a step, and in a part of its way; the end is to be evaluated anew.

    Between poses of both branches, where they are close, directions are reversed, wherever the way is divided.
    """
    m, parts = memory, 1
    while parts <= MOST_PARTS:
        if on_one_side(m, t, w, time_end, parts):
            return 0
        parts *= 2
    return 1


TURNED_PART = LoopPart(turned_part, (), (REAL,))


@inlined
def on_one_side(m, t, w, time_end, parts):  # type: ignore[no-untyped-def]
    """Whether no direction of the rows turns by much in a part of a step."""
    n = BODY * m.bodies[0] if m.bodies[0] > 0 else w.tree.size[0] - w.tree.data.u[0]
    before, now, reached = m.first_rows, m.last_rows, 0.0
    count = basis(m.s.time[0], m.y, t, w, before, n)
    for part in range(1, parts + 1):
        share = part / parts
        time = m.s.time[0] + share * (time_end - m.s.time[0])
        last, reached = reached, put_between(m, t, w, time, share)
        if not reached > last or count <= 0 or basis(time, m.moved, t, w, now, n) != count:
            return False
        if not same_side(before, now, m.products, count, n):
            return False
        before, now = now, before
    return True


@inlined
def basis(time, y, t, w, rows, n):  # type: ignore[no-untyped-def]
    """Put an orthonormal basis of the rows at a state into ``rows``; their number."""
    count = call_at(w.address[ROW_SPACE], time, y, t, w, 0, rows)
    orthonormalise(rows, max(count, 0), n)
    return count


@inlined
def put_between(m, t, w, time, share):  # type: ignore[no-untyped-def]
    """Put the pose at a fraction of the way of a step into ``moved``; how far along it lies, or -1 where it is far aside.

    The change by the projection, which ``moved`` held, is known to ``off_the_rows`` by then.
    """
    bodies = m.bodies[0]
    for i in range(len(m.y)):
        m.moved[i] = m.y[i] + share * (m.trial[i] - m.y[i]) if share < 1.0 else m.trial[i]
    if share == 1.0:
        return 1.0
    if bodies > 0:
        normalise(m.moved, bodies)
    else:
        normalise_coordinates(w.tree.data, m.moved)
    call_at(w.address[PROJECTION], time, m.moved, t, w, TO_ROUNDING, w.violation)
    aside = along = way = 0.0
    for i in range(STATE * bodies if bodies > 0 else w.tree.data.u[0]):
        if bodies > 0 and i % STATE >= V:
            continue
        step = m.trial[i] - m.y[i]
        beside = m.moved[i] - m.y[i] - share * step
        aside, along, way = aside + beside * beside, along + beside * step, way + step * step
    near = w.violation[0] <= SATISFIED and aside < (SIDEWAYS * SIDEWAYS) * way
    return share + along / way if near else -1.0


@inlined
def doubt(memory, m, t, w, smallest, time_end):  # type: ignore[no-untyped-def]
    """Mark a step whose smallest pivot ratio is this, after the projection of its end, where it may have left its branch.

    Returns whether the evaluation at its end is to be repeated.
    """
    m.s.doubted[0] = 0.0
    if len(m.unsure) == 0 or is_clear(m, t, w, smallest, time_end):
        return False
    m.s.doubted[0] = call_at(m.address[TURNED], memory, t, w, time_end)
    return True


@inlined
def is_clear(m, t, w, smallest, time_end):  # type: ignore[no-untyped-def]
    """Whether a step whose smallest pivot ratio is this is too short to have crossed a singular pose."""
    clear = CLEAR if m.s.project_stages[0] > 0.0 else CLEAR_OF_RADAU
    largest = clear * clear * smallest
    if m.bodies[0] == 0:
        return square_of_turns(m.y, m.trial, w.tree.data) < largest
    known = m.rows_at[0] == m.s.time[0]
    change = square_of_rows(t, w, m.rows)
    m.rows_at[0] = time_end
    return known and change < largest


@inlined
def note_rows(m, t, w):  # type: ignore[no-untyped-def]
    """Store the rows at the start of an integration, after the projection there."""
    if len(m.rows) > 0:
        square_of_rows(t, w, m.rows)
        m.rows_at[0] = m.s.time[0]


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
def keep_unsure(m):  # type: ignore[no-untyped-def]
    """Keep both ends of the last step where it may have left its branch; whether there is no more room."""
    if m.s.doubted[0] == 0.0 or len(m.unsure) == 0:
        return False
    to, n = m.unsure[m.unsure_count[0]], len(m.y)
    to[0], to[1] = m.s.began[0], m.s.time[0]
    for i in range(n):
        to[2 + i], to[2 + n + i] = m.y_old[i], m.y[i]
    m.s.doubted[0] = 0.0
    m.unsure_count[0] += 1
    return m.unsure_count[0] == len(m.unsure)
