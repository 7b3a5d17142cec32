"""An ensemble with bands: the foot with random data.

Two thousand feet with random masses and initial velocities; the bands hold 50 % and 95 % of the motions.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

system, rng = models.foot.build(), np.random.default_rng(1)
values = runtime.parameters(system)
cases = {name: values[name] * rng.normal(1.0, 0.05, 2000) for name in ("mass.main_foot", "mass.toes")}
spin = np.zeros((2000, 3))
spin[:, 1] = rng.normal(scale=0.6, size=2000)  # [rad/s]
many = runtime.simulate_many(
    system, cases | {"omega.main_foot": spin}, 1.0, t_eval=np.linspace(0, 1, 101), assemble=True, progress=False
)
assert many.success, many.messages
r = 1000 * many.r["main_foot"]

figure, axes = plt.subplots(3, 1, figsize=(7, 6), sharex=True, layout="constrained")
for k, (ax, axis) in enumerate(zip(axes, ("anterior x", "medial y", "up z"), strict=True)):
    for low, high, alpha in ((2.5, 97.5, 0.25), (25, 75, 0.4)):
        ax.fill_between(many.t, *np.percentile(r[:, :, k], [low, high], axis=0), color="tab:blue", alpha=alpha, lw=0)
    ax.plot(many.t, np.median(r[:, :, k], axis=0), color="tab:blue")
    ax.set(ylabel=f"{axis} [mm]")
axes[2].set(xlabel="time [s]")
figure.savefig("ensemble_bands.png")
