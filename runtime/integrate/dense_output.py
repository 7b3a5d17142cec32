"""Dense output of the last step, in compiled code of its own: states within the step, and those of the result."""

from __future__ import annotations

from runtime.dynamics.angles import write_angles
from runtime.dynamics.kinematics import is_of_tree, put_state
from runtime.dynamics.layout import OK
from runtime.dynamics.lift import TURN
from runtime.dynamics.places import PROJECTION
from runtime.dynamics.projection import CAUTIOUS, TO_ROUNDING
from runtime.integrate.balance import DONE
from runtime.integrate.loop_parts import ARRAY, INTEGER, REAL, LoopPart
from runtime.integrate.stepping import (
    DENSE,
    interpolate,
    interpolate_work,
    prepare_dense,
)
from runtime.jit.compilation import compiled, inlined
from runtime.jit.pointers import array_at, call_at

PREPARE, STATE_WITHIN, RESULTS = range(3)  # what ``dense_part`` does


def dense_part(purpose, m, t, w, time, rows, times, out):  # type: ignore[no-untyped-def]
    """Prepare the dense output; put the state at a time into ``out`` (n,); or put results at ``times`` (rows,) into it.

    Results (rows, n + sources + turns) are states of bodies on the constraints, the work of the sources of energy until then, and
    what ``write_turns`` gives.  Returns a code.
    """
    if purpose == STATE_WITHIN:
        interpolate(m, time, array_at(out, len(m.y)))
        return OK
    code = prepare_dense(m, t, w)
    in_joints = is_of_tree(m.y, w)
    # Variational equations are longer than a motion, and are written as they are.
    n = len(w.motion) + w.forces.followed[0] if in_joints else len(m.y)
    end = n + m.balance.work.shape[1]
    width = end + count_of_turns(m, t, w)
    wanted, values = array_at(times, rows), array_at(out, rows * width)
    for k in range(rows if code == OK else 0):
        y, work = values[k * width : k * width + n], values[k * width + n : k * width + end]
        if in_joints:
            interpolate(m, wanted[k], m.trial)
            complete(m, t, w, wanted[k], m.trial, work)
            put_state(m.trial, t, w, y)
        else:
            interpolate(m, wanted[k], y)
            complete(m, t, w, wanted[k], y, work)
        write_turns(m.trial, t, w, values[k * width + end : (k + 1) * width])
    return code


@inlined
def count_of_turns(m, t, w):  # type: ignore[no-untyped-def]
    """Number of angles whose revolutions are counted, and of turns whose coordinates are integrated."""
    found = t.counted
    if is_of_tree(m.y, w):
        for kind in w.tree.data.kind:
            found += 1 if kind == TURN else 0
    return found


@inlined
def write_turns(z, t, w, to):  # type: ignore[no-untyped-def]
    """Put the angles at the end of the step, and coordinates of the turns of a tree as far as there is room, into ``to``."""
    write_angles(t, w, to)
    k, tree = t.counted, w.tree.data
    for step in range(len(tree.kind)):
        if tree.kind[step] == TURN and k < len(to):
            to[k] = z[tree.q[step]]
            k += 1


@inlined
def complete(m, t, w, time, y, work):  # type: ignore[no-untyped-def]
    """The work until a time within the last step, and the projection of the state."""
    if len(work) > 0:
        if time < m.s.time[0]:
            interpolate_work(m, time, work)
        else:
            for k in range(len(work)):
                work[k] = m.balance.work[DONE, k]  # after changes of mode
    if m.s.projected[0] == 1:
        manner = CAUTIOUS if m.s.close_by[0] == 1 else TO_ROUNDING
        call_at(w.address[PROJECTION], time, y, t, w, manner, w.violation)


DENSE_PART = LoopPart(dense_part, (INTEGER,), (REAL, INTEGER, ARRAY, ARRAY))


@inlined
def prepare_step(m, t, w):  # type: ignore[no-untyped-def]
    """Prepare the dense output of the last step; a code."""
    return call_at(m.address[DENSE], PREPARE, m, t, w, 0.0, 0, m.trial, m.trial)


@inlined
def state_within(m, t, w, time, y):  # type: ignore[no-untyped-def]
    """State at a time within the last step, after ``prepare_step``."""
    return call_at(m.address[DENSE], STATE_WITHIN, m, t, w, time, 1, y, y)


@inlined
def write_results(m, t, w, times, out):  # type: ignore[no-untyped-def]
    """Results at times (m,) within the last step, (m, n + sources + turns); a code."""
    return call_at(m.address[DENSE], RESULTS, m, t, w, 0.0, len(times), times, out)


@compiled
def state_once(m, t, w, time, y):  # type: ignore[no-untyped-def]
    """``prepare_step`` and ``state_within``, called from Python; a code."""
    code = prepare_step(m, t, w)
    return state_within(m, t, w, time, y) if code == OK else code


@compiled
def result_once(m, t, w, times, out):  # type: ignore[no-untyped-def]
    """As ``write_results``, called from Python."""
    return write_results(m, t, w, times, out)
