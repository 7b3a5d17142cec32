"""Systems whose building is put off: an ensemble checks and assembles those of many cases at once.

Within ``deferring`` a builder returns a system that has its parts only.  Whatever is asked of it builds it, with the errors of
``build_system``; then it is a System like any other.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from runtime.support.arrays import Floats
from runtime.system.adjustable import Chosen
from runtime.system.contact_building import layout_of_contact
from runtime.system.data_building import Parts, signals_of_drivers, signals_of_loads
from runtime.system.parts import Force
from runtime.system.signal import sort_of
from runtime.system.system import System
from runtime.system.system_building import build_system


class Recipe(NamedTuple):
    """The arguments of ``build_system``."""

    name: str
    parts: Parts
    gravity: Floats
    y: Floats
    time: float
    redundant: str
    project_velocities: bool | None
    adjust: Chosen
    check_units: bool
    angles: Mapping[str, float]
    rates: Mapping[str, float]

    @property
    def plain(self) -> bool:
        """Whether its system has bodies, joints, drivers, limits, loads, motors, contacts and forces alone, in exact poses.

        Forces with signals, and those that depend on a reaction, are not among these; drivers alone change velocities.
        """
        of = self.parts
        more = of.couplings or of.armatures or self.angles or self.rates or self.adjust
        special = any(force.signals or force.module.LOADS for force in of.forces) or any(
            body.guess for body in of.bodies
        )
        projected = self.project_velocities and not signals_of_drivers(of.joints)
        return bool(of.joints) and not (more or special or projected or self.redundant == "fit")

    @property
    def layout(self) -> Hashable:
        """All that is equal for systems that differ in numbers alone, signals that vary among these."""
        bodies, joints, limits, loads, motors, contacts, forces = self.parts[:7]
        return (
            tuple([(body.name, body.free) for body in bodies]),
            tuple([(joint.name, joint.module, joint.body_i, joint.body_j) for joint in joints]),
            tuple([(one.name, one.kind, one.joint, one.reference, one.moving, one.law) for one in limits]),
            tuple([(load.name, load.body, load.axes, load.attached, load.point is None) for load in loads]),
            tuple([(one.name, one.joint.module, one.joint.body_i, one.joint.body_j) for one in motors]),
            tuple([sort_of(signal) for signal in signals_of_drivers(joints) + signals_of_loads(loads, motors)]),
            tuple([(*layout_of_contact(one), sort_of(one.belt_speed)) for one in contacts]),
            tuple([(one.name, one.module, one.bodies, *_tables(one)) for one in forces]),
            self.time, self.redundant, self.check_units, self.project_velocities,
        )  # fmt: skip


def _tables(force: Force) -> tuple[int, ...]:
    """Numbers of points of its tables."""
    return tuple([len(force.values[table]) for table in force.module.TABLE_UNITS])


class Deferred(System):
    """A system that is built when something is asked of it."""

    def __getattr__(self, name: str) -> Any:
        """Build the system; Python calls this for what is not among its parts."""
        if name.startswith("__"):
            raise AttributeError(name)  # asked by copies, pickles and arrays whether the class has it
        if name == "shapes":  # as a function may give them to another builder
            return recipe_of(self).parts.shapes
        return getattr(finished(self), name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle or copy the system once it is built."""
        return finished(self).__reduce_ex__(protocol)


_STATE = threading.local()  # ``made``: the deferred systems of the call in progress; ``builder``: the class of builders


@contextmanager
def deferring(builder: type | None = None) -> Iterator[list[Deferred]]:
    """Builders of this thread put off building; the list receives their systems.  ``builder``: what ``Builder(...)`` makes."""
    before, made = (getattr(_STATE, "made", None), builder_of_thread()), list[Deferred]()
    _STATE.made, _STATE.builder = made, builder
    try:
        yield made
    finally:
        _STATE.made, _STATE.builder = before


def builder_of_thread() -> type | None:
    """The class of builders within ``deferring``, if it was given one."""
    return getattr(_STATE, "builder", None)


def made_system(recipe: Recipe) -> System:
    """The system of a recipe, which is built later where ``deferring`` allows it.

    Raises
    ------
    ModelError, AssemblyError
    """
    if getattr(_STATE, "made", None) is None or not recipe.plain:
        return build_system(*recipe)
    return put_off(_recipe=recipe)


def put_off(**known: Any) -> Deferred:
    """A system that is built later: of a ``_recipe``, or of ``_calls``, of which ``_made`` makes one.  Within ``deferring``."""
    system = object.__new__(Deferred)
    vars(system).update(known, couplings=(), reference=None)
    made: list[Deferred] | None = getattr(_STATE, "made", None)
    if made is not None:
        made.append(system)
    return system


def calls_of(system: Deferred) -> Any:
    """The calls that a recording builder has noted; None of a system that another builder made, or whose recipe is known."""
    return vars(system).get("_calls")


def recipe_of(system: Deferred) -> Recipe:
    """The recipe of a system that is not built yet.

    Raises
    ------
    ModelError
        For a noted call that is refused.
    """
    known = vars(system)
    if "_recipe" not in known:
        known["_recipe"] = known["_made"](known["_calls"])
    recipe: Recipe = known["_recipe"]
    return recipe


def finished(system: Deferred) -> System:
    """Build a system, in place.

    Raises
    ------
    ModelError, AssemblyError
    """
    built = build_system(*recipe_of(system))
    object.__setattr__(system, "__class__", System)
    vars(system).clear()
    vars(system).update(vars(built))
    return system
