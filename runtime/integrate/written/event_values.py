"""Values of events that are definitions, for LANES vectorised cases of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from runtime.dynamics.force_elements import REPORTS
from runtime.integrate.events import AtRest, Event, ZeroCrossing, watched
from runtime.integrate.written.acting_contacts import NOTHING
from runtime.integrate.written.acting_forces import ActingForces, kernels_of_forces, known_kernels
from runtime.integrate.written.force_parameters import parameters_of_acting
from runtime.integrate.written.placed_bodies import Places
from runtime.integrate.written.tree_forces import ForcesOnSteps
from runtime.jit.recorder import Number
from runtime.lanes.written_function import address_of_lanes
from runtime.support.arrays import Floats
from runtime.support.latest import Latest
from runtime.system.system import System
from runtime.system.trees import trees_of

AXES = dict(z=1, parameters=2, out=1)  # of the arrays


def known_events(system: System, events: Sequence[Event | AtRest | ZeroCrossing]) -> bool:
    """Whether lanes find all of some events in cases of a system; limits have work that no terminal event cuts."""
    crossings = [event for event in events if isinstance(event, ZeroCrossing)]
    if len(crossings) < len(events) or (system.limits and any(event.terminal for event in crossings)):
        return False
    modules = [event.module for event in crossings]
    return known_kernels(modules) and not any(module.ANGLES for module in modules)


def _write(acting: ActingForces, code: Any, data: dict[str, Any]) -> None:
    events = ForcesOnSteps(Places(code, acting, data))
    for k, event in enumerate(acting.forces):
        out: dict[int, Number] = {}
        events.call_force("evaluate", k, event, out)
        code.store(out[REPORTS], data["out"], k)


def _values(system: System, events: Sequence[ZeroCrossing]) -> tuple[int, Floats]:
    tree, t, elements = trees_of(system).of_joints, watched(events, system), [event.element(system) for event in events]
    assert tree is not None
    kernels = kernels_of_forces(system, elements, t, lambda _: NOTHING)
    acting = ActingForces(tree.kinds, tree.parents, tree.body_step, (), (), kernels)
    write = partial(_write, acting)
    address = address_of_lanes("values_of_events", AXES, write, __name__, "the events in a batch", *acting.text())
    return address, parameters_of_acting(system, acting, elements, t, tree.geometry)[0]


# Of a system and events: the address in this process of the function of their values, and its parameters (P,).  It takes the
# addresses of z and parameters as the function of ``tree_forces.address_of_forces``, and of its result (events,).
values_of_events = Latest(_values, 8)
