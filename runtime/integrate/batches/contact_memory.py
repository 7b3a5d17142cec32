"""Memory for contacts in a batch: every lane has its own modes, speeds of touch-down, and touch-downs and lift-offs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.contacts import SPEED_RESOLUTION
from runtime.dynamics.layout import LANES
from runtime.dynamics.switches import INACTIVE
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.memory_kinds import Common, Found, OfLanes, Written
from runtime.integrate.written.acting_contacts import MEASURED, NOTHING
from runtime.integrate.written.acting_forces import Rows, acting_forces
from runtime.jit.compilation import inlined
from runtime.jit.named_rows import with_lanes
from runtime.support.arrays import Floats, Ints, lanes_of
from runtime.system.system import System

MOST_EVENTS = 1024  # touch-downs and lift-offs of a case; one with more is run alone
EVENTS_ON_DEVICE = 64  # the same on a graphics processor, from which the whole table is copied
EVENT = 4  # numbers of each
IMPACT, ACTS, RUBS, FADES, TRANSITION_VELOCITY = range(5)  # columns of ``BatchContacts.places``
# Rows of ``BatchContacts.measured``; the last one and those after it: samples.
START, END, ELSEWHERE, READY, WITHIN = range(5)
MODE, QUICK, SINCE, SPEED = range(4)  # rows of ``BatchContacts.state``
OF_STATE = 4


@with_lanes(LANES)
class BatchContacts(NamedTuple):
    """Contacts of a batch."""

    # (1,) of the function that measures contacts in lanes (``runtime.integrate.written.tree_contacts``)
    address: Common[Ints]
    # (contacts, 5) rows of the speed of touch-down (or NOTHING), and whether forces act, of ``BatchForces.own``;
    # whether damping fades; row of the transition velocity, NOTHING for frictions without a kink
    places: Common[Ints]
    least: Common[Floats]  # (contacts,) [m/s] least speed of a touch-down
    resolution: Common[Floats]  # (1,) [m/s] as ``ContactWorkspace.speed_resolution``
    # (contacts, 4, LANES) mode, quick changes, times [s] of the last change, speeds [m/s] of the last touch-down
    state: OfLanes[Floats]
    waiting: OfLanes[Floats]  # the same of the cases that are ready
    # (WITHIN + SAMPLES - 1, contacts * MEASURED * LANES) at start and end of the step, elsewhere, of the cases that are ready,
    # and at samples between the ends
    measured: OfLanes[Floats]
    # (cases, any, EVENT) time, contact, 1 for touch-down or 0 for lift-off, speed of touch-down
    events: Written[Floats]
    found: Found[Ints]  # (cases,) number of these


def most_events(*, gpu: bool) -> int:
    """How many touch-downs and lift-offs of a case are kept."""
    return min(EVENTS_ON_DEVICE, MOST_EVENTS) if gpu else MOST_EVENTS


def batch_contacts(
    address: int,
    places: Ints,
    least: Floats,
    tolerance: float,
    cases: int,
    *,
    gpu: bool = False,
) -> BatchContacts:
    """Memory for contacts of so many cases; ``tolerance``: the sum of both."""
    count, most = len(places), most_events(gpu=gpu)
    state, waiting = (lanes_of(count, OF_STATE, LANES) for _ in range(2))
    state[:, MODE], state[:, SINCE] = INACTIVE, -np.inf
    waiting[:] = state
    return BatchContacts(
        address=np.array([address]), places=places, least=least,
        resolution=np.array([SPEED_RESOLUTION * tolerance]), state=state, waiting=waiting,
        measured=lanes_of(WITHIN + SAMPLES - 1, count * MEASURED * LANES),
        events=np.empty((cases, most if count else 0, EVENT)), found=np.zeros(cases, np.int64),
    )  # fmt: skip


def no_contacts() -> BatchContacts:
    """The memory of a batch without contacts."""
    return batch_contacts(0, np.zeros((0, 5), np.int64), np.zeros(0), 0.0, 0)


def places_of_contacts(system: System) -> tuple[Ints, Floats]:
    """``BatchContacts.places`` and ``least`` of a system."""
    acting, t = acting_forces(system), system.data.contacts
    rows, found = Rows(acting), []
    for k, contact in enumerate(acting.contacts):
        o, own = rows.of("contact", k), contact.rows
        impact = NOTHING if own.impact == NOTHING else o + own.impact
        transition_velocity = o + own.transition_velocity if contact.kinks else NOTHING
        found.append([impact, o + own.acts, o + own.rubs, int(contact.fades), transition_velocity])
    least = np.where(t.impact >= 0, t.min_impact_speed, 0.0)
    return np.array(found, np.int64).reshape(-1, 5), least


@inlined
def set_events(x, own, lane, case, passed, time):  # type: ignore[no-untyped-def]
    """Set what the touch-downs and lift-offs of a case up to a time decide in the parameters of a lane; the number passed.

    ``passed``: how many are set.
    """
    while passed < x.found[case] and x.events[case, passed, 0] <= time:
        k, began = int(x.events[case, passed, 1]), x.events[case, passed, 2]
        own[x.places[k, ACTS], lane] = own[x.places[k, RUBS], lane] = began
        if began == 1.0 and x.places[k, IMPACT] >= 0:
            own[x.places[k, IMPACT], lane] = x.events[case, passed, 3]
        passed += 1
    return passed
