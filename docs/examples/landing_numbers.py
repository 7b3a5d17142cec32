"""Twelve parameters of a landing and the inversion of the foot.

Sobol indices of the largest inversion about the subtalar axis within 80 ms of touch-down, and of its largest rate. Twelve
parameters vary within published or stated ranges: four angles of the axes, the link, height of the fall, posture, incline,
friction, limits and an orthosis. Until touch-down leg and foot fall as one body, so each case begins there.

Here n = 16 (224 cases), with wide bounds; BASE_SAMPLES=8192 runs 114 688 cases, and a FOLDER keeps them, to resume a study.
"""

import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import models
import runtime
from models.foot_orthosis import PRESETS
from runtime.studies import normal, uniform

PARAMETERS = {
    "subtalar_inclination_deg": uniform(20.5, 68.5),  # Isman and Inman (1969), as the other axes
    "subtalar_deviation_deg": uniform(4.0, 47.0),
    "talocrural_inclination_deg": uniform(-4.0, 22.0),
    "talocrural_deviation_deg": uniform(-9.0, 21.0),
    "link_length": normal(0.0417, 0.0057, low=0.028, high=0.055),  # [m] Rodrigues da Silva et al. (2024a)
    "fall": uniform(
        0.05, 0.30
    ),  # [m] vertical way of the foot until it touches the ground; this and the next five: stated here
    "pitch": uniform(-10.0, 10.0),  # [deg] of leg and foot as one body, toes up
    "roll": uniform(-10.0, 10.0),  # [deg] medial border up
    "incline_deg": uniform(0.0, 30.0),  # of a ground that descends laterally
    "mu_c": uniform(0.3, 1.0),
    "limit_compliance": uniform(0.15, 0.25),  # [rad] 0.2 in Rodrigues da Silva et al. (2024c)
    "orthosis": uniform(0.0, 1.0),  # share of the stiffest of thirteen: Shuman and Russell Esposito (2021)
}
OUTPUTS = {
    "inversion": "min(angle.ankle.theta_i)",
    "speed": "min(rate.ankle.theta_i)",
}  # [rad], [rad/s] inversion is below 0
IMPACT = np.linspace(0.0, 0.08, 161)  # [s] from touch-down on, as of ``talus drop``


def landing(fall, pitch, roll, orthosis, **others):
    """The foot at its touch-down."""
    stiffness = orthosis * np.array(PRESETS["stiff"]["stiffness"])
    return models.foot.build(
        ground=True, leg="free", clearance=0.0, velocity=(0.0, 0.0, -np.sqrt(2.0 * 9.81 * fall)),
        posture_deg=(pitch, roll, 0.0), limits="dissipative", transition_velocity=0.02, orthosis={"stiffness": stiffness},
        check_units=False, **others,
    )  # fmt: skip


if __name__ == "__main__":
    n = int(os.environ.get("BASE_SAMPLES", 16))  # a power of 2
    with ProcessPoolExecutor() as processes:
        study = runtime.study(
            landing,
            PARAMETERS,
            t_end=IMPACT[-1],
            t_eval=IMPACT,
            outputs=OUTPUTS,
            kind="sobol",
            n=n,
            rtol=1e-7,
            atol=1e-7,
            out=os.environ.get("FOLDER"),
            engine=processes if n > 64 else None,
            progress=n > 64,
        )
    print(*study.failures(), study.indices().to_pandas().round(2).to_string(), sep="\n")
    study.figure("inversion").savefig("landing_numbers.png")
