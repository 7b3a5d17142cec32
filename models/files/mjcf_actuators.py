"""Actuators of MuJoCo that are motors on hinges and slides: <motor>, <position>, <velocity>, and <general> of their form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from models.files.description import Actuator, Omitted
from models.files.naming import identifiers, unique

SCALAR = (2, 3)  # numbers of slides and hinges among MuJoCo's joints


def actuators_of(
    model: Any, steps: Sequence[str], *, off: bool
) -> tuple[tuple[Actuator, ...], list[int], tuple[Omitted, ...]]:
    """Those that are motors, at the controls nearest to 0, the numbers of the others, and ranges; ``off``: none act."""
    if off:
        return (), [], ()
    every = unique(model.actuator(n).name or f"actuator_{n}" for n in range(model.nactuator))
    names = list(identifiers(every).values())
    found = {n: _actuator(model, n, names[n], steps) for n in range(model.nactuator) if _is_stated(model, n)}
    found = {n: one for n, one in found.items() if not (one.acts and _is_clipped(model, n))}
    bounded = tuple(names[n] for n in found if model.actuator_ctrllimited[n] or _is_clipped(model, n))
    ranges = Omitted("ranges of actuators", bounded, "motors have no bounds; clip the efforts that you set")
    return tuple(found.values()), [n for n in range(model.nactuator) if n not in found], (ranges,) * bool(bounded)


def _is_stated(model: Any, n: int) -> bool:
    """Whether an actuator exerts an affine function of its control, its length and its velocity on a hinge or slide."""
    import mujoco

    kinds = int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    if model.actuator_trntype[n] not in kinds or model.jnt_type[model.actuator_trnid[n, 0]] not in SCALAR:
        return False
    affine = int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)
    return bool(
        model.actuator_dyntype[n] == mujoco.mjtDyn.mjDYN_NONE
        and model.actuator_gaintype[n] == mujoco.mjtGain.mjGAIN_FIXED
        and model.actuator_biastype[n] in affine
        and model.actuator_armature[n] == 0.0
        and not np.any(model.actuator_damping[n])
        and (_bias(model, n)[1:] <= 0.0).all()
    )


def _is_clipped(model: Any, n: int) -> bool:
    """Whether a range bounds the force of an actuator, or that of all on its joint."""
    return bool(model.actuator_forcelimited[n] or model.jnt_actfrclimited[model.actuator_trnid[n, 0]])


def _bias(model: Any, n: int) -> Any:
    """Constant, and factors of length and velocity."""
    import mujoco

    affine = model.actuator_biastype[n] == mujoco.mjtBias.mjBIAS_AFFINE
    return np.array(model.actuator_biasprm[n, :3], float) if affine else np.zeros(3)


def _actuator(model: Any, n: int, name: str, steps: Sequence[str]) -> Actuator:
    """The motor of an actuator: its length is the gear's ratio times the coordinate of the file."""
    joint, gear = int(model.actuator_trnid[n, 0]), float(model.actuator_gear[n, 0])
    reference = float(model.qpos0[model.jnt_qposadr[joint]])
    low, high = model.actuator_ctrlrange[n] if model.actuator_ctrllimited[n] else (-np.inf, np.inf)
    control = float(np.clip(0.0, low, high))
    constant, of_length, of_velocity = _bias(model, n).tolist()
    stiffness = -of_length * gear**2
    effort = gear * (constant + float(model.actuator_gainprm[n, 0]) * control) - stiffness * reference
    return Actuator(name, steps[joint], effort, stiffness, -of_velocity * gear**2)
