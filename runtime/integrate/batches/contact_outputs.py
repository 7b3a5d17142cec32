"""What is measured of contacts in states of many cases, by the touch-downs and lift-offs of their runs."""

from __future__ import annotations

from runtime.integrate.batches.contact_memory import ACTS, ELSEWHERE
from runtime.integrate.batches.contacts import measure, place_of
from runtime.integrate.batches.forces import load_parameters, load_states
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
        load_parameters(f, first, len(z), passed)
        for q in range(len(times)):
            load_states(f, x, z, first, q, times[q], memory, passed)
            measure(x, memory, f.values, f.own, of)
            for lane in range(min(contacts.W, len(z) - first)):
                keep_measured(x, f.own, of, lane, found[first + lane, q])
