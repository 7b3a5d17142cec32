"""Curves over the gait cycle and the values that the literature quotes of them, of one analysed trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from models.walking.anthropometry import de_leva
from models.walking.gait_result import Gait
from models.walking.leg_foot import JOINTS
from models.walking.norms import LEG_PER_HEIGHT
from models.walking.upper_leg import JOINT_ANGLES
from runtime.support import GRAVITY
from runtime.support.arrays import Floats

# Angles of the ankle joint complex by the ISB, beside those of the hinges.
ANKLE = ("dorsiflexion", "inversion", "internal_rotation")
FORCES = ("anterior", "medial", "vertical")
# Of the moment and the power of the metatarsophalangeal joint, wherever they are shown.
BOUND = "upper bound: in front of the joint the toes take the whole force"


def curve(one: Gait, quantity: str, joint: str) -> Floats:
    """Angle [deg], moment [N m/kg] or power [W/kg] of a joint over the gait cycle, (101,).

    The power of "knee" and "hip" is the sum over their axes.
    """
    of = {"angle": one.angles, "moment": one.moments, "power": one.powers}[quantity]
    values = np.sum([of[name] for name in JOINT_ANGLES.get(joint, (joint,))], axis=0)
    scale = np.rad2deg(1.0) if quantity == "angle" else 1.0 / one.subject.mass
    return np.asarray(scale * one.over_cycle(values))


def ankle_curve(one: Gait, name: str) -> Floats:
    """An angle of the ankle joint complex (ISB) over the gait cycle [deg], (101,)."""
    if name != "dorsiflexion" and not one.subject.shows_inversion:
        return np.full(101, np.nan)
    return np.asarray(np.rad2deg(one.over_cycle(getattr(one.ankle_angles(), name))))


def ground_force(one: Gait, axis: int) -> Floats:
    """A component of the ground reaction force over the gait cycle [body weights], (101,): anterior, medial, vertical."""
    return np.asarray(one.ground_over_cycle()[0][:, axis] / (one.subject.mass * GRAVITY))


def vertical(one: Gait) -> Floats:
    """Vertical ground reaction force over the gait cycle [body weights], (101,)."""
    return ground_force(one, 2)


@dataclass(frozen=True)
class Quantity:
    """A curve over the gait cycle: its unit, its title, the function that takes it from a trial, and a caveat."""

    unit: str
    title: str
    of: Callable[[Gait], Floats]
    caveat: str = ""


def _quantities() -> dict[str, Quantity]:
    found: dict[str, Quantity] = {}
    for quantity, unit in (("angle", "deg"), ("moment", "N m/kg"), ("power", "W/kg")):
        for joint in JOINTS:
            of = partial(curve, quantity=quantity, joint=joint)
            caveat = BOUND if joint == JOINTS[2] and quantity != "angle" else ""
            found[f"{joint}_{quantity}"] = Quantity(unit, f"{joint} {quantity}", of, caveat)
    for name in ANKLE:
        title = f"ankle {name.replace('_', ' ')} (ISB)"
        found[f"ankle_{name}"] = Quantity("deg", title, partial(ankle_curve, name=name))
    for joint, names in JOINT_ANGLES.items():
        for name in names:
            for quantity, unit in (("angle", "deg"), ("moment", "N m/kg")):
                of = partial(curve, quantity=quantity, joint=name)
                found[f"{name}_{quantity}"] = Quantity(unit, f"{name.replace('_', ' ')} {quantity}", of)
        of = partial(curve, quantity="power", joint=joint)
        found[f"{joint}_power"] = Quantity("W/kg", f"{joint} power", of)
    for axis, name in enumerate(FORCES):
        found[f"{name}_force"] = Quantity("BW", f"{name} ground force", partial(ground_force, axis=axis))
    return found


QUANTITIES: Mapping[str, Quantity] = _quantities()


def curves_of(one: Gait) -> dict[str, Floats]:
    """All curves of a trial by name, (101,) each; locked toes have none, and knee and hip that are not analysed."""
    absent = [] if one.toes_guided else [JOINTS[2]]
    absent += [] if one.upper_leg is not None else list(JOINT_ANGLES)
    without = tuple(name for name in QUANTITIES if name.startswith(tuple(absent)))
    return {name: quantity.of(one) for name, quantity in QUANTITIES.items() if name not in without}


def force_peaks(force: Floats, toe_off: float) -> list[float]:
    """Maxima in the first and the second half of stance, with the minimum between them in the middle.

    ``force`` over the gait cycle, (101,); ``toe_off`` [%].
    """
    stance = force[: int(toe_off) + 1]
    middle = len(stance) // 2
    first, second = int(np.argmax(stance[:middle])), middle + int(np.argmax(stance[middle:]))
    return [float(stance[first]), float(stance[first : second + 1].min()), float(stance[second])]


def peaks_of(one: Gait) -> dict[str, float]:
    """The values that the literature quotes of the curves."""
    talocrural, calcaneal = (one.over_cycle(one.angles[j]) for j in JOINTS[:2])
    power, force = curve(one, "power", "talocrural"), force_peaks(vertical(one), one.toe_off)
    return {
        "dorsiflexion, largest [deg]": float(np.rad2deg(talocrural.max())),
        "dorsiflexion, smallest [deg]": float(np.rad2deg(talocrural.min())),
        "inversion, range [deg]": float(np.rad2deg(np.ptp(calcaneal))),
        "plantarflexor moment, largest [N m/kg]": -float(curve(one, "moment", "talocrural").min()),
        "invertor moment, largest [N m/kg]": float(curve(one, "moment", "talocalcaneal").max()),
        "talocrural power, largest [W/kg]": float(power.max()),
        "talocrural power, smallest [W/kg]": float(power.min()),
        "vertical force, first peak [BW]": force[0],
        "vertical force, minimum between [BW]": force[1],
        "vertical force, second peak [BW]": force[2],
    }


def knee_and_hip_peaks_of(one: Gait) -> dict[str, float]:
    """Values of knee and hip that the literature quotes of the curves."""
    stance = int(one.toe_off) + 1
    knee, hip, adduction = (curve(one, "moment", name) for name in ("knee_flexion", "hip_flexion", "hip_adduction"))
    bent, thigh = (curve(one, "angle", name) for name in ("knee_flexion", "hip_flexion"))
    power = {joint: curve(one, "power", joint) for joint in JOINT_ANGLES}
    return {
        "knee flexion in the first half of stance, largest [deg]": float(bent[: stance // 2].max()),
        "knee flexion, largest [deg]": float(bent.max()),
        "hip flexion, largest [deg]": float(thigh.max()),
        "hip flexion, smallest [deg]": float(thigh.min()),
        "knee extensor moment in stance, largest [N m/kg]": float(-knee[:stance].min()),
        "hip extensor moment, largest [N m/kg]": float(-hip.min()),
        "hip flexor moment, largest [N m/kg]": float(hip.max()),
        "hip abductor moment, largest [N m/kg]": float(-adduction.min()),
        **{f"{joint} power, {word} [W/kg]": float(value) for joint, of in power.items()
           for word, value in (("largest", of.max()), ("smallest", of.min()))},
    }  # fmt: skip


def speed_of(one: Gait) -> float:
    """Mean speed [m/s]; NaN where the walker stays in place."""
    return one.speed if np.isfinite(one.spatiotemporal.stride_length) else float("nan")


def dimensionless_speed(one: Gait) -> float:
    """Mean speed over sqrt(g times the length of the leg), which is 0.53 of the height (Winter 2009); NaN as ``speed_of``.

    Where the height is not known, it is that of the length from knee to ankle (de Leva 1996).
    """
    person = one.subject
    height = person.height or person.leg_length / de_leva(person.sex, "leg").length
    return float(speed_of(one) / np.sqrt(GRAVITY * LEG_PER_HEIGHT * height))


def steps_of(one: Gait) -> dict[str, float]:
    """Spatiotemporal parameters; NaN where they are not seen."""
    s = one.spatiotemporal
    return {
        "speed [m/s]": speed_of(one),
        "cadence [steps/min]": s.cadence,
        "stride time [s]": s.stride_time,
        "stride length [m]": s.stride_length,
        "step length [m]": s.step_length,
        "step width [m]": s.step_width,
        "stance [% of the cycle]": s.stance,
        "double support [% of the cycle]": s.double_support,
        "opposite foot off [% of the cycle]": s.opposite_off,
        "opposite foot strike [% of the cycle]": s.opposite_strike,
    }
