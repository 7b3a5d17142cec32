"""The synthetic trial as a test: how far the analysis and a forward simulation are from the motion that made it."""

from __future__ import annotations

import numpy as np

from models.walking import forward_simulation, leg_foot, synthetic
from models.walking.gait_result import Gait
from models.walking.leg_foot import JOINTS
from models.walking.upper_leg import JOINT_ANGLES


def recovered(one: Gait) -> dict[str, float]:
    """Largest errors of an analysis of the synthetic trial, relative to the largest value, by joint and quantity.

    Knee and hip: of their three angles together.
    """
    exact = synthetic.exact(one.t)
    errors = {}
    for joint in JOINTS:
        for quantity, values in (("angle", one.angles), ("moment", one.moments), ("power", one.powers)):
            if joint == "metatarsophalangeal" and quantity != "angle":
                continue  # the analysis transfers the force to the toes, the synthetic trial keeps it on the main foot
            truth = exact[joint, quantity]
            errors[f"{joint} {quantity}"] = float(np.abs(values[joint] - truth).max() / np.abs(truth).max())
    for joint, names in JOINT_ANGLES.items():
        for quantity, values in (("angle", one.angles), ("moment", one.moments), ("power", one.powers)):
            off = max(np.abs(values[name] - exact[name, quantity]).max() for name in names)
            errors[f"{joint} {quantity}"] = float(off / max(np.abs(exact[name, quantity]).max() for name in names))
    return errors


def replayed() -> tuple[float | None, float]:
    """Forward simulation of the synthetic stance by the computed moments.

    Returns the largest deviation from the motion [rad], None where the simulation failed, and the largest moment of the
    stabilising feedback [N m].
    """
    stance = np.linspace(0.0, synthetic.STANCE * synthetic.CYCLE, 62)
    subject = synthetic.subject()
    run, motion, feedback = forward_simulation.replay(
        subject, synthetic.coordinates(), synthetic.ground(), synthetic.STRIKE + stance
    )
    there, back = leg_foot.angles(motion, subject), leg_foot.angles(run, subject)
    off = [float(np.abs(back[joint] - there[joint][: len(run.t)]).max()) for joint in there]
    return max(off) if run.success else None, feedback
