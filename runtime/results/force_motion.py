"""Motion of the forces of a run: their reported quantities, energy and power, and the forces on their bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from runtime.dynamics.force_elements import ENERGY, REPORTS
from runtime.dynamics.layout import OMEGA, STATE, V
from runtime.support.arrays import Floats, ReadOnlyArrays
from runtime.support.names import named
from runtime.system.parts import GROUND, Force

BODIES = "ijkl"


@dataclass(frozen=True)
class ForceMotion(ReadOnlyArrays):
    """A force over time; arrays (n, ...), vectors in global axes.

    Attributes are the reported quantities of its definition, such as ``length`` and ``tension`` of "spring_damper", and

    ``energy`` (n,) [J]: its potential;
    ``power`` (n,) [W]: of the force on all its bodies, the rate at which it does work on them;
    ``force_i``, ``force_j`` (n, 3) [N]: on body i and j;  ``moment_i``, ``moment_j`` (n, 3) [N m]: about the centre of mass,
    that of the ground about the origin; likewise with k and l where there are such bodies.
    """

    name: str
    kind: str
    bodies: tuple[str, ...]
    energy: Floats = field(repr=False)
    power: Floats = field(repr=False)
    quantities: Mapping[str, Floats] = field(repr=False)
    units: Mapping[str, str] = field(repr=False)
    wrenches: Floats = field(repr=False)  # (n, bodies, 6)

    def __getattr__(self, name: str) -> Floats:
        """A reported quantity, or the force or moment on a body."""
        if name.startswith("__"):
            raise AttributeError(name)
        quantities: Mapping[str, Floats] = object.__getattribute__(self, "quantities")
        if name in quantities:
            return quantities[name]
        what, _, suffix = name.partition("_")
        bodies = BODIES[: len(object.__getattribute__(self, "bodies"))]
        if what in ("force", "moment") and suffix and suffix in bodies:
            wrench = object.__getattribute__(self, "wrenches")[:, bodies.index(suffix)]
            found: Floats = wrench[:, :3] if what == "force" else wrench[:, 3:]
            return found
        if all(f"{name}_{axis}" in quantities for axis in "xyz"):  # a vector of the definition
            return np.stack([quantities[f"{name}_{axis}"] for axis in "xyz"], axis=1)
        known = ", ".join([*quantities, "energy", "power", *(f"{w}_{b}" for b in bodies for w in ("force", "moment"))])
        raise AttributeError(f"force '{self.name}' ({self.kind}) reports no '{name}'; it has {known}")


def force_motions(
    forces: Sequence[Force], body_names: Sequence[str], states: Floats, outputs: Floats
) -> Mapping[str, ForceMotion]:
    """Motion of each force by its name, from states (n, bodies, 13) and outputs (n, forces, ...) of the forces."""
    twists = {name: states[:, k, V : OMEGA + 3] for k, name in enumerate(body_names)}
    twists[GROUND] = np.zeros((len(states), STATE - V))
    found = {}
    for k, force in enumerate(forces):
        own = outputs[:, k]
        wrenches = own[:, : 6 * len(force.bodies)].reshape(len(own), -1, 6)
        power = sum(np.einsum("na,na->n", wrenches[:, n], twists[body]) for n, body in enumerate(force.bodies))
        reports = {name: own[:, REPORTS + n] for n, name in enumerate(force.outputs)}
        found[force.name] = ForceMotion(
            force.name, force.kind, force.bodies, own[:, ENERGY], np.asarray(power), named("quantity", reports, "quantities"),
            force.outputs, wrenches,
        )  # fmt: skip
    return named("force", found)
