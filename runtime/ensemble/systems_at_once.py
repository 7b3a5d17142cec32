"""Cases with a system each whose trees run by the same compiled code: prepared for the run of cases by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.limits_along import constants_of_each
from runtime.ensemble.at_once import Prepared
from runtime.ensemble.given import Given
from runtime.ensemble.joint_batch import (
    Acting,
    Systems,
    acting_on,
    given_limits,
    in_joints,
    masses_of,
    of_each,
    of_one_batch,
)
from runtime.integrate.tree_method import by_recursion, tree_constants, tree_of_lanes
from runtime.support.arrays import Floats, Ints
from runtime.system.system import System
from runtime.system.tree_geometry import Geometry


@dataclass(frozen=True, kw_only=True)
class _OfSystems(Prepared):
    """Cases whose constants and parameters are those of systems."""

    of_kernel: Floats  # (cases, constants)
    acts: Acting

    def constants(self, at: Ints) -> Floats:
        return self.of_kernel[at]

    def acting(self, at: Ints) -> Acting:
        return self.acts.at(at)


def prepared_systems(
    systems: Systems, states: Floats, system_of: Callable[[int], System], *, general: bool
) -> Prepared:
    """The cases of systems, each with its places, from states (cases, 13 bodies) on; ``general`` as of ``Acting``."""
    system, tree = systems[0][0], tree_of_lanes(systems[0][0])

    def constants(own: System) -> Floats:
        if by_recursion(own):
            return np.zeros(constants_of_each(tree.limits) * len(tree.limits))
        return tree_constants(tree_of_lanes(own), own.gravity)

    parts = [of_each(systems, lambda own, k=k: tree_of_lanes(own).geometry[k][0]) for k in range(3)]  # type: ignore[misc]
    where, limits, z = Geometry(*parts), given_limits(systems), in_joints(systems, states)
    good = of_one_batch(system, tree, where, z, states)
    given = Given(system, tree, *masses_of(systems), limits, good, varied=True)
    acts = acting_on(systems)._replace(general=general)
    of_kernel = of_each(systems, constants)
    return _OfSystems(given, where, z, limits, good, None, system_of, of_kernel=of_kernel, acts=acts)
