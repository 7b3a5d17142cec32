"""Dense output of the last step, in compiled code of its own: states within the step, and those of the result."""

from __future__ import annotations

from runtime.dynamics.kinematics import update_motion
from runtime.dynamics.layout import OK
from runtime.dynamics.lift import TURN
from runtime.dynamics.places import PROJECTION
from runtime.dynamics.projection import CAUTIOUS, TO_ROUNDING
from runtime.integrate.balance import DONE
from runtime.integrate.loop_parts import ARRAY, INTEGER, REAL, LoopPart
from runtime.integrate.stepping import (
    CLOSE_BY,
    DENSE,
    PROJECTED,
    T,
    interpolate,
    interpolate_work,
    prepare_dense,
)
from runtime.jit.compilation import compiled, inlined
from runtime.jit.pointers import array_at, call_at

PREPARE, STATE_WITHIN, RESULTS = range(3)  # what ``dense_part`` does


def dense_part(purpose, s, t, w, time, rows, times, out):  # type: ignore[no-untyped-def]
    """Prepare the dense output; put the state at a time into ``out`` (n,); or put results at ``times`` (rows,) into it.

    Results (rows, n + sources) are states of bodies on the constraints and the work of the sources of energy until then, in
    coordinates of a tree followed by those of its turns.  Returns a code.
    """
    if purpose == STATE_WITHIN:
        interpolate(s, time, array_at(out, len(s.y)))
        return OK
    code = prepare_dense(s, t, w)
    in_joints = is_of_tree(s, w)
    n = (
        len(w.motion) if in_joints else len(s.y)
    )  # variational equations are longer than a motion, and are written as they are
    end = n + s.balance.work.shape[1]
    width = end + count_of_turns(s, w)
    wanted, values = array_at(times, rows), array_at(out, rows * width)
    for k in range(rows if code == OK else 0):
        y, work = values[k * width : k * width + n], values[k * width + n : k * width + end]
        if in_joints:
            interpolate(s, wanted[k], s.trial)
            complete(s, t, w, wanted[k], s.trial, work)
            update_motion(s.trial, t, w)
            write_turns(s.trial, w, values[k * width + end : (k + 1) * width])
            for i in range(n):
                y[i] = w.motion[i]
        else:
            interpolate(s, wanted[k], y)
            complete(s, t, w, wanted[k], y, work)
    return code


@inlined
def is_of_tree(s, w):  # type: ignore[no-untyped-def]
    """Whether coordinates and rates of a tree are integrated."""
    return len(w.tree.data.kind) > 0 and len(s.y) == w.tree.size[0]


@inlined
def count_of_turns(s, w):  # type: ignore[no-untyped-def]
    """Number of turns whose coordinates are integrated."""
    found = 0
    if is_of_tree(s, w):
        for kind in w.tree.data.kind:
            found += 1 if kind == TURN else 0
    return found


@inlined
def write_turns(z, w, to):  # type: ignore[no-untyped-def]
    """Put coordinates of the turns of a tree into ``to``, as many as it has room for."""
    k, tree = 0, w.tree.data
    for step in range(len(tree.kind)):
        if tree.kind[step] == TURN and k < len(to):
            to[k] = z[tree.q[step]]
            k += 1


@inlined
def complete(s, t, w, time, y, work):  # type: ignore[no-untyped-def]
    """The work until a time within the last step, and the projection of the state."""
    if len(work) > 0:
        if time < s.time[T]:
            interpolate_work(s, time, work)
        else:
            for k in range(len(work)):
                work[k] = s.balance.work[DONE, k]  # after changes of mode
    if s.flags[PROJECTED] == 1:
        manner = CAUTIOUS if s.flags[CLOSE_BY] == 1 else TO_ROUNDING
        call_at(w.address[PROJECTION], time, y, t, w, manner, w.violation)


DENSE_PART = LoopPart(dense_part, (INTEGER,), (REAL, INTEGER, ARRAY, ARRAY))


@inlined
def prepare_step(s, t, w):  # type: ignore[no-untyped-def]
    """Prepare the dense output of the last step; a code."""
    return call_at(s.address[DENSE], PREPARE, s, t, w, 0.0, 0, s.trial, s.trial)


@inlined
def state_within(s, t, w, time, y):  # type: ignore[no-untyped-def]
    """State at a time within the last step, after ``prepare_step``."""
    return call_at(s.address[DENSE], STATE_WITHIN, s, t, w, time, 1, y, y)


@inlined
def write_results(s, t, w, times, out):  # type: ignore[no-untyped-def]
    """Results at times (m,) within the last step, (m, n + sources + turns); a code."""
    return call_at(s.address[DENSE], RESULTS, s, t, w, 0.0, len(times), times, out)


@compiled
def state_once(s, t, w, time, y):  # type: ignore[no-untyped-def]
    """``prepare_step`` and ``state_within``, called from Python; a code."""
    code = prepare_step(s, t, w)
    return state_within(s, t, w, time, y) if code == OK else code


@compiled
def result_once(s, t, w, times, out):  # type: ignore[no-untyped-def]
    """As ``write_results``, called from Python."""
    return write_results(s, t, w, times, out)
