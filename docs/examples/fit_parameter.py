"""Fit of the link length to a noisy motion.

A motion of the foot is computed with a link of 41.7 mm and given a noise of 0.1 mm. The fit starts at 50 mm and uses exact
derivatives; it returns the length with its standard deviation.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

t = np.linspace(0, 0.6, 61)
exact = runtime.simulate(models.foot.build(link_length=0.0417), 0.6, t_eval=t).r["main_foot"]
noisy = exact + np.random.default_rng(0).normal(scale=1e-4, size=exact.shape)
fit = runtime.fit_parameters(models.foot.build, {"link_length": 0.05}, t, {"r.main_foot": noisy})
value, deviation = fit.values["link_length"], fit.deviation["link_length"]
print(f"link length {1000 * value:.3f} mm, standard deviation {1000 * deviation:.3f} mm")

start, fitted = (
    runtime.simulate(models.foot.build(link_length=length), 0.6, t_eval=t).r["main_foot"] for length in (0.05, value)
)
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(1000 * noisy[:, 1], 1000 * noisy[:, 2], ".", color="0.5", label="measured")
ax.plot(1000 * start[:, 1], 1000 * start[:, 2], "--", label="start, 50 mm")
ax.plot(1000 * fitted[:, 1], 1000 * fitted[:, 2], label=f"fit, {1000 * value:.2f} mm")
ax.set(xlabel="medial y [mm]", ylabel="up z [mm]")
ax.legend()
figure.savefig("fit_parameter.png")
