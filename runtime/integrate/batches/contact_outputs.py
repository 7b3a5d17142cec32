"""What is measured of contacts in states of many cases, by the touch-downs and lift-offs of their runs."""

from __future__ import annotations

from runtime.integrate.batches.contact_memory import ACTS, ELSEWHERE, set_events
from runtime.integrate.batches.contacts import measure, place_of
from runtime.integrate.batches.forces import put_parameters, set_signals
from runtime.integrate.written.acting_contacts import FORCE, MEASURED, POTENTIAL
from runtime.jit.compilation import compiled, inlined
from runtime.jit.pointers import local


@inlined
def keep_measured(x, own, of, lane, to):  # type: ignore[no-untyped-def]
    """Put what was measured of a lane into ``to`` (contacts, MEASURED)."""
    for k in range(len(x.places)):
        for c in range(MEASURED):
            to[k, c] = of[place_of(x, k, lane) + c * x.W]
        if own[x.places[k, ACTS], lane] == 0.0:
            to[k, FORCE] = to[k, POTENTIAL] = 0.0
        to[k, FORCE] = max(to[k, FORCE], 0.0)  # at the end of a touch, by rounding


@compiled
def find_measured(forces, contacts, z, times, memory, passed, found):  # type: ignore[no-untyped-def]
    """Measure all contacts of all cases at coordinates and rates z (cases, m, n) and times (m,).

    ``memory`` (n, LANES): for a state of the lanes; ``passed`` (LANES,): for numbers of events; ``found`` (cases, m, contacts,
    MEASURED): force and potential are 0 where a contact does not act.
    """
    f, x = local(forces), local(contacts)
    of = x.measured[ELSEWHERE]
    for first in range(0, len(z), contacts.W):
        count = min(contacts.W, len(z) - first)
        for lane in range(contacts.W):
            passed[lane] = 0
            put_parameters(f, first + min(lane, count - 1), lane, f.own, f.own_set)
        for q in range(len(times)):
            for lane in range(contacts.W):
                case = first + min(lane, count - 1)
                set_signals(f, lane, f.own_set[lane], times[q])
                passed[lane] = set_events(x, f.own, lane, case, passed[lane], times[q])
                for i in range(z.shape[2]):
                    memory[i, lane] = z[case, q, i]
            measure(x, memory, f.values, f.own, of)
            for lane in range(count):
                keep_measured(x, f.own, of, lane, found[first + lane, q])
