"""What muscles can exert along a motion: their forces at full activation on a rigid tendon, and those of their passive fibres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from generated import muscles
from models.files.description import Floats, Muscle
from runtime import ModelError
from runtime.jit.python_code import with_arrays
from runtime.system.definitions import Definitions

LAWS = Definitions(muscles.MODULES)
FIBRE_ALONE = ("millard", "de_groote")  # laws whose pennation OpenSim's static optimisation leaves out
FORCES = ("tension", "energy")  # which precede the rates of the states in what the kernels give


@dataclass(frozen=True, eq=False)
class Strength:
    """By muscle (muscles, times): active force at full activation and passive force [N] along the tendon, fibre length [1]."""

    active: Floats
    passive: Floats
    fiber_length: Floats  # by the optimal one


def strength_of(
    found: Sequence[Muscle], length: Floats, length_dot: Floats, law: str | None, *, force_length_velocity: bool,
    passive: bool, as_opensim: bool,
) -> Strength:  # fmt: skip
    """Strengths of muscles on rigid tendons at lengths of their paths and rates of these, (muscles, times) [m], [m/s].

    ``law``: a definition of ``codegen.muscles`` in place of that of each muscle.  The passive force, 0 unless asked for, is
    elastic, without the damping of the fibre; neither force pushes.  Without force-length-velocity the active one is the maximum
    isometric force, in the direction of the tendon.  ``as_opensim``: the force of the fibre acts on the tendon without the cosine
    of the pennation angle, as in OpenSim 4.6 for its muscles of Millard et al. and De Groote et al.

    Raises
    ------
    ModelError
        For a law that is unknown or has no rigid tendon.
    """
    active, resting, fibre = (np.zeros_like(length) for _ in range(3))
    kinds = [law or muscle.law for muscle in found]
    for kind in dict.fromkeys(kinds):
        module = _law(kind)
        rows = [n for n, one in enumerate(kinds) if one == kind]
        constants = _constants(module, [found[n] for n in rows])
        moving = _evaluated(module, constants, length[rows], length_dot[rows])
        cosine = 1.0 if as_opensim and kind.startswith(FIBRE_ALONE) else np.cos(moving["pennation_angle"])
        active[rows] = np.maximum(moving["active_fiber_force"] * cosine, 0.0)
        if passive:
            still = _evaluated(module, constants, length[rows], np.zeros_like(length[rows]))
            resting[rows] = np.maximum(still["passive_fiber_force"] * cosine, 0.0)
        fibre[rows] = moving["normalized_fiber_length"]
    if not force_length_velocity:
        active[:] = np.array([[muscle.constants["max_isometric_force"]] for muscle in found])
    return Strength(active, resting, fibre)


def _law(kind: str) -> ModuleType:
    if kind not in LAWS:
        raise ModelError(f"law = {kind!r}: no such law of muscles; use one of {', '.join(LAWS)}")
    module = LAWS[kind]
    if not module.RIGID:
        raise ModelError(f"law = {kind!r}: has no form with a rigid tendon, which static optimisation needs")
    return module


def _constants(module: ModuleType, found: Sequence[Muscle]) -> list[Floats]:
    """A column (muscles, 1) for each constant of a law."""
    return [
        np.array([[float(one.constants.get(name, module.DEFAULTS.get(name, np.nan)))] for one in found])
        for name in module.PARAMETERS
    ]


def _evaluated(module: ModuleType, constants: list[Floats], length: Floats, rate: Floats) -> Mapping[str, Floats]:
    """The reported quantities of a law at full activation, (muscles, times)."""
    full = np.ones_like(length)
    names = [*FORCES, *(name for name, _ in module.STATES), *(name for name, _ in module.OUTPUTS[len(FORCES) :])]
    out = np.zeros((len(names), *length.shape))
    rigid = with_arrays(module.rigid)
    if hasattr(module, "corner"):  # which the laws with smooth corners call
        rigid.__globals__["corner"] = with_arrays(module.corner)
    with np.errstate(all="ignore"):  # of pieces of curves that are not selected
        rigid([length, rate, *[full] * (1 + len(module.STATES))], constants, out)
    return dict(zip(names, out, strict=True))
