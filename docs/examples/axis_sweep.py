"""Sweep of the subtalar axis of the foot.

The subtalar (talocalcaneal) axis of the modified ankle is inclined by 25 to 60 degrees in the sagittal plane; 35.3 degrees are
published. Each line is the path of the main foot's centre of mass during 1 s of free motion from the neutral pose.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

angles = np.linspace(25, 60, 21)  # [deg]
cases = {"subtalar_inclination_deg": angles}
many = runtime.simulate_many(models.foot.build, cases, 1.0, t_eval=np.linspace(0, 1, 101))
assert many.success, many.messages

figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for angle, r in zip(angles, many.r["main_foot"], strict=True):
    ax.plot(1000 * r[:, 1], 1000 * r[:, 2], color=plt.cm.viridis((angle - 25) / 35))
ax.set(xlabel="medial y [mm]", ylabel="up z [mm]", aspect="equal")
figure.colorbar(plt.cm.ScalarMappable(plt.Normalize(25, 60), "viridis"), ax=ax, label="inclination of the axis [deg]")
figure.savefig("axis_sweep.png")
