"""Workspace of serial cases: each case writes its parameters into it, so that no system is built for a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.equations import workspace_for
from runtime.dynamics.model_data import ModelData, Workspace, stabilised
from runtime.integrate.methods import pool_of
from runtime.integrate.settings import Settings
from runtime.integrate.simulate import stepper_of
from runtime.integrate.stepping import Stepper
from runtime.support.arrays import Floats, read_only
from runtime.support.errors import ModelError
from runtime.support.kept import keep, kept
from runtime.support.pool import Block, Pool
from runtime.system.system import System, with_fields
from runtime.system.trees import keep_of_joints

MOST_SETTINGS = 4  # for which workspaces of a system are kept


class Parts(NamedTuple):
    """Data and workspaces that get the parameters of cases."""

    t: ModelData
    w: Workspace
    s: Stepper | None  # of runs


class Written(Pool):
    """The workspace of runs of a ``CaseSystem``: one block, which gets the parameters of the current case.

    ``put``: arrays, places in them, and the values of all cases (cases, ...) there
    """

    def __init__(self) -> None:
        self.put: list[tuple[Floats, Any, Floats]] = []
        self.case, self.block, self.key = 0, Block(()), ()  # type: int, Any, tuple[Any, ...]

    def write(self) -> None:
        """Reset the workspace to the start of a run, and write the parameters of the case into it."""
        self.block.set_back()
        for to, place, values in self.put:
            to[place] = values[self.case]

    def take(self, make: Callable[[], Any], *key: Any) -> Any:
        """As of ``Pool``: the workspace at the start of a run, with the parameters of the case.

        Raises
        ------
        ModelError
            For other equations than those of the parameters, such as absolute coordinates after joint ones.
        """
        if key != self.key:
            if self.put:
                raise ModelError("the parameters of the case belong to other equations")
            self.block, self.key = make(), key
        self.write()
        return self.block


class CaseSystem(Block):
    """A system with writable data of its own, and the workspace of its runs."""

    def __init__(self, system: System, how: Settings) -> None:
        super().__init__(_with_arrays(stabilised(system.data, how.alpha, how.beta), np.copy))
        self.system = with_fields(system, data=_with_arrays(self.value, read_only), _made_of=())
        keep_of_joints(system, self.system)
        vars(self.system)["model"] = system.model
        self.how, self.written = how, Written()
        keep(pool_of, self.system, self.written)

    def of_runs(self) -> Parts:
        """Data and workspace of runs.

        Raises
        ------
        ModelError
            Where the state of the system is not that of any coordinates.
        """
        self.written.put.clear()
        stepper_of(self.system, self.how, self.system.data, self.system.state)
        return Parts(self.value, *self.written.block.value)

    def of_states(self) -> Parts:
        """Data and workspace of quantities that follow from states of all bodies."""
        self.written.put.clear()
        self.written.block, self.written.key = Block(workspace_for(self.system.data)), ()
        return Parts(self.value, self.written.block.value, None)


@contextmanager
def case_system(system: System, how: Settings) -> Iterator[CaseSystem]:
    """A system of cases that no other thread uses."""
    found = _waiting(system).take(lambda: CaseSystem(system, how), how)
    try:
        yield found
    finally:
        found.give_back()


@kept
def _waiting(system: System) -> Pool:
    """Systems of cases that wait for the next ones, by their settings."""
    return Pool(MOST_SETTINGS)


def _with_arrays(value: Any, change: Callable[[Any], Any]) -> Any:
    """A named tuple with other arrays, inner tuples included."""
    if isinstance(value, tuple):
        return type(value)(*(_with_arrays(one, change) for one in value))
    return change(value) if isinstance(value, np.ndarray) else value
