"""Twenty parameters of the foot and its mediolateral excursion.

Sobol indices of the foot with dissipative limits, by twenty parameters within published or plausible ranges. These are four
angles of the axes, the link, the size of the person, four ranges of motion, compliance and damping of both limits, and the
start of both hinges. The excursion is the range of the main foot's medial position in 1 s.

Here n = 16 (352 cases), with wide bounds; BASE_SAMPLES=4096 runs 90 112 cases, at 10 ms each for building the foot.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import models
import runtime
from runtime.studies import normal, uniform

PARAMETERS = {
    "subtalar_inclination_deg": uniform(20.5, 68.5),  # Isman and Inman (1969), as the other axes
    "subtalar_deviation_deg": uniform(4.0, 47.0),
    "talocrural_inclination_deg": uniform(-4.0, 22.0),
    "talocrural_deviation_deg": uniform(-9.0, 21.0),
    "link_length": normal(0.0417, 0.0057, low=0.028, high=0.055),  # [m] Rodrigues da Silva et al. (2024a)
    "mass": uniform(50.0, 100.0),  # [kg]
    "height": uniform(1.5, 1.95),  # [m]
    "foot_length": uniform(0.22, 0.30),  # [m]
    "dorsiflexion_deg": uniform(15.0, 25.0),
    "plantarflexion_deg": uniform(30.0, 45.0),
    "inversion_deg": uniform(25.0, 40.0),
    "eversion_deg": uniform(15.0, 30.0),
    "compliance.talocrural": uniform(0.15, 0.25),  # [rad]
    "compliance.talocalcaneal": uniform(0.15, 0.25),
    "damping.talocrural": uniform(0.4, 0.7),  # [N m s]
    "damping.talocalcaneal": uniform(0.4, 0.7),
    "angle.ankle.theta_i": uniform(-0.1, 0.1),  # [rad]
    "angle.ankle.theta_j": uniform(-0.1, 0.1),
    "rate.ankle.theta_i": uniform(-1.0, 1.0),  # [rad/s]
    "rate.ankle.theta_j": uniform(-1.0, 1.0),
}

if __name__ == "__main__":
    n = int(os.environ.get("BASE_SAMPLES", 16))  # a power of 2
    with ProcessPoolExecutor() as processes:
        study = runtime.study(
            partial(models.foot.build, limits="dissipative"),
            PARAMETERS,
            t_end=1.0,
            outputs={"excursion": "range(r.main_foot.y)"},
            kind="sobol",
            n=n,
            engine=processes if n > 64 else None,
            progress=n > 64,
        )
    print(*study.failures(), study.indices().to_pandas().round(2).to_string(), sep="\n")
    study.figure("excursion").savefig("twenty_numbers.png")
