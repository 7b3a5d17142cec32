"""What muscles can exert along a motion: their forces at full activation on a rigid tendon, and those of their passive fibres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.files.description import Floats, Muscle
from models.files.osim_paths import LAWS
from runtime.system import rigid_muscle

# Beginnings of laws whose pennation OpenSim's static optimisation leaves out.
FIBRE_ALONE = tuple(kind.law.removesuffix("as_opensim") for kind in LAWS.values() if kind.fibre_alone)


@dataclass(frozen=True, eq=False)
class Strength:
    """By muscle (muscles, times): active force at full activation and passive force [N] along the tendon, fibre length [1].

    ``slack``: whether the path is no longer than the tendon, and the muscle exerts nothing.
    """

    active: Floats
    passive: Floats
    fiber_length: Floats  # by the optimal one
    slack: NDArray[np.bool_]


def strength_of(
    found: Sequence[Muscle], length: Floats, length_dot: Floats, law: str | None, *, force_length_velocity: bool,
    passive: bool, as_opensim: bool,
) -> Strength:  # fmt: skip
    """Strengths of muscles on rigid tendons at lengths of their paths and rates of these, (muscles, times) [m], [m/s].

    ``law``: a definition of ``codegen.muscles`` in place of that of each muscle.  The passive force, 0 unless asked for, is
    elastic, without the damping of the fibre; neither force pushes, and a slack muscle has none.  Without force-length-velocity
    the active one is the maximum isometric force, in the direction of the tendon.  ``as_opensim``: the force of the fibre acts on
    the tendon without the cosine of the pennation angle, as in OpenSim 4.6 for its muscles of Millard et al. and De Groote et al.

    Raises
    ------
    ModelError
        For a law that is unknown or has no rigid tendon.
    """
    active, resting, fibre = (np.zeros_like(length) for _ in range(3))
    kinds = [(law or muscle.law, tuple(muscle.constants)) for muscle in found]
    for one in dict.fromkeys(kinds):  # of one law, with the same constants stated
        kind, names = one
        rows = [n for n, other in enumerate(kinds) if other == one]
        constants = {name: np.array([[found[n].constants[name]] for n in rows]) for name in names}
        moving = rigid_muscle(kind, length[rows], length_dot[rows], constants)
        cosine = 1.0 if as_opensim and kind.startswith(FIBRE_ALONE) else np.cos(moving["pennation_angle"])
        active[rows] = np.maximum(moving["active_fiber_force"] * cosine, 0.0)
        if passive:
            still = rigid_muscle(kind, length[rows], np.zeros_like(length[rows]), constants)
            resting[rows] = np.maximum(still["passive_fiber_force"] * cosine, 0.0)
        fibre[rows] = moving["normalized_fiber_length"]
    slack = length <= np.array([[muscle.constants["tendon_slack_length"]] for muscle in found])
    active, resting = (np.where(slack, 0.0, of) for of in (active, resting))
    if not force_length_velocity:
        active[:] = np.array([[muscle.constants["max_isometric_force"]] for muscle in found])
        slack[:] = False
    return Strength(active, resting, fibre, slack)
