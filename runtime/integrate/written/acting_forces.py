"""What acts on a tree besides limits, as far as it decides the text of compiled code; ``force_parameters`` has the values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.force_elements import REPORTS, ForceData
from runtime.dynamics.layout import GROUND_INDEX
from runtime.dynamics.lift import GROUND_STEP
from runtime.dynamics.signals import CONSTANT, ZERO
from runtime.integrate.written.acting_contacts import NOTHING, ActingContact, acting_contacts
from runtime.jit.python_code import python_code
from runtime.lanes.vector_functions import KNOWN
from runtime.lanes.written_function import address_of_lanes, text_of_lane
from runtime.support.arrays import Ints
from runtime.support.kept import kept
from runtime.system.delays import delayed
from runtime.system.force_addresses import place_of_angles
from runtime.system.parts import Force
from runtime.system.system import System
from runtime.system.trees import trees_of

OF_STEP, OF_BODY = 6, 7  # parameters: axis and way; arm and Euler parameters
OF_CARRIED = 10  # mass, moment, upper half of the inertia
OF_GAINS = 2  # stiffness and damping of a motor
OF_PIECE = 6  # knot and coefficients of a table
MOST_KERNELS = (
    40  # motors and forces: their machine code is made in 4 s, and the time grows with the square of the number
)
MOST_NORMAL_LOADS = 12  # of forces that depend on reactions: their machine code is made in 8 s
MOST_CONTACTS = 60  # their machine code is made in 6 s
MOST_ADDRESSES = 8  # kept of each function, by what acts: its text takes as long as the rest of a batch's beginning
KERNELS = (
    "evaluate",
    "lookups",
    "kinks",
    "angles",
    "loads",
    "load_wrenches",
)  # of motors and forces, where they have them


class ActingLoad(NamedTuple):
    """A prescribed load, as in ``LoadData``."""

    body: int
    at: int
    in_body_axes: bool
    signals: tuple[int, ...]  # (9,)


class ActingReaction(NamedTuple):
    """The reaction of a joint from which a force takes its normal loads."""

    step: int  # the first one of the joint
    loads: int
    place: int  # of the loads in x; the reaction, force and moment, is behind them


class ActingKernel(NamedTuple):
    """A motor or a force: its kernel, and where its numbers x come from."""

    module: ModuleType
    bodies: tuple[int, ...]
    parameters: int  # of x, from its begin
    vectors: tuple[tuple[int, int], ...]  # place in x and body
    signals: tuple[tuple[int, int], ...]  # number and place in x
    effort: int = NOTHING  # signal of a motor
    target: int = NOTHING  # likewise
    tables: tuple[tuple[int, int], ...] = ()  # place in x and number of pieces
    states: tuple[tuple[int, int], ...] = ()  # place in x and number among the states of all forces
    rates: int = 0  # place of the rate of the first one among the outputs
    reaction: ActingReaction | None = None
    angles: range = range(0)  # places in x of angles before
    first_angle: int = 0  # their place among those of all forces


class ActingForces(NamedTuple):
    """All loads, motors, forces and contacts on a tree."""

    kinds: tuple[str, ...]
    parents: tuple[int, ...]
    body_step: tuple[int, ...]  # (bodies,)
    loads: tuple[ActingLoad, ...]
    motors: tuple[ActingKernel, ...]
    forces: tuple[ActingKernel, ...]
    contacts: tuple[ActingContact, ...] = ()
    constants: tuple[int, ...] = ()  # signals that are constant: their values are parameters
    rotors: tuple[int, ...] = ()  # steps with armature

    def carrying(self) -> list[int]:
        """The steps that move a body last; the others are between the steps of a joint."""
        return sorted(set(self.body_step) - {GROUND_STEP})

    @property
    def states(self) -> int:
        """Number of the states of the forces."""
        return sum(len(force.states) for force in self.forces)

    @property
    def reactive(self) -> list[int]:
        """The forces that depend on reactions."""
        return [k for k, force in enumerate(self.forces) if force.reaction is not None]

    def step_of(self, body: int) -> int:
        """The last step that moves a body; GROUND_STEP: none."""
        return GROUND_STEP if body == GROUND_INDEX else self.body_step[body - 1]

    def bodies(self) -> list[int]:
        """The bodies that take part, without the ground."""
        found = {load.body for load in self.loads}
        for one in (*self.motors, *self.forces):
            found |= {*one.bodies, *(body for _, body in one.vectors)}
        for contact in self.contacts:
            found |= {*contact.bodies}
        return sorted(found - {GROUND_INDEX})

    def steps(self) -> list[int]:
        """The steps that move them."""
        found: set[int] = set()
        for body in self.bodies():
            step = self.step_of(body)
            while step != GROUND_STEP:
                found.add(step)
                step = self.parents[step]
        return sorted(found)

    def text(self) -> tuple[str, ...]:
        """All that decides the text of compiled code: modules by their sources, as other processes know no names of them."""
        modules = self.modules()
        places = {module: str(k) for k, module in enumerate(modules)}

        def named(one: Any) -> Any:
            return one._replace(**{f: places[v] for f, v in one._asdict().items() if isinstance(v, ModuleType)})

        parts = (tuple(map(named, own)) for own in (self.motors, self.forces, self.contacts))
        return repr((self.kinds, self.parents, self.body_step, self.loads, *parts, self.constants, self.rotors)), *map(
            inspect.getsource, modules
        )

    def modules(self) -> tuple[ModuleType, ...]:
        """The modules of its kernels."""
        of_contacts = (module for contact in self.contacts for module in contact.modules)
        return tuple(dict.fromkeys((*(one.module for one in (*self.motors, *self.forces)), *of_contacts)))


class Rows:
    """Where the parameters are: first rows of constants, steps, bodies, motors, forces, tables and contacts, and their count.

    ``whole``: with those of the equations behind them, of steps without forces, of what each step carries, and gravity.
    """

    def __init__(self, acting: ActingForces, *, whole: bool = False) -> None:
        self.acting, self.first, self.count = acting, dict[tuple[str, int, int], int](), 0
        for key, size in (*self._sizes(), *(self._sizes_of_equations() if whole else ())):
            self.first[key] = self.count
            self.count += size

    def _sizes(self) -> Iterator[tuple[tuple[str, int, int], int]]:
        for number in self.acting.constants:
            yield ("signal", number, 0), 1
        for step in self.acting.steps():
            yield ("step", step, 0), OF_STEP
        for body in self.acting.bodies():
            yield ("body", body, 0), OF_BODY
        for k, motor in enumerate(self.acting.motors):
            yield ("motor", k, 0), motor.parameters + OF_GAINS
        for k, force in enumerate(self.acting.forces):
            yield ("force", k, 0), force.parameters
            for n, (_, pieces) in enumerate(force.tables):
                yield ("table", k, n), OF_PIECE * pieces
        for k, contact in enumerate(self.acting.contacts):
            yield ("contact", k, 0), contact.rows.count

    def _sizes_of_equations(self) -> Iterator[tuple[tuple[str, int, int], int]]:
        for step in sorted(set(range(len(self.acting.kinds))) - set(self.acting.steps())):
            yield ("step", step, 0), OF_STEP
        for step in self.acting.carrying():
            yield ("carried", step, 0), OF_CARRIED
        for step in self.acting.rotors:
            yield ("armature", step, 0), 1
        yield ("gravity", 0, 0), 3

    def of(self, sort: str, k: int, n: int = 0) -> int:
        """The first row of one of them."""
        return self.first[sort, k, n]


def known_forces(system: System) -> bool:
    """Whether all that acts on the bodies of a system, besides limits, can be put on its tree by compiled code of lanes.

    These are loads, motors, forces and contacts on trees whose coordinates no rows restrain.
    """
    tree = trees_of(system).of_joints
    return tree is not None and not tree.closing and _are_known(system) and _known_reactions(system)


def what_acts(system: System) -> tuple[bool, bool]:
    """Whether loads, motors or force elements act on a system, and whether force elements do."""
    return bool(system.loads or system.motors or system.forces), bool(system.forces)


def known_beside_rows(system: System) -> bool:
    """As ``known_forces``, also where rows restrain the coordinates, but without forces that depend on reactions, or states."""
    return trees_of(system).tree is not None and not len(system.data.forces.state_place) and _are_known(system)


def _are_known(system: System) -> bool:
    if system.couplings or len(system.contacts) > MOST_CONTACTS or delayed(system):
        return False
    return known_kernels([one.joint.module for one in system.motors] + [force.module for force in system.forces])


def known_kernels(modules: Sequence[ModuleType]) -> bool:
    """Whether lanes know so many kernels of motors, forces or events, and all that these call."""
    return len(modules) <= MOST_KERNELS and all(_is_known(module, name) for module in modules for name in KERNELS)


def _known_reactions(system: System) -> bool:
    """Whether the reactions on which forces depend are those of steps.

    A limit between the steps of a joint acts on both bodies by another moment than along its coordinate: with one the reaction
    is not that of the first step.
    """
    reactive, tree = [force for force in system.forces if force.module.LOADS], trees_of(system).in_lanes
    if not reactive:
        return True
    assert tree is not None
    steps_of = [[k for k, c in enumerate(tree.coordinates) if c.joint == force.joint] for force in reactive]
    limited = {*tree.limited_steps}
    return sum(force.module.LOADS for force in reactive) <= MOST_NORMAL_LOADS and all(
        len(steps) == 1 or (steps and limited.isdisjoint(steps)) for steps in steps_of
    )


def _is_known(module: ModuleType, name: str) -> bool:
    kernel = getattr(module, name, None)
    return kernel is None or set(python_code(kernel).__code__.co_names) <= KNOWN


@kept
def acting_forces(system: System) -> ActingForces:
    """What acts on the tree of a system."""
    tree, t = trees_of(system).of_joints, system.data
    assert tree is not None
    sorts = [t.signals.sort(k) for k in range(len(t.signals.start) - 1)]

    def signal(number: int) -> int:
        return NOTHING if sorts[number] == ZERO else int(number)

    loads = tuple(
        ActingLoad(int(body), int(at), bool(own), tuple(signal(n) for n in numbers))
        for body, at, own, numbers in zip(
            t.loads.body, t.loads.at, t.loads.in_body_axes, t.loads.signal.tolist(), strict=True
        )
    )
    first, motors = sum(force.module.ANGLES for force in system.forces), list[ActingKernel]()
    for k, motor in enumerate(system.motors):
        place, module = int(t.loads.angle_place[k]), motor.joint.module
        motors.append(
            ActingKernel(
                module, (int(t.loads.body_i[k]), int(t.loads.body_j[k])), module.SIZE,
                _vectors(t.loads.vector_motor, t.loads.vector_place, t.loads.vector_body, k), ((NOTHING, place),),
                int(t.loads.effort[k]) if motor.effort.is_constant else signal(t.loads.effort[k]), signal(t.loads.target[k]),
                angles=range(place, place + motor.winds), first_angle=first,
            )
        )  # fmt: skip
        first += motor.winds
    efforts = {int(n) for n, one in zip(t.loads.effort, system.motors, strict=True) if one.effort.is_constant}
    constants = tuple(k for k, sort in enumerate(sorts) if sort == CONSTANT or k in efforts)  # also efforts of 0
    rotors = () if tree.armature is None else tuple(np.flatnonzero(tree.armature).tolist())
    return ActingForces(
        tree.kinds, tree.parents, tree.body_step, loads, tuple(motors),
        kernels_of_forces(system, system.forces, t.forces, signal), acting_contacts(system, signal), constants, rotors,
    )  # fmt: skip


def kernels_of_forces(
    system: System, forces: Sequence[Force], t: ForceData, signal: Callable[[int], int]
) -> tuple[ActingKernel, ...]:
    """The kernels of forces on the bodies of a system, with their data; ``signal``: the number of a signal, or NOTHING."""
    found, first = list[ActingKernel](), 0
    for k, force in enumerate(forces):
        place, count = place_of_angles(force.module), force.module.ANGLES
        calls = range(int(t.call[k]), int(t.call[k + 1]))
        found.append(
            ActingKernel(
                force.module, tuple(t.body[k].tolist()), force.module.TABLES_PLACE,
                _vectors(t.vector_force, t.vector_place, t.vector_body, k),
                tuple((signal(t.signal[s]), int(t.signal_place[s])) for s in np.flatnonzero(t.signal_force == k)),
                tables=tuple((int(t.call_place[c]), int(t.start[c + 1] - t.start[c])) for c in calls),
                states=tuple((int(t.state_place[s]), int(s)) for s in np.flatnonzero(t.state_force == k)),
                rates=REPORTS + len(force.module.OUTPUTS),
                reaction=_reaction(system, force), angles=range(place, place + count), first_angle=first,
            )
        )  # fmt: skip
        first += count
    return tuple(found)


def _reaction(system: System, force: Force) -> ActingReaction | None:
    tree, module = trees_of(system).of_joints, force.module
    assert tree is not None
    first = next((k for k, c in enumerate(tree.coordinates) if c.joint == force.joint), None) if module.LOADS else None
    if first is None:
        return None
    return ActingReaction(first, module.LOADS, module.LOADS_PLACE)


def _vectors(owners: Ints, places: Ints, bodies: Ints, k: int) -> tuple[tuple[int, int], ...]:
    at = np.flatnonzero(owners == k)
    return tuple(zip(places[at].tolist(), bodies[at].tolist(), strict=True))


class Written:
    """A function of what acts on a tree, for all lanes; ``axes``: of its arrays, ``words``: what is compiled, for the user."""

    def __init__(
        self, name: str, axes: Mapping[str, int], module: str, words: str,
        write: Callable[[ActingForces, Any, dict[str, Any]], None],
    ) -> None:  # fmt: skip
        self.name, self.axes, self.module, self.words, self.write = name, axes, module, words, write
        self.address_for = lru_cache(MOST_ADDRESSES)(self._made)

    def address(self, system: System) -> int:
        """Address in this process of the function for a system."""
        return self.address_for(acting_forces(system))

    def _made(self, acting: ActingForces) -> int:
        write = partial(self.write, acting)
        return address_of_lanes(self.name, self.axes, write, self.module, self.words, *acting.text())

    def text(self, system: System) -> str:
        """The same as a function of Python for one lane, for the compilers of other machines."""
        return text_of_lane(self.name, self.axes, partial(self.write, acting_forces(system)))
