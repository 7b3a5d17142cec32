"""Motion of the forces of a run: their reported quantities, energy and power, and the forces on their bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from runtime.dynamics.force_elements import ENERGY, REPORTS
from runtime.dynamics.layout import OMEGA, STATE, V
from runtime.results.named_values import NamedValues
from runtime.support.arrays import Floats, ReadOnlyArrays
from runtime.support.names import named
from runtime.system.parts import GROUND, Force

BODIES = "ijkl"


@dataclass(frozen=True)
class ForceMotion(NamedValues, ReadOnlyArrays):
    """A force over time; arrays (n, ...), vectors in global axes.

    Attributes are the reported quantities of its definition, such as ``length`` and ``tension`` of "spring_damper", and

    ``energy`` (n,) [J]: its potential; of a muscle whose path has conditional points, what it stores, which is no part of
    ``Run.energy``, as it jumps with the length;
    ``power`` (n,) [W]: of the force on all its bodies, the rate at which it does work on them;
    ``force_i``, ``force_j`` (n, 3) [N]: on body i and j;  ``moment_i``, ``moment_j`` (n, 3) [N m]: about the centre of mass,
    that of the ground about the origin; likewise with k and l where there are such bodies.
    """

    lacks = "force '{}' ({}) reports no"

    name: str
    kind: str
    bodies: tuple[str, ...]
    energy: Floats = field(repr=False)
    power: Floats = field(repr=False)
    values: Mapping[str, Floats] = field(repr=False)  # attributes by name
    units: Mapping[str, str] = field(repr=False)  # of the reported quantities
    _arms: Callable[[], Mapping[str, Floats]] = field(repr=False, compare=False)

    @cached_property
    def moment_arms(self) -> Mapping[str, Floats]:
        """Moment arms (n,) of a muscle by coordinate, such as "knee.angle" [m], of slides [1]; see ``Mechanics.moment_arms``."""
        return named("coordinate", self._arms())


def force_motions(
    forces: Sequence[Force], body_names: Sequence[str], states: Floats, outputs: Floats,
    arms: Callable[[str], Mapping[str, Floats]],
) -> Mapping[str, ForceMotion]:  # fmt: skip
    """Motion of each force by its name, from states (n, bodies, 13) and outputs (n, forces, ...) of the forces.

    ``arms``: gives the moment arms of a muscle.
    """
    twists = {name: states[:, k, V : OMEGA + 3] for k, name in enumerate(body_names)}
    twists[GROUND] = np.zeros((len(states), STATE - V))
    found = {}
    for k, force in enumerate(forces):
        own = outputs[:, k]
        wrenches = own[:, : 6 * len(force.bodies)].reshape(len(own), -1, 6)
        power = sum(np.einsum("na,na->n", wrenches[:, n], twists[body]) for n, body in enumerate(force.bodies))
        values = {name: own[:, REPORTS + n] for n, name in enumerate(force.outputs)}
        vectors = [name[:-2] for name in values if {f"{name[:-2]}_{axis}" for axis in "xyz"} <= values.keys()]
        values |= {"energy": values.get("energy", own[:, ENERGY]), "power": np.asarray(power)}
        for n, end in enumerate(BODIES[: len(force.bodies)]):
            values |= {f"force_{end}": wrenches[:, n, :3], f"moment_{end}": wrenches[:, n, 3:]}
        values |= {name: np.stack([values[f"{name}_{axis}"] for axis in "xyz"], axis=1) for name in vectors}
        found[force.name] = ForceMotion(
            force.name, force.kind, force.bodies, values["energy"], values["power"],
            named("quantity", values, "quantities"), force.outputs, partial(arms, force.name),
        )  # fmt: skip
    return named("force", found)
