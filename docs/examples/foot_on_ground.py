"""A foot dropped on the ground.

The foot of Moreira et al. (2011) with its nine spheres falls from 50 mm. The figure shows the normal force of every sphere that
touches the ground, and their sum.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

run = runtime.simulate(models.foot_ground.build(), 1.0, t_eval=np.linspace(0, 1, 2001), rtol=1e-7, atol=1e-7)
assert run.success, run.message

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, contact in run.contacts.items():
    if contact.normal_force.any():
        ax.plot(run.t, contact.normal_force, lw=1, label=name)
ax.plot(run.t, run.ground_reaction().force[:, 2], "k", lw=1.5, label="all spheres")
ax.set(xlabel="time [s]", ylabel="normal force [N]")
ax.legend(fontsize=8, ncols=2)
figure.savefig("foot_on_ground.png")
