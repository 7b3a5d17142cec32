"""Parameters of a landing with muscles and the inversion of the foot.

Sobol indices of the largest inversion about the subtalar axis within 80 ms of touch-down. Parameters are incline, fall and
posture, the co-activation of invertors and evertors, and the strength of all muscles. Each case begins at the touch-down, with
the muscles at their activation. Tendons are rigid, so that the activation is the only state of a muscle.

Here n = 8 (88 cases), with wide bounds; BASE_SAMPLES=8192 runs 90 112 cases, and a FOLDER keeps them. REFLEXES=1 adds gain and
delay of reflexes; such cases are single runs.
"""

import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import models
import runtime
from runtime.studies import uniform

PARAMETERS = {  # ranges as of landing_numbers.py, or stated here
    "incline_deg": uniform(0.0, 30.0),
    "fall": uniform(0.05, 0.30),  # [m]
    "pitch": uniform(-10.0, 10.0),  # [deg] of leg and foot, toes up
    "roll": uniform(-10.0, 10.0),  # [deg] medial border up
    "inverted": uniform(-5.0, 5.0),  # [deg] of the ankle at touch-down
    "subtalar_inclination_deg": uniform(20.5, 68.5),  # Isman and Inman (1969)
    "invertors": uniform(0.0, 0.3),  # co-activation
    "evertors": uniform(0.0, 0.3),
    "strength": uniform(0.7, 1.3),  # factor on the maximum isometric forces
}
REFLEXES = {"gain": uniform(0.0, 10.0), "delay": uniform(0.03, 0.09)}  # 0 to 10, DeMers et al. (2017); [s] about 60 ms
OUTPUTS = {
    "inversion": "min(angle.ankle.theta_i)",
    "speed": "min(rate.ankle.theta_i)",
}  # [rad], [rad/s]; inversion is below 0
IMPACT = np.linspace(0.0, 0.08, 161)  # [s]


def landing(fall, pitch, roll, inverted, invertors, evertors, strength, gain=0.0, delay=0.0, **others):
    """The foot at its touch-down."""
    muscles = {"tendon": "rigid", "co_activation": {"invertors": invertors, "evertors": evertors}, "strength": strength}
    if delay:
        muscles["reflex"] = {"gain": gain, "delay": delay}
    return models.foot.build(
        ground=True, leg="free", clearance=0.0, velocity=(0.0, 0.0, -np.sqrt(2.0 * 9.81 * fall)), posture_deg=(pitch, roll, 0.0),
        ankle_deg=(0.0, inverted), limits="dissipative", transition_velocity=0.02, muscles=muscles, check_units=False, **others,
    )  # fmt: skip


if __name__ == "__main__":
    n = int(os.environ.get("BASE_SAMPLES", 8))  # a power of 2
    varied = PARAMETERS | (REFLEXES if os.environ.get("REFLEXES") else {})
    with ProcessPoolExecutor() as processes:
        study = runtime.study(
            landing, varied, t_end=IMPACT[-1], t_eval=IMPACT, outputs=OUTPUTS, kind="sobol", n=n, rtol=1e-6, atol=1e-6,
            out=os.environ.get("FOLDER"), engine=processes if n > 64 else None, progress=n > 64,
        )  # fmt: skip
    print(*study.failures(), study.indices().to_pandas().round(2).to_string(), sep="\n")
    peaks = -np.rad2deg(study["inversion"])
    print(
        f"peak inversion {peaks.mean():.1f} +/- {peaks.std():.1f} deg, median {np.median(peaks):.1f}, most {peaks.max():.1f}"
    )
    study.figure("inversion").savefig("landing_muscles.png")
