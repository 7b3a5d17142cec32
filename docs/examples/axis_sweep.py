"""Sweep of the talocalcaneal axis of the foot.

The talocalcaneal axis of the modified ankle is tilted by -10 to 10 degrees in the sagittal plane. Each line is the path of the
main foot's centre of mass during 1 s of free motion from the neutral pose.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import models
import runtime

tilts = np.linspace(-10, 10, 21)  # [deg]
axes = [Rotation.from_euler("y", -tilt, degrees=True).apply(models.foot.talocalcaneal_axis()) for tilt in tilts]
many = runtime.simulate_many(models.foot.build(), {"a_i.ankle": np.array(axes)}, 1.0, t_eval=np.linspace(0, 1, 101))
assert many.success, many.messages

figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for tilt, r in zip(tilts, many.r("main_foot"), strict=True):
    ax.plot(1000 * r[:, 1], 1000 * r[:, 2], color=plt.cm.viridis((tilt + 10) / 20))
ax.set(xlabel="medial y [mm]", ylabel="up z [mm]", aspect="equal")
figure.colorbar(plt.cm.ScalarMappable(plt.Normalize(-10, 10), "viridis"), ax=ax, label="tilt of the axis [deg]")
figure.savefig("axis_sweep.png")
