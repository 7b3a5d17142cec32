"""Modes of a hanging chain about its equilibrium.

The exact Jacobian of the equations of motion gives frequencies, damping ratios and mode shapes in independent coordinates.
The chain of five hinged links has five modes.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

system = models.chain.build(5, joint="revolute", length=0.2)
rest = runtime.equilibrium(system, runtime.system.displaced(system, {"joint_1.angle": 1.4}))
modes = runtime.linearisation(system, rest).modes()
print(modes)

figure, axes = plt.subplots(1, len(modes.frequency), figsize=(8, 3.5), sharey=True, layout="constrained")
for k, ax in enumerate(axes):
    heights = [rest.r[body][2] for body in system.body_names]
    shape = [np.real(modes.displacement[body][k, 0]) for body in system.body_names]
    ax.plot(np.array(shape) / np.abs(shape).max(), heights, ".-")
    ax.axvline(0, color="0.8", lw=0.8)
    ax.set(title=f"{modes.frequency[k]:.2f} Hz", xlabel="shape")
axes[0].set(ylabel="z [m]")
figure.savefig("modes.png")
