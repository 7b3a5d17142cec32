"""Other laws of restriction on the foot.

The papers invite the exchange of their third-degree law. Left: the moment at rest by the law of Rodrigues da Silva et al.
(2024c), by a law of this study, and by two exponentials without an edge. The data of the exponentials are those of Falisse et
al. (2019), after Anderson and Pandy. Right: the foot released at 38 degrees of inversion with each, with equal damping.
"""

import matplotlib.pyplot as plt
import numpy as np

import codegen
import models
import runtime


def power(x, exponent):
    """The moment is x^n of the largest one.

    exponent : n [1], 1 <= exponent <= 8
    """
    return x ** (exponent + 1) / (exponent + 1)


OWN = codegen.compile_limit(power)
LAWS = {
    "published": {},
    "power law, n = 1": dict(law=OWN, law_parameters=dict(exponent=1.0)),
    "exponential": dict(law="exponential"),
}
inversion = np.linspace(-45.0, 45.0, 37)
figure, (moments, motion) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for name, options in LAWS.items():
    still = []
    for angle in inversion:
        system = models.foot.build(limits="elastic", ankle_deg=(0.0, angle), gravity=(0, 0, 0), **options)
        start = runtime.simulate(system, 1e-9)
        if name == "exponential":
            still.append(start.forces["talocalcaneal"].moment[0])
        else:
            still.append(-np.sign(angle) * start.limits["talocalcaneal"].restricting_moment[0])
    moments.plot(inversion, still, label=name)
    foot = models.foot.build(limits="dissipative", ankle_deg=(0.0, 38.0), **options)
    run = runtime.simulate(foot, 1.0, t_eval=np.linspace(0.0, 1.0, 201))
    motion.plot(run.t, -np.rad2deg(run.angles["ankle"].theta_i), label=name)
    print(f"{name:18} moment at 40 degrees {still[34]: .2f} N m")
moments.set(xlabel="inversion [deg]", ylabel="talocalcaneal moment [N m]", ylim=(-60, 60))
motion.set(xlabel="time [s]", ylabel="inversion [deg]")
moments.legend()
figure.savefig("limit_laws.png")
