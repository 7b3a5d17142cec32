"""Loads, motors and forces on a tree, as far as they decide the text of compiled code; ``force_parameters`` has their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import GROUND_INDEX
from runtime.dynamics.lift import GROUND_STEP
from runtime.jit.python_code import python_code
from runtime.lanes.vector_functions import KNOWN
from runtime.support.arrays import Ints
from runtime.support.latest import Latest
from runtime.system.system import System

OF_STEP, OF_BODY = 6, 7  # parameters: axis and way; arm and Euler parameters
OF_GAINS = 2  # stiffness and damping of a motor
OF_PIECE = 6  # knot and coefficients of a table
MOST_KERNELS = (
    40  # motors and forces: their machine code is made in 4 s, and the time grows with the square of the number
)
NOTHING = -1  # in place of a signal that is 0 at any time


class ActingLoad(NamedTuple):
    """A prescribed load, as in ``LoadData``."""

    body: int
    at: int
    in_body_axes: bool
    signals: tuple[int, ...]  # (9,)


class ActingKernel(NamedTuple):
    """A motor or a force: its kernel, and where its numbers x come from."""

    module: ModuleType
    bodies: tuple[int, ...]
    parameters: int  # of x, from its begin
    vectors: tuple[tuple[int, int], ...]  # place in x and body
    signals: tuple[tuple[int, int], ...]  # number and place in x; of a motor the target
    effort: int = NOTHING  # signal of a motor
    tables: tuple[tuple[int, int], ...] = ()  # place in x and number of pieces


class ActingForces(NamedTuple):
    """All loads, motors and forces on a tree of turns and slides."""

    kinds: tuple[str, ...]
    parents: tuple[int, ...]
    body_step: tuple[int, ...]  # (bodies,)
    loads: tuple[ActingLoad, ...]
    motors: tuple[ActingKernel, ...]
    forces: tuple[ActingKernel, ...]

    def step_of(self, body: int) -> int:
        """The last step that moves a body; GROUND_STEP: none."""
        return GROUND_STEP if body == GROUND_INDEX else self.body_step[body - 1]

    def bodies(self) -> list[int]:
        """The bodies that take part, without the ground."""
        found = {load.body for load in self.loads}
        for one in (*self.motors, *self.forces):
            found |= {*one.bodies, *(body for _, body in one.vectors)}
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

    def modules(self) -> tuple[ModuleType, ...]:
        """The modules of its kernels."""
        return tuple(one.module for one in (*self.motors, *self.forces))


class Rows:
    """Where the parameters are: the first row of each step, body, motor, force and table of a force, and the count of all."""

    def __init__(self, acting: ActingForces) -> None:
        self.acting, self.first, self.count = acting, dict[tuple[str, int, int], int](), 0
        for key, size in self._sizes():
            self.first[key] = self.count
            self.count += size

    def _sizes(self) -> Iterator[tuple[tuple[str, int, int], int]]:
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

    def of(self, sort: str, k: int, n: int = 0) -> int:
        """The first row of one of them."""
        return self.first[sort, k, n]


def known_forces(system: System) -> bool:
    """Whether all that acts on the bodies of a system, besides limits, can be put on its tree by compiled code of lanes.

    These are loads, motors and forces on trees of turns and slides whose coordinates no rows restrain; not contacts, and not
    forces that depend on the reaction of their joint.
    """
    return system.tree is not None and system.tree.has_polynomials and known_beside_rows(system)


def known_beside_rows(system: System) -> bool:
    """As ``known_forces``, also where rows restrain the coordinates."""
    tree = system.tree
    if tree is None or not tree.turns_and_slides or system.couplings or system.contacts:
        return False
    if any(force.module.LOADS for force in system.forces):
        return False
    kernels = [one.joint.module for one in system.motors] + [force.module for force in system.forces]
    return len(kernels) <= MOST_KERNELS and all(
        _is_known(module, "evaluate") and _is_known(module, "lookups") for module in kernels
    )


def _is_known(module: ModuleType, name: str) -> bool:
    kernel = getattr(module, name, None)
    return kernel is None or set(python_code(kernel).__code__.co_names) <= KNOWN


def _acting_forces(system: System) -> ActingForces:
    tree, t = system.tree, system.data
    assert tree is not None
    zero = _signals_of_zero(system)

    def signal(number: int) -> int:
        return NOTHING if number in zero else int(number)

    loads = tuple(
        ActingLoad(int(body), int(at), bool(own), tuple(signal(n) for n in numbers))
        for body, at, own, numbers in zip(
            t.loads.body, t.loads.at, t.loads.in_body_axes, t.loads.signal.tolist(), strict=True
        )
    )
    motors = tuple(
        ActingKernel(
            motor.joint.module, (int(t.loads.body_i[k]), int(t.loads.body_j[k])), motor.joint.module.SIZE,
            _vectors(t.loads.vector_motor, t.loads.vector_place, t.loads.vector_body, k),
            ((signal(t.loads.target[k]), int(t.loads.target_place[k])),), signal(t.loads.effort[k]),
        )
        for k, motor in enumerate(system.motors)
    )  # fmt: skip
    return ActingForces(tree.kinds, tree.parents, tree.body_step, loads, motors, _forces(system, signal))


def _forces(system: System, signal: Callable[[int], int]) -> tuple[ActingKernel, ...]:
    t, found = system.data.forces, []
    for k, force in enumerate(system.forces):
        calls = range(int(t.call[k]), int(t.call[k + 1]))
        found.append(
            ActingKernel(
                force.module, tuple(t.body[k].tolist()), force.module.TABLES_PLACE,
                _vectors(t.vector_force, t.vector_place, t.vector_body, k),
                tuple((signal(t.signal[s]), int(t.signal_place[s])) for s in np.flatnonzero(t.signal_force == k)),
                tables=tuple((int(t.call_place[c]), int(t.start[c + 1] - t.start[c])) for c in calls),
            )
        )  # fmt: skip
    return tuple(found)


def _vectors(owners: Ints, places: Ints, bodies: Ints, k: int) -> tuple[tuple[int, int], ...]:
    at = np.flatnonzero(owners == k)
    return tuple(zip(places[at].tolist(), bodies[at].tolist(), strict=True))


def _signals_of_zero(system: System) -> set[int]:
    signals = system.data.signals
    pieces = [signals.coefficient[a:b] for a, b in zip(signals.start[:-1], signals.start[1:], strict=True)]
    return {k for k, coefficients in enumerate(pieces) if not coefficients.any()}


acting_forces = Latest(_acting_forces, 8)  # of a system
