"""A four-bar linkage and its reactions.

The bars move under gravity. The linkage has independent rows, so all reactions are determined; the force of joint B on the crank
and on the coupler differ by their sign.
"""

import matplotlib.pyplot as plt
import numpy as np

import models
import runtime

run = runtime.simulate(models.four_bar.build(), 2.0, t_eval=np.linspace(0, 2, 401))
assert run.success and not run.undetermined_reactions
on_crank, on_coupler = (run.reaction("B", on=body).force for body in ("crank", "coupler"))
assert np.abs(on_crank + on_coupler).max() < 1e-9

figure, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
for body in ("crank", "coupler", "rocker"):
    axes[0].plot(run.r[body][:, 0], run.r[body][:, 2], label=body)
axes[0].set(xlabel="x [m]", ylabel="z [m]", aspect="equal", title="centres of mass")
axes[0].legend(fontsize=8)
for joint, body in (("A", "crank"), ("B", "crank"), ("C", "rocker"), ("D", "rocker")):
    axes[1].plot(run.t, np.linalg.norm(run.reaction(joint, on=body).force, axis=1), label=f"{joint} on {body}")
axes[1].set(xlabel="time [s]", ylabel="force [N]", title="reactions")
axes[1].legend(fontsize=8)
figure.savefig("four_bar_reactions.png")
