"""Angles of the ankle with dissipative joint limits.

The two hinges of the modified ankle, with the anatomical limits and their damping. The foot falls into
plantarflexion and comes to rest at the limit, slightly outside its cone (red), where the restricting moment carries its weight.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

system = models.foot.build(limits="dissipative")
run = runtime.simulate(system, 2.0, t_eval=np.linspace(0, 2, 401))
assert run.success, run.message

figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
for ax, (name, limit) in zip(axes, run.limits.items(), strict=True):
    ax.plot(run.t, np.rad2deg(limit.angle), color="tab:blue")
    outside = limit.excess > 0
    ax.plot(run.t[outside], np.rad2deg(limit.angle[outside]), ".", color="tab:red", label="outside the cone")
    ax.set(ylabel=f"{name}\nangle [deg]")
    ax.axhline(0, color="0.8", lw=0.8)
axes[0].legend()
axes[1].set(xlabel="time [s]")
figure.savefig("ankle_angles.png")
