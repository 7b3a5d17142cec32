"""Which parameters of the foot decide its mediolateral excursion.

Sobol indices of six parameters of the foot with elastic limits: height of the talus (the link), two masses, compliance of a
limit, and initial rates of both hinges. The excursion is the range of the main foot's medial position in 1 s. The bars are
the parts of its variance.
"""

from functools import partial

import models
import runtime
from runtime.studies import uniform

build = partial(models.foot.build, limits="elastic")
values = runtime.parameters(build())
names = ("mass.main_foot", "mass.toes", "compliance.talocalcaneal")
study = runtime.study(
    build,
    {
        "link_length": uniform(0.036, 0.047),  # [m]
        **{name: uniform(0.8 * values[name], 1.2 * values[name]) for name in names},
        "rate.ankle.theta_i": uniform(-1.0, 1.0),  # [rad/s]
        "rate.ankle.theta_j": uniform(-1.0, 1.0),
    },
    t_end=1.0,
    outputs={"excursion": "range(r.main_foot.y)"},
    kind="sobol",
    n=64,  # 512 cases; 16384 for narrow bounds
    progress=False,
)
assert not study.failures(), study.failures()
study.figure("excursion").savefig("excursion_study.png")
